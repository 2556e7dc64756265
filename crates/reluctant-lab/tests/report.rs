//! Reports as a whole, on made-up results with the shapes that real ones have.

use std::fs;
use std::path::{Path, PathBuf};

use reluctant_lab::report::{self, OUTPUTS, ReportError};
use reluctant_lab::results::Results;
use serde_json::Value;

mod made_up;

/// A directory of a test's own, empty.
fn directory(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    dir
}

fn results(case: &str) -> Results {
    made_up::case(case).expect("one of the cases")
}

/// The cases in which no policy that has played is one that a theorem is about.
const WITHOUT_THEOREM: [&str; 2] = ["empty", "linear"];

#[test]
fn every_case_gives_its_files_and_leaves_nothing_else() {
    for case in made_up::CASES {
        let dir = directory(&format!("all-{case}"));
        let files = report::write_all(&results(case), &dir).unwrap();
        let mut found: Vec<PathBuf> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        found.sort();
        let names = OUTPUTS.iter().map(|output| output.file);
        let due = |file: &&str| !file.starts_with("regret-bound") || !WITHOUT_THEOREM.contains(case);
        let mut expected: Vec<PathBuf> = names.filter(due).map(|file| dir.join(file)).collect();
        assert_eq!(files, expected, "{case}");
        expected.sort();
        assert_eq!(found, expected, "{case}");
        assert!(fs::read(dir.join("regret.png")).unwrap().starts_with(b"\x89PNG"));
    }
}

