//! A picture as a list of shapes, which [`svg`] and [`png`] draw alike.
//!
//! The shapes keep their exact coordinates, so that curves stay smooth however large they are shown; the words are set
//! in a font that comes with the program, so that a picture looks the same on every machine.

mod font;
pub mod png;
pub mod svg;

pub use font::Font;

/// A point, in units of 1/96 inch from the top left corner.
pub type Point = [f64; 2];

/// Red, green and blue.
pub type Colour = [u8; 3];

/// A picture.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
    /// What the picture shows, for those who cannot see it.
    pub description: String,
    /// What is drawn, from back to front.
    pub items: Vec<Item>,
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// The left side.
    pub x: f64,
    /// The upper side.
    pub y: f64,
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
}

impl Rect {
    /// The right side.
    pub fn right(&self) -> f64 {
        self.x + self.width
    }

    /// The lower side.
    pub fn bottom(&self) -> f64 {
        self.y + self.height
    }

    /// Whether the point lies inside or on the edge.
    pub fn contains(&self, [x, y]: Point) -> bool {
        (self.x..=self.right()).contains(&x) && (self.y..=self.bottom()).contains(&y)
    }
}

/// One thing in a picture.
#[derive(Debug, Clone)]
pub enum Item {
    /// A line along points.
    Line {
        /// The points.
        points: Vec<Point>,
        /// How the line looks.
        stroke: Stroke,
    },
    /// The area inside points.
    Area {
        /// Its corners.
        points: Vec<Point>,
        /// Its colour.
        fill: Colour,
        /// 0 is invisible, 1 hides what is behind.
        opacity: f64,
        /// The line around it.
        outline: Option<Stroke>,
    },
    /// A filled circle.
    Dot {
        /// Its centre.
        at: Point,
        /// Its radius.
        radius: f64,
        /// Its colour.
        fill: Colour,
        /// 0 is invisible, 1 hides what is behind.
        opacity: f64,
    },
    /// Words on one line.
    Text(Text),
    /// Items of which only the part inside a rectangle is drawn.
    Clip {
        /// The rectangle.
        inside: Rect,
        /// The items.
        items: Vec<Item>,
    },
}

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width.
    pub width: f64,
    /// The lengths of dashes and gaps in turn; empty if the line is solid.
    pub dash: &'static [f64],
}

impl Stroke {
    /// A line without gaps.
    pub const fn solid(colour: Colour, width: f64) -> Self {
        Stroke { colour, width, dash: &[] }
    }
}

/// Words on one line.
#[derive(Debug, Clone)]
pub struct Text {
    /// Where the words start, are centred, or end, on their base line.
    pub at: Point,
    /// Which of the three it is.
    pub anchor: Anchor,
    /// The words.
    pub words: String,
    /// The size of the font.
    pub size: f64,
    /// Their colour.
    pub colour: Colour,
    /// Whether the words run upwards.
    pub upwards: bool,
}

/// Which part of the words stands at their point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Anchor {
    /// The beginning.
    Start,
    /// The middle.
    Middle,
    /// The end.
    End,
}

/// Leaves out the points of a line that lie within `tolerance` of the line without them (Douglas and Peucker, 1973).
pub fn simplify(points: &[Point], tolerance: f64) -> Vec<Point> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut keep = vec![false; points.len()];
    keep[0] = true;
    keep[points.len() - 1] = true;
    let mut open = vec![(0, points.len() - 1)];
    while let Some((first, last)) = open.pop() {
        let far = |i: usize| (distance(points[i], points[first], points[last]), i);
        let farthest = (first + 1..last).map(far).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((distance, middle)) = farthest
            && distance > tolerance
        {
            keep[middle] = true;
            open.extend([(first, middle), (middle, last)]);
        }
    }
    points.iter().zip(keep).filter_map(|(point, keep)| keep.then_some(*point)).collect()
}

/// The distance of `p` from the segment between `a` and `b`.
fn distance(p: Point, a: Point, b: Point) -> f64 {
    let (along, from) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let squared = along[0] * along[0] + along[1] * along[1];
    let share = if squared > 0.0 { ((along[0] * from[0] + along[1] * from[1]) / squared).clamp(0.0, 1.0) } else { 0.0 };
    let (dx, dy) = (from[0] - share * along[0], from[1] - share * along[1]);
    (dx * dx + dy * dy).sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_straight_line_needs_its_ends_alone() {
        let line: Vec<Point> = (0..100).map(|i| [f64::from(i), 2.0 * f64::from(i)]).collect();
        assert_eq!(simplify(&line, 0.1), [[0.0, 0.0], [99.0, 198.0]]);
        assert!(simplify(&[], 0.1).is_empty());
    }

    proptest! {
        #[test]
        fn no_point_is_far_from_the_simpler_line(heights in prop::collection::vec(0.0..9.0f64, 2..60)) {
            let line: Vec<Point> = heights.iter().enumerate().map(|(i, &y)| [i as f64, y]).collect();
            let simple = simplify(&line, 0.5);
            for &point in &line {
                let near = simple.windows(2).map(|ends| distance(point, ends[0], ends[1])).fold(f64::MAX, f64::min);
                prop_assert!(near <= 0.5);
            }
        }
    }
}
