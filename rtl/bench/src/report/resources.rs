//! The section on resources: the published tables 1 to 3, and results of open tools for the same
//! eight configurations.

use spfe_report::html_table::{CellTone, HtmlTable, TableCell};
use spfe_report::markup::{grouped, paragraph, part, section};

use crate::bench::synthesis::{Configuration, Synthesis, Top, Xcup};
use crate::published::{Published, Resources};

/// Numbers of sessions of the published configurations.
const SESSIONS: [u32; 2] = [2, 64];
/// The command that measures missing figures.
const MISSING: &str = "run tools/rtl.sh synth --record";

/// Renders a published table unchanged.
fn published(table: &Resources) -> Result<String, String> {
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let heads = table.columns.iter().map(|column| text(&serde_json::Value::from(column.clone())));
    let mut out =
        HtmlTable::with_head(format!("Published table {}: {}", table.number, table.title), heads);
    for row in &table.rows {
        let mut cells = row.iter().map(text);
        let name = cells.next().unwrap_or_default();
        out.row(name, cells.map(|cell| TableCell::toned(cell, CellTone::Published)));
    }
    out.complete_html("cells")
}

/// Look-up tables and registers of a published configuration.
fn published_size(source: &Published, wanted: Configuration) -> Option<(u64, u64)> {
    let number = if wanted.congestion { 1 } else { 2 };
    let table = source.resources.iter().find(|table| table.number == number)?;
    let column = |name: &str| table.columns.iter().position(|column| column == name);
    let at = |row: &[serde_json::Value], name| column(name).and_then(|i| row.get(i)?.as_u64());
    let row = table.rows.iter().find(|row| {
        at(row, "Nb of Sessions") == Some(wanted.sessions.into())
            && at(row, "Data width (bits)") == Some(wanted.width.into())
    })?;
    at(row, "Logic").zip(at(row, "Registers"))
}

/// One of our values, compared to a published one. Fewer is better.
fn against(ours: f64, published: Option<f64>, text: String) -> TableCell {
    let tone = match published {
        Some(published) if ours < published => CellTone::Better,
        Some(published) if ours > published => CellTone::Worse,
        _ => CellTone::Plain,
    };
    TableCell::toned(text, tone)
}

/// A published value, or a note that there is none.
fn theirs(value: Option<f64>) -> TableCell {
    let text = value.map_or("not published".to_owned(), |value| grouped(value as u64));
    TableCell::toned(text, CellTone::Published)
}

fn each() -> impl Iterator<Item = Configuration> {
    [32, 64].into_iter().flat_map(|width| {
        [false, true].into_iter().flat_map(move |congestion| {
            SESSIONS.map(|sessions| Configuration { sessions, width, congestion })
        })
    })
}

fn name(congestion: bool, width: u32) -> String {
    format!("{width} bits · congestion control {}", if congestion { "on" } else { "off" })
}

/// Cells of the whole core for UltraScale+ in all eight configurations.
fn sizes(source: &Published, synthesis: Option<&Synthesis>) -> Result<String, String> {
    let head = [
        "Sessions · width",
        "LUT, published",
        "LUT, ours",
        "of them memory",
        "FF, published",
        "FF, ours",
        "BRAM36, ours",
    ];
    let mut table = HtmlTable::with_head("Cells for UltraScale+", head.map(str::to_owned));
    for wanted in each() {
        let row = format!("{} · {}", wanted.sessions, name(wanted.congestion, wanted.width));
        let size = published_size(source, wanted);
        let (lut, ff) = (size.map(|size| size.0 as f64), size.map(|size| size.1 as f64));
        let found = synthesis.and_then(|synthesis| synthesis.core(wanted));
        let Some(taken) = found.and_then(|(_, top)| top.xcup.as_ref()) else {
            table.row(
                row,
                [
                    theirs(lut),
                    TableCell::absent(MISSING).over(2),
                    theirs(ff),
                    TableCell::absent(MISSING).over(2),
                ],
            );
            continue;
        };
        table.row(
            row,
            [
                theirs(lut),
                against(taken.lut_total as f64, lut, grouped(taken.lut_total)),
                TableCell::new(grouped(taken.lutram.luts)),
                theirs(ff),
                against(taken.ff as f64, ff, grouped(taken.ff)),
                TableCell::new(taken.blocks().to_string()),
            ],
        );
    }
    table.complete_html("plain-first")
}

/// Splits cells into those of a session and the rest, from the numbers with few and many sessions.
fn split(few: u64, many: u64) -> (f64, f64) {
    let [low, high] = SESSIONS.map(f64::from);
    let each = (many as f64 - few as f64) / (high - low);
    (each, few as f64 - low * each)
}

