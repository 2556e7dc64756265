//! Two experiments side by side on one page: the same axes, the same looks, and what differs.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::draw::Font;
use super::super::draw::svg::escape;
use super::super::figure::Figure;
use super::super::text::{self, NONE};
use super::super::{Digest, EnvironmentDigest, PolicyDigest, labels};
use super::live::{self, Share};
use super::table::{Cell, number, table, words};
use super::words::COLUMNS;
use super::{chance, framed, glossary, interval, linear, page};
use crate::stats;

/// Two experiments, each with the name that readers know it by, such as its folder.
struct Two<'a, 'd> {
    names: [&'a str; 2],
    digests: [&'a Digest<'d>; 2],
}

/// The page. Environments of the same name stand side by side; what only one of the two has is said.
pub fn compare(names: [&str; 2], digests: [&Digest<'_>; 2]) -> Result<String, String> {
    let font = Font::load()?;
    let two = Two { names, digests };
    let (all, share) = (labels(&digests), Share::of(&digests));
    let said = [0, 1].map(|i| {
        let results = digests[i].results;
        let [name, title, experiment, version] =
            [names[i], &results.title, &results.name, &results.version].map(escape);
        format!(
            "<li><strong>{name}</strong>: {title}. Experiment “{experiment}”, reluctant {version}, seed {}.</li>\n",
            results.seed
        )
    });
    let mut body = format!("<ol>\n{}{}</ol>\n", said[0], said[1]);
    for (first, second) in two.pairs() {
        body += &two.section([first, second], &font, &all, &share);
    }
    body += &two.alone();
    Ok(page(&format!("{} beside {}", names[0], names[1]), &(body + &glossary(COLUMNS))))
}

impl<'a, 'd> Two<'a, 'd> {
    /// The environments that both have, by name.
    fn pairs(&self) -> Vec<(&'a EnvironmentDigest<'d>, &'a EnvironmentDigest<'d>)> {
        let [first, second] = self.digests.map(|digest| &digest.environments);
        let other = |name: &str| second.iter().find(|other| other.results.name == name);
        first.iter().filter_map(|one| other(&one.results.name).map(|other| (one, other))).collect()
    }

    /// What only one of the two has, in words.
    fn alone(&self) -> String {
        let said = [0, 1].map(|i| {
            let [mine, others] = [i, 1 - i].map(|i| &self.digests[i].environments);
            let alone = mine.iter().filter(|one| others.iter().all(|other| other.results.name != one.results.name));
            let titles: Vec<String> = alone.map(|one| escape(&one.title)).collect();
            if titles.is_empty() {
                return String::new();
            }
            format!("<p>Only in {}: {}.</p>\n", escape(self.names[i]), titles.join(", "))
        });
        said.concat()
    }

    fn section(&self, both: [&EnvironmentDigest<'d>; 2], font: &Font, all: &[&str], share: &Share) -> String {
        // Where the section's title says the rest, a plot needs no more than the name of its experiment.
        let same = both[0].title == both[1].title;
        let titles = [0, 1]
            .map(|i| if same { self.names[i].to_owned() } else { format!("{}: {}", self.names[i], both[i].title) });
        let figure = |i: usize| {
            let figure = Figure::mean(self.digests[i]).of_environment(both[i].index);
            figure.map_or_else(String::new, |one| framed(&one.scene(font), &escape(&titles[i])))
        };
        let panels = [0, 1].map(|i| live::panel(both[i], &titles[i], all, share));
        let (figures, data) = (figure(0) + &figure(1), live::element(&panels));
        let paired = self.same_rounds(both);
        let how = if paired {
            "Trials of the same number met the same arms and the same noise in both, so they are compared one by one."
        } else {
            "The two did not meet the same rounds, so only their means are compared; the interval of the difference \
             takes trials as independent."
        };
        format!(
            "<section>\n<h2>{}</h2>\n{}<div class=\"figures\">\n{figures}{data}</div>\n<p>{how}</p>\n{}{}</section>\n",
            escape(&both[0].title),
            parameters("The environments differ", self.names, both.map(|one| &one.results.params)),
            self.regrets(both, paired),
            self.differing(both),
        )
    }

    /// Whether trials of the same number met the same rounds.
    fn same_rounds(&self, both: [&EnvironmentDigest<'d>; 2]) -> bool {
        let [first, second] = both.map(|one| one.results);
        self.digests[0].results.seed == self.digests[1].results.seed
            && first.params == second.params
            && first.rounds == second.rounds
    }

    fn regrets(&self, both: [&EnvironmentDigest<'d>; 2], paired: bool) -> String {
        let mut names: Vec<&str> = Vec::new();
        for policy in both.iter().flat_map(|one| &one.policies) {
            if !names.contains(&policy.label()) {
                names.push(policy.label());
            }
        }
        let rows = names.into_iter().map(|name| {
            let found = both.map(|one| one.policies.iter().find(|policy| policy.label() == name));
            let mut row = vec![words(name)];
            row.extend(found.map(|policy| policy.map_or_else(nothing, |policy| interval(policy).key(mean(policy)))));
            match difference(found, paired) {
                Some((value, half)) => {
                    row.push(number(text::signed(value, half)).key(Some(value)));
                    row.push(words(chance(value, half)));
                }
                None => row.extend([nothing(), words(NONE)]),
            }
            row.extend(found.map(|policy| policy.map_or_else(nothing, linear)));
            row
        });
        let [a, b] = self.names.map(escape);
        let header = [
            "Policy".to_owned(),
            format!("{a}: mean ± 95 %"),
            format!("{b}: mean ± 95 %"),
            format!("{b} minus {a}"),
            "Could be chance".to_owned(),
            format!("{a}: trials still linear"),
            format!("{b}: trials still linear"),
        ];
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        table(&format!("Regret in {}", both[0].title), &header, rows)
    }

    /// The parameters of policies that both have and that differ.
    fn differing(&self, both: [&EnvironmentDigest<'d>; 2]) -> String {
        let other = |name: &str| both[1].policies.iter().find(|policy| policy.label() == name);
        let lines = both[0].policies.iter().filter_map(|one| {
            let params = [one, other(one.label())?].map(|policy| &policy.policy.params);
            Some(parameters(&format!("{} differs", one.label()), self.names, params))
        });
        lines.collect()
    }
}

fn nothing() -> Cell {
    number(NONE.to_owned())
}

fn mean(policy: &PolicyDigest<'_>) -> Option<f64> {
    policy.regret().map(|at| at.mean)
}

/// The second's mean final regret minus the first's, with half the width of its 95 % interval.
fn difference(both: [Option<&PolicyDigest<'_>>; 2], paired: bool) -> Option<(f64, Option<f64>)> {
    let [first, second] = [both[0]?, both[1]?];
    if paired {
        return stats::paired(second.policy, first.policy).map(|pair| (pair.mean, pair.half_width));
    }
    let [a, b] = [first.regret()?, second.regret()?];
    let half = a.half_width.zip(b.half_width).map(|(a, b)| libm::sqrt(a * a + b * b));
    Some((b.mean - a.mean, half))
}

/// A sentence on the parameters that differ; nothing if none does.
fn parameters(what: &str, names: [&str; 2], both: [&Map<String, Value>; 2]) -> String {
    let known: BTreeSet<&String> = both.iter().flat_map(|params| params.keys()).collect();
    let value = |params: &Map<String, Value>, name: &str| params.get(name).map_or(NONE.to_owned(), text::scalar);
    let lines: Vec<String> = known
        .into_iter()
        .filter(|name| both[0].get(*name) != both[1].get(*name))
        .map(|name| {
            format!("{name} = {} in {}, {} in {}", value(both[0], name), names[0], value(both[1], name), names[1])
        })
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("<p>{}: {}.</p>\n", escape(what), escape(&lines.join("; ")))
}
