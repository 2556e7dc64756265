//! The cells of a central arrangement of hyperplanes on the unit sphere.
//!
//! The hyperplanes θᵢ·x = 0 cut the sphere into open cells; inside a cell the same neurons are active, so a network is
//! linear and a confidence set has one shape. In general position there are 2·Σ_{i<d} C(k−1, i) cells ([`most_cells`]),
//! far fewer than the 2ᵏ patterns.
//!
//! The circle (d = 2) is cut by sorting directions. In higher dimension the hyperplanes come one at a time: a cone that
//! the next one cuts becomes two, otherwise it stays whole, and one small least-squares problem ([`super::nnls`]) tells
//! which. Depth-first search over the hyperplanes therefore visits every non-empty cone of every prefix once and
//! nothing else, in memory O(kd). Cells come in opposite pairs, so only those with θ₁·x > 0 are searched for.

use std::collections::VecDeque;

use super::nnls::Nnls;
use crate::error::{Error, Result};
use crate::linalg::{axpy, dot, norm, normalise};
use crate::relu::{Pattern, ReluNet, is_active};

/// Two directions that differ by less are one, and a cell that is thinner does not exist: rounding could not tell.
const THIN: f64 = 1e-11;

/// The right side of gᵢ·x ≥ ω in the search for a cell's centre: small, so that thin cells are still found accurately.
const OMEGA: f64 = 1e-3;

/// A cell: the unit vectors with one activation pattern.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Cell {
    /// Which neurons are active inside. A zero neuron counts as active.
    pub pattern: Pattern,
    /// The unit vector inside that keeps the largest margin.
    pub centre: Vec<f64>,
    /// minᵢ |θᵢ·x| at the centre: X(Θ, ν) meets this cell if and only if ν is at most this.
    pub margin: f64,
}

/// 2·Σ_{i<d} C(k−1, i): how many cells k hyperplanes make in dimension d, in general position; in any
/// other position there are fewer.
pub fn most_cells(dim: usize, neurons: usize) -> u64 {
    let Some(n) = neurons.checked_sub(1) else { return 1 };
    let (mut sum, mut choose) = (0u128, 1u128);
    for i in 0..dim.min(n + 1) {
        sum += choose;
        choose = choose * (n - i) as u128 / (i + 1) as u128;
    }
    u64::try_from(2 * sum).unwrap_or(u64::MAX)
}

/// How many different hyperplanes θᵢ·x = 0 there are: duplicate, opposite and zero neurons add none.
pub fn distinct_hyperplanes(net: &ReluNet) -> usize {
    let mut units: Vec<Vec<f64>> = Vec::new();
    for theta in net.iter() {
        let mut unit = theta.to_vec();
        if normalise(&mut unit) && !units.iter().any(|other| distance_up_to_sign(&unit, other) <= THIN) {
            units.push(unit);
        }
    }
    units.len()
}

/// min ‖a ± b‖.
pub(super) fn distance_up_to_sign(a: &[f64], b: &[f64]) -> f64 {
    let squared = |sign: f64| a.iter().zip(b).map(|(x, y)| (x - sign * y) * (x - sign * y)).sum::<f64>();
    squared(1.0).min(squared(-1.0)).sqrt()
}

/// The cells of a network's hyperplanes, each once, as an iterator that can be left at any time.
///
/// ```
/// use reluctant::{ReluNet, geometry::Cells};
///
/// let net = ReluNet::new(2, vec![1.0, 0.0, 0.0, 1.0])?;
/// let cells: Vec<_> = Cells::new(&net)?.collect();
/// assert_eq!(cells.len(), 4);
/// assert!(cells.iter().all(|cell| net.pattern(&cell.centre) == cell.pattern));
/// # Ok::<(), reluctant::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cells<'a> {
    net: &'a ReluNet,
    margin: f64,
    /// θᵢ at unit length; a zero neuron stays zero.
    units: Vec<f64>,
    zeros: Pattern,
    stack: Vec<Cone>,
    ready: VecDeque<Cell>,
    solver: Nnls,
}

