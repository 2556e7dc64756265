//! The log in PostgreSQL, for several processes: all append, in one order; one of them learns, and the others decide
//! from what it publishes.

use postgres::config::SslMode;
use postgres::types::ToSql;
use postgres::{Client, Config, NoTls, Row};

use super::{End, Place, Store, Version, Visit, Waiting, read_fact};
use crate::error::{Result, ServeError};
use crate::event::{Event, Kind};

/// The format that this version writes, and the newest that it reads.
const FORMAT: i64 = 1;
/// The lock that whoever appends holds until its group is committed, so that numbers are in the order of commits.
const APPEND_LOCK: i64 = 0x7265_6c75_6374;
/// So long a learner may be silent before another takes over. By the clock of the database, which all share.
const LEASE: &str = "5 seconds";
/// The lease is renewed when less than this is left of it.
const RENEW: &str = "3 seconds";
/// Events are fetched in pieces of this many.
const PIECE: i64 = 4_096;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS reluctant_format(format BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS reluctant_policy(id SERIAL PRIMARY KEY, name TEXT NOT NULL UNIQUE, identity TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS reluctant_log(n BIGINT PRIMARY KEY, policy INT NOT NULL, kind SMALLINT NOT NULL,
  time BIGINT NOT NULL, chain BIGINT NOT NULL, id TEXT NOT NULL, fact BYTEA NOT NULL);
CREATE TABLE IF NOT EXISTS reluctant_offer(n BIGINT PRIMARY KEY, data BYTEA NOT NULL);
CREATE TABLE IF NOT EXISTS reluctant_place(policy INT NOT NULL, id TEXT NOT NULL, n BIGINT NOT NULL, reward BIGINT,
  expiry BIGINT, PRIMARY KEY(policy, id));
CREATE INDEX IF NOT EXISTS reluctant_waiting ON reluctant_place(policy, n) WHERE reward IS NULL AND expiry IS NULL;
CREATE INDEX IF NOT EXISTS reluctant_decisions ON reluctant_log(policy, n) WHERE kind = 0;
CREATE TABLE IF NOT EXISTS reluctant_version(policy INT NOT NULL, n BIGINT NOT NULL, version BIGINT NOT NULL,
  time BIGINT NOT NULL, chain BIGINT NOT NULL, state BYTEA NOT NULL, PRIMARY KEY(policy, n));
CREATE TABLE IF NOT EXISTS reluctant_published(policy INT PRIMARY KEY, n BIGINT NOT NULL, state BYTEA NOT NULL);
CREATE TABLE IF NOT EXISTS reluctant_lease(one INT PRIMARY KEY CHECK (one = 1), holder TEXT NOT NULL,
  until TIMESTAMPTZ NOT NULL);
INSERT INTO reluctant_lease VALUES(1, '', '-infinity') ON CONFLICT DO NOTHING;
";

/// A log in a database.
pub struct Postgres {
    address: String,
    client: Client,
    /// What this process is called in the lease.
    holder: String,
    open: bool,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address may hold a password.
        f.debug_struct("Postgres").field("holder", &self.holder).finish_non_exhaustive()
    }
}

fn failed(cause: postgres::Error) -> ServeError {
    let said = cause.as_db_error().map_or_else(|| cause.to_string(), |cause| cause.message().to_owned());
    ServeError::Store(said)
}

fn connect(address: &str) -> Result<Client> {
    let config: Config = address.parse().map_err(failed)?;
    if config.get_ssl_mode() == SslMode::Require {
        let said = "sslmode=require: this program does not encrypt its connection to PostgreSQL; leave it out and use \
                    a socket, a network of your own or a tunnel";
        return Err(ServeError::Store(said.to_owned()));
    }
    let mut client = config.connect(NoTls).map_err(failed)?;
    client.batch_execute("SET synchronous_commit = on; SET client_min_messages = warning").map_err(failed)?;
    Ok(client)
}

/// A name that no other process has: two that are alike would both believe that they learn.
fn name() -> String {
    use std::hash::{BuildHasher, Hasher};
    let random = std::collections::hash_map::RandomState::new().build_hasher().finish();
    format!("{}-{random:016x}", std::process::id())
}

impl Postgres {
    /// Opens the log in the database at `address`, or begins one.
    pub fn open(address: &str) -> Result<Self> {
        let foreign = |cause: ServeError| ServeError::Foreign { store: shown(address), reason: cause.to_string() };
        let mut client = connect(address).map_err(foreign)?;
        let known = "SELECT to_regclass('reluctant_format') IS NOT NULL";
        if client.query_one(known, &[]).map_err(failed)?.get(0) {
            check(&mut client, address)?;
        }
        create(&mut client).map_err(failed)?;
        check(&mut client, address)?;
        Ok(Postgres { address: address.to_owned(), client, holder: name(), open: false })
    }

    /// The log in the database at `address`, to be read while others write it.
    pub fn reader(address: &str) -> Result<Self> {
        Ok(Postgres { address: address.to_owned(), client: connect(address)?, holder: name(), open: false })
    }

    /// Connects again if the connection was lost between two groups.
    fn revive(&mut self) -> Result<()> {
        if self.client.is_closed() && !self.open {
            self.client = connect(&self.address)?;
        }
        Ok(())
    }

    fn rows(&mut self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        self.revive()?;
        self.client.query(sql, values).map_err(failed)
    }

    fn execute(&mut self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64> {
        self.revive()?;
        self.client.execute(sql, values).map_err(failed)
    }
}

/// The address without what must not be shown.
fn shown(address: &str) -> String {
    match address.rsplit_once('@') {
        Some((_, rest)) => format!("postgres://…@{rest}"),
        None => address.to_owned(),
    }
}

fn create(client: &mut Client) -> std::result::Result<(), postgres::Error> {
    let mut together = client.transaction()?;
    together.execute("SELECT pg_advisory_xact_lock($1)", &[&APPEND_LOCK])?;
    together.batch_execute(TABLES)?;
    let insert = "INSERT INTO reluctant_format SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM reluctant_format)";
    together.execute(insert, &[&FORMAT])?;
    together.commit()
}

fn check(client: &mut Client, address: &str) -> Result<()> {
    let found = client.query_opt("SELECT max(format) FROM reluctant_format", &[]).map_err(failed)?;
    match found.and_then(|row| row.get::<_, Option<i64>>(0)) {
        Some(found) if found > FORMAT => Err(ServeError::Newer { store: shown(address), found, known: FORMAT }),
        _ => Ok(()),
    }
}

const EVENT: &str = "n, policy, time, chain, id, fact";

fn event(row: &Row) -> Result<Event> {
    let number = |at: usize| row.get::<_, i64>(at) as u64;
    let (n, fact) = (number(0), row.get::<_, &[u8]>(5));
    let policy = row.get::<_, i32>(1) as u32;
    Ok(Event { n, policy, time: number(2), chain: number(3), id: row.get(4), fact: read_fact(n, fact)? })
}

fn maybe(row: &Row, at: usize) -> Option<u64> {
    row.get::<_, Option<i64>>(at).map(|n| n as u64)
}

impl Store for Postgres {
    fn register(&mut self, name: &str, identity: &str) -> Result<(u32, String)> {
        let insert = "INSERT INTO reluctant_policy(name, identity) VALUES($1, $2) ON CONFLICT DO NOTHING";
        self.execute(insert, &[&name, &identity])?;
        let rows = self.rows("SELECT id, identity FROM reluctant_policy WHERE name = $1", &[&name])?;
        let row = rows.first().ok_or_else(|| ServeError::Store(format!("policy '{name}' cannot be registered")))?;
        Ok((row.get::<_, i32>(0) as u32, row.get(1)))
    }

    fn begin(&mut self) -> Result<End> {
        self.revive()?;
        self.client.batch_execute("BEGIN").map_err(failed)?;
        self.open = true;
        self.execute("SELECT pg_advisory_xact_lock($1)", &[&APPEND_LOCK])?;
        self.end()
    }

    fn append(&mut self, event: &Event, fact: &[u8], offer: &[u8]) -> Result<()> {
        let kind = event.fact.kind();
        let [n, time, chain] = [event.n, event.time, event.chain].map(|x| x as i64);
        let (policy, number) = (event.policy as i32, kind as u8 as i16);
        let insert =
            "INSERT INTO reluctant_log(n, policy, kind, time, chain, id, fact) VALUES($1, $2, $3, $4, $5, $6, $7)";
        self.execute(insert, &[&n, &policy, &number, &time, &chain, &event.id, &fact])?;
        let sql = match kind {
            Kind::Order => return Ok(()),
            Kind::Decision => "INSERT INTO reluctant_place(n, policy, id) VALUES($1, $2, $3)",
            Kind::Reward => "UPDATE reluctant_place SET reward = $1 WHERE policy = $2 AND id = $3",
            Kind::Expiry => "UPDATE reluctant_place SET expiry = $1 WHERE policy = $2 AND id = $3",
        };
        self.execute(sql, &[&n, &policy, &event.id])?;
        if kind == Kind::Decision {
            self.execute("INSERT INTO reluctant_offer(n, data) VALUES($1, $2)", &[&n, &offer])?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.client.batch_execute("COMMIT").map_err(failed)?;
        self.open = false;
        Ok(())
    }

    fn abandon(&mut self) {
        // If the connection is gone, so is the transaction.
        if std::mem::take(&mut self.open) {
            let _ = self.client.batch_execute("ROLLBACK");
        }
    }

    fn end(&mut self) -> Result<End> {
        let rows = self.rows("SELECT n, time, chain FROM reluctant_log ORDER BY n DESC LIMIT 1", &[])?;
        Ok(rows.first().map_or_else(End::default, |row| {
            let number = |at: usize| row.get::<_, i64>(at) as u64;
            End { n: number(0), time: number(1), chain: number(2) }
        }))
    }

    fn find(&mut self, policy: u32, id: &str) -> Result<Option<Place>> {
        let sql = "SELECT n, reward, expiry FROM reluctant_place WHERE policy = $1 AND id = $2";
        let rows = self.rows(sql, &[&(policy as i32), &id])?;
        Ok(rows.first().map(|row| Place {
            n: row.get::<_, i64>(0) as u64,
            reward: maybe(row, 1),
            expiry: maybe(row, 2),
        }))
    }

    fn event(&mut self, n: u64) -> Result<Option<Event>> {
        let rows = self.rows(&format!("SELECT {EVENT} FROM reluctant_log WHERE n = $1"), &[&(n as i64)])?;
        rows.first().map(event).transpose()
    }

    fn offer(&mut self, n: u64) -> Result<Vec<u8>> {
        let rows = self.rows("SELECT data FROM reluctant_offer WHERE n = $1", &[&(n as i64)])?;
        let missing = || ServeError::Store(format!("the offer of event {n} is missing from the log"));
        rows.first().map(|row| row.get(0)).ok_or_else(missing)
    }

    fn each(&mut self, policy: u32, after: u64, to: u64, visit: &mut Visit<'_>) -> Result<()> {
        let sql =
            format!("SELECT {EVENT} FROM reluctant_log WHERE n > $1 AND n <= $2 AND policy = $3 ORDER BY n LIMIT $4");
        let (mut after, to) = (after as i64, i64::try_from(to).unwrap_or(i64::MAX));
        loop {
            let rows = self.rows(&sql, &[&after, &to, &(policy as i32), &PIECE])?;
            for row in &rows {
                let event = event(row)?;
                after = event.n as i64;
                visit(event)?;
            }
            if (rows.len() as i64) < PIECE {
                return Ok(());
            }
        }
    }

    fn last_decisions(&mut self, policy: u32, count: usize) -> Result<Vec<Event>> {
        let sql = format!("SELECT {EVENT} FROM reluctant_log WHERE policy = $1 AND kind = 0 ORDER BY n DESC LIMIT $2");
        self.rows(&sql, &[&(policy as i32), &(count as i64)])?.iter().map(event).collect()
    }

    fn waiting(&mut self, policy: u32, count: usize) -> Result<Vec<Waiting>> {
        let sql = "SELECT place.n, place.id, log.time FROM reluctant_place place \
                   JOIN reluctant_log log ON log.n = place.n WHERE place.policy = $1 AND place.reward IS NULL AND \
                   place.expiry IS NULL ORDER BY place.n LIMIT $2";
        let rows = self.rows(sql, &[&(policy as i32), &(count as i64)])?;
        let waiting =
            |row: &Row| Waiting { n: row.get::<_, i64>(0) as u64, id: row.get(1), time: row.get::<_, i64>(2) as u64 };
        Ok(rows.iter().map(waiting).collect())
    }

    fn save_version(&mut self, policy: u32, version: Version, state: &[u8], keep: usize) -> Result<()> {
        let Version { n, version, time, chain } = version;
        let [n, version, time, chain] = [n, version, time, chain].map(|x| x as i64);
        let policy = policy as i32;
        // Whoever else folded the log up to here has found the same.
        let insert = "INSERT INTO reluctant_version(policy, n, version, time, chain, state) \
                      VALUES($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
        self.execute(insert, &[&policy, &n, &version, &time, &chain, &state])?;
        let prune = "DELETE FROM reluctant_version WHERE policy = $1 AND n NOT IN \
                     (SELECT n FROM reluctant_version WHERE policy = $1 ORDER BY n DESC LIMIT $2)";
        self.execute(prune, &[&policy, &(keep as i64)]).map(drop)
    }

    fn versions(&mut self, policy: u32) -> Result<Vec<Version>> {
        let sql = "SELECT n, version, time, chain FROM reluctant_version WHERE policy = $1 ORDER BY n DESC";
        let rows = self.rows(sql, &[&(policy as i32)])?;
        let version = |row: &Row| {
            let number = |at: usize| row.get::<_, i64>(at) as u64;
            Version { n: number(0), version: number(1), time: number(2), chain: number(3) }
        };
        Ok(rows.iter().map(version).collect())
    }

    fn version_state(&mut self, policy: u32, n: u64) -> Result<Option<Vec<u8>>> {
        let sql = "SELECT state FROM reluctant_version WHERE policy = $1 AND n = $2";
        let rows = self.rows(sql, &[&(policy as i32), &(n as i64)])?;
        Ok(rows.first().map(|row| row.get(0)))
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn lease(&mut self) -> Result<bool> {
        let sql = format!("SELECT holder = $1 AND until > clock_timestamp() + interval '{RENEW}' FROM reluctant_lease");
        let holder = self.holder.clone();
        if self.rows(&sql, &[&holder])?.first().is_some_and(|row| row.get(0)) {
            return Ok(true);
        }
        let take = format!(
            "UPDATE reluctant_lease SET holder = $1, until = clock_timestamp() + interval '{LEASE}' \
             WHERE holder = $1 OR until < clock_timestamp()"
        );
        Ok(self.execute(&take, &[&holder])? > 0)
    }

    fn publish(&mut self, policy: u32, n: u64, state: &[u8]) -> Result<()> {
        // One who was the learner once and has not heard of its end cannot undo what its successor published.
        let sql = "INSERT INTO reluctant_published(policy, n, state) VALUES($1, $2, $3) ON CONFLICT(policy) DO UPDATE \
                   SET n = excluded.n, state = excluded.state WHERE reluctant_published.n < excluded.n";
        self.execute(sql, &[&(policy as i32), &(n as i64), &state]).map(drop)
    }

    fn published(&mut self, policy: u32, after: u64) -> Result<Option<Vec<u8>>> {
        let sql = "SELECT state FROM reluctant_published WHERE policy = $1 AND n > $2";
        Ok(self.rows(sql, &[&(policy as i32), &(after as i64)])?.first().map(|row| row.get(0)))
    }
}
