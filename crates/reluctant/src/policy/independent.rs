//! Which of several independent normal values is the greatest, and with which probability.
//!
//! P(value a is the greatest) = ∫ f_a(v) Π_(b≠a) F_b(v) dv, with densities f and distribution functions F. Each factor
//! changes only within a few standard deviations of its mean, so the line is cut there into pieces of half a standard
//! deviation, and each piece is integrated by a Gauss–Legendre rule. One pass over the pieces serves all values: at a
//! node the products of all factors but one come from those of the factors before and after it. So the time grows like
//! the number of values where their spreads are alike.

use crate::choice::{Score, argmax};

/// Beyond so many standard deviations a normal value is not met: the probability is below 2e-17.
const FAR: f64 = 8.5;

/// Pieces on either side of a mean. Each is half a standard deviation long.
const PIECES: i32 = 17;

/// Cuts for one value that are nearer to those for another than this share of the least standard deviation are left
/// out: pieces are then at most three quarters of a standard deviation long, and a thousand values need no more of them
/// than a few do.
const SHORTEST: f64 = 0.25;

/// Nodes and weights of the Gauss–Legendre rule with five nodes on [−1, 1], from 0 on.
const NODES: [(f64, f64); 3] = [
    (0.0, 128.0 / 225.0),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.906_179_845_938_664, 0.236_926_885_056_189_08),
];

/// The probability of each to be the greatest, if values are normal with these means and, as standard deviations,
/// widths; into `out`. Among values without any spread the first of the greatest counts.
pub(super) fn greatest(scores: &[Score], out: &mut Vec<f64>) {
    out.clear();
    out.resize(scores.len(), 0.0);
    // A value without spread is a floor under all others.
    let certain = scores.iter().map(|score| if is_spread(score) { f64::NAN } else { score.mean });
    let floor = argmax(certain);
    let lowest = floor.map_or(f64::NEG_INFINITY, |floor| scores[floor].mean);
    if let Some(floor) = floor {
        out[floor] = all_below(scores, lowest);
    }
    // Where one value surely lies above, no other is the greatest.
    let mut rivals: Vec<_> = scores.iter().copied().enumerate().filter(|(_, score)| is_spread(score)).collect();
    let start = rivals.iter().fold(lowest, |start, (_, score)| start.max(score.mean - FAR * score.width));
    rivals.retain(|(_, score)| score.mean + FAR * score.width > start);
    let (mut below, mut later) = (Vec::new(), Vec::new());
    for ends in cuts(&rivals, start).windows(2) {
        let (centre, half) = (0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0]));
        for (x, w) in NODES.iter().flat_map(|(x, w)| [(*x, *w), (-*x, *w)]).skip(1) {
            add_node(&rivals, centre + half * x, half * w, (&mut below, &mut later), out);
        }
    }
    let total: f64 = out.iter().sum();
    out.iter_mut().for_each(|p| *p = (*p / total).min(1.0));
}

/// Whether draws of a value differ, in the precision that numbers have.
fn is_spread(score: &Score) -> bool {
    score.mean + SHORTEST * score.width > score.mean
}

/// Where the line is cut, from `start` on.
fn cuts(rivals: &[(usize, Score)], start: f64) -> Vec<f64> {
    let mut cuts = vec![start];
    for (_, score) in rivals {
        let piece = FAR / f64::from(PIECES) * score.width;
        cuts.extend((-PIECES..=PIECES).map(|i| score.mean + f64::from(i) * piece).filter(|cut| *cut > start));
    }
    cuts.sort_unstable_by(f64::total_cmp);
    let narrowest = rivals.iter().fold(f64::INFINITY, |least, (_, score)| least.min(score.width));
    cuts.dedup_by(|next, kept| *next - *kept <= SHORTEST * narrowest);
    cuts
}

/// Adds `weight` times the integrand at `v` for every rival, each with its number; with two buffers.
fn add_node(
    rivals: &[(usize, Score)],
    v: f64,
    weight: f64,
    (below, later): (&mut Vec<f64>, &mut Vec<f64>),
    out: &mut [f64],
) {
    below.clear();
    below.extend(rivals.iter().map(|(_, score)| self::below((v - score.mean) / score.width)));
    // The product of all but one is that of those before it times that of those after it.
    later.clear();
    later.resize(rivals.len() + 1, 1.0);
    for i in (0..rivals.len()).rev() {
        later[i] = later[i + 1] * below[i];
    }
    let mut earlier = 1.0;
    for (i, (number, Score { mean, width })) in rivals.iter().enumerate() {
        let z = (v - mean) / width;
        if z.abs() <= FAR {
            let density = libm::exp(-0.5 * z * z) / (width * (2.0 * std::f64::consts::PI).sqrt());
            out[*number] += weight * density * earlier * later[i + 1];
        }
        earlier *= below[i];
    }
}

