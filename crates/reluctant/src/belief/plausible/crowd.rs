//! How many networks there are, and how their number falls as data comes.

use super::constants::{CROWD, CROWDED};

/// How many networks there are after `seen` observations if `kept` are kept in the long run.
pub(super) fn crowd(kept: usize, seen: u64) -> usize {
    let most = CROWD * kept;
    (most as u64 * CROWDED / seen.max(CROWDED)).max(kept as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_becomes_smaller_as_data_comes() {
        let counts: Vec<usize> = [0, 32, 64, 128, 10_000].map(|seen| crowd(32, seen)).to_vec();
        assert_eq!(counts, [128, 128, 64, 32, 32]);
    }
}
