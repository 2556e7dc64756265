//! `report.html`: figures, tables and what their columns mean, in one file that asks for nothing else.

use std::fmt::Write;

use super::draw::svg::{element, escape};
use super::draw::{Font, Scene};
use super::figure::Figure;
use super::text::{self, NONE};
use super::{Digest, EnvironmentDigest, PolicyDigest};
use crate::stats::Sample;

const STYLE: &str = include_str!("report.css");

/// What the tables' columns mean, in plain words.
const COLUMNS: &[(&str, &str)] = &[
    (
        "Regret",
        "In each round, the mean reward of the best arm on offer minus that of the arm chosen; added up over all \
         rounds of a trial. Lower is better, and 0 is perfect.",
    ),
    (
        "Mean ± 95 %",
        "The average over trials, and half the width of its 95 % interval (Student’s t). A few failed trials can carry \
         the mean: look at the median, too.",
    ),
    ("Median", "Half of the trials pay less than this, half pay more."),
    ("10–90 %", "One trial in ten pays less than the first number, one in ten more than the second."),
    (
        "Still linear",
        "The share of trials that have not learnt: they pay about as much in each late round as before, at least 1 % \
         of what random choice would pay. Precisely: with R(t) the regret after t of T rounds, log₂((R(T) − R(T/2)) / \
         (R(T/2) − R(T/4))) ≥ 0.8; growth like √t would give ½, logarithmic growth 0.",
    ),
    (
        "Slope",
        "The slope of the mean curve on logarithmic axes over the last two decades, from T/100 (but not before round \
         10) to T: 1 is linear growth, ½ is growth like √t. What was paid early flattens it.",
    ),
    ("µs a round", "Time to choose and to learn, in millionths of a second, without the environment’s own."),
    (
        "Paid beyond the best",
        "Policies met the same arms and the same noise in trials of the same number, so they are compared trial by \
         trial: the mean difference from the policy with the lowest mean, with its 95 % interval. An interval without \
         0 in it is a difference that chance does not explain. “Paid less in” is the share of trials in which the \
         policy beat that best one.",
    ),
    ("Tuned", "Parameters chosen on trials of their own, which are not among those reported."),
];

/// What the theory's figure and table show.
const THEORY: &str = "The theorems bound the expected regret by the cost of exploration plus that of the optimistic \
    stage after it. The exploration that they ask for is astronomically long, so that their whole bound says less than \
    k·T, which no play exceeds, since mean rewards lie between 0 and k; the policies here explore for far fewer \
    rounds. The bound on the optimistic stage alone, once the activations are known, grows like √t up to logarithms \
    and can be held against what was paid. All is for the whole sphere of actions, for the gap ν* = 1/(2k), below \
    which no network’s lies, and for neurons as far apart as k of them can be.";

/// The page.
pub fn render(digest: &Digest<'_>) -> Result<String, String> {
    let font = Font::load()?;
    let (mean, spread, bound) = (Figure::mean(digest), Figure::spread(digest), Figure::bound(digest));
    let results = digest.results;
    let mut page = head(
        &results.title,
        &format!("Experiment “{}”, reluctant {}, seed {}.", results.name, results.version, results.seed),
    );
    for environment in &digest.environments {
        let figure = |figure: &Figure, caption| {
            figure.of_environment(environment.index).map_or_else(String::new, |one| framed(&one.scene(&font), caption))
        };
        let regret = figure(&mean, "The mean, as papers show it.")
            + &figure(&spread, "What the mean hides: the typical trial, and how far trials spread.");
        let bound =
            bound.as_ref().map_or_else(String::new, |bound| figure(bound, "The mean beside what theory allows."));
        page += &section(environment, &regret, &bound);
    }
    Ok(page + &foot(COLUMNS))
}

/// How a page begins: its title, and what it is about.
pub(crate) fn head(title: &str, about: &str) -> String {
    let (title, about) = (escape(title), escape(about));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p class=\"soft\">{about}</p>\n"
    )
}

/// How a page ends: what its words mean.
pub(crate) fn foot(meanings: &[(&str, &str)]) -> String {
    let mut page = "<h2>How to read this</h2>\n<dl>\n".to_owned();
    for (name, meaning) in meanings {
        page += &format!("<dt>{name}</dt><dd>{meaning}</dd>\n");
    }
    page + "</dl>\n</body>\n</html>\n"
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
    let said = |policy: &PolicyDigest<'_>, pick: fn(&Sample) -> f64| {
        format!("<strong>{}</strong> ({})", escape(policy.label()), text::maybe(policy.regret().map(pick)))
    };
    let (by_mean, by_median) = (said(mean, |at| at.mean), said(median, |at| at.median));
    let same = std::ptr::eq(mean.policy, median.policy);
    let also = if same { "and also the lowest median" } else { "but the lowest median is that of" };
    format!("<p>The lowest mean regret is that of {by_mean}, {also} {by_median}.</p>\n")
}

