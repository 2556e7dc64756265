//! Choosing from the whole sphere in the linear regime.

use std::sync::OnceLock;

use super::select_uniform;
use super::uniform::uniform_on_sphere;
use crate::arms::{Arms, Choice};
use crate::error::Result;
use crate::frozen::FrozenRelu;
use crate::geometry::{OptimisticOptions, Region};
use crate::rng::Key;

/// A uniformly random choice.
pub(super) fn explore(arms: Arms<'_>, key: Key) -> Choice<'_> {
    match arms {
        Arms::Finite(rows) => select_uniform(rows, key),
        Arms::Sphere { dim } => uniform_on_sphere(dim, key),
    }
}

/// How hard a policy looks for its optimistic action: a millionth is far below any noise, and a round must end.
const EFFORT: OptimisticOptions =
    OptimisticOptions { tolerance: 1e-6, max_cells: 1 << 14, max_bounds: 2000, starts: 32 };

/// The cells of X(Θ̃, margin), found when they are first needed: they depend on Θ̃ and the margin alone, and finding them costs more
/// than a round.
#[derive(Debug, Clone, Default)]
pub(super) struct RegionCache(OnceLock<Region>);

impl RegionCache {
    /// The optimistic action over X(Θ̃, margin), or over the whole sphere if that is empty.
    pub(super) fn select(&self, regime: &FrozenRelu, margin: f64, radius: f64) -> Result<Choice<'static>> {
        let region = match self.0.get() {
            Some(region) => region,
            None => {
                let wanted = Region::new(regime.network(), margin, EFFORT.max_cells)?;
                let empty = margin > 0.0 && wanted.is_empty().unwrap_or(false);
                let region = if empty { Region::new(regime.network(), 0.0, EFFORT.max_cells)? } else { wanted };
                self.0.get_or_init(|| region)
            }
        };
        region.optimistic_action(regime, radius, &EFFORT).map(Choice::on_sphere)
    }
}
