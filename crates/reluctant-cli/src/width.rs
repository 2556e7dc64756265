//! How wide the terminal is.

/// The columns of the terminal that reads standard output; what the variable COLUMNS says comes first. `None` where
/// neither is known, as in a pipe.
pub(crate) fn columns() -> Option<usize> {
    let named = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|&columns| columns > 0);
    named.or_else(|| terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0)))
}
