//! From the text of a TOML file to a checked [`Experiment`].

use std::collections::BTreeSet;
use std::path::Path;

use reluctant::params::{Initial, Kind, Param, Params};
use reluctant::{Environment, Error, Key, Registry, RoundMemory, Settings, Value, env, policy};
use toml::de::{DeTable, DeValue};

use crate::error::{LabError, Result};
use crate::grid::idle_list;
use crate::log::Form;
use crate::plan::Stage;
use crate::spec::{Contender, EnvironmentSpec, Experiment, LogSpec};

/// The most candidates a grid may have.
const MAX_CANDIDATES: usize = 10_000;
const MAX_ROUNDS: u64 = 1_000_000_000;
const MAX_TRIALS: u64 = 1_000_000;

impl Experiment {
    /// Reads and checks the file at `path`, which may name whatever `registry` knows.
    pub fn load(path: &Path, registry: &Registry) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(LabError::io("read", path))?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Self::parse(text, path, registry),
            Err(_) => {
                let message = "this is not TOML: it is not UTF-8 text".to_owned();
                Err(LabError::Input { file: path.to_owned(), line: None, message })
            }
        }
    }

    /// Reads and checks `text`; `path` is named in errors, and paths within are meant from its folder.
    pub fn parse(text: &str, path: &Path, registry: &Registry) -> Result<Self> {
        Reader { text, path, registry }.experiment()
    }
}

/// What a value of TOML is, in words.
fn with_article(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Parameters with the values of their lists.
type Grid = Vec<(String, Vec<Value>)>;

/// Reads an experiment and knows on which line everything stands.
struct Reader<'a> {
    text: &'a str,
    path: &'a Path,
    registry: &'a Registry,
}

/// A table of the file: its entries with the place of each.
type Table<'a> = DeTable<'a>;

impl<'a> Reader<'a> {
    fn experiment(&self) -> Result<Experiment> {
        let parsed = DeTable::parse(self.text).map_err(|cause| {
            let at = cause.span().map(|span| span.start);
            self.wrong(at, format!("this is not TOML: {}", cause.message().trim().replace('\n', ", ")))
        })?;
        let root = parsed.get_ref();
        self.known_keys(
            root,
            "experiment",
            &["name", "title", "seed", "rounds", "trials", "tuning", "log", "environment", "policy"],
        )?;
        let name = self.text_of(root, "name")?.unwrap_or_else(|| self.stem());
        let rounds = self.number_of(root, "rounds", 1, MAX_ROUNDS)?.unwrap_or(1000);
        let experiment = Experiment {
            title: self.text_of(root, "title")?.unwrap_or_else(|| name.clone()),
            seed: self.number_of(root, "seed", 0, u64::MAX)?.unwrap_or(1),
            trials: self.number_of(root, "trials", 1, MAX_TRIALS)?.unwrap_or(50),
            tuning_trials: self.tuning(root)?,
            environments: self.environments(root, rounds)?,
            contenders: self.contenders(root)?,
            log: self.log(root)?,
            name,
        };
        self.check_size(&experiment)?;
        self.check_meetings(root, &experiment)?;
        self.check_grids(root, &experiment)?;
        Ok(experiment)
    }

    fn stem(&self) -> String {
        self.path.file_stem().map_or("experiment".to_owned(), |stem| stem.to_string_lossy().into_owned())
    }

    /// A folder, or the files in it with an ending: `logs`, `logs/*.csv`.
    fn log(&self, root: &Table<'_>) -> Result<Option<LogSpec>> {
        let Some(text) = self.text_of(root, "log")? else { return Ok(None) };
        let ended = |form: Form| text.strip_suffix(&format!("/*.{}", form.ending())).map(|folder| (folder, form));
        let (folder, form) = match Form::ALL.into_iter().find_map(ended) {
            Some(found) => found,
            None if text.contains('*') => {
                let endings = Form::ALL.map(|form| format!("FOLDER/*.{}", form.ending()));
                let message = format!("log is '{text}': name a folder, or write {}", endings.join(" or "));
                return Err(self.wrong(self.place(root, "log"), message));
            }
            None => (text.as_str(), Form::JsonLines),
        };
        let folder = self.path.parent().map_or_else(|| folder.into(), |parent| parent.join(folder));
        Ok(Some(LogSpec { folder, form }))
    }

