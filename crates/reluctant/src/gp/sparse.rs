//! A Gaussian process that keeps a bounded number of points and every observation.
//!
//! With a basis Z of m points, K = k(Z, Z) = LLᵀ and the features φ(x) = L⁻¹k(Z, x), the process is Bayesian linear
//! regression on φ with the prior N(0, I), plus what the basis cannot express, of variance γ(x) = k(x, x) − ‖φ(x)‖².
//! Its posterior is A = I + Σ φφᵀ/(σ² + γ), b = Σ φy/(σ² + γ); in terms of the kernel,
//!
//! > mean(x) = k(Z, x)·α,  variance(x) = k(x, x) − k(Z, x)ᵀ·M·k(Z, x),  α = L⁻ᵀA⁻¹b,  M = L⁻ᵀ(I − A⁻¹)L⁻¹.
//!
//! While every observation has a point of its own this is the exact process, M = (K + σ²I)⁻¹. An observation whose γ is
//! below a hundredth of the noise is expressed by the points that are there: it counts in full and needs no point of
//! its own (Csató and Opper 2002, Sparse on-line Gaussian processes). Once the basis is full the others are projected
//! onto it too, as noisier by their γ (Snelson and Ghahramani 2006), so that nothing that was explored is ever
//! forgotten; and variance(x) is then counted without γ(x), which no observation could lower any more.
//!
//! L grows by a row a point and the factor of A is rotated by each observation: both are Cholesky
//! factors kept up to date in O(m²).

use serde::{Deserialize, Serialize};

use super::kernel::Kernel;
use super::triangle::{add_square, factorise, row, solve, solve_transposed, start};
use crate::choice::Score;
use crate::kernels::{Blocks, LANES, Lane, arch};
use crate::limits::in_limit;
use crate::linalg::{axpy, dot};
use crate::offer::Rows;

/// An observation that the basis expresses up to this share of the noise needs no point of its own.
const NOVEL: f64 = 0.01;

/// The least noise variance, as a share of the signal's: rounding must not decide what is positive definite.
const LEAST_NOISE: f64 = 1e-8;

/// Recompute α and M from the factors after this many updates.
const REFRESH: u32 = 512;

/// A Gaussian process that keeps a bounded number of points and every observation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SparseGp {
    dim: usize,
    kernel: Kernel,
    /// σ².
    noise: f64,
    /// At most this many points.
    budget: usize,
    /// Z, one point after the other.
    points: Vec<f64>,
    /// L.
    prior: Vec<f64>,
    /// The lower triangular factor of A.
    posterior: Vec<f64>,
    /// b.
    moment: Vec<f64>,
    /// α.
    alpha: Vec<f64>,
    /// M on and below the diagonal; once the basis is full, M − K⁻¹, so that variance(x) leaves γ(x) out.
    shrink: Vec<f64>,
    since_refresh: u32,
    /// Squared surprises, each in units of its variance before it was seen, times σ²; and the sum of log(that
    /// variance/σ²).
    #[serde(default)]
    squares: f64,
    #[serde(default)]
    log_det: f64,
    #[serde(skip)]
    work: Work,
}

/// Memory to work in, kept from update to update.
#[derive(Debug, Clone, Default)]
struct Work {
    kappa: Vec<f64>,
    phi: Vec<f64>,
    gain: Vec<f64>,
}

impl SparseGp {
    pub(crate) fn new(dim: usize, kernel: Kernel, sigma: f64, budget: usize) -> Self {
        let noise = noise_variance(sigma, kernel);
        let none = Vec::new;
        SparseGp {
            dim,
            kernel,
            noise,
            budget,
            points: none(),
            prior: none(),
            posterior: none(),
            moment: none(),
            alpha: none(),
            shrink: none(),
            since_refresh: 0,
            squares: 0.0,
            log_det: 0.0,
            work: Work::default(),
        }
    }

    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    pub(crate) fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Loss and price of its evidence: −2 log of the density of all rewards is loss/σ² + price, up to what all models
    /// share. By the chain rule: each reward, given those before.
    pub(crate) fn evidence(&self) -> (f64, f64) {
        (self.squares, self.log_det)
    }

    /// σ².
    pub(crate) fn noise(&self) -> f64 {
        self.noise
    }

    /// How many points the basis has.
    pub(crate) fn len(&self) -> usize {
        self.alpha.len()
    }

    fn is_full(&self) -> bool {
        self.len() >= self.budget
    }

