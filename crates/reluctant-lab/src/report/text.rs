//! Numbers and parameters as readers like them.

use serde_json::{Map, Value};

/// What stands where there is no number.
pub(crate) const NONE: &str = "–";

/// A thin space that does not break a line.
pub(crate) const THIN: char = '\u{202f}';

/// A number with three or four digits that matter: 0.0123, 2.35, 38.1, 950.2, 12 345.
pub(crate) fn number(value: f64) -> String {
    fixed(value, decimals(value))
}

/// How many decimals leave a number three digits that matter; none if it is best written with an exponent.
fn decimals(value: f64) -> Option<usize> {
    match value.abs() {
        0.0 => Some(0),
        size if !(1e-3..1e9).contains(&size) => None,
        size if size < 0.0995 => Some(4),
        size if size < 0.995 => Some(3),
        size if size < 9.995 => Some(2),
        size if size < 999.95 => Some(1),
        _ => Some(0),
    }
}

/// A number to so many decimals, or with an exponent.
pub(crate) fn fixed(value: f64, decimals: Option<usize>) -> String {
    let text = decimals.map_or_else(|| format!("{value:.1e}"), |decimals| format!("{value:.decimals$}"));
    // What rounds to zero has no sign.
    let is_zero = text.chars().all(|c| matches!(c, '-' | '0' | '.'));
    group(&if is_zero { text.replace('-', "") } else { text.replace('-', "−") })
}

/// A number with half the width of its interval, if it has one, to the same number of decimals.
pub(crate) fn plus_minus(value: f64, half_width: Option<f64>) -> String {
    let Some(half) = half_width else { return number(value) };
    // Both are rounded as the larger one asks, so that 1 080 ± 26 does not pretend to know tenths.
    let digits = if half.abs() > value.abs() { decimals(half) } else { decimals(value) };
    format!("{} ± {}", fixed(value, digits), fixed(half, digits))
}

/// As [`plus_minus`], with the sign of a positive number.
pub(crate) fn signed(value: f64, half_width: Option<f64>) -> String {
    format!("{}{}", if value > 0.0 { "+" } else { "" }, plus_minus(value, half_width))
}

/// A number, or a dash where there is none.
pub(crate) fn maybe(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), number)
}

/// A range from one number to another.
pub(crate) fn range(low: f64, high: f64) -> String {
    format!("{} – {}", number(low), number(high))
}

/// A share as a whole percentage, where 0 % means none and 100 % means all.
pub(crate) fn percent(share: f64) -> String {
    match 100.0 * share {
        some if some > 0.0 && some < 0.5 => format!("<1{THIN}%"),
        most if most < 100.0 && most > 99.5 => format!(">99{THIN}%"),
        share => format!("{share:.0}{THIN}%"),
    }
}

/// Whole number with thin thousands separators.
pub(crate) fn count(value: u64) -> String {
    group(&value.to_string())
}

/// A number of rounds, in words.
pub(crate) fn rounds(value: u64) -> String {
    if value == 1 { "1 round".to_owned() } else { format!("{} rounds", count(value)) }
}

/// Puts a thin space between groups of three digits of the whole part: 1 000, 10 000.
fn group(text: &str) -> String {
    let start = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
    let digits = text[start..].bytes().take_while(u8::is_ascii_digit).count();
    let mut grouped = text[..start].to_owned();
    for (i, c) in text[start..].chars().enumerate() {
        if i > 0 && i < digits && digits > 3 && (digits - i).is_multiple_of(3) {
            grouped.push(THIN);
        }
        grouped.push(c);
    }
    grouped
}

/// The nearest power of ten, for numbers so large that only their size says anything.
pub(crate) fn power_of_ten(value: f64) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    if value == f64::INFINITY {
        return format!("over {}", power_of_ten(f64::MAX));
    }
    let raised = |digit: char| digit.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]);
    format!("10{}", libm::log10(value).round().to_string().chars().map(raised).collect::<String>())
}

/// Parameters as `name = value, name = value`; a dash if there are none.
pub(crate) fn parameters(map: &Map<String, Value>) -> String {
    if map.is_empty() {
        return NONE.to_owned();
    }
    map.iter().map(|(name, value)| format!("{name} = {}", scalar(value))).collect::<Vec<_>>().join(", ")
}

/// A value without the quotes that JSON puts around words.
pub(crate) fn scalar(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_matter() {
        let said: Vec<String> = [0.0, 0.01234, 0.5, 2.345, 38.06, 999.96, 1234.5, -1234567.8, 2e12]
            .map(|value| number(value).replace(THIN, " "))
            .into();
        assert_eq!(said, ["0", "0.0123", "0.500", "2.35", "38.1", "1 000", "1 234", "−1 234 568", "2.0e12"]);
        assert_eq!(count(1_000_000).replace(THIN, " "), "1 000 000");
        assert_eq!(percent(0.125).replace(THIN, " "), "12 %");
        assert_eq!([percent(0.001), percent(0.999), percent(0.0)].join(";").replace(THIN, ""), "<1%;>99%;0%");
        assert_eq!(signed(1.0, None), "+1.00");
        assert_eq!(plus_minus(1080.4, Some(26.44)).replace(THIN, " "), "1 080 ± 26");
        assert_eq!(plus_minus(0.1, Some(26.44)), "0.1 ± 26.4");
        assert_eq!(plus_minus(-0.001, Some(26.44)), "0.0 ± 26.4");
        assert_eq!([rounds(1), rounds(20)], ["1 round", "20 rounds"]);
        assert_eq!(maybe(None), NONE);
        assert_eq!([3e44, 4e44, 0.01, f64::INFINITY].map(power_of_ten), ["10⁴⁴", "10⁴⁵", "10⁻²", "over 10³⁰⁸"]);
    }
}
