//! Charts of latency percentiles over packet length, on a logarithmic axis.

use std::fmt::Write;

use crate::model::{LatencyNs, ResultRow};
use crate::num::{size, time_ns};
use crate::section::Section;
use crate::svg::{self, BOTTOM, Marker, RIGHT, Slots, TOP, label};

/// The curve of one percentile.
struct Curve {
    class: &'static str,
    name: &'static str,
    marker: Marker,
    pick: fn(&LatencyNs) -> f64,
}

const CURVES: [Curve; 6] = [
    Curve { class: "l-max", name: "max", marker: Marker::Ring, pick: |ns| ns.max },
    Curve { class: "l-p999", name: "99.9 %", marker: Marker::Diamond, pick: |ns| ns.p999 },
    Curve { class: "l-p99", name: "99 %", marker: Marker::Square, pick: |ns| ns.p99 },
    Curve { class: "l-mean", name: "mean", marker: Marker::Diamond, pick: |ns| ns.mean },
    Curve { class: "l-p50", name: "50 %", marker: Marker::Circle, pick: |ns| ns.p50 },
    Curve { class: "l-min", name: "min", marker: Marker::Ring, pick: |ns| ns.min },
];

/// A logarithmic axis over whole decades, as powers of ten.
struct LogScale {
    first: i32,
    last: i32,
}

impl LogScale {
    /// Makes an axis of at least one decade that includes every value.
    fn holding(values: impl Iterator<Item = f64>) -> Self {
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values
            .map(f64::log10)
            .fold(none, |(low, high), decade| (low.min(decade), high.max(decade)));
        if !low.is_finite() || !high.is_finite() {
            return Self { first: 2, last: 5 };
        }
        let first = low.floor() as i32;
        Self { first, last: (high.ceil() as i32).max(first + 1) }
    }

    fn y(&self, ns: f64) -> f64 {
        let share = (ns.log10() - f64::from(self.first)) / f64::from(self.last - self.first);
        BOTTOM - share.clamp(0.0, 1.0) * (BOTTOM - TOP)
    }

    /// Values with a label: every decade, also 2 and 5 times a decade if there are few, and only
    /// every second or third decade if there are many.
    fn ticks(&self) -> Vec<f64> {
        let decades = self.last - self.first;
        let every = usize::try_from(decades / 7 + 1).unwrap_or(1);
        let within: &[f64] = if decades <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let tens = (self.first..=self.last).step_by(every).map(|power| 10_f64.powi(power));
        let all = tens.flat_map(|ten| within.iter().map(move |factor| factor * ten));
        let top = 10_f64.powi(self.last) * 1.000_001;
        all.filter(|tick| *tick <= top).collect()
    }
}

/// Limits a latency to the range of the axis, from 1 ns. Returns `None` if it is not finite.
fn drawable(ns: f64) -> Option<f64> {
    ns.is_finite().then(|| ns.clamp(1.0, 1e20))
}

/// The chart of the rows with a latency, as a `figure` element.
pub(crate) fn figure(section: &Section<'_>, id: &str) -> String {
    let rows: Vec<&ResultRow> =
        section.rows.iter().copied().filter(|row| row.latency_ns.is_some()).collect();
    let values = CURVES.iter().flat_map(|curve| rows.iter().filter_map(|row| curve.value(row)));
    let minima = || rows.iter().map(|row| row.link_minimum_ns.and_then(drawable));
    let scale = LogScale::holding(values.chain(minima().flatten()));
    let slots = Slots::new(rows.len());
    let (labels, title) = section.categories(&rows);

    let mut body = axis(&scale, section.latency_name());
    body.push_str(&slots.axis(&labels, title));
    let mut ends = Vec::new();
    for curve in &CURVES {
        let ys: Vec<Option<f64>> =
            rows.iter().map(|row| curve.value(row).map(|ns| scale.y(ns))).collect();
        if !section.is_named() {
            body.push_str(&slots.line(&format!("{} line", curve.class), &ys));
        }
        body.push_str(&curve.markers(&rows, &ys, &slots));
        if let Some(y) = ys.iter().rev().find_map(|y| *y) {
            ends.push((y, curve.class, curve.name));
        }
    }
    let link: Vec<Option<f64>> = minima().map(|ns| ns.map(|ns| scale.y(ns))).collect();
    body.push_str(&slots.levels("limit line", &link));
    if let Some(y) = link.iter().rev().find_map(|y| *y) {
        ends.push((y, "l-max", "link"));
    }
    body.push_str(&end_labels(ends));
    let name = format!("{}: percentiles", section.title);
    let about = describe(&rows, section.latency_name());
    let drawing = svg::document(id, &name, &about, svg::height(&labels), &body);
    format!("<figure>\n{drawing}</figure>\n")
}

impl Curve {
    fn value(&self, row: &ResultRow) -> Option<f64> {
        row.latency_ns.as_ref().and_then(|ns| drawable((self.pick)(ns)))
    }

    fn markers(&self, rows: &[&ResultRow], ys: &[Option<f64>], slots: &Slots) -> String {
        let class = format!("{} mark", self.class);
        let mut out = String::new();
        for (index, (row, y)) in rows.iter().zip(ys).enumerate() {
            let (Some(y), Some(ns)) = (y, &row.latency_ns) else {
                continue;
            };
            let tip =
                format!("{}: {} {}", size(row.size_bytes), self.name, time_ns((self.pick)(ns)));
            out.push_str(&svg::marker(self.marker, &class, slots.x(index), *y, &tip));
        }
        out
    }
}

fn axis(scale: &LogScale, title: &str) -> String {
    let mut out = label(4.0, TOP - 14.0, "start axis", title);
    for tick in scale.ticks() {
        let y = scale.y(tick);
        out.push_str(&svg::grid_line(y));
        out.push_str(&label(svg::LEFT - 5.0, y + 4.5, "end", &time_ns(tick)));
    }
    out
}

/// Writes the names of the curves at their right ends, moved apart if they would overlap.
fn end_labels(mut ends: Vec<(f64, &str, &str)>) -> String {
    const APART: f64 = 15.0;
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut next = TOP;
    for end in &mut ends {
        end.0 = end.0.max(next);
        next = end.0 + APART;
    }
    let mut limit = BOTTOM;
    for end in ends.iter_mut().rev() {
        end.0 = end.0.min(limit);
        limit = end.0 - APART;
    }
    let draw = |(y, class, name): &(f64, &str, &str)| {
        label(RIGHT + 2.0, y + 4.5, &format!("start {class}-text"), name)
    };
    ends.iter().map(draw).collect()
}

fn describe(rows: &[&ResultRow], title: &str) -> String {
    let mut text = format!("{title}, on a logarithmic axis; dashed: what the link needs.");
    for row in rows {
        let Some(ns) = &row.latency_ns else { continue };
        let _ = write!(text, " {}:", size(row.size_bytes));
        for curve in CURVES.iter().rev() {
            let comma = if curve.class == CURVES[0].class { "." } else { "," };
            let _ = write!(text, " {} {}{comma}", curve.name, time_ns((curve.pick)(ns)));
        }
    }
    text
}
