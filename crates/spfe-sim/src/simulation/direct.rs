//! Reports that take effect at once.

use crate::ledger::{Ledger, PacketVerdict};
use crate::link::Side;
use crate::messages::Sender;
use crate::packet::{ArrivedPacket, PacketHeader};
use crate::rdma::RdmaUnits;
use crate::reports::{DiscardNote, NumberedMessage, PacketPlace, PacketReply, Reports};
use crate::rmap::RmapUnits;
use crate::scenario::UnitId;
use crate::scenario::route::RouterInput;
use crate::stream::ActiveStream;
use crate::tap::PacketTap;
use crate::time::Ps;
use spfe_link::Word;
use spfe_link::network::DiscardReason;

/// A packet of a traffic stream that arrived complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeliveredPacket {
    pub stream: usize,
    pub bytes: u32,
    pub latency_ps: Ps,
}

impl DeliveredPacket {
    /// Counts it.
    pub fn count(self, now: Ps, stream: &mut ActiveStream) {
        stream.delivered(now, self.bytes, self.latency_ps);
    }
}

/// Hands everything on at once, to the ledger, the units and the observer.
pub(super) struct DirectReports<'a, 'b> {
    pub rmap: &'a mut RmapUnits,
    pub rdma: &'a mut RdmaUnits,
    pub ledger: &'a mut Ledger,
    pub senders: &'a mut [Sender],
    pub tap: &'a mut PacketTap<'b>,
    delivered: Vec<DeliveredPacket>,
    /// Time-slots that begin at units.
    slots: Vec<(UnitId, u8)>,
}

impl<'a, 'b> DirectReports<'a, 'b> {
    pub const fn new(
        rmap: &'a mut RmapUnits,
        rdma: &'a mut RdmaUnits,
        ledger: &'a mut Ledger,
        senders: &'a mut [Sender],
        tap: &'a mut PacketTap<'b>,
    ) -> Self {
        Self { rmap, rdma, ledger, senders, tap, delivered: Vec::new(), slots: Vec::new() }
    }

    /// The packets that have arrived, for their streams to count, and the time-slots that begin.
    pub fn finish(self) -> (Vec<DeliveredPacket>, Vec<(UnitId, u8)>) {
        (self.delivered, self.slots)
    }
}

impl Reports for DirectReports<'_, '_> {
    fn wants_words(&self) -> bool {
        self.tap.packets
    }

    fn words(&mut self, now: Ps, (link, side): (usize, Side), vc: usize, words: &[Word]) {
        self.tap.words(now, link, side, vc, words);
    }

    fn began(&mut self, now: Ps, since: Ps, (link, side, vc): PacketPlace, header: PacketHeader) {
        let number = self.ledger.begin(header.flow, since, header.bytes);
        debug_assert_eq!(number as u32, header.number, "both count the packets of a stream");
        self.tap.outer.handed_in(now, link as u32, side, vc, header);
    }

    fn arrived(
        &mut self,
        now: Ps,
        node: u32,
        (link, side, vc): PacketPlace,
        packet: ArrivedPacket,
    ) -> Option<PacketReply> {
        if let ArrivedPacket::Other { bytes, end } = &packet {
            if let Some(answer) = self.rmap.handle_packet(node, now, bytes, *end, self.ledger) {
                return answer;
            }
            if self.rdma.take(node, now, (link, side, vc), bytes, *end) {
                return None;
            }
        }
        let verdict = self.ledger.arrive(node, now, &packet);
        if let (
            PacketVerdict::Delivered { latency_ps, .. },
            ArrivedPacket::Traffic { header, .. },
        ) = (verdict, packet)
        {
            let PacketHeader { flow, bytes, .. } = header;
            self.delivered.push(DeliveredPacket { stream: flow.into(), bytes, latency_ps });
            self.tap.outer.delivered(now, link as u32, side, vc, header);
        }
        None
    }

    fn discarded(&mut self, now: Ps, router: u32, note: DiscardNote) {
        let (dropped, bytes) = match note {
            DiscardNote::Reported(dropped) => {
                self.tap.outer.dropped(now, router, dropped);
                if dropped.reason != DiscardReason::Timeout {
                    return;
                }
                (dropped, Vec::new())
            }
            DiscardNote::Start(dropped, bytes) => (dropped, bytes),
        };
        let input = RouterInput { router, port: dropped.port, vc: dropped.vc };
        let header = self.ledger.identify(&bytes);
        self.ledger.dropped(now, input, dropped.reason, header);
    }

    fn message(
        &mut self,
        now: Ps,
        (link, side): (usize, Side),
        sent: bool,
        message: &NumberedMessage,
    ) {
        let link = link as u32;
        match message {
            NumberedMessage::Broadcast(message) => {
                self.tap.outer.broadcast(now, link, side, sent, message);
            }
            NumberedMessage::Code(code) => self.tap.outer.code(now, link, side, sent, *code),
        }
    }

    fn heard(&mut self, now: Ps, unit: UnitId, message: &NumberedMessage) {
        for sender in self.senders.iter_mut() {
            let Some(mark) = sender.recognise(message) else { continue };
            if let UnitId::Node(node) = unit {
                sender.arrived(now, node, mark, message, self.ledger);
            }
            if sender.is_schedule() {
                self.slots.push((unit, mark as u8));
            }
        }
    }
}
