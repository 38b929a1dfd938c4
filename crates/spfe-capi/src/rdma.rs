//! RDMA: queue pairs, and regions of this process for other nodes.

use crate::args::{found, give, read_bytes, read_sized, read_text, write};
use crate::endpoint::EndpointHandle;
use crate::handle::{self, Handle, Object, Spare};
use crate::queue::{CThreshold, deadline, read_threshold, ready};
use crate::result::{Fault, code, rdma_refused, run};
use spfe::{Canceller, QueueOptions, Status, Strategy, Threshold};
use spfe_remote::engine::initiator::PostError;
use spfe_remote::engine::{
    Execution, InlineBytes, Local, PairState, Pieces, RegionRights, RemoteKey, TargetFile,
    TargetNode, WorkCompletion, WorkError, WorkFlags, WorkKind, WorkRequest,
};
use spfe_remote::{
    KeyOptions, PairMessage, PooledPair, RdmaError, RdmaQueue, RdmaQueueOptions, RdmaServer,
    RegionEntry, ReplyPath,
};
use std::ffi::{c_char, c_int};
use std::time::Duration;

mod pooled;

/// What the handle of a queue pair stands for.
pub enum Pair {
    Queue(RdmaQueue),
    Pooled(Box<PooledPair>),
    /// The device could not start it again.
    Lost,
}

impl Pair {
    fn lost() -> Fault {
        Fault::new(Status::DeviceGone, "RDMA queue: the device did not start it again: close it")
    }

    fn queue(&mut self) -> Result<&mut RdmaQueue, Fault> {
        match self {
            Self::Queue(queue) => Ok(queue),
            Self::Pooled(_) => {
                let what = "RDMA queue: it is pooled: spfe_rdma_unpool() first";
                Err(Fault::new(Status::Busy, what))
            }
            Self::Lost => Err(Self::lost()),
        }
    }
}

/// Calls `body` with a queue that is not pooled.
fn with<R>(
    queue: *mut RdmaHandle,
    body: impl FnOnce(&mut RdmaQueue) -> Result<R, Fault>,
) -> Result<R, Fault> {
    handle::with(queue, |pair| body(pair.queue()?))
}

impl Object for Pair {
    const NAME: &'static str = "RDMA queue";
    type Head = Canceller;
    fn spare() -> &'static Spare {
        static SPARE: Spare = Spare::new();
        &SPARE
    }
}

impl Object for RdmaServer {
    const NAME: &'static str = "RDMA server";
    type Head = Canceller;
    fn spare() -> &'static Spare {
        static SPARE: Spare = Spare::new();
        &SPARE
    }
}

type RdmaHandle = Handle<Pair>;
type ServerHandle = Handle<RdmaServer>;

/// Most local pieces of a request.
const LOCAL_MAX: u32 = 4;
const READ: u32 = 1;
const WRITE: u32 = 2;
const ATOMIC: u32 = 4;
const NOTIFY: u32 = 16;
const HIDDEN: u32 = 32;

impl From<RdmaError> for Fault {
    fn from(error: RdmaError) -> Self {
        let what = error.to_string();
        match error {
            RdmaError::Device(error) => error.into(),
            RdmaError::TimedOut { .. } => Self::timed_out(what),
            RdmaError::Refused { status, .. } => Self::of_code(rdma_refused(status.0), what),
            RdmaError::Answer { .. } => Self::new(Status::RemoteData, what),
            RdmaError::Work { error, .. } => Self::of_code(result(error), what),
            RdmaError::Post(PostError::Full { .. }) => Self::new(Status::Busy, what),
            RdmaError::Post(PostError::TooLong { .. }) => Self::new(Status::TooLong, what),
            RdmaError::Post(PostError::Local(_)) => Self::new(Status::OutOfBounds, what),
            RdmaError::Post(PostError::Shape) => Self::new(Status::BadField, what),
        }
    }
}

/// The number for a failed request: what the target said, or else the status.
fn result(error: WorkError) -> c_int {
    match error {
        WorkError::Refused(status, _) => rdma_refused(status.0),
        _ => code(error.status()),
    }
}

fn refuse(what: String) -> Fault {
    Fault::new(Status::BadField, what)
}

fn time(timeout_ns: u64) -> Duration {
    Duration::from_nanos(timeout_ns)
}

