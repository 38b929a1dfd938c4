//! The report: a page with drawings, made from the records of the measurements.
//!
//! Each value comes from a record or from the published figures. A missing value, an empty cell or
//! a point that differs from its formula is an error, and no report is written.

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
use crate::bench::record::{self, Bandwidth, Contention, Latency, Peers};
use crate::bench::synthesis::Synthesis;
use crate::builds;
use crate::drill::suite::ScriptRecord;
use crate::fuzz::runs::FuzzRun;
use crate::peer::cases::CaseResult;
use crate::published::Published;
use diagram::DiagramScenario;

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

fn header(meta: &Meta, published: &Published) -> String {
    let links: String = SECTIONS
        .iter()
        .map(|(id, title)| format!("<li><a href=\"#{id}\">{title}</a></li>"))
        .collect();
    format!(
        "<header>\n<h1>10G ultra-low-latency TCP core: performance</h1>\n\
         <p class=\"facts\">revision {} · {} · {} · random payload of seed {}</p>\n\
         <p class=\"banner\">Behavioural simulation of the synthesizable core, not hardware. \
         Nanoseconds are cycles times a clock period. No figure here says that a device reaches \
         that clock.</p>\n<p>Compared with the published figures of: {}, version {}.</p>\n\
         <nav><ul>{links}</ul></nav>\n</header>\n",
        escape(&meta.revision),
        escape(&meta.simulator),
        escape(&meta.compiler),
        meta.seed,
        escape(&published.source),
        escape(&published.version),
    )
}

/// The main figures.
fn summary(latency: &Latency, bandwidth: &Bandwidth) -> Result<String, String> {
    let cycles = |way: &str| {
        let series = latency.series.iter();
        let mut found = series.filter(|series| series.way == way && series.sessions == 16);
        let point = found.find_map(|series| series.cycles(64).copied());
        point
            .map(|point| point.cycles)
            .ok_or_else(|| format!("latency.json has no {way} of 64 bytes"))
    };
    let time = |cycles: u64| format!("{:.2} ns", crate::formula::ns(cycles as f64, 322_000));
    let least = bandwidth.rates.iter().filter(|rate| rate.limit == "limiter");
    let least = least.map(|rate| rate.mbps).fold(f64::INFINITY, f64::min);
    if !least.is_finite() {
        return Err("bandwidth.json has no runs under the limiter".to_owned());
    }
    let trip = cycles("rx_unpacked32")? + cycles("tx_ct64")?;
    let like = cycles("rx_packed64")? + cycles("tx_ct64")?;
    let tiles = [
        (
            "Rx cut-through",
            cycles("rx_unpacked32")?,
            "64 bytes, first beat unaligned; 14 cycles are one register more than the minimum",
        ),
        ("Tx cut-through", cycles("tx_ct64")?, "any size; length and sum known"),
        ("Round trip", trip, "cut-through, 32-bit unaligned user side"),
        ("Round trip, like for like", like, "cut-through, 64-bit packed user side"),
        ("Rx store-and-forward", cycles("rx_store64")?, "64 bytes, verified"),
        ("Tx store-and-forward", cycles("tx_store128")?, "64 bytes, 128-bit user side"),
    ];
    let mut out = String::from("<ul class=\"tiles\">\n");
    for (name, cycles, about) in tiles {
        out += &format!(
            "<li>{name}<strong>{}</strong><span>{cycles} cycles at 322 MHz; {about}</span></li>\n",
            time(cycles)
        );
    }
    out += &format!(
        "<li>Bandwidth<strong>{least:.0} Mbit/s</strong><span>lowest of all {} runs under a \
         limiter of 10 Gbit/s</span></li>\n</ul>\n",
        bandwidth.rates.iter().filter(|rate| rate.limit == "limiter").count()
    );
    Ok(section("summary", "Summary", &out))
}

