//! `plausible`: optimism over the networks that explain what was seen.
//!
//! No exploration length, no gap ν, nothing to tune. The policy keeps a set of networks, each fitted to the history
//! with a perturbation of every reward of its own and moved from there within the posterior (so that together they are
//! nearly draws from it), and plays the arm of greatest
//!
//! > mean + c·s,
//!
//! where mean and spread s are taken over the plausible networks. Alone that would sometimes stay with an arm that is
//! good but not the best. So in a few rounds, ever fewer, it plays the arm of which the most hopeful networks expect
//! most, and in very few what they know least about ([`optimism`]).
//!
//! The models, from small to large, and the rule that chooses among them:
//!
//! 1. **A linear function with a constant** ([`fallback`]), which acts whenever it has lately predicted better than
//!    the networks have: rewards that no network of the range explains end here, with a warning in the explanation. If
//!    the number of neurons is not given, it is one of the models among which evidence chooses, and until it is
//!    refuted an arm may be as good as it says. If it is given, the linear model acts when the networks are refuted,
//!    and an arm may be as good as it says in checks and while all neurons of the best network point nearly the same
//!    way, as they would to imitate a constant.
//! 2. **The plausible networks** ([`ensemble`]): refitted by a few Levenberg–Marquardt steps ([`refit`]) and drawn
//!    from the posterior from there ([`draws`]), weighed by likelihood, started anew when they fall out, challenged
//!    by new ones ([`renewal`]). Members may differ in their number of neurons, near the one given or, if none is
//!    given, from 1 to 16, and are weighed by their evidence, in which an unknown costs what the data says about
//!    it; if none is given, in the first rounds also by what each size had predicted ([`sizes`]). σ is a first
//!    guess, corrected by the residuals.
//! 3. **The frozen network**: once the networks have agreed on the linear piece of every recent action, the best of
//!    them is frozen and the rest is ridge regression in its features ([`FrozenRelu`]), towards that network, at a
//!    linear bandit's cost. Residuals too large for the noise send the policy back to 2.
//! 4. **A Gaussian process** ([`infinite`]), if the number of neurons is not given: networks of infinitely many neurons
//!    and other kernels, by evidence. It acts while its evidence exceeds that of the best network.
//!
//! Where named actions share a context the models are others, with a hidden layer for all actions ([`in_contexts`]).
//!
//! **Proven** is only what the paper proves of the third: if the frozen activations are right and the noise is not
//! above the level in use, `radius = "theorem"` has OFU-ReLU's √T regret from then on. **Measured** is everything else,
//! the default `radius = "measured"` (1.5 standard deviations) included: see docs/rivals.md.

mod checks;
mod condense;
mod crowd;
mod draws;
mod ensemble;
mod explain;
mod fallback;
mod form;
mod history;
mod in_contexts;
mod infinite;
mod jacobian;
mod lanes;
mod learning;
mod member;
mod narrow;
mod optimism;
mod refit;
mod renewal;
mod sizes;
mod sphere;
mod wide;

use serde::{Deserialize, Serialize};

use super::ofu_relu::SIGNS;
use super::sphere::RegionCache;
use super::{Build, Contexts, Entry, Explanation, Fitted, Policy, Restore, Sample, Snapshot, confidence, read_state};
use crate::action::{Action, check_observation, check_vector};
use crate::belief::{Belief, check_features, state};
use crate::choice::{Choice, argmax};
use crate::ellipsoid::Confidence;
use crate::error::{Error, Result};
use crate::frozen::FrozenRelu;
use crate::kernels::network_values;
use crate::offer::{Offer, Rows};
use crate::params::{Initial, Kind, Literal, Param, Params};
use crate::relu::{MAX_NEURONS, ReluNet};
use crate::rng::{Key, Purpose};
use crate::scratch::Scratch;
use checks::is_check;
use crowd::MOST_NETWORKS;
use ensemble::Ensemble;
use fallback::Fallback;
use form::{Form, Shape};
use history::{BUDGETS, History};
use infinite::Infinite;

