//! The optimistic action on the sphere where neurons have biases: the linear regime then lives on z = (x, 1).
//!
//! Where the units of a pattern s are active the value is θ_s·z + β√(zᵀM_s z), but z is no longer free up to its length,
//! so the trust-region problems of [`super::optimistic_action`] do not apply. An ascent from many starts finds an action in
//! any dimension. In two and three dimensions branch and bound over patches of the sphere then proves how much better any
//! other could be; beyond, nothing is proven, and the certificate says so.
//!
//! *The bound of a patch* with centre c, within the angle ρ and the distance r of it: √q ≤ (q/w + w)/2 for every w > 0, here
//! the width w at c. q is quadratic in x, at most its tangent at c plus λr², λ the greatest eigenvalue of M_s's block of x. So
//! the value is at most a constant plus v·x, and the greatest v·x within ρ of c is ‖v‖·cos(max(0, ∠(v, c) − ρ)): what is
//! lost is of the order r².

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use super::optimistic::OptimisticOptions;
use super::optimum::Optimistic;
use super::patches::Patch;
use crate::choice::Certificate;
use crate::error::{Error, Result};
use crate::frozen::FrozenRelu;
use crate::linalg::{Eigen, axpy, dot, norm, normalise, symmetric_times};
use crate::relu::Pattern;
use crate::rng::{Key, Stream, unit_vector};

/// A patch that more kinks cross is split before it is bounded: every crossing kink doubles its patterns.
const MOST_CROSSINGS: usize = 8;
/// Steps of an ascent.
const STEPS: usize = 60;
/// Samples for every start of an ascent.
const SAMPLES: usize = 32;
/// Random steps after an ascent, and how far the last of them reaches beside the first.
const NARROWING: u32 = 100;
const NARROWEST: f64 = 1e-5;
/// Halvings with which an ascent that crosses a kink comes near to it.
const HALVINGS: usize = 40;

/// The unit x of greatest mean plus `radius` times width, where `regime` lives on (x, 1), among those with |θ̃ᵢ·(x, 1)| ≥ `margin` for
/// every neuron; among all if there is none.
pub fn biased_optimistic_action(
    regime: &FrozenRelu,
    radius: f64,
    margin: f64,
    options: &OptimisticOptions,
) -> Result<Optimistic> {
    let dim = regime.network().dim().saturating_sub(1);
    if dim < 2 {
        return Err(Error::out_of_range("dim", dim, "at least 2"));
    }
    let mut search = Search::new(regime, dim, radius, margin);
    search.start_often(options.starts);
    if search.value == f64::NEG_INFINITY {
        search.margin = 0.0;
        search.start_often(options.starts);
    }
    let certificate = if dim <= 3 { search.prove(options) } else { Certificate::NotCertified };
    let Search { best, value, mean, bounds, models, .. } = search;
    let (width, cells_visited) = (value - mean, models.len() as u64);
    Ok(Optimistic { action: best, value, mean, width, certificate, cells_visited, bounds })
}

/// The model of a pattern: θ_s, M_s and λ.
struct Model {
    theta: Vec<f64>,
    m: Vec<f64>,
    top: f64,
}

struct Search<'a> {
    regime: &'a FrozenRelu,
    dim: usize,
    radius: f64,
    margin: f64,
    models: BTreeMap<Pattern, Model>,
    best: Vec<f64>,
    value: f64,
    mean: f64,
    bounds: usize,
}

impl<'a> Search<'a> {
    fn new(regime: &'a FrozenRelu, dim: usize, radius: f64, margin: f64) -> Self {
        let mut best = vec![0.0; dim];
        best[0] = 1.0;
        let (value, mean) = (f64::NEG_INFINITY, 0.0);
        Search { regime, dim, radius, margin, models: BTreeMap::new(), best, value, mean, bounds: 0 }
    }

