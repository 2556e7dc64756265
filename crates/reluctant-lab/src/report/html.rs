//! `report.html`: figures, tables and what their columns mean, in one file that asks for nothing else.
//!
//! Without scripts it is a page of pictures and tables. With them the curves of each environment can be switched,
//! zoomed and read, and the tables sorted: `report.js` draws from the numbers that `live` puts into the page.

mod compare;
mod live;
mod table;
mod tuning;
mod words;

pub use compare::compare;

use self::live::Share;
pub(crate) use self::table::{number, table, words};
use self::words::{COLUMNS, THEORY};
use super::draw::svg::{element, escape};
use super::draw::{Font, Scene};
use super::figure::Figure;
use super::text::{self, NONE};
use super::{Digest, EnvironmentDigest, PolicyDigest};
use crate::stats::Sample;

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// Browsers that read this refuse to load anything from anywhere.
const ALONE: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
    'unsafe-inline'; script-src 'unsafe-inline'\">";

/// The page.
pub fn render(digest: &Digest<'_>) -> Result<String, String> {
    let font = Font::load()?;
    let (mean, spread, bound) = (Figure::mean(digest), Figure::spread(digest), Figure::bound(digest));
    let results = digest.results;
    let (labels, share) = (super::labels(&[digest]), Share::of(&[digest]));
    let mut body = format!(
        "<p class=\"soft\">Experiment “{}”, reluctant {}, seed {}.</p>\n",
        escape(&results.name),
        escape(&results.version),
        results.seed,
    );
    for environment in &digest.environments {
        let figure = |figure: &Figure, caption| {
            figure.of_environment(environment.index).map_or_else(String::new, |one| framed(&one.scene(&font), caption))
        };
        let regret = figure(&mean, "The mean, as papers show it.")
            + &figure(&spread, "What the mean hides: the typical trial, and how far trials spread.")
            + &live::element(&[live::panel(environment, &environment.title, &labels, &share)]);
        let bound =
            bound.as_ref().map_or_else(String::new, |bound| figure(bound, "The mean beside what theory allows."));
        body += &section(environment, &regret, &bound);
    }
    Ok(page(&results.title, &(body + &glossary(COLUMNS))))
}

/// A whole page around its body.
pub(crate) fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{ALONE}\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// What the words of a page mean, at its end.
pub(crate) fn glossary(meanings: &[(&str, &str)]) -> String {
    let meanings: String =
        meanings.iter().map(|(name, meaning)| format!("<dt>{name}</dt><dd>{meaning}</dd>\n")).collect();
    format!("<h2>How to read this</h2>\n<dl>\n{meanings}</dl>\n")
}

/// The section of an environment; `regret` and `bound` are its figures.
fn section(environment: &EnvironmentDigest<'_>, regret: &str, bound: &str) -> String {
    let mut html = format!("<section>\n<h2>{}</h2>\n", escape(&super::headline(environment)));
    html +=
        &format!("<p class=\"soft\">Environment: {}.</p>\n", escape(&text::parameters(&environment.results.params)));
    html += &missing(environment);
    html += &in_short(environment);
    html += &format!("<div class=\"figures\">\n{regret}</div>\n");
    html += &regrets(environment);
    html += &differences(environment);
    html += &theory(environment, bound);
    html += &tuning::section(environment);
    html += &parameters(environment);
    html + "</section>\n"
}

pub(crate) fn framed(scene: &Scene, caption: &str) -> String {
    format!("<figure>\n{}<figcaption>{caption}</figcaption>\n</figure>\n", element(scene))
}

/// What an unfinished environment lacks; nothing if it is complete.
fn missing(environment: &EnvironmentDigest<'_>) -> String {
    if environment.missing.is_empty() {
        return String::new();
    }
    let lines: String = environment.missing.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
    format!("<p><strong>This experiment is unfinished.</strong></p>\n<ul>\n{lines}</ul>\n")
}

/// Who pays least, by mean and by median, in a sentence: the two need not agree.
fn in_short(environment: &EnvironmentDigest<'_>) -> String {
    let (Some(mean), Some(median)) = (environment.lowest(|at| at.mean), environment.lowest(|at| at.median)) else {
        return "<p>No trial has finished yet.</p>\n".to_owned();
    };
    let name = |policy: &PolicyDigest<'_>| format!("<strong>{}</strong>", escape(policy.label()));
    let same = std::ptr::eq(mean.policy, median.policy);
    let then = if same { "which also has".to_owned() } else { format!("but {} has", name(median)) };
    format!(
        "<p>The lowest mean regret is that of {} ({}), {then} the lowest median ({}).</p>\n",
        name(mean),
        text::maybe(mean.regret().map(|at| at.mean)),
        text::maybe(median.regret().map(|at| at.median)),
    )
}