/// The activations are frozen when the networks have agreed on the actions of this share of all rounds without a
/// break, or of `AGREED_ROUNDS`.
const AGREED_SHARE: f64 = 0.25;
const AGREED_ROUNDS: f64 = 500.0;
/// But not before this many observations for each unknown, nor before `FROZEN_FROM` in all.
const FROZEN_PER_UNKNOWN: usize = 20;
const FROZEN_FROM: usize = 500;
/// In the frozen stage squared residuals are averaged over this many rounds; above `SURPRISED` times
/// the noise they say it is wrong.
const WATCH: f64 = 100.0;
const SURPRISED: f64 = 1.75;
/// In a probe a single residual of so many standard deviations says so.
const PROBE_SURPRISED: f64 = 2.5;
/// Widths of the frozen stage, in standard deviations: docs/laboratory.md derives that √2 costs least. In a check it is
/// what the most hopeful sixteenth of draws from a normal distribution reach on average.
const FROZEN_WIDTH: f64 = 1.5;
const FROZEN_HOPE: f64 = 2.0;
/// Evidence, in units of 2 log, that refutes the linear model or, if their number was told, the networks. Plenty,
/// because Laplace's approximation flatters networks: where all neurons point to what was played, and so hardly change
/// its reward, they seem to cost nothing.
const REFUTED: f64 = 20.0;

pub(super) const ENTRY: Entry = Entry {
    name: "plausible",
    summary: "optimism over the networks that explain the history; nothing to tune",
    citation: "this library; the frozen stage is that of Xu, Bastani, Goel and Bastani (2024)",
    params: &[
        Param::new(
            "neurons",
            Initial::count(0),
            Kind::Count { min: 0, max: MAX_NEURONS as u64 },
            "neurons k of the networks; 0: chosen by evidence, up to 16",
        )
        .told(),
        Param::new(
            "sigma",
            Initial::Auto("estimated"),
            Kind::NOT_NEGATIVE,
            "first guess of the noise level; residuals correct it",
        )
        .told(),
        SIGNS,
        Param::new(
            "networks",
            Initial::count(32),
            Kind::Count { min: 2, max: MOST_NETWORKS as u64 },
            "how many networks are kept; four times as many in the first rounds",
        ),
        Param::new(
            "mode",
            Initial::word("optimism"),
            Kind::Word(&["optimism", "sampling"]),
            "act by optimism, or by one network drawn at random a round",
        ),
        Param::new(
            "optimism",
            Initial::real(1.5),
            Kind::NOT_NEGATIVE,
            "c: standard deviations added to the mean; two thirds of it in the first 20 rounds",
        ),
        Param::new(
            "budget",
            Initial::count(2000),
            Kind::Count { min: *BUDGETS.start() as u64, max: *BUDGETS.end() as u64 },
            "observations kept for refits; of more, those of nearly the same action become one",
        ),
        Param::new(
            "lambda",
            Initial::real(1.0),
            Kind::POSITIVE,
            "ridge penalty λ of the frozen stage, towards the frozen network (`theorem`: towards zero)",
        ),
        Param::new(
            "radius",
            Initial::word("measured"),
            Kind::Word(&["measured", "theorem"]),
            "widths of the frozen stage: 1.5 standard deviations, or the confidence radius of the theorem",
        ),
        confidence::DELTA,
    ],
    sphere: true,
    contexts: Contexts::Shared(in_contexts::SHARED),
    samples: &[
        Sample { name: "default", environment: "relu-sphere", settings: &[("neurons", Literal::Count(3))] },
        Sample { name: "unknown_size", environment: "relu-sphere", settings: &[("networks", Literal::Count(16))] },
        Sample {
            name: "signs",
            environment: "relu-sphere",
            settings: &[
                ("neurons", Literal::Count(3)),
                ("signs", Literal::Word("free")),
                ("networks", Literal::Count(8)),
            ],
        },
        Sample {
            name: "sampling",
            environment: "relu-sphere",
            settings: &[
                ("neurons", Literal::Count(3)),
                ("mode", Literal::Word("sampling")),
                ("networks", Literal::Count(8)),
            ],
        },
    ],
    build: Build::Plain(|dim, params, key| Ok(Box::new(Plausible::new(dim, params, key)?))),
    restore: Restore::Plain(|state| Ok(Box::new(read_state(state, Plausible::is_consistent)?))),
};

