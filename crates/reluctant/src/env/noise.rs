//! The noise of a round.
//!
//! Gaussian, uniform and Rademacher noise have standard deviation σ and are σ-subgaussian. Student's t with 3 degrees
//! of freedom, scaled to the same standard deviation, is not: once in a while it is very large. Bernoulli rewards are 1
//! with the mean as their probability, else 0. So means must be probabilities, and values f that are none are scaled
//! ([`Noise::means_of`]): to f/r if they lie in [0, r], to ½ + f/2r if they lie in [−r, r].

use crate::error::Result;
use crate::params::{Initial, Kind, Param, Params, Value};
use crate::rng::{Key, Purpose, normal, sign, uniform};
use crate::round;

pub(super) const SIGMA: Param =
    Param::new("sigma", Initial::real(0.1), Kind::NOT_NEGATIVE, "standard deviation σ of the noise");
pub(super) const NOISE: Param = Param::new(
    "noise",
    Initial::word("gaussian"),
    Kind::Word(&["gaussian", "uniform", "rademacher", "student", "bernoulli"]),
    "its distribution: N(0, σ²), uniform on ±√3·σ, ±σ with equal probability, Student's t with 3 degrees of freedom \
     and standard deviation σ, or bernoulli: rewards 1 with the mean, scaled to lie between 0 and 1, as probability, \
     else 0 (σ is then not used)",
);

#[derive(Debug, Clone, Copy)]
enum Shape {
    Gaussian,
    Uniform,
    Rademacher,
    Student,
    Bernoulli,
}

/// The standard deviation of a Bernoulli reward is at most this, which is what policies are told.
const BERNOULLI_SIGMA: f64 = 0.5;

#[derive(Debug, Clone, Copy)]
pub(super) struct Noise {
    shape: Shape,
    sigma: f64,
    key: Key,
}

impl Noise {
    pub(super) fn read(params: &Params, key: Key) -> Result<Self> {
        let shape = match params.word("noise")? {
            "uniform" => Shape::Uniform,
            "rademacher" => Shape::Rademacher,
            "student" => Shape::Student,
            "bernoulli" => Shape::Bernoulli,
            _ => Shape::Gaussian,
        };
        Ok(Noise { shape, sigma: params.real("sigma")?, key: key.purpose(Purpose::Noise) })
    }

    /// What policies are told of its size.
    pub(super) fn fact(&self) -> (&'static str, Value) {
        if self.is_bernoulli() {
            return ("sigma_at_most", Value::Real(BERNOULLI_SIGMA));
        }
        ("sigma", Value::Real(self.sigma))
    }

    /// Whether mean rewards are probabilities.
    pub(super) fn is_bernoulli(&self) -> bool {
        matches!(self.shape, Shape::Bernoulli)
    }

    /// Offset and scale by which values between `least` and `most` become means.
    pub(super) fn means_of(&self, least: f64, most: f64) -> (f64, f64) {
        if !self.is_bernoulli() || (least >= 0.0 && most <= 1.0) {
            (0.0, 1.0)
        } else if least >= 0.0 {
            (0.0, 1.0 / most)
        } else {
            (0.5, 0.5 / most.max(-least))
        }
    }

    pub(super) fn draw(&self, round: u64) -> round::Noise<'static> {
        let mut stream = self.key.round(round).stream();
        let unit = match self.shape {
            Shape::Gaussian => normal(&mut stream),
            Shape::Uniform => 3f64.sqrt() * (2.0 * uniform(&mut stream) - 1.0),
            Shape::Rademacher => sign(&mut stream),
            Shape::Student => student(&mut stream),
            Shape::Bernoulli => return round::Noise::Coin(uniform(&mut stream)),
        };
        round::Noise::Added(self.sigma * unit)
    }
}

/// Student's t with 3 degrees of freedom, a normal over the root of a mean of three squared normals, divided by its
/// standard deviation √3.
fn student(stream: &mut impl rand::Rng) -> f64 {
    let top = normal(stream);
    let squares: f64 = (0..3).map(|_| normal(stream).powi(2)).sum();
    top / squares.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Settings;

    fn drawn(shape: &str, n: u64) -> Vec<f64> {
        let given = Settings::new().with("noise", shape).with("sigma", 0.5);
        let params = Params::resolve("noise", &[SIGMA, NOISE], &given).unwrap();
        let noise = Noise::read(&params, Key::new(1)).unwrap();
        let number = |round| match noise.draw(round) {
            round::Noise::Added(x) | round::Noise::Coin(x) => x,
            round::Noise::Each(_) => unreachable!(),
        };
        (0..n).map(number).collect()
    }

    /// P(|t₃| ≤ x) = (2/π)(atan(x/√3) + x√3/(3 + x²)); here t₃/√3·σ with σ = 1/2.
    #[test]
    fn student_noise_follows_its_law() {
        let n = 40_000;
        let draws = drawn("student", n);
        for edge in [0.05, 0.2, 0.5, 1.0, 3.0] {
            let x: f64 = edge / 0.5 * 3f64.sqrt();
            let expected = 2.0 / std::f64::consts::PI * ((x / 3f64.sqrt()).atan() + x * 3f64.sqrt() / (3.0 + x * x));
            let share = draws.iter().filter(|d| d.abs() <= edge).count() as f64 / n as f64;
            assert!(
                (share - expected).abs() < 5.0 * (expected * (1.0 - expected) / n as f64).sqrt(),
                "{edge}: {share}"
            );
        }
    }

    #[test]
    fn bernoulli_noise_is_a_coin() {
        let n = 40_000;
        let heads = drawn("bernoulli", n).iter().filter(|uniform| **uniform < 0.3).count() as f64 / n as f64;
        assert!((heads - 0.3).abs() < 5.0 * (0.21 / n as f64).sqrt());
    }

    #[test]
    fn each_shape_has_mean_zero_and_standard_deviation_sigma() {
        for shape in ["gaussian", "uniform", "rademacher"] {
            let n = 40_000;
            let (mut sum, mut squares) = (0.0, 0.0);
            for x in drawn(shape, n) {
                sum += x;
                squares += x * x;
            }
            let n = n as f64;
            assert!((sum / n).abs() < 5.0 * 0.5 / n.sqrt(), "{shape}");
            assert!((squares / n - 0.25).abs() < 0.01, "{shape}");
        }
    }
}
