//! Switches with their queues, joined by links that move one unit per step and virtual channel.

use spfe_link::network::{DiscardedPacket, PacketUnit, RoutingSwitch, RoutingTable, SwitchPorts};
use spfe_link::spacewire::NChar;
use std::collections::VecDeque;

/// The queues of one switch.
pub struct Queues<U> {
    pub room: usize,
    pub inputs: Vec<Vec<VecDeque<U>>>,
    pub outputs: Vec<Vec<VecDeque<U>>>,
    pub running: Vec<bool>,
    pub dropped: Vec<DiscardedPacket>,
}

impl<U: PacketUnit> SwitchPorts for Queues<U> {
    type Unit = U;

    fn peek(&mut self, port: usize, vc: usize) -> Option<U> {
        self.inputs[port][vc].front().copied()
    }

    fn take(&mut self, port: usize, vc: usize) {
        self.inputs[port][vc].pop_front().unwrap();
    }

    fn has_room(&mut self, port: usize, vc: usize) -> bool {
        self.outputs[port][vc].len() < self.room
    }

    fn put(&mut self, port: usize, vc: usize, unit: U) {
        assert!(self.has_room(port, vc));
        self.outputs[port][vc].push_back(unit);
    }

    fn is_running(&mut self, port: usize) -> bool {
        self.running[port]
    }

    fn dropped(&mut self, dropped: DiscardedPacket) {
        self.dropped.push(dropped);
    }
}

/// A switch with its table and queues.
pub struct Switch<U, const P: usize, const V: usize> {
    pub router: RoutingSwitch<P, V>,
    pub table: RoutingTable<2>,
    pub queues: Queues<U>,
}

impl<U: PacketUnit, const P: usize, const V: usize> Switch<U, P, V> {
    pub fn new(room: usize) -> Self {
        let queues = || (0..P).map(|_| (0..V).map(|_| VecDeque::new()).collect()).collect();
        Self {
            router: RoutingSwitch::new(),
            table: RoutingTable::new(),
            queues: Queues {
                room,
                inputs: queues(),
                outputs: queues(),
                running: vec![true; P],
                dropped: Vec::new(),
            },
        }
    }

    pub fn send(&mut self, port: usize, vc: usize, units: impl IntoIterator<Item = U>) {
        self.queues.inputs[port][vc].extend(units);
    }

    /// Takes everything out of an output queue.
    pub fn out(&mut self, port: usize, vc: usize) -> Vec<U> {
        self.queues.outputs[port][vc].drain(..).collect()
    }

    pub fn step(&mut self, now_ns: u64) -> usize {
        self.router.step(now_ns, &self.table, &mut self.queues)
    }

    /// Steps until nothing moves.
    pub fn settle(&mut self, now_ns: u64) {
        for _ in 0..100_000 {
            if self.step(now_ns) == 0 {
                return;
            }
        }
        panic!("does not settle");
    }
}

/// Switches and the links between them. Ports without a link are nodes; the fabric keeps what they
/// receive.
pub struct Fabric<U, const P: usize, const V: usize> {
    pub now_ns: u64,
    pub switches: Vec<Switch<U, P, V>>,
    /// Each link in both directions: from switch and port, to switch and port.
    pub links: Vec<[(usize, usize); 2]>,
    /// What the nodes received, per switch, port and virtual channel.
    pub got: Vec<Vec<Vec<Vec<U>>>>,
    pub room: usize,
    /// Virtual channel from which nodes take nothing.
    pub blocked_vc: Option<usize>,
}

impl<U: PacketUnit, const P: usize, const V: usize> Fabric<U, P, V> {
    pub fn new(switches: usize, room: usize) -> Self {
        Self {
            now_ns: 0,
            switches: (0..switches).map(|_| Switch::new(room)).collect(),
            links: Vec::new(),
            got: vec![vec![vec![Vec::new(); V]; P]; switches],
            room,
            blocked_vc: None,
        }
    }

    pub fn join(&mut self, one: (usize, usize), other: (usize, usize)) {
        self.links.push([one, other]);
        self.links.push([other, one]);
    }

    pub fn is_link(&self, switch: usize, port: usize) -> bool {
        self.links.iter().any(|[from, _]| *from == (switch, port))
    }

    /// Runs one step of 10 ns. Returns whether anything moved.
    pub fn step(&mut self) -> bool {
        let mut moved = false;
        for switch in &mut self.switches {
            moved |= switch.step(self.now_ns) != 0;
        }
        for [from, to] in self.links.clone() {
            for vc in 0..V {
                if self.switches[to.0].queues.inputs[to.1][vc].len() < self.room {
                    let unit = self.switches[from.0].queues.outputs[from.1][vc].pop_front();
                    moved |= unit.is_some();
                    self.switches[to.0].queues.inputs[to.1][vc].extend(unit);
                }
            }
        }
        for switch in 0..self.switches.len() {
            for port in 0..P {
                if self.is_link(switch, port) {
                    continue;
                }
                for vc in (0..V).filter(|vc| self.blocked_vc != Some(*vc)) {
                    let units = self.switches[switch].out(port, vc);
                    moved |= !units.is_empty();
                    self.got[switch][port][vc].extend(units);
                }
            }
        }
        self.now_ns += 10;
        moved
    }

    /// Steps until nothing has moved for longer than any time-out of the tests.
    pub fn settle(&mut self) {
        let mut still = 0;
        for _ in 0..1_000_000 {
            still = if self.step() { 0 } else { still + 1 };
            if still > 200 {
                return;
            }
        }
        panic!("does not settle");
    }

    pub fn is_idle(&self) -> bool {
        self.switches.iter().all(|switch| {
            switch.router.is_idle() && switch.queues.inputs.iter().flatten().all(VecDeque::is_empty)
        })
    }

    pub fn dropped(&self) -> Vec<DiscardedPacket> {
        self.switches.iter().flat_map(|switch| switch.queues.dropped.iter().copied()).collect()
    }
}

pub fn packet(data: &[u8]) -> Vec<NChar> {
    data.iter().map(|byte| NChar::Data(*byte)).chain([NChar::Eop]).collect()
}
