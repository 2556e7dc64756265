//! Arms drawn uniformly from the unit sphere, anew every round or once for all; or the sphere itself.

use crate::error::{Error, Result};
use crate::offer::{Offer, Rows, Space};
use crate::params::{Initial, Kind, Param, Params};
use crate::rng::{Key, Purpose, unit_vector};

pub(super) const DIM: Param =
    Param::new("dim", Initial::count(2), Kind::Count { min: 2, max: 1000 }, "dimension d of an action");
pub(super) const ARMS: Param =
    Param::new("arms", Initial::count(1000), Kind::Count { min: 1, max: 10_000_000 }, "arms on offer in a round");
pub(super) const FRESH: Param =
    Param::new("fresh", Initial::flag(true), Kind::Flag, "whether arms are drawn anew every round, or once for all");

pub(super) const ACTIONS: Param = Param::new(
    "actions",
    Initial::word("finite"),
    Kind::Word(&["finite", "sphere"]),
    "what is on offer: finitely many arms, or the whole unit sphere",
);

/// The most numbers that the arms of a round may have: 160 MB.
pub(super) const MOST_NUMBERS: u64 = 20_000_000;

#[derive(Debug, Clone)]
pub(super) struct SphereArms {
    dim: usize,
    /// `None`: the whole sphere.
    count: Option<usize>,
    fresh: bool,
    key: Key,
}

impl SphereArms {
    pub(super) fn read(params: &Params, key: Key) -> Result<Self> {
        let numbers = params.count("arms")?.saturating_mul(params.count("dim")?);
        if numbers > MOST_NUMBERS {
            let allowed = format!("at most {MOST_NUMBERS} numbers a round, arms times dim");
            return Err(Error::out_of_range("arms", params.count("arms")?, allowed));
        }
        Ok(SphereArms {
            dim: params.size("dim")?,
            count: if params.word("actions")? == "sphere" { None } else { Some(params.size("arms")?) },
            fresh: params.flag("fresh")?,
            key: key.purpose(Purpose::Arms),
        })
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// Whether the whole sphere is on offer.
    pub(super) fn is_sphere(&self) -> bool {
        self.count.is_none()
    }

    pub(super) fn space(&self) -> Space {
        Space::Vectors { dim: self.dim }
    }

    /// What is on offer in a round, written to `buffer` if it is finite.
    pub(super) fn draw<'a>(&self, round: u64, buffer: &'a mut Vec<f64>) -> Offer<'a> {
        let Some(count) = self.count else { return Offer::Sphere { dim: self.dim } };
        let mut stream = self.key.round(if self.fresh { round } else { 0 }).stream();
        buffer.resize(count * self.dim, 0.0);
        buffer.chunks_exact_mut(self.dim).for_each(|row| unit_vector(&mut stream, row));
        Offer::Rows(Rows::trusted(self.dim, buffer))
    }
}
