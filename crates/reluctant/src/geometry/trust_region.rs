//! The optimistic direction of a cell, if the whole sphere belonged to it: a trust-region problem.
//!
//! max over unit x of θ·x + √(xᵀMx) with M = LLᵀ equals max over ‖u‖ ≤ 1 of ‖θ + Lu‖, a convex quadratic over a
//! ball. In the eigenbasis of M, with eigenvalues λⱼ and θ = Σ eⱼvⱼ, the maximiser is uⱼ = √λⱼ·eⱼ/(σ − λⱼ), where σ
//! ≥ λ₁ solves the secular equation
//!
//! > Σⱼ λⱼeⱼ²/(σ − λⱼ)² = 1,
//!
//! and x ∝ θ + Lu has the coordinates eⱼσ/(σ − λⱼ). In the *hard case*, eⱼ = 0 in the eigenspace of λ₁, the sum may
//! stay below 1 even at σ = λ₁; the rest of u then points along v₁, either way.

use crate::linalg::norm;

/// The maximum of e·y + √(Σ λⱼyⱼ²) over unit y, for λ₁ ≥ λ₂ ≥ … ≥ 0; its place goes into `y`.
pub(super) fn maximise(e: &[f64], lambda: &[f64], y: &mut [f64]) -> f64 {
    let top = lambda[0];
    // σ = λ₁ + s; solving for s keeps all digits where σ is close to λ₁.
    let weight = |j: usize| lambda[j] * e[j] * e[j];
    let sum = |s: f64| {
        let (mut value, mut slope) = (0.0, 0.0);
        for j in 0..e.len() {
            let (w, distance) = (weight(j), s + (top - lambda[j]));
            if w > 0.0 {
                let term = w / (distance * distance);
                value += term;
                slope -= 2.0 * term / distance;
            }
        }
        (value, slope)
    };
    let in_top: f64 = (0..e.len()).filter(|&j| lambda[j] == top).map(weight).sum();
    let all: f64 = (0..e.len()).map(weight).sum();
    let (mut low, mut high) = (in_top.sqrt(), all.sqrt());
    let mut rest = 0.0;
    let mut s = 0.0;
    if low == 0.0 && (high == 0.0 || sum(0.0).0 <= 1.0) {
        let used = if high == 0.0 { 0.0 } else { sum(0.0).0 };
        rest = (1.0 - used).max(0.0).sqrt();
    } else {
        // Newton's method on 1/√sum, which is nearly linear, kept inside a bracket.
        s = high;
        for _ in 0..100 {
            let (value, slope) = sum(s);
            if value > 1.0 {
                low = s
            } else {
                high = s
            }
            let step = 2.0 * value * (value.sqrt() - 1.0) / slope;
            let next = s - step;
            let next = if next > low && next < high { next } else { 0.5 * (low + high) };
            if (next - s).abs() <= 2e-16 * s {
                break;
            }
            s = next;
        }
    }
    for j in 0..e.len() {
        let distance = s + (top - lambda[j]);
        y[j] = if distance > 0.0 { e[j] * (top + s) / distance } else { e[j] };
    }
    y[0] += top.sqrt() * rest;
    let length = norm(y);
    if length > 0.0 {
        y.iter_mut().for_each(|x| *x /= length);
    } else {
        y[0] = 1.0;
    }
    length
}

/// Every place on the circle (d = 2) where e·y + √(λ₁y₁² + λ₂y₂²) can have a local maximum.
///
/// A local maximum of the quadratic above has λ₂ ≤ σ (Martínez 1994): besides the global one there is at most one more,
/// between λ₂ and λ₁, where the sum is convex in σ and has at most two roots.
pub(super) fn circle_maxima(e: [f64; 2], lambda: [f64; 2], mut offer: impl FnMut([f64; 2])) {
    let mut y = [0.0; 2];
    maximise(&e, &lambda, &mut y);
    offer(y);
    let gap = lambda[0] - lambda[1];
    let weight = [lambda[0] * e[0] * e[0], lambda[1] * e[1] * e[1]];
    if gap <= 0.0 {
        return;
    }
    // A place of the quadratic is known by v = (v₁, v₂) ∝ x.
    let mut offer = |v: [f64; 2]| {
        let length = norm(&v);
        if length > 0.0 && length.is_finite() {
            offer([v[0] / length, v[1] / length]);
        }
    };
    if weight[0] == 0.0 {
        // The hard case: both signs of u₁ are as good.
        let u = lambda[1].sqrt() * e[1] / gap;
        let rest = (lambda[0] * (1.0 - u * u).max(0.0)).sqrt();
        for sign in [1.0, -1.0] {
            offer([e[0] + sign * rest, e[1] * lambda[0] / gap]);
        }
        return;
    }
    // Below, σ = λ₁ − s with 0 < s < gap.
    let sum = |s: f64| weight[0] / (s * s) + weight[1] / ((gap - s) * (gap - s));
    let ratio = libm::cbrt(weight[1] / weight[0]);
    let lowest = gap / (1.0 + ratio);
    if weight[1] == 0.0 {
        let s = weight[0].sqrt();
        if s < gap {
            offer([-e[0] * (lambda[0] - s) / s, e[1] * (lambda[0] - s) / (gap - s)]);
        }
    } else if sum(lowest) <= 1.0 {
        // From the pole at λ₁ down to the lowest point, the sum falls; from there on to the pole at λ₂ it rises.
        let s = bisect(0.0, lowest, |s| sum(s) > 1.0);
        offer([-e[0] * (lambda[0] - s) / s, e[1] * (lambda[0] - s) / (gap - s)]);
        let r = bisect(0.0, gap - lowest, |r| weight[0] / ((gap - r) * (gap - r)) + weight[1] / (r * r) > 1.0);
        offer([-e[0] * (lambda[1] + r) / (gap - r), e[1] * (lambda[1] + r) / r]);
    }
}

