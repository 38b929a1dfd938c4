//! Latency of all paths through the core, beyond the published ones.

use spfe_report::html_table::{CellTone, HtmlTable, TableCell};
use spfe_report::markup::{details, grouped, paragraph, part};

use super::latency_source::{Source, heads, time};
use crate::bench::modes::{MSS, RATES, TABLE_SIZES};
use crate::bench::record::{Absolute, Series};
use crate::rate::{LINE_KBPS, PCS_CLOCKS};

/// Paths in the order of our tables. Comparable ones come first.
const WAYS: [&str; 11] = [
    "rx_merged64",
    "rx_packed64",
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

/// The case of builds with all options.
const FULL: &str = "full";
/// The case of the build with most sessions.
const LARGE: &str = "large";

/// The tables of all paths with 16 and 64 sessions, and of their formulas.
fn ways(source: &Source<'_>) -> Result<String, String> {
    let mut table = HtmlTable::with_head(
        format!(
            "All paths, cycles at {} MHz ({} MHz in parentheses if it differs)",
            RATES[0] / 1000,
            RATES[1] / 1000
        ),
        heads("Path", &TABLE_SIZES),
    );
    let head = ["Path", "Formula, a(k) is the clock of word k", "Points", "More sessions"];
    let mut rules = HtmlTable::with_head("Formulas that all points obey", head.map(str::to_owned));
    for way in WAYS {
        let slow = source.series(way, RATES[0])?;
        let mut cells = Vec::new();
        for n in TABLE_SIZES {
            let both = source.fits(way, RATES[0], n)?.zip(source.fits(way, RATES[1], n)?);
            let Some((slow, fast)) = both else {
                cells.push(source.too_long());
                continue;
            };
            let text = if slow == fast { slow.to_string() } else { format!("{slow} ({fast})") };
            cells.push(TableCell::new(if n > MSS { format!("{text} †") } else { text }));
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

/// Whether more sessions take the same time.
fn sessions(source: &Source<'_>, way: &str) -> TableCell {
    let mut equal = Vec::new();
    for (case, label) in [(FULL, ", all options"), (LARGE, "")] {
        let (mut same, mut count) = (0, 0);
        let series = source.latency.series.iter();
        for series in series.filter(|series| series.way == way && series.case == case) {
            count = series.sessions;
            let Ok(few) = source.series(way, series.line.khz) else { continue };
            for point in &series.points {
                match few.cycles(point.n) {
                    Some(other) if other.cycles == point.cycles => same += 1,
                    other => {
                        let other =
                            other.map_or("none".to_owned(), |point| point.cycles.to_string());
                        let (cycles, n) = (point.cycles, point.n);
                        return TableCell::toned(
                            format!("{count} sessions: {cycles} cycles at {n} B, not {other}"),
                            CellTone::Worse,
                        );
                    }
                }
            }
        }
        if same > 0 {
            equal.push(format!("{count}{label}: equal in {same} points"));
        }
    }
    if equal.is_empty() {
        return TableCell::absent("this path has no build with more sessions");
    }
    TableCell::new(equal.join("; "))
}

/// The table of cores with all options.
fn full(source: &Source<'_>) -> Result<String, String> {
    let sizes: Vec<u64> = TABLE_SIZES.into_iter().filter(|n| *n <= MSS).collect();
    let mut head = heads("Path", &sizes);
    head.push("Parameters".to_owned());
    let mut table = HtmlTable::with_head("All options, cycles", head);
    for series in source.latency.series.iter().filter(|series| series.case == FULL) {
        let cell = |n: &u64| {
            let point = series.cycles(*n).ok_or_else(|| format!("{}: no {n}", series.way))?;
            Ok(TableCell::new(point.cycles.to_string()))
        };
        let mut cells = sizes.iter().map(cell).collect::<Result<Vec<_>, String>>()?;
        cells.push(TableCell::new(series.parameters.clone()));
        table.row(format!("{}, {} MHz", series.label, series.line.khz / 1000), cells);
    }
    table.complete_html("cells")
}

/// The table of frames with VLAN tags and TCP options.
fn cases(source: &Source<'_>) -> Result<String, String> {
    let sizes: Vec<u64> = TABLE_SIZES.into_iter().filter(|n| *n <= MSS).collect();
    let mut table =
        HtmlTable::with_head("Longer headers, cycles at both clock rates", heads("Path", &sizes));
    for (case, label) in [("vlan", "IEEE 802.1Q tag"), ("options", "TCP options")] {
        for way in WAYS.iter().filter(|way| way.starts_with("rx_")) {
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
            let headers = slow.line.headers;
            table.row(format!("{}, {label}, {headers} bytes of headers", slow.label), cells);
        }
    }
    table.complete_html("cells")
}

/// The table of cores with a MAC interface of 64 bits.
fn wide(source: &Source<'_>) -> Result<String, String> {
    let sizes: Vec<u64> = TABLE_SIZES.into_iter().filter(|n| *n <= MSS).collect();
    let mut table = HtmlTable::with_head(
        "Wide interface to and from the MAC: cycles · ns",
        heads("Path", &sizes),
    );
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
        let (bits, mhz) = (series.line.mac_bytes * 8, f64::from(series.line.khz) / 1000.0);
        table.row(format!("{}, {bits} bits, {mhz} MHz", series.label), cells);
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
        "Cycles of all sizes",
        std::iter::once("Payload in bytes".to_owned()).chain(heads),
    );
    let longest = columns.iter().max_by_key(|series| series.points.len());
    let first = longest.ok_or("no series")?;
    for point in &first.points {
        let cell = |series: &&Series| {
            let found = source.fits(&series.way, series.line.khz, point.n)?;
            Ok(found.map_or_else(|| source.too_long(), |cycles| TableCell::new(cycles.to_string())))
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
    body.push_str(&part("With all options", &full(source)?));
    body.push_str(&part("Tags and options", &cases(source)?));
    body.push_str(&part("Wide MAC side", &wide(source)?));
    let text = paragraph(&format!(
        "The published arrival pattern is a limiter that is full when a frame starts, so the first \
         words arrive faster than a line of {} Gbit/s carries them. Here words arrive as from a \
         64B/66B decoder, in {} of {PCS_CLOCKS} clocks and in all positions of its pause, and the \
         time of the first word on the line is added. Use this figure to compare interfaces of \
         different widths.",
        LINE_KBPS / 1_000_000,
        PCS_CLOCKS - 1
    ));
    body.push_str(&part("On a true line", &(text + &absolute(&source.latency.absolute)?)));
    Ok(body)
}
