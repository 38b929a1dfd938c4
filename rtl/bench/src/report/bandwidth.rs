//! The section on bandwidth: the published tables 9 to 14 beside ours, and rates on a line.

use spfe_report::html_table::{CellTone, HtmlTable, TableCell};
use spfe_report::line_plot::{LinePlot, PlotSeries, SeriesStyle};
use spfe_report::markup::{figure, paragraph, part, section};

use super::{Drawing, Page};
use crate::bench::modes::{Direction, RATES};
use crate::bench::record::{Bandwidth, Rate};
use crate::published::Published;
use crate::rate::LINE_KBPS;

/// Payload sizes of the published tables.
const SIZES: [u64; 7] = [1, 16, 32, 64, 128, 256, 512];

/// A published table of one path, and our counterpart.
struct Pair {
    table: u32,
    figure: u32,
    title: &'static str,
    row: &'static str,
    way: &'static str,
}

const PAIRS: [Pair; 4] = [
    Pair {
        table: 11,
        figure: 9,
        title: "Tx, store-and-forward",
        row: "No Tx Cut-Through",
        way: "tx_store",
    },
    Pair {
        table: 12,
        figure: 10,
        title: "Tx, cut-through",
        row: "With Tx Cut-Through",
        way: "tx_ct",
    },
    Pair {
        table: 13,
        figure: 11,
        title: "Rx, store-and-forward",
        row: "No Rx Cut-Through",
        way: "rx_store",
    },
    Pair {
        table: 14,
        figure: 12,
        title: "Rx, cut-through",
        row: "With Rx Cut-Through",
        way: "rx_ct",
    },
];

/// Numbers of the published tables with the summaries.
const TX_SUMMARY: u32 = 9;
const RX_SUMMARY: u32 = 10;

/// Says that a published table lacks something.
fn missing(table: u32) -> String {
    format!("published.json: table {table} has no such value")
}

/// Identifies a run.
#[derive(Clone, Copy)]
struct Key<'a> {
    way: &'a str,
    khz: u32,
    limit: &'a str,
    round_robin: bool,
}

fn find<'a>(bandwidth: &'a Bandwidth, key: Key<'_>, n: u64) -> Result<&'a Rate, String> {
    let same = |rate: &&Rate| {
        rate.way == key.way
            && rate.khz == key.khz
            && rate.limit == key.limit
            && rate.round_robin == key.round_robin
            && rate.n == n
    };
    bandwidth.rates.iter().find(same).ok_or_else(|| {
        let Key { way, khz, limit, round_robin } = key;
        format!(
            "bandwidth.json has no run {way}, {khz} kHz, {limit}, round robin {round_robin}, {n} B"
        )
    })
}

fn heads(first: &str) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(SIZES.iter().map(|n| format!("{n} B"))).collect()
}

/// Adds three rows: published, one session, round robin.
fn compare(
    table: &mut HtmlTable,
    bandwidth: &Bandwidth,
    (name, way): (&str, &str),
    khz: u32,
    published: &dyn Fn(u64) -> Option<f64>,
) -> Result<(), String> {
    let theirs = |n: &u64| published(*n).ok_or_else(|| format!("published.json: {name}, {n} B"));
    let theirs = SIZES.iter().map(theirs).collect::<Result<Vec<f64>, String>>()?;
    let cells =
        theirs.iter().map(|value| TableCell::toned(format!("{value:.0}"), CellTone::Published));
    table.lead_row(format!("{name}, {} MHz: published", khz / 1000), cells);
    for (round_robin, label) in
        [(false, "ours, one session"), (true, "ours, session after session")]
    {
        let mut cells = Vec::new();
        for (n, theirs) in SIZES.iter().zip(&theirs) {
            let rate = find(bandwidth, Key { way, khz, limit: "limiter", round_robin }, *n)?;
            let tone = if rate.mbps + 0.5 < *theirs { CellTone::Worse } else { CellTone::Plain };
            let tip = format!("{} clocks, the limiter alone takes {}", rate.clocks, rate.least);
            cells.push(TableCell::toned(format!("{:.0}", rate.mbps), tone).with_tip(tip));
        }
        table.row(label, cells);
    }
    Ok(())
}

fn summary(bandwidth: &Bandwidth, published: &Published, number: u32) -> Result<String, String> {
    let direction = if number == TX_SUMMARY { "Tx" } else { "Rx" };
    let mut table = HtmlTable::with_head(
        format!("Published table {number} and ours: Mbit/s at the MAC interface"),
        heads(""),
    );
    let source = published.table(number).ok_or_else(|| missing(number))?;
    for khz in RATES {
        for pair in PAIRS.iter().filter(|pair| pair.title.starts_with(direction)) {
            let cut = if pair.way.ends_with("ct") { " Cut-Through" } else { "" };
            let row = format!("10G {direction}{cut} - {} MHz", khz / 1000);
            let value = |n: u64| source.value(&row, n);
            compare(&mut table, bandwidth, (pair.title, pair.way), khz, &value)?;
        }
    }
    table.complete_html("cells")
}

