//! Charts of rate and load over packet length, in the form of the published figures.

use std::fmt::Write;

use crate::columns;
use crate::markup::escape;
use crate::model::{Point, ResultRow};
use crate::num::{self, fixed, short, significant, size};
use crate::section::Section;
use crate::svg::{self, Marker, RIGHT, Scale, Slots, TOP, coord, drawable, label};

/// A curve through the means, with the points of single iterations.
struct Series {
    class: &'static str,
    name: &'static str,
    marker: Marker,
    right_axis: bool,
    mean: fn(&ResultRow) -> f64,
    point: Option<fn(&Point) -> f64>,
}

const RATE: Series = Series {
    class: "rate",
    name: "data rate (left axis)",
    marker: Marker::Circle,
    right_axis: false,
    mean: |row| row.rate_gbps,
    point: Some(|point| point.rate_gbps),
};

const HOST: Series = Series {
    class: "host",
    name: "host CPU (right axis)",
    marker: Marker::Square,
    right_axis: true,
    mean: |row| row.host_cpu_pct,
    point: Some(|point| point.host_cpu_pct),
};

const SUM: Series = Series {
    class: "sum",
    name: "host + device CPU (right axis)",
    marker: Marker::Diamond,
    right_axis: true,
    mean: ResultRow::sum_cpu_pct,
    point: Some(|point| point.host_cpu_pct + point.device_cpu_pct),
};

const PAPER: Series = Series {
    class: "paper",
    name: "published data rate (left axis)",
    marker: Marker::Ring,
    right_axis: false,
    mean: |row| row.paper.map_or(f64::NAN, |figure| figure.rate_gbps),
    point: None,
};

/// Series in drawing order. The last one is on top.
const SERIES: [&Series; 4] = [&PAPER, &SUM, &HOST, &RATE];

impl Series {
    fn points(&self, row: &ResultRow) -> Vec<f64> {
        let each = self.point.into_iter().flat_map(|of| row.iterations.iter().map(of));
        each.filter_map(drawable).collect()
    }

    fn values(&self, rows: &[&ResultRow]) -> Vec<f64> {
        rows.iter().flat_map(|row| self.points(row).into_iter().chain([(self.mean)(row)])).collect()
    }

    fn draw(&self, rows: &[&ResultRow], slots: &Slots, scale: &Scale, connect: bool) -> String {
        let unit = columns::rate_unit(rows);
        let y = |value: f64| drawable(value).map(|value| scale.y(value));
        let means: Vec<Option<f64>> = rows.iter().map(|row| y((self.mean)(row))).collect();
        let dots: Vec<Vec<f64>> =
            rows.iter().map(|row| self.points(row).into_iter().filter_map(y).collect()).collect();
        let mut out = slots.dots(&format!("{} dots", self.class), &dots);
        if connect {
            out.push_str(&slots.line(&format!("{} line", self.class), &means));
        }
        for (index, mean) in means.iter().enumerate() {
            if let Some(mean) = mean {
                let class = format!("{} mark", self.class);
                let tip = self.tip(rows[index], unit);
                out.push_str(&svg::marker(self.marker, &class, slots.x(index), *mean, &tip));
            }
        }
        out
    }

    fn tip(&self, row: &ResultRow, (unit, scale): (&str, f64)) -> String {
        let unit = if self.right_axis { "% of one core" } else { unit };
        let name = self.name.split(" (").next().unwrap_or(self.name);
        let wakes = if self.right_axis && row.wakes_per_s.is_finite() {
            format!(", {} wakes/s", short(row.wakes_per_s))
        } else {
            String::new()
        };
        let mean = match self.right_axis {
            true => fixed((self.mean)(row), 2),
            false => significant(scale * (self.mean)(row)),
        };
        format!("{}: {name} {mean} {unit}{wakes}", size(row.size_bytes))
    }
}

/// The chart of a section and its legend, as a `figure` element.
pub(crate) fn figure(section: &Section<'_>, id: &str) -> String {
    let rows = &section.rows;
    let slots = Slots::new(rows.len());
    let limits: Vec<f64> = rows.iter().map(|row| row.link_limit_gbps).collect();
    let lefts = RATE.values(rows).into_iter().chain(PAPER.values(rows)).chain(limits.clone());
    let left = Scale::holding(lefts);
    let rights = HOST.values(rows).into_iter().chain(SUM.values(rows));
    let right = Scale::beside(&left, rights);

    let unit = columns::rate_unit(rows);
    let mut body = axes(&left, &right, unit);
    let (labels, title) = section.categories(rows);
    body.push_str(&slots.axis(&labels, title));
    let limit: Vec<Option<f64>> =
        limits.iter().map(|limit| (*limit > 0.0).then(|| left.y(*limit))).collect();
    body.push_str(&slots.levels("limit line", &limit));
    for series in SERIES {
        let scale = if series.right_axis { &right } else { &left };
        body.push_str(&series.draw(rows, &slots, scale, !section.is_named()));
    }
    body.push_str(&interrupts(rows, &slots));
    let name = format!("{}: data rate and CPU load", section.title);
    let drawing = svg::document(id, &name, &describe(section), svg::height(&labels), &body);
    format!("<figure>\n{drawing}{}</figure>\n", legend(section))
}