    fn tuning(&self, root: &Table<'_>) -> Result<u64> {
        let Some(value) = root.get("tuning") else { return Ok(10) };
        let Some(table) = value.get_ref().as_table() else {
            return Err(self.wrong(Some(value.span().start), "tuning must be a table, [tuning]".to_owned()));
        };
        self.known_keys(table, "tuning", &["trials"])?;
        Ok(self.number_of(table, "trials", 1, MAX_TRIALS)?.unwrap_or(10))
    }

    fn environments(&self, root: &Table<'_>, rounds: u64) -> Result<Vec<EnvironmentSpec>> {
        let mut environments = Vec::new();
        for (at, table) in self.tables(root, "environment")? {
            let kind = self.kind(table, at, "environment")?;
            let found = self.registry.environment(&kind);
            let entry = found.map_err(|cause| self.wrong(self.place(table, "kind").or(Some(at)), cause))?;
            let (mut settings, grid) = self.settings(table, &["kind", "label", "title", "rounds"])?;
            let grid = join_texts(entry.params, &mut settings, grid);
            if let Some((name, _)) = grid.first() {
                let message = format!(
                    "{name} of an environment must be one value, not a list; write [[environment]] once for each"
                );
                return Err(self.wrong(self.place(table, name).or(Some(at)), message));
            }
            Params::resolve(&kind, entry.params, &settings).map_err(|cause| self.misfit(table, at, cause))?;
            self.resolve_paths(entry.params, &mut settings);
            let mut environment = EnvironmentSpec {
                facts: Vec::new(),
                label: self.text_of(table, "label")?.unwrap_or_else(|| letter(environments.len())),
                title: String::new(),
                rounds: self.number_of(table, "rounds", 1, MAX_ROUNDS)?.unwrap_or(rounds),
                kind,
                settings,
                source: None,
            };
            let built = environment.meet(self.registry).map_err(|cause| self.misfit(table, at, cause))?;
            self.check_rounds(table, at, &environment, built.as_ref())?;
            let own = || built.title().unwrap_or_else(|| title(entry, &environment.settings));
            environment.title = self.text_of(table, "title")?.unwrap_or_else(own);
            environments.push((at, environment));
        }
        self.unique(environments.iter().map(|(at, environment)| (*at, environment.label.as_str())), "environment")?;
        Ok(environments.into_iter().map(|(_, environment)| environment).collect())
    }