    /// Z; as rows it must not be asked about while it is empty.
    pub(super) fn points(&self) -> Rows<'_> {
        Rows::trusted(self.dim, &self.points)
    }

    /// Whether the parts fit together and are those of a process.
    pub(crate) fn is_consistent(&self, budget: usize) -> bool {
        let m = self.len();
        let fits = self.dim > 0
            && Some(self.points.len()) == m.checked_mul(self.dim)
            && self.moment.len() == m
            && [&self.prior, &self.posterior, &self.shrink].iter().all(|t| t.len() == start(m));
        let positive = |x: f64| x > 0.0 && x.is_finite();
        fits && m <= budget
            && self.budget == budget
            && [self.kernel.length, self.kernel.variance, self.noise].into_iter().all(positive)
            && [&self.prior, &self.posterior].iter().all(|t| (0..m).all(|i| positive(row(t, i)[i])))
            && self.points.iter().all(|&x| in_limit(x))
            && self.since_refresh < REFRESH
            && self.squares >= 0.0
            && self.log_det.is_finite()
    }

    /// Absorbs an observation. Finite numbers of the right dimension are the caller's promise.
    pub(crate) fn update(&mut self, x: &[f64], y: f64) {
        let mut work = std::mem::take(&mut self.work);
        let Work { kappa, phi, .. } = &mut work;
        kappa.clear();
        kappa.extend(self.points.chunks_exact(self.dim).map(|z| self.kernel.at(x, z)));
        phi.clone_from(kappa);
        solve(&self.prior, phi);
        let own = self.kernel.diagonal(x);
        let mut novelty = (own - dot(phi, phi)).max(0.0);
        let joins = novelty > NOVEL * self.noise && !self.is_full();
        if joins {
            self.join(x, phi, novelty);
            kappa.push(own);
            novelty = 0.0;
        }
        self.learn(y, self.noise + novelty, &mut work);
        self.work = work;
        self.since_refresh += 1;
        if self.since_refresh >= REFRESH || (joins && self.is_full()) {
            self.refresh();
        }
    }

    /// `x` becomes a point. What was projected before has next to no share in it.
    fn join(&mut self, x: &[f64], phi: &mut Vec<f64>, novelty: f64) {
        phi.push(novelty.sqrt());
        self.points.extend_from_slice(x);
        self.prior.extend_from_slice(phi);
        self.posterior.extend(std::iter::repeat_n(0.0, phi.len() - 1).chain([1.0]));
        self.shrink.extend(std::iter::repeat_n(0.0, phi.len()));
        self.moment.push(0.0);
        self.alpha.push(0.0);
    }

    /// A, b, α and M after an observation with the kernels and features in `work`.
    fn learn(&mut self, y: f64, noise: f64, Work { kappa, phi, gain }: &mut Work) {
        axpy(y / noise, phi, &mut self.moment);
        // A⁻¹φ before the update, and L⁻ᵀ of it: the direction in which α and M change.
        gain.clone_from(phi);
        solve(&self.posterior, gain);
        let total = noise + dot(gain, gain);
        solve_transposed(&self.posterior, gain);
        solve_transposed(&self.prior, gain);
        let surprise = y - dot(kappa, &self.alpha);
        self.squares += surprise * surprise * self.noise / total;
        self.log_det += libm::log(total / self.noise);
        axpy(surprise / total, gain, &mut self.alpha);
        for i in 0..gain.len() {
            axpy(gain[i] / total, &gain[..=i], &mut self.shrink[start(i)..start(i + 1)]);
        }
        let scale = 1.0 / noise.sqrt();
        phi.iter_mut().for_each(|x| *x *= scale);
        add_square(&mut self.posterior, phi);
    }

    /// Multiplies the weight of everything that was observed by `factor`: A − I and b shrink. The points stay.
    pub(crate) fn forget(&mut self, factor: f64) {
        let m = self.len();
        let mut weighted = Vec::with_capacity(self.posterior.len());
        for i in 0..m {
            for j in 0..=i {
                let entry = dot(&row(&self.posterior, i)[..=j], row(&self.posterior, j));
                let prior = if i == j { 1.0 } else { 0.0 };
                weighted.push(prior + factor * (entry - prior));
            }
        }
        factorise(&mut weighted, m);
        self.posterior = weighted;
        self.moment.iter_mut().for_each(|x| *x *= factor);
        self.refresh();
    }

    /// α and M from the factors.
    pub(super) fn refresh(&mut self) {
        self.since_refresh = 0;
        let m = self.len();
        self.alpha.copy_from_slice(&self.moment);
        solve(&self.posterior, &mut self.alpha);
        solve_transposed(&self.posterior, &mut self.alpha);
        solve_transposed(&self.prior, &mut self.alpha);
        // Column i of M, from the diagonal down; symmetric, so it is row i up to the diagonal of the columns that
        // follow.
        let keep = if self.is_full() { 0.0 } else { 1.0 };
        let Work { phi: column, gain: explained, .. } = &mut self.work;
        for i in 0..m {
            column.clear();
            column.resize(m, 0.0);
            column[i] = 1.0;
            solve(&self.prior, column);
            explained.clone_from(column);
            solve(&self.posterior, explained);
            solve_transposed(&self.posterior, explained);
            column.iter_mut().zip(explained.iter()).for_each(|(c, e)| *c = keep * *c - e);
            solve_transposed(&self.prior, column);
            for j in i..m {
                self.shrink[start(j) + i] = column[j];
            }
        }
    }

    /// What variance(x) starts from, for every x of a block: k(x, x), or nothing once the basis is full.
    #[inline(always)]
    fn base(&self, block: &[Lane]) -> Lane {
        if self.is_full() { [0.0; LANES] } else { self.kernel.block_diagonal(block) }
    }

    /// Mean and `beta` standard deviations at every row, appended to `out`. `work` is memory to work in.
    pub(crate) fn scores(&self, rows: Rows<'_>, beta: f64, work: &mut Vec<Lane>, out: &mut Vec<Score>) {
        struct Pass<'a>(&'a SparseGp, Rows<'a>, f64, &'a mut Vec<Lane>, &'a mut Vec<Score>);
        impl pulp::NullaryFnOnce for Pass<'_> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                let Pass(gp, rows, beta, work, out) = self;
                let mut blocks = Blocks::new(rows);
                while let Some((count, block)) = blocks.next() {
                    let mean = gp.correlations(block, &gp.alpha, work);
                    let explained = quadratic_form(&gp.shrink, work);
                    let base = gp.base(block);
                    let mut width = [0.0; LANES];
                    for lane in 0..LANES {
                        let variance = base[lane] - explained[lane];
                        width[lane] = beta * if variance > 0.0 { variance.sqrt() } else { 0.0 };
                    }
                    out.extend((0..count).map(|lane| Score { mean: mean[lane], width: width[lane] }));
                }
            }
        }
        arch().dispatch(Pass(self, rows, beta, work, out));
    }

    /// k(Z, x) for every x of a block, into `work`, and its product with `weights`.
    #[inline(always)]
    pub(super) fn correlations(&self, block: &[Lane], weights: &[f64], work: &mut Vec<Lane>) -> Lane {
        work.clear();
        let mut sum = [0.0; LANES];
        for (z, &weight) in self.points.chunks_exact(self.dim).zip(weights) {
            let k = self.kernel.block(block, z);
            for lane in 0..LANES {
                sum[lane] += weight * k[lane];
            }
            work.push(k);
        }
        sum
    }

    /// The plain version of [`SparseGp::scores`] for one row.
    #[cfg(test)]
    pub(crate) fn score_reference(&self, x: &[f64], beta: f64) -> Score {
        let k: Vec<f64> = self.points.chunks_exact(self.dim).map(|z| self.kernel.at(x, z)).collect();
        let entry = |i: usize, j: usize| self.shrink[start(i.max(j)) + i.min(j)];
        let explained: f64 = (0..k.len()).map(|i| (0..k.len()).map(|j| k[i] * entry(i, j) * k[j]).sum::<f64>()).sum();
        let base = if self.is_full() { 0.0 } else { self.kernel.diagonal(x) };
        Score { mean: dot(&k, &self.alpha), width: beta * (base - explained).max(0.0).sqrt() }
    }

    /// α + v·L⁻ᵀ(C⁻ᵀz − L⁻¹g), where A = CCᵀ, in the place of z: with z standard normal and g = g(Z) of a function
    /// drawn from the prior, mean + v·(g(x) − …) becomes v·g(x) + k(Z, x)·(these weights), a draw from the posterior
    /// around its mean. g is used up.
    pub(super) fn path_weights(&self, z: &mut [f64], prior: &mut [f64], scale: f64) {
        solve_transposed(&self.posterior, z);
        solve(&self.prior, prior);
        axpy(-1.0, prior, z);
        solve_transposed(&self.prior, z);
        z.iter_mut().zip(&self.alpha).for_each(|(z, alpha)| *z = alpha + scale * *z);
    }

    /// Whether functions still vary beyond what the basis expresses.
    pub(super) fn has_residual(&self) -> bool {
        !self.is_full()
    }
}

