//! The sending side of a queue pair: work requests from the ring into the initiator, and its results
//! into completions.

use super::entry::{self, BadEntry, Wanted};
use super::keys::KeysInUse;
use super::memory::Mapped;
use super::results::WorkResults;
use super::{setup, window};
use crate::memory::{AccessRefusal, RegionKey, RegionMap};
use crate::queue::QueueView;
use crate::shared::Positions;
use spfe_contract::{QueuePairWait as Wait, Status, WorkOpcode, pair_status, queue_options};
use spfe_proto::sfrp::{Opcode, SfrpStatus};
use spfe_rdma::initiator::{PostError, scatter};
use spfe_rdma::{
    Execution, Local, LocalMemory, PairState, PairWait, Pieces, RdmaInitiator, RdmaTarget,
    WorkCompletion, WorkError,
};
use std::collections::VecDeque;

/// Repetitions of a question, beside which those of the options have room.
const ASKED_MAX: usize = 20;

/// A request that the initiator has.
struct Outstanding {
    /// Position of its last slot.
    position: u32,
    bytes: u32,
    keys: [Option<RegionKey>; 4],
}

/// INFO or REGIONS, outside of the sequence of messages.
struct Question {
    opcode: Opcode,
    position: u32,
    signal: bool,
    local: Pieces,
    /// Numbers under which it was sent.
    asked: Vec<u32>,
    again_ns: u64,
}

/// The RDMA queue of a queue pair.
pub struct SendSide {
    pub initiator: RdmaInitiator,
    pub at: Positions,
    outstanding: VecDeque<Outstanding>,
    question: Option<Question>,
    /// A request that cannot be executed waits for those before it.
    bad: Option<(u32, Status)>,
    pub results: WorkResults,
    /// What the device line says.
    shown: u64,
}

impl SendSide {
    pub fn new(initiator: RdmaInitiator) -> Self {
        Self {
            initiator,
            at: Positions::default(),
            outstanding: VecDeque::new(),
            question: None,
            bad: None,
            results: WorkResults::default(),
            shown: 0,
        }
    }

    /// Reads posted requests. `Err` names a region to map first.
    pub fn fetch(
        &mut self,
        view: &QueueView,
        map: &RegionMap,
        keys: &mut KeysInUse,
        target: &mut RdmaTarget,
    ) -> Result<(), RegionKey> {
        let fetched = self.fetch_all(view, map, keys, target);
        self.initiator.ring();
        fetched
    }

