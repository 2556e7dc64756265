//! The parameters of Gaussian processes.

use serde::{Deserialize, Serialize};

use super::process::Frame;
use crate::error::Result;
use crate::gp::{Kernel, Shape, Units, Wide};
use crate::params::{Initial, Kind, Param, Params};

/// The most points a process may keep: rounds cost O(arms·points²).
pub(super) const MAX_BUDGET: u64 = 2000;

/// The noise that is assumed until there is something to find it from.
const FIRST_SIGMA: f64 = 0.1;

/// The leeway where something but length-scale and variance is by evidence. Of what evidence does not refute by more
/// than two nats, the hyperparameters that doubt most keep a policy from staying with what early luck made look good.
const DOUBT: f64 = 2.0;

pub(crate) const SIGMA: Param =
    Param::new("sigma", Initial::Auto("by evidence"), Kind::NOT_NEGATIVE, "standard deviation σ of the noise").told();
pub(crate) const KERNEL: Param = Param::new(
    "kernel",
    Initial::word("rbf"),
    Kind::Word(&["rbf", "matern32", "matern52", "relu", "relu-gate", "relu-ntk", "auto"]),
    "how rewards of near arms go together: exp(−r²/2ℓ²), Matérn's with ν = 3/2 or 5/2, that of an infinitely wide ReLU network \
     (arc-cosine of order 1; gate: order 0; ntk: tangent kernel), or auto: by evidence",
);
pub(crate) const DEPTH: Param = Param::new(
    "depth",
    Initial::count(1),
    Kind::Count { min: 1, max: 3 },
    "hidden layers of the network behind a relu kernel",
);
pub(crate) const BIAS: Param = Param::new(
    "bias",
    Initial::flag(true),
    Kind::Flag,
    "whether the network behind a relu kernel sees (x/ℓ, 1), not x alone",
);
pub(crate) const LENGTH: Param =
    Param::new("length", Initial::Auto("by evidence"), Kind::POSITIVE, "length-scale ℓ of the kernel");
pub(crate) const VARIANCE: Param =
    Param::new("variance", Initial::Auto("by evidence"), Kind::POSITIVE, "signal variance s² of the kernel");
pub(crate) const LEEWAY: Param = Param::new(
    "leeway",
    Initial::Auto("2 if kernel or sigma is auto, else 0"),
    Kind::NOT_NEGATIVE,
    "of hyperparameters within so many nats of the best evidence, those of the largest signal for their noise",
);
pub(crate) const BUDGET: Param = Param::new(
    "budget",
    Initial::count(200),
    Kind::Count { min: 1, max: MAX_BUDGET },
    "points kept at most; what they do not express is projected onto them",
);

/// What is given, and what evidence shall decide.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Wanted {
    /// The kernel's shape; none if evidence decides.
    pub(super) shape: Option<Shape>,
    pub(super) length: Option<f64>,
    pub(super) variance: Option<f64>,
    pub(super) sigma: Option<f64>,
    /// What is this close to the best evidence is not refuted.
    pub(super) leeway: f64,
    /// Whether the noise is held near a share of the rewards where data say nothing, and doubt is about the signal
    /// alone, not its ratio to the noise.
    #[serde(default)]
    pub(super) cautious: bool,
}

impl Wanted {
    /// Nothing is given. With few observations the likeliest noise is none at all: hence the caution.
    pub(super) const NOTHING: Wanted =
        Wanted { shape: None, length: None, variance: None, sigma: None, leeway: DOUBT, cautious: true };

    pub(super) fn read(params: &Params) -> Result<Self> {
        let given = |name| params.get(name).map(|_| params.real(name)).transpose();
        let wide = |of| -> Result<Option<Shape>> {
            let depth = params.count("depth")? as u8;
            Ok(Some(Shape::Wide(Wide { of, depth, bias: params.flag("bias")? })))
        };
        let shape = match params.word("kernel")? {
            "matern32" => Some(Shape::Matern32),
            "matern52" => Some(Shape::Matern52),
            "relu" => wide(Units::Relu)?,
            "relu-gate" => wide(Units::Gate)?,
            "relu-ntk" => wide(Units::Tangent)?,
            "auto" => None,
            _ => Some(Shape::Rbf),
        };
        let sigma = given("sigma")?;
        let doubt = if shape.is_none() || sigma.is_none() { DOUBT } else { 0.0 };
        let leeway = params.real_or("leeway", doubt)?;
        Ok(Wanted { shape, length: given("length")?, variance: given("variance")?, sigma, leeway, cautious: false })
    }

    /// Until there is something to fit to: a kernel for points and rewards of size one, and a noise.
    pub(super) fn first(&self) -> (Kernel, f64) {
        let (shape, length) = (self.shape.unwrap_or(Shape::Rbf), self.length.unwrap_or(1.0));
        (Kernel { shape, length, variance: self.variance.unwrap_or(1.0) }, self.sigma.unwrap_or(FIRST_SIGMA))
    }

    /// Whether something is left to evidence.
    pub(super) fn needs_search(&self) -> bool {
        let (first, _) = self.first();
        let open = self.length.is_none() && first.has_length();
        self.shape.is_none() || open || self.variance.is_none() || self.sigma.is_none()
    }

    /// Whether only length-scale and variance of a stationary kernel are left to evidence, and the best are wanted.
    pub(super) fn fits_at_doublings(&self) -> bool {
        let stationary = self.shape.is_some_and(|shape| !matches!(shape, Shape::Wide(_)));
        self.needs_search() && stationary && self.sigma.is_some() && self.leeway == 0.0
    }
}

/// What is common to all processes of a belief.
pub(super) fn frame(dim: usize, params: &Params) -> Result<Frame> {
    Ok(Frame { dim, budget: params.size("budget")?, discount: params.real("discount")? })
}
