//! Keyed randomness: a [`Key`] names a stream of random numbers.
//!
//! The key (seed, trial, round, purpose) *is* the 256-bit key of a ChaCha8 generator. Two different keys give
//! independent streams, and a stream does not depend on what was drawn from any other, so neither the number of threads
//! nor the order of policies changes a bit of any result. The functions that turn bits into numbers use no mathematics
//! of the platform, so the bits are also the same on every machine.

use std::sync::LazyLock;

use rand::{Rng, RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

/// A stream of random numbers, made by [`Key::stream`].
pub type Stream = rand::rngs::ChaCha8Rng;

/// What a stream is for. Different purposes never share a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u64)]
pub enum Purpose {
    /// Anything not named below.
    General = 0,
    /// The hidden truth of an environment.
    Truth = 1,
    /// The arms of a round.
    Arms = 2,
    /// The noise of a round.
    Noise = 3,
    /// A policy's choice in a round.
    Choice = 4,
    /// A policy's own starting point.
    Start = 5,
    /// Restarts of an estimator.
    Fit = 6,
    /// The order in which a policy visits its data.
    Shuffle = 7,
}

/// The name of a random stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    seed: u64,
    trial: u64,
    round: u64,
    purpose: Purpose,
}

impl Key {
    /// The key of a seed: trial 0, round 0, no special purpose.
    pub const fn new(seed: u64) -> Self {
        Key { seed, trial: 0, round: 0, purpose: Purpose::General }
    }

    /// The same key for another trial.
    pub const fn trial(self, trial: u64) -> Self {
        Key { trial, ..self }
    }

    /// The same key for another round.
    pub const fn round(self, round: u64) -> Self {
        Key { round, ..self }
    }

    /// The same key `by` rounds later.
    pub const fn later(self, by: u64) -> Self {
        Key { round: self.round.wrapping_add(by), ..self }
    }

    /// The same key for another purpose.
    pub const fn purpose(self, purpose: Purpose) -> Self {
        Key { purpose, ..self }
    }

