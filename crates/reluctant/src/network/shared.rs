//! A network whose hidden layer is shared by several outputs: fₐ(x) = vₐ·h(x) + cₐ with h(x) = max(0, Wx + b).
//! Heads can have an affine part of their own: fₐ(x) = vₐ·h(x) + uₐ·x + cₐ.
//!
//! All parameters lie in one vector: W by input coordinate (so that loops run over the hidden units, which are
//! contiguous), then b, then vₐ, uₐ if there is one, and cₐ of each head.

use serde::{Deserialize, Serialize};

use crate::limits::in_limit;
use crate::linalg::axpy;
use crate::rng::{Stream, normal};

/// The network.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SharedNet {
    dim: usize,
    width: usize,
    /// Whether heads see x besides h(x), so that each has an affine part of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    affine: bool,
    params: Vec<f64>,
}

/// The standard deviation of weights and biases at the start.
fn start_spread(dim: usize) -> f64 {
    (2.0 / (dim + 1) as f64).sqrt()
}

impl SharedNet {
    /// A random hidden layer without heads: weights and biases N(0, 2/(d + 1)), so that h keeps the size of (x, 1).
    pub(super) fn start(dim: usize, width: usize, stream: &mut Stream) -> Self {
        let spread = start_spread(dim);
        SharedNet {
            dim,
            width,
            affine: false,
            params: (0..(dim + 1) * width).map(|_| spread * normal(stream)).collect(),
        }
    }

    /// The same, before it has heads, whose heads will have an affine part.
    pub(super) fn with_affine_heads(self) -> Self {
        SharedNet { affine: true, ..self }
    }

    pub(super) fn has_affine_heads(&self) -> bool {
        self.affine
    }

    /// Adds a head that is zero everywhere.
    pub(super) fn add_head(&mut self) {
        self.params.resize(self.params.len() + self.outputs() + 1, 0.0);
    }

    /// Adds hidden units, drawn as those of the start, until there are so many. Their weights in all heads are zero, so
    /// that values are what they were.
    pub(super) fn widen(&mut self, width: usize, stream: &mut Stream) {
        let (old, more) = (self.width, width.saturating_sub(self.width));
        if more == 0 {
            return;
        }
        let spread = start_spread(self.dim);
        let (trunk, heads) = self.params.split_at(self.trunk_size());
        let mut params = Vec::with_capacity(self.params.len() + more * (self.dim + 1));
        for row in trunk.chunks_exact(old) {
            params.extend_from_slice(row);
            params.extend((0..more).map(|_| spread * normal(stream)));
        }
        for head in heads.chunks_exact(self.outputs() + 1) {
            params.extend_from_slice(&head[..old]);
            params.resize(params.len() + more, 0.0);
            params.extend_from_slice(&head[old..]);
        }
        (self.width, self.params) = (width, params);
    }

