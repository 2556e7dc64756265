//! The best action of a network on the whole unit sphere, exactly.
//!
//! Inside a cell with active neurons A the network is linear, f(x) = s·x with s = w + Σ_{i∈A} sᵢθᵢ; the linear part w
//! is 0 for ReLU networks, and Σ sᵢ·aθᵢ for leaky ones of slope a.
//!
//! *Second layer of ones.* f is the support function of the zonotope w + Σ[0, θᵢ], so max f = max over cells of ‖s‖: at
//! the best cell x* = s/‖s‖, without a look at where that point lies.
//!
//! *Second layer ±1.* The maximum of s·x over the unit vectors of a closed cell K is ‖proj_K(s)‖ if that is positive.
//! If it is 0 in every cell, f ≤ 0 everywhere; then −s·x/‖x‖ is quasi-concave in every cell, so its minimum lies on an
//! extreme ray, and the best action is one of the points where d−1 hyperplanes meet.

use super::cells::{Cells, check_dim, distance_up_to_sign, distinct_hyperplanes, most_cells};
use super::circles;
use super::nnls::Nnls;
use crate::activation::is_on;
use crate::error::Result;
use crate::linalg::{axpy, dot, norm, normalise};
use crate::piecewise::PiecewiseNet;
use crate::relu::{Pattern, ReluNet, is_active};
use crate::rng::{Key, unit_vector};

/// A budget of cells that a laptop goes through in a few seconds; what needs more is searched by ascent.
pub const CELL_BUDGET: u64 = 1 << 17;

/// Where the ascent starts from, besides the neurons.
const STARTS: usize = 64;

/// What [`best_action`] found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BestAction {
    /// x*, a unit vector.
    pub x_star: Vec<f64>,
    /// f* = f(x*). With a second layer of ±1 it can be negative.
    pub f_star: f64,
    /// The neurons with θᵢ·x* ≥ 0, in order.
    pub active: Vec<usize>,
    /// ν* = minᵢ |θᵢ·x*|, the gap of the paper.
    pub nu_star: f64,
    /// α₀ = min_{i≠j} ‖θᵢ ± θⱼ‖, how far apart the neurons are; infinite for a single neuron, 0
    /// if two are equal or opposite.
    pub alpha0: f64,
    /// Whether x* is the best action for certain. If not, f* is only what multi-start ascent found, a lower bound.
    pub exact: bool,
    /// How many cells the search went through; 0 for the ascent.
    pub cells: u64,
    /// How many cells the network can have at most, which is what the budget is compared with.
    pub most_cells: u64,
}

impl BestAction {
    /// One sentence on what was done instead, if the result is not exact.
    pub fn caveat(&self) -> Option<String> {
        let sentence = "beyond the budget of the exact method: f* is what ascent from many starts found, a lower bound";
        (!self.exact).then(|| format!("up to {} cells are {sentence}", self.most_cells))
    }
}

/// The best action of a network on the unit sphere.
///
/// Exact if the network has at most `budget` cells ([`most_cells`]; [`CELL_BUDGET`] is a good choice);
/// otherwise a multi-start ascent from cell to cell, and [`BestAction::exact`] says so. Neurons need not have
/// unit length. Dimension 1 is an error.
///
/// ```
/// use reluctant::{ReluNet, geometry::{CELL_BUDGET, best_action}};
///
/// let net = ReluNet::new(2, vec![1.0, 0.0, 0.0, 1.0])?;
/// let best = best_action(&net, CELL_BUDGET)?;
/// assert!(best.exact && (best.f_star - 2f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), reluctant::Error>(())
/// ```
pub fn best_action(net: &ReluNet, budget: u64) -> Result<BestAction> {
    best_piecewise_action(&PiecewiseNet::from(net.clone()), budget)
}

/// The best action on the unit sphere of a network with any piecewise-linear activation.
///
/// Without constant and biases as [`best_action`]. With them, exact in two and three dimensions; in more, no method
/// here can certify the best action, which is an error. ν* and α₀ are those of the ReLUs as they stand in the network:
/// the neurons of a leaky network of slope a are scaled by 1 − a there ([`PiecewiseNet::with_activation`]), and so are
/// both.
pub fn best_piecewise_action(net: &PiecewiseNet, budget: u64) -> Result<BestAction> {
    let hinges = net.hinges();
    check_dim(hinges)?;
    if !net.is_homogeneous() {
        let (x_star, cells) = circles::best(net)?;
        return Ok(described(net, x_star, true, cells, cells));
    }
    let most_cells = most_cells(net.dim(), distinct_hyperplanes(hinges));
    let exact = most_cells <= budget;
    let mut search = Search::new(net);
    let cells = if exact { search.all_cells()? } else { search.ascend() };
    Ok(described(net, search.best, exact, cells, most_cells))
}

