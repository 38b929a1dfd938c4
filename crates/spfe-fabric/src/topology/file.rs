//! Topologies as TOML.

use super::{
    Cpu, FabricEnd, FabricLink, FabricNode, FabricSwitch, FabricTopology, LinkWidth, MTU_DEFAULT,
    NodeNumber, PcieGeneration, PcieRate, RING_DEFAULT, RateLimit, SLOT_MAX, TopologyError,
    WINDOW_DEFAULT,
};
use serde::Deserialize;
use spfe_topology::units;
use std::fmt::Write;

/// Longest topology, bytes.
const FILE_MAX: usize = 1 << 20;
/// Most tables of one kind that are looked at.
const TABLES_MAX: usize = 4096;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    fabric: FabricTable,
    #[serde(default)]
    node: Vec<NodeTable>,
    #[serde(default)]
    switch: Vec<SwitchTable>,
    #[serde(default)]
    link: Vec<LinkTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FabricTable {
    name: String,
    #[serde(default)]
    id: u8,
    mtu: Option<u32>,
    ring: Option<String>,
    window: Option<String>,
    #[serde(default)]
    rate: RateLimit,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeTable {
    slot: u8,
    #[serde(default = "first")]
    cpu: Cpu,
    #[serde(default)]
    master: bool,
    #[serde(default)]
    partition: String,
    /// Abilities of the node's ports, the upper limit of its links.
    #[serde(rename = "gen")]
    generation: Option<u8>,
    width: Option<u8>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SwitchTable {
    name: String,
    slot: Option<u8>,
    #[serde(default = "lanes")]
    lanes: u32,
    #[serde(default = "ports")]
    ports: u32,
    /// Abilities of its ports.
    #[serde(rename = "gen")]
    generation: Option<u8>,
    /// With a width, every node gets a link to this switch.
    width: Option<u8>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkTable {
    a: String,
    b: String,
    #[serde(rename = "gen")]
    generation: Option<u8>,
    width: u8,
    #[serde(default)]
    cable: bool,
}

fn first() -> Cpu {
    Cpu::A
}

fn lanes() -> u32 {
    32
}

fn ports() -> u32 {
    24
}

impl FabricTopology {
    /// Reads a topology and checks it.
    ///
    /// # Errors
    /// The place and reason of an error of syntax, or every problem that the checker finds.
    pub fn parse(text: &str) -> Result<Self, TopologyError> {
        if text.len() > FILE_MAX {
            let what = format!("topology of {} bytes: at most {FILE_MAX}", text.len());
            return Err(TopologyError::one(what));
        }
        let file: File = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| {
                let end = span.start.min(text.len());
                1 + text.as_bytes()[..end].iter().filter(|byte| **byte == b'\n').count()
            });
            let place = line.map_or(String::new(), |line| format!("line {line}: "));
            TopologyError::one(format!("{place}{}", error.message()))
        })?;
        Reader { problems: Vec::new() }.read(file)
    }

    /// Writes the topology so that [`FabricTopology::parse`] reads the same.
    pub fn to_toml(&self) -> String {
        let limit = match self.limit {
            RateLimit::Unlimited => "unlimited",
            RateLimit::Pcie => "pcie",
        };
        let mut out = format!(
            "[fabric]\nname = \"{}\"\nid = {}\nmtu = {}\nring = \"{}\"\nwindow = \"{}\"\n\
             rate = \"{limit}\"\n",
            self.name, self.id, self.mtu, self.ring, self.window
        );
        for node in &self.nodes {
            let (slot, cpu) = (node.number.slot(), node.number.cpu());
            let _ = write!(out, "\n[[node]]\nslot = {slot}\ncpu = \"{cpu}\"\n");
            if node.master {
                out.push_str("master = true\n");
            }
            if !node.partition.is_empty() {
                let _ = writeln!(out, "partition = \"{}\"", node.partition);
            }
        }
        for switch in &self.switches {
            let _ = write!(out, "\n[[switch]]\nname = \"{}\"\n", switch.name);
            if let Some(slot) = switch.slot {
                let _ = writeln!(out, "slot = {slot}");
            }
            let _ = write!(out, "lanes = {}\nports = {}\n", switch.lanes, switch.ports);
        }
        for link in &self.links {
            let [a, b] = link.ends.map(|end| self.end_name(end));
            let rate = link.rate;
            let (generation, lanes) = (rate.generation.number(), rate.width.lanes());
            let _ = write!(
                out,
                "\n[[link]]\na = \"{a}\"\nb = \"{b}\"\ngen = {generation}\nwidth = {lanes}\n"
            );
            if link.cable {
                out.push_str("cable = true\n");
            }
        }
        out
    }
}

/// Abilities of an end: generation and width, if limited.
type Ability = (Option<u8>, Option<u8>);

struct Reader {
    problems: Vec<String>,
}

