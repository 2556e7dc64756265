//! The linear regime: a ReLU network whose activations are frozen at an estimate Θ̃.
//!
//! With 1ᵢ(x) = 1(θ̃ᵢ·x ≥ 0) fixed, the reward is linear in x‡ (equation `eq:model_sign`), sign mistakes of Θ̃
//! included, and ridge regression with its confidence set applies. OFU-ReLU and OFU-ReLU+ both end here.
//!
//! Arms that share an activation pattern s share everything: in the compact features φ, the mean is θ_s·x and the
//! squared width xᵀM_s x, with θ_s = w₀ + Σ_{i∈s} wᵢ and M_s the sum of the d×d blocks of A⁻¹ over {0}∪s. So a round of
//! n arms costs O(nkd + patterns·k²d² + nd²), not O(n·(kd)²).

use serde::{Deserialize, Serialize};

use crate::belief::{Belief, add_draw, state};
use crate::choice::{Score, argmax};
use crate::ellipsoid::Ellipsoid;
use crate::error::Result;
use crate::kernels::{Optimist, linear_score_reference, patterns};
use crate::linalg::{axpy, dot};
use crate::offer::Rows;
use crate::relu::{MAX_NEURONS, Pattern, ReluNet, is_active, phi_prior};
use crate::rng::Key;
use crate::scratch::Scratch;
use crate::spare::with_zeros;

/// Ridge regression on x‡ with the activations of a network frozen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrozenRelu {
    network: ReluNet,
    ellipsoid: Ellipsoid,
}

impl FrozenRelu {
    /// Freezes the activations of `network`; no data yet, penalty λ on x‡.
    pub fn new(network: ReluNet, lambda: f64) -> Self {
        let ellipsoid = phi_prior(network.neurons(), network.dim(), lambda);
        FrozenRelu { network, ellipsoid }
    }

    /// The same, with the penalty towards `network` itself instead of towards zero: for a network
    /// that is already nearly right.
    pub fn centred(network: ReluNet, lambda: f64) -> Self {
        let mut regime = Self::new(network, lambda);
        // φ = (x, 1₁x, …, 1ₖx), so the network's own weights are (0, s₁θ₁, …, sₖθₖ).
        let mut weights = vec![0.0; regime.network.dim()];
        for (theta, sign) in regime.network.iter().zip(regime.network.signs()) {
            weights.extend(theta.iter().map(|t| sign * t));
        }
        regime.ellipsoid.centre(&weights);
        regime
    }

    /// The prediction at x.
    pub fn mean(&self, x: &[f64]) -> f64 {
        with_phi(&self.network, x, |phi| self.ellipsoid.mean(phi))
    }

    /// Θ̃.
    pub fn network(&self) -> &ReluNet {
        &self.network
    }

    /// The regression on the compact features φ.
    pub fn ellipsoid(&self) -> &Ellipsoid {
        &self.ellipsoid
    }

    /// Whether the parts fit together, for a regime read from a file.
    pub(crate) fn is_consistent(&self) -> bool {
        self.ellipsoid.dim() == (self.network.neurons() + 1) * self.network.dim()
    }

    /// Absorbs the observation (x, y).
    pub fn update(&mut self, x: &[f64], y: f64) {
        self.predict_and_update(x, y);
    }

    /// The same; what was predicted at x before.
    pub(crate) fn predict_and_update(&mut self, x: &[f64], y: f64) -> f64 {
        with_phi(&self.network, x, |phi| {
            let predicted = self.ellipsoid.mean(phi);
            self.ellipsoid.update(phi, y);
            predicted
        })
    }

    /// The mean and `radius` times the width of every arm, into `scratch.scores`.
    pub fn score(&self, rows: Rows<'_>, radius: f64, scratch: &mut Scratch) {
        scratch.words.clear();
        patterns(&self.network, rows, &mut scratch.words);
        // Small dimensions, known to the compiler, need no loops.
        match rows.dim() {
            2 => self.score_by_pattern(rows, scratch, |model, x| fixed_score::<2>(model, radius, x)),
            3 => self.score_by_pattern(rows, scratch, |model, x| fixed_score::<3>(model, radius, x)),
            4 => self.score_by_pattern(rows, scratch, |model, x| fixed_score::<4>(model, radius, x)),
            5 => self.score_by_pattern(rows, scratch, |model, x| fixed_score::<5>(model, radius, x)),
            d => self.score_by_pattern(rows, scratch, |model, x| {
                let (theta, m) = model.split_at(d);
                linear_score_reference(theta, m, radius, x)
            }),
        }
    }

