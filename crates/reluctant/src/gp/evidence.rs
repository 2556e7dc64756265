//! How well a kernel explains what was observed, whatever the noise and the signal's variance.
//!
//! With κ a kernel of variance 1 and r = s²/σ², the log-density of the rewards under N(0, s²κ + σ²I) needs κ as a
//! tridiagonal matrix once; then every r costs O(n), and the best σ² for an r has a formula.

use super::kernel::{Kernel, Pairs};
use crate::linalg::{Tridiagonal, dot};

/// Ratios r·mean κ(x, x) that are tried when the noise is not known: from 10^-1 by half powers of ten.
const RATIOS: std::ops::RangeInclusive<i32> = -2..=10;
/// The greatest ratio that is tried if the noise is known: 10^8.
const LAST_RATIO: i32 = 16;
/// Signal variances are tried up to this multiple of the rewards' mean square.
const LARGEST_SIGNAL: f64 = 64.0;

/// Observations whose rewards go together: points, and what they were rewarded with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    ys: Vec<f64>,
    squares: Vec<f64>,
    products: Vec<f64>,
    left: Vec<f64>,
    right: Vec<f64>,
}

impl Group {
    /// From points of dimension `dim`, one after the other.
    pub(crate) fn new(dim: usize, xs: &[f64], ys: Vec<f64>) -> Self {
        let mut group = Group { ys, ..Group::default() };
        for x in xs.chunks_exact(dim) {
            let left = dot(x, x);
            for z in xs.chunks_exact(dim) {
                group.squares.push(x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum());
                group.products.push(dot(x, z));
                group.left.push(left);
                group.right.push(dot(z, z));
            }
        }
        group
    }

    /// κ of all pairs.
    fn matrix(&self, kernel: Kernel) -> Vec<f64> {
        kernel.of_pairs(Pairs {
            squares: &self.squares,
            products: &self.products,
            left: &self.left,
            right: &self.right,
        })
    }
}

/// What was observed, in groups that share a kernel and nothing else.
#[derive(Debug, Clone)]
pub(crate) struct Observed {
    groups: Vec<Group>,
    count: f64,
    /// The rewards' mean square.
    power: f64,
    /// The root mean square of points from their mean, and from the origin, in each coordinate's sum.
    pub(crate) spread: f64,
    pub(crate) size: f64,
}

/// A kernel with noise, and what speaks for it.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Explained {
    /// Log-density of the rewards, up to a constant.
    pub(crate) evidence: f64,
    pub(crate) kernel: Kernel,
    /// σ.
    pub(crate) sigma: f64,
    /// The mean of k(x, x), and of it in units of σ².
    pub(crate) signal: f64,
    pub(crate) ratio: f64,
}

impl Observed {
    /// `None` if nothing can be told from it: all points are one, or all rewards are zero.
    pub(crate) fn new(dim: usize, groups: Vec<(Vec<f64>, Vec<f64>)>) -> Option<Self> {
        let (mut count, mut power, mut square, mut mean) = (0.0, 0.0, 0.0, vec![0.0; dim]);
        for (xs, ys) in &groups {
            count += ys.len() as f64;
            power += dot(ys, ys);
            square += dot(xs, xs);
            xs.chunks_exact(dim).for_each(|x| mean.iter_mut().zip(x).for_each(|(m, x)| *m += x));
        }
        let (power, square) = (power / count, square / count);
        let centre = dot(&mean, &mean) / (count * count);
        let (spread, size) = ((square - centre).max(0.0).sqrt(), square.sqrt());
        if !(spread > 1e-90 && power > 1e-180 && spread < 1e90 && power < 1e180) {
            return None;
        }
        let groups = groups.into_iter().map(|(xs, ys)| Group::new(dim, &xs, ys)).collect();
        Some(Observed { groups, count, power, spread, size })
    }

    /// Every variance and noise that is tried with a kernel, with its evidence. What is given is kept.
    pub(crate) fn explained(&self, kernel: Kernel, sigma: Option<f64>, variance: Option<f64>) -> Vec<Explained> {
        let kernel = Kernel { variance: 1.0, ..kernel };
        let mut own = 0.0;
        let reduced: Vec<Tridiagonal> = self
            .groups
            .iter()
            .map(|group| {
                let mut matrix = group.matrix(kernel);
                own += matrix.iter().step_by(group.ys.len() + 1).sum::<f64>();
                Tridiagonal::new(&mut matrix, &group.ys)
            })
            .collect();
        let own = own / self.count;
        if !(own > 1e-100 && own < 1e100) {
            return Vec::new();
        }
        let ratios = self.ratios(sigma, variance.map(|variance| variance * own));
        ratios.into_iter().filter_map(|ratio| self.at(kernel, &reduced, own, ratio, sigma, variance)).collect()
    }

    /// The ratios of signal to noise that are tried.
    fn ratios(&self, sigma: Option<f64>, signal: Option<f64>) -> Vec<f64> {
        let power = |half: i32| libm::pow(10.0, 0.5 * f64::from(half));
        match (sigma, signal) {
            (Some(sigma), Some(signal)) => vec![(signal / (sigma * sigma)).min(power(LAST_RATIO))],
            (Some(sigma), None) => {
                let most = 2.0 * libm::log10(LARGEST_SIGNAL * self.power / (sigma * sigma));
                let last = if most < f64::from(LAST_RATIO) { most as i32 } else { LAST_RATIO };
                (*RATIOS.start()..=last.max(*RATIOS.end())).map(power).collect()
            }
            (None, _) => RATIOS.map(power).collect(),
        }
    }

