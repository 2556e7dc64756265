//! The geometry against independent values and against brute force.

use reluctant::geometry::{CELL_BUDGET, OptimisticOptions, best_action, optimistic_action};
use reluctant::{FrozenRelu, ReluNet};
use serde::Deserialize;

#[derive(Deserialize)]
struct Network {
    theta: Vec<Vec<f64>>,
    x_star: Vec<f64>,
    f_star: f64,
    active: Vec<usize>,
    nu_star: f64,
    alpha0: f64,
}

#[derive(Deserialize)]
struct SphereFile {
    cases: Vec<Sphere>,
}

#[derive(Deserialize)]
struct Sphere {
    d: usize,
    lambda: f64,
    beta: f64,
    nu: f64,
    theta_tilde: Vec<Vec<f64>>,
    explore_x: Vec<Vec<f64>>,
    explore_y: Vec<f64>,
    best_value: f64,
}

#[test]
fn golden_best_actions() {
    let cases: Vec<Network> = serde_json::from_str(include_str!("golden/geometry.json")).unwrap();
    for case in cases {
        let net = ReluNet::new(case.x_star.len(), case.theta.concat()).unwrap();
        let best = best_action(&net, CELL_BUDGET).unwrap();
        assert!(best.exact);
        assert_eq!(best.active, case.active);
        let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-10, "{a} instead of {b}");
        near(best.f_star, case.f_star);
        near(best.nu_star, case.nu_star);
        near(best.alpha0, case.alpha0);
        best.x_star.iter().zip(&case.x_star).for_each(|(&a, &b)| near(a, b));
    }
}

#[test]
fn golden_optimistic_actions() {
    let file: SphereFile = serde_json::from_str(include_str!("golden/sphere_argmax.json")).unwrap();
    for case in file.cases {
        let net = ReluNet::new(case.d, case.theta_tilde.concat()).unwrap();
        let mut regime = FrozenRelu::new(net.clone(), case.lambda);
        for (x, &y) in case.explore_x.iter().zip(&case.explore_y) {
            regime.update(x, y);
        }
        let options = OptimisticOptions::default();
        let best = optimistic_action(&regime, case.beta, case.nu, &options).unwrap();
        println!("{best:?} {}", best.value - case.best_value);
        assert!(best.value >= case.best_value - 1e-7, "{} < {}", best.value, case.best_value);
        assert!(best.value <= case.best_value + 1e-6, "{} > {}", best.value, case.best_value);
        assert!(best.certificate.gap().unwrap() <= options.tolerance);
        assert!(net.in_region(&best.action, case.nu));
    }
}