fn regrets(environment: &EnvironmentDigest<'_>) -> String {
    let lowest = [environment.lowest(|at| at.mean), environment.lowest(|at| at.median)];
    let best = |column: usize, policy: &PolicyDigest<'_>| {
        lowest[column].is_some_and(|lowest| std::ptr::eq(lowest.policy, policy.policy))
    };
    let rows = environment.policies.iter().map(|policy| {
        let regret = policy.regret();
        vec![
            words(policy.label()),
            number(regret.map_or(NONE.into(), |at| text::plus_minus(at.mean, at.half_width))).best(best(0, policy)),
            number(text::maybe(regret.map(|at| at.median))).best(best(1, policy)),
            number(regret.map_or(NONE.into(), |at| text::range(at.q10, at.q90))),
            number(policy.linear_share.map_or(NONE.into(), text::percent)),
            number(policy.slope.map_or(NONE.into(), |slope| text::fixed(slope.value, Some(2)))),
            number(text::maybe(policy.microseconds_per_round)),
        ]
    });
    let header = ["Policy", "Mean ± 95 %", "Median", "10–90 %", "Still linear", "Slope", "µs a round"];
    format!("<h3>Regret after {} rounds</h3>\n{}", text::count(environment.results.rounds), table(&header, rows))
}

fn differences(environment: &EnvironmentDigest<'_>) -> String {
    let Some(best) = environment.lowest(|regret| regret.mean) else { return String::new() };
    let rows = environment.differences(best).map(|(other, pair)| {
        // The comparison is the best policy's; readers want the other's.
        let cost = text::signed(-pair.mean, pair.half_width);
        let clear = pair.half_width.map_or(NONE, |half| if pair.mean.abs() > half { "yes" } else { "no" });
        vec![words(other.label()), number(cost), number(clear.to_owned()), number(text::percent(1.0 - pair.won))]
    });
    let header = ["Policy", "Difference ± 95 %", "0 outside interval", "Paid less in"];
    format!("<h3>Paid beyond {}, trial by trial</h3>\n{}", escape(best.label()), table(&header, rows))
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
            number(text::number(regret.mean)),
            number(policy.slope.map_or(NONE.into(), |slope| text::fixed(slope.value, Some(2)))),
            words(theorem.name()),
            number(text::number(bound.optimism)),
            number(text::power_of_ten(bound.total())),
            number(text::number(theorem.trivial(rounds))),
        ])
    });
    let header = ["Policy", "Mean regret", "Slope", "Theorem", "Optimistic stage", "Whole bound", "k·T"];
    format!(
        "<h3>Beside the theory</h3>\n<p>{THEORY}</p>\n<div class=\"figures\">\n{figure}</div>\n{}",
        table(&header, rows)
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
    format!("<h3>Parameters</h3>\n{}", table(&["Policy", "Name", "Tuned", "All, as played"], rows))
}

pub(crate) struct Cell {
    class: &'static str,
    text: String,
}

impl Cell {
    pub(crate) fn best(self, best: bool) -> Self {
        if best { Cell { class: " class=\"best\"", ..self } } else { self }
    }
}

pub(crate) fn words(text: &str) -> Cell {
    Cell { class: " class=\"words\"", text: escape(text) }
}

pub(crate) fn number(text: String) -> Cell {
    Cell { class: "", text: escape(&text) }
}

pub(crate) fn table(header: &[&str], rows: impl Iterator<Item = Vec<Cell>>) -> String {
    let mut body = String::new();
    let mut is_words = vec![false; header.len()];
    for row in rows {
        body += "<tr>";
        for (i, Cell { class, text }) in row.into_iter().enumerate() {
            // Writing into a string cannot fail.
            let _ = write!(body, "<td{class}>{text}</td>");
            if let Some(is_words) = is_words.get_mut(i) {
                *is_words = class.contains("words");
            }
        }
        body += "</tr>\n";
    }
    let class = |is_words| if is_words { " class=\"words\"" } else { "" };
    let head: String =
        header.iter().zip(is_words).map(|(title, is_words)| format!("<th{}>{title}</th>", class(is_words))).collect();
    format!("<div class=\"wide\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n")
}
