//! Random networks: every packet arrives or is reported, nothing panics, trees never block.

use crate::fabric::{Fabric, Switch, packet};
use proptest::prelude::*;
use spfe_link::Word;
use spfe_link::network::RoutingEntry;
use spfe_link::network::router::SwitchPortConfig;
use spfe_link::spacewire::NChar;

const P: usize = 6;

/// Switches joined to a tree: each one but the first is connected to a port of an earlier one.
fn tree<const V: usize>(parents: &[usize], room: usize) -> Fabric<NChar, P, V> {
    let mut fabric = Fabric::new(parents.len() + 1, room);
    for (child, parent) in parents.iter().enumerate() {
        let mut parent = parent % (child + 1);
        // Port 5 always leads to a node.
        let port = loop {
            match (2..5).find(|port| !fabric.is_link(parent, *port)) {
                Some(port) => break port,
                None => parent = (parent + 1) % (child + 1),
            }
        };
        fabric.join((parent, port), (child + 1, 1));
    }
    fabric
}

/// Path address from a switch to the node at port 5 of another.
fn path<const V: usize>(fabric: &Fabric<NChar, P, V>, from: usize, to: usize) -> Vec<u8> {
    let mut reached = vec![(from, vec![])];
    let mut at = 0;
    while let Some((switch, path)) = reached.get(at).cloned() {
        if switch == to {
            return [path, vec![5]].concat();
        }
        for [one, other] in &fabric.links {
            if one.0 == switch && !reached.iter().any(|(seen, _)| *seen == other.0) {
                reached.push((other.0, [path.clone(), vec![one.1 as u8]].concat()));
            }
        }
        at += 1;
    }
    panic!("no path");
}

/// Numbers of the packets that arrived complete.
fn whole<const V: usize>(fabric: &Fabric<NChar, P, V>) -> Vec<u8> {
    let mut numbers = Vec::new();
    for n_chars in fabric.got.iter().flatten().flatten() {
        for packet in n_chars.split_inclusive(|n_char| n_char.is_end()) {
            if let [.., NChar::Data(number), NChar::Eop] = packet {
                numbers.push(*number);
            }
        }
    }
    numbers.sort_unstable();
    numbers
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..Default::default() }
}