/// struct spfe_rdma_options.
#[repr(C)]
pub struct CRdmaOptions {
    size: usize,
    path: *const u8,
    reply_path: *const u8,
    path_bytes: u32,
    reply_path_bytes: u32,
    target: u8,
    address: u8,
    target_queue: u16,
    queue: u16,
    flags: u16,
    depth: u32,
    retries: u32,
    timeout_ns: u64,
    strategy: u32,
    reserved: u32,
}

const IN_PROGRAM: u16 = 1;

impl CRdmaOptions {
    /// # Safety
    /// The paths are null or have as many bytes as is said.
    unsafe fn options(&self) -> Result<RdmaQueueOptions, Fault> {
        if self.flags & !IN_PROGRAM != 0 || self.reserved != 0 {
            return Err(refuse(format!(
                "RDMA options: flags {:#x}, reserved {}: 0 or SPFE_RDMA_IN_PROGRAM, and 0",
                self.flags, self.reserved
            )));
        }
        let strategy = match self.strategy {
            0 => Strategy::Adaptive,
            1 => Strategy::Poll,
            2 => Strategy::Block,
            other => return Err(refuse(format!("strategy {other}: 0 to 2"))),
        };
        let mut options = RdmaQueueOptions {
            in_program: self.flags & IN_PROGRAM != 0,
            queue: QueueOptions::default().strategy(strategy),
            ..RdmaQueueOptions::default()
        };
        // SAFETY: the caller's promise.
        let (path, reply) = unsafe {
            (
                read_bytes(self.path, self.path_bytes as usize, "path address")?,
                read_bytes(self.reply_path, self.reply_path_bytes as usize, "reply path")?,
            )
        };
        let initiator = &mut options.initiator;
        initiator.path = path.to_vec();
        initiator.reply_path = ReplyPath::new(reply).map_err(|error| refuse(error.to_string()))?;
        initiator.target_queue = self.target_queue;
        /// Replaces a default unless the value is 0.
        fn set<T: PartialEq + Default>(place: &mut T, value: T) {
            if value != T::default() {
                *place = value;
            }
        }
        set(&mut initiator.target, self.target);
        set(&mut initiator.address, self.address);
        set(&mut initiator.queue, self.queue);
        set(&mut initiator.depth, self.depth as usize);
        set(&mut initiator.retries, self.retries);
        set(&mut initiator.timeout_ns, self.timeout_ns);
        Ok(options)
    }
}

/// struct spfe_rdma_local.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CLocal {
    offset: u64,
    memory: u32,
    length: u32,
}

impl From<CLocal> for Local {
    fn from(local: CLocal) -> Self {
        Self { memory: local.memory, offset: local.offset, length: local.length }
    }
}

/// struct spfe_rdma_request.
#[repr(C)]
pub struct CRequest {
    size: usize,
    id: u64,
    address: u64,
    operand: u64,
    compare: u64,
    local: *const CLocal,
    inline_data: *const u8,
    local_count: u32,
    inline_bytes: u32,
    key: u32,
    opcode: u32,
    flags: u32,
    immediate: u32,
}

const SIGNALED: u32 = 1;
const FENCE: u32 = 2;
const SOLICITED: u32 = 4;
const IMMEDIATE: u32 = 8;

impl CRequest {
    /// # Safety
    /// The lists are null or have as many entries as is said.
    unsafe fn request(&self) -> Result<WorkRequest, Fault> {
        let kind = match self.opcode {
            1 => WorkKind::Write,
            2 => WorkKind::Read,
            3 => WorkKind::Send,
            4 => WorkKind::FetchAdd { add: self.operand },
            5 => WorkKind::CompareSwap { compare: self.compare, swap: self.operand },
            6 => WorkKind::Flush,
            other => return Err(refuse(format!("RDMA opcode {other}: 1 to 6"))),
        };
        if self.flags & !(SIGNALED | FENCE | SOLICITED | IMMEDIATE) != 0 {
            return Err(refuse(format!("flags {:#x} of an RDMA request: 0 to 15", self.flags)));
        }
        if self.local_count > LOCAL_MAX {
            let what = format!("{} local pieces: at most {LOCAL_MAX}", self.local_count);
            return Err(Fault::new(Status::ChainTooLong, what));
        }
        if self.local.is_null() && self.local_count > 0 {
            return Err(refuse(format!("{} local pieces: NULL", self.local_count)));
        }
        if self.local_count > 0 && self.inline_bytes > 0 {
            return Err(refuse("an RDMA request with local pieces and inline data".to_owned()));
        }
        let mut local = Pieces::default();
        for index in 0..self.local_count {
            // SAFETY: the caller's promise; the list is not null.
            let piece = unsafe { Local::from(*self.local.add(index as usize)) };
            // There is room for all of them.
            let _ = local.push(piece);
        }
        // SAFETY: the caller's promise.
        let inline =
            unsafe { read_bytes(self.inline_data, self.inline_bytes as usize, "inline data")? };
        let too_long = || {
            let what = format!("{} inline bytes: at most 44", inline.len());
            Fault::new(Status::TooLong, what)
        };
        let inline = InlineBytes::new(inline).ok_or_else(too_long)?;
        let set = |flag| self.flags & flag != 0;
        Ok(WorkRequest {
            local,
            inline: (!inline.is_empty()).then_some(inline),
            address: self.address,
            key: self.key,
            immediate: set(IMMEDIATE).then_some(self.immediate),
            flags: WorkFlags {
                signaled: set(SIGNALED),
                fence: set(FENCE),
                solicited: set(SOLICITED),
            },
            ..WorkRequest::new(self.id, kind)
        })
    }
}