/// Optimism over the networks that explain the history.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plausible {
    config: Config,
    key: Key,
    /// Observations so far.
    seen: u64,
    history: History,
    ensemble: Ensemble,
    fallback: Fallback,
    /// If the number of neurons is not given.
    infinite: Option<Infinite>,
    /// Rounds in a row on whose action the networks agreed.
    agreed: u64,
    frozen: Option<Frozen>,
    /// How often a frozen network turned out wrong.
    thawed: u64,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Config {
    dim: usize,
    networks: usize,
    sampling: bool,
    optimism: f64,
    lambda: f64,
    delta: f64,
    theorem: bool,
}

/// A step of the ladder: the model that acts.
enum Step<'a> {
    Linear,
    Networks,
    Infinite(&'a Infinite),
}

/// The last stage.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Frozen {
    regime: FrozenRelu,
    #[serde(skip)]
    region: RegionCache,
    /// The recent mean of (residual/σ)².
    surprise: f64,
    sigma: f64,
}

impl Config {
    fn is_consistent(&self) -> bool {
        (2..=MOST_NETWORKS).contains(&self.networks)
            && self.optimism.is_finite()
            && self.optimism >= 0.0
            && self.lambda.is_finite()
            && self.lambda > 0.0
            && (0.0..1.0).contains(&self.delta)
    }
}

impl Plausible {
    fn new(dim: usize, params: &Params, key: Key) -> Result<Self> {
        let neurons = params.size("neurons")?;
        let shape = if params.word("signs")? == "free" { Shape::Signed } else { Shape::Unit };
        if dim < 2 {
            return Err(Error::out_of_range("dim", dim, "at least 2 for a ReLU network on the sphere"));
        }
        let form = Form { dim, neurons, shape };
        let counted =
            if neurons > 0 { "dim times neurons + 4" } else { "dim times 17, because up to 16 neurons are considered" };
        check_features((form.sizes().1 + 1) * dim, counted)?;
        let networks = params.size("networks")?;
        let config = Config {
            dim,
            networks,
            sampling: params.word("mode")? == "sampling",
            optimism: params.real("optimism")?,
            lambda: params.real("lambda")?,
            delta: params.real("delta")?,
            theorem: params.word("radius")? == "theorem",
        };
        let crowd = crowd::crowd(networks, 0);
        let sigma = params.real("sigma").ok();
        let mut stream = key.purpose(Purpose::Start).stream();
        Ok(Plausible {
            config,
            key,
            seen: 0,
            history: History::new(dim, crowd, params.size("budget")?, key),
            ensemble: Ensemble::new(form, crowd, sigma, &mut stream),
            fallback: Fallback::new(dim),
            infinite: (neurons == 0).then(|| Infinite::new(dim)),
            agreed: 0,
            frozen: None,
            thawed: 0,
        })
    }

    fn is_consistent(&self) -> bool {
        let dim = self.config.dim;
        self.history.dim() == dim
            && self.config.is_consistent()
            && self.ensemble.members.len() == crowd::crowd(self.config.networks, self.seen)
            && self.history.networks() == self.ensemble.members.len()
            && self.history.is_asleep() == self.frozen.is_some()
            && self.history.len() as u64 <= self.seen
            && self.history.seen() == self.seen
            && (self.seen == 0) == (self.history.len() == 0)
            && self.ensemble.is_consistent(dim)
            && self.fallback.is_consistent(dim)
            && self.infinite.is_some() != self.is_told()
            && self.infinite.as_ref().is_none_or(|infinite| infinite.is_consistent(dim))
            && self
                .frozen
                .as_ref()
                .is_none_or(|f| f.regime.is_consistent() && f.regime.network().dim() == dim && f.sigma.is_finite())
    }

