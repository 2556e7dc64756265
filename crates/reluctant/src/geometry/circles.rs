//! The best action of a network with biases on the circle and on the sphere in three dimensions, exactly.
//!
//! With biases a neuron's kink θᵢ·x + bᵢ = 0 is a small circle, or two points of the circle in the plane. On each
//! region between the kinks f is affine, c + s·x, so a maximum is one of these:
//!
//! 1. inside a region: s/‖s‖;
//! 2. inside an arc, the piece of a circle between two crossings: the point of its circle that s points to most;
//! 3. where two circles cross, or in the plane where a kink is.
//!
//! Every region has an arc at its edge, so all regions are found from both sides of all arcs: k circles have at most
//! 2(k−1) arcs each. Every candidate is a point of the sphere whose value counts as it is, wherever it lies: the best
//! is therefore attained, and none is missed.

use crate::activation::is_on;
use crate::error::{Error, Result};
use crate::linalg::{axpy, dot, norm, normalise};
use crate::piecewise::PiecewiseNet;
use crate::relu::Pattern;

/// An input that is smaller than this times the size of neuron and bias is zero: the point lies on that kink.
const ON_KINK: f64 = 1e-12;

/// A best action, and how many pieces of the sphere were looked at; an error in more than three dimensions.
pub(super) fn best(net: &PiecewiseNet) -> Result<(Vec<f64>, u64)> {
    let mut candidates = Candidates::new(net);
    match net.dim() {
        2 => candidates.circle(),
        3 => candidates.sphere(),
        dim => {
            let allowed = "2 or 3 for the whole sphere with biases or kinks away from 0, where alone the best action is certified";
            return Err(Error::out_of_range("dim", dim, allowed));
        }
    }
    Ok((candidates.best, candidates.pieces))
}

/// The best candidate so far.
struct Candidates<'a> {
    net: &'a PiecewiseNet,
    best: Vec<f64>,
    value: f64,
    pieces: u64,
}

/// The kink of one neuron: the unit vectors with u·x = h, for |h| < 1.
struct Kink {
    normal: Vec<f64>,
    height: f64,
}

impl<'a> Candidates<'a> {
    /// The first axis, and where f is largest if no kink is met.
    fn new(net: &'a PiecewiseNet) -> Self {
        let mut axis = vec![0.0; net.dim()];
        axis[0] = 1.0;
        let mut candidates = Candidates { net, value: net.value(&axis), best: axis.clone(), pieces: 0 };
        candidates.region(net.pattern(&axis));
        candidates
    }

    fn offer(&mut self, x: &[f64]) {
        let value = self.net.value(x);
        if value > self.value {
            self.value = value;
            self.best.copy_from_slice(x);
        }
    }

    /// Where the affine function of a region is largest.
    fn region(&mut self, pattern: Pattern) {
        self.pieces += 1;
        let (_, mut slope) = self.net.piece(pattern);
        if normalise(&mut slope) {
            self.offer(&slope);
        }
    }

    /// The kinks that cut the sphere.
    fn kinks(&self) -> Vec<Kink> {
        let kink = |(theta, &bias): (&[f64], &f64)| {
            let length = norm(theta);
            let normal = theta.iter().map(|x| x / length).collect();
            (length > 0.0 && bias.abs() < length).then(|| Kink { normal, height: -bias / length })
        };
        self.net.hinges().iter().zip(self.net.biases()).filter_map(kink).collect()
    }

    /// The circle: its arcs between neighbouring kinks.
    fn circle(&mut self) {
        let mut cuts = Vec::new();
        for kink in self.kinks() {
            let (middle, half) = (libm::atan2(kink.normal[1], kink.normal[0]), libm::acos(kink.height));
            cuts.extend([middle - half, middle + half]);
        }
        let at = |angle: f64| [libm::cos(angle), libm::sin(angle)];
        for (start, middle) in arcs(cuts) {
            self.offer(&at(start));
            self.offer(&at(middle));
            self.region(self.net.pattern(&at(middle)));
        }
    }

