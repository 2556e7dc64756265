//! The finished trials of an experiment: what statistics and reports work on.
//!
//! Whoever has curves of their own and wants the report makes them with `new` and sets the other fields that matter.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// All finished trials of an experiment, in canonical order (never in order of completion).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Results {
    /// The experiment's short name.
    pub name: String,
    /// Its title, for readers.
    pub title: String,
    /// The version of the program that played the trials.
    pub version: String,
    /// The seed from which every trial's randomness is keyed.
    pub seed: u64,
    /// The environments, in the order of the experiment's description.
    pub environments: Vec<EnvironmentResults>,
}

/// One environment with every policy that played in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EnvironmentResults {
    /// The short name, unique in the experiment.
    pub name: String,
    /// What stands above its plot, such as "d = 2, k = 3"; the figure adds "(a)", "(b)", ….
    pub title: String,
    /// The environment's parameters.
    pub params: Map<String, Value>,
    /// The number of rounds T of each trial.
    pub rounds: u64,
    /// The rounds after which the regret was noted: increasing, the last one T.
    ///
    /// T/4 and T/2 should be among them: they decide whether a trial [grows linearly](crate::stats::is_linear). Where
    /// they are not, the regret is interpolated.
    pub checkpoints: Vec<u64>,
    /// How many trials of each policy the experiment asks for.
    pub planned: u64,
    /// The policies, in the order of the experiment's description.
    pub policies: Vec<PolicyResults>,
    /// The policies of an unfinished experiment that have nothing to show yet.
    pub left_out: Vec<LeftOut>,
}

/// A policy that has nothing to show yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// What readers see.
    pub name: String,
    /// What is missing, such as "2 of its 20 tuning trials are missing".
    pub reason: String,
}

/// Every trial of one policy in one environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PolicyResults {
    /// What readers see; unique in the environment.
    pub label: String,
    /// The policy's name in the registry.
    pub policy: String,
    /// Its parameters, as played.
    pub params: Map<String, Value>,
    /// The parameters among them that tuning chose.
    pub tuned: Map<String, Value>,
    /// The grid from which tuning chose, in the order of the experiment's description; empty if nothing was tuned.
    pub tuning: Vec<Candidate>,
    /// The trials, by increasing number.
    pub trials: Vec<TrialCurve>,
}

/// A candidate of a grid, and what it paid on the tuning trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// The values of the parameters that the grid lists.
    pub settings: Map<String, Value>,
    /// The final regret of each tuning trial.
    pub regret: Vec<f64>,
    /// Whether it was chosen: its mean is the lowest.
    pub chosen: bool,
}

impl Candidate {
    /// A candidate with the final regret of each of its tuning trials.
    pub fn new(settings: Map<String, Value>, regret: Vec<f64>, chosen: bool) -> Self {
        Candidate { settings, regret, chosen }
    }
}

/// The regret of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TrialCurve {
    /// The trial's number. Trials of the same number saw the same arms and the same noise, whatever the policy.
    pub trial: u64,
    /// The cumulative regret at each of the environment's checkpoints.
    pub regret: Vec<f64>,
    /// The total regret that uniformly random choice would expect on these rounds.
    pub chance: f64,
    /// The time of the whole trial.
    pub seconds: f64,
    /// The time spent in the policy's `select` and `update` alone.
    pub policy_seconds: f64,
}

impl LeftOut {
    /// The policy `name`, of which `reason` is missing.
    pub fn new(name: impl Into<String>, reason: impl Into<String>) -> Self {
        LeftOut { name: name.into(), reason: reason.into() }
    }
}

impl PolicyResults {
    /// The trials of the policy `policy`, shown as `label`, of which no parameter is known.
    pub fn new(label: impl Into<String>, policy: impl Into<String>, trials: Vec<TrialCurve>) -> Self {
        let (label, policy) = (label.into(), policy.into());
        PolicyResults { label, policy, params: Map::new(), tuned: Map::new(), tuning: Vec::new(), trials }
    }
}

impl TrialCurve {
    /// The curve of a trial that took no time.
    pub fn new(trial: u64, regret: Vec<f64>, chance: f64) -> Self {
        TrialCurve { trial, regret, chance, seconds: 0.0, policy_seconds: 0.0 }
    }

    /// The regret after all rounds; 0 if nothing was noted.
    pub fn total(&self) -> f64 {
        self.regret.last().copied().unwrap_or(0.0)
    }
}

