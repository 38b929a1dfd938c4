//! Queue pairs of a device with the capability RDMA: work requests and completions on its rings.
//!
//! `spfe-remote` has the queue that programs use, which also works on devices without the capability.

mod keys;
mod pooled;
mod receive;
mod slots;

pub use keys::KeyOptions;
pub use pooled::{PooledPair, PooledWork};
pub use receive::PairMessage;

use crate::cancel::Canceller;
use crate::device::Device;
use crate::queue::{Place, Queue, QueueOptions, status_of};
use crate::wait::{Deadline, Ready, Threshold};
use crate::{Buf, Error, Region, Result, Vc};
use spfe_contract::{
    self as contract, Completion, QueueKind, Status, WorkOpcode, access, completion_flags as cf,
    pair_limits, pair_status, queue_options, queue_pair,
};
use spfe_host::os;
use spfe_rdma::initiator::PostError;
use spfe_rdma::{
    Execution, Few, Local, PairState, RdmaInitiatorOptions, WorkCompletion, WorkError, WorkKind,
    WorkRequest,
};
use spfe_ring::ring::RingEntry;
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of a path that the registers hold.
const PATH_MAX: usize = 8;
/// Version of the contract with remote keys.
const REMOTE_KEYS_SINCE: (u16, u16) = (1, 4);
/// Room for the answer to a question: a list of 128 regions.
const ANSWER_BYTES: usize = 4096;

/// A request that the device has.
struct Posted {
    /// Position of its last slot.
    position: u32,
    id: u64,
    /// `None` for a question.
    kind: Option<WorkKind>,
    bytes: u32,
    signaled: bool,
    /// Memory that it uses.
    memory: Few<u32, 4>,
    /// Where the old value of an atomic operation arrives.
    old: Option<*const u8>,
}

/// Memory that belongs to the queue.
struct Memory {
    buf: Option<Buf>,
    /// Outstanding requests that name it.
    busy: u32,
}

/// The end of a question.
type Answered = std::result::Result<u32, WorkError>;

/// The sending side of a queue pair.
pub struct PairQueue {
    send: Queue,
    device: Arc<Device>,
    memory: Vec<Memory>,
    /// 8 bytes for each slot of the ring.
    results: Buf,
    /// First slot of the batch, which publishes it.
    staged: Option<(u32, RingEntry)>,
    posted: VecDeque<Posted>,
    /// Posted requests that will complete.
    signaled: usize,
    done: VecDeque<WorkCompletion>,
    answered: Option<Answered>,
    options: RdmaInitiatorOptions,
    failed: u64,
    completed: u64,
    /// The device does not have the queue.
    halted: bool,
    buffers: Option<receive::Buffers>,
    /// The device has remote keys.
    has_keys: bool,
    bound: Vec<keys::Bound>,
    /// Index of the next remote key.
    next_key: u32,
}

// SAFETY: the pointers of `posted` are into memory of the queue, which moves with it.
unsafe impl Send for PairQueue {}

impl Vc {
    /// Whether the device has queue pairs, and these options fit its registers.
    pub fn takes_pair(&self, options: &RdmaInitiatorOptions) -> bool {
        self.place().0.backend().has_pairs()
            && options.path.len() <= PATH_MAX
            && options.reply_path.as_bytes().len() <= PATH_MAX
            && options.reply_vc == spfe_proto::sfrp::VC_OF_ARRIVAL
    }

    /// Opens a queue pair, which takes both directions of the virtual channel.
    ///
    /// # Errors
    /// BUSY if the virtual channel is open.
    pub fn pair(&self, options: &RdmaInitiatorOptions, queue: &QueueOptions) -> Result<PairQueue> {
        let (device, port, vc) = self.place();
        PairQueue::open(device.clone(), (port, vc), options, queue)
    }
}