    /// The sphere: the arcs of every circle, and the regions on both sides of each.
    fn sphere(&mut self) {
        let kinks = self.kinks();
        for kink in &kinks {
            let [first, second] = across(&kink.normal);
            let radius = (1.0 - kink.height * kink.height).max(0.0).sqrt();
            let at = |angle: f64| {
                let mut x: Vec<f64> = kink.normal.iter().map(|u| kink.height * u).collect();
                axpy(radius * libm::cos(angle), &first, &mut x);
                axpy(radius * libm::sin(angle), &second, &mut x);
                x
            };
            let towards = |slope: &[f64]| libm::atan2(dot(&second, slope), dot(&first, slope));
            let mut cuts = Vec::new();
            for other in &kinks {
                // On this circle the other kink is where level + reach·cos(angle − middle) = 0.
                let level = kink.height * dot(&kink.normal, &other.normal) - other.height;
                let reach = radius * libm::hypot(dot(&first, &other.normal), dot(&second, &other.normal));
                if level.abs() < reach {
                    let (middle, half) = (towards(&other.normal), libm::acos(-level / reach));
                    cuts.extend([middle - half, middle + half]);
                }
            }
            for (start, middle) in arcs(cuts) {
                let x = at(middle);
                self.offer(&at(start));
                self.offer(&x);
                for side in [1.0, -1.0] {
                    let pattern = self.beside(&x, &kink.normal, side);
                    self.region(pattern);
                    let (_, slope) = self.net.piece(pattern);
                    self.offer(&at(towards(&slope)));
                }
            }
        }
    }

    /// The pattern on one side of a kink at a point of it. Neurons that share the kink switch with it.
    fn beside(&self, x: &[f64], normal: &[f64], side: f64) -> Pattern {
        let mut pattern = 0;
        for (i, (theta, bias)) in self.net.hinges().iter().zip(self.net.biases()).enumerate() {
            let input = dot(theta, x) + bias;
            let on_kink = input.abs() <= ON_KINK * (norm(theta) + bias.abs());
            pattern |= Pattern::from(is_on(if on_kink { side * dot(theta, normal) } else { input })) << i;
        }
        pattern
    }
}

/// The arcs between neighbouring angles: where each begins, and its middle. Without an angle the whole circle is one.
fn arcs(mut angles: Vec<f64>) -> Vec<(f64, f64)> {
    let turn = 2.0 * std::f64::consts::PI;
    angles.iter_mut().for_each(|angle| *angle -= turn * (*angle / turn).floor());
    angles.sort_by(f64::total_cmp);
    let Some(&first) = angles.first() else { return vec![(0.0, 0.0)] };
    let ends = angles[1..].iter().copied().chain([first + turn]);
    angles.iter().zip(ends).map(|(&start, end)| (start, 0.5 * (start + end))).collect()
}

