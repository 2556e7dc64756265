//! An environment written in Python, as the lab sees it: `reluctant.own.OwnEnvironment` starts it, and its rounds are
//! read here.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use reluctant::env::{Build, Entry};
use reluctant::round::{Means, Noise};
use reluctant::{Context, Environment, Error, Key, Name, Offer, Result, Round, RoundMemory, Rows, Space, Value};

use crate::arrays::Numbers;
use crate::own::{Raised, interned, seed_and_trial};
use crate::values::read as read_value;

/// The environment of one trial.
#[derive(Debug)]
struct OwnEnvironment {
    name: &'static str,
    /// `reluctant.own.Trial`.
    trial: Py<PyAny>,
    space: Space,
    rounds: Option<u64>,
    facts: Vec<(&'static str, Value)>,
    code: String,
    raised: Raised,
    /// Round 1 as it was when it was first asked for: it tells what kind of offers there are.
    first: (RoundMemory, Extent),
}

/// What a [`RoundMemory`] holds besides its numbers.
#[derive(Debug, Clone, Copy)]
struct Extent {
    /// The dimension of an arm or of a context.
    dim: usize,
    /// The dimension of an action's features; `None` for arms.
    action_dim: Option<usize>,
    noise: Told,
}

/// How noise was told.
#[derive(Debug, Clone, Copy)]
enum Told {
    Added(f64),
    Each,
    Coin(f64),
}

/// The row of a registry that makes such an environment; `own` is a `reluctant.own.OwnEnvironment`.
pub(crate) fn entry(own: &Bound<'_, PyAny>, raised: Raised) -> PyResult<Entry> {
    let name = interned(&own.getattr("name")?.extract::<String>()?);
    let code: String = own.getattr("code")?.extract()?;
    let own = own.clone().unbind();
    let build = move |_: &reluctant::Params, key: Key| -> Result<Box<dyn Environment>> {
        let built = OwnEnvironment::start(&own, name, &code, key, raised.clone())?;
        Ok(Box::new(built))
    };
    Ok(Entry {
        name,
        summary: "an environment written in Python",
        citation: "none",
        params: &[],
        samples: &[],
        build: Build::Own(Arc::new(build)),
    })
}

impl OwnEnvironment {
    fn start(own: &Py<PyAny>, name: &'static str, code: &str, key: Key, raised: Raised) -> Result<Self> {
        let (seed, trial) = seed_and_trial(key)?;
        let (trial, dim, action_dim, rounds, facts) = raised.keep(Python::attach(|py| {
            let trial = own.bind(py).call_method1("start", (seed, trial))?;
            let count = |attribute| trial.getattr(attribute)?.extract::<Option<u64>>();
            let facts = trial.getattr("facts")?.cast_into::<pyo3::types::PyDict>()?;
            let facts = facts.iter().map(|(name, value)| {
                let name: String = name.extract()?;
                Ok((interned(&name), read_value(&name, &value)?))
            });
            let facts = facts.collect::<PyResult<Vec<_>>>()?;
            Ok((trial.clone().unbind(), count("dim")?, count("action_dim")?, count("rounds")?, facts))
        }))?;
        let mut memory = RoundMemory::default();
        let extent = ask(&trial, name, 1, &raised, &mut memory)?;
        let stated = |number: Option<u64>, found: usize| number.map_or(found, |number| number as usize);
        let space = match extent.action_dim {
            None => Space::Vectors { dim: stated(dim, extent.dim) },
            Some(found) => Space::Contexts { dim: stated(dim, extent.dim), action_dim: stated(action_dim, found) },
        };
        let environment = OwnEnvironment {
            name,
            trial,
            space,
            rounds,
            facts,
            code: code.to_owned(),
            raised,
            first: (RoundMemory::default(), extent),
        };
        environment.checked(1, &memory, extent)?;
        Ok(OwnEnvironment { first: (memory, extent), ..environment })
    }

    /// What memory holds as a round, if it is one.
    fn checked<'a>(&self, t: u64, memory: &'a RoundMemory, extent: Extent) -> Result<Round<'a>> {
        let (found, needed) = (extent.action_dim, self.action_dim());
        if found.is_some() != needed.is_some() {
            let [now, first] = [found, needed].map(|dim| if dim.is_some() { "a context" } else { "arms" });
            return Err(self.wrong(t, &format!("it offers {now}, though round 1 offers {first}")));
        }
        let round = read_round(memory, extent).and_then(|round| {
            round.offer.expect_dim(self.space.dim())?;
            round.check().map(|()| round)
        });
        let round = round.map_err(|cause| self.wrong(t, &cause.to_string()))?;
        if found != needed {
            let [found, needed] = [found, needed].map(Option::unwrap_or_default);
            let sentence = format!("its action features have dimension {found}, but dimension {needed} is needed");
            return Err(self.wrong(t, &sentence));
        }
        Ok(round)
    }

    fn action_dim(&self) -> Option<usize> {
        match self.space {
            Space::Vectors { .. } => None,
            Space::Contexts { action_dim, .. } => Some(action_dim),
        }
    }

    fn wrong(&self, t: u64, sentence: &str) -> Error {
        wrong(self.name, t, sentence)
    }

    /// An error unless a round that was asked for twice is the same both times, to the bit.
    fn same(&self, t: u64, a: (&RoundMemory, Extent), b: (&RoundMemory, Extent)) -> Result<()> {
        let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let told = |extent: Extent| match extent.noise {
            Told::Each => (0, 0),
            Told::Added(noise) => (1, noise.to_bits()),
            Told::Coin(uniform) => (2, uniform.to_bits()),
        };
        let each = |(memory, extent): (&RoundMemory, Extent)| {
            let RoundMemory { numbers, means, noise, names, action_features } = memory;
            ([numbers, means, noise, action_features].map(|numbers| bits(numbers)), names.clone(), told(extent))
        };
        if each(a) == each(b) {
            return Ok(());
        }
        let sentence = "it is another one when it is asked for again; a round is a function of t and rng alone, \
                        so take all randomness from rng and change nothing";
        Err(self.wrong(t, sentence))
    }
}

