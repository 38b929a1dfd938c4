//! A router configured by RMAP: written registers decide where packets go.

use spfe_link::network::config::{
    CHANNELS, MAGIC, PORTS, SwitchPortControl, SwitchPortCounter, SwitchPortStatus,
    SwitchRegisters, SwitchShape, TABLES, port,
};
use spfe_link::network::router::{SwitchPortConfig, VirtualNetworkError};
use spfe_link::network::{DiscardedPacket, RoutingEntry, RoutingSwitch, RoutingTable, SwitchPorts};
use spfe_link::spacewire::NChar;
use spfe_proto::PacketEnd;
use spfe_proto::rmap::{RmapInitiator, RmapNode, RmapRequest, RmapTarget, TransactionFailure};
use spfe_sim::configuration::ConfigurationMemory;
use std::collections::VecDeque;

/// A router with a configuration port and three SpaceWire ports.
#[derive(Default)]
struct Unit {
    router: RoutingSwitch<4, 2>,
    table: RoutingTable<1>,
}

impl SwitchRegisters for Unit {
    fn shape(&self) -> SwitchShape {
        SwitchShape { ports: 4, vcs: 2, tables: 1, instance: 7 }
    }
    fn status(&self, _: usize) -> SwitchPortStatus {
        SwitchPortStatus::default()
    }
    fn clear_errors(&mut self, _: usize, _: u32) {}
    fn control(&self, _: usize) -> SwitchPortControl {
        SwitchPortControl::default()
    }
    fn set_control(&mut self, _: usize, _: SwitchPortControl) {}
    fn counter(&self, _: usize, _: SwitchPortCounter) -> u32 {
        0
    }
    fn settings(&self, port: usize) -> SwitchPortConfig {
        self.router.settings(port).unwrap()
    }
    fn set_settings(&mut self, port: usize, settings: SwitchPortConfig) {
        self.router.set(port, settings);
    }
    fn network(&self, port: usize, vc: usize) -> Option<u8> {
        self.router.network(port, vc)
    }
    fn set_network(
        &mut self,
        port: usize,
        vc: usize,
        network: Option<u8>,
    ) -> Result<(), VirtualNetworkError> {
        self.router.map(port, vc, network)
    }
    fn slots(&self, _: usize, _: usize) -> u64 {
        0
    }
    fn set_slots(&mut self, _: usize, _: usize, _: u64) {}
    fn table_of(&self, _: u8) -> u8 {
        0
    }
    fn set_table_of(&mut self, _: u8, _: u8) {}
    fn entry(&self, table: u8, address: u8) -> Option<RoutingEntry> {
        self.table.get(table, address)
    }
    fn set_entry(&mut self, table: u8, address: u8, entry: Option<RoutingEntry>) {
        self.table.set(table, address, entry).unwrap();
    }
}

/// Executes a command at the configuration port and returns its reply.
fn ask(
    unit: &mut Unit,
    address: u32,
    request: &RmapRequest<'_>,
) -> Result<Vec<u8>, TransactionFailure> {
    let mut initiator = RmapInitiator::<1>::new();
    let (mut command, mut reply) = ([0; 256], [0; 256]);
    let address = u64::from(address);
    let sent = initiator.begin(&RmapNode::default(), address, request, 0, 1, &mut command).unwrap();
    let mut target = RmapTarget::default();
    let mut memory = ConfigurationMemory(unit);
    let packet = &command[..sent.bytes];
    let outcome =
        target.handle(packet, PacketEnd::Eop, &mut memory, |_| Ok(()), &mut reply).unwrap();
    let done = initiator.handle(&reply[..outcome.reply_bytes()], PacketEnd::Eop).unwrap();
    done.result.map(<[u8]>::to_vec)
}

fn status(result: Result<Vec<u8>, TransactionFailure>) -> u8 {
    match result {
        Ok(_) => 0,
        Err(TransactionFailure::Status(status)) => status.0,
        Err(failure) => panic!("{failure}"),
    }
}

