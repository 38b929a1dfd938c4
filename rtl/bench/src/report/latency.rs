//! The section on latency: the published tables 4 to 8 beside ours.

use spfe_report::html_table::{CellTone, HtmlTable, TableCell};
use spfe_report::line_plot::{LinePlot, PlotSeries, SeriesStyle};
use spfe_report::markup::{figure, paragraph, part, section};

use super::latency_source::{Source, heads, time};
use super::{Drawing, Page};
use crate::bench::modes::{MSS, RATES, TABLE_SIZES};
use crate::bench::record::Series;
use crate::builds::Build;
use crate::formula::{Formula, Line, exact_khz, ns};

/// A published row and our comparable path.
pub struct Pair {
    /// Number of the published table.
    table: u32,
    /// Name of the published row without its clock rate.
    pub row: &'static str,
    figure: u32,
    /// Name of the path.
    pub title: &'static str,
    /// Our path.
    pub ours: &'static str,
    /// The published formula.
    pub theirs: Formula,
    /// Our other paths, which are drawn and listed beside it.
    also: &'static [&'static str],
}

/// The published paths and ours that are measured in the same way.
pub const PAIRS: [Pair; 4] = [
    Pair {
        table: 5,
        row: "10G Tx",
        figure: 3,
        title: "Tx, store-and-forward",
        ours: "tx_store128",
        theirs: Formula::PublishedTxStore,
        also: &["tx_store64", "tx_length128", "tx_length64"],
    },
    Pair {
        table: 6,
        row: "10G Tx Cut-Through",
        figure: 4,
        title: "Tx, cut-through",
        ours: "tx_ct64",
        theirs: Formula::PublishedTxCutThrough,
        also: &["tx_ct128"],
    },
    Pair {
        table: 7,
        row: "10G Rx",
        figure: 5,
        title: "Rx, store-and-forward",
        ours: "rx_store64",
        theirs: Formula::PublishedRxStore,
        also: &[],
    },
    Pair {
        table: 8,
        row: "10G Rx Cut-Through",
        figure: 6,
        title: "Rx, cut-through",
        ours: "rx_merged64",
        theirs: Formula::PublishedRxCutThrough,
        also: &["rx_packed64", "rx_packed32", "rx_unpacked32"],
    },
];

/// Adds three rows: published, ours, difference. `ours` and `theirs` return cycles.
fn compare(
    table: &mut HtmlTable,
    source: &Source<'_>,
    (name, row): (&str, &str),
    khz: u32,
    ours: &dyn Fn(u64) -> Result<u64, String>,
    theirs: &dyn Fn(u64) -> u64,
) -> Result<(), String> {
    let mhz = khz / 1000;
    let (mut first, mut second, mut third) = (Vec::new(), Vec::new(), Vec::new());
    for n in TABLE_SIZES {
        let (ours, theirs) = (ours(n)?, theirs(n));
        let published = source.theirs(row, khz, n)?;
        // The published values are rounded or cut, those of round trips twice.
        if (ns(theirs as f64, khz) - published).abs() > 0.025 {
            return Err(format!(
                "{row} at {mhz} MHz, {n} bytes: {published} ns are not {theirs} cycles"
            ));
        }
        let jumbo = n > MSS;
        first.push(TableCell::toned(format!("{theirs} · {published:.2}"), CellTone::Published));
        let mark = if jumbo { " †" } else { "" };
        second.push(TableCell::new(format!("{ours} · {}{mark}", time(ours, khz))));
        let cell = TableCell::difference(ours as i64, theirs as i64);
        // Fewer cycles are better only at a clock that the core reaches.
        third.push(if source.synthesis.supports(exact_khz(khz)) {
            cell
        } else {
            cell.not_better()
        });
    }
    table.lead_row(format!("{name}, {mhz} MHz: published"), first);
    table.row("ours", second);
    table.row("difference in cycles", third);
    Ok(())
}

/// Number of the published table with all latencies.
const SUMMARY: u32 = 4;

/// The table of round trips, and of both directions alone.
fn summary(source: &Source<'_>) -> Result<String, String> {
    let mut table = HtmlTable::with_head(
        format!("Published table {SUMMARY} and ours: cycles · ns for each size of payload"),
        heads("", &TABLE_SIZES),
    );
    for khz in RATES {
        let line = Line::published(khz);
        for (cut, tx, rx, label) in [
            (" Cut-Through", &PAIRS[1], &PAIRS[3], "cut-through"),
            ("", &PAIRS[0], &PAIRS[2], "store-and-forward"),
        ] {
            let ours =
                |n: u64| Ok(source.cycles(tx.ours, khz, n)? + source.cycles(rx.ours, khz, n)?);
            let theirs = |n: u64| tx.theirs.cycles(&line, n) + rx.theirs.cycles(&line, n);
            let row = format!("10G RTT{cut}");
            let name = format!("Round trip, {label}");
            compare(&mut table, source, (&name, &row), khz, &ours, &theirs)?;
            for pair in [tx, rx] {
                let ours = |n: u64| source.cycles(pair.ours, khz, n);
                let theirs = |n: u64| pair.theirs.cycles(&line, n);
                compare(&mut table, source, (pair.title, pair.row), khz, &ours, &theirs)?;
            }
        }
    }
    table.complete_html("cells")
}

