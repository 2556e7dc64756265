//! Mutilated requests against a running server: every one gets an answer that makes sense, and the log stays sound.
//!
//! ```text
//! cargo run --release -p reluctant-serve --example fuzz [requests]
//! ```

#![allow(clippy::unwrap_used, clippy::panic, reason = "an example that fails shall say where")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::time::Instant;

use common::{config, post_on, registry};
use reluctant::rng::index;
use reluctant::{Key, Stream};
use reluctant_serve::clock::Clock;
use reluctant_serve::{check, start};

const SERVICE: &str = "listen = \"127.0.0.1:0\"\nstore = \"log.db\"\nlog_requests = false\n\
    [[policy]]\nname = \"arms\"\nkind = \"oful\"\ndim = 2\n\
    [[policy]]\nname = \"shop\"\nkind = \"lin-ts\"\ncontext = 2\n";

/// Where requests go, and good ones to begin with.
const GOOD: [(&str, &str); 7] = [
    ("/v1/arms/decide", r#"{"event":"a","arms":[[1,0.5],[0,-1e-3]]}"#),
    ("/v1/arms/decide", r#"{"arms":"sphere"}"#),
    ("/v1/arms/decide/batch", r#"{"requests":[{"event":"b","arms":[[1,0]]},{"event":"c","arms":[[0,1]]}]}"#),
    ("/v1/arms/reward", r#"{"event":"a","reward":0.5}"#),
    ("/v1/arms/reward/batch", r#"{"requests":[{"event":"b","reward":1},{"event":"c","reward":0}]}"#),
    ("/v1/shop/decide", r#"{"event":"d","context":[1,2],"actions":["x","y"],"default":"x","default_propensity":0.5}"#),
    ("/v1/arms/rollback", r#"{"version":0}"#),
];

/// What is put in.
const WORDS: [&str; 16] = [
    "null",
    "[]",
    "{}",
    "[[",
    "]]",
    "\"",
    "\\u0000",
    "\\ud800",
    "1e309",
    "-1",
    "NaN",
    "99999999999999999999",
    ",",
    ":",
    "\"sphere\"",
    "\"event\":\"~1\"",
];

fn mutilate(body: &mut Vec<u8>, stream: &mut Stream) {
    for _ in 0..=index(stream, 2) {
        let at = index(stream, body.len() + 1);
        match index(stream, 5) {
            0 if at < body.len() => body[at] ^= 1 << index(stream, 8),
            1 if at < body.len() => drop(body.drain(at..(at + 1 + index(stream, 8)).min(body.len()))),
            2 => {
                let copied = body[at..(at + index(stream, 16)).min(body.len())].to_vec();
                body.splice(at..at, copied);
            }
            3 => body.truncate(at),
            _ => drop(body.splice(at..at, WORDS[index(stream, WORDS.len())].bytes())),
        }
    }
}

fn main() {
    let count: u64 = std::env::args().nth(1).map_or(100_000, |text| text.parse().unwrap());
    let dir = tempfile::TempDir::new().unwrap();
    let config = config(dir.path(), SERVICE);
    let running = start(config.clone(), registry(), Clock::Machine).unwrap();
    let mut found: BTreeMap<u16, u64> = BTreeMap::new();
    let (began, mut connection) = (Instant::now(), TcpStream::connect(running.address()).unwrap());
    for i in 0..count {
        let mut stream = Key::new(i).stream();
        let (path, good) = GOOD[index(&mut stream, GOOD.len())];
        let mut body = good.as_bytes().to_vec();
        mutilate(&mut body, &mut stream);
        let reply = post_on(&mut connection, path, &body).expect("the service answers");
        let status = reply.status;
        assert!((200..500).contains(&status), "{status} for {}", String::from_utf8_lossy(&body));
        *found.entry(status).or_default() += 1;
        if reply.head.contains("connection: close") {
            connection = TcpStream::connect(running.address()).unwrap();
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    running.stop();
    check(&config, &registry()).unwrap();
    println!("{count} mutilated requests in {seconds:.1} s, by status: {found:?}; the log is sound");
}