    fn fetch_all(
        &mut self,
        view: &QueueView,
        map: &RegionMap,
        keys: &mut KeysInUse,
        target: &mut RdmaTarget,
    ) -> Result<(), RegionKey> {
        let has_keys = view.config.options & queue_options::REMOTE_KEYS != 0;
        let domain = view.config.domain as u16;
        // Every request has two slots or ends the queue pair, so a host that posts into slots it does
        // not own is stopped by the first bound.
        let room = (view.submissions.size() / 2) as usize;
        for _ in 0..view.submissions.size() {
            let waits = self.bad.is_some() || self.question.is_some();
            if waits || self.outstanding.len() >= room || self.results.waiting() >= 2 * room {
                break;
            }
            let position = self.at.submission;
            let Some(read) = entry::read(&view.submissions, position, map, domain) else { break };
            let slots = match &read {
                Ok(entry) => entry.slots,
                Err(bad) => bad.slots,
            };
            let last = position.wrapping_add(slots - 1);
            let failed = self.initiator.state() == PairState::Error;
            match read {
                _ if failed => self.results.end(last, Status::Flushed, 0, false),
                Err(BadEntry { refusal: AccessRefusal::Unmapped(key), .. })
                    if !keys.is_absent(key) =>
                {
                    return Err(key);
                }
                Err(BadEntry { refusal, .. }) => {
                    let status = match refusal {
                        AccessRefusal::Fault(status) => status,
                        AccessRefusal::Unmapped(_) => Status::BadRegion,
                    };
                    self.bad = Some((last, status));
                }
                Ok(entry) => match entry.wanted {
                    Wanted::Bind(_) | Wanted::Unbind(_) if !has_keys => {
                        self.bad = Some((last, Status::BadOpcode));
                    }
                    // Nothing that was posted before sees the change.
                    Wanted::Question(..) | Wanted::Bind(_) | Wanted::Unbind(_)
                        if !self.outstanding.is_empty() =>
                    {
                        break;
                    }
                    Wanted::Bind(window) => {
                        let status = window.bind(target, keys);
                        self.keyed(last, entry.signal, status);
                    }
                    Wanted::Unbind(key) => {
                        let status = window::unbind(key, target, keys);
                        self.keyed(last, entry.signal, status);
                    }
                    Wanted::Question(opcode, local) => {
                        let info = opcode == WorkOpcode::Info;
                        let opcode = if info { Opcode::Info } else { Opcode::Regions };
                        local.iter().for_each(|local| keys.add(key_of(local)));
                        self.question = Some(Question {
                            opcode,
                            position: last,
                            signal: entry.signal,
                            local,
                            asked: Vec::new(),
                            again_ns: 0,
                        });
                    }
                    Wanted::Request(mut request) => {
                        if self.initiator.state() == PairState::Reset {
                            self.initiator.connect();
                        }
                        request.id = last.into();
                        let local: u32 = request.local.iter().map(|local| local.length).sum();
                        let inline =
                            request.inline.as_ref().map_or(0, |inline| inline.len() as u32);
                        let mut used = [None; 4];
                        for (used, local) in used.iter_mut().zip(&request.local) {
                            *used = Some(key_of(local));
                        }
                        match self.initiator.post(request, &Mapped { map, domain }) {
                            Ok(()) => {}
                            Err(PostError::Full { .. }) => break,
                            Err(PostError::TooLong { .. }) => {
                                self.bad = Some((last, Status::TooLong));
                            }
                            Err(PostError::Local(_) | PostError::Shape) => {
                                self.bad = Some((last, Status::BadField));
                            }
                        }
                        if self.bad.is_none() {
                            used.iter().flatten().for_each(|key| keys.add(*key));
                            let bytes = local + inline;
                            self.outstanding.push_back(Outstanding {
                                position: last,
                                bytes,
                                keys: used,
                            });
                        }
                        if entry.last {
                            self.initiator.ring();
                        }
                    }
                },
            }
            self.at.submission = position.wrapping_add(slots);
        }
        Ok(())
    }

    /// Ends BIND or UNBIND.
    fn keyed(&mut self, position: u32, signal: bool, status: Status) {
        match status {
            Status::Ok => self.results.succeed(position, 0, signal),
            status => self.bad = Some((position, status)),
        }
    }

    /// Writes the next packet. False if there is nothing to send now: see [`SendSide::wake_ns`].
    pub fn transmit(
        &mut self,
        now_ns: u64,
        memory: &Mapped<'_>,
        packet: &mut Vec<u8>,
        keys: &mut KeysInUse,
    ) -> bool {
        packet.resize(self.initiator.packet_bytes_max(), 0);
        let written = match self.ask(now_ns, packet, keys) {
            Some(bytes) => Some(bytes),
            None => self.initiator.transmit(now_ns, memory, packet),
        };
        packet.truncate(written.unwrap_or(0));
        written.is_some()
    }

    /// Whether nothing is outstanding or waits to be refused.
    pub fn has_no_requests(&self) -> bool {
        let none = self.outstanding.is_empty() && self.initiator.outstanding() == 0;
        none && self.question.is_none() && self.bad.is_none()
    }

    /// Whether the next request can be handed over: a question is a packet.
    pub fn can_hand(&self) -> bool {
        self.question.is_none() && self.initiator.is_near()
    }

    /// Runs the timers while a packet waits for room in the network.
    pub fn tick(&mut self, now_ns: u64) {
        self.initiator.tick(now_ns);
    }

