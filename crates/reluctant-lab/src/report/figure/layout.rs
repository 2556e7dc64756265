//! The figures: where everything stands.
//!
//! All room is measured before anything is drawn, so that nothing overlaps: the legend stands below the plots, and what
//! leaves a plot at the top is named in a strip above it.

use super::super::draw::{Anchor, Colour, Font, Item, Point, Rect, Scene, Stroke, Text, simplify};
use super::super::text;
use super::{Figure, Guide, Plot, Series};
use crate::stats::quantile;

const INK: Colour = [0x22; 3];
const SOFT: Colour = [0x59; 3];
const GRID: Colour = [0xe4; 3];

const TITLE: f64 = 13.0;
const LABEL: f64 = 11.5;
const SMALL: f64 = 10.5;
const MARGIN: f64 = 12.0;
const ROW: f64 = 17.0;

/// The room between plots.
const GUTTER: f64 = 10.0;

/// The room that the name of a guide takes from the next one.
const NAME: f64 = 12.5;

/// The width of a column of dots.
const COLUMN: f64 = 11.0;

/// How many markers a curve bears.
const MARKS: usize = 5;

/// A plot that has found its place.
struct Placed<'a> {
    plot: &'a Plot,
    frame: Rect,
    font: &'a Font,
}

/// What stands above a plot for a curve that leaves it.
struct Leaving<'a> {
    series: &'a Series,
    x: f64,
    words: String,
    /// From where to where the words reach.
    reach: [f64; 2],
    row: usize,
}

impl Figure {
    /// The figure as a picture.
    pub fn scene(&self, font: &Font) -> Scene {
        let columns = match self.plots.len() {
            0 | 1 => 1,
            2 | 4 => 2,
            _ => 3,
        };
        let left = self.plots.iter().map(|plot| left_room(plot, font)).fold(0.0, f64::max);
        let right = self.plots.iter().map(|plot| right_room(plot, font)).fold(0.0, f64::max);
        // A plot on its own is as wide with dots beside it as without, so that two of them on a
        // page bear letters of one size.
        let [width, height] = if columns == 1 { [(530.0 - left - right).max(300.0), 300.0] } else { [380.0, 270.0] };
        let step = left + width + right + GUTTER;
        let total = 2.0 * MARGIN + columns as f64 * step - GUTTER;

        let (mut items, mut y) = (Vec::new(), MARGIN);
        for row in self.plots.chunks(columns) {
            let placed: Vec<Placed<'_>> = (0..)
                .zip(row)
                .map(|(column, plot)| {
                    let x = MARGIN + left + f64::from(column) * step;
                    Placed { plot, font, frame: Rect { x, y: 0.0, width, height } }
                })
                .collect();
            // The plots of a row stay level: the strip above is as high as the fullest one asks.
            let strip = placed.iter().map(Placed::strip_rows).max().unwrap_or(0) as f64 * 15.0;
            for mut plot in placed {
                plot.frame.y = y + TITLE + 9.0 + strip;
                plot.draw(y + TITLE, &mut items);
            }
            y += TITLE + 9.0 + strip + height + 44.0;
        }
        y = self.legend(font, y + 4.0, total, &mut items);
        for line in wrap(font, &self.note, SMALL, total - 2.0 * MARGIN) {
            y += 15.0;
            items.push(words([0.5 * total, y], Anchor::Middle, line, SMALL, SOFT));
        }
        Scene { width: total, height: y + MARGIN, description: self.description.clone(), items }
    }

