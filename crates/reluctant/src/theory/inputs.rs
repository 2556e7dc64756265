//! What the theory is asked about, and which numbers it can be asked about.

use super::Batches;
use crate::error::{Error, Result};

/// What the theory is asked about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inputs {
    /// d ≥ 2, the dimension of an action.
    pub dim: usize,
    /// k ≥ 1, the number of neurons.
    pub neurons: usize,
    /// The noise is σ-subgaussian, σ ≥ 0.
    pub sigma: f64,
    /// ν*, the gap of the best action; none for 1/(2k), below which no network's gap lies.
    pub nu: Option<f64>,
    /// α₀, the separation of the neurons; none for the largest that k neurons in d dimensions can have.
    pub alpha0: Option<f64>,
    /// The statements about estimation hold with probability 1 − δ, 0 < δ < 1. The regret bounds use 1/√T instead, as
    /// the paper does.
    pub delta: f64,
    /// T ≥ 1, rounds played; the statements about estimation are evaluated as if all T were exploration.
    pub horizon: f64,
    /// λ > 0, the ridge penalty.
    pub lambda: f64,
    /// The batches of Algorithm 2.
    pub batches: Batches,
}

impl Inputs {
    /// Inputs with δ = 0.01, T = 1000, λ = 1, the paper's a and b, and nothing known of ν* and α₀.
    pub fn new(dim: usize, neurons: usize, sigma: f64) -> Self {
        Inputs {
            dim,
            neurons,
            sigma,
            nu: None,
            alpha0: None,
            delta: 0.01,
            horizon: 1000.0,
            lambda: 1.0,
            batches: Batches::default(),
        }
    }

    /// Refuses what no statement is about.
    pub(super) fn check(&self) -> Result<()> {
        let within = |name: &'static str, value: f64, allowed: &'static str, ok: bool| {
            if ok && !value.is_nan() { Ok(()) } else { Err(Error::out_of_range(name, value, allowed)) }
        };
        let finite = |x: f64, above: f64| x > above && x < f64::INFINITY;
        if self.dim < 2 {
            let why =
                "at least 2: the sphere of a line is two points, and the paper's strips need a direction along them";
            return Err(Error::out_of_range("dim", self.dim, why));
        }
        if self.neurons < 1 {
            return Err(Error::out_of_range("neurons", self.neurons, "at least 1"));
        }
        within("sigma", self.sigma, "a number, zero or more", (0.0..f64::INFINITY).contains(&self.sigma))?;
        if let Some(nu) = self.nu {
            within("nu", nu, "from 0 to 1: |θ·x| of unit vectors is no more", (0.0..=1.0).contains(&nu))?;
        }
        if let Some(alpha0) = self.alpha0 {
            within(
                "alpha0",
                alpha0,
                "from 0 to 2, the distance of opposite unit vectors",
                (0.0..=2.0).contains(&alpha0),
            )?;
        }
        within("delta", self.delta, "above 0 and below 1", self.delta > 0.0 && self.delta < 1.0)?;
        within("horizon", self.horizon, "from 1 to 1e300", (1.0..=1e300).contains(&self.horizon))?;
        within("lambda", self.lambda, "above 0", finite(self.lambda, 0.0))?;
        let Batches { first, a, b, nu0 } = self.batches;
        within("first_batch", first, "above 0", finite(first, 0.0))?;
        within("a", a, "above 1", finite(a, 1.0))?;
        within("b", b, "above 1", finite(b, 1.0))?;
        within("nu0", nu0, "above 0", finite(nu0, 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_inputs_are_refused_with_a_sentence() {
        let good = Inputs::new(2, 3, 0.1);
        assert!(good.check().is_ok());
        let bad = [
            Inputs { dim: 1, ..good },
            Inputs { neurons: 0, ..good },
            Inputs { sigma: -1.0, ..good },
            Inputs { sigma: f64::NAN, ..good },
            Inputs { nu: Some(1.5), ..good },
            Inputs { alpha0: Some(-0.1), ..good },
            Inputs { delta: 0.0, ..good },
            Inputs { delta: 1.0, ..good },
            Inputs { horizon: 0.5, ..good },
            Inputs { horizon: f64::INFINITY, ..good },
            Inputs { lambda: 0.0, ..good },
            Inputs { batches: Batches { a: 1.0, ..good.batches }, ..good },
            Inputs { batches: Batches { b: f64::NAN, ..good.batches }, ..good },
        ];
        for inputs in bad {
            let sentence = inputs.check().unwrap_err().to_string();
            assert!(sentence.contains("out of range"), "{sentence}");
        }
    }
}
