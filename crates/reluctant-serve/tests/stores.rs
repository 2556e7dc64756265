//! Stores that are foreign, damaged, full, or newer than this program: refused in one sentence, nothing touched.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says best what it expects by failing where it is not met"
)]

mod common;

use std::fs;
use std::path::Path;

use common::{SERVICE, arms, ask, config, engine, registry};
use reluctant_serve::clock::Clock;
use reluctant_serve::engine::verify;
use reluctant_serve::{Engine, open_store};
use rusqlite::Connection;
use tempfile::TempDir;

const START: u64 = 1_700_000_000_000;

/// A log with ten decisions and their rewards, a commit each.
fn played(dir: &TempDir) -> Engine {
    let mut engine = engine(dir.path(), SERVICE, Clock::at(START).0).unwrap();
    for i in 0..10 {
        let id = i.to_string();
        engine.begin().unwrap();
        engine.decide(0, ask(&id, arms(i))).unwrap();
        engine.reward(0, &id, 1.0).unwrap();
        engine.commit().unwrap();
    }
    engine
}

fn refused(dir: &TempDir) -> String {
    engine(dir.path(), SERVICE, Clock::at(START).0).map(drop).unwrap_err().to_string()
}

fn events(dir: &Path) -> u64 {
    let config = config(dir, SERVICE);
    let mut store = open_store(&config.store).unwrap();
    verify(&config.policies, &registry(), store.as_mut()).unwrap();
    store.end().unwrap().n
}

/// A copy of the files as they are now, as if the machine had stopped.
fn copied(from: &Path) -> TempDir {
    let dir = TempDir::new().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "lock" && ending != "db-shm") {
            fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    dir
}

#[test]
fn a_newer_store_is_refused_and_not_touched() {
    let dir = TempDir::new().unwrap();
    drop(played(&dir));
    let path = dir.path().join("log.db");
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(&path).unwrap();
    assert!(refused(&dir).contains("has format 99, and this version reads up to 1"), "{}", refused(&dir));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_database_of_something_else_is_refused_and_not_touched() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("log.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE invoices(n)").unwrap();
    let before = fs::read(&path).unwrap();
    assert!(refused(&dir).contains("it is a database of something else"));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_that_is_no_database_is_refused_and_not_touched() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("log.db");
    fs::write(&path, "a shopping list, and quite a long one at that".repeat(10)).unwrap();
    assert!(refused(&dir).contains("cannot be used"), "{}", refused(&dir));
    assert!(fs::read_to_string(&path).unwrap().starts_with("a shopping list"));
}

#[test]
fn a_snapshot_of_another_log_is_refused() {
    let dir = TempDir::new().unwrap();
    let mut engine = played(&dir);
    engine.begin().unwrap();
    engine.keep_version(0).unwrap();
    engine.commit().unwrap();
    drop(engine);
    let path = dir.path().join("log.db");
    Connection::open(&path).unwrap().execute("UPDATE version SET chain = chain + 1", []).unwrap();
    assert!(
        refused(&dir).contains("the snapshot of 'arms' at event 20 does not belong to its log"),
        "{}",
        refused(&dir)
    );
}

#[test]
fn a_log_that_was_tampered_with_is_found_out() {
    let dir = TempDir::new().unwrap();
    drop(played(&dir));
    let connection = Connection::open(dir.path().join("log.db")).unwrap();
    let changed = "UPDATE log SET fact = CAST(replace(CAST(fact AS TEXT), '1.0', '2.0') AS BLOB) WHERE n = 4";
    connection.execute(changed, []).unwrap();
    drop(connection);
    let config = config(dir.path(), SERVICE);
    let mut store = open_store(&config.store).unwrap();
    let said = verify(&config.policies, &registry(), store.as_mut()).unwrap_err().to_string();
    assert!(said.contains("event 4 of the log is not what was written"), "{said}");
}

/// Whatever of the last write reached the disk: the log is one that was, and whole.
#[test]
fn a_torn_last_write_is_as_if_it_had_not_begun() {
    let dir = TempDir::new().unwrap();
    let engine = played(&dir);
    let whole = copied(dir.path());
    assert_eq!(events(copied(whole.path()).path()), 20);
    let wal = fs::read(whole.path().join("log.db-wal")).unwrap();
    let mut last = 20;
    for cut in (1..=40).map(|i| wal.len() - i * wal.len() / 41) {
        let torn = copied(whole.path());
        fs::write(torn.path().join("log.db-wal"), &wal[..cut]).unwrap();
        let found = events(torn.path());
        assert!(found <= last && found.is_multiple_of(2), "{found} events after {last}");
        last = found;
        // Bytes that are wrong, not missing.
        let mut wrong = wal.clone();
        wrong[cut..].iter_mut().for_each(|byte| *byte ^= 0x5a);
        fs::write(torn.path().join("log.db-wal"), &wrong).unwrap();
        let _ = fs::remove_file(torn.path().join("log.db-shm"));
        assert!(events(torn.path()).is_multiple_of(2));
    }
    assert!(last < 20);
    drop(engine);
}
