//! What a policy would have earned on a log, with intervals, and what the log cannot tell.
//!
//! A log of rounds with the probability p of each choice tells of another policy π by weights w = π(a|x)/p: a round
//! counts as often as π would have made its choice. The estimators are one a file; each is a pure function of a round
//! ([`Term`]), summed up in [`Moments`], so that a log is read in pieces and never held. A model of the rewards, any
//! policy's belief, is learnt from the log in folds: each round is predicted by a model that has not seen it.

mod clipped;
mod diagnose;
mod direct;
mod doubly_robust;
mod fitted;
mod fold;
mod inverse;
mod moments;
mod page;
mod picture;
mod replay;
mod shrinkage;
mod sphere;
mod switch;
mod table;
mod target;
mod term;
mod verdict;

use std::path::Path;

use rayon::prelude::*;
use reluctant::{Registry, Scratch, Settings};
use serde::Serialize;

use crate::error::{LabError, Result};
use crate::log::{self, Read, Record};

pub use diagnose::Diagnosis;
pub use moments::{Estimate, Interval, Moments, Part, Shape};
pub use page::write_report;
pub use picture::{ranking_scene, scene};
pub use replay::Replay;
pub use table::{ranking, render};
pub use target::{Target, policy};
pub use term::Term;
pub use verdict::{Recommended, Verdict};

use diagnose::Tally;
use fold::Folds;
use moments::Bootstrap;
use sphere::{Angle, Corrected};

/// How an evaluation is done.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The policy whose belief predicts rewards, and its settings; `None` for weights alone.
    pub model: Option<(String, Settings)>,
    /// How many parts the log is cut into: what is learnt from it is used on the part that was left out. 5 if not
    /// given, 2 for files above 64 MB, of which half is enough to learn from.
    pub folds: Option<usize>,
    /// Names all randomness: that of policies, of the bootstrap and of replay.
    pub seed: u64,
    /// Choices made for the probabilities of a policy that does not know them.
    pub draws: u64,
    /// Whether policies that learn are also replayed.
    pub replay: bool,
}

impl Default for Options {
    fn default() -> Self {
        // Ridge regression with a constant, an action each: quick, and seldom far off.
        let model = ("oful".to_owned(), Settings::new().with("features", "constant"));
        Options { model: Some(model), folds: None, seed: 1, draws: 1000, replay: true }
    }
}

/// Files above this size, in bytes, are cut into two parts.
const LARGE: u64 = 64 << 20;

impl Options {
    /// The same with the number of parts decided for the log at `path`.
    fn decided(&self, path: &Path) -> Self {
        let large = std::fs::metadata(path).is_ok_and(|file| file.len() > LARGE);
        Options { folds: self.folds.or(Some(if large { 2 } else { 5 })), ..self.clone() }
    }
}

/// What is known of a policy on a log.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Evaluation {
    /// What the policy is called.
    pub policy: String,
    /// What was noticed while the log was read.
    pub log: Read,
    /// What the log itself earned.
    pub logged: Estimate,
    /// What the policy would have earned, by every estimator that applies.
    pub estimates: Vec<Estimate>,
    /// By how much that is more than what the log earned, round by round.
    pub gain: Option<Estimate>,
    /// What the policy would have earned while it learnt, from nothing.
    pub replay: Option<Replay>,
    /// Weights and overlap.
    pub diagnosis: Diagnosis,
    /// Which estimate to trust, and what is not known.
    pub verdict: Verdict,
}

impl Evaluation {
    /// The estimate with this name.
    pub fn estimate(&self, name: &str) -> Option<&Estimate> {
        self.estimates.iter().find(|estimate| estimate.name == name)
    }
}

/// How far an evaluation has come, for whoever shows progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passed {
    /// What is done: `learning`, `weighing` or `replay`, a pass over the log each.
    pub stage: &'static str,
    /// How many rounds this pass has gone through.
    pub rounds: u64,
    /// How many there are, once that is known.
    pub of: Option<u64>,
}

