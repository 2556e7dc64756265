//! The figures: what is shown. Where it stands on the paper is the business of `layout`.
//!
//! A [`Figure`] is data: to overlay a line, push a [`Guide`] or a [`Series`] onto its plots; to add a
//! figure, write another constructor.

mod axis;
mod bound;
mod layout;
mod look;

pub use axis::{Axis, Scale, Tick};
pub use look::Look;

use super::draw::{Colour, Point, Stroke};
use super::{Digest, EnvironmentDigest, PolicyDigest, text, thin};
use crate::results::TrialCurve;
use crate::stats::{self, Sample};

/// Plots side by side, with one legend for all.
#[derive(Debug, Clone)]
pub struct Figure {
    /// What the figure shows, for those who cannot see it.
    pub description: String,
    /// The plots.
    pub plots: Vec<Plot>,
    /// A sentence under the legend that says what lines and bands are.
    pub note: String,
}

/// One pair of axes with what is drawn on them.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The number of the environment that it shows.
    pub environment: usize,
    /// What stands above.
    pub title: String,
    /// What else stands there, between the title and the frame.
    pub above: Option<String>,
    /// The rounds.
    pub x: Axis,
    /// The regret.
    pub y: Axis,
    /// The policies' curves. One that ends above the y axis is cut off, and an arrow says where it ends.
    pub series: Vec<Series>,
    /// Lines to compare the curves with.
    pub guides: Vec<Guide>,
}

impl Plot {
    /// Whether a curve ends above the plot.
    fn loses(&self, series: &Series) -> bool {
        series.line.last().is_some_and(|end| end[1] > self.y.high)
    }
}

/// A policy's curve with a band around it.
#[derive(Debug, Clone)]
pub struct Series {
    /// The policy's label; series of the same label share a line of the legend.
    pub label: String,
    /// Their look.
    pub look: Look,
    /// Rounds and regrets.
    pub line: Vec<Point>,
    /// Rounds, with the lower and the upper end of the band; empty if there is none.
    pub band: Vec<[f64; 3]>,
    /// What single trials came to in the end, in increasing order, shown as dots beside the plot; empty for none.
    pub finals: Vec<f64>,
}

/// A line to compare the curves with.
#[derive(Debug, Clone)]
pub struct Guide {
    /// What stands at its end.
    pub label: String,
    /// The label's colour.
    pub ink: Colour,
    /// Rounds and regrets.
    pub line: Vec<Point>,
    /// How the line looks.
    pub stroke: Stroke,
    /// Whether it is drawn over the curves, not behind them.
    pub over: bool,
}

impl Guide {
    /// A thin grey line behind the curves.
    pub fn grey(label: &str, line: &[Point], dash: &'static [f64]) -> Self {
        let stroke = Stroke { colour: [0x8c; 3], width: 0.8, dash };
        Guide { label: label.to_owned(), ink: [0x59; 3], line: line.to_vec(), stroke, over: false }
    }
}

impl Figure {
    /// The mean with its 95 % interval on linear axes, as in the paper.
    pub fn mean(digest: &Digest<'_>) -> Self {
        let plots = plots(digest, |environment, looks| {
            let series = series(environment, looks, true, |at| at.mean, |at| at.ci95());
            Some(Plot {
                environment: environment.index,
                title: environment.title.clone(),
                above: None,
                x: Axis::linear(environment.results.rounds as f64),
                y: Axis::linear(1.04 * ceiling(&series)),
                series,
                guides: Vec::new(),
            })
        });
        let mut note = lines_are(digest, "mean");
        if trials(digest)[1] > 1 {
            note += " Bands: 95 % interval of the mean.";
        }
        if plots.iter().any(|plot| plot.series.iter().any(|series| plot.loses(series))) {
            note += " Arrows: where a curve that leaves the plot ends.";
        }
        Figure { description: format!("{}: mean cumulative regret against rounds", digest.results.title), plots, note }
    }

