//! `summary.json`: the final numbers for programs, one object an environment, keys always in the same order.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Digest, EnvironmentDigest, PolicyDigest};
use crate::results::LeftOut;
use crate::stats::{Paired, Sample};

#[derive(Serialize)]
struct Summary<'a> {
    experiments: Vec<Experiment<'a>>,
    name: &'a str,
    title: &'a str,
    version: &'a str,
    seed: u64,
}

#[derive(Serialize)]
struct Experiment<'a> {
    name: &'a str,
    environment: &'a Map<String, Value>,
    policies: Vec<Policy<'a>>,
    title: &'a str,
    /// The policies with nothing to show yet; there in unfinished experiments alone.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    left_out: &'a [LeftOut],
}

#[derive(Serialize)]
struct Policy<'a> {
    name: &'a str,
    trials: usize,
    /// How many trials there should be; there if some are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    planned_trials: Option<u64>,
    rounds: u64,
    tuned: &'a Map<String, Value>,
    regret: Regret,
    seconds_per_trial: Option<f64>,
    microseconds_per_round: Option<f64>,
    policy: &'a str,
    params: &'a Map<String, Value>,
    paired: Vec<Against<'a>>,
    slope: Option<Slope>,
}

/// Without trials every number is null; with a single trial the interval's two bounds are, as one trial has no spread.
#[derive(Serialize)]
struct Regret {
    mean: Option<f64>,
    ci95: [Option<f64>; 2],
    median: Option<f64>,
    q10: Option<f64>,
    q90: Option<f64>,
    linear_share: Option<f64>,
}

/// The exponent of the mean curve's growth, and the rounds over which it was fitted.
#[derive(Serialize)]
struct Slope {
    value: f64,
    from: u64,
    to: u64,
}

/// The policy's final regret minus another's, on the trials that both played.
#[derive(Serialize)]
struct Against<'a> {
    against: &'a str,
    trials: usize,
    mean: f64,
    ci95: [Option<f64>; 2],
    won: f64,
}

/// The summary as indented JSON, with a final newline.
pub fn render(digest: &Digest<'_>) -> Result<String, String> {
    let results = digest.results;
    let summary = Summary {
        experiments: digest.environments.iter().map(experiment).collect(),
        name: &results.name,
        title: &results.title,
        version: &results.version,
        seed: results.seed,
    };
    let json = serde_json::to_string_pretty(&summary).map_err(|error| error.to_string())?;
    Ok(json + "\n")
}

fn experiment<'a>(environment: &EnvironmentDigest<'a>) -> Experiment<'a> {
    Experiment {
        name: &environment.results.name,
        environment: &environment.results.params,
        policies: environment.policies.iter().map(|policy| describe(environment, policy)).collect(),
        title: &environment.results.title,
        left_out: &environment.results.left_out,
    }
}

fn describe<'a>(environment: &EnvironmentDigest<'a>, policy: &PolicyDigest<'a>) -> Policy<'a> {
    let final_regret = policy.regret();
    let number = |pick: fn(&Sample) -> f64| final_regret.map(pick);
    let against = |other: &PolicyDigest<'a>, pair: Paired| Against {
        against: other.label(),
        trials: pair.trials,
        mean: pair.mean,
        ci95: bounds(pair.ci95()),
        won: pair.won,
    };
    Policy {
        name: policy.label(),
        trials: policy.policy.trials.len(),
        planned_trials: (environment.results.missing(policy.policy) > 0).then_some(environment.results.planned),
        rounds: environment.results.rounds,
        tuned: &policy.policy.tuned,
        regret: Regret {
            mean: number(|regret| regret.mean),
            ci95: bounds(final_regret.and_then(Sample::ci95)),
            median: number(|regret| regret.median),
            q10: number(|regret| regret.q10),
            q90: number(|regret| regret.q90),
            linear_share: policy.linear_share,
        },
        seconds_per_trial: policy.seconds_per_trial,
        microseconds_per_round: policy.microseconds_per_round,
        policy: &policy.policy.policy,
        params: &policy.policy.params,
        paired: environment.differences(policy).map(|(other, pair)| against(other, pair)).collect(),
        slope: policy.slope.map(|slope| Slope { value: slope.value, from: slope.from, to: slope.to }),
    }
}

fn bounds(interval: Option<[f64; 2]>) -> [Option<f64>; 2] {
    interval.map_or([None, None], |ends| ends.map(Some))
}
