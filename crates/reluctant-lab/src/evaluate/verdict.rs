//! Which estimate to trust, and, in sentences, what is known and what the log cannot tell.

use serde::Serialize;

use super::{Diagnosis, Estimate, Interval, Replay};
use crate::log::Read;
use crate::report::text;

/// What to trust.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Recommended {
    /// The estimator.
    pub estimator: &'static str,
    /// Which interval: `normal`, `bootstrap` or `bernstein`.
    pub by: &'static str,
    /// The estimate.
    pub value: f64,
    /// Its 95 % interval.
    pub interval: Interval,
}

/// What is known, and what is not.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The estimate to trust; `None` where the log cannot tell.
    pub recommended: Option<Recommended>,
    /// What is known, and what is not, a sentence each.
    pub sentences: Vec<String>,
}

/// If the policy would do more often than this what the log never does, the log cannot tell.
pub(super) const BEYOND: f64 = 0.01;

/// A mean weight that is off by so many standard errors is not right.
const OFF: f64 = 4.0;

/// And by at least so much.
const OFF_BY: f64 = 0.02;

/// If one round has a greater share in the variance, the normal law is not to be trusted.
const LEVERAGE: f64 = 0.05;

/// Below so many effective rounds only an interval that holds for every number of rounds is to be trusted.
const FEW: f64 = 30.0;

/// Judges what the estimates of a policy are worth.
pub(super) fn judge(
    policy: &str,
    read: &Read,
    logged: &Estimate,
    estimates: &[Estimate],
    gain: &Estimate,
    replay: Option<&Replay>,
    diagnosis: &Diagnosis,
) -> Verdict {
    let mut sentences = vec![format!(
        "The log earned {} a round (95 %: {}) in {} rounds.",
        text::number(logged.value),
        range(logged.normal),
        text::count(diagnosis.rounds)
    )];
    let unknown = cannot_tell(policy, diagnosis);
    let recommended = if unknown.is_none() { recommend(estimates, diagnosis) } else { None };
    if let Some(best) = &recommended {
        sentences.push(format!(
            "{policy} would have earned {} (95 %: {}; {} estimate, {} interval).",
            text::number(best.value),
            range(best.interval),
            best.estimator,
            best.by
        ));
        sentences.push(compared(policy, gain_of(best, gain)));
    }
    sentences.extend(unknown);
    if let Some(replay) = replay {
        sentences.push(format!(
            "Learning from nothing as it went, it would have earned {} (95 %: {}) in its first {} rounds.",
            text::number(replay.value),
            range(replay.interval),
            replay.kept
        ));
    }
    sentences.extend(warnings(policy, read, diagnosis));
    Verdict { recommended, sentences }
}

fn range([low, high]: Interval) -> String {
    if low.is_infinite() {
        return "anything".to_owned();
    }
    format!("{} to {}", text::number(low), text::number(high))
}

/// The interval of the difference. Where rounds are so few that only a wide interval is trusted, it is as wide.
fn gain_of(best: &Recommended, gain: &Estimate) -> Interval {
    let half = 0.5 * (best.interval[1] - best.interval[0]);
    if best.by == "bernstein" { [gain.value - half, gain.value + half] } else { gain.normal }
}

fn compared(policy: &str, [low, high]: Interval) -> String {
    if low > 0.0 {
        format!("That is more than what made the log earns on average, by {} a round.", range([low, high]))
    } else if high < 0.0 {
        format!("That is less than what made the log earns on average, by {} a round.", range([-high, -low]))
    } else {
        format!(
            "Whether {policy} is better than what made the log cannot be told: the difference is {}.",
            range([low, high])
        )
    }
}