fn pair(
    page: &mut Page,
    bandwidth: &Bandwidth,
    published: &Published,
    pair: &Pair,
) -> Result<String, String> {
    let mut table = HtmlTable::with_head(
        format!("Published table {} and ours: Mbit/s at the MAC interface", pair.table),
        heads(""),
    );
    let source = published.table(pair.table).ok_or_else(|| missing(pair.table))?;
    let mut plot = LinePlot {
        id: format!("figure-{}", pair.figure),
        title: format!("{}: rates over payload", pair.title),
        x: "payload in bytes".to_owned(),
        y: "Mbit/s".to_owned(),
        at_least: 10_000.0,
        series: Vec::new(),
    };
    for khz in RATES {
        let row = format!("{} MHz - {}", khz / 1000, pair.row);
        let value = |n: u64| source.value(&row, n);
        compare(&mut table, bandwidth, (pair.title, pair.way), khz, &value)?;
    }
    let khz = RATES[0];
    let curve = |limit: &str, value: &dyn Fn(&Rate) -> f64| {
        let same = |rate: &&Rate| {
            rate.way == pair.way && rate.khz == khz && rate.limit == limit && !rate.round_robin
        };
        let rates = bandwidth.rates.iter().filter(same);
        rates.map(|rate| (rate.n as f64, value(rate))).collect::<Vec<_>>()
    };
    let row = format!("{} MHz - {}", khz / 1000, pair.row);
    let mut theirs = Vec::new();
    for n in SIZES {
        theirs.push((n as f64, source.value(&row, n).ok_or_else(|| missing(pair.table))?));
    }
    for (name, colour, style, points) in [
        ("MAC interface, limiter", 0, SeriesStyle::Line, curve("limiter", &|rate| rate.mbps)),
        ("published", 2, SeriesStyle::Markers, theirs),
        ("MAC interface, no limit", 3, SeriesStyle::Line, curve("every", &|rate| rate.mbps)),
        ("MAC interface, true line", 5, SeriesStyle::Line, curve("line", &|rate| rate.mbps)),
        ("payload, true line", 1, SeriesStyle::Line, curve("line", &|rate| rate.goodput_mbps)),
    ] {
        plot.series.push(PlotSeries { name: name.to_owned(), colour, style, points });
    }
    let svg = page.draw(Drawing { name: plot.id.clone(), svg: plot.svg()? });
    let drawing = figure(&format!("Figure {}.", pair.figure), &plot.title, &svg);
    Ok(part(pair.title, &(table.complete_html("cells")? + &drawing)))
}

/// Rates of the runs on a line, and highest rates of the core.
fn line(bandwidth: &Bandwidth) -> Result<String, String> {
    let mut table = HtmlTable::with_head(
        format!(
            "At {} MHz, one session: on a true line with preamble, FCS and gap, and without a limit",
            RATES[0] / 1000
        ),
        heads(""),
    );
    let mut ways: Vec<(&str, &str, Direction)> = Vec::new();
    for rate in &bandwidth.rates {
        if !ways.iter().any(|way| way.0 == rate.way) {
            ways.push((&rate.way, &rate.label, rate.direction));
        }
    }
    for (way, label, direction) in ways {
        let row = |limit: &str, text: &dyn Fn(&Rate) -> String| {
            let key = Key { way, khz: RATES[0], limit, round_robin: false };
            let cell = |n: &u64| Ok(TableCell::new(text(find(bandwidth, key, *n)?)));
            SIZES.iter().map(cell).collect::<Result<Vec<TableCell>, String>>()
        };
        table.lead_row(
            format!("{label}: on the line, Mbit/s"),
            row("line", &|rate| format!("{:.0}", rate.wire_mbps))?,
        );
        table.row("payload, Mbit/s", row("line", &|rate| format!("{:.0}", rate.goodput_mbps))?);
        table.row("million packets in a second", row("line", &|rate| format!("{:.2}", rate.mpps))?);
        let ceiling = match direction {
            Direction::Rx => "highest rate at the MAC interface without loss, Mbit/s",
            Direction::Tx => "highest rate at the MAC interface, Mbit/s",
        };
        table.row(ceiling, row("every", &|rate| format!("{:.0}", rate.mbps))?);
    }
    table.complete_html("cells")
}

/// Renders the section.
///
/// # Errors
/// A value is missing, or a run is below its limiter.
pub fn html(
    page: &mut Page,
    bandwidth: &Bandwidth,
    published: &Published,
) -> Result<String, String> {
    let below = crate::bench::bandwidth::below(bandwidth);
    if let Some(first) = below.first() {
        return Err(format!(
            "{} runs are below their limiter, the first one: {first}",
            below.len()
        ));
    }
    let packets: Vec<u64> = bandwidth.rates.iter().map(|rate| rate.packets).collect();
    let packets = packets.iter().min().ok_or("bandwidth.json has no runs")?;
    let mut body = paragraph(&format!(
        "{packets} consecutive packets of each size, in one session, or in all sessions in turn. \
         As published, the rate is that of frames at the MAC interface under a limiter of {} \
         Gbit/s, without preamble, FCS and gap. This is more than a line can carry. The rates on a \
         line are below.",
        LINE_KBPS / 1_000_000
    ));
    body.push_str(&part("Tx, summary", &summary(bandwidth, published, TX_SUMMARY)?));
    body.push_str(&part("Rx, summary", &summary(bandwidth, published, RX_SUMMARY)?));
    for one in &PAIRS {
        body.push_str(&pair(page, bandwidth, published, one)?);
    }
    body.push_str(&part("On a true line, and without a limit", &line(bandwidth)?));
    Ok(section("bandwidth", "Bandwidth", &body))
}
