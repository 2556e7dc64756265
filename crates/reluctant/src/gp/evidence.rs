//! How well a kernel explains what was observed, whatever the noise and the signal's variance.
//!
//! With κ a kernel of variance 1, a basis Z, κ(Z, Z) = LLᵀ and Φ = L⁻¹κ(Z, X), rewards have the covariance s²ΦᵀΦ + σ²I,
//! as in the process that acts ([`SparseGp`](super::SparseGp)): if every observation has a point of its own this is
//! exact. For r = s²/σ² their log-density needs ΦΦᵀ as a tridiagonal matrix once; then every r costs O(points), and the
//! best σ² for an r has a formula.

use super::kernel::{Kernel, Pairs};
use crate::kernels::arch;
use crate::linalg::{Cholesky, Tridiagonal, axpy, dot};

/// Ratios r·mean κ(x, x) that are tried when the noise is not known: from 10^-1 by half powers of ten.
const RATIOS: std::ops::RangeInclusive<i32> = -2..=10;
/// The greatest ratio that is tried if the noise is known: 10^8.
const LAST_RATIO: i32 = 16;
/// Signal variances are tried up to this multiple of the rewards' mean square.
const LARGEST_SIGNAL: f64 = 64.0;

/// Where data say nothing the noise is thought to be this share of the rewards, within a factor of e.
const NOISE_SHARE: f64 = 0.1;
/// At least this share of the rewards' mean square is left unexplained.
const LEAST_REST: f64 = 1e-12;
/// The least eigenvalue of κ(Z, Z), in units of its mean diagonal: rounding must not decide what is positive definite.
const LEAST_EIGENVALUE: f64 = 1e-9;

/// Observations whose rewards go together, and the points that express them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Points {
    /// Points, one after the other, and their rewards.
    pub(crate) xs: Vec<f64>,
    pub(crate) ys: Vec<f64>,
    /// The basis.
    pub(crate) basis: Vec<f64>,
}

/// The same, as what kernels must know of them.
#[derive(Debug, Clone)]
struct Group {
    ys: Vec<f64>,
    /// Of the basis with itself, and of the basis (in rows) with the observations.
    among: Known,
    across: Known,
}

/// What kernels must know of all pairs of two lists of points.
#[derive(Debug, Clone, Default)]
struct Known {
    squares: Vec<f64>,
    products: Vec<f64>,
    left: Vec<f64>,
    right: Vec<f64>,
}

impl Known {
    fn new(dim: usize, rows: &[f64], columns: &[f64]) -> Self {
        let mut known = Known::default();
        let sizes: Vec<f64> = columns.chunks_exact(dim).map(|z| dot(z, z)).collect();
        for x in rows.chunks_exact(dim) {
            known.squares.extend(columns.chunks_exact(dim).map(|z| squared_distance(x, z)));
            known.products.extend(columns.chunks_exact(dim).map(|z| dot(x, z)));
            known.left.extend(std::iter::repeat_n(dot(x, x), sizes.len()));
            known.right.extend_from_slice(&sizes);
        }
        known
    }

    fn of(&self, kernel: Kernel) -> Vec<f64> {
        let Known { squares, products, left, right } = self;
        kernel.of_pairs(Pairs { squares, products, left, right })
    }
}

fn squared_distance(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum()
}

impl Group {
    fn new(dim: usize, points: Points) -> Self {
        let Points { xs, ys, basis } = points;
        Group { ys, among: Known::new(dim, &basis, &basis), across: Known::new(dim, &basis, &xs) }
    }

    /// ΦΦᵀ and Φy, reduced; `None` if κ(Z, Z) is not positive definite to working precision.
    fn reduced(&self, kernel: Kernel) -> Option<Tridiagonal> {
        let (mut among, mut features) = (self.among.of(kernel), self.across.of(kernel));
        let m = features.len() / self.ys.len();
        let trace: f64 = among.iter().step_by(m + 1).sum();
        (0..m).for_each(|i| among[i * m + i] += LEAST_EIGENVALUE * trace / m as f64);
        let factor = Cholesky::new(&mut among, m)?;
        let (squares, moment) = arch().dispatch(Features { factor, features: &mut features, ys: &self.ys });
        Some(Tridiagonal::new(squares, &moment))
    }
}

/// ΦΦᵀ and Φy from the factor of κ(Z, Z) and κ(Z, X), which becomes Φ.
struct Features<'a> {
    factor: Cholesky<'a>,
    features: &'a mut [f64],
    ys: &'a [f64],
}

