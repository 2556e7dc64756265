//! Ridge regression with its confidence set: the one implementation that every linear policy shares.
//!
//! With features φ, rewards y and a prior precision A₀ (λI for plain ridge),
//!
//! > A = A₀ + Σ φφᵀ,  b = Σ φy,  ŵ = A⁻¹b,
//!
//! and with probability 1 − δ the true weights lie in {w : ‖w − ŵ‖_A ≤ β} where
//!
//! > β = σ·√(log det A − log det A₀ + 2·log(1/δ)) + √λ·S
//!
//! (Abbasi-Yadkori, Pál and Szepesvári 2011, Theorem 2). So φ·ŵ ± β·√(φᵀA⁻¹φ) is an interval for the mean reward.
//!
//! A⁻¹ is kept by the Sherman–Morrison formula, for a round then costs O(D²), and computed anew from A every few
//! hundred updates, so that rounding cannot build up. A and b themselves are sums to twice the precision: a policy that
//! has settled adds the same φφᵀ a million times, where every rounding error points the same way and, divided by the
//! small eigenvalues of A, would show in the sixth digit of the widths. For the same reason A⁻¹, ŵ and narrow widths
//! are refined against A where it is ill-conditioned.
//!
//! To compute an inverse anew costs as much as D updates, and to refine it more than that: with hundreds of features a
//! round in which it fell due would stall. So from [`LARGE`] features on A⁻¹ is refined a few columns at a time, all of
//! them once in about D updates, and is computed anew only if an update has spoilt it.

mod build;
mod lanes;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use self::lanes::{Padded, dot_and_axpy, dot_in_lanes};
use crate::instructions::{LANES, arch};
use crate::linalg::panels::Sums;
use crate::linalg::{Cholesky, axpy, axpy_compensated, dot, symmetric_times};
use crate::spare::{Spare, with_zeros};

/// Recompute the inverse from A after this many updates. Sooner would gain little: what is left
/// is the rounding of A⁻¹ itself.
const REFRESH: u32 = 512;

/// Above this Σ φᵢ²(A⁻¹)ᵢᵢ, the Sherman–Morrison formula would cancel more than eight digits: the inverse is computed
/// anew instead. In this sum the units of the features cancel, and directions in which φ does not go do not count.
const FAR: f64 = 1e8;

/// Above this tr A·tr A⁻¹, a bound on the condition number, what is computed from A is refined.
const ILL_CONDITIONED: f64 = 1e6;

/// The greatest residual I − A·A⁻¹ (the sum over a column) at which A⁻¹ is still refined.
const NEAR: f64 = 0.5;

/// From this many features on the inverse is refined a few columns at a time. Below, it is computed anew and refined as
/// a whole, because results were published with the bits which that gives.
pub const LARGE: usize = 257;

/// So many columns of a large inverse are refined every so many updates: one a round, in vectors' worth.
const COLUMNS: usize = LANES;

/// What the radius of the confidence set depends on besides the data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// The ridge penalty λ.
    pub lambda: f64,
    /// The noise is σ-subgaussian.
    pub sigma: f64,
    /// The set misses the truth with at most this probability.
    pub delta: f64,
    /// The bound S on the norm of the true weights.
    pub norm_bound: f64,
}

impl Confidence {
    /// β for a given log det A − log det A₀.
    pub fn radius(&self, log_det_ratio: f64) -> f64 {
        // The sum can only be negative where log det is not counted as in the theorem; the
        // radius is then its second term.
        let information = (log_det_ratio - 2.0 * libm::log(self.delta)).max(0.0);
        self.sigma * information.sqrt() + self.lambda.sqrt() * self.norm_bound
    }
}

