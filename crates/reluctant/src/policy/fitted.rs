//! What a policy has fitted, to be read by people and programs.

use serde::Serialize;

use crate::belief::{Features, Linear};
use crate::relu::ReluNet;

/// What a policy has fitted so far: [`Policy::network`](super::Policy::network).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fitted {
    /// One network. Of a policy with biases it is a network of (x, 1): the last coordinate of a neuron is its bias.
    Network(ReluNet),
    /// Networks that all explain what was seen, with weights that sum to one.
    Networks(Vec<(f64, ReluNet)>),
    /// The weights of a linear function of some features, such as "x1", "x1·x2" and "1".
    Linear {
        /// The names of the features.
        features: Vec<String>,
        /// The weight of each.
        weights: Vec<f64>,
    },
    /// What was fitted for each named action of a context.
    Actions(Vec<(String, Fitted)>),
}

impl Fitted {
    /// The weights of a linear belief.
    pub(super) fn linear(belief: &Linear, dim: usize) -> Self {
        let (features, weights) = (names(belief.features(), dim), belief.ellipsoid().weights().to_vec());
        Fitted::Linear { features, weights }
    }
}

/// The names of the features of an x of dimension `dim`, in their order.
fn names(features: Features, dim: usize) -> Vec<String> {
    let raw = || (1..=dim).map(|i| format!("x{i}"));
    match features {
        Features::Raw => raw().collect(),
        Features::Constant => raw().chain(["1".to_owned()]).collect(),
        Features::Monomials(degree) => {
            let mut all = vec!["1".to_owned()];
            append_products(dim, &[], degree, &mut all);
            all
        }
    }
}

/// The names of `product` times every monomial of degree 1 to `degree`, in the order in which the features are made.
fn append_products(dim: usize, product: &[usize], degree: u32, names: &mut Vec<String>) {
    if degree == 0 {
        return;
    }
    for i in product.last().copied().unwrap_or(1)..=dim {
        let next = [product, &[i]].concat();
        let factors = next.chunk_by(|a, b| a == b).map(|same| match same.len() {
            1 => format!("x{}", same[0]),
            power => format!("x{}^{power}", same[0]),
        });
        names.push(factors.collect::<Vec<_>>().join("·"));
        append_products(dim, &next, degree - 1, names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names say how the features are made: at coordinates that are distinct primes, each is its own product.
    #[test]
    fn names_of_monomials_are_in_the_order_of_the_features() {
        let x = [2.0, 3.0, 5.0];
        for features in [Features::Raw, Features::Constant, Features::Monomials(1), Features::Monomials(4)] {
            let mut made = Vec::new();
            features.append(&x, &mut made);
            let value = |name: &String| -> f64 {
                let factor = |factor: &str| {
                    let (base, power) = factor.split_once('^').unwrap_or((factor, "1"));
                    let coordinate = base.strip_prefix('x').map_or(1.0, |i| x[i.parse::<usize>().unwrap() - 1]);
                    libm::pow(coordinate, power.parse().unwrap())
                };
                name.split('·').map(factor).product()
            };
            assert_eq!(names(features, 3).iter().map(value).collect::<Vec<_>>(), made);
        }
        assert_eq!(names(Features::Monomials(2), 2), ["1", "x1", "x1^2", "x1·x2", "x2", "x2^2"]);
    }
}