/// The cone of a prefix of the hyperplanes.
#[derive(Debug, Clone)]
struct Cone {
    depth: usize,
    pattern: Pattern,
    /// A unit vector inside, with the margin that is asked for.
    point: Vec<f64>,
}

impl<'a> Cells<'a> {
    /// All cells. The dimension must be at least 2.
    pub fn new(net: &'a ReluNet) -> Result<Self> {
        Self::with_margin(net, 0.0)
    }

    /// The cells that meet X(Θ, margin) = {x : |θᵢ·x| ≥ margin for every i}.
    pub fn with_margin(net: &'a ReluNet, margin: f64) -> Result<Self> {
        check_dim(net)?;
        check_margin(margin)?;
        let dim = net.dim();
        let mut units = net.theta().to_vec();
        let mut zeros = 0;
        for (i, unit) in units.chunks_exact_mut(dim).enumerate() {
            if !normalise(unit) {
                unit.fill(0.0);
                zeros |= 1 << i;
            }
        }
        let mut cells =
            Cells { net, margin, units, zeros, stack: vec![], ready: VecDeque::new(), solver: Nnls::default() };
        match (0..net.neurons()).find(|&i| !is_active(zeros, i)) {
            // A zero neuron keeps no margin anywhere.
            _ if zeros != 0 && margin > 0.0 => {}
            None => {
                let mut centre = vec![0.0; dim];
                centre[0] = 1.0;
                cells.ready.push_back(Cell { pattern: zeros, centre, margin: 0.0 });
            }
            Some(_) if dim == 2 => cells.cut_circle(),
            Some(first) => {
                let point = cells.unit(first).to_vec();
                if dot(net.neuron(first), &point) >= margin {
                    cells.stack.push(Cone { depth: first + 1, pattern: zeros | 1 << first, point });
                }
            }
        }
        Ok(cells)
    }

    fn unit(&self, i: usize) -> &[f64] {
        &self.units[i * self.net.dim()..][..self.net.dim()]
    }

    /// The circle: between two neighbours among the directions ±θᵢ⊥ lies one cell.
    fn cut_circle(&mut self) {
        let mut ends: Vec<(f64, [f64; 2])> = Vec::new();
        for i in (0..self.net.neurons()).filter(|&i| !is_active(self.zeros, i)) {
            let [x, y] = [self.unit(i)[0], self.unit(i)[1]];
            for end in [[-y, x], [y, -x]] {
                ends.push((libm::atan2(end[1], end[0]), end));
            }
        }
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        ends.dedup_by(|a, b| distance(&a.1, &b.1) <= THIN);
        if ends.len() > 1 && distance(&ends[0].1, &ends[ends.len() - 1].1) <= THIN {
            ends.pop();
        }
        for (l, &(_, [x, y])) in ends.iter().enumerate() {
            let next = ends[(l + 1) % ends.len()].1;
            // The middle of an arc; two ends alone are opposite, and the middle is a quarter turn from the first.
            let mut middle = if ends.len() == 2 { [-y, x] } else { [x + next[0], y + next[1]] };
            if normalise(&mut middle) {
                let cell = self.finish(self.net.pattern(&middle), middle.to_vec());
                if cell.margin >= self.margin {
                    self.ready.push_back(cell);
                }
            }
        }
    }

    /// The cell of a pattern, given a point inside.
    fn finish(&mut self, pattern: Pattern, point: Vec<f64>) -> Cell {
        let pattern = pattern | self.zeros;
        let margin = |x: &[f64]| self.net.iter().map(|theta| dot(theta, x).abs()).fold(f64::INFINITY, f64::min);
        let known = margin(&point);
        if let Some(centre) = centre(&mut self.solver, self.net, pattern, self.net.neurons(), OMEGA) {
            let better = margin(&centre);
            if better >= known && (self.net.pattern(&centre) | self.zeros) == pattern {
                return Cell { pattern, centre, margin: better };
            }
        }
        Cell { pattern, centre: point, margin: known }
    }

