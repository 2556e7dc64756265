//! A table that numbers activation patterns in the order in which they are met.

use crate::relu::Pattern;

/// Marks an empty place.
const EMPTY: u32 = u32::MAX;

/// Numbers patterns 0, 1, 2, … as they are met. Open addressing, at most half full, its memory kept from round to
/// round.
#[derive(Debug, Default, Clone)]
pub(crate) struct PatternTable {
    keys: Vec<Pattern>,
    numbers: Vec<u32>,
    met: u32,
    shift: u32,
    /// The newest lookup: neighbouring arms often share it.
    last: (Pattern, u32),
}

impl PatternTable {
    /// Forgets all patterns and makes room for `most` different ones.
    pub(crate) fn clear(&mut self, most: usize) {
        let places = (2 * most).next_power_of_two().max(2);
        self.shift = 64 - places.trailing_zeros();
        self.keys.resize(places, 0);
        self.numbers.clear();
        self.numbers.resize(places, EMPTY);
        self.met = 0;
        self.last = (0, EMPTY);
    }

    /// The number of `pattern`: the next free one if it is met for the first time.
    #[inline]
    pub(crate) fn find_or_insert(&mut self, pattern: Pattern) -> usize {
        if self.last.0 == pattern && self.last.1 != EMPTY {
            return self.last.1 as usize;
        }
        // Fibonacci hashing, then the next free place.
        let mut place = (pattern.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        while self.numbers[place] != EMPTY && self.keys[place] != pattern {
            place = (place + 1) % self.keys.len();
        }
        if self.numbers[place] == EMPTY {
            self.keys[place] = pattern;
            self.numbers[place] = self.met;
            self.met += 1;
        }
        self.last = (pattern, self.numbers[place]);
        self.numbers[place] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_follow_first_appearance(patterns in prop::collection::vec(0u64..40, 1..200), high in any::<bool>()) {
            let mut table = PatternTable::default();
            for _ in 0..2 {
                table.clear(patterns.len());
                let mut seen: Vec<u64> = Vec::new();
                for &p in &patterns {
                    let p = if high { p << 58 | p } else { p };
                    let expected = seen.iter().position(|&s| s == p).unwrap_or_else(|| {
                        seen.push(p);
                        seen.len() - 1
                    });
                    prop_assert_eq!(table.find_or_insert(p), expected);
                }
            }
        }
    }
}