/// Two unit vectors orthogonal to a third and to each other.
fn across(normal: &[f64]) -> [Vec<f64>; 2] {
    let [a, b, c] = [normal[0], normal[1], normal[2]];
    let smallest = (0..3).min_by(|&i, &j| normal[i].abs().total_cmp(&normal[j].abs())).unwrap_or(0);
    let mut first = vec![0.0; 3];
    first[smallest] = 1.0;
    axpy(-normal[smallest], normal, &mut first);
    normalise(&mut first);
    let second = vec![b * first[2] - c * first[1], c * first[0] - a * first[2], a * first[1] - b * first[0]];
    [first, second]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::Activation;
    use crate::geometry::{CELL_BUDGET, best_piecewise_action};
    use crate::relu::ReluNet;
    use crate::rng::{Key, Stream, normal, sign, uniform, unit_vector};

    fn random(dim: usize, neurons: usize, activation: &Activation, stream: &mut Stream) -> PiecewiseNet {
        let theta = (0..dim * neurons).map(|_| normal(stream)).collect();
        let signs = (0..neurons).map(|_| sign(stream)).collect();
        let biases: Vec<f64> = (0..neurons).map(|_| 2.0 * uniform(stream) - 1.0).collect();
        PiecewiseNet::with_activation(activation, &ReluNet::with_signs(dim, theta, signs).unwrap(), &biases).unwrap()
    }

    /// The best of many samples, improved by a search that narrows: never above the maximum, and nearly it.
    fn sampled(net: &PiecewiseNet, stream: &mut Stream) -> f64 {
        let (mut best, mut value, mut x) = (vec![0.0; net.dim()], f64::NEG_INFINITY, vec![0.0; net.dim()]);
        for step in 0..20_000 {
            unit_vector(stream, &mut x);
            if step > 10_000 {
                let reach = libm::exp(-f64::from(step - 10_000) / 500.0);
                x.iter_mut().zip(&best).for_each(|(x, b)| *x = b + reach * *x);
                normalise(&mut x);
            }
            if net.value(&x) > value {
                (best, value) = (x.clone(), net.value(&x));
            }
        }
        value
    }

    #[test]
    fn no_sample_is_better_and_the_search_comes_near() {
        let mut stream = Key::new(1).stream();
        for dim in [2, 3] {
            for activation in [Activation::relu(), Activation::leaky(0.2).unwrap(), Activation::hard_tanh()] {
                let mut near = 0;
                for neurons in [1, 2, 3, 5, 8] {
                    let net = random(dim, neurons, &activation, &mut stream);
                    let best = best_piecewise_action(&net, CELL_BUDGET).unwrap();
                    assert!(best.exact && (norm(&best.x_star) - 1.0).abs() < 1e-13);
                    assert_eq!(best.f_star, net.value(&best.x_star));
                    let found = sampled(&net, &mut stream);
                    assert!(best.f_star >= found - 1e-10, "{dim} {neurons}: {} < {found}", best.f_star);
                    near += u32::from(best.f_star < found + 1e-6);
                }
                assert!(near >= 4, "{dim}: {near}");
            }
        }
    }

    /// Without biases it must find what the cells give, and with neurons that share their kinks, too.
    #[test]
    fn great_circles_agree_with_the_cells() {
        let mut stream = Key::new(2).stream();
        for dim in [2, 3] {
            for round in 0..30 {
                let mut theta: Vec<f64> = (0..dim * 5).map(|_| normal(&mut stream)).collect();
                if round % 2 == 0 {
                    // The second neuron is opposite to the first, the third twice the first.
                    for j in 0..dim {
                        theta[dim + j] = -theta[j];
                        theta[2 * dim + j] = 2.0 * theta[j];
                    }
                }
                let signs = (0..5).map(|_| sign(&mut stream)).collect();
                let net = PiecewiseNet::from(ReluNet::with_signs(dim, theta, signs).unwrap());
                let (x, _) = best(&net).unwrap();
                let cells = best_piecewise_action(&net, CELL_BUDGET).unwrap();
                assert!(cells.exact && (net.value(&x) - cells.f_star).abs() < 1e-12, "{dim} {round}");
            }
        }
    }

    #[test]
    fn four_dimensions_are_refused_in_a_sentence() {
        let net = random(4, 2, &Activation::relu(), &mut Key::new(3).stream());
        assert_eq!(
            best_piecewise_action(&net, CELL_BUDGET).unwrap_err().to_string(),
            "dim = 4 is out of range: 2 or 3 for the whole sphere with biases or kinks away from 0, where alone the \
             best action is certified"
        );
        // Nothing but a constant: every action is best.
        let net = PiecewiseNet::new(2.0, vec![0.0; 3], ReluNet::new(3, vec![0.0; 3]).unwrap(), vec![-1.0]).unwrap();
        assert_eq!(best_piecewise_action(&net, CELL_BUDGET).unwrap().f_star, 2.0);
    }
}
