//! The page of `spfe fabric perf`: what links carried, beside published figures for such links.

use crate::html_table::{CellTone, HtmlTable, TableCell};
use crate::markup::{self, escape};
use crate::num::fixed;
use crate::svg::{self, BOTTOM, LEFT, Scale, Slots, coord, label};
use std::fmt::Write;

/// TCP of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpFigures {
    /// Payload in GB/s.
    pub rate: f64,
    /// Processor seconds per GB at the sending and at the receiving end.
    pub cpu: [f64; 2],
}

/// One link with a limit.
#[derive(Clone, Debug, Default)]
pub struct LinkFigures {
    /// For example "x8 gen3".
    pub name: String,
    /// What the link carries, GB/s.
    pub limit: f64,
    /// TCP under `vxrun`.
    pub sockets: TcpFigures,
    /// TCP over the interface.
    pub ip: TcpFigures,
    /// Raw writes, GB/s.
    pub raw: f64,
    /// Published TCP, GB/s.
    pub published_tcp: f64,
    /// Published processor seconds per GB of TCP, of one board.
    pub published_cpu: f64,
    /// Published raw transfers, GB/s.
    pub published_raw: f64,
}

/// A run of `spfe fabric perf`.
#[derive(Clone, Debug, Default)]
pub struct FabricReport {
    /// Facts without which figures mean nothing: processor, turbo, SMT, load.
    pub facts: Vec<String>,
    /// Links with a limit.
    pub links: Vec<LinkFigures>,
    /// Figures without a limit: name, value and, for TCP, processor seconds per GB of both ends.
    pub unlimited: Vec<(String, String, Option<f64>)>,
}

/// Bars of a link: name, class of the colour.
const BARS: [(&str, &str); 3] = [("sockets", "v3"), ("IP", "v2"), ("raw", "v1")];
/// Style of the bars and of the published marks.
const STYLE: &str = "\
.part { fill: var(--c); fill-opacity: 0.8; }
.known { fill: none; stroke: var(--text, currentColor); stroke-width: 2; }
";

/// Renders the run as one HTML page.
#[must_use]
pub fn html(report: &FabricReport) -> String {
    let facts: Vec<String> = report.facts.iter().map(|fact| escape(fact)).collect();
    let mut body = format!(
        "<header>\n<h1>Links of a PCIe fabric</h1>\n<p class=\"facts\">{}</p>\n</header>\n<main>\n",
        facts.join(" · ")
    );
    let mut limited = markup::paragraph(
        "Two nodes with one link, whose rate both ends keep. Sockets is TCP under vxrun, IP is TCP \
         over the interface, raw is writes into memory of the other node. The published figures \
         are of boards with hardware bridges.",
    );
    limited.push_str(&chart(&report.links));
    limited.push_str(&table(&report.links).html(""));
    body.push_str(&markup::section("limits", "On links with a limit", &limited));
    let mut free =
        HtmlTable::with_head("Without a limit", ["way", "figure", "CPU s/GB of both ends"]);
    for (name, value, cpu) in &report.unlimited {
        let cpu = cpu.map_or("-".to_owned(), |cpu| fixed(cpu, 3));
        free.row(name, [TableCell::new(value), TableCell::new(cpu)]);
    }
    body.push_str(&markup::section("free", "Without a limit", &free.html("")));
    body.push_str("</main>\n");
    markup::page("Links of a PCIe fabric", STYLE, &body)
}

fn share(value: f64, limit: f64) -> f64 {
    if limit > 0.0 { 100.0 * value / limit } else { 0.0 }
}

