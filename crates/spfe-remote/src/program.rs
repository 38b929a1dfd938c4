//! A queue pair in the program, on two queues of a virtual channel: for devices that have none.

use crate::error::RdmaError;
use crate::options::RdmaQueueOptions;
use spfe::pair::meets;
use spfe::{Canceller, Deadline, End, PoolOptions, PooledRx, PooledTx, Ready, Threshold, Vc};
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Opcode, SfrpStatus};
use spfe_rdma::initiator::{InitiatorCounts, InitiatorOutcome, PostError};
use spfe_rdma::{PairState, PairWait, RdmaInitiator, WorkCompletion, WorkRequest};
use std::collections::VecDeque;
use std::time::Duration;

type Result<T, E = RdmaError> = std::result::Result<T, E>;

/// Time between two attempts when the transmit queue has no room, ns.
const NO_ROOM_NS: u64 = 1_000_000;

/// The initiator's engine on two pooled queues. Packets move only while the program calls it.
pub struct ProgramPair {
    initiator: RdmaInitiator,
    memory: Vec<Vec<u8>>,
    tx: PooledTx,
    rx: PooledRx,
    /// The packet being received is longer than a slot.
    inside: bool,
    answers: VecDeque<(u32, Result<Vec<u8>, SfrpStatus>)>,
}

impl ProgramPair {
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
    pub fn counts(&self) -> InitiatorCounts {
        *self.initiator.counts()
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

    /// Waits for a threshold of completions, like [`spfe::pair::PairQueue::wait_for`].
    ///
    /// # Errors
    /// The time is up, or a queue of the endpoint failed.
    pub fn wait_for(&mut self, goal: &Threshold, timeout: Duration) -> Result<Ready> {
        let until_ns = self.until(timeout);
        let mut end_ns = u64::MAX;
        self.progress()?;
        loop {
            let now_ns = self.tx.now_ns();
            if let Ok(ready) = meets(goal, self.initiator.completions()) {
                return Ok(ready);
            }
            if matches!(self.initiator.why(now_ns), PairWait::Nothing) {
                return Ok(Ready::Attention);
            }
            if let Some(after) = goal.after_first
                && self.initiator.completed() > 0
            {
                let after_ns = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
                end_ns = end_ns.min(now_ns.saturating_add(after_ns));
            }
            if end_ns <= now_ns {
                return Ok(Ready::AfterFirst);
            }
            match self.step(until_ns.min(end_ns)) {
                Err(RdmaError::TimedOut { .. }) if end_ns < until_ns => {}
                stepped => stepped?,
            }
        }
    }

    /// Sends a question until it is answered.
    pub fn ask(&mut self, opcode: Opcode, timeout: Duration) -> Result<Vec<u8>> {
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

    /// Ends everything at once, and forgets the completions.
    pub fn abort(&mut self) {
        self.initiator.abort();
        while self.initiator.poll().is_some() {}
    }

    /// The next completion, without moving packets.
    pub fn taken(&mut self) -> Option<WorkCompletion> {
        self.initiator.poll()
    }

    /// Requests that have not completed.
    pub fn outstanding(&self) -> usize {
        self.initiator.outstanding()
    }
}

/// A wait that ends early is none that fails.
fn timeless<T>(result: spfe::Result<T>) -> Result<()> {
    match result {
        Err(error) if !error.is_timeout() => Err(error.into()),
        _ => Ok(()),
    }
}
