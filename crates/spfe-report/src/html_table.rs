//! Tables of an HTML page.

use std::fmt::Write;

use crate::markup::escape;

/// How a cell is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellTone {
    /// One of our values.
    #[default]
    Plain,
    /// A published value.
    Published,
    /// Better than the published value.
    Better,
    /// Worse than the published value.
    Worse,
    /// Not measured. The text gives the reason.
    Absent,
}

impl CellTone {
    fn class(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Published => " class=\"published\"",
            Self::Better => " class=\"better\"",
            Self::Worse => " class=\"worse\"",
            Self::Absent => " class=\"absent\"",
        }
    }
}

/// A cell of an [`HtmlTable`].
#[derive(Clone, Debug, Default)]
pub struct TableCell {
    text: String,
    /// Text in smaller type after `text`, may be empty.
    note: String,
    tone: CellTone,
    tip: String,
    columns: usize,
}

impl TableCell {
    /// Makes a plain cell.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), columns: 1, ..Self::default() }
    }

    /// Makes a cell with a tone.
    #[must_use]
    pub fn toned(text: impl Into<String>, tone: CellTone) -> Self {
        Self { tone, ..Self::new(text) }
    }

    /// Makes a cell that says why nothing was measured.
    #[must_use]
    pub fn absent(reason: &str) -> Self {
        Self::toned(format!("not measured: {reason}"), CellTone::Absent)
    }

    /// Makes a cell with the difference from a published number of cycles. Fewer is better.
    #[must_use]
    pub fn difference(ours: i64, published: i64) -> Self {
        let tone = match ours.cmp(&published) {
            std::cmp::Ordering::Less => CellTone::Better,
            std::cmp::Ordering::Equal => CellTone::Plain,
            std::cmp::Ordering::Greater => CellTone::Worse,
        };
        let text = match ours - published {
            0 => "equal".to_owned(),
            less if less < 0 => format!("\u{2212}{}", -less),
            more => format!("+{more}"),
        };
        Self::toned(text, tone)
    }

    /// Takes the mark of a better value away, where nothing supports such a claim.
    #[must_use]
    pub fn not_better(self) -> Self {
        let tone = if self.tone == CellTone::Better { CellTone::Plain } else { self.tone };
        Self { tone, ..self }
    }

    /// Adds a text in smaller type.
    #[must_use]
    pub fn with_note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Adds a tool tip.
    #[must_use]
    pub fn with_tip(self, tip: impl Into<String>) -> Self {
        Self { tip: tip.into(), ..self }
    }

    /// Makes the cell span several columns.
    #[must_use]
    pub fn over(self, columns: usize) -> Self {
        Self { columns, ..self }
    }

    fn html(&self) -> String {
        let class = self.tone.class();
        let tip = match self.tip.as_str() {
            "" => String::new(),
            tip => format!(" title=\"{}\"", escape(tip)),
        };
        let columns = match self.columns {
            1 => String::new(),
            columns => format!(" colspan=\"{columns}\""),
        };
        format!("<td{class}{tip}{columns}>{}{}</td>", escape(&self.text), small(&self.note))
    }
}

/// Text in smaller type after a space, or nothing.
fn small(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" <small>{}</small>", escape(text)) }
}

#[derive(Clone, Debug)]
struct Heading {
    title: String,
    unit: String,
    tone: CellTone,
}

#[derive(Clone, Debug)]
struct Row {
    name: String,
    cells: Vec<TableCell>,
    /// Whether the row starts a group, with a rule above it.
    lead: bool,
}

/// A table with a caption, headings and rows. The first column holds the names of the rows.
///
/// It scrolls sideways by itself where the page is narrow.
#[derive(Clone, Debug, Default)]
pub struct HtmlTable {
    caption: String,
    head: Vec<Heading>,
    rows: Vec<Row>,
}

