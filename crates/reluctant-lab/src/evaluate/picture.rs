//! An evaluation as a picture: every estimate with its interval beside what the log earned, and how the weights are
//! spread.

use super::diagnose::ZERO;
use super::table::ranked;
use super::{Evaluation, Interval};
use crate::report::draw::{Anchor, Colour, Item, Point, Scene, Stroke, Text};
use crate::report::text;

const WIDTH: f64 = 760.0;
/// The left ends of the two plots, and their widths.
const PLOTS: [(f64, f64); 2] = [(130.0, 330.0), (510.0, 230.0)];
/// The same of the plot that ranks policies, whose names are longer.
const RANKING: (f64, f64) = (300.0, 430.0);
const TOP: f64 = 48.0;
/// The height of a line of the first plot.
const LINE: f64 = 26.0;
const INK: Colour = [0x33; 3];
const GREY: Colour = [0xbb; 3];
const BLUE: Colour = [0, 114, 178];
const ORANGE: Colour = [213, 94, 0];

/// The picture of an evaluation. Where the log cannot tell, only the log's own reward is shown.
pub fn scene(evaluation: &Evaluation) -> Scene {
    let mut lines: Vec<(String, f64, Interval, Colour)> = Vec::new();
    let best = evaluation.verdict.recommended.as_ref();
    for estimate in evaluation.estimates.iter().filter(|_| best.is_some()) {
        let trusted = best.is_some_and(|best| best.estimator == estimate.name);
        let interval = best.filter(|_| trusted).map_or(estimate.normal, |best| best.interval);
        lines.push((estimate.name.to_owned(), estimate.value, interval, if trusted { ORANGE } else { BLUE }));
    }
    if let Some(replay) = &evaluation.replay {
        lines.push(("replay".to_owned(), replay.value, replay.interval, BLUE));
    }
    lines.push(("the log".to_owned(), evaluation.logged.value, evaluation.logged.normal, INK));
    let bottom = TOP + LINE * lines.len().max(6) as f64;
    let mut scene = Scene {
        width: WIDTH,
        height: bottom + 56.0,
        description: format!(
            "What {} would have earned a round, with 95 % intervals, and its weights",
            evaluation.policy
        ),
        items: Vec::new(),
    };
    scene.items.push(words([PLOTS[0].0, 26.0], Anchor::Start, format!("{}: reward a round", evaluation.policy), 14.0));
    scene.items.push(words([PLOTS[1].0, 26.0], Anchor::Start, "weights".to_owned(), 14.0));
    let note = "lines: 95 % intervals; orange: the estimate to trust";
    draw_estimates(&lines, PLOTS[0], bottom, note, &mut scene.items);
    draw_weights(evaluation, bottom, &mut scene.items);
    scene
}

/// Policies, the best first, each with the interval to trust beside what the log earned; those of which the log cannot
/// tell are left out.
pub fn ranking_scene(evaluations: &[Evaluation]) -> Scene {
    let mut lines: Vec<(String, f64, Interval, Colour)> = Vec::new();
    for evaluation in ranked(evaluations) {
        if let Some(best) = &evaluation.verdict.recommended {
            lines.push((evaluation.policy.clone(), best.value, best.interval, BLUE));
        }
    }
    let logged = evaluations.first().map(|first| &first.logged);
    lines.extend(logged.map(|logged| ("the log".to_owned(), logged.value, logged.normal, INK)));
    let (left, width) = RANKING;
    let bottom = TOP + LINE * lines.len().max(1) as f64;
    let mut scene = Scene {
        width: WIDTH,
        height: bottom + 56.0,
        description: "What policies would have earned a round, with 95 % intervals".to_owned(),
        items: vec![words([left, 26.0], Anchor::Start, "reward a round".to_owned(), 14.0)],
    };
    let note = "lines: 95 % intervals; dashed: what the log earned";
    draw_estimates(&lines, (left, width), bottom, note, &mut scene.items);
    scene
}

fn draw_estimates(
    lines: &[(String, f64, Interval, Colour)],
    (left, width): (f64, f64),
    bottom: f64,
    note: &str,
    items: &mut Vec<Item>,
) {
    let ends = lines.iter().flat_map(|(_, value, interval, _)| [*value, interval[0], interval[1]]);
    let ends: Vec<f64> = ends.filter(|end| end.is_finite()).collect();
    let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let room = 0.05 * (high - low).max(1e-9 * high.abs().max(1e-300));
    let (low, high) = (low - room, high + room);
    let at = |value: f64| left + width * ((value - low) / (high - low)).clamp(0.0, 1.0);
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (x, value) = (left + width * share, low + (high - low) * share);
        items.push(line([x, TOP - 6.0], [x, bottom], Stroke::solid([0xee; 3], 1.0)));
        items.push(words([x, bottom + 16.0], Anchor::Middle, text::number(value), 10.0));
    }
    if let Some((_, log, ..)) = lines.last() {
        items.push(line(
            [at(*log), TOP - 6.0],
            [at(*log), bottom],
            Stroke { dash: &[4.0, 3.0], ..Stroke::solid(GREY, 1.0) },
        ));
    }
    for (i, (name, value, interval, colour)) in lines.iter().enumerate() {
        let y = TOP + LINE * (i as f64 + 0.5);
        items.push(words([left - 10.0, y + 4.0], Anchor::End, name.clone(), 12.0));
        items.push(line([at(interval[0]), y], [at(interval[1]), y], Stroke::solid(*colour, 2.0)));
        items.push(Item::Dot { at: [at(*value), y], radius: 4.0, fill: *colour, opacity: 1.0 });
    }
    items.push(words([left, bottom + 40.0], Anchor::Start, note.to_owned(), 10.0));
}

fn draw_weights(evaluation: &Evaluation, bottom: f64, items: &mut Vec<Item>) {
    let (left, width) = PLOTS[1];
    let bins = &evaluation.diagnosis.histogram;
    let most = bins.iter().map(|(_, count)| *count).max().unwrap_or(1) as f64;
    let step = width / bins.len().max(1) as f64;
    for (i, (bin, count)) in bins.iter().enumerate() {
        let (x, height) = (left + step * i as f64, (bottom - TOP) * *count as f64 / most);
        let corners = [
            [x + 1.0, bottom],
            [x + 1.0, bottom - height],
            [x + step - 1.0, bottom - height],
            [x + step - 1.0, bottom],
        ];
        items.push(Item::Area { points: corners.to_vec(), fill: BLUE, opacity: 0.6, outline: None });
        let label = if *bin <= ZERO { "0".to_owned() } else { text::number(libm::exp2(f64::from(*bin))) };
        if bins.len() <= 8 || i % (bins.len() / 8 + 1) == 0 {
            items.push(words([x + 0.5 * step, bottom + 16.0], Anchor::Middle, label, 10.0));
        }
    }
    items.push(line([left, bottom], [left + width, bottom], Stroke::solid(INK, 1.0)));
    let note = format!(
        "rounds by weight, from the number below up to twice it; {} effective",
        text::number(evaluation.diagnosis.effective)
    );
    items.push(words([left, bottom + 40.0], Anchor::Start, note, 10.0));
}

fn line(from: Point, to: Point, stroke: Stroke) -> Item {
    Item::Line { points: vec![from, to], stroke }
}

fn words(at: Point, anchor: Anchor, words: String, size: f64) -> Item {
    Item::Text(Text { at, anchor, words, size, colour: INK, upwards: false })
}