    /// Draws the legend below `top` and says where it ends.
    fn legend(&self, font: &Font, top: f64, total: f64, items: &mut Vec<Item>) -> f64 {
        const SAMPLE: f64 = 34.0;
        const GAP: f64 = 7.0;
        const BETWEEN: f64 = 20.0;
        let mut entries: Vec<&Series> = Vec::new();
        for series in self.plots.iter().flat_map(|plot| &plot.series) {
            if !entries.iter().any(|entry| entry.label == series.label) {
                entries.push(series);
            }
        }
        let room = total - 2.0 * MARGIN;
        let labels: Vec<String> =
            entries.iter().map(|entry| font.fit(&entry.label, LABEL, room - SAMPLE - GAP)).collect();
        let widths: Vec<f64> = labels.iter().map(|label| SAMPLE + GAP + font.width(label, LABEL)).collect();
        let columns = |count: usize| -> Vec<f64> {
            let widest = |column| widths.iter().skip(column).step_by(count).copied().fold(0.0, f64::max);
            (0..count).map(widest).collect()
        };
        let taken = |columns: &[f64]| columns.iter().sum::<f64>() + BETWEEN * columns.len().saturating_sub(1) as f64;
        let most = (1..=widths.len()).rev().find(|&count| taken(&columns(count)) <= room).unwrap_or(1);
        // With the rows that this needs, fewer columns may do, which leaves no ragged last row.
        let rows = widths.len().div_ceil(most);
        let columns = columns(if rows == 0 { 1 } else { widths.len().div_ceil(rows) });
        let start = 0.5 * (total - taken(&columns));
        for (i, (entry, label)) in entries.iter().zip(labels).enumerate() {
            let (row, column) = (i / columns.len(), i % columns.len());
            let x = start + columns[..column].iter().map(|width| width + BETWEEN).sum::<f64>();
            let y = top + ROW * (row as f64 + 0.5);
            items.push(Item::Line { points: vec![[x, y], [x + SAMPLE, y]], stroke: entry.look.stroke });
            items.push(entry.look.mark([x + 0.5 * SAMPLE, y]));
            items.push(words([x + SAMPLE + GAP, y + 0.35 * LABEL], Anchor::Start, label, LABEL, INK));
        }
        top + ROW * rows as f64
    }
}