impl HtmlTable {
    /// Makes a table without headings and rows.
    #[must_use]
    pub fn new(caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..Self::default() }
    }

    /// Makes a table with headings. The first one is that of the names of rows.
    #[must_use]
    pub fn with_head<T: Into<String>>(
        caption: impl Into<String>,
        head: impl IntoIterator<Item = T>,
    ) -> Self {
        let mut table = Self::new(caption);
        for title in head {
            table.heading(title, "", CellTone::Plain);
        }
        table
    }

    /// Adds the heading of the next column. An empty unit is not shown.
    pub fn heading(&mut self, title: impl Into<String>, unit: &str, tone: CellTone) {
        self.head.push(Heading { title: title.into(), unit: unit.to_owned(), tone });
    }

    /// Adds a row.
    pub fn row(&mut self, name: impl Into<String>, cells: impl IntoIterator<Item = TableCell>) {
        let cells = cells.into_iter().collect();
        self.rows.push(Row { name: name.into(), cells, lead: false });
    }

    /// Adds a row that starts a group.
    pub fn lead_row(
        &mut self,
        name: impl Into<String>,
        cells: impl IntoIterator<Item = TableCell>,
    ) {
        self.row(name, cells);
        if let Some(row) = self.rows.last_mut() {
            row.lead = true;
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the table has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Renders the table. `class` names rules of the style, and may be empty.
    #[must_use]
    pub fn html(&self, class: &str) -> String {
        let caption = escape(&self.caption);
        let class = match class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        let mut out = format!(
            "<div class=\"scroll\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\">\n\
             <table{class}>\n<caption>{caption}</caption>\n"
        );
        if !self.head.is_empty() {
            out.push_str("<thead>\n<tr>");
            for Heading { title, unit, tone } in &self.head {
                let (class, title, unit) = (tone.class(), escape(title), small(unit));
                let _ = write!(out, "<th scope=\"col\"{class}>{title}{unit}</th>");
            }
            out.push_str("</tr>\n</thead>\n");
        }
        out.push_str("<tbody>\n");
        for row in &self.rows {
            let class = if row.lead { " class=\"lead\"" } else { "" };
            let _ = write!(out, "<tr{class}><th scope=\"row\">{}</th>", escape(&row.name));
            row.cells.iter().for_each(|cell| out.push_str(&cell.html()));
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n</div>\n");
        out
    }

    /// Renders a table that must not have gaps. `class` is that of [`HtmlTable::html`].
    ///
    /// # Errors
    ///
    /// The table has no rows, an empty cell, or a row whose length differs from that of the head.
    pub fn complete_html(&self, class: &str) -> Result<String, String> {
        let fail = |what: String| Err(format!("table \"{}\": {what}", self.caption));
        if self.rows.is_empty() {
            return fail("it has no rows".to_owned());
        }
        for Row { name, cells, .. } in &self.rows {
            let columns: usize = cells.iter().map(|cell| cell.columns).sum();
            let headings = self.head.len();
            if columns + 1 != headings {
                return fail(format!(
                    "row \"{name}\" has {columns} cells and a name, but there are {headings} headings"
                ));
            }
            if name.trim().is_empty() || cells.iter().any(|cell| cell.text.trim().is_empty()) {
                return fail(format!("row \"{name}\" has an empty cell"));
            }
        }
        Ok(self.html(class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_an_error_in_a_complete_table() {
        let mut table = HtmlTable::with_head("T", ["n", "a", "b"]);
        assert!(table.complete_html("").is_err(), "no rows");
        table.row("1", [TableCell::new("x"), TableCell::new("y")]);
        assert!(table.complete_html("").is_ok());
        let mut short = table.clone();
        short.row("2", [TableCell::new("x")]);
        assert!(short.complete_html("").is_err_and(|error| error.contains("\"2\" has 1 cells")));
        table.row("3", [TableCell::new("x"), TableCell::new(" ")]);
        assert!(table.complete_html("").is_err_and(|error| error.contains("empty cell")));
    }

    #[test]
    fn all_texts_are_escaped() {
        let mut table = HtmlTable::new("a<b");
        table.heading("h<", "u<", CellTone::Published);
        table.row("n<", [TableCell::new("t<").with_note("o<").with_tip("\"q\"")]);
        let html = table.html("");
        for text in ["a&lt;b", "h&lt;", "u&lt;", "n&lt;", "t&lt;", "o&lt;", "&quot;q&quot;"] {
            assert!(html.contains(text), "{text}");
        }
    }

    #[test]
    fn differences_have_a_sign_and_a_tone() {
        assert!(TableCell::difference(3, 5).html().contains("class=\"better\">\u{2212}2<"));
        assert!(TableCell::difference(5, 3).html().contains("class=\"worse\">+2<"));
        assert!(TableCell::difference(5, 5).html().contains("<td>equal<"));
    }
}
