//! Choices from the sphere: no point is ever chosen twice, so a round counts for a policy if its point lies near the
//! policy's own, the nearer the more (Kallus and Zhou 2018).
//!
//! A kernel K around the policy's point takes the place of its probability: K/p is the weight of a round whose point
//! chance chose with density p. Points that were not left to chance have no density and no weight. The wider the
//! kernel, the more rounds count and the more it smoothes away: around its best point a reward is less on all sides.
//!
//! So there are three kernels of every width. All are densities; under the second, which is negative farther out, the
//! mean of what is linear in u = 1 − cos θ is its value in the centre, and under the third also that of what is
//! quadratic. Averaged over all directions, what is smooth is a power series in u: the third kernel smoothes away its
//! third order and nothing before it. The width is that at which the plain kernel's squared error is least, as told by
//! its distance from the third and its own variance; the estimate is that of the third kernel there (Calonico, Cattaneo
//! and Farrell 2018, for regression). The interval has room for half of the distance from the second to the third.

use reluctant::theory::sphere_area;
use reluctant::{Key, Offer, Policy, Scratch};

use super::moments::Bootstrap;
use super::{Estimate, Moments, Part, Shape, Term, fitted};
use crate::log::Record;

/// How far from the policy's point a round may lie to count, in degrees, from wide to narrow.
pub(super) const ANGLES: [f64; 9] = [90.0, 64.0, 45.0, 32.0, 23.0, 16.0, 11.0, 8.0, 5.7];

/// The kernels of every angle.
pub(super) const ORDERS: usize = 3;

/// At most so many points are drawn for a policy that leaves something to chance.
const MOST_POINTS: u64 = 200;

/// An angle with fewer effective rounds says nothing.
const FEWEST: f64 = 20.0;

/// So much of the distance from the second kernel's estimate to the third's may still be smoothed away.
const ROOM: f64 = 0.5;

/// (1 − v)·(c₀ + c₁v + c₂v²) at the angle θ < h, where v = (1 − cos θ)/(1 − cos h), for each order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel {
    height: f64,
    coefficients: [[f64; ORDERS]; ORDERS],
}

impl Kernel {
    /// The kernels that reach `degrees` far on the sphere of `dim`-dimensional space.
    pub(super) fn new(degrees: f64, dim: usize) -> Self {
        let angle = degrees.to_radians();
        let height = 1.0 - libm::cos(angle);
        let moment = |power: usize| {
            let shape = |theta: f64| {
                let v = (1.0 - libm::cos(theta)) / height;
                (1.0 - v) * libm::pow(v, power as f64) * libm::pow(libm::sin(theta), dim as f64 - 2.0)
            };
            sphere_area(dim - 2) * simpson(shape, angle)
        };
        let moments: [f64; 2 * ORDERS - 1] = std::array::from_fn(moment);
        Kernel { height, coefficients: std::array::from_fn(|order| reproducing(&moments, order + 1)) }
    }

    /// The densities at a point whose inner product with the centre is `t`.
    fn at(&self, t: f64) -> [f64; ORDERS] {
        let v = (1.0 - t) / self.height;
        if v >= 1.0 {
            return [0.0; ORDERS];
        }
        self.coefficients.map(|[a, b, c]| (1.0 - v) * (a + v * (b + v * c)))
    }
}

