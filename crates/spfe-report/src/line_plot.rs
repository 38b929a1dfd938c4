//! Line plots with linear axes.

use std::fmt::Write;

use crate::markup::escape;
use crate::num::trimmed;
use crate::svg::{Scale, coord, label};

/// Size of the plot in units of its view box, without the legend.
const WIDTH: f64 = 920.0;
const HEIGHT: f64 = 340.0;
/// Edges of the plot area.
const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = HEIGHT - 46.0;
/// Colours of the classes `v0` to `v7`, for drawings outside of a page.
const COLOURS: [&str; 8] =
    ["#6f3fb5", "#1b7f4b", "#d1661b", "#1769b3", "#b3261e", "#0b7285", "#9a7d0a", "#a3357d"];

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesStyle {
    /// A line through the points.
    Line,
    /// Steps: each value holds until the next point.
    Steps,
    /// Ring-shaped markers without a line.
    Markers,
}

/// A series of points in a [`LinePlot`].
#[derive(Clone, Debug)]
pub struct PlotSeries {
    /// Name in the legend.
    pub name: String,
    /// Number of the colour. Colours repeat after 8.
    pub colour: usize,
    /// How the series is drawn.
    pub style: SeriesStyle,
    /// Points (x, y) in ascending order of x.
    pub points: Vec<(f64, f64)>,
}

/// A plot of series over a common horizontal axis. Both axes start at 0.
#[derive(Clone, Debug)]
pub struct LinePlot {
    /// Identifier in the page and name of the drawing's file.
    pub id: String,
    /// Title.
    pub title: String,
    /// Label of the horizontal axis.
    pub x: String,
    /// Label of the vertical axis.
    pub y: String,
    /// The vertical axis reaches at least up to this value.
    pub at_least: f64,
    /// The series in drawing order.
    pub series: Vec<PlotSeries>,
}

impl LinePlot {
    fn values(&self, pick: impl Fn(&(f64, f64)) -> f64) -> impl Iterator<Item = f64> {
        self.series.iter().flat_map(|series| &series.points).map(pick)
    }

    /// Draws the plot for a page.
    ///
    /// # Errors
    ///
    /// A series has no points.
    pub fn svg(&self) -> Result<String, String> {
        if let Some(empty) = self.series.iter().find(|series| series.points.is_empty()) {
            return Err(format!(
                "plot \"{}\": series \"{}\" has no points",
                self.title, empty.name
            ));
        }
        let vertical = Scale::holding(self.values(|point| point.1).chain([self.at_least]));
        let x_max = self.values(|point| point.0).filter(|x| x.is_finite()).fold(1e-9, f64::max);
        let x = |value: f64| LEFT + value / x_max * (RIGHT - LEFT);
        let y = |value: f64| BOTTOM - vertical.share(value) * (BOTTOM - TOP);
        let mut body = self.axes(&vertical, x_max);
        for series in &self.series {
            series.draw(&mut body, x, y);
        }
        let (legend, height) = self.legend();
        body.push_str(&legend);
        Ok(format!(
            "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"{0}-t\">\n\
             <title id=\"{0}-t\">{1}</title>\n{body}</svg>\n",
            self.id,
            escape(&self.title)
        ))
    }

    /// Grid lines, ticks, base line and labels of both axes.
    fn axes(&self, vertical: &Scale, x_max: f64) -> String {
        let mut out = String::new();
        for tick in vertical.ticks() {
            let y = BOTTOM - vertical.share(tick) * (BOTTOM - TOP);
            let _ = writeln!(out, "<path class=\"grid\" d=\"M{LEFT} {}H{RIGHT}\"/>", coord(y));
            out.push_str(&label(LEFT - 8.0, y + 4.5, "end", &trimmed(tick)));
        }
        let horizontal = Scale::holding([x_max].into_iter());
        for tick in horizontal.ticks().filter(|tick| *tick <= x_max * 1.0001) {
            let x = LEFT + tick / x_max * (RIGHT - LEFT);
            let _ = writeln!(out, "<path class=\"base\" d=\"M{} {BOTTOM}v5\"/>", coord(x));
            out.push_str(&label(x, BOTTOM + 19.0, "mid", &trimmed(tick)));
        }
        let _ = writeln!(out, "<path class=\"base\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/>");
        out.push_str(&label((LEFT + RIGHT) / 2.0, HEIGHT - 6.0, "mid", &self.x));
        out.push_str(&label(4.0, 14.0, "start", &self.y));
        out
    }