    /// A point on one side of hyperplane `cone.depth` inside the cone, if there is one.
    fn cross(&mut self, cone: &Cone, active: bool) -> Option<Vec<f64>> {
        let sign = if active { 1.0 } else { -1.0 };
        let (i, dim) = (cone.depth, self.net.dim());
        let pattern = cone.pattern & !(1 << i) | Pattern::from(active) << i;
        let slack = |x: &[f64]| {
            let signed = |j: usize| if is_active(pattern, j) { 1.0 } else { -1.0 };
            let held = (0..=i).filter(|&j| !is_active(self.zeros, j));
            held.map(|j| signed(j) * dot(self.net.neuron(j), x)).fold(f64::INFINITY, f64::min)
        };
        if self.margin > 0.0 {
            let centre = centre(&mut self.solver, self.net, pattern, i + 1, self.margin)?;
            // A cell that only just keeps the margin must not be lost to rounding.
            return (slack(&centre) >= self.margin * (1.0 - 1e-12)).then_some(centre);
        }
        let target: Vec<f64> = self.unit(i).iter().map(|x| -sign * x).collect();
        self.solver.start(dim);
        for j in (0..i).filter(|&j| !is_active(self.zeros, j)) {
            let side = if is_active(pattern, j) { 1.0 } else { -1.0 };
            self.solver.push(side, &self.units[j * dim..][..dim]);
        }
        self.solver.solve(&target);
        let depth = norm(self.solver.residual());
        if depth <= THIN {
            return None;
        }
        // −ρ lies on the right side, if only on the edge of the cone; a step towards the
        // cone's own point brings it inside.
        let mut point: Vec<f64> = self.solver.residual().iter().map(|x| -x / depth).collect();
        let back = -sign * dot(self.unit(i), &cone.point);
        let step = if back > 0.0 { (0.5 * depth / back).min(1.0) } else { 1.0 };
        axpy(step, &cone.point, &mut point);
        normalise(&mut point);
        // Points found by ever smaller steps would end on the edge: start from the middle again.
        match centre(&mut self.solver, self.net, pattern, i + 1, OMEGA) {
            Some(centre) if slack(&centre) > slack(&point) => Some(centre),
            _ => Some(point),
        }
    }

    /// The opposite cell.
    fn mirror(&self, cell: &Cell) -> Cell {
        let all = if self.net.neurons() == 64 { Pattern::MAX } else { (1 << self.net.neurons()) - 1 };
        Cell {
            pattern: !cell.pattern & all | self.zeros,
            centre: cell.centre.iter().map(|x| -x).collect(),
            margin: cell.margin,
        }
    }
}

impl Iterator for Cells<'_> {
    type Item = Cell;

    fn next(&mut self) -> Option<Cell> {
        if let Some(cell) = self.ready.pop_front() {
            return Some(cell);
        }
        'cones: while let Some(mut cone) = self.stack.pop() {
            while cone.depth < self.net.neurons() {
                let i = cone.depth;
                if !is_active(self.zeros, i) {
                    let along = dot(self.net.neuron(i), &cone.point);
                    let clear = if self.margin > 0.0 { self.margin } else { THIN * norm(self.net.neuron(i)) };
                    // The side on which the point lies is not empty; only the other needs a search.
                    let mut side = |active: bool, inside: bool| {
                        if inside { Some(cone.point.clone()) } else { self.cross(&cone, active) }
                    };
                    let (above, below) = (side(true, along >= clear), side(false, -along >= clear));
                    let (stay, point) = match (above, below) {
                        (Some(above), Some(below)) => {
                            let pattern = cone.pattern;
                            self.stack.push(Cone { depth: i + 1, pattern, point: below });
                            (true, above)
                        }
                        (Some(above), None) => (true, above),
                        (None, Some(below)) => (false, below),
                        // Too thin for either side, or no room for the margin.
                        (None, None) => continue 'cones,
                    };
                    cone.pattern |= Pattern::from(stay) << i;
                    cone.point = point;
                }
                cone.depth += 1;
            }
            let cell = self.finish(cone.pattern, cone.point);
            let mirror = self.mirror(&cell);
            self.ready.push_back(mirror);
            return Some(cell);
        }
        None
    }
}

