//! What a network is besides directions and signs: lengths of its neurons, biases, activation ([`Shape`]).

use super::number_list::number_list;
use crate::activation::Activation;
use crate::error::{Error, Result};
use crate::linalg::norm;
use crate::params::{Initial, Kind, Param, Params, Value};
use crate::piecewise::PiecewiseNet;
use crate::relu::ReluNet;
use crate::rng::{Stream, normal, uniform};

pub(super) const LENGTHS: Param = Param::new(
    "lengths",
    Initial::word("unit"),
    Kind::Text("unit, normal, or the least and the greatest length"),
    "lengths of the neurons: all 1, those of normal vectors N(0, I), or uniform in a range such as \"0.5, 2\"",
);

pub(super) const BIASES: Param = Param::new(
    "biases",
    Initial::real(0.0),
    Kind::NOT_NEGATIVE,
    "neurons have biases uniform between minus this and this; 0: none",
);

pub(super) const ACTIVATION: Param = Param::new(
    "activation",
    Initial::word("relu"),
    Kind::Word(&["relu", "leaky", "absolute", "hard-tanh", "kinks"]),
    "what a neuron does with its input z: max(0, z); the same with a slope for negative z; |z|; z cut off at -1 and 1; or \
     any line with kinks",
);

pub(super) const SLOPE: Param = Param::new(
    "slope",
    Initial::real(0.2),
    Kind::Real { min: 0.0, max: 1.0, above: false, below: true },
    "slope of a leaky activation for negative inputs",
);

/// What kinks and slopes are.
const INCREASING: &str = "increasing numbers, with commas between them";
const ONE_MORE: &str = "numbers, one more than kinks, with commas between them";

pub(super) const KINKS: Param = Param::new(
    "kinks",
    Initial::Auto("none; needed where the activation is kinks"),
    Kind::Text(INCREASING),
    "the inputs at which an activation of one's own changes its slope, such as \"-1, 1\"",
);

pub(super) const SLOPES: Param = Param::new(
    "slopes",
    Initial::Auto("none; needed where the activation is kinks"),
    Kind::Text(ONE_MORE),
    "its slopes left of the first kink, between kinks and right of the last; it is 0 at 0",
);

/// How long neurons are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lengths {
    Unit,
    /// The length of N(0, I).
    Normal,
    /// Uniform in this range.
    Between(f64, f64),
}

/// What a network is besides directions and signs.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) neurons: usize,
    lengths: Lengths,
    biases: f64,
    activation: Activation,
    /// The slope for negative inputs of an activation with a kink at 0 and the slope 1 right of it.
    slope: f64,
    /// What differs from the paper, in words.
    words: Vec<String>,
}

impl Shape {
    pub(super) fn read(params: &Params) -> Result<Self> {
        let (lengths, biases, name) = (params.word("lengths")?, params.real("biases")?, params.word("activation")?);
        let activation = match name {
            "leaky" => Activation::leaky(params.real("slope")?)?,
            "absolute" => Activation::absolute(),
            "hard-tanh" => Activation::hard_tanh(),
            "kinks" => own_activation(params)?,
            _ => Activation::relu(),
        };
        let slope = match activation.slopes() {
            &[slope, 1.0] if activation.is_homogeneous() && (-1.0..1.0).contains(&slope) => slope,
            _ => 0.0,
        };
        let mut words = Vec::new();
        match name {
            "relu" => {}
            "leaky" => words.push(format!("leaky {slope}")),
            "kinks" => words.push(match activation.kinks().len() {
                1 => "1 kink".to_owned(),
                more => format!("{more} kinks"),
            }),
            _ => words.push(name.to_owned()),
        }
        if lengths != "unit" {
            words.push(format!("lengths {lengths}"));
        }
        if biases > 0.0 {
            words.push(format!("biases up to {biases}"));
        }
        let (neurons, lengths) = (params.size("neurons")?, read_lengths(lengths)?);
        check_reach((name, &activation), lengths, biases)?;
        Ok(Shape { neurons, lengths, biases, activation, slope, words })
    }

    /// The network with these directions and signs.
    pub(super) fn apply(&self, mut network: ReluNet, stream: &mut Stream) -> Result<PiecewiseNet> {
        let dim = network.dim();
        let mut gaussian = vec![0.0; dim];
        for neuron in network.layers_mut().0.chunks_exact_mut(dim) {
            let length = match self.lengths {
                Lengths::Unit => continue,
                Lengths::Normal => {
                    gaussian.iter_mut().for_each(|x| *x = normal(stream));
                    norm(&gaussian)
                }
                Lengths::Between(least, greatest) => least + (greatest - least) * uniform(stream),
            };
            neuron.iter_mut().for_each(|x| *x *= length);
        }
        let mut bias = || if self.biases > 0.0 { self.biases * (2.0 * uniform(stream) - 1.0) } else { 0.0 };
        let biases: Vec<f64> = network.signs().iter().map(|_| bias()).collect();
        PiecewiseNet::with_activation(&self.activation, &network, &biases)
    }

    /// Whether nothing differs from the paper's world.
    pub(super) fn is_plain(&self) -> bool {
        self.words.is_empty()
    }

    /// What differs from the paper's world.
    pub(super) fn title(&self) -> Option<String> {
        (!self.words.is_empty()).then(|| self.words.join(", "))
    }

    /// What policies may be told of it.
    pub(super) fn fact(&self) -> Option<(&'static str, Value)> {
        (self.slope != 0.0).then_some(("slope", Value::Real(self.slope)))
    }
}

fn own_activation(params: &Params) -> Result<Activation> {
    let list = |name: &'static str, expected: &str| {
        let missing = || Error::Missing { name: name.to_owned(), expected: expected.to_owned() };
        number_list(name, params.text(name).ok_or_else(missing)?)
    };
    Activation::new(list("kinks", INCREASING)?, list("slopes", ONE_MORE)?)
}

/// An error if no input of a neuron comes to a kink: the network would be linear.
fn check_reach((name, activation): (&str, &Activation), lengths: Lengths, biases: f64) -> Result<()> {
    let longest = match lengths {
        Lengths::Unit => 1.0,
        Lengths::Normal => return Ok(()),
        Lengths::Between(_, greatest) => greatest,
    };
    let reach = longest + biases;
    if activation.kinks().iter().any(|kink| kink.abs() < reach) {
        return Ok(());
    }
    let rounded = (1e6 * reach).round() / 1e6;
    let within = format!("between -{rounded} and {rounded}, which the inputs of neurons do not leave here");
    if name == "kinks" {
        let kinks: Vec<String> = activation.kinks().iter().map(f64::to_string).collect();
        return Err(Error::out_of_range("kinks", kinks.join(", "), format!("at least one {within}")));
    }
    Err(Error::out_of_range("activation", name, format!("one with a kink {within}; or give lengths or biases")))
}

fn read_lengths(text: &str) -> Result<Lengths> {
    match text {
        "unit" => Ok(Lengths::Unit),
        "normal" => Ok(Lengths::Normal),
        _ => match number_list("lengths", text).as_deref() {
            Ok(&[least, greatest]) if 0.0 < least && least <= greatest && greatest <= LONGEST => {
                Ok(Lengths::Between(least, greatest))
            }
            _ => {
                let allowed = "unit, normal, or the least and the greatest length, such as \"0.5, 2\"";
                Err(Error::out_of_range("lengths", text, allowed))
            }
        },
    }
}

/// Longer neurons would leave the range of numbers that policies accept.
const LONGEST: f64 = 1e6;
