//! Requests that are executed at once ([`crate::near`]): the target's part.

use super::RdmaTarget;
use crate::region::{RegionRights, RemoteKey, TargetRegion};
use spfe_proto::sfrp::{Opcode, VC_OF_ARRIVAL};

/// What the headers of an initiator say.
pub(crate) struct NearSender {
    pub protocol: u8,
    pub target: u8,
    pub target_queue: u16,
    pub address: u8,
    pub queue: u16,
    pub reply_vc: u8,
    /// Largest payload of a packet.
    pub segment_bytes: u32,
}

impl RdmaTarget {
    /// The checks up to the number of the message, for requests of an initiator: its place in the list.
    /// `None` if one fails, if responses are waiting, or if part of a message has arrived.
    #[inline]
    pub(crate) fn near_peer(&mut self, from: &NearSender, sequence: u16, vc: u8) -> Option<usize> {
        let ours = from.protocol == self.options.protocol
            && from.target == self.options.logical_address
            && from.reply_vc == VC_OF_ARRIVAL
            && from.segment_bytes <= self.options.segment_bytes;
        if !ours || self.responses.is_waiting(vc) || !self.has_queue(from.target_queue) {
            return None;
        }
        let place = self.peers.place((from.address, from.queue, from.target_queue))?;
        let peer = self.peers.at(place);
        let next = peer.expected == sequence && peer.open.is_none() && peer.failed.is_none();
        next.then_some(place)
    }

    /// The region of a key, if an initiator has rights to it and nobody is told of its use.
    pub(crate) fn near_region(
        &mut self,
        key: RemoteKey,
        needed: RegionRights,
        initiator: u8,
    ) -> Option<&mut TargetRegion> {
        let region = self.regions.get_mut_valid(key)?;
        (!region.notify && region.allows(needed, initiator)).then_some(region)
    }

    /// Notes messages of an initiator that were executed.
    pub(crate) fn near_executed(
        &mut self,
        place: usize,
        opcode: Opcode,
        messages: u32,
        packets: u64,
    ) {
        self.counts.add_executed(opcode, packets);
        self.peers.at(place).advance_by(messages as u16);
    }

    /// Number of messages that an initiator may have sent in all.
    pub(crate) fn near_credit(&mut self, place: usize) -> u32 {
        let peer = self.peers.at(place);
        let (queue, sends) = (peer.receiver_queue, peer.sends);
        self.credit(queue, sends)
    }
}