/// struct spfe_rdma_completion.
#[repr(C)]
pub struct CRdmaCompletion {
    id: u64,
    old: u64,
    bytes: u32,
    status: i32,
    not_executed: u32,
    reserved: u32,
}

impl From<WorkCompletion> for CRdmaCompletion {
    fn from(done: WorkCompletion) -> Self {
        let error = done.result.err();
        let not_executed = error.is_some_and(|error| error.execution() == Execution::NotExecuted);
        Self {
            id: done.id,
            old: done.old.unwrap_or(0),
            bytes: done.bytes,
            status: error.map_or(0, result),
            not_executed: not_executed.into(),
            reserved: 0,
        }
    }
}

/// struct spfe_rdma_region.
#[repr(C)]
pub struct CRegionEntry {
    base: u64,
    bytes: u64,
    key: u32,
    index: u16,
    flags: u16,
}

impl From<&RegionEntry> for CRegionEntry {
    fn from(entry: &RegionEntry) -> Self {
        let RegionEntry { index, flags, key, base, bytes } = *entry;
        Self { base, bytes, key, index, flags: flags.0 }
    }
}

/// struct spfe_rdma_message.
#[repr(C)]
pub struct CMessage {
    id: u64,
    buffer: CLocal,
    bytes: u32,
    status: i32,
    key: u32,
    immediate: u32,
    has_immediate: u32,
    is_write: u32,
}

impl From<PairMessage> for CMessage {
    fn from(message: PairMessage) -> Self {
        let Local { memory, offset, length } = message.buffer;
        Self {
            id: message.id,
            buffer: CLocal { offset, memory, length },
            bytes: message.bytes,
            status: code(message.status),
            key: message.key,
            immediate: message.immediate.unwrap_or(0),
            has_immediate: message.immediate.is_some().into(),
            is_write: message.is_write.into(),
        }
    }
}

/// Opens a queue pair.
///
/// # Safety
/// `options` is null or points to as many bytes as its size says; `queue` is null or valid for a
/// write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_open(
    endpoint: *mut EndpointHandle,
    port: u32,
    vc: u32,
    options: *const CRdmaOptions,
    queue: *mut *mut RdmaHandle,
) -> c_int {
    run(|| {
        let make = || {
            // SAFETY: the caller's promise; integers and pointers may be zero.
            let options = unsafe { read_sized(options)?.options()? };
            handle::with(endpoint, |endpoint| {
                let vc = endpoint.port(port)?.vc(vc)?;
                let mut queue = RdmaQueue::open(&vc, options)?;
                let canceller = queue.canceller();
                Ok(handle::open(canceller, Pair::Queue(queue)))
            })
        };
        // SAFETY: the caller's promise.
        unsafe { give(queue, make) }
    })
}

/// Closes a queue pair.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_close(queue: *mut RdmaHandle) -> c_int {
    run(|| handle::close(queue, |_| Ok(())).map(|()| 0))
}

/// Ends the wait of another thread.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_cancel(queue: *mut RdmaHandle) -> c_int {
    run(|| handle::head(queue, |canceller| canceller.cancel()).map(|()| 0))
}

/// Connects, also again after an error.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_connect(queue: *mut RdmaHandle, timeout_ns: u64) -> c_int {
    run(|| {
        with(queue, |queue| {
            queue.connect(time(timeout_ns))?;
            Ok(0)
        })
    })
}

