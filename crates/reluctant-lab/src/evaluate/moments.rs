//! Sums over the rounds of a log: an estimate with its intervals, without keeping the rounds.

use rayon::prelude::*;
use reluctant::Key;
use reluctant::rng::index;
use serde::Serialize;

use crate::stats::{quantile, t95};

/// What a round adds to an estimate, which [`Shape`] makes of the means.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Part {
    /// What no weight has a share in.
    pub plain: f64,
    /// What is weighted.
    pub value: f64,
    /// The weight; for estimators with a bound, what the bound takes from the value.
    pub weight: f64,
}

impl Part {
    /// A number without a weight.
    pub fn plain(plain: f64) -> Self {
        Part { plain, ..Part::default() }
    }
}

/// What an estimate is made of the means of a log's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// plain + value.
    #[default]
    Sum,
    /// plain + value/weight.
    Normalised,
    /// value − a·plain − b·(weight − 1), where plain is known to be 0 on average and the weight 1; a and b are those of
    /// the least variance.
    Fitted,
}

impl Shape {
    /// The estimate, given the means of plain, value and weight, and the fitted coefficients.
    fn combine(self, fit: [f64; 2], [plain, value, weight]: [f64; 3]) -> f64 {
        match self {
            Shape::Sum => plain + value,
            Shape::Normalised => plain + value / weight,
            Shape::Fitted => value - fit[0] * plain - fit[1] * (weight - 1.0),
        }
    }
}

/// Σ (aᵢ − ā)(bᵢ − b̄) for the pairs of plain, value and weight.
type Squares = [[f64; 3]; 3];

/// The coefficients of plain and weight that leave the least variance to value − a·plain − b·weight.
fn fit(squares: &Squares) -> [f64; 2] {
    let [[pp, pv, pw], [_, _, _], [_, wv, ww]] = *squares;
    let alone = |covariance: f64, variance: f64| if variance > 0.0 { covariance / variance } else { 0.0 };
    let determinant = pp * ww - pw * pw;
    // One follows from the other, or does not vary.
    if determinant <= 1e-9 * pp * ww {
        return if ww > 0.0 { [0.0, alone(wv, ww)] } else { [alone(pv, pp), 0.0] };
    }
    [(pv * ww - wv * pw) / determinant, (wv * pp - pv * pw) / determinant]
}

/// The lower and the upper end of a 95 % interval.
pub type Interval = [f64; 2];

/// An estimate with its intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The estimator.
    pub name: &'static str,
    /// Its bound on weights, if it has one: the one of least estimated squared error.
    pub bound: Option<f64>,
    /// The estimate.
    pub value: f64,
    /// The standard error.
    pub error: f64,
    /// From Student's law, with as many degrees of freedom as there are rounds that make up the variance.
    pub normal: Interval,
    /// From rounds drawn again.
    pub bootstrap: Interval,
    /// From the empirical Bernstein inequality, which holds for every number of rounds, as long as no contribution lies
    /// beyond those seen.
    pub bernstein: Option<Interval>,
    /// The largest share that one round has in the variance.
    pub leverage: f64,
}

impl Estimate {
    /// Half of the width of its interval.
    pub fn half_width(&self) -> f64 {
        0.5 * (self.normal[1] - self.normal[0])
    }
}

/// So many groups of rounds are kept for the bootstrap: up to so many rounds each is a group of its own.
const BATCHES: usize = 4096;

/// How often rounds are drawn again.
const RESAMPLES: usize = 1000;

/// An interval has at least so many degrees of freedom: their own estimate is too rough to be believed below, where an
/// interval would be several times as wide as the error.
const LEAST_FREEDOM: f64 = 4.0;

/// log(4/δ) of Maurer and Pontil's inequality, two-sided, for δ = 0.05.
const LOG_BERNSTEIN: f64 = 4.382_026_634_673_881;

/// Sums of one estimator.
#[derive(Debug, Clone, Default)]
pub struct Moments {
    shape: Shape,
    count: f64,
    mean: [f64; 3],
    squares: Squares,
    low: f64,
    high: f64,
    /// Rounds, plain, value and weight of each group.
    batches: Vec<[f64; 4]>,
}

impl Moments {
    /// Sums of an estimator of this shape.
    pub fn of(shape: Shape) -> Self {
        Moments { shape, ..Moments::default() }
    }

