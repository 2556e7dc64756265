//! How much the service does: decisions and rewards a second, in batches and one by one, beside an endpoint that only
//! syncs; how long it takes to recover; how much memory it needs.
//!
//! ```text
//! cargo run --release -p reluctant-serve --example load [seconds a row] [events to recover] [folder] [row]
//! ```
//!
//! Server and callers share the machine. Every number is of requests that were answered, and so on the disk.

#![allow(clippy::unwrap_used, clippy::panic, reason = "an example that fails shall say where")]

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/database.rs"]
mod database;

use std::fmt::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::{config, post_on, registry};
use database::Database;
use reluctant::Key;
use reluctant::rng::uniform;
use reluctant_lab::log::Offered;
use reluctant_serve::clock::Clock;
use reluctant_serve::engine::Ask;
use reluctant_serve::offer::Offering;
use reluctant_serve::{Engine, open_store, start};

/// What is measured.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    policy: &'static str,
    /// How many arms of which dimension are on offer; none for the sphere.
    arms: usize,
    dim: usize,
    /// Whether the log is kept in PostgreSQL.
    database: bool,
    /// Whether another policy, a slow one, has a caller of its own all the time.
    beside: bool,
}

const NOTHING: &str = "kind = \"uniform\"\nmode = \"log-only\"\ndim = 20";
const OFUL: &str = "kind = \"oful\"\ndim = 20";
const PLAUSIBLE: &str = "kind = \"plausible\"\nneurons = 3\ndim = 20";

/// 100 arms of 20 numbers, in the embedded store, alone.
const fn row(name: &'static str, policy: &'static str) -> Row {
    Row { name, policy, arms: 100, dim: 20, database: false, beside: false }
}

const ROWS: [Row; 8] = [
    Row { arms: 1, dim: 1, ..row("only syncs: one number", "kind = \"uniform\"\nmode = \"log-only\"\ndim = 1") },
    row("only syncs: what oful gets", NOTHING),
    row("oful, 100 × 20", OFUL),
    row("plausible, 100 × 20", PLAUSIBLE),
    Row {
        arms: 0,
        dim: 3,
        ..row("ofu-relu, sphere, d = 3", "kind = \"ofu-relu\"\nneurons = 3\nexplore = 100\ndim = 3")
    },
    Row { beside: true, ..row("oful, 100 × 20, beside one caller of plausible", OFUL) },
    Row { database: true, ..row("only syncs: what oful gets, PostgreSQL", NOTHING) },
    Row { database: true, ..row("oful, 100 × 20, PostgreSQL", OFUL) },
];
/// Requests of a batch.
const BATCH: usize = 100;
/// Digits of an event's id.
const DIGITS: usize = 14;

fn main() {
    let mut args = std::env::args().skip(1);
    let seconds: u64 = args.next().map_or(5, |text| text.parse().unwrap());
    let events: u64 = args.next().map_or(1_000_000, |text| text.parse().unwrap());
    let folder = args.next().map_or_else(std::env::temp_dir, Into::into);
    println!("| what | batches: decisions/s (and rewards/s) | single: decisions/s | p50 ms | p99 ms | memory MB |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let wanted = args.next().unwrap_or_default();
    for row in ROWS.into_iter().filter(|row| row.name.contains(&wanted)) {
        let database = if row.database { Database::start() } else { None };
        if database.is_some() == row.database {
            measure(row, Duration::from_secs(seconds), &folder, database.as_ref());
        }
    }
    recovery(events, &folder);
}

fn measure(row: Row, time: Duration, folder: &Path, database: Option<&Database>) {
    let dir = tempfile::TempDir::new_in(folder).unwrap();
    // A slow policy on a busy machine may keep a batch waiting for longer than the usual ten seconds.
    let store = database.map_or_else(|| "log.db".to_owned(), Database::address);
    let slow = if row.beside { format!("[[policy]]\nname = \"slow\"\n{PLAUSIBLE}\n") } else { String::new() };
    let text = format!(
        "listen = \"127.0.0.1:0\"\nstore = \"{store}\"\nlog_requests = false\n\
         [limits]\ntimeout = 120\n[[policy]]\nname = \"p\"\n{}\n{slow}",
        row.policy
    );
    let running = start(config(dir.path(), &text), registry(), Clock::Machine).unwrap();
    let default = if row.policy.contains("log-only") { ",\"default\":0" } else { "" };
    let load = Load { address: running.address(), policy: "p", arms: row.arms, dim: row.dim, default, time };
    let done = AtomicBool::new(!row.beside);
    let (batches, singles) = std::thread::scope(|scope| {
        let slow = Load { policy: "slow", time: Duration::from_millis(500), ..load };
        let done = &done;
        scope.spawn(move || {
            (3..).take_while(|_| !done.load(Ordering::Relaxed)).for_each(|run| drop(slow.drive(1, 1, run)))
        });
        let driven = (load.drive(4, BATCH, 1), load.drive(16, 1, 2));
        done.store(true, Ordering::Relaxed);
        driven
    });
    let at = |share: f64| singles.times[((singles.times.len() - 1) as f64 * share) as usize] * 1e3;
    println!(
        "| {} | {:.0} | {:.0} | {:.1} | {:.1} | {} |",
        row.name,
        batches.rate,
        singles.rate,
        at(0.5),
        at(0.99),
        resident() >> 20
    );
    running.stop();
}

struct Driven {
    rate: f64,
    times: Vec<f64>,
}

/// Callers of one policy.
#[derive(Clone, Copy)]
struct Load<'a> {
    address: SocketAddr,
    policy: &'a str,
    arms: usize,
    dim: usize,
    default: &'a str,
    time: Duration,
}

