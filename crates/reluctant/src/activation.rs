//! The kink, in one place: piecewise-linear activations g ([`Activation`]).
//!
//! g is continuous with g(0) = 0, has slope m₀ left of its first kink c₁, m₁ up to c₂, and so on. A line and shifted
//! ReLUs make it: g(z) = o + m₀·z + Σⱼ (mⱼ − mⱼ₋₁)·relu(z − cⱼ) with the o that gives g(0) = 0.
//!
//! | activation | kinks | slopes | line and ReLUs |
//! | --- | --- | --- | --- |
//! | relu | 0 | 0, 1 | relu(z) |
//! | leaky, slope a | 0 | a, 1 | a·z + (1−a)·relu(z) |
//! | absolute value | 0 | −1, 1 | −z + 2·relu(z) |
//! | hard tanh | −1, 1 | 0, 1, 0 | −1 + relu(z + 1) − relu(z − 1) |

use crate::action::check_finite;
use crate::error::{Error, Result};

/// max(0, z).
#[inline(always)]
pub fn relu(z: f64) -> f64 {
    z.max(0.0)
}

/// Whether a ReLU is active: its derivative is 1 here, at the kink itself, and to the right of it.
#[inline(always)]
pub fn is_on(z: f64) -> bool {
    z >= 0.0
}

/// The activation that fits descend on: leaky with slope a (0: the ReLU), its kink rounded over a width ε (0: sharp).
///
/// a·z + (1−a)·φ(z), φ(z) = max(0, z) + max(0, ε − |z|)²/4ε.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RoundedKink {
    /// a.
    pub(crate) slope: f64,
    /// ε.
    pub(crate) rounding: f64,
}

impl RoundedKink {
    /// Its value at z.
    #[inline(always)]
    pub(crate) fn value(self, z: f64) -> f64 {
        let RoundedKink { slope, rounding } = self;
        let bent = if rounding > 0.0 {
            let inside = (rounding - z.abs()).max(0.0);
            relu(z) + inside * inside * (0.25 / rounding)
        } else {
            relu(z)
        };
        if slope == 0.0 { bent } else { slope * z + (1.0 - slope) * bent }
    }

    /// Its derivative at z.
    #[inline(always)]
    pub(crate) fn derivative(self, z: f64) -> f64 {
        let RoundedKink { slope, rounding } = self;
        let bent =
            if rounding > 0.0 { ((z + rounding) * (0.5 / rounding)).clamp(0.0, 1.0) } else { f64::from(is_on(z)) };
        if slope == 0.0 { bent } else { slope + (1.0 - slope) * bent }
    }

    /// Its second derivative within ε of the kink; ε must not be 0.
    #[inline(always)]
    pub(crate) fn bend(self) -> f64 {
        (1.0 - self.slope) * (0.5 / self.rounding)
    }
}

/// A continuous piecewise-linear function g with at least one kink and g(0) = 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Activation {
    /// c₁ < c₂ < …
    kinks: Vec<f64>,
    /// m₀, m₁, …: one more than kinks.
    slopes: Vec<f64>,
    /// o.
    offset: f64,
}

/// A term m·relu(z − c) of an activation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hinge {
    /// m, by how much the slope changes; never 0.
    pub change: f64,
    /// c, where it does.
    pub kink: f64,
}

impl Activation {
    /// The activation with these kinks, and slopes left of the first, between them, and right of the last.
    pub fn new(kinks: Vec<f64>, slopes: Vec<f64>) -> Result<Self> {
        let written = |numbers: &[f64]| numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
        if kinks.is_empty() {
            let allowed = "at least one kink, for a network without kinks is a linear function";
            return Err(Error::out_of_range("kinks", "none", allowed));
        }
        kinks.iter().try_for_each(|&kink| check_finite("a kink", kink))?;
        slopes.iter().try_for_each(|&slope| check_finite("a slope", slope))?;
        if !kinks.is_sorted_by(|a, b| a < b) {
            return Err(Error::out_of_range("kinks", written(&kinks), "increasing numbers"));
        }
        if slopes.len() != kinks.len() + 1 {
            let allowed = format!("{} numbers, one more than there are kinks", kinks.len() + 1);
            return Err(Error::out_of_range("slopes", written(&slopes), allowed));
        }
        if slopes.windows(2).any(|pair| pair[0] == pair[1]) {
            let allowed = "slopes that differ from one to the next, for otherwise there is no kink between them";
            return Err(Error::out_of_range("slopes", written(&slopes), allowed));
        }
        let mut activation = Activation { kinks, slopes, offset: 0.0 };
        activation.offset = -activation.hinges().map(|hinge| hinge.change * relu(-hinge.kink)).sum::<f64>() + 0.0;
        Ok(activation)
    }

    /// relu(z).
    pub fn relu() -> Self {
        Activation { kinks: vec![0.0], slopes: vec![0.0, 1.0], offset: 0.0 }
    }