/// The probability that all values with a spread lie below v.
fn all_below(scores: &[Score], v: f64) -> f64 {
    scores.iter().filter(|score| is_spread(score)).map(|score| below((v - score.mean) / score.width)).product()
}

/// The probability that the first of two values is the greatest, given the mean and standard deviation of their
/// difference.
pub(super) fn first_of_two(difference: Score) -> f64 {
    let Score { mean, width } = difference;
    if width > 0.0 { below(mean / width) } else { f64::from(u8::from(mean >= 0.0)) }
}

/// The standard normal distribution function.
fn below(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, normal};

    fn scores(given: &[(f64, f64)]) -> Vec<Score> {
        given.iter().map(|(mean, width)| Score { mean: *mean, width: *width }).collect()
    }

    fn found(given: &[(f64, f64)]) -> Vec<f64> {
        let mut out = Vec::new();
        greatest(&scores(given), &mut out);
        out
    }

    #[test]
    fn two_values_have_a_formula() {
        for (a, b) in
            [((0.0, 1.0), (0.0, 1.0)), ((1.0, 0.3), (0.2, 2.0)), ((5.0, 1e-6), (5.0, 1.0)), ((0.0, 1.0), (9.0, 1.0))]
        {
            let expected = below((a.0 - b.0) / libm::hypot(a.1, b.1));
            let out = found(&[a, b]);
            assert!((out[0] - expected).abs() < 1e-9 && (out[0] + out[1] - 1.0).abs() < 1e-12, "{out:?} {expected}");
        }
    }

    /// P(a is the greatest) by the trapezoidal rule, straight from the definition.
    fn plain(given: &[(f64, f64)], a: usize) -> f64 {
        let (mean, width) = given[a];
        let steps = 20_000;
        let step = 2.0 * FAR / f64::from(steps);
        let at = |z: f64| {
            let v = mean + z * width;
            let others = given.iter().enumerate().filter(|(b, _)| *b != a).map(|(_, (m, s))| below((v - m) / s));
            libm::exp(-0.5 * z * z) / (2.0 * std::f64::consts::PI).sqrt() * others.product::<f64>()
        };
        (0..=steps).map(|i| step * at(step * f64::from(i) - FAR)).sum()
    }

    #[test]
    fn many_values_alike_and_not_are_as_the_definition_says() {
        let mut stream = Key::new(6).stream();
        let mut normals = |scale: f64| scale * normal(&mut stream);
        let alike: Vec<(f64, f64)> = (0..40).map(|_| (normals(0.3), 1.0 + normals(0.1).abs())).collect();
        let unlike: Vec<(f64, f64)> = (0..40).map(|_| (normals(1.0), libm::exp(normals(1.0)))).collect();
        for given in [alike, unlike] {
            let out = found(&given);
            for a in 0..given.len() {
                assert!((out[a] - plain(&given, a)).abs() < 1e-9, "{a}: {} is not {}", out[a], plain(&given, a));
            }
        }
    }

    #[test]
    fn a_thousand_values_alike_need_few_pieces() {
        let rivals: Vec<_> = scores(&[(0.0, 1.0); 1000]).into_iter().enumerate().collect();
        let shifted: Vec<_> = rivals.iter().map(|(i, s)| (*i, Score { mean: *i as f64 * 1e-3, ..*s })).collect();
        assert!(cuts(&shifted, -8.0).len() < 100);
    }

    #[test]
    fn values_without_spread_are_floors() {
        assert_eq!(found(&[(0.3, 0.0), (0.5, 0.0), (0.5, 0.0)]), [0.0, 1.0, 0.0]);
        let out = found(&[(1.0, 0.0), (0.0, 2.0), (-5.0, 0.0)]);
        assert!((out[0] - below(0.5)).abs() < 1e-9 && (out[1] - below(-0.5)).abs() < 1e-9 && out[2] == 0.0, "{out:?}");
        assert_eq!(found(&[(7.0, 3.0)]), [1.0]);
        // Nor is there a spread that rounding leaves nothing of.
        assert_eq!(found(&[(1.0, 1e-20), (1.0, 1e-18), (0.5, 0.0)]), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn many_values_are_as_often_the_greatest_as_draws_are() {
        let given = [(0.0, 1.0), (0.5, 0.2), (0.4, 0.01), (-1.0, 2.0), (0.1, 0.5)];
        let (out, n) = (found(&given), 100_000);
        let (mut stream, mut counts) = (Key::new(5).stream(), [0.0; 5]);
        for _ in 0..n {
            let best = argmax(given.iter().map(|(mean, width)| mean + width * normal(&mut stream)));
            counts[best.unwrap_or(0)] += 1.0 / f64::from(n);
        }
        for (count, p) in counts.iter().zip(&out) {
            assert!((count - p).abs() < 5.0 * (p * (1.0 - p) / f64::from(n)).sqrt(), "{counts:?} {out:?}");
        }
    }
}
