//! Drawing primitives: escaped text, finite coordinates, scales and axes.

use std::fmt::Write;

use crate::markup::escape;
use crate::num::trimmed;

/// Width of every chart, in units of its view box.
pub(crate) const WIDTH: f64 = 520.0;
/// The plot area: left, right, top and bottom edge.
pub(crate) const LEFT: f64 = 54.0;
pub(crate) const RIGHT: f64 = WIDTH - 54.0;
pub(crate) const TOP: f64 = 30.0;
pub(crate) const BOTTOM: f64 = 284.0;

/// A coordinate with one decimal, always finite.
pub(crate) fn coord(value: f64) -> String {
    let value = if value.is_finite() { value.clamp(-1e5, 1e5) } else { 0.0 };
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A value as it can be drawn: finite, not negative and far enough from overflow.
pub(crate) fn drawable(value: f64) -> Option<f64> {
    value.is_finite().then(|| value.clamp(0.0, 1e300))
}

/// A linear axis from 0 with round steps.
pub(crate) struct Scale {
    step: f64,
    steps: u32,
}

impl Scale {
    /// An axis of four to six steps that holds every value.
    pub(crate) fn holding(values: impl Iterator<Item = f64>) -> Self {
        let max = largest(values);
        let step = round_up(max / 5.0, &[1.0, 2.0, 2.5, 5.0]);
        Self { step, steps: ((max / step).ceil() as u32).clamp(1, 6) }
    }

    /// An axis that holds every value in the steps of another one, so that both share a grid.
    pub(crate) fn beside(other: &Scale, values: impl Iterator<Item = f64>) -> Self {
        Self {
            step: round_up(
                largest(values) / f64::from(other.steps),
                &[1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
            ),
            steps: other.steps,
        }
    }

    /// Position of a value along the axis, from 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        (value / (self.step * f64::from(self.steps))).clamp(0.0, 1.0)
    }

    /// Vertical coordinate of a value in a chart.
    pub(crate) fn y(&self, value: f64) -> f64 {
        BOTTOM - self.share(value) * (BOTTOM - TOP)
    }

    /// Values of the ticks, from 0 up.
    pub(crate) fn ticks(&self) -> impl Iterator<Item = f64> {
        (0..=self.steps).map(|tick| f64::from(tick) * self.step)
    }
}

/// Largest value, at least a little above 0.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    let max = values.filter_map(drawable).fold(0.0, f64::max);
    if max < 1e-9 { 1.0 } else { max }
}

/// The next of `factors` times a power of ten.
fn round_up(value: f64, factors: &[f64]) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    // The margin keeps 0.2 / 0.1 and the like from asking for the next step.
    let enough = |factor: &&f64| **factor * power >= value * (1.0 - 1e-9);
    power * factors.iter().find(enough).copied().unwrap_or(10.0)
}

/// Label of a tick.
pub(crate) fn tick_label(value: f64) -> String {
    if value >= 1e5 { format!("{value:.0e}") } else { trimmed(value) }
}

/// A text element.
pub(crate) fn label(x: f64, y: f64, class: &str, text: &str) -> String {
    format!(
        "<text x=\"{}\" y=\"{}\" class=\"{class}\">{}</text>\n",
        coord(x),
        coord(y),
        escape(text)
    )
}

/// A line from tick to tick across the plot.
pub(crate) fn grid_line(y: f64) -> String {
    format!("<path class=\"grid\" d=\"M{} {}H{}\"/>\n", coord(LEFT), coord(y), coord(RIGHT))
}

/// Where categories lie: the plot is divided into equal slots.
pub(crate) struct Slots {
    count: usize,
}

impl Slots {
    /// Room for `count` categories.
    pub(crate) fn new(count: usize) -> Self {
        Self { count: count.max(1) }
    }

    /// Width of a slot.
    pub(crate) fn width(&self) -> f64 {
        (RIGHT - LEFT) / self.count as f64
    }

    /// Middle of a slot.
    pub(crate) fn x(&self, index: usize) -> f64 {
        LEFT + (index as f64 + 0.5) * self.width()
    }

