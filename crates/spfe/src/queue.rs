//! What every queue of a host has: rings in registered memory, credit, completions, the engine or
//! the doorbell.

mod wait;

use crate::cancel::{self, Canceller};
use crate::device::Device;
use crate::engine::Runner;
use crate::timer::Event;
use crate::wait::Strategy;
use crate::{Error, Region, Result};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd};
use spfe_contract::{
    self as contract, Completion, QueueKind, QueueSetup, QueueState, Status,
    completion_flags as cf, queue_options,
};
use spfe_host::QueueRequest;
use spfe_ring::ring::RingEntry;
use spfe_ring::sync::{AtomicU64, Ordering};
use spfe_ring::{Consumer, DeviceLine, HostLine, Producer, Ring, RingCredit, Slot};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Arc;

/// How a queue is opened.
#[derive(Clone, Copy, Debug)]
pub struct QueueOptions {
    /// Entries: 4 to 32768, rounded up to a power of two.
    pub depth: u32,
    /// Stamp every completion with the device time in ns.
    pub stamps: bool,
    /// How to wait.
    pub strategy: Strategy,
    /// Have a file descriptor that becomes readable (see `request_event`).
    pub event: bool,
}

impl Default for QueueOptions {
    fn default() -> Self {
        Self { depth: 1024, stamps: false, strategy: Strategy::Adaptive, event: false }
    }
}

impl QueueOptions {
    /// At least this many entries.
    pub fn depth(mut self, entries: u32) -> Self {
        self.depth = entries;
        self
    }

    /// Stamp every completion.
    pub fn stamps(mut self, on: bool) -> Self {
        self.stamps = on;
        self
    }

    /// Wait this way.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Have a file descriptor.
    pub fn event(mut self, on: bool) -> Self {
        self.event = on;
        self
    }

    pub(crate) fn log2(&self) -> Result<u32> {
        let (least, most) = (1 << contract::RING_LOG2_MIN, 1 << contract::RING_LOG2_MAX);
        if (least..=most).contains(&self.depth) {
            return Ok(self.depth.next_power_of_two().trailing_zeros());
        }
        let what = format!("queue of {} entries: {least} to {most} allowed", self.depth);
        Err(Error::device(Status::BadRing, what))
    }
}

/// What a queue has done on the host side. Free-running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStats {
    /// Looks at the completion ring.
    pub polls: u64,
    /// Looks that found nothing.
    pub empty_polls: u64,
    /// Doorbells rung.
    pub doorbells: u64,
    /// Times a thread went to sleep and came back.
    pub sleeps: u64,
    /// Times there was no room for an entry.
    pub full: u64,
}

/// Which queue: what its control operations name it by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub port: u32,
    pub vc: u32,
    pub kind: QueueKind,
}

pub(crate) struct Queue {
    // Hot: used for every packet.
    pub sq: Producer,
    pub cq: Consumer,
    pub credit: RingCredit,
    pub runner: Option<Runner>,
    device_line: NonNull<DeviceLine>,
    pub stats: QueueStats,
    /// Bytes of all completions taken (the device counts the same ones).
    pub taken_bytes: u64,
    // Cold.
    stamps: NonNull<AtomicU64>,
    host_line: NonNull<HostLine>,
    pub arm_sequence: u32,
    nudges: u32,
    /// How much earlier than needed a timed sleep is asked to end (learnt).
    pub guard_ns: u64,
    /// What the device's times are ahead of ours.
    pub offset_ns: i64,
    pub strategy: Strategy,
    pub event: Option<Arc<Event>>,
    /// Only with a [`Canceller`].
    pub cancel: Option<Arc<cancel::Shared>>,
    /// The first completion not taken that a wait has seen: its position, and when that was.
    pub first_seen: Cell<Option<(u32, u64)>>,
    request: QueueRequest,
    pub place: Place,
    memory: Region,
    pub device: Arc<Device>,
    broken: Option<Status>,
}

// SAFETY: the pointers are into the queue's own ring memory, which moves with it.
unsafe impl Send for Queue {}