    /// z where it is positive, else a·z with 0 ≤ a < 1.
    pub fn leaky(slope: f64) -> Result<Self> {
        if !(0.0..1.0).contains(&slope) {
            let allowed = "a number at least 0 and less than 1; at 1 there is no kink";
            return Err(Error::out_of_range("slope", slope, allowed));
        }
        Ok(Activation { slopes: vec![slope, 1.0], ..Self::relu() })
    }

    /// |z|.
    pub fn absolute() -> Self {
        Activation { slopes: vec![-1.0, 1.0], ..Self::relu() }
    }

    /// z, cut off below −1 and above 1.
    pub fn hard_tanh() -> Self {
        Activation { kinks: vec![-1.0, 1.0], slopes: vec![0.0, 1.0, 0.0], offset: -1.0 }
    }

    /// c₁ < c₂ < …
    pub fn kinks(&self) -> &[f64] {
        &self.kinks
    }

    /// m₀, m₁, …: left of the first kink, between kinks, right of the last.
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// o and m₀ of the line o + m₀·z.
    pub fn line(&self) -> (f64, f64) {
        (self.offset, self.slopes[0])
    }

    /// The shifted ReLUs that make g together with [`Activation::line`].
    pub fn hinges(&self) -> impl Iterator<Item = Hinge> + '_ {
        let changes = self.slopes.windows(2).map(|pair| pair[1] - pair[0]);
        changes.zip(&self.kinks).map(|(change, &kink)| Hinge { change, kink })
    }

    /// Whether g(c·z) = c·g(z) for c ≥ 0: the only kink is at 0.
    pub fn is_homogeneous(&self) -> bool {
        self.kinks == [0.0]
    }

    /// g(z).
    pub fn value(&self, z: f64) -> f64 {
        self.hinges().fold(self.offset + self.slopes[0] * z, |sum, hinge| sum + hinge.change * relu(z - hinge.kink))
    }

    /// g′(z); at a kink the slope to its right.
    pub fn derivative(&self, z: f64) -> f64 {
        self.slopes[self.kinks.partition_point(|&kink| is_on(z - kink))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Activation> {
        vec![
            Activation::relu(),
            Activation::leaky(0.2).unwrap(),
            Activation::absolute(),
            Activation::hard_tanh(),
            Activation::new(vec![-2.0, -0.5, 0.25, 3.0], vec![1.0, -0.5, 2.0, 0.0, -1.0]).unwrap(),
        ]
    }

    #[test]
    fn named_activations_are_what_they_are_called() {
        let points = (-40..=40).map(|i| f64::from(i) / 10.0);
        for z in points {
            let [relu, leaky, absolute, tanh] = [0, 1, 2, 3].map(|i| all()[i].value(z));
            let expected = [z.max(0.0), if z > 0.0 { z } else { 0.2 * z }, z.abs(), z.clamp(-1.0, 1.0)];
            for (found, expected) in [relu, leaky, absolute, tanh].iter().zip(expected) {
                assert!((found - expected).abs() < 1e-14, "{z}");
            }
        }
        assert_eq!(Activation::hard_tanh(), Activation::new(vec![-1.0, 1.0], vec![0.0, 1.0, 0.0]).unwrap());
        assert_eq!(Activation::absolute(), Activation::new(vec![0.0], vec![-1.0, 1.0]).unwrap());
    }

    /// Adding up slope times length from 0 on, and differences of values.
    #[test]
    fn values_and_derivatives_belong_together() {
        for activation in all() {
            assert!(activation.value(0.0).abs() < 1e-14);
            let (step, mut sum) = (1.0 / 1024.0, 0.0);
            for i in 0..5 * 1024 {
                let z = f64::from(i) * step;
                sum += step * activation.derivative(z + 0.5 * step);
                assert!((activation.value(z + step) - sum).abs() < 1e-11);
            }
            let mut sum = 0.0;
            for i in 0..5 * 1024 {
                let z = -f64::from(i) * step;
                sum -= step * activation.derivative(z - 0.5 * step);
                assert!((activation.value(z - step) - sum).abs() < 1e-11);
            }
        }
    }

    #[test]
    fn each_bad_activation_has_its_sentence() {
        let said =
            |kinks: &[f64], slopes: &[f64]| Activation::new(kinks.to_vec(), slopes.to_vec()).unwrap_err().to_string();
        assert_eq!(
            said(&[], &[1.0]),
            "kinks = none is out of range: at least one kink, for a network without kinks is a linear function"
        );
        for wrong in [&[1.0, 1.0], &[2.0, 1.0]] {
            assert!(said(wrong, &[0.0, 1.0, 0.0]).ends_with("is out of range: increasing numbers"));
        }
        assert_eq!(said(&[0.0], &[1.0]), "slopes = 1 is out of range: 2 numbers, one more than there are kinks");
        assert!(said(&[0.0], &[0.5, 0.5]).starts_with("slopes = 0.5, 0.5 is out of range: slopes that differ"));
        assert!(said(&[f64::NAN], &[0.0, 1.0]).starts_with("a kink is NaN"));
        for wrong in [1.0, 1.5, -0.1, f64::NAN] {
            let said = Activation::leaky(wrong).unwrap_err().to_string();
            assert!(said.contains("is out of range: a number at least 0 and less than 1"), "{said}");
        }
    }
}
