//! The embedded store: one file, by SQLite, with a write-ahead log that is synced at every commit.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use rusqlite::{CachedStatement, Connection, OpenFlags, OptionalExtension, Row, params};

use super::{End, Place, Store, Version, Visit, Waiting, read_fact};
use crate::error::{Result, ServeError};
use crate::event::{Event, Kind};

/// The format that this version writes, and the newest that it reads.
const FORMAT: i64 = 1;
/// Says that a file is ours: "relu".
const APPLICATION: i64 = 0x7265_6c75;
/// Large offers fill pages better if these are large; see docs/serve-laboratory.md.
const PAGE: i64 = 16_384;
/// Kibibytes of pages that are kept in memory.
const CACHE: i64 = 65_536;
/// Pages of the write-ahead log after which it is moved into the file.
const CHECKPOINT: i64 = 4_096;
/// So many statements are kept ready.
const STATEMENTS: usize = 32;

const TABLES: &str = "
CREATE TABLE policy(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, identity TEXT NOT NULL);
CREATE TABLE log(n INTEGER PRIMARY KEY, policy INTEGER NOT NULL, kind INTEGER NOT NULL, time INTEGER NOT NULL,
  chain INTEGER NOT NULL, id TEXT NOT NULL, fact BLOB NOT NULL);
CREATE INDEX decisions ON log(policy, n) WHERE kind = 0;
CREATE TABLE offer(n INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE place(policy INTEGER NOT NULL, id TEXT NOT NULL, n INTEGER NOT NULL, reward INTEGER, expiry INTEGER,
  PRIMARY KEY(policy, id)) WITHOUT ROWID;
CREATE INDEX waiting ON place(policy, n) WHERE reward IS NULL AND expiry IS NULL;
CREATE TABLE version(policy INTEGER NOT NULL, n INTEGER NOT NULL, version INTEGER NOT NULL, time INTEGER NOT NULL,
  chain INTEGER NOT NULL, state BLOB NOT NULL, PRIMARY KEY(policy, n));
";

/// A log in a file.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
    open: bool,
    /// Held as long as the store is: two processes never write to one log.
    _lock: Option<File>,
}

fn failed(cause: rusqlite::Error) -> ServeError {
    let said = match &cause {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    };
    ServeError::Store(said)
}

impl Sqlite {
    /// Opens the log at `path`, or begins one.
    pub fn open(path: &Path) -> Result<Self> {
        let store = path.display().to_string();
        let foreign = |reason: String| ServeError::Foreign { store: store.clone(), reason };
        if path.exists() && !path.is_file() {
            return Err(foreign("it is not a file".to_owned()));
        }
        let lock = lock(path, &store)?;
        let connection = Connection::open(path).map_err(|cause| foreign(failed(cause).to_string()))?;
        if is_empty(&connection).map_err(|cause| foreign(failed(cause).to_string()))? {
            create(&connection).map_err(|cause| foreign(failed(cause).to_string()))?;
        }
        check(&connection, &store)?;
        prepare(&connection).map_err(failed)?;
        Ok(Sqlite { connection, open: false, _lock: Some(lock) })
    }

    /// The log at `path`, to be read while another store writes it.
    pub fn reader(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        Ok(Sqlite { connection, open: false, _lock: None })
    }

    fn statement(&self, sql: &str) -> Result<CachedStatement<'_>> {
        self.connection.prepare_cached(sql).map_err(failed)
    }
}

/// The file that says that a store is in use: beside it, so that the store itself is not touched.
fn lock(path: &Path, store: &str) -> Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let failed = |cause: std::io::Error| ServeError::Foreign { store: store.to_owned(), reason: cause.to_string() };
    let file = File::options().create(true).append(true).open(PathBuf::from(name)).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ServeError::InUse(store.to_owned())),
        Err(TryLockError::Error(cause)) => Err(failed(cause)),
    }
}

/// Whether nothing was ever kept here: the file is new, or its beginning never reached the disk.
fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let tables = "SELECT count(*) FROM sqlite_master";
    connection.query_row(tables, [], |row| Ok(row.get::<_, i64>(0)? == 0))
}

fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "page_size", PAGE)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.execute_batch(&format!(
        "BEGIN; {TABLES} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; COMMIT;"
    ))?;
    // What says that the file is ours stands in the file itself from now on, whatever happens to the write-ahead log.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

