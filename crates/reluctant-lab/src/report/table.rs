//! The terminal's table: one an environment, then the paired differences from the policy with the lowest mean.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use super::text::{self, NONE};
use super::{Digest, EnvironmentDigest, PolicyDigest};
use crate::results::Results;

/// The width that every table fits.
const COLUMNS: u16 = 100;

/// Three rules and no more, as books set tables.
pub(crate) const STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::new('─', '─', '─', '─'))
    .header_separator(LineStyle::new('─', '─', '─', '─'))
    .bottom_border(LineStyle::new('─', '─', '─', '─'));

/// The tables of all environments.
pub fn of(results: &Results) -> String {
    render(&Digest::new(results))
}

/// The tables of all environments.
pub fn render(digest: &Digest<'_>) -> String {
    digest.environments.iter().map(environment).collect::<Vec<_>>().join("\n")
}

fn environment(environment: &EnvironmentDigest<'_>) -> String {
    let missing: String = environment.missing.iter().map(|line| format!("  {line}\n")).collect();
    let mut said = format!("{}\n{missing}{}\n", super::headline(environment), regrets(environment));
    if let Some(best) = environment.lowest(|regret| regret.mean)
        && let Some(table) = differences(environment, best)
    {
        said += &format!("\nRegret paid beyond that of {}, trial by trial\n{table}\n", best.label());
    }
    said
}

fn regrets(environment: &EnvironmentDigest<'_>) -> Table {
    let mut table = empty(&["policy", "mean ± 95 %", "median", "10–90 %", "linear", "µs/round", "tuned"]);
    for policy in &environment.policies {
        let regret = policy.regret();
        table.add_row([
            left(policy.label()),
            right(regret.map_or(NONE.into(), |at| text::plus_minus(at.mean, at.half_width))),
            right(text::maybe(regret.map(|at| at.median))),
            right(regret.map_or(NONE.into(), |at| text::range(at.q10, at.q90))),
            right(policy.linear_share.map_or(NONE.into(), text::percent)),
            right(text::maybe(policy.microseconds_per_round)),
            left(&text::parameters(&policy.policy.tuned)),
        ]);
    }
    table
}

fn differences(environment: &EnvironmentDigest<'_>, best: &PolicyDigest<'_>) -> Option<Table> {
    let mut table = empty(&["policy", "mean ± 95 %", "trials in which it paid less"]);
    for (other, pair) in environment.differences(best) {
        // The comparison is the best policy's; readers want the other's.
        let cost = text::signed(-pair.mean, pair.half_width);
        table.add_row([left(other.label()), right(cost), right(text::percent(1.0 - pair.won))]);
    }
    (!table.is_empty()).then_some(table)
}

fn empty(header: &[&str]) -> Table {
    // Words stand to the left, numbers to the right, and so do the titles of their columns.
    let words = ["policy", "tuned"];
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
