//! Parts of an HTML page. A page is one file without scripts, and it loads nothing.

/// Style of all pages. It follows the reader's choice of light or dark.
const STYLE: &str = include_str!("style.css");

/// Escapes text for HTML and XML, for use in elements and in quoted attributes. Characters that XML
/// does not allow become spaces.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Makes a page from its title and body. `style` holds rules in addition to the common style.
///
/// The title is escaped; `style` and `body` are not.
#[must_use]
pub fn page(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n{body}</body>\n\
         </html>\n",
        escape(title)
    )
}

/// A section with a heading. `body` is HTML.
#[must_use]
pub fn section(id: &str, title: &str, body: &str) -> String {
    format!("<section id=\"{id}\">\n<h2>{}</h2>\n{body}</section>\n", escape(title))
}

/// A part of a section with a smaller heading. `body` is HTML.
#[must_use]
pub fn part(title: &str, body: &str) -> String {
    format!("<h3>{}</h3>\n{body}", escape(title))
}

/// A paragraph of plain text.
#[must_use]
pub fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

/// A drawing over the full width, with its number and title.
#[must_use]
pub fn figure(number: &str, title: &str, svg: &str) -> String {
    format!(
        "<figure class=\"wide\">\n{svg}<figcaption><b>{}</b> {}</figcaption>\n</figure>\n",
        escape(number),
        escape(title)
    )
}

/// A part that the reader can open and close. `body` is HTML.
#[must_use]
pub fn details(summary: &str, body: &str) -> String {
    format!("<details>\n<summary>{}</summary>\n{body}</details>\n", escape(summary))
}

/// A number with thin spaces between groups of three digits.
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
    fn markup_and_control_characters_are_escaped() {
        assert_eq!(
            escape("<a b=\"c\" d='e'>&\u{1}"),
            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp; "
        );
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(12), "12");
        assert_eq!(grouped(1_234_567), "1\u{2009}234\u{2009}567");
    }
}
