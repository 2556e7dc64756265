//! How a full history is condensed: observations of nearly the same action become one.
//!
//! Networks without biases are homogeneous, f(cx) = c·f(x) for c > 0, so a sum of observations with coefficients whose squares add up to
//! one is again an observation of unit noise, of the sum of the actions: a hundred of one action are one of a ten times longer action, and
//! nothing else need know.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::linalg::{axpy, dot, norm, normalise};
use crate::spare::with_zeros;

/// The observations to be condensed, and memory to work in.
#[derive(Debug, Clone, Default)]
pub(super) struct Condenser {
    dim: usize,
    numbers: Vec<u64>,
    actions: Vec<f64>,
    rewards: Vec<f64>,
    directions: Vec<f64>,
    /// ‖x‖².
    weights: Vec<f64>,
    /// The observations, cell after cell; in a cell, from the first to the last.
    order: Vec<usize>,
    aside: Vec<usize>,
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
        let length = |i: &usize| norm(self.action(*i));
        with_zeros(self.dim, |sum| {
            for cell in &self.cells {
                let alike = &self.order[cell.range.clone()];
                let reward = self.merge(alike, sum);
                // The number, and so the perturbations, are those of the longest.
                let longest = alike.iter().max_by(|a, b| length(a).total_cmp(&length(b)));
                keep(longest.map_or(0, |i| self.numbers[*i]), sum, reward);
            }
        });
    }

    fn action(&self, i: usize) -> &[f64] {
        &self.actions[i * self.dim..][..self.dim]
    }

    /// One observation for those that are `alike`: their sum with coefficients in proportion to the lengths of the actions. Its action
    /// goes into `sum`.
    fn merge(&self, alike: &[usize], sum: &mut [f64]) -> f64 {
        let all = alike.iter().map(|&i| norm(self.action(i))).fold(0.0, f64::hypot);
        sum.fill(0.0);
        let mut reward = 0.0;
        for &i in alike {
            let coefficient = if all > 0.0 { norm(self.action(i)) / all } else { 0.0 };
            axpy(coefficient, self.action(i), sum);
            reward += coefficient * self.rewards[i];
        }
        reward
    }

    /// Divides the observations into at most `count` cells of nearly the same direction: the most scattered cell is cut in two, again
    /// and again. In the order of the first observation of each.
    fn divide(&mut self, count: usize) {
        let dim = self.dim;
        self.directions.clone_from(&self.actions);
        self.directions.chunks_exact_mut(dim).for_each(|x| _ = normalise(x));
        self.weights.clear();
        self.weights.extend(self.actions.chunks_exact(dim).map(|x| dot(x, x)));
        self.order.clear();
        self.order.extend(0..self.rewards.len());
        self.heap.clear();
        self.heap.push(self.cell(0..self.rewards.len()));
        while self.heap.len() < count {
            let Some(widest) = self.heap.pop() else { break };
            let middle = self.cut(&widest);
            let Range { start, end } = widest.range;
            if middle == start || middle == end {
                self.heap.push(widest);
                break;
            }
            self.heap.push(self.cell(start..middle));
            self.heap.push(self.cell(middle..end));
        }
        self.cells.clear();
        self.cells.extend(self.heap.drain());
        self.cells.sort_unstable_by_key(|cell| cell.first);
    }

    /// Brings those of a cell below its middle before the others; where the others begin.
    fn cut(&mut self, cell: &Cell) -> usize {
        self.aside.clear();
        let mut low = cell.range.start;
        for at in cell.range.clone() {
            let i = self.order[at];
            if self.directions[i * self.dim + cell.coordinate] < cell.middle {
                self.order[low] = i;
                low += 1;
            } else {
                self.aside.push(i);
            }
        }
        self.order[low..cell.range.end].copy_from_slice(&self.aside);
        low
    }

    /// The cell of a part of `order`.
    fn cell(&self, range: Range<usize>) -> Cell {
        let alike = &self.order[range.clone()];
        let total: f64 = alike.iter().map(|&i| self.weights[i]).sum();
        let first = alike.first().copied().unwrap_or(0);
        let mut cell = Cell { range, first, scatter: 0.0, coordinate: 0, middle: 0.0 };
        let mut widest = -1.0;
        for j in 0..self.dim {
            let values = || alike.iter().map(|&i| (self.weights[i], self.directions[i * self.dim + j]));
            let mean = values().map(|(w, x)| w * x).sum::<f64>() / total.max(f64::MIN_POSITIVE);
            let scatter: f64 = values().map(|(w, x)| w * (x - mean) * (x - mean)).sum();
            cell.scatter += scatter;
            if scatter > widest {
                (widest, cell.coordinate, cell.middle) = (scatter, j, mean);
            }
        }
        cell
    }
}

/// A part of the order of observations, the weighted sum of squared distances from their mean, the coordinate that has most of it, and
/// its mean.
#[derive(Debug, Clone)]
struct Cell {
    range: Range<usize>,
    first: usize,
    scatter: f64,
    coordinate: usize,
    middle: f64,
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