/// An error unless the file is a store that this version can read. Changes nothing.
fn check(connection: &Connection, store: &str) -> Result<()> {
    let foreign = |reason: String| ServeError::Foreign { store: store.to_owned(), reason };
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let application = pragma("application_id").map_err(|cause| foreign(failed(cause).to_string()))?;
    if application != APPLICATION {
        return Err(foreign("it is a database of something else".to_owned()));
    }
    let found = pragma("user_version").map_err(|cause| foreign(failed(cause).to_string()))?;
    if found > FORMAT {
        return Err(ServeError::Newer { store: store.to_owned(), found, known: FORMAT });
    }
    Ok(())
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", -CACHE)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(())
}

const EVENT: &str = "n, policy, time, chain, id, fact";

fn event(row: &Row<'_>) -> rusqlite::Result<(u64, u32, u64, u64, String, Vec<u8>)> {
    let number = |at| row.get::<_, i64>(at).map(|x| x as u64);
    Ok((number(0)?, row.get(1)?, number(2)?, number(3)?, row.get(4)?, row.get(5)?))
}

fn whole((n, policy, time, chain, id, fact): (u64, u32, u64, u64, String, Vec<u8>)) -> Result<Event> {
    Ok(Event { n, policy, time, chain, id, fact: read_fact(n, &fact)? })
}

fn maybe(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    row.get::<_, Option<i64>>(at).map(|n| n.map(|n| n as u64))
}

impl Store for Sqlite {
    fn register(&mut self, name: &str, identity: &str) -> Result<(u32, String)> {
        let find = "SELECT id, identity FROM policy WHERE name = ?";
        let found = |store: &Self| {
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            store.statement(find)?.query_row([name], row).optional().map_err(failed)
        };
        if let Some(known) = found(self)? {
            return Ok(known);
        }
        let insert = "INSERT INTO policy(name, identity) VALUES(?, ?)";
        self.connection.execute(insert, [name, identity]).map_err(failed)?;
        found(self)?.ok_or_else(|| ServeError::Store(format!("policy '{name}' cannot be registered")))
    }

    fn begin(&mut self) -> Result<End> {
        self.connection.execute_batch("BEGIN").map_err(failed)?;
        self.open = true;
        self.end()
    }