/// Finds the cell of a pattern without going through the others.
#[derive(Debug)]
pub(super) struct Enclosure<'a> {
    net: &'a ReluNet,
    solver: Nnls,
}

impl<'a> Enclosure<'a> {
    pub(super) fn new(net: &'a ReluNet) -> Self {
        Enclosure { net, solver: Nnls::default() }
    }

    /// The cell with this pattern, if it is not empty.
    pub(super) fn cell(&mut self, pattern: Pattern) -> Option<Cell> {
        let centre = centre(&mut self.solver, self.net, pattern, self.net.neurons(), OMEGA)?;
        let margin = self.net.iter().map(|theta| dot(theta, &centre).abs()).fold(f64::INFINITY, f64::min);
        (self.net.pattern(&centre) == pattern).then_some(Cell { pattern, centre, margin })
    }
}

/// The unit vector that keeps the largest margin to the first `count` hyperplanes on the sides that `pattern` names.
///
/// It is the direction of the shortest x with gᵢ·x ≥ ω for every signed neuron gᵢ, whatever ω > 0.
fn centre(solver: &mut Nnls, net: &ReluNet, pattern: Pattern, count: usize, omega: f64) -> Option<Vec<f64>> {
    let dim = net.dim();
    solver.start(dim + 1);
    for (i, theta) in net.iter().enumerate().take(count) {
        if theta.iter().any(|&x| x != 0.0) {
            solver.push_extended(if is_active(pattern, i) { 1.0 } else { -1.0 }, theta, omega);
        }
    }
    let mut target = vec![0.0; dim + 1];
    target[dim] = 1.0;
    solver.solve(&target);
    let mut centre: Vec<f64> = solver.residual()[..dim].iter().map(|x| -x).collect();
    normalise(&mut centre).then_some(centre)
}

pub(super) fn check_dim(net: &ReluNet) -> Result<()> {
    if net.dim() < 2 {
        return Err(Error::out_of_range(
            "dim",
            net.dim(),
            "at least 2, for on a line the unit sphere is just two points",
        ));
    }
    Ok(())
}

pub(super) fn check_margin(margin: f64) -> Result<()> {
    if !(margin >= 0.0 && margin.is_finite()) {
        return Err(Error::out_of_range("margin", margin, "a finite number of at least 0"));
    }
    Ok(())
}

