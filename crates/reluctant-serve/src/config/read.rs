//! From the text of `service.toml` to a checked [`Config`].

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use reluctant::params::Kind;
use reluctant::{Key, Registry, Settings, Space};
use toml::de::DeTable;

use super::toml_table::{Source, Table};
use super::{Config, Limits, Mode, PolicySpec, Role, StoreSpec, Tokens};
use crate::error::{Result, ServeError};

const ROOT: &[&str] = &["listen", "store", "snapshot_every", "versions", "log_requests", "tokens", "limits", "policy"];
const LIMITS: &[&str] = &["body", "arms", "batch", "rate", "timeout", "connections"];
/// What the service reads of a policy's table; the rest are the policy's own parameters.
const OWN: &[&str] =
    &["name", "kind", "dim", "context", "action_features", "seed", "mode", "reward_wait", "default_reward"];
/// A name is part of addresses and file names.
const NAME: &str = "letters, digits, '-' and '_', at most 64 of them";
/// What `/v1/policies` is must not be a policy.
const LIST: &str = "policies";
/// Longer waits would not fit the log's milliseconds, and nobody waits a century.
const LONGEST_WAIT: f64 = 3e9;

impl Config {
    /// Reads and checks the file at `path`.
    pub fn load(path: &Path, registry: &Registry) -> Result<Self> {
        let wrong = |message: String| ServeError::Config { file: path.to_owned(), line: None, message };
        let bytes = std::fs::read(path).map_err(|cause| wrong(format!("this file cannot be read: {cause}")))?;
        let text = String::from_utf8(bytes).map_err(|_| wrong("this is not TOML: it is not UTF-8 text".to_owned()))?;
        Config::parse(&text, path, registry)
    }

    /// Reads and checks `text`; `path` is named in errors, and paths within are meant from its folder.
    pub fn parse(text: &str, path: &Path, registry: &Registry) -> Result<Self> {
        let source = Source { text, path };
        let parsed = DeTable::parse(text).map_err(|cause| {
            let at = cause.span().map(|span| span.start);
            source.wrong(at, format!("this is not TOML: {}", cause.message().trim().replace('\n', ", ")))
        })?;
        let root = Table { source, entries: parsed.get_ref(), at: 0, owner: "the service" };
        root.known_keys(ROOT)?;
        let config = Config {
            listen: listen(&root)?,
            store: store(&root)?,
            snapshot_every: root.count("snapshot_every", 1, 1_000_000_000)?.unwrap_or(10_000),
            versions: root.count("versions", 1, 10_000)?.unwrap_or(50) as usize,
            log_requests: root.flag("log_requests")?.unwrap_or(true),
            tokens: tokens(&root)?,
            limits: limits(&root)?,
            policies: policies(&root, registry)?,
        };
        if config.tokens.0.is_empty() && !config.listen.ip().is_loopback() {
            let message =
                format!("without [tokens] the service listens only to its own machine, not on {}", config.listen);
            return Err(root.wrong("listen", message));
        }
        Ok(config)
    }
}

fn listen(root: &Table<'_>) -> Result<SocketAddr> {
    let text = root.text("listen")?.unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let refused = || root.wrong("listen", format!("listen is '{text}': write an address and a port, 127.0.0.1:8080"));
    text.parse().map_err(|_| refused())
}

fn store(root: &Table<'_>) -> Result<StoreSpec> {
    let text = root.required_text("store", "the path of a file, or postgres://…")?;
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        if cfg!(not(feature = "postgres")) {
            return Err(root.wrong("store", "this program was built without PostgreSQL (its feature postgres)"));
        }
        return Ok(StoreSpec::Postgres(text));
    }
    if text.contains("://") {
        return Err(root.wrong("store", format!("store is '{text}': it must be the path of a file, or postgres://…")));
    }
    Ok(StoreSpec::File(root.source.path.parent().map_or_else(|| text.clone().into(), |folder| folder.join(&text))))
}

fn tokens(root: &Table<'_>) -> Result<Tokens> {
    let Some(table) = root.table("tokens", "tokens")? else { return Ok(Tokens::default()) };
    table.known_keys(&["decide", "reward", "admin"])?;
    let mut all = Vec::new();
    for role in [Role::Decide, Role::Reward, Role::Admin] {
        for text in table.texts(role.name())? {
            let digest = text.strip_prefix("sha256:").and_then(digest);
            let refused = || {
                let message =
                    format!("{} must be 'sha256:' and the 64 hexadecimal digits of a token's hash", role.name());
                table.wrong(role.name(), message)
            };
            all.push((role, digest.ok_or_else(refused)?));
        }
    }
    if all.is_empty() {
        return Err(table.source.wrong(Some(table.at), "[tokens] names no token: give some, or leave the table out"));
    }
    Ok(Tokens(all))
}

