//! The theory in numbers: against values computed elsewhere (`golden/theory.json`), and its edges.

use serde_json::Value;

use reluctant::theory::{
    Batches, Inputs, Quantity, Setting, Stage, State, best_strip_bound, evaluate, exploration_length, identified_error,
    log10_exploration_length, log10_identified_length, neuron_error_bound, oful_stage_regret, sphere_area, strip_bound,
    zeta,
};

fn golden() -> Value {
    serde_json::from_str(include_str!("golden/theory.json")).expect("the golden file is JSON")
}

fn real(value: &Value, key: &str) -> f64 {
    value[key].as_f64().expect(key)
}

fn count(value: &Value, key: &str) -> usize {
    value[key].as_u64().expect(key) as usize
}

fn near(ours: f64, theirs: f64) {
    assert!((ours - theirs).abs() <= 1e-9 * theirs.abs(), "{ours} is not {theirs}");
}

fn setting(case: &Value) -> Setting {
    Setting {
        dim: count(case, "d"),
        neurons: count(case, "k"),
        sigma: real(case, "sigma"),
        delta: real(case, "delta"),
        alpha0: real(case, "alpha0"),
    }
}

#[test]
fn estimation_agrees_with_independent_values() {
    for case in golden()["estimation"].as_array().expect("a list") {
        let setting = setting(case);
        let n = real(case, "n");
        near(zeta(&setting, n), real(case, "zeta"));
        near(neuron_error_bound(&setting, n), real(case, "neuron_error_bound"));
        let log10 = log10_exploration_length(&setting, real(case, "nu"));
        near(log10, real(case, "log10_t0"));
        near(libm::log10(exploration_length(&setting, real(case, "nu"))), real(case, "log10_t0"));
    }
}

#[test]
fn the_optimistic_stage_agrees_with_independent_values() {
    for case in golden()["estimation"].as_array().expect("a list") {
        let Setting { dim, neurons, sigma, delta, .. } = setting(case);
        let expected = &case["oful_stage_regret"];
        let stage = Stage { dim, neurons, lambda: real(expected, "lambda"), sigma, delta };
        assert_eq!(count(expected, "dim"), 2 * neurons * dim);
        near((5.0 * neurons as f64).sqrt(), real(expected, "S"));
        near(oful_stage_regret(&stage, real(expected, "T")).expect("a bound"), real(expected, "value"));
    }
}

#[test]
fn proposition_3_1_agrees_with_independent_values() {
    for case in golden()["proposition_3_1"].as_array().expect("a list") {
        let (eta, k, d) = (real(case, "eta"), count(case, "k"), count(case, "d"));
        match (strip_bound(eta, real(case, "eps"), k, d), case["h"].as_f64()) {
            (Some(ours), Some(theirs)) => {
                near(ours, theirs);
                assert!(best_strip_bound(eta, k, d).expect("some width works").h <= ours);
            }
            (ours, theirs) => assert_eq!(ours, theirs),
        }
    }
}

#[test]
fn sphere_areas_agree_with_independent_values() {
    for case in golden()["sphere_area"].as_array().expect("a list") {
        near(sphere_area(count(case, "dim")), real(case, "area"));
    }
}

fn find<'a>(all: &'a [Quantity], key: &str) -> &'a Quantity {
    all.iter().find(|quantity| quantity.key == key).expect(key)
}

