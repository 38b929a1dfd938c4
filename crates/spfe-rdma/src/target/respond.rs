//! Responses that wait to be sent.

use super::peer::RemotePeer;
use crate::direct::Payload;
use crate::local::LocalMemory;
use crate::region::{RegionSource, RegionTable, RemoteKey};
use spfe_proto::NoRoom;
use spfe_proto::sfrp::{Flags, ReplyPath, SfrpHeader, SfrpSegments, SfrpStatus};
use std::collections::VecDeque;

/// Number of waiting responses of a virtual channel beyond which requests wait.
const RESPONSES_MAX: usize = 256;
/// Virtual channels.
const VCS: usize = 32;

enum Body {
    /// One packet with this payload.
    Packet(Vec<u8>),
    /// One packet with these 8 bytes.
    Word([u8; 8]),
    /// The rest of a read: its key, its offset in the region, its length, and the bytes sent.
    Read { key: RemoteKey, offset: u64, total: u32, sent: u32 },
}

struct Response {
    header: SfrpHeader,
    path: ReplyPath,
    body: Body,
    /// It is not sent before.
    ready_ns: u64,
}

/// Responses in the order of their requests, by virtual channel.
pub struct Responses {
    queues: [VecDeque<Response>; VCS],
    /// Time of the packet that is being handled.
    pub now_ns: u64,
    /// Reads that have ended since the owner looked, by the header of their response.
    ended: Vec<SfrpHeader>,
}

impl Default for Responses {
    fn default() -> Self {
        Self { queues: std::array::from_fn(|_| VecDeque::new()), now_ns: 0, ended: Vec::new() }
    }
}

impl Responses {
    /// Whether a virtual channel has as many responses as it may have.
    pub fn is_full(&self, vc: u8) -> bool {
        self.queues.get(usize::from(vc)).is_none_or(|queue| queue.len() >= RESPONSES_MAX)
    }

    pub fn is_waiting(&self, vc: u8) -> bool {
        self.queues.get(usize::from(vc)).is_some_and(|queue| !queue.is_empty())
    }

    pub fn ready_ns(&self, vc: u8) -> Option<u64> {
        Some(self.queues.get(usize::from(vc))?.front()?.ready_ns)
    }

    fn push(&mut self, vc: u8, header: SfrpHeader, path: ReplyPath, body: Body) {
        let ready_ns = self.now_ns;
        self.queues[usize::from(vc) % VCS].push_back(Response { header, path, body, ready_ns });
    }

    /// Answers a request with OK.
    pub fn put(&mut self, request: &SfrpHeader, vc: u8, payload: &[u8], immediate: u32) {
        self.put_executed(request, vc, payload, immediate, 0);
    }

    /// Answers a request with OK and the number of bytes executed.
    pub fn put_executed(
        &mut self,
        request: &SfrpHeader,
        vc: u8,
        payload: &[u8],
        immediate: u32,
        bytes: u64,
    ) {
        let mut header = request.response(SfrpStatus::OK);
        (header.length, header.immediate, header.address) =
            (payload.len() as u32, immediate, bytes);
        header.flags |= Flags::PAYLOAD_CRC.when(!payload.is_empty());
        let body = match payload.try_into() {
            Ok(word) => Body::Word(word),
            Err(_) => Body::Packet(payload.to_vec()),
        };
        self.push(vc, header, request.reply_path, body);
    }

    /// Refuses a request of which `bytes` have been executed.
    pub fn refuse(
        &mut self,
        request: &SfrpHeader,
        vc: u8,
        status: SfrpStatus,
        immediate: u32,
        bytes: u64,
    ) {
        let header = SfrpHeader { immediate, address: bytes, ..request.response(status) };
        self.push(vc, header, request.reply_path, Body::Packet(Vec::new()));
    }

    /// Answers a read, whose region is held until the answer has been sent.
    pub fn read(&mut self, request: &SfrpHeader, vc: u8, offset: u64) {
        let (key, total) = (RemoteKey(request.key), request.length);
        let body = Body::Read { key, offset, total, sent: 0 };
        self.push(vc, request.response(SfrpStatus::OK), request.reply_path, body);
    }

    /// Sends something that is no response. The newest announcement replaces one that waits.
    pub fn announce(&mut self, header: SfrpHeader, path: ReplyPath, vc: u8) {
        let queue = &mut self.queues[usize::from(vc) % VCS];
        if let Some(last) = queue.back_mut()
            && (last.header.code, last.header.receiver, last.header.receiver_queue)
                == (header.code, header.receiver, header.receiver_queue)
        {
            last.header = header;
            return;
        }
        self.push(vc, header, path, Body::Packet(Vec::new()));
    }

