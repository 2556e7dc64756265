//! The noise of a round: Gaussian, uniform or Rademacher, each with standard deviation σ and each σ-subgaussian.

use crate::error::Result;
use crate::params::{Initial, Kind, Param, Params};
use crate::rng::{Key, Purpose, normal, sign, uniform};

pub(super) const SIGMA: Param =
    Param::new("sigma", Initial::Real(0.1), Kind::NOT_NEGATIVE, "standard deviation σ of the noise");
pub(super) const NOISE: Param = Param::new(
    "noise",
    Initial::Word("gaussian"),
    Kind::Word(&["gaussian", "uniform", "rademacher"]),
    "its distribution: N(0, σ²), uniform on ±√3·σ, or ±σ with equal probability",
);

#[derive(Debug, Clone, Copy)]
enum Shape {
    Gaussian,
    Uniform,
    Rademacher,
}

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
            _ => Shape::Gaussian,
        };
        Ok(Noise { shape, sigma: params.real("sigma")?, key: key.purpose(Purpose::Noise) })
    }

    pub(super) fn sigma(&self) -> f64 {
        self.sigma
    }

    pub(super) fn draw(&self, round: u64) -> f64 {
        let mut stream = self.key.round(round).stream();
        self.sigma
            * match self.shape {
                Shape::Gaussian => normal(&mut stream),
                Shape::Uniform => 3f64.sqrt() * (2.0 * uniform(&mut stream) - 1.0),
                Shape::Rademacher => sign(&mut stream),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Settings;

    #[test]
    fn each_shape_has_mean_zero_and_standard_deviation_sigma() {
        for shape in ["gaussian", "uniform", "rademacher"] {
            let given = Settings::new().with("noise", shape).with("sigma", 0.5);
            let params = Params::resolve("noise", &[SIGMA, NOISE], &given).unwrap();
            let noise = Noise::read(&params, Key::new(1)).unwrap();
            let n = 40_000;
            let (mut sum, mut squares) = (0.0, 0.0);
            for round in 0..n {
                let x = noise.draw(round);
                sum += x;
                squares += x * x;
            }
            let n = n as f64;
            assert!((sum / n).abs() < 5.0 * 0.5 / n.sqrt(), "{shape}");
            assert!((squares / n - 0.25).abs() < 0.01, "{shape}");
        }
    }
}