impl Placed<'_> {
    fn place(&self, [x, y]: Point) -> Point {
        let Rect { x: left, width, height, .. } = self.frame;
        // Far beyond the frame is as good as farther, and renderers dislike huge coordinates.
        let up = self.plot.y.share(y).clamp(-20.0, 20.0);
        [left + width * self.plot.x.share(x).clamp(-20.0, 20.0), self.frame.bottom() - height * up]
    }

    fn draw(&self, title_y: f64, items: &mut Vec<Item>) {
        let middle = self.frame.x + 0.5 * self.frame.width;
        let title = self.font.fit(&self.plot.title, TITLE, self.frame.width + 40.0);
        items.push(words([middle, title_y], Anchor::Middle, title, TITLE, INK));
        if let Some(above) = &self.plot.above {
            let above = self.font.fit(above, SMALL, self.frame.width + 40.0);
            items.push(words([middle, title_y + 17.0], Anchor::Middle, above, SMALL, SOFT));
        }
        self.axes(items);
        self.curves(items);
        self.dots(items);
        self.leaving().iter().for_each(|leaving| self.draw_leaving(leaving, items));
        if self.plot.series.iter().all(|series| series.line.is_empty()) {
            let centre = [middle, self.frame.y + 0.5 * self.frame.height];
            items.push(words(centre, Anchor::Middle, "no trials yet".to_owned(), TITLE, SOFT));
        }
    }

    fn axes(&self, items: &mut Vec<Item>) {
        let Rect { x: left, y: top, .. } = self.frame;
        let (right, bottom) = (self.frame.right(), self.frame.bottom());
        let mut line = |points: [Point; 2], colour, width| {
            items.push(Item::Line { points: points.to_vec(), stroke: Stroke::solid(colour, width) });
        };
        let (x_ticks, y_ticks) = (x_ticks(self.plot), self.plot.y.ticks(5));
        let across = |value| left + self.frame.width * self.plot.x.share(value);
        let up = |value| bottom - self.frame.height * self.plot.y.share(value);
        x_ticks.iter().for_each(|tick| line([[across(tick.value), top], [across(tick.value), bottom]], GRID, 1.0));
        y_ticks.iter().for_each(|tick| line([[left, up(tick.value)], [right, up(tick.value)]], GRID, 1.0));
        line([[left, top], [left, bottom]], INK, 1.0);
        line([[left, bottom], [right, bottom]], INK, 1.0);
        x_ticks
            .iter()
            .for_each(|tick| line([[across(tick.value), bottom], [across(tick.value), bottom + 4.0]], INK, 1.0));
        y_ticks.iter().for_each(|tick| line([[left - 4.0, up(tick.value)], [left, up(tick.value)]], INK, 1.0));
        self.plot.x.minor().iter().for_each(|&v| line([[across(v), bottom], [across(v), bottom + 2.5]], SOFT, 0.7));
        self.plot.y.minor().iter().for_each(|&v| line([[left - 2.5, up(v)], [left, up(v)]], SOFT, 0.7));

        let mut free = f64::NEG_INFINITY; // from where on there is room for the next label
        for tick in x_ticks {
            let (x, half) = (across(tick.value), 0.5 * self.font.width(&tick.label, SMALL));
            if x - half >= free {
                items.push(words([x, bottom + 16.0], Anchor::Middle, tick.label, SMALL, INK));
                free = x + half + 6.0;
            }
        }
        for tick in y_ticks {
            items.push(words([left - 7.0, up(tick.value) + 0.36 * SMALL], Anchor::End, tick.label, SMALL, INK));
        }
        let below = [left + 0.5 * self.frame.width, bottom + 34.0];
        items.push(words(below, Anchor::Middle, "round t".to_owned(), LABEL, INK));
        let beside = [left - left_room(self.plot, self.font) + LABEL, top + 0.5 * self.frame.height];
        let mut title = text_at(beside, Anchor::Middle, "cumulative regret".to_owned(), LABEL, INK);
        title.upwards = true;
        items.push(Item::Text(title));
    }

    fn curves(&self, items: &mut Vec<Item>) {
        let series = &self.plot.series;
        let bands = series.iter().filter(|series| !series.band.is_empty()).count();
        let opacity = if bands <= 6 { 0.13 } else { 0.07 };
        let (mut inside, mut edges) = (Vec::new(), Vec::new());
        let guides = |over: bool| {
            let guides = self.plot.guides.iter().filter(move |guide| guide.over == over);
            guides.map(|guide| {
                let points: Vec<Point> = guide.line.iter().map(|&point| self.place(point)).collect();
                Item::Line { points: simplify(&points, 0.1), stroke: guide.stroke }
            })
        };
        inside.extend(guides(false));
        for series in series {
            let edge = |pick: usize| {
                let points: Vec<Point> = series.band.iter().map(|at| self.place([at[0], at[pick]])).collect();
                simplify(&points, 0.1)
            };
            let (low, high) = (edge(1), edge(2));
            // Where bands overlap their shades run together; a fine edge keeps each one traceable.
            let fine = Stroke::solid(pale(series.look.stroke.colour), 0.7);
            edges.extend([&low, &high].map(|edge| Item::Line { points: edge.clone(), stroke: fine }));
            let points: Vec<Point> = low.into_iter().chain(high.into_iter().rev()).collect();
            if !points.is_empty() {
                inside.push(Item::Area { points, fill: series.look.stroke.colour, opacity, outline: None });
            }
        }
        inside.append(&mut edges);
        let lines: Vec<Vec<Point>> =
            series.iter().map(|series| series.line.iter().map(|&point| self.place(point)).collect()).collect();
        for (series, line) in series.iter().zip(&lines) {
            inside.push(Item::Line { points: simplify(line, 0.1), stroke: series.look.stroke });
        }
        inside.extend(guides(true));
        items.push(Item::Clip { inside: self.frame, items: inside });
        self.name_guides(items);
        // The markers of different curves stand at different rounds, so that none hides another.
        for (i, (series, line)) in series.iter().zip(&lines).enumerate() {
            for mark in 0..MARKS {
                let share = 0.03 + 0.97 * (mark as f64 + (i as f64 + 0.5) / lines.len() as f64) / MARKS as f64;
                let x = self.frame.x + share * self.frame.width;
                if let Some(y) = height_at(line, x).filter(|&y| self.frame.contains([x, y])) {
                    items.push(series.look.mark([x, y]));
                }
            }
        }
    }

    /// Draws the final regret of each trial to the right of the frame, a column for each policy with its marker below.
    fn dots(&self, items: &mut Vec<Item>) {
        let start = self.frame.right() + names_room(self.plot, self.font) + 0.5 * COLUMN;
        let columns = self.plot.series.iter().filter(|series| !series.finals.is_empty());
        for (column, series) in (0..).zip(columns) {
            let (x, colour) = (start + COLUMN * f64::from(column), series.look.stroke.colour);
            let height = |value: f64| self.place([self.plot.x.high, value])[1];
            let shown = |y: &f64| (self.frame.y..=self.frame.bottom()).contains(y);
            for y in series.finals.iter().map(|&end| height(end)).filter(shown) {
                items.push(Item::Dot { at: [x, y], radius: 1.9, fill: colour, opacity: 0.4 });
            }
            if let Some(y) = Some(height(quantile(&series.finals, 0.5))).filter(shown) {
                let points = vec![[x - 0.45 * COLUMN, y], [x + 0.45 * COLUMN, y]];
                items.push(Item::Line { points, stroke: Stroke::solid(INK, 1.6) });
            }
            items.push(series.look.mark([x, self.frame.bottom() + 12.0]));
        }
    }

    /// Names the guides to the right of the frame, where no curve is, each as near to its end as the others let it.
    fn name_guides(&self, items: &mut Vec<Item>) {
        let mut named: Vec<(f64, &Guide)> = Vec::new();
        for guide in &self.plot.guides {
            let Some(end) = guide.line.last().map(|&end| self.place(end)) else { continue };
            // Lines that share a name and end together need it once.
            let same = |&(y, other): &(f64, &Guide)| {
                other.label == guide.label && other.ink == guide.ink && (y - end[1]).abs() < NAME
            };
            if self.frame.contains(end) && !named.iter().any(same) {
                named.push((end[1], guide));
            }
        }
        named.sort_by(|a, b| a.0.total_cmp(&b.0));
        let wanted: Vec<f64> = named.iter().map(|&(y, _)| y).collect();
        for (y, (_, guide)) in spread(&wanted, NAME).into_iter().zip(named) {
            let at = [self.frame.right() + 4.0, y + 0.36 * SMALL];
            items.push(words(at, Anchor::Start, guide.label.clone(), SMALL, guide.ink));
        }
    }

    /// How many rows of words stand between the title and the frame.
    fn strip_rows(&self) -> usize {
        let leaving = self.leaving().iter().map(|leaving| leaving.row + 1).max().unwrap_or(0);
        leaving + usize::from(self.plot.above.is_some())
    }

    /// The curves that end above the frame: where they leave it, and which row of the strip names them.
    fn leaving(&self) -> Vec<Leaving<'_>> {
        let mut leaving: Vec<Leaving<'_>> = Vec::new();
        let mut out: Vec<(f64, &Series, f64)> = Vec::new();
        for series in &self.plot.series {
            let points: Vec<Point> = series.line.iter().map(|&point| self.place(point)).collect();
            if let (Some(x), Some(end)) = (leaving_x(&points, self.frame.y), series.line.last())
                && self.plot.loses(series)
            {
                out.push((x, series, end[1]));
            }
        }
        out.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (x, series, end) in out {
            let ending = format!(" → {}", text::number(end));
            let room = 0.75 * self.frame.width - self.font.width(&ending, SMALL);
            let words = self.font.fit(&series.label, SMALL, room) + &ending;
            let width = self.font.width(&words, SMALL);
            let start = if x + 8.0 + width <= self.frame.right() { x + 8.0 } else { x - 8.0 - width };
            let reach = [start.min(x - 6.0) - 4.0, (start + width).max(x + 6.0) + 4.0];
            let free = |row: &usize| {
                leaving.iter().all(|other| other.row != *row || other.reach[1] < reach[0] || reach[1] < other.reach[0])
            };
            let row = (0..=leaving.len()).find(free).unwrap_or(0);
            leaving.push(Leaving { series, x, words, reach: [start, start + width], row });
        }
        leaving
    }

    fn draw_leaving(&self, leaving: &Leaving<'_>, items: &mut Vec<Item>) {
        let tip = self.frame.y - 15.0 * leaving.row as f64 - 11.0;
        let (x, colour) = (leaving.x, leaving.series.look.stroke.colour);
        items.push(Item::Line { points: vec![[x, self.frame.y], [x, tip + 5.0]], stroke: Stroke::solid(colour, 1.4) });
        let points = vec![[x, tip], [x + 4.0, tip + 7.0], [x - 4.0, tip + 7.0]];
        items.push(Item::Area { points, fill: colour, opacity: 1.0, outline: None });
        let at = [leaving.reach[0], tip + 8.0];
        items.push(words(at, Anchor::Start, leaving.words.clone(), SMALL, INK));
    }
}

