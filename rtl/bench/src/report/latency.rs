//! Latency: the published tables 4 to 8 with ours beside them, then what was not published.

use super::html::{Cell, Table, Tone, details, figure, grouped, paragraph, part, section};
use super::plot::{Plot, Series as Curve, Style};
use super::{Drawing, Page};
use crate::bench::modes::{RATES, TABLE_SIZES};
use crate::bench::record::{Absolute, Latency, Series};
use crate::formula::{Formula, Line, ns};
use crate::published::Published;

/// Ways in our tables, in order; like for like first.
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

/// A published row and our way that is like it.
struct Pair {
    /// Number of the published table, and the name of its row without the clock rate.
    table: u32,
    row: &'static str,
    figure: u32,
    title: &'static str,
    ours: &'static str,
    theirs: Formula,
    /// Other ways of ours, drawn and listed beside it.
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

/// What the tables are made of.
pub struct Source<'a> {
    /// Ours.
    pub latency: &'a Latency,
    /// Theirs.
    pub published: &'a Published,
}

impl Source<'_> {
    /// A series with 16 sessions and nothing special.
    fn series(&self, way: &str, khz: u32) -> Result<&Series, String> {
        let found = self.latency.series.iter().find(|series| {
            series.way == way
                && series.line.khz == khz
                && series.sessions == 16
                && series.case.is_empty()
        });
        found.ok_or_else(|| {
            format!("latency.json has no series {way} at {khz} kHz with 16 sessions")
        })
    }

    fn cycles(&self, way: &str, khz: u32, n: u64) -> Result<u64, String> {
        let point = self.series(way, khz)?.cycles(n).map(|point| point.cycles);
        point.ok_or_else(|| format!("latency.json: {way} at {khz} kHz has no point of {n} bytes"))
    }

    /// A published value in ns.
    fn theirs(&self, row: &str, khz: u32, n: u64) -> Result<f64, String> {
        let name = format!("{row} - {} MHz", khz / 1000);
        let value = self.published.table(4).and_then(|table| table.value(&name, n));
        value.ok_or_else(|| format!("published.json has no value of \"{name}\" for {n} bytes"))
    }
}

fn heads(first: &str, sizes: &[u64]) -> Vec<String> {
    let sizes = sizes.iter().map(|n| format!("{n} B"));
    std::iter::once(first.to_owned()).chain(sizes).collect()
}

fn time(cycles: u64, khz: u32) -> String {
    format!("{:.2}", ns(cycles as f64, khz))
}

/// Three rows: published, ours, difference. `ours` and `theirs` count cycles.
fn compare(
    table: &mut Table,
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
        // The published cells are rounded or cut, those of round trips twice.
        if (ns(theirs as f64, khz) - published).abs() > 0.025 {
            return Err(format!(
                "{row} at {mhz} MHz, {n} bytes: {published} ns are not {theirs} cycles"
            ));
        }
        let jumbo = n > 1460;
        let tip = if jumbo { "single jumbo frame, build with an MTU of 9000" } else { "" };
        first.push(Cell::toned(format!("{theirs} · {published:.2}"), Tone::Published));
        second.push(
            Cell::new(format!("{ours} · {}{}", time(ours, khz), if jumbo { " †" } else { "" }))
                .with_tip(tip),
        );
        third.push(Cell::difference(ours as i64, theirs as i64));
    }
    table.lead(format!("{name}, {mhz} MHz: published"), first);
    table.row("ours", second);
    table.row("difference in cycles", third);
    Ok(())
}