/// Ridge regression with a Gaussian prior, updated one observation at a time.
///
/// ```
/// use reluctant::ellipsoid::Ellipsoid;
///
/// let mut line = Ellipsoid::ridge(2, 1e-6); // y = w₁·x + w₂ with a weak prior
/// for (x, y) in [(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)] {
///     line.update(&[x, 1.0], y);
/// }
/// let (mean, squared_width) = line.mean_and_squared_width(&[3.0, 1.0]);
/// assert!((mean - 7.0).abs() < 1e-4);
/// assert!(squared_width > line.squared_width(&[1.0, 1.0])); // less is known farther out
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
// serde writes the field-by-field code as functions of this type; the traits below add the check.
#[serde(remote = "Self")]
pub struct Ellipsoid {
    dim: usize,
    /// A on and above the diagonal; what is below is never read.
    precision: Vec<f64>,
    /// What rounding cut off from A, on and above the diagonal.
    precision_lost: Vec<f64>,
    /// A⁻¹, whole.
    covariance: Vec<f64>,
    /// b = Σ φy.
    moment: Vec<f64>,
    /// What rounding cut off from b.
    moment_lost: Vec<f64>,
    /// ŵ = A⁻¹b.
    weights: Vec<f64>,
    log_det_prior: f64,
    log_det_ratio: f64,
    updates: u64,
    since_refresh: u32,
}

impl Ellipsoid {
    /// Plain ridge regression: A₀ = λI.
    pub fn ridge(dim: usize, lambda: f64) -> Self {
        let diagonal = |value| {
            let mut matrix = vec![0.0; dim * dim];
            (0..dim).for_each(|i| matrix[i * dim + i] = value);
            matrix
        };
        Self::with_prior(dim, diagonal(lambda), diagonal(1.0 / lambda), dim as f64 * libm::log(lambda))
    }

    /// Ridge regression with prior precision A₀, given with its inverse and log-determinant, which
    /// callers know in closed form.
    pub fn with_prior(dim: usize, precision: Vec<f64>, covariance: Vec<f64>, log_det: f64) -> Self {
        debug_assert!(precision.len() == dim * dim && covariance.len() == dim * dim);
        Ellipsoid {
            dim,
            precision_lost: vec![0.0; dim * dim],
            precision,
            covariance,
            moment: vec![0.0; dim],
            moment_lost: vec![0.0; dim],
            weights: vec![0.0; dim],
            log_det_prior: log_det,
            log_det_ratio: 0.0,
            updates: 0,
            since_refresh: 0,
        }
    }

    /// Moves the prior's centre from zero to `weights`. Before the first observation.
    pub(crate) fn centre(&mut self, weights: &[f64]) {
        debug_assert!(self.updates == 0 && weights.len() == self.dim);
        self.move_to(weights);
    }

    /// Moves ŵ to `weights`, as if the observations had been such that they follow.
    pub(crate) fn move_to(&mut self, weights: &[f64]) {
        let precision = self.precision();
        symmetric_times(&precision, weights, &mut self.moment);
        self.moment_lost.fill(0.0);
        self.weights.copy_from_slice(weights);
    }

    /// The dimension D of the features.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// How many observations were absorbed.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// How many of them since A⁻¹ was last computed anew.
    pub(crate) fn since_refresh(&self) -> u32 {
        self.since_refresh
    }

    /// ŵ, the ridge estimate.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// A, whole, row after row.
    pub fn precision(&self) -> Vec<f64> {
        let n = self.dim;
        let entry = |at: usize| self.precision[(at / n).min(at % n) * n + (at / n).max(at % n)];
        (0..n * n).map(entry).collect()
    }

    /// A⁻¹, whole, row after row.
    pub fn covariance(&self) -> &[f64] {
        &self.covariance
    }

    /// log det A − log det A₀.
    pub fn log_det_ratio(&self) -> f64 {
        self.log_det_ratio
    }

    /// ŵ·φ.
    pub fn mean(&self, phi: &[f64]) -> f64 {
        dot(&self.weights, phi)
    }

