//! Choices from the whole sphere while no network is frozen: the best of many random actions, improved by ever smaller
//! random steps. Optimism looks for the highest upper bound, sampling for what one network drawn at random likes best.
//! If neurons have biases the policy sees (x, 1) for an action x.

use super::Plausible;
use super::constants::{FINEST, STARTS, STEPS};
use crate::choice::{Choice, Score, argmax};
use crate::error::Result;
use crate::kernels::network_values;
use crate::linalg::normalise;
use crate::offer::{Offer, Rows};
use crate::policy::lifted::lift;
use crate::policy::{Policy, Scratch};
use crate::rng::{Key, Purpose, Stream, normal, unit_vector};

impl Plausible {
    /// An action of the sphere in `dim` dimensions. If a network was drawn for it, with what density is not known.
    pub(super) fn select_from_sphere(&self, dim: usize, key: Key, scratch: &mut Scratch) -> Result<Choice<'static>> {
        let mut stream = key.purpose(Purpose::Choice).stream();
        let drawn = self.config.sampling && self.belief.believes_networks();
        let network = drawn.then(|| self.belief.sample(&mut stream));
        let action = if let Some(network) = network {
            self.search_sphere(dim, &mut stream, |rows| {
                scratch.numbers.clear();
                network_values(network, rows, &mut scratch.numbers);
                Ok(argmax(scratch.numbers.iter().copied()))
            })?
        } else {
            self.search_sphere(dim, &mut stream, |rows| {
                self.score(Offer::Rows(rows), scratch)?;
                Ok(argmax(scratch.scores.iter().map(Score::upper)))
            })?
        };
        let promised = self.as_seen(dim, &action, |rows| {
            self.score(Offer::Rows(rows), scratch)?;
            Ok(network.map(|network| network.value(rows.get(0))))
        })?;
        let choice = Choice::point(action, scratch.scores[0]);
        Ok(promised.map_or(choice.clone(), |value| choice.drawn(value)))
    }

    /// Shows actions as the policy sees them.
    fn as_seen<T>(&self, dim: usize, actions: &[f64], see: impl FnOnce(Rows<'_>) -> T) -> T {
        if dim == self.dim() {
            see(Rows::trusted(dim, actions))
        } else {
            see(Rows::trusted(self.dim(), &lift(dim, actions)))
        }
    }

    /// The action that `best_of` likes best, which says it of any list.
    fn search_sphere(
        &self,
        d: usize,
        stream: &mut Stream,
        mut best_of: impl FnMut(Rows<'_>) -> Result<Option<usize>>,
    ) -> Result<Vec<f64>> {
        let mut candidates = vec![0.0; d * STARTS * d.min(8)];
        candidates.chunks_exact_mut(d).for_each(|x| unit_vector(stream, x));
        let mut spread = 0.5;
        loop {
            let best = self.as_seen(d, &candidates, &mut best_of)?.unwrap_or(0);
            let action = candidates[best * d..][..d].to_vec();
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
