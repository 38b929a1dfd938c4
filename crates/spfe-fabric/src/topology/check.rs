//! The checker of topologies. It reports everything that it finds wrong.

use super::{
    FabricEnd, FabricTopology, MTU_DEFAULT, MTU_MIN, NODES_MAX, RING_RANGE, SLOT_MAX,
    SWITCH_LANES_MAX, SWITCHES_MAX, WINDOW_MAX,
};
use std::collections::BTreeSet;
use std::fmt;

/// What is wrong with a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyError {
    /// One line for each problem, at least one.
    pub problems: Vec<String>,
}

impl TopologyError {
    pub(super) fn one(problem: impl Into<String>) -> Self {
        Self { problems: vec![problem.into()] }
    }
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems.join("; "))
    }
}

impl std::error::Error for TopologyError {}

impl FabricTopology {
    /// Checks everything: numbers and names, the lanes and ports of switches, loops.
    ///
    /// # Errors
    /// Every problem.
    pub fn check(&self) -> Result<(), TopologyError> {
        let mut problems = Vec::new();
        self.check_sizes(&mut problems);
        self.check_nodes(&mut problems);
        self.check_switches(&mut problems);
        self.check_links(&mut problems);
        if problems.is_empty() { Ok(()) } else { Err(TopologyError { problems }) }
    }

    fn check_sizes(&self, problems: &mut Vec<String>) {
        let name_is_good = (1..=31).contains(&self.name.len()) && self.name.chars().all(is_plain);
        if !name_is_good {
            problems.push(format!(
                "fabric name '{}': 1 to 31 letters, digits, '-', '_' or '.' are needed",
                self.name.escape_debug()
            ));
        }
        if !(MTU_MIN..=MTU_DEFAULT).contains(&self.mtu) {
            problems.push(format!("mtu = {}: {MTU_MIN} to {MTU_DEFAULT} bytes", self.mtu));
        }
        if !RING_RANGE.contains(&self.ring) || !self.ring.is_power_of_two() {
            let (least, most) = (RING_RANGE.start() >> 10, RING_RANGE.end() >> 20);
            problems.push(format!(
                "ring = {} bytes: a power of two from {least}K to {most}M is needed",
                self.ring
            ));
        }
        if self.window == 0 || self.window > WINDOW_MAX {
            problems.push(format!("window = {}: 1 to {WINDOW_MAX} bytes", self.window));
        }
    }

    fn check_nodes(&self, problems: &mut Vec<String>) {
        if self.nodes.is_empty() {
            problems.push("no node: add [[node]] with slot and cpu".to_owned());
        }
        if self.nodes.len() > NODES_MAX {
            problems.push(format!("{} nodes: at most {NODES_MAX}", self.nodes.len()));
        }
        let mut seen = BTreeSet::new();
        for node in &self.nodes {
            if node.number.index().is_none() {
                problems.push(format!("node {}: slots are 1 to {SLOT_MAX}", node.number));
            }
            if !seen.insert(node.number) {
                problems.push(format!(
                    "node {}: twice in the topology; give one of them another slot or cpu",
                    node.number.name()
                ));
            }
            if node.partition.len() > 31 || !node.partition.chars().all(is_plain) {
                problems.push(format!(
                    "node {}: partition '{}': at most 31 letters, digits, '-', '_' or '.'",
                    node.number.name(),
                    node.partition.escape_debug()
                ));
            }
        }
        let masters = self.nodes.iter().filter(|node| node.master).count();
        if masters > 1 {
            problems.push(format!("{masters} nodes have master = true: at most one"));
        }
    }

    fn check_switches(&self, problems: &mut Vec<String>) {
        if self.switches.len() > SWITCHES_MAX {
            problems.push(format!("{} switches: at most {SWITCHES_MAX}", self.switches.len()));
        }
        let mut names = BTreeSet::new();
        for (index, switch) in self.switches.iter().enumerate() {
            let name = &switch.name;
            let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
            if !starts || name.len() > 31 || !name.chars().all(is_plain) {
                problems.push(format!(
                    "switch '{}': a name of at most 31 letters, digits, '-', '_' or '.' that \
                     starts with a letter is needed",
                    name.escape_debug()
                ));
            }
            if !names.insert(name) {
                problems.push(format!("switch {name}: twice in the topology; rename one"));
            }
            let taken = |slot| self.nodes.iter().any(|node| node.number.slot() == slot);
            if let Some(slot) = switch.slot.filter(|slot| taken(*slot)) {
                problems.push(format!("switch {name}: slot {slot} has a node; move one of them"));
            }
            if let Some(slot) = switch.slot
                && self.switches[..index].iter().any(|other| other.slot == Some(slot))
            {
                problems.push(format!("switch {name}: slot {slot} has another switch"));
            }
            if switch.lanes > SWITCH_LANES_MAX || switch.lanes == 0 {
                problems.push(format!(
                    "switch {name}: lanes = {}: 1 to {SWITCH_LANES_MAX}",
                    switch.lanes
                ));
            }
            self.check_budget(index, problems);
        }
    }

    /// Lanes and ports of a switch.
    fn check_budget(&self, index: usize, problems: &mut Vec<String>) {
        let switch = &self.switches[index];
        let links = self.links_at(FabricEnd::Switch(index));
        let (mut ports, mut lanes) = (0u32, 0u32);
        for (_, link) in links {
            ports = ports.saturating_add(1);
            lanes = lanes.saturating_add(u32::from(link.rate.width.lanes()));
        }
        if lanes > switch.lanes {
            problems.push(format!(
                "switch {}: its links need {lanes} lanes, it has {}: make links narrower or add a \
                 switch",
                switch.name, switch.lanes
            ));
        }
        if ports > switch.ports {
            problems.push(format!(
                "switch {}: {ports} links, it has {} ports: add a switch",
                switch.name, switch.ports
            ));
        }
    }

    fn check_links(&self, problems: &mut Vec<String>) {
        let mut seen = BTreeSet::new();
        // Sets of switches that cables connect, for the search of loops.
        let mut group: Vec<usize> = (0..self.switches.len()).collect();
        for link in &self.links {
            let [a, b] = link.ends;
            let names = format!("link {} - {}", self.end_name(a), self.end_name(b));
            for end in link.ends {
                let exists = match end {
                    FabricEnd::Node(number) => self.node(number).is_some(),
                    FabricEnd::Switch(index) => index < self.switches.len(),
                };
                if !exists {
                    problems
                        .push(format!("{names}: no such end; add it as [[node]] or [[switch]]"));
                }
            }
            if a == b {
                problems.push(format!("{names}: both ends are the same"));
            } else if !seen.insert((a.min(b), a.max(b))) {
                problems.push(format!("{names}: twice in the topology; use a wider link"));
            } else if let [FabricEnd::Switch(a), FabricEnd::Switch(b)] = link.ends {
                let (Some(&from), Some(&to)) = (group.get(a), group.get(b)) else { continue };
                if from == to {
                    problems.push(format!(
                        "{names}: closes a loop of switches, which PCIe does not allow: remove it"
                    ));
                }
                for member in &mut group {
                    if *member == from {
                        *member = to;
                    }
                }
            }
        }
    }
}

/// Characters of names.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}
