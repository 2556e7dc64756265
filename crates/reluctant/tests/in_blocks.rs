//! Rows that are one context in blocks: taken for contexts where they are, and for rows where they are not.

#![allow(clippy::unwrap_used)]

use reluctant::policy::Form;
use reluctant::rng::{normal, uniform};
use reluctant::{Action, Context, Key, Name, Offer, Policy, Scratch, Settings, Snapshot, Space, policy};

const WIDTH: usize = 3;
const ACTIONS: usize = 4;
const DIM: usize = WIDTH * ACTIONS;

fn build(space: impl Into<Space>, settings: &Settings) -> Box<dyn Policy> {
    policy::build("plausible", space, settings, Key::new(3)).unwrap()
}

fn on_rows() -> Box<dyn Policy> {
    build(DIM, &Settings::new())
}

/// The rows of some actions: x in the block of each.
fn rows(x: &[f64], actions: &[usize]) -> Vec<f64> {
    let mut rows = vec![0.0; actions.len() * DIM];
    for (row, action) in rows.chunks_exact_mut(DIM).zip(actions) {
        row[action * WIDTH..][..WIDTH].copy_from_slice(x);
    }
    rows
}

/// The place of the row that is chosen.
fn chosen(policy: &dyn Policy, rows: &[f64], round: u64) -> usize {
    let offer = Offer::finite(DIM, rows).unwrap();
    policy.select(offer, Key::new(9).round(round), &mut Scratch::default()).unwrap().index.unwrap()
}

fn reward(x: &[f64], action: usize) -> f64 {
    [x[0], -x[0], x[1], 0.2][action]
}

fn contexts(rounds: usize) -> Vec<[f64; WIDTH]> {
    let mut stream = Key::new(1).stream();
    (0..rounds).map(|_| std::array::from_fn(|_| normal(&mut stream))).collect()
}

/// One policy sees rows, the other contexts; they learn the same, and choose alike.
#[test]
fn rows_in_blocks_are_contexts() {
    for settings in [Settings::new(), Settings::new().with("mode", "sampling").with("optimism", 2.0)] {
        let (mut in_rows, mut in_contexts) = (build(DIM, &settings), build(Space::contexts(WIDTH), &settings));
        let names: Vec<Name> = (0..ACTIONS).map(|action| Name::from(action.to_string())).collect();
        let mut scratch = Scratch::default();
        for (t, x) in contexts(120).iter().enumerate() {
            // In any order, and not all of them in every round.
            let offered: Vec<usize> = (0..ACTIONS - t % 2).map(|i| (i + t) % ACTIONS).collect();
            let action = t % ACTIONS;
            if t > 1 {
                let key = Key::new(9).round(t as u64);
                let here: Vec<Name> = offered.iter().map(|action| names[*action].clone()).collect();
                let context = Offer::Context(Context::new(x, &here).unwrap());
                let data = rows(x, &offered);
                let offer = Offer::finite(DIM, &data).unwrap();
                let one = in_contexts.select(context, key, &mut scratch).unwrap();
                let other = in_rows.select(offer, key, &mut scratch).unwrap();
                assert_eq!((one.index, one.score, one.appeal), (other.index, other.score, other.appeal), "round {t}");
                in_contexts.score(context, &mut scratch).unwrap();
                let scores = scratch.scores().to_vec();
                in_rows.score(offer, &mut scratch).unwrap();
                assert_eq!(scratch.scores(), scores);
            }
            let y = reward(x, action);
            in_contexts.learn(Action::Named { context: x, name: &names[action], features: &[] }, y).unwrap();
            in_rows.learn(Action::Vector(&rows(x, &[action])), y).unwrap();
        }
        let row = rows(&[1.0, 0.5, 0.0], &[0]);
        let said = in_rows.explanation(Action::Vector(&row)).unwrap();
        assert!(said.why.starts_with("a row is a context in one of 4 blocks"), "{}", said.why);
    }
}

