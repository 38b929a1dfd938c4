//! A switch between two links: node, link, switch, link, node.

use crate::pair::{Pair, drain, packet, push};
use spfe_link::network::{DiscardedPacket, RoutingSwitch, RoutingTable, SwitchPorts};
use spfe_link::spacewire::{DecodedCharacter, NChar, SpaceWirePort, SpaceWireState};

type Link = Pair<64, 64>;

/// The two link ends of the switch: port 1 and port 2.
struct Ends<'a> {
    ports: [&'a mut SpaceWirePort<64, 64>; 2],
    dropped: Vec<DiscardedPacket>,
}

impl SwitchPorts for Ends<'_> {
    type Unit = NChar;

    fn peek(&mut self, port: usize, _vc: usize) -> Option<NChar> {
        self.ports.get(port.wrapping_sub(1))?.front()
    }

    fn take(&mut self, port: usize, _vc: usize) {
        self.ports[port - 1].pop();
    }

    fn has_room(&mut self, port: usize, _vc: usize) -> bool {
        self.ports.get(port.wrapping_sub(1)).is_some_and(|port| port.push_room() > 0)
    }

    fn put(&mut self, port: usize, _vc: usize, n_char: NChar) {
        self.ports[port - 1].push(n_char);
    }

    fn is_running(&mut self, port: usize) -> bool {
        self.ports.get(port.wrapping_sub(1)).is_some_and(|port| port.state() == SpaceWireState::Run)
    }

    fn dropped(&mut self, dropped: DiscardedPacket) {
        self.dropped.push(dropped);
    }
}

/// Runs one step of both links and the switch. Returns what the far node received.
fn step(near: &mut Link, far: &mut Link, router: &mut RoutingSwitch<3, 1>) -> Vec<NChar> {
    near.step();
    far.step();
    let ports = [&mut near.sides[1].port, &mut far.sides[0].port];
    let mut ends = Ends { ports, dropped: Vec::new() };
    router.step(near.now_ns, &RoutingTable::<1>::new(), &mut ends);
    assert_eq!(ends.dropped, []);
    drain(&mut far.sides[1].port)
}

#[test]
fn packets_through_a_switch_and_a_link_that_fails() {
    let mut near = Link::new([100_000_000; 2]);
    let mut far = Link::new([20_000_000, 50_000_000]);
    let mut router = RoutingSwitch::<3, 1>::new();
    let mut got = Vec::new();
    for first in [10, 20, 30] {
        let mut data = [first; 40];
        data[0] = 2;
        push(&mut near.sides[0].port, &[NChar::Data(2)]);
        while !near.sides[0].port.push(NChar::Data(first)) {}
        for n_char in packet(&data[2..]) {
            while !near.sides[0].port.push(n_char) {
                got.extend(step(&mut near, &mut far, &mut router));
            }
        }
        if first == 20 {
            // In the middle of the second packet, at the pace of the far link.
            while got.len() < 60 {
                got.extend(step(&mut near, &mut far, &mut router));
            }
            let now_ns = far.now_ns;
            far.sides[1].port.receive(now_ns, DecodedCharacter::ParityError);
        }
    }
    for _ in 0..40_000 {
        got.extend(step(&mut near, &mut far, &mut router));
    }
    let packets: Vec<_> = got.split_inclusive(|n_char| n_char.is_end()).collect();
    assert_eq!(packets.len(), 3);
    assert_eq!(packets[0], packet(&[10; 39]));
    let (end, data) = packets[1].split_last().unwrap();
    assert_eq!(*end, NChar::Eep);
    assert!(data.len() < 39 && data.iter().all(|n_char| *n_char == NChar::Data(20)));
    assert_eq!(packets[2], packet(&[30; 39]));
    assert!(router.is_idle());
}
