//! What was measured in simulation.

use crate::{Page, list, number, text};
use serde_json::Value;
use spfe_report::html_table::{CellTone, HtmlTable, TableCell};
use spfe_report::line_plot::{LinePlot, PlotSeries, SeriesStyle};
use spfe_report::markup::{grouped, paragraph, part};
use spfe_report::scenario;

/// Link use that the core must reach one way, as published: scenario, size in KB, percent.
const GOALS: [(&str, u64, f64); 3] = [
    (scenario::SEND_GROUP, 1, 98.0),
    (scenario::SEND_GROUP, 8, 99.5),
    (scenario::SEND_SINGLE, 256, 98.0),
];
/// Time in which a link must recover from a bit error, ns.
const RECOVERY_NS: f64 = 1000.0;
/// Scenarios and their titles.
const SCENARIOS: [(&str, &str); 5] = [
    (scenario::SEND_SINGLE, "Table I: sending single packets"),
    (scenario::SEND_GROUP, "Table II: sending groups"),
    (scenario::RECEIVE_SINGLE, "Table III: receiving single packets"),
    (scenario::RECEIVE_THRESHOLD, "Table IV: receiving at a threshold"),
    (scenario::SEND_GROUP_AHEAD, "Sending groups, two under way (not published)"),
];
const TIMES: [(&str, &str); 4] = [
    ("doorbell_to_first_word", "doorbell to first word"),
    ("last_word_to_received", "last word to receive completion"),
    ("last_word_to_sent", "last word to send completion"),
    ("doorbell_to_received", "doorbell to receive completion"),
];

/// The records of both measurements.
pub struct Measured {
    pub tables: Value,
    pub recovery: Value,
}

/// A cell that says whether a goal is met.
pub fn verdict(met: bool) -> TableCell {
    let (word, tone) = if met { ("yes", CellTone::Better) } else { ("no", CellTone::Worse) };
    TableCell::toned(word, tone)
}

fn row<'a>(rows: &'a [Value], name: &str, size: u64, both: bool) -> Option<&'a Value> {
    rows.iter().find(|row| {
        row["scenario"] == name && row["size_bytes"] == size && row["both_ways"] == both
    })
}

fn plain(value: f64, digits: usize) -> TableCell {
    TableCell::new(format!("{value:.digits$}"))
}

impl Measured {
    /// The conditions, in a line.
    pub fn facts(&self) -> Result<String, String> {
        let meta = &self.tables["meta"];
        Ok(format!(
            "revision {} · two cores, {}, a cycle is {:.2} ns · cable {} cycles · memory {} cycles \
             (read), {} (write) · host {} cycles",
            text(meta, "git_revision")?,
            text(meta, "link")?,
            number(meta, "cycle_ns")?,
            number(meta, "cable_cycles")?,
            number(meta, "memory_read_cycles")?,
            number(meta, "memory_write_cycles")?,
            number(meta, "answer_cycles")?,
        ))
    }

    /// The goals of link use and recovery.
    pub fn goals(&self) -> Result<String, String> {
        let rows = list(&self.tables, "tables")?;
        let head = ["Goal", "At least", "Measured", "Published", "Met"];
        let mut table = HtmlTable::with_head("Link use one way, %", head);
        for (name, size_kb, goal) in GOALS {
            let row = row(rows, name, size_kb << 10, false)
                .ok_or_else(|| format!("tables.json has no {name} of {size_kb} KB"))?;
            let (found, group) = (number(row, "link_use_pct")?, number(row, "group")?);
            let published = plain(number(row, "published_pct")?, 1);
            table.row(
                format!("{name}, {group} × {size_kb} KB"),
                [plain(goal, 1), plain(found, 2), published, verdict(found >= goal)],
            );
        }
        let mut recovery = HtmlTable::with_head(
            "Recovery from a bit error, ns",
            ["Error", "At most", "Mean until the resend", "Longest", "Met"],
        );
        for kind in list(&self.recovery, "kinds")? {
            if number(kind, "resends")? == 0.0 {
                continue;
            }
            let resend = &kind["resend"];
            let (mean, most) = (number(resend, "mean_ns")?, number(resend, "most_ns")?);
            recovery.row(
                text(kind, "error")?,
                [
                    plain(RECOVERY_NS, 0),
                    plain(mean, 0),
                    plain(most, 0),
                    verdict(most <= RECOVERY_NS),
                ],
            );
        }
        Ok(table.complete_html("cells")? + &recovery.complete_html("cells")?)
    }

