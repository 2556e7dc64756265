//! Noisy gradient steps, whose iterates are draws from a posterior over networks: stochastic gradient Langevin dynamics
//! (Welling and Teh 2011).
//!
//! With n rewards and the mean loss L over them, the posterior at temperature τ has a density proportional to
//! exp(−n·L(θ)/τ − λ‖θ‖²/(2τ)). A step of size η is
//!
//! > θ ← θ − η·(∇L(θ) + λθ/n) + √(2ητ/n)·ε,  ε ~ N(0, I),
//!
//! with the gradient over a mini-batch in the place of ∇L.

use serde::{Deserialize, Serialize};

use super::adam::{BATCH, Data, Workspace};
use super::shared::SharedNet;
use crate::error::Result;
use crate::params::{Initial, Kind, Param, Params};
use crate::rng::{Stream, normal};

/// More steps would only keep a round waiting.
const MOST_STEPS: u64 = 10_000;

pub(crate) const STEPS: Param =
    Param::new("steps", Initial::count(1), Kind::Count { min: 1, max: MOST_STEPS }, "noisy steps after each reward");
pub(crate) const STEP: Param = Param::new(
    "step",
    Initial::real(0.5),
    Kind::POSITIVE,
    "size of a noisy step, divided by the number of hidden units; steps beyond 1 or so do not settle",
);
pub(crate) const TEMPERATURE: Param = Param::new(
    "temperature",
    Initial::real(0.3),
    Kind::NOT_NEGATIVE,
    "temperature τ of the posterior: the variance of the noise, for rewards of variance one",
);

/// λ: a weight is N(0, τ/λ) before the first reward.
const PENALTY: f64 = 1.0;

/// How a network walks after each reward.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Langevin {
    steps: usize,
    step: f64,
    temperature: f64,
}

impl Langevin {
    /// Reads `steps`, `step` and `temperature`.
    pub(crate) fn read(params: &Params) -> Result<Self> {
        let (step, temperature) = (params.real("step")?, params.real("temperature")?);
        Ok(Langevin { steps: params.size("steps")?, step, temperature })
    }

    pub(super) fn is_consistent(&self) -> bool {
        (1..=MOST_STEPS).contains(&(self.steps as u64)) && self.step > 0.0 && self.temperature >= 0.0
    }

    /// Walks from where the network stands.
    pub(super) fn walk(&self, net: &mut SharedNet, data: Data<'_>, stream: &mut Stream, work: &mut Workspace) {
        let (n, batch) = (data.ys.len() as f64, BATCH.min(data.ys.len()));
        let step = self.step / net.width() as f64;
        let noise = (2.0 * step * self.temperature / n).sqrt();
        for _ in 0..self.steps {
            let gradient = work.sampled_gradient(net, data, batch, stream);
            for (p, g) in net.params_mut().iter_mut().zip(gradient) {
                *p += noise * normal(stream) - step * (g / batch as f64 + PENALTY * *p / n);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shared::tests::random;
    use super::*;
    use crate::rng::Key;

    /// At an input of zero only the bias of the head matters, whose posterior is that of the mean of normal values.
    #[test]
    fn its_iterates_are_draws_from_the_posterior() {
        let mut net = random(1, 1, 1, 3);
        net.params_mut().fill(0.0);
        let (ys, temperature) = ([0.7, 1.1, 0.3, 0.5], 0.2);
        let data = Data { xs: &[0.0; 4], heads: &[0; 4], ys: &ys };
        let langevin = Langevin { steps: 1, step: 0.05, temperature };
        let (mut stream, mut work) = (Key::new(1).stream(), Workspace::default());
        let (mut mean, mut squares, n) = (0.0, 0.0, 40_000);
        let bias = net.head_start(0) + 1;
        for _ in 0..n {
            // The hidden unit stays off: its bias would else count too.
            net.params_mut()[..bias].fill(0.0);
            langevin.walk(&mut net, data, &mut stream, &mut work);
            let value = net.params()[bias];
            mean += value / f64::from(n);
            squares += value * value / f64::from(n);
        }
        let (expected, variance) = (ys.iter().sum::<f64>() / (4.0 + PENALTY), temperature / (4.0 + PENALTY));
        assert!((mean - expected).abs() < 0.03, "{mean} {expected}");
        assert!(((squares - mean * mean) / variance - 1.0).abs() < 0.15, "{squares} {mean} {variance}");
    }
}
