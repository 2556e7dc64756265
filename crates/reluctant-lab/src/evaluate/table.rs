//! An evaluation as a table for the terminal, and many as a ranking.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};

use super::{Estimate, Evaluation, Interval};
use crate::report::table::STYLE;
use crate::report::text;

/// The width that every table fits.
const COLUMNS: u16 = 110;

/// The estimates of one policy, its weights, and what is known.
pub fn render(evaluation: &Evaluation) -> String {
    let Evaluation { policy, diagnosis, .. } = evaluation;
    let mut table = empty(&["estimator", "value", "normal 95 %", "bootstrap 95 %", "Bernstein 95 %"]);
    // Where the log cannot tell, no number pretends to.
    if evaluation.verdict.recommended.is_some() {
        table.add_rows(evaluation.estimates.iter().map(row));
    }
    table.add_row(row(&evaluation.logged));
    let mut said = format!("{policy} on {} rounds\n{table}\n", text::count(diagnosis.rounds));
    said += &format!(
        "weights: {} effective rounds, mean {}, greatest {}; least propensity {}; {} of the choices are possible \
         for the policy\n\n",
        text::number(diagnosis.effective),
        text::number(diagnosis.mean_weight),
        text::number(diagnosis.greatest_weight),
        text::number(diagnosis.least_propensity),
        text::percent(diagnosis.agreed),
    );
    evaluation.verdict.sentences.iter().for_each(|sentence| said += &format!("{sentence}\n"));
    said
}

/// Policies by what they would have earned, the best first; those of which the log cannot tell come last.
pub(super) fn ranked(evaluations: &[Evaluation]) -> Vec<&Evaluation> {
    let mut order: Vec<&Evaluation> = evaluations.iter().collect();
    let value = |evaluation: &Evaluation| evaluation.verdict.recommended.as_ref().map(|best| best.value);
    order.sort_by(|a, b| value(b).partial_cmp(&value(a)).unwrap_or(std::cmp::Ordering::Equal));
    order
}

/// A table of policies, the best first, with the reasons why the log cannot tell of some.
pub fn ranking(evaluations: &[Evaluation]) -> String {
    let order = ranked(evaluations);
    let mut table = empty(&["policy", "value", "95 %", "more than the log", "effective", "while learning"]);
    for evaluation in &order {
        let best = evaluation.verdict.recommended.as_ref();
        let gain = evaluation.gain.as_ref().map(|gain| text::signed(gain.value, Some(gain.half_width())));
        let replay = evaluation.replay.as_ref().map(|replay| range(replay.interval));
        table.add_row([
            left(&evaluation.policy),
            right(text::maybe(best.map(|best| best.value))),
            right(best.map_or(text::NONE.into(), |best| range(best.interval))),
            right(gain.unwrap_or(text::NONE.into())),
            right(text::number(evaluation.diagnosis.effective)),
            right(replay.unwrap_or(text::NONE.into())),
        ]);
    }
    let mut said = format!("{table}\n");
    if let Some(first) = order.first() {
        said += &format!("{}\n", first.verdict.sentences.first().map_or("", |sentence| sentence));
    }
    for evaluation in order.iter().filter(|evaluation| evaluation.verdict.recommended.is_none()) {
        evaluation.verdict.sentences.iter().skip(1).take(1).for_each(|sentence| said += &format!("{sentence}\n"));
    }
    said
}

fn row(estimate: &Estimate) -> [Cell; 5] {
    let name = match estimate.bound {
        Some(bound) => format!("{} (bound {})", estimate.name, text::number(bound)),
        None => estimate.name.to_owned(),
    };
    [
        left(&name),
        right(text::number(estimate.value)),
        right(range(estimate.normal)),
        right(range(estimate.bootstrap)),
        right(estimate.bernstein.map_or(text::NONE.into(), range)),
    ]
}

fn range([low, high]: Interval) -> String {
    if low.is_infinite() { text::NONE.into() } else { text::range(low, high) }
}

fn empty(header: &[&str]) -> Table {
    let words = ["policy", "estimator"];
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic).set_width(COLUMNS).set_header(
        header.iter().map(|title| if words.contains(title) { left(title) } else { right((*title).into()) }),
    );
    table
}

fn left(text: &str) -> Cell {
    Cell::new(text)
}

fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}
