//! The command `reluctant serve`: how it starts, stops and refuses.

#![cfg(feature = "serve")]
#![allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const SERVICE: &str =
    "listen = \"127.0.0.1:0\"\nstore = \"log.db\"\n[[policy]]\nname = \"p\"\nkind = \"oful\"\ndim = 2\n";

fn reluctant(dir: &TempDir, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_reluctant")).args(args).current_dir(dir.path()).output().unwrap()
}

fn refused(output: &Output, code: i32, says: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{error}");
    assert!(error.contains(says) && error.lines().count() == 1, "'{says}' is not in: {error}");
}

#[test]
fn what_is_wrong_is_said_in_one_sentence() {
    let dir = TempDir::new().unwrap();
    refused(&reluctant(&dir, &["serve", "nowhere.toml"]), 2, "nowhere.toml: this file cannot be read");
    std::fs::write(dir.path().join("service.toml"), SERVICE.replace("oful", "oflu")).unwrap();
    refused(
        &reluctant(&dir, &["serve", "service.toml"]),
        2,
        "service.toml:5: unknown policy 'oflu'; did you mean 'oful'?",
    );
    std::fs::write(dir.path().join("service.toml"), SERVICE).unwrap();
    refused(&reluctant(&dir, &["serve", "service.toml", "--check"]), 1, "there is no such file");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else was made");
}

/// It says where it listens, writes a line for every request, stops by SIGTERM, and its log is sound.
#[test]
fn a_service_starts_serves_and_stops() {
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("service.toml"), SERVICE).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_reluctant"))
        .args(["serve", "service.toml"])
        .current_dir(dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("reluctant: listening on http://").unwrap().to_owned();
    let body = r#"{"event":"a","arms":[[1,0],[0,1]]}"#;
    let request = format!(
        "POST /v1/p/decide HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success());
    let log: serde_json::Value = serde_json::from_slice(&done.stderr).unwrap();
    assert_eq!((&log["path"], &log["status"]), (&"/v1/p/decide".into(), &200.into()));
    let checked = reluctant(&dir, &["serve", "service.toml", "--check"]);
    let said = String::from_utf8(checked.stdout).unwrap();
    assert_eq!(said, "p: 1 events, version 0; recovery and replay agree to the byte\n");
}
