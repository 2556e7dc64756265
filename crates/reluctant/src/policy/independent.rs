//! Which of several independent normal values is the greatest, and with which probability.
//!
//! P(value a is the greatest) = ∫ f_a(v) Π_(b≠a) F_b(v) dv, with densities f and distribution functions F. Each factor
//! changes only within a few standard deviations of its mean, so the line is cut there into pieces of half a standard
//! deviation, and each piece is integrated by a Gauss–Legendre rule. One pass over the pieces serves all values.

use crate::choice::{Score, argmax};

/// Beyond so many standard deviations a normal value is not met: the probability is below 2e-17.
const FAR: f64 = 8.5;

/// Pieces on either side of a mean. Each is half a standard deviation long.
const PIECES: i32 = 17;

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
    let certain = scores.iter().map(|score| if score.width > 0.0 { f64::NAN } else { score.mean });
    let floor = argmax(certain);
    let lowest = floor.map_or(f64::NEG_INFINITY, |floor| scores[floor].mean);
    if let Some(floor) = floor {
        out[floor] = others_below(scores, lowest, None);
    }
    let mut cuts = Vec::new();
    // Where one value surely lies above, no other is the greatest.
    let spread = scores.iter().filter(|score| score.width > 0.0);
    let start = spread.clone().fold(lowest, |start, score| start.max(score.mean - FAR * score.width));
    for score in spread {
        let piece = FAR / f64::from(PIECES) * score.width;
        cuts.extend((-PIECES..=PIECES).map(|i| score.mean + f64::from(i) * piece).filter(|cut| *cut > start));
    }
    cuts.push(start);
    cuts.sort_unstable_by(f64::total_cmp);
    for ends in cuts.windows(2) {
        let (centre, half) = (0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0]));
        if half > 0.0 {
            let nodes = NODES.iter().flat_map(|(x, w)| [(*x, *w), (-*x, *w)]).skip(1);
            nodes.for_each(|(x, w)| add_node(scores, centre + half * x, half * w, out));
        }
    }
    let total: f64 = out.iter().sum();
    out.iter_mut().for_each(|p| *p = (*p / total).min(1.0));
}

/// Adds `weight` times the integrand at `v` for every value that has a spread.
fn add_node(scores: &[Score], v: f64, weight: f64, out: &mut [f64]) {
    for (a, Score { mean, width }) in scores.iter().enumerate() {
        if *width > 0.0 && (v - mean).abs() <= FAR * width {
            let z = (v - mean) / width;
            let density = libm::exp(-0.5 * z * z) / (width * (2.0 * std::f64::consts::PI).sqrt());
            out[a] += weight * density * others_below(scores, v, Some(a));
        }
    }
}

/// The probability that all values with a spread, but `besides`, lie below v.
fn others_below(scores: &[Score], v: f64, besides: Option<usize>) -> f64 {
    let counted = scores.iter().enumerate().filter(|(b, score)| Some(*b) != besides && score.width > 0.0);
    counted.fold(
        1.0,
        |product, (_, Score { mean, width })| {
            if product == 0.0 { 0.0 } else { product * below((v - mean) / width) }
        },
    )
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

    #[test]
    fn values_without_spread_are_floors() {
        assert_eq!(found(&[(0.3, 0.0), (0.5, 0.0), (0.5, 0.0)]), [0.0, 1.0, 0.0]);
        let out = found(&[(1.0, 0.0), (0.0, 2.0), (-5.0, 0.0)]);
        assert!((out[0] - below(0.5)).abs() < 1e-9 && (out[1] - below(-0.5)).abs() < 1e-9 && out[2] == 0.0, "{out:?}");
        assert_eq!(found(&[(7.0, 3.0)]), [1.0]);
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
