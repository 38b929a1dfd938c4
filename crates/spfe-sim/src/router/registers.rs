//! The registers of a router and its configuration port, an RMAP target that accesses them
//! (`docs/router-registers.md`).

use super::RouterSwitch;
use crate::configuration::ConfigurationMemory;
use crate::fault::EndCommand;
use crate::links::Links;
use crate::packet::{ArrivedPacket, PacketChecker, PacketMaker};
use crate::rmap::{ExecutedCommands, execute};
use crate::scenario::unit;
use spfe_link::Word;
use spfe_link::network::config::{
    self, SwitchPortControl, SwitchPortCounter, SwitchPortKind, SwitchPortStatus, SwitchShape,
};
use spfe_link::network::router::{SwitchPortConfig, VirtualNetworkError};
use spfe_link::network::{DiscardReason, NETWORKS, RoutingEntry};
use spfe_link::qos;
use spfe_proto::PacketEnd;
use spfe_proto::rmap::{RmapTarget, RmapTargetConfig};

/// Longest access in bytes.
const ACCESS_BYTES: usize = 1 << 16;

/// The configuration port.
pub struct Port0 {
    inlet: PacketChecker,
    target: RmapTarget,
    out: Vec<u8>,
}

impl Port0 {
    /// The configuration port of a router of a scenario.
    pub fn new(settings: unit::ConfigurationPort) -> Self {
        let config = RmapTargetConfig {
            key: Some(settings.key),
            logical_address: Some(settings.logical_address),
            check_all_writes: true,
            ..RmapTargetConfig::default()
        };
        Self { inlet: PacketChecker::new(), target: RmapTarget::new(config), out: Vec::new() }
    }

    /// Handles packets for port 0 and sends replies. True if any word arrived.
    pub fn exchange(
        &mut self,
        switch: &mut RouterSwitch,
        links: &mut dyn Links,
        truth: &mut ExecutedCommands,
    ) -> bool {
        let words = switch.take_configuration_words();
        let mut rest = words.as_slice();
        while !rest.is_empty() {
            let (taken, arrived) = self.inlet.take(rest);
            rest = rest.get(taken..).unwrap_or_default();
            let Some(ArrivedPacket::Other { bytes, end }) = arrived else { continue };
            self.handle(&bytes, end, switch, links, truth);
        }
        !words.is_empty()
    }

    fn handle(
        &mut self,
        packet: &[u8],
        end: PacketEnd,
        switch: &mut RouterSwitch,
        links: &mut dyn Links,
        truth: &mut ExecutedCommands,
    ) {
        let mut registers = Registers { switch, links };
        let mut memory = ConfigurationMemory(&mut registers);
        let room = (packet, ACCESS_BYTES);
        let reply = execute(&mut self.target, &mut memory, room, end, &mut self.out, truth);
        let Some(reply) = reply else { return };
        let mut maker = PacketMaker::bytes(reply, PacketEnd::Eop);
        let mut words = [Word::default(); 64];
        while !maker.is_done() {
            let count = maker.fill(&mut words);
            switch.give_configuration_words(words.get(..count).unwrap_or_default());
        }
    }

    /// Counters of the target by name.
    pub fn counters(&self) -> [(&'static str, u64); 3] {
        let counters = self.target.counters();
        [
            ("RMAP reads", counters.reads),
            ("RMAP writes", counters.writes),
            ("RMAP replies", counters.replies),
        ]
    }
}

/// Access to a switch and its links as registers.
struct Registers<'a> {
    switch: &'a mut RouterSwitch,
    links: &'a mut dyn Links,
}

impl Registers<'_> {
    fn qos(&mut self, port: usize, vc: usize) -> Option<qos::QosParameters> {
        let (link, side) = self.switch.ports.get(port)?.link?;
        self.links.end((link, side))?.qos(vc)
    }
}