fn regrets(environment: &EnvironmentDigest<'_>) -> String {
    let lowest = [environment.lowest(|at| at.mean), environment.lowest(|at| at.median)];
    let best = |column: usize, policy: &PolicyDigest<'_>| {
        lowest[column].is_some_and(|lowest| std::ptr::eq(lowest.policy, policy.policy))
    };
    let rows = environment.policies.iter().map(|policy| {
        let regret = policy.regret();
        let [mean, median, upper] =
            [|at: &Sample| at.mean, |at: &Sample| at.median, |at: &Sample| at.q90].map(|pick| regret.map(pick));
        vec![
            words(policy.label()),
            interval(policy).key(mean).best(best(0, policy)),
            number(text::maybe(median)).key(median).best(best(1, policy)),
            number(regret.map_or(NONE.into(), |at| text::range(at.q10, at.q90))).key(upper),
            linear(policy),
            slope(policy),
            number(text::maybe(policy.microseconds_per_round)).key(policy.microseconds_per_round),
        ]
    });
    let header = ["Policy", "Mean ± 95 %", "Median", "10–90 %", "Trials still linear", "Slope", "µs a round"];
    let title = format!("Regret after {}", text::rounds(environment.results.rounds));
    format!("<h3>{title}</h3>\n{}", table(&title, &header, rows))
}

/// The mean with its interval.
fn interval(policy: &PolicyDigest<'_>) -> table::Cell {
    number(policy.regret().map_or(NONE.into(), |at| text::plus_minus(at.mean, at.half_width)))
}

fn linear(policy: &PolicyDigest<'_>) -> table::Cell {
    number(policy.linear_share.map_or(NONE.into(), text::percent)).key(policy.linear_share)
}

fn slope(policy: &PolicyDigest<'_>) -> table::Cell {
    let slope = policy.slope.map(|slope| slope.value);
    number(slope.map_or(NONE.into(), |value| text::fixed(value, Some(2)))).key(slope)
}

/// Whether chance may explain a difference with this half width of its 95 % interval.
fn chance(difference: f64, half_width: Option<f64>) -> &'static str {
    match half_width {
        None => "one trial cannot tell",
        Some(0.0) if difference == 0.0 => "no, equal in every trial",
        Some(half) if difference.abs() <= half => "yes, may be equal",
        Some(_) if difference > 0.0 => "no, it pays more",
        Some(_) => "no, it pays less",
    }
}

fn differences(environment: &EnvironmentDigest<'_>) -> String {
    let Some(best) = environment.lowest(|regret| regret.mean) else { return String::new() };
    let rows: Vec<Vec<table::Cell>> = environment
        .differences(best)
        .map(|(other, pair)| {
            // The comparison is the best policy's; readers want the other's.
            let less = 1.0 - pair.won;
            vec![
                words(other.label()),
                number(text::signed(-pair.mean, pair.half_width)).key(Some(-pair.mean)),
                words(chance(-pair.mean, pair.half_width)),
                number(text::percent(less)).key(Some(less)),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = ["Policy", "Difference ± 95 %", "Could be chance", "Paid less in"];
    let title = format!("Paid beyond {}, trial by trial", best.label());
    format!("<h3>{}</h3>\n{}", escape(&title), table(&title, &header, rows.into_iter()))
}

/// What the theorems promise beside what was paid; nothing if none applies.
fn theory(environment: &EnvironmentDigest<'_>, figure: &str) -> String {
    if figure.is_empty() {
        return String::new();
    }
    let rounds = environment.results.rounds as f64;
    let rows = environment.policies.iter().filter_map(|policy| {
        let (theorem, regret) = (policy.theorem?, policy.regret()?);
        let bound = theorem.bound(rounds);
        Some(vec![
            words(policy.label()),
            number(text::number(regret.mean)).key(Some(regret.mean)),
            slope(policy),
            words(theorem.name()),
            number(text::number(bound.optimism)).key(Some(bound.optimism)),
            number(text::power_of_ten(bound.total())).key(Some(bound.total())),
            number(text::number(theorem.trivial(rounds))).key(Some(theorem.trivial(rounds))),
        ])
    });
    let header = ["Policy", "Mean regret", "Slope", "Theorem", "Optimistic stage", "Whole bound", "k·T"];
    format!(
        "<h3>Beside the theory</h3>\n<p>{THEORY}</p>\n<div class=\"figures\">\n{figure}</div>\n{}",
        table("Beside the theory", &header, rows)
    )
}

fn parameters(environment: &EnvironmentDigest<'_>) -> String {
    let rows = environment.policies.iter().map(|policy| {
        let of = policy.policy;
        vec![
            words(&of.label),
            words(&of.policy),
            words(&text::parameters(&of.tuned)),
            words(&text::parameters(&of.params)),
        ]
    });
    format!("<h3>Parameters</h3>\n{}", table("Parameters", &["Policy", "Name", "Tuned", "All, as played"], rows))
}