/// σ², or where that is too little, the least that keeps matrices positive definite.
pub(super) fn noise_variance(sigma: f64, kernel: Kernel) -> f64 {
    (sigma * sigma).max(LEAST_NOISE * kernel.variance)
}

/// kᵀMk for every lane, two rows of M at a time to save loads.
#[inline(always)]
fn quadratic_form(shrink: &[f64], k: &[Lane]) -> Lane {
    let mut total = [0.0; LANES];
    let mut i = 0;
    while i + 1 < k.len() {
        let (upper, lower) = (row(shrink, i), row(shrink, i + 1));
        let (mut a, mut b) = ([0.0; LANES], [0.0; LANES]);
        for ((&p, &q), x) in upper[..i].iter().zip(lower).zip(k) {
            for lane in 0..LANES {
                a[lane] += p * x[lane];
                b[lane] += q * x[lane];
            }
        }
        let (x, y) = (&k[i], &k[i + 1]);
        for lane in 0..LANES {
            let first = x[lane] * (2.0 * a[lane] + upper[i] * x[lane]);
            let second = y[lane] * (2.0 * (b[lane] + lower[i] * x[lane]) + lower[i + 1] * y[lane]);
            total[lane] += first + second;
        }
        i += 2;
    }
    if i < k.len() {
        let last = row(shrink, i);
        let mut a = [0.0; LANES];
        for (&p, x) in last[..i].iter().zip(k) {
            for lane in 0..LANES {
                a[lane] += p * x[lane];
            }
        }
        for lane in 0..LANES {
            total[lane] += k[i][lane] * (2.0 * a[lane] + last[i] * k[i][lane]);
        }
    }
    total
}
