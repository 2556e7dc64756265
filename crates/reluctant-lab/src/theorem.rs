//! What the paper's theorems promise a policy in the environment that it played in.

use reluctant::params::Initial;
use reluctant::theory::{
    Batches, RegretBound, Setting, gap_floor, known_gap_regret, separation_limit, unknown_gap_regret,
};
use reluctant::{Literal, policy};
use serde_json::{Map, Value};

use crate::results::{EnvironmentResults, PolicyResults};

/// A theorem with everything that its bound depends on but the horizon.
///
/// Each trial has a network of its own, so the gap and the separation are not one number: the bound takes ν* = 1/(2k),
/// which no network's gap is below, and the largest α₀ that k neurons in d dimensions can have, as `reluctant theory`
/// does. A network whose neurons are nearer to each other has a larger bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Theorem {
    setting: Setting,
    lambda: f64,
    /// The batches of Algorithm 2; none for Algorithm 1.
    batches: Option<Batches>,
}

impl Theorem {
    /// The theorem for `policy`, if there is one: for OFU-ReLU and OFU-ReLU+ where the rewards are those of a ReLU
    /// network of unit neurons without biases and a second layer of ones, on a sphere of dimension at least one.
    pub fn of(environment: &EnvironmentResults, policy: &PolicyResults) -> Option<Self> {
        let params = &environment.params;
        let is = |name: &str, word: &str| params.get(name).and_then(Value::as_str).is_some_and(|said| said == word);
        let differs = |(name, word): (&str, &str)| params.contains_key(name) && !is(name, word);
        let biased = real(params, "biases").is_some_and(|biases| biases > 0.0);
        let of_the_paper = [("signs", "ones"), ("lengths", "unit"), ("activation", "relu")];
        if !is("kind", "relu-sphere") || biased || of_the_paper.into_iter().any(differs) {
            return None;
        }
        let [dim, neurons] = [size(params, "dim")?, size(params, "neurons")?];
        let sigma = real(params, "sigma").filter(|sigma| *sigma >= 0.0)?;
        let lambda = played(policy, "lambda").filter(|lambda| *lambda > 0.0)?;
        if dim < 2 || neurons < 1 {
            return None;
        }
        let batches = match policy.policy.as_str() {
            "ofu-relu" => None,
            "ofu-relu-plus" => {
                let number = |name| played(policy, name);
                Some(Batches { first: number("first_batch")?, a: number("a")?, b: number("b")?, nu0: number("nu0")? })
            }
            _ => return None,
        };
        // The theorems choose δ themselves, so the setting's is never read.
        let setting = Setting { dim, neurons, sigma, delta: 1.0, alpha0: separation_limit(neurons, dim) };
        Some(Theorem { setting, lambda, batches })
    }

    /// Which theorem it is.
    pub fn name(&self) -> &'static str {
        if self.batches.is_some() { "Theorem 4.4" } else { "Theorem 4.3" }
    }

    /// The bound on the expected regret of `rounds` rounds, part by part, with the δ of a player who knows that number.
    pub fn bound(&self, rounds: f64) -> RegretBound {
        let Theorem { setting, lambda, batches } = self;
        let nu = gap_floor(setting.neurons);
        match batches {
            None => known_gap_regret(setting, nu, *lambda, rounds),
            Some(batches) => unknown_gap_regret(setting, nu, *lambda, batches, rounds),
        }
    }

    /// k·t, which no play of t rounds exceeds, since 0 ≤ f ≤ k.
    pub fn trivial(&self, rounds: f64) -> f64 {
        self.setting.neurons as f64 * rounds
    }
}

fn real(map: &Map<String, Value>, name: &str) -> Option<f64> {
    map.get(name).and_then(Value::as_f64)
}

fn size(map: &Map<String, Value>, name: &str) -> Option<usize> {
    map.get(name).and_then(Value::as_u64).and_then(|size| size.try_into().ok())
}

