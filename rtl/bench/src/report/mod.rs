//! The report: a page with drawings, made from the records of the measurements.
//!
//! Each value comes from a record or from the published figures. A missing value, an empty cell or
//! a point that differs from its formula is an error, and no report is written. Results of synthesis
//! of blocks take hours: without some of them, or with old ones, the report is written, says so, and
//! is an error too.

pub mod bandwidth;
pub mod checks;
pub mod contention;
pub mod diagram;
pub mod latency;
pub mod latency_source;
pub mod peers;
pub mod resources;
pub mod ways;

use spfe_report::line_plot;
use spfe_report::markup::{self, escape, figure, paragraph, part, section};

use crate::bench::generics::Generics;
use crate::bench::meta::Meta;
use crate::bench::modes::{RATES, TABLE_SIZES};
use crate::bench::record::{self, Bandwidth, Contention, Latency, Peers};
use crate::bench::synthesis::Synthesis;
use crate::builds;
use crate::drill::suite::ScriptRecord;
use crate::formula::{Line, PUBLISHED_TX_USER, exact_khz};
use crate::fuzz::runs::FuzzRun;
use crate::peer::cases::CaseResult;
use crate::published::Published;
use crate::rate::{LINE_KBPS, PCS_CLOCKS};
use diagram::DiagramScenario;
use latency_source::Source;

/// Style rules of this page, in addition to the common ones.
const STYLE: &str = include_str!("style.css");

/// A drawing of the page.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// Name of its file, without `.svg`.
    pub name: String,
    /// The drawing as an element of the page.
    pub svg: String,
}

/// Collects the drawings of the page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    drawings: Vec<Drawing>,
}

impl Page {
    /// Stores a drawing for a file of its own, and returns it for the page.
    pub fn draw(&mut self, drawing: Drawing) -> String {
        let svg = drawing.svg.clone();
        self.drawings.push(drawing);
        svg
    }
}

const SECTIONS: [(&str, &str); 9] = [
    ("summary", "Summary"),
    ("method", "Method"),
    ("latency", "Latency"),
    ("contention", "Contention"),
    ("bandwidth", "Bandwidth"),
    ("resources", "Resources"),
    ("peers", "Real peers"),
    ("conformance", "Conformance"),
    ("generics", "Generics"),
];

fn header(meta: &Meta, published: &Published, synthesis: &Synthesis) -> String {
    let links: String = SECTIONS
        .iter()
        .map(|(id, title)| format!("<li><a href=\"#{id}\">{title}</a></li>"))
        .collect();
    format!(
        "<header>\n<h1>10G ultra-low-latency TCP core: performance</h1>\n\
         <p class=\"facts\">revision {} · {} · {} · random payload of seed {}</p>\n\
         <p class=\"banner\">Behavioural simulation of the synthesizable core, not hardware. \
         Nanoseconds are cycles times a clock period. {}</p>\n<p>Compared with the published figures of: {}, version {}.</p>\n\
         <nav><ul>{links}</ul></nav>\n</header>\n",
        escape(&meta.revision),
        escape(&meta.simulator),
        escape(&meta.compiler),
        meta.seed,
        escape(&clocks(synthesis)),
        escape(&published.source),
        escape(&published.version),
    )
}

/// Payload of the summary in bytes.
const SUMMARY_BYTES: u64 = 64;

/// Says which clock rate the results support.
fn clocks(synthesis: &Synthesis) -> String {
    let best = match synthesis.clock() {
        Some((mhz, core)) => format!("the highest of a whole core is {mhz:.1} MHz ({core}, ECP5)"),
        None => "none of a whole core is known".to_owned(),
    };
    let open = RATES.iter().filter(|khz| !synthesis.supports(exact_khz(**khz)));
    let open: Vec<String> = open.map(|khz| format!("{} MHz", khz / 1000)).collect();
    if open.is_empty() {
        return format!("Clock rates after place and route: {best}.");
    }
    format!(
        "Nanoseconds at {} are conversions: no result here says that a device reaches such a \
         clock, so nothing is called better there. Clock rates after place and route: {best}.",
        open.join(" and ")
    )
}

/// A figure of the summary: a title, the large text, and the small one.
type Tile = (String, String, String);

fn tiles(list: &[Tile]) -> String {
    let mut out = String::from("<ul class=\"tiles\">\n");
    for (name, value, about) in list {
        out += &format!("<li>{name}<strong>{value}</strong><span>{about}</span></li>\n");
    }
    out + "</ul>\n"
}

