//! Tables of a page.

use crate::svg::escape;
use std::fmt::Write;

/// Columns of words, from the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// The first.
    One,
    /// The first two.
    Two,
    /// All.
    All,
}

/// A table: headings with units, and lines of cells.
pub(super) struct Grid<'a> {
    /// Caption.
    pub name: &'a str,
    /// Headings and units.
    pub head: &'a [(&'a str, &'a str)],
    /// Lines.
    pub rows: Vec<Vec<String>>,
    /// Which cells are words, not numbers.
    pub words: Words,
}

impl Grid<'_> {
    /// As HTML; nothing if there are no lines.
    pub fn html(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let class = match self.words {
            Words::One => "sim",
            Words::Two => "sim two",
            Words::All => "sim names",
        };
        let mut out = format!(
            "<div class=\"scroll\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\">\n\
             <table class=\"{class}\">\n<caption>{0}</caption>\n<thead>\n<tr>",
            escape(self.name)
        );
        for (title, unit) in self.head {
            let _ = write!(
                out,
                "<th scope=\"col\">{} <small>{}</small></th>",
                escape(title),
                escape(unit)
            );
        }
        out.push_str("</tr>\n</thead>\n<tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for (index, cell) in row.iter().enumerate() {
                let cell = escape(cell);
                let _ = match index {
                    0 => write!(out, "<th scope=\"row\">{cell}</th>"),
                    _ => write!(out, "<td>{cell}</td>"),
                };
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n</div>\n");
        out
    }
}
