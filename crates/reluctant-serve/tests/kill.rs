//! A service that is killed at random moments under load: no answer is lost, nothing is learnt twice, and what is
//! left is, to the byte, a replay of the log.
//!
//! Ten times here; `RELUCTANT_KILLS=200 cargo test --release -p reluctant-serve --test kill` is the long form.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says best what it expects by failing where it is not met"
)]

mod common;
#[cfg(feature = "postgres")]
#[path = "common/database.rs"]
mod database;

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use common::{config, post_on, registry};
use reluctant::Key;
use reluctant::rng::index;
use reluctant_serve::{Config, check, run};

/// Says to this test's own program that it is to be the service.
const SERVE: &str = "RELUCTANT_TEST_SERVE";
/// Callers at a time.
const CALLERS: usize = 4;

const SERVICE: &str = r#"
listen = "127.0.0.1:0"
store = "log.db"
snapshot_every = 40
log_requests = false

[[policy]]
name = "p"
kind = "lin-ts"
context = 2
"#;

/// Not a test: the service itself, in a process of its own that can be killed.
#[test]
fn the_service() {
    let Ok(path) = std::env::var(SERVE) else { return };
    let config = Config::load(Path::new(&path), &registry()).unwrap();
    run(config, registry(), |address| println!("listening on {address}")).unwrap();
}

fn start(path: &Path) -> (Child, SocketAddr) {
    launch(&mut Command::new(std::env::current_exe().unwrap()), path)
}

fn launch(command: &mut Command, path: &Path) -> (Child, SocketAddr) {
    let mut child = command
        .args(["the_service", "--exact", "--nocapture"])
        .env(SERVE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines.map_while(Result::ok).find_map(|line| line.split("listening on ").nth(1).map(str::to_owned));
    (child, address.expect("the service starts").parse().unwrap())
}

/// What a caller was told.
#[derive(Clone)]
struct Told {
    id: String,
    decision: Option<Vec<u8>>,
    reward: Option<Vec<u8>>,
}

/// The body of an answer with status 200; `None` if the service died before it was whole.
fn post(stream: &mut TcpStream, path: &str, body: &str) -> Option<Vec<u8>> {
    let reply = post_on(stream, path, body.as_bytes())?;
    assert_eq!(reply.status, 200, "{}", reply.text());
    Some(reply.body)
}

fn decide(stream: &mut TcpStream, id: &str) -> Option<Vec<u8>> {
    let x = id.bytes().map(f64::from).sum::<f64>().sin();
    let body = format!(r#"{{"event":"{id}","context":[{x},1],"actions":["a","b","c"]}}"#);
    post(stream, "/v1/p/decide", &body)
}

fn reward(stream: &mut TcpStream, id: &str) -> Option<Vec<u8>> {
    post(stream, "/v1/p/reward", &format!(r#"{{"event":"{id}","reward":{}}}"#, id.len()))
}

/// Decides and rewards until the service dies, and remembers what it was told.
fn call(address: SocketAddr, name: &str, answers: &AtomicU64) -> Vec<Told> {
    let mut told = Vec::new();
    let Ok(mut stream) = TcpStream::connect(address) else { return told };
    for i in 0.. {
        let mut one = Told { id: format!("{name}-{i}"), decision: None, reward: None };
        one.decision = decide(&mut stream, &one.id);
        answers.fetch_add(1, Ordering::SeqCst);
        if one.decision.is_some() {
            one.reward = reward(&mut stream, &one.id);
            answers.fetch_add(1, Ordering::SeqCst);
        }
        let dead = one.reward.is_none();
        told.push(one);
        if dead {
            break;
        }
    }
    told
}

/// Asks everything again: what was told before is told again, and what was not is made good.
fn repeat(address: SocketAddr, told: &mut [Told]) {
    let mut stream = TcpStream::connect(address).unwrap();
    for one in told {
        for (before, now) in [
            (&mut one.decision, decide(&mut stream, &one.id).unwrap()),
            (&mut one.reward, reward(&mut stream, &one.id).unwrap()),
        ] {
            let before = before.get_or_insert_with(|| now.clone());
            assert_eq!(*before, now, "what was told of {} has changed", one.id);
        }
    }
}

fn kills() -> u64 {
    std::env::var("RELUCTANT_KILLS").map_or(10, |kills| kills.parse().unwrap())
}

#[test]
fn killed_at_any_moment_it_loses_nothing() {
    let kills = kills();
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("service.toml");
    std::fs::write(&path, SERVICE).unwrap();
    let mut all: Vec<Told> = Vec::new();
    for kill in 0..kills {
        let (mut child, address) = start(&path);
        let before = all.len().saturating_sub(2 * CALLERS);
        repeat(address, &mut all[before..]);
        let wanted = 1 + index(&mut Key::new(kill).stream(), 60) as u64;
        let answers = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let answers = &answers;
            let callers: Vec<_> =
                (0..CALLERS).map(|i| scope.spawn(move || call(address, &format!("{kill}-{i}"), answers))).collect();
            while answers.load(Ordering::SeqCst) < wanted {
                std::thread::yield_now();
            }
            child.kill().unwrap();
            callers.into_iter().for_each(|caller| all.extend(caller.join().unwrap()));
        });
        child.wait().unwrap();
    }
    let (mut child, address) = start(&path);
    repeat(address, &mut all);
    let state = common::request(address, "GET", "/v1/p", &[], b"").json();
    let count = all.len() as u64;
    assert_eq!([&state["decisions"], &state["rewards"], &state["learned"]], [count, count, count]);
    child.kill().unwrap();
    child.wait().unwrap();
    // Recovery and replay agree to the byte.
    let checked = check(&config(dir.path(), SERVICE), &registry()).unwrap();
    assert_eq!(checked[0].events, 2 * count);
    println!("killed {kills} times: {count} decisions and as many rewards, none lost, none twice");
}

/// Two services on one database, both killed: whoever asks whom, nothing is lost, and nothing counts twice.
#[cfg(feature = "postgres")]
#[test]
fn two_services_on_one_database_lose_nothing() {
    let Some(database) = database::Database::start() else { return };
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("service.toml");
    let text = SERVICE.replace("log.db", &database.address());
    std::fs::write(&path, &text).unwrap();
    let mut all: Vec<Told> = Vec::new();
    for kill in 0..kills() {
        let mut services = [start(&path), start(&path)];
        let before = all.len().saturating_sub(2 * CALLERS);
        repeat(services[1].1, &mut all[before..]);
        let wanted = 1 + index(&mut Key::new(kill).stream(), 60) as u64;
        let answers = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let answers = &answers;
            let addresses = [services[0].1, services[1].1];
            let caller = |i: usize| move || call(addresses[i % 2], &format!("{kill}-{i}"), answers);
            let callers: Vec<_> = (0..CALLERS).map(|i| scope.spawn(caller(i))).collect();
            while answers.load(Ordering::SeqCst) < wanted {
                std::thread::yield_now();
            }
            services.iter_mut().for_each(|(child, _)| child.kill().unwrap());
            callers.into_iter().for_each(|caller| all.extend(caller.join().unwrap()));
        });
        for (child, _) in &mut services {
            child.wait().unwrap();
        }
    }
    let (mut child, address) = start(&path);
    repeat(address, &mut all);
    child.kill().unwrap();
    child.wait().unwrap();
    let checked = check(&config(dir.path(), &text), &registry()).unwrap();
    assert_eq!(checked[0].events, 2 * all.len() as u64);
    println!("two services killed {} times: {} decisions and as many rewards", kills(), all.len());
}

