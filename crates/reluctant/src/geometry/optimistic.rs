//! The optimistic action on the sphere: mean plus β times width, maximised over X(Θ̃, margin).
//!
//! In a cell with active neurons s the value is q_s(x) = θ_s·x + β√(xᵀM_s x) ([`FrozenRelu`]). The search over all
//! cells:
//!
//! 1. The trust-region problem of each cell ([`super::trust_region`]) bounds the cell from above and, if its solution
//!    lies in the cell, solves it. Cells whose bound is below what was found are done.
//! 2. Ascent inside each remaining cell ([`super::piece`]) finds the best point, on its walls too.
//! 3. A dual bound ([`super::bound`]) proves that nothing better is left, or else splits the cell along an eigenvector
//!    of M_s and goes on with the part whose bound is largest, until the largest bound is within the tolerance.
//!
//! On the circle (d = 2) a cell is an arc: its ends and the stationary points on it are all there is, and
//! the result is exact. With more cells than the budget allows, ascent from many starts remains, and the
//! result says that nothing is proven.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::bound::{Limits, Problem, bound, diagonalise};
use super::multi_start;
use super::nnls::Nnls;
use super::optimum::Optimistic;
use super::piece::{Ascent, Piece};
use super::pieces::Pieces;
use super::region::Region;
use super::trust_region::{circle_maxima, maximise};
use crate::choice::Certificate;
use crate::error::{Error, Result};
use crate::frozen::FrozenRelu;
use crate::linalg::{Eigen, dot, normalise};

/// How hard [`optimistic_action`] tries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptimisticOptions {
    /// The value is proven to be within this of the maximum.
    pub tolerance: f64,
    /// With more cells than this, ascent from many starts is used and nothing is proven.
    pub max_cells: u64,
    /// After this many bounds, what gap is left is reported.
    pub max_bounds: usize,
    /// Starting points of the ascent.
    pub starts: usize,
}

impl Default for OptimisticOptions {
    fn default() -> Self {
        OptimisticOptions { tolerance: 1e-7, max_cells: 1 << 14, max_bounds: 20_000, starts: 16 }
    }
}

/// The unit vector x with |θ̃ᵢ·x| ≥ margin for every neuron that maximises mean + radius·width.
///
/// An error if no unit vector keeps the margin, and for dimension 1. Over many rounds with the same Θ̃, make the
/// [`Region`] once and call [`Region::optimistic_action`].
///
/// ```
/// use reluctant::geometry::{Certificate, OptimisticOptions, optimistic_action};
/// use reluctant::{FrozenRelu, ReluNet};
///
/// let mut regime = FrozenRelu::new(ReluNet::new(2, vec![1.0, 0.0, 0.0, 1.0])?, 0.1);
/// regime.update(&[0.6, 0.8], 1.4);
/// let best = optimistic_action(&regime, 0.5, 0.05, &OptimisticOptions::default())?;
/// assert_eq!(best.certificate, Certificate::Exact);
/// assert!(best.action.iter().all(|x| x.abs() >= 0.05));
/// # Ok::<(), reluctant::Error>(())
/// ```
pub fn optimistic_action(
    regime: &FrozenRelu,
    radius: f64,
    margin: f64,
    options: &OptimisticOptions,
) -> Result<Optimistic> {
    Region::new(regime.network(), margin, options.max_cells)?.optimistic_action(regime, radius, options)
}

impl Region {
    /// [`optimistic_action`] over this region, which must be one of the regime's own network.
    pub fn optimistic_action(
        &self,
        regime: &FrozenRelu,
        radius: f64,
        options: &OptimisticOptions,
    ) -> Result<Optimistic> {
        if !(radius >= 0.0 && radius.is_finite()) {
            return Err(Error::out_of_range("radius", radius, "a finite number of at least 0"));
        }
        if options.tolerance.is_nan() || options.tolerance <= 0.0 {
            return Err(Error::out_of_range("tolerance", options.tolerance, "positive"));
        }
        if self.network() != regime.network() {
            return Err(Error::out_of_range("region", "another network's", "the region of the regime's own network"));
        }
        let pieces = Pieces { regime, radius, region: self };
        let found = match self.cells() {
            None => multi_start::search(&pieces, options.starts),
            Some(_) if self.network().dim() == 2 => pieces.arcs(),
            Some(_) => pieces.branch_and_bound(options),
        };
        found.ok_or_else(|| self.emptiness())
    }