    /// ŵ·φ and φᵀA⁻¹φ in one pass over half of A⁻¹: what [`Ellipsoid::mean`] and [`Ellipsoid::squared_width`] give, up
    /// to rounding, and much faster where there are many features. The bits are the same on every machine.
    pub fn mean_and_squared_width(&self, phi: &[f64]) -> (f64, f64) {
        struct Kernel<'k>(&'k Ellipsoid, &'k [f64]);
        impl pulp::NullaryFnOnce for Kernel<'_> {
            type Output = (f64, f64, f64);
            #[inline(always)]
            fn call(self) -> Self::Output {
                let Kernel(ellipsoid, phi) = self;
                let padded = Padded::of(phi);
                let (mut sum, mut trace) = (0.0, 0.0);
                for (i, (row, &x)) in ellipsoid.covariance.chunks_exact(ellipsoid.dim).zip(phi).enumerate() {
                    trace += row[i];
                    if x != 0.0 {
                        let off_diagonal = match padded.beside(&ellipsoid.covariance, i) {
                            Some((row, phi)) => dot_in_lanes(row, phi),
                            None => dot_in_lanes(&row[i + 1..], &phi[i + 1..]),
                        };
                        // What is off the diagonal counts twice.
                        sum += x * (x * row[i] + 2.0 * off_diagonal);
                    }
                }
                (dot_in_lanes(&ellipsoid.weights, phi), sum, trace)
            }
        }
        debug_assert_eq!(phi.len(), self.dim);
        let (mean, sum, trace) = arch().dispatch(Kernel(self, phi));
        (mean, self.checked_width(phi, sum, trace / self.dim as f64))
    }

    /// The squared width, given the sum that should be it. The rounding errors of the sum are of the size of those of
    /// its terms: one that is far smaller has lost digits.
    fn checked_width(&self, phi: &[f64], sum: f64, term: f64) -> f64 {
        let narrow = sum * ILL_CONDITIONED < term * dot(phi, phi);
        // Positive in exact arithmetic.
        if narrow { self.narrow_squared_width(phi) } else { sum }.max(0.0)
    }

    /// φᵀA⁻¹φ, the squared width.
    pub fn squared_width(&self, phi: &[f64]) -> f64 {
        if self.is_large() {
            return self.mean_and_squared_width(phi).1;
        }
        let mut sum = 0.0;
        for (row, &x) in self.covariance.chunks_exact(self.dim).zip(phi) {
            if x != 0.0 {
                sum += x * dot(row, phi);
            }
        }
        self.checked_width(phi, sum, self.trace())
    }

    /// Whether columns of the inverse are refined one after the other.
    fn is_large(&self) -> bool {
        self.dim >= LARGE
    }

    /// φᵀA⁻¹φ in a direction that A knows well, where the entries of A⁻¹ nearly cancel: A⁻¹φ is refined first.
    fn narrow_squared_width(&self, phi: &[f64]) -> f64 {
        with_zeros(2 * self.dim, |work| {
            let (solved, residual) = work.split_at_mut(self.dim);
            symmetric_times(&self.covariance, phi, solved);
            residual.copy_from_slice(phi);
            self.sums().refine(&self.covariance, solved, residual);
            dot(phi, solved)
        })
    }

    /// A, to twice the precision.
    fn sums(&self) -> Sums<'_> {
        Sums { n: self.dim, kept: &self.precision, lost: &self.precision_lost }
    }

    /// Absorbs the observation (φ, y). Finite numbers of the right dimension are the caller's promise.
    pub fn update(&mut self, phi: &[f64], y: f64) {
        debug_assert_eq!(phi.len(), self.dim);
        struct Kernel<'k>(&'k mut Ellipsoid, &'k [f64], f64, bool);
        impl pulp::NullaryFnOnce for Kernel<'_> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                let Kernel(ellipsoid, phi, y, far) = self;
                if !far && ellipsoid.is_large() {
                    ellipsoid.shrink_large(phi, y);
                } else if !far {
                    ellipsoid.shrink(phi, y);
                }
                ellipsoid.accumulate(phi, y);
            }
        }
        let variances = self.covariance.iter().step_by(self.dim + 1);
        let far = variances.zip(phi).map(|(variance, x)| x * x * variance).sum::<f64>() > FAR;
        arch().dispatch(Kernel(self, phi, y, far));
        self.updates = self.updates.saturating_add(1);
        // A large inverse may never be computed anew; where the count starts again does not matter then.
        self.since_refresh = (self.since_refresh + 1) % (1 << 31);
        let due = self.since_refresh >= REFRESH;
        let refines = self.is_large() && self.since_refresh.is_multiple_of(COLUMNS as u32);
        let spoilt = far || !self.is_positive() || (refines && !self.refine_next() && due);
        if spoilt || (due && !self.is_large()) {
            self.refresh();
        }
    }

    /// Refines the next few columns of a large A⁻¹, and ŵ. False, with both as they were, if A⁻¹ is not near enough to
    /// be refined.
    fn refine_next(&mut self) -> bool {
        let n = self.dim;
        let blocks = n.div_ceil(COLUMNS);
        let first = (self.since_refresh as usize / COLUMNS) % blocks * COLUMNS;
        let refined = self.sums().refine_columns(&self.covariance, first, COLUMNS.min(n - first));
        // As in `refine_all`. What is not a number is not below it.
        let near = refined.residual(|i| self.precision[i * (n + 1)].sqrt()) <= NEAR;
        if near {
            refined.store(&mut self.covariance);
            let mut weights = std::mem::take(&mut self.weights);
            self.refine_weights(&self.covariance, &mut weights);
            self.weights = weights;
        }
        near
    }

    /// Refines ŵ with the help of `inverse`.
    fn refine_weights(&self, inverse: &[f64], weights: &mut [f64]) {
        // b − Aŵ of the sum as it is kept; what rounding cut off from b follows by itself.
        let mut work = Spare::copy(&self.moment);
        self.sums().refine(inverse, weights, &mut work);
        for (row, lost) in inverse.chunks_exact(self.dim).zip(&self.moment_lost) {
            axpy(*lost, row, weights);
        }
    }

    /// Whether the variances are those of a covariance: rounding leaves them so unless A is too
    /// ill-conditioned for doubles.
    fn is_positive(&self) -> bool {
        self.covariance.iter().step_by(self.dim + 1).all(|x| *x > 0.0 && x.is_finite())
    }

    /// The trace of A⁻¹.
    fn trace(&self) -> f64 {
        self.covariance.iter().step_by(self.dim + 1).sum()
    }

    /// A⁻¹, ŵ and the log-determinant after (φ, y), by the Sherman–Morrison formula.
    #[inline(always)]
    fn shrink(&mut self, phi: &[f64], y: f64) {
        // The gain A⁻¹φ; small ones live on the stack.
        let mut stack = [0.0; 64];
        let mut heap;
        let gain: &mut [f64] = if self.dim <= stack.len() {
            &mut stack[..self.dim]
        } else {
            heap = Spare::zeros(self.dim);
            &mut heap
        };
        symmetric_times(&self.covariance, phi, gain);
        let squared_width = dot(phi, gain).max(0.0);
        let shrink = 1.0 / (1.0 + squared_width);
        let surprise = y - dot(&self.weights, phi);
        axpy(surprise * shrink, gain, &mut self.weights);
        for (row, &g) in self.covariance.chunks_exact_mut(self.dim).zip(gain.iter()) {
            axpy(-g * shrink, gain, row);
        }
        self.log_det_ratio += libm::log1p(squared_width);
    }

    /// The same for a large A⁻¹, of which the gain takes only one half to read. A⁻¹ stays exactly symmetric.
    #[inline(always)]
    fn shrink_large(&mut self, phi: &[f64], y: f64) {
        let n = self.dim;
        let mut gain = Spare::zeros(n);
        for (i, (row, &x)) in self.covariance.chunks_exact(n).zip(phi).enumerate() {
            let (head, tail) = gain.split_at_mut(i + 1);
            let (row, phi) = (&row[i..], &phi[i + 1..]);
            if x == 0.0 {
                head[i] += dot_in_lanes(&row[1..], phi);
            } else {
                head[i] += x * row[0] + dot_and_axpy(x, &row[1..], phi, tail);
            }
        }
        let squared_width = dot(phi, &gain).max(0.0);
        let shrink = 1.0 / (1.0 + squared_width);
        let surprise = y - dot(&self.weights, phi);
        axpy(surprise * shrink, &gain, &mut self.weights);
        let root = shrink.sqrt();
        gain.iter_mut().for_each(|g| *g *= root);
        for (row, &g) in self.covariance.chunks_exact_mut(n).zip(gain.iter()) {
            axpy(-g, &gain, row);
        }
        self.log_det_ratio += libm::log1p(squared_width);
    }

    /// A and b after (φ, y).
    #[inline(always)]
    fn accumulate(&mut self, phi: &[f64], y: f64) {
        let rows = self.precision.chunks_exact_mut(self.dim).zip(self.precision_lost.chunks_exact_mut(self.dim));
        for (i, (row, lost)) in rows.enumerate() {
            if phi[i] != 0.0 {
                axpy_compensated(phi[i], &phi[i..], &mut row[i..], &mut lost[i..]);
            }
        }
        axpy_compensated(y, phi, &mut self.moment, &mut self.moment_lost);
    }

    /// Recomputes A⁻¹, ŵ and the log-determinant from A and b.
    pub fn refresh(&mut self) {
        self.since_refresh = 0;
        let mut work = Spare::copy(&self.precision);
        // Beside an observation of enormous size (10⁸ times that of the others) they and the prior are lost to
        // rounding, and A is not positive definite or only by luck: then a prior that rounding does not lose takes its
        // place. Widths are narrower with it.
        for ridge in [0.0, 1e-14, 1e-12, 1e-10] {
            let entries = self.precision.iter().zip(&self.precision_lost);
            work.iter_mut().zip(entries).for_each(|(work, (entry, lost))| *work = entry + lost);
            work.iter_mut().step_by(self.dim + 1).for_each(|x| *x += ridge * *x);
            if let Some(factor) = Cholesky::new(&mut work, self.dim) {
                factor.inverse(&mut self.covariance);
                self.weights.copy_from_slice(&self.moment);
                factor.solve(&mut self.weights);
                self.log_det_ratio = factor.log_det() - self.log_det_prior;
                // A large inverse is refined in the rounds that follow.
                if ridge > 0.0 || ((self.is_large() || self.refine_all()) && self.is_positive()) {
                    return;
                }
            }
        }
    }
}

