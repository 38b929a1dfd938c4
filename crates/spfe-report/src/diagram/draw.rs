//! Draws a network as SVG.

use super::layout::{Item, Layout};
use super::{Diagram, DiagramLink, Vertex, VertexKind};
use crate::markup::escape;
use crate::svg::{coord, label};
use std::fmt::Write;

const BOX_WIDTH: f64 = 132.0;
/// Distance between columns, with room for the names of links.
const GAP: f64 = 210.0;
const MARGIN: f64 = 14.0;
/// Vertical distance between items of a column.
const SPACE: f64 = 26.0;
/// Minimum height of a box.
const BOX_HEIGHT: f64 = 46.0;
const PORT: f64 = 22.0;
/// Height of a link that passes through a column.
const PASS: f64 = 18.0;

/// Draws the network as an `svg` element for a page.
#[must_use]
pub fn svg(diagram: &Diagram, id: &str) -> String {
    let places = Places::new(diagram);
    let (width, height) = (coord(places.width), coord(places.height));
    let id = escape(id);
    let mut out = format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"{id}-t\">\n<title id=\"{id}-t\">Topology: {}</title>\n",
        escape(&sentence(diagram))
    );
    let mut labels = Labels::default();
    for (index, edge) in diagram.edges.iter().enumerate() {
        let points = places.points(index);
        out.push_str(&line(edge, &points));
        let a_is_left = places.layout.chains[index].first() == Some(&edge.ends[0].0);
        labels.names(edge, &points, a_is_left);
    }
    for (index, vertex) in diagram.vertices.iter().enumerate() {
        out.push_str(&places.frame(index, vertex));
    }
    // Labels come last, on top of lines and boxes.
    out.push_str(&labels.out);
    out.push_str("</svg>\n");
    out
}

/// Draws the network as a file of its own.
#[must_use]
pub fn document(diagram: &Diagram) -> String {
    let places = Places::new(diagram);
    let style = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" ",
        coord(places.width),
        coord(places.height)
    );
    let drawing = svg(diagram, "topology").replacen("<svg ", &style, 1);
    let styles = format!(
        "<style>\n{}svg {{ background: var(--card); font-family: sans-serif; }}\n</style>\n",
        include_str!("../style.css")
    );
    drawing.replacen("<title", &format!("{styles}<title"), 1)
}

fn sentence(diagram: &Diagram) -> String {
    let links: Vec<&str> = diagram.edges.iter().map(|edge| edge.tip.as_str()).collect();
    links.join("; ")
}

/// Coordinates of all boxes and links.
struct Places<'a> {
    diagram: &'a Diagram,
    layout: Layout,
    /// Left edge, top edge and height of each item.
    items: Vec<(f64, f64, f64)>,
    width: f64,
    height: f64,
}

impl<'a> Places<'a> {
    fn new(diagram: &'a Diagram) -> Self {
        let layout = Layout::new(diagram);
        let mut sides = vec![[0usize; 2]; layout.items.len()];
        for chain in &layout.chains {
            if let [first, .., last] = chain[..] {
                sides[first][1] += 1;
                sides[last][usize::from(in_one_column(&layout, chain))] += 1;
            }
        }
        let high = |item: usize| match layout.items[item] {
            Item::Pass => PASS,
            Item::Box(_) => {
                BOX_HEIGHT.max(PORT * (sides[item][0].max(sides[item][1]) as f64 + 0.5))
            }
        };
        let column_height = |column: &Vec<usize>| {
            column.iter().map(|item| high(*item) + SPACE).sum::<f64>() - SPACE
        };
        let tallest = layout.columns.iter().map(column_height).fold(0.0, f64::max);
        let mut items = vec![(0.0, 0.0, 0.0); layout.items.len()];
        for (index, column) in layout.columns.iter().enumerate() {
            let x = MARGIN + index as f64 * (BOX_WIDTH + GAP);
            let mut y = MARGIN + (tallest - column_height(column)) / 2.0;
            for item in column {
                items[*item] = (x, y, high(*item));
                y += high(*item) + SPACE;
            }
        }
        let columns = layout.columns.len() as f64;
        let loops = layout.chains.iter().any(|chain| in_one_column(&layout, chain));
        let width = columns * (BOX_WIDTH + GAP) - if loops { 0.0 } else { GAP };
        let width = width.max(BOX_WIDTH) + 2.0 * MARGIN;
        let height = tallest.max(BOX_HEIGHT) + 2.0 * MARGIN;
        Self { diagram, layout, items, width, height }
    }

    fn middle(&self, item: usize) -> f64 {
        let (_, y, height) = self.items[item];
        y + height / 2.0
    }

    /// The point where a link leaves a box. Links of one side are ordered by their other ends.
    fn port(&self, item: usize, edge: usize, right: bool) -> (f64, f64) {
        let toward = |chain: &[usize]| match chain {
            [first, next, ..] if right && *first == item => Some(self.middle(*next)),
            [.., before, last] if *last == item => {
                let inside = in_one_column(&self.layout, chain);
                (right == inside).then(|| self.middle(*before))
            }
            _ => None,
        };
        let mut here: Vec<(f64, usize)> = (self.layout.chains.iter().enumerate())
            .filter_map(|(edge, chain)| toward(chain).map(|y| (y, edge)))
            .collect();
        here.sort_by(|a, b| a.0.total_cmp(&b.0));
        let place = here.iter().position(|(_, other)| *other == edge).unwrap_or(0);
        let (x, y, height) = self.items[item];
        let x = if right { x + BOX_WIDTH } else { x };
        (x, y + height * (place as f64 + 1.0) / (here.len() as f64 + 1.0))
    }