    /// The linear regime with Θ̃, once the networks agree.
    pub fn regime(&self) -> Option<&FrozenRelu> {
        self.frozen.as_ref().map(|frozen| &frozen.regime)
    }

    /// The plausible networks and their weights, which sum to one.
    pub fn networks(&self) -> Vec<(f64, ReluNet)> {
        self.ensemble.plausible().map(|(weight, network)| (weight, network.clone())).collect()
    }

    /// The noise level in use.
    pub fn sigma(&self) -> f64 {
        self.ensemble.sigma
    }

    /// The model that acts, unless a network is frozen.
    fn step(&self) -> Step<'_> {
        let linear = self.fallback.acts || self.fallback.advantage > 0.0;
        match &self.infinite {
            // Who tells the number of neurons has told that there are neurons, and these must be refuted.
            None if self.fallback.acts || self.fallback.advantage > REFUTED => Step::Linear,
            Some(infinite) if infinite.leads() || linear => {
                if infinite.advantage > self.fallback.advantage {
                    Step::Infinite(infinite)
                } else {
                    Step::Linear
                }
            }
            _ => Step::Networks,
        }
    }

    /// Whether the networks act, unless one is frozen.
    fn networks_act(&self) -> bool {
        matches!(self.step(), Step::Networks)
    }

    /// Whether an arm may now be as good as the linear model says. Not after that is refuted; and if the number of
    /// neurons was told, only in checks and while they look like an imitation of a constant.
    fn linear_is_asked(&self) -> bool {
        self.fallback.advantage >= -REFUTED
            && (!self.is_told() || is_check(self.seen) || self.ensemble.is_nearly_parallel())
    }

    /// Whether the number of neurons was told.
    fn is_told(&self) -> bool {
        self.ensemble.form.neurons > 0
    }

    /// Compares the smallest and the largest model with the networks by evidence.
    fn compare(&mut self) {
        // A condensed history has lost some of the noise, and while a network was frozen the linear model saw nothing:
        // then their losses are not comparable. By then the verdict is clear.
        if self.history.len() as u64 == self.seen && self.thawed == 0 {
            let seen = self.seen as f64;
            self.fallback.advantage = self.ensemble.advantage_of(self.fallback.evidence(), seen);
            if let Some(infinite) = &mut self.infinite {
                infinite.advantage = self.ensemble.advantage_of(infinite.belief.evidence(), seen);
            }
        }
    }

    /// The frozen network, unless this round probes it: then the networks act.
    fn acting_frozen(&self) -> Option<&Frozen> {
        self.frozen.as_ref().filter(|_| !self.probes())
    }

    fn radius(&self, frozen: &Frozen) -> f64 {
        if !self.config.theorem {
            return if is_check(self.seen) { FROZEN_HOPE } else { FROZEN_WIDTH } * frozen.sigma;
        }
        let neurons = frozen.regime.network().neurons() as f64;
        let Config { lambda, delta, .. } = self.config;
        let confidence = Confidence { lambda, sigma: frozen.sigma, delta, norm_bound: (5.0 * neurons).sqrt() };
        confidence.radius(frozen.regime.ellipsoid().log_det_ratio())
    }

    /// Lets go of networks beyond those that are kept in the long run.
    fn thin_out(&mut self) {
        let present = self.ensemble.members.len();
        if present == self.config.networks {
            return;
        }
        let crowd = crowd::crowd(self.config.networks, self.seen);
        if crowd < present {
            self.ensemble.thin_out(crowd);
            self.history.thin_out(crowd);
        }
    }

    /// Freezes the best network if the plausible ones have agreed for long enough.
    fn freeze_if_agreed(&mut self, action: &[f64]) {
        // A check is played where networks disagree, and says nothing about the actions of other rounds.
        if !is_check(self.seen - 1) {
            let agree = self.networks_act() && self.ensemble.agree_at(action);
            self.agreed = if agree { self.agreed.saturating_add(1) } else { 0 };
        }
        let unknowns = self.ensemble.unknowns() as usize;
        let enough = FROZEN_FROM.max(FROZEN_PER_UNKNOWN * unknowns).min(self.history.budget() / 2) as u64;
        if self.seen < enough || (self.agreed as f64) < (AGREED_SHARE * self.seen as f64).min(AGREED_ROUNDS) {
            return;
        }
        let network = self.ensemble.polish(&self.history);
        // The theorem is about a penalty towards zero.
        let start = if self.config.theorem { FrozenRelu::new } else { FrozenRelu::centred };
        let mut regime = start(network, self.config.lambda);
        self.history.for_each(|x, y| regime.update(x, y));
        self.history.sleep();
        self.frozen =
            Some(Frozen { regime, region: RegionCache::default(), surprise: 1.0, sigma: self.ensemble.sigma });
    }

    /// The best arm of one network drawn at random.
    fn select_by_sampling<'a>(&self, rows: Rows<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        self.score(Offer::Rows(rows), scratch)?;
        let drawn = self.ensemble.sample(&mut key.purpose(Purpose::Choice).stream());
        let best_of = |network: &ReluNet, values: &mut Vec<f64>| {
            values.clear();
            network_values(network, rows, values);
            argmax(values.iter().copied()).unwrap_or(0)
        };
        let values = &mut scratch.numbers;
        let chosen = best_of(&self.ensemble.members[drawn].network, values);
        let value = values[chosen];
        let agrees = |(weight, network)| if best_of(network, values) == chosen { weight } else { 0.0 };
        let propensity: f64 = self.ensemble.plausible().map(agrees).sum();
        let choice = Choice::row(rows, chosen, scratch.scores[chosen]).drawn(value);
        Ok(choice.with_propensity(propensity.min(1.0)))
    }
}

