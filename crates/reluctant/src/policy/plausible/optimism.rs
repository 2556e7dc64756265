//! From the plausible networks to the scores of arms.
//!
//! In most rounds the width of an arm is c standard deviations over the networks. What is wrong with it shows in
//! one trial of twenty: it settles on an arm that is good but not the best, while the networks that know of a
//! better one are few, and no spread reaches up to what they say. So some rounds are *checks*, in which an arm is
//! worth what the most hopeful of the networks, a sixteenth of them, expect of it. If they are right a better arm
//! is found; if not, the observation refutes them, and the next check looks elsewhere. Checks come at a rate of
//! 1/n, so their cost grows like log T.
//!
//! Networks of any signs and lengths need no checks if nothing is told: where nothing was tried they differ so much
//! that the spread leads there by itself.
//!
//! One mistake survives that: an early observation that noise has put far off, in a region where no arm is chosen
//! again, makes all networks sure of the wrong thing, and then one of them is frozen. So in the frozen stage there are
//! *probes*, of an arm for which there is any doubt left, at 4,096 observations and whenever there are twice as many.
//! One that fails melts the frozen network.

use super::Plausible;
use super::constants::{FIRST_SHARE, LINE_WIDTH, PROBE_WIDTH, PROBED_FROM, PROCESS_WIDTH, UNTOLD_SHARE};
use crate::belief::Belief;
use crate::belief::plausible::{CHECKED_FROM, Infinite, Step, Width};
use crate::offer::Rows;
use crate::scratch::Scratch;

impl Plausible {
    /// Whether this round is a probe. The stage for which the theorem holds has none.
    pub(super) fn probes(&self) -> bool {
        self.frozen.is_some() && !self.config.theorem && is_probe(self.belief.seen())
    }

    /// Scores arms by the plausible networks, `all` of them or, for a choice, only as well as it
    /// takes to tell which is the best.
    pub(super) fn score_by_networks(&self, rows: Rows<'_>, all: bool, scratch: &mut Scratch) {
        self.belief.score_by_networks(rows, self.width(), all, scratch);
        if self.line_is_asked() {
            let Scratch { scores, other_scores: linear, .. } = scratch;
            self.belief.line().score(rows, LINE_WIDTH, linear);
            for (score, linear) in scores.iter_mut().zip(linear) {
                score.width = score.width.max(linear.upper() - score.mean);
            }
        }
    }

    /// Scores arms by the model that is believed.
    pub(super) fn score_by_belief(&self, rows: Rows<'_>, scratch: &mut Scratch) {
        match self.belief.step() {
            Step::Networks => self.score_by_networks(rows, true, scratch),
            Step::Line(line) => line.score(rows, LINE_WIDTH, &mut scratch.scores),
            Step::Infinite(infinite) => infinite.belief.predict(rows, self.process_width(infinite), scratch),
        }
    }

    fn width(&self) -> Width {
        if self.probes() {
            return Width::Spread(PROBE_WIDTH);
        }
        if self.belief.is_check(self.belief.seen()) && !self.config.sampling {
            return Width::Hope;
        }
        let later = if self.belief.has_checks() { 1.0 } else { UNTOLD_SHARE };
        let share = if self.is_early() { FIRST_SHARE } else { later };
        Width::Spread(share * self.config.optimism)
    }

    /// At first the process may be wide because it knows no offset, which a line does.
    fn process_width(&self, process: &Infinite) -> f64 {
        let share = if self.is_early() && process.is_behind_line() { FIRST_SHARE } else { 1.0 };
        share * PROCESS_WIDTH
    }

    /// Whether there are no checks yet, wherever there are any.
    fn is_early(&self) -> bool {
        self.belief.seen() < CHECKED_FROM
    }

    /// Whether an arm may now be as good as the line says. Not after that is refuted, and if the number of neurons was
    /// told, only in checks and while they look like an imitation of a constant.
    fn line_is_asked(&self) -> bool {
        let belief = &self.belief;
        if belief.is_told() {
            return !belief.refutes_line() && (belief.is_check(belief.seen()) || belief.is_nearly_parallel());
        }
        // Some line goes through any observations that are no more than its unknowns: they refute none.
        !belief.refutes_line() || belief.seen() <= belief.dim() as u64 + 1
    }
}

/// Whether the round after `seen` observations may be a probe.
fn is_probe(seen: u64) -> bool {
    seen >= PROBED_FROM && seen.is_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_twice_as_far_apart_each_time() {
        let probes: Vec<u64> = (0..300_000).filter(|&n| is_probe(n)).collect();
        assert_eq!(probes, [4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144]);
    }
}
