//! The mean value of a network over the unit sphere, in closed form.
//!
//! With t a coordinate of a uniformly random unit vector, a neuron of length ρ and bias b contributes
//! ±E max(0, ρt + b). Without a bias that is ρ·|S^(d−2)| / ((d−1)·|S^(d−1)|). With h = b/ρ in (−1, 1): in the plane
//! t = cos φ, which gives (ρ·sin φ₀ + b·φ₀)/π with φ₀ = acos(−h); in three dimensions t is uniform on [−1, 1], which
//! gives ρ(1 + h)²/4. A linear part has mean 0.

use std::f64::consts::PI;

use crate::activation::relu;
use crate::linalg::norm;
use crate::piecewise::PiecewiseNet;
use crate::theory::sphere_area;

/// E f(x) for x uniform on the unit sphere; `None` for biases in more than three dimensions, and in one.
pub(crate) fn average(net: &PiecewiseNet) -> Option<f64> {
    let dim = net.dim();
    let half = if dim > 1 { sphere_area(dim - 2) / ((dim - 1) as f64 * sphere_area(dim - 1)) } else { return None };
    let mut sum = net.constant();
    for ((theta, sign), &bias) in net.hinges().iter().zip(net.hinges().signs()).zip(net.biases()) {
        let length = norm(theta);
        sum += match dim {
            _ if bias == 0.0 => sign * length * half,
            // Active everywhere or nowhere.
            _ if bias.abs() >= length => sign * relu(bias),
            2 => {
                let edge = libm::acos(-bias / length);
                sign * (length * libm::sin(edge) + bias * edge) / PI
            }
            3 => sign * 0.25 * length * (1.0 + bias / length) * (1.0 + bias / length),
            _ => return None,
        };
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::Activation;
    use crate::relu::ReluNet;
    use crate::rng::{Key, unit_vector};

    #[test]
    fn it_is_the_mean_over_many_actions() {
        let mut stream = Key::new(5).stream();
        for (dim, activation) in [
            (2, Activation::relu()),
            (2, Activation::hard_tanh()),
            (3, Activation::leaky(0.3).unwrap()),
            (3, Activation::hard_tanh()),
        ] {
            let net = ReluNet::random(dim, 3, &mut stream);
            let theta: Vec<f64> = net.theta().iter().map(|x| 1.5 * x).collect();
            let net = ReluNet::with_signs(dim, theta, vec![1.0, -1.0, 1.0]).unwrap();
            let net = PiecewiseNet::with_activation(&activation, &net, &[0.4, -0.7, 2.0]).unwrap();
            let (n, mut sum, mut squares, mut x) = (40_000, 0.0, 0.0, vec![0.0; dim]);
            for _ in 0..n {
                unit_vector(&mut stream, &mut x);
                sum += net.value(&x);
                squares += net.value(&x) * net.value(&x);
            }
            let (n, mean) = (f64::from(n), sum / f64::from(n));
            let error = ((squares / n - mean * mean) / n).sqrt();
            assert!((average(&net).unwrap() - mean).abs() < 4.0 * error, "{dim} {activation:?}");
        }
    }

    #[test]
    fn biases_in_four_dimensions_have_no_closed_form_here() {
        let net = ReluNet::random(4, 2, &mut Key::new(1).stream());
        assert!(average(&PiecewiseNet::from(net.clone())).is_some());
        let biased = PiecewiseNet::with_activation(&Activation::relu(), &net, &[0.1, 0.0]).unwrap();
        assert_eq!(average(&biased), None);
    }
}
