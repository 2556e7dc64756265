//! The batches of Algorithm 2 and their guesses of the gap (Section 4.3, `eq:valM`).

use std::iter;

/// The grid T_i = (aⁱ − 1)·T₁ and the guesses ν_i = ν₀/bⁱ.
///
/// Read literally, the first batch ends at (a − 1)·T₁, which is T₁ only for a = 2: T₁ is the scale of the grid rather
/// than its first point. The formula for M agrees with this reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Batches {
    /// T₁ > 0.
    pub first: f64,
    /// a > 1, the growth of the batches.
    pub a: f64,
    /// b > 1: the guess shrinks by b from batch to batch.
    pub b: f64,
    /// ν₀ > 0, the guess before the first batch.
    pub nu0: f64,
}

impl Default for Batches {
    /// The paper's a = 2 and b = 2^(1/32), with T₁ = 100 and ν₀ = 0.1 as in the policy `ofu-relu-plus`.
    fn default() -> Self {
        Batches { first: 100.0, a: 2.0, b: libm::exp2(1.0 / 32.0), nu0: 0.1 }
    }
}

impl Batches {
    /// T_i = (aⁱ − 1)·T₁, not cut at the horizon.
    pub fn end(&self, i: f64) -> f64 {
        (libm::pow(self.a, i) - 1.0) * self.first
    }

    /// ν_i = ν₀/bⁱ.
    pub fn guess(&self, i: f64) -> f64 {
        self.nu0 / libm::pow(self.b, i)
    }

    /// M = ⌈log(T/T₁ + 1)/log a⌉, the number of batches in T rounds (`eq:valM`).
    pub fn count(&self, horizon: f64) -> f64 {
        smallest_from(libm::log1p(horizon / self.first) / libm::log(self.a), |i| self.end(i) >= horizon)
    }

    /// How many batches guess too high, ν_i > ν*; infinite for ν* = 0.
    pub fn too_high(&self, nu_star: f64) -> f64 {
        if nu_star <= 0.0 {
            return f64::INFINITY;
        }
        let batches = (libm::log(self.nu0) - libm::log(nu_star)) / libm::log(self.b);
        // The first batch is number 1, so the first good guess is at least that.
        smallest_from(batches.max(1.0), |i| self.guess(i) <= nu_star) - 1.0
    }

    /// 8·log b/log a, the power of T in the regret of exploration (Theorem 4.4).
    pub fn exponent(&self) -> f64 {
        8.0 * libm::log(self.b) / libm::log(self.a)
    }

    /// Whether 8·log b/log a ≤ 1/2, so that exploration costs no more than √T up to logarithms.
    pub fn admissible(&self) -> bool {
        // b = a^(1/16) is admissible, whichever way its last bit was rounded.
        self.exponent() <= 0.5 * (1.0 + 1e-14)
    }

    /// The ends of the batches in whole rounds, the last one at the horizon: T_M = T.
    pub fn ends(&self, horizon: u64) -> impl Iterator<Item = u64> + use<> {
        let grid = *self;
        let mut next = 1.0;
        let mut last = 0;
        iter::from_fn(move || {
            // A batch that rounding leaves without a round is none.
            while last < horizon {
                let end = grid.end(next).floor();
                next += 1.0;
                let end = if end >= horizon as f64 { horizon } else { end as u64 };
                if end > last {
                    last = end;
                    return Some(end);
                }
            }
            None
        })
    }
}

/// The smallest integer ≥ 1 with the property, which `near` misses by rounding at most.
fn smallest_from(near: f64, holds: impl Fn(f64) -> bool) -> f64 {
    // Beyond 2^53 every real number is an integer, and its neighbours mean nothing.
    if near.is_nan() || near >= 9e15 {
        return near;
    }
    let mut i = near.ceil().max(1.0);
    if i > 1.0 && holds(i - 1.0) {
        i -= 1.0;
    } else if !holds(i) {
        i += 1.0;
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_the_smallest_that_reaches_the_horizon() {
        for a in [1.1, 1.5, 2.0, 3.0, 10.0] {
            let grid = Batches { a, first: 7.0, ..Batches::default() };
            for horizon in [1.0, 6.0, 7.0, 8.0, 1e3, 1e6, 7.0 * 31.0, 7.0 * 1023.0] {
                let m = grid.count(horizon);
                assert!(m >= 1.0 && grid.end(m) >= horizon);
                assert!(m == 1.0 || grid.end(m - 1.0) < horizon);
            }
        }
        let doubling = Batches { first: 1.0, ..Batches::default() };
        for m in 1..50 {
            assert_eq!(doubling.count(libm::exp2(f64::from(m)) - 1.0), f64::from(m));
        }
    }

    #[test]
    fn the_grid_ends_at_the_horizon_and_grows() {
        let ends: Vec<u64> = Batches { first: 100.0, ..Batches::default() }.ends(1000).collect();
        assert_eq!(ends, [100, 300, 700, 1000]);
        let slow: Vec<u64> = Batches { first: 1.0, a: 1.2, ..Batches::default() }.ends(50).collect();
        assert!(slow.windows(2).all(|pair| pair[0] < pair[1]) && slow.last() == Some(&50));
        assert_eq!(Batches::default().ends(0).count(), 0);
    }

    #[test]
    fn guesses_that_are_too_high() {
        let grid = Batches { b: 2.0, nu0: 1.0, ..Batches::default() };
        for (nu, too_high) in [(0.6, 0.0), (0.5, 0.0), (0.3, 1.0), (0.25, 1.0), (0.2, 2.0), (2.0, 0.0)] {
            assert_eq!(grid.too_high(nu), too_high, "{nu}");
        }
        assert_eq!(grid.too_high(0.0), f64::INFINITY);
    }

    #[test]
    fn admissible_schedules() {
        let with = |a: f64, power: f64| Batches { a, b: libm::pow(a, power), ..Batches::default() };
        for a in [1.5, 2.0, 3.0, 10.0] {
            assert!(with(a, 1.0 / 32.0).admissible() && with(a, 1.0 / 16.0).admissible());
            assert!(!with(a, 1.0 / 15.9).admissible());
        }
        assert!((Batches::default().exponent() - 0.25).abs() < 1e-15);
    }
}