    /// Sends a question, or sends it again.
    fn ask(&mut self, now_ns: u64, packet: &mut [u8], keys: &mut KeysInUse) -> Option<usize> {
        let question = self.question.as_mut()?;
        if now_ns < question.again_ns {
            return None;
        }
        let options = self.initiator.options();
        let (timeout_ns, tries) = (options.timeout_ns, options.retries as usize + 1);
        let asked = question.asked.len();
        if asked >= tries.min(ASKED_MAX) {
            self.end_question(Err(WorkError::RetryExceeded), keys);
            return None;
        }
        question.again_ns = now_ns.saturating_add(timeout_ns.saturating_mul(1 << asked.min(16)));
        let (bytes, number) = self.initiator.ask(question.opcode, packet)?;
        question.asked.push(number);
        Some(bytes)
    }

    /// Takes the answer to a question.
    pub fn answer(
        &mut self,
        number: u32,
        answer: Result<&[u8], SfrpStatus>,
        memory: &mut Mapped<'_>,
        keys: &mut KeysInUse,
    ) {
        let Some(question) = &self.question else { return };
        if !question.asked.contains(&number) {
            return;
        }
        let room: u64 = question.local.iter().map(|local| u64::from(local.length)).sum();
        let ended = match answer {
            Err(status) => Err(WorkError::Refused(status, Execution::NotExecuted)),
            Ok(bytes) if bytes.len() as u64 > room => {
                let status = SfrpStatus::MESSAGE_TOO_LONG;
                Err(WorkError::Refused(status, Execution::NotExecuted))
            }
            Ok(bytes) => {
                let length = bytes.len() as u32;
                let write =
                    |piece, range: std::ops::Range<usize>| memory.write(piece, &bytes[range]);
                let written = scatter(&question.local, 0, length, write);
                let fault = WorkError::LocalMemory(Execution::NotExecuted);
                written.map(|()| length).map_err(|_| fault)
            }
        };
        self.end_question(ended, keys);
    }

    fn end_question(&mut self, ended: Result<u32, WorkError>, keys: &mut KeysInUse) {
        let Some(question) = self.question.take() else { return };
        question.local.iter().for_each(|local| keys.remove(key_of(local)));
        match ended {
            Ok(bytes) => self.results.succeed(question.position, bytes, question.signal),
            Err(error) => {
                let (status, detail, unknown) = setup::status_of(error);
                self.results.end(question.position, status, detail, unknown);
                self.initiator.abort();
            }
        }
    }

    /// Takes the results of the initiator.
    pub fn collect(&mut self, keys: &mut KeysInUse) {
        while let Some(done) = self.initiator.poll() {
            self.take(&done, keys);
        }
        // What went without SIGNAL and is done.
        while self.outstanding.len() > self.initiator.outstanding() {
            let Some(oldest) = self.retire(keys) else { break };
            self.results.succeed(oldest.position, oldest.bytes, false);
        }
        if let Some((position, status)) = self.bad
            && self.outstanding.is_empty()
        {
            self.bad = None;
            self.results.end(position, status, 0, false);
            self.initiator.abort();
        }
    }

    fn take(&mut self, done: &WorkCompletion, keys: &mut KeysInUse) {
        while let Some(oldest) = self.retire(keys) {
            if u64::from(oldest.position) != done.id {
                self.results.succeed(oldest.position, oldest.bytes, false);
                continue;
            }
            match done.result {
                Ok(()) => self.results.succeed(oldest.position, oldest.bytes, true),
                Err(error) => {
                    let (status, detail, unknown) = setup::status_of(error);
                    self.results.end(oldest.position, status, detail, unknown);
                }
            }
            return;
        }
    }

    fn retire(&mut self, keys: &mut KeysInUse) -> Option<Outstanding> {
        let oldest = self.outstanding.pop_front()?;
        oldest.keys.iter().flatten().for_each(|key| keys.remove(*key));
        Some(oldest)
    }

