//! Latency of all paths through the core, beyond the published ones.

use spfe_report::html_table::{CellTone, HtmlTable, TableCell};
use spfe_report::markup::{details, grouped, paragraph, part};

use super::latency_source::{Source, heads, time};
use crate::bench::modes::{RATES, TABLE_SIZES};
use crate::bench::record::{Absolute, Series};

/// Paths in the order of our tables. Comparable ones come first.
const WAYS: [&str; 11] = [
    "rx_packed64",
    "rx_merged64",
    "rx_packed32",
    "rx_unpacked32",
    "rx_store64",
    "tx_ct64",
    "tx_ct128",
    "tx_store128",
    "tx_store64",
    "tx_length64",
    "tx_length128",
];

/// The tables of all paths with 16 and 64 sessions, and of their formulas.
fn ways(source: &Source<'_>) -> Result<String, String> {
    let mut table = HtmlTable::with_head(
        "All paths, cycles at 322 MHz (350 MHz in parentheses if it differs)",
        heads("Path", &TABLE_SIZES),
    );
    let head = ["Path", "Formula, a(k) is the clock of word k", "Points", "64 sessions"];
    let mut rules = HtmlTable::with_head("Formulas that all points obey", head.map(str::to_owned));
    for way in WAYS {
        let slow = source.series(way, RATES[0])?;
        let mut cells = Vec::new();
        for n in TABLE_SIZES {
            let (slow, fast) = (source.cycles(way, RATES[0], n)?, source.cycles(way, RATES[1], n)?);
            let text = if slow == fast { slow.to_string() } else { format!("{slow} ({fast})") };
            cells.push(TableCell::new(if n > 1460 { format!("{text} †") } else { text }));
        }
        table.row(slow.label.clone(), cells);
        rules.row(
            slow.label.clone(),
            [
                TableCell::new(slow.rule.clone()),
                TableCell::new(slow.points.len().to_string()),
                sessions(source, way),
            ],
        );
    }
    Ok(table.complete_html("cells")? + &rules.complete_html("plain-first wraps")?)
}

/// Whether 64 sessions take the same time as 16.
fn sessions(source: &Source<'_>, way: &str) -> TableCell {
    let mut same = 0;
    let more = source
        .latency
        .series
        .iter()
        .filter(|series| series.way == way && series.sessions == 64 && series.case.is_empty());
    for series in more {
        let Ok(few) = source.series(way, series.line.khz) else { continue };
        for point in &series.points {
            match few.cycles(point.n) {
                Some(other) if other.cycles == point.cycles => same += 1,
                other => {
                    let other = other.map_or("none".to_owned(), |point| point.cycles.to_string());
                    return TableCell::toned(
                        format!("{} cycles at {} B, not {other}", point.cycles, point.n),
                        CellTone::Worse,
                    );
                }
            }
        }
    }
    match same {
        0 => TableCell::absent("this path has no build with 64 sessions"),
        same => TableCell::new(format!("equal in {same} points")),
    }
}

/// The table of cores with all options.
fn full(source: &Source<'_>) -> Result<String, String> {
    let sizes: Vec<u64> = TABLE_SIZES.into_iter().filter(|n| *n <= 1460).collect();
    let mut table = HtmlTable::with_head("All options, cycles", heads("Path", &sizes));
    for series in source.latency.series.iter().filter(|series| series.case == "full") {
        let cell = |n: &u64| {
            let point = series.cycles(*n).ok_or_else(|| format!("{}: no {n}", series.way))?;
            Ok(TableCell::new(point.cycles.to_string()).with_tip(series.parameters.clone()))
        };
        let cells = sizes.iter().map(cell).collect::<Result<Vec<_>, String>>()?;
        table.row(format!("{}, {} MHz", series.label, series.line.khz / 1000), cells);
    }
    table.complete_html("cells")
}

/// The table of frames with VLAN tags and TCP options.
fn cases(source: &Source<'_>) -> Result<String, String> {
    let sizes: Vec<u64> = TABLE_SIZES.into_iter().filter(|n| *n <= 1460).collect();
    let mut table =
        HtmlTable::with_head("Longer headers, cycles at 322 MHz (350 MHz)", heads("Path", &sizes));
    for (case, label) in [
        ("vlan", "IEEE 802.1Q tag, 58 bytes of headers"),
        ("options", "12 bytes of TCP options, 66 bytes of headers"),
    ] {
        for way in WAYS.iter().filter(|way| way.starts_with("rx_") && **way != "rx_merged64") {
            let find = |khz: u32| {
                let series = source.latency.series.iter();
                let mut found =
                    series.filter(|s| s.way == *way && s.line.khz == khz && s.case == case);
                found.next().ok_or_else(|| format!("latency.json has no {way} with {case}"))
            };
            let (slow, fast) = (find(RATES[0])?, find(RATES[1])?);
            let cell = |n: &u64| {
                let get = |series: &Series| series.cycles(*n).map(|point| point.cycles);
                let (slow, fast) =
                    get(slow).zip(get(fast)).ok_or(format!("{way}, {case}: no {n}"))?;
                Ok(TableCell::new(format!("{slow} ({fast})")))
            };
            let cells = sizes.iter().map(cell).collect::<Result<Vec<_>, String>>()?;
            table.row(format!("{}, {label}", slow.label), cells);
        }
    }
    table.complete_html("cells")
}

