//! Requests in sequence: steps 8 to 13 of the checks.

use super::READS_MAX;
use super::notify::Notification;
use super::peer::{Open, RemotePeer};
use super::{
    Dropped, Handled, NOT_READY_US, NOTE_BYTES, RdmaTarget, Refusal, Request, key, wants_answer,
};
use crate::local::LocalMemory;
use crate::region::RegionRights;
use spfe_proto::sfrp::{Flags, Opcode, READ_MAX, SfrpHeader, SfrpStatus};
use std::cmp::Ordering;

const READ: RegionRights = RegionRights { read: true, write: false, atomic: false };
const WRITE: RegionRights = RegionRights { read: false, write: true, atomic: false };
const ATOMIC: RegionRights = RegionRights { read: false, write: false, atomic: true };

impl RdmaTarget {
    /// Executes a request if it is next in its sequence.
    pub(super) fn in_sequence(
        &mut self,
        request: &Request<'_>,
        program: &mut dyn LocalMemory,
    ) -> Handled {
        let (header, vc) = (&request.header, request.vc);
        self.end_reads();
        if !self.has_queue(header.receiver_queue) {
            return self.refuse(header, vc, SfrpStatus::BAD_QUEUE, 0);
        }
        let Some((peer, gone)) = self.peers.find_or_start(header, vc) else {
            return self.refuse(header, vc, SfrpStatus::BAD_QUEUE, 0);
        };
        let expected = peer.expected;
        let order = (header.sequence.wrapping_sub(expected) as i16).cmp(&0);
        if let Some(gone) = gone {
            self.responses.release(&mut self.regions, &gone);
        }
        match order {
            Ordering::Less => self.repeated(request),
            Ordering::Greater => self.missing(request, expected),
            Ordering::Equal => self.expected(request, program),
        }
    }

    /// Reads whose answer has gone out no longer count as outstanding.
    fn end_reads(&mut self) {
        for response in self.responses.ended() {
            if let Some(peer) = self.peers.of_response(&response) {
                peer.reads = peer.reads.saturating_sub(1);
            }
        }
    }

    fn peer(&mut self, header: &SfrpHeader) -> &mut RemotePeer {
        self.peers.find(header).expect("looked up before")
    }

    /// Reports a gap, once.
    fn missing(&mut self, request: &Request<'_>, expected: u16) -> Handled {
        let header = &request.header;
        let peer = self.peer(header);
        if peer.told || peer.failed.is_some() {
            return Handled::Dropped(Dropped::Drained);
        }
        peer.told = true;
        self.refuse(header, request.vc, SfrpStatus::SEQUENCE, expected.into())
    }

    /// A message that was executed before: answers it again.
    fn repeated(&mut self, request: &Request<'_>) -> Handled {
        let (header, vc) = (&request.header, request.vc);
        if let Err(status) = request.payload() {
            return self.refuse(header, vc, status, 0);
        }
        match request.opcode {
            Opcode::Read => match self.read(request) {
                Ok(()) => {}
                Err(refusal) => return self.refuse(header, vc, refusal.status, refusal.immediate),
            },
            Opcode::FetchAdd | Opcode::CompareSwap => {
                let Some(old) = self.peer(header).result(header.sequence) else {
                    return Handled::Dropped(Dropped::Forgotten);
                };
                self.responses.put(header, vc, &old.to_be_bytes(), 0);
            }
            opcode => {
                if wants_answer(header) || opcode == Opcode::Flush {
                    let credit = self.credit_of(header);
                    self.responses.put(header, vc, &[], credit);
                }
            }
        }
        Handled::Repeated(request.opcode)
    }

    /// The next message, or the next part of it.
    fn expected(&mut self, request: &Request<'_>, program: &mut dyn LocalMemory) -> Handled {
        let (header, vc) = (&request.header, request.vc);
        let peer = self.peer(header);
        if header.has(Flags::FIRST) {
            if let Some((status, immediate)) = peer.failed {
                return self.refuse(header, vc, status, immediate);
            }
            (peer.open, peer.drain, peer.told) = (None, None, false);
        } else if peer.drain == Some(header.request) || peer.failed.is_some() {
            return Handled::Dropped(Dropped::Drained);
        } else {
            match peer.open {
                Some(open) if open.request == header.request && header.address == open.next => {}
                // The network repeated a packet.
                Some(open)
                    if open.request == header.request
                        && (open.start..open.next).contains(&header.address) =>
                {
                    return Handled::Repeated(request.opcode);
                }
                _ => return self.missing(request, header.sequence),
            }
        }
        match self.execute(request, program) {
            Ok(()) => Handled::Executed(request.opcode),
            Err(refusal) => self.refuse_expected(request, &refusal),
        }
    }