struct Layout {
    sq: usize,
    cq: usize,
    stamps: usize,
    bytes: usize,
}

/// Lines first, each ring on its own cache lines.
fn layout(sq_log2: u32, cq_log2: u32) -> Layout {
    let entry = contract::ENTRY_BYTES as usize;
    let sq = 128;
    let cq = sq + (entry << sq_log2);
    let stamps = cq + (entry << cq_log2);
    Layout { sq, cq, stamps, bytes: stamps + (8 << cq_log2) }
}

impl Queue {
    /// Rings in fresh registered memory, and the queue on the device.
    pub fn open(
        device: Arc<Device>,
        place: Place,
        options: &QueueOptions,
        fill: impl FnOnce(&mut QueueRequest),
    ) -> Result<Self> {
        let log2 = options.log2()?;
        let at = layout(log2, log2);
        let memory = Region::new(device.clone(), "spfe-queue", at.bytes)?;
        let mut place = place;
        if matches!(place.kind, QueueKind::MessageTx | QueueKind::MessageRx) {
            // A port has several: this number, the client's own, tells them apart.
            place.vc = u32::from(memory.key().0);
        }
        let event = if options.event {
            let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
                .map_err(|e| Error::io("eventfd", e.into()))?;
            Some(Event::new(fd))
        } else {
            None
        };
        let setup = QueueSetup {
            kind: u32::from(place.kind.raw()),
            options: if options.stamps { queue_options::STAMP } else { 0 },
            sq_log2: log2,
            cq_log2: log2,
            sq: memory.address(at.sq),
            cq: memory.address(at.cq),
            stamp: memory.address(at.stamps),
            lines: memory.address(0),
            ..QueueSetup::default()
        };
        let mut request = QueueRequest { port: place.port, vc: place.vc, setup };
        fill(&mut request);
        let base = memory.base();
        // SAFETY: `layout` placed everything inside the region, aligned to 64 bytes; the region is
        // kept by the queue.
        let (sq, cq, stamps, host_line, device_line) = unsafe {
            (
                Ring::new(base.add(at.sq).cast::<Slot>(), log2),
                Ring::new(base.add(at.cq).cast::<Slot>(), log2),
                base.add(at.stamps).cast(),
                base.cast(),
                base.add(64).cast(),
            )
        };
        let offset_ns = device.backend().offset_ns();
        let mut queue = Self {
            sq: Producer::new(sq),
            cq: Consumer::new(cq),
            credit: RingCredit::default(),
            runner: None,
            device_line,
            stats: QueueStats::default(),
            taken_bytes: 0,
            stamps,
            host_line,
            arm_sequence: 1,
            nudges: 0,
            guard_ns: 0,
            offset_ns,
            strategy: options.strategy,
            event,
            cancel: None,
            first_seen: Cell::new(None),
            request,
            place,
            memory,
            device,
            broken: None,
        };
        queue.device.backend().watch(queue.memory.shared());
        queue.create()?;
        Ok(queue)
    }

    /// The queue on the device, with an event where it needs one. An event goes with its queue.
    fn create(&mut self) -> Result<()> {
        let backend = self.device.backend();
        if self.event.is_some() || backend.interrupts() {
            let fd = self.event.as_ref().map(|event| event.fd.try_clone()).transpose();
            let fd = fd.map_err(|source| Error::io("eventfd", source))?;
            self.request.vector = backend.add_event(fd)?;
        }
        if let Some(cancel) = &self.cancel {
            cancel.set_vector(self.request.vector);
        }
        backend.create_queue(&self.request)
    }

    /// Its event vector, 0 for none.
    pub fn vector(&self) -> u32 {
        self.request.vector
    }

    pub fn host_line(&self) -> &HostLine {
        // SAFETY: in the ring memory, which the queue keeps; atomics only.
        unsafe { self.host_line.as_ref() }
    }

    #[inline(always)]
    pub fn device_line(&self) -> &DeviceLine {
        // SAFETY: as for the host line.
        unsafe { self.device_line.as_ref() }
    }

