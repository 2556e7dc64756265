//! Feature maps: what a linear belief sees of x.
//!
//! | map | features | how many |
//! | --- | --- | --- |
//! | `raw` | x | d |
//! | `constant` | (x, 1) | d + 1 |
//! | `monomials` | every product x₁^a₁⋯x_d^a_d with a₁ + ⋯ + a_d ≤ degree, the constant first | (d + degree choose degree) |

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::limits::{LIMIT, MAX_FEATURES};
use crate::params::{Initial, Kind, Param, Params};

pub(crate) const FEATURES: Param = Param::new(
    "features",
    Initial::word("raw"),
    Kind::Word(&["raw", "constant", "monomials"]),
    "raw: x, as in the paper; constant: (x, 1); monomials: all products of coordinates up to a degree",
);
pub(crate) const DEGREE: Param = Param::new(
    "degree",
    Initial::count(2),
    Kind::Count { min: 1, max: MAX_DEGREE },
    "the highest degree of the monomials",
);
const MAX_DEGREE: u64 = 20;

/// What a linear belief sees of x.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Features {
    /// x.
    Raw,
    /// (x, 1).
    Constant,
    /// All monomials up to this degree.
    Monomials(u32),
}

impl Features {
    /// Reads `features` and `degree`; an error if there are more features than a matrix can hold.
    pub(crate) fn read(dim: usize, params: &Params) -> Result<Self> {
        let map = match params.word("features")? {
            "constant" => Features::Constant,
            "monomials" => Features::Monomials(params.count("degree")? as u32),
            _ => Features::Raw,
        };
        map.check(dim)?;
        Ok(map)
    }

    /// An error if there are more features than a matrix can hold.
    pub(crate) fn check(self, dim: usize) -> Result<()> {
        let what = match self {
            Features::Raw | Features::Constant => "coordinates and a constant".to_owned(),
            Features::Monomials(degree) => format!("monomials of {dim} coordinates up to degree {degree}"),
        };
        check_features(self.count(dim), &what)
    }

    /// How many features an x of dimension `dim` has.
    pub fn count(self, dim: usize) -> usize {
        match self {
            Features::Raw => dim,
            Features::Constant => dim.saturating_add(1),
            // Each factor divides: the product so far is itself a binomial coefficient.
            Features::Monomials(degree) => (1..=degree as usize)
                .fold(1usize, |count, i| count.checked_mul(dim.saturating_add(i)).map_or(usize::MAX, |n| n / i)),
        }
    }

    /// Whether the belief is not linear plus a constant in x, so that a policy can only choose among finitely many
    /// arms.
    pub(crate) fn needs_finite_arms(self) -> bool {
        matches!(self, Features::Monomials(_))
    }

    /// The features of `x`, appended to `out`.
    pub fn append(self, x: &[f64], out: &mut Vec<f64>) {
        match self {
            Features::Raw => out.extend_from_slice(x),
            Features::Constant => out.extend(x.iter().copied().chain([1.0])),
            Features::Monomials(degree) => {
                out.push(1.0);
                append_products(x, 1.0, degree, out);
            }
        }
    }
}

/// An error unless a matrix of `count` features fits in memory; `what` says what they are made of.
pub(crate) fn check_features(count: usize, what: &str) -> Result<()> {
    if count <= MAX_FEATURES {
        return Ok(());
    }
    Err(Error::out_of_range("the number of features", format!("{count} ({what})"), format!("at most {MAX_FEATURES}")))
}

/// `product` times every monomial of degree 1 to `degree`, appended to `out`: those that begin
/// with x₁, then with x₂, and so on.
fn append_products(x: &[f64], product: f64, degree: u32, out: &mut Vec<f64>) {
    if degree == 0 {
        return;
    }
    for i in 0..x.len() {
        // Powers of enormous coordinates must stay numbers that a policy may hold.
        let next = (product * x[i]).clamp(-LIMIT, LIMIT);
        out.push(next);
        append_products(&x[i..], next, degree - 1, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Settings;

    #[test]
    fn monomials_are_all_there_once() {
        let mut out = Vec::new();
        // Powers of distinct primes: every monomial has a value of its own.
        Features::Monomials(3).append(&[2.0, 3.0], &mut out);
        assert_eq!(out, [1.0, 2.0, 4.0, 8.0, 12.0, 6.0, 18.0, 3.0, 9.0, 27.0]);
        for (dim, degree, count) in [(1, 7, 8), (2, 4, 15), (5, 4, 126), (10, 2, 66), (10, 4, 1001), (4, 1, 5)] {
            let map = Features::Monomials(degree);
            let mut out = Vec::new();
            map.append(&vec![0.5; dim], &mut out);
            assert_eq!((out.len(), map.count(dim)), (count, count));
        }
        let mut out = Vec::new();
        Features::Monomials(20).append(&[1e99], &mut out);
        assert!(out.iter().all(|v| v.abs() <= LIMIT));
    }

    #[test]
    fn too_many_monomials_are_refused_with_a_sentence() {
        let given = Settings::new().with("features", "monomials").with("degree", 20u64);
        let params = Params::resolve("toy", &[FEATURES, DEGREE], &given).unwrap();
        let said = Features::read(3000, &params).unwrap_err().to_string();
        assert!(
            said.ends_with("(monomials of 3000 coordinates up to degree 20) is out of range: at most 4000"),
            "{said}"
        );
        assert_eq!(Features::read(1, &params), Ok(Features::Monomials(20)));
    }
}
