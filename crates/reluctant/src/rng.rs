//! Keyed randomness: a [`Key`] names a stream of random numbers.
//!
//! The key (seed, trial, round, purpose) *is* the 256-bit key of a ChaCha8 generator. Two different keys give independent
//! streams, and a stream does not depend on what was drawn from any other, so neither the number of threads nor the order of
//! policies changes a bit of any result. The functions that turn bits into numbers use no platform mathematics, so the bits
//! are also the same on every machine.

use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
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

    /// The stream with this name, from its beginning.
    pub fn stream(self) -> Stream {
        let mut bytes = [0; 32];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip([self.seed, self.trial, self.round, self.purpose as u64]) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        Stream::from_seed(bytes)
    }
}

/// A standard normal number.
pub fn normal(stream: &mut impl Rng) -> f64 {
    StandardNormal.sample(stream)
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

/// Fills `out` with a point drawn uniformly from the unit sphere: a normalised Gaussian vector.
pub fn unit_vector(stream: &mut impl Rng, out: &mut [f64]) {
    loop {
        let mut squared = 0.0;
        for x in out.iter_mut() {
            *x = normal(stream);
            squared += *x * *x;
        }
        // A Gaussian vector this short would lose its direction to rounding; it practically never happens.
        if squared > 1e-60 {
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
    const PINNED_NORMAL: u64 = 4603974248768365986;

    #[test]
    fn unit_vectors_are_unit_and_centred() {
        let mut stream = Key::new(3).stream();
        let mut sum = [0.0; 3];
        let mut x = [0.0; 3];
        for _ in 0..20_000 {
            unit_vector(&mut stream, &mut x);
            assert!((x.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-14);
            sum.iter_mut().zip(&x).for_each(|(s, v)| *s += v / 20_000.0);
        }
        // Each coordinate has variance 1/3; five standard errors.
        assert!(sum.iter().all(|s| s.abs() < 5.0 * (1.0 / 3.0 / 20_000.0f64).sqrt()));
    }
}
