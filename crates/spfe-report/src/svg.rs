//! Drawing primitives: coordinates, scales, axes and markers.

use std::fmt::Write;

use crate::markup::escape;
use crate::num::trimmed;

/// Width of a chart in units of its view box.
pub(crate) const WIDTH: f64 = 520.0;
/// Edges of the plot area.
pub(crate) const LEFT: f64 = 54.0;
pub(crate) const RIGHT: f64 = WIDTH - 54.0;
pub(crate) const TOP: f64 = 30.0;
pub(crate) const BOTTOM: f64 = 284.0;

/// Formats a coordinate with at most one decimal. A value that is not finite becomes 0.
pub(crate) fn coord(value: f64) -> String {
    let value = if value.is_finite() { value.clamp(-1e5, 1e5) } else { 0.0 };
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Limits a value to a range that can be drawn. Returns `None` if it is not finite.
pub(crate) fn drawable(value: f64) -> Option<f64> {
    value.is_finite().then(|| value.clamp(0.0, 1e300))
}

/// A linear axis that starts at 0 and has round steps.
pub(crate) struct Scale {
    step: f64,
    steps: u32,
}

impl Scale {
    /// Makes an axis of at most six steps that includes every value.
    pub(crate) fn holding(values: impl Iterator<Item = f64>) -> Self {
        let max = largest(values);
        let step = round_up(max / 5.0, &[1.0, 2.0, 2.5, 5.0]);
        Self { step, steps: ((max / step).ceil() as u32).clamp(1, 6) }
    }

    /// Makes an axis that includes every value and has as many steps as `other`, so that both share
    /// their grid lines.
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

    /// Values of the ticks, starting at 0.
    pub(crate) fn ticks(&self) -> impl Iterator<Item = f64> {
        (0..=self.steps).map(|tick| f64::from(tick) * self.step)
    }
}

/// The largest value that can be drawn, or 1 if there is none above 0.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    let max = values.filter_map(drawable).fold(0.0, f64::max);
    if max < 1e-9 { 1.0 } else { max }
}

/// Rounds up to one of `factors` times a power of ten.
fn round_up(value: f64, factors: &[f64]) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    // The margin absorbs rounding errors, which would otherwise choose the next factor.
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

/// A horizontal grid line across the plot.
pub(crate) fn grid_line(y: f64) -> String {
    format!("<path class=\"grid\" d=\"M{} {}H{}\"/>\n", coord(LEFT), coord(y), coord(RIGHT))
}

/// Horizontal positions of categories: the plot is divided into slots of equal width.
pub(crate) struct Slots {
    count: usize,
}

impl Slots {
    /// Divides the plot for `count` categories.
    pub(crate) fn new(count: usize) -> Self {
        Self { count: count.max(1) }
    }

    pub(crate) fn width(&self) -> f64 {
        (RIGHT - LEFT) / self.count as f64
    }

    /// Horizontal centre of a slot.
    pub(crate) fn x(&self, index: usize) -> f64 {
        LEFT + (index as f64 + 0.5) * self.width()
    }

    /// Draws the base line, labels of up to two lines, and a title. Leaves out labels that would
    /// overlap.
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

    /// Draws a line through the values. A missing value interrupts it.
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

    /// Draws several dots per category. A dot is a line of length 0 with round ends.
    pub(crate) fn dots(&self, class: &str, values: &[Vec<f64>]) -> String {
        let mut path = String::new();
        for (index, ys) in values.iter().enumerate() {
            for y in ys {
                let _ = write!(path, "M{} {}h0", coord(self.x(index)), coord(*y));
            }
        }
        if path.is_empty() { path } else { format!("<path class=\"{class}\" d=\"{path}\"/>\n") }
    }

    /// Draws a horizontal mark over the whole slot at each value.
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

/// Height of a chart with these labels below the axis.
pub(crate) fn height(labels: &[Vec<String>]) -> f64 {
    let lines = labels.iter().map(Vec::len).max().unwrap_or(1).clamp(1, 2);
    BOTTOM + 30.0 + 16.0 * lines as f64
}

/// Shape of a marker.
#[derive(Clone, Copy)]
pub(crate) enum Marker {
    Circle,
    Square,
    Diamond,
    Ring,
}

/// Draws a marker. An empty tool tip is left out.
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

/// Wraps a chart into an `svg` element with a title and a description for screen readers.
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
