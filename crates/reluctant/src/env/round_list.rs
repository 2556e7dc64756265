//! Rounds in a text, such as "500, 1000": when something changes.

use crate::error::{Error, Result};

/// The rounds in a text. They must rise and be at least 2, for nothing changes before the first round.
pub(super) fn round_list(name: &'static str, text: &str) -> Result<Vec<u64>> {
    let rounds: Option<Vec<u64>> = text.split(',').map(|round| round.trim().parse().ok()).collect();
    match rounds {
        Some(rounds) if rounds[0] >= 2 && rounds.is_sorted_by(|a, b| a < b) => Ok(rounds),
        _ => {
            let allowed = "rising rounds from 2 on, with commas between them, such as \"500, 1000\"";
            Err(Error::out_of_range(name, text, allowed))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_rise_and_begin_after_the_first() {
        assert_eq!(round_list("at", "2").unwrap(), [2]);
        assert_eq!(round_list("at", " 5,10 , 100").unwrap(), [5, 10, 100]);
        for wrong in ["1", "5,", "5, 5", "10, 5", "x", "-3", "2.5"] {
            let said = round_list("at", wrong).unwrap_err().to_string();
            assert!(said.starts_with(&format!("at = {wrong} is out of range: rising rounds from 2 on")), "{said}");
        }
        assert!(round_list("at", "").unwrap_err().to_string().starts_with("at = \"\" is out of range: rising rounds"));
    }
}
