//! Which rounds are checks, and which may be probes ([`super::optimism`] says what for): ever fewer, the more was seen.

/// How many checks there are while the number of observations grows e-fold.
const CHECKS: f64 = 10.0;
/// The first check comes after so many observations. With fewer, some plausible network expects much of nearly every
/// arm, and a check would be a choice at random.
pub(super) const CHECKED_FROM: u64 = 20;
/// The first probe comes after so many observations, the next ones after twice as many each.
const PROBED_FROM: u64 = 4096;

/// Whether the round after `seen` observations is a check.
pub(super) fn is_check(seen: u64) -> bool {
    let n = seen as f64;
    let checks = CHECKS * libm::log(n);
    // One more observation adds at most CHECKS/n: mostly there is no need for a second logarithm.
    seen >= CHECKED_FROM
        && checks.floor() + 1.0 - checks < 1.01 * CHECKS / n
        && (CHECKS * libm::log(n + 1.0)).floor() > checks.floor()
}

/// Whether the round after `seen` observations may be a probe.
pub(super) fn is_probe(seen: u64) -> bool {
    seen >= PROBED_FROM && seen.is_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_become_rare_like_one_over_n() {
        let checks = |from: u64, to: u64| (from..to).filter(|&n| is_check(n)).count() as f64;
        assert_eq!(checks(0, CHECKED_FROM), 0.0);
        for n in [20, 100, 1_000, 100_000] {
            let expected = CHECKS * 10f64.ln();
            assert!((checks(n, 10 * n) - expected).abs() <= 1.5, "{n}: {}", checks(n, 10 * n));
        }
    }

    #[test]
    fn probes_are_twice_as_far_apart_each_time() {
        let probes: Vec<u64> = (0..300_000).filter(|&n| is_probe(n)).collect();
        assert_eq!(probes, [4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144]);
    }
}