/// The main figures: paths measured as the published ones, the bandwidth, and our other paths.
fn summary(source: &Source<'_>, bandwidth: &Bandwidth) -> Result<String, String> {
    let (khz, n) = (RATES[0], SUMMARY_BYTES);
    let line = Line::published(khz);
    let [tx_store, tx, rx_store, rx] = &latency::PAIRS;
    let mut like = Vec::new();
    for (name, pairs) in [
        ("Round trip, cut-through", vec![tx, rx]),
        (rx.title, vec![rx]),
        (tx.title, vec![tx]),
        ("Round trip, store-and-forward", vec![tx_store, rx_store]),
        (rx_store.title, vec![rx_store]),
        (tx_store.title, vec![tx_store]),
    ] {
        let (mut ours, mut theirs) = (0, 0);
        for pair in pairs {
            ours += source.cycles(pair.ours, khz, n)?;
            theirs += pair.theirs.cycles(&line, n);
        }
        let about = format!("published: {theirs} cycles; {n} bytes, limiter of {} MHz", khz / 1000);
        like.push((name.to_owned(), format!("{ours} cycles"), about));
    }
    let mut own = Vec::new();
    for way in OTHER_TILES {
        let label = &source.series(way, khz)?.label;
        let cycles = source.cycles(way, khz, n)?;
        own.push((label.clone(), format!("{cycles} cycles"), format!("{n} bytes; not published")));
    }
    let runs: Vec<_> = bandwidth.rates.iter().filter(|rate| rate.limit == "limiter").collect();
    let least = runs.iter().map(|rate| rate.mbps).fold(f64::INFINITY, f64::min);
    if runs.is_empty() {
        return Err("bandwidth.json has no runs under the limiter".to_owned());
    }
    let about = format!("lowest of all {} runs under a limiter", runs.len());
    let rates = [("Bandwidth".to_owned(), format!("{least:.0} Mbit/s"), about)];
    let body = part("Latency, like for like", &tiles(&like))
        + &part("Bandwidth, like for like", &tiles(&rates))
        + &part("Latency of our other paths", &tiles(&own))
        + &paragraph(&clocks(source.synthesis));
    Ok(section("summary", "Summary", &body))
}

/// Paths of the summary that were not published.
const OTHER_TILES: [&str; 3] = ["rx_packed64", "rx_packed32", "rx_unpacked32"];

fn method(page: &mut Page, records: &Records, published: &Published) -> Result<String, String> {
    let packets = records.bandwidth.rates.first().ok_or("bandwidth.json has no runs")?.packets;
    let latencies = published.latencies()?;
    let gbit = LINE_KBPS / 1_000_000;
    let mut body = format!(
        "<dl>\n<dt>Latency</dt><dd>Cycles from the first beat in to the first beat out. Rx: one frame \
         at a time, with words at the rate of {gbit} Gbit/s. Tx: one message at a time, as fast as \
         the user port accepts it. Sessions are opened by a normal handshake of a peer on the line, \
         and are used in turn.</dd>\n\
         <dt>Arrival</dt><dd>Word <i>k</i> of a frame is on the bus in cycle <i>a(k) = k + max(0, \
         ceil(k·r) − 1)</i>, <i>r</i> = F·width/{gbit} Gbit/s − 1. This pattern gives all \
         {latencies} published latencies. The pattern of a line, {} of {PCS_CLOCKS} clocks, is \
         measured as well.</dd>\n\
         <dt>Formulas</dt><dd>Each path through the core has a closed formula. Every measured \
         point is compared with it. A point that differs fails the measurement, and this page is not \
         written.</dd>\n\
         <dt>Bandwidth</dt><dd>{packets} packets of a size. Rx: at the full rate, and again at lower \
         rates if a packet is lost. Tx: at the full rate of the user port, with the MAC side \
         limited to {gbit} Gbit/s.</dd>\n\
         <dt>Checks</dt><dd>Every byte is compared. Another implementation parses every frame of \
         the core and verifies its checksums.</dd>\n</dl>\n",
        PCS_CLOCKS - 1
    );
    for (number, name, title, scenario) in [
        (1, "scenario-rx-latency", "Rx latency: points of measurement", DiagramScenario::RxLatency),
        (2, "scenario-tx-latency", "Tx latency: points of measurement", DiagramScenario::TxLatency),
        (7, "scenario-rx-bandwidth", "Rx bandwidth", DiagramScenario::RxBandwidth),
        (8, "scenario-tx-bandwidth", "Tx bandwidth", DiagramScenario::TxBandwidth),
    ] {
        let svg = page.draw(Drawing { name: name.to_owned(), svg: scenario.svg(name, title) });
        body.push_str(&figure(&format!("Figure {number}."), title, &svg));
    }
    let generic = |name: &str| {
        published.generic(name).ok_or_else(|| format!("published.json has no generic {name}"))
    };
    let known = paragraph(&format!(
        "Not all published rows match the published generics: the store-and-forward transmitter \
         needs a user port of {PUBLISHED_TX_USER} bytes a cycle, not {}, and payloads of {} bytes do \
         not fit an MTU of {}. Comparable rows use the user side that the published figures need, \
         and their receiver gives a segment's verdict with its last beat. All other rows name their \
         own.",
        generic("USER2TCP_DATA_WIDTH")? / 8,
        TABLE_SIZES[TABLE_SIZES.len() - 1],
        generic("MTU")?
    ));
    body.push_str(&part("Comparable rows", &known));
    Ok(section("method", "Method", &body))
}

