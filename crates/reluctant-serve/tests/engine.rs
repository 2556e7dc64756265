//! The engine without HTTP: what is decided and learnt, exactly once, and that the log says it all.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says best what it expects by failing where it is not met"
)]

mod common;

use std::sync::atomic::Ordering;

use common::{SERVICE, arms, ask, config, context, engine, registry};
use reluctant_serve::clock::Clock;
use reluctant_serve::engine::{Refusal, verify};
use reluctant_serve::event::Fate;
use reluctant_serve::{Engine, ServeError, open_store};
use tempfile::TempDir;

const START: u64 = 1_700_000_000_000;
const ARMS: usize = 0;
const SHOP: usize = 1;
const PUPIL: usize = 2;

fn open(dir: &TempDir) -> Engine {
    engine(dir.path(), SERVICE, Clock::at(START).0).unwrap()
}

/// Does something in a group of its own.
fn done<T>(engine: &mut Engine, work: impl FnOnce(&mut Engine) -> T) -> T {
    engine.begin().unwrap();
    let result = work(engine);
    engine.commit().unwrap();
    result
}

#[test]
fn the_same_id_gives_the_same_answer_and_another_offer_is_refused() {
    let dir = TempDir::new().unwrap();
    let mut engine = open(&dir);
    let first = done(&mut engine, |e| e.decide(ARMS, ask("a", arms(1)))).unwrap();
    done(&mut engine, |e| e.reward(ARMS, "a", 1.0)).unwrap();
    let events = engine.end();
    let again = done(&mut engine, |e| e.decide(ARMS, ask("a", arms(1)))).unwrap();
    assert_eq!((again.n, &again.decision), (first.n, &first.decision));
    let refused = done(&mut engine, |e| e.decide(ARMS, ask("a", arms(2)))).unwrap_err();
    assert!(matches!(&refused, Refusal::Conflict(said) if said.contains("'a' was decided on another offer")));
    // Another policy has ids of its own.
    assert_eq!(engine.end(), events);
    done(&mut engine, |e| e.decide(SHOP, ask("a", context(1)))).unwrap();
    assert_eq!(engine.end(), events + 1);
}

#[test]
fn a_reward_is_learnt_once_and_cannot_change() {
    let dir = TempDir::new().unwrap();
    let mut engine = open(&dir);
    done(&mut engine, |e| e.decide(ARMS, ask("a", arms(1)))).unwrap();
    let first = done(&mut engine, |e| e.reward(ARMS, "a", 0.5)).unwrap();
    let state = engine.state(ARMS).save().unwrap();
    assert_eq!(done(&mut engine, |e| e.reward(ARMS, "a", 0.5)).unwrap(), first);
    let other = done(&mut engine, |e| e.reward(ARMS, "a", 0.6)).unwrap_err();
    assert!(matches!(&other, Refusal::Conflict(said) if said.contains("rewarded with 0.5 already")));
    let unknown = done(&mut engine, |e| e.reward(ARMS, "b", 0.6)).unwrap_err();
    assert_eq!(unknown, Refusal::Unknown("arms made no decision with the id 'b'".to_owned()));
    for bad in [f64::NAN, f64::INFINITY, 1e101] {
        assert!(matches!(done(&mut engine, |e| e.reward(ARMS, "a", bad)), Err(Refusal::Invalid(_))));
    }
    assert_eq!(engine.state(ARMS).save().unwrap(), state);
    assert_eq!(engine.state(ARMS).tally.learned, 1);
}

#[test]
fn both_within_one_group_are_seen() {
    let dir = TempDir::new().unwrap();
    let mut engine = open(&dir);
    engine.begin().unwrap();
    let first = engine.decide(ARMS, ask("a", arms(1))).unwrap();
    assert_eq!(engine.decide(ARMS, ask("a", arms(1))).unwrap().n, first.n);
    assert_eq!(engine.reward(ARMS, "a", 1.0).unwrap().reward.fate, Fate::Learned);
    assert_eq!(engine.reward(ARMS, "a", 1.0).unwrap().n, first.n + 1);
    engine.commit().unwrap();
    assert_eq!(engine.state(ARMS).version, first.n + 1);
}

#[test]
fn what_is_abandoned_never_was() {
    let dir = TempDir::new().unwrap();
    let mut engine = open(&dir);
    done(&mut engine, |e| e.decide(ARMS, ask("a", arms(1)))).unwrap();
    let state = engine.state(ARMS).save().unwrap();
    engine.begin().unwrap();
    engine.reward(ARMS, "a", 1.0).unwrap();
    engine.abandon();
    done(&mut engine, |_| ());
    assert_eq!(engine.state(ARMS).save().unwrap(), state);
    assert_eq!(done(&mut engine, |e| e.reward(ARMS, "a", 0.3)).unwrap().reward.value, 0.3);
}

