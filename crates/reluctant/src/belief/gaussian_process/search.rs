//! Hyperparameters by evidence, without a round that takes long.
//!
//! Now and then, when a certain number of observations has come, all candidates are tried, a few with each further
//! observation. Then new processes are made with what was found, learn what was observed so far, again a few
//! observations at a time, and take the place of the old ones. Which observations are looked at and when depends on
//! their number alone.

use serde::{Deserialize, Serialize};

use super::params::Wanted;
use super::process::{Frame, Process};
use crate::gp::{Candidate, Explained, Kernel, Observed, Points, most_doubtful};

/// The first search comes with this many observations.
const FIRST: usize = 8;
/// The next one when there are so many times as many.
const GROWTH: f64 = 1.4;
/// There are no more searches, and no need to keep what was observed, from this many on.
const LAST: usize = 2048;
/// At most so many observations are looked at, evenly spread over all, and so many points of a process express them: a
/// candidate costs observations × points².
const LOOKED_AT: usize = 400;
const POINTS: usize = 96;
/// Once there are so many observations, candidates whose evidence is this far behind the best are not tried again.
const PRUNED_FROM: usize = 64;
const HOPELESS: f64 = 20.0;
/// A search is over before there are so many times as many observations.
const SEARCH_SHARE: f64 = 0.2;
/// Observations that new processes learn with each one that comes.
const CATCH_UP: usize = 12;

/// The search for hyperparameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Search {
    wanted: Wanted,
    frame: Frame,
    /// What was observed: points, rewards, and which process each belongs to.
    xs: Vec<f64>,
    ys: Vec<f64>,
    of: Vec<u32>,
    /// The next search comes with this many.
    next: usize,
    /// The candidates that are still tried, by number.
    alive: Vec<u16>,
    stage: Stage,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Stage {
    Resting,
    /// Candidates are tried.
    Trying(Trial),
    /// New processes have learned `learned` observations.
    CatchingUp {
        found: Explained,
        processes: Vec<Process>,
        learned: usize,
    },
}

/// How far a search has come.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Trial {
    /// So many observations are explained.
    count: usize,
    /// The best evidence of each candidate that was tried.
    best: Vec<f64>,
    /// What is not refuted so far.
    found: Vec<Explained>,
}

/// New processes and the hyperparameters they have.
pub(super) struct Renewed {
    pub(super) found: Explained,
    pub(super) processes: Vec<Process>,
}

impl Search {
    pub(super) fn new(frame: Frame, wanted: Wanted) -> Self {
        let (xs, ys, of) = (Vec::new(), Vec::new(), Vec::new());
        let alive = (0..Candidate::all(wanted.shape).len() as u16).collect();
        Search { wanted, frame, xs, ys, of, next: FIRST, alive, stage: Stage::Resting }
    }

    /// What was observed, points one after the other and rewards, if nothing is given and the first search is still to
    /// come.
    pub(super) fn observed_before_all(&self) -> Option<(&[f64], &[f64])> {
        (self.wanted.cautious && self.ys.len() < FIRST).then_some((&self.xs, &self.ys))
    }

    /// Whether there is nothing more to do.
    pub(super) fn is_over(&self) -> bool {
        self.ys.len() >= LAST && matches!(self.stage, Stage::Resting)
    }

    /// Takes note of an observation that belongs to process `of`, and goes on searching. `current` are the present
    /// hyperparameters. New processes, if they have caught up; of those that are behind the last one nothing was
    /// observed.
    pub(super) fn observe(&mut self, of: usize, x: &[f64], y: f64, current: (Kernel, f64)) -> Option<Renewed> {
        if self.ys.len() < LAST || !matches!(self.stage, Stage::Resting) {
            self.xs.extend_from_slice(x);
            self.ys.push(y);
            self.of.push(of as u32);
        }
        match std::mem::replace(&mut self.stage, Stage::Resting) {
            Stage::Resting => {
                if self.ys.len() >= self.next && self.ys.len() <= LAST {
                    self.next = (GROWTH * self.ys.len() as f64).ceil() as usize;
                    self.stage = Stage::Trying(Trial { count: self.ys.len(), best: Vec::new(), found: Vec::new() });
                }
                None
            }
            Stage::Trying(trial) => {
                self.stage = self.try_some(trial, current);
                None
            }
            Stage::CatchingUp { found, processes, learned } => self.catch_up(found, processes, learned),
        }
    }