/// Why the log says nothing of the policy, if so.
fn cannot_tell(policy: &str, diagnosis: &Diagnosis) -> Option<String> {
    let percent = |share: f64| text::percent(share);
    if diagnosis.agreed == 0.0 {
        return Some(format!(
            "In no round from line {} on did the log do what {policy} might have done: it says nothing of this policy.",
            diagnosis.first_line
        ));
    }
    if diagnosis.beyond > BEYOND {
        let line = diagnosis.first_beyond.map_or(String::new(), |line| format!(" (first on line {line})"));
        return Some(format!(
            "This log cannot tell what {policy} would have earned: {} of its choices fall where the log left nothing to \
             chance and did something else{line}.",
            percent(diagnosis.beyond)
        ));
    }
    let off = diagnosis.mean_weight - 1.0;
    if off.abs() < (OFF * diagnosis.mean_weight_error).max(OFF_BY) {
        return None;
    }
    Some(if off < 0.0 {
        format!(
            "This log cannot tell what {policy} would have earned: weights average {}, not 1, so about {} of its \
             choices fall where the log never goes, or the propensities are not those of the choices.",
            text::number(diagnosis.mean_weight),
            percent(-off)
        )
    } else {
        format!(
            "This log cannot tell what {policy} would have earned: weights average {}, not 1, so the propensities are \
             not those that the choices were made with.",
            text::number(diagnosis.mean_weight)
        )
    })
}

fn recommend(estimates: &[Estimate], diagnosis: &Diagnosis) -> Option<Recommended> {
    let find = |name: &str| estimates.iter().find(|estimate| estimate.name == name);
    let few = diagnosis.effective < FEW;
    // Where rounds are few, nothing is fitted.
    let usual = if few { find("dr") } else { find("dr-fitted") };
    let best = find("dr-corrected").or(usual).or_else(|| find("snips"))?;
    let leverage = find("dr").map_or(best.leverage, |dr| dr.leverage);
    let (by, interval) = match best.bernstein {
        Some(interval) if few => ("bernstein", interval),
        _ if few || leverage > LEVERAGE => {
            let wide = [best.normal[0].min(best.bootstrap[0]), best.normal[1].max(best.bootstrap[1])];
            ("bootstrap", wide)
        }
        _ => ("normal", best.normal),
    };
    Some(Recommended { estimator: best.name, by, value: best.value, interval: diagnosis.widened(interval) })
}

fn warnings(policy: &str, read: &Read, diagnosis: &Diagnosis) -> Vec<String> {
    let mut said = Vec::new();
    let percent = |share: f64| text::percent(share);
    if diagnosis.certain >= 1.0 {
        said.push(format!(
            "The log left nothing to chance: of other choices than its own it knows nothing. {policy} can be \
             judged only where it agrees."
        ));
    }
    if let Some(angle) = diagnosis.angle {
        said.push(format!(
            "On the sphere a round counts if its point was left to chance and lies within {angle}° of the policy's own, the \
             nearer the more; what that smoothes away is taken out but for about {}, for which the interval has room.",
            text::number(diagnosis.smoothed)
        ));
    }
    if diagnosis.actions == 1 && diagnosis.angle.is_none() {
        said.push(format!(
            "Only one action was ever chosen, in all rounds from line {} on: nothing is known of the others.",
            diagnosis.first_line
        ));
    }
    if diagnosis.effective < FEW {
        said.push(format!(
            "The weights are so unequal that the log says no more than {:.0} rounds of {policy} itself would.",
            diagnosis.effective
        ));
    }
    if let Some(line) = read.first_unrewarded {
        said.push(format!(
            "The rewards of {} rounds never came (the first on line {line}); they are left out, which is right only if \
             that does not depend on the reward.",
            read.unrewarded
        ));
    }
    if diagnosis.estimated > 0.0 {
        said.push(format!(
            "{} of the propensities were estimated, with standard errors of up to {} of their value; intervals \
             leave that out.",
            percent(diagnosis.estimated),
            percent(diagnosis.worst_error)
        ));
    }
    if let Some(line) = read.torn {
        said.push(format!("The last line of the log, line {line}, was torn, and is left out."));
    }
    said
}