fn described(net: &PiecewiseNet, x_star: Vec<f64>, exact: bool, cells: u64, most_cells: u64) -> BestAction {
    let inputs: Vec<f64> =
        net.hinges().iter().zip(net.biases()).map(|(theta, bias)| dot(theta, &x_star) + bias).collect();
    let nu_star = inputs.iter().map(|input| input.abs()).fold(f64::INFINITY, f64::min);
    BestAction {
        f_star: net.value(&x_star),
        active: inputs.iter().enumerate().filter(|(_, input)| is_on(**input)).map(|(i, _)| i).collect(),
        // On the edge of a cell the exact distance is 0; what is left of it is rounding.
        nu_star: if nu_star <= 1e-14 * scale(net) { 0.0 } else { nu_star },
        alpha0: alpha0(net.hinges()),
        exact,
        cells,
        most_cells,
        x_star,
    }
}

/// The size of the numbers involved: Σ‖θᵢ‖, and the linear part.
fn scale(net: &PiecewiseNet) -> f64 {
    net.hinges().iter().map(norm).sum::<f64>() + norm(net.linear())
}

/// α₀ = min_{i≠j} min ‖θᵢ ± θⱼ‖ (Assumption 2.2); infinite for a single neuron.
pub fn alpha0(net: &ReluNet) -> f64 {
    let mut nearest = f64::INFINITY;
    for i in 0..net.neurons() {
        for j in i + 1..net.neurons() {
            nearest = nearest.min(distance_up_to_sign(net.neuron(i), net.neuron(j)));
        }
    }
    nearest
}

struct Search<'a> {
    net: &'a PiecewiseNet,
    scale: f64,
    best: Vec<f64>,
    value: f64,
    solver: Nnls,
}

impl<'a> Search<'a> {
    fn new(net: &'a PiecewiseNet) -> Self {
        let mut best = vec![0.0; net.dim()];
        best[0] = 1.0;
        let value = net.value(&best);
        Search { net, scale: scale(net), best, value, solver: Nnls::default() }
    }

    /// s.
    fn slope(&self, pattern: Pattern) -> Vec<f64> {
        self.net.piece(pattern).1
    }

    /// The projection of s on the closed cell, and the neurons whose hyperplanes it lies on; `None` if it is 0.
    fn project(&mut self, pattern: Pattern, slope: &[f64]) -> Option<(Vec<f64>, Vec<usize>)> {
        self.solver.start(self.net.dim());
        for (i, theta) in self.net.hinges().iter().enumerate() {
            self.solver.push(if is_active(pattern, i) { -1.0 } else { 1.0 }, theta);
        }
        self.solver.solve(slope);
        let mut x = self.solver.residual().to_vec();
        let held = self.solver.weights().iter().enumerate().filter(|(_, w)| **w > 0.0).map(|(i, _)| i).collect();
        (norm(&x) > 1e-12 * self.scale && normalise(&mut x)).then_some((x, held))
    }

    fn offer(&mut self, x: &[f64], value: f64) -> bool {
        let better = value > self.value;
        if better {
            self.value = value;
            self.best.copy_from_slice(x);
        }
        better
    }

    fn all_cells(&mut self) -> Result<u64> {
        let ones = self.net.hinges().signs().iter().all(|&sign| sign > 0.0);
        let mut visited = 0;
        // The starting point is a value too, but whether it is reached exactly only a cell can say.
        self.value = f64::NEG_INFINITY;
        for cell in Cells::new(self.net.hinges())? {
            visited += 1;
            let mut slope = self.slope(cell.pattern);
            let length = norm(&slope);
            if length <= 1e-12 * self.scale {
                // f vanishes on the whole cell.
                self.offer(&cell.centre, 0.0);
            } else if length > self.value {
                if ones {
                    normalise(&mut slope);
                    self.offer(&slope, length);
                } else if let Some((x, _)) = self.project(cell.pattern, &slope) {
                    let value = dot(&slope, &x);
                    self.offer(&x, value);
                }
            }
        }
        if self.value == f64::NEG_INFINITY {
            self.all_corners(&mut Vec::new(), 0);
        }
        Ok(visited)
    }

