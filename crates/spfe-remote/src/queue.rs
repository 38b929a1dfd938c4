//! The initiator on two queues of a virtual channel.

use crate::error::RdmaError;
use spfe::{
    Canceller, Deadline, End, PoolOptions, PooledRx, PooledTx, QueueOptions, Threshold, Vc,
};
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Info, Opcode, RegionEntry, SfrpStatus};
use spfe_rdma::initiator::{InitiatorCounts, InitiatorOutcome, PostError};
use spfe_rdma::{
    Local, PairState, PairWait, RdmaInitiator, RdmaInitiatorOptions, WorkCompletion, WorkKind,
    WorkRequest,
};
use std::collections::VecDeque;
use std::time::Duration;

type Result<T, E = RdmaError> = std::result::Result<T, E>;

/// Bytes of one request of [`RdmaQueue::write`] and [`RdmaQueue::read`].
const PART: u32 = 1 << 20;
/// Time between two attempts when the transmit queue has no room, ns.
const NO_ROOM_NS: u64 = 1_000_000;

/// Options of an [`RdmaQueue`].
#[derive(Clone, Debug)]
pub struct RdmaQueueOptions {
    /// Partner, limits and timers.
    pub initiator: RdmaInitiatorOptions,
    /// Packets in each of the two queues.
    pub slots: u32,
    /// How the queues wait, among others.
    pub queue: QueueOptions,
}

impl Default for RdmaQueueOptions {
    fn default() -> Self {
        // A queue pair of our own number, so that several programs on a node do not meet.
        let queue = (std::process::id() as u16).max(1);
        let initiator = RdmaInitiatorOptions {
            queue,
            timeout_ns: 200_000_000,
            retries: 5,
            ..RdmaInitiatorOptions::default()
        };
        Self { initiator, slots: 64, queue: QueueOptions::default() }
    }
}

/// Work requests to another node: post many, ring once, wait for completions.
///
/// The queue owns the local memory of its requests: [`RdmaQueue::register`] moves a vector in, and
/// [`RdmaQueue::release`] moves it out. Completions, time-outs and credit are those of
/// [`spfe_rdma::initiator`]. Packets move only while the program calls the queue.
pub struct RdmaQueue {
    initiator: RdmaInitiator,
    memory: Vec<Vec<u8>>,
    tx: PooledTx,
    rx: PooledRx,
    /// The packet being received is longer than a slot.
    inside: bool,
    answers: VecDeque<(u32, Result<Vec<u8>, SfrpStatus>)>,
}

impl RdmaQueue {
    /// Opens the queues of a virtual channel.
    ///
    /// # Errors
    /// BUSY if another client has the virtual channel open.
    pub fn open(vc: &Vc, options: RdmaQueueOptions) -> spfe::Result<Self> {
        let initiator = RdmaInitiator::new(options.initiator);
        let pool = PoolOptions::new(options.slots.max(4), initiator.packet_bytes_max() as u32 + 1);
        let pool = pool.queue(options.queue);
        let (tx, rx) = (vc.tx_pooled(pool)?, vc.rx_pooled(pool)?);
        let (memory, answers) = (Vec::new(), VecDeque::new());
        Ok(Self { initiator, memory, tx, rx, inside: false, answers })
    }

    /// Gives memory to the queue; its number goes into [`Local::memory`].
    pub fn register(&mut self, bytes: Vec<u8>) -> u32 {
        // An empty place can be used again.
        match self.memory.iter().position(Vec::is_empty) {
            Some(place) => {
                self.memory[place] = bytes;
                place as u32
            }
            None => {
                self.memory.push(bytes);
                self.memory.len() as u32 - 1
            }
        }
    }

    /// Registered memory.
    pub fn memory(&self, number: u32) -> &[u8] {
        self.memory.get(number as usize).map_or(&[], Vec::as_slice)
    }

    /// Registered memory, to fill it. Requests that are outstanding send what it has when they are
    /// sent or repeated.
    pub fn memory_mut(&mut self, number: u32) -> &mut [u8] {
        self.memory.get_mut(number as usize).map_or(&mut [], Vec::as_mut_slice)
    }

    /// Takes memory back. Requests that still need it fail.
    pub fn release(&mut self, number: u32) -> Vec<u8> {
        self.memory.get_mut(number as usize).map(std::mem::take).unwrap_or_default()
    }

    /// State of the queue pair.
    pub fn state(&self) -> PairState {
        self.initiator.state()
    }

    /// What happened so far.
    pub fn counts(&self) -> &InitiatorCounts {
        self.initiator.counts()
    }

    /// Number of times that the thread slept in a wait.
    pub fn sleeps(&self) -> u64 {
        self.tx.stats().sleeps + self.rx.stats().sleeps
    }

    /// Time that the device's engine took in this thread, ns, if [`spfe::Endpoint::measure_engine`]
    /// was on when the queue was opened.
    pub fn engine_ns(&self) -> u64 {
        self.tx.engine_ns() + self.rx.engine_ns()
    }

