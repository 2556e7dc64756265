//! Which rounds are checks: in these other networks are searched, and `plausible` plays what the most hopeful of all
//! expect most of. Ever fewer, the more was seen.

use super::constants::{CHECKED_FROM, CHECKS};

/// Whether the round after `seen` observations is a check.
pub(super) fn is_check(seen: u64) -> bool {
    let n = seen as f64;
    let checks = CHECKS * libm::log(n);
    // One more observation adds at most CHECKS/n: mostly there is no need for a second logarithm.
    seen >= CHECKED_FROM
        && checks.floor() + 1.0 - checks < 1.01 * CHECKS / n
        && (CHECKS * libm::log(n + 1.0)).floor() > checks.floor()
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
}
