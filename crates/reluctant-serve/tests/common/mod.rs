//! A service in a folder of its own, and a client that speaks HTTP in a few lines.

#![allow(dead_code, unreachable_pub, reason = "not every test needs all of it")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use reluctant::Registry;
use reluctant_serve::clock::Clock;
use reluctant_serve::engine::Ask;
use reluctant_serve::offer::Offering;
use reluctant_serve::{Config, Engine, Running, open_store, start};
use serde_json::Value;
use tempfile::TempDir;

/// Three policies: one for arms, one for contexts, one that learns from another.
pub const SERVICE: &str = r#"
listen = "127.0.0.1:0"
store = "log.db"
log_requests = false

[[policy]]
name = "arms"
kind = "oful"
dim = 2

[[policy]]
name = "shop"
kind = "lin-ts"
context = 2
reward_wait = 60
default_reward = 0.25

[[policy]]
name = "pupil"
kind = "oful"
context = 2
mode = "apprentice"
"#;

pub fn config(dir: &Path, text: &str) -> Config {
    Config::parse(text, &dir.join("service.toml"), &registry()).unwrap()
}

pub fn registry() -> Registry {
    reluctant_lab::registry()
}

pub fn engine(dir: &Path, text: &str, clock: Clock) -> reluctant_serve::Result<Engine> {
    let config = config(dir, text);
    let store = open_store(&config.store)?;
    Engine::open(config, registry(), store, clock)
}

/// Two arms in the plane that turn with `i`.
pub fn arms(i: u64) -> Offering {
    let (sin, cos) = (i as f64 * 0.1).sin_cos();
    let data = vec![cos, sin, -sin, cos, 0.6, 0.8];
    Offering::Listed(reluctant_lab::log::Offered::Arms { dim: 2, data })
}

/// Three named actions in a context that turns with `i`.
pub fn context(i: u64) -> Offering {
    let names = ["tea", "coffee", "water"].map(reluctant::Name::from);
    let x = vec![(i as f64 * 0.3).cos(), 1.0];
    Offering::Listed(reluctant_lab::log::Offered::Context { x, names: names.into(), features: Vec::new() })
}

pub fn ask(id: &str, offering: Offering) -> Ask {
    Ask::new(Some(id.to_owned()), offering)
}

/// A service that listens.
pub struct Served {
    pub dir: TempDir,
    pub running: Option<Running>,
}

impl Served {
    pub fn new(text: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let config = config(dir.path(), text);
        let running = start(config, registry(), Clock::Machine).unwrap();
        Served { dir, running: Some(running) }
    }

    pub fn address(&self) -> SocketAddr {
        self.running.as_ref().unwrap().address()
    }

    pub fn get(&self, path: &str) -> Reply {
        request(self.address(), "GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &str) -> Reply {
        request(self.address(), "POST", path, &[("Content-Type", "application/json")], body.as_bytes())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
    }
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|cause| panic!("{cause}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

pub fn request(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    if !body.is_empty() || method == "POST" {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    let mut message = (head + "\r\n").into_bytes();
    message.extend_from_slice(body);
    raw(address, &message)
}

/// Sends bytes as they are, and reads the reply to its end.
pub fn raw(address: SocketAddr, message: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(address).unwrap();
    // A service that has heard enough may hang up before all is said.
    let _ = stream.write_all(message);
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply);
    parse(&reply)
}

/// Posts JSON on a connection that stays open; `None` if the service hung up before the answer was whole.
pub fn post_on(stream: &mut TcpStream, path: &str, body: &[u8]) -> Option<Reply> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
    let (mut reply, mut piece) = (Vec::new(), vec![0; 65_536]);
    loop {
        let read = stream.read(&mut piece).ok().filter(|read| *read > 0)?;
        reply.extend_from_slice(&piece[..read]);
        let Some(end) = reply.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&reply[..end]).to_lowercase();
        let length: usize = head.split("content-length: ").nth(1)?.lines().next()?.trim().parse().ok()?;
        if reply.len() >= end + 4 + length {
            return Some(parse(&reply));
        }
    }
}

fn parse(reply: &[u8]) -> Reply {
    let end = reply.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(reply.len());
    let head = String::from_utf8_lossy(&reply[..end]).to_lowercase();
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let rest = reply.get(end + 4..).unwrap_or_default();
    let body = if head.contains("transfer-encoding: chunked") { unchunk(rest) } else { rest.to_vec() };
    Reply { status, head, body }
}

fn unchunk(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap().trim(), 16).unwrap();
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[(end + 4 + size).min(rest.len())..];
        if size == 0 {
            break;
        }
    }
    body
}