/// Sum of two ways, or one.
fn summary(source: &Source<'_>) -> Result<String, String> {
    let mut table = Table::new(
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
    table.html("cells")
}

/// Our best round trips, of ways that need another user side than the published one.
fn best(source: &Source<'_>) -> Result<String, String> {
    let mut table =
        Table::new("Round trips of other user sides: cycles · ns", heads("", &TABLE_SIZES));
    for khz in RATES {
        for (name, tx, rx) in [
            ("Rx unaligned first beat + Tx, length and sum known", "tx_ct64", "rx_unpacked32"),
            ("Rx 32-bit packed + Tx, length and sum known", "tx_ct64", "rx_packed32"),
            ("Rx store-and-forward + Tx 64-bit, length known", "tx_length64", "rx_store64"),
        ] {
            let mut cells = Vec::new();
            for n in TABLE_SIZES {
                let sum = source.cycles(tx, khz, n)? + source.cycles(rx, khz, n)?;
                cells.push(Cell::new(format!("{sum} · {}", time(sum, khz))));
            }
            table.row(format!("{name}, {} MHz", khz / 1000), cells);
        }
    }
    table.html("cells")
}

/// The table and the plot of one published pair.
fn pair(page: &mut Page, source: &Source<'_>, pair: &Pair) -> Result<String, String> {
    let mut table = Table::new(
        format!("Published table {} and ours: cycles · ns", pair.table),
        heads("", &TABLE_SIZES),
    );
    let mut plot = Plot {
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
        plot.series.push(Curve {
            name: format!("ours, {} MHz", khz / 1000),
            colour: index,
            style: Style::Line,
            points: curve(series),
        });
        let mut points = Vec::new();
        for n in TABLE_SIZES {
            points.push((n as f64, source.theirs(pair.row, khz, n)?));
        }
        plot.series.push(Curve {
            name: format!("published, {} MHz", khz / 1000),
            colour: index + 2,
            style: Style::Markers,
            points,
        });
    }
    for (index, way) in pair.also.iter().enumerate() {
        let series = source.series(way, RATES[0])?;
        plot.series.push(Curve {
            name: format!("{}, 322 MHz", series.label),
            colour: index + 4,
            style: Style::Line,
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
            table.html("cells")?,
            figure(&format!("Figure {}.", pair.figure), &plot.title, &svg,),
            paragraph(&rule)
        ),
    ))
}

fn curve(series: &Series) -> Vec<(f64, f64)> {
    let time = |cycles: u64| ns(cycles as f64, series.line.khz);
    series.points.iter().map(|point| (point.n as f64, time(point.cycles))).collect()
}

/// All ways, 16 and 64 sessions.
fn ways(source: &Source<'_>) -> Result<String, String> {
    let mut head = heads("Way", &TABLE_SIZES);
    head.extend(["Formula".to_owned(), "Points".to_owned(), "64 sessions".to_owned()]);
    let mut table =
        Table::new("All ways, cycles at 322 MHz (350 MHz in parentheses where it differs)", head);
    for way in WAYS {
        let slow = source.series(way, RATES[0])?;
        let mut cells = Vec::new();
        for n in TABLE_SIZES {
            let (slow, fast) = (source.cycles(way, RATES[0], n)?, source.cycles(way, RATES[1], n)?);
            let text = if slow == fast { slow.to_string() } else { format!("{slow} ({fast})") };
            cells.push(Cell::new(if n > 1460 { format!("{text} †") } else { text }));
        }
        cells.push(Cell::new(slow.rule.clone()));
        cells.push(Cell::new(slow.points.len().to_string()));
        cells.push(sessions(source, way));
        table.row(slow.label.clone(), cells);
    }
    table.html("cells")
}

/// Whether 64 sessions take the same time as 16.
fn sessions(source: &Source<'_>, way: &str) -> Cell {
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
                    return Cell::toned(
                        format!("{} cycles at {} B, not {other}", point.cycles, point.n),
                        Tone::Worse,
                    );
                }
            }
        }
    }
    match same {
        0 => Cell::absent("this way has no build with 64 sessions"),
        same => Cell::new(format!("equal in {same} points")),
    }
}

/// Tags and options.
fn cases(source: &Source<'_>) -> Result<String, String> {
    let sizes: Vec<u64> = TABLE_SIZES.into_iter().filter(|n| *n <= 1460).collect();
    let mut table = Table::new("Longer headers, cycles at 322 MHz (350 MHz)", heads("Way", &sizes));
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
                Ok(Cell::new(format!("{slow} ({fast})")))
            };
            let cells = sizes.iter().map(cell).collect::<Result<Vec<_>, String>>()?;
            table.row(format!("{}, {label}", slow.label), cells);
        }
    }
    table.html("cells")
}

