//! How a full history is condensed: observations of nearly the same action become one.
//!
//! Networks without biases are homogeneous, f(cx) = c·f(x) for c > 0, so a sum of observations with coefficients whose
//! squares add up to one is again an observation of unit noise, of the sum of the actions: a hundred of one action are
//! one of a ten times longer action, and nothing else need know.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::choice::argmax;
use crate::linalg::{axpy, dot, normalise};
use crate::spare::with_zeros;

/// The observations to be condensed, and memory to work in.
#[derive(Debug, Clone, Default)]
pub(super) struct Condenser {
    dim: usize,
    numbers: Vec<u64>,
    actions: Vec<f64>,
    rewards: Vec<f64>,
    directions: Vec<f64>,
    /// ‖x‖ and its square.
    lengths: Vec<f64>,
    weights: Vec<f64>,
    /// The observations, cell after cell; in a cell, from the first to the last.
    order: Vec<u32>,
    aside: Vec<u32>,
    /// Of a cell, coordinate by coordinate.
    means: Vec<f64>,
    scatters: Vec<f64>,
    heap: BinaryHeap<Cell>,
    cells: Vec<Cell>,
}

impl Condenser {
    /// Forgets all observations; the next ones have `dim` coordinates.
    pub(super) fn begin(&mut self, dim: usize) {
        self.dim = dim;
        self.numbers.clear();
        self.actions.clear();
        self.rewards.clear();
    }

    pub(super) fn add(&mut self, number: u64, action: &[f64], reward: f64) {
        self.numbers.push(number);
        self.actions.extend_from_slice(action);
        self.rewards.push(reward);
    }

    /// Gives `keep` at most `count` observations that stand for all.
    pub(super) fn condense(&mut self, count: usize, mut keep: impl FnMut(u64, &[f64], f64)) {
        self.divide(count);
        with_zeros(self.dim, |sum| {
            for cell in &self.cells {
                let alike = &self.order[cell.range()];
                let reward = self.merge(alike, sum);
                // The number, and so the perturbations, are those of the longest.
                let longest = alike.iter().max_by(|a, b| self.length(**a).total_cmp(&self.length(**b)));
                keep(longest.map_or(0, |i| self.numbers[*i as usize]), sum, reward);
            }
        });
    }

    fn action(&self, i: u32) -> &[f64] {
        &self.actions[i as usize * self.dim..][..self.dim]
    }

    fn length(&self, i: u32) -> f64 {
        self.lengths[i as usize]
    }

    /// One observation for those that are `alike`: their sum with coefficients in proportion to the lengths of the
    /// actions. Its action goes into `sum`.
    fn merge(&self, alike: &[u32], sum: &mut [f64]) -> f64 {
        let all = alike.iter().map(|&i| self.weights[i as usize]).sum::<f64>().sqrt();
        sum.fill(0.0);
        let mut reward = 0.0;
        for &i in alike {
            let coefficient = if all > 0.0 { self.length(i) / all } else { 0.0 };
            axpy(coefficient, self.action(i), sum);
            reward += coefficient * self.rewards[i as usize];
        }
        reward
    }

    /// Divides the observations into at most `count` cells of nearly the same direction: the most scattered cell is cut
    /// in two, again and again. In the order of the first observation of each.
    fn divide(&mut self, count: usize) {
        let dim = self.dim;
        self.directions.clone_from(&self.actions);
        self.directions.chunks_exact_mut(dim).for_each(|x| _ = normalise(x));
        self.weights.clear();
        self.weights.extend(self.actions.chunks_exact(dim).map(|x| dot(x, x)));
        self.lengths.clear();
        self.lengths.extend(self.weights.iter().map(|w| w.sqrt()));
        self.order.clear();
        self.order.extend(0..self.rewards.len() as u32);
        for sums in [&mut self.means, &mut self.scatters] {
            sums.resize(dim, 0.0);
        }
        self.heap.clear();
        self.cells.clear();
        self.add_cell(0..self.rewards.len());
        while self.heap.len() + self.cells.len() < count {
            let Some(widest) = self.heap.pop() else { break };
            let middle = self.cut(&widest);
            let Range { start, end } = widest.range();
            if middle == start || middle == end {
                self.heap.push(widest);
                break;
            }
            self.add_cell(start..middle);
            self.add_cell(middle..end);
        }
        self.cells.extend(self.heap.drain());
        self.cells.sort_unstable_by_key(|cell| cell.first);
    }

    /// Adds the cell of a part of `order`: to those to be cut, or if that is impossible to those that stay.
    fn add_cell(&mut self, range: Range<usize>) {
        let cell = self.cell(&range);
        if range.len() > 1 { self.heap.push(cell) } else { self.cells.push(cell) }
    }

    /// Brings those of a cell below its middle before the others; where the others begin.
    fn cut(&mut self, cell: &Cell) -> usize {
        let Range { start, end } = cell.range();
        self.aside.clear();
        let mut low = start;
        for at in start..end {
            let i = self.order[at];
            if self.directions[i as usize * self.dim + cell.coordinate as usize] < cell.middle {
                self.order[low] = i;
                low += 1;
            } else {
                self.aside.push(i);
            }
        }
        self.order[low..end].copy_from_slice(&self.aside);
        low
    }

    /// The cell of a part of `order`.
    fn cell(&mut self, range: &Range<usize>) -> Cell {
        let Condenser { dim, weights, directions, means, scatters, .. } = self;
        let alike = &self.order[range.clone()];
        let mut cell = Cell::of(range, alike);
        if alike.len() < 2 {
            return cell;
        }
        let each = || alike.iter().map(|&i| (weights[i as usize], &directions[i as usize * *dim..][..*dim]));
        means.fill(0.0);
        let mut total = 0.0;
        for (weight, direction) in each() {
            total += weight;
            axpy(weight, direction, means);
        }
        means.iter_mut().for_each(|mean| *mean /= total.max(f64::MIN_POSITIVE));
        scatters.fill(0.0);
        for (weight, direction) in each() {
            for ((scatter, x), mean) in scatters.iter_mut().zip(direction).zip(&*means) {
                *scatter += weight * (x - mean) * (x - mean);
            }
        }
        let coordinate = argmax(scatters.iter().copied()).unwrap_or(0);
        (cell.scatter, cell.coordinate, cell.middle) = (scatters.iter().sum(), coordinate as u32, means[coordinate]);
        cell
    }
}

/// A part of the order of observations, the weighted sum of squared distances from their mean, the coordinate that has
/// most of it, and its mean. Small, because a heap moves them about.
#[derive(Debug, Clone)]
struct Cell {
    start: u32,
    end: u32,
    /// The first of the observations.
    first: u32,
    coordinate: u32,
    scatter: f64,
    middle: f64,
}

impl Cell {
    /// Not scattered yet.
    fn of(range: &Range<usize>, alike: &[u32]) -> Self {
        let first = alike.first().copied().unwrap_or(0);
        Cell { start: range.start as u32, end: range.end as u32, first, coordinate: 0, scatter: 0.0, middle: 0.0 }
    }

    fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl Ord for Cell {
    /// The more scattered is the greater, and of equals the one that was seen later.
    fn cmp(&self, other: &Self) -> Ordering {
        self.scatter.total_cmp(&other.scatter).then(self.first.cmp(&other.first))
    }
}

impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cell {}
