//! Sizes and clock rates, out of the record of synthesis, beside published cores.

use crate::measured::verdict;
use crate::{Page, list, number, text};
use serde_json::Value;
use spfe_report::html_table::{CellTone, HtmlTable, TableCell};
use spfe_report::line_plot::{LinePlot, PlotSeries, SeriesStyle};
use spfe_report::markup::{grouped, paragraph, part};

/// Most LUTs: the top, and what it is.
const GOALS: [(&str, &str, u64); 3] = [
    ("sf-port-4vc", "port of 1 lane and 4 channels", 6_000),
    ("sf-port-4l-4vc", "port of 4 lanes and 4 channels", 9_000),
    ("endpoint-4l-8vc", "endpoint of 4 lanes, 8 channels and 16 queues", 20_000),
];
/// Clock rate that a top must reach in an ECP5, MHz.
const CLOCK: (&str, f64) = ("sf-port-4vc", 100.0);
/// How sizes grow: axis, and tops with their place on it.
const GROWTH: [(&str, &[(&str, f64)]); 4] = [
    (
        "port over lanes (4 channels)",
        &[("sf-port-4vc", 1.0), ("sf-port-2l-4vc", 2.0), ("sf-port-4l-4vc", 4.0)],
    ),
    ("port over channels (1 lane)", &[("sf-port-4vc", 4.0), ("sf-port-8vc", 8.0)]),
    ("receive engine over queues", &[("host-rx-4q", 4.0), ("host-rx-8q", 8.0)]),
    ("transmit engine over queues", &[("host-tx-4q", 4.0), ("host-tx-8q", 8.0)]),
];
/// Beginnings of the names of tops of this core.
const PARTS: [&str; 6] = ["sf-", "sw-", "host-", "rdma-", "ep-", "endpoint-"];

/// The record of synthesis, what was published, and which figures are of today's sources.
pub struct Resources {
    pub record: Value,
    pub published: Value,
    pub status: String,
}

impl Resources {
    fn top(&self, name: &str) -> &Value {
        &self.record["tops"][name]
    }

    /// LUTs for UltraScale+, or `None` if they were not measured.
    fn luts(&self, name: &str) -> Option<u64> {
        self.top(name)["xcup"]["lut_total"].as_u64()
    }

    /// Clock rates in an ECP5, one for each seed, in ascending order.
    fn rates(&self, name: &str) -> Vec<f64> {
        let rates = self.top(name)["ecp5"]["fmax_mhz"].as_object();
        let mut rates: Vec<f64> =
            rates.into_iter().flatten().filter_map(|(_, rate)| rate.as_f64()).collect();
        rates.sort_by(f64::total_cmp);
        rates
    }

    /// Whether figures are of today's sources.
    fn age(&self, name: &str, flow: &str) -> TableCell {
        if self.status.lines().any(|line| line == format!("ok {name} {flow}")) {
            TableCell::new("today's sources")
        } else {
            TableCell::toned("older sources", CellTone::Worse)
        }
    }

    /// The goals of sizes and clock rate.
    pub fn goals(&self) -> Result<String, String> {
        let head = ["Goal", "At most", "Measured", "Longest path, levels", "Sources", "Met"];
        let mut table =
            HtmlTable::with_head("LUTs of an UltraScale+ (estimate, no check bits)", head);
        for (name, title, most) in GOALS {
            let Some(luts) = self.luts(name) else {
                table.row(
                    title,
                    [
                        TableCell::new(grouped(most)),
                        TableCell::absent("not measured").over(3),
                        verdict(false),
                    ],
                );
                continue;
            };
            let logic = &self.top(name)["xcup"]["logic"];
            table.row(
                title,
                [
                    TableCell::new(grouped(most)),
                    TableCell::new(grouped(luts)),
                    TableCell::new(format!("{}", number(logic, "levels")?)).with_tip(format!(
                        "{} to {}",
                        text(logic, "from")?,
                        text(logic, "to")?
                    )),
                    self.age(name, "xcup"),
                    verdict(luts <= most),
                ],
            );
        }
        let (name, goal) = CLOCK;
        let rates = self.rates(name);
        let (Some(least), Some(best)) = (rates.first(), rates.last()) else {
            return Err(format!("results.json has no clock rate of {name}"));
        };
        let clock = paragraph(&format!(
            "Clock rate of {name} in an ECP5, {} seeds: {least:.1} to {best:.1} MHz; the goal is \
             {goal:.0} MHz.",
            rates.len()
        ));
        Ok(table.complete_html("cells")? + &clock)
    }

