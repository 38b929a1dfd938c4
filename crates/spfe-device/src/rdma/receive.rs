//! The receiving side of a queue pair: posted buffers into the target, and messages into buffers.

use super::keys::KeysInUse;
use crate::memory::{AccessRefusal, Address, RegionKey, RegionMap, WRITE};
use crate::queue::{CompletionTime, QueueView, completion};
use crate::shared::{Positions, QueueCounters, bump};
use spfe_contract::{
    self as contract, EntryType, Status, Submission, completion_flags as cf, submit_flags as sf,
};
use spfe_proto::sfrp::{Opcode, SfrpStatus};
use spfe_rdma::target::ReceivedMessage;
use spfe_rdma::{Local, RdmaTarget};
use std::collections::VecDeque;

/// A buffer that was posted. Buffers complete in order, the refused ones too.
struct Posted {
    position: u32,
    place: Result<Local, Status>,
}

/// The RDMA_RX queue of a queue pair.
#[derive(Default)]
pub struct ReceiveSide {
    pub at: Positions,
    posted: VecDeque<Posted>,
}

impl ReceiveSide {
    /// Reads posted buffers. `Err` names a region to map first.
    pub fn fetch(
        &mut self,
        view: &QueueView,
        map: &RegionMap,
        keys: &mut KeysInUse,
        target: &mut RdmaTarget,
        queue: u16,
    ) -> Result<(), RegionKey> {
        // A host that posts into slots it does not own is stopped by the bound of the list.
        while self.posted.len() < view.submissions.size() as usize {
            let position = self.at.submission;
            let Some(entry) = view.submissions.read(position) else { break };
            let place = match check(entry, map, view.config.domain as u16) {
                Err(AccessRefusal::Unmapped(key)) if !keys.is_absent(key) => return Err(key),
                Err(AccessRefusal::Unmapped(_)) => Err(Status::BadRegion),
                Err(AccessRefusal::Fault(status)) => Err(status),
                Ok(place) => Ok(place),
            };
            if let Ok(place) = place {
                if target.post_place(queue, position.into(), place).is_err() {
                    break;
                }
                keys.add(RegionKey(place.memory as u16));
            }
            self.posted.push_back(Posted { position, place });
            self.at.submission = position.wrapping_add(1);
        }
        Ok(())
    }

    /// Writes the completions of messages, and of refused buffers that are next.
    pub fn publish(
        &mut self,
        view: &QueueView,
        keys: &mut KeysInUse,
        (target, queue): (&mut RdmaTarget, u16),
        count: &QueueCounters,
        time: CompletionTime,
    ) {
        while let Some(posted) = self.posted.front() {
            let (position, place) = (posted.position, posted.place);
            let place = match place {
                Ok(place) => place,
                Err(status) => {
                    self.complete(view, position, status, 0, 0, None, time);
                    bump(&count.errors, 1);
                    continue;
                }
            };
            let Ok(Some(message)) = target.received(queue) else { break };
            let status = match message.status {
                SfrpStatus::OK if message.fault => Status::BadRegion,
                SfrpStatus::OK => Status::Ok,
                _ => Status::TooLong,
            };
            keys.remove(RegionKey(place.memory as u16));
            bump(&count.packets, 1);
            bump(&count.bytes, message.bytes.into());
            bump(&count.errors, u64::from(status != Status::Ok));
            let (flags, word) = flags_of(&message);
            self.complete(view, position, status, message.bytes, flags, word, time);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of a completion")]
    fn complete(
        &mut self,
        view: &QueueView,
        posted: u32,
        status: Status,
        bytes: u32,
        flags: u16,
        word: Option<u64>,
        time: CompletionTime,
    ) {
        self.posted.pop_front();
        let mut done = completion(&view.config, posted, status);
        (done.bytes, done.packets, done.flags) = (bytes, 1, flags);
        let position = self.at.completion;
        self.at.completion = position.wrapping_add(1);
        self.at.reported_bytes = self.at.reported_bytes.wrapping_add(bytes.into());
        self.at.urgent |= u32::from(status != Status::Ok);
        if let Some(word) = word {
            view.write_word(position, word);
        }
        view.complete_at(position, done, time);
    }

    /// Completes every posted buffer with a status, for a reset. Returns their number.
    pub fn flush(&mut self, view: &QueueView, status: Status, time: CompletionTime) -> u32 {
        let mut flushed = 0;
        for _ in 0..2 * view.submissions.size() {
            let position = match self.posted.front() {
                Some(posted) => posted.position,
                None => {
                    let position = self.at.submission;
                    if view.submissions.read(position).is_none() {
                        break;
                    }
                    self.at.submission = position.wrapping_add(1);
                    position
                }
            };
            self.complete(view, position, status, 0, 0, None, time);
            flushed += 1;
        }
        flushed
    }
}

/// Flags of a completion, and its word in the second half of the side array.
fn flags_of(message: &ReceivedMessage) -> (u16, Option<u64>) {
    let immediate = message.immediate.map_or(0, |_| cf::IMMEDIATE);
    let (write, key) = match message.opcode {
        Opcode::Send => (0, 0),
        _ => (cf::WRITE, message.key),
    };
    let word = u64::from(key) << 32 | u64::from(message.immediate.unwrap_or(0));
    (immediate | write, (immediate | write != 0).then_some(word))
}

/// The place of a BUFFER entry.
fn check(entry: [u64; 2], map: &RegionMap, domain: u16) -> Result<Local, AccessRefusal> {
    let submission = Submission::from_words(entry);
    let flags = submission.flags & (sf::TYPE_MASK | sf::MBZ_MASK);
    let fault = |status| Err(AccessRefusal::Fault(status));
    if flags & sf::TYPE_MASK != u16::from(EntryType::Buffer.raw()) {
        return fault(Status::BadOpcode);
    }
    if flags & sf::MBZ_MASK != 0 {
        return fault(Status::BadField);
    }
    let length = submission.length;
    if length == 0 {
        return fault(Status::Empty);
    }
    if u64::from(length) > contract::PACKET_MAX_BYTES {
        return fault(Status::TooLong);
    }
    let address = Address(entry[0]);
    map.translate(address, length.into(), domain, WRITE)?;
    let memory = u32::from(address.key().0);
    Ok(Local { memory, offset: address.offset(), length })
}
