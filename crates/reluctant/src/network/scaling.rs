//! Inputs in units of what was seen, so that networks meet numbers of size one whatever they are measured in.
//!
//! A coordinate of a context is mapped to the mean of two numbers, each of mean 0 and variance about 1: its distance
//! from the mean in standard deviations, and its rank among the values seen. The first keeps distances; the second does
//! not care for outliers, skewed columns and units. A coordinate with two values, such as a category that is there or
//! not, is divided by their difference: a rare category would else be an outlier.

use serde::{Deserialize, Serialize};

/// A scaled input is at most this in size: beyond, a network would extrapolate from nothing.
const FARTHEST: f64 = 5.0;

/// A column whose standard deviation is below this share of its size is constant up to rounding.
pub(super) const CONSTANT: f64 = 1e-9;

/// The rank function of a column has at most so many kinks.
const KNOTS: usize = 64;

/// A rank is uniform on [0, 1], with variance 1/12; this makes it 1.
const RANK_SCALE: f64 = 3.464_101_615_137_754_6;

/// What inputs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Inputs {
    /// Contexts, which come as they come: each coordinate is scaled by itself.
    Contexts,
    /// Rows that are chosen. A policy that has settled sees hardly any difference between them, so they are divided by
    /// their root mean square, all coordinates alike, and not centred.
    Rows,
}

/// How each coordinate is scaled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Scaling {
    columns: Vec<Column>,
}

/// How a coordinate is scaled: (x − centre)·inverse, and with knots the mean of that and the rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Column {
    centre: f64,
    /// 0 for a coordinate that never changed.
    inverse: f64,
    /// Values, increasing, and their ranks in [0, 1]; none if ranks are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    knots: Vec<(f64, f64)>,
}

impl Scaling {
    /// Inputs as they are.
    pub(super) fn none(dim: usize) -> Self {
        Scaling { columns: vec![Column::linear(0.0, 1.0); dim] }
    }

    /// The scaling that follows from the inputs so far, one after the other in `xs`.
    pub(super) fn of(inputs: Inputs, dim: usize, xs: &[f64]) -> Self {
        match inputs {
            Inputs::Rows => {
                let count = (xs.len() / dim) as f64;
                let squares = |j: usize| xs[j..].iter().step_by(dim).fold(0.0, |sum, x| sum + x * x);
                let size = ((0..dim).map(squares).sum::<f64>() / (count * dim as f64)).sqrt();
                Scaling { columns: vec![Column::linear(0.0, if size > 0.0 { 1.0 / size } else { 1.0 }); dim] }
            }
            Inputs::Contexts => {
                let mut values = Vec::new();
                let column = |j: usize| {
                    values.clear();
                    values.extend(xs[j..].iter().step_by(dim));
                    values.sort_unstable_by(f64::total_cmp);
                    Column::of_sorted(&values)
                };
                Scaling { columns: (0..dim).map(column).collect() }
            }
        }
    }

    pub(super) fn is_consistent(&self, dim: usize) -> bool {
        self.columns.len() == dim && self.columns.iter().all(Column::is_consistent)
    }

    pub(super) fn dim(&self) -> usize {
        self.columns.len()
    }

    /// Of each coordinate, values and their ranks, increasing; none of one with two values or less.
    pub(super) fn knots(&self) -> impl Iterator<Item = &[(f64, f64)]> {
        self.columns.iter().map(|column| &*column.knots)
    }

    /// The scaled x, appended to `out`.
    pub(super) fn append(&self, x: &[f64], out: &mut Vec<f64>) {
        out.extend(x.iter().zip(&self.columns).map(|(x, column)| column.scaled(*x)));
    }
}

impl Column {
    fn linear(centre: f64, inverse: f64) -> Self {
        Column { centre, inverse, knots: Vec::new() }
    }

    /// The scaling of a column with these values, at least one.
    fn of_sorted(values: &[f64]) -> Self {
        let (least, most, n) = (values[0], values[values.len() - 1], values.len() as f64);
        let centre = values.iter().map(|x| x / n).sum::<f64>();
        let spread = (values.iter().map(|x| (x - centre) * (x - centre)).sum::<f64>() / n).sqrt();
        if spread <= CONSTANT * centre.abs() {
            return Column::linear(centre, 0.0);
        }
        if values.iter().all(|x| *x == least || *x == most) {
            return Column::linear(centre, 1.0 / (most - least));
        }
        Column { centre, inverse: 1.0 / spread, knots: ranks(values) }
    }

    fn is_consistent(&self) -> bool {
        let increasing = self.knots.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
        let finite = self.knots.iter().all(|(x, rank)| x.is_finite() && (0.0..=1.0).contains(rank));
        self.centre.is_finite() && self.inverse.is_finite() && increasing && finite
    }