    /// The median with the 10–90 % range of trials on logarithmic axes: what the mean hides.
    pub fn spread(digest: &Digest<'_>) -> Self {
        let crowded = digest.environments.iter().any(is_crowded);
        let plots = plots(digest, |environment, looks| {
            let ends = |at: &Sample| (at.q90 > at.q10).then_some([at.q10, at.q90]);
            let mut series = series(environment, looks, false, |at| at.median, ends);
            for (series, policy) in series.iter_mut().zip(&environment.policies) {
                series.finals = finals(policy);
            }
            if crowded {
                series.iter_mut().skip(1).for_each(|series| series.band.clear());
            }
            let x = log_rounds(environment);
            let y = log_range(&series, x);
            let title = environment.title.clone();
            Some(Plot { environment: environment.index, title, above: None, x, y, guides: growth(x, y), series })
        });
        let mut note = lines_are(digest, "median");
        match trials(digest)[1] {
            0 => {}
            1 => note += GROWTH,
            _ => {
                let bands = if crowded { "Band of the first" } else { "Bands" };
                note += &format!(" {bands}: from the 10 % to the 90 % quantile.");
                note += " Dots: the final regret of each trial, a bar at their median.";
                note += GROWTH;
            }
        }
        let title = &digest.results.title;
        Figure {
            description: format!("{title}: median cumulative regret against rounds, logarithmic axes"),
            plots,
            note,
        }
    }

    /// The same figure with the plot of one environment alone; none if it has no plot of that environment.
    pub fn of_environment(&self, environment: usize) -> Option<Self> {
        let plot = self.plots.iter().find(|plot| plot.environment == environment)?;
        let description = format!("{}, {}", self.description, plot.title);
        Some(Figure { description, plots: vec![plot.clone()], note: self.note.clone() })
    }
}

/// Whether there are so many policies that their bands would be one grey area: then only the first has one,
/// and dots speak for the others.
fn is_crowded(environment: &EnvironmentDigest<'_>) -> bool {
    environment.policies.len() > 8
}

/// A plot for each environment that `plot` makes one of.
fn plots(digest: &Digest<'_>, plot: impl Fn(&EnvironmentDigest<'_>, &[&str]) -> Option<Plot>) -> Vec<Plot> {
    let labels = super::labels(&[digest]);
    digest.environments.iter().filter_map(|environment| plot(environment, &labels)).collect()
}

fn series(
    environment: &EnvironmentDigest<'_>,
    labels: &[&str],
    from_zero: bool,
    middle: impl Fn(&Sample) -> f64,
    ends: impl Fn(&Sample) -> Option<[f64; 2]>,
) -> Vec<Series> {
    let places = drawn(environment);
    let policies = environment.policies.iter().map(|policy| {
        let rounds = &environment.results.checkpoints;
        let points = || places.iter().filter_map(|&i| Some((rounds[i] as f64, policy.curve.get(i)?)));
        let start = from_zero && !policy.curve.is_empty();
        let line = points().map(|(round, at)| [round, middle(at)]);
        let band: Vec<[f64; 3]> =
            points().filter_map(|(round, at)| ends(at).map(|[low, high]| [round, low, high])).collect();
        Series {
            label: policy.label().to_owned(),
            look: Look::of(labels.iter().position(|&label| label == policy.label()).unwrap_or(0)),
            line: start.then_some([0.0, 0.0]).into_iter().chain(line).collect(),
            finals: Vec::new(),
            band: (start && !band.is_empty()).then_some([0.0; 3]).into_iter().chain(band).collect(),
        }
    });
    policies.collect()
}

/// The checkpoints that are drawn; of a great many, as many as any screen can show.
fn drawn(environment: &EnvironmentDigest<'_>) -> Vec<usize> {
    const MOST: usize = 2000;
    thin::places(&environment.results.checkpoints, MOST)
}

/// The final regrets of the trials, if there are several; of a great many, quantiles stand for all.
fn finals(policy: &PolicyDigest<'_>) -> Vec<f64> {
    const MOST: usize = 200;
    let mut all: Vec<f64> = policy.policy.trials.iter().map(TrialCurve::total).collect();
    all.sort_by(f64::total_cmp);
    match all.len() {
        0 | 1 => Vec::new(),
        2..=MOST => all,
        _ => (0..MOST).map(|i| stats::quantile(&all, i as f64 / (MOST - 1) as f64)).collect(),
    }
}

/// The highest regret that the linear y axis shows.
///
/// A policy that pays several times more than all others, such as uniform choice, would press them onto the axis. So
/// the worst policy is let out at the top as long as it pays more than 2.5 times the next one, but never half of the
/// policies or more. Nor may a wide band take more than half of the height.
fn ceiling(series: &[Series]) -> f64 {
    let last = |series: &Series| series.line.last().map_or(0.0, |point| point[1]);
    let mut ends: Vec<f64> = series.iter().map(last).collect();
    ends.sort_by(|a, b| b.total_cmp(a));
    let may_leave = ends.len().saturating_sub(1) / 2;
    let leaving = (0..may_leave).take_while(|&i| ends[i] > 2.5 * ends[i + 1]).count();
    let highest = ends.get(leaving).copied().unwrap_or(0.0);
    let kept = series.iter().filter(|series| last(series) <= highest);
    let band = kept.flat_map(|series| &series.band).map(|at| at[2]).fold(highest, f64::max);
    band.min(2.0 * highest)
}