    /// Paths are meant from the folder of the file that names them.
    fn resolve_paths(&self, params: &[Param], settings: &mut Settings) {
        let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return };
        for param in params.iter().filter(|param| param.kind == Kind::Path) {
            if let Some(Value::Word(path)) = settings.get(param.name) {
                let joined = folder.join(path).to_string_lossy().into_owned();
                settings.set(param.name, joined.as_str());
            }
        }
    }

    /// An error unless the environment has as many rounds as are to be played, and its first one is sound.
    fn check_rounds(
        &self,
        table: &Table<'_>,
        at: usize,
        environment: &EnvironmentSpec,
        built: &dyn Environment,
    ) -> Result<()> {
        let here = self.place(table, "rounds").or(Some(at));
        if let Some(most) = built.rounds().filter(|most| *most < environment.rounds) {
            let message =
                format!("{} has {most} rounds, and {} are to be played", environment.kind, environment.rounds);
            return Err(self.wrong(here, message));
        }
        let mut memory = RoundMemory::default();
        let first = built.round(1, &mut memory).and_then(|round| round.check());
        first.map_err(|cause| self.misfit(table, at, cause))
    }

    fn contenders(&self, root: &Table<'_>) -> Result<Vec<Contender>> {
        let mut contenders = Vec::new();
        for (at, table) in self.tables(root, "policy")? {
            let kind = self.kind(table, at, "policy")?;
            let entry = self.registry.policy(&kind);
            let entry = entry.map_err(|cause| self.wrong(self.place(table, "kind").or(Some(at)), cause))?;
            let (settings, grid) = self.settings(table, &["kind", "label"])?;
            let (settings, grid) = spelled(entry, &settings, grid).map_err(|cause| self.misfit(table, at, cause))?;
            let label = self.text_of(table, "label")?.unwrap_or_else(|| kind.clone());
            if grid
                .iter()
                .map(|(_, values)| values.len())
                .try_fold(1usize, |n, m| n.checked_mul(m))
                .is_none_or(|n| n > MAX_CANDIDATES)
            {
                return Err(
                    self.wrong(Some(at), format!("the grid of {label} has more than {MAX_CANDIDATES} candidates"))
                );
            }
            contenders.push((at, Contender { label, kind, settings, grid, code: None }));
        }
        self.unique(contenders.iter().map(|(at, contender)| (*at, contender.label.as_str())), "policy")?;
        Ok(contenders.into_iter().map(|(_, contender)| contender).collect())
    }

    /// An experiment is held in memory as a whole.
    fn check_size(&self, experiment: &Experiment) -> Result<()> {
        let tuned =
            |contender: &Contender| if contender.grid.is_empty() { 0 } else { contender.candidates().len() as u64 };
        let candidates: u64 = experiment.contenders.iter().map(tuned).sum();
        let reported = experiment.trials.saturating_mul(experiment.contenders.len() as u64);
        let tuning = experiment.tuning_trials.saturating_mul(candidates);
        let total = reported.saturating_add(tuning).saturating_mul(experiment.environments.len() as u64);
        if total <= MAX_TRIALS {
            return Ok(());
        }
        let message = format!("this experiment has {total} trials, tuning included; at most {MAX_TRIALS} are allowed");
        Err(self.wrong(None, message))
    }

    /// Builds every candidate of every policy in every environment once, so that no mistake waits for its trial.
    fn check_meetings(&self, root: &Table<'_>, experiment: &Experiment) -> Result<()> {
        let places = self.tables(root, "policy")?;
        for environment in &experiment.environments {
            let built = self.registry.build_environment(&environment.kind, &environment.settings, Key::new(0));
            let built = built.map_err(|cause| self.wrong(None, cause))?;
            let (space, mut memory) = (built.space(), RoundMemory::default());
            let first = built.round(1, &mut memory).map_err(|cause| self.wrong(None, cause))?;
            let sphere = first.offer.count().is_none();
            for (contender, (at, table)) in experiment.contenders.iter().zip(&places) {
                let entry = self.registry.policy(&contender.kind).map_err(|cause| self.misfit(table, *at, cause))?;
                for candidate in contender.candidates() {
                    let policy = experiment
                        .trial(self.registry, environment, contender, &candidate, Stage::Reported, 0)
                        .and_then(|trial| entry.build(space, &trial.policy_settings, Key::new(0)))
                        .map_err(|cause| self.misfit(table, *at, cause))?;
                    if sphere && (!entry.sphere || policy.needs_finite_arms()) {
                        let cause =
                            format!("in {}, {}", environment.label, Error::NeedsFiniteArms { policy: entry.name });
                        return Err(self.wrong(self.place(table, "kind").or(Some(*at)), cause));
                    }
                }
            }
        }
        Ok(())
    }

    /// Refuses to tune what makes no difference.
    fn check_grids(&self, root: &Table<'_>, experiment: &Experiment) -> Result<()> {
        for (contender, (at, table)) in experiment.contenders.iter().zip(self.tables(root, "policy")?) {
            let idle =
                idle_list(self.registry, experiment, contender).map_err(|cause| self.misfit(table, at, cause))?;
            if let Some(name) = idle {
                let message = format!(
                    "every value in the list of {name} makes the same policy, so that there is nothing to tune; leave \
                     it out, give one value, or change the setting of {} without which it has no effect",
                    contender.label
                );
                return Err(self.wrong(self.place(table, name), message));
            }
        }
        Ok(())
    }

    /// The tables `[[name]]` (or the one table `[name]`), each with its place.
    fn tables<'t>(&self, root: &'t Table<'a>, name: &str) -> Result<Vec<(usize, &'t Table<'a>)>> {
        let missing = || format!("{name} is missing: write at least one [[{name}]] with its kind");
        let value = root.get(name).ok_or_else(|| self.wrong(None, missing()))?;
        let not_table = |at| self.wrong(Some(at), format!("{name} must be a table, [[{name}]]"));
        match value.get_ref() {
            DeValue::Table(table) => Ok(vec![(value.span().start, table)]),
            DeValue::Array(array) if array.is_empty() => Err(self.wrong(Some(value.span().start), missing())),
            DeValue::Array(array) => array
                .iter()
                .map(|item| match item.get_ref() {
                    DeValue::Table(table) => Ok((item.span().start, table)),
                    _ => Err(not_table(item.span().start)),
                })
                .collect(),
            _ => Err(not_table(value.span().start)),
        }
    }

    fn kind(&self, table: &Table<'_>, at: usize, what: &str) -> Result<String> {
        let known: Vec<&str> = match what {
            "policy" => self.registry.policies().iter().map(|entry| entry.name).collect(),
            _ => self.registry.environments().iter().map(|entry| entry.name).collect(),
        };
        let missing = || format!("kind of this {what} is missing: one of {}", known.join(", "));
        self.text_of(table, "kind")?.ok_or_else(|| self.wrong(Some(at), missing()))
    }

    /// The parameters of a table: single values, and lists as grids. `own` are the keys that are not parameters.
    fn settings(&self, table: &Table<'_>, own: &[&str]) -> Result<(Settings, Grid)> {
        let (mut settings, mut grid) = (Settings::new(), Vec::new());
        for (key, value) in table.iter().filter(|(key, _)| !own.contains(&key.get_ref().as_ref())) {
            let name = key.get_ref().as_ref();
            let at = value.span().start;
            match value.get_ref() {
                DeValue::Array(items) => {
                    let values = items.iter().map(|item| self.value(name, item.span().start, item.get_ref()));
                    let values: Vec<Value> = values.collect::<Result<_>>()?;
                    if values.is_empty() {
                        return Err(
                            self.wrong(Some(at), format!("the list of {name} is empty: give at least one value"))
                        );
                    }
                    grid.push((name.to_owned(), values));
                }
                single => settings.set(name, self.value(name, at, single)?),
            }
        }
        Ok((settings, grid))
    }

    fn value(&self, name: &str, at: usize, value: &DeValue<'_>) -> Result<Value> {
        let wrong =
            |found: &str| self.wrong(Some(at), format!("{name} must be a number, a word or true/false, not {found}"));
        match value {
            DeValue::String(word) => Ok(Value::Word(word.to_string())),
            DeValue::Boolean(flag) => Ok(Value::Flag(*flag)),
            DeValue::Float(float) => float.as_str().parse().map(Value::Real).map_err(|_| wrong("this float")),
            DeValue::Integer(integer) => {
                let digits = integer.as_str();
                u64::from_str_radix(digits, integer.radix())
                    .map(Value::Count)
                    .or_else(|_| digits.parse::<f64>().map(Value::Real))
                    .map_err(|_| wrong("this integer"))
            }
            other => Err(wrong(with_article(other))),
        }
    }

    fn text_of(&self, table: &Table<'_>, key: &str) -> Result<Option<String>> {
        match table.get(key) {
            None => Ok(None),
            Some(value) => match value.get_ref().as_str() {
                Some(text) if !text.trim().is_empty() => Ok(Some(text.to_owned())),
                Some(_) => Err(self.wrong(Some(value.span().start), format!("{key} is empty: give it some text"))),
                None => {
                    let found = with_article(value.get_ref());
                    Err(self.wrong(Some(value.span().start), format!("{key} must be text in quotes, not {found}")))
                }
            },
        }
    }

    /// A count of the experiment's own, by the rules that the counts of policies follow.
    fn number_of(&self, table: &Table<'_>, key: &'static str, min: u64, max: u64) -> Result<Option<u64>> {
        let Some(value) = table.get(key) else { return Ok(None) };
        let at = value.span().start;
        let count = Param::new(key, Initial::Required, Kind::Count { min, max }, "");
        if let listed @ (DeValue::Array(_) | DeValue::Table(_) | DeValue::Datetime(_)) = value.get_ref() {
            let message = format!("{key} must be {}, not {}", count.allowed(), with_article(listed));
            return Err(self.wrong(Some(at), message));
        }
        let given = Settings::new().with(key, self.value(key, at, value.get_ref())?);
        let checked = Params::resolve("the experiment", &[count], &given).and_then(|params| params.count(key));
        checked.map(Some).map_err(|cause| self.wrong(Some(at), cause))
    }

    fn known_keys(&self, table: &Table<'_>, owner: &str, known: &[&str]) -> Result<()> {
        for (key, _) in table.iter() {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let cause = Error::unknown(format!("key of the {owner}"), name, known.iter().copied());
                return Err(self.wrong(Some(key.span().start), cause));
            }
        }
        Ok(())
    }

    fn unique<'l>(&self, labels: impl Iterator<Item = (usize, &'l str)>, what: &str) -> Result<()> {
        let mut seen = BTreeSet::new();
        for (at, label) in labels {
            if !seen.insert(label) {
                let message = format!("two of the {what} tables have the label '{label}': give each its own");
                return Err(self.wrong(Some(at), message));
            }
        }
        Ok(())
    }

    fn place(&self, table: &Table<'_>, key: &str) -> Option<usize> {
        table.iter().find(|(found, _)| found.get_ref().as_ref() == key).map(|(found, _)| found.span().start)
    }

    /// A parameter's error, at the line of that parameter if it stands in the table.
    fn misfit(&self, table: &Table<'_>, at: usize, cause: Error) -> LabError {
        let name = match &cause {
            Error::OutOfRange { name, .. } => Some(name.as_ref()),
            Error::WrongType { name, .. } | Error::Unknown { name, .. } => Some(name.as_str()),
            Error::GivenTwice { name, .. } | Error::NoEffect { name, .. } => Some(*name),
            _ => None,
        };
        self.wrong(name.and_then(|name| self.place(table, name)).or(Some(at)), cause)
    }

    fn wrong(&self, at: Option<usize>, message: impl ToString) -> LabError {
        let line = at.map(|at| self.text[..at.min(self.text.len())].matches('\n').count() + 1);
        LabError::Input { file: self.path.to_owned(), line, message: message.to_string() }
    }
}

