//! DejaVu Sans, which comes with the program: how wide words are, and the outlines of their letters.
//!
//! It has Greek and mathematical letters, which policies' names use, and it is about as wide as fonts get: where a
//! browser sets the words of an SVG in another font, they still fit the room that was measured for them.

use tiny_skia::{PathBuilder, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The families that an SVG asks for, nearest first.
pub(super) const FAMILIES: &str =
    "'DejaVu Sans', 'Bitstream Vera Sans', Verdana, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

/// The font.
pub struct Font {
    face: Face<'static>,
}

impl Font {
    /// Reads the font.
    pub fn load() -> Result<Self, String> {
        let face = Face::parse(dejavu::sans::regular(), 0).map_err(|error| format!("the built-in font: {error}"))?;
        Ok(Font { face })
    }

    /// How wide `words` are at `size`.
    pub fn width(&self, words: &str, size: f64) -> f64 {
        self.advance(words).1 * self.scale(size)
    }

    /// `words`, or as much of their beginning and end as fits `room`, with an ellipsis between: labels of a grid of
    /// parameters often differ only at their ends.
    pub fn fit(&self, words: &str, size: f64, room: f64) -> String {
        if self.width(words, size) <= room {
            return words.to_owned();
        }
        let letters: Vec<char> = words.chars().collect();
        let shortened = |kept: usize| {
            let (head, tail) = (kept - kept / 3, kept / 3);
            let head: String = letters[..head].iter().collect();
            let tail: String = letters[letters.len() - tail..].iter().collect();
            format!("{}…{}", head.trim_end(), tail.trim_start())
        };
        let longest = (1..letters.len()).rev().map(shortened).find(|short| self.width(short, size) <= room);
        longest.unwrap_or_else(|| "…".to_owned())
    }

    /// The outlines of `words`, their base line starting at the origin; none if there is nothing to see.
    pub(super) fn outline(&self, words: &str, size: f64) -> Option<tiny_skia::Path> {
        let mut pen = Pen { path: PathBuilder::new(), x: 0.0 };
        for (glyph, x) in self.advance(words).0 {
            pen.x = x as f32;
            self.face.outline_glyph(glyph, &mut pen);
        }
        let scale = self.scale(size) as f32;
        pen.path.finish()?.transform(Transform::from_scale(scale, -scale)) // a font's y axis points upwards
    }

    fn scale(&self, size: f64) -> f64 {
        size / f64::from(self.face.units_per_em())
    }

    /// Each letter with its place, and where the words end, in the font's own units.
    fn advance(&self, words: &str) -> (Vec<(GlyphId, f64)>, f64) {
        let (mut placed, mut x, mut before) = (Vec::new(), 0.0, None);
        for letter in words.chars() {
            let glyph = self.face.glyph_index(letter).unwrap_or(GlyphId(0));
            x += before.map_or(0.0, |before| self.kerning(before, glyph));
            placed.push((glyph, x));
            x += f64::from(self.face.glyph_hor_advance(glyph).unwrap_or(0));
            before = Some(glyph);
        }
        (placed, x)
    }

    fn kerning(&self, left: GlyphId, right: GlyphId) -> f64 {
        let tables = self.face.tables().kern.into_iter().flat_map(|kern| kern.subtables);
        let mut horizontal = tables.filter(|table| table.horizontal && !table.variable);
        horizontal.find_map(|table| table.glyphs_kerning(left, right)).map_or(0.0, f64::from)
    }
}

/// Collects the outlines of letters that stand at `x`.
struct Pen {
    path: PathBuilder,
    x: f32,
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.x + x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.x + x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(self.x + x1, y1, self.x + x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.path.cubic_to(self.x + x1, y1, self.x + x2, y2, self.x + x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_do_not_fit_are_shortened() {
        let font = Font::load().unwrap();
        assert_eq!(font.fit("OFUL", 12.0, 100.0), "OFUL");
        let short = font.fit("NeuralUCB with a long tail", 12.0, 80.0);
        assert!(short.starts_with("Neur") && short.contains('…') && short.ends_with("il"), "{short}");
        assert!(font.width(&short, 12.0) <= 80.0);
        assert_eq!(font.fit("OFUL", 12.0, 0.0), "…");
        assert_eq!(font.width("", 12.0), 0.0);
    }

    #[test]
    fn the_letters_that_names_use_are_there() {
        let font = Font::load().unwrap();
        for letter in "λσνδγβαθΘ₀₁√≤≥±×∝µ·’⁰¹²³⁴⁵⁶⁷⁸⁹⁻–—…→↑−\u{2009}\u{202f}".chars()
        {
            assert!(font.face.glyph_index(letter).is_some(), "no {letter}");
        }
    }
}
