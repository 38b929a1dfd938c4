//! The queue of work requests that programs use.

use crate::error::RdmaError;
use crate::options::RdmaQueueOptions;
use crate::program::ProgramPair;
use spfe::pair::{KeyOptions, PairMessage, PairQueue, PooledPair};
use spfe::{Canceller, Deadline, QueueOptions, Ready, Status, Threshold, Vc};
use spfe_proto::sfrp::{Info, Opcode, RegionEntry};
use spfe_rdma::initiator::{InitiatorCounts, PostError};
use spfe_rdma::{Local, PairState, RemoteKey, WorkCompletion, WorkError, WorkKind, WorkRequest};
use std::time::Duration;

type Result<T, E = RdmaError> = std::result::Result<T, E>;

/// Bytes of one request of [`RdmaQueue::write`] and [`RdmaQueue::read`].
const PART: u32 = 1 << 20;

/// Work requests to another node: post many, ring once, wait for completions.
///
/// The queue owns the local memory of its requests: [`RdmaQueue::register`] moves a vector in, and
/// [`RdmaQueue::release`] moves it out. On a device with queue pairs (capability RDMA) the requests go
/// to the device, which makes and checks the packets; on others the queue does it, and packets move
/// only while the program calls it. Completions, time-outs and credit are the same.
pub struct RdmaQueue {
    path: Path,
}

/// Where the engine of the queue pair runs.
enum Path {
    Device(Box<PairQueue>),
    Program(Box<ProgramPair>),
}

/// Calls the same method of either path.
macro_rules! either {
    ($self:ident, $pair:ident => $call:expr) => {
        match &$self.path {
            Path::Device($pair) => $call,
            Path::Program($pair) => $call,
        }
    };
    (mut $self:ident, $pair:ident => $call:expr) => {
        match &mut $self.path {
            Path::Device($pair) => $call,
            Path::Program($pair) => $call,
        }
    };
}

impl RdmaQueue {
    /// Opens a queue pair on a virtual channel.
    ///
    /// # Errors
    /// BUSY if another client has the virtual channel open.
    pub fn open(vc: &Vc, options: RdmaQueueOptions) -> spfe::Result<Self> {
        if !options.in_program && vc.takes_pair(&options.initiator) {
            let depth = (4 * options.initiator.depth as u32).clamp(16, 1 << 15);
            let pair = vc.pair(&options.initiator, &options.queue.depth(depth))?;
            return Ok(Self { path: Path::Device(Box::new(pair)) });
        }
        let pair = ProgramPair::open(vc, options)?;
        Ok(Self { path: Path::Program(Box::new(pair)) })
    }

    /// The pooled form of the queue, for groups of one request that repeats: posting it writes the two
    /// words that change and looks nothing up. The queue pair starts anew; it connects with the first
    /// group. See [`PairQueue::pooled`].
    ///
    /// # Errors
    /// BAD_OPCODE on a device without queue pairs, and those of [`PairQueue::pooled`].
    pub fn pooled(
        self,
        request: &WorkRequest,
        local: u32,
        remote: u64,
    ) -> spfe::Result<PooledPair> {
        match self.path {
            Path::Device(pair) => pair.pooled(request, local, remote),
            Path::Program(_) => Err(without_pairs()),
        }
    }

    /// Whether [`RdmaQueue::pooled`] takes a request with this distance of local bytes. A queue that
    /// refuses it is gone.
    ///
    /// # Errors
    /// BAD_OPCODE on a device without queue pairs, and those of [`PairQueue::can_pool`].
    pub fn can_pool(&self, request: &WorkRequest, local: u32) -> spfe::Result<()> {
        match &self.path {
            Path::Device(pair) => pair.can_pool(request, local),
            Path::Program(_) => Err(without_pairs()),
        }
    }

    /// Number of requests that the pooled form has; 0 on a device without queue pairs.
    pub fn pooled_requests(&self) -> u32 {
        match &self.path {
            Path::Device(pair) => pair.pooled_requests(),
            Path::Program(_) => 0,
        }
    }

    /// The queue of a pooled one, stopped: [`RdmaQueue::connect`] starts it again.
    pub fn from_pooled(pooled: PooledPair) -> Self {
        Self { path: Path::Device(Box::new(pooled.into_pair())) }
    }

