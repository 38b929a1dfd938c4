//! The section on latency: the published tables 4 to 8 beside ours.

use spfe_report::html_table::{CellTone, HtmlTable, TableCell};
use spfe_report::line_plot::{LinePlot, PlotSeries, SeriesStyle};
use spfe_report::markup::{figure, paragraph, part, section};

use super::latency_source::{Source, heads, time};
use super::{Drawing, Page};
use crate::bench::modes::{RATES, TABLE_SIZES};
use crate::bench::record::Series;
use crate::formula::{Formula, Line, ns};

/// A published row and our comparable path.
struct Pair {
    /// Number of the published table.
    table: u32,
    /// Name of the published row without its clock rate.
    row: &'static str,
    figure: u32,
    title: &'static str,
    ours: &'static str,
    theirs: Formula,
    /// Our other paths, which are drawn and listed beside it.
    also: &'static [&'static str],
}

const PAIRS: [Pair; 4] = [
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
        ours: "rx_packed64",
        theirs: Formula::PublishedRxCutThrough,
        also: &["rx_merged64", "rx_packed32", "rx_unpacked32"],
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
        let jumbo = n > 1460;
        let tip = if jumbo { "single jumbo frame, build with an MTU of 9000" } else { "" };
        first.push(TableCell::toned(format!("{theirs} · {published:.2}"), CellTone::Published));
        second.push(
            TableCell::new(format!(
                "{ours} · {}{}",
                time(ours, khz),
                if jumbo { " †" } else { "" }
            ))
            .with_tip(tip),
        );
        third.push(TableCell::difference(ours as i64, theirs as i64));
    }
    table.lead_row(format!("{name}, {mhz} MHz: published"), first);
    table.row("ours", second);
    table.row("difference in cycles", third);
    Ok(())
}

/// The table of round trips, and of both directions alone.
fn summary(source: &Source<'_>) -> Result<String, String> {
    let mut table = HtmlTable::with_head(
        "Published table 4 and ours: cycles · ns for each size of payload",
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
        for (name, tx, rx) in [
            ("Rx unaligned + Tx cut-through", "tx_ct64", "rx_unpacked32"),
            ("Rx 32-bit packed + Tx cut-through", "tx_ct64", "rx_packed32"),
            ("Rx stored + Tx 64-bit, length known", "tx_length64", "rx_store64"),
        ] {
            let mut cells = Vec::new();
            for n in TABLE_SIZES {
                let sum = source.cycles(tx, khz, n)? + source.cycles(rx, khz, n)?;
                cells.push(TableCell::new(format!("{sum} · {}", time(sum, khz))));
            }
            table.row(format!("{name}, {} MHz", khz / 1000), cells);
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
            name: format!("{}, 322 MHz", series.label),
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
    let mut body = paragraph(
        "Latency is the time from the first beat in to the first beat out. Cycles are counted; \
         nanoseconds are cycles times the period of 322.265625 MHz (\"322 MHz\") or 350 MHz, and \
         do not say that a device reaches that clock. † single jumbo frame: larger than a segment \
         with an MTU of 1500, measured in a build with an MTU of 9000.",
    );
    body.push_str(&part("Summary, like for like", &summary(source)?));
    body.push_str(&part("Other user sides", &best(source)?));
    for one in &PAIRS {
        body.push_str(&pair(page, source, one)?);
    }
    body.push_str(&super::ways::html(source)?);
    Ok(section("latency", "Latency", &body))
}
