//! The section on resources: the published tables 1 to 3, and results of open tools for the same
//! eight configurations.

use spfe_report::html_table::{CellTone, HtmlTable, TableCell};
use spfe_report::markup::{grouped, paragraph, part, section};

use crate::bench::synthesis::{Configuration, Ecp5, Synthesis, Wanted, Xcup};
use crate::published::{Published, Resources};

/// Numbers of sessions of the published configurations.
const SESSIONS: [u32; 2] = [2, 64];

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

/// Cells of the whole core for UltraScale+ in all eight configurations. Ours are estimates before
/// placement, so they are not called better or worse than those after it.
fn sizes(source: &Published, synthesis: &Synthesis) -> Result<String, String> {
    let head = [
        "Sessions · width",
        "LUT, published",
        "LUT, ours",
        "of them memory",
        "FF, published",
        "FF, ours",
        "BRAM36, ours",
        "Sources",
    ];
    let mut table = HtmlTable::with_head("Cells for UltraScale+", head.map(str::to_owned));
    for wanted in each() {
        let row = format!("{} · {}", wanted.sessions, name(wanted.congestion, wanted.width));
        let size = published_size(source, wanted);
        let (lut, ff) = (size.map(|size| size.0 as f64), size.map(|size| size.1 as f64));
        let top = synthesis.core(wanted)?;
        let taken = synthesis.xcup(top)?;
        table.row(
            row,
            [
                theirs(lut),
                TableCell::new(grouped(taken.lut_total)),
                TableCell::new(grouped(taken.lutram.luts)),
                theirs(ff),
                TableCell::new(grouped(taken.ff)),
                TableCell::new(taken.blocks().to_string()),
                age(synthesis, top, &taken.sources)?,
            ],
        );
    }
    table.complete_html("plain-first")
}

/// Whether figures are of the present sources.
fn age(synthesis: &Synthesis, top: &Wanted, sources: &str) -> Result<TableCell, String> {
    let short: String = sources.chars().take(8).collect();
    Ok(if synthesis.stale(top, sources)? {
        TableCell::toned(format!("stale: {short}"), CellTone::Worse)
            .with_tip(format!("tools/rtl.sh synth --record {}", top.name))
    } else {
        TableCell::new("current").with_tip(short)
    })
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
    let mut table = HtmlTable::with_head("Cells of a session, and of the rest", head.clone());
    for (width, congestion) in [(32, false), (32, true), (64, false), (64, true)] {
        let wanted = SESSIONS.map(|sessions| Configuration { sessions, width, congestion });
        let ours = wanted.map(|wanted| synthesis.xcup(synthesis.core(wanted)?));
        let [few, many] = ours;
        let (few, many) = (few?, many?);
        if few.sources != many.sources {
            let why = "the results with few and with many sessions are of different sources";
            table.lead_row(name(congestion, width), [absent(why.to_owned(), head.len())]);
            continue;
        }
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
                let text = grouped(of(ours).round().max(0.0) as u64);
                [TableCell::new(text), theirs(published.map(of))]
            })
        };
        table.lead_row(format!("a session, {}", name(congestion, width)), cells(|part| part.0));
        table.row(format!("the rest, {}", name(congestion, width)), cells(|part| part.1));
    }
    table.complete_html("plain-first")
}

/// The cells of a top without results, in a table of so many columns.
fn absent(missing: String, columns: usize) -> TableCell {
    TableCell::toned(missing, CellTone::Worse).over(columns - 1)
}

/// An end of a chain of logic.
fn end(name: Option<&str>) -> TableCell {
    TableCell::new(name.unwrap_or("no logic").to_owned())
}

/// The table of logic depth, which limits the clock rate.
fn depth(synthesis: &Synthesis) -> Result<String, String> {
    let head = ["Top", "LUT", "FF", "Levels", "from", "to", "Sources"].map(str::to_owned);
    let caption = "All cores and blocks: cells and longest chain of look-up tables, UltraScale+";
    let mut table = HtmlTable::with_head(caption, head.clone());
    for top in synthesis.wanted() {
        let Xcup { logic, lut_total, ff, sources, .. } = match synthesis.xcup(top) {
            Ok(taken) => taken,
            Err(missing) => {
                table.row(top.name.clone(), [absent(missing, head.len())]);
                continue;
            }
        };
        table.row(
            top.name.clone(),
            [
                TableCell::new(grouped(*lut_total)),
                TableCell::new(grouped(*ff)),
                TableCell::new(logic.levels.to_string()),
                end(logic.from.as_deref()),
                end(logic.to.as_deref()),
                age(synthesis, top, sources)?,
            ],
        );
    }
    table.complete_html("plain-first wraps")
}

