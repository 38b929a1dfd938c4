//! What an initiator sends, and its timers.

use super::completion::{Execution, WorkError};
use super::waiting::PairWait;
use super::work::{WorkKind, WorkProgress};
use super::{PairState, RdmaInitiator};
use crate::direct::{Payload, PayloadFault, Taker};
use crate::local::{LocalFault, LocalMemory, scatter};
use spfe_proto::NoRoom;
use spfe_proto::sfrp::{Flags, Opcode, SfrpHeader, SfrpSegment, SfrpSegments};

/// Why a packet was not written.
enum Unwritten {
    NoRoom,
    Local,
}

impl From<NoRoom> for Unwritten {
    fn from(_: NoRoom) -> Self {
        Self::NoRoom
    }
}

impl From<LocalFault> for Unwritten {
    fn from(_: LocalFault) -> Self {
        Self::Local
    }
}

impl From<PayloadFault> for Unwritten {
    fn from(_: PayloadFault) -> Self {
        Self::Local
    }
}

/// Where packets go.
enum Way<'a> {
    /// Into this buffer, behind the path.
    Packet(&'a mut [u8]),
    /// To somebody who takes them at once.
    Direct(Taker<'a>),
}

impl Way<'_> {
    /// Sends a packet. Returns its bytes, path included.
    fn send(
        &mut self,
        path: &[u8],
        header: &SfrpHeader,
        payload: Payload<'_>,
    ) -> Result<usize, Unwritten> {
        match self {
            Self::Packet(out) => {
                let (before, place) =
                    out.split_at_mut_checked(path.len()).ok_or(Unwritten::NoRoom)?;
                let bytes =
                    header.encode_with::<Unwritten>(place, |place| Ok(payload.copy_to(place)?))?;
                before.copy_from_slice(path);
                Ok(path.len() + bytes)
            }
            Self::Direct(take) => {
                take(header, payload);
                Ok(header.packet_bytes())
            }
        }
    }
}

impl RdmaInitiator {
    /// Bytes that a packet needs at most.
    pub fn packet_bytes_max(&self) -> usize {
        const AROUND: usize = spfe_proto::sfrp::HEADER_MAX + spfe_proto::sfrp::PAYLOAD_CRC_BYTES;
        self.options.path.len() + AROUND + self.options.segment_bytes as usize
    }

    /// Writes the next packet, path included, and returns its length. `None` if there is nothing to
    /// send now: see [`RdmaInitiator::wake_ns`]. Runs the timers.
    pub fn transmit(
        &mut self,
        now_ns: u64,
        memory: &impl LocalMemory,
        out: &mut [u8],
    ) -> Option<usize> {
        if out.len() < self.packet_bytes_max() {
            return None;
        }
        self.send(now_ns, memory, &mut Way::Packet(out))
    }

    /// Whether its packets need no path bytes in either direction, so that they can be handed over.
    pub fn is_near(&self) -> bool {
        self.options.path.is_empty() && self.options.reply_path.as_bytes().is_empty()
    }

    /// Hands the next packet over ([`crate::direct`]) instead of writing it, if the initiator is near.
    /// Otherwise as [`RdmaInitiator::transmit`].
    pub fn hand(
        &mut self,
        now_ns: u64,
        memory: &impl LocalMemory,
        take: Taker<'_>,
    ) -> Option<usize> {
        if !self.is_near() {
            return None;
        }
        self.send(now_ns, memory, &mut Way::Direct(take))
    }

    fn send(&mut self, now_ns: u64, memory: &impl LocalMemory, way: &mut Way<'_>) -> Option<usize> {
        self.run_timers(now_ns);
        match self.state {
            PairState::Reset | PairState::Error => None,
            PairState::Connecting => self.transmit_connect(now_ns, way),
            PairState::Ready => self.transmit_next(now_ns, memory, way),
        }
    }