/// The marks of the x axis: as many as its labels leave room for.
fn x_ticks(plot: &Plot) -> Vec<super::Tick> {
    plot.x.ticks(if plot.x.high >= 1e5 { 4 } else { 5 })
}

/// The room that a plot needs to the left of its frame: axis title, labels, marks.
fn left_room(plot: &Plot, font: &Font) -> f64 {
    let labels = plot.y.ticks(5).iter().map(|tick| font.width(&tick.label, SMALL)).fold(0.0, f64::max);
    LABEL + 10.0 + labels + 8.0
}

/// The room to the right of a plot's frame for half of the last label of its x axis and for the names of its guides.
fn names_room(plot: &Plot, font: &Font) -> f64 {
    let label = x_ticks(plot).last().map_or(0.0, |tick| 0.5 * font.width(&tick.label, SMALL));
    plot.guides.iter().map(|guide| font.width(&guide.label, SMALL) + 4.0).fold(label, f64::max) + 4.0
}

/// All the room that a plot needs to the right of its frame.
fn right_room(plot: &Plot, font: &Font) -> f64 {
    let columns = plot.series.iter().filter(|series| !series.finals.is_empty()).count();
    names_room(plot, font) + COLUMN * columns as f64
}

/// The height of a line at `x`; none if the line does not reach there.
fn height_at(line: &[Point], x: f64) -> Option<f64> {
    let next = line.partition_point(|point| point[0] < x);
    match (next.checked_sub(1).and_then(|i| line.get(i)), line.get(next)) {
        (Some(a), Some(b)) => Some(a[1] + (x - a[0]) / (b[0] - a[0]) * (b[1] - a[1])),
        (None, Some(b)) if b[0] == x => Some(b[1]),
        _ => None,
    }
}

