//! The penalty λ of greatest evidence: w and σ² are integrated out of the model of [`super`].

use std::ops::RangeInclusive;

use super::Noise;
use crate::instructions::arch;
use crate::linalg::{Cholesky, axpy, dot};

/// Exponents of the grid of λ, in powers of √10. λ is at least 1: features of a network that was trained on the same
/// rewards explain them all, so that the evidence has nothing against a prior however wide, and exploring would not
/// end.
pub(super) const GRID: RangeInclusive<i32> = 0..=6;

/// The same for an infinitely wide network, whose features do not depend on the rewards. With 1 at least the ten digits
/// of optdigits cost twice as many mistakes, with less than 0.1 the rare classes of Shuttle cost half as many again;
/// seed 90417.
pub(super) const INFINITE_GRID: RangeInclusive<i32> = -2..=6;

/// Evidence is summed over at most so many actions, those with the most rewards: the others hardly count, and each
/// costs a factorisation.
const MOST_WITNESSES: usize = 16;

/// Sums over the rewards of an action.
#[derive(Debug, Clone)]
pub(in crate::belief) struct Sums {
    /// Σφφᵀ, its upper triangle.
    pub(in crate::belief) gram: Vec<f64>,
    /// Σyφ.
    pub(in crate::belief) moment: Vec<f64>,
    /// Σy².
    pub(super) squares: f64,
    pub(in crate::belief) count: u64,
}

impl Sums {
    /// No rewards yet, of so many features.
    pub(in crate::belief) fn new(size: usize) -> Self {
        Sums { gram: vec![0.0; size * size], moment: vec![0.0; size], squares: 0.0, count: 0 }
    }

    pub(in crate::belief) fn add(&mut self, phi: &[f64], y: f64) {
        arch().dispatch(|| {
            for (i, row) in self.gram.chunks_exact_mut(phi.len()).enumerate() {
                if phi[i] != 0.0 {
                    axpy(phi[i], &phi[i..], &mut row[i..]);
                }
            }
        });
        axpy(y, phi, &mut self.moment);
        self.squares += y * y;
        self.count = self.count.saturating_add(1);
    }

    /// log det A − log det λI and Σy² − ŵᵀAŵ; `None` if A is not positive definite to working precision.
    fn fit(&self, lambda: f64, work: &mut Vec<f64>) -> Option<(f64, f64)> {
        let size = self.moment.len();
        work.clear();
        work.extend_from_slice(&self.gram);
        work.iter_mut().step_by(size + 1).for_each(|x| *x += lambda);
        let factor = Cholesky::new(work, size)?;
        let mut solved = self.moment.clone();
        factor.solve_transposed(&mut solved);
        Some((factor.log_det() - size as f64 * libm::log(lambda), (self.squares - dot(&solved, &solved)).max(0.0)))
    }
}

/// The λ of the grid with the greatest evidence.
pub(super) fn most_evident(sums: &[Sums], noise: Noise, grid: RangeInclusive<i32>) -> Option<f64> {
    let mut witnesses: Vec<&Sums> = sums.iter().filter(|sums| sums.count > 0).collect();
    witnesses.sort_by_key(|sums| std::cmp::Reverse(sums.count));
    witnesses.truncate(MOST_WITNESSES);
    let grid = grid.map(|power| libm::pow(10.0, f64::from(power) / 2.0));
    let mut best: Option<(f64, f64)> = None;
    for lambda in grid {
        if let Some(evidence) = evidence(&witnesses, noise, lambda)
            && best.is_none_or(|(_, greatest)| evidence > greatest)
        {
            best = Some((lambda, evidence));
        }
    }
    best.map(|(lambda, _)| lambda)
}

/// The logarithm of the density of the rewards under λ, up to what does not depend on λ: w and σ² are integrated out.
pub(super) fn evidence(sums: &[&Sums], Noise { own, shape, rate }: Noise, lambda: f64) -> Option<f64> {
    let mut work = Vec::new();
    let (mut log, mut count, mut loss) = (0.0, 0.0, 0.0);
    let of_noise = |count: f64, loss: f64| (shape + 0.5 * count) * libm::log(rate + 0.5 * loss);
    for sums in sums {
        let (log_det, own_loss) = sums.fit(lambda, &mut work)?;
        let own_count = sums.count as f64;
        log -= 0.5 * log_det;
        if own {
            log -= of_noise(own_count, own_loss);
        }
        count += own_count;
        loss += own_loss;
    }
    Some(if own { log } else { log - of_noise(count, loss) })
}
