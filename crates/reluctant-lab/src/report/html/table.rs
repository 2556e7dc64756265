//! Tables of the page. Cells carry the numbers that they show, so that the script can sort by them.

use std::fmt::Write;

use super::super::draw::svg::escape;

/// A cell.
pub(crate) struct Cell {
    class: &'static str,
    text: String,
    key: Option<f64>,
}

impl Cell {
    /// Marks the best of a column.
    pub(crate) fn best(self, best: bool) -> Self {
        if best { Cell { class: "best", ..self } } else { self }
    }

    /// The number by which the column is sorted.
    pub(crate) fn key(self, key: Option<f64>) -> Self {
        Cell { key, ..self }
    }
}

/// Words, which stand to the left.
pub(crate) fn words(text: &str) -> Cell {
    Cell { class: "words", text: escape(text), key: None }
}

/// A number, which stands to the right.
pub(crate) fn number(text: String) -> Cell {
    Cell { class: "", text: escape(&text), key: None }
}

/// A table with its caption, which only those who listen to the page are told: the heading above says it to others.
pub(crate) fn table(caption: &str, header: &[&str], rows: impl Iterator<Item = Vec<Cell>>) -> String {
    let mut body = String::new();
    let mut is_words = vec![false; header.len()];
    for row in rows {
        body += "<tr>";
        for (i, Cell { class, text, key }) in row.into_iter().enumerate() {
            let class_of = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
            let key = key.map_or_else(String::new, |key| format!(" data-v=\"{key:e}\""));
            // The first cell names its row. Writing into a string cannot fail.
            let _ = match i {
                0 => write!(body, "<th scope=\"row\"{class_of}{key}>{text}</th>"),
                _ => write!(body, "<td{class_of}{key}>{text}</td>"),
            };
            if let Some(is_words) = is_words.get_mut(i) {
                *is_words = class == "words";
            }
        }
        body += "</tr>\n";
    }
    let class = |is_words| if is_words { " class=\"words\"" } else { "" };
    let head: String = header
        .iter()
        .zip(is_words)
        .map(|(title, is_words)| format!("<th scope=\"col\"{}>{title}</th>", class(is_words)))
        .collect();
    let caption = escape(caption);
    // What can be scrolled sideways must be reachable by keyboard, too.
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table>\n\
         <thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n"
    )
}