    fn emptiness(&self) -> Error {
        let allowed = "a margin that some action keeps to every neuron; fewer neurons or a smaller margin are needed";
        Error::out_of_range("margin", self.margin(), allowed)
    }
}

impl Pieces<'_> {
    /// d = 2: the ends of every arc and the stationary points on it.
    fn arcs(&self) -> Option<Optimistic> {
        let cells = self.region.cells()?;
        let mut best: Option<(f64, Vec<f64>, usize)> = None;
        for (index, cell) in cells.iter().enumerate() {
            let piece = self.piece(cell.pattern);
            let mut offer = |x: &[f64]| {
                let value = piece.value(x);
                if piece.slack(x) >= -1e-12 && best.as_ref().is_none_or(|(known, ..)| value > *known) {
                    best = Some((value, x.to_vec(), index));
                }
            };
            offer(&cell.centre);
            let eigen = Eigen::new(&piece.m, 2);
            let e = [dot(eigen.vector(0), &piece.theta), dot(eigen.vector(1), &piece.theta)];
            let lambda = [eigen.values[0].max(0.0), eigen.values[1].max(0.0)];
            circle_maxima(e, lambda, |y| {
                let mut x = [0.0; 2];
                eigen.combine(&y, &mut x);
                offer(&x);
            });
            for wall in piece.walls.chunks_exact(2) {
                let squared = dot(wall, wall);
                let height = piece.margin / squared;
                let along = ((1.0 - piece.margin * height).max(0.0) / squared).sqrt();
                for sign in [1.0, -1.0] {
                    let mut x = [height * wall[0] - sign * along * wall[1], height * wall[1] + sign * along * wall[0]];
                    normalise(&mut x);
                    offer(&x);
                }
            }
        }
        let (_, x, index) = best?;
        let found = self.finish(&x, cells[index].pattern, &cells[index].centre);
        Some(Optimistic { certificate: Certificate::Exact, cells_visited: cells.len() as u64, ..found })
    }

    fn branch_and_bound(&self, options: &OptimisticOptions) -> Option<Optimistic> {
        let cells = self.region.cells()?;
        let dim = self.region.network().dim();
        let mut search = Tree { best: f64::NEG_INFINITY, place: vec![0.0; dim], cell: None, closed: f64::NEG_INFINITY };
        let pieces: Vec<Piece> = cells.iter().map(|cell| self.piece(cell.pattern)).collect();
        let quick: Vec<f64> = pieces.iter().map(Piece::quick_bound).collect();
        let mut order: Vec<usize> = (0..cells.len()).collect();
        order.sort_by(|&a, &b| quick[b].total_cmp(&quick[a]));

        let mut solver = Nnls::default();
        let mut problems: Vec<(usize, Eigen, Problem)> = Vec::new();
        let mut heap = BinaryHeap::new();
        for index in order {
            if quick[index] <= search.best {
                search.close(quick[index]);
                // The rest is ordered by the same bound.
                break;
            }
            let piece = &pieces[index];
            let (eigen, problem) = diagonalise(piece);
            let mut y = vec![0.0; dim];
            let value = maximise(&problem.e, &problem.lambda, &mut y);
            if value <= search.best {
                search.close(value);
                continue;
            }
            let mut x = vec![0.0; dim];
            eigen.combine(&y, &mut x);
            if piece.slack(&x) >= 0.0 {
                search.offer(&x, piece.value(&x), index);
                search.close(value);
                continue;
            }
            let summit = Ascent::run(piece, &cells[index].centre, &x);
            search.offer(&summit.x, summit.value, index);
            let value = value.min(problem.shifted(&summit.held));
            if value <= search.best + options.tolerance {
                search.close(value);
                continue;
            }
            heap.push(Node { bound: value, number: problems.len(), limits: None, guess: y });
            problems.push((index, eigen, problem));
        }

        let mut bounds = 0;
        while let Some(node) = heap.pop() {
            if node.bound <= search.best + options.tolerance || bounds >= options.max_bounds {
                search.close(node.bound);
                break;
            }
            bounds += 1;
            let (index, eigen, problem) = &problems[node.number];
            let limits = node.limits.unwrap_or_else(|| problem.ranges(&mut solver));
            let enough = search.best + 0.9 * options.tolerance;
            let dual = bound(problem, &limits, &node.guess, enough, 0.1 * options.tolerance);
            let value = dual.value.min(node.bound);
            if value <= search.best + options.tolerance {
                search.close(value);
                continue;
            }
            let mut towards = vec![0.0; dim];
            eigen.combine(&dual.y, &mut towards);
            let mut local = cells[*index].centre.clone();
            if normalise(&mut towards) {
                let summit = Ascent::run(&pieces[*index], &cells[*index].centre, &towards);
                search.offer(&summit.x, summit.value, *index);
                local = summit.x;
            }
            let mut y = vec![0.0; dim];
            eigen.coordinates(&local, &mut y);
            for part in split(&limits, &dual.spread, &y) {
                heap.push(Node { bound: value, number: node.number, limits: Some(part), guess: dual.y.clone() });
            }
        }
        let cell = &cells[search.cell?];
        let found = self.finish(&search.place, cell.pattern, &cell.centre);
        let gap = (search.closed - found.value).max(0.0);
        let certificate = if gap <= 1e-13 * (1.0 + found.value.abs()) {
            Certificate::Exact
        } else if gap <= options.tolerance {
            Certificate::ProvenWithin(gap)
        } else {
            Certificate::Gap(gap)
        };
        Some(Optimistic { certificate, cells_visited: cells.len() as u64, bounds, ..found })
    }
}