#[test]
fn rewards_that_never_come_are_replaced_and_late_ones_only_logged() {
    let dir = TempDir::new().unwrap();
    let (clock, hand) = Clock::at(START);
    let mut engine = engine(dir.path(), SERVICE, clock).unwrap();
    for id in ["a", "b", "c"] {
        done(&mut engine, |e| e.decide(SHOP, ask(id, context(1)))).unwrap();
    }
    hand.fetch_add(59_999, Ordering::SeqCst);
    assert_eq!(done(&mut engine, |e| e.reward(SHOP, "a", 1.0)).unwrap().reward.fate, Fate::Learned);
    hand.fetch_add(1, Ordering::SeqCst);
    // Whatever is asked next finds the defaults in place.
    done(&mut engine, |_| ());
    let tally = &engine.state(SHOP).tally;
    assert_eq!((tally.learned, tally.defaults, tally.reward_sum), (1, 2, 1.5));
    let version = engine.state(SHOP).version;
    let late = done(&mut engine, |e| e.reward(SHOP, "b", 1.0)).unwrap();
    assert_eq!((late.reward.fate, late.reward.learnt.is_none()), (Fate::Late, true));
    assert_eq!(done(&mut engine, |e| e.reward(SHOP, "b", 1.0)).unwrap(), late);
    assert!(matches!(done(&mut engine, |e| e.reward(SHOP, "b", 0.0)), Err(Refusal::Conflict(_))));
    assert_eq!(engine.state(SHOP).version, version);
    let seen = done(&mut engine, |e| e.explain(SHOP, "b")).unwrap();
    assert_eq!(seen.rewards.iter().map(|reward| reward.fate).collect::<Vec<_>>(), [Fate::Default, Fate::Late]);
}

#[test]
fn an_apprentice_plays_the_default_and_says_whether_it_agrees() {
    let dir = TempDir::new().unwrap();
    let mut engine = open(&dir);
    let refused = done(&mut engine, |e| e.decide(PUPIL, ask("a", context(1)))).unwrap_err();
    assert!(matches!(&refused, Refusal::Invalid(said) if said.contains("needs a default")));
    let mut agreed = 0;
    for i in 0..90 {
        let (id, default) = (i.to_string(), (i % 3) as usize);
        let asked = ask(&id, context(i)).with_default(default, None);
        let decision = done(&mut engine, |e| e.decide(PUPIL, asked)).unwrap().decision;
        assert_eq!((decision.index, decision.propensity), (Some(default), Some(1.0)));
        agreed += u64::from(decision.agreed.unwrap());
        done(&mut engine, |e| e.reward(PUPIL, &id, if default == 1 { 1.0 } else { 0.0 })).unwrap();
    }
    let tally = &engine.state(PUPIL).tally;
    assert_eq!((tally.compared, tally.learned, tally.agreed), (90, 90, agreed));
    // Coffee alone is rewarded, so that in the end the pupil would choose it, which is a third of the defaults.
    assert!((10..60).contains(&agreed), "{agreed}");
}

#[test]
fn a_policy_that_only_logs_learns_nothing() {
    let dir = TempDir::new().unwrap();
    let text = SERVICE.replace("apprentice", "log-only");
    let mut engine = engine(dir.path(), &text, Clock::at(START).0).unwrap();
    let asked = ask("a", context(1)).with_default(2, Some(0.5));
    let decided = done(&mut engine, |e| e.decide(PUPIL, asked)).unwrap();
    assert_eq!((decided.decision.propensity, decided.decision.mean), (Some(0.5), None));
    assert_eq!(done(&mut engine, |e| e.reward(PUPIL, "a", 1.0)).unwrap().reward.fate, Fate::Logged);
    assert_eq!(engine.state(PUPIL).version, 0);
    let wrong = ask("b", arms(1)).with_default(0, None);
    assert!(matches!(done(&mut engine, |e| e.decide(PUPIL, wrong)), Err(Refusal::Invalid(_))));
}

#[test]
fn a_pause_keeps_what_was_learnt_and_a_rollback_goes_back_to_it() {
    let dir = TempDir::new().unwrap();
    let mut engine = open(&dir);
    let play = |engine: &mut Engine, ids: std::ops::Range<u64>| {
        for i in ids {
            let id = i.to_string();
            done(engine, |e| e.decide(ARMS, ask(&id, arms(i)))).unwrap();
            done(engine, |e| e.reward(ARMS, &id, i as f64 / 10.0)).unwrap();
        }
    };
    let policy = |engine: &Engine| engine.state(ARMS).policy.snapshot().unwrap();
    play(&mut engine, 0..5);
    let version = done(&mut engine, |e| e.keep_version(ARMS)).unwrap();
    let kept = policy(&engine);
    done(&mut engine, |e| e.pause(ARMS)).unwrap();
    play(&mut engine, 5..8);
    assert_eq!(policy(&engine), kept);
    done(&mut engine, |e| e.resume(ARMS)).unwrap();
    play(&mut engine, 8..12);
    assert_ne!(policy(&engine), kept);
    let now = done(&mut engine, |e| e.rollback(ARMS, version)).unwrap();
    assert_eq!((policy(&engine), engine.state(ARMS).version), (kept, now));
    assert!(matches!(done(&mut engine, |e| e.rollback(ARMS, 3)), Err(Refusal::Unknown(_))));
    play(&mut engine, 12..15);
    done(&mut engine, |e| e.rollback(ARMS, 0)).unwrap();
    play(&mut engine, 15..17);
    drop(engine);
    check(&dir, SERVICE);
}

