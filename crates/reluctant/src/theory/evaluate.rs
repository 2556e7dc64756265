//! Every statement for given numbers: its value, its equation, and what it means in plain words.

use std::f64::consts::{LN_10, SQRT_2};

use serde::{Deserialize, Serialize};

use super::regret::RegretBound;
use super::{
    Batches, Setting, Stage, best_strip_bound, conditions, exploration_conditions, gap_floor, identified_error,
    known_gap_regret, ln_sphere_area, log10_identified_length, log10_informative_horizon, neuron_error_bound,
    oful_stage_regret, optimism_regret, separation_limit, sphere_area, unknown_gap_regret, zeta,
};
use crate::error::{Error, Result};

/// What the theory is asked about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inputs {
    /// d ≥ 2, the dimension of an action.
    pub dim: usize,
    /// k ≥ 1, the number of neurons.
    pub neurons: usize,
    /// The noise is σ-subgaussian, σ ≥ 0.
    pub sigma: f64,
    /// ν*, the gap of the best action; none for 1/(2k), below which no network's gap lies.
    pub nu: Option<f64>,
    /// α₀, the separation of the neurons; none for the largest that k neurons in d dimensions can have.
    pub alpha0: Option<f64>,
    /// The statements about estimation hold with probability 1 − δ, 0 < δ < 1. The regret bounds use 1/√T instead, as
    /// the paper does.
    pub delta: f64,
    /// T ≥ 1, rounds played; the statements about estimation are evaluated as if all T were exploration.
    pub horizon: f64,
    /// λ > 0, the ridge penalty.
    pub lambda: f64,
    /// The batches of Algorithm 2.
    pub batches: Batches,
}

impl Inputs {
    /// Inputs with δ = 0.01, T = 1000, λ = 1, the paper's a and b, and nothing known of ν* and α₀.
    pub fn new(dim: usize, neurons: usize, sigma: f64) -> Self {
        Inputs {
            dim,
            neurons,
            sigma,
            nu: None,
            alpha0: None,
            delta: 0.01,
            horizon: 1000.0,
            lambda: 1.0,
            batches: Batches::default(),
        }
    }

    fn check(&self) -> Result<()> {
        let within = |name: &'static str, value: f64, allowed: &'static str, ok: bool| {
            if ok && !value.is_nan() { Ok(()) } else { Err(Error::out_of_range(name, value, allowed)) }
        };
        let finite = |x: f64, above: f64| x > above && x < f64::INFINITY;
        if self.dim < 2 {
            let why =
                "at least 2: the sphere of a line is two points, and the paper's strips need a direction along them";
            return Err(Error::out_of_range("dim", self.dim, why));
        }
        if self.neurons < 1 {
            return Err(Error::out_of_range("neurons", self.neurons, "at least 1"));
        }
        within("sigma", self.sigma, "a number, zero or more", (0.0..f64::INFINITY).contains(&self.sigma))?;
        if let Some(nu) = self.nu {
            within("nu", nu, "from 0 to 1: |θ·x| of unit vectors is no more", (0.0..=1.0).contains(&nu))?;
        }
        if let Some(alpha0) = self.alpha0 {
            within(
                "alpha0",
                alpha0,
                "from 0 to 2, the distance of opposite unit vectors",
                (0.0..=2.0).contains(&alpha0),
            )?;
        }
        within("delta", self.delta, "above 0 and below 1", self.delta > 0.0 && self.delta < 1.0)?;
        within("horizon", self.horizon, "from 1 to 1e300", (1.0..=1e300).contains(&self.horizon))?;
        within("lambda", self.lambda, "above 0", finite(self.lambda, 0.0))?;
        let Batches { first, a, b, nu0 } = self.batches;
        within("first_batch", first, "above 0", finite(first, 0.0))?;
        within("a", a, "above 1", finite(a, 1.0))?;
        within("b", b, "above 1", finite(b, 1.0))?;
        within("nu0", nu0, "above 0", finite(nu0, 0.0))
    }
}

/// Whether a quantity is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is, and fits into one.
    Finite,
    /// It is, but only its logarithm fits.
    Huge,
    /// It is infinite.
    Infinite,
    /// The statement gives none.
    Undefined,
}