    /// Tries as many candidates as are due.
    fn try_some(&mut self, mut trial: Trial, current: (Kernel, f64)) -> Stage {
        let Wanted { shape, length, variance, sigma, leeway, cautious } = self.wanted;
        let due = (self.alive.len() as f64 / (SEARCH_SHARE * trial.count as f64)).ceil() as usize;
        let Some(observed) = Observed::new(self.frame.dim, self.looked_at(trial.count)) else {
            return Stage::Resting;
        };
        let (from, candidates) = (trial.best.len(), Candidate::all(shape));
        for &candidate in self.alive.iter().skip(from).take(due) {
            let mut explained = candidates[usize::from(candidate)].explained(&observed, length, sigma, variance);
            if cautious {
                explained.iter_mut().for_each(|one| one.evidence += observed.noise_prior(one.sigma));
            }
            // A number that can be written down: what explains nothing at all is as bad as it gets.
            trial.best.push(explained.iter().map(|one| one.evidence).fold(f64::MIN, f64::max));
            trial.found.extend(explained);
        }
        let top = trial.best.iter().copied().fold(f64::MIN, f64::max);
        trial.found.retain(|one| one.evidence >= top - leeway);
        if trial.best.len() < self.alive.len() {
            return Stage::Trying(trial);
        }
        if trial.count >= PRUNED_FROM {
            let mut best = trial.best.iter();
            self.alive.retain(|_| best.next().is_some_and(|best| *best >= top - HOPELESS));
        }
        let doubt = |one: &Explained| if cautious { one.signal } else { one.ratio };
        match most_doubtful(&trial.found, leeway, doubt) {
            Some(found) if (found.kernel, found.sigma) != current => {
                Stage::CatchingUp { found, processes: Vec::new(), learned: 0 }
            }
            _ => Stage::Resting,
        }
    }

    /// Some of the first `count` observations, for each process those that belong to it.
    fn looked_at(&self, count: usize) -> Vec<Points> {
        let dim = self.frame.dim;
        let taken = count.min(LOOKED_AT);
        let mut groups = vec![Points::default(); self.of[..count].iter().max().map_or(0, |&of| of as usize + 1)];
        for i in 0..taken {
            // What is forgotten tells nothing any more: then only the latest.
            let at = if self.frame.discount < 1.0 { count - taken + i } else { i * count / taken };
            let group = &mut groups[self.of[at] as usize];
            group.xs.extend_from_slice(&self.xs[at * dim..(at + 1) * dim]);
            group.ys.push(self.ys[at]);
        }
        // The points of the present processes are those that the present hyperparameters need: they would speak for
        // them.
        for group in &mut groups {
            let (all, kept) = (group.ys.len(), group.ys.len().min(POINTS));
            let spread = (0..kept).map(|i| i * all / kept);
            group.basis = spread.flat_map(|at| &group.xs[at * dim..(at + 1) * dim]).copied().collect();
        }
        groups.retain(|group| !group.ys.is_empty());
        groups
    }

    fn catch_up(&mut self, found: Explained, mut processes: Vec<Process>, learned: usize) -> Option<Renewed> {
        let until = self.ys.len().min(learned + CATCH_UP);
        for at in learned..until {
            let of = self.of[at] as usize;
            while processes.len() <= of {
                processes.push(Process::new(self.frame, found.kernel, found.sigma));
            }
            let x = &self.xs[at * self.frame.dim..(at + 1) * self.frame.dim];
            processes[of].learn(x, self.ys[at]);
        }
        if until == self.ys.len() {
            return Some(Renewed { found, processes });
        }
        self.stage = Stage::CatchingUp { found, processes, learned: until };
        None
    }

    /// Whether the parts fit together, for a state read from a file.
    pub(super) fn is_consistent(&self, frame: Frame, heads: usize) -> bool {
        let n = self.ys.len();
        let whole = self.frame == frame
            && Some(self.xs.len()) == n.checked_mul(frame.dim)
            && self.of.len() == n
            && self.alive.iter().all(|&candidate| usize::from(candidate) < Candidate::all(self.wanted.shape).len())
            && self.of.iter().all(|&of| (of as usize) < heads)
            && self.xs.iter().chain(&self.ys).all(|x| x.is_finite());
        whole
            && match &self.stage {
                Stage::Resting => true,
                Stage::Trying(Trial { count, best, .. }) => {
                    (FIRST..=n).contains(count) && best.len() < self.alive.len()
                }
                Stage::CatchingUp { processes, learned, .. } => {
                    *learned <= n
                        && processes.len() <= heads
                        && processes.iter().all(|process| process.is_consistent(frame.dim, frame.budget))
                }
            }
    }
}
