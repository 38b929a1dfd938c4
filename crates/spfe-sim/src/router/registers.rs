//! The registers of a router, and its configuration port: an RMAP target over them
//! (`docs/router-registers.md`).

use super::Switch;
use crate::configuration::Configuration;
use crate::fault::Command;
use crate::link::Link;
use crate::packet::{Arrived, Checker, Maker};
use crate::rmap::{Truth, execute};
use crate::scenario::unit;
use spfe_link::Word;
use spfe_link::network::config::{self, Control, Counter, Kind, Shape, Status};
use spfe_link::network::router::{MapError, Settings};
use spfe_link::network::{Entry, NETWORKS, Reason};
use spfe_link::qos;
use spfe_proto::End;
use spfe_proto::rmap::{Config, Target};

/// The longest access.
const ACCESS_BYTES: usize = 1 << 16;

/// What is behind port 0.
pub struct Port0 {
    inlet: Checker,
    target: Target,
    out: Vec<u8>,
}

impl Port0 {
    /// With a target of a scenario.
    pub fn new(settings: unit::Configuration) -> Self {
        let config = Config {
            key: Some(settings.key),
            logical_address: Some(settings.logical_address),
            check_all_writes: true,
            ..Config::default()
        };
        Self { inlet: Checker::new(), target: Target::new(config), out: Vec::new() }
    }

    /// Takes packets that came to port 0, and answers. True if any word came.
    pub fn exchange(
        &mut self,
        switch: &mut Switch,
        links: &mut [Box<dyn Link>],
        truth: &mut Truth,
    ) -> bool {
        let words = switch.take_inner();
        let mut rest = words.as_slice();
        while !rest.is_empty() {
            let (taken, arrived) = self.inlet.take(rest);
            rest = rest.get(taken..).unwrap_or_default();
            let Some(Arrived::Other { bytes, end }) = arrived else { continue };
            self.handle(&bytes, end, switch, links, truth);
        }
        !words.is_empty()
    }

    fn handle(
        &mut self,
        packet: &[u8],
        end: End,
        switch: &mut Switch,
        links: &mut [Box<dyn Link>],
        truth: &mut Truth,
    ) {
        let mut registers = Registers { switch, links };
        let mut memory = Configuration(&mut registers);
        let room = (packet, ACCESS_BYTES);
        let reply = execute(&mut self.target, &mut memory, room, end, &mut self.out, truth);
        let Some(reply) = reply else { return };
        let mut maker = Maker::bytes(reply);
        let mut words = [Word::default(); 64];
        while !maker.is_done() {
            let count = maker.fill(&mut words);
            switch.give_inner(words.get(..count).unwrap_or_default());
        }
    }

    /// What the target counted, by name.
    pub fn counters(&self) -> [(&'static str, u64); 3] {
        let counters = self.target.counters();
        [
            ("RMAP reads", counters.reads),
            ("RMAP writes", counters.writes),
            ("RMAP replies", counters.replies),
        ]
    }
}

/// What the registers are made of.
struct Registers<'a> {
    switch: &'a mut Switch,
    links: &'a mut [Box<dyn Link>],
}

impl Registers<'_> {
    fn qos(&mut self, port: usize, vc: usize) -> Option<qos::Parameters> {
        let (link, side) = self.switch.faces.get(port)?.link?;
        self.links.get_mut(link)?.end(side).qos(vc)
    }
}

