use super::*;

const TABLE: &[Param] = &[
    Param::new("lambda", Initial::real(0.01), Kind::POSITIVE, "penalty"),
    Param::new("neurons", Initial::Required, Kind::Count { min: 1, max: 64 }, "k"),
    Param::new("features", Initial::word("raw"), Kind::Word(&["raw", "constant"]), "features"),
    Param::new("delta", Initial::Auto("1/T"), Kind::PROBABILITY, "confidence"),
    Param::new("loud", Initial::flag(false), Kind::Flag, "say more"),
];

fn said(given: Settings) -> String {
    Params::resolve("toy", TABLE, &given).unwrap_err().to_string()
}

#[test]
fn defaults_fill_in_and_whole_numbers_are_numbers() {
    let given = Settings::new().with("neurons", 3u64).with("lambda", 2u64);
    let params = Params::resolve("toy", TABLE, &given).unwrap();
    assert_eq!(params.real("lambda"), Ok(2.0));
    assert_eq!(params.size("neurons"), Ok(3));
    assert_eq!(params.word("features"), Ok("raw"));
    assert_eq!(params.real_or("delta", 0.5), Ok(0.5));
    assert_eq!(params.flag("loud"), Ok(false));
}

#[test]
fn what_shall_be_computed_is_as_if_not_given() {
    let good = || Settings::new().with("neurons", 3u64);
    let resolve = |given: Settings| Params::resolve("toy", TABLE, &given);
    assert_eq!(resolve(good().with("delta", AUTO)), resolve(good()));
    assert!(said(good().with("lambda", AUTO)).starts_with("lambda must be a number"));
}

#[test]
fn each_mistake_has_its_sentence() {
    let good = || Settings::new().with("neurons", 3u64);
    assert_eq!(said(good().with("lamda", 1.0)), "unknown parameter of toy 'lamda'; did you mean 'lambda'?");
    assert_eq!(
        said(good().with("lambda", 0.0)),
        "lambda = 0 is out of range: a number greater than 0 (from 1e-50 to 1e50)"
    );
    assert_eq!(
        said(good().with("lambda", f64::NAN)),
        "lambda = NaN is out of range: a number greater than 0 (from 1e-50 to 1e50)"
    );
    assert_eq!(said(Settings::new().with("neurons", 0u64)), "neurons = 0 is out of range: a whole number from 1 to 64");
    assert_eq!(said(Settings::new()), "neurons of toy is missing: a whole number from 1 to 64 (k)");
    assert_eq!(said(good().with("features", "cubic")), "features = cubic is out of range: one of raw, constant");
    assert_eq!(said(good().with("loud", 1u64)), "loud must be true or false, not the whole number 1");
    assert_eq!(
        said(good().with("delta", 1.0)),
        "delta = 1 is out of range: a number greater than 0 and less than 1, or \"auto\""
    );
    assert_eq!(
        said(Settings::new().with("neurons", 2.5)),
        "neurons = 2.5 is out of range: a whole number from 1 to 64"
    );
}