/// One statement, evaluated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quantity {
    /// A name for programs.
    pub key: &'static str,
    /// Its symbol.
    pub symbol: &'static str,
    /// Where the paper states it; "ours" where it does not.
    pub place: &'static str,
    /// The label of that place in the paper's source; empty if it has none.
    pub label: &'static str,
    /// The formula that was evaluated.
    pub formula: &'static str,
    /// Its value, if a finite number holds it.
    pub value: Option<f64>,
    /// log₁₀ of its value, if that is positive and finite.
    pub log10: Option<f64>,
    /// Whether it is a number.
    pub state: State,
    /// Whether what the statement assumes or promises holds here; none where there is nothing to hold.
    pub holds: Option<bool>,
    /// What it means, in one sentence.
    pub meaning: String,
}

impl Quantity {
    fn new(key: &'static str, symbol: &'static str, at: (&'static str, &'static str), formula: &'static str) -> Self {
        Quantity {
            key,
            symbol,
            place: at.0,
            label: at.1,
            formula,
            value: None,
            log10: None,
            state: State::Undefined,
            holds: None,
            meaning: String::new(),
        }
    }

    fn value(mut self, value: f64) -> Self {
        self.state = match value {
            v if v.is_finite() => State::Finite,
            v if v.is_nan() => State::Undefined,
            _ => State::Infinite,
        };
        self.value = value.is_finite().then_some(value);
        self.log10 = Some(libm::log10(value)).filter(|log10| log10.is_finite());
        self
    }

    fn log10(mut self, log10: f64) -> Self {
        let value = libm::exp(log10 * LN_10);
        self = self.value(value);
        self.log10 = log10.is_finite().then_some(log10);
        if self.state == State::Infinite && log10.is_finite() {
            self.state = State::Huge;
        }
        self
    }

    fn maybe(self, value: Option<f64>) -> Self {
        match value {
            Some(value) => self.value(value),
            None => self,
        }
    }

    fn holds(mut self, holds: bool) -> Self {
        self.holds = Some(holds);
        self
    }

    fn means(mut self, meaning: impl Into<String>) -> Self {
        self.meaning = meaning.into();
        self
    }
}

/// Where our sharper version of Theorem 3.2 belongs.
const OURS_3_2: (&str, &str) = ("ours, for Theorem 3.2", "thm:key");

/// The inputs with nothing left open.
struct Case {
    inputs: Inputs,
    nu: f64,
    setting: Setting,
}

/// Evaluates every statement.
pub fn evaluate(inputs: &Inputs) -> Result<Vec<Quantity>> {
    inputs.check()?;
    let Inputs { dim, neurons, sigma, delta, .. } = *inputs;
    let alpha0 = inputs.alpha0.unwrap_or_else(|| separation_limit(neurons, dim));
    let nu = inputs.nu.unwrap_or_else(|| gap_floor(neurons));
    let case = Case { inputs: *inputs, nu, setting: Setting { dim, neurons, sigma, delta, alpha0 } };
    let mut all = assumptions(&case);
    all.extend(estimation(&case));
    all.extend(exploration(&case));
    all.extend(optimism(&case));
    all.extend(known_gap(&case));
    all.extend(unknown_gap(&case));
    Ok(all)
}

fn assumptions(case: &Case) -> Vec<Quantity> {
    let Case { inputs, nu, setting } = case;
    let (k, d) = (setting.neurons, setting.dim);
    let limit = separation_limit(k, d);
    let alpha0 = setting.alpha0;
    let separation = if k == 1 {
        "with one neuron there is no pair to keep apart".to_owned()
    } else if alpha0 == 0.0 {
        "two neurons are equal or opposite, so they cannot be told apart and every bound on estimation is infinite"
            .to_owned()
    } else if alpha0 > limit {
        format!("no {k} neurons in {d} dimensions are so far apart: the largest possible is {limit:.4}")
    } else if inputs.alpha0.is_none() {
        "not given: taken as the largest possible, so that lengths of exploration below are the shortest".to_owned()
    } else {
        format!("any two neurons, up to sign, are at least this far apart; the largest possible is {limit:.4}")
    };
    let floor = gap_floor(k);
    let gap = if *nu == 0.0 {
        format!("a gap of zero makes exploration infinite, but no network has one: it is at least {floor:.4}")
    } else if *nu < floor {
        format!("at the best action every neuron is this far from switching; in truth at least {floor:.4}")
    } else if inputs.nu.is_none() {
        "not given: taken as 1/(2k), below which no network's gap lies".to_owned()
    } else {
        "at the best action every neuron is at least this far from switching between active and inactive".to_owned()
    };
    vec![
        Quantity::new("sphere_area", "|S^(d−1)|", ("notation", ""), "2·π^(d/2)/Γ(d/2)")
            .value(sphere_area(d - 1))
            .means("the measure of the set of all actions"),
        Quantity::new("alpha0", "α₀", ("Assumption 2.2", "assump:neuronskip"), "min ‖θᵢ ± θⱼ‖")
            .value(alpha0)
            .holds(alpha0 > 0.0 && alpha0 <= limit)
            .means(separation),
        Quantity::new("nu", "ν*", ("Definition 4.1", ""), "minᵢ |θᵢ·x*|").value(*nu).holds(*nu > 0.0).means(gap),
        Quantity::new(
            "gap_floor",
            "1/(2k)",
            ("ours, for Proposition 4.2", "prop:optimalactiongap"),
            "ν* ≥ 1/(2f*) ≥ 1/(2k)",
        )
        .value(floor)
        .means(
            "no network of k unit neurons has a smaller gap, so an algorithm may use it without knowing the network",
        ),
    ]
}