    /// Adds round `number`, from 0.
    pub fn add(&mut self, number: u64, part: Part) {
        let all = [part.plain, part.value, part.weight];
        let whole = part.plain + part.value;
        (self.low, self.high) =
            if self.count == 0.0 { (whole, whole) } else { (self.low.min(whole), self.high.max(whole)) };
        self.count += 1.0;
        let before: [f64; 3] = std::array::from_fn(|i| all[i] - self.mean[i]);
        (0..3).for_each(|i| self.mean[i] += before[i] / self.count);
        for i in 0..3 {
            (0..3).for_each(|j| self.squares[i][j] += before[i] * (all[j] - self.mean[j]));
        }
        let batch = (number % BATCHES as u64) as usize;
        if self.batches.len() <= batch {
            self.batches.resize(batch + 1, [0.0; 4]);
        }
        let [count, plain, value, weight] = &mut self.batches[batch];
        *count += 1.0;
        *plain += part.plain;
        *value += part.value;
        *weight += part.weight;
    }

    /// How many groups of rounds there are.
    pub fn batches(&self) -> usize {
        self.batches.len()
    }

    /// The mean weight and its standard error.
    pub(super) fn mean_weight(&self) -> (f64, f64) {
        (self.mean[2], (self.squares[2][2] / (self.count - 1.0).max(1.0) / self.count).sqrt())
    }

    /// The coefficients of plain and weight that leave the least variance to value − a·plain − b·weight.
    fn fit(&self) -> [f64; 2] {
        fit(&self.squares)
    }

    fn value(&self) -> f64 {
        self.shape.combine(self.fit(), self.mean)
    }

    /// The variance of a round's share in the estimate.
    fn variance(&self) -> f64 {
        // The derivatives of the estimate by the three means.
        let by = match self.shape {
            Shape::Sum => [1.0, 1.0, 0.0],
            Shape::Normalised => {
                let weight = self.mean[2];
                [1.0, 1.0 / weight, -self.mean[1] / (weight * weight)]
            }
            Shape::Fitted => {
                let [a, b] = self.fit();
                [-a, 1.0, -b]
            }
        };
        let sum: f64 = (0..3).map(|i| (0..3).map(|j| by[i] * by[j] * self.squares[i][j]).sum::<f64>()).sum();
        // Two numbers were fitted to the rounds.
        let free = if self.shape == Shape::Fitted { 3.0 } else { 1.0 };
        sum.max(0.0) / (self.count - free).max(1.0)
    }

    /// The standard error, and the degrees of freedom it has, by leaving out each group of rounds in turn. What is
    /// fitted is fitted anew each time, so that an estimate which hangs on a few rounds does not seem sure; and where
    /// few groups make up the variance, it has few degrees of freedom.
    fn jackknife(&self) -> (f64, f64) {
        let groups = self.batches.len() as f64;
        if self.count < 2.0 {
            return (f64::INFINITY, 1.0);
        }
        if groups < 3.0 {
            return ((self.variance() / self.count).sqrt(), self.count - 1.0);
        }
        let size = self.count / groups;
        let sums = || self.batches.iter().map(|[count, plain, value, weight]| (*count, [*plain, *value, *weight]));
        let mut mean = [0.0; 3];
        sums().for_each(|(_, sum)| (0..3).for_each(|i| mean[i] += sum[i] / self.count));
        // Groups have as many rounds or one more: a group is off by what its rounds are, not by how many they are.
        let from_mean =
            |(count, sum): (f64, [f64; 3])| -> [f64; 3] { std::array::from_fn(|i| (sum[i] - count * mean[i]) / size) };
        let mut squares = Squares::default();
        for off in sums().map(from_mean) {
            (0..3).for_each(|i| (0..3).for_each(|j| squares[i][j] += off[i] * off[j]));
        }
        let whole = self.shape.combine(fit(&squares), mean);
        let share = groups / (groups - 1.0);
        let moved = sums().map(|group| {
            let off = from_mean(group);
            let without = std::array::from_fn(|i| std::array::from_fn(|j| squares[i][j] - share * off[i] * off[j]));
            let rest = std::array::from_fn(|i| mean[i] - off[i] / (groups - 1.0));
            let square = (self.shape.combine(fit(&without), rest) - whole).powi(2);
            if square.is_finite() { square } else { 0.0 }
        });
        let (sum, fourth) = moved.fold((0.0, 0.0), |(sum, fourth), square| (sum + square, fourth + square * square));
        let free = if fourth > 0.0 { sum * sum / fourth } else { groups - 1.0 };
        ((sum / share).sqrt(), free.max(LEAST_FREEDOM).min(groups - 1.0))
    }

