//! Reports that are kept until it is their turn.

use super::{DiscardNote, NumberedMessage, PacketPlace, PacketReply, Reports};
use crate::link::Side;
use crate::packet::{ArrivedPacket, PacketHeader};
use crate::scenario::UnitId;
use crate::time::Ps;
use spfe_link::Word;

/// A call of a method of [`Reports`].
pub enum DeferredReport {
    Began { since: Ps, place: PacketPlace, header: PacketHeader },
    Arrived { node: u32, place: PacketPlace, packet: ArrivedPacket },
    Discarded { router: u32, note: DiscardNote },
    Message { end: (usize, Side), sent: bool, message: NumberedMessage },
    Heard { unit: UnitId, message: NumberedMessage },
}

impl DeferredReport {
    /// Makes the call.
    pub fn replay(self, now: Ps, to: &mut dyn Reports) {
        match self {
            Self::Began { since, place, header } => to.began(now, since, place, header),
            Self::Arrived { node, place, packet } => {
                // Units that reply do not defer what they report.
                let _ = to.arrived(now, node, place, packet);
            }
            Self::Discarded { router, note } => to.discarded(now, router, note),
            Self::Message { end, sent, message } => to.message(now, end, sent, &message),
            Self::Heard { unit, message } => to.heard(now, unit, &message),
        }
    }
}

/// Keeps what units report in their turns. A packet gets no reply, and words are not shown.
pub struct DeferredReports<T> {
    turn: T,
    pub log: Vec<(T, DeferredReport)>,
}

impl<T: Copy> DeferredReports<T> {
    /// No reports. The first turn is `turn`.
    pub const fn new(turn: T) -> Self {
        Self { turn, log: Vec::new() }
    }

    /// Begins a turn.
    pub const fn begin(&mut self, turn: T) {
        self.turn = turn;
    }

    fn keep(&mut self, report: DeferredReport) {
        self.log.push((self.turn, report));
    }
}

impl<T: Copy> Reports for DeferredReports<T> {
    fn wants_words(&self) -> bool {
        false
    }

    fn words(&mut self, _: Ps, _: (usize, Side), _: usize, _: &[Word]) {}

    fn began(&mut self, _: Ps, since: Ps, place: PacketPlace, header: PacketHeader) {
        self.keep(DeferredReport::Began { since, place, header });
    }

    fn arrived(
        &mut self,
        _: Ps,
        node: u32,
        place: PacketPlace,
        packet: ArrivedPacket,
    ) -> Option<PacketReply> {
        self.keep(DeferredReport::Arrived { node, place, packet });
        None
    }

    fn discarded(&mut self, _: Ps, router: u32, note: DiscardNote) {
        self.keep(DeferredReport::Discarded { router, note });
    }

    fn message(&mut self, _: Ps, end: (usize, Side), sent: bool, message: &NumberedMessage) {
        self.keep(DeferredReport::Message { end, sent, message: *message });
    }

    fn heard(&mut self, _: Ps, unit: UnitId, message: &NumberedMessage) {
        self.keep(DeferredReport::Heard { unit, message: *message });
    }
}