/// The log holds together, and every policy as recovered has the bytes of its replay.
fn check(dir: &TempDir, text: &str) {
    let config = config(dir.path(), text);
    let mut store = open_store(&config.store).unwrap();
    verify(&config.policies, &registry(), store.as_mut()).unwrap();
}

/// Restarts, snapshots and replays of policies with all kinds of memory.
#[test]
fn recovery_is_replay_to_the_byte_for_every_policy() {
    for entry in reluctant::policy::BUILT_IN.iter().filter(|entry| entry.name != "oracle") {
        let kind = entry.name;
        let dir = TempDir::new().unwrap();
        let text = format!(
            "store = \"log.db\"\nsnapshot_every = 7\nversions = 3\n\
             [[policy]]\nname = \"p\"\nkind = \"{kind}\"\ndim = 2\n{}",
            if entry.params.iter().any(|param| param.name == "neurons") { "neurons = 2\n" } else { "" }
        );
        let mut states = Vec::new();
        for life in 0..3 {
            let mut engine = engine(dir.path(), &text, Clock::at(START).0).unwrap();
            if life > 0 {
                assert_eq!(engine.state(0).save().unwrap(), *states.last().unwrap(), "{kind} after a restart");
            }
            for i in life * 10..life * 10 + 10 {
                let id = i.to_string();
                done(&mut engine, |e| e.decide(0, ask(&id, arms(i)))).unwrap_or_else(|e| panic!("{kind}: {e:?}"));
                done(&mut engine, |e| e.reward(0, &id, (i as f64).sin())).unwrap();
            }
            states.push(engine.state(0).save().unwrap());
        }
        check(&dir, &text);
    }
}

/// Choices depend on seed, number and state alone: a second service fed with the same requests writes the same log.
#[test]
fn the_same_requests_make_the_same_log() {
    let logs = [(); 2].map(|()| {
        let dir = TempDir::new().unwrap();
        let mut engine = open(&dir);
        for i in 0..30 {
            let id = i.to_string();
            done(&mut engine, |e| e.decide(SHOP, ask(&id, context(i)))).unwrap();
            done(&mut engine, |e| e.reward(SHOP, &id, (i % 3) as f64)).unwrap();
        }
        drop(engine);
        let mut store = open_store(&config(dir.path(), SERVICE).store).unwrap();
        store.end().unwrap()
    });
    assert_eq!(logs[0], logs[1]);
}

#[test]
fn time_never_goes_back() {
    let dir = TempDir::new().unwrap();
    let (clock, hand) = Clock::at(START);
    let mut first = engine(dir.path(), SERVICE, clock).unwrap();
    done(&mut first, |e| e.decide(ARMS, ask("a", arms(1)))).unwrap();
    hand.store(START - 3_600_000, Ordering::SeqCst);
    done(&mut first, |e| e.decide(ARMS, ask("b", arms(1)))).unwrap();
    assert_eq!(done(&mut first, |e| e.explain(ARMS, "b")).unwrap().time, START);
    drop(first);
    let refused = engine(dir.path(), SERVICE, Clock::at(START - 3_600_000).0).unwrap_err();
    assert!(refused.to_string().starts_with("the clock is 3600 s behind the last event of the log"), "{refused}");
    check(&dir, SERVICE);
}

#[test]
fn a_policy_that_was_made_otherwise_is_refused() {
    let dir = TempDir::new().unwrap();
    drop(open(&dir));
    let text = SERVICE.replace("kind = \"lin-ts\"", "kind = \"lin-ts\"\nlambda = 2");
    let refused = engine(dir.path(), &text, Clock::at(START).0).unwrap_err();
    assert!(refused.to_string().starts_with("policy 'shop' began its log as lin-ts"), "{refused}");
    // How long it waits for rewards, and what it plays, may change.
    engine(dir.path(), &SERVICE.replace("reward_wait = 60", "reward_wait = 90"), Clock::at(START).0).unwrap();
}

#[test]
fn a_store_in_use_is_refused() {
    let dir = TempDir::new().unwrap();
    let _first = open(&dir);
    let refused = engine(dir.path(), SERVICE, Clock::at(START).0).unwrap_err();
    assert!(matches!(&refused, ServeError::InUse(store) if store.ends_with("log.db")), "{refused}");
}