    /// The estimate and its standard error, without intervals.
    pub(super) fn value_and_error(&self) -> (f64, f64) {
        (self.value(), self.jackknife().0)
    }

    /// The estimated squared error of an estimator with a bound: its variance, and the square of what the bound takes.
    pub(super) fn squared_error(&self) -> f64 {
        self.variance() / self.count + self.mean[2] * self.mean[2]
    }

    /// The estimate with all its intervals.
    pub fn estimate(&self, name: &'static str, bound: Option<f64>, bootstrap: &Bootstrap) -> Estimate {
        let (value, variance) = (self.value(), self.variance());
        let (error, free) = self.jackknife();
        let around = |half: f64| [value - half, value + half];
        let range = self.high - self.low;
        let bernstein = (2.0 * variance * LOG_BERNSTEIN / self.count).sqrt()
            + 7.0 * range * LOG_BERNSTEIN / (3.0 * (self.count - 1.0).max(1.0));
        // One round says nothing of how far rounds differ.
        let bernstein = if self.count < 2.0 { f64::INFINITY } else { bernstein };
        let farthest = (self.high - value).abs().max((value - self.low).abs());
        Estimate {
            name,
            bound,
            value,
            error,
            normal: around(t95(free as usize) * error),
            bootstrap: bootstrap.interval(self),
            bernstein: (self.shape == Shape::Sum).then(|| around(bernstein)),
            leverage: if variance > 0.0 { (farthest * farthest / (variance * self.count)).min(1.0) } else { 0.0 },
        }
    }
}

/// Groups of rounds drawn with replacement, the same for all estimators.
#[derive(Debug)]
pub struct Bootstrap {
    /// How often each group was drawn, a list a draw.
    drawn: Vec<Vec<f64>>,
}

impl Bootstrap {
    /// Draws among so many groups.
    pub fn new(seed: u64, groups: usize) -> Self {
        let draw = |i: usize| {
            let mut stream = Key::new(seed).branch("bootstrap").round(i as u64).stream();
            let mut times = vec![0.0; groups];
            (0..groups).for_each(|_| times[index(&mut stream, groups)] += 1.0);
            times
        };
        Bootstrap { drawn: (0..RESAMPLES).into_par_iter().map(draw).collect() }
    }

    /// The 2.5 % and 97.5 % quantiles of the estimates from the drawn groups.
    fn interval(&self, sums: &Moments) -> Interval {
        let fit = sums.fit();
        let estimate = |times: &Vec<f64>| {
            let mut all = [0.0; 4];
            for (times, batch) in times.iter().zip(&sums.batches) {
                (0..4).for_each(|i| all[i] += times * batch[i]);
            }
            let [count, plain, value, weight] = all;
            sums.shape.combine(fit, [plain / count, value / count, weight / count])
        };
        let mut estimates: Vec<f64> = self.drawn.par_iter().map(estimate).filter(|x| !x.is_nan()).collect();
        estimates.sort_unstable_by(f64::total_cmp);
        if estimates.is_empty() {
            return [f64::NEG_INFINITY, f64::INFINITY];
        }
        [quantile(&estimates, 0.025), quantile(&estimates, 0.975)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reluctant::rng::normal;

    /// Rounds of mean 100 and standard deviation 1, in groups of one, of one or two, of two, and of two or three.
    #[test]
    fn errors_do_not_depend_on_how_rounds_are_grouped() {
        for count in [4000, 4097, 6144, 8192, 9000_u64] {
            let (mut moments, mut stream) = (Moments::of(Shape::Sum), Key::new(3).stream());
            (0..count).for_each(|number| moments.add(number, Part::plain(100.0 + normal(&mut stream))));
            let (error, free) = moments.jackknife();
            let expected = 1.0 / (count as f64).sqrt();
            assert!((error / expected - 1.0).abs() < 0.06, "{count}: {error} is not {expected}");
            assert!(free > 100.0);
        }
    }

    #[test]
    fn one_round_has_no_error() {
        let mut moments = Moments::of(Shape::Sum);
        moments.add(0, Part::plain(1.0));
        let estimate = moments.estimate("dm", None, &Bootstrap::new(1, 1));
        assert_eq!((estimate.value, estimate.normal), (1.0, [f64::NEG_INFINITY, f64::INFINITY]));
        assert_eq!(estimate.bernstein, Some([f64::NEG_INFINITY, f64::INFINITY]));
    }
}
