//! Feature maps: what a linear policy sees of an arm.
//!
//! | map | features | how many |
//! | --- | --- | --- |
//! | `raw` | x | d |
//! | `constant` | (x, 1) | d + 1 |
//! | `monomials` | every product x₁^a₁⋯x_d^a_d with a₁ + ⋯ + a_d ≤ degree, the constant first | (d + degree choose degree) |

use serde::{Deserialize, Serialize};

use super::acting::check_features;
use crate::choice::Score;
use crate::ellipsoid::Ellipsoid;
use crate::error::Result;
use crate::kernels::linear_scores;
use crate::limits::LIMIT;
use crate::offer::Rows;
use crate::params::{Initial, Kind, Param, Params};

pub(super) const FEATURES: Param = Param::new(
    "features",
    Initial::word("raw"),
    Kind::Word(&["raw", "constant", "monomials"]),
    "raw: x, as in the paper; constant: (x, 1); monomials: all products of coordinates up to a degree",
);
pub(super) const DEGREE: Param = Param::new(
    "degree",
    Initial::count(2),
    Kind::Count { min: 1, max: MAX_DEGREE },
    "the highest degree of the monomials",
);
const MAX_DEGREE: u64 = 20;

/// What a linear policy sees of an arm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum FeatureMap {
    /// x.
    Raw,
    /// (x, 1).
    Constant,
    /// All monomials up to this degree.
    Monomials(u32),
}

impl FeatureMap {
    /// Reads `features` and `degree`; an error if there are more features than a matrix can hold.
    pub(super) fn read(dim: usize, params: &Params) -> Result<Self> {
        let map = match params.word("features")? {
            "constant" => FeatureMap::Constant,
            "monomials" => FeatureMap::Monomials(params.count("degree")? as u32),
            _ => FeatureMap::Raw,
        };
        let what = match map {
            FeatureMap::Raw | FeatureMap::Constant => "coordinates and a constant".to_owned(),
            FeatureMap::Monomials(degree) => format!("monomials of {dim} coordinates up to degree {degree}"),
        };
        check_features(map.count(dim), &what)?;
        Ok(map)
    }

    /// How many features an arm of dimension `dim` has.
    pub(super) fn count(self, dim: usize) -> usize {
        match self {
            FeatureMap::Raw => dim,
            FeatureMap::Constant => dim.saturating_add(1),
            // Each factor divides: the product so far is itself a binomial coefficient.
            FeatureMap::Monomials(degree) => (1..=degree as usize)
                .fold(1usize, |count, i| count.checked_mul(dim.saturating_add(i)).map_or(usize::MAX, |n| n / i)),
        }
    }

    /// Whether the policy's model is not linear plus a constant in x, so that it can only choose among finitely many arms.
    pub(super) fn needs_finite_arms(self) -> bool {
        matches!(self, FeatureMap::Monomials(_))
    }

    /// The features of `x`, appended to `out`.
    pub(super) fn append(self, x: &[f64], out: &mut Vec<f64>) {
        match self {
            FeatureMap::Raw => out.extend_from_slice(x),
            FeatureMap::Constant => out.extend(x.iter().copied().chain([1.0])),
            FeatureMap::Monomials(degree) => {
                out.push(1.0);
                append_products(x, 1.0, degree, out);
            }
        }
    }

    /// Absorbs an observation into `ellipsoid`. `phi` is memory to work in.
    pub(super) fn learn(self, ellipsoid: &mut Ellipsoid, x: &[f64], reward: f64, phi: &mut Vec<f64>) {
        if self == FeatureMap::Raw {
            return ellipsoid.update(x, reward);
        }
        phi.clear();
        self.append(x, phi);
        ellipsoid.update(phi, reward);
    }

    /// Mean w·φ and width radius·√(φᵀMφ) of every arm, into `scores`. `numbers` is memory to work in.
    pub(super) fn score(
        self,
        (w, m): (&[f64], &[f64]),
        radius: f64,
        rows: Rows<'_>,
        (scores, numbers): (&mut Vec<Score>, &mut Vec<f64>),
    ) {
        scores.clear();
        if !self.needs_finite_arms() {
            // The kernel knows about the constant.
            return linear_scores(w, m, radius, rows, scores);
        }
        numbers.clear();
        rows.iter().for_each(|x| self.append(x, numbers));
        linear_scores(w, m, radius, Rows::trusted(w.len(), numbers), scores);
    }
}

/// `product` times every monomial of degree 1 to `degree`, appended to `out`: those that begin with x₁, then with x₂, and so on.
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
        FeatureMap::Monomials(3).append(&[2.0, 3.0], &mut out);
        assert_eq!(out, [1.0, 2.0, 4.0, 8.0, 12.0, 6.0, 18.0, 3.0, 9.0, 27.0]);
        for (dim, degree, count) in [(1, 7, 8), (2, 4, 15), (5, 4, 126), (10, 2, 66), (10, 4, 1001), (4, 1, 5)] {
            let map = FeatureMap::Monomials(degree);
            let mut out = Vec::new();
            map.append(&vec![0.5; dim], &mut out);
            assert_eq!((out.len(), map.count(dim)), (count, count));
        }
        let mut out = Vec::new();
        FeatureMap::Monomials(20).append(&[1e99], &mut out);
        assert!(out.iter().all(|v| v.abs() <= LIMIT));
    }

    #[test]
    fn too_many_monomials_are_refused_with_a_sentence() {
        let given = Settings::new().with("features", "monomials").with("degree", 20u64);
        let params = Params::resolve("toy", &[FEATURES, DEGREE], &given).unwrap();
        let said = FeatureMap::read(3000, &params).unwrap_err().to_string();
        assert!(
            said.ends_with("(monomials of 3000 coordinates up to degree 20) is out of range: at most 4000"),
            "{said}"
        );
        assert_eq!(FeatureMap::read(1, &params), Ok(FeatureMap::Monomials(20)));
    }
}
