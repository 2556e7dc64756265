//! Mean and spread of columns over the rows seen so far, at any moment of a walk.
//!
//! Welford's recurrence, kept every [`STRIDE`] rows and replayed from there: the state after t rows is the same to the
//! bit whichever was asked for before.

/// After how many rows the state is kept. To replay half as many on average costs about a microsecond for ten columns,
/// and what is kept is a twentieth of the table.
const STRIDE: usize = 64;

/// The state after every [`STRIDE`] rows.
#[derive(Debug, Clone)]
pub(super) struct Moments {
    width: usize,
    kept: Vec<f64>,
}

/// The state after some rows, column for column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    /// How many values there were.
    count: &'a [f64],
    mean: &'a [f64],
    /// The sum of squared distances from the mean.
    spread: &'a [f64],
}

impl Moments {
    /// The moments of `width` columns along `rows`.
    pub(super) fn new<'a>(width: usize, rows: impl ExactSizeIterator<Item = &'a [f64]>) -> Self {
        let mut kept = Vec::with_capacity((rows.len() / STRIDE + 1) * 3 * width);
        let mut state = vec![0.0; 3 * width];
        kept.extend_from_slice(&state);
        for (row, seen) in rows.zip(1..) {
            see(&mut state, row);
            if seen % STRIDE == 0 {
                kept.extend_from_slice(&state);
            }
        }
        Moments { width, kept }
    }

    /// Appends the state after the first `seen` rows to `out`, and gives the length of it. `row` gives the row with an
    /// index.
    pub(super) fn after<'a>(&self, seen: usize, row: impl Fn(usize) -> &'a [f64], out: &mut Vec<f64>) -> usize {
        let (size, from) = (3 * self.width, out.len());
        let nearest = seen / STRIDE;
        out.extend_from_slice(&self.kept[nearest * size..][..size]);
        (nearest * STRIDE..seen).for_each(|index| see(&mut out[from..], row(index)));
        size
    }
}

impl<'a> Seen<'a> {
    /// Reads what [`Moments::after`] wrote.
    pub(super) fn new(state: &'a [f64]) -> Self {
        let width = state.len() / 3;
        Seen { count: &state[..width], mean: &state[width..2 * width], spread: &state[2 * width..] }
    }

    /// The mean of a column, 0 before anything was seen.
    pub(super) fn mean(self, column: usize) -> f64 {
        self.mean[column]
    }

    /// How many standard deviations a value is from the mean; 0 where there is no deviation yet.
    pub(super) fn standard(self, column: usize, x: f64) -> f64 {
        let deviation = (self.spread[column] / self.count[column]).sqrt();
        // Also false for the 0/0 of a column without values.
        if deviation > 0.0 { (x - self.mean[column]) / deviation } else { 0.0 }
    }
}

/// Takes in one more row; NaN counts for nothing.
fn see(state: &mut [f64], row: &[f64]) {
    let (count, rest) = state.split_at_mut(row.len());
    let (mean, spread) = rest.split_at_mut(row.len());
    for (((x, count), mean), spread) in row.iter().zip(count).zip(mean).zip(spread) {
        if !x.is_nan() {
            *count += 1.0;
            let distance = x - *mean;
            *mean += distance / *count;
            *spread += distance * (x - *mean);
        }
    }
}