fn method(page: &mut Page) -> String {
    let mut body = String::from(
        "<dl>\n<dt>Latency</dt><dd>Cycles from the first beat in to the first beat out. Rx: one frame \
         at a time, with words at the rate of 10 Gbit/s. Tx: one message at a time, as fast as the \
         user port accepts it. Sessions are opened by a normal handshake of a peer on the line, \
         and are used in turn.</dd>\n\
         <dt>Arrival</dt><dd>Word <i>k</i> of a frame is on the bus in cycle <i>a(k) = k + max(0, \
         ceil(k·r) − 1)</i>, <i>r</i> = F·width/10 Gbit/s − 1. This pattern gives all 120 \
         published latencies. The pattern of a line, 32 of 33 clocks, is measured as well.</dd>\n\
         <dt>Formulas</dt><dd>Each path through the core has a closed formula. Every measured \
         point is compared with it. A point that differs fails the measurement, and this page is not \
         written.</dd>\n\
         <dt>Bandwidth</dt><dd>100 packets of a size. Rx: at the full rate, and again at lower \
         rates if a packet is lost. Tx: at the full rate of the user port, with the MAC side \
         limited to 10 Gbit/s.</dd>\n\
         <dt>Checks</dt><dd>Every byte is compared. Another implementation parses every frame of \
         the core and verifies its checksums.</dd>\n</dl>\n",
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
    let known = paragraph(
        "Not all published rows match the published generics: the store-and-forward transmitter \
         needs a user port of 16 bytes a cycle, not 8, and payloads of 2048 bytes do not fit an \
         MTU of 1500. Comparable rows use the user side that the published figures need. All \
         other rows name their own.",
    );
    body.push_str(&part("Comparable rows", &known));
    section("method", "Method", &body)
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
    /// `peers.json`, empty if the file does not exist.
    pub peers: Peers,
    /// `peer.json`, empty if the file does not exist.
    pub peer: Vec<CaseResult>,
    /// `conformance.json`, empty if the file does not exist.
    pub conformance: Vec<ScriptRecord>,
    /// Runs of `fuzz.json`, empty if the file does not exist.
    pub fuzz: Vec<FuzzRun>,
    /// Results of synthesis, if the file exists.
    pub synthesis: Option<Synthesis>,
}

impl Records {
    /// Reads all records.
    ///
    /// # Errors
    /// A required record is missing, or a record does not have its form.
    pub fn read() -> Result<Self, String> {
        Ok(Self {
            meta: record::read("meta.json")?,
            latency: record::read("latency.json")?,
            bandwidth: record::read("bandwidth.json")?,
            contention: record::read("contention.json")?,
            generics: record::read("generics.json")?,
            peers: record::read_if("peers.json")?.unwrap_or_default(),
            peer: record::read_if("peer.json")?.unwrap_or_default(),
            conformance: record::read_if("conformance.json")?.unwrap_or_default(),
            fuzz: record::read_if("fuzz.json")?.unwrap_or_default(),
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
    let mut body = header(&records.meta, &published);
    body.push_str("<main>\n");
    body.push_str(&summary(&records.latency, &records.bandwidth)?);
    body.push_str(&method(&mut page));
    let source = latency_source::Source { latency: &records.latency, published: &published };
    body.push_str(&latency::html(&mut page, &source)?);
    body.push_str(&contention::html(&mut page, &records.contention)?);
    body.push_str(&bandwidth::html(&mut page, &records.bandwidth, &published)?);
    body.push_str(&resources::html(&published, records.synthesis.as_ref())?);
    body.push_str(&peers::html(&records.peers, &records.peer, &builds::sources()?)?);
    body.push_str(&checks::conformance(&records.conformance, &records.fuzz)?);
    body.push_str(&checks::generics(&published, &records.generics)?);
    body.push_str("</main>\n");
    let text = markup::page("10G TCP core: performance", STYLE, &body);
    Ok((text, page.drawings))
}

/// Writes the report: `index.html`, and `svg/` with the drawings.
///
/// # Errors
/// Those of [`render`], or a file cannot be written.
pub fn write() -> Result<(), String> {
    let (text, drawings) = render(&Records::read()?)?;
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
    put("index.html".to_owned(), text)
}