/// The table of cells and clock rates after place and route for an ECP5.
fn ecp5(synthesis: &Synthesis) -> Result<String, String> {
    let head = ["Top", "LUT4", "FF", "DP16KD", "MHz, least", "median", "most", "Seeds", "Sources"];
    let mut table =
        HtmlTable::with_head("Place and route, ECP5-85, fastest grade", head.map(str::to_owned));
    for top in synthesis.wanted() {
        let taken = match synthesis.ecp5(top) {
            Ok(Some(taken)) => taken,
            Ok(None) => {
                table.row(top.name.clone(), [TableCell::absent(&top.no_ecp5).over(head.len() - 1)]);
                continue;
            }
            Err(missing) => {
                table.row(top.name.clone(), [absent(missing, head.len())]);
                continue;
            }
        };
        let Ecp5 { lut4_total, ff, harness_ff, dp16kd, fmax_mhz, sources, .. } = taken;
        let all = synthesis.table.seeds.len();
        let seeds = match fmax_mhz.len() {
            seeds if seeds >= all => TableCell::new(seeds.to_string()),
            seeds => TableCell::toned(format!("{seeds} of {all}"), CellTone::Worse),
        };
        table.row(
            top.name.clone(),
            [
                TableCell::new(grouped(*lut4_total)),
                TableCell::new(grouped(ff - harness_ff)),
                TableCell::new(dp16kd.to_string()),
                TableCell::new(format!("{:.1}", taken.least())),
                TableCell::new(format!("{:.1}", taken.median())),
                TableCell::new(format!("{:.1}", taken.most())),
                seeds,
                age(synthesis, top, sources)?,
            ],
        );
    }
    table.complete_html("plain-first wraps")
}

/// Says which tools the figures come from, how many of them are of older sources, and how many are
/// missing.
fn state(synthesis: &Synthesis) -> Result<String, String> {
    let mut tools = Vec::new();
    let (mut all, mut old) = (0, 0);
    for top in synthesis.wanted() {
        let xcup = synthesis.xcup(top).ok();
        let ecp5 = synthesis.ecp5(top).ok().flatten();
        let mut flows = Vec::from_iter(xcup.map(|taken| (&taken.sources, &taken.tool)));
        flows.extend(ecp5.map(|taken| (&taken.sources, &taken.tool)));
        for (sources, tool) in flows {
            tools.push(tool.replace("==", " "));
            all += 1;
            old += usize::from(synthesis.stale(top, sources)?);
        }
    }
    tools.sort();
    tools.dedup();
    let mut state = match old {
        0 => format!("all {all} results are of the present sources"),
        old => format!("{old} of {all} results are of older sources and marked as stale"),
    };
    match synthesis.missing().len() {
        0 => {}
        missing => state += &format!("; {missing} more are missing"),
    }
    Ok(paragraph(&format!("Made by {}; {state}.", tools.join(" and "))))
}

/// Renders the section.
///
/// # Errors
/// A published table is missing, or the result of synthesis of a published configuration.
pub fn html(source: &Published, synthesis: &Synthesis) -> Result<String, String> {
    let mut body = paragraph(
        "Published: after place and route, without the external retransmission memory. Ours: an \
         estimate by yosys before packing of LUTs and before place and route, without the same \
         memory. It is an upper estimate, and gives no clock rate. The rate in an ECP5, a small \
         and slow device, is after place and route with open tools and shows the trend.",
    );
    for table in &source.resources {
        body.push_str(&part(&table.title, &published(table)?));
    }
    let eight = state(synthesis)? + &sizes(source, synthesis)? + &costs(source, synthesis)?;
    body.push_str(&part("All configurations", &eight));
    body.push_str(&part("All cores and blocks", &depth(synthesis)?));
    body.push_str(&part("Clock rates in an ECP5", &ecp5(synthesis)?));
    Ok(section("resources", "Resources and clock rates", &body))
}
