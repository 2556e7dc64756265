//! How each policy's curve looks: no two of the first fifty alike, in colour, to the colour-blind, and in grey.

use super::super::draw::{Colour, Item, Point, Stroke};

/// The colours of Okabe and Ito (2008), which the colour-blind can tell apart, without their yellow, which nobody can
/// see on white; green and purple a little darker for the same reason.
const COLOURS: [Colour; 7] = [
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x8f, 0x68],
    [0xc0, 0x5f, 0x97],
    [0xdc, 0x92, 0x00],
    [0x3a, 0xa0, 0xdc],
    [0x00, 0x00, 0x00],
];

const DASHES: [&[f64]; 6] =
    [&[], &[7.0, 3.0], &[2.0, 2.0], &[9.0, 2.5, 2.0, 2.5], &[13.0, 3.5], &[8.0, 2.0, 2.0, 2.0, 2.0, 2.0]];

/// The corners of each marker, around the origin; y points down.
const MARKERS: [&[Point]; 8] = [
    &[],                                                     // a circle, drawn below
    &[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],   // a square
    &[[0.0, -1.25], [1.15, 0.8], [-1.15, 0.8]],              // a triangle
    &[[0.0, -1.35], [1.05, 0.0], [0.0, 1.35], [-1.05, 0.0]], // a diamond
    &[[0.0, 1.25], [1.15, -0.8], [-1.15, -0.8]],             // a triangle on its tip
    &[
        [-0.42, -1.2],
        [0.42, -1.2],
        [0.42, -0.42],
        [1.2, -0.42],
        [1.2, 0.42],
        [0.42, 0.42],
        [0.42, 1.2],
        [-0.42, 1.2],
        [-0.42, 0.42],
        [-1.2, 0.42],
        [-1.2, -0.42],
        [-0.42, -0.42],
    ], // a plus
    &[[-1.3, -0.55], [1.3, -0.55], [1.3, 0.55], [-1.3, 0.55]], // a bar
    &[[-1.0, -1.1], [1.0, -1.1], [0.25, 0.0], [1.0, 1.1], [-1.0, 1.1], [-0.25, 0.0]], // an hourglass
];

/// The look of one curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// The line.
    pub stroke: Stroke,
    marker: usize,
    hollow: bool,
}

impl Look {
    /// The look of policy number `index`.
    pub fn of(index: usize) -> Self {
        // Seven colours, six dashes and eight markers: their cycles come together only after 168.
        let stroke = Stroke { colour: COLOURS[index % 7], width: 1.7, dash: DASHES[index % 6] };
        Look { stroke, marker: index % 8, hollow: (index / 8) % 2 == 1 }
    }

    /// The place of its colour among the seven.
    pub fn colour(&self) -> usize {
        COLOURS.iter().position(|colour| *colour == self.stroke.colour).unwrap_or(0)
    }

    /// The marker at a point.
    pub fn mark(&self, [x, y]: Point) -> Item {
        const RADIUS: f64 = 3.4;
        let corners: Vec<Point> = match MARKERS[self.marker] {
            [] => {
                (0..24).map(|i| (f64::from(i) * std::f64::consts::TAU / 24.0).sin_cos()).map(|(s, c)| [c, s]).collect()
            }
            corners => corners.to_vec(),
        };
        let points = corners.into_iter().map(|[dx, dy]| [x + RADIUS * dx, y + RADIUS * dy]).collect();
        let colour = self.stroke.colour;
        let (fill, outline) =
            if self.hollow { (WHITE, Stroke::solid(colour, 1.2)) } else { (colour, Stroke::solid(WHITE, 0.7)) };
        Item::Area { points, fill, opacity: 1.0, outline: Some(outline) }
    }
}

const WHITE: Colour = [0xff; 3];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_of_fifty_look_alike() {
        let looks: Vec<Look> = (0..50).map(Look::of).collect();
        for (i, look) in looks.iter().enumerate() {
            assert!(looks[..i].iter().all(|other| other != look));
            // Nor do any two of the first sixteen in grey, where only the markers and the dashes are left.
            let grey = |look: &Look| (look.stroke.dash, look.marker, look.hollow);
            assert!(i >= 16 || looks[..i].iter().all(|other| grey(other) != grey(look)));
        }
    }
}
