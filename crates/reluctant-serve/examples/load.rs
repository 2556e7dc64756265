//! How much the service does: decisions and rewards a second, in batches and one by one, beside an endpoint that only
//! syncs; how long it takes to recover; how much memory it needs.
//!
//! ```text
//! cargo run --release -p reluctant-serve --example load [seconds a row] [events to recover] [folder] [row]
//! ```
//!
//! Server and callers share the machine. Every number is of requests that were answered, and so on the disk.

#![allow(clippy::unwrap_used, clippy::panic, reason = "an example that fails shall say where")]

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use reluctant::Key;
use reluctant::rng::uniform;
use reluctant_lab::log::Offered;
use reluctant_serve::clock::Clock;
use reluctant_serve::engine::Ask;
use reluctant_serve::offer::Offering;
use reluctant_serve::{Config, Engine, open_store, start};

/// What is measured: a name, a policy, and how many arms of which dimension are on offer; none for the sphere.
type Row = (&'static str, &'static str, usize, usize);

const ROWS: [Row; 5] = [
    ("only syncs", "kind = \"uniform\"\nmode = \"log-only\"\ndim = 1", 1, 1),
    ("only syncs what oful gets", "kind = \"uniform\"\nmode = \"log-only\"\ndim = 20", 100, 20),
    ("oful, 100 × 20", "kind = \"oful\"\ndim = 20", 100, 20),
    ("plausible, 100 × 20", "kind = \"plausible\"\nneurons = 3\ndim = 20", 100, 20),
    ("ofu-relu, sphere, d = 3", "kind = \"ofu-relu\"\nneurons = 3\nexplore = 100\ndim = 3", 0, 3),
];
/// Requests of a batch.
const BATCH: usize = 100;
/// Digits of an event's id.
const DIGITS: usize = 12;

fn main() {
    let mut args = std::env::args().skip(1);
    let seconds: u64 = args.next().map_or(5, |text| text.parse().unwrap());
    let events: u64 = args.next().map_or(1_000_000, |text| text.parse().unwrap());
    let folder = args.next().map_or_else(std::env::temp_dir, Into::into);
    println!("| what | batches: decisions/s (and rewards/s) | single: decisions/s | p50 ms | p99 ms | memory MB |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let wanted = args.next().unwrap_or_default();
    for row in ROWS.into_iter().filter(|row| row.0.contains(&wanted)) {
        measure(row, Duration::from_secs(seconds), &folder);
    }
    recovery(events, &folder);
}

fn measure((name, policy, arms, dim): Row, time: Duration, folder: &Path) {
    let dir = tempfile::TempDir::new_in(folder).unwrap();
    let text = format!(
        "listen = \"127.0.0.1:0\"\nstore = \"log.db\"\nlog_requests = false\n[[policy]]\nname = \"p\"\n{policy}\n"
    );
    let registry = reluctant_lab::registry();
    let config = Config::parse(&text, &dir.path().join("service.toml"), &registry).unwrap();
    let running = start(config, registry, Clock::Machine).unwrap();
    let default = if policy.contains("log-only") { ",\"default\":0" } else { "" };
    let batches = drive(running.address(), time, 4, BATCH, (arms, dim, default), 1);
    let singles = drive(running.address(), time, 16, 1, (arms, dim, default), 2);
    let at = |share: f64| singles.times[((singles.times.len() - 1) as f64 * share) as usize] * 1e3;
    println!(
        "| {name} | {:.0} | {:.0} | {:.1} | {:.1} | {} |",
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

/// Decides and rewards for a while, with so many callers, and measures how often and how long decisions took.
fn drive(
    address: SocketAddr,
    time: Duration,
    callers: u64,
    batch: usize,
    (arms, dim, default): (usize, usize, &str),
    run: u64,
) -> Driven {
    let (began, count) = (Instant::now(), AtomicU64::new(0));
    let mut times: Vec<f64> = std::thread::scope(|scope| {
        let count = &count;
        let caller = move |caller: u64| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_nodelay(true).unwrap();
            let (mut decide, places) = decide_body(arms, dim, default, batch, run * 100 + caller);
            let (mut times, mut id) = (Vec::new(), (run * 100 + caller) * 1_000_000_000);
            while began.elapsed() < time {
                let first = id;
                for place in &places {
                    decide[*place..place + DIGITS].copy_from_slice(format!("{id:0DIGITS$}").as_bytes());
                    id += 1;
                }
                let (path, end) = if batch == 1 { ("", "") } else { ("/batch", "/batch") };
                let asked = Instant::now();
                post(&mut stream, &format!("/v1/p/decide{path}"), &decide);
                times.push(asked.elapsed().as_secs_f64());
                post(&mut stream, &format!("/v1/p/reward{end}"), &reward_body(first, id, batch));
                count.fetch_add(batch as u64, Ordering::Relaxed);
            }
            times
        };
        let threads: Vec<_> = (0..callers).map(|name| scope.spawn(move || caller(name))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    times.sort_by(f64::total_cmp);
    Driven { rate: count.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64(), times }
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

/// Sends a request and reads its answer, which must be good.
fn post(stream: &mut TcpStream, path: &str, body: &[u8]) {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let (mut reply, mut piece) = (Vec::new(), vec![0; 65_536]);
    loop {
        let read = stream.read(&mut piece).unwrap();
        assert!(read > 0, "the service hung up");
        reply.extend_from_slice(&piece[..read]);
        let Some(end) = reply.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&reply[..end]).to_lowercase();
        let length: usize =
            head.split("content-length: ").nth(1).unwrap().lines().next().unwrap().trim().parse().unwrap();
        if reply.len() >= end + 4 + length {
            let body = String::from_utf8_lossy(&reply[end + 4..]);
            assert!(head.starts_with("http/1.1 200") && !body.contains("\"detail\""), "{head}\n{body}");
            return;
        }
    }
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
    let registry = reluctant_lab::registry();
    let config = Config::parse(text, &dir.path().join("service.toml"), &registry).unwrap();
    let open =
        || Engine::open(config.clone(), registry.clone(), open_store(&config.store).unwrap(), Clock::Machine).unwrap();
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
