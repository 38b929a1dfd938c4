//! The section on contention: latency distributions while the core sends other frames.

use spfe_report::html_table::{HtmlTable, TableCell};
use spfe_report::line_plot::{LinePlot, PlotSeries, SeriesStyle};
use spfe_report::markup::{figure, grouped, paragraph, section};

use super::{Drawing, Page};
use crate::bench::record::{Contention, Scenario};
use crate::formula::ns;

/// Shares of the messages whose latency is shown.
const SHARES: [f64; 3] = [0.5, 0.9, 0.99];

/// The latency in cycles that a share of the messages does not exceed.
fn quantile(scenario: &Scenario, share: f64) -> u64 {
    let mut count = 0;
    for (cycles, messages) in &scenario.histogram {
        count += messages;
        if count as f64 >= share * scenario.messages as f64 {
            return *cycles;
        }
    }
    scenario.histogram.last().map_or(0, |(cycles, _)| *cycles)
}

/// Renders the section.
///
/// # Errors
/// A scenario has no messages, or a message waited longer than for one frame.
pub fn html(page: &mut Page, contention: &Contention) -> Result<String, String> {
    let late = crate::bench::contention::late(contention);
    if let Some(first) = late.first() {
        return Err(first.clone());
    }
    let mut heads = ["Meanwhile", "Messages", "Other frames"].map(str::to_owned).to_vec();
    heads.extend(SHARES.map(|share| format!("{:.0} %", share * 100.0)));
    heads.extend(["Most", "Most, ns", "Bound"].map(str::to_owned));
    let first = contention.scenarios.first().ok_or("contention.json has no scenarios")?;
    let mut table = HtmlTable::with_head(
        format!(
            "Cycles from the first beat of a message to the first word of its frame; length and \
             sum known, {} bytes, {} MHz",
            first.n,
            first.khz / 1000
        ),
        heads,
    );
    let mut plot = LinePlot {
        id: "contention".to_owned(),
        title: "Messages that have left after so many cycles".to_owned(),
        x: "cycles".to_owned(),
        y: "share of messages in %".to_owned(),
        at_least: 100.0,
        series: Vec::new(),
    };
    for (index, scenario) in contention.scenarios.iter().enumerate() {
        if scenario.messages == 0 || scenario.histogram.is_empty() {
            return Err(format!("contention.json: {} has no messages", scenario.id));
        }
        let most = quantile(scenario, 1.0);
        let mut cells = vec![grouped(scenario.messages), grouped(scenario.others)];
        cells.extend(SHARES.map(|share| quantile(scenario, share).to_string()));
        cells.push(most.to_string());
        cells.push(format!("{:.1}", ns(most as f64, scenario.khz)));
        cells.push(scenario.bound.to_string());
        table.row(scenario.label.clone(), cells.into_iter().map(TableCell::new));
        let mut count = 0;
        let mut points = vec![(0.0, 0.0)];
        for (cycles, messages) in &scenario.histogram {
            count += messages;
            points.push((*cycles as f64, count as f64 * 100.0 / scenario.messages as f64));
        }
        plot.series.push(PlotSeries {
            name: scenario.id.clone(),
            colour: index,
            style: SeriesStyle::Steps,
            points,
        });
    }
    let svg = page.draw(Drawing { name: plot.id.clone(), svg: plot.svg()? });
    let text = paragraph(
        "Published latencies are those of an idle core. The core does not interrupt a frame, so a \
         message may have to wait for the end of one. The bound is the longest frame of the kind \
         at the rate of the MAC.",
    );
    let drawing = figure("Figure.", &plot.title, &svg);
    Ok(section(
        "contention",
        "Contention",
        &(text + &table.complete_html("plain-first")? + &drawing),
    ))
}