fn distance(a: &[f64; 2], b: &[f64; 2]) -> f64 {
    norm(&[a[0] - b[0], a[1] - b[1]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, unit_vector};
    use std::collections::BTreeSet;

    fn random(dim: usize, neurons: usize, seed: u64) -> ReluNet {
        ReluNet::random(dim, neurons, &mut Key::new(seed).stream())
    }

    /// Every cell once, its centre inside.
    fn checked(net: &ReluNet) -> BTreeSet<Pattern> {
        let mut seen = BTreeSet::new();
        for cell in Cells::new(net).unwrap() {
            assert!(seen.insert(cell.pattern), "a cell came twice");
            assert_eq!(net.pattern(&cell.centre), cell.pattern);
            assert!((norm(&cell.centre) - 1.0).abs() < 1e-14);
            assert!(net.in_region(&cell.centre, cell.margin));
        }
        seen
    }

    #[test]
    fn the_count_is_the_formula_in_general_position() {
        for dim in 2..=6 {
            for neurons in 1..=9 {
                for seed in 0..3 {
                    let net = random(dim, neurons, seed);
                    assert_eq!(checked(&net).len() as u64, most_cells(dim, neurons), "d = {dim}, k = {neurons}");
                }
            }
        }
        assert_eq!(most_cells(5, 20), 10_072);
        assert_eq!(most_cells(64, 64), u64::MAX);
        assert_eq!(most_cells(3, 64), 2 * (1 + 63 + 63 * 31));
    }

    #[test]
    fn sampling_finds_no_other_cell() {
        for (dim, neurons) in [(2, 7), (3, 6), (4, 5)] {
            let net = random(dim, neurons, 7);
            let cells = checked(&net);
            let mut stream = Key::new(8).stream();
            let mut x = vec![0.0; dim];
            for _ in 0..100_000 {
                unit_vector(&mut stream, &mut x);
                assert!(cells.contains(&net.pattern(&x)));
            }
        }
    }

    #[test]
    fn duplicate_opposite_and_zero_neurons_cut_nothing() {
        for dim in [2, 3, 4] {
            let plain = random(dim, 4, 9);
            let mut theta = plain.theta().to_vec();
            theta.extend_from_slice(plain.neuron(1));
            theta.extend(plain.neuron(2).iter().map(|x| -3.0 * x));
            theta.extend(vec![0.0; dim]);
            let net = ReluNet::new(dim, theta).unwrap();
            assert_eq!(distinct_hyperplanes(&net), 4);
            let cells: Vec<Cell> = Cells::new(&net).unwrap().collect();
            assert_eq!(cells.len() as u64, most_cells(dim, 4));
            for cell in &cells {
                assert_eq!(net.pattern(&cell.centre), cell.pattern);
                assert_eq!(cell.margin, 0.0);
            }
        }
        let nothing = ReluNet::new(3, vec![0.0; 6]).unwrap();
        assert_eq!(Cells::new(&nothing).unwrap().count(), 1);
    }

    #[test]
    fn degenerate_arrangements_keep_their_known_counts() {
        // All hyperplanes through one axis: as many cells as on a circle.
        let flat: Vec<f64> = random(2, 5, 10).iter().flat_map(|t| [t[0], t[1], 0.0]).collect();
        assert_eq!(checked(&ReluNet::new(3, flat).unwrap()).len(), 10);
        // x = 0, y = 0, z = 0, x = y, y = z and x = z: a cell for each of the 24 orders of the four numbers 0, x, y, z.
        let braid = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, -1.0, 0.0, 0.0, 1.0, -1.0, 1.0, 0.0, -1.0];
        assert_eq!(Cells::new(&ReluNet::new(3, braid).unwrap()).unwrap().count(), 24);
    }

    #[test]
    fn the_margin_leaves_exactly_the_cells_that_keep_it() {
        for (dim, neurons) in [(2, 5), (3, 6), (4, 6), (5, 5)] {
            for margin in [1e-6, 0.05, 0.2] {
                let net = random(dim, neurons, 11);
                let wide: BTreeSet<Pattern> =
                    Cells::new(&net).unwrap().filter(|cell| cell.margin >= margin).map(|cell| cell.pattern).collect();
                let kept: Vec<Cell> = Cells::with_margin(&net, margin).unwrap().collect();
                assert!(kept.iter().all(|cell| net.in_region(&cell.centre, margin)));
                assert_eq!(kept.iter().map(|cell| cell.pattern).collect::<BTreeSet<_>>(), wide);
            }
        }
    }

    #[test]
    fn a_line_and_a_bad_margin_are_refused() {
        let net = ReluNet::new(1, vec![1.0]).unwrap();
        assert!(Cells::new(&net).unwrap_err().to_string().contains("at least 2"));
        let net = random(3, 2, 12);
        assert!(Cells::with_margin(&net, f64::NAN).is_err());
        assert!(Cells::with_margin(&net, -0.1).is_err());
    }
}