fn estimation(case: &Case) -> Vec<Quantity> {
    let Case { inputs, setting, .. } = case;
    let n = inputs.horizon;
    let zeta = zeta(setting, n);
    let error = (2.0 * zeta).sqrt();
    let conditions = conditions(setting, n);
    let bound = neuron_error_bound(setting, n);
    let eta = libm::exp(ln_sphere_area(setting.dim - 1) + libm::log(error));
    let strip = best_strip_bound(eta, setting.neurons, setting.dim);
    let sharp = identified_error(setting, n);
    let lemma = ("Lemma B.4", "lem:relumain");
    vec![
        Quantity::new(
            "zeta",
            "ζ(T)",
            ("Lemma B.3", "lem:empiricalloss"),
            "√(4096·k²(k∨σ)²/n·(dk·max{1, log(1+√(n/dk))} + log(4/δ)))",
        )
        .value(zeta)
        .means("after T random samples the loss of every network is known to within this, with probability 1 − δ"),
        Quantity::new("absolute_error", "√(2ζ)", ("Lemma B.3", "lem:empiricalloss"), "L_A(Θ̂) ≤ √(2ζ)")
            .value(error)
            .means("after T random samples the fitted network's predictions are wrong by at most this on average"),
        Quantity::new("narrow", "threshold on √(2ζ)", lemma, "1/(1152²·√(2π)·k²·d^(3/2))")
            .value(conditions.narrow)
            .holds(conditions.error <= conditions.narrow)
            .means("predictions must be this good before the paper's argument about a neuron's strip begins to work"),
        Quantity::new("separated", "threshold on √(2ζ)", lemma, "α₀²·√π/(1454²·k²·√d)")
            .value(conditions.separated)
            .holds(conditions.error <= conditions.separated)
            .means("predictions must be this good before no fitted neuron can be taken for two true ones"),
        Quantity::new(
            "neuron_error_bound",
            "‖θ̂ ∓ θ*‖",
            ("Theorem 3.2", "thm:key"),
            "727·π^(−1/4)·k·d^(1/4)·(2ζ)^(1/4)",
        )
        .value(bound)
        .holds(conditions.met() && bound < SQRT_2)
        .means(if conditions.met() {
            "after T random samples every fitted neuron is this near to a true one, up to sign"
        } else {
            "after T random samples the theorem does not apply yet, so this is only a number"
        }),
        Quantity::new("strip_bound", "min_ε h(η, ε)", ("Proposition 3.1", "prop:key"), "h at η = |S^(d−1)|·√(2ζ)")
            .maybe(strip.map(|bound| bound.h))
            .holds(strip.is_some() && setting.dim > 2)
            .means(match strip {
                None => "the loss after T random samples is too large for any width of the strip",
                Some(_) if setting.dim == 2 => {
                    "zero, since |S⁻¹| = 0: in the plane the proposition is false; the next line repairs it"
                }
                Some(_) => "the same distance with the best width of the strip instead of the theorem's",
            }),
        Quantity::new("identified_error", "‖θ̂ ∓ θ*‖, sharper", OURS_3_2, "smallest α with ℓ(α) ≥ 2ζ")
            .maybe(sharp)
            .holds(sharp.is_some_and(|alpha| alpha <= 0.5 * setting.alpha0))
            .means(match sharp {
                None => "after T random samples even the sharper argument says nothing",
                Some(_) => "after T random samples every true neuron has a fitted one this near, up to sign",
            }),
    ]
}