    /// Ends everything with a status, for a reset.
    pub fn flush(&mut self, view: &QueueView, map: &RegionMap, status: Status) -> u32 {
        self.results.report();
        let mut flushed = 0;
        let outstanding = std::mem::take(&mut self.outstanding);
        let question = self.question.take().map(|question| question.position);
        let bad = self.bad.take().map(|(position, _)| position);
        let positions = outstanding.iter().map(|oldest| oldest.position);
        for position in positions.chain(question).chain(bad) {
            self.results.end(position, status, 0, true);
            flushed += 1;
        }
        self.initiator.abort();
        while self.initiator.poll().is_some() {}
        let domain = view.config.domain as u16;
        for _ in 0..view.submissions.size() {
            let position = self.at.submission;
            let Some(read) = entry::read(&view.submissions, position, map, domain) else { break };
            let slots = read.map_or_else(|bad| bad.slots, |entry| entry.slots);
            self.results.end(position.wrapping_add(slots - 1), status, 0, false);
            self.at.submission = position.wrapping_add(slots);
            flushed += 1;
        }
        flushed
    }

    /// When [`SendSide::transmit`] has to be called again; the end of time if nothing is outstanding.
    pub fn wake_ns(&self, now_ns: u64) -> u64 {
        let question = self.question.as_ref().map_or(u64::MAX, |question| question.again_ns);
        self.initiator.wake_ns(now_ns).min(question)
    }

    /// Shows the host that the queue pair is connected and waits for nothing.
    pub fn show_idle(&mut self, view: &QueueView) {
        const IDLE: u64 = (spfe_contract::QueuePairState::Ready.raw() as u64)
            << pair_status::STATE_SHIFT
            | (Wait::Nothing.raw() as u64) << pair_status::WAIT_SHIFT;
        if self.shown != IDLE {
            self.shown = IDLE;
            view.device_line().set_pair(IDLE);
        }
    }

    /// Shows the host what the queue pair waits for.
    pub fn show(&mut self, view: &QueueView, now_ns: u64) {
        let state = match self.initiator.state() {
            PairState::Reset => spfe_contract::QueuePairState::Reset,
            PairState::Connecting => spfe_contract::QueuePairState::Connecting,
            PairState::Ready => spfe_contract::QueuePairState::Ready,
            PairState::Error => spfe_contract::QueuePairState::Error,
        };
        let (wait, attempts, sequence) = match self.initiator.why(now_ns) {
            _ if self.question.is_some() => {
                let asked = self.question.as_ref().map_or(0, |question| question.asked.len());
                (Wait::Answer, asked as u32, 0)
            }
            PairWait::Nothing | PairWait::Connection => (Wait::Nothing, 0, 0),
            PairWait::Transmit | PairWait::Ring => (Wait::Transmit, 0, 0),
            PairWait::Connect { attempts, .. } => (Wait::Connect, attempts, 0),
            PairWait::Answer { sequence, attempts, .. } => (Wait::Answer, attempts, sequence),
            PairWait::Window { .. } => (Wait::Window, 0, 0),
            PairWait::Fence => (Wait::Fence, 0, 0),
            PairWait::Reads { .. } => (Wait::Reads, 0, 0),
            PairWait::Credit { .. } => (Wait::Credit, 0, 0),
            PairWait::Receiver { .. } => (Wait::Receiver, 0, 0),
        };
        let shown = u64::from(state.raw()) << pair_status::STATE_SHIFT
            | u64::from(wait.raw()) << pair_status::WAIT_SHIFT
            | u64::from(attempts.min(0xffff)) << pair_status::ATTEMPTS_SHIFT
            | u64::from(sequence) << pair_status::SEQUENCE_SHIFT;
        if shown != self.shown {
            self.shown = shown;
            view.device_line().set_pair(shown);
        }
    }
}

fn key_of(local: &Local) -> RegionKey {
    RegionKey(local.memory as u16)
}