impl config::SwitchRegisters for Registers<'_> {
    fn shape(&self) -> SwitchShape {
        let channels = self.switch.ports.iter().map(|port| port.channels()).max();
        SwitchShape {
            ports: self.switch.ports.len() as u8,
            vcs: channels.unwrap_or(1) as u8,
            tables: NETWORKS as u8,
            instance: self.switch.index,
        }
    }

    fn status(&self, port: usize) -> SwitchPortStatus {
        let Some(of) = self.switch.ports.get(port) else { return SwitchPortStatus::default() };
        let dropped = self.switch.engine.counters(port).map_or(0, |of| of.all_dropped());
        let errors = match dropped > self.switch.cleared.get(port).copied().unwrap_or(0) {
            true => config::error::PACKET,
            false => 0,
        };
        let (kind, lanes, mbps) = match of.line {
            _ if port == 0 => (SwitchPortKind::Configuration, 0, 0),
            None => (SwitchPortKind::None, 0, 0),
            Some(line) if line.spacewire => (SwitchPortKind::SpaceWire, 1, line.mbps),
            Some(line) => (SwitchPortKind::SpaceFibre, line.lanes, line.mbps),
        };
        SwitchPortStatus { kind, running: of.is_running(), errors, lanes, mbps }
    }

    fn clear_errors(&mut self, port: usize, errors: u32) {
        let dropped = self.switch.engine.counters(port).map_or(0, |of| of.all_dropped());
        if let Some(cleared) = self.switch.cleared.get_mut(port)
            && errors & config::error::PACKET != 0
        {
            *cleared = dropped;
        }
    }

    fn control(&self, port: usize) -> SwitchPortControl {
        self.switch.ports.get(port).map(|port| port.control).unwrap_or_default()
    }

    fn set_control(&mut self, port: usize, control: SwitchPortControl) {
        let Some(port) = self.switch.ports.get_mut(port) else { return };
        port.control = control;
        let Some(end) =
            port.link.and_then(|(link, side)| Some(self.links.get_mut(link)?.end(side)))
        else {
            return;
        };
        end.command(EndCommand::LaneStart(None, control.enable && control.start));
        end.command(EndCommand::AutoStart(None, control.enable && control.auto_start));
        if !control.enable {
            end.command(EndCommand::LaneReset(None));
        }
    }

    fn counter(&self, port: usize, counter: SwitchPortCounter) -> u32 {
        let Some(counters) = self.switch.engine.counters(port) else { return 0 };
        let count = match counter {
            SwitchPortCounter::PacketsIn => counters.received.packets,
            SwitchPortCounter::PacketsOut => counters.sent.packets,
            SwitchPortCounter::EepIn => counters.received.eeps,
            SwitchPortCounter::Empty => counters.dropped(DiscardReason::Empty),
            SwitchPortCounter::InvalidAddress => counters.dropped(DiscardReason::InvalidAddress),
            SwitchPortCounter::NoPort => counters.dropped(DiscardReason::NoPort),
            SwitchPortCounter::InputUnmapped => counters.dropped(DiscardReason::InputUnmapped),
            SwitchPortCounter::OutputUnmapped => counters.dropped(DiscardReason::OutputUnmapped),
            SwitchPortCounter::NotRunning => counters.dropped(DiscardReason::NotRunning),
            SwitchPortCounter::Blocked => counters.dropped(DiscardReason::Blocked),
            SwitchPortCounter::Timeout => counters.dropped(DiscardReason::Timeout),
        };
        count as u32
    }

    fn settings(&self, port: usize) -> SwitchPortConfig {
        self.switch.engine.settings(port).unwrap_or_default()
    }

    fn set_settings(&mut self, port: usize, settings: SwitchPortConfig) {
        self.switch.set(port, settings);
    }

    fn network(&self, port: usize, vc: usize) -> Option<u8> {
        self.switch.engine.network(port, vc)
    }

    fn set_network(
        &mut self,
        port: usize,
        vc: usize,
        network: Option<u8>,
    ) -> Result<(), VirtualNetworkError> {
        self.switch.engine.map(port, vc, network)
    }

    fn slots(&self, port: usize, vc: usize) -> u64 {
        let port = self.switch.ports.get(port);
        port.and_then(|port| port.slots.get(vc).copied()).unwrap_or(u64::MAX)
    }

    fn set_slots(&mut self, port: usize, vc: usize, slots: u64) {
        if let Some(place) = self.switch.ports.get_mut(port).and_then(|port| port.slots.get_mut(vc))
        {
            *place = slots;
        }
        let Some(parameters) = self.qos(port, vc) else { return };
        let Some((link, side)) = self.switch.ports.get(port).and_then(|port| port.link) else {
            return;
        };
        if let Some(link) = self.links.get_mut(link) {
            link.end(side).set_qos(vc, qos::QosParameters { time_slots: slots, ..parameters });
        }
    }

    fn table_of(&self, network: u8) -> u8 {
        self.switch.table.table_of(network).unwrap_or(0)
    }

    fn set_table_of(&mut self, network: u8, table: u8) {
        // Both are within the shape, so this cannot fail.
        let _ = self.switch.table.use_table(network, table);
    }

    fn entry(&self, table: u8, address: u8) -> Option<RoutingEntry> {
        self.switch.table.get(table, address)
    }

    fn set_entry(&mut self, table: u8, address: u8, entry: Option<RoutingEntry>) {
        // Ports and address are within the shape, so this cannot fail.
        let _ = self.switch.table.set(table, address, entry);
    }
}
