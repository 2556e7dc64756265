//! Stationary kernels: how rewards at two points go together.

use serde::{Deserialize, Serialize};

use super::lanes;
use crate::kernels::{LANES, Lane, arch};
use crate::rng::{Stream, normal};

/// Beyond this squared distance, in units of the length-scale, a kernel is zero.
const FAR: f64 = 1e6;

/// The kernels there are, of r = ‖x − z‖/ℓ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Shape {
    /// exp(−r²/2): infinitely smooth functions.
    Rbf,
    /// (1 + √3·r)·exp(−√3·r): functions with one derivative, as sums of ReLUs smoothed a little.
    Matern32,
    /// (1 + √5·r + 5r²/3)·exp(−√5·r): two derivatives.
    Matern52,
}

/// A kernel s²·κ(‖x − z‖/ℓ).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kernel {
    pub(crate) shape: Shape,
    /// The length-scale ℓ.
    pub(crate) length: f64,
    /// The signal variance s².
    pub(crate) variance: f64,
}

impl Kernel {
    /// κ of squared distances.
    #[inline(always)]
    fn of_squares(&self, squares: Lane) -> Lane {
        let unit = 1.0 / (self.length * self.length);
        let (mut out, mut exponent, mut factor) = ([0.0; LANES], [0.0; LANES], [1.0; LANES]);
        for lane in 0..LANES {
            let scaled = squares[lane] * unit;
            let square = if scaled < FAR { scaled } else { FAR };
            match self.shape {
                Shape::Rbf => exponent[lane] = -0.5 * square,
                Shape::Matern32 => {
                    let r = (3.0 * square).sqrt();
                    exponent[lane] = -r;
                    factor[lane] = 1.0 + r;
                }
                Shape::Matern52 => {
                    let r = (5.0 * square).sqrt();
                    exponent[lane] = -r;
                    factor[lane] = 1.0 + r + r * r / 3.0;
                }
            }
        }
        let decay = lanes::exp(exponent);
        for lane in 0..LANES {
            out[lane] = self.variance * (factor[lane] * decay[lane]);
        }
        out
    }

    /// k(x, z) for every x of a block.
    #[inline(always)]
    pub(crate) fn block(&self, block: &[Lane], z: &[f64]) -> Lane {
        let mut squares = [0.0; LANES];
        for (x, &z) in block.iter().zip(z) {
            for lane in 0..LANES {
                let difference = x[lane] - z;
                squares[lane] += difference * difference;
            }
        }
        self.of_squares(squares)
    }

    /// k(x, z), the bits that [`Kernel::block`] gives.
    pub(crate) fn at(&self, x: &[f64], z: &[f64]) -> f64 {
        self.of_square(x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum())
    }

    /// The kernel at a squared distance.
    pub(crate) fn of_square(&self, square: f64) -> f64 {
        self.of_squares([square; LANES])[0]
    }

    /// The kernel at many squared distances.
    pub(crate) fn of_squares_slice(&self, squares: &[f64]) -> Vec<f64> {
        struct Pass<'a>(Kernel, &'a [f64]);
        impl pulp::NullaryFnOnce for Pass<'_> {
            type Output = Vec<f64>;
            #[inline(always)]
            fn call(self) -> Vec<f64> {
                let mut out = Vec::with_capacity(self.1.len());
                for chunk in self.1.chunks(LANES) {
                    let mut lanes = [0.0; LANES];
                    lanes[..chunk.len()].copy_from_slice(chunk);
                    out.extend_from_slice(&self.0.of_squares(lanes)[..chunk.len()]);
                }
                out
            }
        }
        arch().dispatch(Pass(*self, squares))
    }

    /// A frequency drawn from the kernel's spectral density: Gaussian for RBF, Student's t for Matérn.
    pub(crate) fn frequency(&self, stream: &mut Stream, out: &mut [f64]) {
        out.iter_mut().for_each(|w| *w = normal(stream));
        let degrees = match self.shape {
            Shape::Rbf => 0,
            Shape::Matern32 => 3,
            Shape::Matern52 => 5,
        };
        let mut scale = 1.0 / self.length;
        if degrees > 0 {
            let squares: f64 = (0..degrees).map(|_| normal(stream)).map(|z| z * z).sum();
            scale *= (f64::from(degrees) / squares.max(1e-30)).sqrt();
        }
        out.iter_mut().for_each(|w| *w *= scale);
    }
}