    /// The credit, timer or partner that the queue waits for.
    pub fn why(&self) -> String {
        self.initiator.why_text(self.tx.now_ns())
    }

    /// A handle with which other threads end waits.
    pub fn canceller(&mut self) -> Canceller {
        self.rx.canceller()
    }

    /// Connects, also again after an error.
    ///
    /// # Errors
    /// The partner refuses or does not answer.
    pub fn connect(&mut self, timeout: Duration) -> Result<()> {
        self.initiator.connect();
        let until_ns = self.until(timeout);
        while self.initiator.state() == PairState::Connecting {
            self.step(until_ns)?;
        }
        if self.initiator.state() == PairState::Ready {
            return Ok(());
        }
        let status = self.initiator.refusal();
        match status {
            Some(status) => Err(RdmaError::Refused { what: "CONNECT", status }),
            None => Err(RdmaError::TimedOut { why: "no answer to CONNECT".to_owned() }),
        }
    }

    /// Posts a request; nothing is sent before [`RdmaQueue::ring`].
    ///
    /// # Errors
    /// The queue is full, or the request can never be executed.
    pub fn post(&mut self, request: WorkRequest) -> Result<(), PostError> {
        self.initiator.post(request, &self.memory)
    }

    /// Releases what was posted, as one group, and sends as much as there is room for.
    ///
    /// # Errors
    /// A queue of the endpoint failed.
    pub fn ring(&mut self) -> Result<()> {
        self.initiator.ring();
        self.progress()
    }

    /// Moves packets and takes the next completion.
    ///
    /// # Errors
    /// A queue of the endpoint failed.
    pub fn poll(&mut self) -> Result<Option<WorkCompletion>> {
        if let Some(completion) = self.initiator.poll() {
            return Ok(Some(completion));
        }
        self.progress()?;
        Ok(self.initiator.poll())
    }

    /// Waits for a number of completions, which stay for [`RdmaQueue::poll`].
    ///
    /// # Errors
    /// The time is up, or a queue of the endpoint failed.
    pub fn wait(&mut self, completions: usize, timeout: Duration) -> Result<()> {
        let until_ns = self.until(timeout);
        self.progress()?;
        while self.initiator.completed() < completions {
            if matches!(self.initiator.why(self.tx.now_ns()), PairWait::Nothing) {
                return Ok(());
            }
            self.step(until_ns)?;
        }
        Ok(())
    }

    /// Writes bytes to remote memory.
    ///
    /// # Errors
    /// The request failed, or the time is up without an end of it.
    pub fn write(
        &mut self,
        key: u32,
        address: u64,
        data: Vec<u8>,
        timeout: Duration,
    ) -> Result<()> {
        self.move_bytes(WorkKind::Write, key, address, data, timeout).map(drop)
    }

    /// Reads remote memory.
    ///
    /// # Errors
    /// The request failed, or the time is up without an end of it.
    pub fn read(
        &mut self,
        key: u32,
        address: u64,
        length: usize,
        timeout: Duration,
    ) -> Result<Vec<u8>> {
        self.move_bytes(WorkKind::Read, key, address, vec![0; length], timeout)
    }

    /// Writes or reads in parts, several of them outstanding. The time limit is for each part.
    fn move_bytes(
        &mut self,
        kind: WorkKind,
        key: u32,
        address: u64,
        data: Vec<u8>,
        timeout: Duration,
    ) -> Result<Vec<u8>> {
        let total = data.len() as u64;
        let memory = self.register(data);
        let outcome = self.move_parts(
            kind,
            key,
            address,
            Local { memory, ..Local::default() },
            total,
            timeout,
        );
        if outcome.is_err() {
            // Nothing may touch the memory later.
            self.initiator.abort();
            while self.initiator.poll().is_some() {}
        }
        let data = self.release(memory);
        outcome.map(|()| data)
    }

    fn move_parts(
        &mut self,
        kind: WorkKind,
        key: u32,
        address: u64,
        start: Local,
        total: u64,
        timeout: Duration,
    ) -> Result<()> {
        let (mut posted, mut done, mut first) = (0u64, 0u64, true);
        while first || done < total {
            while first || posted < total {
                let length = (total - posted).min(PART.into()) as u32;
                let local = Local { offset: posted, length, ..start };
                let request = WorkRequest {
                    local: vec![local],
                    key,
                    address: address.wrapping_add(posted),
                    ..WorkRequest::new(posted, kind)
                };
                match self.post(request) {
                    Err(PostError::Full { .. }) => break,
                    posted => posted?,
                }
                posted += u64::from(length);
                first = false;
                if self.initiator.outstanding() >= 8 {
                    break;
                }
            }
            self.ring()?;
            self.wait(1, timeout)?;
            while let Some(completion) = self.initiator.poll() {
                if let Err(error) = completion.result {
                    let at = address.wrapping_add(completion.id);
                    let name = kind.opcode().name();
                    let what = format!("{name} at {at:#x} of region key {key:#010x}");
                    return Err(RdmaError::Work { what, error });
                }
                done += u64::from(completion.bytes);
            }
        }
        Ok(())
    }