/// The table of cells per session, and of the rest.
fn costs(source: &Published, synthesis: &Synthesis) -> Result<String, String> {
    let head = ["Configuration", "LUT", "LUT, published", "FF", "FF, published"].map(str::to_owned);
    let mut table = HtmlTable::with_head("Cells of a session, and of the rest", head);
    for (width, congestion) in [(32, false), (32, true), (64, false), (64, true)] {
        let wanted = SESSIONS.map(|sessions| Configuration { sessions, width, congestion });
        let ours =
            wanted.map(|wanted| synthesis.core(wanted).and_then(|(_, top)| top.xcup.as_ref()));
        let [Some(few), Some(many)] = ours else { continue };
        let size = wanted.map(|wanted| published_size(source, wanted));
        let pair = |of: fn((u64, u64)) -> u64| match size {
            [Some(few), Some(many)] => Some(split(of(few), of(many))),
            _ => None,
        };
        let parts = [
            (split(few.lut_total, many.lut_total), pair(|size| size.0)),
            (split(few.ff, many.ff), pair(|size| size.1)),
        ];
        let cells = |of: fn((f64, f64)) -> f64| {
            parts.into_iter().flat_map(move |(ours, published)| {
                let published = published.map(of);
                let text = grouped(of(ours).round().max(0.0) as u64);
                [against(of(ours), published, text), theirs(published)]
            })
        };
        table.lead_row(format!("a session, {}", name(congestion, width)), cells(|part| part.0));
        table.row(format!("the rest, {}", name(congestion, width)), cells(|part| part.1));
    }
    if table.is_empty() {
        return Ok(String::new());
    }
    table.complete_html("plain-first")
}

/// The table of logic depth, which limits the clock rate.
fn depth(synthesis: &Synthesis) -> Result<String, String> {
    let head = ["Core", "Levels", "from", "to"].map(str::to_owned);
    let mut table = HtmlTable::with_head("Longest chain of look-up tables, UltraScale+", head);
    for (name, top) in synthesis.cores() {
        if let Some(Xcup { logic, .. }) = &top.xcup {
            let ends = [&logic.from, &logic.to].map(|end| TableCell::new(end.clone()));
            table.row(name, std::iter::once(TableCell::new(logic.levels.to_string())).chain(ends));
        }
    }
    if table.is_empty() {
        return Ok(String::new());
    }
    table.complete_html("plain-first wraps")
}

/// The table of cells and clock rates after place and route for an ECP5.
fn ecp5(synthesis: &Synthesis) -> Result<String, String> {
    let head = ["Core", "LUT4", "FF", "DP16KD", "Clock rate: median", "of runs with other seeds"];
    let mut table =
        HtmlTable::with_head("Place and route, ECP5-85, speed grade 8", head.map(str::to_owned));
    for (name, top) in synthesis.cores() {
        let Some(taken) = &top.ecp5 else { continue };
        let rates: Vec<String> = taken.fmax_mhz.values().map(|rate| format!("{rate:.1}")).collect();
        table.row(
            name,
            [
                TableCell::new(grouped(taken.lut4_total)),
                TableCell::new(grouped(taken.ff - taken.harness_ff)),
                TableCell::new(taken.dp16kd.to_string()),
                TableCell::new(format!("{:.1} MHz", taken.median())),
                TableCell::new(rates.join(", ")),
            ],
        );
    }
    if table.is_empty() {
        table.row("all", [TableCell::absent(MISSING).over(5)]);
    }
    table.complete_html("plain-first")
}

/// Says which tools and which state of the sources the figures come from.
fn state(synthesis: &Synthesis) -> Result<String, String> {
    let of = |top: &Top| {
        let xcup = top.xcup.iter().map(|flow| (flow.sources.clone(), flow.tool.clone()));
        let ecp5 = top.ecp5.iter().map(|flow| (flow.sources.clone(), flow.tool.clone()));
        xcup.chain(ecp5).collect::<Vec<_>>()
    };
    let mut tools = Vec::new();
    let mut old = Vec::new();
    for (name, top) in synthesis.cores() {
        let now = synthesis.now(&top.module)?;
        for (sources, tool) in of(top) {
            tools.push(tool.replace("==", " "));
            if sources != now {
                old.push(name);
            }
        }
    }
    tools.sort();
    tools.dedup();
    old.dedup();
    let state = match &old[..] {
        [] => "of the sources as they are now".to_owned(),
        names => format!("of an older state of the sources for {}", names.join(", ")),
    };
    Ok(paragraph(&format!("Made by {}; {state}.", tools.join(" and "))))
}

/// Renders the section.
///
/// # Errors
/// A published table is missing, or the results of synthesis are incomplete.
pub fn html(source: &Published, synthesis: Option<&Synthesis>) -> Result<String, String> {
    let mut body = paragraph(
        "Published: after place and route, without the external retransmission memory. Ours: an \
         estimate by yosys before packing of LUTs and before place and route, without the same \
         memory. It is an upper estimate, and gives no clock rate. The rate in an ECP5, a small \
         and slow device, is after place and route with open tools and shows the trend.",
    );
    for table in &source.resources {
        body.push_str(&part(&table.title, &published(table)?));
    }
    let mut ours = sizes(source, synthesis)?;
    if let Some(synthesis) = synthesis {
        ours.push_str(&state(synthesis)?);
        ours.push_str(&costs(source, synthesis)?);
        ours.push_str(&depth(synthesis)?);
        ours.push_str(&ecp5(synthesis)?);
    }
    body.push_str(&part("All eight configurations", &ours));
    Ok(section("resources", "Resources and clock rates", &body))
}
