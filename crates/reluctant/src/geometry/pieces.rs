//! The value over the whole region: one piece ([`super::piece`]) in each cell. Every search goes through them.

use super::optimum::Optimistic;
use super::piece::Piece;
use super::region::Region;
use crate::choice::Certificate;
use crate::frozen::FrozenRelu;
use crate::linalg::{axpy, dot, normalise};
use crate::relu::Pattern;

/// The pieces of the value, one a cell.
pub(super) struct Pieces<'a> {
    pub(super) regime: &'a FrozenRelu,
    pub(super) radius: f64,
    pub(super) region: &'a Region,
}

impl Pieces<'_> {
    pub(super) fn piece(&self, pattern: Pattern) -> Piece {
        let net = self.region.network();
        let dim = net.dim();
        let mut theta = vec![0.0; dim + dim * dim];
        self.regime.local_model(pattern, &mut theta);
        let mut m = theta.split_off(dim);
        m.iter_mut().for_each(|x| *x *= self.radius * self.radius);
        Piece::new(theta, m, net, pattern, self.region.margin())
    }

    /// The action x of a cell, moved by a few last digits so that it really lies there, with its value.
    pub(super) fn finish(&self, x: &[f64], pattern: Pattern, centre: &[f64]) -> Optimistic {
        let net = self.region.network();
        let inside = |x: &[f64]| net.pattern(x) == pattern && self.region.contains(x);
        let mut action = x.to_vec();
        let mut push = 1e-16;
        while !inside(&action) && push < 1e-6 {
            action.copy_from_slice(x);
            axpy(push, centre, &mut action);
            normalise(&mut action);
            push *= 2.0;
        }
        // Only a cell of no more than rounding's width defeats that; its centre is then the point.
        if !inside(&action) {
            action.copy_from_slice(centre);
        }
        let piece = self.piece(pattern);
        let mean = dot(&piece.theta, &action);
        let value = piece.value(&action);
        Optimistic {
            action,
            value,
            mean,
            width: value - mean,
            certificate: Certificate::NotCertified,
            cells_visited: 0,
            bounds: 0,
        }
    }
}
