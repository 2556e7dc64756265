//! Neurons that fell into one.
//!
//! Two neurons at the same place have the same gradient and stay together for ever, even if the data want them
//! apart: the loss is stationary there. Rounding the kinks makes such meetings more likely where the truth has two
//! neurons close together. Moved apart by ±δ along any tangent, a pair at m changes the network by −δ²·max(0, m·x)
//! except in the thin wedge between the two, so the residuals r tell whether and how far they should part: δ² = Σ
//! r·max(0, m·x) / Σ max(0, m·x)².

use super::problem::Point;
use crate::activation::RoundedKink;
use crate::linalg::{dot, normalise};

/// Neurons nearer than this are suspected of having met.
const NEAR: f64 = 0.02;

/// Moves the closest two neurons apart, if they have met and the residuals ask for it; says whether it did. Where units
/// leak, their activation stands in the place of max.
pub(super) fn part(at: &mut Point, dim: usize, slope: f64) -> bool {
    let Some((i, j)) = closest(&at.directions, dim) else { return false };
    let len = at.residual.len();
    let inner = &at.inner[i * len..(i + 1) * len];
    let (pull, weight) = inner.iter().zip(&at.residual).fold((0.0, 0.0), |(pull, weight), (z, r)| {
        let active = RoundedKink { slope, rounding: 0.0 }.value(*z);
        (pull + r * active, weight + active * active)
    });
    if !(pull > 0.0 && weight > 0.0) {
        return false;
    }
    let delta = (pull / weight).sqrt().min(0.5);
    let middle = at.directions[i * dim..(i + 1) * dim].to_vec();
    // Along the line on which they met; any tangent if they met exactly.
    let mut tangent: Vec<f64> = middle.iter().zip(&at.directions[j * dim..]).map(|(a, b)| a - b).collect();
    if !(project(&mut tangent, &middle) && normalise(&mut tangent)) {
        let smallest = (0..dim).min_by(|&a, &b| middle[a].abs().total_cmp(&middle[b].abs())).unwrap_or(0);
        tangent.fill(0.0);
        tangent[smallest] = 1.0;
        if !(project(&mut tangent, &middle) && normalise(&mut tangent)) {
            return false;
        }
    }
    for (neuron, side) in [(i, delta), (j, -delta)] {
        let row = &mut at.directions[neuron * dim..(neuron + 1) * dim];
        row.iter_mut().zip(&middle).zip(&tangent).for_each(|((u, m), t)| *u = m + side * t);
        // Never shorter than the middle.
        normalise(row);
    }
    true
}

/// Removes from `tangent` its part along the unit vector `middle`; false if hardly anything is left.
fn project(tangent: &mut [f64], middle: &[f64]) -> bool {
    let along = dot(tangent, middle);
    tangent.iter_mut().zip(middle).for_each(|(t, m)| *t -= along * m);
    dot(tangent, tangent) > 1e-28
}

fn closest(directions: &[f64], dim: usize) -> Option<(usize, usize)> {
    let mut best = None;
    let mut least = NEAR * NEAR;
    for (i, a) in directions.chunks_exact(dim).enumerate() {
        for (j, b) in directions.chunks_exact(dim).enumerate().skip(i + 1) {
            let squared: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
            if squared < least {
                least = squared;
                best = Some((i, j));
            }
        }
    }
    best
}
