//! How many networks there are, and how their number falls as data comes.

/// While data is scarce fits are cheap, and the mean of a few networks would lean to one side by chance: until
/// `CROWDED` observations there are `CROWD` times as many, and then ever fewer.
const CROWD: usize = 4;
const CROWDED: u64 = 32;

/// The most networks that can be kept, and the most there ever are.
pub(super) const MOST_NETWORKS: usize = 1000;
pub(super) const LARGEST_CROWD: usize = CROWD * MOST_NETWORKS;

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
