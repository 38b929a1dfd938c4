//! The usual backplanes.

use super::{
    Cpu, FabricEnd, FabricLink, FabricNode, FabricSwitch, FabricTopology, LinkWidth, MTU_DEFAULT,
    NodeNumber, PcieGeneration, PcieRate, RING_DEFAULT, RateLimit, WINDOW_DEFAULT,
};

/// A topology by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Name.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
}

/// Every preset.
pub const PRESETS: &[Preset] = &[
    Preset { name: "dist2-x8", about: "2 slots, one link of 8 lanes" },
    Preset { name: "dist3-x8", about: "3 slots, a link of 8 lanes between each two" },
    Preset { name: "dist5-x1", about: "slot 1 with a link of one lane to each of 4 payloads" },
    Preset { name: "star6-x4", about: "6 slots with 4 lanes each to the switch in slot 7" },
    Preset {
        name: "star12-x2",
        about: "12 CPUs on 6 boards, 2 lanes each to the switch in slot 7",
    },
    Preset { name: "dual6-x4", about: "6 slots with 4 lanes each to two switches" },
    Preset { name: "star64-x1", about: "64 CPUs on 32 boards, one lane each to a large switch" },
];

/// Lanes and ports of the switch of a 3U chassis.
const SWITCH: (u32, u32) = (32, 24);

impl FabricTopology {
    /// The preset with this name.
    pub fn preset(name: &str) -> Option<Self> {
        let third = PcieGeneration::THIRD;
        let second = PcieGeneration::new(2).ok()?;
        Some(match name {
            "dist2-x8" => distributed(name, 2, false, third, 8),
            "dist3-x8" => distributed(name, 3, false, third, 8),
            "dist5-x1" => distributed(name, 5, true, second, 1),
            "star6-x4" => star(name, &slots(6, &[Cpu::A]), &[7], SWITCH, (second, 4)),
            "star12-x2" => star(name, &slots(6, &[Cpu::A, Cpu::B]), &[7], SWITCH, (second, 2)),
            "dual6-x4" => star(name, &slots(6, &[Cpu::A]), &[7, 8], SWITCH, (second, 4)),
            "star64-x1" => star(name, &slots(32, &[Cpu::A, Cpu::B]), &[33], (64, 64), (third, 1)),
            _ => return None,
        })
    }
}

fn slots(last: u8, cpus: &[Cpu]) -> Vec<NodeNumber> {
    (1..=last).flat_map(|slot| cpus.iter().map(move |cpu| NodeNumber::of(slot, *cpu))).collect()
}

fn empty(name: &str, numbers: &[NodeNumber]) -> FabricTopology {
    let nodes = numbers.iter().enumerate().map(|(index, number)| FabricNode {
        number: *number,
        master: index == 0,
        partition: String::new(),
    });
    FabricTopology {
        name: name.to_owned(),
        id: 0,
        mtu: MTU_DEFAULT,
        ring: RING_DEFAULT,
        window: WINDOW_DEFAULT,
        limit: RateLimit::Unlimited,
        nodes: nodes.collect(),
        switches: Vec::new(),
        links: Vec::new(),
    }
}

/// Links between slots without a switch: between each two, or from the first one only.
fn distributed(
    name: &str,
    last: u8,
    from_first: bool,
    generation: PcieGeneration,
    lanes: u8,
) -> FabricTopology {
    let numbers = slots(last, &[Cpu::A]);
    let mut topology = empty(name, &numbers);
    let width = LinkWidth::new(lanes).unwrap_or(LinkWidth::ONE);
    for (index, a) in numbers.iter().enumerate() {
        for b in numbers.iter().skip(index + 1) {
            if index == 0 || !from_first {
                let ends = [FabricEnd::Node(*a), FabricEnd::Node(*b)];
                let rate = PcieRate { generation, width };
                topology.links.push(FabricLink { ends, rate, cable: false });
            }
        }
    }
    topology
}

/// Every node linked to every switch.
fn star(
    name: &str,
    numbers: &[NodeNumber],
    slots: &[u8],
    (lanes, ports): (u32, u32),
    (generation, width): (PcieGeneration, u8),
) -> FabricTopology {
    let mut topology = empty(name, numbers);
    let width = LinkWidth::new(width).unwrap_or(LinkWidth::ONE);
    for (index, slot) in slots.iter().enumerate() {
        let name = format!("switch{}", index + 1);
        topology.switches.push(FabricSwitch { name, slot: Some(*slot), lanes, ports });
        for number in numbers {
            let ends = [FabricEnd::Node(*number), FabricEnd::Switch(index)];
            let rate = PcieRate { generation, width };
            topology.links.push(FabricLink { ends, rate, cable: false });
        }
    }
    topology
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_sound_and_survives_its_file() {
        for preset in PRESETS {
            let topology = FabricTopology::preset(preset.name).unwrap();
            topology.check().unwrap_or_else(|error| panic!("{}: {error}", preset.name));
            let again = FabricTopology::parse(&topology.to_toml());
            assert_eq!(again.as_ref(), Ok(&topology), "{}", preset.name);
        }
        assert!(FabricTopology::preset("ring4").is_none());
    }

    #[test]
    fn the_star_of_twelve_is_a_full_mesh() {
        let star = FabricTopology::preset("star12-x2").unwrap();
        let numbers: Vec<_> = star.nodes.iter().map(|node| node.number).collect();
        assert_eq!(
            numbers.iter().map(|number| number.0).collect::<Vec<_>>(),
            (1..=12).collect::<Vec<_>>()
        );
        let mut pairs = 0;
        for from in &numbers {
            for to in numbers.iter().filter(|to| *to != from) {
                assert_eq!(star.path(*from, *to).unwrap().links.len(), 2);
                pairs += 1;
            }
        }
        assert_eq!(pairs, 132);
        assert!(star.path(numbers[0], numbers[0]).is_none());
    }

    #[test]
    fn payloads_of_a_root_do_not_see_each_other() {
        let root = FabricTopology::preset("dist5-x1").unwrap();
        let at = |slot| NodeNumber::of(slot, Cpu::A);
        assert_eq!(root.path(at(1), at(4)).unwrap().links.len(), 1);
        assert!(root.path(at(2), at(3)).is_none(), "nodes forward nothing");
    }

    #[test]
    fn two_switches_share_the_pairs_and_replace_each_other() {
        let dual = FabricTopology::preset("dual6-x4").unwrap();
        let at = |slot| NodeNumber::of(slot, Cpu::A);
        let through = |a, b, down: Option<usize>| {
            let is_down = |link: usize| {
                down.is_some_and(|down| dual.links[link].ends[1] == FabricEnd::Switch(down))
            };
            let path = dual.path_without(at(a), at(b), is_down).unwrap();
            dual.links[path.links[0]].ends[1]
        };
        let used: Vec<_> = (2..=6).map(|slot| through(1, slot, None)).collect();
        for switch in 0..2 {
            assert!(used.contains(&FabricEnd::Switch(switch)), "{used:?}");
        }
        for failed in 0..2 {
            assert_eq!(through(1, 2, Some(failed)), FabricEnd::Switch(1 - failed));
            assert_eq!(through(2, 1, None), through(1, 2, None), "same way back");
        }
    }
}
