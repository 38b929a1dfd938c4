//! Initiators that a target knows, and where each is in its sequence of messages.

use super::READS_MAX;
use spfe_proto::sfrp::{Flags, ReplyPath, SfrpHeader, SfrpStatus};

/// Number of initiators that are remembered. The one that was quiet longest is forgotten first.
const PEERS_MAX: usize = 32;

/// A message of several packets of which some have been executed.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    pub request: u32,
    /// Address of the next packet.
    pub next: u64,
    /// Address of the first packet.
    pub start: u64,
}

/// An initiator: its logical address, its queue pair, and the one that it sends to.
pub type PeerId = (u8, u16, u16);

fn id(header: &SfrpHeader) -> PeerId {
    (header.sender, header.sender_queue, header.receiver_queue)
}

/// The sequence of messages from one queue pair to another.
#[derive(Clone, Debug)]
pub struct RemotePeer {
    pub sender: u8,
    pub sender_queue: u16,
    pub receiver_queue: u16,
    /// Request that started the sequence.
    pub connection: Option<u32>,
    /// Number of the next message.
    pub expected: u16,
    pub open: Option<Open>,
    /// Request whose remaining packets are discarded.
    pub drain: Option<u32>,
    /// The initiator knows that the expected message is missing.
    pub told: bool,
    /// The sequence has ended with an error: status and IMM.
    pub failed: Option<(SfrpStatus, u32)>,
    /// Numbers and results of the last atomic operations; `next_result` is overwritten next.
    results: [Option<(u16, u64)>; READS_MAX],
    next_result: usize,
    /// Reads that are being answered.
    pub reads: usize,
    /// Messages executed; without a receive queue they need no buffer.
    pub sends: u32,
    /// Where announcements of buffers go.
    pub reply_path: ReplyPath,
    pub vc: u8,
    /// Time of the last packet, as a count of packets of the target.
    used: u64,
}

impl RemotePeer {
    pub fn new(header: &SfrpHeader, expected: u16, connection: Option<u32>, vc: u8) -> Self {
        Self {
            sender: header.sender,
            sender_queue: header.sender_queue,
            receiver_queue: header.receiver_queue,
            connection,
            expected,
            open: None,
            drain: None,
            told: false,
            failed: None,
            results: [None; READS_MAX],
            next_result: 0,
            reads: 0,
            sends: 0,
            reply_path: header.reply_path,
            vc,
            used: 0,
        }
    }

    fn id(&self) -> PeerId {
        (self.sender, self.sender_queue, self.receiver_queue)
    }

    /// Whether requests or responses of this header belong to the sequence.
    fn is(&self, header: &SfrpHeader) -> bool {
        self.id() == id(header)
    }

    /// Ends the expected message.
    pub fn advance(&mut self) {
        self.advance_by(1);
    }

    /// Ends messages from the expected one on.
    pub fn advance_by(&mut self, messages: u16) {
        self.expected = self.expected.wrapping_add(messages);
        (self.open, self.drain, self.told) = (None, None, false);
    }

    /// Keeps the result of an atomic operation.
    pub fn keep(&mut self, sequence: u16, old: u64) {
        self.results[self.next_result] = Some((sequence, old));
        self.next_result = (self.next_result + 1) % READS_MAX;
    }

    /// The result of an earlier atomic operation.
    pub fn result(&self, sequence: u16) -> Option<u64> {
        let same = |result: &&(u16, u64)| result.0 == sequence;
        self.results.iter().flatten().find(same).map(|result| result.1)
    }
}

/// The initiators that a target knows.
#[derive(Default)]
pub struct Peers {
    all: Vec<RemotePeer>,
    packets: u64,
}

impl Peers {
    pub fn find(&mut self, header: &SfrpHeader) -> Option<&mut RemotePeer> {
        let place = self.place(id(header))?;
        Some(&mut self.all[place])
    }

    /// The place of an initiator, for [`Peers::at`].
    pub fn place(&mut self, id: PeerId) -> Option<usize> {
        self.packets += 1;
        let place = self.all.iter().position(|peer| peer.id() == id)?;
        self.all[place].used = self.packets;
        Some(place)
    }

    /// The initiator at a place, which is valid until one is forgotten.
    pub fn at(&mut self, place: usize) -> &mut RemotePeer {
        &mut self.all[place]
    }

    /// The initiator of a request. One that is not known starts with the first packet of a message
    /// that was not sent before.
    pub fn find_or_start(
        &mut self,
        header: &SfrpHeader,
        vc: u8,
    ) -> Option<(&mut RemotePeer, Option<RemotePeer>)> {
        let mut gone = None;
        if self.find(header).is_none() {
            if header.receiver_queue != 0 || !header.has(Flags::FIRST) || header.has(Flags::RETRY) {
                return None;
            }
            gone = self.insert(RemotePeer::new(header, header.sequence, None, vc));
        }
        self.find(header).map(|peer| (peer, gone))
    }

    /// Remembers an initiator; returns the one that is forgotten for it.
    pub fn insert(&mut self, mut peer: RemotePeer) -> Option<RemotePeer> {
        self.packets += 1;
        peer.used = self.packets;
        let same = |old: &RemotePeer| {
            (old.sender, old.sender_queue, old.receiver_queue)
                == (peer.sender, peer.sender_queue, peer.receiver_queue)
        };
        let mut at = self.all.iter().position(same);
        if at.is_none() && self.all.len() >= PEERS_MAX {
            at = (0..self.all.len()).min_by_key(|index| self.all[*index].used);
        }
        match at {
            Some(at) => Some(std::mem::replace(&mut self.all[at], peer)),
            None => {
                self.all.push(peer);
                None
            }
        }
    }

    pub fn remove(&mut self, header: &SfrpHeader) -> Option<RemotePeer> {
        let at = self.all.iter().position(|peer| peer.is(header))?;
        Some(self.all.swap_remove(at))
    }

    /// Forgets the partners of a queue pair.
    pub fn remove_queue(&mut self, queue: u16) -> Vec<RemotePeer> {
        self.all.extract_if(.., |peer| peer.receiver_queue == queue).collect()
    }

    pub fn of_queue(&self, queue: u16) -> Option<&RemotePeer> {
        self.all.iter().find(|peer| peer.receiver_queue == queue)
    }

    /// The initiator to which a response goes.
    pub fn of_response(&mut self, response: &SfrpHeader) -> Option<&mut RemotePeer> {
        self.all.iter_mut().find(|peer| {
            (peer.sender, peer.sender_queue, peer.receiver_queue)
                == (response.receiver, response.receiver_queue, response.sender_queue)
        })
    }

    pub fn drain(&mut self) -> Vec<RemotePeer> {
        std::mem::take(&mut self.all)
    }
}