/// Whatever is allowed in gives numbers, infinities or nothing, each with a sentence, and never NaN.
#[test]
fn every_allowed_input_is_answered() {
    let mut asked = 0;
    for dim in [2, 3, 10, 1_000, 1_000_000] {
        for neurons in [1, 2, 20, 100_000] {
            for sigma in [0.0, 0.1, 1e200] {
                for nu in [None, Some(0.0), Some(1e-300), Some(1.0)] {
                    for alpha0 in [None, Some(0.0), Some(1e-200), Some(2.0)] {
                        for (delta, horizon, lambda) in
                            [(0.01, 1000.0, 1.0), (1e-300, 1.0, 1e-300), (0.999, 1e300, 1e300)]
                        {
                            let base = Inputs::new(dim, neurons, sigma);
                            let all =
                                evaluate(&Inputs { nu, alpha0, delta, horizon, lambda, ..base }).expect("allowed");
                            for quantity in all {
                                let Quantity { value, log10, state, ref meaning, .. } = quantity;
                                assert!(
                                    !meaning.is_empty()
                                        && !value.is_some_and(f64::is_nan)
                                        && !log10.is_some_and(f64::is_nan)
                                );
                                assert_eq!(value.is_some(), state == State::Finite, "{quantity:?}");
                                assert!(serde_json::to_string(&quantity).is_ok());
                            }
                            asked += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!(asked, 5 * 4 * 3 * 4 * 4 * 3);
}

#[test]
fn a_network_without_separation_or_gap_has_infinite_bounds_that_say_why() {
    let base = Inputs::new(2, 3, 0.1);
    for (inputs, why) in [
        (Inputs { alpha0: Some(0.0), nu: Some(0.3), ..base }, "told apart"),
        (Inputs { alpha0: Some(0.5), nu: Some(0.0), ..base }, "gap is zero"),
    ] {
        let all = evaluate(&inputs).expect("allowed");
        assert_eq!(find(&all, "t0").state, State::Infinite);
        assert!(find(&all, "t0").meaning.contains(why));
        assert_eq!(find(&all, "known_gap_regret").state, State::Infinite);
    }
    let far = evaluate(&Inputs { alpha0: Some(1.4), ..base }).expect("allowed");
    assert_eq!(find(&far, "alpha0").holds, Some(false));
}

#[test]
fn quantities_are_named_once() {
    let all = evaluate(&Inputs::new(3, 4, 0.1)).expect("allowed");
    for (i, quantity) in all.iter().enumerate() {
        assert!(all[i + 1..].iter().all(|other| other.key != quantity.key));
        assert!(!quantity.formula.is_empty() && !quantity.place.is_empty());
    }
}

/// The numbers of `docs/theory.md`: `cargo test -p reluctant --test theory worked -- --nocapture`.
#[test]
fn worked_numbers() {
    let inputs = Inputs {
        nu: Some(0.3),
        alpha0: Some(0.5),
        horizon: 1e6,
        batches: Batches::default(),
        ..Inputs::new(2, 3, 0.1)
    };
    for Quantity { symbol, place, value, log10, state, holds, .. } in evaluate(&inputs).expect("allowed") {
        let shown = match (value, log10) {
            (Some(value), _) if (1e-4..1e7).contains(&value.abs()) || value == 0.0 => format!("{value:.6}"),
            (_, Some(log10)) => format!("10^{log10:.4}"),
            _ => format!("{state:?}"),
        };
        println!("{symbol} | {place} | {shown} | {}", holds.map_or("", |holds| if holds { "yes" } else { "no" }));
    }
    println!("d k sigma nu alpha0 | log10 t0 | log10 t0 sharper | error at n = t0 sharper");
    for (dim, neurons, sigma, nu, alpha0) in
        [(2, 3, 0.1, 0.3, 0.5), (2, 10, 0.1, 0.1, 0.2), (5, 5, 1.0, 0.2, 0.4), (10, 20, 0.01, 0.05, 0.3)]
    {
        let setting = Setting { dim, neurons, sigma, delta: 0.01, alpha0 };
        let (paper, ours) = (log10_exploration_length(&setting, nu), log10_identified_length(&setting, nu));
        let error = identified_error(&setting, libm::exp10(ours)).expect("enough samples");
        assert!((error - nu.min(alpha0) / 2.0).abs() < 1e-6);
        println!("{dim} {neurons} {sigma} {nu} {alpha0} | {paper:.2} | {ours:.2} | {error:.4}");
    }
}
