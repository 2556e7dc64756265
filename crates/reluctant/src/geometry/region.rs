//! The region X(Θ, ν) = {x on the unit sphere : |θᵢ·x| ≥ ν for every neuron i}, cell by cell (equation `def:calX_nu`).
//!
//! Away from every hyperplane an estimate of Θ tells on which side of each neuron an action lies. The region falls
//! apart into one piece a cell, each the part of the cell that keeps the margin.

use super::cells::{Cell, Cells, check_dim, check_margin, distinct_hyperplanes, most_cells};
use crate::error::Result;
use crate::relu::ReluNet;

/// X(Θ, ν) as the list of cells that it meets.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    network: ReluNet,
    margin: f64,
    /// `None` if there are too many.
    cells: Option<Vec<Cell>>,
}

impl Region {
    /// The region of a network; ν = 0 gives the whole sphere.
    ///
    /// The cells are listed if there cannot be more than `budget`; otherwise [`Region::cells`] is `None`, and what
    /// needs all of them falls back on a search without guarantee. Dimension 1 is an error.
    pub fn new(network: &ReluNet, nu: f64, budget: u64) -> Result<Self> {
        check_dim(network)?;
        check_margin(nu)?;
        let listed = most_cells(network.dim(), distinct_hyperplanes(network)) <= budget;
        let cells = if listed { Some(Cells::with_margin(network, nu)?.collect()) } else { None };
        Ok(Region { network: network.clone(), margin: nu, cells })
    }

    /// Θ.
    pub fn network(&self) -> &ReluNet {
        &self.network
    }

    /// ν.
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// The cells that the region meets, each with the point that keeps the largest margin;
    /// `None` if there are too many.
    pub fn cells(&self) -> Option<&[Cell]> {
        self.cells.as_deref()
    }

    /// Whether x, a unit vector, lies in the region.
    pub fn contains(&self, x: &[f64]) -> bool {
        self.network.in_region(x, self.margin)
    }

    /// Whether the region has no point; `None` if there were too many cells to tell.
    pub fn is_empty(&self) -> Option<bool> {
        self.cells.as_ref().map(Vec::is_empty)
    }

    /// The point of the region that keeps the largest margin; `None` if the region is empty or its cells are not
    /// listed.
    pub fn safest(&self) -> Option<&Cell> {
        self.cells.as_ref()?.iter().reduce(|best, cell| if cell.margin > best.margin { cell } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, unit_vector};

    #[test]
    fn emptiness_and_the_safest_point_agree_with_sampling() {
        for seed in 0..10 {
            let mut stream = Key::new(seed).stream();
            let net = ReluNet::random(3, 5, &mut stream);
            let whole = Region::new(&net, 0.0, 1000).unwrap();
            let widest = whole.safest().unwrap().margin;
            let mut x = [0.0; 3];
            for _ in 0..20_000 {
                unit_vector(&mut stream, &mut x);
                assert!(!net.in_region(&x, widest + 1e-12) && whole.contains(&x));
            }
            let inside = Region::new(&net, 0.999 * widest, 1000).unwrap();
            assert!(inside.contains(&inside.safest().unwrap().centre));
            assert_eq!(inside.is_empty(), Some(false));
            assert_eq!(Region::new(&net, 1.001 * widest, 1000).unwrap().is_empty(), Some(true));
        }
    }

    #[test]
    fn too_many_cells_are_not_listed() {
        let net = ReluNet::random(20, 20, &mut Key::new(1).stream());
        let region = Region::new(&net, 0.05, 1 << 15).unwrap();
        assert!(region.cells().is_none() && region.is_empty().is_none() && region.safest().is_none());
    }
}