/// Parts of the links' rates: measured as bars, published as lines across them.
fn chart(links: &[LinkFigures]) -> String {
    let slots = Slots::new(links.len());
    let scale = Scale::holding([100.0].into_iter());
    let mut drawing = String::new();
    for tick in scale.ticks() {
        drawing.push_str(&svg::grid_line(scale.y(tick)));
        drawing.push_str(&label(LEFT - 8.0, scale.y(tick) + 4.5, "end", &svg::tick_label(tick)));
    }
    drawing.push_str(&label(4.0, 14.0, "start", "% of the link"));
    let width = slots.width() * 0.7 / BARS.len() as f64;
    for (index, link) in links.iter().enumerate() {
        let ours = [link.sockets.rate, link.ip.rate, link.raw];
        let known = [link.published_tcp, link.published_tcp, link.published_raw];
        for (bar, (name, class)) in BARS.into_iter().enumerate() {
            let x = slots.x(index) + width * (bar as f64 - 1.5);
            let top = scale.y(share(ours[bar], link.limit));
            let _ = writeln!(
                drawing,
                "<rect class=\"part {class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}, \
                 {name}: {} of {} GB/s, published {}</title></rect>",
                coord(x + 1.0),
                coord(top),
                coord(width - 2.0),
                coord((BOTTOM - top).max(0.6)),
                escape(&link.name),
                fixed(ours[bar], 2),
                fixed(link.limit, 2),
                fixed(known[bar], 1),
            );
            let y = coord(scale.y(share(known[bar], link.limit)));
            let _ = writeln!(
                drawing,
                "<path class=\"known\" d=\"M{} {y}h{}\"/>",
                coord(x + 1.0),
                coord(width - 2.0)
            );
        }
    }
    let labels: Vec<Vec<String>> = links.iter().map(|link| vec![link.name.clone()]).collect();
    drawing.push_str(&slots.axis(&labels, "link"));
    let words = "Parts of the link that sockets, IP and raw writes reach; lines are published.";
    let mut keys = String::new();
    for (name, class) in BARS {
        let _ = writeln!(
            keys,
            "<span class=\"key\"><svg viewBox=\"0 0 28 12\" aria-hidden=\"true\"><rect class=\"part \
             {class}\" width=\"28\" height=\"12\"/></svg>{name}</span>"
        );
    }
    format!(
        "<figure>\n{}<figcaption>\n{keys}<span class=\"key\"><svg viewBox=\"0 0 28 12\" \
         aria-hidden=\"true\"><path class=\"known\" d=\"M0 6h28\"/></svg>published</span>\n\
         </figcaption>\n</figure>\n",
        svg::document("parts", "Part of each link", words, svg::height(&labels), &drawing)
    )
}

fn table(links: &[LinkFigures]) -> HtmlTable {
    let mut table = HtmlTable::new("Rates and processor time");
    for (title, unit, tone) in [
        ("link", "GB/s", CellTone::Plain),
        ("path", "", CellTone::Plain),
        ("rate", "GB/s", CellTone::Plain),
        ("of the link", "%", CellTone::Plain),
        ("published", "GB/s", CellTone::Published),
        ("CPU of one end", "s/GB", CellTone::Plain),
        ("published", "s/GB", CellTone::Published),
        ("CPU of both ends", "s/GB", CellTone::Plain),
    ] {
        table.heading(title, unit, tone);
    }
    for link in links {
        let name = format!("{} {}", link.name, fixed(link.limit, 2));
        let rows = [
            ("sockets", link.sockets.rate, link.published_tcp, Some(link.sockets.cpu)),
            ("IP", link.ip.rate, link.published_tcp, Some(link.ip.cpu)),
            ("raw", link.raw, link.published_raw, None),
        ];
        for (row, (path, rate, known, cpu)) in rows.into_iter().enumerate() {
            let seconds =
                |value: Option<f64>| value.map_or("-".to_owned(), |value| fixed(value, 3));
            let cells = [
                TableCell::new(path),
                TableCell::new(fixed(rate, 2)),
                TableCell::new(fixed(share(rate, link.limit), 0)),
                TableCell::toned(fixed(known, 1), CellTone::Published),
                TableCell::new(seconds(cpu.map(|[a, b]| a.max(b)))),
                TableCell::toned(seconds(cpu.map(|_| link.published_cpu)), CellTone::Published),
                TableCell::new(seconds(cpu.map(|[a, b]| a + b))),
            ];
            if row == 0 { table.lead_row(&name, cells) } else { table.row("", cells) }
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_figure_and_escapes_its_facts() {
        let tcp = TcpFigures { rate: 1.5, cpu: [0.125, 0.25] };
        let link = LinkFigures {
            name: "x4 gen2".into(),
            limit: 2.0,
            sockets: tcp,
            raw: 1.75,
            published_tcp: 1.3,
            ..LinkFigures::default()
        };
        let report = FabricReport {
            facts: vec!["<CPU>".into(), "turbo on".into()],
            links: vec![link],
            unlimited: vec![("memcpy".into(), "9.00 GB/s".into(), None)],
        };
        let page = html(&report);
        for text in
            ["&lt;CPU&gt; · turbo on", ">75<", ">0.375<", "x4 gen2, raw: 1.75 of 2.00", "9.00 GB/s"]
        {
            assert!(page.contains(text), "{text}");
        }
        assert!(html(&FabricReport::default()).contains("</html>"));
    }
}