fn exploration(case: &Case) -> Vec<Quantity> {
    let Case { inputs, nu, setting } = case;
    let length = exploration_conditions(setting, *nu);
    let sharp = log10_identified_length(setting, *nu);
    let reached = |log10: f64| log10 <= libm::log10(inputs.horizon);
    let never = "no number of samples is enough, because ";
    let why = match (*nu == 0.0, setting.alpha0 == 0.0) {
        (true, _) => format!("{never}the gap is zero"),
        (_, true) => format!("{never}two neurons cannot be told apart"),
        _ => String::new(),
    };
    let or_why = |sentence: &str, log10: f64| if log10.is_finite() { sentence.to_owned() } else { why.clone() };
    let at = ("Appendix D", "eq:t0max_1");
    vec![
        Quantity::new("t1", "t₁(ν)", at, "smallest n with 727·π^(−1/4)·k·d^(1/4)·(2ζ)^(1/4) ≤ ν/2")
            .log10(length.log10_accurate)
            .holds(reached(length.log10_accurate))
            .means(or_why("so many random samples put every neuron within half of the gap", length.log10_accurate)),
        Quantity::new(
            "t2",
            "t₂",
            ("Appendix D", "eq:t0max_2"),
            "smallest n with √(2ζ) ≤ min{1/(1152²·√(2π)·k²·d^(3/2)), α₀²·√π/(1454²·k²·√d)}",
        )
        .log10(length.log10_narrow.max(length.log10_separated))
        .holds(reached(length.log10_narrow.max(length.log10_separated)))
        .means(or_why("so many random samples make Theorem 3.2 apply", length.log10_separated)),
        Quantity::new("t0", "t₀(ν)", ("Appendix D", "eq:t0max"), "max{t₁(ν), t₂}")
            .log10(length.log10())
            .holds(reached(length.log10()))
            .means(or_why("so long must Algorithm 1 explore before the theory lets it be optimistic", length.log10())),
        Quantity::new(
            "t0_identified",
            "t₀(ν), sharper",
            ("ours, for Theorem 3.2", "eq:t0max"),
            "smallest n with 2ζ ≤ ℓ(min{ν, α₀}/2)",
        )
        .log10(sharp)
        .holds(reached(sharp))
        .means(or_why("so long by an argument without the losses of the paper's, but with its ζ", sharp)),
    ]
}

fn stage(case: &Case) -> Stage {
    let Inputs { dim, neurons, sigma, delta, lambda, .. } = case.inputs;
    Stage { dim, neurons, lambda, sigma, delta }
}

fn optimism(case: &Case) -> Vec<Quantity> {
    let stage = stage(case);
    let cited = oful_stage_regret(&stage, case.inputs.horizon);
    let proven = optimism_regret(&stage, case.inputs.horizon);
    vec![
        Quantity::new(
            "oful_stage_regret",
            "regret of OFUL",
            ("Appendix D, from Abbasi-Yadkori et al. (2011), Theorem 3", "app:thm_bandit"),
            "4·√(T·D·log(λ + T/D))·(√λ·√(5k) + σ·√(2·log(1/δ) + D·log(1 + T/(λD)))), D = 2kd",
        )
        .maybe(cited)
        // The theorem cited assumes rewards within ±1 and features no longer than √λ, which x‡ does not keep to.
        .holds(cited.is_some_and(|cited| cited >= proven))
        .means("T optimistic rounds cost this as the paper cites it, a sure bound where it is not below the next line"),
        Quantity::new(
            "optimism_regret",
            "regret of optimism",
            ("ours, for Appendix D", "app:thm_bandit"),
            "2·max{β, k/2}·√(2TG), G = (k+1)d·log(1 + 5kT/(4λ(k+1)d)), β = √(5kλ) + σ·√(2·log(1/δ) + G)",
        )
        .value(proven)
        .means("T optimistic rounds cost no more than this with probability 1 − δ, once the activations are known"),
    ]
}