/// The logarithmic x axis, from the first checkpoint on.
fn log_rounds(environment: &EnvironmentDigest<'_>) -> Axis {
    let first = environment.results.checkpoints.first().map_or(1.0, |&first| first as f64);
    Axis::log(first, environment.results.rounds as f64)
}

/// The logarithmic y axis: all lines, bands and dots that are positive, but no more decades
/// than the x axis has, or four.
fn log_range(series: &[Series], x: Axis) -> Axis {
    let line = series.iter().flat_map(|series| &series.line).map(|at| at[1]);
    let band = series.iter().flat_map(|series| &series.band).flat_map(|at| [at[1], at[2]]);
    let dots = series.iter().flat_map(|series| series.finals.iter().copied());
    let values: Vec<f64> = line.chain(band).chain(dots).filter(|&value| value > 0.0).collect();
    let high = 1.15 * values.iter().copied().fold(0.0, f64::max);
    let low = 0.9 * values.iter().copied().fold(f64::INFINITY, f64::min);
    let least = high * (x.low / x.high).min(1e-4);
    Axis::log(if low.is_finite() { low.max(least) } else { 0.0 }, high)
}

const GROWTH: &str = " Dashed grey: growth like t and like √t.";

/// Lines that grow like t and like √t, to judge slopes by: from a common start, the steeper
/// one up to the top right corner.
fn growth(x: Axis, y: Axis) -> Vec<Guide> {
    let guide = |label: &str, exponent: f64| {
        let start = y.at(0.92) * x.low / x.high;
        let line = [0.0, 1.0].map(|share| x.at(share)).map(|t| [t, start * (t / x.low).powf(exponent)]);
        Guide::grey(label, &line, &[3.0, 3.0])
    };
    vec![guide("t", 1.0), guide("√t", 0.5)]
}

/// The fewest and the most trials of any policy.
fn trials(digest: &Digest<'_>) -> [usize; 2] {
    let counts = || digest.environments.iter().map(EnvironmentDigest::trials);
    let fewest = counts().map(|[fewest, _]| fewest).min().unwrap_or(0);
    [fewest, counts().map(|[_, most]| most).max().unwrap_or(0)]
}

/// A sentence that says what the lines are: `middle` is "mean" or "median".
fn lines_are(digest: &Digest<'_>, middle: &str) -> String {
    match trials(digest) {
        [_, 0] => "No trial has finished yet.".to_owned(),
        [_, 1] => "Lines: the regret of the only trial.".to_owned(),
        [fewest, most] => format!("Lines: {middle} over {} trials.", span(fewest, most)),
    }
}

fn span(fewest: usize, most: usize) -> String {
    let [fewest, most] = [fewest, most].map(|count| text::count(count as u64));
    if fewest == most { most } else { format!("{fewest} to {most}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(ends: &[f64]) -> Vec<Series> {
        let one = |(i, &end): (usize, &f64)| Series {
            label: i.to_string(),
            look: Look::of(i),
            line: vec![[0.0, 0.0], [1.0, end]],
            band: vec![[1.0, 0.0, 1.5 * end]],
            finals: Vec::new(),
        };
        ends.iter().enumerate().map(one).collect()
    }

    #[test]
    fn only_policies_far_worse_than_the_rest_leave_the_frame() {
        assert_eq!(ceiling(&ending(&[900.0, 200.0, 100.0])), 300.0, "one leaves, the next one's band is kept");
        assert_eq!(ceiling(&ending(&[400.0, 200.0, 100.0])), 600.0, "none is far worse");
        assert_eq!(ceiling(&ending(&[900.0, 30.0])), 1350.0, "one of two is half of them");
        assert_eq!(ceiling(&ending(&[])), 0.0);
        let mut wide = ending(&[10.0, 9.0, 8.0]);
        wide[1].band[0][2] = 1e6;
        assert_eq!(ceiling(&wide), 20.0, "a band may take half of the height");
    }
}
