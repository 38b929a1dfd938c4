//! Charts of series over time: stacked areas of virtual channels, curves of traffic.

use super::axis::TimeAxis;
use crate::markup::escape;
use crate::num::trimmed;
use crate::svg::{self, BOTTOM, LEFT, RIGHT, Scale, TOP, WIDTH, coord, label};
use spfe_sim::time::Ps;
use std::fmt::Write;

/// Maximum number of points along the time axis. More time steps are averaged in groups.
const MOST: usize = 206;
/// Number of colours in the style, after which they repeat.
const COLOURS: usize = 8;

/// A series with a value for each time step.
pub(super) struct Series {
    pub name: String,
    pub colour: usize,
    pub values: Vec<f64>,
}

/// A chart of series over time.
pub(super) struct Chart<'a> {
    /// Identifier in the page.
    pub id: &'a str,
    pub title: &'a str,
    /// Unit of the values.
    pub unit: &'a str,
    /// Length of the time axis.
    pub duration: Ps,
    /// Duration of a time step.
    pub step: Ps,
    pub series: Vec<Series>,
}

/// The means of groups of values.
fn grouped(values: &[f64], group: usize) -> Vec<f64> {
    values.chunks(group).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect()
}

impl Chart<'_> {
    /// Draws the series as areas on top of each other.
    pub fn stacked(&self) -> String {
        let (group, series) = self.grouped();
        let steps = series.iter().map(Vec::len).max().unwrap_or(0);
        let mut sums = vec![vec![0.0; steps]];
        for values in &series {
            let below = sums.last().cloned().unwrap_or_default();
            let sum = below.iter().enumerate();
            sums.push(sum.map(|(i, y)| y + values.get(i).copied().unwrap_or(0.0)).collect());
        }
        let scale = Scale::holding(sums.last().into_iter().flatten().copied());
        let mut body = String::new();
        for (pair, series) in sums.windows(2).zip(&self.series) {
            let up = self.path(&pair[1], &scale, group, false);
            let down = self.path(&pair[0], &scale, group, true);
            let _ = writeln!(
                body,
                "<path class=\"area v{}\" d=\"M{up}L{down}Z\"><title>{}</title></path>",
                series.colour % COLOURS,
                escape(&series.name)
            );
        }
        self.figure(&scale, &body)
    }

    /// Draws the series as curves.
    pub fn curves(&self) -> String {
        let (group, series) = self.grouped();
        let scale = Scale::holding(series.iter().flatten().copied());
        let mut body = String::new();
        for (values, series) in series.iter().zip(&self.series) {
            if values.is_empty() {
                continue;
            }
            let _ = writeln!(
                body,
                "<path class=\"curve v{}\" d=\"M{}\"><title>{}</title></path>",
                series.colour % COLOURS,
                self.path(values, &scale, group, false),
                escape(&series.name)
            );
        }
        self.figure(&scale, &body)
    }

    fn grouped(&self) -> (usize, Vec<Vec<f64>>) {
        let steps = self.series.iter().map(|series| series.values.len()).max().unwrap_or(0);
        let group = steps.div_ceil(MOST).max(1);
        (group, self.series.iter().map(|series| grouped(&series.values, group)).collect())
    }

    fn axis(&self) -> TimeAxis {
        TimeAxis { left: LEFT, right: RIGHT, duration: self.duration }
    }

    /// A stepped path from left to right, or backwards.
    fn path(&self, values: &[f64], scale: &Scale, group: usize, back: bool) -> String {
        let axis = self.axis();
        let wide = self.step.saturating_mul(group as u64);
        let mut points: Vec<(f64, f64)> = Vec::with_capacity(2 * values.len());
        for (index, value) in values.iter().enumerate() {
            let start = wide.saturating_mul(index as u64);
            let y = scale.y(svg::drawable(*value).unwrap_or(0.0));
            points.push((axis.x(start), y));
            points.push((axis.x(start.saturating_add(wide)), y));
        }
        if back {
            points.reverse();
        }
        // Leave out points within a horizontal line.
        let mut out = String::new();
        for (index, &(x, y)) in points.iter().enumerate() {
            let level = index > 0
                && index + 1 < points.len()
                && points[index - 1].1 == y
                && points[index + 1].1 == y;
            if !level {
                let _ = write!(
                    out,
                    "{}{} {}",
                    if out.is_empty() { "" } else { "L" },
                    coord(x),
                    coord(y)
                );
            }
        }
        out
    }

    fn figure(&self, scale: &Scale, plot: &str) -> String {
        let mut body = String::new();
        for (index, tick) in scale.ticks().enumerate() {
            let y = scale.y(tick);
            if index > 0 {
                body.push_str(&svg::grid_line(y));
            }
            body.push_str(&label(LEFT - 7.0, y + 4.5, "end small", &svg::tick_label(tick)));
        }
        body.push_str(&label(4.0, TOP - 14.0, "start small", self.unit));
        body.push_str(&label(WIDTH / 2.0, TOP - 14.0, "mid", self.title));
        body.push_str(plot);
        body.push_str(&self.axis().draw(BOTTOM));
        let drawing = svg::document(self.id, self.title, &self.describe(), BOTTOM + 38.0, &body);
        format!("<figure>\n{drawing}{}</figure>\n", self.legend())
    }

    /// Describes the means for screen readers.
    fn describe(&self) -> String {
        let mut out = format!("{} over time.", self.unit);
        for series in &self.series {
            let mean = series.values.iter().sum::<f64>() / series.values.len().max(1) as f64;
            let _ = write!(out, " {}: mean {}.", series.name, trimmed(mean));
        }
        out
    }

    fn legend(&self) -> String {
        let mut out = String::from("<figcaption>\n");
        for series in &self.series {
            let _ = writeln!(
                out,
                "<span class=\"key\"><svg viewBox=\"0 0 28 12\" aria-hidden=\"true\"><rect \
                 class=\"swatch v{}\" x=\"8\" width=\"12\" height=\"12\"/></svg>{}</span>",
                series.colour % COLOURS,
                escape(&series.name)
            );
        }
        if self.series.is_empty() {
            out.push_str("<span>nothing was sent</span>\n");
        }
        out.push_str("</figcaption>\n");
        out
    }
}