    /// The arm of greatest mean plus `radius` times width among those in X(Θ̃, margin), or among all if none
    /// lies there; the first of ties.
    pub fn optimistic_arm(&self, rows: Rows<'_>, radius: f64, margin: f64, scratch: &mut Scratch) -> (usize, Score) {
        if !Optimist::covers(rows.dim(), self.network.neurons()) {
            return self.optimistic_arm_plain(rows, radius, margin, scratch);
        }
        let best = |margin: f64, scratch: &mut Scratch| {
            self.one_pass(radius, margin, rows.dim(), |optimist| optimist.best(rows, &mut scratch.models))
        };
        let found = best(margin, scratch).or_else(|| best(0.0, scratch));
        found.unwrap_or_else(|| self.optimistic_arm_plain(rows, radius, margin, scratch))
    }

    /// Gives `run` what the fast pass in dimension `dim` needs.
    fn one_pass<T>(&self, radius: f64, margin: f64, dim: usize, run: impl FnOnce(Optimist<'_>) -> T) -> T {
        let score = match dim {
            2 => fixed_score::<2>,
            3 => fixed_score::<3>,
            _ => fixed_score::<4>,
        };
        let local_model = &|pattern, out: &mut [f64]| self.local_model(pattern, out);
        run(Optimist { network: &self.network, margin, radius, local_model, score })
    }

    /// What [`FrozenRelu::optimistic_arm`] finds, by scoring every arm: for large networks, and
    /// the reference for small ones.
    pub fn optimistic_arm_plain(
        &self,
        rows: Rows<'_>,
        radius: f64,
        margin: f64,
        scratch: &mut Scratch,
    ) -> (usize, Score) {
        self.score(rows, radius, scratch);
        let scores = &scratch.scores;
        let inside = |i: usize| margin <= 0.0 || self.network.in_region(rows.get(i), margin);
        let upper = |i: usize| if inside(i) { scores[i].upper() } else { f64::NEG_INFINITY };
        let mut best = argmax((0..rows.len()).map(upper)).unwrap_or(0);
        if !inside(best) {
            best = argmax(scores.iter().map(Score::upper)).unwrap_or(0);
        }
        (best, scores[best])
    }

    /// Scores each arm by the local model of its pattern, in `scratch.words`.
    #[inline(always)]
    fn score_by_pattern(&self, rows: Rows<'_>, scratch: &mut Scratch, score: impl Fn(&[f64], &[f64]) -> Score) {
        let Scratch { scores, numbers: models, words, table, .. } = scratch;
        let stride = rows.dim() * (1 + rows.dim());
        table.clear(rows.len());
        models.clear();
        scores.clear();
        for (x, &pattern) in rows.iter().zip(words.iter()) {
            let slot = table.find_or_insert(pattern);
            if slot * stride == models.len() {
                models.resize((slot + 1) * stride, 0.0);
                self.local_model(pattern, &mut models[slot * stride..]);
            }
            scores.push(score(&models[slot * stride..][..stride], x));
        }
    }

    /// θ_s and M_s of a pattern, one after the other, added to the zeros in `out`.
    pub(crate) fn local_model(&self, pattern: Pattern, out: &mut [f64]) {
        match self.network.dim() {
            2 => self.local_model_fixed::<2>(pattern, out),
            3 => self.local_model_fixed::<3>(pattern, out),
            4 => self.local_model_fixed::<4>(pattern, out),
            _ => self.local_model_plain(pattern, out),
        }
    }

    /// For any dimension.
    fn local_model_plain(&self, pattern: Pattern, out: &mut [f64]) {
        let d = self.network.dim();
        let size = self.ellipsoid.dim();
        let active = |block: usize| block == 0 || is_active(pattern, block - 1);
        let (theta, m) = out.split_at_mut(d);
        for a in (0..size / d).filter(|&a| active(a)) {
            axpy(1.0, &self.ellipsoid.weights()[a * d..][..d], theta);
            for (row, target) in
                self.ellipsoid.covariance()[a * d * size..][..d * size].chunks_exact(size).zip(m.chunks_exact_mut(d))
            {
                for b in (0..size / d).filter(|&b| active(b)) {
                    axpy(1.0, &row[b * d..][..d], target);
                }
            }
        }
    }

    /// For a dimension that the compiler knows. Each row of blocks is summed on its own first: one long chain of
    /// additions would be what a round waits for.
    fn local_model_fixed<const D: usize>(&self, pattern: Pattern, out: &mut [f64]) {
        let mut active = [0; MAX_NEURONS + 1];
        let mut count = 1;
        for i in 0..self.network.neurons() {
            active[count] = i + 1;
            count += usize::from(is_active(pattern, i));
        }
        let active = &active[..count];
        let (weights, _) = self.ellipsoid.weights().as_chunks::<D>();
        let (covariance, _) = self.ellipsoid.covariance().as_chunks::<D>();
        let blocks = weights.len();
        let (mut theta, mut twice, mut m) = ([0.0; D], [[0.0; D]; D], [[0.0; D]; D]);
        for (at, &a) in active.iter().enumerate() {
            let rows = &covariance[a * D * blocks..][..D * blocks];
            for i in 0..D {
                theta[i] += weights[a][i];
                for j in 0..D {
                    m[i][j] += rows[i * blocks + a][j];
                }
            }
            // A⁻¹ is symmetric: block (b, a) is block (a, b) transposed.
            for &b in &active[at + 1..] {
                for i in 0..D {
                    for j in 0..D {
                        twice[i][j] += rows[i * blocks + b][j];
                    }
                }
            }
        }
        for i in 0..D {
            for j in 0..D {
                m[i][j] += twice[i][j] + twice[j][i];
            }
        }
        out[..D].copy_from_slice(&theta);
        out[D..].copy_from_slice(m.as_flattened());
    }

    /// What [`FrozenRelu::score`] computes, straight from the definition with the paper's
    /// literal features: the reference.
    pub fn score_reference(literal: &Ellipsoid, network: &ReluNet, rows: Rows<'_>, radius: f64) -> Vec<Score> {
        let score = |x: &[f64]| {
            let features = network.x_ddagger(x);
            let width = radius * literal.squared_width(&features).sqrt();
            Score { mean: literal.mean(&features), width }
        };
        rows.iter().map(score).collect()
    }
}

/// φ(x), handed on.
fn with_phi<T>(network: &ReluNet, x: &[f64], then: impl FnOnce(&[f64]) -> T) -> T {
    with_zeros((network.neurons() + 1) * network.dim(), |phi| {
        network.phi(x, phi);
        then(phi)
    })
}

/// [`linear_score_reference`] for a model (θ_s, M_s) in a dimension that the compiler knows.
#[inline(always)]
fn fixed_score<const D: usize>(model: &[f64], radius: f64, x: &[f64]) -> Score {
    let (theta, m) = model.split_at(D);
    let (mut mean, mut squared) = (0.0, 0.0);
    for i in 0..D {
        mean += theta[i] * x[i];
        let mut product = 0.0;
        for j in 0..D {
            product += m[i * D + j] * x[j];
        }
        squared += x[i] * product;
    }
    Score { mean, width: radius * squared.max(0.0).sqrt() }
}

impl Belief for FrozenRelu {
    fn kind(&self) -> &'static str {
        "frozen network"
    }

