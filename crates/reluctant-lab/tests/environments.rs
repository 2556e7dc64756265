//! Every environment of the lab × sample × check; where a file is needed, a small table. And the model behind blocks.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use reluctant::conformance::environments::CHECKS;
use reluctant::params::Kind;
use reluctant::{Key, Settings, play, rng};
use reluctant_lab::registry;

/// Three classes of points in the plane with a category each, taken away when the test ends.
struct Table(PathBuf);

impl Table {
    fn new(name: &str, rows: usize) -> Self {
        let mut stream = Key::new(8).stream();
        let mut text = "x,y,shade,class\n".to_owned();
        for row in 0..rows {
            let [x, y] = [rng::normal(&mut stream), rng::normal(&mut stream)];
            let class = if x > 0.5 {
                "right"
            } else if y > 0.0 {
                "above"
            } else {
                "below"
            };
            text += &format!("{x},{y},{},{class}\n", ["dark", "light"][row % 2]);
        }
        let path = std::env::temp_dir().join(format!("reluctant-environments-{}-{name}.csv", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Table(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

#[test]
fn every_environment_passes_every_check() {
    let table = Table::new("checks", 120);
    for entry in registry().environments() {
        assert!(!entry.samples.is_empty(), "{} has no sample", entry.name);
        for sample in entry.samples {
            let mut settings = sample.settings();
            let paths = entry.params.iter().filter(|param| param.kind == Kind::Path);
            paths.for_each(|param| settings.set(param.name, table.path()));
            for check in CHECKS {
                let outcome = (check.run)(&|key| entry.build(&settings, key));
                assert_eq!(outcome, Ok(()), "{}/{}/{}: {}", entry.name, sample.name, check.name, check.why);
            }
        }
    }
}

/// Ridge regression on blocks falls apart into one for each block. With a fixed α the scores are the same up to
/// rounding, and so are the choices.
#[test]
fn linear_models_choose_in_contexts_as_they_do_on_blocks() {
    let table = Table::new("blocks", 600);
    for (key, numbers) in [(Key::new(1), "unit"), (Key::new(2), "standard"), (Key::new(3).trial(4), "raw")] {
        let chosen = |offer: &str| {
            let settings = Settings::new().with("file", table.path()).with("numbers", numbers).with("offer", offer);
            let environment = registry().build_environment("table", &settings, key).unwrap();
            let settings = Settings::new().with("alpha", 0.3).with("features", "raw").with("lambda", 0.5);
            let mut policy = registry().build_policy("oful", environment.space(), &settings, key).unwrap();
            let mut steps = Vec::new();
            play(environment.as_ref(), policy.as_mut(), key, 600, |step| steps.push((step.index, step.regret)))
                .unwrap();
            steps
        };
        let (contexts, blocks) = (chosen("contexts"), chosen("blocks"));
        assert_eq!(contexts, blocks, "{numbers}");
        let mistakes: f64 = contexts.iter().map(|(_, regret)| regret).sum();
        assert!(mistakes > 0.0 && mistakes < 250.0, "{numbers}: {mistakes}");
    }
}
