//! The tables in `data/` load as its README says. A packaged crate comes without them, and has nothing to test here.

use std::path::{Path, PathBuf};

use reluctant::{Key, Settings};
use reluctant_lab::plan::Stage;
use reluctant_lab::table::{Categories, Missing, Numbers, Table, TableOptions, Walk};
use reluctant_lab::{Experiment, registry};

/// File, rows, columns of features, features with a category each, classes.
const TABLES: [(&str, usize, usize, usize, usize); 5] = [
    // One of the 22 columns has missing values, a category of their own.
    ("mushroom", 8_124, 22, 117, 2),
    ("magic", 19_020, 10, 10, 2),
    ("shuttle", 58_000, 9, 9, 7),
    ("adult", 30_162, 14, 104, 2),
    ("optdigits", 5_620, 64, 64, 10),
];

fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    folder.is_dir().then_some(folder)
}

#[test]
fn rows_features_and_classes_are_as_stated() {
    let Some(folder) = folder() else { return };
    for (name, rows, columns, features, classes) in TABLES {
        let mut options = TableOptions::new(folder.join(format!("{name}.csv.gz")));
        options.missing = Missing::Category;
        let table = Table::load(&options).unwrap();
        assert_eq!((table.rows(), table.width(), table.actions().len()), (rows, features, classes), "{name}");
        options.categories = Categories::Ordinal;
        let table = Table::load(&options).unwrap();
        assert_eq!((table.rows(), table.width(), table.actions().len()), (rows, columns, classes), "{name}");
    }
}

#[test]
fn every_round_has_finite_features() {
    let Some(folder) = folder() else { return };
    for (name, rows, ..) in TABLES {
        let mut options = TableOptions::new(folder.join(format!("{name}.csv.gz")));
        options.missing = Missing::Category;
        for numbers in [Numbers::Unit, Numbers::Standard] {
            options.numbers = numbers;
            let table = Table::load(&options).unwrap();
            let walk = Walk::new(table.clone(), table.order(Key::new(1))).unwrap();
            let (mut x, mut paid) = (Vec::new(), 0.0);
            for t in 1..=rows as u64 {
                let row = walk.features(t, &mut x).unwrap();
                paid += (0..table.actions().len()).map(|action| table.reward(row, action)).sum::<f64>();
                assert!(x.len() == table.width() && x.iter().all(|x| x.is_finite()), "{name} {t}");
                let length = x.iter().map(|x| x * x).sum::<f64>();
                assert!(numbers != Numbers::Unit || (length - 1.0).abs() < 1e-12, "{name} {t}");
            }
            assert_eq!(paid, rows as f64, "{name}");
        }
    }
}

#[test]
fn missing_values_of_mushroom_are_refused_or_dropped() {
    let Some(folder) = folder() else { return };
    let mut options = TableOptions::new(folder.join("mushroom.csv.gz"));
    let refused = Table::load(&options).unwrap_err().to_string();
    let sentence = "the value of column 'stalk-root' is missing; say what becomes of such values by missing = \
                    \"drop\", \"category\" or \"mean\"";
    assert!(refused.ends_with(sentence), "{refused}");
    options.missing = Missing::Drop;
    let dropped = Table::load(&options).unwrap();
    assert_eq!(dropped.rows(), 8_124 - 2_480);
}

/// By this protocol LinUCB should make about a thousand mistakes.
#[test]
fn linear_optimism_makes_about_a_thousand_mistakes_on_shuttle() {
    let Some(folder) = folder() else { return };
    let registry = registry();
    let experiment = Experiment::load(&folder.join("../experiments/real/unit.toml"), &registry).unwrap();
    let environment = experiment.environments.iter().find(|world| world.label == "Shuttle").unwrap();
    assert_eq!((environment.rounds, environment.title.as_str()), (10_000, "shuttle, p = 9, K = 7"));
    let linear = experiment.contenders.iter().find(|contender| contender.label == "LinUCB, tuned").unwrap();
    // What the experiment's tuning trials choose.
    let tuned = Settings::new().with("alpha", 1.0);
    assert!(linear.candidates().contains(&tuned));
    for number in 0..3 {
        let trial = experiment.trial(&registry, environment, linear, &tuned, Stage::Reported, number).unwrap();
        let mistakes = *trial.run(&registry).unwrap().regret.last().unwrap();
        assert!((900.0..=1150.0).contains(&mistakes), "{number}: {mistakes}");
    }
}