    fn append(&mut self, event: &Event, fact: &[u8], offer: &[u8]) -> Result<()> {
        let kind = event.fact.kind();
        let (n, policy) = (event.n as i64, event.policy);
        self.statement("INSERT INTO log(n, policy, kind, time, chain, id, fact) VALUES(?, ?, ?, ?, ?, ?, ?)")?
            .execute(params![n, policy, kind as u8, event.time as i64, event.chain as i64, event.id, fact])
            .map_err(failed)?;
        let sql = match kind {
            Kind::Order => return Ok(()),
            Kind::Decision => "INSERT INTO place(n, policy, id) VALUES(?, ?, ?)",
            Kind::Reward => "UPDATE place SET reward = ? WHERE policy = ? AND id = ?",
            Kind::Expiry => "UPDATE place SET expiry = ? WHERE policy = ? AND id = ?",
        };
        self.statement(sql)?.execute(params![n, policy, event.id]).map_err(failed)?;
        if kind == Kind::Decision {
            self.statement("INSERT INTO offer(n, data) VALUES(?, ?)")?.execute(params![n, offer]).map_err(failed)?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.connection.execute_batch("COMMIT").map_err(failed)?;
        self.open = false;
        Ok(())
    }

    fn abandon(&mut self) {
        // Where the failure ended the transaction already there is nothing to do, and that is no error.
        if std::mem::take(&mut self.open) {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    fn end(&mut self) -> Result<End> {
        let mut last = self.statement("SELECT n, time, chain FROM log ORDER BY n DESC LIMIT 1")?;
        let number = |row: &Row<'_>, at| row.get::<_, i64>(at).map(|x| x as u64);
        let found =
            last.query_row([], |row| Ok(End { n: number(row, 0)?, time: number(row, 1)?, chain: number(row, 2)? }));
        Ok(found.optional().map_err(failed)?.unwrap_or_default())
    }

    fn find(&mut self, policy: u32, id: &str) -> Result<Option<Place>> {
        let mut find = self.statement("SELECT n, reward, expiry FROM place WHERE policy = ? AND id = ?")?;
        let place = |row: &Row<'_>| {
            Ok(Place { n: row.get::<_, i64>(0)? as u64, reward: maybe(row, 1)?, expiry: maybe(row, 2)? })
        };
        find.query_row(params![policy, id], place).optional().map_err(failed)
    }

    fn event(&mut self, n: u64) -> Result<Option<Event>> {
        let mut find = self.statement(&format!("SELECT {EVENT} FROM log WHERE n = ?"))?;
        find.query_row([n as i64], event).optional().map_err(failed)?.map(whole).transpose()
    }

    fn offer(&mut self, n: u64) -> Result<Vec<u8>> {
        let mut find = self.statement("SELECT data FROM offer WHERE n = ?")?;
        let found = find.query_row([n as i64], |row| row.get(0)).optional().map_err(failed)?;
        found.ok_or_else(|| ServeError::Store(format!("the offer of event {n} is missing from the log")))
    }

    fn each(&mut self, policy: u32, after: u64, to: u64, visit: &mut Visit<'_>) -> Result<()> {
        let sql = format!("SELECT {EVENT} FROM log WHERE n > ? AND n <= ? AND policy = ? ORDER BY n");
        let mut all = self.statement(&sql)?;
        let to = i64::try_from(to).unwrap_or(i64::MAX);
        let mut rows = all.query(params![after as i64, to, policy]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            visit(whole(event(row).map_err(failed)?)?)?;
        }
        Ok(())
    }

    fn last_decisions(&mut self, policy: u32, count: usize) -> Result<Vec<Event>> {
        let sql = format!("SELECT {EVENT} FROM log WHERE policy = ? AND kind = 0 ORDER BY n DESC LIMIT ?");
        let mut last = self.statement(&sql)?;
        let rows = last.query_map(params![policy, count as i64], event).map_err(failed)?;
        rows.map(|row| whole(row.map_err(failed)?)).collect()
    }

    fn waiting(&mut self, policy: u32, count: usize) -> Result<Vec<Waiting>> {
        let sql = "SELECT place.n, place.id, log.time FROM place JOIN log ON log.n = place.n WHERE place.policy = ? \
                   AND place.reward IS NULL AND place.expiry IS NULL ORDER BY place.n LIMIT ?";
        let mut waiting = self.statement(sql)?;
        let read = |row: &Row<'_>| {
            let number = |at| row.get::<_, i64>(at).map(|x| x as u64);
            Ok(Waiting { n: number(0)?, id: row.get(1)?, time: number(2)? })
        };
        let rows = waiting.query_map(params![policy, count as i64], read).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    fn save_version(&mut self, policy: u32, version: Version, state: &[u8], keep: usize) -> Result<()> {
        let Version { n, version, time, chain } = version;
        let [n, version, time, chain] = [n, version, time, chain].map(|x| x as i64);
        let insert = "INSERT OR REPLACE INTO version(policy, n, version, time, chain, state) VALUES(?, ?, ?, ?, ?, ?)";
        self.statement(insert)?.execute(params![policy, n, version, time, chain, state]).map_err(failed)?;
        let prune = "DELETE FROM version WHERE policy = ?1 AND n NOT IN \
                     (SELECT n FROM version WHERE policy = ?1 ORDER BY n DESC LIMIT ?2)";
        self.statement(prune)?.execute(params![policy, keep as i64]).map_err(failed)?;
        Ok(())
    }

    fn versions(&mut self, policy: u32) -> Result<Vec<Version>> {
        let sql = "SELECT n, version, time, chain FROM version WHERE policy = ? ORDER BY n DESC";
        let mut all = self.statement(sql)?;
        let read = |row: &Row<'_>| {
            let number = |at| row.get::<_, i64>(at).map(|x| x as u64);
            Ok(Version { n: number(0)?, version: number(1)?, time: number(2)?, chain: number(3)? })
        };
        let rows = all.query_map([policy], read).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    fn version_state(&mut self, policy: u32, n: u64) -> Result<Option<Vec<u8>>> {
        let mut find = self.statement("SELECT state FROM version WHERE policy = ? AND n = ?")?;
        find.query_row(params![policy, n as i64], |row| row.get(0)).optional().map_err(failed)
    }
}
