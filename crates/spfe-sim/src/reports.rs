//! What nodes and routers report while they exchange words with links: beginnings and ends of packets,
//! and messages.
//!
//! A simulation hands it on at once. [`DeferredReports`] keeps it, so that units can work side by
//! side: replayed in the order of units, it has the same effect.

mod deferred;

pub use deferred::{DeferredReport, DeferredReports};

use crate::link::Side;
use crate::packet::{ArrivedPacket, PacketHeader};
use crate::scenario::UnitId;
use crate::time::Ps;
use spfe_link::Word;
use spfe_link::datalink::LinkBroadcast;
use spfe_link::network::DiscardedPacket;
use spfe_link::spacewire::BroadcastCode;

/// Link, end and virtual channel at which a packet begins or arrives.
pub type PacketPlace = (usize, Side, u8);

/// A reply to a packet, and the time from which it may leave.
pub type PacketReply = (Ps, Vec<u8>);

/// A message of either kind.
#[derive(Clone, Copy, Debug)]
pub enum NumberedMessage {
    /// A broadcast message.
    Broadcast(LinkBroadcast),
    /// A time-code or interrupt.
    Code(BroadcastCode),
}

/// Reports on a discarded packet.
#[derive(Clone, Debug)]
pub enum DiscardNote {
    /// The switch discarded it.
    Reported(DiscardedPacket),
    /// Its first bytes.
    Start(DiscardedPacket, Vec<u8>),
}

/// Takes what nodes and routers report.
pub trait Reports {
    /// Whether [`Reports::words`] has to be called.
    fn wants_words(&self) -> bool;

    /// Words were taken out of an end of a link.
    fn words(&mut self, now: Ps, end: (usize, Side), vc: usize, words: &[Word]);

    /// A node begins to send a packet of a traffic stream, which has been due since a time.
    fn began(&mut self, now: Ps, since: Ps, place: PacketPlace, header: PacketHeader);

    /// A packet has arrived at a node.
    fn arrived(
        &mut self,
        now: Ps,
        node: u32,
        place: PacketPlace,
        packet: ArrivedPacket,
    ) -> Option<PacketReply>;

    /// A router has discarded a packet.
    fn discarded(&mut self, now: Ps, router: u32, note: DiscardNote);

    /// A message was sent or received at an end of a link.
    fn message(&mut self, now: Ps, end: (usize, Side), sent: bool, message: &NumberedMessage);

    /// A message has arrived at a unit, which has not had it before.
    fn heard(&mut self, now: Ps, unit: UnitId, message: &NumberedMessage);
}
