//! The numbers behind the figures that the script draws, as JSON within the page.
//!
//! Four digits are more than a screen shows. However many points, trials, policies and environments there are, the
//! page stays small: curves are thinned, and of very many trials the first ones stand for all.

use serde_json::{Value, json};

use super::super::figure::Look;
use super::super::{Digest, EnvironmentDigest, PolicyDigest, thin};
use crate::stats::Sample;

/// The most points of a mean or median curve.
const POINTS: usize = 240;
/// The most points of a single trial's curve.
const TRIAL_POINTS: usize = 80;
/// The fewest points of any curve that is shown.
const FEWEST_POINTS: usize = 12;
/// The most trials of a policy.
const TRIALS: usize = 100;
/// About so many numbers of mean and median curves, and as many of single trials, may a page hold: each takes about six
/// bytes, so that the page stays below a megabyte and a half.
const NUMBERS: usize = 90_000;
/// The curves of a policy besides its trials: mean, median and the ends of their bands.
const CURVES: usize = 6;

/// How much of everything is shown, so that all of it fits the page.
pub(super) struct Share {
    points: usize,
    trials: usize,
    trial_points: usize,
}

impl Share {
    /// The share of everything in `digests`, which go onto one page.
    pub(super) fn of(digests: &[&Digest<'_>]) -> Self {
        let policies = || digests.iter().flat_map(|digest| &digest.environments).flat_map(|each| &each.policies);
        let points = (NUMBERS / (CURVES * policies().count()).max(1)).clamp(FEWEST_POINTS, POINTS);
        let counted = |most: usize| policies().map(|policy| policy.policy.trials.len().min(most)).sum::<usize>().max(1);
        // Fewer points first, then fewer trials.
        let trial_points = (NUMBERS / counted(TRIALS)).clamp(FEWEST_POINTS, TRIAL_POINTS);
        let fits = |trials: &usize| counted(*trials) * trial_points <= NUMBERS;
        Share { points, trial_points, trials: (1..=TRIALS).rev().find(fits).unwrap_or(0) }
    }
}

/// One plot: an environment of one experiment. `labels` are those of all policies of the page, which decide how each
/// looks; `title` stands above the plot.
pub(super) fn panel(environment: &EnvironmentDigest<'_>, title: &str, labels: &[&str], share: &Share) -> Value {
    let rounds = &environment.results.checkpoints;
    let (places, few) = (thin::places(rounds, share.points), thin::places(rounds, share.trial_points));
    let at = |places: &[usize]| places.iter().map(|&i| rounds[i]).collect::<Vec<_>>();
    let one = |policy: &PolicyDigest<'_>| describe(policy, labels, &places, &few, share);
    json!({
        "title": title,
        "rounds": at(&places),
        "trialRounds": at(&few),
        "policies": environment.policies.iter().filter(|policy| !policy.curve.is_empty()).map(one).collect::<Vec<_>>(),
    })
}

fn describe(policy: &PolicyDigest<'_>, labels: &[&str], places: &[usize], few: &[usize], share: &Share) -> Value {
    let look = Look::of(labels.iter().position(|&label| label == policy.label()).unwrap_or(0));
    let curve = |pick: &dyn Fn(&Sample) -> f64| -> Value {
        places.iter().filter_map(|&i| policy.curve.get(i)).map(|at| short(pick(at))).collect()
    };
    let trials = &policy.policy.trials[..policy.policy.trials.len().min(share.trials)];
    let mut said = json!({
        "label": policy.label(),
        "colour": look.colour(),
        "dash": look.stroke.dash.iter().map(f64::to_string).collect::<Vec<_>>().join(" "),
        "mean": curve(&|at| at.mean),
        "median": curve(&|at| at.median),
        "of": policy.policy.trials.len(),
    });
    // A single trial has no bands, and its curve is the mean.
    if policy.policy.trials.len() > 1 {
        said["meanBand"] = json!([
            curve(&|at| at.mean - at.half_width.unwrap_or(0.0)),
            curve(&|at| at.mean + at.half_width.unwrap_or(0.0))
        ]);
        said["medianBand"] = json!([curve(&|at| at.q10), curve(&|at| at.q90)]);
        said["trials"] = trials.iter().map(|trial| trial.trial).collect();
        let one = |regret: &[f64]| few.iter().filter_map(|&i| regret.get(i)).map(|&x| short(x)).collect::<Value>();
        said["curves"] = trials.iter().map(|trial| one(&trial.regret)).collect();
    }
    said
}

/// A number to four digits, in as few letters as that takes.
fn short(value: f64) -> Value {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 { json!(rounded as i64) } else { json!(rounded) }
}

/// The element that holds the plots of a section.
pub(super) fn element(panels: &[Value]) -> String {
    // No letter of a label may end the element.
    let json = json!({ "panels": panels }).to_string().replace('<', "\\u003c");
    format!("<script type=\"application/json\" class=\"data\">{json}</script>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        let said: Vec<String> = [0.0, 12.0, 0.123456, 1234.56, 123_456.7, 1e-20].map(|x| short(x).to_string()).into();
        assert_eq!(said, ["0", "12", "0.1235", "1235", "123500", "1e-20"]);
    }

    #[test]
    fn no_label_ends_the_element() {
        let said = element(&[json!("</script><b>")]);
        assert_eq!(said.matches("</script>").count(), 1);
        assert!(!said.contains("<b>"));
    }
}
