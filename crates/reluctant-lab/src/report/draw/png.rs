//! A picture as PNG: the same shapes, drawn with smooth edges at twice the size for fine screens and print.

use tiny_skia::{FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform};

use super::{Anchor, Colour, Font, Item, Point, Rect, Scene, Stroke, Text};

/// Pixels a unit.
const SCALE: f32 = 2.0;

/// The picture as a whole file.
pub fn file(scene: &Scene, font: &Font) -> Result<Vec<u8>, String> {
    // Saturates: too large a picture is refused below.
    let pixels = |length: f64| (length * f64::from(SCALE)).ceil() as u32;
    let (width, height) = (pixels(scene.width), pixels(scene.height));
    let pixmap = Pixmap::new(width, height).ok_or_else(|| format!("no picture has {width} × {height} pixels"))?;
    let mut canvas = Canvas { pixmap, mask: None, font };
    canvas.pixmap.fill(tiny_skia::Color::WHITE);
    scene.items.iter().for_each(|item| canvas.draw(item));
    canvas.pixmap.encode_png().map_err(|error| error.to_string())
}

struct Canvas<'a> {
    pixmap: Pixmap,
    mask: Option<Mask>,
    font: &'a Font,
}

impl Canvas<'_> {
    fn draw(&mut self, item: &Item) {
        match item {
            Item::Line { points, stroke } => {
                if let Some(path) = path(points, false) {
                    self.stroke(&path, stroke);
                }
            }
            Item::Area { points, fill, opacity, outline } => {
                if let Some(path) = path(points, true) {
                    self.fill(&path, *fill, *opacity, Transform::identity());
                    outline.iter().for_each(|outline| self.stroke(&path, outline));
                }
            }
            Item::Dot { at: [x, y], radius, fill, opacity } => {
                if let Some(path) = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32) {
                    self.fill(&path, *fill, *opacity, Transform::identity());
                }
            }
            Item::Text(text) => self.text(text),
            Item::Clip { inside, items } => {
                let before = self.mask.take();
                self.mask = mask(*inside, self.pixmap.width(), self.pixmap.height());
                items.iter().for_each(|item| self.draw(item));
                self.mask = before;
            }
        }
    }

    fn text(&mut self, text: &Text) {
        let Some(path) = self.font.outline(&text.words, text.size) else { return };
        let width = self.font.width(&text.words, text.size) as f32;
        let start = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -0.5 * width,
            Anchor::End => -width,
        };
        let [x, y] = text.at.map(|coordinate| coordinate as f32);
        let turn = if text.upwards { Transform::from_rotate(-90.0) } else { Transform::identity() };
        let place = turn.pre_translate(start, 0.0).post_translate(x, y);
        self.fill(&path, text.colour, 1.0, place);
    }

    fn fill(&mut self, path: &Path, colour: Colour, opacity: f64, place: Transform) {
        let place = place.post_scale(SCALE, SCALE);
        self.pixmap.fill_path(path, &paint(colour, opacity), FillRule::Winding, place, self.mask.as_ref());
    }

    fn stroke(&mut self, path: &Path, stroke: &Stroke) {
        let dash = stroke.dash.iter().map(|&length| length as f32).collect();
        let stroke_style = tiny_skia::Stroke {
            width: stroke.width as f32,
            line_cap: LineCap::Butt,
            line_join: LineJoin::Round,
            dash: StrokeDash::new(dash, 0.0), // none for an empty list: a solid line
            ..tiny_skia::Stroke::default()
        };
        let place = Transform::from_scale(SCALE, SCALE);
        self.pixmap.stroke_path(path, &paint(stroke.colour, 1.0), &stroke_style, place, self.mask.as_ref());
    }
}

fn paint([red, green, blue]: Colour, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (255.0 * opacity.clamp(0.0, 1.0)).round() as u8);
    paint.anti_alias = true;
    paint
}

fn path(points: &[Point], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (i, [x, y]) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if i == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if closed {
        path.close();
    }
    path.finish()
}

fn mask(inside: Rect, width: u32, height: u32) -> Option<Mask> {
    let mut mask = Mask::new(width, height)?;
    let (x, y) = (inside.x as f32, inside.y as f32);
    let rect = tiny_skia::Rect::from_xywh(x, y, inside.width as f32, inside.height as f32)?;
    let place = Transform::from_scale(SCALE, SCALE);
    mask.fill_path(&PathBuilder::from_rect(rect), FillRule::Winding, true, place);
    Some(mask)
}
