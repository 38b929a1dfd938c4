//! Arranges boxes and links: distance decides the column, neighbours decide the order within it.

use super::{Diagram, VertexKind};
use std::collections::{BTreeSet, VecDeque};

/// Number of sweeps that sort the columns.
const SWEEPS: usize = 12;

/// An item of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The box of a vertex.
    Box(usize),
    /// A link that passes through the column.
    Pass,
}

/// Items arranged in columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// All items, beginning with the vertices in their order.
    pub items: Vec<Item>,
    /// Items of each column from top to bottom, columns from left to right.
    pub columns: Vec<Vec<usize>>,
    /// Items along each edge from left to right.
    pub chains: Vec<Vec<usize>>,
}

impl Layout {
    pub fn new(diagram: &Diagram) -> Self {
        let column_of = columns(diagram);
        let count = column_of.iter().max().map_or(0, |last| last + 1);
        let mut layout = Self { columns: vec![Vec::new(); count], ..Self::default() };
        for (vertex, column) in column_of.iter().enumerate() {
            layout.add(Item::Box(vertex), *column);
        }
        for edge in &diagram.edges {
            let [(a, _), (b, _)] = edge.ends;
            let (left, right) = if column_of[a] <= column_of[b] { (a, b) } else { (b, a) };
            let between = column_of[left] + 1..column_of[right].max(column_of[left] + 1);
            let mut chain = vec![left];
            chain.extend(between.map(|column| layout.add(Item::Pass, column)));
            chain.push(right);
            layout.chains.push(chain);
        }
        layout.order();
        layout
    }

    fn add(&mut self, item: Item, column: usize) -> usize {
        self.items.push(item);
        self.columns[column].push(self.items.len() - 1);
        self.items.len() - 1
    }

    /// Sorts each column by the mean position of its neighbours in the column before.
    fn order(&mut self) {
        let mut neighbours = vec![Vec::new(); self.items.len()];
        for pair in self.chains.iter().flat_map(|chain| chain.windows(2)) {
            neighbours[pair[0]].push(pair[1]);
            neighbours[pair[1]].push(pair[0]);
        }
        let count = self.columns.len();
        for sweep in 0..SWEEPS {
            for step in 1..count {
                let (column, before) = if sweep % 2 == 0 {
                    (step, step - 1)
                } else {
                    (count - 1 - step, count - step)
                };
                let mut place = vec![None; self.items.len()];
                for (index, item) in self.columns[before].iter().enumerate() {
                    place[*item] = Some(middle(index, self.columns[before].len()));
                }
                let mean = |(index, item): (usize, &usize)| {
                    let near: Vec<f64> =
                        neighbours[*item].iter().filter_map(|other| place[*other]).collect();
                    let own = middle(index, self.columns[column].len());
                    let mean = near.iter().sum::<f64>() / near.len() as f64;
                    (if near.is_empty() { own } else { mean }, *item)
                };
                let mut sorted: Vec<(f64, usize)> =
                    self.columns[column].iter().enumerate().map(mean).collect();
                sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.columns[column] = sorted.into_iter().map(|(_, item)| item).collect();
            }
        }
    }
}

/// Centre of position `index` of `of`, from 0 to 1.
fn middle(index: usize, of: usize) -> f64 {
    (index as f64 + 0.5) / of.max(1) as f64
}

/// Column of each vertex. Routers are placed by their distance from an outer router, with room
/// between them. Sources are to the left of their neighbours, sinks to the right.
fn columns(diagram: &Diagram) -> Vec<usize> {
    let count = diagram.vertices.len();
    let mut joined = vec![BTreeSet::new(); count];
    for edge in &diagram.edges {
        let [(a, _), (b, _)] = edge.ends;
        joined[a].insert(b);
        joined[b].insert(a);
    }
    let kind = |vertex: usize| diagram.vertices[vertex].kind;
    let mut column: Vec<Option<i64>> = vec![None; count];
    for vertex in 0..count {
        if kind(vertex) == VertexKind::Router && column[vertex].is_none() {
            let first = outermost(&joined, &kind, vertex);
            for (router, distance) in distances(&joined, &kind, first) {
                column[router] = Some(2 * distance);
            }
        }
    }
    // The remaining vertices are next to one with a column, or start a group of their own.
    let mut waiting: VecDeque<usize> = (0..count).filter(|v| column[*v].is_none()).collect();
    let mut idle = 0;
    while let Some(vertex) = waiting.pop_front() {
        let near: Vec<i64> = joined[vertex].iter().filter_map(|other| column[*other]).collect();
        let beside = match kind(vertex) {
            VertexKind::Source => near.iter().min().map(|column| column - 1),
            _ => near.iter().max().map(|column| column + 1),
        };
        column[vertex] = beside;
        if beside.is_some() {
            idle = 0;
            continue;
        }
        waiting.push_back(vertex);
        idle += 1;
        if idle >= waiting.len() {
            let source = waiting.iter().position(|vertex| kind(*vertex) == VertexKind::Source);
            let first = waiting.remove(source.unwrap_or(0)).unwrap_or(vertex);
            column[first] = Some(0);
            idle = 0;
        }
    }
    let used: BTreeSet<i64> = column.iter().flatten().copied().collect();
    let rank = |column: &Option<i64>| {
        column.and_then(|column| used.iter().position(|used| *used == column)).unwrap_or(0)
    };
    column.iter().map(rank).collect()
}