impl Reader {
    fn read(mut self, file: File) -> Result<FabricTopology, TopologyError> {
        for (kind, count) in
            [("node", file.node.len()), ("switch", file.switch.len()), ("link", file.link.len())]
        {
            if count > TABLES_MAX {
                let what = format!("{count} tables [[{kind}]]: at most {TABLES_MAX}");
                return Err(TopologyError::one(what));
            }
        }
        let ring = self.size("ring", file.fabric.ring.as_deref(), RING_DEFAULT);
        let window = self.size("window", file.fabric.window.as_deref(), WINDOW_DEFAULT);
        let mut topology = FabricTopology {
            name: file.fabric.name,
            id: file.fabric.id,
            mtu: file.fabric.mtu.unwrap_or(MTU_DEFAULT),
            ring,
            window,
            limit: file.fabric.rate,
            nodes: Vec::new(),
            switches: Vec::new(),
            links: Vec::new(),
        };
        let mut nodes: Vec<(NodeNumber, Ability)> = Vec::new();
        for node in file.node {
            if !(1..=SLOT_MAX).contains(&node.slot) {
                self.problems.push(format!("[[node]] slot = {}: 1 to {SLOT_MAX}", node.slot));
                continue;
            }
            let number = NodeNumber::of(node.slot, node.cpu);
            nodes.push((number, (node.generation, node.width)));
            let (master, partition) = (node.master, node.partition);
            topology.nodes.push(FabricNode { number, master, partition });
        }
        topology.nodes.sort_by_key(|node| node.number);
        let mut switches = Vec::new();
        for switch in file.switch {
            switches.push((switch.generation, switch.width));
            let (name, slot, lanes, ports) = (switch.name, switch.slot, switch.lanes, switch.ports);
            topology.switches.push(FabricSwitch { name, slot, lanes, ports });
        }
        self.links(&mut topology, &file.link, &nodes, &switches);
        if let Err(found) = topology.check() {
            self.problems.extend(found.problems);
        }
        let problems = self.problems;
        if problems.is_empty() { Ok(topology) } else { Err(TopologyError { problems }) }
    }

    fn size(&mut self, what: &str, text: Option<&str>, default: u64) -> u64 {
        let Some(text) = text else { return default };
        units::size(text).unwrap_or_else(|error| {
            self.problems.push(format!("{what} = {error}"));
            default
        })
    }

    fn links(
        &mut self,
        topology: &mut FabricTopology,
        tables: &[LinkTable],
        nodes: &[(NodeNumber, Ability)],
        switches: &[Ability],
    ) {
        let ability = |end: FabricEnd| match end {
            FabricEnd::Node(number) => {
                nodes.iter().find(|(node, _)| *node == number).map_or((None, None), |(_, can)| *can)
            }
            FabricEnd::Switch(index) => {
                (switches.get(index).and_then(|(generation, _)| *generation), None)
            }
        };
        for table in tables {
            let ends = [self.end(topology, &table.a), self.end(topology, &table.b)];
            let [Some(a), Some(b)] = ends else { continue };
            let own = (table.generation, Some(table.width));
            if let Some(rate) = self.rate(&[own, ability(a), ability(b)]) {
                topology.links.push(FabricLink { ends: [a, b], rate, cable: table.cable });
            }
        }
        for (index, (generation, width)) in switches.iter().enumerate() {
            if width.is_none() {
                continue;
            }
            for (number, can) in nodes {
                if let Some(rate) = self.rate(&[(*generation, *width), *can]) {
                    let ends = [FabricEnd::Node(*number), FabricEnd::Switch(index)];
                    topology.links.push(FabricLink { ends, rate, cable: false });
                }
            }
        }
    }

    /// What ends with these abilities agree on.
    fn rate(&mut self, abilities: &[Ability]) -> Option<PcieRate> {
        let lowest = |values: Vec<u8>| values.into_iter().min();
        let generation = lowest(abilities.iter().filter_map(|(number, _)| *number).collect());
        let lanes = lowest(abilities.iter().filter_map(|(_, lanes)| *lanes).collect());
        let generation = PcieGeneration::new(generation.unwrap_or(PcieGeneration::THIRD.number()));
        let width = LinkWidth::new(lanes.unwrap_or(1));
        match (generation, width) {
            (Ok(generation), Ok(width)) => Some(PcieRate { generation, width }),
            (generation, width) => {
                self.problems.extend(generation.err());
                self.problems.extend(width.err());
                None
            }
        }
    }

    /// An end by its name: slot and CPU, or a switch.
    fn end(&mut self, topology: &FabricTopology, name: &str) -> Option<FabricEnd> {
        if let Some(index) = topology.switches.iter().position(|switch| switch.name == name) {
            return Some(FabricEnd::Switch(index));
        }
        let found = NodeNumber::from_name(name).map(FabricEnd::Node);
        if found.is_none() {
            self.problems.push(format!(
                "[[link]] end '{}': neither a node such as 4A nor the name of a switch",
                name.escape_debug()
            ));
        }
        found
    }
}