#[derive(Default)]
struct Queues {
    input: VecDeque<NChar>,
    out: Vec<(usize, NChar)>,
    dropped: Vec<DiscardedPacket>,
}

impl SwitchPorts for Queues {
    type Unit = NChar;
    fn peek(&mut self, port: usize, vc: usize) -> Option<NChar> {
        self.input.front().copied().filter(|_| (port, vc) == (1, 0))
    }
    fn take(&mut self, _: usize, _: usize) {
        self.input.pop_front();
    }
    fn has_room(&mut self, _: usize, _: usize) -> bool {
        true
    }
    fn put(&mut self, port: usize, _: usize, unit: NChar) {
        self.out.push((port, unit));
    }
    fn dropped(&mut self, dropped: DiscardedPacket) {
        self.dropped.push(dropped);
    }
}

#[test]
fn packets_follow_a_written_route() {
    let mut unit = Unit::default();
    let packet = [NChar::Data(0x42), NChar::Data(1), NChar::Eop];
    let send = |unit: &Unit| {
        let mut queues = Queues { input: packet.into(), ..Queues::default() };
        let mut router = unit.router.clone();
        while router.step(0, &unit.table, &mut queues) != 0 {}
        (queues.out, queues.dropped.len())
    };
    assert_eq!(send(&unit), (vec![], 1));
    // Multicast to ports 2 and 3 with header deletion. One command writes ports and flags.
    let entry = TABLES + 0x42 * 8;
    let written = ask(&mut unit, entry, &RmapRequest::write(&[0, 0, 0, 0b1100, 0, 0, 0, 0b11]));
    assert_eq!(written, Ok(vec![]));
    assert_eq!(ask(&mut unit, entry, &RmapRequest::read(8)), Ok(vec![0, 0, 0, 12, 0, 0, 0, 3]));
    let (out, dropped) = send(&unit);
    let copies = [(2, packet[1]), (3, packet[1]), (2, packet[2]), (3, packet[2])];
    assert_eq!((&out[..], dropped), (&copies[..], 0));
    // A read-modify-write clears the multicast bit.
    let modify = RmapRequest::ReadModifyWrite { data: &[0; 4], mask: &[0, 0, 0, 1] };
    assert_eq!(ask(&mut unit, entry + 4, &modify), Ok(vec![0, 0, 0, 3]));
    assert_eq!(send(&unit).0, [(2, packet[1]), (2, packet[2])]);
}

#[test]
fn only_whole_registers_are_accessible() {
    let mut unit = Unit::default();
    let magic = MAGIC.to_be_bytes();
    assert_eq!(ask(&mut unit, 0, &RmapRequest::read(4)), Ok(magic.to_vec()));
    let single = RmapRequest::Read { increment: false, length: 8 };
    assert_eq!(ask(&mut unit, 0, &single), Ok([magic, magic].concat()));
    let timeout = PORTS + 0x100 + port::PACKET_TIMEOUT;
    assert_eq!(ask(&mut unit, timeout, &RmapRequest::write(&[0, 0, 1, 0])), Ok(vec![]));
    assert_eq!(unit.settings(1).packet_timeout_ns, Some(256_000));
    for (address, request) in [
        (0, RmapRequest::read(3)),
        (2, RmapRequest::read(4)),
        (0x18, RmapRequest::read(4)),
        (0, RmapRequest::write(&magic)),
        (0, RmapRequest::read(24)),
        (CHANNELS, RmapRequest::write(&[0; 4])),
        (u32::MAX - 3, RmapRequest::read(8)),
        (timeout, RmapRequest::write(&[0; 5])),
    ] {
        assert_eq!(status(ask(&mut unit, address, &request)), 10, "{address:#x} {request:?}");
    }
    assert_eq!(unit.settings(1).packet_timeout_ns, Some(256_000));
}