    fn model(&mut self, pattern: Pattern) -> &Model {
        let (regime, dim) = (self.regime, self.dim);
        self.models.entry(pattern).or_insert_with(|| {
            let size = dim + 1;
            let mut both = vec![0.0; size + size * size];
            regime.local_model(pattern, &mut both);
            let (theta, m) = both.split_at(size);
            let block: Vec<f64> = m.chunks_exact(size).take(dim).flat_map(|row| &row[..dim]).copied().collect();
            let top = Eigen::new(&block, dim).values.iter().fold(0.0, |top: f64, value| top.max(*value));
            Model { theta: theta.to_vec(), m: m.to_vec(), top }
        })
    }

    /// Mean, width and M_s·z of a pattern's model at x.
    fn at(&mut self, pattern: Pattern, x: &[f64]) -> (f64, f64, Vec<f64>) {
        let (radius, z) = (self.radius, lifted(x));
        let model = self.model(pattern);
        let mut product = vec![0.0; z.len()];
        symmetric_times(&model.m, &z, &mut product);
        (dot(&model.theta, &z), radius * dot(&z, &product).max(0.0).sqrt(), product)
    }

    /// Keeps x if it is the best in the region.
    fn offer(&mut self, x: &[f64]) {
        let z = lifted(x);
        if self.margin > 0.0 && !self.regime.network().in_region(&z, self.margin) {
            return;
        }
        let (mean, width, _) = self.at(self.regime.network().pattern(&z), x);
        if mean + width > self.value {
            (self.value, self.mean) = (mean + width, mean);
            self.best.copy_from_slice(x);
        }
    }

    /// From the best of many samples in each pattern, the best patterns first.
    fn start_often(&mut self, starts: usize) {
        let (mut stream, mut x) = (Key::new(0).stream(), vec![0.0; self.dim]);
        let mut best: BTreeMap<Pattern, (f64, Vec<f64>)> = BTreeMap::new();
        for _ in 0..SAMPLES * starts.max(1) {
            unit_vector(&mut stream, &mut x);
            self.offer(&x);
            let pattern = self.regime.network().pattern(&lifted(&x));
            let (mean, width, _) = self.at(pattern, &x);
            let known = best.entry(pattern).or_insert((f64::NEG_INFINITY, Vec::new()));
            if mean + width > known.0 {
                *known = (mean + width, x.clone());
            }
        }
        let mut order: Vec<(f64, Vec<f64>)> = best.into_values().collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (value, start) in order.into_iter().take(starts.max(1)) {
            self.ascend(start.clone());
            self.narrow(value, start, &mut stream);
        }
    }

    /// Optima that lie on kinks are not where an ascent ends: random steps that become shorter.
    fn narrow(&mut self, mut value: f64, mut from: Vec<f64>, stream: &mut Stream) {
        let mut x = vec![0.0; self.dim];
        for step in 0..NARROWING {
            let reach = libm::pow(NARROWEST, f64::from(step) / f64::from(NARROWING));
            unit_vector(stream, &mut x);
            x.iter_mut().zip(&from).for_each(|(x, from)| *x = from + 0.5 * reach * *x);
            if normalise(&mut x) {
                self.offer(&x);
                let (mean, width, _) = self.at(self.regime.network().pattern(&lifted(&x)), &x);
                if mean + width > value {
                    value = mean + width;
                    from.copy_from_slice(&x);
                }
            }
        }
    }

