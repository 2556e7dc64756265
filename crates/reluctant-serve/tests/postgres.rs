//! Several processes on one PostgreSQL: the same promises, whoever learns, and whatever dies.

#![cfg(feature = "postgres")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says best what it expects by failing where it is not met"
)]

mod common;
#[path = "common/database.rs"]
mod database;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{ask, config, context, registry};
use database::Database;
use postgres::{Client, NoTls};
use reluctant_serve::clock::Clock;
use reluctant_serve::engine::{Refusal, verify};
use reluctant_serve::event::Fate;
use reluctant_serve::{Config, Engine, open_store};

const START: u64 = 1_700_000_000_000;

const SERVICE: &str = r#"
store = "ADDRESS"
snapshot_every = 30

[[policy]]
name = "p"
kind = "lin-ts"
context = 2
"#;

/// A database, and engines on it whose clocks are moved by hand.
struct Shared {
    database: Database,
    config: Config,
    hand: Arc<AtomicU64>,
    clock: Clock,
}

impl Shared {
    fn new() -> Option<Self> {
        let database = Database::start()?;
        let text = SERVICE.replace("ADDRESS", &database.address());
        let (clock, hand) = Clock::at(START);
        Some(Shared { database, config: config(std::path::Path::new("/"), &text), hand, clock })
    }

    fn engine(&self) -> Engine {
        let store = open_store(&self.config.store).unwrap();
        Engine::open(self.config.clone(), registry(), store, self.clock.clone()).unwrap()
    }

    fn sql(&self, text: &str) {
        Client::connect(&self.database.address(), NoTls).unwrap().batch_execute(text).unwrap();
    }

    /// Whoever asks first from now on learns.
    fn end_lease(&self) {
        self.sql("UPDATE reluctant_lease SET until = '-infinity'");
    }

    /// Nothing was changed, and the log gives the same by snapshots and from its beginning.
    fn check(&self) -> u64 {
        let mut store = open_store(&self.config.store).unwrap();
        verify(&self.config.policies, &registry(), store.as_mut()).unwrap()[0].events
    }

    /// A group of its own, after which time has passed and what was learnt is published.
    fn done<T>(&self, engine: &mut Engine, work: impl FnOnce(&mut Engine) -> T) -> T {
        engine.begin().unwrap();
        let result = work(engine);
        engine.commit().unwrap();
        self.hand.fetch_add(1_000, Ordering::SeqCst);
        result
    }

    fn play(&self, engine: &mut Engine, ids: std::ops::Range<u64>) {
        for i in ids {
            let id = i.to_string();
            self.done(engine, |e| e.decide(0, ask(&id, context(i)))).unwrap();
            let rewarded = self.done(engine, |e| e.reward(0, &id, (i % 2) as f64)).unwrap();
            assert_eq!(rewarded.reward.fate, Fate::Learned);
        }
    }

    fn settled(&self, engine: &mut Engine) -> Vec<u8> {
        self.done(engine, |_| ());
        engine.state(0).save().unwrap()
    }
}

#[test]
fn one_learns_and_the_other_follows() {
    let Some(shared) = Shared::new() else { return };
    let (mut first, mut second) = (shared.engine(), shared.engine());
    shared.done(&mut first, |_| ());
    shared.play(&mut second, 0..10);
    shared.play(&mut first, 10..20);
    // Whoever decided, both give the same answer again, and take a reward only once.
    let told = shared.done(&mut first, |e| e.decide(0, ask("3", context(3)))).unwrap();
    assert_eq!(shared.done(&mut second, |e| e.decide(0, ask("3", context(3)))).unwrap().decision, told.decision);
    assert!(matches!(shared.done(&mut first, |e| e.reward(0, "3", 0.5)), Err(Refusal::Conflict(_))));
    let learnt = shared.settled(&mut first);
    assert_eq!(shared.settled(&mut second), learnt);
    assert_eq!(first.state(0).tally.learned, 20);
    assert_eq!(shared.check(), 40);
}

#[test]
fn when_the_learner_dies_another_goes_on() {
    let Some(shared) = Shared::new() else { return };
    let (mut first, mut second) = (shared.engine(), shared.engine());
    shared.play(&mut first, 0..10);
    shared.settled(&mut first);
    drop(first);
    // The lease has not run out: nothing is learnt, nothing is lost.
    shared.play(&mut second, 10..15);
    assert_eq!(second.state(0).tally.learned, 10);
    shared.end_lease();
    shared.settled(&mut second);
    assert_eq!(second.state(0).tally.learned, 15);
    assert_eq!(shared.check(), 30);
}

#[test]
fn two_that_both_believe_they_learn_agree() {
    let Some(shared) = Shared::new() else { return };
    let (mut first, mut second) = (shared.engine(), shared.engine());
    for round in 0..6 {
        // Each group ends the lease of the other, which does not know of it.
        shared.play(&mut first, round * 10..round * 10 + 5);
        shared.end_lease();
        shared.play(&mut second, round * 10 + 5..round * 10 + 10);
        shared.end_lease();
    }
    let learnt = shared.settled(&mut first);
    shared.end_lease();
    assert_eq!(shared.settled(&mut second), learnt);
    assert_eq!(second.state(0).tally.learned, 60);
    assert_eq!(shared.check(), 120);
}

#[test]
fn a_database_that_crashes_loses_nothing_that_was_answered() {
    let Some(shared) = Shared::new() else { return };
    let mut engine = shared.engine();
    shared.play(&mut engine, 0..10);
    engine.begin().unwrap();
    engine.decide(0, ask("unanswered", context(1))).unwrap();
    shared.database.crash();
    assert!(engine.commit().is_err());
    assert!(engine.begin().is_err());
    shared.database.up();
    shared.end_lease();
    shared.play(&mut engine, 10..20);
    assert_eq!(engine.state(0).tally.learned, 19, "the last one is learnt by the next group");
    shared.settled(&mut engine);
    assert_eq!(engine.state(0).tally.learned, 20);
    assert_eq!(shared.check(), 40);
}

#[test]
fn a_newer_database_is_refused() {
    let Some(shared) = Shared::new() else { return };
    drop(shared.engine());
    shared.sql("UPDATE reluctant_format SET format = 99");
    let refused = open_store(&shared.config.store).map(drop).unwrap_err().to_string();
    assert!(refused.contains("has format 99, and this version reads up to 1"), "{refused}");
}

#[test]
fn an_encrypted_connection_is_refused_as_there_is_none() {
    let store = "store = \"postgres://me:secret@127.0.0.1:1/base?sslmode=require\"\n";
    let config =
        config(std::path::Path::new("."), &format!("{store}[[policy]]\nname = \"p\"\nkind = \"oful\"\ndim = 2\n"));
    let said = open_store(&config.store).err().unwrap().to_string();
    assert!(said.contains("does not encrypt its connection to PostgreSQL") && !said.contains("secret"), "{said}");
}