    fn refuse_expected(&mut self, request: &Request<'_>, refusal: &Refusal) -> Handled {
        let (header, vc, status) = (&request.header, request.vc, refusal.status);
        let peer = self.peer(header);
        let done = peer.open.map_or(0, |open| open.next.wrapping_sub(open.start));
        (peer.drain, peer.told, peer.open) = (Some(header.request), true, None);
        if !status.is_transient() {
            peer.failed = Some((status, refusal.immediate));
        }
        self.responses.refuse(header, vc, status, refusal.immediate, done);
        Handled::Refused(status)
    }

    fn execute(
        &mut self,
        request: &Request<'_>,
        program: &mut dyn LocalMemory,
    ) -> Result<(), Refusal> {
        match request.opcode {
            Opcode::Write => self.write(request, program),
            Opcode::Send => self.send(request, program),
            Opcode::FetchAdd | Opcode::CompareSwap => self.atomic(request, program),
            Opcode::Read => {
                request.payload()?;
                self.read(request)?;
                self.peer(&request.header).advance();
                self.notify(request, request.header.length, &[]);
                Ok(())
            }
            _ => {
                request.payload()?;
                self.peer(&request.header).advance();
                self.responses.put(&request.header, request.vc, &[], 0);
                Ok(())
            }
        }
    }

    fn read(&mut self, request: &Request<'_>) -> Result<(), Refusal> {
        let header = &request.header;
        let (key, length) = (key(header), header.length);
        let found = self.regions.check(key, header.address, length.into(), READ, header.sender);
        let offset = found?.1;
        if length > READ_MAX {
            return Err(SfrpStatus::BAD_LENGTH.into());
        }
        let peer = self.peer(header);
        if peer.reads >= READS_MAX {
            return Err(SfrpStatus::BUSY.into());
        }
        peer.reads += 1;
        self.regions.hold(key);
        self.responses.read(header, request.vc, offset);
        Ok(())
    }

    fn write(
        &mut self,
        request: &Request<'_>,
        program: &mut dyn LocalMemory,
    ) -> Result<(), Refusal> {
        let header = &request.header;
        let length = u64::from(header.length);
        let (address, last) = (header.address, header.has(Flags::LAST));
        let (region, offset) =
            self.regions.check(key(header), address, length, WRITE, header.sender)?;
        if header.length > self.options.segment_bytes {
            return Err(SfrpStatus::BAD_LENGTH.into());
        }
        let data = request.payload()?;
        let to_queue = last && header.has(Flags::IMMEDIATE);
        if to_queue && let Some(queue) = self.queues.get(&header.receiver_queue) {
            queue.front().ok_or_else(not_ready)?;
        }
        region.write_payload(program, offset, header.length, data)?;
        let peer = self.peers.find(header).expect("looked up before");
        let start = peer.open.map_or(address, |open| open.start);
        let next = address.wrapping_add(length);
        peer.open = Some(Open { request: header.request, next, start });
        if last {
            let total = next.wrapping_sub(start);
            peer.advance();
            if to_queue && let Some(queue) = self.queues.get_mut(&header.receiver_queue) {
                queue.complete(header, total as u32, SfrpStatus::OK);
            }
            self.notify(request, total as u32, &[]);
            self.acknowledge(request, total);
        }
        Ok(())
    }

    fn send(
        &mut self,
        request: &Request<'_>,
        program: &mut dyn LocalMemory,
    ) -> Result<(), Refusal> {
        let header = &request.header;
        let (total, offset) = ((header.address >> 32) as u32, header.address as u32);
        let (length, last) = (header.length, header.has(Flags::LAST));
        let end = offset.checked_add(length).filter(|end| *end <= total);
        let end = end.ok_or(SfrpStatus::BAD_LENGTH)?;
        if length > self.options.segment_bytes
            || last != (end == total)
            || header.has(Flags::FIRST) != (offset == 0)
        {
            return Err(SfrpStatus::BAD_LENGTH.into());
        }
        if header.receiver_queue == 0 {
            return self.note(request, total);
        }
        let queue = self.queues.get_mut(&header.receiver_queue).ok_or(SfrpStatus::BAD_QUEUE)?;
        let room = queue.front().ok_or_else(not_ready)?;
        if total as usize > room {
            queue.complete(header, total, SfrpStatus::MESSAGE_TOO_LONG);
            let (status, immediate) = (SfrpStatus::MESSAGE_TOO_LONG, room as u32);
            return Err(Refusal { status, immediate });
        }
        let data = request.payload()?;
        if !queue.fill(offset as usize, length as usize, data, program) {
            return Err(SfrpStatus::MEMORY.into());
        }
        if last {
            queue.complete(header, total, SfrpStatus::OK);
        }
        let peer = self.peer(header);
        let start = u64::from(total) << 32;
        let next = header.address + u64::from(length);
        peer.open = Some(Open { request: header.request, next, start });
        if last {
            peer.advance();
            self.acknowledge(request, total.into());
        }
        Ok(())
    }