    fn dim(&self) -> usize {
        self.network.dim()
    }

    fn learn(&mut self, x: &[f64], y: f64) {
        self.update(x, y);
    }

    fn predict(&self, rows: Rows<'_>, scale: f64, scratch: &mut Scratch) {
        self.score(rows, scale, scratch);
    }

    fn draw(&self, rows: Rows<'_>, scale: f64, key: Key, scratch: &mut Scratch) {
        let Scratch { drawn: weights, numbers: values, .. } = scratch;
        weights.clear();
        weights.extend_from_slice(self.ellipsoid.weights());
        add_draw(self.ellipsoid.covariance(), scale, key, weights, values);
        values.clear();
        values.extend(rows.iter().map(|x| with_phi(&self.network, x, |phi| dot(weights, phi))));
    }

    fn save(&self) -> Result<serde_json::Value> {
        state(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, normal, unit_vector};

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * (1.0 + b.abs())
    }

    /// Regimes of many shapes, beyond those with a fast pass too, as data comes in.
    fn for_each_regime(mut check: impl FnMut(&FrozenRelu, Rows<'_>)) {
        let mut stream = Key::new(9).stream();
        for (dim, neurons, arms) in
            [(2, 3, 100), (2, 10, 333), (3, 4, 64), (4, 10, 65), (4, 1, 7), (2, 11, 50), (6, 3, 50)]
        {
            let network = ReluNet::random(dim, neurons, &mut stream);
            let mut regime = FrozenRelu::new(network.clone(), 0.01);
            for _ in 0..60 {
                let mut data = vec![0.0; arms * dim];
                for row in data.chunks_exact_mut(dim) {
                    unit_vector(&mut stream, row);
                    let scale = 1.0 + 0.3 * normal(&mut stream);
                    row.iter_mut().for_each(|x| *x *= scale);
                }
                let rows = Rows::new(dim, &data).unwrap();
                check(&regime, rows);
                regime.update(rows.get(0), network.value(rows.get(0)) + 0.1 * normal(&mut stream));
            }
        }
    }

    #[test]
    fn the_fast_pass_finds_the_optimistic_arm() {
        // One scratch for all: what an earlier round left must not matter.
        let (mut fast, mut plain) = (Scratch::default(), Scratch::default());
        for_each_regime(|regime, rows| {
            for (radius, margin) in [(0.0, 0.0), (0.3, 0.0), (1.0, 0.05), (0.7, 0.4), (1.0, 2.0)] {
                let (arm, score) = regime.optimistic_arm(rows, radius, margin, &mut fast);
                let expected = regime.optimistic_arm_plain(rows, radius, margin, &mut plain);
                assert_eq!((arm, score), expected, "radius {radius}, margin {margin}");
                if Optimist::covers(rows.dim(), regime.network.neurons()) {
                    // What machines without wide registers do.
                    let mut by_table = |margin| {
                        let table = &mut fast.models;
                        regime.one_pass(radius, margin, rows.dim(), |pass| pass.best_by_table(rows, table))
                    };
                    let found = by_table(margin).or_else(|| by_table(0.0));
                    assert_eq!(found, Some(expected), "by table: radius {radius}, margin {margin}");
                }
            }
        });
    }

    #[test]
    fn arms_on_the_lines_and_neurons_that_share_one_do_no_harm() {
        let mut stream = Key::new(11).stream();
        let (mut fast, mut plain) = (Scratch::default(), Scratch::default());
        let theta = vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.6, 0.8, -0.6, -0.8];
        for network in [ReluNet::new(2, theta[..6].to_vec()).unwrap(), ReluNet::new(2, theta).unwrap()] {
            let mut regime = FrozenRelu::new(network, 0.01);
            let on_lines = [1.0, 0.0, -1.0, -0.0, 0.0, 1.0, -0.0, -1.0, 0.8, -0.6, -0.8, 0.6, 0.0, 0.0, 0.6, 0.8];
            for _ in 0..40 {
                let mut data = on_lines.repeat(3);
                data.iter_mut().skip(on_lines.len()).step_by(5).for_each(|x| *x += 1e-16 * normal(&mut stream));
                let rows = Rows::new(2, &data).unwrap();
                let found = regime.optimistic_arm(rows, 0.5, 0.0, &mut fast);
                assert_eq!(found, regime.optimistic_arm_plain(rows, 0.5, 0.0, &mut plain));
                regime.update(rows.get(found.0), normal(&mut stream));
            }
        }
    }

    #[test]
    fn the_first_of_equal_arms_is_chosen() {
        let mut stream = Key::new(10).stream();
        let regime = FrozenRelu::new(ReluNet::random(2, 5, &mut stream), 0.01);
        let mut data = vec![0.0; 2 * 50];
        data.chunks_exact_mut(2).for_each(|row| unit_vector(&mut stream, row));
        let twice = data.repeat(3);
        let found =
            |data: &[f64]| regime.optimistic_arm(Rows::new(2, data).unwrap(), 1.0, 0.0, &mut Scratch::default());
        assert_eq!(found(&twice), found(&data));
    }

    #[test]
    fn local_models_are_those_of_the_plain_version() {
        for_each_regime(|regime, rows| {
            let dim = rows.dim();
            for x in rows.iter().take(5) {
                let pattern = regime.network.pattern(x);
                let (mut found, mut expected) = (vec![0.0; dim * (dim + 1)], vec![0.0; dim * (dim + 1)]);
                regime.local_model(pattern, &mut found);
                regime.local_model_plain(pattern, &mut expected);
                assert!(found.iter().zip(&expected).all(|(a, b)| near(*a, *b)));
            }
        });
    }
}