/// The coefficients c of degree below `order` with Σⱼ cⱼ·m(i + j) = 1 for i = 0 and 0 for 0 < i < `order`.
fn reproducing(moments: &[f64; 2 * ORDERS - 1], order: usize) -> [f64; ORDERS] {
    let mut rows: [[f64; ORDERS]; ORDERS] = std::array::from_fn(|i| std::array::from_fn(|j| moments[i + j]));
    let mut sides = [1.0, 0.0, 0.0];
    for i in 0..order {
        for below in i + 1..order {
            let share = rows[below][i] / rows[i][i];
            let row = rows[i];
            (i..order).for_each(|j| rows[below][j] -= share * row[j]);
            sides[below] -= share * sides[i];
        }
    }
    let mut found = [0.0; ORDERS];
    for i in (0..order).rev() {
        let known: f64 = (i + 1..order).map(|j| rows[i][j] * found[j]).sum();
        found[i] = (sides[i] - known) / rows[i][i];
    }
    found
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

    /// What the estimators see of a round: for each angle, for each kernel.
    pub(super) fn terms(&self, record: &Record, point: &[f64], predicted: f64, kernels: &[Kernel]) -> Vec<Term> {
        let by_chance = matches!(record.offer, crate::log::Offered::Sphere { by_chance: true, .. });
        let propensity = record.propensity.unwrap_or(1.0);
        let near: Vec<f64> = self.points.chunks(point.len()).map(|own| dot(own, point)).collect();
        let term = |density: f64| Term {
            probability: if by_chance { density } else { 0.0 },
            propensity,
            certain: !by_chance && propensity >= 1.0,
            reward: record.reward,
            predicted,
            expected: self.expected,
        };
        let mean = |kernel: &Kernel| {
            let mut sums = [0.0; ORDERS];
            near.iter().for_each(|t| sums.iter_mut().zip(kernel.at(*t)).for_each(|(sum, x)| *sum += x));
            sums.map(|sum| term(sum / near.len() as f64))
        };
        kernels.iter().flat_map(mean).collect()
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

/// The sums of one angle under the second and the third kernel.
pub(super) struct Corrected {
    second: Moments,
    third: Moments,
    gain: Moments,
    sum: f64,
    squares: f64,
}

impl Corrected {
    pub(super) fn new() -> Self {
        let fitted = || Moments::of(Shape::Fitted);
        Corrected { second: fitted(), third: fitted(), gain: fitted(), sum: 0.0, squares: 0.0 }
    }

    pub(super) fn add(&mut self, number: u64, second: &Term, third: &Term) {
        let (part, weight) = (fitted::part(third), third.weight());
        self.second.add(number, fitted::part(second));
        self.third.add(number, part);
        self.gain.add(number, Part { value: part.value - third.reward, ..part });
        self.sum += weight;
        self.squares += weight * weight;
    }

    /// The effective rounds (Σw)²/Σw² under the third kernel.
    pub(super) fn effective(&self) -> f64 {
        if self.squares > 0.0 { self.sum * self.sum / self.squares } else { 0.0 }
    }

    /// The estimate, and by how much it is more than what the log earned.
    pub(super) fn estimates(&self, bootstrap: &Bootstrap) -> [Estimate; 2] {
        [self.third.estimate("dr-corrected", None, bootstrap), self.gain.estimate("gain", None, bootstrap)]
    }

    /// What the choice of an angle needs to know, given the estimate of the plain kernel and its standard error.
    pub(super) fn seen(&self, plain: (f64, f64)) -> Seen {
        let [second, third] = [&self.second, &self.third].map(|sums| sums.value_and_error().0);
        Seen { plain, second, third, effective: self.effective() }
    }
}

/// What the choice of an angle needs to know of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// The estimate of the plain kernel and its standard error.
    plain: (f64, f64),
    second: f64,
    third: f64,
    effective: f64,
}

/// The angle to trust.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Angle {
    /// The angle itself.
    pub(super) degrees: f64,
    /// How much may still be smoothed away.
    pub(super) smoothed: f64,
}

/// Which of the angles to trust, from wide to narrow; its place, too. It is the widest if none has enough rounds.
pub(super) fn trusted(found: &[Seen]) -> (usize, Angle) {
    let error = |seen: &Seen| (seen.plain.0 - seen.third).powi(2) + seen.plain.1 * seen.plain.1;
    let told = found.iter().enumerate().filter(|(_, seen)| seen.effective >= FEWEST);
    let place = told.min_by(|a, b| error(a.1).total_cmp(&error(b.1))).map_or(0, |(place, _)| place);
    let smoothed = ROOM * (found[place].second - found[place].third).abs();
    (place, Angle { degrees: ANGLES[place], smoothed })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says best what it expects by failing where it is not met")]
mod tests {
    use reluctant::rng::unit_vector;

    use super::*;

    /// Over uniform points, one over whose density is the area, kernels of all orders give 1 its value in the centre,
    /// those from the second order on also t = cos θ, and the third also t².
    #[test]
    fn kernels_are_densities_and_keep_the_value_in_the_centre() {
        for (dim, angle) in [(2, 90.0), (2, 23.0), (3, 64.0), (3, 16.0), (5, 90.0), (5, 45.0)] {
            let (kernel, mut stream, mut point) = (Kernel::new(angle, dim), Key::new(3).stream(), vec![0.0; dim]);
            let (count, mut sums, mut squares) = (200_000, [[0.0; 3]; 3], [[0.0; 3]; 3]);
            for _ in 0..count {
                unit_vector(&mut stream, &mut point);
                for (order, density) in kernel.at(point[0]).into_iter().enumerate() {
                    for power in 0..=order {
                        let value = density * sphere_area(dim - 1) * point[0].powi(power as i32);
                        sums[order][power] += value;
                        squares[order][power] += value * value;
                    }
                }
            }
            for order in 0..3 {
                for power in 0..=order {
                    let n = f64::from(count);
                    let mean = sums[order][power] / n;
                    let error = (squares[order][power] / n - mean * mean).sqrt() / n.sqrt();
                    assert!((mean - 1.0).abs() < 4.5 * error, "{dim} {angle} {order} {power}: {mean} ± {error}");
                }
            }
        }
    }

    #[test]
    fn the_angle_of_least_squared_error_is_taken_if_enough_rounds_count() {
        let seen = |plain, error, third, effective| Seen { plain: (plain, error), second: 0.7, third, effective };
        let all = [seen(0.2, 0.05, 0.9, 500.0), seen(0.8, 0.1, 0.9, 200.0), seen(0.9, 0.3, 0.9, 90.0)];
        let (place, angle) = trusted(&all);
        assert!(place == 1 && angle.degrees == ANGLES[1] && (angle.smoothed - 0.1).abs() < 1e-12, "{angle:?}");
        assert_eq!(trusted(&[seen(0.2, 0.1, 0.9, 30.0), seen(0.9, 0.1, 0.9, 5.0)]).0, 0);
        assert_eq!(trusted(&[seen(0.2, 0.1, 0.9, 3.0), seen(0.9, 0.1, 0.9, 1.0)]).0, 0);
    }
}