/// Routers that are reachable over routers, with their distance.
fn distances(
    joined: &[BTreeSet<usize>],
    kind: &impl Fn(usize) -> VertexKind,
    first: usize,
) -> Vec<(usize, i64)> {
    let mut found = vec![(first, 0)];
    let mut seen = BTreeSet::from([first]);
    let mut next = 0;
    while let Some((router, distance)) = found.get(next).copied() {
        next += 1;
        for other in &joined[router] {
            if kind(*other) == VertexKind::Router && seen.insert(*other) {
                found.push((*other, distance + 1));
            }
        }
    }
    found
}

/// A router at the edge of the network: of two opposite ones, the one with more sources.
fn outermost(joined: &[BTreeSet<usize>], kind: &impl Fn(usize) -> VertexKind, any: usize) -> usize {
    let farthest = |from| distances(joined, kind, from).last().map_or(from, |last| last.0);
    let (one, other) = (farthest(any), farthest(farthest(any)));
    let sources = |router: usize| {
        joined[router].iter().filter(|vertex| kind(**vertex) == VertexKind::Source).count()
    };
    if sources(other) > sources(one) { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagram::{DiagramLink, Vertex};

    /// Makes vertices from names by their first letter: s source, r router, other letters sink.
    fn diagram(names: &[&str], edges: &[(usize, usize)]) -> Diagram {
        let vertex = |name: &&str| Vertex {
            name: (*name).to_owned(),
            kind: match name.chars().next() {
                Some('s') => VertexKind::Source,
                Some('r') => VertexKind::Router,
                _ => VertexKind::Sink,
            },
            ..Vertex::default()
        };
        let edges = edges
            .iter()
            .map(|(a, b)| DiagramLink { ends: [(*a, 1), (*b, 1)], ..DiagramLink::default() })
            .collect();
        Diagram { vertices: names.iter().map(vertex).collect(), edges }
    }

    fn rows(layout: &Layout, names: &[&str]) -> Vec<Vec<String>> {
        let name = |item: &usize| match layout.items[*item] {
            Item::Box(vertex) => names[vertex].to_owned(),
            Item::Pass => "-".to_owned(),
        };
        layout.columns.iter().map(|column| column.iter().map(name).collect()).collect()
    }

    #[test]
    fn sources_routers_sinks_from_left_to_right() {
        let names = ["s1", "s2", "memory", "downlink", "r1", "r2", "cpu"];
        let edges = [(0, 4), (1, 4), (4, 5), (4, 5), (5, 2), (5, 3), (6, 4)];
        let layout = Layout::new(&diagram(&names, &edges));
        let rows = rows(&layout, &names);
        let sorted = |index: usize| {
            let mut row = rows[index].clone();
            row.sort();
            row.join(" ")
        };
        let all: Vec<String> = (0..rows.len()).map(sorted).collect();
        assert_eq!(all, ["s1 s2", "r1", "- - cpu", "r2", "downlink memory"]);
    }

    #[test]
    fn neighbours_do_not_cross() {
        let names = ["s1", "s2", "s3", "c", "b", "a"];
        let layout = Layout::new(&diagram(&names, &[(0, 5), (1, 4), (2, 3)]));
        assert_eq!(rows(&layout, &names), [["s1", "s2", "s3"], ["a", "b", "c"]]);
    }

    #[test]
    fn every_shape_is_laid_out() {
        let ring: Vec<(usize, usize)> = (0..6).map(|at| (at, (at + 1) % 6)).collect();
        for names in [["r1", "r2", "r3", "r4", "r5", "r6"], ["a", "b", "c", "d", "e", "f"]] {
            let layout = Layout::new(&diagram(&names, &ring));
            let boxes = layout.items.iter().filter(|item| **item != Item::Pass).count();
            assert_eq!((boxes, layout.chains.len()), (6, 6));
        }
        let alone = Layout::new(&diagram(&["a", "b"], &[]));
        assert_eq!(alone.columns.iter().map(Vec::len).sum::<usize>(), 2);
        assert!(Layout::new(&Diagram::default()).columns.is_empty());
    }
}
