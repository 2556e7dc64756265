//! Kernels: how rewards at two points go together.
//!
//! Stationary ones know the distance of two points alone. The others are those of ReLU networks of infinite width,
//! which know the angle between x̃ = (x/ℓ, 1) and z̃ (without bias: x/ℓ and z/ℓ) and their lengths (Cho and Saul 2009,
//! Kernel methods for deep learning; Jacot, Gabriel and Hongler 2018, Neural tangent kernel).

use std::f64::consts::PI;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::lanes;
use crate::kernels::{LANES, Lane, arch};

/// Beyond this squared distance, in units of the length-scale, a kernel is zero.
const FAR: f64 = 1e6;

/// The kernels there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Shape {
    /// exp(−r²/2), where r = ‖x − z‖/ℓ: infinitely smooth functions.
    Rbf,
    /// (1 + √3·r)·exp(−√3·r): functions with one derivative, as sums of ReLUs smoothed a little.
    Matern32,
    /// (1 + √5·r + 5r²/3)·exp(−√5·r): two derivatives.
    Matern52,
    /// A wide network of ReLUs.
    Wide(Wide),
}

/// An infinitely wide ReLU network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wide {
    /// What of it is random.
    pub(crate) of: Units,
    /// Hidden layers.
    pub(crate) depth: u8,
    /// Whether the neurons of the first layer have biases.
    pub(crate) bias: bool,
}

/// What the kernel of a wide network is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Units {
    /// Its values, with random weights in all layers: the arc-cosine kernel of order 1, composed.
    Relu,
    /// The same, with gates (0 or 1) instead of ReLUs in the last layer: order 0.
    Gate,
    /// Its gradients, so of the functions that a short training reaches: the neural tangent kernel.
    Tangent,
}

/// A kernel s²·κ(x, z).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kernel {
    pub(crate) shape: Shape,
    /// The length-scale ℓ.
    pub(crate) length: f64,
    /// The signal variance s².
    pub(crate) variance: f64,
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wide { of, depth, bias } = match self.shape {
            Shape::Rbf => return write!(f, "exp(−r²/2), length-scale {:.2}", self.length),
            Shape::Matern32 => return write!(f, "Matérn 3/2, length-scale {:.2}", self.length),
            Shape::Matern52 => return write!(f, "Matérn 5/2, length-scale {:.2}", self.length),
            Shape::Wide(wide) => wide,
        };
        let of = match of {
            Units::Relu => "ReLU",
            Units::Gate => "gate",
            Units::Tangent => "ReLU tangent",
        };
        write!(f, "{of} kernel of depth {depth}, {} biases", if bias { "with" } else { "without" })
    }
}

/// What a kernel must know of pairs of points.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairs<'a> {
    /// ‖x − z‖².
    pub(crate) squares: &'a [f64],
    /// x·z.
    pub(crate) products: &'a [f64],
    /// ‖x‖², as often as there are pairs.
    pub(crate) left: &'a [f64],
    /// ‖z‖².
    pub(crate) right: &'a [f64],
}

impl Kernel {
    /// Whether the length-scale is of no consequence beyond the variance.
    pub(crate) fn has_length(&self) -> bool {
        !matches!(self.shape, Shape::Wide(Wide { bias: false, .. }))
    }

    /// k(x, x).
    pub(crate) fn diagonal(&self, x: &[f64]) -> f64 {
        match self.shape {
            Shape::Wide(Wide { of: Units::Relu | Units::Tangent, bias, .. }) => {
                let square: f64 = x.iter().map(|x| x * x).sum();
                self.variance * (square / (self.length * self.length) + if bias { 1.0 } else { 0.0 })
            }
            _ => self.variance,
        }
    }

    /// k(x, x) for every x of a block.
    #[inline(always)]
    pub(crate) fn block_diagonal(&self, block: &[Lane]) -> Lane {
        let Shape::Wide(Wide { of: Units::Relu | Units::Tangent, bias, .. }) = self.shape else {
            return [self.variance; LANES];
        };
        let unit = 1.0 / (self.length * self.length);
        let mut out = norms(block);
        for square in &mut out {
            *square = self.variance * (*square * unit + if bias { 1.0 } else { 0.0 });
        }
        out
    }

