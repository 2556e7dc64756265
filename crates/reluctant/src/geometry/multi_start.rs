//! The optimistic action when there are too many cells to go through: ascent from many starts.
//!
//! Each start lies in some cell. If that cell cannot keep the margin, the search steps across the wall that narrows
//! it until one can. Ascent finds the best point of the cell; then the cells across the walls that stopped it, and
//! the cell to which the slope at that point leads, are tried, and the best of them is the next cell, while the
//! value rises. Nothing is proven.

use std::collections::BTreeMap;

use super::cells::{Cell, Enclosure};
use super::optimum::Optimistic;
use super::piece::Ascent;
use super::pieces::Pieces;
use crate::linalg::{dot, normalise};
use crate::relu::Pattern;
use crate::rng::{Key, unit_vector};

/// The best point that `starts` ascents find; `None` if none of them met the region.
pub(super) fn search(pieces: &Pieces<'_>, starts: usize) -> Option<Optimistic> {
    let net = pieces.region.network();
    let mut stream = Key::new(0).stream();
    let mut enclosure = Enclosure::new(net);
    let mut places = BTreeMap::new();
    let mut best: Option<Place> = None;
    let mut x = vec![0.0; net.dim()];
    for _ in 0..starts.max(1) {
        unit_vector(&mut stream, &mut x);
        let Some(cell) = roomy(pieces, &mut enclosure, net.pattern(&x)) else { continue };
        let mut place = places.entry(cell.pattern).or_insert_with(|| Some(climb(pieces, cell, &x))).clone();
        while let Some(here) = place.take() {
            for pattern in neighbours(pieces, &here) {
                // What starts from elsewhere found in a cell is found again.
                let other = places.entry(pattern).or_insert_with(|| {
                    let cell = enclosure.cell(pattern).filter(|cell| cell.margin >= pieces.region.margin())?;
                    Some(climb(pieces, cell, &here.x))
                });
                let known = place.as_ref().map_or(here.value + 1e-12 * (1.0 + here.value.abs()), |next| next.value);
                if let Some(other) = other.as_ref().filter(|other| other.value > known) {
                    place = Some(other.clone());
                }
            }
            if place.is_none() && best.as_ref().is_none_or(|best| here.value > best.value) {
                best = Some(here);
            }
        }
    }
    let best = best?;
    let found = pieces.finish(&best.x, best.cell.pattern, &best.cell.centre);
    Some(Optimistic { cells_visited: places.len() as u64, ..found })
}

/// The best point known of a cell.
#[derive(Debug, Clone)]
struct Place {
    cell: Cell,
    x: Vec<f64>,
    value: f64,
    /// ∇q(x), scaled to the sphere.
    slope: Vec<f64>,
}

/// The best point of a cell that the ascent towards `towards` finds.
fn climb(pieces: &Pieces<'_>, cell: Cell, towards: &[f64]) -> Place {
    let piece = pieces.piece(cell.pattern);
    let summit = Ascent::run(&piece, &cell.centre, towards);
    let mut slope = piece.slope(&summit.x);
    normalise(&mut slope);
    Place { cell, x: summit.x, value: summit.value, slope }
}

/// The patterns across the walls at x, and the one that the slope leads to.
fn neighbours(pieces: &Pieces<'_>, place: &Place) -> Vec<Pattern> {
    let net = pieces.region.network();
    let near = |theta: &[f64]| dot(theta, &place.x).abs() <= pieces.region.margin() + 1e-9;
    let across = net.iter().enumerate().filter(|(_, theta)| near(theta)).map(|(i, _)| place.cell.pattern ^ (1 << i));
    across.chain([net.pattern(&place.slope)]).filter(|&pattern| pattern != place.cell.pattern).collect()
}

/// A cell that keeps the margin, few steps from the one with `pattern`.
fn roomy(pieces: &Pieces<'_>, enclosure: &mut Enclosure<'_>, pattern: Pattern) -> Option<Cell> {
    let net = pieces.region.network();
    let mut cell = enclosure.cell(pattern)?;
    for _ in 0..4 * net.neurons() {
        if cell.margin >= pieces.region.margin() {
            return Some(cell);
        }
        let mut wider = None;
        for (i, theta) in net.iter().enumerate() {
            if dot(theta, &cell.centre).abs() <= cell.margin + 1e-9 {
                let other = enclosure.cell(cell.pattern ^ (1 << i));
                let known = wider.as_ref().map_or(cell.margin, |wider: &Cell| wider.margin);
                if let Some(other) = other.filter(|other| other.margin > known) {
                    wider = Some(other);
                }
            }
        }
        cell = wider?;
    }
    None
}
