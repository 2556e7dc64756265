//! Choices from the sphere: no point is ever chosen twice, so a round counts for a policy if its point lies near the
//! policy's own, the nearer the more (Kallus and Zhou 2018).
//!
//! A kernel K around the policy's point takes the place of its probability: K/p is the weight of a round whose point
//! chance chose with density p. Points that were not left to chance have no density and no weight. The wider the
//! kernel, the more rounds count and the more it smoothes away; its width is the widest whose estimate agrees with
//! those of all narrower ones (Su, Srinath and Krishnamurthy 2020), and two steps narrower. By how much the estimate
//! changed with the last step tells what is still smoothed away, and the interval has room for it.

use reluctant::theory::sphere_area;
use reluctant::{Key, Offer, Policy, Scratch};

use super::{Estimate, Term};
use crate::log::Record;

/// How far from the policy's point a round may lie to count, in degrees, from wide to narrow.
pub(super) const ANGLES: [f64; 9] = [90.0, 64.0, 45.0, 32.0, 23.0, 16.0, 11.0, 8.0, 5.7];

/// At most so many points are drawn for a policy that leaves something to chance.
const MOST_POINTS: u64 = 200;

/// An angle with fewer effective rounds says nothing.
const FEWEST: f64 = 20.0;

/// So many steps narrower than the widest angle that agrees with all narrower ones is the one to trust.
const NARROWER: usize = 2;

/// The kernel (cos θ − cos h)/(1 − cos h) of the angle θ < h, scaled to be a density on the sphere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel {
    cos: f64,
    scale: f64,
}

impl Kernel {
    /// The kernel that reaches `degrees` far on the sphere of `dim`-dimensional space.
    pub(super) fn new(degrees: f64, dim: usize) -> Self {
        let angle = degrees.to_radians();
        let cos = libm::cos(angle);
        let shape = |theta: f64| (libm::cos(theta) - cos) * libm::pow(libm::sin(theta), dim as f64 - 2.0);
        let mass = sphere_area(dim - 2) * simpson(shape, angle) / (1.0 - cos);
        Kernel { cos, scale: 1.0 / ((1.0 - cos) * mass) }
    }

    /// The density at a point whose inner product with the centre is `t`.
    fn at(&self, t: f64) -> f64 {
        (t - self.cos).max(0.0) * self.scale
    }
}