    /// Whether the next response of a virtual channel needs no path bytes.
    pub fn is_near(&self, vc: u8) -> bool {
        let next = self.queues.get(usize::from(vc)).and_then(VecDeque::front);
        next.is_some_and(|response| response.path.as_bytes().is_empty())
    }

    /// Writes the next packet of a virtual channel.
    pub fn next(
        &mut self,
        vc: u8,
        regions: &mut RegionTable,
        segment_bytes: u32,
        program: &dyn LocalMemory,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        self.next_with(vc, regions, segment_bytes, program, |header, path, payload| {
            packet(header, path, payload, out);
            out.len()
        })
    }

    /// Gives away header, path and payload of the next packet of a virtual channel.
    pub fn next_with<R>(
        &mut self,
        vc: u8,
        regions: &mut RegionTable,
        segment_bytes: u32,
        program: &dyn LocalMemory,
        give: impl FnOnce(&SfrpHeader, &[u8], Payload<'_>) -> R,
    ) -> Option<R> {
        let queue = self.queues.get_mut(usize::from(vc))?;
        let response = queue.front_mut()?;
        let path = response.path.as_bytes();
        let (done, given) = match &mut response.body {
            Body::Packet(payload) => (true, give(&response.header, path, Payload::Bytes(payload))),
            Body::Word(word) => (true, give(&response.header, path, Payload::Bytes(word))),
            Body::Read { key, offset, total, sent } => {
                let segments = SfrpSegments::new(*offset, *total, segment_bytes);
                let segment = segments.starting_at(*sent).next()?;
                let mut header = SfrpHeader {
                    length: segment.length,
                    address: segment.offset.into(),
                    flags: Flags::FIRST.when(segment.first) | Flags::LAST.when(segment.last),
                    ..response.header
                };
                header.flags |= Flags::PAYLOAD_CRC.when(segment.length > 0);
                let at = *offset + u64::from(segment.offset);
                *sent += segment.length;
                let region = regions.get(*key).filter(|_| !regions.is_revoked(*key));
                let readable = region.map(|region| region.can_read(program, at, segment.length));
                let given = match (region, readable) {
                    (Some(region), Some(true)) => {
                        let source = &RegionSource { region, program };
                        give(&header, path, Payload::Stored { source, offset: at })
                    }
                    (_, readable) => {
                        let status = readable.map_or(SfrpStatus::REVOKED, |_| SfrpStatus::MEMORY);
                        (header.status, header.length) = (status.0, 0);
                        header.flags = Flags::LAST | Flags::FIRST.when(segment.first);
                        give(&header, path, Payload::Bytes(&[]))
                    }
                };
                let ends = header.has(Flags::LAST);
                if ends {
                    regions.release(*key);
                    self.ended.push(header);
                }
                (ends, given)
            }
        };
        if done {
            queue.pop_front();
        }
        Some(given)
    }

    /// Reads whose last packet has been written, by the header of that packet.
    pub fn ended(&mut self) -> impl Iterator<Item = SfrpHeader> {
        self.ended.drain(..)
    }

    /// Discards what waits for an initiator that is gone.
    pub fn release(&mut self, regions: &mut RegionTable, peer: &RemotePeer) {
        self.remove(regions, |header| {
            (header.receiver, header.receiver_queue, header.sender_queue)
                == (peer.sender, peer.sender_queue, peer.receiver_queue)
        });
    }

    /// Discards everything.
    pub fn clear(&mut self, regions: &mut RegionTable) {
        self.remove(regions, |_| true);
    }

    fn remove(&mut self, regions: &mut RegionTable, gone: impl Fn(&SfrpHeader) -> bool) {
        for queue in &mut self.queues {
            queue.retain(|response| {
                let gone = gone(&response.header);
                if let (true, Body::Read { key, .. }) = (gone, &response.body) {
                    regions.release(*key);
                }
                !gone
            });
        }
    }
}

/// Writes a packet behind its path.
fn packet(header: &SfrpHeader, path: &[u8], payload: Payload<'_>, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(path);
    out.resize(path.len() + header.packet_bytes(), 0);
    let written = header.encode_with::<NoRoom>(&mut out[path.len()..], |place| {
        // The memory was there a moment ago.
        if payload.copy_to(place).is_err() {
            place.fill(0);
        }
        Ok(())
    });
    debug_assert_eq!(written, Ok(header.packet_bytes()));
}