    /// Whether the device executes the requests.
    pub fn is_on_device(&self) -> bool {
        matches!(self.path, Path::Device(_))
    }

    /// Gives memory to the queue; its number goes into [`Local::memory`].
    ///
    /// # Errors
    /// The device cannot register the memory.
    pub fn register(&mut self, bytes: Vec<u8>) -> spfe::Result<u32> {
        match &mut self.path {
            Path::Device(pair) => pair.register(&bytes),
            Path::Program(pair) => Ok(pair.register(bytes)),
        }
    }

    /// Gives memory to the queue that [`RdmaQueue::share`] can share.
    ///
    /// # Errors
    /// BAD_OPCODE on a device without queue pairs, or the device cannot register the memory.
    pub fn register_shared(&mut self, bytes: &[u8]) -> spfe::Result<u32> {
        self.on_device()?.register_shared(bytes)
    }

    /// Lets others read and write memory of [`RdmaQueue::register_shared`] under a new remote key. The
    /// device serves it, without the program, while the queue pair is open. In a virtual network that
    /// is not of mode thread the device runs in the threads of both ends.
    ///
    /// # Errors
    /// BAD_OPCODE on a device without remote keys; BAD_FIELD, OUT_OF_BOUNDS or NO_RESOURCES for what
    /// cannot be shared.
    pub fn share(
        &mut self,
        local: Local,
        options: &KeyOptions,
        timeout: Duration,
    ) -> spfe::Result<RemoteKey> {
        let pair = self.on_device()?;
        let deadline = until(pair.now_ns(), timeout);
        pair.share(local, options, deadline)
    }

    /// Takes a remote key back. Afterwards nobody uses its memory.
    ///
    /// # Errors
    /// NOT_FOUND for a key that the queue pair does not have.
    pub fn unshare(&mut self, key: RemoteKey, timeout: Duration) -> spfe::Result<()> {
        let pair = self.on_device()?;
        let deadline = until(pair.now_ns(), timeout);
        pair.unshare(key, deadline)
    }

    /// Copies bytes out of memory, also while it is shared.
    ///
    /// # Errors
    /// OUT_OF_BOUNDS if the memory does not have them, BAD_OPCODE on a device without queue pairs.
    pub fn load(&mut self, memory: u32, offset: u64, out: &mut [u8]) -> spfe::Result<()> {
        self.on_device()?.load(memory, offset, out)
    }

    /// Copies bytes into memory, also while it is shared.
    ///
    /// # Errors
    /// Those of [`RdmaQueue::load`].
    pub fn store(&mut self, memory: u32, offset: u64, data: &[u8]) -> spfe::Result<()> {
        self.on_device()?.store(memory, offset, data)
    }

    /// Registered memory. It belongs to the device, and this is empty, while it is shared and while a
    /// request that names it is outstanding.
    pub fn memory(&self, number: u32) -> &[u8] {
        either!(self, pair => pair.memory(number))
    }

    /// Registered memory, to fill it. Empty like [`RdmaQueue::memory`].
    pub fn memory_mut(&mut self, number: u32) -> &mut [u8] {
        either!(mut self, pair => pair.memory_mut(number))
    }

    /// Takes memory back. Requests that still need it fail, and then the bytes are not known.
    pub fn release(&mut self, number: u32) -> Vec<u8> {
        either!(mut self, pair => pair.release(number))
    }

    /// State of the queue pair.
    pub fn state(&self) -> PairState {
        either!(self, pair => pair.state())
    }

    /// What happened so far. A device counts completed and failed requests and repetitions.
    pub fn counts(&self) -> InitiatorCounts {
        match &self.path {
            Path::Program(pair) => pair.counts(),
            Path::Device(pair) => {
                let (completed, failed, resent) = pair.counts();
                InitiatorCounts { completed, failed, resent, ..InitiatorCounts::default() }
            }
        }
    }

    /// Number of times that the thread slept in a wait.
    pub fn sleeps(&self) -> u64 {
        either!(self, pair => pair.sleeps())
    }

    /// Time that the device's engine took in this thread, ns, if [`spfe::Endpoint::measure_engine`]
    /// was on when the queue was opened.
    pub fn engine_ns(&self) -> u64 {
        either!(self, pair => pair.engine_ns())
    }

