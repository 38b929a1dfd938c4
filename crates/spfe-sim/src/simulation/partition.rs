//! Which links and units several threads can simulate side by side.
//!
//! Each link belongs to a part. A unit belongs to a part if all of its links do; the others, such as a
//! router in the middle, are between the parts, and have their turns while nobody else has one.

use crate::scenario::{Scenario, UnitId};

/// Largest share of the work of all ends of links that units between the parts may have, in percent.
const BETWEEN_PERCENT: usize = 30;
/// A part may have so many percent of its even share.
const LARGEST_PERCENT: usize = 115;
/// Units tried at a time to be put between the parts: those with the most lanes.
const TRIED: usize = 64;

/// Parts of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    /// Number of parts, at least two.
    pub parts: usize,
    /// Part of each link.
    pub links: Vec<usize>,
    /// Part of each node, and behind them of each router; `None`: between the parts.
    pub units: Vec<Option<usize>>,
}

/// The network as a graph of units and links.
struct Graph {
    /// Units at the ends of each link.
    ends: Vec<[usize; 2]>,
    /// Work of each link: its lanes.
    work: Vec<usize>,
    /// Links of each unit.
    links: Vec<Vec<usize>>,
}

impl Graph {
    fn new(scenario: &Scenario) -> Option<Self> {
        let nodes = scenario.nodes.len();
        let number = |unit: UnitId| match unit {
            UnitId::Node(node) => node,
            UnitId::Router(router) => nodes + router,
        };
        let mut links = vec![Vec::new(); nodes + scenario.routers.len()];
        let (mut ends, mut work) = (Vec::new(), Vec::new());
        for (index, link) in scenario.links.iter().enumerate() {
            let mut of = [0; 2];
            for (of, place) in of.iter_mut().zip(&link.ends) {
                *of = number(scenario.unit(&place.unit)?);
                links.get_mut(*of)?.push(index);
            }
            ends.push(of);
            work.push(usize::from(link.lanes()));
        }
        Some(Self { ends, work, links })
    }

    /// Work of the ends at a unit.
    fn work_at(&self, unit: usize) -> usize {
        self.links[unit].iter().map(|link| self.work[*link]).sum()
    }

    /// Links that are connected without the units between: for each group its work and its links.
    fn groups(&self, between: &[bool]) -> Vec<(usize, Vec<usize>)> {
        let mut groups = Vec::new();
        let mut found = vec![false; self.ends.len()];
        for first in 0..self.ends.len() {
            if std::mem::replace(&mut found[first], true) {
                continue;
            }
            let (mut work, mut group) = (0, vec![first]);
            let mut next = 0;
            while let Some(link) = group.get(next).copied() {
                next += 1;
                work += self.work[link];
                for unit in self.ends[link].into_iter().filter(|unit| !between[*unit]) {
                    for other in &self.links[unit] {
                        if !std::mem::replace(&mut found[*other], true) {
                            group.push(*other);
                        }
                    }
                }
            }
            groups.push((work, group));
        }
        groups
    }

    /// Units of a group with more than one link that are not between the parts, those with the most
    /// work first.
    fn units_of(&self, group: &[usize], between: &[bool]) -> Vec<usize> {
        let mut units: Vec<_> = group.iter().flat_map(|link| self.ends[*link]).collect();
        units.retain(|unit| !between[*unit] && self.links[*unit].len() > 1);
        units.sort_unstable_by_key(|unit| (std::cmp::Reverse(self.work_at(*unit)), *unit));
        units.dedup();
        units
    }

    /// The unit of a group whose place between the parts leaves the smallest largest group.
    fn best(&self, group: &[usize], between: &[bool]) -> Option<usize> {
        let largest = |unit: &usize| {
            let mut between = between.to_vec();
            between[*unit] = true;
            self.groups(&between).iter().map(|(work, _)| *work).max()
        };
        self.units_of(group, between).into_iter().take(TRIED).min_by_key(largest)
    }
}

impl Partition {
    /// Parts for so many threads. `together` are units that have to be between the parts. `None` if
    /// too much work would be there, or the parts would be too different.
    pub fn new(scenario: &Scenario, threads: usize, together: &[bool]) -> Option<Self> {
        let graph = Graph::new(scenario)?;
        // One unit may cut the largest group, or only all of those in the middle together.
        let best = Self::with(&graph, threads, together, true);
        best.or_else(|| Self::with(&graph, threads, together, false))
    }

    /// Parts of a graph. Of a group that is too large the best unit comes between them, or that with
    /// the most work.
    fn with(graph: &Graph, threads: usize, together: &[bool], best: bool) -> Option<Self> {
        let all: usize = graph.work.iter().sum();
        let fits = |work: usize| work * threads * 100 <= all * LARGEST_PERCENT;
        let mut between = together.to_vec();
        between.resize(graph.links.len(), false);
        let mut groups = graph.groups(&between);
        loop {
            let at = (0..between.len()).filter(|unit| between[*unit]);
            let serial: usize = at.map(|unit| graph.work_at(unit)).sum();
            if serial * 100 > 2 * all * BETWEEN_PERCENT {
                return None;
            }
            let (work, group) = groups.iter().max_by_key(|(work, _)| *work)?;
            if fits(*work) {
                break;
            }
            let unit = match best {
                true => graph.best(group, &between),
                false => graph.units_of(group, &between).first().copied(),
            };
            between[unit?] = true;
            groups = graph.groups(&between);
        }
        // The largest group first, each to the first part with room for it. Links that were made one
        // after the other are mostly together, and share no cache lines with another part.
        groups.sort_by_key(|(work, group)| (std::cmp::Reverse(*work), group.first().copied()));
        let mut sums = vec![0; threads];
        let mut links = vec![0; graph.ends.len()];
        for (work, group) in groups {
            let even = all.div_ceil(threads);
            let part = (0..threads).find(|part| sums[*part] + work <= even);
            let part = part.or_else(|| (0..threads).min_by_key(|part| sums[*part]))?;
            sums[part] += work;
            group.into_iter().for_each(|link| links[link] = part);
        }
        if threads < 2 || sums.iter().any(|sum| *sum == 0 || !fits(*sum)) {
            return None;
        }
        let part = |unit: usize| {
            let mut of = graph.links[unit].iter().map(|link| links[*link]);
            let first = of.next().filter(|_| !between[unit])?;
            of.all(|part| part == first).then_some(first)
        };
        let units = (0..between.len()).map(part).collect();
        Some(Self { parts: threads, links, units })
    }
}

#[cfg(test)]
mod tests;