    /// Offers both unit vectors on every line where d−1 hyperplanes meet; where all hyperplanes meet in more, a vector
    /// of that. `basis` is orthonormal and spans the normals taken so far, of neurons before `next`.
    fn all_corners(&mut self, basis: &mut Vec<Vec<f64>>, next: usize) {
        let dim = self.net.dim();
        let mut whole = true;
        if basis.len() + 1 < dim {
            for i in next..self.net.hinges().neurons() {
                let mut normal = self.net.hinges().neuron(i).to_vec();
                let length = norm(&normal);
                remove_span(basis, &mut normal);
                if norm(&normal) > 1e-11 * length && normalise(&mut normal) {
                    whole = false;
                    basis.push(normal);
                    self.all_corners(basis, i + 1);
                    basis.pop();
                }
            }
        }
        if whole {
            let outside = |j: usize| {
                let mut x = vec![0.0; dim];
                x[j] = 1.0;
                remove_span(basis, &mut x);
                x
            };
            // Among the axes the one that is farthest from the span gives the most accurate direction.
            let farthest = (0..dim).map(outside).max_by(|a, b| norm(a).total_cmp(&norm(b)));
            if let Some(mut x) = farthest.filter(|x| norm(x) > 1e-12) {
                normalise(&mut x);
                for sign in [1.0, -1.0] {
                    x.iter_mut().for_each(|v| *v *= sign);
                    let value = self.net.value(&x);
                    self.offer(&x, value);
                }
            }
        }
    }

    /// From many starts, moves to the best point of the cell or, if that lies on its edge, of the
    /// cells across, while f rises.
    fn ascend(&mut self) -> u64 {
        let dim = self.net.dim();
        let mut stream = Key::new(0).stream();
        let mut starts: Vec<Vec<f64>> = self.net.hinges().iter().map(<[f64]>::to_vec).collect();
        starts.resize_with(starts.len() + STARTS, || {
            let mut x = vec![0.0; dim];
            unit_vector(&mut stream, &mut x);
            x
        });
        for mut x in starts.into_iter().filter(|x| norm(x) > 0.0) {
            normalise(&mut x);
            let mut value = self.net.value(&x);
            loop {
                let (next, higher) = self.step(&x);
                if higher <= value + 1e-14 * self.scale {
                    break;
                }
                (x, value) = (next, higher);
            }
            self.offer(&x, value);
        }
        0
    }

    fn step(&mut self, x: &[f64]) -> (Vec<f64>, f64) {
        let net = self.net;
        let (mut next, mut value) = (x.to_vec(), net.value(x));
        let mut offer = |x: Vec<f64>| {
            let offered = net.value(&x);
            if offered > value {
                (next, value) = (x, offered);
            }
        };
        let pattern = net.pattern(x);
        let mut slope = self.slope(pattern);
        let inside = self.project(pattern, &slope);
        if normalise(&mut slope) {
            offer(slope);
        }
        if let Some((x, held)) = inside {
            for i in held {
                let across = pattern ^ (1 << i);
                let slope = self.slope(across);
                if let Some((x, _)) = self.project(across, &slope) {
                    offer(x);
                }
            }
            offer(x);
        }
        (next, value)
    }
}