    /// The credit, timer or partner that the queue waits for.
    pub fn why(&self) -> String {
        either!(self, pair => pair.why())
    }

    /// A handle with which other threads end waits.
    pub fn canceller(&mut self) -> Canceller {
        either!(mut self, pair => pair.canceller())
    }

    /// Connects, also again after an error.
    ///
    /// # Errors
    /// The partner refuses or does not answer.
    pub fn connect(&mut self, timeout: Duration) -> Result<()> {
        let pair = match &mut self.path {
            Path::Program(pair) => return pair.connect(timeout),
            Path::Device(pair) => pair,
        };
        let deadline = until(pair.now_ns(), timeout);
        pair.restart(deadline)?;
        // The first request connects. FLUSH changes nothing at the target.
        let id = u64::MAX;
        pair.post(&WorkRequest::new(id, WorkKind::Flush))?;
        pair.ring();
        pair.wait(1, deadline).map_err(|error| timed_out(error, || pair.why()))?;
        let mut end = None;
        let mut others = Vec::new();
        while let Some(done) = pair.poll() {
            if done.id == id && done.kind == WorkKind::Flush && end.is_none() {
                end = Some(done.result);
            } else {
                others.push(done);
            }
        }
        pair.put_back(others);
        match end {
            Some(Ok(())) => Ok(()),
            Some(Err(WorkError::Refused(status, _) | WorkError::NotReadyExceeded(status))) => {
                Err(RdmaError::Refused { what: "CONNECT", status })
            }
            _ => Err(RdmaError::TimedOut { why: "no answer to CONNECT".to_owned() }),
        }
    }

    /// Posts a request; nothing is sent before [`RdmaQueue::ring`].
    ///
    /// # Errors
    /// The queue is full, or the request can never be executed.
    pub fn post(&mut self, request: WorkRequest) -> Result<(), PostError> {
        match &mut self.path {
            Path::Device(pair) => pair.post(&request),
            Path::Program(pair) => pair.post(request),
        }
    }

    /// Releases what was posted, as one group.
    ///
    /// # Errors
    /// A queue of the endpoint failed.
    pub fn ring(&mut self) -> Result<()> {
        match &mut self.path {
            Path::Device(pair) => {
                pair.ring();
                Ok(())
            }
            Path::Program(pair) => pair.ring(),
        }
    }

    /// Moves packets and takes the next completion.
    ///
    /// # Errors
    /// A queue of the endpoint failed.
    pub fn poll(&mut self) -> Result<Option<WorkCompletion>> {
        match &mut self.path {
            Path::Device(pair) => Ok(pair.poll()),
            Path::Program(pair) => pair.poll(),
        }
    }

    /// Waits for a number of completions, which stay for [`RdmaQueue::poll`].
    ///
    /// # Errors
    /// The time is up, or a queue of the endpoint failed.
    pub fn wait(&mut self, completions: usize, timeout: Duration) -> Result<()> {
        match &mut self.path {
            Path::Device(pair) => {
                let deadline = until(pair.now_ns(), timeout);
                let waited = pair.wait(completions, deadline);
                waited.map_err(|error| timed_out(error, || pair.why()))
            }
            Path::Program(pair) => pair.wait(completions, timeout),
        }
    }

    /// Waits until the completions that can be polled meet a threshold: their number, their bytes, or a
    /// time since this wait has seen the first. [`Ready::Attention`] if one has failed, or if no more can
    /// come.
    ///
    /// # Errors
    /// The time is up, or a queue of the endpoint failed.
    pub fn wait_for(&mut self, goal: &Threshold, timeout: Duration) -> Result<Ready> {
        match &mut self.path {
            Path::Device(pair) => {
                let deadline = until(pair.now_ns(), timeout);
                let waited = pair.wait_for(goal, deadline);
                waited.map_err(|error| timed_out(error, || pair.why()))
            }
            Path::Program(pair) => pair.wait_for(goal, timeout),
        }
    }

    /// Opens the receive queue of the queue pair, for messages of the partner. Devices without queue
    /// pairs have none: there an [`crate::RdmaServer`] receives.
    ///
    /// # Errors
    /// BAD_OPCODE on such a device.
    pub fn open_buffers(&mut self, options: &QueueOptions) -> spfe::Result<()> {
        self.on_device()?.open_buffers(options)
    }

