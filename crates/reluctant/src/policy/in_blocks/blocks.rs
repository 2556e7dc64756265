//! Where a row has its numbers: rows of d numbers, cut into blocks of one width.

/// The places of the first and the last number of a row that is not 0; `None` for zeros alone.
pub(super) fn span(row: &[f64]) -> Option<(usize, usize)> {
    let is_number = |x: &f64| *x != 0.0;
    Some((row.iter().position(is_number)?, row.iter().rposition(is_number)?))
}

/// The least width, at least 2, by which rows of `dim` numbers fall into at least two blocks and every span lies
/// within one of them.
pub(super) fn width(dim: usize, spans: impl Iterator<Item = (usize, usize)> + Clone) -> Option<usize> {
    let fits = |width: &usize| spans.clone().all(|(first, last)| first / width == last / width);
    (2..=dim / 2).filter(|width| dim.is_multiple_of(*width)).find(fits)
}

/// The block that has a row's numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Block<'a> {
    /// Which of the blocks it is.
    pub number: usize,
    /// The numbers there.
    pub context: &'a [f64],
}

/// The block of a row, for blocks of this width; `None` if the row has numbers in several. Zeros are a block of their
/// own, after all others: an arm that does nothing.
pub(super) fn block(row: &[f64], width: usize) -> Option<Block<'_>> {
    let Some((first, last)) = span(row) else {
        return Some(Block { number: row.len() / width, context: &row[..width] });
    };
    let number = first / width;
    (last / width == number).then(|| Block { number, context: &row[number * width..][..width] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_width_that_fits_is_found() {
        let found = |dim, spans: &[(usize, usize)]| width(dim, spans.iter().copied());
        assert_eq!(found(20, &[(0, 9), (10, 19)]), Some(10));
        assert_eq!(found(20, &[(0, 9), (9, 10)]), None);
        assert_eq!(found(12, &[(1, 2), (7, 8)]), Some(3));
        assert_eq!(found(12, &[(1, 2), (7, 9)]), Some(6));
        // Prime, or too short.
        assert_eq!(found(7, &[(0, 1)]), None);
        assert_eq!(found(3, &[(0, 1)]), None);
        assert_eq!(found(4, &[]), Some(2));
    }

    #[test]
    fn a_row_is_in_one_block_or_in_none() {
        let row = [0.0, 0.0, 0.0, 5.0, 0.0, 7.0];
        assert_eq!(block(&row, 3), Some(Block { number: 1, context: &[5.0, 0.0, 7.0] }));
        assert_eq!(block(&row, 2), None);
        assert_eq!(block(&[0.0; 6], 2), Some(Block { number: 3, context: &[0.0; 2] }));
    }
}
