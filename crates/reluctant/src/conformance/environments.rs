//! The checks that every environment must pass, for those of this crate and for anyone's own.
//!
//! ```
//! use reluctant::conformance::environments::CHECKS;
//! use reluctant::{Settings, env};
//!
//! let make = |key| env::build("linear-sphere", &Settings::new().with("arms", 30u64), key);
//! for check in CHECKS {
//!     assert_eq!((check.run)(&make), Ok(()), "{}: {}", check.name, check.why);
//! }
//! ```

use std::fmt;

use crate::env::Environment;
use crate::error::{Error, Result};
use crate::offer::{Offer, Space};
use crate::rng::Key;
use crate::round::{Means, Noise, Round, RoundMemory};

/// Makes the environment under test; the key names seed and trial.
pub type Make<'a> = &'a (dyn Fn(Key) -> Result<Box<dyn Environment>> + Sync);

/// One thing that every environment must do.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// Why it matters, in one sentence.
    pub why: &'static str,
    /// What went wrong, if something did.
    pub run: fn(Make<'_>) -> std::result::Result<(), String>,
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Every check there is.
pub static CHECKS: &[Check] = &[
    Check {
        name: "rounds_are_sound",
        why: "everything on offer has a finite mean reward and fits the space that policies are made for",
        run: rounds_are_sound,
    },
    Check {
        name: "same_round_same_bits",
        why: "every policy meets the same rounds, whoever asked for which before",
        run: same_round_same_bits,
    },
    Check {
        name: "threads_see_the_same_bits",
        why: "results must not depend on the number of threads",
        run: threads_see_the_same_bits,
    },
    Check {
        name: "another_trial_other_rounds",
        why: "trials are independent of each other",
        run: another_trial_other_rounds,
    },
    Check {
        name: "ends_where_it_says",
        why: "an experiment that is too long for its data is refused before it begins",
        run: ends_where_it_says,
    },
];

/// How many rounds are looked at.
const ROUNDS: u64 = 200;

const KEY: Key = Key::new(11);

type Outcome = std::result::Result<(), String>;

/// An error of the environment, with what was asked.
fn failed(what: impl fmt::Display) -> impl FnOnce(Error) -> String {
    move |cause| format!("{what}: {cause}")
}

fn made(make: Make<'_>, key: Key) -> std::result::Result<Box<dyn Environment>, String> {
    make(key).map_err(failed("it cannot be made"))
}

/// The last round that is looked at.
fn last(environment: &dyn Environment) -> u64 {
    environment.rounds().map_or(ROUNDS, |rounds| rounds.min(ROUNDS))
}

/// All numbers and names of a round, as bits.
fn bits(environment: &dyn Environment, t: u64, memory: &mut RoundMemory) -> std::result::Result<Vec<u64>, String> {
    let round = environment.round(t, memory).map_err(failed(format_args!("round {t}")))?;
    let mut out = Vec::new();
    let mut add = |numbers: &[f64]| {
        out.push(numbers.len() as u64);
        out.extend(numbers.iter().map(|x| x.to_bits()));
    };
    match round.offer {
        Offer::Rows(rows) => add(rows.data()),
        Offer::Sphere { dim } => add(&[dim as f64]),
        Offer::Context(context) => {
            add(context.features());
            (0..context.names().len()).for_each(|i| add(context.features_of(i)));
        }
    }
    match round.means {
        Means::Each(means) => add(means),
        Means::Sphere(reward) => {
            let best = reward.best_action();
            add(best);
            add(&[reward.best(), reward.average(), reward.mean(best)]);
        }
    }
    match round.noise {
        Noise::Added(noise) | Noise::Coin(noise) => add(&[noise]),
        Noise::Each(noise) => add(noise),
    }
    if let Offer::Context(context) = round.offer {
        context.names().iter().for_each(|name| out.extend(name.bytes().map(u64::from)));
    }
    Ok(out)
}

/// The bits of all rounds that are looked at.
fn all_bits(environment: &dyn Environment) -> std::result::Result<Vec<Vec<u64>>, String> {
    let mut memory = RoundMemory::default();
    (1..=last(environment)).map(|t| bits(environment, t, &mut memory)).collect()
}

fn rounds_are_sound(make: Make<'_>) -> Outcome {
    let environment = made(make, KEY)?;
    let mut memory = RoundMemory::default();
    for t in 1..=last(environment.as_ref()) {
        let round = environment.round(t, &mut memory).map_err(failed(format_args!("round {t}")))?;
        round.check().map_err(failed(format_args!("round {t}")))?;
        if !fits(&round, environment.space()) {
            return Err(format!("round {t} offers {:?}, which is not of {:?}", round.offer, environment.space()));
        }
        let (best, average) = round.best_and_average();
        if !(best.is_finite() && average.is_finite() && average <= best + 1e-9 * best.abs()) {
            return Err(format!("round {t}: the best mean reward is {best}, the average one {average}"));
        }
    }
    Ok(())
}

fn fits(round: &Round<'_>, space: Space) -> bool {
    match (round.offer, space) {
        (Offer::Rows(rows), Space::Vectors { dim }) => rows.dim() == dim,
        (Offer::Sphere { dim: found }, Space::Vectors { dim }) => found == dim,
        (Offer::Context(context), Space::Contexts { dim, action_dim }) => {
            context.features().len() == dim && context.features_of(0).len() == action_dim
        }
        _ => false,
    }
}

fn same_round_same_bits(make: Make<'_>) -> Outcome {
    let (environment, again) = (made(make, KEY)?, made(make, KEY)?);
    let forwards = all_bits(environment.as_ref())?;
    if all_bits(again.as_ref())? != forwards {
        return Err("made twice with the same key, it gives different rounds".to_owned());
    }
    if (environment.content(), environment.space()) != (again.content(), again.space()) {
        return Err("made twice with the same key, it says different things of itself".to_owned());
    }
    let mut memory = RoundMemory::default();
    for t in (1..=last(environment.as_ref())).rev() {
        for _ in 0..2 {
            if bits(environment.as_ref(), t, &mut memory)? != forwards[t as usize - 1] {
                return Err(format!("round {t} is another when it is asked for again"));
            }
        }
    }
    Ok(())
}

/// The only threads of this crate: they are what is tested.
fn threads_see_the_same_bits(make: Make<'_>) -> Outcome {
    let environment = made(make, KEY)?;
    let alone = all_bits(environment.as_ref())?;
    let seen = std::thread::scope(|scope| {
        let threads = [(); 2].map(|()| scope.spawn(|| all_bits(environment.as_ref())));
        threads.map(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())))
    });
    for there in seen {
        if there? != alone {
            return Err("two threads at once see other rounds than one".to_owned());
        }
    }
    Ok(())
}

fn another_trial_other_rounds(make: Make<'_>) -> Outcome {
    let [first, second] = [KEY, KEY.trial(1)].map(|key| made(make, key).and_then(|made| all_bits(made.as_ref())));
    if first? == second? { Err("two trials have the same rounds".to_owned()) } else { Ok(()) }
}

fn ends_where_it_says(make: Make<'_>) -> Outcome {
    let environment = made(make, KEY)?;
    let Some(end) = environment.rounds() else { return Ok(()) };
    let mut memory = RoundMemory::default();
    environment.round(end, &mut memory).map_err(failed(format_args!("round {end}, the last")))?;
    for beyond in [end + 1, end + 1000, u64::MAX] {
        match environment.round(beyond, &mut memory) {
            Err(Error::Exhausted { rounds, asked, .. }) if (rounds, asked) == (end, beyond) => {}
            Err(cause) => return Err(format!("round {beyond} of {end} is refused by another error: {cause}")),
            Ok(_) => return Err(format!("it says that it has {end} rounds, and gives round {beyond}")),
        }
    }
    Ok(())
}