/// Whatever was taken for what, the policy ends as one that took rows for rows from the start.
#[test]
fn rows_that_fit_no_blocks_are_rows() {
    // Told how many networks to keep, a policy takes rows for rows.
    let (mut policy, mut plain) = (on_rows(), build(DIM, &Settings::new().with("networks", 32u64)));
    for (t, x) in contexts(30).iter().enumerate() {
        let row = rows(x, &[t % ACTIONS]);
        for policy in [&mut policy, &mut plain] {
            policy.learn(Action::Vector(&row), reward(x, t % ACTIONS)).unwrap();
        }
    }
    assert_eq!(policy.snapshot().unwrap().form, Form::Blocks);
    // Nothing is known of a row with numbers everywhere, so it is looked at.
    let mut data = rows(&[1.0, -1.0, 0.5], &[0, 1, 2]);
    data.extend([0.3; DIM]);
    assert_eq!(chosen(policy.as_ref(), &data, 1), 3);
    let said = policy.explanation(Action::Vector(&[0.3; DIM])).unwrap();
    assert!(said.exploring && said.why.contains("had all their numbers in one of 4 blocks"), "{}", said.why);
    for policy in [&mut policy, &mut plain] {
        policy.learn(Action::Vector(&[0.3; DIM]), 0.1).unwrap();
    }
    assert_eq!(policy.snapshot().unwrap(), plain.snapshot().unwrap());
}

/// Arms that are only named by a 1, and rows with numbers everywhere.
#[test]
fn other_rows_are_rows_from_the_start() {
    let (mut stream, settings) = (Key::new(5).stream(), Settings::new().with("networks", 32u64));
    for named in [true, false] {
        let (mut policy, mut plain) = (on_rows(), build(DIM, &settings));
        for t in 0..40 {
            let row: [f64; DIM] =
                std::array::from_fn(|i| if named { f64::from(u8::from(i == t % DIM)) } else { normal(&mut stream) });
            let offered: Vec<f64> = (0..5 * DIM).map(|_| uniform(&mut stream)).collect();
            for policy in [&mut policy, &mut plain] {
                policy.learn(Action::Vector(&row), row[0]).unwrap();
            }
            assert_eq!(chosen(policy.as_ref(), &offered, t as u64), chosen(plain.as_ref(), &offered, t as u64));
        }
        assert_eq!(policy.snapshot().unwrap().form == Form::Blocks, named);
    }
}

