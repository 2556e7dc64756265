//! A walk through the rows of a table in some order, with the features of each round.

use super::Table;
use super::encode::Slot;
use super::moments::{Moments, Seen};
use super::options::Numbers;

/// Standardised values are not larger in size than this: a value this far out says no more than that it is far out, and
/// should not outweigh all others.
pub const STANDARD_CLIP: f64 = 10.0;

/// The rows of a table in some order, one each round.
///
/// What a round shows depends on the order and the round alone, and on no later round. Threads can share a walk and ask
/// for rounds in any order; the bits are the same.
#[derive(Debug, Clone)]
pub struct Walk {
    table: Table,
    order: Vec<u32>,
    /// Only where features depend on what was seen before.
    moments: Option<Moments>,
}

impl Walk {
    /// A walk in the given order, such as [`Table::order`] gives; rows may be left out and may come again.
    pub fn new(table: Table, order: Vec<u32>) -> reluctant::Result<Self> {
        let rows = table.rows();
        if let Some(row) = order.iter().find(|row| **row as usize >= rows) {
            return Err(reluctant::Error::out_of_range("row of the order", row, format!("the table has {rows} rows")));
        }
        let needed = table.scaling() == Numbers::Standard || table.has_holes();
        let moments = needed.then(|| {
            let rows = order.iter().map(|row| table.numbers(*row));
            Moments::new(table.number_width(), rows)
        });
        Ok(Walk { table, order, moments })
    }

    /// How many rounds there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no round.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The row of round `t`, from 1; none after the last round.
    pub fn row(&self, t: u64) -> Option<u32> {
        let index = usize::try_from(t.checked_sub(1)?).ok()?;
        self.order.get(index).copied()
    }

    /// The features of round `t`, from 1, in place of what `out` holds, and their row. After the last round there are
    /// none.
    ///
    /// Nothing is allocated once `out` has its size.
    pub fn features(&self, t: u64, out: &mut Vec<f64>) -> Option<u32> {
        out.clear();
        let row = self.row(t)?;
        let numbers = self.table.numbers(row);
        // The moments are kept at the front of `out` while features are written behind them.
        let front = match &self.moments {
            Some(moments) if self.table.scaling() == Numbers::Standard || numbers.iter().any(|x| x.is_nan()) => {
                moments.after(t as usize, |index| self.table.numbers(self.order[index]), out)
            }
            _ => 0,
        };
        for slot in self.table.slots() {
            match *slot {
                Slot::Number(at) => {
                    let x = self.number(at, numbers[at], &out[..front]);
                    out.push(x);
                }
                Slot::OneHot { at, size } => {
                    let start = out.len();
                    out.resize(start + size, 0.0);
                    out[start + self.table.codes(row)[at] as usize] = 1.0;
                }
            }
        }
        out.drain(..front);
        if self.table.scaling() == Numbers::Unit {
            scale_to_unit(out);
        }
        Some(row)
    }

    /// A number as a feature, given the moments where they are needed.
    fn number(&self, at: usize, x: f64, moments: &[f64]) -> f64 {
        match self.table.scaling() {
            Numbers::Standard if x.is_nan() => 0.0,
            Numbers::Standard => Seen::new(moments).standard(at, x).clamp(-STANDARD_CLIP, STANDARD_CLIP),
            Numbers::Raw | Numbers::Unit if x.is_nan() => Seen::new(moments).mean(at),
            Numbers::Raw | Numbers::Unit => x,
        }
    }
}

/// Scales a vector to length 1, unless it is zero.
fn scale_to_unit(x: &mut [f64]) {
    // First by the largest entry, so that squares neither vanish nor overflow.
    let largest = x.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if largest > 0.0 {
        x.iter_mut().for_each(|x| *x /= largest);
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        x.iter_mut().for_each(|x| *x /= length);
    }
}
