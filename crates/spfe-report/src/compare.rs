//! Several runs in one report: their curves in the same charts, their figures in the same tables.

use std::fmt::Write;

use crate::html_table::{HtmlTable, TableCell};
use crate::markup::{self, escape};
use crate::model::{Document, Meta, ResultRow};
use crate::num::{NONE, fixed, four, optional, size};
use crate::section::{self, Section};
use crate::svg::{self, LEFT, Marker, RIGHT, Scale, Slots, TOP, drawable, label};
use crate::table::{aligned_cells, one_line};

/// Number of runs that a report can tell apart by colour.
pub const RUNS_MAX: usize = 8;

/// A run and its name in the report.
pub struct ComparedRun {
    /// Name in legends and tables.
    pub name: String,
    /// Its results.
    pub document: Document,
}

/// A figure that is compared.
struct Figure {
    title: &'static str,
    unit: &'static str,
    latency: bool,
    pick: fn(&ResultRow) -> f64,
}

const FIGURES: [Figure; 5] = [
    Figure { title: "Data rate", unit: "Gbit/s", latency: false, pick: |row| row.rate_gbps },
    Figure {
        title: "Host CPU",
        unit: "% of one core",
        latency: false,
        pick: |row| row.host_cpu_pct,
    },
    Figure {
        title: "Host and device CPU",
        unit: "% of one core",
        latency: false,
        pick: ResultRow::sum_cpu_pct,
    },
    Figure {
        title: "Mean latency",
        unit: "µs",
        latency: true,
        pick: |row| row.latency_ns.map_or(f64::NAN, |ns| ns.mean / 1e3),
    },
    Figure {
        title: "Latency, 99.9 %",
        unit: "µs",
        latency: true,
        pick: |row| row.latency_ns.map_or(f64::NAN, |ns| ns.p999 / 1e3),
    },
];

/// A case that at least one run has: what identifies it, and its row in each run.
struct CaseRows<'a> {
    label: String,
    rows: Vec<Option<&'a ResultRow>>,
}

/// The cases of a scenario in all runs.
struct Scenario<'a> {
    title: String,
    latency: bool,
    cases: Vec<CaseRows<'a>>,
}

/// What identifies a case within its scenario.
fn identity(row: &ResultRow) -> (u64, u32, String, Option<u64>, Option<u64>) {
    let (min, max) = (row.size_min_bytes, row.size_max_bytes);
    // The mean of random sizes differs from run to run.
    let bytes = if min.is_some() { 0 } else { row.size_bytes };
    (bytes, row.group, row.scenario.clone(), min, max)
}

fn case_label(row: &ResultRow, named: bool) -> String {
    let mut label = match (row.size_min_bytes, row.size_max_bytes) {
        (Some(min), Some(max)) => format!("{} to {}", size(min), size(max)),
        _ => size(row.size_bytes),
    };
    if row.group != 1 {
        let _ = write!(label, " × {}", row.group);
    }
    if named { format!("{}, {label}", row.scenario) } else { label }
}

fn scenarios(runs: &[ComparedRun]) -> Vec<Scenario<'_>> {
    let sections: Vec<Vec<Section<'_>>> =
        runs.iter().map(|run| section::sections(&run.document)).collect();
    let mut keys: Vec<&str> = Vec::new();
    for section in sections.iter().flatten() {
        if !keys.contains(&section.key.as_str()) {
            keys.push(&section.key);
        }
    }
    let of = |key: &str| {
        let mut cases: Vec<(_, CaseRows<'_>)> = Vec::new();
        let (mut title, mut latency) = (String::new(), false);
        for (run, sections) in sections.iter().enumerate() {
            let Some(section) = sections.iter().find(|section| section.key == key) else {
                continue;
            };
            (title, latency) = (section.title.clone(), section.is_latency());
            for row in &section.rows {
                let same = identity(row);
                let at = cases.iter().position(|(identity, _)| *identity == same);
                let at = at.unwrap_or_else(|| {
                    let label = case_label(row, section.is_named());
                    cases.push((same, CaseRows { label, rows: vec![None; runs.len()] }));
                    cases.len() - 1
                });
                cases[at].1.rows[run] = Some(row);
            }
        }
        // By size and group, as in the reports of single runs.
        cases.sort_by_key(|((bytes, group, ..), _)| (*bytes, *group));
        Scenario { title, latency, cases: cases.into_iter().map(|(_, case)| case).collect() }
    };
    keys.into_iter().map(of).collect()
}

