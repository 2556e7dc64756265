//! What policies have fitted can be read, and every policy says why it chooses as it does.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says best what it expects by failing where it is not met"
)]

use reluctant::play::play;
use reluctant::policy::{self, Fitted};
use reluctant::rng::{normal, unit_vector};
use reluctant::{Action, Context, Key, Name, Policy, Scratch, Settings, env};

/// A policy after some rounds of an environment.
fn played(name: &str, environment: &str, settings: &Settings, rounds: u64) -> Box<dyn Policy> {
    let key = Key::new(3);
    let given = Settings::new().with("arms", 30u64);
    let environment = env::build(environment, &given, key).unwrap();
    let mut policy = policy::build(name, environment.space(), settings, key).unwrap();
    play(environment.as_ref(), policy.as_mut(), key, rounds, |_| {}).unwrap();
    policy
}

#[test]
fn every_policy_says_which_model_acts_and_why() {
    for entry in policy::BUILT_IN {
        for sample in entry.samples {
            for rounds in [0, 25] {
                let policy = played(entry.name, sample.environment, &sample.settings(), rounds);
                let x = vec![0.5; policy.dim()];
                let said = policy.explain(&x).unwrap();
                let words = [&said.model, &said.why].map(|text| text.trim().len());
                assert!(words[0] > 2 && words[1] > 10, "{} {} after {rounds}: {said:?}", entry.name, sample.name);
                assert!(!said.why.contains("no reason"), "{} {}", entry.name, sample.name);
            }
        }
    }
}

#[test]
fn a_linear_policy_shows_its_weights() {
    for name in ["oful", "lin-ts", "epsilon-greedy"] {
        let mut settings = Settings::new().with("lambda", 1e-6).with("features", "constant");
        if name == "epsilon-greedy" {
            settings.set("belief", "linear");
        }
        let mut policy = policy::build(name, 2, &settings, Key::new(1)).unwrap();
        assert_eq!(policy.network(), None, "nothing was learnt yet");
        for (x, y) in [([1.0, 0.0], 5.0), ([0.0, 1.0], 1.0), ([1.0, 1.0], 4.0), ([-1.0, 0.5], 0.5)] {
            policy.update(&x, y).unwrap();
        }
        // y = 2 + 3x₁ − x₂, but for the last reward, which is 0.5 below its −1.5.
        let Some(Fitted::Linear { features, weights }) = policy.network() else { panic!("{name}") };
        assert_eq!(features, ["x1", "x2", "1"]);
        let scored = weights[0] * 0.3 + weights[1] * 0.7 + weights[2];
        assert!((policy.explain(&[0.3, 0.7]).unwrap().mean - scored).abs() < 1e-9, "{name}");
    }
}

#[test]
fn ofu_relu_shows_the_network_that_it_fitted() {
    // Two neurons, no noise: the fit is the truth.
    let truth = [[1.0, 0.0], [-0.6, 0.8]];
    let reward = |x: &[f64]| truth.iter().map(|n| (n[0] * x[0] + n[1] * x[1]).max(0.0)).sum::<f64>();
    let settings = Settings::new().with("neurons", 2u64).with("explore", 30u64);
    let mut policy = policy::build("ofu-relu", 2, &settings, Key::new(1)).unwrap();
    let mut stream = Key::new(7).stream();
    for _ in 0..30 {
        assert_eq!(policy.network(), None);
        let mut x = [0.0; 2];
        unit_vector(&mut stream, &mut x);
        policy.update(&x, reward(&x)).unwrap();
    }
    let Some(Fitted::Network(net)) = policy.network() else { panic!("a network") };
    for neuron in truth {
        let near = |found: &[f64]| (found[0] - neuron[0]).hypot(found[1] - neuron[1]) < 1e-6;
        assert!(net.iter().any(near), "{net:?}");
    }
    assert!(policy.explain(&[1.0, 0.0]).unwrap().model.contains("frozen network of 2 neurons"));

    let with_biases = settings.with("biases", true);
    let policy = played("ofu-relu", "relu-sphere", &with_biases, 40);
    let Some(Fitted::Network(net)) = policy.network() else { panic!("a network") };
    assert_eq!((policy.dim(), net.dim()), (2, 3), "the last coordinate is the bias");
}

#[test]
fn plausible_shows_its_networks_with_their_weights() {
    let settings = Settings::new().with("neurons", 3u64).with("networks", 8u64);
    assert_eq!(played("plausible", "relu-sphere", &settings, 0).network(), None);
    let policy = played("plausible", "relu-sphere", &settings, 60);
    let Some(Fitted::Networks(networks)) = policy.network() else { panic!("networks") };
    assert!((networks.iter().map(|(weight, _)| weight).sum::<f64>() - 1.0).abs() < 1e-12);
    let x = [0.6, 0.8];
    let mean: f64 = networks.iter().map(|(weight, network)| weight * network.value(&x)).sum();
    assert!((policy.explain(&x).unwrap().mean - mean).abs() < 1e-9, "its mean is theirs");
}

#[test]
fn in_contexts_each_action_has_its_own() {
    let mut policy = policy::build("oful", reluctant::Space::contexts(2), &Settings::new(), Key::new(1)).unwrap();
    let mut stream = Key::new(9).stream();
    for _ in 0..40 {
        let context = [normal(&mut stream), normal(&mut stream)];
        for (name, reward) in [("left", context[0]), ("right", -2.0 * context[1])] {
            policy.update(Action::Named { context: &context, name, features: &[] }, reward).unwrap();
        }
    }
    let Some(Fitted::Actions(actions)) = policy.network() else { panic!("actions") };
    let weights = |i: usize| match &actions[i] {
        (name, Fitted::Linear { weights, .. }) => (name.clone(), weights.iter().map(|w| w.round()).collect::<Vec<_>>()),
        other => panic!("{other:?}"),
    };
    assert_eq!((weights(0), weights(1)), (("left".into(), vec![1.0, -0.0]), ("right".into(), vec![0.0, -2.0])));
    let names = [Name::from("left")];
    let context = Context::new(&[1.0, 0.0], &names).unwrap();
    let choice = policy.select(context.into(), Key::new(1), &mut Scratch::default()).unwrap();
    assert!(policy.explain(&choice).unwrap().why.contains("greatest mean"));
}

#[test]
fn parameters_in_use_are_given_default_or_computed() {
    let entry = policy::find("ofu-relu").unwrap();
    let given = Settings::new().with("neurons", 3u64).with("sigma", 0.2);
    let used = entry.in_use(2, &given, Key::new(1)).unwrap();
    let number = |name: &str| used.get(name).map(ToString::to_string);
    assert_eq!(number("neurons").as_deref(), Some("3"));
    assert_eq!(number("radius_sigma").as_deref(), Some("0.2"), "computed from sigma");
    assert_eq!(number("norm_bound"), Some(15f64.sqrt().to_string()), "√(5k)");
    assert!(number("explore").is_some(), "a default");
}