impl Plausible {
    /// Learns that `action` was rewarded with `reward`.
    fn absorb(&mut self, action: &[f64], reward: f64) {
        let (number, probe) = (self.seen, self.probes());
        self.seen = self.seen.saturating_add(1);
        if self.history.is_full() {
            self.history.condense();
            if self.frozen.is_none() {
                self.ensemble.reassess(&self.history);
            }
        }
        let place = self.history.push(number, action, reward);
        self.thin_out();
        if let Some(frozen) = &mut self.frozen {
            if frozen.learn(action, reward, probe) {
                return;
            }
            self.frozen = None;
            self.thawed = self.thawed.saturating_add(1);
            self.agreed = 0;
            self.history.wake();
            self.ensemble.thaw(&self.history);
        } else {
            self.ensemble.account(place, &self.history);
        }
        let predicted = self.ensemble.mean(action);
        self.fallback.learn(action, reward, predicted);
        let mut hopeless = false;
        if let Some(infinite) = &mut self.infinite {
            infinite.belief.learn(action, reward);
            hopeless = infinite.is_far_ahead();
        }
        if !hopeless || is_check(number) {
            let mut stream = self.key.round(number).purpose(Purpose::Fit).stream();
            self.ensemble.learn(reward, &self.history, &mut stream);
        }
        self.compare();
        self.freeze_if_agreed(action);
    }

    /// Mean and width of every row.
    fn score_rows(&self, rows: Rows<'_>, scratch: &mut Scratch) {
        match self.acting_frozen() {
            Some(frozen) => frozen.regime.score(rows, self.radius(frozen), scratch),
            None => match self.step() {
                Step::Linear => self.fallback.score(rows, &mut scratch.scores),
                Step::Infinite(infinite) => infinite.score(rows, scratch),
                Step::Networks => self.score_by_networks(rows, true, scratch),
            },
        }
    }
}

impl Policy for Plausible {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn dim(&self) -> usize {
        self.config.dim
    }

