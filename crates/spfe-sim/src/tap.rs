//! Connects observers to the simulation.

use crate::fault::FaultKind;
use crate::ledger::{Cause, Ledger};
use crate::link::{EndEvent, Observer, Side};
use crate::records::Measurements;
use crate::time::Ps;
use spfe_link::Word;
use spfe_link::spacewire::SpaceWireCharacter;
use spfe_link::word::k;
use spfe_proto::PacketEnd;
use std::collections::BTreeMap;

/// Maximum number of bytes of a packet that observers see.
const SHOWN: usize = 17 << 20;

/// Incomplete packets by link, end and virtual channel.
pub type OpenPackets = BTreeMap<(usize, Side, usize), Vec<u8>>;

/// Passes on packets while nodes and routers exchange words with links.
pub struct PacketTap<'a> {
    /// The observer of the simulation.
    pub outer: &'a mut dyn Observer,
    /// Whether the observer wants packets.
    pub packets: bool,
    /// Packets that are not complete.
    pub open: &'a mut OpenPackets,
}

impl PacketTap<'_> {
    /// Adds words taken from a link. Called only if the observer wants packets.
    pub fn words(&mut self, at: Ps, link: usize, side: Side, vc: usize, words: &[Word]) {
        let bytes = self.open.entry((link, side, vc)).or_default();
        for word in words {
            for index in 0..4 {
                let end = match (word.is_k(index), word.symbol(index)) {
                    (false, byte) if bytes.len() < SHOWN => {
                        bytes.push(byte);
                        continue;
                    }
                    (true, k::EOP) => PacketEnd::Eop,
                    (true, k::EEP) => PacketEnd::Eep,
                    _ => continue,
                };
                self.outer.packet(at, link as u32, side, vc as u8, bytes, end);
                bytes.clear();
            }
        }
    }
}

/// Passes on events of a running link, to the ledger and the measurements, too.
pub struct RunningLinkObserver<'a> {
    /// The observer of the simulation.
    pub outer: &'a mut dyn Observer,
    pub ledger: &'a mut Ledger,
    pub records: &'a mut Measurements,
    /// Whether the link is SpaceWire.
    pub spacewire: bool,
}

impl Observer for RunningLinkObserver<'_> {
    fn event(&mut self, at: Ps, link: u32, side: Side, event: EndEvent) {
        match event {
            EndEvent::LinkReset { .. } => self.ledger.link_event(Cause::LinkReset(link)),
            EndEvent::LaneState { state: "ErrorReset", .. } if self.spacewire => {
                self.ledger.link_event(Cause::Disconnect(link));
            }
            EndEvent::Fault { fault, .. }
                if self.spacewire && !matches!(fault.kind, FaultKind::Cut { .. }) =>
            {
                self.ledger.link_event(Cause::Fault(link));
            }
            _ => {}
        }
        self.records.event(at, link, side, &event);
        self.outer.event(at, link, side, event);
    }

    fn word(&mut self, at: Ps, link: u32, side: Side, lane: u8, word: Option<Word>) {
        self.outer.word(at, link, side, lane, word);
    }

    fn character(&mut self, at: Ps, link: u32, side: Side, character: SpaceWireCharacter) {
        self.outer.character(at, link, side, character);
    }
}