/// Where `above` turns from true to false between `low` and `high`.
fn bisect(mut low: f64, mut high: f64, above: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if above(middle) { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::dot;
    use crate::rng::{Key, unit_vector};
    use proptest::prelude::*;

    fn value(e: &[f64], lambda: &[f64], y: &[f64]) -> f64 {
        dot(e, y) + lambda.iter().zip(y).map(|(l, y)| l * y * y).sum::<f64>().sqrt()
    }

    /// The value is that of the place, the place is a unit vector and a fixed point of x → θ +
    /// Lu(x), and no sample is better.
    fn check(e: &[f64], lambda: &[f64]) {
        let mut y = vec![0.0; e.len()];
        let best = maximise(e, lambda, &mut y);
        let scale = 1.0 + best;
        assert!((norm(&y) - 1.0).abs() < 1e-14);
        assert!((value(e, lambda, &y) - best).abs() < 1e-13 * scale, "{e:?} {lambda:?}");
        let width = lambda.iter().zip(&y).map(|(l, y)| l * y * y).sum::<f64>().sqrt();
        if width > 0.0 {
            for j in 0..e.len() {
                let gradient = e[j] + lambda[j] * y[j] / width;
                assert!((gradient - best * y[j]).abs() < 1e-6 * scale, "{e:?} {lambda:?}");
            }
        }
        let mut stream = Key::new(1).stream();
        let mut x = vec![0.0; e.len()];
        for _ in 0..500 {
            unit_vector(&mut stream, &mut x);
            assert!(value(e, lambda, &x) <= best + 1e-13 * scale);
        }
    }

    fn problem() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        let eigenvalue = prop_oneof![Just(0.0), Just(1.0), 0.0..4.0f64, (-40.0..2.0f64).prop_map(|p| p.exp2())];
        let coordinate = prop_oneof![Just(0.0), -2.0..2.0f64, (-60.0..1.0f64).prop_map(|p| p.exp2())];
        (1usize..7).prop_flat_map(move |n| {
            (prop::collection::vec(coordinate.clone(), n), prop::collection::vec(eigenvalue.clone(), n))
        })
    }

    proptest! {
        #[test]
        fn the_maximum_is_the_maximum((e, mut lambda) in problem()) {
            lambda.sort_by(|a, b| b.total_cmp(a));
            check(&e, &lambda);
        }

        #[test]
        fn the_circle_has_no_other_maxima((e, mut lambda) in problem().prop_filter("a circle", |(e, _)| e.len() == 2)) {
            lambda.sort_by(|a, b| b.total_cmp(a));
            let mut found: Vec<[f64; 2]> = Vec::new();
            circle_maxima([e[0], e[1]], [lambda[0], lambda[1]], |y| found.push(y));
            let at = |i: i32| {
                let angle = f64::from(i) * std::f64::consts::TAU / 4000.0;
                [libm::cos(angle), libm::sin(angle)]
            };
            for i in 0..4000 {
                let (before, here, after) = (at(i - 1), at(i), at(i + 1));
                let height = value(&e, &lambda, &here);
                let margin = 1e-9 * (1.0 + height.abs());
                if height > value(&e, &lambda, &before) + margin && height > value(&e, &lambda, &after) + margin {
                    let near = |y: &[f64; 2]| norm(&[y[0] - here[0], y[1] - here[1]]) < 2e-3;
                    prop_assert!(found.iter().any(near), "{e:?} {lambda:?}");
                }
            }
        }
    }

    #[test]
    fn the_hard_case_and_its_neighbourhood_are_solved() {
        check(&[0.0, 0.3], &[2.0, 1.0]);
        check(&[1e-300, 0.3], &[2.0, 1.0]);
        check(&[1e-12, 0.3], &[2.0, 1.0]);
        check(&[0.0, 0.0, 0.0], &[2.0, 1.0, 0.0]);
        check(&[0.0, 0.0], &[0.0, 0.0]);
        check(&[1.0, 2.0], &[0.0, 0.0]);
        check(&[0.0, 0.0, 1.0], &[1.0, 1.0, 1.0]);
        check(&[0.5, -0.5, 1.0], &[1.0, 1.0, 1.0 - 1e-16]);
    }
}
