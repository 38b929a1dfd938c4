//! Writes the report of the endpoint core out of its records: tools/endpoint_report.sh.
//!
//! Every value comes from a record of a measurement, from the record of synthesis, or from
//! published figures. Without a measurement there is no report; a size without a record is named as
//! not measured.

mod measured;
mod resources;

use measured::Measured;
use resources::Resources;
use serde_json::Value;
use spfe_report::line_plot::{self, LinePlot};
use spfe_report::markup::{self, escape, figure, section};
use std::path::Path;
use std::process::ExitCode;

/// Where the records are, and the report is written.
const DIRECTORY: &str = "target/rtl/endpoint";
const SYNTHESIS: &str = "rtl/synth";
const TITLE: &str = "SpaceFibre endpoint core";
const SECTIONS: [(&str, &str); 5] = [
    ("summary", "Summary"),
    ("tables", "Link use"),
    ("times", "Latency"),
    ("recovery", "Recovery"),
    ("resources", "Resources"),
];
/// Rules in addition to the common style.
const STYLE: &str = "\
.banner { border-left: 4px solid var(--limit); padding: 0.4rem 0.8rem; background: var(--card); }
nav ul { display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; padding: 0; list-style: none; }
figcaption { display: block; }
figure { margin: 0.8rem 0; }
.wide > svg { max-width: 62rem; }
";

/// The drawings of the page, by name of their files.
#[derive(Default)]
struct Page {
    drawings: Vec<(String, String)>,
}

impl Page {
    /// Draws a plot as the next figure.
    fn plot(&mut self, plot: &LinePlot) -> Result<String, String> {
        let svg = plot.svg()?;
        self.drawings.push((plot.id.clone(), svg.clone()));
        Ok(figure(&format!("Figure {}.", self.drawings.len()), &plot.title, &svg))
    }
}

fn read(directory: &str, name: &str) -> Result<Value, String> {
    let path = Path::new(directory).join(name);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// A number of a record.
fn number(record: &Value, name: &str) -> Result<f64, String> {
    record[name].as_f64().ok_or_else(|| format!("a record has no number '{name}': {record}"))
}

/// A text of a record.
fn text<'a>(record: &'a Value, name: &str) -> Result<&'a str, String> {
    record[name].as_str().ok_or_else(|| format!("a record has no text '{name}': {record}"))
}

/// A list of a record.
fn list<'a>(record: &'a Value, name: &str) -> Result<&'a [Value], String> {
    let list = record[name].as_array().filter(|list| !list.is_empty());
    list.map(Vec::as_slice).ok_or_else(|| format!("a record has no list '{name}'"))
}

fn render(measured: &Measured, resources: &Resources) -> Result<(String, Page), String> {
    let mut page = Page::default();
    let links: String = SECTIONS
        .iter()
        .map(|(id, title)| format!("<li><a href=\"#{id}\">{title}</a></li>"))
        .collect();
    let mut body = format!(
        "<header>\n<h1>{TITLE}</h1>\n<p class=\"facts\">{}</p>\n<p class=\"banner\">Simulation of \
         the synthesizable core, not hardware; times are cycles. Sizes are estimates of open tools \
         before placement.</p>\n<nav><ul>{links}</ul></nav>\n</header>\n<main>\n",
        escape(&measured.facts()?)
    );
    let parts = [
        measured.goals()? + &resources.goals()?,
        measured.tables(&mut page)?,
        measured.times(&mut page)?,
        measured.recovery()?,
        resources.html(&mut page)?,
    ];
    for ((id, title), part) in SECTIONS.iter().zip(parts) {
        body += &section(id, title, &part);
    }
    Ok((markup::page(TITLE, STYLE, &(body + "</main>\n")), page))
}

fn write() -> Result<(), String> {
    let measured = Measured {
        tables: read(DIRECTORY, "tables.json")?,
        recovery: read(DIRECTORY, "recovery.json")?,
    };
    let path = Path::new(DIRECTORY).join("status.txt");
    let resources = Resources {
        record: read(SYNTHESIS, "results.json")?,
        published: read(SYNTHESIS, "published.json")?,
        status: std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?,
    };
    let (html, page) = render(&measured, &resources)?;
    let put = |name: &str, text: &str| {
        let path = Path::new(DIRECTORY).join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    std::fs::create_dir_all(Path::new(DIRECTORY).join("svg")).map_err(|e| e.to_string())?;
    for (name, svg) in &page.drawings {
        put(&format!("svg/{name}.svg"), &line_plot::standalone(svg, ""))?;
    }
    put("index.html", &html)
}

fn main() -> ExitCode {
    match write() {
        Ok(()) => {
            println!("{DIRECTORY}/index.html");
            ExitCode::SUCCESS
        }
        Err(what) => {
            eprintln!("endpoint_report: {what}");
            ExitCode::FAILURE
        }
    }
}
