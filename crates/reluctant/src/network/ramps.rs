//! Curves of single inputs, as sums of ramps.
//!
//! A ramp of an input is 0 below one value, 1 above another, and straight in between: the difference of two ReLUs with
//! biases. The ramps of an input lie end to end between values that were seen, so that their sums are the
//! piecewise-linear curves with kinks there, steep ones too. An input with two values, such as a category that is there
//! or not, needs none.

use serde::{Deserialize, Serialize};

use super::scaling::Scaling;
use crate::ellipsoid::LARGE;
use crate::limits::in_limit;

/// The ramps of an input, if there are few inputs. With eight, curves say less of Adult's capital gains.
const RAMPS: usize = 20;

/// Inputs and ramps together: more, with the constant, would make the matrices of a regression on them large and slow
/// ([`crate::ellipsoid::LARGE`]).
pub(crate) const MOST_CURVES: usize = LARGE - 2;

/// The height of a ramp, so that a curve bends as easily as it slopes.
const HEIGHT: f64 = 0.5;

/// The ramps of all inputs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Ramps(Vec<Ramp>);

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Ramp {
    input: usize,
    from: f64,
    to: f64,
    /// Its mean over what was seen, which is taken off.
    mean: f64,
}

impl Ramps {
    /// Between the knots by which the inputs `xs`, one after the other, were scaled.
    pub(super) fn between(scaling: &Scaling, xs: &[f64]) -> Self {
        let columns: Vec<_> = scaling.knots().collect();
        let (dim, curved) = (columns.len(), columns.iter().filter(|knots| !knots.is_empty()).count());
        let most = (MOST_CURVES.saturating_sub(dim) / curved.max(1)).min(RAMPS);
        let mut ramps: Vec<Ramp> =
            columns.iter().enumerate().flat_map(|(input, knots)| end_to_end(input, knots, most)).collect();
        let count = (xs.len() / dim).max(1) as f64;
        for ramp in &mut ramps {
            ramp.mean = xs[ramp.input..].iter().step_by(dim).map(|x| ramp.rise(*x)).sum::<f64>() / count;
        }
        Ramps(ramps)
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Their values, appended to `out`.
    pub(super) fn append(&self, x: &[f64], out: &mut Vec<f64>) {
        out.extend(self.0.iter().map(|ramp| ramp.at(x[ramp.input])));
    }

    /// Whether they are ramps of so many inputs, when read from a file.
    pub(super) fn are_consistent(&self, dim: usize) -> bool {
        let fits = |ramp: &Ramp| ramp.input < dim && ramp.from < ramp.to && in_limit(ramp.from) && in_limit(ramp.to);
        self.0.iter().all(|ramp| fits(ramp) && (0.0..=1.0).contains(&ramp.mean))
    }
}

impl Ramp {
    fn rise(&self, x: f64) -> f64 {
        ((x - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
    }

    fn at(&self, x: f64) -> f64 {
        HEIGHT * (self.rise(x) - self.mean)
    }
}

/// At most so many ramps between values of an input, which are given with their ranks; of means not known yet.
fn end_to_end(input: usize, knots: &[(f64, f64)], most: usize) -> impl Iterator<Item = Ramp> {
    let last = knots.len().saturating_sub(1);
    let count = last.min(most);
    (0..count).map(move |i| {
        let ((from, _), (to, _)) = (knots[i * last / count], knots[(i + 1) * last / count]);
        Ramp { input, from, to, mean: 0.0 }
    })
}

#[cfg(test)]
mod tests {
    use super::super::scaling::Inputs;
    use super::*;
    use crate::rng::{Key, normal};

    fn values(ramps: &Ramps, x: &[f64]) -> Vec<f64> {
        let mut out = Vec::new();
        ramps.append(x, &mut out);
        out
    }

    /// An input with many values, one with two, one that is mostly zero, one that never changes.
    fn inputs() -> Vec<f64> {
        let mut stream = Key::new(1).stream();
        (0..600).flat_map(|i| [normal(&mut stream), f64::from(i % 2), f64::from((i % 30).max(27) - 27), 7.0]).collect()
    }

    #[test]
    fn curved_inputs_have_ramps_of_mean_zero() {
        let xs = inputs();
        let ramps = Ramps::between(&Scaling::of(Inputs::Contexts, 4, &xs), &xs);
        assert_eq!(ramps.count(), RAMPS + 2);
        assert!(ramps.are_consistent(4) && !ramps.are_consistent(2));
        let mut sums = vec![0.0; ramps.count()];
        for x in xs.chunks_exact(4) {
            sums.iter_mut().zip(values(&ramps, x)).for_each(|(sum, value)| *sum += value / 600.0);
        }
        assert!(sums.iter().all(|mean| mean.abs() < 1e-12), "{sums:?}");
    }

    /// Any piecewise-linear curve with kinks at the ends of ramps is a sum of them and a constant.
    #[test]
    fn sums_of_ramps_are_curves() {
        let ramps = Ramps(end_to_end(0, &[(-1.0, 0.1), (0.5, 0.3), (1.0, 0.6), (4.0, 0.9)], 9).collect());
        let heights = [2.0, -1.0, 5.0, 4.5];
        let rises = heights.windows(2).map(|pair| (pair[1] - pair[0]) / HEIGHT);
        let curve = |x: f64| rises.clone().zip(values(&ramps, &[x])).map(|(rise, ramp)| rise * ramp).sum::<f64>();
        let start = curve(-9.0);
        for (x, height) in [-1.0, 0.5, 1.0, 4.0].into_iter().zip(heights) {
            assert!((curve(x) - start - (height - heights[0])).abs() < 1e-12);
        }
        assert!((curve(2.5) - start - (4.75 - heights[0])).abs() < 1e-12 && curve(99.0) == curve(4.0));
    }

    #[test]
    fn many_inputs_leave_room_for_fewer() {
        let mut stream = Key::new(2).stream();
        let xs: Vec<f64> = (0..100 * 50).map(|_| normal(&mut stream)).collect();
        let ramps = |dim: usize| Ramps::between(&Scaling::of(Inputs::Contexts, dim, &xs), &xs).count();
        assert_eq!([ramps(50), ramps(100), ramps(1000)], [200, 100, 0]);
    }
}