    /// With `ratio` = s²·(mean κ)/σ².
    fn at(
        &self,
        kernel: Kernel,
        reduced: &[Tridiagonal],
        own: f64,
        ratio: f64,
        sigma: Option<f64>,
        variance: Option<f64>,
    ) -> Option<Explained> {
        let (mut log_det, mut square) = (0.0, 0.0);
        for group in reduced {
            let (l, s) = group.shifted(ratio / own)?;
            log_det += l;
            square += s;
        }
        // If nothing is given, the noise of greatest evidence.
        let noise = match (sigma, variance) {
            (_, Some(variance)) => variance * own / ratio,
            (Some(sigma), None) if sigma > 0.0 => sigma * sigma,
            _ => square / self.count,
        };
        let evidence = -0.5 * (square / noise + log_det + self.count * libm::log(noise));
        let kernel = Kernel { variance: ratio * noise / own, ..kernel };
        let sane = evidence.is_finite() && (1e-200..1e200).contains(&kernel.variance);
        sane.then_some(Explained { evidence, kernel, sigma: noise.sqrt(), signal: ratio * noise, ratio })
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel::{Shape, Units, Wide};
    use super::*;
    use crate::linalg::Cholesky;
    use crate::rng::{Key, normal, unit_vector};

    fn observed() -> Vec<(Vec<f64>, Vec<f64>)> {
        let mut stream = Key::new(4).stream();
        [30, 7]
            .map(|n| {
                let mut xs = vec![0.0; 3 * n];
                xs.chunks_exact_mut(3).for_each(|x| unit_vector(&mut stream, x));
                let ys = xs.chunks_exact(3).map(|x| x[0].max(0.0) + 0.1 * normal(&mut stream)).collect();
                (xs, ys)
            })
            .to_vec()
    }

    /// log N(y; 0, K + σ²I) by a dense factor, over all groups.
    fn dense(groups: &[(Vec<f64>, Vec<f64>)], kernel: Kernel, sigma: f64) -> f64 {
        let one = |(xs, ys): &(Vec<f64>, Vec<f64>)| {
            let n = ys.len();
            let point = |i: usize| &xs[3 * i..3 * i + 3];
            let mut matrix: Vec<f64> = (0..n * n).map(|at| kernel.at(point(at / n), point(at % n))).collect();
            (0..n).for_each(|i| matrix[i * n + i] += sigma * sigma);
            let factor = Cholesky::new(&mut matrix, n).unwrap();
            let mut z = ys.clone();
            factor.solve_transposed(&mut z);
            -0.5 * (dot(&z, &z) + factor.log_det())
        };
        groups.iter().map(one).sum()
    }

    #[test]
    fn evidence_is_that_of_a_dense_solve() {
        let groups = observed();
        let all = Observed::new(3, groups.clone()).unwrap();
        let wide = Shape::Wide(Wide { of: Units::Relu, depth: 1, bias: true });
        for shape in [Shape::Rbf, Shape::Matern32, wide] {
            let kernel = Kernel { shape, length: 0.7, variance: 9.0 };
            for (sigma, variance) in [(Some(0.1), None), (None, None), (Some(0.2), Some(3.0)), (None, Some(2.0))] {
                let found = all.explained(kernel, sigma, variance);
                assert_eq!(found.len(), if sigma.is_some() && variance.is_some() { 1 } else { 13 });
                for one in found {
                    let expected = dense(&groups, one.kernel, one.sigma);
                    assert!((one.evidence - expected).abs() < 1e-7 * expected.abs(), "{one:?} {expected}");
                    assert!(sigma.is_none_or(|sigma| (one.sigma - sigma).abs() < 1e-12));
                    assert!(variance.is_none_or(|variance| (one.kernel.variance - variance).abs() < 1e-12));
                }
            }
        }
    }

    /// The noise that is found for a ratio is the best one: with a little more or less, evidence falls.
    #[test]
    fn the_noise_is_that_of_greatest_evidence() {
        let groups = observed();
        let kernel = Kernel { shape: Shape::Rbf, length: 1.0, variance: 1.0 };
        for one in Observed::new(3, groups.clone()).unwrap().explained(kernel, None, None) {
            for factor in [0.95, 1.05] {
                let scaled = Kernel { variance: one.kernel.variance * factor * factor, ..one.kernel };
                assert!(dense(&groups, scaled, one.sigma * factor) < one.evidence);
            }
        }
    }

    #[test]
    fn nothing_is_told_by_one_point_or_by_zeros() {
        assert!(Observed::new(1, vec![(vec![1.0; 5], vec![1.0; 5])]).is_none());
        assert!(Observed::new(1, vec![(vec![1.0, 2.0], vec![0.0; 2])]).is_none());
        let some = Observed::new(1, vec![(vec![1.0, 2.0], vec![1.0; 2])]).unwrap();
        assert!((some.spread - 0.5).abs() < 1e-12 && (some.size - 2.5f64.sqrt()).abs() < 1e-12);
    }
}