impl Scenario<'_> {
    fn figures(&self) -> impl Iterator<Item = &'static Figure> {
        FIGURES.iter().filter(|figure| figure.latency == self.latency)
    }

    fn values(&self, figure: &Figure, run: usize) -> Vec<Option<f64>> {
        let value = |case: &CaseRows<'_>| case.rows[run].map(figure.pick).and_then(drawable);
        self.cases.iter().map(value).collect()
    }
}

/// Renders the runs as one HTML page with charts and tables.
#[must_use]
pub fn html(runs: &[ComparedRun]) -> String {
    let mut body = String::from("<header>\n<h1>spfe performance: runs compared</h1>\n");
    body.push_str(
        &differences(runs).iter().map(|text| markup::paragraph(text)).collect::<String>(),
    );
    body.push_str("</header>\n<main>\n");
    body.push_str(&facts_table(runs));
    for (number, scenario) in scenarios(runs).iter().enumerate() {
        let _ = write!(body, "<section>\n<h2>{}</h2>\n", escape(&scenario.title));
        for (index, figure) in scenario.figures().enumerate() {
            let id = format!("c{number}-{index}");
            let drawing = chart(runs, scenario, figure, &id);
            let _ = write!(body, "<div class=\"pair\">\n{drawing}<div>\n");
            body.push_str(&table(runs, scenario, figure));
            body.push_str("</div>\n</div>\n");
        }
        body.push_str("</section>\n");
    }
    body.push_str("</main>\n");
    markup::page("spfe performance: runs compared", "", &body)
}

/// Renders the runs as aligned tables.
#[must_use]
pub fn text(runs: &[ComparedRun]) -> String {
    let mut out = String::new();
    for (number, run) in runs.iter().enumerate() {
        let facts = facts(&run.document.meta);
        let known = facts.iter().filter(|(_, value)| !value.is_empty());
        let list: Vec<_> = known.map(|(name, value)| format!("{name} {value}")).collect();
        let _ = writeln!(out, "{}: {}\n  {}", number + 1, one_line(&run.name), list.join(", "));
    }
    for text in differences(runs) {
        let _ = writeln!(out, "Note: {}", one_line(&text));
    }
    for scenario in scenarios(runs) {
        let _ = writeln!(out, "\n{}", one_line(&scenario.title));
        let mut columns = vec![vec!["Case".to_owned(), String::new()]];
        columns[0].extend(scenario.cases.iter().map(|case| one_line(&case.label)));
        for figure in scenario.figures() {
            for run in 0..runs.len() {
                let mut column =
                    vec![format!("{} {}", figure.title, run + 1), figure.unit.to_owned()];
                column.extend(
                    scenario.values(figure, run).into_iter().map(|value| cell(figure, value)),
                );
                columns.push(column);
            }
        }
        out.push_str(&aligned_cells(&columns));
    }
    out
}

fn cell(figure: &Figure, value: Option<f64>) -> String {
    match value {
        Some(value) if figure.unit.starts_with('%') => fixed(value, 1),
        Some(value) => four(value),
        None => NONE.to_owned(),
    }
}

/// The conditions that decide whether runs can be compared.
fn facts(meta: &Meta) -> Vec<(&'static str, String)> {
    let count = |number: u32| if number == 0 { String::new() } else { number.to_string() };
    vec![
        ("date", meta.date.clone()),
        ("spfe", meta.version.clone()),
        ("revision", meta.git_revision.clone()),
        ("processor", meta.cpu_model.clone()),
        ("cores", count(meta.cores)),
        ("kernel", meta.kernel.clone()),
        ("device", meta.mode.clone()),
        ("link", meta.link.clone()),
        ("wait", meta.wait_strategy.clone()),
        ("iterations", count(meta.iterations)),
        ("seconds", optional(Some(meta.seconds).filter(|seconds| *seconds > 0.0), 2)),
    ]
}

/// Names the conditions in which the runs differ.
fn differences(runs: &[ComparedRun]) -> Vec<String> {
    let all: Vec<_> = runs.iter().map(|run| facts(&run.document.meta)).collect();
    let Some((first, others)) = all.split_first() else { return Vec::new() };
    let differs = |index: usize| others.iter().any(|facts| facts[index].1 != first[index].1);
    // Runs at different times are what a comparison is for.
    let names: Vec<_> =
        (1..first.len()).filter(|index| differs(*index)).map(|index| first[index].0).collect();
    if names.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "The runs differ in: {}. Figures compare only as far as these have no influence.",
        names.join(", ")
    )]
}

