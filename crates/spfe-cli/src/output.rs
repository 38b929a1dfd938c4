//! Tables and numbers for people.

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

/// A number of bytes, with a binary unit if it is large.
pub fn bytes(count: u64) -> String {
    let (unit, scale) = match count {
        0..1024 => return plural(count, "byte"),
        1024..0x10_0000 => ("KiB", 1u64 << 10),
        0x10_0000..0x4000_0000 => ("MiB", 1 << 20),
        _ => ("GiB", 1 << 30),
    };
    if count.is_multiple_of(scale) {
        return format!("{} {unit}", count / scale);
    }
    format!("{:.2} {unit}", count as f64 / scale as f64)
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

/// Nanoseconds in microseconds.
pub fn micros(ns: u64) -> String {
    format!("{:.2}", ns as f64 / 1e3)
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
    fn bytes_have_units() {
        for (count, text) in
            [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (1536, "1.50 KiB")]
        {
            assert_eq!(bytes(count), text);
        }
        assert_eq!(printable("a'b\u{1b}[31m\u{202e}é"), "a'b\\u{1b}[31m\\u{202e}é");
        assert_eq!((bytes(64 << 20), bytes(3 << 29)), ("64 MiB".into(), "1.50 GiB".into()));
    }
}