/// State of the queue pair.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_state(queue: *mut RdmaHandle) -> c_int {
    run(|| {
        handle::with(queue, |pair| {
            let state = match pair {
                Pair::Pooled(pooled) => pooled.state(),
                pair => pair.queue()?.state(),
            };
            Ok(match state {
                PairState::Reset => 0,
                PairState::Connecting => 1,
                PairState::Ready => 2,
                PairState::Error => 3,
            })
        })
    })
}

/// What the queue pair waits for.
///
/// # Safety
/// `text` is null or has room for as many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_why(
    queue: *mut RdmaHandle,
    text: *mut c_char,
    room: usize,
) -> c_int {
    run(|| {
        let why = handle::with(queue, |pair| {
            Ok(match pair {
                Pair::Pooled(pooled) => pooled.why(),
                pair => pair.queue()?.why(),
            })
        })?;
        if text.is_null() && room > 0 {
            return Err(refuse(format!("place for {room} bytes: NULL")));
        }
        let length = why.len().min(room.saturating_sub(1));
        if room > 0 {
            // SAFETY: the caller's promise; the text and its end are not longer than `room`.
            unsafe {
                std::ptr::copy_nonoverlapping(why.as_ptr(), text.cast(), length);
                text.add(length).write(0);
            }
        }
        Ok(c_int::try_from(why.len()).unwrap_or(c_int::MAX))
    })
}

/// Registers new memory.
///
/// # Safety
/// `memory` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_alloc(
    queue: *mut RdmaHandle,
    bytes: usize,
    shared: c_int,
    memory: *mut u32,
) -> c_int {
    run(|| {
        if memory.is_null() {
            return Err(refuse("place for the number of the memory: NULL".to_owned()));
        }
        if bytes == 0 {
            return Err(Fault::new(Status::Empty, "RDMA memory of 0 bytes"));
        }
        let mut zeros = Vec::new();
        let room = |_| Fault::new(Status::NoResources, format!("RDMA memory of {bytes} bytes"));
        zeros.try_reserve_exact(bytes).map_err(room)?;
        zeros.resize(bytes, 0u8);
        let number = with(queue, |queue| {
            Ok(if shared == 0 { queue.register(zeros)? } else { queue.register_shared(&zeros)? })
        })?;
        // SAFETY: the caller's promise.
        unsafe { write(memory, number) }
    })
}

/// Frees memory.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_free(queue: *mut RdmaHandle, memory: u32) -> c_int {
    run(|| {
        with(queue, |queue| {
            drop(queue.release(memory));
            Ok(0)
        })
    })
}

/// Address of memory that no request uses.
///
/// # Safety
/// `data` and `bytes` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_data(
    queue: *mut RdmaHandle,
    memory: u32,
    data: *mut *mut u8,
    bytes: *mut usize,
) -> c_int {
    run(|| {
        let (first, length) = with(queue, |queue| {
            let found = queue.memory_mut(memory);
            if found.is_empty() {
                let what = format!("RDMA memory {memory}: not there, shared, or used by a request");
                return Err(Fault::new(Status::Busy, what));
            }
            Ok((found.as_mut_ptr(), found.len()))
        })?;
        if !bytes.is_null() {
            // SAFETY: the caller's promise.
            unsafe { bytes.write(length) };
        }
        // SAFETY: the caller's promise.
        unsafe { write(data, first) }
    })
}

/// Copies bytes out of memory that may be shared.
///
/// # Safety
/// `out` is null or valid for as many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_load(
    queue: *mut RdmaHandle,
    memory: u32,
    offset: u64,
    out: *mut u8,
    bytes: usize,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { place(out, bytes)? };
        with(queue, |queue| {
            queue.load(memory, offset, out)?;
            Ok(0)
        })
    })
}

/// Copies bytes into memory that may be shared.
///
/// # Safety
/// `data` is null or points to as many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_store(
    queue: *mut RdmaHandle,
    memory: u32,
    offset: u64,
    data: *const u8,
    bytes: usize,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let data = unsafe { read_bytes(data, bytes, "bytes to store")? };
        with(queue, |queue| {
            queue.store(memory, offset, data)?;
            Ok(0)
        })
    })
}

/// A place of the program for bytes.
///
/// # Safety
/// `out` is null, or valid for as many bytes while the result is used.
unsafe fn place<'a>(out: *mut u8, bytes: usize) -> Result<&'a mut [u8], Fault> {
    match (out.is_null(), bytes) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(refuse(format!("place for {bytes} bytes: NULL"))),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts_mut(out, bytes) }),
    }
}

