//! One self-contained HTML page: no script, nothing loaded from elsewhere.

use std::fmt::Write;

use crate::chart;
use crate::columns::{self, Column};
use crate::latency_chart;
use crate::model::Document;
use crate::page;
use crate::section::{Section, sections};
use crate::svg::escape;

/// The document as one HTML page with charts and tables.
///
/// The page carries its style and its drawings inside, needs no script, follows the reader's
/// choice of light or dark, and escapes every text it was given.
#[must_use]
pub fn html(document: &Document) -> String {
    let sections = sections(document);
    let title = escape(&page::title(&document.meta));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
        include_str!("style.css"),
    );
    out.push_str(&page::header(document, &sections));
    out.push_str("<main>\n");
    if sections.is_empty() {
        out.push_str("<p>This document holds no results.</p>\n");
    }
    for (index, section) in sections.iter().enumerate() {
        out.push_str(&render_section(section, &page::anchor(index)));
    }
    out.push_str(&page::definitions(document));
    out.push_str(&page::machine(document));
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn render_section(section: &Section<'_>, anchor: &str) -> String {
    let mut out = format!("<section id=\"{anchor}\">\n<h2>{}", escape(&section.title));
    if section.title != section.key && !section.is_random() {
        let _ = write!(out, " <code>{}</code>", escape(&section.key));
    }
    out.push_str("</h2>\n");
    if !section.about.is_empty() {
        let _ = writeln!(out, "<p>{}</p>", escape(section.about));
    }
    if !section.is_latency() {
        let name = format!("{}: rates and loads", section.title);
        let figure = chart::figure(section, &format!("{anchor}-rate"));
        out.push_str(&beside(&figure, &table(&name, &columns::rates(section))));
    }
    if section.is_latency() || section.has_latency() {
        let figure = if section.has_latency() {
            latency_chart::figure(section, &format!("{anchor}-latency"))
        } else {
            String::new()
        };
        let name = format!("{}: percentiles", section.title);
        out.push_str(&beside(&figure, &table(&name, &columns::latencies(section))));
    }
    out.push_str("</section>\n");
    out
}

/// A chart and its table, next to each other where there is room.
fn beside(figure: &str, table: &str) -> String {
    format!("<div class=\"pair\">\n{figure}{table}</div>\n")
}

/// A table that scrolls sideways on its own when the page is narrow.
fn table(name: &str, columns: &[Column]) -> String {
    let name = escape(name);
    let mut out = format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{name}\" tabindex=\"0\">\n<table>\n\
         <caption>{name}</caption>\n<thead>\n<tr>"
    );
    for column in columns {
        let class = if column.published { " class=\"published\"" } else { "" };
        let _ = write!(
            out,
            "<th scope=\"col\"{class}>{} <small>{}</small></th>",
            escape(column.title),
            escape(column.unit)
        );
    }
    out.push_str("</tr>\n</thead>\n<tbody>\n");
    let lines = columns.first().map_or(0, |column| column.cells.len());
    for line in 0..lines {
        out.push_str("<tr>");
        for (index, column) in columns.iter().enumerate() {
            out.push_str(&cell(&column.cells[line], index == 0, column.published));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    out
}

/// A cell. What is in parentheses, the worst case, is set back.
fn cell(text: &str, heading: bool, published: bool) -> String {
    let text = escape(text);
    if heading {
        return format!("<th scope=\"row\">{text}</th>");
    }
    let class = if published { " class=\"published\"" } else { "" };
    match text.split_once(" (") {
        Some((mean, worst)) => format!("<td{class}>{mean} <small>({worst}</small></td>"),
        None => format!("<td{class}>{text}</td>"),
    }
}