/// Results that contradict themselves.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{place} {problem}")]
#[non_exhaustive]
pub struct Malformed {
    /// Where: the environment, and where it applies the policy and the trial.
    pub place: String,
    /// What is wrong there.
    pub problem: String,
}

impl Results {
    /// An experiment without environments, played by this version.
    pub fn new(name: impl Into<String>, title: impl Into<String>, seed: u64) -> Self {
        let (name, title, version) = (name.into(), title.into(), env!("CARGO_PKG_VERSION").to_owned());
        Results { name, title, version, seed, environments: Vec::new() }
    }

    /// An error unless every curve fits its environment's checkpoints and every number is finite.
    pub fn check(&self) -> Result<(), Malformed> {
        self.environments.iter().try_for_each(EnvironmentResults::check)
    }

    /// Whether every trial that the experiment asks for is here.
    pub fn is_complete(&self) -> bool {
        self.environments.iter().all(EnvironmentResults::is_complete)
    }
}

impl EnvironmentResults {
    /// An environment without policies, whose trials note their regret at `checkpoints`, the last of which ends them.
    pub fn new(name: impl Into<String>, title: impl Into<String>, checkpoints: Vec<u64>) -> Self {
        EnvironmentResults {
            name: name.into(),
            title: title.into(),
            params: Map::new(),
            rounds: checkpoints.last().copied().unwrap_or(0),
            checkpoints,
            planned: 0,
            policies: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Whether every trial of every policy is here.
    pub fn is_complete(&self) -> bool {
        self.left_out.is_empty() && self.policies.iter().all(|policy| self.missing(policy) == 0)
    }

    /// How many trials of `policy` are missing.
    pub fn missing(&self, policy: &PolicyResults) -> u64 {
        self.planned.saturating_sub(policy.trials.len() as u64)
    }

    fn check(&self) -> Result<(), Malformed> {
        let here = || format!("environment '{}'", self.name);
        let increasing = self.checkpoints.windows(2).all(|pair| pair[0] < pair[1]);
        if !increasing || self.checkpoints.first() == Some(&0) || self.checkpoints.last() != Some(&self.rounds) {
            let problem = format!("needs increasing checkpoints that start after round 0 and end at {}", self.rounds);
            return Err(Malformed { place: here(), problem });
        }
        for policy in &self.policies {
            let here = || format!("{}, policy '{}'", here(), policy.label);
            if !policy.trials.windows(2).all(|pair| pair[0].trial < pair[1].trial) {
                return Err(Malformed { place: here(), problem: "needs trials of increasing number".to_owned() });
            }
            for trial in &policy.trials {
                trial.check(self.checkpoints.len()).map_err(|problem| {
                    let place = format!("{}, trial {}", here(), trial.trial);
                    Malformed { place, problem }
                })?;
            }
        }
        Ok(())
    }
}

impl TrialCurve {
    fn check(&self, checkpoints: usize) -> Result<(), String> {
        if self.regret.len() != checkpoints {
            return Err(format!("notes {} regrets for {checkpoints} checkpoints", self.regret.len()));
        }
        let named = [("chance", self.chance), ("seconds", self.seconds), ("policy_seconds", self.policy_seconds)];
        let regrets = self.regret.iter().map(|&regret| ("regret", regret));
        match regrets.chain(named).find(|(_, value)| !value.is_finite()) {
            Some((name, value)) => Err(format!("has {name} = {value}, which is not a finite number")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(checkpoints: Vec<u64>, regret: Vec<f64>) -> EnvironmentResults {
        let policies = vec![PolicyResults::new("OFUL", "oful", vec![TrialCurve::new(7, regret, 1.0)])];
        EnvironmentResults { rounds: 4, planned: 1, policies, ..EnvironmentResults::new("a", "d = 2", checkpoints) }
    }

    #[test]
    fn contradictions_are_named_in_one_sentence() {
        let said = |checkpoints, regret| environment(checkpoints, regret).check().unwrap_err().to_string();
        assert_eq!(environment(vec![2, 4], vec![0.5, 0.5]).check(), Ok(()));
        assert_eq!(
            said(vec![2, 3], vec![0.5, 0.5]),
            "environment 'a' needs increasing checkpoints that start after round 0 and end at 4"
        );
        assert_eq!(
            said(vec![2, 4], vec![0.5]),
            "environment 'a', policy 'OFUL', trial 7 notes 1 regrets for 2 checkpoints"
        );
        assert_eq!(
            said(vec![2, 4], vec![0.5, f64::NAN]),
            "environment 'a', policy 'OFUL', trial 7 has regret = NaN, which is not a finite number"
        );
    }
}
