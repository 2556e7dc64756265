//! Every statistic that a report shows, computed once.

use super::text::count;
use crate::results::{EnvironmentResults, PolicyResults, Results};
use crate::stats::{self, Paired, Sample, Slope};
use crate::theorem::Theorem;

/// An experiment's results with their statistics.
#[non_exhaustive]
pub struct Digest<'a> {
    /// The results.
    pub results: &'a Results,
    /// Its environments.
    pub environments: Vec<EnvironmentDigest<'a>>,
}

/// An environment with its statistics.
#[non_exhaustive]
pub struct EnvironmentDigest<'a> {
    /// Its number, from 0.
    pub index: usize,
    /// The trials.
    pub results: &'a EnvironmentResults,
    /// Its title, after "(a)", "(b)", … if there are several environments; it says so if the environment is unfinished.
    pub title: String,
    /// What an unfinished environment lacks, one line each; nothing if it is complete.
    pub missing: Vec<String>,
    /// Its policies.
    pub policies: Vec<PolicyDigest<'a>>,
}

/// A policy's trials with their statistics.
#[non_exhaustive]
pub struct PolicyDigest<'a> {
    /// The trials.
    pub policy: &'a PolicyResults,
    /// The regrets at each checkpoint; empty if there are no trials.
    pub curve: Vec<Sample>,
    /// Whether each trial still grows linearly.
    pub linear: Vec<bool>,
    /// The share of trials that do; none if there are no trials.
    pub linear_share: Option<f64>,
    /// The slope of the mean curve on logarithmic axes.
    pub slope: Option<Slope>,
    /// The theorem that bounds the policy's regret here, if there is one.
    pub theorem: Option<Theorem>,
    /// The mean time of a trial.
    pub seconds_per_trial: Option<f64>,
    /// The mean time of a round in the policy itself.
    pub microseconds_per_round: Option<f64>,
}

impl<'a> Digest<'a> {
    /// Computes every statistic of `results`.
    pub fn new(results: &'a Results) -> Self {
        let several = results.environments.len() > 1;
        let environments = results.environments.iter().enumerate();
        Digest {
            results,
            environments: environments
                .map(|(i, environment)| EnvironmentDigest::new(i, several, environment))
                .collect(),
        }
    }
}

impl<'a> EnvironmentDigest<'a> {
    fn new(index: usize, several: bool, environment: &'a EnvironmentResults) -> Self {
        let mut title = match u8::try_from(index) {
            _ if !several => environment.title.clone(),
            Ok(i @ 0..26) => format!("({}) {}", char::from(b'a' + i), environment.title),
            _ => format!("({}) {}", index + 1, environment.title),
        };
        if !environment.is_complete() {
            title += ", unfinished";
        }
        let policies = environment.policies.iter().map(|policy| PolicyDigest::new(environment, policy)).collect();
        EnvironmentDigest { index, results: environment, title, missing: missing(environment), policies }
    }

    /// The policy with the lowest `key` of its final regret, such as its mean.
    pub fn lowest(&self, key: impl Fn(&Sample) -> f64) -> Option<&PolicyDigest<'a>> {
        let keyed = self.policies.iter().filter_map(|policy| policy.regret().map(|regret| (key(regret), policy)));
        keyed.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, policy)| policy)
    }

    /// `policy` compared with every other one, in order: its final regret minus theirs.
    pub fn differences(&self, policy: &PolicyDigest<'a>) -> impl Iterator<Item = (&PolicyDigest<'a>, Paired)> {
        let mine = policy.policy;
        let others = self.policies.iter().filter(move |other| !std::ptr::eq(other.policy, mine));
        others.filter_map(move |other| stats::paired(mine, other.policy).map(|pair| (other, pair)))
    }

    /// How many trials the policies have: the same for all but in unfinished experiments.
    pub fn trials(&self) -> [usize; 2] {
        let counts = || self.policies.iter().map(|policy| policy.policy.trials.len());
        [counts().min().unwrap_or(0), counts().max().unwrap_or(0)]
    }
}

/// What an environment lacks, one line each; nothing if it is complete.
fn missing(environment: &EnvironmentResults) -> Vec<String> {
    if environment.is_complete() {
        return Vec::new();
    }
    let short = environment.policies.iter().filter(|policy| environment.missing(policy) > 0).map(|policy| {
        let [played, planned, missing] =
            [policy.trials.len() as u64, environment.planned, environment.missing(policy)].map(count);
        format!("{}: {played} of {planned} trials; {missing} missing", policy.label)
    });
    let left_out = environment.left_out.iter().map(|policy| format!("{}: left out, as {}", policy.name, policy.reason));
    let mut lines: Vec<String> = short.chain(left_out).collect();
    let numbers = |policy: &PolicyResults| policy.trials.iter().map(|trial| trial.trial).collect::<Vec<_>>();
    if environment.policies.windows(2).any(|pair| numbers(&pair[0]) != numbers(&pair[1])) {
        lines.push(
            "not all policies have played the same trials: compare them trial by trial, not by their means".into(),
        );
    }
    lines
}

impl<'a> PolicyDigest<'a> {
    fn new(environment: &'a EnvironmentResults, policy: &'a PolicyResults) -> Self {
        let curve = stats::curve(environment, policy);
        let means: Vec<f64> = curve.iter().map(|sample| sample.mean).collect();
        let mean_of = |time: fn(&crate::results::TrialCurve) -> f64| {
            Sample::of(policy.trials.iter().map(time)).map(|sample| sample.mean)
        };
        PolicyDigest {
            policy,
            linear: policy.trials.iter().map(|trial| stats::is_linear(environment, trial)).collect(),
            linear_share: stats::linear_share(environment, policy),
            slope: stats::slope(&environment.checkpoints, &means),
            theorem: Theorem::of(environment, policy),
            seconds_per_trial: mean_of(|trial| trial.seconds),
            microseconds_per_round: mean_of(|trial| trial.policy_seconds)
                .map(|seconds| 1e6 * seconds / environment.rounds.max(1) as f64),
            curve,
        }
    }

    /// What readers call the policy.
    pub fn label(&self) -> &'a str {
        &self.policy.label
    }

    /// The final regrets.
    pub fn regret(&self) -> Option<&Sample> {
        self.curve.last()
    }
}