    pub(super) fn is_consistent(&self, heads: usize) -> bool {
        let trunk = self.dim.checked_add(1).and_then(|inputs| inputs.checked_mul(self.width));
        let own = self.width.checked_add(if self.affine { self.dim } else { 0 }).and_then(|size| size.checked_add(1));
        let size = own.and_then(|own| own.checked_mul(heads)?.checked_add(trunk?));
        size == Some(self.params.len()) && self.params.iter().all(|p| in_limit(*p))
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// Hidden units.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// How many numbers heads see: the hidden units, and with an affine part x.
    pub(crate) fn outputs(&self) -> usize {
        self.width + if self.affine { self.dim } else { 0 }
    }

    /// How many parameters the hidden layer has; those of the heads come after.
    pub(crate) fn trunk_size(&self) -> usize {
        (self.dim + 1) * self.width
    }

    /// Where the parameters of a head begin; there are as many as it sees numbers, and one.
    pub(crate) fn head_start(&self, head: usize) -> usize {
        self.trunk_size() + head * (self.outputs() + 1)
    }

    pub(super) fn params(&self) -> &[f64] {
        &self.params
    }

    pub(super) fn params_mut(&mut self) -> &mut [f64] {
        &mut self.params
    }

    /// The parameters (vₐ, cₐ) of a head, or (vₐ, uₐ, cₐ).
    pub(crate) fn head(&self, head: usize) -> &[f64] {
        let start = self.head_start(head);
        &self.params[start..start + self.outputs() + 1]
    }

    pub(super) fn head_mut(&mut self, head: usize) -> &mut [f64] {
        let (start, size) = (self.head_start(head), self.outputs() + 1);
        &mut self.params[start..start + size]
    }

    /// What heads see, into `outputs`: h(x), and with an affine part x.
    #[inline(always)]
    pub(super) fn hidden(&self, x: &[f64], outputs: &mut [f64]) {
        let mut rows = self.params[..self.trunk_size()].chunks_exact(self.width);
        let (hidden, direct) = outputs.split_at_mut(self.width);
        if self.affine {
            direct.copy_from_slice(x);
        }
        hidden.fill(0.0);
        for (&x, weights) in x.iter().zip(rows.by_ref()) {
            axpy(x, weights, hidden);
        }
        if let Some(biases) = rows.next() {
            hidden.iter_mut().zip(biases).for_each(|(h, b)| *h = (*h + b).max(0.0));
        }
    }

    /// fₐ given what heads see.
    #[inline(always)]
    pub(crate) fn value(&self, head: usize, outputs: &[f64]) -> f64 {
        let (weights, bias) = self.head(head).split_at(self.outputs());
        let mut value = bias[0];
        weights.iter().zip(outputs).for_each(|(v, h)| value += v * h);
        value
    }

    /// Adds `factor`·∂fₐ/∂(all parameters) to `gradient`, given x and what heads see of it. `slopes` is memory for as
    /// many numbers as hidden units.
    #[inline(always)]
    pub(super) fn add_gradient(
        &self,
        head: usize,
        factor: f64,
        (x, outputs): (&[f64], &[f64]),
        slopes: &mut [f64],
        gradient: &mut [f64],
    ) {
        for ((slope, v), h) in slopes.iter_mut().zip(self.head(head)).zip(outputs) {
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
        let own = &mut heads[start - self.trunk_size()..][..self.outputs() + 1];
        axpy(factor, outputs, own);
        own[self.outputs()] += factor;
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

    /// The same with heads that have an affine part.
    fn affine(dim: usize, width: usize, heads: usize, seed: u64) -> SharedNet {
        let mut net = SharedNet { affine: true, ..random(dim, width, 0, seed) };
        let mut stream = Key::new(seed).round(1).stream();
        (0..heads).for_each(|_| net.add_head());
        let trunk = net.trunk_size();
        net.params[trunk..].iter_mut().for_each(|p| *p = normal(&mut stream));
        net
    }

    fn value(net: &SharedNet, head: usize, x: &[f64]) -> f64 {
        let mut hidden = vec![0.0; net.outputs()];
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
        let x = [0.3, -1.2, 0.7, 2.0];
        for (net, head) in [random(4, 6, 3, 2), affine(4, 6, 3, 2)].iter().flat_map(|net| (0..3).map(move |h| (net, h)))
        {
            let (mut hidden, mut slopes) = (vec![0.0; net.outputs()], vec![0.0; 6]);
            net.hidden(&x, &mut hidden);
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

    #[test]
    fn an_affine_part_is_added_and_more_units_change_no_value() {
        let x = [0.3, -1.2, 0.7];
        let net = affine(3, 5, 2, 1);
        assert!(net.is_consistent(2) && !net.is_consistent(3));
        let without = SharedNet { affine: false, params: net.params[..net.trunk_size()].to_vec(), ..net.clone() };
        for head in 0..2 {
            let (mut bare, own) = (without.clone(), net.head(head));
            bare.add_head();
            bare.head_mut(0)[..5].copy_from_slice(&own[..5]);
            let straight: f64 = (0..3).map(|j| own[5 + j] * x[j]).sum::<f64>() + own[8];
            assert!((value(&net, head, &x) - value(&bare, 0, &x) - straight).abs() < 1e-12);
        }
        for net in [net, random(3, 5, 2, 1)] {
            let mut wide = net.clone();
            wide.widen(9, &mut Key::new(4).stream());
            assert!(wide.is_consistent(2) && wide.width() == 9 && wide.hidden_unit(8) != wide.hidden_unit(7));
            (0..2).for_each(|head| assert!((value(&wide, head, &x) - value(&net, head, &x)).abs() < 1e-12));
            wide.widen(2, &mut Key::new(4).stream());
            assert_eq!(wide.width(), 9);
        }
    }

    impl SharedNet {
        /// Weights and bias of a hidden unit.
        fn hidden_unit(&self, unit: usize) -> Vec<f64> {
            self.params[..self.trunk_size()].chunks_exact(self.width).map(|row| row[unit]).collect()
        }
    }
}
