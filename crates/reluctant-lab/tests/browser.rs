//! The page in a real browser, used as a reader would use it: Chromium opens the report with a script that clicks,
//! points and types, and the test reads what that script writes down.
//!
//! Where there is no Chromium (`chromium` on the path, or the program that the variable CHROMIUM names), the tests say
//! so and pass. The audit by axe-core needs its file, which the variable AXE names; `./check --all` gets it from npm.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says best what it expects by failing where it is not met"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use reluctant_lab::report::{self, Digest, html};
use serde_json::Value;

mod made_up;

/// The browser, if there is one.
fn chromium() -> Option<String> {
    let named = std::env::var("CHROMIUM").ok().into_iter();
    let mut known = named.chain(["chromium", "chromium-browser", "google-chrome"].map(str::to_owned));
    let found = known.find(|program| {
        let asked = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    });
    if found.is_none() {
        eprintln!("left out, as there is no Chromium: install it, or name it in the variable CHROMIUM");
    }
    found
}

/// An empty folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{name}"));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// The page of a case.
fn page(case: &str) -> String {
    let results = made_up::case(case).unwrap();
    html::render(&Digest::new(&results)).unwrap()
}

/// The page with a note of everything that fails, and `script` at its end.
fn with(page: &str, script: &str) -> String {
    let watch = "<script>window.failures = []; addEventListener(\"error\", (event) => failures.push(event.message));";
    page.replacen("<head>", &format!("<head>\n{watch}</script>"), 1).replacen(
        "</body>",
        &format!("<script>\n{script}\n</script>\n</body>"),
        1,
    )
}