    fn transmit_next(
        &mut self,
        now_ns: u64,
        memory: &impl LocalMemory,
        way: &mut Way<'_>,
    ) -> Option<usize> {
        self.skip_done();
        if let Some(waiting) = self.waits(now_ns) {
            if matches!(waiting, PairWait::Credit { .. }) && self.starved_ns == 0 {
                self.starved_ns = now_ns.max(1);
            }
            return None;
        }
        match self.transmit_work(now_ns, memory, way) {
            Ok(bytes) => Some(bytes),
            Err(Unwritten::NoRoom) => None,
            Err(Unwritten::Local) => {
                let sent = self.work.get(self.cursor).map(|work| work.progress);
                let execution = match sent {
                    Some(WorkProgress::Waiting) => Execution::NotExecuted,
                    _ => Execution::Unknown,
                };
                self.fail(self.cursor, WorkError::LocalMemory(execution), Execution::Unknown);
                None
            }
        }
    }

    pub(super) fn header(&self, opcode: Opcode) -> SfrpHeader {
        SfrpHeader {
            receiver: self.options.target,
            protocol: self.options.protocol,
            status: self.options.reply_vc,
            sender: self.options.address,
            reply_path: self.options.reply_path,
            sender_queue: self.options.queue,
            receiver_queue: self.options.target_queue,
            ..SfrpHeader::request(opcode)
        }
    }

    /// Writes a question that has no place in the sequence, such as INFO. Returns its length and the
    /// number that the response carries.
    pub fn ask(&mut self, opcode: Opcode, out: &mut [u8]) -> Option<(usize, u32)> {
        let request = self.request();
        let flags = Flags::ACK | Flags::FIRST | Flags::LAST;
        let header = SfrpHeader { request, flags, ..self.header(opcode) };
        Some((self.put(&header, &mut Way::Packet(out))?, request))
    }

    /// Writes a packet without payload behind the path.
    fn put(&mut self, header: &SfrpHeader, way: &mut Way<'_>) -> Option<usize> {
        let bytes = way.send(&self.options.path, header, Payload::Bytes(&[])).ok()?;
        self.counts.packets += 1;
        Some(bytes)
    }

    fn transmit_connect(&mut self, now_ns: u64, way: &mut Way<'_>) -> Option<usize> {
        if now_ns < self.connecting.again_ns {
            return None;
        }
        let retry = Flags::RETRY.when(self.connecting.attempts > 0);
        if !self.connect_again(now_ns) {
            return None;
        }
        let header = SfrpHeader {
            flags: Flags::ACK | Flags::FIRST | Flags::LAST | retry,
            request: self.connecting.request,
            sequence: self.base.wrapping_sub(1),
            ..self.header(Opcode::Connect)
        };
        self.put(&header, way)
    }

    /// Moves on to the next request that has something to send.
    fn skip_done(&mut self) {
        while let Some(work) = self.work.get(self.cursor)
            && work.progress == WorkProgress::Done
        {
            (self.cursor, self.offset) = (self.cursor + 1, 0);
        }
    }

    /// What the queue waits for before it can send; `None` if it can.
    pub(super) fn waits(&self, now_ns: u64) -> Option<PairWait> {
        if self.cursor >= self.rung {
            return Some(self.waits_for_answer());
        }
        if self.pause_ns > now_ns {
            return Some(PairWait::Receiver { until_ns: self.pause_ns });
        }
        if self.offset > 0 {
            return None;
        }
        let work = self.work.get(self.cursor)?;
        let outstanding = |limit: usize| {
            let earlier = self.work.iter().take(limit);
            earlier.filter(|work| {
                work.request.kind.brings_data() && work.progress == WorkProgress::Sent
            })
        };
        if work.request.flags.fence && outstanding(self.cursor).next().is_some() {
            return Some(PairWait::Fence);
        }
        if work.progress != WorkProgress::Waiting {
            return None;
        }
        if self.cursor >= self.options.window {
            return Some(PairWait::Window { messages: self.options.window });
        }
        if work.request.kind.brings_data() && outstanding(self.cursor).count() >= self.options.reads
        {
            return Some(PairWait::Reads { reads: self.options.reads });
        }
        let allowed = self.credit.wrapping_sub(self.sends) as i32;
        if work.request.takes_buffer() && allowed <= 0 {
            // The announcement may be lost: after a while a message is tried without.
            let since = if self.starved_ns == 0 { now_ns } else { self.starved_ns };
            let until_ns = since.saturating_add(self.options.timeout_ns);
            if now_ns < until_ns {
                return Some(PairWait::Credit { until_ns });
            }
        }
        None
    }