impl NodeNumber {
    /// Reads a node's name: slot and CPU, as in `4A`; without CPU it is A.
    pub fn from_name(name: &str) -> Option<Self> {
        let (cpu, slot) = match name.strip_suffix('B') {
            Some(slot) => (Cpu::B, slot),
            None => (Cpu::A, name.strip_suffix('A').unwrap_or(name)),
        };
        let slot: u8 = slot.parse().ok()?;
        (1..=SLOT_MAX).contains(&slot).then(|| Self::of(slot, cpu))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAR: &str = "[fabric]\nname = \"t\"\n[[node]]\nslot = 1\nmaster = true\n[[node]]\nslot = 2\n\
        gen = 1\n[[node]]\nslot = 2\ncpu = \"B\"\nwidth = 2\n[[switch]]\nname = \"s\"\nslot = 7\ngen = 2\n\
        width = 4\n";

    fn problems(text: &str) -> String {
        FabricTopology::parse(text).expect_err("unsound").to_string()
    }

    #[test]
    fn mixed_generations_and_widths_are_negotiated() {
        let star = FabricTopology::parse(STAR).unwrap();
        let rates: Vec<_> = star.links.iter().map(|link| link.rate.to_string()).collect();
        assert_eq!(rates, ["gen2 x4", "gen1 x4", "gen2 x2"]);
        let path = star.path(NodeNumber(3), NodeNumber(4)).unwrap();
        assert_eq!(path.rate.to_string(), "gen1 x4", "1.0 GB/s each; the first one counts");
        assert_eq!(star.mac(NodeNumber(4)), [2, 0x56, 0x58, 0, 2, 4]);
    }

    #[test]
    fn a_path_over_a_cable_has_three_links() {
        let text = STAR.to_owned()
            + "[[switch]]\nname = \"far\"\n[[node]]\nslot = 9\n\
               [[link]]\na = \"s\"\nb = \"far\"\nwidth = 4\ncable = true\n\
               [[link]]\na = \"9A\"\nb = \"far\"\nwidth = 8\n";
        // The short form links every node to the switch s, so node 9A has two ways.
        let fabric = FabricTopology::parse(&text).unwrap();
        assert_eq!(fabric.path(NodeNumber(1), NodeNumber(17)).unwrap().links.len(), 2);
        let direct = |link: usize| {
            fabric.links[link].ends[0] == FabricEnd::Node(NodeNumber(17))
                && fabric.links[link].ends[1] == FabricEnd::Switch(0)
        };
        let path = fabric.path_without(NodeNumber(1), NodeNumber(17), direct).unwrap();
        assert_eq!(path.links.len(), 3);
        assert!(path.links.iter().any(|link| fabric.links[*link].cable));
    }

    #[test]
    fn errors_name_object_value_and_limit() {
        assert!(problems("[fabric]\nname = 3\n").starts_with("line 2: "));
        assert!(problems("[fabric]\nname = \"t\"\n").contains("no node"));
        assert!(problems(&(STAR.to_owned() + "[[node]]\nslot = 1\n")).contains("node 1A: twice"));
        assert!(
            problems(&(STAR.to_owned() + "[[node]]\nslot = 33\n")).contains("slot = 33: 1 to 32")
        );
        assert!(
            problems(&(STAR.to_owned() + "[[node]]\nslot = 7\n")).contains("slot 7 has a node")
        );
        assert!(problems(&STAR.replace("gen = 2", "gen = 9")).contains("use 1 to 5"));
        assert!(problems(&STAR.replace("width = 4", "width = 3")).contains("1, 2, 4, 8"));
        assert!(
            problems(&STAR.replace("name = \"t\"", "name = \"t\"\nring = \"3M\""))
                .contains("power of two")
        );
        assert!(
            problems(&STAR.replace("name = \"t\"", "name = \"t\"\nmtu = 70000")).contains("65500")
        );
        assert!(
            problems(&STAR.replace("slot = 7", "slot = 7\nlanes = 8"))
                .contains("need 10 lanes, it has 8")
        );
        assert!(
            problems(&STAR.replace("slot = 7", "slot = 7\nports = 2")).contains("it has 2 ports")
        );
        let link = "[[link]]\na = \"1A\"\nb = \"5A\"\nwidth = 1\n";
        assert!(problems(&(STAR.to_owned() + link)).contains("link 1A - 5A: no such end"));
        let link = "[[link]]\na = \"1A\"\nb = \"nowhere\"\nwidth = 1\n";
        assert!(problems(&(STAR.to_owned() + link)).contains("'nowhere'"));
    }

    #[test]
    fn loops_of_switches_are_refused() {
        let mut text = "[fabric]\nname = \"t\"\n[[node]]\nslot = 1\n".to_owned();
        for name in ["a", "b", "c"] {
            text += &format!("[[switch]]\nname = \"{name}\"\n");
        }
        for (a, b) in [("a", "b"), ("b", "c")] {
            text += &format!("[[link]]\na = \"{a}\"\nb = \"{b}\"\nwidth = 4\n");
        }
        assert!(FabricTopology::parse(&text).is_ok());
        text += "[[link]]\na = \"c\"\nb = \"a\"\nwidth = 4\n";
        assert!(problems(&text).contains("link c - a: closes a loop"));
    }
}
