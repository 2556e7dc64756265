//! A network whose hidden layer is shared by several outputs: fₐ(x) = vₐ·h(x) + cₐ with h(x) = max(0, Wx + b).
//!
//! All parameters lie in one vector: W by input coordinate (so that loops run over the hidden units, which are
//! contiguous), then b, then vₐ and cₐ of each head.

use serde::{Deserialize, Serialize};

use crate::limits::in_limit;
use crate::linalg::axpy;
use crate::rng::{Stream, normal};

/// The network.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SharedNet {
    dim: usize,
    width: usize,
    params: Vec<f64>,
}

impl SharedNet {
    /// A random hidden layer without heads: weights and biases N(0, 2/(d + 1)), so that h keeps the size of (x, 1).
    pub(super) fn start(dim: usize, width: usize, stream: &mut Stream) -> Self {
        let spread = (2.0 / (dim + 1) as f64).sqrt();
        SharedNet { dim, width, params: (0..(dim + 1) * width).map(|_| spread * normal(stream)).collect() }
    }

    /// Adds a head that is zero everywhere.
    pub(super) fn add_head(&mut self) {
        self.params.resize(self.params.len() + self.width + 1, 0.0);
    }

    pub(super) fn is_consistent(&self, heads: usize) -> bool {
        let size = self.dim.checked_add(1).and_then(|inputs| inputs.checked_add(heads)?.checked_mul(self.width));
        size.and_then(|size| size.checked_add(heads)) == Some(self.params.len())
            && self.params.iter().all(|p| in_limit(*p))
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// Hidden units.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// How many parameters the hidden layer has; those of the heads come after.
    pub(crate) fn trunk_size(&self) -> usize {
        (self.dim + 1) * self.width
    }

    /// Where the parameters of a head begin; there are as many as hidden units, and one.
    pub(crate) fn head_start(&self, head: usize) -> usize {
        self.trunk_size() + head * (self.width + 1)
    }

    pub(super) fn params(&self) -> &[f64] {
        &self.params
    }

    pub(super) fn params_mut(&mut self) -> &mut [f64] {
        &mut self.params
    }

    /// The parameters (vₐ, cₐ) of a head.
    pub(crate) fn head(&self, head: usize) -> &[f64] {
        let start = self.head_start(head);
        &self.params[start..start + self.width + 1]
    }

    pub(super) fn head_mut(&mut self, head: usize) -> &mut [f64] {
        let start = self.head_start(head);
        &mut self.params[start..start + self.width + 1]
    }

    /// h(x), into `hidden`.
    #[inline(always)]
    pub(super) fn hidden(&self, x: &[f64], hidden: &mut [f64]) {
        let mut rows = self.params[..self.trunk_size()].chunks_exact(self.width);
        hidden.fill(0.0);
        for (&x, weights) in x.iter().zip(rows.by_ref()) {
            axpy(x, weights, hidden);
        }
        if let Some(biases) = rows.next() {
            hidden.iter_mut().zip(biases).for_each(|(h, b)| *h = (*h + b).max(0.0));
        }
    }

    /// fₐ given h(x).
    #[inline(always)]
    pub(crate) fn value(&self, head: usize, hidden: &[f64]) -> f64 {
        let (weights, bias) = self.head(head).split_at(self.width);
        let mut value = bias[0];
        weights.iter().zip(hidden).for_each(|(v, h)| value += v * h);
        value
    }

    /// Adds `factor`·∂fₐ/∂(all parameters) to `gradient`, given x and h(x). `slopes` is memory for as many numbers as
    /// hidden units.
    #[inline(always)]
    pub(super) fn add_gradient(
        &self,
        head: usize,
        factor: f64,
        (x, hidden): (&[f64], &[f64]),
        slopes: &mut [f64],
        gradient: &mut [f64],
    ) {
        for ((slope, v), h) in slopes.iter_mut().zip(self.head(head)).zip(hidden) {
            *slope = if *h > 0.0 { factor * v } else { 0.0 };
        }
        let start = self.head_start(head);
        let (trunk, heads) = gradient.split_at_mut(self.trunk_size());
        let mut rows = trunk.chunks_exact_mut(self.width);
        for (&x, row) in x.iter().zip(rows.by_ref()) {
            axpy(x, slopes, row);
        }
        if let Some(row) = rows.next() {
            row.iter_mut().zip(&*slopes).for_each(|(g, s)| *g += s);
        }
        let own = &mut heads[start - self.trunk_size()..][..self.width + 1];
        axpy(factor, hidden, own);
        own[self.width] += factor;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::rng::Key;

    /// A network with random heads.
    pub(in crate::network) fn random(dim: usize, width: usize, heads: usize, seed: u64) -> SharedNet {
        let mut stream = Key::new(seed).stream();
        let mut net = SharedNet::start(dim, width, &mut stream);
        (0..heads).for_each(|_| net.add_head());
        let trunk = net.trunk_size();
        net.params[trunk..].iter_mut().for_each(|p| *p = normal(&mut stream));
        net
    }

    fn value(net: &SharedNet, head: usize, x: &[f64]) -> f64 {
        let mut hidden = vec![0.0; net.width];
        net.hidden(x, &mut hidden);
        net.value(head, &hidden)
    }

    #[test]
    fn values_are_those_of_the_definition() {
        let net = random(3, 5, 2, 1);
        assert!(net.is_consistent(2) && !net.is_consistent(1));
        let x = [0.3, -1.2, 0.7];
        for head in 0..2 {
            let start = net.head_start(head);
            let mut expected = net.params[start + 5];
            for i in 0..5 {
                let sum: f64 = (0..3).map(|j| net.params[j * 5 + i] * x[j]).sum::<f64>() + net.params[15 + i];
                expected += net.params[start + i] * sum.max(0.0);
            }
            assert!((value(&net, head, &x) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let net = random(4, 6, 3, 2);
        let x = [0.3, -1.2, 0.7, 2.0];
        let (mut hidden, mut slopes) = (vec![0.0; 6], vec![0.0; 6]);
        net.hidden(&x, &mut hidden);
        for head in 0..3 {
            let mut gradient = vec![0.5; net.params.len()];
            net.add_gradient(head, 2.0, (&x, &hidden), &mut slopes, &mut gradient);
            for p in 0..net.params.len() {
                let moved = |by: f64| {
                    let mut other = net.clone();
                    other.params[p] += by;
                    value(&other, head, &x)
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((gradient[p] - 0.5 - 2.0 * difference).abs() < 1e-7, "{head} {p}");
            }
        }
    }
}