#[test]
fn the_summary_has_the_promised_form() {
    let dir = directory("form");
    report::write_all(&results("paper"), &dir).unwrap();
    let text = fs::read_to_string(dir.join("summary.json")).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let policy = &json["experiments"][0]["policies"][2];
    assert_eq!(policy["name"], "OFU-ReLU");
    assert_eq!((policy["trials"].as_u64(), policy["rounds"].as_u64()), (Some(50), Some(1000)));
    assert_eq!(policy["tuned"]["lambda"], 0.001);
    let regret = &policy["regret"];
    let (mean, ci) = (regret["mean"].as_f64().unwrap(), regret["ci95"].as_array().unwrap());
    assert!(ci[0].as_f64().unwrap() < mean && mean < ci[1].as_f64().unwrap());
    for key in ["median", "q10", "q90", "linear_share"] {
        assert!(regret[key].is_f64(), "{key}");
    }
    let slope = &policy["slope"];
    assert!((0.1..0.5).contains(&slope["value"].as_f64().unwrap()), "{slope}");
    assert_eq!((&slope["from"], &slope["to"]), (&10.into(), &1000.into()));
    assert!(policy["seconds_per_trial"].is_f64() && policy["microseconds_per_round"].is_f64());
    // The order of the keys is part of the form, too.
    let keys = ["name", "environment", "policies", "trials", "rounds", "tuned", "regret", "seconds_per_trial"];
    let places: Vec<usize> = keys.iter().map(|key| text.find(&format!("\"{key}\":")).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn times_change_no_byte_of_curves_trials_and_figures() {
    let (first, second) = (directory("times-1"), directory("times-2"));
    let mut results = results("paper");
    report::write_all(&results, &first).unwrap();
    for trial in results
        .environments
        .iter_mut()
        .flat_map(|environment| &mut environment.policies)
        .flat_map(|policy| &mut policy.trials)
    {
        trial.seconds *= 3.0;
        trial.policy_seconds *= 7.0;
    }
    report::write_all(&results, &second).unwrap();
    let timeless = |file: &&str| !["summary.json", "report.html"].contains(file);
    for file in OUTPUTS.iter().map(|output| output.file).filter(timeless) {
        assert!(fs::read(first.join(file)).unwrap() == fs::read(second.join(file)).unwrap(), "{file}");
    }
}

#[test]
fn the_bound_is_shown_where_a_theorem_applies_and_nowhere_else() {
    let page = |case: &str, dir: &Path| {
        report::write_all(&results(case), dir).unwrap();
        fs::read_to_string(dir.join("report.html")).unwrap()
    };
    let shown = |page: &str| page.matches("<h3>Beside the theory</h3>").count();
    let dir = directory("theory");
    assert_eq!(shown(&page("paper", &dir)), 2);
    let svg = fs::read_to_string(dir.join("regret-bound.svg")).unwrap();
    // Both environments have the slope, the bound of the optimistic stage, k·t, and the whole bound as a power of ten.
    for (words, count) in [(">slope 0.", 2), (">Thm 4.3, optimism<", 2), (">k·t<", 2), ("10⁴⁴ (Theorem 4.3)", 1)] {
        assert_eq!(svg.matches(words).count(), count, "{words}");
    }
    assert!(!svg.contains(">OFUL<") && !svg.contains("Theorem 4.4"), "no theorem is about the others");
    // An axis that reached the whole bound would leave nothing of the curves.
    assert!(!svg.contains(&format!("100{0}000{0}000", '\u{202f}')));

    assert_eq!(shown(&page("linear", &dir)), 0);
    assert!(!dir.join("regret-bound.svg").exists(), "what an earlier report left is removed");

    let mixed = page("mixed", &dir);
    assert_eq!(shown(&mixed), 1);
    let svg = fs::read_to_string(dir.join("regret-bound.svg")).unwrap();
    assert!(svg.contains(">(b) d = 2, k = 3<") && !svg.contains(">(a) "), "the other environment has no plot");
    assert!(svg.contains("(Theorem 4.3)") && svg.contains("(Theorem 4.4)"));
}

#[test]
fn an_unfinished_panel_says_what_it_lacks_and_a_finished_one_nothing() {
    let dir = directory("lacks");
    report::write_all(&results("unfinished"), &dir).unwrap();
    let read = |file: &str| fs::read_to_string(dir.join(file)).unwrap();
    let said = ["OFUL: 1 100 of 1 200 trials; 100 missing", "NeuralUCB-TW: left out, as 2 of its 20 tuning trials are"];
    let headline = "(a) d = 2, k = 3, unfinished: 1 100 to 1 200 of 1 200 trials of 1 000 rounds";
    for text in [report::table::of(&results("unfinished")), read("report.html")] {
        let text = text.replace('\u{202f}', " ");
        for words in said.into_iter().chain([headline, "not all policies have played the same trials"]) {
            assert_eq!(text.matches(words).count(), 1, "{words}");
        }
        assert!(text.contains("(b) d = 2, k = 10: 1 200 trials of 1 000 rounds"));
    }
    assert!(["regret.svg", "regret-log.svg"].iter().all(|file| read(file).contains(">(a) d = 2, k = 3, unfinished<")));
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    let [first, second] = [0, 1].map(|i| &summary["experiments"][i]);
    assert_eq!(first["policies"][1]["planned_trials"], 1200);
    assert_eq!(first["left_out"][0]["name"], "NeuralUCB-TW");
    assert!(first["policies"][0].get("planned_trials").is_none() && second.get("left_out").is_none());
}

#[test]
fn of_many_policies_only_the_first_has_a_band() {
    // Nothing else has the opacity of a band.
    for (case, bands, words) in [("paper", 2 * 6, " Bands: from"), ("many", 2, " Band of the first: from")] {
        let dir = directory(&format!("bands-{case}"));
        report::write_all(&results(case), &dir).unwrap();
        let svg = fs::read_to_string(dir.join("regret-log.svg")).unwrap();
        assert_eq!(svg.matches("opacity=\"0.13\"").count(), bands, "{case}");
        assert!(svg.contains(words), "{case}");
    }
}

#[test]
fn tables_fit_a_hundred_columns() {
    for case in made_up::CASES {
        for line in report::table::of(&results(case)).lines() {
            assert!(line.chars().count() <= 100, "{case}: {line}");
        }
    }
}

#[test]
fn tables_fit_any_width() {
    for case in made_up::CASES {
        let results = results(case);
        let digest = report::Digest::new(&results);
        for columns in [20, 33, 60, 77, 78, 90] {
            let text = report::table::render_within(&digest, columns);
            for line in text.lines() {
                assert!(line.chars().count() <= columns, "{case} at {columns}: {line}");
            }
        }
    }
}

#[test]
fn the_page_asks_for_nothing_and_shows_labels_as_they_are() {
    let dir = directory("page");
    report::write_all(&results("labels"), &dir).unwrap();
    let page = fs::read_to_string(dir.join("report.html")).unwrap();
    for outside in ["src=", "href=", "url(", "@import", "fetch(", "import(", "<escaped>"] {
        assert!(!page.contains(outside), "{outside}");
    }
    // The name of SVG's elements is the only address, in pictures and in the script that draws; and a browser that
    // reads the page's own rule would ask for nothing even so.
    let names = page.matches("\"http://www.w3.org/2000/svg\"").count();
    assert_eq!(page.matches("http").count(), names + page.matches("http-equiv=").count());
    assert!(page.contains("default-src 'none'"));
    assert!(page.contains("&lt;escaped&gt; &quot;quotes&quot;"));
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
}

#[test]
fn the_page_warns_of_a_best_value_at_the_edge_of_its_grid() {
    let dir = directory("edge");
    report::write_all(&results("single"), &dir).unwrap();
    let page = fs::read_to_string(dir.join("report.html")).unwrap();
    assert_eq!(page.matches("At the grid’s edge: lambda = 1.0 is the largest value tried.").count(), 1);
    // Five policies with five candidates each, of which one is chosen; the score of the best is 40 + 4.5.
    assert_eq!(page.matches(">chosen<").count(), 5);
    assert_eq!(page.matches("data-v=\"4.45e1\" ").count() + page.matches("data-v=\"4.45e1\">").count(), 5);
}

#[test]
fn two_experiments_are_compared_trial_by_trial_where_they_met_the_same_rounds() {
    let page = |first: &Results, second: &Results| {
        report::html::compare(["old", "new"], [first, second].map(report::Digest::new).each_ref()).unwrap()
    };
    let first = results("paper");
    let mut second = first.clone();
    for policy in second.environments.iter_mut().flat_map(|environment| &mut environment.policies) {
        policy.params.insert("delta".to_owned(), 0.5.into());
        for trial in &mut policy.trials {
            trial.regret.iter_mut().for_each(|regret| *regret += 1.0);
        }
    }
    let same = page(&first, &second);
    assert_eq!(same.matches("compared one by one").count(), 2);
    // Each trial pays 1 more, so that the interval of the difference has no width.
    assert_eq!(same.matches(">+1.00 ± 0.00<").count(), 2 * 6, "{same}");
    assert_eq!(same.matches("OFUL differs: delta = 0.01 in old, 0.5 in new.").count(), 2);
    second.seed += 1;
    assert_eq!(page(&first, &second).matches("the interval of the difference takes trials as independent").count(), 2);
    let strangers = page(&first, &results("mixed"));
    assert!(
        strangers.contains("Only in new: (a) d = 2, linear.") && strangers.contains("Only in old: (b) d = 2, k = 10.")
    );
}

#[test]
fn what_cannot_be_written_is_named() {
    let dir = directory("blocked");
    fs::write(&dir, "a file where the directory should be").unwrap();
    let error = report::write_all(&results("single"), &dir).unwrap_err();
    assert!(matches!(&error, ReportError::Write { path, .. } if *path == dir));
    assert!(error.to_string().starts_with(&format!("'{}' could not be written: ", dir.display())), "{error}");
    fs::remove_file(&dir).unwrap();

    let mut broken = results("single");
    broken.environments[0].policies[1].trials[3].regret.pop();
    let error = report::write_all(&broken, &dir).unwrap_err().to_string();
    assert!(
        error.contains("environment 'k3', policy 'OFUL', trial 3 notes 199 regrets for 200 checkpoints"),
        "{error}"
    );
    assert!(!dir.exists(), "nothing is touched before everything is made");
}