impl config::Switch for Registers<'_> {
    fn shape(&self) -> Shape {
        let channels = self.switch.faces.iter().map(|face| face.channels()).max();
        Shape {
            ports: self.switch.faces.len() as u8,
            vcs: channels.unwrap_or(1) as u8,
            tables: NETWORKS as u8,
            instance: self.switch.index,
        }
    }

    fn status(&self, port: usize) -> Status {
        let Some(face) = self.switch.faces.get(port) else { return Status::default() };
        let dropped = self.switch.engine.counters(port).map_or(0, |of| of.all_dropped());
        let errors = match dropped > self.switch.cleared.get(port).copied().unwrap_or(0) {
            true => config::error::PACKET,
            false => 0,
        };
        let (kind, lanes, mbps) = match face.line {
            _ if port == 0 => (Kind::Configuration, 0, 0),
            None => (Kind::None, 0, 0),
            Some(line) if line.spacewire => (Kind::SpaceWire, 1, line.mbps),
            Some(line) => (Kind::SpaceFibre, line.lanes, line.mbps),
        };
        Status { kind, running: face.is_running(), errors, lanes, mbps }
    }

    fn clear_errors(&mut self, port: usize, errors: u32) {
        let dropped = self.switch.engine.counters(port).map_or(0, |of| of.all_dropped());
        if let Some(cleared) = self.switch.cleared.get_mut(port)
            && errors & config::error::PACKET != 0
        {
            *cleared = dropped;
        }
    }

    fn control(&self, port: usize) -> Control {
        self.switch.faces.get(port).map(|face| face.control).unwrap_or_default()
    }

    fn set_control(&mut self, port: usize, control: Control) {
        let Some(face) = self.switch.faces.get_mut(port) else { return };
        face.control = control;
        let Some(end) =
            face.link.and_then(|(link, side)| Some(self.links.get_mut(link)?.end(side)))
        else {
            return;
        };
        end.command(Command::LaneStart(None, control.enable && control.start));
        end.command(Command::AutoStart(None, control.enable && control.auto_start));
        if !control.enable {
            end.command(Command::LaneReset(None));
        }
    }

    fn counter(&self, port: usize, counter: Counter) -> u32 {
        let Some(counters) = self.switch.engine.counters(port) else { return 0 };
        let count = match counter {
            Counter::PacketsIn => counters.received.packets,
            Counter::PacketsOut => counters.sent.packets,
            Counter::EepIn => counters.received.eeps,
            Counter::Empty => counters.dropped(Reason::Empty),
            Counter::InvalidAddress => counters.dropped(Reason::InvalidAddress),
            Counter::NoPort => counters.dropped(Reason::NoPort),
            Counter::InputUnmapped => counters.dropped(Reason::InputUnmapped),
            Counter::OutputUnmapped => counters.dropped(Reason::OutputUnmapped),
            Counter::NotRunning => counters.dropped(Reason::NotRunning),
            Counter::Blocked => counters.dropped(Reason::Blocked),
            Counter::Timeout => counters.dropped(Reason::Timeout),
        };
        count as u32
    }

    fn settings(&self, port: usize) -> Settings {
        self.switch.engine.settings(port).unwrap_or_default()
    }

    fn set_settings(&mut self, port: usize, settings: Settings) {
        self.switch.set(port, settings);
    }

    fn network(&self, port: usize, vc: usize) -> Option<u8> {
        self.switch.engine.network(port, vc)
    }

    fn set_network(&mut self, port: usize, vc: usize, network: Option<u8>) -> Result<(), MapError> {
        self.switch.engine.map(port, vc, network)
    }

    fn slots(&self, port: usize, vc: usize) -> u64 {
        let face = self.switch.faces.get(port);
        face.and_then(|face| face.slots.get(vc).copied()).unwrap_or(u64::MAX)
    }

    fn set_slots(&mut self, port: usize, vc: usize, slots: u64) {
        if let Some(place) = self.switch.faces.get_mut(port).and_then(|face| face.slots.get_mut(vc))
        {
            *place = slots;
        }
        let Some(parameters) = self.qos(port, vc) else { return };
        let Some((link, side)) = self.switch.faces.get(port).and_then(|face| face.link) else {
            return;
        };
        if let Some(link) = self.links.get_mut(link) {
            link.end(side).set_qos(vc, qos::Parameters { time_slots: slots, ..parameters });
        }
    }

    fn table_of(&self, network: u8) -> u8 {
        self.switch.table.table_of(network).unwrap_or(0)
    }

    fn set_table_of(&mut self, network: u8, table: u8) {
        // Both are within the shape.
        let _ = self.switch.table.use_table(network, table);
    }

    fn entry(&self, table: u8, address: u8) -> Option<Entry> {
        self.switch.table.get(table, address)
    }

    fn set_entry(&mut self, table: u8, address: u8, entry: Option<Entry>) {
        // Ports and address are within the shape.
        let _ = self.switch.table.set(table, address, entry);
    }
}