    /// The width is convex, so each step maximises a lower bound of the pattern's value that touches at the last point. Where a step
    /// crosses a kink, the last point before it counts, too.
    fn ascend(&mut self, mut x: Vec<f64>) {
        for _ in 0..STEPS {
            self.offer(&x);
            let pattern = self.regime.network().pattern(&lifted(&x));
            let (_, width, product) = self.at(pattern, &x);
            let (radius, dim) = (self.radius, self.dim);
            let mut next = self.model(pattern).theta[..dim].to_vec();
            if width > 0.0 {
                axpy(radius * radius / width, &product[..dim], &mut next);
            }
            if !normalise(&mut next) {
                return;
            }
            if self.regime.network().pattern(&lifted(&next)) != pattern {
                self.approach(&x, &next, pattern);
            }
            let moved = next.iter().zip(&x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            x = next;
            if moved < 1e-13 {
                return;
            }
        }
    }

    /// The last point between two that keeps the pattern and, if there is a margin, the region.
    fn approach(&mut self, from: &[f64], to: &[f64], pattern: Pattern) {
        let net = self.regime.network();
        let between = |share: f64| {
            let mut x: Vec<f64> = from.iter().zip(to).map(|(a, b)| a + share * (b - a)).collect();
            normalise(&mut x);
            x
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let z = lifted(&between(middle));
            if net.pattern(&z) == pattern && net.in_region(&z, self.margin) { low = middle } else { high = middle }
        }
        self.offer(&between(low));
    }

    /// Branch and bound over patches.
    fn prove(&mut self, options: &OptimisticOptions) -> Certificate {
        let mut queue: BinaryHeap<Open> = BinaryHeap::new();
        for patch in Patch::cover(self.dim) {
            self.push(patch, f64::INFINITY, &mut queue);
        }
        while let Some(Open { bound, patch }) = queue.pop() {
            let gap = (bound - self.value).max(0.0);
            if gap <= options.tolerance {
                return Certificate::ProvenWithin(gap);
            }
            if self.bounds >= options.max_bounds {
                return Certificate::Gap(gap);
            }
            let before = self.value;
            for part in patch.split() {
                self.offer(part.centre());
                self.push(part, bound, &mut queue);
            }
            if self.value > before {
                self.ascend(self.best.clone());
            }
        }
        Certificate::Exact
    }

    /// Puts a patch in the queue if it meets the region; a part is never better than the whole.
    fn push(&mut self, patch: Patch, whole: f64, queue: &mut BinaryHeap<Open>) {
        if let Some(bound) = self.bound(&patch) {
            self.bounds += 1;
            queue.push(Open { bound: bound.min(whole), patch });
        }
    }

    /// No action of the patch has a greater value; `None` if none of them lies in the region.
    fn bound(&mut self, patch: &Patch) -> Option<f64> {
        let (centre, reach) = (patch.centre().to_vec(), patch.reach());
        let (mut pattern, mut crossing) = (0, Vec::new());
        let z = lifted(&centre);
        for (i, theta) in self.regime.network().iter().enumerate() {
            let (input, moves) = (dot(theta, &z), norm(&theta[..self.dim]) * reach);
            if input.abs() + moves < self.margin {
                return None;
            }
            if input.abs() <= moves {
                crossing.push(i);
            } else if input > 0.0 {
                pattern |= 1 << i;
            }
        }
        if crossing.len() > MOST_CROSSINGS {
            return Some(f64::INFINITY);
        }
        let pattern_of = |subset: usize| {
            let on = crossing.iter().enumerate().filter(|(bit, _)| subset >> bit & 1 == 1);
            on.fold(pattern, |pattern, (_, i)| pattern | 1 << i)
        };
        let bounds: Vec<f64> =
            (0..1 << crossing.len()).map(|subset| self.pattern_bound(pattern_of(subset), patch)).collect();
        bounds.into_iter().reduce(f64::max)
    }

    fn pattern_bound(&mut self, pattern: Pattern, patch: &Patch) -> f64 {
        let (centre, reach, angle, dim, radius) = (patch.centre(), patch.reach(), patch.angle(), self.dim, self.radius);
        let (mean, width, product) = self.at(pattern, centre);
        let model = self.model(pattern);
        let (theta, spread) = (&model.theta[..dim], radius * model.top.sqrt() * reach);
        let cap = |v: &[f64]| {
            let length = norm(v);
            let away = if length > 0.0 { libm::acos((dot(v, centre) / length).clamp(-1.0, 1.0)) } else { 0.0 };
            length * libm::cos((away - angle).max(0.0)) - dot(v, centre)
        };
        // The width changes by at most √λ·r; or, bounded by its square, as the file says.
        let first = mean + width + cap(theta) + spread;
        if width <= 0.0 {
            return first;
        }
        let mut v = theta.to_vec();
        axpy(radius * radius / width, &product[..dim], &mut v);
        first.min(mean + width + cap(&v) + spread * spread / (2.0 * width))
    }
}

/// A patch that may hold something better, ordered by its bound.
struct Open {
    bound: f64,
    patch: Patch,
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Open {}
impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound)
    }
}