    /// The points of a link's curve.
    fn points(&self, edge: usize) -> Vec<(f64, f64)> {
        let chain = &self.layout.chains[edge];
        let [first, .., last] = chain[..] else { return Vec::new() };
        let mut points = vec![self.port(first, edge, true)];
        for item in &chain[1..chain.len() - 1] {
            let (x, ..) = self.items[*item];
            points.push((x, self.middle(*item)));
            points.push((x + BOX_WIDTH, self.middle(*item)));
        }
        points.push(self.port(last, edge, in_one_column(&self.layout, chain)));
        points
    }

    fn frame(&self, index: usize, vertex: &Vertex) -> String {
        let (x, y, height) = self.items[index];
        let class = match vertex.kind {
            VertexKind::Router => "unit router",
            VertexKind::Source => "unit source",
            VertexKind::Sink => "unit",
        };
        let round = if vertex.kind == VertexKind::Router { "14" } else { "4" };
        let mut out = format!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{BOX_WIDTH}\" height=\"{}\" \
             rx=\"{round}\"><title>{}</title></rect>\n",
            coord(x),
            coord(y),
            coord(height),
            escape(&self.about(index, vertex)),
        );
        let (x, y) = (x + BOX_WIDTH / 2.0, y + height / 2.0);
        out.push_str(&label(x, y - 3.0, "mid strong", &shortened(&vertex.name, 17)));
        out.push_str(&label(x, y + 13.0, "mid small", &vertex.about));
        out
    }

    fn about(&self, index: usize, vertex: &Vertex) -> String {
        let links = self.diagram.edges.iter();
        let links = links.filter(|edge| edge.ends.iter().any(|(end, _)| *end == index));
        format!("{}: {}, {} links", vertex.name, vertex.about, links.count())
    }
}

fn in_one_column(layout: &Layout, chain: &[usize]) -> bool {
    match chain {
        [a, b] => layout.columns.iter().any(|column| column.contains(a) && column.contains(b)),
        _ => false,
    }
}

/// Shortens a name to at most `most` characters.
fn shortened(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most - 1).chain(['…']).collect()
}

fn line(edge: &DiagramLink, points: &[(f64, f64)]) -> String {
    let Some(((x, y), rest)) = points.split_first() else { return String::new() };
    let mut path = format!("M{} {}", coord(*x), coord(*y));
    let mut last = (*x, *y);
    for &(x, y) in rest {
        // Both tangents are horizontal. A link within a column bulges to the right.
        let bulge = if x > last.0 { (x - last.0) / 2.0 } else { GAP / 2.0 };
        let far = if x > last.0 { x - bulge } else { x + bulge };
        let _ = write!(
            path,
            "C{} {} {} {} {} {}",
            coord(last.0 + bulge),
            coord(last.1),
            coord(far),
            coord(y),
            coord(x),
            coord(y)
        );
        last = (x, y);
    }
    let class = if edge.thin { "link thin" } else { "link" };
    let width = if edge.thin { 1.0 } else { 1.5 + f64::from(edge.lanes.min(16)) / 2.0 };
    format!(
        "<path class=\"{class}\" stroke-width=\"{width}\" d=\"{path}\"><title>{}</title></path>\n",
        escape(&edge.tip)
    )
}

/// Width of a character of a link's label, and height of the label.
const LETTER: f64 = 6.0;
const LABEL_HEIGHT: f64 = 15.0;

/// Labels of links. Each has a ground that hides the lines below it.
#[derive(Default)]
struct Labels {
    out: String,
    /// Centre and half the width of the labels so far.
    placed: Vec<(f64, f64, f64)>,
}

impl Labels {
    /// Writes name and rate in the middle of the first segment, and port numbers at the ends.
    fn names(&mut self, edge: &DiagramLink, points: &[(f64, f64)], a_is_left: bool) {
        let (Some(first), Some(second), Some(last)) =
            (points.first(), points.get(1), points.last())
        else {
            return;
        };
        let inside = last.0 <= first.0;
        let x = if inside { first.0 + GAP * 0.37 } else { (first.0 + second.0) / 2.0 };
        let name = shortened(&edge.name, 16);
        let text =
            if name.is_empty() { edge.label.clone() } else { format!("{name}: {}", edge.label) };
        self.boxed(x, (first.1 + second.1) / 2.0, &text);
        let [left, right] = if a_is_left { edge.ends } else { [edge.ends[1], edge.ends[0]] };
        let mut port = |x, y, class, port: u8| {
            self.out.push_str(&label(x, y - 4.0, class, &port.to_string()));
        };
        port(first.0 + 4.0, first.1, "start tiny halo", left.1);
        let (class, step) = if inside { ("start tiny halo", 4.0) } else { ("end tiny halo", -4.0) };
        port(last.0 + step, last.1, class, right.1);
    }

    /// Writes a label on its ground, at the nearest free height below or above a place.
    fn boxed(&mut self, x: f64, y: f64, text: &str) {
        let half = (text.chars().count() as f64 * LETTER + 8.0) / 2.0;
        let is_free = |y: f64| {
            self.placed.iter().all(|(other_x, other_y, other_half)| {
                (x - other_x).abs() >= half + other_half || (y - other_y).abs() >= LABEL_HEIGHT
            })
        };
        let steps = (0..8).flat_map(|step| [f64::from(step), -f64::from(step)]);
        let y = steps.map(|step| y + step * LABEL_HEIGHT).find(|y| is_free(*y)).unwrap_or(y);
        self.placed.push((x, y, half));
        let _ = writeln!(
            self.out,
            "<rect class=\"ground\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{LABEL_HEIGHT}\" rx=\"3\"/>",
            coord(x - half),
            coord(y - LABEL_HEIGHT / 2.0),
            coord(2.0 * half),
        );
        self.out.push_str(&label(x, y + 4.0, "mid small", text));
    }
}