    fn sizes(&self) -> Result<String, String> {
        let head = [
            "Block",
            "LUT",
            "of them memory",
            "FF",
            "BRAM36",
            "Levels",
            "ECP5 LUT4",
            "ECP5 MHz",
            "Sources",
        ];
        let mut table = HtmlTable::with_head("Cells of the blocks", head);
        let tops = self.record["tops"].as_object().ok_or("results.json has no tops")?;
        for (name, top) in tops {
            let taken = &top["xcup"];
            if !PARTS.iter().any(|part| name.starts_with(part)) || taken.is_null() {
                continue;
            }
            let count = |value: f64| TableCell::new(grouped(value as u64));
            let blocks = number(taken, "bram36")? + number(taken, "bram18")? / 2.0;
            let rates = self.rates(name);
            let (luts, rate) = match (top["ecp5"]["lut4_total"].as_u64(), rates.first()) {
                (Some(luts), Some(least)) => {
                    let best = rates[rates.len() - 1];
                    (TableCell::new(grouped(luts)), TableCell::new(format!("{least} to {best}")))
                }
                _ => (TableCell::absent("not routed"), TableCell::absent("not routed")),
            };
            table.row(
                name,
                [
                    count(number(taken, "lut_total")?),
                    count(number(&taken["lutram"], "luts")?),
                    count(number(taken, "ff")?),
                    TableCell::new(format!("{blocks}")),
                    count(number(&taken["logic"], "levels")?),
                    luts,
                    rate,
                    self.age(name, "xcup"),
                ],
            );
        }
        table.complete_html("cells")
    }

    fn growth(&self, page: &mut Page) -> Result<String, String> {
        let mut series = Vec::new();
        for (title, tops) in GROWTH {
            let points: Vec<(f64, f64)> =
                tops.iter().filter_map(|(name, at)| Some((*at, self.luts(name)? as f64))).collect();
            if points.len() > 1 {
                let (name, style) = (title.to_owned(), SeriesStyle::Line);
                series.push(PlotSeries { name, colour: series.len(), style, points });
            }
        }
        page.plot(&LinePlot {
            id: "growth".to_owned(),
            title: "LUTs over lanes, channels and queues".to_owned(),
            x: "number".to_owned(),
            y: "LUTs".to_owned(),
            at_least: 0.0,
            series,
        })
    }

    fn published(&self) -> Result<String, String> {
        let head = ["Core", "Configuration", "Device", "LUT", "FF", "BRAM36", "MHz", "Source"];
        let mut table = HtmlTable::with_head("Published cores", head);
        for core in list(&self.published, "cores")? {
            let count = |name: &str| match core[name].as_f64() {
                Some(count) => TableCell::toned(format!("{count}"), CellTone::Published),
                None => TableCell::absent("not published"),
            };
            table.row(
                text(core, "core")?,
                [
                    TableCell::toned(text(core, "configuration")?, CellTone::Published),
                    TableCell::toned(text(core, "device")?, CellTone::Published),
                    count("lut"),
                    count("ff"),
                    count("bram"),
                    count("mhz"),
                    TableCell::toned(text(core, "source")?, CellTone::Published),
                ],
            );
        }
        let why = paragraph(
            "Their configurations, devices and tools differ from ours and from each other, so no \
             figure is called better.",
        );
        Ok(why + &table.complete_html("plain-first")?)
    }

    /// The section.
    pub fn html(&self, page: &mut Page) -> Result<String, String> {
        Ok(part("Blocks", &self.sizes()?)
            + &part("Growth", &self.growth(page)?)
            + &part("Published cores", &self.published()?))
    }
}
