//! Pieces of a page. A cell that says nothing is an error, not a gap.

use std::fmt::Write;

/// Text made safe for HTML and XML.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// How a cell is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// A value.
    #[default]
    Plain,
    /// A published value.
    Published,
    /// Better than published.
    Better,
    /// Worse than published.
    Worse,
    /// Not measured: the text is the reason.
    Absent,
}

/// A cell.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    text: String,
    tone: Tone,
    tip: String,
    columns: usize,
}

impl Cell {
    /// A value.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), columns: 1, ..Self::default() }
    }

    /// A value of a tone.
    #[must_use]
    pub fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { tone, ..Self::new(text) }
    }

    /// Nothing was measured, for a reason.
    #[must_use]
    pub fn absent(reason: &str) -> Self {
        Self { tone: Tone::Absent, ..Self::new(format!("not measured: {reason}")) }
    }

    /// With a note that is shown when it is pointed at.
    #[must_use]
    pub fn with_tip(self, tip: impl Into<String>) -> Self {
        Self { tip: tip.into(), ..self }
    }

    /// Over several columns.
    #[must_use]
    pub fn over(self, columns: usize) -> Self {
        Self { columns, ..self }
    }

    /// A difference to a published value, in cycles: fewer is better.
    #[must_use]
    pub fn difference(ours: i64, published: i64) -> Self {
        let tone = match ours.cmp(&published) {
            std::cmp::Ordering::Less => Tone::Better,
            std::cmp::Ordering::Equal => Tone::Plain,
            std::cmp::Ordering::Greater => Tone::Worse,
        };
        let text = match ours - published {
            0 => "equal".to_owned(),
            less if less < 0 => format!("\u{2212}{}", -less),
            more => format!("+{more}"),
        };
        Self::toned(text, tone)
    }
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    caption: String,
    head: Vec<String>,
    rows: Vec<(String, Vec<Cell>, bool)>,
}

impl Table {
    /// A table with heads of its columns, that of the names of rows first.
    #[must_use]
    pub fn new(caption: impl Into<String>, head: impl IntoIterator<Item = String>) -> Self {
        Self { caption: caption.into(), head: head.into_iter().collect(), rows: Vec::new() }
    }

    /// A row.
    pub fn row(&mut self, name: impl Into<String>, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push((name.into(), cells.into_iter().collect(), false));
    }

    /// A row that begins a group.
    pub fn lead(&mut self, name: impl Into<String>, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push((name.into(), cells.into_iter().collect(), true));
    }

    /// Rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table, for a page.
    ///
    /// # Errors
    /// It has no rows, an empty cell, or a row of another length than the head.
    pub fn html(&self, class: &str) -> Result<String, String> {
        let fail = |what: String| Err(format!("table \"{}\": {what}", self.caption));
        if self.rows.is_empty() {
            return fail("it has no rows".to_owned());
        }
        let mut out = format!(
            "<div class=\"scroll\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\">\n\
             <table class=\"{class}\">\n<caption>{0}</caption>\n<thead><tr>",
            escape(&self.caption)
        );
        for head in &self.head {
            let _ = write!(out, "<th scope=\"col\">{}</th>", escape(head));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for (name, cells, lead) in &self.rows {
            let columns: usize = cells.iter().map(|cell| cell.columns).sum();
            if columns + 1 != self.head.len() {
                return fail(format!(
                    "row \"{name}\" has {columns} cells, {} heads",
                    self.head.len()
                ));
            }
            if name.trim().is_empty() || cells.iter().any(|cell| cell.text.trim().is_empty()) {
                return fail(format!("row \"{name}\" has an empty cell"));
            }
            let class = if *lead { " class=\"lead\"" } else { "" };
            let _ = write!(out, "<tr{class}><th scope=\"row\">{}</th>", escape(name));
            for cell in cells {
                out.push_str(&cell.html());
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n</div>\n");
        Ok(out)
    }
}

impl Cell {
    fn html(&self) -> String {
        let class = match self.tone {
            Tone::Plain => "",
            Tone::Published => " class=\"published\"",
            Tone::Better => " class=\"better\"",
            Tone::Worse => " class=\"worse\"",
            Tone::Absent => " class=\"absent\"",
        };
        let tip = match self.tip.as_str() {
            "" => String::new(),
            tip => format!(" title=\"{}\"", escape(tip)),
        };
        let columns = match self.columns {
            1 => String::new(),
            columns => format!(" colspan=\"{columns}\""),
        };
        format!("<td{class}{tip}{columns}>{}</td>", escape(&self.text))
    }
}

/// A section with a heading.
#[must_use]
pub fn section(id: &str, title: &str, body: &str) -> String {
    format!("<section id=\"{id}\">\n<h2>{}</h2>\n{body}</section>\n", escape(title))
}

/// Part of a section.
#[must_use]
pub fn part(title: &str, body: &str) -> String {
    format!("<h3>{}</h3>\n{body}", escape(title))
}

/// A paragraph of plain text.
#[must_use]
pub fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

/// A drawing with its number and title.
#[must_use]
pub fn figure(number: &str, title: &str, svg: &str) -> String {
    format!(
        "<figure class=\"wide\">\n{svg}<figcaption><b>{}</b> {}</figcaption>\n</figure>\n",
        escape(number),
        escape(title)
    )
}

/// What can be opened.
#[must_use]
pub fn details(summary: &str, body: &str) -> String {
    format!("<details>\n<summary>{}</summary>\n{body}</details>\n", escape(summary))
}

/// A number with thin spaces between thousands.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push('\u{2009}');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_an_error() {
        let mut table = Table::new("T", ["n", "a", "b"].map(str::to_owned));
        assert!(table.html("").is_err(), "no rows");
        table.row("1", [Cell::new("x"), Cell::new("y")]);
        assert!(table.html("").is_ok());
        let mut short = table.clone();
        short.row("2", [Cell::new("x")]);
        assert!(short.html("").is_err_and(|error| error.contains("\"2\" has 1 cells")));
        table.row("3", [Cell::new("x"), Cell::new(" ")]);
        assert!(table.html("").is_err_and(|error| error.contains("empty cell")));
    }

    #[test]
    fn markup_is_escaped_and_thousands_are_grouped() {
        let mut table = Table::new("a<b", ["n".to_owned(), "x".to_owned()]);
        table.row("&", [Cell::new("<i>").with_tip("\"q\"")]);
        let html = table.html("").expect("whole");
        assert!(html.contains("a&lt;b") && html.contains("&lt;i&gt;") && html.contains("&quot;q"));
        assert_eq!(grouped(1_234_567), "1\u{2009}234\u{2009}567");
        assert_eq!(grouped(12), "12");
    }
}