    /// Asks the target what it can do.
    ///
    /// # Errors
    /// No answer by then, or none that makes sense.
    pub fn info(&mut self, timeout: Duration) -> Result<Info> {
        let block = self.ask(Opcode::Info, timeout)?;
        Info::decode(&block).ok_or(RdmaError::Answer { what: "INFO", bytes: block.len() })
    }

    /// Asks the target for its regions.
    ///
    /// # Errors
    /// No answer by then, or none that makes sense.
    pub fn regions(&mut self, timeout: Duration) -> Result<Vec<RegionEntry>> {
        let list = self.ask(Opcode::Regions, timeout)?;
        match list.as_chunks() {
            (entries, []) => Ok(entries.iter().map(RegionEntry::decode).collect()),
            _ => Err(RdmaError::Answer { what: "REGIONS", bytes: list.len() }),
        }
    }

    /// Sends a question until it is answered.
    fn ask(&mut self, opcode: Opcode, timeout: Duration) -> Result<Vec<u8>> {
        let until_ns = self.until(timeout);
        let mut asked = Vec::new();
        let mut again_ns = 0;
        loop {
            let now_ns = self.tx.now_ns();
            if now_ns >= again_ns {
                again_ns = now_ns.saturating_add(self.initiator.options().timeout_ns);
                self.reclaim()?;
                if let Some(slot) = self.tx.slot()
                    && let Some((bytes, number)) = self.initiator.ask(opcode, slot)
                {
                    self.tx.send(bytes)?;
                    asked.push(number);
                }
            }
            self.progress()?;
            while let Some((number, answer)) = self.answers.pop_front() {
                if asked.contains(&number) {
                    let what = opcode.name();
                    return answer.map_err(|status| RdmaError::Refused { what, status });
                }
            }
            if now_ns >= until_ns {
                let why = format!("no answer to {}", opcode.name());
                return Err(RdmaError::TimedOut { why });
            }
            self.sleep(again_ns.min(until_ns))?;
        }
    }

    /// Moves packets, or sleeps until there is something to do.
    fn step(&mut self, until_ns: u64) -> Result<()> {
        let before = (self.initiator.completed(), self.initiator.state());
        self.progress()?;
        if before != (self.initiator.completed(), self.initiator.state()) {
            return Ok(());
        }
        let now_ns = self.tx.now_ns();
        if now_ns >= until_ns {
            return Err(RdmaError::TimedOut { why: self.why() });
        }
        let wake_ns = self.initiator.wake_ns(now_ns);
        if wake_ns <= now_ns && self.tx.free() == 0 {
            let deadline = Deadline::at_ns((now_ns + NO_ROOM_NS).min(until_ns));
            return timeless(self.tx.wait(deadline));
        }
        self.sleep(wake_ns.min(until_ns))
    }

    fn sleep(&mut self, until_ns: u64) -> Result<()> {
        timeless(self.rx.wait(&Threshold::ONE, Deadline::at_ns(until_ns)))
    }

    fn until(&self, timeout: Duration) -> u64 {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        self.tx.now_ns().saturating_add(timeout_ns)
    }

    /// Sends and receives as much as possible without waiting.
    fn progress(&mut self) -> Result<()> {
        self.receive();
        self.reclaim()?;
        let now_ns = self.tx.now_ns();
        let mut staged = 0;
        while let Some(slot) = self.tx.slot() {
            let Some(bytes) = self.initiator.transmit(now_ns, &self.memory, slot) else { break };
            self.tx.stage(bytes)?;
            staged += 1;
            // In groups of half the slots, so that one is filled while the other is sent.
            if staged * 2 >= self.rx.slots() {
                self.tx.submit();
                self.receive();
                self.reclaim()?;
                staged = 0;
            }
        }
        if staged > 0 {
            self.tx.submit();
        }
        self.receive();
        Ok(())
    }

    fn reclaim(&mut self) -> Result<()> {
        while let Some(sent) = self.tx.poll() {
            // A packet that was not sent is like a lost one: the timers see to it. A queue that is
            // gone says so at the next wait.
            let _ = sent;
        }
        Ok(())
    }

    fn receive(&mut self) {
        let Self { initiator, memory, tx, rx, inside, answers } = self;
        let now_ns = tx.now_ns();
        let mut take = |packet: spfe::Packet<'_>| {
            let start = !*inside;
            *inside = packet.end == End::More;
            if !start || *inside {
                return; // longer than any response: not for us
            }
            let end = if packet.end == End::Eep { PacketEnd::Eep } else { PacketEnd::Eop };
            let outcome = initiator.handle(packet.bytes, end, now_ns, memory);
            if let InitiatorOutcome::Answer(number, answer) = outcome {
                answers.push_back((number, answer.map(<[u8]>::to_vec)));
                answers.truncate(16);
            }
        };
        while rx.take(&mut take).is_some() {}
    }
}

/// A wait that ends early is none that fails.
fn timeless<T>(result: spfe::Result<T>) -> Result<()> {
    match result {
        Err(error) if !error.is_timeout() => Err(error.into()),
        _ => Ok(()),
    }
}
