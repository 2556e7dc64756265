//! The grid that a policy was tuned on: what each candidate paid, and whether a better one may lie beyond the grid.

use serde_json::Value;

use super::super::draw::svg::escape;
use super::super::{EnvironmentDigest, text};
use super::table::{number, table, words};
use crate::results::{Candidate, PolicyResults};
use crate::stats::Sample;

/// The grids of an environment's policies; nothing if no policy was tuned.
pub(super) fn section(environment: &EnvironmentDigest<'_>) -> String {
    let tuned = environment.policies.iter().map(|policy| policy.policy).filter(|policy| !policy.tuning.is_empty());
    let grids: String = tuned.map(grid).collect();
    if grids.is_empty() { grids } else { format!("<h3>Tuning</h3>\n{grids}") }
}

fn grid(policy: &PolicyResults) -> String {
    let warnings: Vec<String> = edges(policy).iter().map(Edge::sentence).collect();
    let warning = match warnings.is_empty() {
        true => String::new(),
        false => format!(" <strong class=\"warning\">At the grid’s edge: {}.</strong>", escape(&warnings.join("; "))),
    };
    let count = policy.tuning.len();
    let chosen = escape(&text::parameters(&policy.tuned));
    let plural = if count == 1 { "" } else { "s" };
    let label = escape(&policy.label);
    format!(
        "<details><summary><strong>{label}</strong>: {chosen}, of {count} candidate{plural}.{warning}</summary>\n{}\
         </details>\n",
        candidates(policy)
    )
}

fn candidates(policy: &PolicyResults) -> String {
    let trials = policy.tuning.first().map_or(0, |candidate| candidate.regret.len());
    let names: Vec<&String> = policy.tuning.first().map_or_else(Vec::new, |first| first.settings.keys().collect());
    let score = format!("Mean regret of {} tuning trial{}", text::count(trials as u64), plural(trials));
    let rows = policy.tuning.iter().map(|candidate| {
        let value = |name: &&String| {
            let value = candidate.settings.get(*name).unwrap_or(&Value::Null);
            number(text::scalar(value)).key(value.as_f64())
        };
        let sample = Sample::of(candidate.regret.iter().copied());
        let said = sample.map_or(text::NONE.into(), |at| text::plus_minus(at.mean, at.half_width));
        let mut row: Vec<_> = names.iter().map(value).collect();
        row.push(number(said).key(sample.map(|at| at.mean)).best(candidate.chosen));
        row.push(words(if candidate.chosen { "chosen" } else { "" }));
        row
    });
    let escaped: Vec<String> = names.iter().map(|name| escape(name)).collect();
    let header: Vec<&str> = escaped.iter().map(String::as_str).chain([score.as_str(), "Chosen"]).collect();
    table(&format!("Tuning of {}", policy.label), &header, rows)
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// A parameter whose best value is the smallest or the largest of its list.
struct Edge<'a> {
    name: &'a str,
    value: &'a Value,
    side: &'static str,
}

impl Edge<'_> {
    fn sentence(&self) -> String {
        format!("{} = {} is the {} tried", self.name, text::scalar(self.value), self.side)
    }
}

/// The parameters whose best value lies at an end of its list of numbers. Words have no ends.
fn edges(policy: &PolicyResults) -> Vec<Edge<'_>> {
    let Some(chosen) = policy.tuning.iter().find(|candidate| candidate.chosen) else { return Vec::new() };
    let edge = |(name, value): (&'_ String, &'_ Value)| -> Option<&'static str> {
        let best = value.as_f64()?;
        let of = |candidate: &Candidate| candidate.settings.get(name).and_then(Value::as_f64);
        let tried: Vec<f64> = policy.tuning.iter().map(of).collect::<Option<_>>()?;
        let (low, high) = tried.iter().fold((best, best), |(low, high), &x| (low.min(x), high.max(x)));
        match () {
            () if low == high => None,
            () if best == low => Some("smallest value"),
            () if best == high => Some("largest value"),
            () => None,
        }
    };
    let settings = chosen.settings.iter();
    settings.filter_map(|(name, value)| edge((name, value)).map(|side| Edge { name, value, side })).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tuned(values: &[Value], chosen: usize) -> Vec<String> {
        let mut policy = PolicyResults::new("OFUL", "oful", Vec::new());
        policy.tuning = values
            .iter()
            .enumerate()
            .map(|(i, value)| {
                let settings = [("lambda".to_owned(), value.clone())].into_iter().collect();
                Candidate::new(settings, vec![1.0], i == chosen)
            })
            .collect();
        edges(&policy).iter().map(Edge::sentence).collect()
    }

    #[test]
    fn a_best_value_at_the_end_of_its_list_is_said() {
        let numbers = [json!(0.1), json!(1), json!(10.0)];
        assert_eq!(tuned(&numbers, 0), ["lambda = 0.1 is the smallest value tried"]);
        assert_eq!(tuned(&numbers, 2), ["lambda = 10.0 is the largest value tried"]);
        assert!(tuned(&numbers, 1).is_empty());
        assert!(tuned(&[json!("a"), json!("b")], 0).is_empty(), "words have no ends");
        assert!(tuned(&[json!(1), json!(1)], 0).is_empty(), "nor has a list of one value");
    }
}