fn wrong(name: &str, t: u64, sentence: &str) -> Error {
    Error::Environment(format!("round {t} of {name}: {sentence}"))
}

/// Asks for a round and writes it into memory.
fn ask(trial: &Py<PyAny>, name: &'static str, t: u64, raised: &Raised, memory: &mut RoundMemory) -> Result<Extent> {
    let RoundMemory { numbers, means, noise, action_features, .. } = memory;
    [&mut *numbers, means, noise, action_features].into_iter().for_each(Vec::clear);
    Python::attach(|py| {
        let answer = raised.keep(trial.bind(py).call_method1("round", (t,)))?;
        if let Ok(sentence) = answer.cast::<PyString>() {
            return Err(wrong(name, t, &sentence.to_string()));
        }
        read_answer(&answer, memory).map_err(|cause| wrong(name, t, &cause.value(py).to_string()))
    })
}

/// The parts of a round as `reluctant.own.Trial` names them.
type Parts<'py> = (
    Bound<'py, PyAny>,
    Option<Vec<String>>,
    Option<Bound<'py, PyAny>>,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Option<f64>,
);

fn read_answer(answer: &Bound<'_, PyAny>, memory: &mut RoundMemory) -> PyResult<Extent> {
    let (offer, names, features, means, noise, coin): Parts<'_> = answer.extract()?;
    let copy = |numbers: &Numbers<'_>, to: &mut Vec<f64>| to.extend_from_slice(numbers.data());
    let (dim, action_dim) = match names {
        None => {
            let arms = Numbers::read("arms", &["arms", "coordinates"], &offer)?;
            copy(&arms, &mut memory.numbers);
            memory.names.clear();
            (arms.len(1), None)
        }
        Some(names) => {
            let context = Numbers::read("context", &["coordinates"], &offer)?;
            copy(&context, &mut memory.numbers);
            // Names rarely change from one round to the next.
            if !memory.names.iter().map(|name| &**name).eq(names.iter().map(String::as_str)) {
                memory.names = names.into_iter().map(Name::from).collect();
            }
            let mut action_dim = 0;
            if let Some(features) = features {
                let features = Numbers::read("action_features", &["actions", "features"], &features)?;
                copy(&features, &mut memory.action_features);
                action_dim = features.len(1);
            }
            (context.len(0), Some(action_dim))
        }
    };
    copy(&Numbers::read("means", &["actions"], &means)?, &mut memory.means);
    let noise = match (coin, noise.extract::<f64>()) {
        (Some(uniform), _) => Told::Coin(uniform),
        (None, Ok(noise)) => Told::Added(noise),
        (None, Err(_)) => {
            copy(&Numbers::read("noise", &["actions"], &noise)?, &mut memory.noise);
            Told::Each
        }
    };
    Ok(Extent { dim, action_dim, noise })
}

fn read_round(memory: &RoundMemory, extent: Extent) -> Result<Round<'_>> {
    let offer = match extent.action_dim {
        None => Offer::finite(extent.dim, &memory.numbers)?,
        Some(action_dim) => {
            let context = Context::new(&memory.numbers, &memory.names)?;
            Offer::Context(match action_dim {
                0 => context,
                dim => context.with_action_features(Rows::new(dim, &memory.action_features)?)?,
            })
        }
    };
    let noise = match extent.noise {
        Told::Added(noise) => Noise::Added(noise),
        Told::Each => Noise::Each(&memory.noise),
        Told::Coin(uniform) => Noise::Coin(uniform),
    };
    Ok(Round { offer, means: Means::Each(&memory.means), noise })
}

impl Environment for OwnEnvironment {
    fn space(&self) -> Space {
        self.space
    }

    fn round<'a>(&'a self, t: u64, memory: &'a mut RoundMemory) -> Result<Round<'a>> {
        if let Some(rounds) = self.rounds.filter(|rounds| t > *rounds) {
            return Err(Error::Exhausted { environment: self.name, rounds, asked: t });
        }
        let extent = ask(&self.trial, self.name, t, &self.raised, memory)?;
        if t == 1 {
            self.same(t, (memory, extent), (&self.first.0, self.first.1))?;
        } else if t.is_power_of_two() {
            let mut again = RoundMemory::default();
            let second = ask(&self.trial, self.name, t, &self.raised, &mut again)?;
            self.same(t, (memory, extent), (&again, second))?;
        }
        self.checked(t, memory, extent)
    }

    fn rounds(&self) -> Option<u64> {
        self.rounds
    }

    fn content(&self) -> Option<String> {
        Some(self.code.clone())
    }

    fn facts(&self) -> Vec<(&'static str, Value)> {
        self.facts.clone()
    }
}