    /// Link use of all cases.
    pub fn tables(&self, page: &mut Page) -> Result<String, String> {
        let rows = list(&self.tables, "tables")?;
        let mut series = Vec::new();
        let mut body = paragraph(
            "Payload over the highest payload rate of the link, one way and both ways. The host takes \
             the time above to answer a completion, or the interrupt of a threshold. Doorbells and \
             interrupts are those of one operation.",
        );
        let mut parts = String::new();
        for (name, title) in SCENARIOS {
            let of = rows.iter().filter(|row| row["scenario"] == name && row["both_ways"] == false);
            let one: Vec<&Value> = of.collect();
            if one.is_empty() {
                continue;
            }
            let head = [
                "Packet",
                "Group",
                "Cycles",
                "Link use, %",
                "Published, %",
                "Both ways, %",
                "Doorbells",
                "Interrupts",
            ];
            let mut table = HtmlTable::with_head(title, head);
            let mut points = Vec::new();
            for way in one {
                let size = number(way, "size_bytes")? as u64;
                let both = row(rows, name, size, true)
                    .ok_or_else(|| format!("tables.json has no {name} of {size} both ways"))?;
                let found = number(way, "link_use_pct")?;
                points.push(((size as f64 / 1024.0).log2(), found));
                let published = match way["published_pct"].as_f64() {
                    Some(published) => {
                        TableCell::toned(format!("{published:.1}"), CellTone::Published)
                    }
                    None => TableCell::absent("not published"),
                };
                table.row(
                    format!("{} KB", size >> 10),
                    [
                        plain(number(way, "group")?, 0),
                        TableCell::new(grouped(number(way, "cycles")?.round() as u64)),
                        plain(found, 2),
                        published,
                        plain(number(both, "link_use_pct")?, 2),
                        plain(number(way, "doorbells")?, 2),
                        plain(number(way, "interrupts")?, 2),
                    ],
                );
            }
            let (name, style) = (name.to_owned(), SeriesStyle::Line);
            series.push(PlotSeries { name, colour: series.len(), style, points });
            parts += &table.complete_html("cells")?;
        }
        body += &page.plot(&LinePlot {
            id: "link-use".to_owned(),
            title: "Link use one way".to_owned(),
            x: "packet: 2^x KB".to_owned(),
            y: "link use, %".to_owned(),
            at_least: 100.0,
            series,
        })?;
        Ok(body + &parts)
    }

    /// Times of single packets.
    pub fn times(&self, page: &mut Page) -> Result<String, String> {
        let head = std::iter::once("Bytes").chain(TIMES.iter().map(|(_, title)| *title));
        let mut table = HtmlTable::with_head("Cycles of a packet on an idle link", head);
        let mut series: Vec<PlotSeries> = TIMES[..2]
            .iter()
            .enumerate()
            .map(|(colour, (_, name))| PlotSeries {
                name: (*name).to_owned(),
                colour,
                style: SeriesStyle::Line,
                points: Vec::new(),
            })
            .collect();
        for row in list(&self.tables, "times")? {
            let size = number(row, "size_bytes")?;
            let cells: Result<Vec<f64>, String> =
                TIMES.iter().map(|(name, _)| number(row, name)).collect();
            let cells = cells?;
            for (series, cycles) in series.iter_mut().zip(&cells) {
                series.points.push((size.log2(), *cycles));
            }
            table.row(format!("{size}"), cells.into_iter().map(|cycles| plain(cycles, 1)));
        }
        let plot = page.plot(&LinePlot {
            id: "latency".to_owned(),
            title: "Cycles before the first and after the last word".to_owned(),
            x: "packet: 2^x bytes".to_owned(),
            y: "cycles".to_owned(),
            at_least: 0.0,
            series,
        })?;
        let why = paragraph(
            "From the store to the doorbell to the start of the first data frame on the lanes; from \
             the arrival of the last word to the completion in memory, and from its departure to the \
             completion of the sender. A sender's completion says that the words are in the core, so \
             it may come before the last of them has left. The times contain those of memory.",
        );
        Ok(why + &plot + &table.complete_html("cells")?)
    }

    /// Times after bit errors.
    pub fn recovery(&self) -> Result<String, String> {
        let meta = &self.recovery["meta"];
        let head =
            ["Error", "Errors", "Resends", "Resend, mean", "Longest", "Pause, mean", "Longest"];
        let mut table = HtmlTable::with_head("Times in ns", head);
        for kind in list(&self.recovery, "kinds")? {
            let times = ["resend", "pause"]
                .map(|name| Ok([number(&kind[name], "mean_ns")?, number(&kind[name], "most_ns")?]));
            let [resend, pause]: [Result<_, String>; 2] = times;
            let cells = resend?.into_iter().chain(pause?).map(|ns| plain(ns, 0));
            let counts = ["count", "resends"].map(|name| number(kind, name));
            let [count, resends] = counts;
            table.row(
                text(kind, "error")?,
                [plain(count?, 0), plain(resends?, 0)].into_iter().chain(cells),
            );
        }
        let about = paragraph(&format!(
            "{}, a cycle is {:.2} ns, saturated both ways, errors in one direction. {} words arrived \
             as they were sent, with {} errors (seed {}).",
            text(meta, "link")?,
            number(meta, "cycle_ns")?,
            grouped(number(&self.recovery, "words")? as u64),
            number(&self.recovery, "errors")?,
            number(&self.recovery, "seed")?,
        ));
        let why = paragraph(
            "A damaged symbol is noticed by the lane. A wrong bit in a data word is found by the CRC \
             at the end of its frame. A frame whose start is damaged is ignored, and missed at the \
             number of the next one (50-11C 5.7.8). Resend: from the error to the start of the first \
             frame after RETRY. Pause: the longest time without a byte for the receiver's memory, \
             which contains the damaged frame and the first one that is sent again.",
        );
        Ok(about + &why + &part("Times", &table.complete_html("cells")?))
    }
}
