//! Line plots with linear axes.

use std::fmt::Write;

use super::html::escape;

/// Size of a plot in units of its view box.
const WIDTH: f64 = 920.0;
const HEIGHT: f64 = 340.0;
/// The plot area.
const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = HEIGHT - 46.0;
/// Colours for files that stand alone, in the order of classes `v0` to `v7`.
const COLOURS: [&str; 8] =
    ["#6f3fb5", "#1b7f4b", "#d1661b", "#1769b3", "#b3261e", "#0b7285", "#9a7d0a", "#a3357d"];

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A line through the points.
    Line,
    /// A line in steps: each value holds until the next.
    Steps,
    /// Ring-shaped markers: published points.
    Markers,
}

/// A series of points.
#[derive(Clone, Debug)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// Colour, 0 to 7.
    pub colour: usize,
    /// How it is drawn.
    pub style: Style,
    /// Points from left to right.
    pub points: Vec<(f64, f64)>,
}

/// A plot.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Name in the page, and of the file.
    pub id: String,
    /// Title.
    pub title: String,
    /// Under the horizontal axis.
    pub x: String,
    /// At the vertical axis.
    pub y: String,
    /// Least top of the vertical axis.
    pub at_least: f64,
    /// What is drawn.
    pub series: Vec<Series>,
}

/// A round step that divides up to `max` in four to eight.
fn step(max: f64) -> f64 {
    let power = 10_f64.powf((max / 5.0).log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|f| f * power >= max / 5.0 * 0.999);
    factor.unwrap_or(10.0) * power
}

fn label(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Plot {
    fn max(&self, pick: impl Fn(&(f64, f64)) -> f64) -> f64 {
        let values = self.series.iter().flat_map(|series| &series.points).map(pick);
        values.filter(|value| value.is_finite()).fold(1e-9, f64::max)
    }

    /// The plot, for a page.
    ///
    /// # Errors
    /// A series has no points.
    pub fn svg(&self) -> Result<String, String> {
        if let Some(empty) = self.series.iter().find(|series| series.points.is_empty()) {
            return Err(format!(
                "plot \"{}\": series \"{}\" has no points",
                self.title, empty.name
            ));
        }
        let (x_max, y_max) =
            (self.max(|point| point.0), self.max(|point| point.1).max(self.at_least));
        let (x_step, y_step) = (step(x_max), step(y_max));
        let y_top = (y_max / y_step).ceil() * y_step;
        let x = |value: f64| LEFT + value / x_max * (RIGHT - LEFT);
        let y = |value: f64| BOTTOM - value / y_top * (BOTTOM - TOP);
        let mut body = String::new();
        for tick in 0..=(y_top / y_step).round() as u32 {
            let value = f64::from(tick) * y_step;
            let _ = writeln!(
                body,
                "<path class=\"grid\" d=\"M{LEFT} {0:.1}H{RIGHT}\"/><text class=\"end\" x=\"{1}\" \
                 y=\"{2:.1}\">{3}</text>",
                y(value),
                LEFT - 8.0,
                y(value) + 4.5,
                label(value)
            );
        }
        for tick in 0..=(x_max / x_step * 1.0001).floor() as u32 {
            let value = f64::from(tick) * x_step;
            let _ = writeln!(
                body,
                "<path class=\"base\" d=\"M{0:.1} {BOTTOM}v5\"/><text class=\"mid\" x=\"{0:.1}\" \
                 y=\"{1}\">{2}</text>",
                x(value),
                BOTTOM + 19.0,
                label(value)
            );
        }
        let _ = writeln!(
            body,
            "<path class=\"base\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/>\n<text class=\"mid\" x=\"{}\" \
             y=\"{}\">{}</text>\n<text class=\"start\" x=\"4\" y=\"14\">{}</text>",
            (LEFT + RIGHT) / 2.0,
            HEIGHT - 6.0,
            escape(&self.x),
            escape(&self.y)
        );
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

    /// Names of the series beside their colours, under the plot; and the height of all.
    fn legend(&self) -> (String, f64) {
        let (mut out, mut x, mut y) = (String::new(), LEFT, HEIGHT + 16.0);
        for series in &self.series {
            let width = 52.0 + 7.0 * series.name.chars().count() as f64;
            if x > LEFT && x + width > RIGHT {
                (x, y) = (LEFT, y + 20.0);
            }
            let class = series.colour % COLOURS.len();
            let mark = match series.style {
                Style::Markers => {
                    format!(
                        "<circle class=\"ringed v{class}\" cx=\"{}\" cy=\"{y}\" r=\"4\"/>",
                        x + 14.0
                    )
                }
                _ => format!("<path class=\"curve v{class}\" d=\"M{x} {y}h28\"/>"),
            };
            let _ = writeln!(
                out,
                "{mark}<text class=\"start\" x=\"{}\" y=\"{}\">{}</text>",
                x + 35.0,
                y + 4.5,
                escape(&series.name)
            );
            x += width;
        }
        (out, y + 12.0)
    }
}

impl Series {
    fn draw(&self, out: &mut String, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) {
        let class = self.colour % COLOURS.len();
        if self.style == Style::Markers {
            for (px, py) in &self.points {
                let _ = writeln!(
                    out,
                    "<circle class=\"ringed v{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"><title>{}: {} at \
                     {}</title></circle>",
                    x(*px),
                    y(*py),
                    escape(&self.name),
                    label(*py),
                    label(*px)
                );
            }
            return;
        }
        let mut path = String::new();
        let mut level = 0.0;
        for (index, (px, py)) in self.points.iter().enumerate() {
            if index > 0 && self.style == Style::Steps {
                let _ = write!(path, "L{:.1} {level:.1}", x(*px));
            }
            level = y(*py);
            let verb = if index == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{verb}{:.1} {level:.1}", x(*px));
        }
        let _ = writeln!(
            out,
            "<path class=\"curve v{class}\" d=\"{path}\"><title>{}</title></path>",
            escape(&self.name)
        );
    }
}

/// A drawing of the page as a file of its own: with colours, on white.
#[must_use]
pub fn standalone(svg: &str) -> String {
    let mut style = String::from(
        "<style>text{font:13px system-ui,\"DejaVu Sans\",sans-serif;fill:#1b1f24}.small{font-size:11px;fill:#59636e}\
         .strong{font-weight:bold}.start{text-anchor:start}.mid{text-anchor:middle}.end{text-anchor:end}\
         .grid{fill:none;stroke:#e3e7eb}.base{fill:none;stroke:#59636e}\
         .curve{fill:none;stroke:var(--c);stroke-width:1.8;stroke-linejoin:round}\
         .ringed{fill:#fff;stroke:var(--c);stroke-width:2}\
         .box{fill:#f5f6f8;stroke:#59636e;stroke-width:1.2}.box.core{stroke:#6f3fb5;stroke-width:2}\
         .wire{fill:none;stroke:#0b7285;stroke-width:2}.stamp{fill:#b34700;stroke:none}\
         .span{fill:none;stroke:#b34700;stroke-width:1.2}",
    );
    for (index, colour) in COLOURS.iter().enumerate() {
        let _ = write!(style, ".v{index}{{--c:{colour}}}");
    }
    style.push_str("</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>");
    let svg = svg.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
    svg.replacen(">\n", &format!(">\n{style}\n"), 1)
}