/// What the browser makes of a file.
fn opened(browser: &str, file: &Path, options: &[&str]) -> String {
    let profile = file.with_extension("profile");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,900"])
        .args(["--allow-file-access-from-files", "--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(options)
        .arg(format!("file://{}", file.display()))
        .stderr(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// What the script at the page's end wrote down.
fn found(dom: &str) -> Value {
    let start = dom.find("<pre id=\"found\">").expect("the script has come to its end") + "<pre id=\"found\">".len();
    let end = start + dom[start..].find("</pre>").unwrap();
    let text = dom[start..end].replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}");
    serde_json::from_str(&text.replace("&amp;", "&")).unwrap()
}

fn words(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn a_figure_can_be_switched_read_and_zoomed_and_a_table_sorted() {
    let Some(browser) = chromium() else { return };
    let file = folder("use").join("report.html");
    fs::write(&file, with(&page("paper"), include_str!("browser/use.js"))).unwrap();
    let found = found(&opened(&browser, &file, &[]));

    // Two environments, six policies, and what the tables say about them.
    assert_eq!((&found["figures"], &found["curves"], &found["bands"]), (&2.into(), &6.into(), &6.into()));
    assert_eq!(found["caption"], "After 1\u{202f}000 rounds");
    let results = made_up::case("paper").unwrap();
    let digest = Digest::new(&results);
    let policies = &digest.environments[0].policies;
    let near = |text: &Value, value: f64| {
        let said: f64 = text.as_str().unwrap().replace(['\u{202f}', '↑', ' '], "").parse().unwrap();
        (said / value - 1.0).abs() < 0.006
    };
    for (policy, said) in policies.iter().zip(found["values"].as_array().unwrap()) {
        assert!(near(said, policy.regret().unwrap().mean), "{said}");
    }

    let [hidden, shown] = ["hidden", "shown"].map(|key| &found[key]);
    assert_eq!((&hidden["curves"], &hidden["bands"], &hidden["pressed"]), (&5.into(), &5.into(), &"false".into()));
    assert_eq!((&shown["curves"], &shown["bands"], &shown["pressed"]), (&6.into(), &6.into(), &"true".into()));
    assert_eq!(found["withoutBands"], 0);

    // Half way along the axis is round 500, the hundredth checkpoint.
    assert_eq!(found["pointed"]["caption"], "After 500 rounds");
    assert!(near(&found["pointed"]["value"], policies[1].curve[99].mean), "{}", found["pointed"]);
    assert_eq!(found["pointed"]["dots"], 6);
    assert_eq!(found["left"], found["caption"]);
    assert_eq!((&found["trials"], &found["everyTrial"]["drawn"]), (&0.into(), &(6 * 50).into()));
    assert!(found["everyTrial"]["note"].as_str().unwrap().starts_with("Nearest trial: "), "{}", found["everyTrial"]);

    assert_eq!((&found["logarithmic"]["changed"], &found["broken"]), (&true.into(), &false.into()));
    let powers = words(&found["logarithmic"]["labels"]);
    assert!(["10", "100", "1\u{202f}000"].iter().all(|tick| powers.contains(tick)), "{powers:?}");
    let zoomed = words(&found["zoomed"]);
    assert!(zoomed.contains(&"300") && !zoomed.contains(&"0") && !zoomed.contains(&"600"), "{zoomed:?}");
    assert_eq!(found["zoomedOut"], true);
    assert!(near(&found["median"], policies[1].regret().unwrap().median), "{}", found["median"]);

    assert_eq!((&found["home"], &found["next"]), (&"After 5 rounds".into(), &"After 10 rounds".into()));
    assert!(found["spoken"].as_str().unwrap().starts_with("Round 10: Uniform "), "{}", found["spoken"]);
    assert_eq!(found["keyZoom"], true);

    let mut by_mean: Vec<&str> = policies.iter().map(|policy| policy.label()).collect();
    assert_eq!(words(&found["order"][0]), by_mean);
    by_mean.sort_by(|a, b| {
        let mean = |name: &str| policies.iter().find(|policy| policy.label() == name).unwrap().regret().unwrap().mean;
        mean(a).total_cmp(&mean(b))
    });
    assert_eq!(words(&found["order"][1]), by_mean);
    by_mean.reverse();
    assert_eq!((words(&found["order"][2]), &found["sorted"]), (by_mean, &"descending".into()));
    assert_eq!(found["asked"], 0, "nothing is asked for");
    assert_eq!((&found["colour"], &found["picture"]), (&"rgb(0, 114, 178)".into(), &"none".into()));
}

#[test]
fn figures_are_dark_in_dark_mode() {
    let Some(browser) = chromium() else { return };
    let file = folder("dark").join("report.html");
    fs::write(&file, with(&page("single"), include_str!("browser/use.js"))).unwrap();
    let found = found(&opened(&browser, &file, &["--blink-settings=preferredColorScheme=0"]));
    assert_eq!(found["colour"], "rgb(74, 168, 224)");
    assert!(found["picture"].as_str().unwrap().starts_with("invert("), "{}", found["picture"]);
}

#[test]
fn without_scripts_the_page_is_pictures_and_tables() {
    let Some(browser) = chromium() else { return };
    let file = folder("still").join("report.html");
    let refused = "<head>\n<meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'none'\">";
    fs::write(&file, page("single").replacen("<head>", refused, 1)).unwrap();
    let dom = opened(&browser, &file, &[]);
    assert!(!dom.contains("class=\"live\"") && !dom.contains("class=\"sort\""));
    assert_eq!(dom.matches("<figure>").count(), 3, "mean, spread and bound");
    assert!(dom.contains("<h3>Tuning</h3>") && dom.contains("OFU-ReLU"));
}

#[test]
fn every_page_fits_a_phone_and_fails_nowhere() {
    let Some(browser) = chromium() else { return };
    let dir = folder("phone");
    let mut pages = Vec::new();
    for case in made_up::CASES {
        fs::write(dir.join(format!("{case}.html")), with(&page(case), "")).unwrap();
        pages.push(format!("{case}.html"));
    }
    let [first, second] = ["paper", "mixed"].map(|case| made_up::case(case).unwrap());
    let two = html::compare(["one", "two"], [&Digest::new(&first), &Digest::new(&first)]).unwrap();
    fs::write(dir.join("two.html"), with(&two, "")).unwrap();
    let strangers = html::compare(["one", "two"], [&Digest::new(&first), &Digest::new(&second)]).unwrap();
    fs::write(dir.join("strangers.html"), with(&strangers, "")).unwrap();
    pages.extend(["two.html".to_owned(), "strangers.html".to_owned()]);
    let list = serde_json::to_string(&pages).unwrap();
    let script = format!("const PAGES = {list};\n{}", include_str!("browser/phone.js"));
    let file = dir.join("phone.html");
    fs::write(&file, format!("<!DOCTYPE html>\n<html><head></head><body><script>{script}</script></body></html>"))
        .unwrap();
    let found = found(&opened(&browser, &file, &[]));
    for page in &pages {
        let it = &found[page];
        assert_eq!(it["failures"], serde_json::json!([]), "{page}");
        assert_eq!((&it["broken"], &it["asked"]), (&false.into(), &0.into()), "{page}");
        assert!(it["width"].as_u64().is_some_and(|width| width <= 390), "{page} is {} wide", it["width"]);
    }
    let figures = |page: &str| found[page]["figures"].as_u64().unwrap();
    assert_eq!([figures("empty.html"), figures("one.html"), figures("many.html")], [0, 2, 2]);
    assert_eq!((figures("two.html"), &found["two.html"]["curves"]), (2, &(2 * 2 * 6).into()));
}

/// Slow and not needed by most: `AXE=…/axe.min.js cargo test -p reluctant-lab --test browser -- --ignored`.
#[test]
#[ignore = "needs axe-core; ./check --all runs it"]
fn an_audit_of_accessibility_finds_nothing_serious() {
    let Some(browser) = chromium() else { return };
    let axe = fs::read_to_string(std::env::var("AXE").expect("the variable AXE names axe.min.js")).unwrap();
    let dir = folder("axe");
    let script = format!("{axe}\n</script><script>\n{}", include_str!("browser/axe.js"));
    let first = made_up::case("paper").unwrap();
    let two = html::compare(["one", "two"], [&Digest::new(&first), &Digest::new(&first)]).unwrap();
    let pages = [("paper", page("paper")), ("labels", page("labels")), ("two", two)];
    for (name, page) in pages {
        for scheme in [1, 0] {
            let file = dir.join(format!("{name}.html"));
            // Closed tables of tuning are audited, too.
            fs::write(&file, with(&page.replace("<details>", "<details open>"), &script)).unwrap();
            let found = found(&opened(&browser, &file, &[&format!("--blink-settings=preferredColorScheme={scheme}")]));
            let serious = |finding: &&Value| ["serious", "critical"].contains(&finding["impact"].as_str().unwrap());
            let serious: Vec<&Value> = found.as_array().unwrap().iter().filter(serious).collect();
            assert!(serious.is_empty(), "{name}: {serious:#?}");
        }
    }
}

#[test]
fn a_million_points_make_a_small_page() {
    let mut results = made_up::case("one").unwrap();
    for environment in &mut results.environments {
        environment.rounds = 1_000_000;
        environment.checkpoints = (1..=1_000_000).collect();
        environment.policies.truncate(2);
        for trial in environment.policies.iter_mut().flat_map(|policy| &mut policy.trials) {
            trial.regret = (1..=1_000_000u32).map(|t| f64::from(t).sqrt()).collect();
        }
    }
    results.environments.truncate(1);
    let dir = folder("million");
    report::write_all(&results, &dir).unwrap();
    let size = |file: &str| fs::metadata(dir.join(file)).unwrap().len();
    assert!(size("report.html") < 1_500_000 && size("regret.svg") < 500_000, "{}", size("report.html"));
}