fn bytes_of(path: &[u8]) -> u64 {
    path.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

impl PairQueue {
    fn open(
        device: Arc<Device>,
        (port, vc): (u32, u32),
        options: &RdmaInitiatorOptions,
        queue: &QueueOptions,
    ) -> Result<Self> {
        let place = Place { port, vc, kind: QueueKind::Rdma };
        let pair = u64::from(options.queue) << queue_pair::OWN_SHIFT
            | u64::from(options.target_queue) << queue_pair::PARTNER_SHIFT
            | u64::from(options.address) << queue_pair::ADDRESS_SHIFT
            | u64::from(options.target) << queue_pair::TARGET_SHIFT
            | u64::from(options.protocol) << queue_pair::PROTOCOL_SHIFT
            | u64::from(options.segment_bytes.ilog2()) << queue_pair::SEGMENT_LOG2_SHIFT;
        let timeout_us = (options.timeout_ns / 1000).clamp(1, u64::from(u32::MAX));
        let reply = options.reply_path.as_bytes();
        let limits = u64::from(options.retries.min(16)) << pair_limits::RETRIES_SHIFT
            | u64::from(options.not_ready_retries.min(255)) << pair_limits::NOT_READY_SHIFT
            | (options.path.len() as u64) << pair_limits::PATH_SHIFT
            | (reply.len() as u64) << pair_limits::REPLY_SHIFT
            | timeout_us << pair_limits::TIMEOUT_US_SHIFT;
        let has_keys = device.backend().info().contract >= REMOTE_KEYS_SINCE;
        let mut send = Queue::open(device.clone(), place, queue, |request| {
            request.options |= if has_keys { queue_options::REMOTE_KEYS } else { 0 };
            (request.pair, request.limits) = (pair, limits);
            (request.path, request.reply) = (bytes_of(&options.path), bytes_of(reply));
        })?;
        send.runner = device.engine(port).map(|engine| engine.pair(device.endpoint(), port, vc));
        let slots = send.sq.ring.size() as usize;
        let results = Region::new(device.clone(), "spfe-pair", 8 * slots)?.buf(0..8 * slots)?;
        Ok(Self {
            send,
            device,
            memory: Vec::new(),
            results,
            staged: None,
            // A request has at least two slots.
            posted: VecDeque::with_capacity(slots / 2),
            signaled: 0,
            done: VecDeque::with_capacity(slots / 2),
            answered: None,
            options: options.clone(),
            failed: 0,
            completed: 0,
            halted: false,
            buffers: None,
            has_keys,
            bound: Vec::new(),
            next_key: 0,
        })
    }

    /// Gives memory to the queue; its number goes into [`Local::memory`].
    ///
    /// # Errors
    /// The memory cannot be registered.
    pub fn register(&mut self, bytes: &[u8]) -> Result<u32> {
        self.register_with(bytes, access::LOCAL_READ | access::LOCAL_WRITE)
    }

    /// The same for memory that can be shared.
    ///
    /// # Errors
    /// The memory cannot be registered.
    pub fn register_shared(&mut self, bytes: &[u8]) -> Result<u32> {
        let remote = access::REMOTE_READ | access::REMOTE_WRITE;
        self.register_with(bytes, access::LOCAL_READ | access::LOCAL_WRITE | remote)
    }

    fn register_with(&mut self, bytes: &[u8], access: u32) -> Result<u32> {
        let mut buf = None;
        if !bytes.is_empty() {
            let (device, name) = (self.device.clone(), "spfe-remote");
            let region = Region::with_access(device, name, bytes.len(), access)?;
            let mut memory = region.buf(0..bytes.len())?;
            memory.copy_from_slice(bytes);
            buf = Some(memory);
        }
        let memory = Memory { buf, busy: 0 };
        // An empty place can be used again.
        let free = self.memory.iter().position(|old| old.buf.is_none() && old.busy == 0);
        match free {
            Some(place) => {
                self.memory[place] = memory;
                Ok(place as u32)
            }
            None => {
                self.memory.push(memory);
                Ok(self.memory.len() as u32 - 1)
            }
        }
    }

    fn idle(&self, number: u32) -> Option<&Memory> {
        self.memory.get(number as usize).filter(|memory| memory.busy == 0)
    }

    /// Registered memory; empty while a request that names it is outstanding.
    pub fn memory(&self, number: u32) -> &[u8] {
        self.idle(number).and_then(|memory| memory.buf.as_deref()).unwrap_or_default()
    }

    /// Registered memory, to fill it; empty while a request that names it is outstanding.
    pub fn memory_mut(&mut self, number: u32) -> &mut [u8] {
        let memory = self.memory.get_mut(number as usize).filter(|memory| memory.busy == 0);
        memory.and_then(|memory| memory.buf.as_deref_mut()).unwrap_or_default()
    }

    /// Takes memory back. Requests that still need it fail, and then the bytes are not known.
    pub fn release(&mut self, number: u32) -> Vec<u8> {
        let Some(memory) = self.memory.get_mut(number as usize) else { return Vec::new() };
        let Some(buf) = memory.buf.take() else { return Vec::new() };
        if memory.busy == 0 { buf.to_vec() } else { vec![0; buf.len()] }
    }

    /// Posts a request; the device sees it after [`PairQueue::ring`].
    ///
    /// # Errors
    /// The queue is full, or the request can never be executed.
    pub fn post(&mut self, request: &WorkRequest) -> std::result::Result<(), PostError> {
        let bytes = slots::check(request)?;
        let mut slots = slots::Slots::new(request.key, request.address, slots::flags(request));
        let mut memory = Few::default();
        let index = self.send.sq.position & (self.send.sq.ring.size() - 1);
        let is_atomic = request.kind.opcode().is_atomic();
        let mut old = None;
        if is_atomic && bytes == 0 {
            let offset = 8 * u64::from(index);
            slots.element(self.results.address() + offset, 8);
            old = Some(self.results[offset as usize..].as_ptr());
        }
        for piece in request.local.iter().filter(|piece| piece.length > 0) {
            let address = self.address(*piece).ok_or(PostError::Local(*piece))?;
            slots.element(address, piece.length);
            // There are no more pieces than elements.
            let _ = memory.push(piece.memory);
            if is_atomic && piece.length == 8 {
                old = self.at(*piece);
            }
        }
        if let Some(inline) = &request.inline {
            slots.inline(inline);
        }
        let kind = Some(request.kind);
        let position = self.write(slots.finish(request))?;
        for number in &memory {
            self.memory[*number as usize].busy += 1;
        }
        let (id, signaled) = (request.id, request.flags.signaled);
        self.signaled += usize::from(signaled);
        self.posted.push_back(Posted { position, id, kind, bytes, signaled, memory, old });
        Ok(())
    }

    /// The ring address of a piece; `None` if the memory does not have it.
    fn address(&self, piece: Local) -> Option<u64> {
        let buf = self.memory.get(piece.memory as usize)?.buf.as_ref()?;
        let end = piece.offset.checked_add(piece.length.into())?;
        (end <= buf.len() as u64).then(|| buf.address() + piece.offset)
    }

    fn at(&self, piece: Local) -> Option<*const u8> {
        self.address(piece)?;
        let buf = self.memory[piece.memory as usize].buf.as_ref()?;
        Some(buf.as_ptr().wrapping_add(piece.offset as usize))
    }

    /// Writes the slots of a request, and returns the position of the last one.
    fn write(&mut self, slots: &[RingEntry]) -> std::result::Result<u32, PostError> {
        let ring = self.send.sq.ring;
        let first = self.send.sq.position;
        if (self.send.free() as usize) < slots.len() {
            self.send.stats.full += 1;
            return Err(PostError::Full { depth: ring.size() as usize / 2 });
        }
        for (ahead, slot) in (0u32..).zip(slots).skip(1) {
            ring.write(first.wrapping_add(ahead), *slot);
        }
        match self.staged {
            None => self.staged = Some((first, slots[0])),
            Some(_) => ring.write(first, slots[0]),
        }
        self.send.sq.position = first.wrapping_add(slots.len() as u32);
        Ok(self.send.sq.position.wrapping_sub(1))
    }

    /// Shows the device what was posted, as one group.
    pub fn ring(&mut self) {
        if self.halted {
            // Nothing fails when it is halted already.
            let _ = self.halt(Execution::NotExecuted);
        } else if let Some((position, first)) = self.staged.take() {
            self.send.sq.ring.write(position, first);
            self.send.start_posted();
        }
    }

    /// Takes all completions from the ring.
    fn collect(&mut self) {
        if self.halted {
            return;
        }
        while let Some(words) = self.send.peek() {
            let done = Completion::from_words(words);
            let Some(freed) = self.send.take(&done) else { return };
            self.complete(&done, freed.end.wrapping_sub(1));
        }
    }

    fn complete(&mut self, done: &Completion, last: u32) {
        while let Some(posted) = self.posted.pop_front() {
            let is_last = posted.position == last;
            let result = match status_of(done) {
                Status::Ok => Ok(()),
                _ if !is_last => Ok(()),
                status => {
                    let unknown = done.flags & cf::UNKNOWN != 0;
                    Err(slots::error_of(status, done.bytes, unknown))
                }
            };
            self.retire(&posted, result, done.bytes);
            if is_last {
                return;
            }
        }
    }

    fn retire(
        &mut self,
        posted: &Posted,
        result: std::result::Result<(), WorkError>,
        answered: u32,
    ) {
        for number in &posted.memory {
            self.memory[*number as usize].busy -= 1;
        }
        self.signaled -= usize::from(posted.signaled);
        match result {
            Ok(()) => self.completed += 1,
            Err(_) => self.failed += 1,
        }
        let Some(kind) = posted.kind else {
            self.answered = Some(result.map(|()| answered));
            return;
        };
        if !posted.signaled && result.is_ok() {
            return;
        }
        let old = posted.old.filter(|_| result.is_ok()).map(|at| {
            // SAFETY: 8 bytes of memory that the queue keeps until the request has completed.
            u64::from_le_bytes(unsafe { at.cast::<[u8; 8]>().read_unaligned() })
        });
        let bytes = if result.is_ok() { posted.bytes } else { 0 };
        self.done.push_back(WorkCompletion { id: posted.id, kind, bytes, old, result });
    }

    /// Takes the next completion, if there is one.
    pub fn poll(&mut self) -> Option<WorkCompletion> {
        if self.done.is_empty() {
            self.collect();
        }
        if self.done.is_empty() {
            self.send.progress();
            self.collect();
        }
        self.done.pop_front()
    }

    /// Waits until this many completions can be polled, or no more can come.
    ///
    /// # Errors
    /// The deadline has passed, the queue was stopped, or a canceller ended the wait.
    pub fn wait(&mut self, completions: usize, deadline: Deadline) -> Result<()> {
        loop {
            self.collect();
            let missing = completions.saturating_sub(self.done.len()).min(self.signaled);
            if missing == 0 {
                return Ok(());
            }
            self.sleep(&Threshold::count(missing as u32), deadline)?;
        }
    }

    /// Waits until the completions that can be polled meet a threshold. The time of
    /// [`Threshold::after_first`] begins when this wait has seen the first one. An error among them ends
    /// the wait with [`Ready::Attention`], and so does a queue from which no more completions can come.
    ///
    /// # Errors
    /// Those of [`PairQueue::wait`].
    pub fn wait_for(&mut self, goal: &Threshold, deadline: Deadline) -> Result<Ready> {
        let mut first_ns = None;
        loop {
            self.collect();
            let mut missing = match meets(goal, self.done.iter()) {
                Ok(ready) => return Ok(ready),
                Err(_) if self.signaled == 0 => return Ok(Ready::Attention),
                Err(missing) => missing,
            };
            let all = self.signaled as u32;
            missing.count = Some(missing.count.map_or(all, |count| count.min(all)));
            let now_ns = self.now_ns();
            if first_ns.is_none() && !self.done.is_empty() {
                first_ns = Some(now_ns);
            }
            let end = first_ns.zip(goal.after_first);
            let end = end.map(|(first, after)| first.saturating_add(os::ns(after)));
            if end.is_some_and(|end| end <= now_ns) {
                return Ok(Ready::AfterFirst);
            }
            let until = end.map_or(deadline, |end| Deadline::at_ns(end.min(deadline.ns())));
            match self.sleep(&missing, until) {
                Ok(Some(Ready::AfterFirst)) => return Ok(Ready::AfterFirst),
                Ok(_) => {}
                Err(error) if error.is_timeout() && until != deadline => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits for completions of the ring. `None` if it has to be tried again.
    fn sleep(&mut self, threshold: &Threshold, deadline: Deadline) -> Result<Option<Ready>> {
        let clock = self.device.backend().clock();
        if self.send.runner.is_some() || !clock.is_virtual() {
            return self.send.wait(threshold, deadline).map(Some);
        }
        // Virtual time must not jump over the timers of a device that has a time of its own.
        let step_ns = clock.now_ns().saturating_add(self.options.timeout_ns);
        match self.send.wait(threshold, Deadline::at_ns(step_ns.min(deadline.ns()))) {
            Err(error) if error.is_timeout() && step_ns < deadline.ns() => Ok(None),
            waited => waited.map(Some),
        }
    }

    /// Asks the target outside of the sequence of requests: INFO, or REGIONS.
    ///
    /// # Errors
    /// Those of [`PairQueue::wait`]; then why the target gave no answer.
    pub fn ask(
        &mut self,
        info: bool,
        deadline: Deadline,
    ) -> Result<std::result::Result<Vec<u8>, WorkError>> {
        let opcode = if info { WorkOpcode::Info } else { WorkOpcode::Regions };
        let memory = self.register(&[0; ANSWER_BYTES])?;
        let local = Local { memory, offset: 0, length: ANSWER_BYTES as u32 };
        let asked = self.ask_into(opcode, local, deadline);
        let answer = self.release(memory);
        Ok(asked?.map(|bytes| answer[..(bytes as usize).min(answer.len())].to_vec()))
    }

    fn ask_into(
        &mut self,
        opcode: WorkOpcode,
        local: Local,
        deadline: Deadline,
    ) -> Result<Answered> {
        let address = self.address(local).unwrap_or_default();
        let mut slots = slots::Slots::new(0, 0, slots::question(opcode));
        slots.element(address, local.length);
        self.command(slots.question(), Some(local), deadline)
    }

    /// Executes a request outside of the sequence, and waits for its end.
    fn command(
        &mut self,
        slots: &[RingEntry],
        local: Option<Local>,
        deadline: Deadline,
    ) -> Result<Answered> {
        let position = self
            .write(slots)
            .map_err(|error| Error::device(Status::Busy, format!("work request: {error}")))?;
        let memory = local.map(|local| local.memory);
        if let Some(number) = memory {
            self.memory[number as usize].busy += 1;
        }
        let memory = Few::new(memory.as_slice()).unwrap_or_default();
        self.signaled += 1;
        self.posted.push_back(Posted {
            position,
            id: 0,
            kind: None,
            bytes: 0,
            signaled: true,
            memory,
            old: None,
        });
        self.answered = None;
        self.ring();
        loop {
            self.collect();
            if let Some(answered) = self.answered.take() {
                return Ok(answered);
            }
            self.sleep(&Threshold::ONE, deadline)?;
        }
    }

    /// Returns completions that were taken, in front of those that come.
    pub fn put_back(&mut self, taken: Vec<WorkCompletion>) {
        for completion in taken.into_iter().rev() {
            self.done.push_front(completion);
        }
    }

    /// Stops the queue pair, and forgets what was outstanding. Requests posted later are flushed,
    /// until [`PairQueue::restart`].
    pub fn abort(&mut self) {
        // What cannot be stopped ends with its time-outs.
        if self.halt(Execution::Unknown).is_ok() {
            self.done.clear();
        }
    }

    /// Starts the queue pair anew. What was outstanding completes as flushed; nobody knows whether it
    /// was executed. Remote keys stay valid.
    ///
    /// # Errors
    /// The queue cannot be stopped, or not be started again.
    pub fn restart(&mut self, deadline: Deadline) -> Result<()> {
        self.halt(Execution::Unknown)?;
        self.send.start_again()?;
        self.halted = false;
        self.bind_again(deadline)
    }

    fn halt(&mut self, execution: Execution) -> Result<()> {
        if !self.halted {
            self.collect();
            self.send.halt()?;
            // What has completed meanwhile.
            self.collect();
        }
        (self.halted, self.staged) = (true, None);
        while let Some(posted) = self.posted.pop_front() {
            self.retire(&posted, Err(WorkError::Flushed(execution)), 0);
        }
        Ok(())
    }

    /// State, from the last step of the device.
    pub fn state(&self) -> PairState {
        let state = self.send.device_line().pair() & pair_status::STATE_MASK;
        match contract::QueuePairState::from_raw(state as u8) {
            Some(contract::QueuePairState::Connecting) => PairState::Connecting,
            Some(contract::QueuePairState::Ready) => PairState::Ready,
            Some(contract::QueuePairState::Error) => PairState::Error,
            Some(contract::QueuePairState::Reset) | None => PairState::Reset,
        }
    }

    /// What the queue pair waits for, as a sentence that names the partner.
    pub fn why(&self) -> String {
        let RdmaInitiatorOptions { queue, target, target_queue, .. } = self.options;
        let waiting = slots::why(self.send.device_line().pair());
        format!("queue pair {queue} to {target:#04x}.{target_queue}: {waiting}")
    }

    /// Options.
    pub fn options(&self) -> &RdmaInitiatorOptions {
        &self.options
    }

    /// Requests that have completed and that have failed, and repetitions of the message that the
    /// queue pair waits for.
    pub fn counts(&self) -> (u64, u64, u64) {
        let shown = self.send.device_line().pair() & pair_status::ATTEMPTS_MASK;
        (self.completed, self.failed, shown >> pair_status::ATTEMPTS_SHIFT)
    }

    /// Number of completions that can be polled.
    pub fn completed(&self) -> usize {
        self.done.len()
    }

    /// Requests that were posted and have not completed.
    pub fn outstanding(&self) -> usize {
        self.posted.len()
    }

    /// Times that the thread slept in a wait.
    pub fn sleeps(&self) -> u64 {
        self.send.stats.sleeps
    }

    /// Time that the engine took in this thread, ns.
    pub fn engine_ns(&self) -> u64 {
        self.send.runner.as_ref().map_or(0, |runner| runner.engine_ns())
    }

    /// Device time, ns.
    pub fn now_ns(&self) -> u64 {
        self.device.backend().clock().now_ns()
    }

    /// A handle with which other threads end waits.
    pub fn canceller(&mut self) -> Canceller {
        self.send.canceller()
    }
}

/// How completions meet a threshold; otherwise what is missing.
pub fn meets<'a>(
    goal: &Threshold,
    completions: impl Iterator<Item = &'a WorkCompletion>,
) -> std::result::Result<Ready, Threshold> {
    let (mut count, mut bytes, mut failed) = (0u32, 0u64, false);
    for done in completions {
        count += 1;
        bytes += u64::from(done.bytes);
        failed |= done.result.is_err();
    }
    let enough = goal.count.is_some_and(|wanted| count >= wanted)
        || goal.bytes.is_some_and(|wanted| bytes >= wanted);
    if failed || enough {
        return Ok(if failed { Ready::Attention } else { Ready::Threshold });
    }
    Err(Threshold {
        count: goal.count.map(|wanted| wanted - count),
        bytes: goal.bytes.map(|wanted| wanted - bytes),
        after_first: goal.after_first.filter(|_| count == 0),
    })
}

impl Drop for PairQueue {
    fn drop(&mut self) {
        // The device must not touch the memory of requests after it is given back.
        let stopped = self.buffers.as_mut().is_none_or(receive::Buffers::stop);
        if !self.send.stop() || !stopped {
            for memory in self.memory.drain(..) {
                std::mem::forget(memory.buf);
            }
        }
    }
}