    fn scaled(&self, x: f64) -> f64 {
        let by_spread = ((x - self.centre) * self.inverse).clamp(-FARTHEST, FARTHEST);
        if self.knots.is_empty() { by_spread } else { 0.5 * (by_spread + RANK_SCALE * (self.rank(x) - 0.5)) }
    }

    /// The rank of x, between knots in a line.
    fn rank(&self, x: f64) -> f64 {
        let above = self.knots.partition_point(|knot| knot.0 <= x);
        match (above.checked_sub(1).map(|below| self.knots[below]), self.knots.get(above)) {
            (Some((from, low)), Some((to, high))) => low + (high - low) * ((x - from) / (to - from)),
            (Some((_, rank)), None) => rank,
            (None, Some((_, rank))) => *rank,
            (None, None) => 0.5,
        }
    }
}

/// The values that differ, with the share of values below, where those that are equal count half; thinned out to
/// [`KNOTS`].
fn ranks(sorted: &[f64]) -> Vec<(f64, f64)> {
    let (mut all, mut start) = (Vec::new(), 0);
    while start < sorted.len() {
        let equal = sorted[start..].iter().take_while(|x| **x == sorted[start]).count();
        all.push((sorted[start], (start as f64 + 0.5 * equal as f64) / sorted.len() as f64));
        start += equal;
    }
    if all.len() > KNOTS {
        let last = all.len() - 1;
        all = (0..KNOTS).map(|knot| all[knot * last / (KNOTS - 1)]).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, normal};

    fn scaled(scaling: &Scaling, xs: &[f64]) -> Vec<f64> {
        let mut out = Vec::new();
        xs.chunks_exact(scaling.dim()).for_each(|x| scaling.append(x, &mut out));
        out
    }

    #[test]
    fn contexts_have_mean_zero_and_size_one_whatever_their_units() {
        let mut stream = Key::new(1).stream();
        let mut xs = Vec::new();
        for _ in 0..500 {
            let z = normal(&mut stream);
            xs.extend([1e6 * (3.0 + z), 1e-6 * normal(&mut stream), libm::exp(2.0 * z), 5.0]);
        }
        let scaling = Scaling::of(Inputs::Contexts, 4, &xs);
        let out = scaled(&scaling, &xs);
        for j in 0..3 {
            let column: Vec<f64> = out.iter().skip(j).step_by(4).copied().collect();
            assert!(column.iter().sum::<f64>().abs() / 500.0 < 0.05, "{j}");
            let square = column.iter().map(|x| x * x).sum::<f64>() / 500.0;
            assert!((0.4..1.1).contains(&square), "{j} {square}");
        }
        assert!(out.iter().skip(3).step_by(4).all(|x| *x == 0.0));
        // What is far outside is at most as far as half the bound, plus half the greatest rank.
        let far = scaled(&scaling, &[1e99, -1e99, 1e99, 5.0]);
        let greatest = 0.5 * (FARTHEST + 0.5 * RANK_SCALE);
        assert!(far.iter().all(|x| x.abs() <= greatest) && far[0] > 3.0 && far[1] < -3.0 && far[3] == 0.0, "{far:?}");
    }

    #[test]
    fn order_is_kept() {
        let mut stream = Key::new(2).stream();
        let xs: Vec<f64> = (0..300).map(|_| normal(&mut stream).powi(3)).collect();
        let mut sorted = xs.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let out = scaled(&Scaling::of(Inputs::Contexts, 1, &xs), &sorted);
        assert!(out.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn ranks_are_shares_of_values_below() {
        assert_eq!(ranks(&[1.0, 1.0, 2.0, 7.0]), [(1.0, 0.25), (2.0, 0.625), (7.0, 0.875)]);
        let many: Vec<f64> = (0..1000).map(f64::from).collect();
        let knots = ranks(&many);
        assert!(knots.len() == KNOTS && knots[0] == (0.0, 0.0005) && knots[KNOTS - 1] == (999.0, 0.9995));
        let column = Column::of_sorted(&many);
        assert!((column.rank(250.0) - 0.2505).abs() < 1e-12 && column.rank(-1.0) == 0.0005 && column.is_consistent());
    }

    #[test]
    fn a_rare_category_is_no_outlier() {
        let mut xs = vec![0.0; 999];
        xs.push(1.0);
        let out = scaled(&Scaling::of(Inputs::Contexts, 1, &xs), &[0.0, 1.0]);
        assert!((out[1] - out[0] - 1.0).abs() < 1e-12 && (out[0] + 0.001).abs() < 1e-12);
    }

    #[test]
    fn rows_keep_their_direction() {
        let x = [3e-3, 4e-3];
        let out = scaled(&Scaling::of(Inputs::Rows, 2, &x), &x);
        assert!((out[0] * out[0] + out[1] * out[1] - 2.0).abs() < 1e-12 && (out[1] / out[0] - 4.0 / 3.0).abs() < 1e-12);
    }
}