impl Load<'_> {
    /// Decides and rewards for a while, with so many callers, and measures how often and how long decisions took.
    fn drive(self, callers: u64, batch: usize, run: u64) -> Driven {
        let (began, count) = (Instant::now(), AtomicU64::new(0));
        let mut times: Vec<f64> = std::thread::scope(|scope| {
            let count = &count;
            let call = move |caller: u64| self.call(run * 100 + caller, batch, began, count);
            let threads: Vec<_> = (0..callers).map(|caller| scope.spawn(move || call(caller))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        times.sort_by(f64::total_cmp);
        Driven { rate: count.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64(), times }
    }

    /// One caller, until the time is over; how long its decisions took.
    fn call(self, name: u64, batch: usize, began: Instant, count: &AtomicU64) -> Vec<f64> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        let (mut decide, places) = decide_body(self.arms, self.dim, self.default, batch, name);
        let (mut times, mut id) = (Vec::new(), name * 1_000_000_000);
        let end = if batch == 1 { "" } else { "/batch" };
        while began.elapsed() < self.time {
            let first = id;
            for place in &places {
                decide[*place..place + DIGITS].copy_from_slice(format!("{id:0DIGITS$}").as_bytes());
                id += 1;
            }
            let asked = Instant::now();
            post(&mut stream, &format!("/v1/{}/decide{end}", self.policy), &decide);
            times.push(asked.elapsed().as_secs_f64());
            post(&mut stream, &format!("/v1/{}/reward{end}", self.policy), &reward_body(first, id, batch));
            count.fetch_add(batch as u64, Ordering::Relaxed);
        }
        times
    }
}

/// A body, and where in it the ids stand.
fn decide_body(arms: usize, dim: usize, default: &str, batch: usize, seed: u64) -> (Vec<u8>, Vec<usize>) {
    let mut stream = Key::new(seed).stream();
    let (mut body, mut places) = (String::new(), Vec::new());
    body += if batch == 1 { "" } else { "{\"requests\":[" };
    for i in 0..batch {
        body += if i == 0 { "{\"event\":\"" } else { ",{\"event\":\"" };
        places.push(body.len());
        let _ = write!(body, "{:0DIGITS$}\"{default},\"arms\":", 0);
        if arms == 0 {
            body += "\"sphere\"}";
            continue;
        }
        for arm in 0..arms {
            body += if arm == 0 { "[[" } else { "],[" };
            for k in 0..dim {
                let comma = if k == 0 { "" } else { "," };
                let _ = write!(body, "{comma}{:.4}", (2.0 * uniform(&mut stream) - 1.0) / (dim as f64).sqrt());
            }
        }
        body += "]]}";
    }
    body += if batch == 1 { "" } else { "]}" };
    (body.into_bytes(), places)
}

fn reward_body(first: u64, end: u64, batch: usize) -> Vec<u8> {
    let one = |id: u64| format!("{{\"event\":\"{id:0DIGITS$}\",\"reward\":{}}}", (id % 10) as f64 / 10.0);
    if batch == 1 {
        return one(first).into_bytes();
    }
    let all: Vec<String> = (first..end).map(one).collect();
    format!("{{\"requests\":[{}]}}", all.join(",")).into_bytes()
}

/// Sends a request, whose answer must be good.
fn post(stream: &mut TcpStream, path: &str, body: &[u8]) {
    let reply = post_on(stream, path, body).expect("the service answers");
    assert!(reply.status == 200 && !reply.text().contains("\"detail\""), "{}\n{}", reply.head, reply.text());
}

/// Bytes of memory that this process holds; 0 where that cannot be read.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

/// Writes a log without HTTP, and takes it up again: with snapshots, and by a replay from its beginning.
fn recovery(events: u64, folder: &Path) {
    let dir = tempfile::TempDir::new_in(folder).unwrap();
    let text = "store = \"log.db\"\n[[policy]]\nname = \"p\"\nkind = \"oful\"\ndim = 20\n";
    let config = config(dir.path(), text);
    let open = || Engine::open(config.clone(), registry(), open_store(&config.store).unwrap(), Clock::Machine).unwrap();
    let mut engine = open();
    let mut stream = Key::new(1).stream();
    for group in 0..events.div_ceil(2000) {
        engine.begin().unwrap();
        for i in 0..1000 {
            let id = (group * 1000 + i).to_string();
            let data = (0..20).map(|_| uniform(&mut stream) - 0.5).collect();
            let offering = Offering::Listed(Offered::Arms { dim: 20, data });
            engine.decide(0, Ask::new(Some(id.clone()), offering)).unwrap();
            engine.reward(0, &id, uniform(&mut stream)).unwrap();
        }
        engine.commit().unwrap();
    }
    let count = engine.end();
    drop(engine);
    let began = Instant::now();
    drop(open());
    println!("\nrecovery of {count} events: {:.2} s with snapshots", began.elapsed().as_secs_f64());
    rusqlite::Connection::open(dir.path().join("log.db")).unwrap().execute("DELETE FROM version", []).unwrap();
    let began = Instant::now();
    drop(open());
    println!("recovery of {count} events: {:.2} s from the first event on", began.elapsed().as_secs_f64());
    println!("memory: {} MB", resident() >> 20);
}