/// The table of cores with a MAC interface of 64 bits.
fn wide(source: &Source<'_>) -> Result<String, String> {
    let sizes: Vec<u64> = TABLE_SIZES.into_iter().filter(|n| *n <= 1460).collect();
    let mut table =
        HtmlTable::with_head("64 bits to and from the MAC: cycles · ns", heads("Path", &sizes));
    for series in &source.latency.wide {
        let mut cells = Vec::new();
        for n in &sizes {
            let point =
                series.cycles(*n).ok_or_else(|| format!("{}: no point of {n}", series.way))?;
            cells.push(TableCell::new(format!(
                "{} · {}",
                point.cycles,
                time(point.cycles, series.line.khz)
            )));
        }
        let mhz = f64::from(series.line.khz) / 1000.0;
        table.row(format!("{}, {mhz} MHz", series.label), cells);
    }
    table.complete_html("cells")
}

/// The table of latencies on a true line.
fn absolute(list: &[Absolute]) -> Result<String, String> {
    let heads = [
        "Way",
        "MAC side",
        "Payload",
        "Phases",
        "Cycles, min · mean · max",
        "ns, min",
        "ns, mean",
        "ns, max",
    ];
    let mut table = HtmlTable::with_head(
        "From the first bit of the frame on the line to the first beat at the user",
        heads.map(str::to_owned),
    );
    for row in list.iter().filter(|row| [1, 64, 1024].contains(&row.n)) {
        table.row(
            row.label.clone(),
            [
                TableCell::new(format!("{} bits, {} MHz", row.mac_bits, row.khz / 1000.0)),
                TableCell::new(format!("{} B", row.n)),
                TableCell::new(row.phases.to_string()),
                TableCell::new(format!("{} · {:.2} · {}", row.min, row.mean, row.max)),
                TableCell::new(format!("{:.2}", row.min_ns)),
                TableCell::new(format!("{:.2}", row.mean_ns)),
                TableCell::new(format!("{:.2}", row.max_ns)),
            ],
        );
    }
    table.complete_html("plain-first")
}

/// The table of all points of all paths.
fn all(source: &Source<'_>) -> Result<String, String> {
    let mut columns = Vec::new();
    for way in WAYS {
        for khz in RATES {
            columns.push(source.series(way, khz)?);
        }
    }
    let heads =
        columns.iter().map(|series| format!("{}, {} MHz", series.way, series.line.khz / 1000));
    let mut table = HtmlTable::with_head(
        "Cycles of all sizes, 16 sessions",
        std::iter::once("Payload in bytes".to_owned()).chain(heads),
    );
    let first = columns.first().ok_or("no series")?;
    for point in &first.points {
        let cell = |series: &&Series| {
            let found = series.cycles(point.n).ok_or(format!("{}: no {}", series.way, point.n))?;
            Ok(TableCell::new(found.cycles.to_string()))
        };
        let cells = columns.iter().map(cell).collect::<Result<Vec<_>, String>>()?;
        table.row(grouped(point.n), cells);
    }
    let rows = table.len();
    Ok(details(&format!("All {rows} sizes of all paths"), &table.complete_html("cells")?))
}

/// Renders the last parts of the section on latency.
///
/// # Errors
/// A value is missing.
pub fn html(source: &Source<'_>) -> Result<String, String> {
    let mut body = part("All paths through the core", &ways(source)?);
    body.push_str(&all(source)?);
    let text = paragraph(
        "64 sessions, congestion control, status and credit events. Store-and-forward receivers \
         reorder segments, cut-through receivers deliver them out of sequence.",
    );
    body.push_str(&part("With all options", &(text + &full(source)?)));
    body.push_str(&part("Tags and options", &cases(source)?));
    body.push_str(&part("64-bit MAC side", &wide(source)?));
    let text = paragraph(
        "The published arrival pattern is a limiter that is full when a frame starts, so the first \
         words arrive faster than a line carries them. Here words arrive as from a 64B/66B \
         decoder, in 32 of 33 clocks and in all positions of its pause, and the time of the first \
         word on the line is added. Use this figure to compare interfaces of different widths.",
    );
    body.push_str(&part("On a true line", &(text + &absolute(&source.latency.absolute)?)));
    Ok(body)
}