/// Takes the span of orthonormal vectors out of x; twice, for rounding.
fn remove_span(basis: &[Vec<f64>], x: &mut [f64]) {
    for _ in 0..2 {
        for unit in basis {
            let along = dot(unit, x);
            axpy(-along, unit, x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::Activation;
    use crate::rng::sign;

    fn random(dim: usize, neurons: usize, seed: u64, signed: bool) -> ReluNet {
        let mut stream = Key::new(seed).stream();
        let net = ReluNet::random(dim, neurons, &mut stream);
        let signs = (0..neurons).map(|_| if signed { sign(&mut stream) } else { 1.0 }).collect();
        ReluNet::with_signs(dim, net.theta().to_vec(), signs).unwrap()
    }

    /// The best of many samples, each improved by a random search that narrows: a lower bound that is nearly the
    /// maximum.
    fn sampled(net: &PiecewiseNet) -> f64 {
        let mut stream = Key::new(99).stream();
        let dim = net.dim();
        let (mut best, mut value) = (vec![0.0; dim], f64::NEG_INFINITY);
        let mut x = vec![0.0; dim];
        for _ in 0..20_000 {
            unit_vector(&mut stream, &mut x);
            if net.value(&x) > value {
                (best, value) = (x.clone(), net.value(&x));
            }
        }
        let mut reach = 0.2;
        for _ in 0..4_000 {
            unit_vector(&mut stream, &mut x);
            x.iter_mut().zip(&best).for_each(|(x, b)| *x = b + reach * *x);
            normalise(&mut x);
            if net.value(&x) > value {
                (best, value) = (x.clone(), net.value(&x));
            } else {
                reach *= 0.995;
            }
        }
        value
    }

    fn agrees_with_sampling(net: &ReluNet) {
        let best = best_action(net, CELL_BUDGET).unwrap();
        assert!(best.exact && (norm(&best.x_star) - 1.0).abs() < 1e-14);
        // f* is attained at x*, so it cannot be too large.
        let found = sampled(&net.clone().into());
        assert!(best.f_star >= found - 1e-12, "{} < {found}", best.f_star);
    }

    #[test]
    fn no_sample_is_better() {
        for seed in 0..12 {
            for (dim, neurons) in [(2, 4), (3, 6), (4, 5)] {
                agrees_with_sampling(&random(dim, neurons, seed, false));
                agrees_with_sampling(&random(dim, neurons, seed, true));
            }
        }
    }

    /// Leaky and absolute values: a linear part beside the neurons.
    #[test]
    fn no_sample_is_better_with_other_activations() {
        for (seed, activation) in
            [Activation::leaky(0.2), Activation::leaky(0.9), Ok(Activation::absolute())].into_iter().enumerate()
        {
            for (dim, neurons) in [(2, 4), (3, 6), (4, 5)] {
                for signed in [false, true] {
                    let net = random(dim, neurons, 7 + seed as u64, signed);
                    let net = PiecewiseNet::with_activation(activation.as_ref().unwrap(), &net, &vec![0.0; neurons]);
                    let best = best_piecewise_action(net.as_ref().unwrap(), CELL_BUDGET).unwrap();
                    let found = sampled(net.as_ref().unwrap());
                    assert!(best.exact && best.f_star >= found - 1e-12, "{} < {found}", best.f_star);
                    assert!(best.f_star < found + 0.01, "{} > {found}", best.f_star);
                }
            }
        }
    }

    #[test]
    fn the_maximum_may_be_zero_or_negative() {
        // Minus the sum of |x·eᵢ| over the axes: best on an axis, where it is −1.
        for dim in 2..=4 {
            let axes = (0..dim).flat_map(|i| (0..dim).map(move |j| f64::from(i == j)));
            let theta: Vec<f64> = axes.clone().chain(axes.map(|x| -x)).collect();
            let net = ReluNet::with_signs(dim, theta, vec![-1.0; 2 * dim]).unwrap();
            let best = best_action(&net, CELL_BUDGET).unwrap();
            assert!((best.f_star + 1.0).abs() < 1e-14, "{}", best.f_star);
            assert_eq!((best.nu_star, best.alpha0), (0.0, 0.0));
        }
        for seed in 0..6 {
            // Random negative networks with enough neurons to surround the origin.
            let net = random(3, 9, seed, false);
            agrees_with_sampling(&ReluNet::with_signs(3, net.theta().to_vec(), vec![-1.0; 9]).unwrap());
        }
        // One negative neuron: 0 on a whole half sphere, and the centre of it is offered.
        let net = ReluNet::with_signs(3, vec![0.6, 0.8, 0.0], vec![-1.0]).unwrap();
        let best = best_action(&net, CELL_BUDGET).unwrap();
        assert!(best.f_star == 0.0 && (best.nu_star - 1.0).abs() < 1e-15 && best.alpha0 == f64::INFINITY);
        // A flat negative network: 0 only on the axis that no neuron sees.
        let theta = vec![1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0];
        let best = best_action(&ReluNet::with_signs(3, theta, vec![-1.0; 4]).unwrap(), CELL_BUDGET).unwrap();
        assert!(best.f_star == 0.0 && best.x_star[2].abs() == 1.0);
        let nothing = best_action(&ReluNet::new(2, vec![0.0; 4]).unwrap(), CELL_BUDGET).unwrap();
        assert!(nothing.f_star == 0.0 && nothing.exact);
    }

    #[test]
    fn beyond_the_budget_ascent_says_that_it_is_only_ascent() {
        for signed in [false, true] {
            let mut missed = 0;
            for seed in 0..20 {
                let net = random(4, 12, seed, signed);
                let exact = best_action(&net, CELL_BUDGET).unwrap();
                let ascent = best_action(&net, 10).unwrap();
                assert!(!ascent.exact && ascent.cells == 0 && exact.caveat().is_none());
                assert!(ascent.caveat().is_some_and(|why| why.starts_with("up to 464 cells are beyond the budget")));
                assert!(ascent.f_star <= exact.f_star + 1e-12);
                missed += u32::from(ascent.f_star < exact.f_star - 1e-9);
            }
            assert!(missed <= 1, "{missed}");
        }
        let large = best_action(&random(20, 40, 1, true), CELL_BUDGET).unwrap();
        assert!(!large.exact && large.f_star > 0.0);
    }

    #[test]
    fn duplicate_or_opposite_neurons_are_no_error() {
        let net = ReluNet::new(2, vec![1.0, 0.0, -1.0, 0.0, 0.6, 0.8]).unwrap();
        assert_eq!(best_action(&net, CELL_BUDGET).unwrap().alpha0, 0.0);
        assert!(best_action(&ReluNet::new(1, vec![1.0]).unwrap(), CELL_BUDGET).is_err());
    }
}
