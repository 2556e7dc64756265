//! The figure that puts the regret beside what the paper's theorems promise.

use super::super::draw::{Colour, Stroke};
use super::super::{Digest, EnvironmentDigest, PolicyDigest, text};
use super::{Axis, Figure, Guide, Plot, Series, drawn, lines_are, log_rounds, plots, series};
use crate::stats::Slope;
use crate::theorem::Theorem;

const INK: Colour = [0x22; 3];
const SOFT: Colour = [0x59; 3];

impl Figure {
    /// The mean on logarithmic axes with its fitted slope and the bounds of the theorems, for the policies that
    /// have one; none if no policy has.
    ///
    /// The whole of a theorem's bound is beyond 10⁴⁰ because of the exploration that it asks for. It would
    /// press everything else onto the axis, so it stands in words above the plot, and the line is the bound
    /// on the optimistic stage alone.
    pub fn bound(digest: &Digest<'_>) -> Option<Self> {
        let plots = plots(digest, |environment, labels| {
            let mut series = series(environment, labels, false, |at| at.mean, |_| None);
            let mut proven = Vec::new();
            let mut policies = environment.policies.iter();
            series.retain(|series| {
                let policy = policies.next().filter(|_| !series.line.is_empty());
                let theorem = policy.and_then(|policy| policy.theorem.map(|theorem| (policy, theorem)));
                proven.extend(theorem);
                theorem.is_some()
            });
            // Dashes are for the fits; colours and markers tell the policies apart.
            series.iter_mut().for_each(|series| series.look.stroke.dash = &[]);
            let (_, first) = proven.first()?;
            let x = log_rounds(environment);
            let mut guides = vec![Guide::grey("k·t", &[x.low, x.high].map(|t| [t, first.trivial(t)]), &[])];
            for ((_, theorem), series) in proven.iter().zip(&series) {
                let guide = optimism(environment, theorem, series);
                // Policies that differ in what this bound does not depend on share its line.
                if guides.iter().all(|other| other.line != guide.line) {
                    guides.push(guide);
                }
            }
            let fits = proven.iter().zip(&series).filter_map(|((policy, _), series)| Some(fit(&policy.slope?, series)));
            guides.extend(fits);
            let y = range(&series, &guides);
            let above = Some(whole(environment, &proven));
            Some(Plot { environment: environment.index, title: environment.title.clone(), above, x, y, series, guides })
        });
        let note = format!(
            "{} Dashed: straight line fitted over the last two decades. Dotted: bound on the optimistic stage alone. \
             Grey: k·t, which no play exceeds. Above: the theorem’s whole bound.",
            lines_are(digest, "mean")
        );
        let description = format!(
            "{}: mean cumulative regret beside the theorems’ bounds against rounds, logarithmic axes",
            digest.results.title
        );
        (!plots.is_empty()).then_some(Figure { description, plots, note })
    }
}

/// The bound on the optimistic stage alone, as if each round were the last.
fn optimism(environment: &EnvironmentDigest<'_>, theorem: &Theorem, series: &Series) -> Guide {
    let rounds = drawn(environment).into_iter().map(|i| environment.results.checkpoints[i] as f64);
    Guide {
        label: format!("{}, optimism", theorem.name().replace("Theorem", "Thm")),
        line: rounds.map(|t| [t, theorem.bound(t).optimism]).collect(),
        stroke: Stroke { colour: series.look.stroke.colour, width: 1.2, dash: &[1.5, 2.5] },
        ink: SOFT,
        over: false,
    }
}

fn fit(slope: &Slope, series: &Series) -> Guide {
    Guide {
        label: format!("slope {}", text::fixed(slope.value, Some(2))),
        line: [slope.from, slope.to].map(|t| [t as f64, slope.at(t as f64)]).to_vec(),
        stroke: Stroke { colour: INK, width: 1.0, dash: &[5.0, 3.0] },
        ink: series.look.stroke.colour,
        over: true,
    }
}

/// The y axis: all that is drawn and positive, but of the regrets no more than three decades below their end.
fn range(series: &[Series], guides: &[Guide]) -> Axis {
    let last = series.iter().filter_map(|series| series.line.last()).map(|end| end[1]);
    let least = 1e-3 * last.filter(|&end| end > 0.0).fold(f64::INFINITY, f64::min);
    let regrets = series.iter().flat_map(|series| &series.line).map(|at| at[1]);
    let low = regrets.filter(|&regret| regret > 0.0).fold(f64::INFINITY, f64::min).max(least);
    let bounds = guides.iter().flat_map(|guide| &guide.line).map(|at| at[1]);
    let high = bounds.filter(|bound| bound.is_finite()).fold(0.0, f64::max);
    Axis::log(if low.is_finite() { 0.8 * low } else { 0.0 }, 1.3 * high)
}

/// Every theorem's whole bound at the end, in words.
fn whole(environment: &EnvironmentDigest<'_>, proven: &[(&PolicyDigest<'_>, Theorem)]) -> String {
    let rounds = environment.results.rounds as f64;
    let mut said: Vec<(&str, f64, f64)> = Vec::new();
    for (_, theorem) in proven {
        let total = theorem.bound(rounds).total();
        match said.iter_mut().find(|(name, ..)| *name == theorem.name()) {
            Some((_, low, high)) => (*low, *high) = (low.min(total), high.max(total)),
            None => said.push((theorem.name(), total, total)),
        }
    }
    let said: Vec<String> = said
        .into_iter()
        .map(|(name, low, high)| {
            let [low, high] = [low, high].map(text::power_of_ten);
            if low == high { format!("{high} ({name})") } else { format!("{low} to {high} ({name})") }
        })
        .collect();
    format!("↑ whole bound at t = {}: {}", text::count(environment.results.rounds), said.join(", "))
}
