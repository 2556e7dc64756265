//! The report on policies that were tried on a log, in the form of the lab's other reports: a page, a figure, a table,
//! and everything for programs.

use std::path::{Path, PathBuf};

use super::table::ranked;
use super::{Evaluation, Interval, ranking_scene, scene};
use crate::error::{LabError, Result};
use crate::report::draw::{Font, png, svg};
use crate::report::html::{framed, glossary, number, page, table, words};
use crate::report::{replace, text};

/// What the words of the page mean.
const MEANINGS: &[(&str, &str)] = &[
    ("Value", "What a policy would have earned a round, on average, had it made the log’s choices."),
    (
        "95 %",
        "The interval to trust: an interval made like this holds the true value in 95 of 100 logs. It is about the \
         policy as it was learnt from the rest of the log.",
    ),
    (
        "More than the log",
        "The difference from what the log earned, with its 95 % interval. Take a policy only if that lies above 0, and \
         mind that the best of many looks better than it is.",
    ),
    ("Effective", "So many rounds of the policy’s own would say as much as the log does: (Σw)²/Σw² of the weights w."),
    ("While learning", "What it would have earned while it learnt from nothing, by replay: the interval of the mean."),
    (
        "Weights",
        "How many times as likely the policy was to make a round’s choice as the log: a round counts so many times. \
         Great weights mean that few rounds carry the estimate.",
    ),
];

/// Writes the report on policies that were tried on `log` into the folder `dir`, and says which files those are.
pub fn write_report(evaluations: &[Evaluation], log: &Path, dir: &Path) -> Result<Vec<PathBuf>> {
    let ranking = ranking_scene(evaluations);
    let font = Font::load().map_err(LabError::Foreign)?;
    let json = serde_json::to_vec_pretty(evaluations).map_err(|cause| LabError::Foreign(cause.to_string()))?;
    let files = [
        ("report.html", whole(evaluations, log).into_bytes()),
        ("ranking.svg", svg::file(&ranking).into_bytes()),
        ("ranking.png", png::file(&ranking, &font).map_err(LabError::Foreign)?),
        ("ranking.csv", csv(evaluations)),
        ("summary.json", json),
    ];
    std::fs::create_dir_all(dir).map_err(LabError::io("make the folder", dir))?;
    let written = files.map(|(name, contents)| {
        let path = dir.join(name);
        replace(&path, &contents).map_err(LabError::io("write", &path))?;
        Ok(path)
    });
    written.into_iter().collect()
}

fn whole(evaluations: &[Evaluation], log: &Path) -> String {
    let order = ranked(evaluations);
    let name = log.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let rounds = order.first().map_or(0, |first| first.diagnosis.rounds);
    let about = format!("A log of {} rounds, reluctant {}.", text::count(rounds), env!("CARGO_PKG_VERSION"));
    let mut body = format!("<p class=\"soft\">{}</p>\n", svg::escape(&about));
    body += &sentences(order.first().into_iter().flat_map(|first| first.verdict.sentences.iter().take(1)));
    let figure = framed(&ranking_scene(evaluations), "What each policy would have earned, beside the log.");
    body += &format!("<div class=\"figures\">\n{figure}</div>\n");
    body += &standings(&order);
    for evaluation in order {
        body += &section(evaluation);
    }
    page(&format!("What policies would have earned on {name}"), &(body + &glossary(MEANINGS)))
}

fn standings(order: &[&Evaluation]) -> String {
    let rows = order.iter().enumerate().map(|(place, evaluation)| {
        let best = evaluation.verdict.recommended.as_ref();
        let gain = evaluation.gain.as_ref().map(|gain| text::signed(gain.value, Some(gain.half_width())));
        let replay = evaluation.replay.as_ref().map(|replay| range(replay.interval));
        vec![
            words(&evaluation.policy),
            number(text::maybe(best.map(|best| best.value)))
                .key(best.map(|best| best.value))
                .best(place == 0 && best.is_some()),
            number(best.map_or(text::NONE.into(), |best| range(best.interval))),
            number(gain.unwrap_or(text::NONE.into())),
            number(text::number(evaluation.diagnosis.effective)),
            number(replay.unwrap_or(text::NONE.into())),
        ]
    });
    table(
        "Policies by what they would have earned",
        &["Policy", "Value", "95 %", "More than the log", "Effective", "While learning"],
        rows,
    )
}

fn section(evaluation: &Evaluation) -> String {
    let known = evaluation.verdict.recommended.as_ref();
    // Where the log cannot tell, no number pretends to.
    let shown = evaluation.estimates.iter().filter(|_| known.is_some()).chain([&evaluation.logged]);
    let rows = shown.map(|estimate| {
        let trusted = known.is_some_and(|best| best.estimator == estimate.name);
        vec![
            words(estimate.name),
            number(text::number(estimate.value)).best(trusted),
            number(range(estimate.normal)),
            number(range(estimate.bootstrap)),
            number(estimate.bernstein.map_or(text::NONE.into(), range)),
            number(text::maybe(estimate.bound)),
        ]
    });
    let header = ["Estimator", "Value", "Normal 95 %", "Bootstrap 95 %", "Bernstein 95 %", "Bound"];
    let figure = framed(&scene(evaluation), "Every estimate, and how the weights are spread.");
    format!(
        "<section>\n<h2>{}</h2>\n{}<div class=\"figures\">\n{figure}</div>\n{}</section>\n",
        svg::escape(&evaluation.policy),
        sentences(evaluation.verdict.sentences.iter().skip(1)),
        table("Estimates", &header, rows)
    )
}

fn sentences<'s>(said: impl Iterator<Item = &'s String>) -> String {
    said.map(|sentence| format!("<p>{}</p>\n", svg::escape(sentence))).collect()
}

fn range([low, high]: Interval) -> String {
    text::range(low, high)
}

/// The ranking for programs that read tables.
fn csv(evaluations: &[Evaluation]) -> Vec<u8> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let header = ["policy", "estimator", "value", "low", "high", "gain", "gain_low", "gain_high", "effective"];
    // Writing into memory cannot fail.
    let _ = out.write_record(header);
    let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
    for evaluation in ranked(evaluations) {
        let (best, gain) = (evaluation.verdict.recommended.as_ref(), evaluation.gain.as_ref());
        let _ = out.write_record([
            evaluation.policy.clone(),
            best.map_or(String::new(), |best| best.estimator.to_owned()),
            number(best.map(|best| best.value)),
            number(best.map(|best| best.interval[0])),
            number(best.map(|best| best.interval[1])),
            number(gain.map(|gain| gain.value)),
            number(gain.map(|gain| gain.normal[0])),
            number(gain.map(|gain| gain.normal[1])),
            evaluation.diagnosis.effective.to_string(),
        ]);
    }
    out.into_inner().unwrap_or_default()
}