    /// Entries that may be posted now.
    #[inline(always)]
    pub fn free(&self) -> u32 {
        self.credit.free(self.sq.ring.size(), self.sq.position)
    }

    /// Entries posted and not freed yet.
    pub fn outstanding(&self) -> u32 {
        self.sq.ring.size() - self.free()
    }

    /// After posting: runs the engine here, or rings a sleeping device.
    #[inline(always)]
    pub fn kick(&mut self) {
        match &mut self.runner {
            Some(runner) => runner.run_posted(),
            None => {
                if self.device_line().needs_doorbell() {
                    self.stats.doorbells += 1;
                    self.device.backend().ring();
                }
            }
        }
    }

    /// When the completion at a position may be reported, if not at once.
    #[inline(always)]
    pub fn not_before(&self, entry: RingEntry, position: u32) -> u64 {
        let flags = (entry[1] >> 32) as u16;
        if flags & cf::TIMED == 0 { 0 } else { self.stamp(position) }
    }

    /// The side array's time for a position.
    pub fn stamp(&self, position: u32) -> u64 {
        let index = (position & (self.cq.ring.size() - 1)) as usize;
        // SAFETY: one word per completion slot, index masked.
        let time = unsafe { self.stamps.add(index).as_ref() }.load(Ordering::Relaxed);
        time.wrapping_add_signed(self.offset_ns.wrapping_neg())
    }

    /// The next completion that may be reported now.
    #[inline(always)]
    pub fn peek(&mut self) -> Option<RingEntry> {
        self.stats.polls += 1;
        let Some(entry) = self.cq.peek() else {
            self.stats.empty_polls += 1;
            return None;
        };
        let flags = (entry[1] >> 32) as u16;
        if flags & cf::TIMED != 0 && !self.is_due() {
            return None;
        }
        Some(entry)
    }

    #[cold]
    pub fn is_due(&self) -> bool {
        self.stamp(self.cq.position) <= self.device.backend().clock().now_ns()
    }

    /// Takes the completion that was peeked at; returns the submissions it frees.
    #[inline(always)]
    pub fn take(&mut self, done: &Completion) -> Option<std::ops::Range<u32>> {
        self.taken_bytes = self.taken_bytes.wrapping_add(u64::from(done.bytes));
        self.cq.advance(1);
        let freed = self.credit.free_to(done.position, self.sq.position);
        if freed.is_none() {
            self.broken = Some(Status::BadRing);
        }
        freed
    }

    /// Takes a completion that frees no submissions (packed receive returns credit by itself).
    #[inline(always)]
    pub fn take_uncredited(&mut self, done: &Completion) {
        self.taken_bytes = self.taken_bytes.wrapping_add(u64::from(done.bytes));
        self.cq.advance(1);
    }

    /// The device wrote what it never should.
    #[cold]
    pub fn set_broken(&mut self) {
        self.broken = Some(Status::BadRing);
    }

    /// Nothing to report: where this thread can move something, it does.
    #[inline(always)]
    pub fn progress_stalled(&mut self) {
        if self.runner.as_ref().is_some_and(Runner::has_work) {
            self.progress();
        }
    }

    /// After receive buffers were posted: a sender that waits for room goes on. Where the sender's
    /// own thread is the engine it finds them by itself while it polls; a claim of its seat costs a
    /// heavy barrier, so one is tried for a batch or for every 16th single buffer only. What that
    /// leaves is done by the next empty poll here, or by the sender, which does not sleep longer
    /// than [`crate::wait`]'s stall period while it is stalled.
    #[inline(always)]
    pub fn posted_room(&mut self, many: bool) {
        match &self.runner {
            Some(runner) => {
                if runner.has_work() {
                    self.nudges = self.nudges.wrapping_add(1);
                    if many || self.nudges.is_multiple_of(16) {
                        self.progress();
                    }
                }
            }
            None => {
                if self.device_line().needs_doorbell() {
                    self.stats.doorbells += 1;
                    self.device.backend().ring();
                }
            }
        }
    }