    /// Base line and labels of up to two lines; some are left out when they would overlap.
    pub(crate) fn axis(&self, labels: &[Vec<String>], title: &str) -> String {
        let widest = labels.iter().flatten().map(|line| line.chars().count()).max().unwrap_or(0);
        let every = ((widest as f64 * 8.5 + 6.0) / self.width()).ceil().max(1.0) as usize;
        let mut out = format!(
            "<path class=\"base\" d=\"M{} {}H{}\"/>\n",
            coord(LEFT),
            coord(BOTTOM),
            coord(RIGHT)
        );
        for (index, lines) in labels.iter().enumerate().step_by(every) {
            for (line, text) in lines.iter().take(2).enumerate() {
                let y = BOTTOM + 18.0 + 16.0 * line as f64;
                out.push_str(&label(self.x(index), y, "mid", text));
            }
        }
        out.push_str(&label((LEFT + RIGHT) / 2.0, height(labels) - 9.0, "mid axis", title));
        out
    }

    /// A line through the values; a missing value interrupts it.
    pub(crate) fn line(&self, class: &str, values: &[Option<f64>]) -> String {
        let mut path = String::new();
        let mut pen_down = false;
        for (index, y) in values.iter().enumerate() {
            if let Some(y) = y {
                let verb = if pen_down { 'L' } else { 'M' };
                let _ = write!(path, "{verb}{} {}", coord(self.x(index)), coord(*y));
            }
            pen_down = y.is_some();
        }
        if path.is_empty() { path } else { format!("<path class=\"{class}\" d=\"{path}\"/>\n") }
    }

    /// Dots: lines of no length with round ends, all in one path.
    pub(crate) fn dots(&self, class: &str, values: &[Vec<f64>]) -> String {
        let mut path = String::new();
        for (index, ys) in values.iter().enumerate() {
            for y in ys {
                let _ = write!(path, "M{} {}h0", coord(self.x(index)), coord(*y));
            }
        }
        if path.is_empty() { path } else { format!("<path class=\"{class}\" d=\"{path}\"/>\n") }
    }

    /// Level marks as wide as their slots.
    pub(crate) fn levels(&self, class: &str, values: &[Option<f64>]) -> String {
        let mut path = String::new();
        let mut last = None;
        for (index, y) in values.iter().enumerate() {
            if let Some(y) = y {
                if last != Some(*y) {
                    let start = self.x(index) - self.width() / 2.0;
                    let _ = write!(path, "M{} {}", coord(start), coord(*y));
                }
                let _ = write!(path, "H{}", coord(self.x(index) + self.width() / 2.0));
            }
            last = *y;
        }
        if path.is_empty() { path } else { format!("<path class=\"{class}\" d=\"{path}\"/>\n") }
    }
}

/// Height of a chart with these labels below it.
pub(crate) fn height(labels: &[Vec<String>]) -> f64 {
    let lines = labels.iter().map(Vec::len).max().unwrap_or(1).clamp(1, 2);
    BOTTOM + 30.0 + 16.0 * lines as f64
}

/// Shape of the marker at a mean value.
#[derive(Clone, Copy)]
pub(crate) enum Marker {
    Circle,
    Square,
    Diamond,
    Ring,
}

/// A marker with a tool tip.
pub(crate) fn marker(shape: Marker, class: &str, x: f64, y: f64, tip: &str) -> String {
    let tip =
        if tip.is_empty() { String::new() } else { format!("<title>{}</title>", escape(tip)) };
    let (cx, cy) = (coord(x), coord(y));
    match shape {
        Marker::Circle => {
            format!("<circle class=\"{class}\" cx=\"{cx}\" cy=\"{cy}\" r=\"4\">{tip}</circle>\n")
        }
        Marker::Ring => format!(
            "<circle class=\"{class} ring\" cx=\"{cx}\" cy=\"{cy}\" r=\"2.5\">{tip}</circle>\n"
        ),
        Marker::Square => {
            let (x, y) = (coord(x - 3.5), coord(y - 3.5));
            format!(
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"7\" height=\"7\">{tip}</rect>\n"
            )
        }
        Marker::Diamond => {
            format!("<path class=\"{class}\" d=\"M{cx} {cy}m0-5l5 5-5 5-5-5z\">{tip}</path>\n")
        }
    }
}

/// The frame of a chart, with the name and description assistive technology reads.
pub(crate) fn document(
    id: &str,
    title: &str,
    description: &str,
    height: f64,
    body: &str,
) -> String {
    let id = escape(id);
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\n\
         <title id=\"{id}-t\">{}</title>\n<desc id=\"{id}-d\">{}</desc>\n{body}</svg>\n",
        escape(title),
        escape(description),
    )
}