    /// Writes the next packet of the request at the cursor.
    fn transmit_work(
        &mut self,
        now_ns: u64,
        memory: &impl LocalMemory,
        way: &mut Way<'_>,
    ) -> Result<usize, Unwritten> {
        let (index, offset) = (self.cursor, self.offset);
        let sequence = self.sequence(index);
        let Some(work) = self.work.get(index) else { return Err(Unwritten::NoRoom) };
        let starts = work.progress == WorkProgress::Waiting;
        // Half a window without an acknowledgement: ask for one, so that the window never closes.
        let half = self.unasked + 1 >= self.options.window.div_ceil(2);
        let asks = work.asks || work.ends_group || half || work.request.kind.brings_data();
        let segment = self.segment(index, offset);
        let mut header = self.header(work.request.kind.opcode());
        (header.request, header.sequence) = (work.number, sequence);
        (header.key, header.length) = (work.request.key, segment.length);
        header.address = match work.request.kind {
            WorkKind::Send => u64::from(work.bytes) << 32 | u64::from(segment.offset),
            _ => work.request.address.wrapping_add(segment.offset.into()),
        };
        header.flags = Flags::FIRST.when(segment.first) | Flags::RETRY.when(work.retry);
        if segment.last {
            header.flags |= Flags::LAST;
            header.flags |= Flags::ACK.when(asks);
            header.flags |= Flags::SOLICITED.when(work.request.flags.solicited);
            header.flags |= Flags::IMMEDIATE.when(work.request.immediate.is_some());
            header.immediate = work.request.immediate.unwrap_or(0);
        }
        let mut operands = [0; 16];
        match work.request.kind {
            WorkKind::FetchAdd { add } => {
                operands[..8].copy_from_slice(&add.to_be_bytes());
                header.length = 8;
            }
            WorkKind::CompareSwap { compare, swap } => {
                operands[..8].copy_from_slice(&compare.to_be_bytes());
                operands[8..].copy_from_slice(&swap.to_be_bytes());
                header.length = 16;
            }
            _ => {}
        }
        header.flags |= Flags::PAYLOAD_CRC.when(header.payload_bytes() > 0);
        let (from, length) = (segment.offset, header.payload_bytes());
        let payload = match (&work.request.inline, work.request.kind.opcode().is_atomic()) {
            (_, true) => Payload::Bytes(&operands[..length]),
            (Some(inline), _) => {
                let bytes = inline.get(from as usize..from as usize + length);
                Payload::Bytes(bytes.ok_or(Unwritten::Local)?)
            }
            (None, _) => {
                scatter(&work.request.local, from, length as u32, |piece, _| {
                    memory.can_read(piece).then_some(()).ok_or(LocalFault(piece))
                })?;
                Payload::Pieces { memory, pieces: &work.request.local, offset: from }
            }
        };
        let bytes = way.send(&self.options.path, &header, payload)?;
        self.sent(index, &segment, asks, starts, now_ns);
        self.counts.bytes += length as u64;
        Ok(bytes)
    }

    /// The part of a request that one packet carries.
    fn segment(&self, index: usize, offset: u32) -> SfrpSegment {
        let work = &self.work[index];
        let whole = SfrpSegment { offset: 0, length: work.bytes, first: true, last: true };
        let address = match work.request.kind {
            WorkKind::Write => work.request.address,
            WorkKind::Send => 0,
            _ => return whole,
        };
        let segments = SfrpSegments::new(address, work.bytes, self.options.segment_bytes);
        segments.starting_at(offset).next().unwrap_or(whole)
    }

    /// Notes that a packet was sent.
    fn sent(&mut self, index: usize, segment: &SfrpSegment, asks: bool, starts: bool, now_ns: u64) {
        self.counts.packets += 1;
        self.progress_ns = now_ns;
        let work = &mut self.work[index];
        self.counts.resent += u64::from(work.retry);
        work.progress = WorkProgress::Sent;
        if starts && work.request.takes_buffer() {
            self.sends = self.sends.wrapping_add(1);
            self.starved_ns = 0;
            if (self.credit.wrapping_sub(self.sends) as i32) < 0 {
                self.credit = self.sends;
                self.counts.probes += 1;
            }
        }
        if segment.last {
            work.asks = asks;
            self.unasked = if asks { 0 } else { self.unasked + 1 };
            (self.cursor, self.offset) = (index + 1, 0);
        } else {
            self.offset = segment.offset + segment.length;
        }
    }