impl pulp::NullaryFnOnce for Features<'_> {
    type Output = (Vec<f64>, Vec<f64>);

    #[inline(always)]
    fn call(self) -> Self::Output {
        let Features { factor, features, ys } = self;
        let n = ys.len();
        let m = features.len() / n;
        // Row i of Φ is row i of κ(Z, X), less the share of the rows before.
        for i in 0..m {
            let (done, rest) = features.split_at_mut(i * n);
            let own = &mut rest[..n];
            done.chunks_exact(n).enumerate().for_each(|(j, row)| axpy(-factor.at(j, i), row, own));
            let pivot = 1.0 / factor.at(i, i);
            own.iter_mut().for_each(|x| *x *= pivot);
        }
        let (mut squares, mut moment, mut phi) = (vec![0.0; m * m], vec![0.0; m], vec![0.0; m]);
        for (x, &y) in ys.iter().enumerate() {
            (0..m).for_each(|i| phi[i] = features[i * n + x]);
            axpy(y, &phi, &mut moment);
            for i in 0..m {
                axpy(phi[i], &phi[i..], &mut squares[i * m + i..(i + 1) * m]);
            }
        }
        for i in 0..m {
            (0..i).for_each(|j| squares[i * m + j] = squares[j * m + i]);
        }
        (squares, moment)
    }
}

/// What was observed, in groups that share a kernel and nothing else.
#[derive(Debug, Clone)]
pub(crate) struct Observed {
    groups: Vec<Group>,
    count: f64,
    /// The rewards' mean square.
    power: f64,
    /// The points, for their kernel with themselves.
    all: Vec<f64>,
    dim: usize,
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
    pub(crate) fn new(dim: usize, groups: Vec<Points>) -> Option<Self> {
        let all: Vec<f64> = groups.iter().flat_map(|group| group.xs.iter().copied()).collect();
        let count = (all.len() / dim) as f64;
        let power = groups.iter().map(|group| dot(&group.ys, &group.ys)).sum::<f64>() / count;
        let mut mean = vec![0.0; dim];
        all.chunks_exact(dim).for_each(|x| axpy(1.0 / count, x, &mut mean));
        let size = (dot(&all, &all) / count).sqrt();
        let around = all.chunks_exact(dim).map(|x| squared_distance(x, &mean)).sum::<f64>() / count;
        let spread = around.sqrt();
        if !(spread > 1e-90 && power > 1e-180 && size < 1e90 && power < 1e180) {
            return None;
        }
        let groups = groups.into_iter().map(|points| Group::new(dim, points)).collect();
        Some(Observed { groups, count, power, all, dim, spread, size })
    }

    /// The log of a weak log-normal prior of the noise level: with few observations the likeliest noise is none at all,
    /// because a process that goes through all of them explains them best.
    pub(crate) fn noise_prior(&self, sigma: f64) -> f64 {
        let off = libm::log(sigma / (NOISE_SHARE * self.power.sqrt()));
        -0.5 * off * off
    }

    /// Every variance and noise that is tried with a kernel, with its evidence. What is given is kept.
    pub(crate) fn explained(&self, kernel: Kernel, sigma: Option<f64>, variance: Option<f64>) -> Vec<Explained> {
        let kernel = Kernel { variance: 1.0, ..kernel };
        let own = self.all.chunks_exact(self.dim).map(|x| kernel.diagonal(x)).sum::<f64>() / self.count;
        if !(own > 1e-100 && own < 1e100) {
            return Vec::new();
        }
        let reduced: Option<Vec<Tridiagonal>> = self.groups.iter().map(|group| group.reduced(kernel)).collect();
        let Some(reduced) = reduced else { return Vec::new() };
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
        let (mut log_det, mut explained) = (0.0, 0.0);
        for group in reduced {
            let (l, e) = group.shifted(ratio / own)?;
            log_det += l;
            explained += ratio / own * e;
        }
        // yᵀ(I + rΦᵀΦ)⁻¹y. What is left of an interpolation is rounding.
        let square = self.count * (self.power - explained / self.count).max(LEAST_REST * self.power);
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

    fn observed() -> Vec<Points> {
        let mut stream = Key::new(4).stream();
        [30, 7]
            .map(|n| {
                let mut xs = vec![0.0; 3 * n];
                xs.chunks_exact_mut(3).for_each(|x| unit_vector(&mut stream, x));
                let ys = xs.chunks_exact(3).map(|x| x[0].max(0.0) + 0.1 * normal(&mut stream)).collect();
                Points { basis: xs.clone(), xs, ys }
            })
            .to_vec()
    }

    /// log N(y; 0, K + σ²I) by a dense factor, over all groups.
    fn dense(groups: &[Points], kernel: Kernel, sigma: f64) -> f64 {
        let one = |Points { xs, ys, .. }: &Points| {
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
                    assert!((one.evidence - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{one:?} {expected}");
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
        let points = |xs: &[f64], ys: &[f64]| vec![Points { xs: xs.to_vec(), ys: ys.to_vec(), basis: xs.to_vec() }];
        assert!(Observed::new(1, points(&[1.0; 5], &[1.0; 5])).is_none());
        assert!(Observed::new(1, points(&[1.0, 2.0], &[0.0; 2])).is_none());
        let some = Observed::new(1, points(&[1.0, 2.0], &[1.0; 2])).unwrap();
        assert!((some.spread - 0.5).abs() < 1e-12 && (some.size - 2.5f64.sqrt()).abs() < 1e-12);
    }
}
