//! Tables of the simulation page.

use crate::html_table::{CellTone, HtmlTable, TableCell};

/// Columns that hold text, aligned to the left. The others hold numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextColumns {
    First,
    FirstTwo,
    All,
}

/// Contents of a table.
pub(super) struct Grid<'a> {
    pub name: &'a str,
    /// Headings and their units.
    pub head: &'a [(&'a str, &'a str)],
    /// Rows of cells, one for each heading.
    pub rows: Vec<Vec<String>>,
    pub text: TextColumns,
}

impl Grid<'_> {
    /// Renders the table. The result is empty if there are no rows.
    pub fn html(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let class = match self.text {
            TextColumns::First => "sim",
            TextColumns::FirstTwo => "sim two",
            TextColumns::All => "sim names",
        };
        let mut table = HtmlTable::new(self.name);
        for (title, unit) in self.head {
            table.heading(*title, unit, CellTone::Plain);
        }
        for row in &self.rows {
            if let Some((name, cells)) = row.split_first() {
                table.row(name, cells.iter().map(TableCell::new));
            }
        }
        table.html(class)
    }
}
