//! Every statistic that a report shows, computed once.

use super::text::count;
use crate::results::{Panel, PolicyResults, Results};
use crate::stats::{self, Paired, Sample, Slope};
use crate::theorem::Theorem;

/// An experiment's results with their statistics.
pub struct Digest<'a> {
    /// The results.
    pub results: &'a Results,
    /// Their panels.
    pub panels: Vec<PanelDigest<'a>>,
}

/// A panel with its statistics.
pub struct PanelDigest<'a> {
    /// Its number, from 0.
    pub index: usize,
    /// The panel.
    pub panel: &'a Panel,
    /// Its title, after "(a)", "(b)", … if there are several panels; it says so if the panel is unfinished.
    pub title: String,
    /// What an unfinished panel lacks, one line each; nothing if it is complete.
    pub missing: Vec<String>,
    /// Its policies.
    pub policies: Vec<PolicyDigest<'a>>,
}

/// A policy's trials with their statistics.
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
        let several = results.panels.len() > 1;
        let panels = results.panels.iter().enumerate();
        Digest { results, panels: panels.map(|(i, panel)| PanelDigest::new(i, several, panel)).collect() }
    }
}

impl<'a> PanelDigest<'a> {
    fn new(index: usize, several: bool, panel: &'a Panel) -> Self {
        let mut title = match u8::try_from(index) {
            _ if !several => panel.title.clone(),
            Ok(i @ 0..26) => format!("({}) {}", char::from(b'a' + i), panel.title),
            _ => format!("({}) {}", index + 1, panel.title),
        };
        if !panel.is_complete() {
            title += ", unfinished";
        }
        let policies = panel.policies.iter().map(|policy| PolicyDigest::new(panel, policy)).collect();
        PanelDigest { index, panel, title, missing: missing(panel), policies }
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

/// What a panel lacks, one line each; nothing if it is complete.
fn missing(panel: &Panel) -> Vec<String> {
    if panel.is_complete() {
        return Vec::new();
    }
    let short = panel.policies.iter().filter(|policy| panel.missing(policy) > 0).map(|policy| {
        let [played, planned, missing] = [policy.trials.len() as u64, panel.planned, panel.missing(policy)].map(count);
        format!("{}: {played} of {planned} trials; {missing} missing", policy.label)
    });
    let left_out = panel.left_out.iter().map(|policy| format!("{}: left out, as {}", policy.name, policy.reason));
    let mut lines: Vec<String> = short.chain(left_out).collect();
    let numbers = |policy: &PolicyResults| policy.trials.iter().map(|trial| trial.trial).collect::<Vec<_>>();
    if panel.policies.windows(2).any(|pair| numbers(&pair[0]) != numbers(&pair[1])) {
        lines.push(
            "not all policies have played the same trials: compare them trial by trial, not by their means".into(),
        );
    }
    lines
}

impl<'a> PolicyDigest<'a> {
    fn new(panel: &'a Panel, policy: &'a PolicyResults) -> Self {
        let curve = stats::curve(panel, policy);
        let means: Vec<f64> = curve.iter().map(|sample| sample.mean).collect();
        let mean_of = |time: fn(&crate::results::TrialCurve) -> f64| {
            Sample::of(policy.trials.iter().map(time)).map(|sample| sample.mean)
        };
        PolicyDigest {
            policy,
            linear: policy.trials.iter().map(|trial| stats::is_linear(panel, trial)).collect(),
            linear_share: stats::linear_share(panel, policy),
            slope: stats::slope(&panel.checkpoints, &means),
            theorem: Theorem::of(panel, policy),
            seconds_per_trial: mean_of(|trial| trial.seconds),
            microseconds_per_round: mean_of(|trial| trial.policy_seconds)
                .map(|seconds| 1e6 * seconds / panel.rounds.max(1) as f64),
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