/// Shares memory under a new remote key.
///
/// # Safety
/// `local` is null or valid for a read, `key` null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_share(
    queue: *mut RdmaHandle,
    local: *const CLocal,
    address: u64,
    flags: u32,
    timeout_ns: u64,
    key: *mut u32,
) -> c_int {
    run(|| {
        if local.is_null() || key.is_null() {
            return Err(refuse("piece to share or place for its key: NULL".to_owned()));
        }
        if flags & !(READ | WRITE | ATOMIC | NOTIFY | HIDDEN) != 0 {
            return Err(refuse(format!("flags {flags:#x} of a remote key: SPFE_REGION_*")));
        }
        let set = |flag| flags & flag != 0;
        let options = KeyOptions {
            address,
            rights: RegionRights { read: set(READ), write: set(WRITE), atomic: set(ATOMIC) },
            notify: set(NOTIFY),
            hidden: set(HIDDEN),
            ..KeyOptions::default()
        };
        // SAFETY: the caller's promise; it is not null.
        let local = unsafe { Local::from(*local) };
        let new = with(queue, |queue| Ok(queue.share(local, &options, time(timeout_ns))?))?;
        // SAFETY: the caller's promise.
        unsafe { write(key, new.0) }
    })
}

/// Takes a remote key back.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_unshare(queue: *mut RdmaHandle, key: u32, timeout_ns: u64) -> c_int {
    run(|| {
        with(queue, |queue| {
            queue.unshare(RemoteKey(key), time(timeout_ns))?;
            Ok(0)
        })
    })
}

/// Asks the target for its regions.
///
/// # Safety
/// `list` is null or has room for as many entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_regions(
    queue: *mut RdmaHandle,
    list: *mut CRegionEntry,
    room: u32,
    timeout_ns: u64,
) -> c_int {
    run(|| {
        if list.is_null() && room > 0 {
            return Err(refuse(format!("list of {room} regions: NULL")));
        }
        let regions = with(queue, |queue| Ok(queue.regions(time(timeout_ns))?))?;
        for (index, region) in regions.iter().take(room as usize).enumerate() {
            // SAFETY: the caller's promise; the index is below `room`.
            unsafe { list.add(index).write(region.into()) };
        }
        Ok(c_int::try_from(regions.len()).unwrap_or(c_int::MAX))
    })
}

/// Posts a request.
///
/// # Safety
/// `request` is null or points to as many bytes as its size says, and its lists are as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_post(queue: *mut RdmaHandle, request: *const CRequest) -> c_int {
    run(|| {
        if request.is_null() {
            return Err(refuse("RDMA request: NULL".to_owned()));
        }
        // SAFETY: the caller's promise; integers and pointers may be zero.
        let request = unsafe { read_sized(request)?.request()? };
        with(queue, |queue| {
            queue.post(request).map_err(RdmaError::from)?;
            Ok(0)
        })
    })
}

/// Releases what was posted.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_ring(queue: *mut RdmaHandle) -> c_int {
    run(|| {
        with(queue, |queue| {
            queue.ring()?;
            Ok(0)
        })
    })
}

/// Takes the next completion.
///
/// # Safety
/// `completion` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_poll(
    queue: *mut RdmaHandle,
    completion: *mut CRdmaCompletion,
) -> c_int {
    run(|| {
        if completion.is_null() {
            return Err(refuse("place for the completion: NULL".to_owned()));
        }
        match with(queue, |queue| Ok(queue.poll()?))? {
            // SAFETY: the caller's promise.
            Some(done) => unsafe { found(completion, done.into()) },
            None => Ok(0),
        }
    })
}

/// Waits for completions.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_wait(
    queue: *mut RdmaHandle,
    completions: u32,
    timeout_ns: u64,
) -> c_int {
    run(|| {
        handle::with(queue, |pair| {
            match pair {
                Pair::Pooled(pooled) => {
                    pooled::wait(pooled, &Threshold::ONE, timeout_ns)?;
                }
                pair => pair.queue()?.wait(completions as usize, time(timeout_ns))?,
            }
            Ok(0)
        })
    })
}

/// Waits for a threshold of completions.
///
/// # Safety
/// `threshold` is null or valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_wait_for(
    queue: *mut RdmaHandle,
    threshold: *const CThreshold,
    timeout_ns: u64,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let goal = unsafe { read_threshold(threshold)? };
        handle::with(queue, |pair| {
            Ok(ready(match pair {
                Pair::Pooled(pooled) => pooled::wait(pooled, &goal, timeout_ns)?,
                pair => pair.queue()?.wait_for(&goal, time(timeout_ns))?,
            }))
        })
    })
}