/// Settings and lists with every parameter under its first name.
fn spelled(entry: &policy::Entry, settings: &Settings, grid: Grid) -> reluctant::Result<(Settings, Grid)> {
    let mut all = settings.clone();
    for (name, values) in &grid {
        for value in values {
            entry.spelled(&Settings::new().with(name, value.clone()))?;
            all.set(name, value.clone());
        }
    }
    let all = entry.spelled(&all)?;
    let first = |name: String| if all.get(&name).is_some() { name } else { policy::CHANCE.name.to_owned() };
    Ok((entry.spelled(settings)?, grid.into_iter().map(|(name, values)| (first(name), values)).collect()))
}

/// Lists of words for parameters that are texts become texts with commas; the other lists are left.
fn join_texts(params: &[Param], settings: &mut Settings, grid: Grid) -> Grid {
    let is_text = |name: &str| params.iter().any(|param| param.name == name && matches!(param.kind, Kind::Text(_)));
    let (texts, grid): (Grid, Grid) = grid.into_iter().partition(|(name, _)| is_text(name));
    for (name, values) in texts {
        let words: Vec<String> = values.iter().map(Value::to_string).collect();
        settings.set(&name, words.join(",").as_str());
    }
    grid
}

/// a, b, c, …
fn letter(index: usize) -> String {
    match u8::try_from(index) {
        Ok(i) if i < 26 => char::from(b'a' + i).to_string(),
        _ => format!("{}", index + 1),
    }
}

/// A title that says what distinguishes an environment: d, k and the noise.
fn title(entry: &env::Entry, settings: &Settings) -> String {
    let kind = entry.name;
    let Ok(params) = Params::resolve(kind, entry.params, settings) else { return kind.to_owned() };
    let parts = [("dim", "d"), ("neurons", "k")].into_iter();
    let parts = parts.filter_map(|(name, symbol)| params.get(name).map(|value| format!("{symbol} = {value}")));
    let title = parts.collect::<Vec<_>>().join(", ");
    if title.is_empty() { kind.to_owned() } else { title }
}
