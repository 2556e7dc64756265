//! Forgetting: an observation counts by γ less with each one that follows it, so that a belief can follow what drifts.

use serde::{Deserialize, Serialize};

use crate::params::{Initial, Kind, Param};

pub(crate) const DISCOUNT: Param = Param::new(
    "discount",
    Initial::real(1.0),
    Kind::Real { min: 0.0, max: 1.0, above: true, below: false },
    "γ: what an observation's weight is multiplied with at each later one; 1 forgets nothing",
);

/// Weights may lag behind by this share of themselves before they are brought up to date:
/// doing so costs a matrix inversion.
const LAG: f64 = 0.1;

/// When to forget, and how much.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Forgetting {
    discount: f64,
    /// Observations since weights were brought up to date.
    pending: u32,
}

impl Forgetting {
    /// With this γ; none if nothing is forgotten.
    pub(crate) fn new(discount: f64) -> Option<Self> {
        (discount < 1.0).then_some(Forgetting { discount, pending: 0 })
    }

    /// γ.
    pub(crate) fn discount(&self) -> f64 {
        self.discount
    }

    /// Counts an observation; the factor for all earlier ones, if it is time.
    pub(crate) fn count(&mut self) -> Option<f64> {
        self.pending += 1;
        let every = (LAG / (1.0 - self.discount)).clamp(1.0, 1e6) as u32;
        if self.pending < every {
            return None;
        }
        let factor = libm::pow(self.discount, f64::from(self.pending));
        self.pending = 0;
        Some(factor)
    }

    /// Whether it is one that [`Forgetting::new`] makes, for a state read from a file.
    pub(crate) fn is_consistent(&self) -> bool {
        self.discount > 0.0 && self.discount < 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_long_run_weights_fall_by_the_discount() {
        for discount in [0.5, 0.95, 0.99, 0.9999] {
            let mut forgetting = Forgetting::new(discount).unwrap();
            let weight: f64 = (0..100_000).filter_map(|_| forgetting.count()).map(libm::log).sum();
            let expected = 100_000.0 * libm::log(discount);
            assert!((weight / expected - 1.0).abs() < 0.02, "{discount}: {weight} {expected}");
        }
        assert_eq!(Forgetting::new(1.0), None);
    }
}