/// (x, 1).
fn lifted(x: &[f64]) -> Vec<f64> {
    x.iter().copied().chain([1.0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relu::ReluNet;
    use crate::rng::normal;

    fn regime(dim: usize, neurons: usize, seed: u64) -> FrozenRelu {
        let mut stream = Key::new(seed).stream();
        let mut net = ReluNet::random(dim + 1, neurons, &mut stream);
        // Kinks that cut the sphere: biases smaller than the rest.
        net.layers_mut().0.chunks_exact_mut(dim + 1).for_each(|row| row[dim] *= 0.3);
        let mut regime = FrozenRelu::new(net.directions(), 0.1);
        let mut x = vec![0.0; dim];
        for _ in 0..40 {
            unit_vector(&mut stream, &mut x);
            regime.update(&lifted(&x), normal(&mut stream));
        }
        regime
    }

    /// Mean plus width at x, from the features themselves.
    fn value(regime: &FrozenRelu, radius: f64, x: &[f64]) -> f64 {
        let z = lifted(x);
        let mut phi = vec![0.0; regime.ellipsoid().dim()];
        regime.network().phi(&z, &mut phi);
        regime.ellipsoid().mean(&phi) + radius * regime.ellipsoid().squared_width(&phi).sqrt()
    }

    /// By how much the best of many samples exceeds what was found.
    fn missed(regime: &FrozenRelu, margin: f64, found: &Optimistic) -> f64 {
        assert!((norm(&found.action) - 1.0).abs() < 1e-12);
        assert!((value(regime, 0.5, &found.action) - found.value).abs() < 1e-9);
        let (mut stream, mut x) = (Key::new(100).stream(), vec![0.0; found.action.len()]);
        let mut most = f64::NEG_INFINITY;
        for _ in 0..4000 {
            unit_vector(&mut stream, &mut x);
            if regime.network().in_region(&lifted(&x), margin) {
                most = most.max(value(regime, 0.5, &x) - found.value);
            }
        }
        most
    }

    const OPTIONS: OptimisticOptions =
        OptimisticOptions { tolerance: 1e-5, max_cells: 1 << 14, max_bounds: 4000, starts: 32 };

    #[test]
    fn no_sample_exceeds_what_the_certificate_allows() {
        let mut proven = 0;
        for seed in 0..12 {
            for (dim, neurons, margin) in [(2, 3, 0.0), (2, 4, 0.05), (3, 3, 0.0), (3, 4, 0.05)] {
                let regime = regime(dim, neurons, seed);
                let found = biased_optimistic_action(&regime, 0.5, margin, &OPTIONS).unwrap();
                let gap = found.certificate.gap().unwrap();
                assert!(missed(&regime, margin, &found) <= gap + 1e-9, "{dim} {seed} {gap}");
                proven += u32::from(gap <= 1e-3);
            }
        }
        assert!(proven >= 44, "{proven} of 48");
    }

    #[test]
    fn in_four_dimensions_nothing_is_proven_and_hardly_anything_missed() {
        let mut good = 0;
        for seed in 0..12 {
            let regime = regime(4, 3, seed);
            let found = biased_optimistic_action(&regime, 0.5, 0.0, &OPTIONS).unwrap();
            assert_eq!(found.certificate, Certificate::NotCertified);
            good += u32::from(missed(&regime, 0.0, &found) < 0.05 * found.value.abs());
        }
        assert!(good >= 10, "{good} of 12");
        let line = FrozenRelu::new(ReluNet::new(2, vec![1.0, 0.0]).unwrap(), 1.0);
        assert!(biased_optimistic_action(&line, 0.5, 0.0, &OPTIONS).is_err());
    }
}
