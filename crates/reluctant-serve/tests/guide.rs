//! The walk through the guide, as a reader would type it: every command is run, and every answer is the one that
//! stands there.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says best what it expects by failing where it is not met"
)]

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use common::registry;
use reluctant_serve::{Config, run};
use serde_json::Value;

const SERVE: &str = "RELUCTANT_TEST_SERVE";

/// Not a test: the service itself, in a process of its own.
#[test]
fn the_service() {
    let Ok(path) = std::env::var(SERVE) else { return };
    let config = Config::load(Path::new(&path), &registry()).unwrap();
    run(config, registry(), |_| ()).unwrap();
}

/// The blocks of the guide's walk: their languages and texts.
fn blocks() -> Vec<(String, String)> {
    let guide = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/serve.md")).unwrap();
    let walk = guide.split("## A walk").nth(1).unwrap().split("\n## ").next().unwrap().to_owned();
    let fenced = walk.split("```").skip(1).step_by(2);
    fenced.map(|block| block.split_once('\n').unwrap()).map(|(kind, text)| (kind.to_owned(), text.to_owned())).collect()
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn the_guide_says_what_happens() {
    for program in ["curl", "jq"] {
        if !Command::new(program).arg("--version").output().is_ok_and(|done| done.status.success()) {
            println!("left out: {program} is not installed");
            return;
        }
    }
    let dir = tempfile::TempDir::new().unwrap();
    let port = format!("127.0.0.1:{}", free_port());
    let here = |text: &str| text.replace("127.0.0.1:8080", &port);
    // `reluctant serve FILE`, by this program.
    let shim = dir.path().join("reluctant");
    let exe = std::env::current_exe().unwrap();
    let script = format!("#!/bin/sh\n{SERVE}=\"$2\" exec '{}' the_service --exact >/dev/null\n", exe.display());
    std::fs::write(&shim, script).unwrap();
    std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap());
    // All commands in one shell, so that the service lives as long as they do; a line of dashes ends each.
    let mut commands = "trap 'kill %1' EXIT\n".to_owned();
    let mut expected: Vec<Option<String>> = Vec::new();
    for (kind, text) in blocks() {
        match kind.as_str() {
            "toml" => std::fs::write(dir.path().join("service.toml"), here(&text)).unwrap(),
            "sh" => {
                commands += &format!("{}echo; echo -----\n", here(&text));
                expected.push(None);
            }
            _ => *expected.last_mut().unwrap() = Some(text),
        }
    }
    let mut shell = Command::new("bash");
    let done = shell.args(["-c", &commands]).current_dir(dir.path()).env("PATH", path).output().unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    let parts: Vec<&str> = said.split("-----\n").collect();
    assert_eq!(parts.len(), expected.len() + 1, "{said}\n{}", String::from_utf8_lossy(&done.stderr));
    for (part, expected) in parts.iter().zip(&expected) {
        let Some(expected) = expected else { continue };
        let [found, expected] =
            [*part, expected].map(|text| serde_json::from_str::<Value>(text).unwrap_or_else(|_| text.trim().into()));
        assert_eq!(found, expected, "the guide says otherwise; it should say\n{part}");
    }
}