    /// Repeats from a message on.
    pub(super) fn go_back(&mut self, index: usize) {
        for work in self.work.iter_mut().skip(index).take(self.cursor + 1 - index.min(self.cursor))
        {
            if work.progress == WorkProgress::Sent {
                work.retry = true;
            }
        }
        (self.cursor, self.offset, self.unasked) = (index, 0, 0);
    }

    /// Repeats the oldest message that has brought no progress for too long, or gives up.
    fn run_timers(&mut self, now_ns: u64) {
        if self.state != PairState::Ready || now_ns < self.timer_ns() {
            return;
        }
        let oldest = self.work.iter().position(|work| work.progress == WorkProgress::Sent);
        let Some(index) = oldest else { return };
        self.counts.timeouts += 1;
        self.progress_ns = now_ns;
        self.try_again(index, WorkError::RetryExceeded);
    }

    /// Runs the timers while the network takes no packets, so that nothing waits for ever.
    pub fn tick(&mut self, now_ns: u64) {
        self.run_timers(now_ns);
        if self.state == PairState::Connecting && now_ns >= self.connecting.again_ns {
            self.connect_again(now_ns);
        }
    }

    /// Counts an attempt to connect. False after the last one.
    fn connect_again(&mut self, now_ns: u64) -> bool {
        if self.connecting.attempts > self.options.retries {
            self.rung = self.work.len();
            if self.work.is_empty() {
                self.state = PairState::Error;
            } else {
                self.fail(0, WorkError::RetryExceeded, Execution::NotExecuted);
            }
            return false;
        }
        let wait = self.options.timeout_ns.saturating_mul(1 << self.connecting.attempts);
        self.connecting.again_ns = now_ns.saturating_add(wait);
        self.connecting.attempts += 1;
        true
    }

    /// Repeats from a message on, unless it was repeated often enough.
    pub(super) fn try_again(&mut self, index: usize, error: WorkError) {
        let Some(work) = self.work.get_mut(index) else { return };
        work.attempts += 1;
        // The acknowledgement that was to cover it may never be asked for.
        work.asks = true;
        if work.attempts > self.options.retries {
            self.fail(index, error, Execution::Unknown);
        } else {
            self.go_back(index);
        }
    }

    /// When the oldest message is repeated; the end of time if nothing is outstanding.
    fn timer_ns(&self) -> u64 {
        let mut sent = self.work.iter().filter(|work| work.progress == WorkProgress::Sent);
        let Some(oldest) = sent.next() else { return u64::MAX };
        let wait = self.options.timeout_ns.saturating_mul(1 << oldest.attempts.min(16));
        self.progress_ns.max(self.pause_ns).saturating_add(wait)
    }

    /// When [`RdmaInitiator::transmit`] has to be called again, unless packets arrive or a ring releases
    /// requests before; the end of time if nothing is outstanding.
    pub fn wake_ns(&self, now_ns: u64) -> u64 {
        match self.state {
            PairState::Reset | PairState::Error => u64::MAX,
            PairState::Connecting => self.connecting.again_ns,
            PairState::Ready => match self.waits(now_ns) {
                None => now_ns,
                Some(PairWait::Receiver { until_ns } | PairWait::Credit { until_ns }) => {
                    until_ns.min(self.timer_ns())
                }
                Some(_) => self.timer_ns(),
            },
        }
    }

    pub(super) fn waits_for_answer(&self) -> PairWait {
        let oldest = self.work.iter().position(|work| work.progress == WorkProgress::Sent);
        match oldest.and_then(|index| Some((index, self.work.get(index)?))) {
            None => PairWait::Nothing,
            Some((index, work)) => PairWait::Answer {
                opcode: work.request.kind.opcode(),
                sequence: self.sequence(index),
                attempts: work.attempts,
                until_ns: self.timer_ns(),
            },
        }
    }
}
