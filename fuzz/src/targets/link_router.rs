//! A switch: any units at any ports, any table and settings. Everything is counted once, packets do
//! not mix, and with time-outs nothing stays for ever.

use arbitrary::Arbitrary;
use spfe_link::network::router::SwitchPortConfig;
use spfe_link::network::{DiscardedPacket, RoutingEntry, RoutingSwitch, RoutingTable, SwitchPorts};
use spfe_link::spacewire::NChar;
use std::collections::VecDeque;

const PORTS: usize = 5;
const VCS: usize = 3;
const LIMIT_NS: u64 = 500;

#[derive(Arbitrary, Debug)]
enum Step {
    Send(u8, u8, Vec<u8>, bool, bool),
    Run(u8, u16),
    Take(u8, u8, u8),
    Table(u8, u32, bool, bool, bool),
    Remove(u8),
    Map(u8, u8, Option<u8>),
    Settings(u8, Option<u16>, Option<u16>, bool),
    Running(u8),
}

/// The queues, and what goes through them.
struct Queues {
    inputs: [[VecDeque<NChar>; VCS]; PORTS],
    outputs: [[VecDeque<NChar>; VCS]; PORTS],
    running: u8,
    given: [u64; PORTS],
    put: [u64; PORTS],
    dropped: [u64; PORTS],
}

impl SwitchPorts for Queues {
    type Unit = NChar;

    fn peek(&mut self, port: usize, vc: usize) -> Option<NChar> {
        self.inputs[port][vc].front().copied()
    }

    fn take(&mut self, port: usize, vc: usize) {
        self.inputs[port][vc].pop_front().expect("only what was peeked is taken");
    }

    fn has_room(&mut self, port: usize, vc: usize) -> bool {
        self.outputs[port][vc].len() < 6
    }

    fn put(&mut self, port: usize, vc: usize, unit: NChar) {
        assert!(self.has_room(port, vc));
        self.put[port] += 1;
        self.outputs[port][vc].push_back(unit);
    }

    fn is_running(&mut self, port: usize) -> bool {
        self.running >> port & 1 != 0
    }

    fn dropped(&mut self, dropped: DiscardedPacket) {
        self.dropped[usize::from(dropped.port)] += 1;
    }
}

struct Switch {
    router: RoutingSwitch<PORTS, VCS>,
    table: RoutingTable<2>,
    queues: Queues,
    /// Source of the packet under way on each output: the upper bits of its data.
    sources: [[Option<u8>; VCS]; PORTS],
    now_ns: u64,
}

impl Switch {
    fn step(&mut self) -> usize {
        let moved = self.router.step(self.now_ns, &self.table, &mut self.queues);
        assert!(moved <= PORTS * VCS + PORTS * 64, "an input moves one unit in a step");
        moved
    }

    /// Takes units from an output. Data characters of a packet all come from one input.
    fn take(&mut self, port: usize, vc: usize, count: usize) {
        for _ in 0..count {
            let Some(unit) = self.queues.outputs[port][vc].pop_front() else { return };
            let source = &mut self.sources[port][vc];
            match unit {
                NChar::Data(byte) if byte >= 0xc0 => {
                    let from = byte & 0xf;
                    assert!(source.is_none_or(|source| source == from), "packets do not mix");
                    *source = Some(from);
                }
                NChar::Data(_) => {}
                NChar::Eop | NChar::Eep => *source = None,
            }
        }
    }

    fn check(&self) {
        for port in 0..PORTS {
            let waiting: usize = self.queues.inputs[port].iter().map(VecDeque::len).sum();
            let counters = self.router.counters(port).expect("the port exists");
            assert_eq!(counters.received.units + waiting as u64, self.queues.given[port]);
            assert_eq!(counters.sent.units, self.queues.put[port]);
            assert_eq!(counters.all_dropped(), self.queues.dropped[port]);
        }
    }
}

crate::target!(|steps: Vec<Step>| {
    let mut switch = Switch {
        router: RoutingSwitch::new(),
        table: RoutingTable::new(),
        queues: Queues {
            inputs: Default::default(),
            outputs: Default::default(),
            running: 0xff,
            given: [0; PORTS],
            put: [0; PORTS],
            dropped: [0; PORTS],
        },
        sources: [[None; VCS]; PORTS],
        now_ns: 0,
    };
    for step in steps {
        match step {
            Step::Send(port, vc, bytes, end, error) => {
                let (port, vc) = (usize::from(port) % PORTS, usize::from(vc) % VCS);
                let source = 0xc0 | (port * VCS + vc) as u8;
                // The first bytes are addresses, the rest says where it came from.
                let head = bytes.iter().take(2).map(|byte| NChar::Data(byte & 0x3f));
                let rest = bytes.iter().skip(2).map(|_| NChar::Data(source));
                let mark = if error { NChar::Eep } else { NChar::Eop };
                let units: Vec<_> = head.chain(rest).chain(end.then_some(mark)).collect();
                switch.queues.given[port] += units.len() as u64;
                switch.queues.inputs[port][vc].extend(units);
            }
            Step::Run(steps, ns) => {
                for _ in 0..steps {
                    switch.step();
                }
                switch.now_ns += u64::from(ns);
            }
            Step::Take(port, vc, count) => {
                switch.take(usize::from(port) % PORTS, usize::from(vc) % VCS, count.into());
            }
            Step::Table(address, ports, multicast, delete, priority) => {
                let entry = RoutingEntry { ports, multicast, delete, priority };
                let _ = switch.table.set(address % 2, address, Some(entry));
            }
            Step::Remove(address) => {
                let _ = switch.table.set(address % 2, address, None);
            }
            Step::Map(port, vc, network) => {
                let _ = switch.router.map(port.into(), vc.into(), network);
            }
            Step::Settings(port, packet, wait, priority) => {
                let settings = SwitchPortConfig {
                    packet_timeout_ns: packet.map(u64::from),
                    wait_timeout_ns: wait.map(u64::from),
                    priority,
                };
                assert_eq!(switch.router.set(port.into(), settings), usize::from(port) < PORTS);
            }
            Step::Running(ports) => switch.queues.running = ports,
        }
        switch.check();
    }
    // With time-outs, and outputs that are emptied, no packet stays.
    for port in 0..PORTS {
        let limit = Some(LIMIT_NS);
        let settings = SwitchPortConfig {
            packet_timeout_ns: limit,
            wait_timeout_ns: limit,
            ..SwitchPortConfig::default()
        };
        switch.router.set(port, settings);
    }
    let mut still = 0;
    for _ in 0..1_000_000 {
        let moved = switch.step();
        for port in 0..PORTS {
            for vc in 0..VCS {
                switch.take(port, vc, 6);
            }
        }
        switch.now_ns += 10;
        still = if moved == 0 { still + 1 } else { 0 };
        if still > 200 {
            break;
        }
    }
    switch.check();
    assert!(switch.queues.inputs.iter().flatten().all(VecDeque::is_empty), "nothing stays");
    assert!(switch.queues.outputs.iter().flatten().all(VecDeque::is_empty));
});
