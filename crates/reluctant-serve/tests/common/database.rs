//! A PostgreSQL of our own in a temporary folder, where it is installed.

#![allow(dead_code, unreachable_pub, reason = "part of a test")]

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A database that runs until it is dropped.
pub struct Database {
    dir: TempDir,
    programs: PathBuf,
}

/// Where Debian keeps the programs, the newest version last.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut found: Vec<PathBuf> = versions.flatten().map(|entry| entry.path().join("bin")).collect();
    found.retain(|path| path.join("initdb").exists());
    found.sort();
    found.pop()
}

impl Database {
    /// Starts one; `None`, with a sentence, where it is not installed.
    pub fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            println!("left out: PostgreSQL is not installed (Debian's package postgresql)");
            return None;
        };
        let database = Database { dir: TempDir::new().unwrap(), programs };
        if is_root() {
            // It refuses to run as root; the package brings a user of its own.
            assert!(Command::new("chown").arg("postgres").arg(database.dir.path()).status().unwrap().success());
        }
        let data = database.data();
        database.run("initdb", &["-D", &data, "-A", "trust", "-U", "postgres", "--no-sync"]);
        database.up();
        Some(database)
    }

    /// The address of the database.
    pub fn address(&self) -> String {
        format!("postgres://postgres@{}/postgres", self.dir.path().display().to_string().replace('/', "%2F"))
    }

    /// Starts the server, and waits until it takes connections.
    pub fn up(&self) {
        let (data, dir) = (self.data(), self.dir.path().display());
        let options = format!("-k {dir} -c listen_addresses= -c max_connections=50");
        let log = format!("{dir}/server.log");
        self.run("pg_ctl", &["-D", &data, "-w", "-l", &log, "-o", &options, "start"]);
    }

    /// Kills the server as a crash would.
    pub fn crash(&self) {
        self.run("pg_ctl", &["-D", &self.data(), "-w", "-m", "immediate", "stop"]);
    }

    fn data(&self) -> String {
        self.dir.path().join("data").display().to_string()
    }

    fn run(&self, program: &str, args: &[&str]) {
        let path = self.programs.join(program);
        let mut command = if is_root() { as_postgres(&path) } else { Command::new(&path) };
        let done = command.args(args).current_dir("/").stdin(std::process::Stdio::null()).output().unwrap();
        assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let data = self.data();
        let stop = ["-D", &data, "-m", "immediate", "stop"];
        let path = self.programs.join("pg_ctl");
        let mut command = if is_root() { as_postgres(&path) } else { Command::new(&path) };
        let _ = command.args(stop).current_dir("/").output();
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|done| done.stdout.starts_with(b"0\n"))
}

fn as_postgres(path: &Path) -> Command {
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--"]).arg(path);
    command
}