#[test]
fn the_blocks_are_wider_than_the_first_rows_let_them_look() {
    let mut policy = on_rows();
    let mut learn = |row: &[f64; DIM]| policy.learn(Action::Vector(row), 1.0).unwrap();
    // Two blocks of two, so it seems; but there are blocks of three.
    learn(&[1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    learn(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
    learn(&[0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let said = policy.explanation(Action::Vector(&rows(&[1.0, 2.0, 3.0], &[1]))).unwrap();
    assert!(said.why.contains("in one of 4 blocks"), "{}", said.why);
}

/// A row of zeros is an arm like another: here it always costs 1, and is left alone.
#[test]
fn an_arm_that_does_nothing_is_an_action_of_its_own() {
    let (mut policy, mut nothing) = (on_rows(), 0);
    for (t, x) in contexts(200).iter().enumerate() {
        let mut data = rows(x, &[0, 1, 2, 3]);
        data.extend([0.0; DIM]);
        let action = chosen(policy.as_ref(), &data, t as u64);
        nothing += usize::from(t >= 100 && action == ACTIONS);
        let paid = if action == ACTIONS { -1.0 } else { reward(x, action) };
        policy.learn(Action::Vector(&data[action * DIM..][..DIM]), paid).unwrap();
    }
    assert!(nothing < 4, "{nothing} of the last 100");
    let said = policy.explanation(Action::Vector(&[0.0; DIM])).unwrap();
    assert!(said.mean < -0.5 && said.why.contains("one of 4 blocks"), "{said:?}");
}

/// Blocks of two that turn out to be blocks of four, of which only one was ever rewarded: nobody knows any more.
#[test]
fn rows_in_one_wider_block_are_rows_until_another_is_seen() {
    let mut policy = build(8, &Settings::new());
    let mut plain = build(8, &Settings::new().with("networks", 32u64));
    let seen = [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0], [1.0, 0.0, 0.0, 3.0]];
    for (i, front) in seen.iter().enumerate() {
        let mut row = [0.0; 8];
        row[..4].copy_from_slice(front);
        let in_blocks = |policy: &dyn Policy| {
            policy.explanation(Action::Vector(&row)).unwrap().why.starts_with("a row is a context")
        };
        policy.learn(Action::Vector(&row), 1.0).unwrap();
        plain.learn(Action::Vector(&row), 1.0).unwrap();
        assert_eq!(in_blocks(policy.as_ref()), i == 1, "after row {i}");
    }
    assert_eq!(chosen_among(8, policy.as_ref()), chosen_among(8, plain.as_ref()));
    let mut row = [0.0; 8];
    row[4..].copy_from_slice(&seen[2]);
    policy.learn(Action::Vector(&row), 1.0).unwrap();
    assert!(policy.explanation(Action::Vector(&row)).unwrap().why.contains("one of 2 blocks"));
}

/// What is chosen among rows of random numbers.
fn chosen_among(dim: usize, policy: &dyn Policy) -> usize {
    let mut stream = Key::new(8).stream();
    let data: Vec<f64> = (0..20 * dim).map(|_| normal(&mut stream)).collect();
    let offer = Offer::finite(dim, &data).unwrap();
    policy.select(offer, Key::new(9), &mut Scratch::default()).unwrap().index.unwrap()
}

#[test]
fn it_is_saved_and_restored_at_any_time() {
    let mut policy = on_rows();
    for (t, x) in contexts(40).iter().enumerate() {
        if t % 7 < 2 {
            let text = policy.snapshot().unwrap().to_json().unwrap();
            let copy = Snapshot::parse(&text).unwrap().restore().unwrap();
            assert_eq!(copy.snapshot().unwrap(), policy.snapshot().unwrap());
            policy = copy;
        }
        let data = rows(x, &[0, 1, 2, 3]);
        let action = chosen(policy.as_ref(), &data, t as u64);
        policy.learn(Action::Vector(&data[action * DIM..][..DIM]), reward(x, action)).unwrap();
    }
    let snapshot = policy.snapshot().unwrap();
    for (part, value) in [("dim", 13), ("known", 99)] {
        let mut torn = snapshot.clone();
        torn.state[part] = value.into();
        assert!(torn.restore().is_err(), "{part}");
    }
    let mut torn = snapshot;
    torn.state["contexts"][0] = 2.into();
    assert!(torn.restore().is_err());
}

#[test]
fn odd_offers_do_no_harm() {
    let mut policy = on_rows();
    for (t, x) in contexts(30).iter().enumerate() {
        policy.learn(Action::Vector(&rows(x, &[t % ACTIONS])), reward(x, t % ACTIONS)).unwrap();
    }
    chosen(policy.as_ref(), &[0.0; 4 * DIM], 1);
    // Rows with contexts of their own: −x₀ is greatest in the last.
    let mut data = rows(&[-1.0, 0.0, 0.0], &[0, 3]);
    data.extend(rows(&[-2.0, 0.0, 0.0], &[1]));
    assert_eq!(chosen(policy.as_ref(), &data, 2), 2);
    // One block twice.
    let mut data = rows(&[-1.0, 0.0, 0.0], &[0]);
    data.extend(rows(&[2.0, 0.0, 0.0], &[0]));
    assert_eq!(chosen(policy.as_ref(), &data, 3), 1);
    let refused = Offer::finite(DIM + 1, &[0.5; DIM + 1]).unwrap();
    assert!(policy.select(refused, Key::new(1), &mut Scratch::default()).is_err());
    assert!(policy.learn(Action::Vector(&[f64::NAN; DIM]), 1.0).is_err());
    let sphere = policy.select(Offer::Sphere { dim: DIM }, Key::new(1), &mut Scratch::default()).unwrap();
    let point = sphere.action.to_vec();
    policy.learn(Action::Vector(&point), 0.5).unwrap();
    assert_eq!(policy.snapshot().unwrap().form, Form::Vectors);
}