/// The records behind the report.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// `meta.json`.
    pub meta: Meta,
    /// `latency.json`.
    pub latency: Latency,
    /// `bandwidth.json`.
    pub bandwidth: Bandwidth,
    /// `contention.json`.
    pub contention: Contention,
    /// `generics.json`.
    pub generics: Generics,
    /// `peers.json`.
    pub peers: Peers,
    /// `peer.json`.
    pub peer: Vec<CaseResult>,
    /// `conformance.json`.
    pub conformance: Vec<ScriptRecord>,
    /// Runs of `fuzz.json`.
    pub fuzz: Vec<FuzzRun>,
    /// Results of synthesis.
    pub synthesis: Synthesis,
}

impl Records {
    /// Reads all records.
    ///
    /// # Errors
    /// A record is missing or does not have its form.
    pub fn read() -> Result<Self, String> {
        Ok(Self {
            meta: record::read("meta.json")?,
            latency: record::read("latency.json")?,
            bandwidth: record::read("bandwidth.json")?,
            contention: record::read("contention.json")?,
            generics: record::read("generics.json")?,
            peers: record::read("peers.json")?,
            peer: record::read("peer.json")?,
            conformance: record::read("conformance.json")?,
            fuzz: record::read("fuzz.json")?,
            synthesis: Synthesis::read()?,
        })
    }
}

/// Renders the page and its drawings.
///
/// # Errors
/// A value is missing or wrong.
pub fn render(records: &Records) -> Result<(String, Vec<Drawing>), String> {
    let published = Published::load();
    let mut page = Page::default();
    let mut body = header(&records.meta, &published, &records.synthesis);
    body.push_str("<main>\n");
    let (latency, synthesis) = (&records.latency, &records.synthesis);
    let source = Source { latency, published: &published, synthesis };
    body.push_str(&summary(&source, &records.bandwidth)?);
    body.push_str(&method(&mut page, records, &published)?);
    body.push_str(&latency::html(&mut page, &source)?);
    body.push_str(&contention::html(&mut page, &records.contention)?);
    body.push_str(&bandwidth::html(&mut page, &records.bandwidth, &published)?);
    body.push_str(&resources::html(&published, synthesis)?);
    body.push_str(&peers::html(&records.peers, &records.peer, &builds::sources()?)?);
    body.push_str(&checks::conformance(&records.conformance, &records.fuzz)?);
    body.push_str(&checks::generics(&published, &records.generics)?);
    body.push_str("</main>\n");
    let text = markup::page("10G TCP core: performance", STYLE, &body);
    Ok((text, page.drawings))
}

/// Writes the report: `index.html`, and `svg/` with the drawings. Returns what a complete record
/// of synthesis still lacks.
///
/// # Errors
/// Those of [`render`], or a file cannot be written.
pub fn write() -> Result<Vec<String>, String> {
    let records = Records::read()?;
    let (text, drawings) = render(&records)?;
    let directory = record::directory();
    let put = |name: String, text: String| {
        let path = directory.join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    std::fs::create_dir_all(directory.join("svg"))
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    for drawing in &drawings {
        put(
            format!("svg/{}.svg", drawing.name),
            line_plot::standalone(&drawing.svg, diagram::RULES),
        )?;
    }
    put("index.html".to_owned(), text)?;
    records.synthesis.demands()
}
