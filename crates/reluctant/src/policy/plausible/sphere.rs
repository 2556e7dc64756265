//! Choices from the whole sphere while no network is frozen: the best of many random actions, improved by ever smaller random steps.
//! Optimism looks for the highest upper bound, sampling for what one network drawn at random likes best.

use super::Plausible;
use crate::arms::{Choice, Rows, Score, argmax};
use crate::error::Result;
use crate::kernels::network_values;
use crate::linalg::normalise;
use crate::policy::{Policy, Scratch};
use crate::rng::{Key, Purpose, Stream, normal, unit_vector};

/// Random actions for each dimension, random steps of each size, and the smallest size.
const STARTS: usize = 256;
const STEPS: usize = 64;
const FINEST: f64 = 1e-3;

impl Plausible {
    /// An action of the sphere. If a network was drawn for it, with what density is not known.
    pub(super) fn select_from_sphere(&self, key: Key, scratch: &mut Scratch) -> Result<Choice<'static>> {
        let mut stream = key.purpose(Purpose::Choice).stream();
        let drawn = self.config.sampling && !self.linear_acts();
        let action = if drawn {
            let member = self.ensemble.sample(&mut stream);
            let network = &self.ensemble.members[member].network;
            self.search_sphere(&mut stream, |rows| {
                scratch.numbers.clear();
                network_values(network, rows, &mut scratch.numbers);
                Ok(argmax(scratch.numbers.iter().copied()))
            })?
        } else {
            self.search_sphere(&mut stream, |rows| {
                self.score(rows, scratch)?;
                Ok(argmax(scratch.scores.iter().map(Score::upper)))
            })?
        };
        self.score(Rows::trusted(self.config.dim, &action), scratch)?;
        let propensity = (!drawn).then_some(1.0);
        Ok(Choice { index: None, action: action.into(), score: scratch.scores[0], propensity, certificate: None })
    }

    /// The action that `best_of` likes best, which says it of any list.
    fn search_sphere(
        &self,
        stream: &mut Stream,
        mut best_of: impl FnMut(Rows<'_>) -> Result<Option<usize>>,
    ) -> Result<Vec<f64>> {
        let d = self.config.dim;
        let mut candidates = vec![0.0; d * STARTS * d.min(8)];
        candidates.chunks_exact_mut(d).for_each(|x| unit_vector(stream, x));
        let mut spread = 0.5;
        loop {
            let rows = Rows::trusted(d, &candidates);
            let action = rows.get(best_of(rows)?.unwrap_or(0)).to_vec();
            if spread < FINEST {
                return Ok(action);
            }
            candidates.truncate(d * STEPS);
            for (i, x) in candidates.chunks_exact_mut(d).enumerate() {
                x.copy_from_slice(&action);
                if i > 0 {
                    x.iter_mut().for_each(|x| *x += spread * normal(stream));
                    if !normalise(x) {
                        x.copy_from_slice(&action);
                    }
                }
            }
            spread *= 0.5;
        }
    }
}