/// Splits where the relaxation spreads most: at the best point known, for the bound of a part is sharp on its border,
/// or in the middle if that point lies near the border already.
fn split(limits: &Limits, spread: &[f64], best: &[f64]) -> [Limits; 2] {
    let width = |j: usize| limits.high[j] - limits.low[j];
    let score = |j: usize| if width(j) > 1e-9 { spread[j] } else { 0.0 };
    let j = (0..spread.len()).max_by(|&a, &b| score(a).total_cmp(&score(b)).then(b.cmp(&a))).unwrap_or(0);
    let inner = 0.1 * width(j);
    let near = best[j] < limits.low[j] + inner || best[j] > limits.high[j] - inner;
    let at = if near { 0.5 * (limits.low[j] + limits.high[j]) } else { best[j] };
    let (mut below, mut above) = (limits.clone(), limits.clone());
    below.high[j] = at;
    above.low[j] = at;
    [below, above]
}

/// A part of a cell that may hold something better.
struct Node {
    bound: f64,
    number: usize,
    /// `None` for a whole cell: its limits take work that most cells never need.
    limits: Option<Limits>,
    /// Where the maximum was thought to be.
    guess: Vec<f64>,
}

impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Node {}

/// What branch and bound knows.
struct Tree {
    best: f64,
    place: Vec<f64>,
    cell: Option<usize>,
    /// The largest bound among the parts that are done.
    closed: f64,
}

impl Tree {
    fn offer(&mut self, x: &[f64], value: f64, cell: usize) {
        if value > self.best {
            self.best = value;
            self.place.copy_from_slice(x);
            self.cell = Some(cell);
        }
    }

    fn close(&mut self, bound: f64) {
        self.closed = self.closed.max(bound);
    }
}
