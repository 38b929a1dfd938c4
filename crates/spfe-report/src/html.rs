//! The page of a `spfe perf` document.

use std::fmt::Write;

use crate::chart;
use crate::columns::{self, Column};
use crate::html_table::{CellTone, HtmlTable, TableCell};
use crate::latency_chart;
use crate::markup::{self, escape};
use crate::model::Document;
use crate::page;
use crate::section::{Section, sections};

/// Renders the document as one HTML page with charts and tables.
///
/// The page contains its style and its drawings, needs no script, follows the reader's choice of
/// light or dark, and escapes all text of the document.
#[must_use]
pub fn html(document: &Document) -> String {
    let sections = sections(document);
    let mut body = page::header(document, &sections);
    body.push_str("<main>\n");
    if sections.is_empty() {
        body.push_str("<p>This document holds no results.</p>\n");
    }
    for (index, section) in sections.iter().enumerate() {
        body.push_str(&render_section(section, &page::anchor(index)));
    }
    body.push_str(&page::definitions(document));
    body.push_str(&page::machine(document));
    body.push_str("</main>\n");
    markup::page(&page::title(&document.meta), "", &body)
}

fn render_section(section: &Section<'_>, anchor: &str) -> String {
    let mut out = format!("<section id=\"{anchor}\">\n<h2>{}", escape(&section.title));
    if section.title != section.key && !section.is_named() {
        let _ = write!(out, " <code>{}</code>", escape(&section.key));
    }
    out.push_str("</h2>\n");
    if !section.about.is_empty() {
        let _ = writeln!(out, "<p>{}</p>", escape(section.about));
    }
    if !section.is_latency() {
        let name = format!("{}: rates", section.title);
        let figure = chart::figure(section, &format!("{anchor}-rate"));
        let loads = table("Processor loads", &columns::loads(section));
        out.push_str(&beside(&figure, &(table(&name, &columns::rates(section)) + &loads)));
    }
    if section.is_latency() || section.has_latency() {
        let figure = if section.has_latency() {
            latency_chart::figure(section, &format!("{anchor}-latency"))
        } else {
            String::new()
        };
        let name = format!("{}: percentiles", section.title);
        let mut tables = table(&name, &columns::latencies(section));
        if section.is_latency() {
            tables.push_str(&table("Processor loads", &columns::loads(section)));
        }
        out.push_str(&beside(&figure, &tables));
    }
    out.push_str("</section>\n");
    out
}

/// A chart and its tables, side by side on wide pages.
fn beside(figure: &str, tables: &str) -> String {
    format!("<div class=\"pair\">\n{figure}<div>\n{tables}</div>\n</div>\n")
}

/// The columns as a table. The first column names the rows.
fn table(name: &str, columns: &[Column]) -> String {
    let tone = |column: &Column| {
        if column.published { CellTone::Published } else { CellTone::Plain }
    };
    let mut table = HtmlTable::new(name);
    for column in columns {
        table.heading(column.title, column.unit, tone(column));
    }
    let Some((names, values)) = columns.split_first() else { return table.html("") };
    for (line, name) in names.cells.iter().enumerate() {
        table.row(name, values.iter().map(|column| cell(&column.cells[line], tone(column))));
    }
    table.html("")
}

/// A cell. The worst case, which is in parentheses, is set in smaller type.
fn cell(text: &str, tone: CellTone) -> TableCell {
    match text.split_once(" (") {
        Some((mean, worst)) => TableCell::toned(mean, tone).with_note(format!("({worst}")),
        None => TableCell::toned(text, tone),
    }
}
