//! Tables and numbers for people.

use spfe_host::topology::units;
pub use units::{rate_text as rate, size_text as bytes, time_text as seconds};

/// A table whose first `left` columns are left-aligned and whose others are right-aligned.
pub fn table(head: &[&str], left: usize, rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain(head.get(column).map(|name| name.len())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = line(head.iter().copied(), &widths, left);
    for row in rows {
        text.push_str(&line(row.iter().map(String::as_str), &widths, left));
    }
    text
}

fn line<'a>(cells: impl Iterator<Item = &'a str>, widths: &[usize], left: usize) -> String {
    let mut text = String::new();
    for (column, (cell, &width)) in cells.zip(widths).enumerate() {
        if column != 0 {
            text.push_str("  ");
        }
        text.push_str(&if column < left {
            format!("{cell:<width$}")
        } else {
            format!("{cell:>width$}")
        });
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// A number with its noun: `1 packet`, `2 packets`.
pub fn plural(count: u64, thing: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{ending}")
}

/// Gbit/s of user data.
pub fn gbps(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds / 1e9 } else { 0.0 }
}

/// A number of JSON with no more digits than it has meaning.
pub fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// A time of so many nanoseconds, with a fitting unit.
pub fn time(ns: u64) -> String {
    units::time_text(ns as f64 / 1e9)
}

/// Text from elsewhere, safe to show: control and invisible characters are written out.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\'' | '"' | '\\' => shown.push(c),
            _ => shown.extend(c.escape_debug()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".into(), "1".into()], vec!["long".into(), "234".into()]];
        assert_eq!(table(&["NAME", "N"], 1, &rows), "NAME    N\na       1\nlong  234\n");
    }

    #[test]
    fn foreign_text_is_harmless() {
        assert_eq!(printable("a'b\u{1b}[31m\u{202e}é"), "a'b\\u{1b}[31m\\u{202e}é");
    }
}