/// Evaluates policies on the log at `path`; `progress` is told how far it has come.
pub fn evaluate(
    registry: &Registry,
    path: &Path,
    targets: &[Target],
    options: &Options,
    progress: &dyn Fn(Passed),
) -> Result<Vec<Evaluation>> {
    let options = &options.decided(path);
    let (mut folds, mut tally) = (None, Tally::default());
    log::read(path, |records| {
        let Some(first) = records.first() else { return Ok(()) };
        if folds.is_none() {
            folds = Some(Folds::new(registry, first.offer.space(), targets, options)?);
        }
        if let Some(folds) = &mut folds {
            folds.learn(records, tally.rounds())?;
        }
        records.iter().for_each(|record| tally.add(record));
        progress(Passed { stage: "learning", rounds: tally.rounds(), of: None });
        Ok(())
    })?;
    let Some(mut folds) = folds else { return Ok(Vec::new()) };
    if let Some(dim) = tally.sphere {
        folds.aim(dim, options)?;
    }
    let on_sphere = tally.sphere.is_some();
    let (angles, orders) = if on_sphere { (sphere::ANGLES.len(), sphere::ORDERS) } else { (1, 1) };
    let new_sums = |_| Sums::new(options.model.is_some(), on_sphere);
    let mut sums: Vec<Sums> = (0..targets.len() * angles).map(new_sums).collect();
    let (mut logged, mut number) = (Moments::default(), 0);
    let read = log::read(path, |records| {
        let terms = terms(path, records, number, &folds, options)?;
        for (record, terms) in records.iter().zip(terms) {
            logged.add(number, Part::plain(record.reward));
            for (sums, terms) in sums.iter_mut().zip(terms.chunks(orders)) {
                sums.add(number, record.line, terms);
            }
            number += 1;
        }
        progress(Passed { stage: "weighing", rounds: number, of: Some(tally.rounds()) });
        Ok(())
    })?;
    let bootstrap = Bootstrap::new(options.seed, logged.batches());
    let logged = logged.estimate("the log", None, &bootstrap);
    let mut evaluations = Vec::new();
    for (target, sums) in targets.iter().zip(sums.chunks(angles)) {
        let replay = replay::replay(registry, path, target, &tally, options, progress)?;
        let (sums, angle) = nearest(sums);
        evaluations.push(sums.finish((target.label(), angle), &read, &logged, replay, &tally, &bootstrap));
    }
    Ok(evaluations)
}

/// The sums of the angle to trust, with that angle; those that there are, if there are no angles.
fn nearest(sums: &[Sums]) -> (&Sums, Option<Angle>) {
    let found: Vec<sphere::Seen> = sums.iter().filter_map(Sums::seen).collect();
    if found.is_empty() {
        return (&sums[0], None);
    }
    let (place, angle) = sphere::trusted(&found);
    (&sums[place], Some(angle))
}

/// The terms of all rounds of a piece, a list of targets each.
fn terms(path: &Path, records: &[Record], first: u64, folds: &Folds, options: &Options) -> Result<Vec<Vec<Term>>> {
    let numbered: Vec<(u64, &Record)> = (first..).zip(records).collect();
    let term = |scratch: &mut Scratch, (number, record): (u64, &Record)| {
        folds.terms(number, record, options, scratch).map_err(|message| LabError::Input {
            file: path.to_owned(),
            line: Some(record.line),
            message,
        })
    };
    numbered.into_par_iter().with_min_len(64).map_init(Scratch::default, term).collect()
}

/// The sums of all estimators for one policy.
struct Sums {
    model: bool,
    ips: Moments,
    snips: Moments,
    clipped: Vec<(f64, Moments)>,
    direct: Moments,
    dr: Moments,
    sndr: Moments,
    fitted: Moments,
    switch: Vec<(f64, Moments)>,
    shrinkage: Vec<(f64, Moments)>,
    gain: Moments,
    /// On the sphere.
    corrected: Option<Corrected>,
    tally: diagnose::Weights,
}

/// The bounds on weights among which the estimators that have one choose.
const BOUNDS: [f64; 8] = [1.0, 2.0, 5.0, 10.0, 30.0, 100.0, 1000.0, 10_000.0];