    /// Posts a buffer for a message, and gives the partner credit for it.
    ///
    /// # Errors
    /// The receive queue is full or not open, or the memory does not have these bytes.
    pub fn post_buffer(&mut self, id: u64, buffer: Local) -> spfe::Result<()> {
        self.on_device()?.post_buffer(id, buffer)
    }

    /// Takes the next message, which is in its buffer.
    pub fn poll_message(&mut self) -> Option<PairMessage> {
        self.on_device().ok()?.poll_message()
    }

    /// Waits until a message can be taken.
    ///
    /// # Errors
    /// The time is up, or a queue of the endpoint failed.
    pub fn wait_message(&mut self, timeout: Duration) -> Result<()> {
        self.wait_messages(&Threshold::ONE, timeout).map(drop)
    }

    /// Waits until the messages that can be taken meet a threshold.
    ///
    /// # Errors
    /// The time is up, or a queue of the endpoint failed.
    pub fn wait_messages(&mut self, goal: &Threshold, timeout: Duration) -> Result<Ready> {
        let pair = self.on_device()?;
        let deadline = until(pair.now_ns(), timeout);
        let why = || "no message has come".to_owned();
        pair.wait_messages(goal, deadline).map_err(|error| timed_out(error, why))
    }

    /// The threshold at which `percent` of the buffers posted now have messages, at least one buffer.
    ///
    /// # Errors
    /// BAD_OPCODE on a device without queue pairs.
    pub fn fill_threshold(&mut self, percent: u32) -> spfe::Result<Threshold> {
        Ok(self.on_device()?.fill_threshold(percent))
    }

    fn on_device(&mut self) -> spfe::Result<&mut PairQueue> {
        match &mut self.path {
            Path::Device(pair) => Ok(pair),
            Path::Program(_) => Err(without_pairs()),
        }
    }

    fn outstanding(&self) -> usize {
        either!(self, pair => pair.outstanding())
    }

    /// The next completion that is there.
    fn taken(&mut self) -> Option<WorkCompletion> {
        match &mut self.path {
            Path::Device(pair) => pair.poll(),
            Path::Program(pair) => pair.taken(),
        }
    }

    /// Ends everything at once.
    fn abort(&mut self) {
        match &mut self.path {
            Path::Device(pair) => pair.abort(),
            Path::Program(pair) => pair.abort(),
        }
    }

    /// Asks the target, outside of the sequence of requests.
    fn ask(&mut self, opcode: Opcode, timeout: Duration) -> Result<Vec<u8>> {
        let pair = match &mut self.path {
            Path::Program(pair) => return pair.ask(opcode, timeout),
            Path::Device(pair) => pair,
        };
        let deadline = until(pair.now_ns(), timeout);
        let what = opcode.name();
        let asked = pair.ask(opcode == Opcode::Info, deadline);
        match asked.map_err(|error| timed_out(error, || pair.why()))? {
            Ok(answer) => Ok(answer),
            Err(WorkError::Refused(status, _)) => Err(RdmaError::Refused { what, status }),
            Err(WorkError::RetryExceeded) => {
                Err(RdmaError::TimedOut { why: format!("no answer to {what}") })
            }
            Err(error) => Err(RdmaError::Work { what: what.to_owned(), error }),
        }
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
        let memory = self.register(data)?;
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
            self.abort();
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
                    local: [local].into(),
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
                if self.outstanding() >= 8 {
                    break;
                }
            }
            self.ring()?;
            self.wait(1, timeout)?;
            while let Some(completion) = self.taken() {
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
}

fn without_pairs() -> spfe::Error {
    let what = "the device has no queue pairs: use RdmaQueue::post, and an RdmaServer to receive";
    spfe::Error::device(Status::BadOpcode, what)
}

fn until(now_ns: u64, timeout: Duration) -> Deadline {
    let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    Deadline::at_ns(now_ns.saturating_add(timeout_ns))
}

/// A time-out says what the queue pair waits for.
fn timed_out(error: spfe::Error, why: impl FnOnce() -> String) -> RdmaError {
    if error.is_timeout() { RdmaError::TimedOut { why: why() } } else { error.into() }
}