    /// The same key for one of several things with names of their own, such as the models of actions:
    /// each has streams of its own.
    pub const fn branch(self, name: &str) -> Self {
        // FNV-1a, then the finaliser of SplitMix64: near names end far apart, on every machine alike.
        let (bytes, mut i) = (name.as_bytes(), 0);
        let mut hash = (0xcbf2_9ce4_8422_2325_u64 ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        while i < bytes.len() {
            hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            i += 1;
        }
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Key { seed: hash ^ (hash >> 31), ..self }
    }

    /// The stream with this name, from its beginning.
    pub fn stream(self) -> Stream {
        let mut bytes = [0; 32];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip([self.seed, self.trial, self.round, self.purpose as u64]) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        Stream::from_seed(bytes)
    }
}

/// Layers of the ziggurat.
const LAYERS: usize = 256;
/// Where its base layer's tail begins, and the area of each layer, for 256 layers (Marsaglia and Tsang 2000).
const TAIL: f64 = 3.654_152_885_361_009;
const AREA: f64 = 0.004_928_673_233_974_655;

/// The right edges x₀ > x₁ = TAIL > … > x₂₅₆ = 0 of the layers under exp(−x²/2), each layer of the same area.
static EDGES: LazyLock<[f64; LAYERS + 1]> = LazyLock::new(|| {
    let density = |x: f64| libm::exp(-0.5 * x * x);
    let mut edges = [0.0; LAYERS + 1];
    edges[0] = AREA / density(TAIL);
    edges[1] = TAIL;
    for i in 2..LAYERS {
        edges[i] = (-2.0 * libm::log(AREA / edges[i - 1] + density(edges[i - 1]))).sqrt();
    }
    edges
});

/// A standard normal number, by the ziggurat method: 98.8 % of draws cost one random word, one
/// multiplication and one comparison.
pub fn normal(stream: &mut impl Rng) -> f64 {
    let edges = &*EDGES;
    loop {
        let word = stream.next_u64();
        let layer = (word & 0xff) as usize;
        let size = (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
        let sign = if word & 0x100 == 0 { 1.0 } else { -1.0 };
        let x = size * edges[layer];
        if x < edges[layer + 1] {
            return sign * x;
        }
        if layer == 0 {
            return sign * normal_tail(stream);
        }
        let density = |x: f64| libm::exp(-0.5 * x * x);
        let (low, high) = (density(edges[layer]), density(edges[layer + 1]));
        if low + uniform(stream) * (high - low) < density(x) {
            return sign * x;
        }
    }
}

/// A standard normal number given that it is beyond TAIL (Marsaglia 1964).
fn normal_tail(stream: &mut impl Rng) -> f64 {
    loop {
        // 1 − u is never zero.
        let x = -libm::log(1.0 - uniform(stream)) / TAIL;
        let y = -libm::log(1.0 - uniform(stream));
        if 2.0 * y > x * x {
            return TAIL + x;
        }
    }
}

/// A number of the gamma distribution with this shape, which must be positive, and rate 1 (Marsaglia and Tsang 2000).
pub fn gamma(stream: &mut impl Rng, shape: f64) -> f64 {
    if shape < 1.0 {
        // 1 − u is never zero.
        let power = libm::pow(1.0 - uniform(stream), 1.0 / shape);
        return power * gamma(stream, shape + 1.0);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let z = normal(stream);
        let root = 1.0 + c * z;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        if libm::log(1.0 - uniform(stream)) < 0.5 * z * z + d * (1.0 - v + libm::log(v)) {
            return d * v;
        }
    }
}

/// A number uniform on [0, 1).
pub fn uniform(stream: &mut impl Rng) -> f64 {
    stream.random::<f64>()
}

/// An index uniform on 0..n. `n` must not be zero.
pub fn index(stream: &mut impl Rng, n: usize) -> usize {
    stream.random_range(0..n)
}

/// +1 or −1, each with probability one half.
pub fn sign(stream: &mut impl Rng) -> f64 {
    if stream.random::<bool>() { 1.0 } else { -1.0 }
}

/// Fills `out` with a point drawn uniformly from the unit sphere.
///
/// A point of the disc, drawn by rejection, in two dimensions; a Gaussian vector in others; scaled to unit length.
#[inline]
pub fn unit_vector(stream: &mut impl Rng, out: &mut [f64]) {
    if out.is_empty() {
        return;
    }
    loop {
        let squared = if let [x, y] = out {
            *x = 2.0 * uniform(stream) - 1.0;
            *y = 2.0 * uniform(stream) - 1.0;
            let squared = *x * *x + *y * *y;
            if squared > 1.0 {
                continue;
            }
            squared
        } else {
            out.iter_mut().for_each(|x| *x = normal(stream));
            out.iter().map(|x| *x * *x).sum()
        };
        // A vector this short would lose its direction to rounding; it practically never happens.
        if squared > 1e-30 {
            let scale = 1.0 / squared.sqrt();
            out.iter_mut().for_each(|x| *x *= scale);
            return;
        }
    }
}

/// A uniformly random order of `items` (Fisher–Yates).
pub fn shuffle<T>(stream: &mut impl Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, index(stream, last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_key_names_another_stream() {
        let first = |key: Key| key.stream().random::<u64>();
        let base = Key::new(1);
        let draws = [
            first(base),
            first(Key::new(2)),
            first(base.trial(1)),
            first(base.round(1)),
            first(base.purpose(Purpose::Noise)),
            first(base.branch("a")),
            first(base.branch("b")),
            first(Key::new(2).branch("a")),
        ];
        for (i, a) in draws.iter().enumerate() {
            assert!(draws[i + 1..].iter().all(|b| a != b));
        }
        assert_eq!(first(base), first(Key::new(1)));
    }

    /// The bits themselves are part of the contract: published results must stay reproducible.
    #[test]
    fn the_bits_do_not_change_between_versions() {
        let mut stream = Key::new(7).trial(1).round(2).purpose(Purpose::Arms).stream();
        assert_eq!(stream.random::<u64>(), PINNED_WORD);
        assert_eq!(normal(&mut stream).to_bits(), PINNED_NORMAL);
    }
    const PINNED_WORD: u64 = 17803471745007781171;
    const PINNED_NORMAL: u64 = 4607662528955999333;

    /// Moments up to the fourth, and the share in each of ten equally likely bins and in the
    /// tails, against the normal law.
    #[test]
    fn normal_numbers_follow_the_normal_law() {
        let mut stream = Key::new(4).stream();
        let n = 1_000_000;
        let below = |z: f64| 0.5 * libm::erfc(-z / 2f64.sqrt());
        let mut bins = [0u32; 10];
        let mut moments = [0.0; 4];
        let mut far = 0;
        for _ in 0..n {
            let z = normal(&mut stream);
            bins[((below(z) * 10.0) as usize).min(9)] += 1;
            moments.iter_mut().enumerate().for_each(|(p, m)| *m += z.powi(p as i32 + 1) / n as f64);
            far += u32::from(z.abs() > TAIL);
        }
        let n = f64::from(n);
        for (found, (expected, variance)) in moments.iter().zip([(0.0, 1.0), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0)]) {
            assert!((found - expected).abs() < 5.0 * (variance / n).sqrt(), "{moments:?}");
        }
        assert!(bins.iter().all(|&b| (f64::from(b) - n / 10.0).abs() < 5.0 * (n * 0.09).sqrt()), "{bins:?}");
        let tail = 2.0 * n * below(-TAIL);
        assert!((f64::from(far) - tail).abs() < 5.0 * tail.sqrt(), "{far} {tail}");
        assert!((EDGES[LAYERS - 1] * (1.0 - libm::exp(-0.5 * EDGES[LAYERS - 1].powi(2))) - AREA).abs() < 1e-12);
    }

    /// Mean and variance of the gamma distribution are its shape.
    #[test]
    fn gamma_numbers_have_the_moments_of_their_law() {
        let mut stream = Key::new(6).stream();
        let n = 200_000;
        for shape in [0.4, 1.0, 3.5, 60.0] {
            let draws: Vec<f64> = (0..n).map(|_| gamma(&mut stream, shape)).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
            assert!(draws.iter().all(|x| *x >= 0.0));
            assert!((mean - shape).abs() < 5.0 * (shape / f64::from(n)).sqrt(), "{shape}: {mean}");
            // The variance of a squared distance is 2a² + 6a.
            let error = ((2.0 * shape * shape + 6.0 * shape) / f64::from(n)).sqrt();
            assert!((variance - shape).abs() < 5.0 * error, "{shape}: {variance}");
        }
    }

    #[test]
    fn unit_vectors_are_unit_and_centred() {
        let mut stream = Key::new(3).stream();
        for dim in [2, 3] {
            let (mut sum, mut x) = (vec![0.0; dim], vec![0.0; dim]);
            for _ in 0..20_000 {
                unit_vector(&mut stream, &mut x);
                assert!((x.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-14);
                sum.iter_mut().zip(&x).for_each(|(s, v)| *s += v / 20_000.0);
            }
            // Each coordinate has variance 1/d; five standard errors.
            assert!(sum.iter().all(|s: &f64| s.abs() < 5.0 * (1.0 / dim as f64 / 20_000.0).sqrt()));
        }
    }
}