impl Sums {
    fn new(model: bool, on_sphere: bool) -> Self {
        let tuned = || BOUNDS.iter().map(|bound| (*bound, Moments::default())).collect();
        Sums {
            model,
            ips: Moments::default(),
            snips: Moments::of(Shape::Normalised),
            clipped: tuned(),
            direct: Moments::default(),
            dr: Moments::default(),
            sndr: Moments::of(Shape::Normalised),
            fitted: Moments::of(Shape::Fitted),
            switch: tuned(),
            shrinkage: tuned(),
            gain: Moments::of(Shape::Fitted),
            corrected: on_sphere.then(Corrected::new),
            tally: diagnose::Weights::default(),
        }
    }

    /// Adds a round: what is seen of it, on the sphere under each kernel.
    fn add(&mut self, number: u64, line: usize, terms: &[Term]) {
        let Some(term) = terms.first() else { return };
        if let (Some(corrected), [_, second, third]) = (&mut self.corrected, terms) {
            corrected.add(number, second, third);
        }
        self.tally.add(line, term);
        self.ips.add(number, inverse::part(term));
        self.snips.add(number, inverse::part(term));
        self.clipped.iter_mut().for_each(|(bound, sums)| sums.add(number, clipped::part(term, *bound)));
        let best = fitted::part(term);
        self.gain.add(number, Part { value: best.value - term.reward, ..best });
        if self.model {
            self.direct.add(number, direct::part(term));
            self.dr.add(number, doubly_robust::part(term));
            self.sndr.add(number, doubly_robust::part(term));
            self.fitted.add(number, best);
            self.switch.iter_mut().for_each(|(bound, sums)| sums.add(number, switch::part(term, *bound)));
            // The parameter of shrinkage is in units of squared weights.
            self.shrinkage
                .iter_mut()
                .for_each(|(bound, sums)| sums.add(number, shrinkage::part(term, *bound * *bound)));
        }
    }

    /// What the choice of an angle needs to know, on the sphere.
    fn seen(&self) -> Option<sphere::Seen> {
        let plain = if self.model { &self.fitted } else { &self.snips };
        self.corrected.as_ref().map(|corrected| corrected.seen(plain.value_and_error()))
    }

    fn finish(
        &self,
        (policy, angle): (String, Option<Angle>),
        read: &Read,
        logged: &Estimate,
        replay: Option<Replay>,
        tally: &Tally,
        bootstrap: &Bootstrap,
    ) -> Evaluation {
        let tuned = |name: &'static str, all: &[(f64, Moments)]| {
            let best = all.iter().min_by(|a, b| a.1.squared_error().total_cmp(&b.1.squared_error()));
            best.map(|(bound, sums)| sums.estimate(name, Some(*bound), bootstrap))
        };
        let mut estimates =
            vec![self.ips.estimate("ips", None, bootstrap), self.snips.estimate("snips", None, bootstrap)];
        estimates.extend(tuned("clipped-ips", &self.clipped));
        if self.model {
            estimates.push(self.direct.estimate("dm", None, bootstrap));
            estimates.push(self.dr.estimate("dr", None, bootstrap));
            estimates.push(self.sndr.estimate("sndr", None, bootstrap));
            estimates.push(self.fitted.estimate("dr-fitted", None, bootstrap));
            estimates.extend(tuned("switch-dr", &self.switch));
            estimates.extend(tuned("dr-shrinkage", &self.shrinkage));
        }
        let mut diagnosis = self.tally.diagnose(tally, &self.ips, angle);
        let mut gain = self.gain.estimate("gain", None, bootstrap);
        if let Some(corrected) = &self.corrected {
            let [value, more] = corrected.estimates(bootstrap);
            estimates.push(value);
            (gain, diagnosis.effective) = (more, corrected.effective());
        }
        gain.normal = diagnosis.widened(gain.normal);
        let verdict = verdict::judge(&policy, read, logged, &estimates, &gain, replay.as_ref(), &diagnosis);
        let gain = verdict.recommended.is_some().then_some(gain);
        Evaluation { policy, log: read.clone(), logged: logged.clone(), estimates, gain, replay, diagnosis, verdict }
    }
}

#[cfg(test)]
mod tests;