/// Interrupts per second where there are published ones, as notes in the middle of the chart: ours
/// above the published ones.
fn interrupts(rows: &[&ResultRow], slots: &Slots) -> String {
    let y = (TOP + svg::BOTTOM) / 2.0;
    let mut out = String::new();
    for (index, row) in rows.iter().enumerate() {
        let Some(published) = row.published_interrupts_per_s() else { continue };
        if out.is_empty() {
            let x = svg::LEFT + 8.0;
            out.push_str(&label(x, y, "start host-text", "IRQs/s here"));
            out.push_str(&label(x, y + 16.0, "start small", "IRQs/s published"));
        }
        let ours = row.kernel.map_or(f64::NAN, |load| load.interrupts_per_s);
        out.push_str(&label(slots.x(index), y, "mid host-text", &fixed(ours, 0)));
        out.push_str(&label(slots.x(index), y + 16.0, "mid small", &fixed(published, 0)));
    }
    out
}

fn axes(left: &Scale, right: &Scale, (unit, scale): (&str, f64)) -> String {
    let mut out = String::new();
    for (tick, (ours, beside)) in left.ticks().zip(right.ticks()).enumerate() {
        let y = left.y(ours);
        if tick > 0 {
            out.push_str(&svg::grid_line(y));
        }
        out.push_str(&label(
            svg::LEFT - 7.0,
            y + 4.5,
            "end rate-text",
            &svg::tick_label(scale * ours),
        ));
        out.push_str(&label(RIGHT + 7.0, y + 4.5, "start host-text", &svg::tick_label(beside)));
    }
    out.push_str(&label(4.0, TOP - 14.0, "start rate-text axis", unit));
    out.push_str(&label(svg::WIDTH - 4.0, TOP - 14.0, "end host-text axis", "CPU, % of one core"));
    out
}

/// Describes the chart for screen readers.
fn describe(section: &Section<'_>) -> String {
    let (unit, scale) = columns::rate_unit(&section.rows);
    let mut text = format!(
        "Left axis: data rate in {unit}. Right axis: CPU load in percent of one core. \
         Each iteration is a point; lines join the means.",
    );
    for row in &section.rows {
        let _ = write!(
            text,
            " {}: {} {unit}, host {} %, host and device {} %.",
            size(row.size_bytes),
            significant(scale * row.rate_gbps),
            fixed(row.host_cpu_pct, 1),
            fixed(row.sum_cpu_pct(), 1),
        );
    }
    text
}

fn legend(section: &Section<'_>) -> String {
    let mut out = String::from("<figcaption>\n");
    for series in [&RATE, &HOST, &SUM] {
        out.push_str(&entry(series.class, Some(series.marker), series.name));
    }
    let mut limits: Vec<f64> = section.rows.iter().map(|row| row.link_limit_gbps).collect();
    limits.retain(|limit| *limit > 0.0 && limit.is_finite());
    limits.sort_by(f64::total_cmp);
    limits.dedup();
    match limits[..] {
        [] => {}
        [limit] => {
            let name = format!("link limit, {}", num::rate(limit));
            out.push_str(&entry("limit", None, &name));
        }
        _ => out.push_str(&entry("limit", None, "theoretical maximum of the link")),
    }
    if section.rows.iter().any(|row| row.paper.is_some()) {
        out.push_str(&entry(PAPER.class, Some(PAPER.marker), PAPER.name));
    }
    if section.rows.iter().any(|row| !row.iterations.is_empty()) {
        let dots = "<svg viewBox=\"0 0 28 12\" aria-hidden=\"true\">\
                    <path class=\"any dots\" d=\"M6 8h0M14 4h0M22 7h0\"/></svg>";
        let _ = writeln!(out, "<span class=\"key\">{dots}single iterations</span>");
    }
    out.push_str("</figcaption>\n");
    out
}

/// An entry of the legend.
fn entry(class: &str, marker: Option<Marker>, name: &str) -> String {
    let mark = marker
        .map_or(String::new(), |shape| svg::marker(shape, &format!("{class} mark"), 14.0, 6.0, ""));
    format!(
        "<span class=\"key\"><svg viewBox=\"0 0 28 12\" aria-hidden=\"true\">\
         <path class=\"{class} line\" d=\"M0 6H{}\"/>{}</svg>{}</span>\n",
        coord(28.0),
        mark.trim_end(),
        escape(name),
    )
}