proptest! {
    #![proptest_config(config(48))]

    /// No time-outs here: on a tree each packet arrives.
    #[test]
    fn trees_never_block(
        parents in prop::collection::vec(any::<usize>(), 0..6),
        packets in prop::collection::vec((any::<usize>(), any::<usize>(), 1usize..40), 1..60),
        room in 1usize..5,
    ) {
        let mut fabric = tree::<1>(&parents, room);
        let count = fabric.switches.len();
        for (number, (from, to, length)) in packets.iter().enumerate() {
            let (from, to) = (from % count, to % count);
            let mut data = path(&fabric, from, to);
            data.extend(vec![number as u8; *length]);
            fabric.switches[from].send(5, 0, packet(&data));
        }
        fabric.settle();
        prop_assert!(fabric.is_idle());
        prop_assert_eq!(fabric.dropped(), []);
        prop_assert_eq!(whole(&fabric), (0..packets.len() as u8).collect::<Vec<_>>());
    }

    /// Virtual network 0 is blocked everywhere. On another one, over the same links, each packet
    /// arrives in the same number of steps as without the first.
    #[test]
    fn virtual_networks_are_independent(
        parents in prop::collection::vec(any::<usize>(), 0..5),
        packets in prop::collection::vec((any::<usize>(), any::<usize>(), 1usize..30), 1..40),
        room in 1usize..4,
    ) {
        let mut steps = Vec::new();
        for with_other in [false, true] {
            let mut fabric = tree::<2>(&parents, room);
            let count = fabric.switches.len();
            fabric.blocked_vc = Some(0);
            for switch in &mut fabric.switches {
                (0..P).for_each(|port| switch.router.map(port, 1, Some(5)).unwrap());
            }
            for (number, (from, to, length)) in packets.iter().enumerate() {
                let mut data = path(&fabric, from % count, to % count);
                data.extend(vec![number as u8; *length]);
                fabric.switches[from % count].send(5, 1, packet(&data));
                if with_other {
                    let mut data = path(&fabric, to % count, from % count);
                    data.extend([0; 30]);
                    fabric.switches[to % count].send(5, 0, packet(&data));
                }
            }
            while whole(&fabric).len() < packets.len() {
                fabric.step();
                prop_assert!(fabric.now_ns < 1_000_000);
            }
            steps.push(fabric.now_ns);
            fabric.settle();
            prop_assert_eq!(fabric.is_idle(), !with_other);
        }
        prop_assert_eq!(steps[0], steps[1]);
    }

    /// Any links, loops included, any addresses and tables, packets without an end, and links that
    /// are down: with time-outs everything comes to an end, and each packet arrives or is reported.
    #[test]
    fn arrived_or_reported(
        links in prop::collection::vec((0usize..4, 1usize..P, 0usize..4, 1usize..P), 0..8),
        entries in prop::collection::vec((0usize..4, 32u8..40, 1u32..32, 0u8..8), 0..20),
        packets in prop::collection::vec(
            (0usize..4, prop::collection::vec(prop_oneof![0u8..8, 32u8..40], 0..6), 1usize..20),
            1..60,
        ),
        stopped in prop::option::of((0usize..4, 0usize..P)),
        room in 1usize..5,
    ) {
        let mut fabric = Fabric::<NChar, P, 1>::new(4, room);
        for (one, port, other, far_port) in links {
            let apart = (one, port) != (other, far_port);
            if apart && !fabric.is_link(one, port) && !fabric.is_link(other, far_port) {
                fabric.join((one, port), (other, far_port));
            }
        }
        let limits = SwitchPortConfig {
            packet_timeout_ns: Some(500),
            wait_timeout_ns: Some(1_000),
            priority: false,
        };
        for switch in &mut fabric.switches {
            (0..P).for_each(|port| assert!(switch.router.set(port, limits)));
        }
        for (switch, address, ports, kind) in entries {
            let entry = RoutingEntry {
                ports: ports << 1,
                // Copies would arrive more than once: see the next test.
                multicast: false,
                delete: kind & 2 != 0,
                priority: kind & 4 != 0,
            };
            fabric.switches[switch].table.set(0, address, Some(entry)).unwrap();
        }
        if let Some((switch, port)) = stopped {
            fabric.switches[switch].queues.running[port] = false;
        }
        for (number, (from, addresses, length)) in packets.iter().enumerate() {
            let mut data = addresses.clone();
            data.extend(vec![number as u8 + 100; *length]);
            fabric.switches[*from].send(5, 0, packet(&data));
        }
        // A logical address that is never deleted can circulate in a loop of switches. A long
        // packet is then cut because its head waits for its own tail; a short one circulates for
        // ever. The test gives up on such fabrics after a bounded time.
        let mut still = 0;
        let mut steps = 0;
        while still <= 200 && steps < 20_000 {
            still = if fabric.step() { 0 } else { still + 1 };
            steps += 1;
        }
        prop_assume!(still > 200);
        prop_assert!(fabric.is_idle());
        let arrived = whole(&fabric);
        let mut once = arrived.clone();
        once.dedup();
        prop_assert_eq!(once.len(), arrived.len(), "none twice");
        let missing = packets.len() - arrived.len();
        prop_assert!(fabric.dropped().len() >= missing);
        if fabric.dropped().is_empty() {
            prop_assert_eq!(missing, 0);
        }
    }

    /// One switch with any words and settings on two virtual networks: no panic, and the outputs
    /// are well formed.
    #[test]
    fn random_words(
        words in prop::collection::vec((1usize..4, 0usize..3, any::<[u8; 4]>(), 0u8..32), 0..300),
        entries in prop::collection::vec((0u8..2, 32u8..=254, 1u32..8, any::<bool>()), 0..40),
        room in 1usize..4,
    ) {
        let mut switch = Switch::<Word, 4, 3>::new(room);
        for port in 0..4 {
            switch.router.map(port, 1, Some(40)).unwrap();
            switch.router.map(port, 2, (port != 2).then_some(7)).unwrap();
            switch.router.set(port, SwitchPortConfig {
                packet_timeout_ns: Some(300),
                wait_timeout_ns: Some(700),
                priority: port == 1,
            });
        }
        switch.table.use_table(40, 1).unwrap();
        for (table, address, ports, multicast) in entries {
            let entry = RoutingEntry { multicast, ..RoutingEntry::any_of(ports << 1) };
            switch.table.set(table, address, Some(entry)).unwrap();
        }
        let mut now_ns = 0;
        for (port, vc, mut symbols, k) in words {
            // Often a valid end, often a low address.
            if k & 16 != 0 {
                symbols[0] &= 0x3f;
            }
            if k & 3 == 3 {
                symbols[3] = 0xfd;
            }
            let k = match (k & 3, k & 4) {
                (3, _) => 8,
                (_, 4) => k & 15,
                _ => 0,
            };
            switch.send(port, vc, [Word::from_symbols(symbols, k)]);
            switch.step(now_ns);
            now_ns += 50;
            switch.out(usize::from(k) % 4, vc);
        }
        for _ in 0..2_000 {
            for port in 0..4 {
                for vc in 0..3 {
                    switch.out(port, vc);
                }
            }
            switch.step(now_ns);
            now_ns += 50;
        }
        prop_assert!(switch.queues.inputs.iter().flatten().all(|queue| queue.is_empty()));
        // A packet without an end was cut; only the rest of it is still expected.
        prop_assert_eq!(switch.router.deadline_ns(), None);
    }

    /// Crossing multicasts can block each other; time-outs end that, and every copy has an end.
    #[test]
    fn multicasts_come_to_an_end(
        sets in prop::collection::vec((0usize..3, 1u32..32), 3..12),
        packets in prop::collection::vec((0usize..3, 0usize..12, 1usize..30), 1..40),
        room in 1usize..4,
    ) {
        // A line of three switches; each set is a table entry of one of them.
        let mut fabric = Fabric::<NChar, P, 1>::new(3, room);
        fabric.join((0, 2), (1, 1));
        fabric.join((1, 2), (2, 1));
        for switch in &mut fabric.switches {
            for port in 0..P {
                switch.router.set(port, SwitchPortConfig {
                    packet_timeout_ns: Some(500),
                    wait_timeout_ns: Some(1_500),
                    priority: false,
                });
            }
        }
        for (index, (switch, ports)) in sets.iter().enumerate() {
            let entry = RoutingEntry::each_of(ports << 1).deleting();
            fabric.switches[*switch].table.set(0, 32 + index as u8, Some(entry)).unwrap();
        }
        for (from, set, length) in &packets {
            let set = set % sets.len();
            let mut data = vec![32 + set as u8, 32 + ((set + 1) % sets.len()) as u8, 5];
            data.extend(vec![5; *length]);
            fabric.switches[*from].send(3 + set % 3, 0, packet(&data));
        }
        fabric.settle();
        prop_assert!(fabric.is_idle());
        for n_chars in fabric.got.iter().flatten().flatten() {
            prop_assert!(n_chars.last().is_none_or(|last| last.is_end()));
        }
    }
}
