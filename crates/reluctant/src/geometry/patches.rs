//! Patches that cover the circle, or the sphere in three dimensions, and can be split.

use crate::linalg::normalise;

/// Sides of the cube whose faces cover the sphere.
const FACES: usize = 6;
/// Arcs that cover the circle at first.
const ARCS: usize = 8;

/// A piece of the circle between two angles, or of the sphere over a rectangle of a face of the cube [−1, 1]³.
#[derive(Debug, Clone)]
pub(super) struct Patch {
    shape: Shape,
    centre: Vec<f64>,
    /// The greatest angle between the centre and a point of the patch.
    angle: f64,
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    Arc { from: f64, to: f64 },
    Square { face: usize, u: [f64; 2], v: [f64; 2] },
}

impl Patch {
    /// Patches that cover the unit vectors of two or three dimensions; none in others.
    pub(super) fn cover(dim: usize) -> Vec<Patch> {
        let turn = 2.0 * std::f64::consts::PI / ARCS as f64;
        match dim {
            2 => (0..ARCS).map(|i| Shape::Arc { from: turn * i as f64, to: turn * (i + 1) as f64 }.patch()).collect(),
            3 => (0..FACES).map(|face| Shape::Square { face, u: [-1.0, 1.0], v: [-1.0, 1.0] }.patch()).collect(),
            _ => Vec::new(),
        }
    }

    /// Its parts: two arcs, four squares.
    pub(super) fn split(&self) -> Vec<Patch> {
        let middle = |[a, b]: [f64; 2]| 0.5 * (a + b);
        match self.shape {
            Shape::Arc { from, to } => {
                let half = 0.5 * (from + to);
                vec![Shape::Arc { from, to: half }.patch(), Shape::Arc { from: half, to }.patch()]
            }
            Shape::Square { face, u, v } => {
                let halves = |range: [f64; 2]| [[range[0], middle(range)], [middle(range), range[1]]];
                let parts = halves(u).into_iter().flat_map(|u| halves(v).map(|v| Shape::Square { face, u, v }));
                parts.map(Shape::patch).collect()
            }
        }
    }

    /// A unit vector inside.
    pub(super) fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The greatest angle between the centre and a point of the patch.
    pub(super) fn angle(&self) -> f64 {
        self.angle
    }

    /// The greatest distance between them.
    pub(super) fn reach(&self) -> f64 {
        2.0 * libm::sin(0.5 * self.angle)
    }
}

impl Shape {
    fn patch(self) -> Patch {
        match self {
            Shape::Arc { from, to } => {
                let middle = 0.5 * (from + to);
                let centre = vec![libm::cos(middle), libm::sin(middle)];
                Patch { shape: self, centre, angle: ROUNDING + 0.5 * (to - from) }
            }
            Shape::Square { face, u, v } => {
                let centre = on_face(face, 0.5 * (u[0] + u[1]), 0.5 * (v[0] + v[1]));
                // The sides are arcs of great circles, and the distance to a point is quasi-convex along them: corners are farthest.
                let corners = [(u[0], v[0]), (u[0], v[1]), (u[1], v[0]), (u[1], v[1])];
                let angle = corners.iter().map(|&(u, v)| between(&centre, &on_face(face, u, v))).fold(0.0, f64::max);
                Patch { shape: self, centre, angle: ROUNDING + angle }
            }
        }
    }
}

/// Added to angles, so that rounding leaves no cracks.
const ROUNDING: f64 = 1e-12;

/// The unit vector towards a point of a face of the cube.
fn on_face(face: usize, u: f64, v: f64) -> Vec<f64> {
    let (axis, side) = (face / 2, if face.is_multiple_of(2) { 1.0 } else { -1.0 });
    let mut x = vec![0.0; 3];
    x[axis] = side;
    x[(axis + 1) % 3] = u;
    x[(axis + 2) % 3] = v;
    normalise(&mut x);
    x
}

/// The angle between two unit vectors, accurate where it is small.
fn between(a: &[f64], b: &[f64]) -> f64 {
    let distance = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    2.0 * libm::asin((0.5 * distance).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, unit_vector};

    /// Every unit vector lies within reach of a patch, and of one of its parts, however often it is split.
    #[test]
    fn patches_cover_and_parts_cover_the_whole() {
        let mut stream = Key::new(1).stream();
        for dim in [2, 3] {
            let mut x = vec![0.0; dim];
            for _ in 0..200 {
                unit_vector(&mut stream, &mut x);
                let mut near: Vec<Patch> = Patch::cover(dim);
                for _ in 0..12 {
                    near.retain(|patch| between(&x, patch.centre()) <= patch.angle());
                    assert!(!near.is_empty());
                    near = near.iter().flat_map(Patch::split).collect();
                }
                assert!(near.iter().all(|patch| patch.angle() < 1e-3));
            }
        }
        assert!(Patch::cover(4).is_empty());
    }
}