    /// The legend below the plot, and the height of the whole drawing.
    fn legend(&self) -> (String, f64) {
        let (mut out, mut x, mut y) = (String::new(), LEFT, HEIGHT + 16.0);
        for series in &self.series {
            let width = 52.0 + 7.0 * series.name.chars().count() as f64;
            if x > LEFT && x + width > RIGHT {
                (x, y) = (LEFT, y + 20.0);
            }
            let class = series.colour % COLOURS.len();
            let _ = match series.style {
                SeriesStyle::Markers => writeln!(
                    out,
                    "<circle class=\"ringed v{class}\" cx=\"{}\" cy=\"{y}\" r=\"4\"/>",
                    coord(x + 14.0)
                ),
                _ => writeln!(out, "<path class=\"curve v{class}\" d=\"M{} {y}h28\"/>", coord(x)),
            };
            out.push_str(&label(x + 35.0, y + 4.5, "start", &series.name));
            x += width;
        }
        (out, y + 12.0)
    }
}

impl PlotSeries {
    fn draw(&self, out: &mut String, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) {
        let class = self.colour % COLOURS.len();
        let name = escape(&self.name);
        if self.style == SeriesStyle::Markers {
            for (px, py) in &self.points {
                let _ = writeln!(
                    out,
                    "<circle class=\"ringed v{class}\" cx=\"{}\" cy=\"{}\" r=\"4\">\
                     <title>{name}: {} at {}</title></circle>",
                    coord(x(*px)),
                    coord(y(*py)),
                    trimmed(*py),
                    trimmed(*px)
                );
            }
            return;
        }
        let mut path = String::new();
        let mut level = 0.0;
        for (index, (px, py)) in self.points.iter().enumerate() {
            if index > 0 && self.style == SeriesStyle::Steps {
                let _ = write!(path, "L{} {}", coord(x(*px)), coord(level));
            }
            level = y(*py);
            let verb = if index == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{verb}{} {}", coord(x(*px)), coord(level));
        }
        let _ = writeln!(
            out,
            "<path class=\"curve v{class}\" d=\"{path}\"><title>{name}</title></path>"
        );
    }
}

/// Turns a drawing of a page into a file of its own, with colours and a white background. `rules`
/// are the style rules of the drawing's own classes.
#[must_use]
pub fn standalone(svg: &str, rules: &str) -> String {
    let mut style = String::from(
        "<style>text{font:13px system-ui,\"DejaVu Sans\",sans-serif;fill:#1b1f24}\
         .small{font-size:11px;fill:#59636e}.strong{font-weight:bold}\
         .start{text-anchor:start}.mid{text-anchor:middle}.end{text-anchor:end}\
         .grid{fill:none;stroke:#e3e7eb}.base{fill:none;stroke:#59636e}\
         .curve{fill:none;stroke:var(--c);stroke-width:1.8;stroke-linejoin:round}\
         .ringed{fill:#fff;stroke:var(--c);stroke-width:2}",
    );
    for (index, colour) in COLOURS.iter().enumerate() {
        let _ = write!(style, ".v{index}{{--c:{colour}}}");
    }
    style.push_str(rules);
    style.push_str("</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>");
    let svg = svg.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
    svg.replacen(">\n", &format!(">\n{style}\n"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(style: SeriesStyle, points: Vec<(f64, f64)>) -> LinePlot {
        let name = "a<b".to_owned();
        LinePlot {
            id: "p".to_owned(),
            title: "T".to_owned(),
            x: "x".to_owned(),
            y: "y".to_owned(),
            at_least: 10.0,
            series: vec![PlotSeries { name, colour: 9, style, points }],
        }
    }

    #[test]
    fn points_lie_between_the_edges_of_the_plot() {
        let svg = plot(SeriesStyle::Line, vec![(0.0, 0.0), (4.0, 10.0)]).svg().expect("points");
        assert!(svg.contains("class=\"curve v1\" d=\"M64 294L904 26\""), "{svg}");
        assert!(svg.contains("a&lt;b"));
    }

    #[test]
    fn steps_hold_a_value_until_the_next_point() {
        let svg = plot(SeriesStyle::Steps, vec![(0.0, 10.0), (4.0, 0.0)]).svg().expect("points");
        assert!(svg.contains("d=\"M64 26L904 26L904 294\""), "{svg}");
    }

    #[test]
    fn a_series_without_points_is_an_error() {
        let error = plot(SeriesStyle::Markers, vec![]).svg().expect_err("no points");
        assert_eq!(error, "plot \"T\": series \"a<b\" has no points");
    }

    #[test]
    fn a_standalone_drawing_brings_its_colours() {
        let svg = plot(SeriesStyle::Markers, vec![(1.0, 1.0)]).svg().expect("points");
        let file = standalone(&svg, ".own{}");
        assert!(file.starts_with("<svg xmlns="), "{file}");
        assert!(file.contains(".v1{--c:#1b7f4b}") && file.contains(".own{}</style>"), "{file}");
    }
}
