//! A picture as SVG: words stay words, nothing outside the file is asked for, and equal pictures are equal bytes.

use std::fmt::Write;

use super::font::FAMILIES;
use super::{Anchor, Colour, Item, Point, Scene, Stroke};

/// The picture as a whole file.
pub fn file(scene: &Scene) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", element(scene))
}

/// The picture as one element, for a page that holds it.
pub fn element(scene: &Scene) -> String {
    let (width, height, description) = (short(scene.width), short(scene.height), escape(&scene.description));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FAMILIES}\" role=\"img\" \
         aria-label=\"{description}\">\n<title>{description}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    scene.items.iter().for_each(|item| draw(item, &mut svg));
    svg + "</svg>\n"
}

fn draw(item: &Item, svg: &mut String) {
    // Writing into a string cannot fail.
    let _ = match item {
        Item::Line { points, stroke } => {
            writeln!(svg, "<path d=\"{}\" fill=\"none\"{}/>", path(points), stroked(stroke))
        }
        Item::Area { points, fill, opacity, outline } => {
            let opacity = translucent(*opacity);
            let outline = outline.as_ref().map_or_else(String::new, stroked);
            writeln!(svg, "<path d=\"{}Z\" fill=\"{}\"{opacity}{outline}/>", path(points), hex(*fill))
        }
        Item::Dot { at, radius, fill, opacity } => {
            let ([x, y], radius, opacity) = (at.map(short), short(*radius), translucent(*opacity));
            writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{}\"{opacity}/>", hex(*fill))
        }
        Item::Text(text) => {
            let [x, y] = text.at.map(short);
            let anchor = match text.anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let turn = if text.upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
            let (size, colour, words) = (short(text.size), hex(text.colour), escape(&text.words));
            writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
                 fill=\"{colour}\"{turn}>{words}</text>"
            )
        }
        Item::Clip { inside, items } => {
            // A nested element cuts off what lies outside of it and, unlike a clip path, needs no name that another
            // picture on the same page could also bear.
            let [x, y, w, h] = [inside.x, inside.y, inside.width, inside.height].map(short);
            let opened =
                writeln!(svg, "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\">");
            items.iter().for_each(|item| draw(item, svg));
            opened.and_then(|()| writeln!(svg, "</svg>"))
        }
    };
}

fn path(points: &[Point]) -> String {
    let mut path = String::new();
    for (i, [x, y]) in points.iter().enumerate() {
        let command = match i {
            0 => "M",
            1 => "L",
            _ => " ",
        };
        let _ = write!(path, "{command}{} {}", short(*x), short(*y));
    }
    path
}

fn stroked(stroke: &Stroke) -> String {
    let mut said = format!(
        " stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
        hex(stroke.colour),
        short(stroke.width)
    );
    if !stroke.dash.is_empty() {
        let dash = stroke.dash.iter().map(|&length| short(length)).collect::<Vec<_>>().join(" ");
        said += &format!(" stroke-dasharray=\"{dash}\"");
    }
    said
}

fn translucent(opacity: f64) -> String {
    if opacity < 1.0 { format!(" fill-opacity=\"{}\"", short(opacity)) } else { String::new() }
}

fn hex([red, green, blue]: Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A coordinate to a hundredth, without needless zeros.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text as XML and HTML want it. Control characters, which XML forbids, become spaces.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_words_are_safe() {
        assert_eq!([short(1.0), short(0.126), short(-0.001), short(10.5)], ["1", "0.13", "0", "10.5"]);
        assert_eq!(escape("a<b & \"c\"\n'd'"), "a&lt;b &amp; &quot;c&quot; &#39;d&#39;");
        assert_eq!(hex([0, 114, 178]), "#0072b2");
    }
}