    /// κ of squared distances.
    #[inline(always)]
    fn of_squares(&self, squares: Lane) -> Lane {
        let unit = 1.0 / (self.length * self.length);
        let (mut out, mut exponent, mut factor) = ([0.0; LANES], [0.0; LANES], [1.0; LANES]);
        for lane in 0..LANES {
            let scaled = squares[lane] * unit;
            let square = if scaled < FAR { scaled } else { FAR };
            match self.shape {
                Shape::Rbf | Shape::Wide(_) => exponent[lane] = -0.5 * square,
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

    /// The kernel of a wide network, of x·z, ‖x‖² and ‖z‖².
    #[inline(always)]
    fn of_products(&self, wide: Wide, products: Lane, left: Lane, right: Lane) -> Lane {
        let unit = 1.0 / (self.length * self.length);
        let one = if wide.bias { 1.0 } else { 0.0 };
        let (mut size, mut cosine) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            size[lane] = (left[lane] * unit + one).sqrt() * (right[lane] * unit + one).sqrt();
            let ratio = (products[lane] * unit + one) / size[lane];
            // Two points of which one is the origin: their kernel is zero whatever the angle.
            let ratio = if size[lane] > 0.0 { ratio } else { 0.0 };
            let ratio = if ratio > -1.0 { ratio } else { -1.0 };
            cosine[lane] = if ratio < 1.0 { ratio } else { 1.0 };
        }
        let (mut gates, mut tangent) = ([0.0; LANES], cosine);
        for _ in 0..wide.depth {
            let angle = lanes::acos(cosine);
            for lane in 0..LANES {
                let sine = ((1.0 - cosine[lane]) * (1.0 + cosine[lane])).sqrt();
                gates[lane] = 1.0 - angle[lane] * (1.0 / PI);
                let next = sine * (1.0 / PI) + gates[lane] * cosine[lane];
                // Rounding must not leave the range of acos.
                cosine[lane] = if next < 1.0 { next } else { 1.0 };
                tangent[lane] = cosine[lane] + tangent[lane] * gates[lane];
            }
        }
        let mut out = [0.0; LANES];
        for lane in 0..LANES {
            out[lane] = self.variance
                * match wide.of {
                    Units::Relu => size[lane] * cosine[lane],
                    Units::Gate => gates[lane],
                    Units::Tangent => size[lane] * tangent[lane] / (f64::from(wide.depth) + 1.0),
                };
        }
        out
    }

    /// k(x, z) for every x of a block.
    #[inline(always)]
    pub(crate) fn block(&self, block: &[Lane], z: &[f64]) -> Lane {
        if let Shape::Wide(wide) = self.shape {
            let (mut products, mut right) = ([0.0; LANES], 0.0);
            for (x, &z) in block.iter().zip(z) {
                for lane in 0..LANES {
                    products[lane] += x[lane] * z;
                }
                right += z * z;
            }
            return self.of_products(wide, products, norms(block), [right; LANES]);
        }
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
        if let Shape::Wide(wide) = self.shape {
            let products: f64 = x.iter().zip(z).map(|(x, z)| x * z).sum();
            let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
            return self.of_products(wide, [products; LANES], [norm(x); LANES], [norm(z); LANES])[0];
        }
        self.of_square(x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum())
    }

    /// A stationary kernel at a squared distance.
    pub(crate) fn of_square(&self, square: f64) -> f64 {
        self.of_squares([square; LANES])[0]
    }

    /// A stationary kernel at many squared distances.
    pub(crate) fn of_squares_slice(&self, squares: &[f64]) -> Vec<f64> {
        self.of_pairs(Pairs { squares, products: squares, left: squares, right: squares })
    }

    /// The kernel of many pairs.
    pub(crate) fn of_pairs(&self, pairs: Pairs<'_>) -> Vec<f64> {
        struct Pass<'a>(Kernel, Pairs<'a>);
        impl pulp::NullaryFnOnce for Pass<'_> {
            type Output = Vec<f64>;
            #[inline(always)]
            fn call(self) -> Vec<f64> {
                let Pass(kernel, pairs) = self;
                let n = pairs.squares.len();
                let mut out = Vec::with_capacity(n);
                for from in (0..n).step_by(LANES) {
                    let count = LANES.min(n - from);
                    let lane = |numbers: &[f64]| {
                        let mut lane = [0.0; LANES];
                        lane[..count].copy_from_slice(&numbers[from..from + count]);
                        lane
                    };
                    let values = match kernel.shape {
                        Shape::Wide(wide) => {
                            kernel.of_products(wide, lane(pairs.products), lane(pairs.left), lane(pairs.right))
                        }
                        _ => kernel.of_squares(lane(pairs.squares)),
                    };
                    out.extend_from_slice(&values[..count]);
                }
                out
            }
        }
        arch().dispatch(Pass(*self, pairs))
    }
}

/// ‖x‖² for every x of a block.
#[inline(always)]
fn norms(block: &[Lane]) -> Lane {
    let mut out = [0.0; LANES];
    for x in block {
        for lane in 0..LANES {
            out[lane] += x[lane] * x[lane];
        }
    }
    out
}