/// 64 bits towards the MAC.
fn wide(source: &Source<'_>) -> Result<String, String> {
    let sizes: Vec<u64> = TABLE_SIZES.into_iter().filter(|n| *n <= 1460).collect();
    let mut table = Table::new("64 bits to and from the MAC: cycles · ns", heads("Way", &sizes));
    for series in &source.latency.wide {
        let mut cells = Vec::new();
        for n in &sizes {
            let point =
                series.cycles(*n).ok_or_else(|| format!("{}: no point of {n}", series.way))?;
            cells.push(Cell::new(format!(
                "{} · {}",
                point.cycles,
                time(point.cycles, series.line.khz)
            )));
        }
        let mhz = f64::from(series.line.khz) / 1000.0;
        table.row(format!("{}, {mhz} MHz", series.label), cells);
    }
    table.html("cells")
}

/// On a true line.
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
    let mut table = Table::new(
        "From the first bit of the frame on the line to the first beat at the user",
        heads.map(str::to_owned),
    );
    for row in list.iter().filter(|row| [1, 64, 1024].contains(&row.n)) {
        table.row(
            row.label.clone(),
            [
                Cell::new(format!("{} bits, {} MHz", row.mac_bits, row.khz / 1000.0)),
                Cell::new(format!("{} B", row.n)),
                Cell::new(row.phases.to_string()),
                Cell::new(format!("{} · {:.2} · {}", row.min, row.mean, row.max)),
                Cell::new(format!("{:.2}", row.min_ns)),
                Cell::new(format!("{:.2}", row.mean_ns)),
                Cell::new(format!("{:.2}", row.max_ns)),
            ],
        );
    }
    table.html("plain-first")
}

/// All points of all ways.
fn all(source: &Source<'_>) -> Result<String, String> {
    let mut columns = Vec::new();
    for way in WAYS {
        for khz in RATES {
            columns.push(source.series(way, khz)?);
        }
    }
    let heads =
        columns.iter().map(|series| format!("{}, {} MHz", series.way, series.line.khz / 1000));
    let mut table = Table::new(
        "Cycles of all sizes, 16 sessions",
        std::iter::once("Payload in bytes".to_owned()).chain(heads),
    );
    let first = columns.first().ok_or("no series")?;
    for point in &first.points {
        let cell = |series: &&Series| {
            let found = series.cycles(point.n).ok_or(format!("{}: no {}", series.way, point.n))?;
            Ok(Cell::new(found.cycles.to_string()))
        };
        let cells = columns.iter().map(cell).collect::<Result<Vec<_>, String>>()?;
        table.row(grouped(point.n), cells);
    }
    let rows = table.len();
    Ok(details(&format!("All {rows} sizes of all ways"), &table.html("cells")?))
}

/// The section.
///
/// # Errors
/// A value is missing, or a point is not on its formula.
pub fn html(page: &mut Page, source: &Source<'_>) -> Result<String, String> {
    let off = crate::bench::latency::off(source.latency);
    if let Some(first) = off.first() {
        return Err(format!("{} points are off their formula, the first one: {first}", off.len()));
    }
    let mut body = paragraph(
        "From the first beat of what goes in to the first beat of what comes out. Cycles are counted; nanoseconds are cycles times \
         the period of 322.265625 MHz (\"322 MHz\") or 350 MHz and are no statement that a device reaches that clock. † single jumbo \
         frame: larger than a segment with an MTU of 1500, measured in a build with an MTU of 9000.",
    );
    body.push_str(&part("Summary, like for like", &summary(source)?));
    body.push_str(&part("Other user sides", &best(source)?));
    for one in &PAIRS {
        body.push_str(&pair(page, source, one)?);
    }
    body.push_str(&part("All ways through the core", &ways(source)?));
    body.push_str(&all(source)?);
    body.push_str(&part("Tags and options", &cases(source)?));
    body.push_str(&part("64-bit MAC side", &wide(source)?));
    let text = paragraph(
        "The published arrival pattern is a limiter that is full when a frame begins, so the first words come faster than a line carries them. Here \
         words come as a 64B/66B decoder hands them out, 32 of 33 clocks, in all positions of its pause; and the time of the first word \
         on the line is added. This is the figure to compare interfaces of different widths by.",
    );
    body.push_str(&part("On a true line", &(text + &absolute(&source.latency.absolute)?)));
    Ok(section("latency", "Latency", &body))
}