    fn select<'a>(&self, offer: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        offer.expect_dim(self.config.dim)?;
        match (self.acting_frozen(), offer) {
            (_, Offer::Context(_)) => Err(Error::unexpected_context(ENTRY.name)),
            (Some(frozen), Offer::Rows(rows)) => {
                Ok(super::select_frozen(&frozen.regime, rows, self.radius(frozen), 0.0, scratch))
            }
            (Some(frozen), Offer::Sphere { .. }) => frozen.region.select(&frozen.regime, 0.0, self.radius(frozen)),
            (None, Offer::Sphere { .. }) => self.select_from_sphere(key, scratch),
            (None, Offer::Rows(rows)) if self.config.sampling && self.networks_act() => {
                self.select_by_sampling(rows, key, scratch)
            }
            (None, Offer::Rows(rows)) if self.networks_act() => {
                self.score_by_networks(rows, false, scratch);
                Ok(super::best_by_score(rows, scratch))
            }
            (None, Offer::Rows(rows)) => super::select_optimistic(self, rows, scratch),
        }
    }

    fn probabilities(&self, offer: Offer<'_>, _: &mut Scratch, out: &mut Vec<f64>) -> Result<bool> {
        offer.expect_dim(self.config.dim)?;
        let Offer::Rows(rows) = offer else { return Ok(false) };
        if self.acting_frozen().is_some() || !self.config.sampling || !self.networks_act() {
            return Ok(false);
        }
        let mut values = Vec::new();
        out.clear();
        out.resize(rows.len(), 0.0);
        for (weight, network) in self.ensemble.plausible() {
            values.clear();
            network_values(network, rows, &mut values);
            out[argmax(values.iter().copied()).unwrap_or(0)] += weight;
        }
        Ok(true)
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let x = check_observation(ENTRY.name, self.config.dim, action, reward)?;
        self.absorb(x, reward);
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        offer.expect_dim(self.config.dim)?;
        self.score_rows(offer.rows(ENTRY.name)?, scratch);
        Ok(())
    }

    /// Whether the networks still disagree about what to do.
    fn exploring(&self) -> bool {
        self.frozen.is_none() && self.agreed == 0
    }

    fn model(&self) -> (String, String) {
        self.acting_model()
    }

    fn network(&self) -> Option<Fitted> {
        match &self.frozen {
            _ if self.seen == 0 => None,
            Some(frozen) => Some(Fitted::Networks(vec![(1.0, frozen.regime.network().clone())])),
            None => Some(Fitted::Networks(self.networks())),
        }
    }

    fn explanation(&self, action: Action<'_>) -> Result<Explanation> {
        self.explain_vector(check_vector(ENTRY.name, self.config.dim, action)?)
    }

    fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::of(ENTRY.name, self)
    }
}

/// The door to what the policy knows. Spreads are those of the networks, times c (`optimism`); a drawn
/// function is one of the networks.
impl Belief for Plausible {
    fn kind(&self) -> &'static str {
        "plausible networks"
    }

    fn dim(&self) -> usize {
        self.config.dim
    }

    fn learn(&mut self, x: &[f64], y: f64) {
        self.absorb(x, y);
    }

    fn predict(&self, rows: Rows<'_>, scale: f64, scratch: &mut Scratch) {
        self.score_rows(rows, scratch);
        scratch.scores.iter_mut().for_each(|score| score.width *= scale);
    }

    fn draw(&self, rows: Rows<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        self.score_rows(rows, scratch);
        let drawn = self.ensemble.sample(&mut key.purpose(Purpose::Choice).stream());
        let values = &mut scratch.numbers;
        values.clear();
        network_values(&self.ensemble.members[drawn].network, rows, values);
        values.iter_mut().zip(&scratch.scores).for_each(|(v, score)| *v = score.mean + scale * (*v - score.mean));
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

impl Frozen {
    /// Learns (x, y); false if the residuals are too large for a frozen network that is right. In a probe one is
    /// enough.
    fn learn(&mut self, x: &[f64], y: f64, probe: bool) -> bool {
        if probe {
            // Where activations may be wrong, an observation would spoil what is known of elsewhere.
            let miss = (y - self.regime.mean(x)) / self.sigma;
            return miss.abs() < PROBE_SURPRISED;
        }
        let miss = (y - self.regime.predict_and_update(x, y)) / self.sigma;
        // A single outlier is no reason to doubt the network.
        self.surprise += ((miss * miss).min(WATCH / 4.0) - self.surprise) / WATCH;
        self.surprise < SURPRISED
    }
}
