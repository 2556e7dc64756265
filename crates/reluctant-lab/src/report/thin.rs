//! Which points of a long curve are drawn: more than a screen has pixels would only make files large.

/// The places of at most `most` (but at least two) of the increasing `rounds`, the first and the last among them: half
/// of them spread evenly, half of them evenly in log t, so that linear and logarithmic axes both have enough. All
/// places if there are no more than `most`.
pub(crate) fn places(rounds: &[u64], most: usize) -> Vec<usize> {
    let (Some(&first), Some(&last)) = (rounds.first(), rounds.last()) else { return Vec::new() };
    if rounds.len() <= most {
        return (0..rounds.len()).collect();
    }
    let half = (most / 2).max(2);
    let share = |i: usize| i as f64 / (half - 1) as f64;
    let even = (0..half).map(|i| i * (rounds.len() - 1) / (half - 1));
    let log = (0..half).map(|i| {
        let round = first as f64 * libm::pow(last as f64 / first as f64, share(i));
        rounds.partition_point(|&t| (t as f64) < round).min(rounds.len() - 1)
    });
    let mut all: Vec<usize> = even.chain(log).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_curves_are_whole_and_long_ones_keep_both_ends() {
        assert_eq!(places(&[], 10), [0usize; 0]);
        assert_eq!(places(&[5, 6, 9], 3), [0, 1, 2]);
        let rounds: Vec<u64> = (1..=1_000_000).collect();
        let kept = places(&rounds, 200);
        assert!(kept.len() <= 200 && kept.len() > 150, "{}", kept.len());
        assert_eq!((kept[0], kept[kept.len() - 1]), (0, 999_999));
        assert!(kept.is_sorted_by(|a, b| a < b));
        // Neither axis has a hole: on the linear one no step is above 2 %, on the other each decade has its points.
        assert!(kept.windows(2).all(|pair| pair[1] - pair[0] <= 20_000));
        for decade in 0..6 {
            let (from, to) = (10u64.pow(decade), 10u64.pow(decade + 1));
            assert!(kept.iter().filter(|&&i| (from..to).contains(&rounds[i])).count() >= 9, "{decade}");
        }
    }
}
