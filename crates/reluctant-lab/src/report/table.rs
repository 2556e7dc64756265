//! The terminal's table: one an environment, then the paired differences from the policy with the lowest mean. Where
//! there is no room for columns, a few lines a policy say the same.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use super::text::{self, NONE};
use super::wrap::wrap;
use super::{Digest, EnvironmentDigest, PolicyDigest};
use crate::results::Results;

/// The width that every table fits unless told otherwise.
pub const COLUMNS: usize = 100;

/// In fewer columns than these, numbers would be broken in two: lines take the place of columns.
const TABLE_FROM: usize = 78;

/// What "linear" counts, below the tables.
const LINEAR: &str = "linear: the share of trials that pay about as much in each late round as before, and at least \
    1 % of what random choice pays. It says how many, not how much: beside a low regret it is no failure.";

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
    render_within(digest, COLUMNS)
}

/// The tables of all environments in lines of at most `columns` letters (but at least 20, and at most 100).
pub fn render_within(digest: &Digest<'_>, columns: usize) -> String {
    let columns = columns.clamp(20, COLUMNS);
    let said = digest.environments.iter().map(|each| environment(each, columns)).collect::<Vec<_>>().join("\n");
    format!("{said}\n{}\n", wrap(LINEAR, columns, "", ""))
}

fn environment(environment: &EnvironmentDigest<'_>, columns: usize) -> String {
    let missing: String = environment.missing.iter().map(|line| wrap(line, columns, "  ", "    ") + "\n").collect();
    let headline = wrap(&super::headline(environment), columns, "", "");
    let wide = columns >= TABLE_FROM;
    let all = if wide { regrets(environment, columns).to_string() } else { regret_lines(environment, columns) };
    let mut said = format!("{headline}\n{missing}{all}\n");
    if let Some(best) = environment.lowest(|regret| regret.mean)
        && environment.differences(best).next().is_some()
    {
        let title = format!("Regret paid beyond that of {}, trial by trial", best.label());
        let all = if wide {
            differences(environment, best, columns).to_string()
        } else {
            difference_lines(environment, best, columns)
        };
        said += &format!("\n{}\n{all}\n", wrap(&title, columns, "", ""));
    }
    said
}

/// A few lines a policy in the place of a row.
fn regret_lines(environment: &EnvironmentDigest<'_>, columns: usize) -> String {
    let lines = environment.policies.iter().map(|policy| {
        let regret = policy.regret();
        let mut said = vec![
            format!("mean {}", regret.map_or(NONE.into(), |at| text::plus_minus(at.mean, at.half_width))),
            format!("median {}", text::maybe(regret.map(|at| at.median))),
            format!("10–90 % {}", regret.map_or(NONE.into(), |at| text::range(at.q10, at.q90))),
            format!("linear {}", policy.linear_share.map_or(NONE.into(), text::percent)),
            format!("{} µs/round", text::maybe(policy.microseconds_per_round)),
        ];
        if !policy.policy.tuned.is_empty() {
            said.push(format!("tuned {}", text::parameters(&policy.policy.tuned)));
        }
        entry(policy.label(), &said, columns)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn difference_lines(environment: &EnvironmentDigest<'_>, best: &PolicyDigest<'_>, columns: usize) -> String {
    let lines = environment.differences(best).map(|(other, pair)| {
        let less = text::percent(1.0 - pair.won);
        let said = [text::signed(-pair.mean, pair.half_width), format!("paid less in {less} of trials")];
        entry(other.label(), &said, columns)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A name, and below it what is said of it. Spaces within a part do not break while it fits a line.
fn entry(name: &str, parts: &[String], columns: usize) -> String {
    const KEPT: char = '\u{a0}';
    let whole: Vec<String> = parts
        .iter()
        .map(
            |part| {
                if part.chars().count() + 3 <= columns { part.replace(' ', &KEPT.to_string()) } else { part.clone() }
            },
        )
        .collect();
    let said = wrap(&whole.join(", "), columns, "  ", "  ").replace(KEPT, " ");
    format!("{}\n{said}", wrap(name, columns, "", "  "))
}

fn regrets(environment: &EnvironmentDigest<'_>, columns: usize) -> Table {
    let mut table = empty(columns, &["policy", "mean ± 95 %", "median", "10–90 %", "linear", "µs/round", "tuned"]);
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

fn differences(environment: &EnvironmentDigest<'_>, best: &PolicyDigest<'_>, columns: usize) -> Table {
    let mut table = empty(columns, &["policy", "mean ± 95 %", "trials in which it paid less"]);
    for (other, pair) in environment.differences(best) {
        // The comparison is the best policy's; readers want the other's.
        let cost = text::signed(-pair.mean, pair.half_width);
        table.add_row([left(other.label()), right(cost), right(text::percent(1.0 - pair.won))]);
    }
    table
}

fn empty(columns: usize, header: &[&str]) -> Table {
    // Words stand to the left, numbers to the right, and so do the titles of their columns.
    let words = ["policy", "tuned"];
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic).set_width(columns as u16).set_header(
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