impl Ellipsoid {
    /// Refines A⁻¹ and ŵ if A is ill-conditioned: its entries, rounded, are then not good enough for its inverse.
    /// False, with ŵ and A⁻¹ as they were, if A⁻¹ is not near enough to be refined.
    fn refine_all(&mut self) -> bool {
        let n = self.dim;
        let size: f64 = self.precision.iter().step_by(n + 1).sum();
        if size * self.trace() < ILL_CONDITIONED {
            return true;
        }
        let refined = self.sums().refine_columns(&self.covariance, 0, n);
        // Newton's step squares the residual: it helps only where that is less than 1, in units in which A has ones on
        // its diagonal.
        let residual = refined.residual(|i| self.precision[i * (n + 1)].sqrt());
        if residual.is_nan() || residual > NEAR {
            return false;
        }
        refined.store(&mut self.covariance);
        let mut weights = std::mem::take(&mut self.weights);
        self.refine_weights(&self.covariance, &mut weights);
        self.weights = weights;
        true
    }

    /// What is wrong, unless the parts fit together and are those of a regression.
    fn checked(self) -> Result<Self, String> {
        let Ellipsoid { dim, precision, precision_lost, covariance, moment, moment_lost, weights, .. } = &self;
        let square = dim.checked_mul(*dim);
        let fits = [precision, precision_lost, covariance].iter().all(|m| Some(m.len()) == square)
            && [moment, moment_lost, weights].iter().all(|v| v.len() == *dim);
        if !fits {
            return Err(format!("its ellipsoid does not have dimension {dim}"));
        }
        let finite = [precision, precision_lost, covariance, moment, moment_lost, weights]
            .iter()
            .all(|v| v.iter().all(|x| x.is_finite()));
        let positive = [precision, covariance].iter().all(|m| (0..*dim).all(|i| m[i * dim + i] > 0.0));
        if !(finite && positive && self.log_det_ratio.is_finite() && (self.is_large() || self.since_refresh <= REFRESH))
        {
            return Err("its ellipsoid is not one".to_owned());
        }
        Ok(self)
    }
}

impl Ellipsoid {
    /// Multiplies the weight of everything that was observed by `factor`, of plain ridge regression with
    /// penalty λ: A − λI and b shrink.
    pub(crate) fn forget(&mut self, factor: f64, lambda: f64) {
        for sums in [&mut self.precision, &mut self.precision_lost, &mut self.moment, &mut self.moment_lost] {
            sums.iter_mut().for_each(|x| *x *= factor);
        }
        // The prior is not forgotten.
        self.precision.iter_mut().step_by(self.dim + 1).for_each(|x| *x += (1.0 - factor) * lambda);
        self.refresh();
    }
}

impl Serialize for Ellipsoid {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Ellipsoid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Self::deserialize(deserializer)?.checked().map_err(serde::de::Error::custom)
    }
}