/// A parameter as it was played: given, or else the policy's default.
fn played(policy: &PolicyResults, name: &str) -> Option<f64> {
    real(&policy.params, name).or_else(|| {
        let entry = policy::find(&policy.policy).ok()?;
        match entry.params.iter().find(|param| param.name == name)?.initial {
            Initial::Is(Literal::Real(value)) => Some(value),
            Initial::Is(Literal::Count(value)) => Some(value as f64),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use reluctant::theory::{Inputs, evaluate};
    use serde_json::json;

    use super::*;

    fn theorem(environment: Value, policy: &str, params: Value) -> Option<Theorem> {
        let map = |value: Value| value.as_object().cloned().unwrap();
        let policy = PolicyResults { params: map(params), ..PolicyResults::new("any", policy, Vec::new()) };
        let environment =
            EnvironmentResults { params: map(environment), ..EnvironmentResults::new("a", "", vec![1000]) };
        Theorem::of(&environment, &policy)
    }

    fn environment() -> Value {
        json!({"kind": "relu-sphere", "dim": 2, "neurons": 3, "sigma": 0.1, "signs": "ones"})
    }

    /// The same numbers as `reluctant theory` prints.
    #[test]
    fn bounds_are_those_of_the_theory() {
        let inputs = Inputs { lambda: 0.001, horizon: 5000.0, ..Inputs::new(2, 3, 0.1) };
        let quantities = evaluate(&inputs).unwrap();
        let value = |key: &str| quantities.iter().find(|quantity| quantity.key == key).unwrap().value.unwrap();
        for (policy, name, optimism, whole) in [
            ("ofu-relu", "Theorem 4.3", "known_gap_optimism", "known_gap_regret"),
            ("ofu-relu-plus", "Theorem 4.4", "unknown_gap_optimism", "unknown_gap_regret"),
        ] {
            let theorem = theorem(environment(), policy, json!({"lambda": 0.001})).unwrap();
            let bound = theorem.bound(5000.0);
            assert_eq!((theorem.name(), theorem.trivial(5000.0)), (name, 15_000.0));
            assert_eq!((bound.optimism, bound.total()), (value(optimism), value(whole)));
            assert!(bound.optimism < 15_000.0 && bound.total() > 1e40);
        }
    }

    #[test]
    fn parameters_that_were_not_given_have_the_policys_defaults() {
        let given = json!({"lambda": 0.01, "first_batch": 100, "a": 2.0, "b": 2f64.powf(1.0 / 32.0), "nu0": 0.1});
        assert_eq!(theorem(environment(), "ofu-relu-plus", json!({})), theorem(environment(), "ofu-relu-plus", given));
        let other = theorem(environment(), "ofu-relu-plus", json!({"first_batch": 50}));
        assert_ne!(theorem(environment(), "ofu-relu-plus", json!({})), other);
    }

    #[test]
    fn what_no_theorem_covers_has_none() {
        assert!(theorem(environment(), "ofu-relu", json!({})).is_some());
        assert_eq!(theorem(environment(), "oful", json!({})), None);
        assert_eq!(theorem(environment(), "ofu-relu", json!({"lambda": 0.0})), None);
        let with = |name: &str, value: Value| {
            let mut environment = environment();
            environment[name] = value;
            theorem(environment, "ofu-relu", json!({}))
        };
        assert_eq!(with("kind", json!("linear-sphere")), None);
        assert_eq!(with("signs", json!("random")), None, "a second layer of ±1 may have no gap");
        assert_eq!(with("lengths", json!("normal")), None);
        assert_eq!(with("activation", json!("leaky")), None);
        assert_eq!(with("biases", json!(0.5)), None);
        assert!(with("biases", json!(0.0)).is_some() && with("activation", json!("relu")).is_some());
        assert_eq!(with("dim", json!(1)), None);
        assert_eq!(with("sigma", json!(null)), None);
        assert!(with("neurons", json!(1)).unwrap().bound(1000.0).total().is_finite());
    }
}
