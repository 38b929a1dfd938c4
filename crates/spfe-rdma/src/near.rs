//! Requests that are executed at once: both ends are in one process, nothing lies between them, and
//! nothing is outstanding. Then no packet is needed, and no answer. Both engines change as if the
//! packets had been sent.
//!
//! Only writes and reads that succeed as a whole are executed so. All checks of a target have to pass
//! before anything changes. A request that fails one goes as packets ([`crate::direct`]), and those
//! are refused.

use crate::initiator::RdmaInitiator;
use crate::region::{RegionRights, RemoteKey, TargetRegion};
use crate::target::{NearSender, RdmaTarget};
use spfe_proto::sfrp::{HEADER_MIN, Opcode, PAYLOAD_CRC_BYTES, READ_MAX};

/// Bytes of a packet without payload.
const BARE: u64 = HEADER_MIN as u64;
/// Bytes of a packet around its payload.
const AROUND: u64 = BARE + PAYLOAD_CRC_BYTES as u64;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearKind {
    /// Writes remote memory.
    Write,
    /// Reads remote memory.
    Read,
}

impl NearKind {
    const fn opcode(self) -> Opcode {
        match self {
            Self::Write => Opcode::Write,
            Self::Read => Opcode::Read,
        }
    }

    const fn rights(self) -> RegionRights {
        let write = matches!(self, Self::Write);
        RegionRights { read: !write, write, atomic: false }
    }
}

/// Packets that were not needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NearTally {
    /// Packets to the target.
    pub requests: u64,
    /// Bytes of the packets to the target.
    pub request_bytes: u64,
    /// Packets from the target.
    pub responses: u64,
    /// Bytes of the packets from the target.
    pub response_bytes: u64,
}

/// An initiator and its target, while requests are executed at once.
pub struct NearPair<'a> {
    initiator: &'a mut RdmaInitiator,
    target: &'a mut RdmaTarget,
    /// Place of the initiator in the target's list.
    peer: usize,
    tally: NearTally,
}

impl<'a> NearPair<'a> {
    /// Both ends, if the next message can be executed at once. Responses would go out on the virtual
    /// channel `vc`.
    #[inline]
    pub fn new(
        initiator: &'a mut RdmaInitiator,
        target: &'a mut RdmaTarget,
        vc: u8,
        now_ns: impl FnOnce() -> u64,
    ) -> Option<Self> {
        let sequence = initiator.near_sequence(now_ns)?;
        let options = initiator.options();
        let sender = NearSender {
            protocol: options.protocol,
            target: options.target,
            target_queue: options.target_queue,
            address: options.address,
            queue: options.queue,
            reply_vc: options.reply_vc,
            segment_bytes: options.segment_bytes,
        };
        let peer = target.near_peer(&sender, sequence, vc)?;
        Some(Self { initiator, target, peer, tally: NearTally::default() })
    }

    /// The region of a key, if requests of this length may use it without telling anybody. The caller
    /// checks the bounds.
    #[inline]
    pub fn region(&mut self, key: u32, kind: NearKind, length: u32) -> Option<&mut TargetRegion> {
        let from = self.initiator.options().address;
        let region = self.target.near_region(RemoteKey(key), kind.rights(), from)?;
        let fits = (1..=READ_MAX).contains(&length) && u64::from(length) <= region.bytes();
        fits.then_some(region)
    }

    /// Largest payload of a packet that carries the data of a request.
    #[inline]
    pub fn segment_bytes(&self, kind: NearKind) -> u32 {
        match kind {
            NearKind::Write => self.initiator.options().segment_bytes,
            NearKind::Read => self.target.options().segment_bytes,
        }
    }

    /// Number of writes up to the one that asks for an acknowledgement whether it ends a group or not.
    #[inline]
    pub fn until_asked(&self) -> usize {
        self.initiator.until_asked()
    }

    /// Notes that `messages` requests of one kind were executed, at most [`NearPair::until_asked`] writes
    /// at a time. `packets` is the number of packets that would have carried their `bytes`.
    #[inline]
    pub fn executed(&mut self, kind: NearKind, messages: u32, packets: u64, bytes: u64) {
        let (tally, data) = (&mut self.tally, packets * AROUND + bytes);
        let requests = match kind {
            NearKind::Write => {
                tally.request_bytes += data;
                packets
            }
            NearKind::Read => {
                tally.request_bytes += u64::from(messages) * BARE;
                tally.responses += packets;
                tally.response_bytes += data;
                messages.into()
            }
        };
        tally.requests += requests;
        self.target.near_executed(self.peer, kind.opcode(), messages, requests);
        let read = kind == NearKind::Read;
        self.initiator.near_executed(messages, requests, if read { 0 } else { bytes }, read);
        if self.initiator.until_asked() == 0 {
            self.acknowledge();
        }
    }

    /// The last request ends a group, and asks for an acknowledgement unless it brought data.
    #[inline]
    pub fn acknowledge(&mut self) {
        if self.initiator.near_acknowledged() {
            let credit = self.target.near_credit(self.peer);
            self.initiator.raise_credit(credit);
            self.tally.responses += 1;
            self.tally.response_bytes += BARE;
        }
    }

    /// The packets of all requests.
    #[inline]
    pub fn tally(self) -> NearTally {
        self.tally
    }
}