/// Our best round trips, with user sides that differ from the published one.
fn best(source: &Source<'_>) -> Result<String, String> {
    let mut table = HtmlTable::with_head(
        "Round trips of other user sides: cycles · ns",
        heads("", &TABLE_SIZES),
    );
    for khz in RATES {
        for (tx, rx) in [
            ("tx_ct64", "rx_packed64"),
            ("tx_ct64", "rx_packed32"),
            ("tx_ct64", "rx_unpacked32"),
            ("tx_length64", "rx_store64"),
        ] {
            let mut cells = Vec::new();
            for n in TABLE_SIZES {
                let (Some(tx), Some(rx)) = (source.fits(tx, khz, n)?, source.fits(rx, khz, n)?)
                else {
                    cells.push(source.too_long());
                    continue;
                };
                cells.push(TableCell::new(format!("{} · {}", tx + rx, time(tx + rx, khz))));
            }
            let name = |way| Ok::<_, String>(source.series(way, khz)?.label.clone());
            table.row(format!("{} + {}, {} MHz", name(rx)?, name(tx)?, khz / 1000), cells);
        }
    }
    table.complete_html("cells")
}

/// The table and the plot of one published pair.
fn pair(page: &mut Page, source: &Source<'_>, pair: &Pair) -> Result<String, String> {
    let mut table = HtmlTable::with_head(
        format!("Published table {} and ours: cycles · ns", pair.table),
        heads("", &TABLE_SIZES),
    );
    let mut plot = LinePlot {
        id: format!("figure-{}", pair.figure),
        title: format!("{}: latency over payload", pair.title),
        x: "payload in bytes".to_owned(),
        y: "ns".to_owned(),
        at_least: 10.0,
        series: Vec::new(),
    };
    for (index, khz) in RATES.into_iter().enumerate() {
        let line = Line::published(khz);
        let ours = |n: u64| source.cycles(pair.ours, khz, n);
        let theirs = |n: u64| pair.theirs.cycles(&line, n);
        compare(&mut table, source, (pair.title, pair.row), khz, &ours, &theirs)?;
        let series = source.series(pair.ours, khz)?;
        plot.series.push(PlotSeries {
            name: format!("ours, {} MHz", khz / 1000),
            colour: index,
            style: SeriesStyle::Line,
            points: curve(series),
        });
        let mut points = Vec::new();
        for n in TABLE_SIZES {
            points.push((n as f64, source.theirs(pair.row, khz, n)?));
        }
        plot.series.push(PlotSeries {
            name: format!("published, {} MHz", khz / 1000),
            colour: index + 2,
            style: SeriesStyle::Markers,
            points,
        });
    }
    for (index, way) in pair.also.iter().enumerate() {
        let series = source.series(way, RATES[0])?;
        plot.series.push(PlotSeries {
            name: format!("{}, {} MHz", series.label, RATES[0] / 1000),
            colour: index + 4,
            style: SeriesStyle::Line,
            points: curve(series),
        });
    }
    let svg = page.draw(Drawing { name: plot.id.clone(), svg: plot.svg()? });
    let series = source.series(pair.ours, RATES[0])?;
    let rule = format!(
        "Ours: {} cycles, in all {} sizes at both clock rates; published: {}.",
        series.rule,
        series.points.len(),
        pair.theirs.text()
    );
    Ok(part(
        pair.title,
        &format!(
            "{}{}{}",
            table.complete_html("cells")?,
            figure(&format!("Figure {}.", pair.figure), &plot.title, &svg,),
            paragraph(&rule)
        ),
    ))
}

/// The builds behind the comparable rows.
fn builds(source: &Source<'_>) -> Result<String, String> {
    let head = ["Path", "Build", "Parameters that differ from their defaults"];
    let mut table = HtmlTable::with_head("Builds of the comparable paths", head);
    for pair in &PAIRS {
        let series = source.series(pair.ours, RATES[0])?;
        let mut names = vec![series.build.clone()];
        names.extend(series.jumbo_build.clone());
        for name in names {
            let build = Build::named(&name).map_err(|error| error.to_string())?;
            table.row(pair.title, [TableCell::new(name), TableCell::new(build.describe())]);
        }
    }
    table.complete_html("plain-first")
}

fn curve(series: &Series) -> Vec<(f64, f64)> {
    let time = |cycles: u64| ns(cycles as f64, series.line.khz);
    series.points.iter().map(|point| (point.n as f64, time(point.cycles))).collect()
}

/// Renders the section.
///
/// # Errors
/// A value is missing, or a point differs from its formula.
pub fn html(page: &mut Page, source: &Source<'_>) -> Result<String, String> {
    let off = crate::bench::latency::off(source.latency);
    if let Some(first) = off.first() {
        return Err(format!("{} points are off their formula, the first one: {first}", off.len()));
    }
    let rates = RATES.map(|khz| format!("{} MHz", exact_khz(khz) / 1000.0)).join(" or ");
    let mut body = paragraph(&format!(
        "Latency is the time from the first beat in to the first beat out. Cycles are counted; \
         nanoseconds are cycles times the period of {rates}. {} † single jumbo frame, larger than \
         the {MSS} bytes of a segment with the published MTU.",
        super::clocks(source.synthesis)
    ));
    body.push_str(&builds(source)?);
    body.push_str(&part("Summary, like for like", &summary(source)?));
    body.push_str(&part("Other user sides", &best(source)?));
    for one in &PAIRS {
        body.push_str(&pair(page, source, one)?);
    }
    body.push_str(&super::ways::html(source)?);
    Ok(section("latency", "Latency", &body))
}
