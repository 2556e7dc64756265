//! Numbers in a text, such as "-1, 1": lists have no other form in a file, where a list is a grid.

use crate::error::{Error, Result};

/// The numbers in a text.
pub(super) fn number_list(name: &'static str, text: &str) -> Result<Vec<f64>> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    numbers.ok_or_else(|| Error::out_of_range(name, text, "numbers with commas between them, such as \"-1, 1\""))
}