/// The integral of f from 0 to `end`, by Simpson's rule.
fn simpson(f: impl Fn(f64) -> f64, end: f64) -> f64 {
    const PIECES: u32 = 400;
    let step = end / f64::from(PIECES);
    let weight = |i: u32| if i == 0 || i == PIECES { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
    (0..=PIECES).map(|i| weight(i) * f(f64::from(i) * step)).sum::<f64>() * step / 3.0
}

/// Where a policy would go, and what the model says of that.
#[derive(Debug, Clone)]
pub(super) struct Aim {
    points: Vec<f64>,
    expected: f64,
}

impl Aim {
    /// Asks the policy, and the model if there is one.
    pub(super) fn of(policy: &dyn Policy, model: Option<&dyn Policy>, draws: u64, key: Key) -> reluctant::Result<Self> {
        let (dim, mut scratch) = (policy.dim(), Scratch::default());
        let (mut points, mut draw) = (Vec::new(), 0);
        loop {
            let choice = policy.select(Offer::Sphere { dim }, key.later(draw), &mut scratch)?;
            points.extend_from_slice(&choice.action);
            let certain = choice.appeal.is_some() && choice.propensity == Some(1.0);
            draw += 1;
            if certain || draw >= draws.min(MOST_POINTS) {
                break;
            }
        }
        let means = predicted(model, dim, &points, &mut scratch)?;
        Ok(Aim { expected: means.iter().sum::<f64>() / means.len() as f64, points })
    }

    /// What the estimators see of a round, for each kernel.
    pub(super) fn terms(&self, record: &Record, point: &[f64], predicted: f64, kernels: &[Kernel]) -> Vec<Term> {
        let by_chance = matches!(record.offer, crate::log::Offered::Sphere { by_chance: true, .. });
        let propensity = record.propensity.unwrap_or(1.0);
        let near: Vec<f64> = self.points.chunks(point.len()).map(|own| dot(own, point)).collect();
        let term = |kernel: &Kernel| {
            let density = near.iter().map(|t| kernel.at(*t)).sum::<f64>() / near.len() as f64;
            Term {
                probability: if by_chance { density } else { 0.0 },
                propensity,
                certain: !by_chance && propensity >= 1.0,
                reward: record.reward,
                predicted,
                expected: self.expected,
            }
        };
        kernels.iter().map(term).collect()
    }
}

/// What the model predicts for points, one after the other; zeros without a model.
pub(super) fn predicted(
    model: Option<&dyn Policy>,
    dim: usize,
    points: &[f64],
    scratch: &mut Scratch,
) -> reluctant::Result<Vec<f64>> {
    let Some(model) = model else { return Ok(vec![0.0; points.len() / dim]) };
    model.score(Offer::finite(dim, points)?, scratch)?;
    Ok(scratch.scores().iter().map(|score| score.mean).collect())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The angle to trust.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Angle {
    /// The angle itself.
    pub(super) degrees: f64,
    /// By how much the estimate changes from the next wider angle to this one. What a kernel smoothes away grows with
    /// the square of its angle, and the square of this angle is half of that of the next wider: so much is still
    /// smoothed away.
    pub(super) smoothed: f64,
}

/// Which of the angles to trust, given the estimate and the effective rounds of each, from wide to narrow; its place,
/// too.
pub(super) fn trusted(found: &[(Estimate, f64)]) -> (usize, Angle) {
    let told = found.iter().rposition(|(_, effective)| *effective >= FEWEST).unwrap_or(0);
    let (mut low, mut high, mut widest) = (f64::NEG_INFINITY, f64::INFINITY, told);
    for (i, (estimate, _)) in found.iter().enumerate().take(told + 1).rev() {
        (low, high) = (low.max(estimate.normal[0]), high.min(estimate.normal[1]));
        if low > high {
            break;
        }
        widest = i;
    }
    let place = (widest + NARROWER).min(told);
    let beside = if place > 0 { place - 1 } else { 1.min(found.len() - 1) };
    let smoothed = (found[beside].0.value - found[place].0.value).abs();
    (place, Angle { degrees: ANGLES[place], smoothed })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]
mod tests {
    use reluctant::rng::unit_vector;

    use super::*;

    /// The mean of the kernel over uniform points is one over the area.
    #[test]
    fn kernels_are_densities() {
        for dim in [2, 3, 5] {
            for angle in [90.0, 45.0, 23.0] {
                let (kernel, mut stream, mut point) = (Kernel::new(angle, dim), Key::new(3).stream(), vec![0.0; dim]);
                let (count, mut sum, mut squares) = (200_000, 0.0, 0.0);
                for _ in 0..count {
                    unit_vector(&mut stream, &mut point);
                    let value = kernel.at(point[0]) * sphere_area(dim - 1);
                    (sum, squares) = (sum + value, squares + value * value);
                }
                let (mean, n) = (sum / f64::from(count), f64::from(count));
                let error = (squares / n - mean * mean).sqrt() / n.sqrt();
                assert!((mean - 1.0).abs() < 4.5 * error, "{dim} {angle}: {mean} ± {error}");
            }
        }
    }

    #[test]
    fn the_widest_angle_that_agrees_with_all_narrower_ones_is_taken_and_two_steps_narrower() {
        let found = |value: f64, half: f64, effective: f64| {
            let normal = [value - half, value + half];
            let estimate = Estimate {
                name: "test",
                bound: None,
                value,
                error: half / 2.0,
                normal,
                bootstrap: normal,
                bernstein: None,
                leverage: 0.0,
            };
            (estimate, effective)
        };
        let all = [found(0.2, 0.1, 500.0), found(0.6, 0.2, 200.0), found(0.7, 0.3, 90.0), found(0.9, 0.4, 40.0)];
        let (place, angle) = trusted(&all);
        assert!(place == 3 && angle.degrees == ANGLES[3] && (angle.smoothed - 0.2).abs() < 1e-12, "{angle:?}");
        assert_eq!(trusted(&all[1..]).0, 2);
        assert_eq!(trusted(&[found(0.2, 0.1, 3.0), found(0.3, 0.1, 1.0)]).0, 0);
        let few = [found(0.5, 0.1, 30.0), found(0.5, 0.1, 5.0)];
        assert_eq!(trusted(&few).0, 0);
    }
}