fn facts_table(runs: &[ComparedRun]) -> String {
    let mut table = HtmlTable::new("Runs");
    table.heading("", "", Default::default());
    runs.iter().for_each(|run| table.heading(&run.name, "", Default::default()));
    let all: Vec<_> = runs.iter().map(|run| facts(&run.document.meta)).collect();
    let names = all.first().map(|facts| facts.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (index, name) in names.unwrap_or_default().into_iter().enumerate() {
        let value = |facts: &Vec<(&str, String)>| match facts[index].1.as_str() {
            "" => TableCell::new(NONE),
            value => TableCell::new(value),
        };
        table.row(name, all.iter().map(value));
    }
    table.html("plain")
}

fn table(runs: &[ComparedRun], scenario: &Scenario<'_>, figure: &Figure) -> String {
    let mut table = HtmlTable::new(format!("{}: {}", scenario.title, figure.title));
    table.heading("Case", "", Default::default());
    runs.iter().for_each(|run| table.heading(&run.name, figure.unit, Default::default()));
    let values: Vec<_> = (0..runs.len()).map(|run| scenario.values(figure, run)).collect();
    for (index, case) in scenario.cases.iter().enumerate() {
        let cells = values.iter().map(|values| TableCell::new(cell(figure, values[index])));
        table.row(&case.label, cells);
    }
    table.html("")
}

/// Markers of the runs, so that colours are not the only difference.
const MARKERS: [Marker; 4] = [Marker::Circle, Marker::Square, Marker::Diamond, Marker::Ring];

/// The curves of all runs, as a `figure` element.
fn chart(runs: &[ComparedRun], scenario: &Scenario<'_>, figure: &Figure, id: &str) -> String {
    let all: Vec<_> = (0..runs.len()).map(|run| scenario.values(figure, run)).collect();
    let scale = Scale::holding(all.iter().flatten().copied().flatten());
    let slots = Slots::new(scenario.cases.len());
    let labels: Vec<Vec<String>> = scenario
        .cases
        .iter()
        .map(|case| {
            let (length, group) = match case.label.split_once(" × ") {
                Some((length, group)) => (length, Some(format!("×{group}"))),
                None => (case.label.as_str(), None),
            };
            [length.to_owned()].into_iter().chain(group).collect()
        })
        .collect();
    let mut body = String::new();
    for (tick, value) in scale.ticks().enumerate() {
        let y = scale.y(value);
        if tick > 0 {
            body.push_str(&svg::grid_line(y));
        }
        body.push_str(&label(LEFT - 7.0, y + 4.5, "end", &svg::tick_label(value)));
    }
    body.push_str(&label(4.0, TOP - 14.0, "start axis", figure.unit));
    body.push_str(&label(RIGHT, TOP - 14.0, "end axis", figure.title));
    body.push_str(&slots.axis(&labels, "Packet length, and packets per operation"));
    for (run, values) in all.iter().enumerate() {
        let ys: Vec<Option<f64>> = values.iter().map(|value| value.map(|y| scale.y(y))).collect();
        body.push_str(&slots.line(&format!("curve v{}", run % RUNS_MAX), &ys));
        for (index, y) in ys.iter().enumerate() {
            let (Some(y), Some(value)) = (y, values[index]) else { continue };
            let (name, case) = (&runs[run].name, &scenario.cases[index].label);
            let tip = format!("{name}, {case}: {} {}", cell(figure, Some(value)), figure.unit);
            let class = format!("curve v{} filled", run % RUNS_MAX);
            body.push_str(&svg::marker(MARKERS[run % 4], &class, slots.x(index), *y, &tip));
        }
    }
    let name = format!("{}: {}", scenario.title, figure.title);
    let description = describe(runs, scenario, figure, &all);
    let drawing = svg::document(id, &name, &description, svg::height(&labels), &body);
    let mut legend = String::from("<figcaption>\n");
    for (index, run) in runs.iter().enumerate() {
        let class = format!("curve v{}", index % RUNS_MAX);
        let mark = svg::marker(MARKERS[index % 4], &format!("{class} filled"), 14.0, 6.0, "");
        let _ = writeln!(
            legend,
            "<span class=\"key\"><svg viewBox=\"0 0 28 12\" aria-hidden=\"true\">\
             <path class=\"{class}\" d=\"M0 6H28\"/>{}</svg>{}</span>",
            mark.trim_end(),
            escape(&run.name)
        );
    }
    format!("<figure>\n{drawing}{legend}</figcaption>\n</figure>\n")
}

/// Describes a chart for screen readers.
fn describe(
    runs: &[ComparedRun],
    scenario: &Scenario<'_>,
    figure: &Figure,
    all: &[Vec<Option<f64>>],
) -> String {
    let mut out = format!("{} in {}.", figure.title, figure.unit);
    for (index, case) in scenario.cases.iter().enumerate() {
        let _ = write!(out, " {}:", case.label);
        for (run, values) in runs.iter().zip(all) {
            let _ = write!(out, " {} {};", run.name, cell(figure, values[index]));
        }
    }
    out
}