    /// A message to a target without receive queues: it becomes a notification.
    fn note(&mut self, request: &Request<'_>, total: u32) -> Result<(), Refusal> {
        let header = &request.header;
        if !self.notifications.exist() {
            return Err(SfrpStatus::BAD_QUEUE.into());
        }
        if total as usize > NOTE_BYTES {
            let (status, immediate) = (SfrpStatus::MESSAGE_TOO_LONG, NOTE_BYTES as u32);
            return Err(Refusal { status, immediate });
        }
        let mut space = [0; NOTE_BYTES];
        let data =
            request.payload()?.small(total as usize, &mut space).map_err(SfrpStatus::from)?;
        let peer = self.peer(header);
        peer.sends = peer.sends.wrapping_add(1);
        peer.advance();
        self.notify(request, total, data);
        self.acknowledge(request, total.into());
        Ok(())
    }

    /// Atomic operations work on 8 bytes in little-endian order, the order of the host.
    fn atomic(
        &mut self,
        request: &Request<'_>,
        program: &mut dyn LocalMemory,
    ) -> Result<(), Refusal> {
        let (header, vc) = (&request.header, request.vc);
        let operands = if request.opcode == Opcode::FetchAdd { 1 } else { 2 };
        let (region, offset) =
            self.regions.check(key(header), header.address, 8, ATOMIC, header.sender)?;
        if header.length as usize != operands * 8 || !header.address.is_multiple_of(8) {
            return Err(SfrpStatus::BAD_LENGTH.into());
        }
        let mut space = [0; NOTE_BYTES];
        let data = request.payload()?.small(operands * 8, &mut space).map_err(SfrpStatus::from)?;
        let operand = |index: usize| {
            let bytes = data.as_chunks::<8>().0.get(index).copied().unwrap_or_default();
            u64::from_be_bytes(bytes)
        };
        let old = region.update(program, offset, |old| match request.opcode {
            Opcode::FetchAdd => old.wrapping_add(operand(0)),
            _ if old == operand(0) => operand(1),
            _ => old,
        })?;
        let peer = self.peer(header);
        peer.keep(header.sequence, old);
        peer.advance();
        self.notify(request, 8, &[]);
        self.responses.put_executed(header, vc, &old.to_be_bytes(), 0, 8);
        Ok(())
    }

    fn acknowledge(&mut self, request: &Request<'_>, bytes: u64) {
        let header = &request.header;
        if wants_answer(header) {
            let credit = self.credit_of(header);
            self.responses.put_executed(header, request.vc, &[], credit, bytes);
        }
    }

    /// Tells the software of the target, if it wants to know.
    fn notify(&mut self, request: &Request<'_>, length: u32, data: &[u8]) {
        let header = &request.header;
        let region = self.regions.get(key(header)).filter(|_| request.opcode != Opcode::Send);
        let wanted = request.opcode == Opcode::Send
            || header.has(Flags::SOLICITED)
            || region.is_some_and(|region| region.notify);
        if !wanted {
            return;
        }
        if region.is_some_and(|region| region.window.is_some() && region.notify)
            && !self.notifications.exist()
            && request.opcode != Opcode::Read
            && !header.has(Flags::IMMEDIATE)
        {
            // Software of a full endpoint is told with a buffer of its queue pair.
            let queue = self.queues.get_mut(&header.receiver_queue);
            if !queue.is_some_and(|queue| queue.note(header, length)) {
                self.counts.notifications_dropped += 1;
            }
            return;
        }
        let mut note = [0; NOTE_BYTES];
        for (to, from) in note.iter_mut().zip(data) {
            *to = *from;
        }
        let notification = Notification {
            time_ns: request.now_ns,
            initiator: header.sender,
            queue: header.sender_queue,
            opcode: request.opcode,
            region: region.map(|_| key(header).index() as u16),
            sequence: header.sequence,
            address: header.address,
            length,
            immediate: header.has(Flags::IMMEDIATE).then_some(header.immediate),
            data: note,
        };
        if !self.notifications.put(notification) {
            self.counts.notifications_dropped += 1;
        }
    }
}

fn not_ready() -> Refusal {
    Refusal { status: SfrpStatus::RECEIVER_NOT_READY, immediate: NOT_READY_US }
}
