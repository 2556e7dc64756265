//! `ofu-relu-plus` where named actions share a context: it learns networks with a shared layer, widths by residuals and
//! by the theorem, and it is saved in the middle of a batch.

#![allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]

use reluctant::rng::{normal, uniform};
use reluctant::{Action, Context, Key, Name, Policy, Scratch, Settings, Snapshot, Space, policy};

const DIM: usize = 4;

fn make(name: &str, settings: &Settings) -> Box<dyn Policy> {
    policy::build(name, Space::contexts(DIM), settings, Key::new(3)).unwrap()
}

/// Three actions, each of which weighs the same two hidden units in its own way.
fn mean(action: usize, x: &[f64]) -> f64 {
    let hidden = [(x[0] + x[1]).max(0.0), (x[2] - x[0] - 0.5).max(0.0)];
    let weights = [[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]][action];
    0.5 + 0.3 * (weights[0] * hidden[0] + weights[1] * hidden[1]) - if action < 2 { 0.1 } else { 0.0 }
}

/// A game of coins whose chances are these means; each round is a function of its number.
struct World {
    names: Vec<Name>,
    scratch: Scratch,
}

impl World {
    fn new() -> Self {
        World { names: ["0", "1", "2"].map(Name::from).to_vec(), scratch: Scratch::default() }
    }

    /// Plays a round; the action and its regret.
    fn play(&mut self, policy: &mut dyn Policy, round: u64) -> (usize, f64) {
        let mut stream = Key::new(8).round(round).stream();
        let x: Vec<f64> = (0..DIM).map(|_| normal(&mut stream)).collect();
        let coin = uniform(&mut stream);
        let context = Context::new(&x, &self.names).unwrap();
        let choice = policy.select(context.into(), Key::new(9).round(round), &mut self.scratch).unwrap();
        let name = choice.named.unwrap().0.to_owned();
        let action: usize = name.parse().unwrap();
        let reward = f64::from(u8::from(coin < mean(action, &x)));
        policy.learn(Action::Named { context: &x, name: &name, features: &[] }, reward).unwrap();
        let best = (0..3).map(|a| mean(a, &x).clamp(0.0, 1.0)).fold(0.0, f64::max);
        (action, best - mean(action, &x).clamp(0.0, 1.0))
    }

    /// The regret of rounds 1,001 to 3,000.
    fn regret(&mut self, mut policy: Box<dyn Policy>) -> f64 {
        (0..3000).map(|round| self.play(policy.as_mut(), round).1).skip(1000).sum()
    }
}

#[test]
fn it_learns_a_shared_layer_from_coins() {
    let regret = |name: &str, settings: Settings| World::new().regret(make(name, &settings));
    let measured = regret("ofu-relu-plus", Settings::new());
    let linear = regret("oful", Settings::new().with("features", "constant"));
    let chance = regret("uniform", Settings::new());
    assert!(measured < 0.7 * linear && measured < 0.3 * chance, "{measured} {linear} {chance}");
    // The theorem's intervals are many times as wide: it explores longer, and still beats chance by far.
    let theorem = regret("ofu-relu-plus", Settings::new().with("radius", "theorem"));
    assert!(theorem > measured && theorem < 0.8 * chance, "{theorem} {measured} {chance}");
}

/// Batches end with the rewards 1, 2, 4, 8, …: it is saved in the middle of one, and goes on to the bit into the next.
#[test]
fn saved_in_the_middle_of_a_batch_it_goes_on_to_the_bit() {
    for radius in ["measured", "theorem"] {
        let mut policy = make("ofu-relu-plus", &Settings::new().with("radius", radius));
        let mut world = World::new();
        (0..200).for_each(|round| _ = world.play(policy.as_mut(), round));
        let text = policy.snapshot().unwrap().to_json().unwrap();
        let mut copy = Snapshot::parse(&text).unwrap().restore().unwrap();
        for round in 200..300 {
            assert_eq!(world.play(policy.as_mut(), round), world.play(copy.as_mut(), round));
        }
        assert_eq!(policy.snapshot().unwrap().to_json().unwrap(), copy.snapshot().unwrap().to_json().unwrap());
    }
}

/// A file whose parts do not fit is refused, not played.
#[test]
fn torn_states_are_refused() {
    let mut policy = make("ofu-relu-plus", &Settings::new().with("radius", "theorem"));
    let mut world = World::new();
    (0..20).for_each(|round| _ = world.play(policy.as_mut(), round));
    let whole = policy.snapshot().unwrap();
    type Tear = fn(&mut serde_json::Value);
    let tears: [Tear; 4] = [
        |member| member["trained"]["layer"] = "hidden".into(),
        |member| member["trained"]["net"]["affine"] = false.into(),
        |member| member["trained"]["net"]["width"] = 17.into(),
        |member| member["theorem"]["delta"] = 2.0.into(),
    ];
    for (i, tear) in tears.into_iter().enumerate() {
        let mut torn = whole.clone();
        tear(&mut torn.state["belief"][1]);
        assert!(torn.restore().is_err(), "{i}");
    }
    assert!(whole.restore().is_ok());
}

/// The number of neurons is asked for where it is needed.
#[test]
fn neurons_must_be_given_for_vectors_only() {
    let settings = Settings::new();
    let missing = policy::build("ofu-relu-plus", 2, &settings, Key::new(1)).unwrap_err().to_string();
    assert!(missing.starts_with("neurons of ofu-relu-plus is missing: a whole number from 1 to 64"), "{missing}");
    assert!(policy::build("ofu-relu-plus", Space::contexts(2), &settings, Key::new(1)).is_ok());
}