/// A disk that is full, played by a limit on the size of files: requests are refused, and what was answered is kept.
#[test]
fn a_full_disk_loses_nothing() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("service.toml");
    std::fs::write(&path, SERVICE).unwrap();
    let mut limited = Command::new("bash");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 2000; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    let (mut child, address) = launch(&mut limited, &path);
    let mut told = Vec::new();
    let refused = loop {
        let id = format!("full-{}", told.len());
        let body = format!(r#"{{"event":"{id}","context":[0.5,1],"actions":["a","b","c"]}}"#);
        let reply =
            common::request(address, "POST", "/v1/p/decide", &[("Content-Type", "application/json")], body.as_bytes());
        if reply.status != 200 {
            break reply;
        }
        told.push((body, reply.body));
        assert!(told.len() < 10_000, "the disk is never full");
    };
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert!(refused.text().contains("nothing was done"), "{}", refused.text());
    assert_eq!(common::request(address, "GET", "/readyz", &[], b"").status, 503);
    assert_eq!(common::request(address, "GET", "/healthz", &[], b"").status, 200);
    let state = common::request(address, "GET", "/v1/p", &[], b"").json();
    assert_eq!(state["decisions"], told.len());
    child.kill().unwrap();
    child.wait().unwrap();
    let (mut child, address) = start(&path);
    for (body, before) in &told {
        let headers = [("Content-Type", "application/json")];
        assert_eq!(common::request(address, "POST", "/v1/p/decide", &headers, body.as_bytes()).body, *before);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(check(&config(dir.path(), SERVICE), &registry()).unwrap()[0].events, told.len() as u64);
}