/// Writes bytes to remote memory and waits.
///
/// # Safety
/// `data` is null or points to as many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_write(
    queue: *mut RdmaHandle,
    key: u32,
    address: u64,
    data: *const u8,
    bytes: usize,
    timeout_ns: u64,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let data = unsafe { read_bytes(data, bytes, "bytes to write")? };
        with(queue, |queue| {
            queue.write(key, address, data.to_vec(), time(timeout_ns))?;
            Ok(0)
        })
    })
}

/// Reads remote memory and waits.
///
/// # Safety
/// `data` is null or valid for as many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_read(
    queue: *mut RdmaHandle,
    key: u32,
    address: u64,
    data: *mut u8,
    bytes: usize,
    timeout_ns: u64,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { place(data, bytes)? };
        with(queue, |queue| {
            let read = queue.read(key, address, bytes, time(timeout_ns))?;
            out.copy_from_slice(&read);
            Ok(0)
        })
    })
}

/// Opens the receive queue.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_receive_open(queue: *mut RdmaHandle, depth: u32) -> c_int {
    run(|| {
        let mut options = QueueOptions::default();
        if depth != 0 {
            options = options.depth(depth);
        }
        with(queue, |queue| {
            queue.open_buffers(&options)?;
            Ok(0)
        })
    })
}

/// Posts a buffer for a message.
///
/// # Safety
/// `buffer` is null or valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_receive_post(
    queue: *mut RdmaHandle,
    id: u64,
    buffer: *const CLocal,
) -> c_int {
    run(|| {
        if buffer.is_null() {
            return Err(refuse("buffer for a message: NULL".to_owned()));
        }
        // SAFETY: the caller's promise; it is not null.
        let buffer = unsafe { Local::from(*buffer) };
        with(queue, |queue| {
            queue.post_buffer(id, buffer)?;
            Ok(0)
        })
    })
}

/// Takes the next message.
///
/// # Safety
/// `message` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_message_poll(
    queue: *mut RdmaHandle,
    message: *mut CMessage,
) -> c_int {
    run(|| {
        if message.is_null() {
            return Err(refuse("place for the message: NULL".to_owned()));
        }
        match with(queue, |queue| Ok(queue.poll_message()))? {
            // SAFETY: the caller's promise.
            Some(taken) => unsafe { found(message, taken.into()) },
            None => Ok(0),
        }
    })
}

/// Waits for a message.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_message_wait(queue: *mut RdmaHandle, timeout_ns: u64) -> c_int {
    run(|| {
        with(queue, |queue| {
            queue.wait_message(time(timeout_ns))?;
            Ok(0)
        })
    })
}

/// Opens a server for the regions of a target file.
///
/// # Safety
/// `target` is null or a string; `server` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rdma_server_open(
    endpoint: *mut EndpointHandle,
    port: u32,
    vc: u32,
    target: *const c_char,
    server: *mut *mut ServerHandle,
) -> c_int {
    run(|| {
        let make = || {
            // SAFETY: the caller's promise.
            let name = unsafe { read_text(target, "target of an RDMA server")? };
            let node = TargetFile::open(name).and_then(|file| TargetNode::new(&file));
            let node = node.map_err(|error| refuse(error.to_string()))?;
            handle::with(endpoint, |endpoint| {
                let vc = endpoint.port(port)?.vc(vc)?;
                let mut server = RdmaServer::open(&vc, node)?;
                let canceller = server.canceller();
                Ok(handle::open(canceller, server))
            })
        };
        // SAFETY: the caller's promise.
        unsafe { give(server, make) }
    })
}

/// Closes a server.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_server_close(server: *mut ServerHandle) -> c_int {
    run(|| handle::close(server, |_| Ok(())).map(|()| 0))
}

/// Executes what has arrived.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_server_serve(server: *mut ServerHandle, deadline_ns: u64) -> c_int {
    run(|| {
        handle::with(server, |server| {
            let executed = server.serve(deadline(deadline_ns))?;
            Ok(c_int::try_from(executed).unwrap_or(c_int::MAX))
        })
    })
}

/// Ends the serving of another thread.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rdma_server_cancel(server: *mut ServerHandle) -> c_int {
    run(|| handle::head(server, |canceller| canceller.cancel()).map(|()| 0))
}