    /// The time of the completion at a position, if it has one.
    #[inline(always)]
    pub fn time_of(&self, flags: u16, position: u32) -> Option<u64> {
        (flags & cf::STAMPED != 0).then(|| self.stamp(position))
    }

    /// Why nothing will come any more, if so.
    pub fn check(&self) -> Result<()> {
        let Place { port, vc, kind } = self.place;
        if self.device.backend().is_gone() {
            return Err(Error::device(Status::DeviceGone, "the device is gone: open it again"));
        }
        if let Some(status) = self.broken {
            let what =
                format!("{} queue of port {port} VC {vc}: the device broke the ring", kind.name());
            return Err(Error::device(status, what));
        }
        if self.device_line().state().0 == u32::from(QueueState::Enabled.raw()) {
            return Ok(());
        }
        self.device.backend().settle();
        let (_, error) = self.device_line().state();
        let status = Status::from_raw(error as u8).filter(|status| *status != Status::Ok);
        let status = status.unwrap_or(Status::DeviceReset);
        let what =
            format!("{} queue of port {port} VC {vc} was stopped: open it again", kind.name());
        Err(Error::device(status, what))
    }

    /// The descriptor that becomes readable, if the queue was opened with one.
    pub fn event(&self) -> Result<BorrowedFd<'_>> {
        self.event.as_ref().map(|event| event.fd.as_fd()).ok_or_else(|| {
            Error::device(
                Status::BadField,
                "opened without a descriptor: QueueOptions::event(true)",
            )
        })
    }

    /// A handle that ends waits of this queue.
    pub fn canceller(&mut self) -> Canceller {
        let (memory, device) = (self.memory.shared(), &self.device);
        let vector = self.request.vector;
        let shared =
            self.cancel.get_or_insert_with(|| cancel::Shared::new(memory.clone(), device, vector));
        Canceller::new(shared.clone())
    }

    /// Whether another thread asks for the end of the wait.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|cancel| cancel.is_asked())
    }

    /// Stops the queue to start it again: whatever was posted is the host's.
    pub fn halt(&mut self) -> Result<()> {
        if self.stop() {
            return Ok(());
        }
        let Place { port, vc, kind } = self.place;
        let what = format!("{} queue of port {port} VC {vc} cannot be stopped now", kind.name());
        Err(Error::device(Status::Busy, what))
    }

    /// Starts a queue that has stopped again, with empty rings.
    pub fn start_again(&mut self) -> Result<()> {
        self.sq.ring.clear();
        self.cq.ring.clear();
        self.host_line().disarm();
        self.sq.position = 0;
        self.cq.position = 0;
        self.credit = RingCredit::default();
        self.taken_bytes = 0;
        self.first_seen.set(None);
        self.broken = None;
        self.create()
    }

    /// Stops the queue: when this returns true the device touches its rings and buffers no more.
    /// Otherwise nobody knows, and the buffers must stay.
    #[must_use]
    pub fn stop(&mut self) -> bool {
        // Never started, or stopped already: its place may be another queue's by now.
        if self.device_line().state().0 != u32::from(QueueState::Enabled.raw()) {
            return true;
        }
        let backend = self.device.backend();
        let Place { port, vc, kind } = self.place;
        match backend.destroy_queue(port, vc, kind.raw()) {
            Ok(()) => true,
            Err(error) => match error.status() {
                Some(Status::NotFound) => true,
                // A daemon's device thread is gone with it; other clients' engines are not.
                Some(Status::DeviceGone) => !self.device.has_engine(),
                _ => false,
            },
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if !self.stop() {
            std::mem::forget(self.memory.clone());
        }
        self.device.backend().unwatch(self.memory.shared());
    }
}

/// The status of a completion; OK is the one that has to be quick.
#[inline(always)]
pub(crate) fn status_of(done: &Completion) -> Status {
    #[cold]
    fn other(raw: u8) -> Status {
        Status::from_raw(raw).unwrap_or(Status::BadField)
    }
    if done.status == Status::Ok.raw() { Status::Ok } else { other(done.status) }
}