fn parts(
    bound: &RegretBound,
    at: (&'static str, &'static str),
    keys: [&'static str; 4],
    formulas: [&'static str; 4],
) -> Vec<Quantity> {
    let symbols = ["regret of exploration", "regret of optimism", "regret of failure", "R_T"];
    let values = [bound.exploration, bound.optimism, bound.failure, bound.total()];
    let total = match (bound.informative(), bound.total().is_finite()) {
        (true, _) => "the expected regret of T rounds is at most this",
        (false, true) => {
            "the bound is above 2kT, which holds without any theorem: for this horizon the theory says nothing yet"
        }
        (false, false) => "the bound is infinite, because no exploration is long enough",
    };
    let meanings = [
        "each round of exploration costs at most 2k",
        "the optimistic rounds cost at most this, with δ = 1/√T shared between exploration and confidence",
        "with probability δ = 1/√T something fails, and then every round may cost 2k",
        total,
    ];
    (0..4)
        .map(|i| {
            let quantity = Quantity::new(keys[i], symbols[i], at, formulas[i]).value(values[i]).means(meanings[i]);
            if i == 3 { quantity.holds(bound.informative()) } else { quantity }
        })
        .collect()
}

fn known_gap(case: &Case) -> Vec<Quantity> {
    let Case { inputs, nu, setting } = case;
    let at = ("Theorem 4.3", "thm:algo1_reg");
    let bound = known_gap_regret(setting, *nu, inputs.lambda, inputs.horizon);
    let keys = ["known_gap_exploration", "known_gap_optimism", "known_gap_failure", "known_gap_regret"];
    let formulas = ["2k·t₀(ν, δ/2)", "2·max{β, k/2}·√(2TG) at δ/2", "2k·√T", "exploration + optimism + failure"];
    let mut all = parts(&bound, at, keys, formulas);
    let first = log10_informative_horizon(setting, *nu, inputs.lambda);
    let quantity = Quantity::new("informative_horizon", "first T", at, "smallest T with R_T < 2kT");
    all.push(match first {
        Some(log10) => quantity
            .log10(log10)
            .means("from this horizon on Theorem 4.3 says more than that no round costs more than 2k"),
        None => {
            quantity.value(f64::INFINITY).means("there is no horizon below 10^300 at which Theorem 4.3 says anything")
        }
    });
    all
}

fn unknown_gap(case: &Case) -> Vec<Quantity> {
    let Case { inputs, nu, setting } = case;
    let Inputs { batches, horizon, .. } = *inputs;
    let at = ("Theorem 4.4", "thm:algo2_reg");
    let bound = unknown_gap_regret(setting, *nu, inputs.lambda, &batches, horizon);
    let too_high = batches.too_high(*nu);
    let keys = ["unknown_gap_exploration", "unknown_gap_optimism", "unknown_gap_failure", "unknown_gap_regret"];
    let formulas = [
        "2k·t₀(ν_M, δ/2), ν_M = ν₀/b^M",
        "√M·2·max{β, k/2}·√(2TG) at δ/2",
        "2k·M·√T",
        "guesses + exploration + optimism + failure",
    ];
    let mut all = vec![
        Quantity::new("exponent", "8·log b/log a", at, "8·log b/log a ≤ 1/2")
            .value(batches.exponent())
            .holds(batches.admissible())
            .means("exploration over all batches grows like this power of T, which must not exceed one half"),
        Quantity::new("batches", "M", ("Section 4.3", "eq:valM"), "⌈log(T/T₁ + 1)/log a⌉")
            .value(batches.count(horizon))
            .means("T rounds are played in so many batches, the last one cut at T"),
        Quantity::new("too_high", "batches with ν_i > ν*", ("Section 4.3", ""), "⌈log(ν₀/ν*)/log b⌉ − 1")
            .value(too_high)
            .holds(too_high < batches.count(horizon))
            .means("so many batches pass before the guess of the gap is below the gap"),
        Quantity::new(
            "unknown_gap_guesses",
            "regret of guesses",
            at,
            "2k·T_j, T_j = (a^j − 1)·T₁ for those batches, at most 2kT",
        )
        .value(bound.guesses)
        .means("while the guess is above the gap the best action may be excluded, so each round may cost 2k"),
    ];
    all.extend(parts(&bound, at, keys, formulas));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_inputs_are_refused_with_a_sentence() {
        let good = Inputs::new(2, 3, 0.1);
        assert!(evaluate(&good).is_ok());
        let bad = [
            Inputs { dim: 1, ..good },
            Inputs { neurons: 0, ..good },
            Inputs { sigma: -1.0, ..good },
            Inputs { sigma: f64::NAN, ..good },
            Inputs { nu: Some(1.5), ..good },
            Inputs { alpha0: Some(-0.1), ..good },
            Inputs { delta: 0.0, ..good },
            Inputs { delta: 1.0, ..good },
            Inputs { horizon: 0.5, ..good },
            Inputs { horizon: f64::INFINITY, ..good },
            Inputs { lambda: 0.0, ..good },
            Inputs { batches: Batches { a: 1.0, ..good.batches }, ..good },
            Inputs { batches: Batches { b: f64::NAN, ..good.batches }, ..good },
        ];
        for inputs in bad {
            let sentence = evaluate(&inputs).unwrap_err().to_string();
            assert!(sentence.contains("out of range"), "{sentence}");
        }
    }
}
