//! The head of the page: title, verdict and main figures.

use super::axis::{count, time};
use super::links::axis_rate;
use crate::markup::escape;
use crate::num::fixed;
use spfe_sim::results::{Conservation, Results};
use std::fmt::Write;

/// Maximum number of violations listed on the page.
const LISTED: usize = 50;

pub(super) fn header(results: &Results) -> String {
    let mut facts = vec![
        format!("{} simulated", time(results.duration_ps as f64)),
        format!("{} words", count(results.words)),
        format!("seed {}", results.seed),
    ];
    if !results.scenario.is_empty() {
        facts.push(format!("scenario {}", results.scenario));
    }
    let mut out = format!(
        "<header>\n<h1>{}</h1>\n<p>{}</p>\n<p class=\"facts\">{}</p>\n{}<ul class=\"tiles\">\n",
        escape(&results.title),
        escape(&results.description),
        escape(&facts.join(" · ")),
        verdict(&results.conservation),
    );
    for (link, name, value, detail) in tiles(results) {
        let _ = writeln!(
            out,
            "<li><a href=\"#{link}\">{}</a><strong>{}</strong><span>{}</span></li>",
            escape(&name),
            escape(&value),
            escape(&detail)
        );
    }
    out.push_str("</ul>\n</header>\n");
    out
}

fn verdict(conservation: &Conservation) -> String {
    if conservation.kept {
        return format!(
            "<p class=\"good\">Nothing lost: {} packets were delivered once, in order and \
             unaltered, or are accounted for with a reason.</p>\n",
            conservation.packets
        );
    }
    let count = conservation.violations.len() as u64 + conservation.left_out;
    let mut out = format!("<div class=\"bad\">Conservation violated, {count} times:<ul>\n");
    for violation in conservation.violations.iter().take(LISTED) {
        let _ = writeln!(out, "<li>{}</li>", escape(violation));
    }
    let more = count.saturating_sub(LISTED.min(conservation.violations.len()) as u64);
    if more > 0 {
        let _ = writeln!(out, "<li>and {more} more</li>");
    }
    out.push_str("</ul></div>\n");
    out
}

/// Anchor, name, value and detail of each tile.
fn tiles(results: &Results) -> Vec<(String, String, String, String)> {
    let mut tiles = Vec::new();
    let mut tile = |link: &str, name: &str, value: String, detail: String| {
        tiles.push((link.to_owned(), name.to_owned(), value, detail));
    };
    let (mut offered, mut delivered, mut goodput) = (0_u64, 0_u64, 0.0);
    for flow in &results.flows {
        // A multicast counts once for each receiver.
        offered += flow.offered.packets * flow.to.len() as u64;
        delivered += flow.delivered.packets;
        goodput += flow.goodput_bps;
    }
    let detail = format!("of {offered} offered, over {} flows", results.flows.len());
    tile("flows", "Packets delivered", delivered.to_string(), detail);
    tile("flows", "Goodput", axis_rate(goodput), "sum of all flows".to_owned());
    let busiest = results.links.iter().enumerate().flat_map(|(index, link)| {
        let directions = link.directions.iter().enumerate();
        directions.map(move |(end, direction)| (direction.utilisation, index, end))
    });
    if let Some((share, index, end)) = busiest.max_by(|a, b| a.0.total_cmp(&b.0)) {
        let link = &results.links[index];
        let detail = format!("{} → {}", link.ends[end], link.ends[1 - end]);
        let value = format!("{} %", fixed(share * 100.0, 1));
        tile(&format!("link-{index}"), "Busiest link", value, detail);
    }
    let slowest = results.flows.iter().filter(|flow| flow.latency.count > 0);
    if let Some(flow) = slowest.max_by_key(|flow| flow.latency.p99_ps) {
        let detail = format!("99 % of {}", flow.name);
        tile("flows", "Longest latency", time(flow.latency.p99_ps as f64), detail);
    }
    let recovered: u64 = results
        .links
        .iter()
        .map(|link| link.recovery_after_error.count + link.recovery_after_cut.count)
        .sum();
    if recovered > 0 {
        let worst = results.links.iter().enumerate().max_by_key(|(_, link)| {
            link.recovery_after_error.max_ps.max(link.recovery_after_cut.max_ps)
        });
        if let Some((index, link)) = worst {
            let most = link.recovery_after_error.max_ps.max(link.recovery_after_cut.max_ps);
            let detail = format!("longest {}, on {}", time(most as f64), link.name);
            tile(&format!("link-{index}"), "Recoveries", recovered.to_string(), detail);
        }
    }
    tiles
}

/// Defines the figures of the page.
pub(super) fn definitions() -> String {
    "<section id=\"definitions\">\n<h2>What the figures mean</h2>\n<dl>\n\
     <dt>% of the words</dt><dd>Words of packets that were sent for the first time, of all words \
     that the lanes could carry. SDF, EDF, FCT, ACK, SKIP and words that are sent again are not \
     counted, so a saturated link shows 64 of 67 rows: 95.5&nbsp;% one way, 92.7&nbsp;% both \
     ways. SpaceWire: characters.</dd>\n\
     <dt>Latency</dt><dd>From the time a packet is due to the last of it at the receiver. A source \
     that saturates its link has every packet due when the one before is handed over.</dd>\n\
     <dt>Recovery</dt><dd>From the damaged word at the receiver to a receiver that is in order \
     again.</dd>\n\
     <dt>Truncated</dt><dd>Packets that ended with an EEP, as the standards have it when a link \
     is reset or a time-out ends.</dd>\n</dl>\n</section>\n"
        .to_owned()
}