/// Where a line first rises above `top`.
fn leaving_x(line: &[Point], top: f64) -> Option<f64> {
    let (a, b) = line.windows(2).map(|ends| (ends[0], ends[1])).find(|(_, b)| b[1] < top)?;
    Some(if a[1] > b[1] { a[0] + ((a[1] - top) / (a[1] - b[1])).clamp(0.0, 1.0) * (b[0] - a[0]) } else { a[0] })
}

/// Places at least `gap` apart, in the same order and as near as can be to the `wanted` ones, which increase.
fn spread(wanted: &[f64], gap: f64) -> Vec<f64> {
    // Less the gaps before it each place must only not be below the one before: wherever the
    // wish is, both take their mean.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for (i, place) in wanted.iter().enumerate() {
        groups.push((place - gap * i as f64, 1));
        while let [.., (before, few), (after, more)] = groups[..]
            && after < before
        {
            let joined = (before * few as f64 + after * more as f64) / (few + more) as f64;
            groups.truncate(groups.len() - 2);
            groups.push((joined, few + more));
        }
    }
    let level = groups.into_iter().flat_map(|(place, count)| std::iter::repeat_n(place, count));
    level.enumerate().map(|(i, place)| place + gap * i as f64).collect()
}

/// Breaks words into lines that fit `room`.
fn wrap(font: &Font, text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if font.width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Half way to white.
fn pale(colour: Colour) -> Colour {
    colour.map(|part| part / 2 + 128)
}

fn text_at(at: Point, anchor: Anchor, words: String, size: f64, colour: Colour) -> Text {
    Text { at, anchor, words, size, colour, upwards: false }
}

fn words(at: Point, anchor: Anchor, words: String, size: f64, colour: Colour) -> Item {
    Item::Text(text_at(at, anchor, words, size, colour))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_between_its_points() {
        let line = [[0.0, 10.0], [10.0, 0.0]];
        assert_eq!(height_at(&line, 2.5), Some(7.5));
        assert_eq!(height_at(&line, 0.0), Some(10.0));
        assert_eq!(height_at(&line, 10.5), None);
        assert_eq!(height_at(&[], 1.0), None);
        assert_eq!(leaving_x(&line, 5.0), Some(5.0));
        assert_eq!(leaving_x(&line, -1.0), None);
    }

    #[test]
    fn names_make_room_for_each_other() {
        assert!(spread(&[], 10.0).is_empty());
        assert_eq!(spread(&[0.0, 10.0, 50.0], 10.0), [0.0, 10.0, 50.0]);
        assert_eq!(spread(&[20.0, 22.0, 50.0], 10.0), [16.0, 26.0, 50.0]);
        assert_eq!(spread(&[20.0, 20.0, 20.0], 10.0), [10.0, 20.0, 30.0]);
    }

    #[test]
    fn notes_are_broken_between_words() {
        let font = Font::load().unwrap();
        assert_eq!(wrap(&font, "one two three", 10.0, 1e3), ["one two three"]);
        assert_eq!(wrap(&font, "one two three", 10.0, 1.0), ["one", "two", "three"]);
    }
}
