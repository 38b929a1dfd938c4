//! What an initiator receives.

use super::completion::{Execution, WorkError};
use super::options::PAUSE_MAX_NS;
use super::work::{Work, WorkKind, WorkProgress};
use super::{PairState, RdmaInitiator};
use crate::direct::{Payload, PayloadFault};
use crate::local::{LocalMemory, scatter};
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Flags, Opcode, SfrpHeader, SfrpStatus};

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitiatorOutcome<'a> {
    /// It answers something outstanding, or announces credit.
    Taken,
    /// It answers nothing that is outstanding.
    Stale,
    /// It is no intact packet for this queue pair.
    Invalid,
    /// It answers a question of [`RdmaInitiator::ask`] with this number.
    Answer(u32, Result<&'a [u8], SfrpStatus>),
}

impl RdmaInitiator {
    /// Takes a packet that arrived.
    pub fn handle<'a>(
        &mut self,
        packet: &'a [u8],
        end: PacketEnd,
        now_ns: u64,
        memory: &mut impl LocalMemory,
    ) -> InitiatorOutcome<'a> {
        let outcome = self.take(packet, end, now_ns, memory);
        self.count(&outcome);
        outcome
    }

    fn take<'a>(
        &mut self,
        packet: &'a [u8],
        end: PacketEnd,
        now_ns: u64,
        memory: &mut impl LocalMemory,
    ) -> InitiatorOutcome<'a> {
        let Ok(header) = SfrpHeader::parse(packet) else { return InitiatorOutcome::Invalid };
        let payload = || Ok(Payload::Bytes(header.payload(packet, end).map_err(drop)?));
        self.take_from(&header, payload, now_ns, memory)
    }

    /// Takes a packet that was handed over ([`crate::direct`]).
    pub fn handle_direct<'a>(
        &mut self,
        header: &SfrpHeader,
        payload: Payload<'a>,
        now_ns: u64,
        memory: &mut impl LocalMemory,
    ) -> InitiatorOutcome<'a> {
        let outcome = self.take_from(header, || Ok(payload), now_ns, memory);
        self.count(&outcome);
        outcome
    }

    fn count(&mut self, outcome: &InitiatorOutcome<'_>) {
        match outcome {
            InitiatorOutcome::Stale => self.counts.stale += 1,
            InitiatorOutcome::Invalid => self.counts.invalid += 1,
            InitiatorOutcome::Taken | InitiatorOutcome::Answer(..) => {}
        }
    }

    fn take_from<'a>(
        &mut self,
        header: &SfrpHeader,
        payload: impl FnOnce() -> Result<Payload<'a>, ()>,
        now_ns: u64,
        memory: &mut impl LocalMemory,
    ) -> InitiatorOutcome<'a> {
        let ours = header.receiver == self.options.address
            && header.protocol == self.options.protocol
            && header.receiver_queue == self.options.queue
            && header.sender_queue == self.options.target_queue;
        let Some(opcode) = header.opcode().filter(|_| ours) else {
            return InitiatorOutcome::Invalid;
        };
        let Ok(payload) = payload() else { return InitiatorOutcome::Invalid };
        if opcode == Opcode::Credit && !header.is_response() {
            self.raise_credit(header.immediate);
            return InitiatorOutcome::Taken;
        }
        if !header.is_response() {
            return InitiatorOutcome::Invalid;
        }
        match opcode {
            Opcode::Info | Opcode::Regions | Opcode::Disconnect => {
                let status = SfrpStatus(header.status);
                let answer = match payload {
                    _ if status != SfrpStatus::OK => Err(status),
                    Payload::Bytes(payload) => Ok(payload),
                    // No target answers a question with a region.
                    _ => return InitiatorOutcome::Invalid,
                };
                InitiatorOutcome::Answer(header.request, answer)
            }
            Opcode::Connect => self.connected(header, now_ns),
            _ => self.answered(header, payload, now_ns, memory),
        }
    }

    /// Credit is an absolute count and never falls; an old announcement changes nothing.
    pub(crate) fn raise_credit(&mut self, credit: u32) {
        if credit.wrapping_sub(self.credit) as i32 > 0 {
            self.credit = credit;
        }
    }

    fn connected<'a>(&mut self, header: &SfrpHeader, now_ns: u64) -> InitiatorOutcome<'a> {
        if self.state != PairState::Connecting || header.request != self.connecting.request {
            return InitiatorOutcome::Stale;
        }
        if header.status == SfrpStatus::OK.0 {
            self.state = PairState::Ready;
            (self.credit, self.progress_ns) = (header.immediate, now_ns);
            return InitiatorOutcome::Taken;
        }
        let status = SfrpStatus(header.status);
        self.refusal = Some(status);
        let error = WorkError::Refused(status, Execution::NotExecuted);
        self.rung = self.work.len();
        if self.work.is_empty() {
            self.state = PairState::Error;
        } else {
            self.fail(0, error, Execution::NotExecuted);
        }
        InitiatorOutcome::Taken
    }

    fn answered<'a>(
        &mut self,
        header: &SfrpHeader,
        payload: Payload<'_>,
        now_ns: u64,
        memory: &mut impl LocalMemory,
    ) -> InitiatorOutcome<'a> {
        let index = usize::from(header.sequence.wrapping_sub(self.base));
        let Some(work) = self.work.get(index).filter(|_| self.state == PairState::Ready) else {
            return InitiatorOutcome::Stale;
        };
        let kind = work.request.kind;
        if work.progress != WorkProgress::Sent
            || work.number != header.request
            || Some(kind.opcode()) != header.opcode()
        {
            return InitiatorOutcome::Stale;
        }
        let status = SfrpStatus(header.status);
        if status != SfrpStatus::OK {
            self.refused(index, header, status, now_ns);
            return InitiatorOutcome::Taken;
        }
        self.acknowledge(index);
        let taken = match kind {
            WorkKind::Read => self.data(index, header, payload, memory),
            WorkKind::FetchAdd { .. } | WorkKind::CompareSwap { .. } => {
                self.result(index, header, payload, memory)
            }
            WorkKind::Send | WorkKind::Write => {
                if self.work[index].request.takes_buffer() || kind == WorkKind::Write {
                    self.raise_credit(header.immediate);
                }
                self.finish(index);
                Ok(true)
            }
            WorkKind::Flush => {
                self.finish(index);
                Ok(true)
            }
        };
        match taken {
            Err(error) => self.fail(index, error, Execution::Unknown),
            Ok(false) => {
                // It may still tell that earlier messages were executed.
                self.retire();
                return InitiatorOutcome::Stale;
            }
            Ok(true) => self.progress_ns = now_ns,
        }
        self.retire();
        InitiatorOutcome::Taken
    }

    /// Everything before a message was executed; what brings no data back is done.
    fn acknowledge(&mut self, index: usize) {
        for work in self.work.iter_mut().take(index) {
            if !work.request.kind.brings_data() && work.progress == WorkProgress::Sent {
                work.progress = WorkProgress::Done;
            }
        }
    }

    fn finish(&mut self, index: usize) {
        self.work[index].progress = WorkProgress::Done;
    }

    /// Data of a read. Packets arrive in order; others are repetitions, or follow a gap.
    fn data(
        &mut self,
        index: usize,
        header: &SfrpHeader,
        payload: Payload<'_>,
        memory: &mut impl LocalMemory,
    ) -> Result<bool, WorkError> {
        let work = &mut self.work[index];
        if header.address != u64::from(work.arrived) {
            return Ok(false);
        }
        let length = header.payload_bytes() as u32;
        let end = work.arrived.checked_add(length);
        let end = end.filter(|end| *end <= work.bytes).ok_or(WorkError::BadResponse)?;
        let last = header.has(Flags::LAST);
        if last != (end == work.bytes) {
            return Err(WorkError::BadResponse);
        }
        let write = |piece, range: std::ops::Range<usize>| {
            payload.copy_into(range.start as u32, memory, piece)
        };
        scatter(&work.request.local, work.arrived, length, write).map_err(local)?;
        work.arrived = end;
        if last {
            self.finish(index);
        }
        Ok(true)
    }

    /// The old value of an atomic operation; in local memory it has the host's byte order.
    fn result(
        &mut self,
        index: usize,
        header: &SfrpHeader,
        payload: Payload<'_>,
        memory: &mut impl LocalMemory,
    ) -> Result<bool, WorkError> {
        let mut bytes = [0; 8];
        if header.payload_bytes() != bytes.len() || payload.copy_to(&mut bytes).is_err() {
            return Err(WorkError::BadResponse);
        }
        let old = u64::from_be_bytes(bytes);
        let work = &mut self.work[index];
        work.old = Some(old);
        let bytes = old.to_le_bytes();
        let write = |piece, range: std::ops::Range<usize>| {
            memory.write(piece, &bytes[range]).map_err(PayloadFault::from)
        };
        scatter(&work.request.local, 0, 8, write).map_err(local)?;
        self.finish(index);
        Ok(true)
    }

    fn refused(&mut self, index: usize, header: &SfrpHeader, status: SfrpStatus, now_ns: u64) {
        self.counts.refusals += 1;
        // The checks up to the queue pair come before that of the sequence.
        let in_sequence = !matches!(
            status,
            SfrpStatus::BAD_VERSION
                | SfrpStatus::BAD_OPCODE
                | SfrpStatus::BAD_QUEUE
                | SfrpStatus::SEQUENCE
        );
        if in_sequence {
            self.acknowledge(index);
        }
        match status {
            SfrpStatus::SEQUENCE => {
                let from = usize::from((header.immediate as u16).wrapping_sub(self.base));
                let sent = |work: &Work| work.progress == WorkProgress::Sent;
                // A report of an older gap names a message that has been executed since.
                if from <= index && self.work.get(from).is_some_and(sent) {
                    self.acknowledge(from);
                    self.try_again(from, WorkError::RetryExceeded);
                }
            }
            SfrpStatus::RECEIVER_NOT_READY | SfrpStatus::BUSY => {
                let pause = u64::from(header.immediate).saturating_mul(1000).min(PAUSE_MAX_NS);
                self.pause_ns = now_ns.saturating_add(pause);
                self.progress_ns = now_ns;
                let work = &mut self.work[index];
                work.not_ready += 1;
                work.asks = true;
                if work.not_ready > self.options.not_ready_retries {
                    self.fail(index, WorkError::NotReadyExceeded(status), Execution::Unknown);
                } else {
                    self.go_back(index);
                }
            }
            _ if status.is_transient() => {
                let error = WorkError::Refused(status, Execution::Unknown);
                self.try_again(index, error);
            }
            _ => self.refused_for_good(index, header, status),
        }
        self.retire();
    }

    /// The target does not execute anything of this sequence after such a refusal.
    fn refused_for_good(&mut self, index: usize, header: &SfrpHeader, status: SfrpStatus) {
        let stopped = !matches!(
            status,
            SfrpStatus::BAD_VERSION
                | SfrpStatus::BAD_OPCODE
                | SfrpStatus::BAD_QUEUE
                | SfrpStatus::GENERAL
        );
        // A read that fails on the way was accepted before; so may be what follows it. A repeated
        // message may be refused although it was executed.
        let read = self.work[index].request.kind == WorkKind::Read;
        let untouched = stopped && !read && header.address == 0;
        let known = |sure| if sure { Execution::NotExecuted } else { Execution::Unknown };
        self.fail(index, WorkError::Refused(status, known(untouched)), known(stopped && !read));
    }
}

fn local(_: PayloadFault) -> WorkError {
    WorkError::LocalMemory(Execution::Unknown)
}