fn digest(hex: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    for (byte, digits) in digest.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(digest)
}

fn limits(root: &Table<'_>) -> Result<Limits> {
    let mut limits = Limits::default();
    let Some(table) = root.table("limits", "limits")? else { return Ok(limits) };
    table.known_keys(LIMITS)?;
    let size =
        |key, default: usize, most| -> Result<usize> { Ok(table.count(key, 1, most)?.map_or(default, |n| n as usize)) };
    limits.body = size("body", limits.body, 1 << 30)?;
    limits.arms = size("arms", limits.arms, 1_000_000)?;
    limits.batch = size("batch", limits.batch, 100_000)?;
    limits.connections = size("connections", limits.connections, 1_000_000)?;
    limits.rate = table.real("rate", Kind::NOT_NEGATIVE)?.unwrap_or(limits.rate);
    let seconds = table.real("timeout", Kind::Real { min: 0.001, max: 3600.0, above: false, below: false })?;
    limits.timeout = seconds.map_or(limits.timeout, Duration::from_secs_f64);
    Ok(limits)
}

fn policies(root: &Table<'_>, registry: &Registry) -> Result<Vec<PolicySpec>> {
    let tables = root.tables("policy", "the policy")?;
    if tables.is_empty() {
        return Err(root.source.wrong(None, "there is no policy: write [[policy]] at least once"));
    }
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for table in &tables {
        let spec = policy(table, registry)?;
        if !seen.insert(spec.name.clone()) {
            return Err(table.wrong("name", format!("two policies are called '{}': give each its own name", spec.name)));
        }
        all.push(spec);
    }
    Ok(all)
}

fn policy(table: &Table<'_>, registry: &Registry) -> Result<PolicySpec> {
    let name = table.required_text("name", "what the policy is called in addresses")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.len() > 64 || !name.chars().all(plain) {
        return Err(table.wrong("name", format!("name is '{name}': it may have {NAME}")));
    }
    if name == LIST {
        return Err(table.wrong("name", format!("name is '{LIST}': that address is the list of all policies")));
    }
    let kind = table.required_text("kind", "a policy of `reluctant list`")?;
    let entry = registry.policy(&kind).map_err(|cause| table.wrong("kind", cause))?;
    if kind == "oracle" {
        return Err(table.wrong("kind", "oracle reads the mean rewards of a round, which no service knows"));
    }
    let mut settings = Settings::new();
    for (key, value) in table.entries.iter() {
        let key = key.get_ref().as_ref();
        if !OWN.contains(&key) {
            settings.set(key, table.value(key, value.get_ref())?);
        }
    }
    let spec = PolicySpec {
        space: space(table)?,
        seed: table.count("seed", 0, u64::MAX)?.unwrap_or(1),
        mode: mode(table)?,
        reward_wait: reward_wait(table)?,
        default_reward: table.real("default_reward", Kind::ANY)?,
        name,
        kind,
        settings,
    };
    if spec.default_reward.is_some() && spec.reward_wait.is_none() {
        return Err(table.wrong("default_reward", "default_reward needs reward_wait: after how many seconds it counts"));
    }
    entry.build(spec.space, &spec.settings, Key::new(spec.seed)).map_err(|cause| table.misfit(&cause))?;
    Ok(spec)
}

fn space(table: &Table<'_>) -> Result<Space> {
    let most = reluctant::limits::MAX_FEATURES as u64;
    let dim = table.count("dim", 1, most)?;
    let context = table.count("context", 1, most)?;
    let features = table.count("action_features", 1, most)?;
    match (dim, context, features) {
        (Some(dim), None, None) => Ok(Space::Vectors { dim: dim as usize }),
        (None, Some(dim), features) => {
            Ok(Space::Contexts { dim: dim as usize, action_dim: features.unwrap_or(0) as usize })
        }
        _ => {
            let message = "give either dim, the dimension of arms, or context, the dimension of contexts (with \
                           action_features where actions have features)";
            Err(table.source.wrong(Some(table.at), message))
        }
    }
}

fn mode(table: &Table<'_>) -> Result<Mode> {
    let modes = [Mode::Online, Mode::Apprentice, Mode::LogOnly];
    let Some(text) = table.text("mode")? else { return Ok(Mode::Online) };
    let found = modes.into_iter().find(|mode| mode.name() == text);
    found.ok_or_else(|| {
        let cause = reluctant::Error::unknown("mode", &text, modes.iter().map(|mode| mode.name()));
        table.wrong("mode", cause)
    })
}

fn reward_wait(table: &Table<'_>) -> Result<Option<u64>> {
    let kind = Kind::Real { min: 0.0, max: LONGEST_WAIT, above: true, below: false };
    Ok(table.real("reward_wait", kind)?.map(|seconds| (seconds * 1e3) as u64))
}
