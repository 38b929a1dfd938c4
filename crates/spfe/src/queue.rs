//! The common part of all queues: rings in registered memory, credit, completions, and the way to
//! make the device or the engine work.

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
    completion_flags as cf, queue_options, wide_completion,
};
use spfe_host::QueueRequest;
use spfe_ring::ring::RingEntry;
use spfe_ring::sync::{AtomicU64, FenceMode, Ordering, fence_mode};
use spfe_ring::{
    AtomicDeviceLine, AtomicHostLine, Consumer, Cursor, Producer, Ring, RingCredit, Slot,
};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Arc;

/// Phase of an entry in its second word, and the difference between two laps.
const ONE_LAP: u64 = 1 << 48;
const PHASE: u64 = 0xffff * ONE_LAP;

/// Options of a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueOptions {
    /// Entries: 4 to 32768, rounded up to a power of two.
    pub depth: u32,
    /// The device stamps every completion with its time in ns.
    pub stamps: bool,
    /// How waits spend their time.
    pub strategy: Strategy,
    /// The queue gets a file descriptor for poll or epoll (see `request_event`).
    pub event: bool,
    /// Short packets arrive beside their completions (see [`QueueOptions::beside`]).
    pub beside: bool,
}

impl Default for QueueOptions {
    fn default() -> Self {
        Self {
            depth: 1024,
            stamps: false,
            strategy: Strategy::Adaptive,
            event: false,
            beside: false,
        }
    }
}

impl QueueOptions {
    /// Sets the number of entries: 4 to 32768, rounded up to a power of two.
    pub fn depth(mut self, entries: u32) -> Self {
        self.depth = entries;
        self
    }

    /// Sets whether the device stamps every completion with its time.
    pub fn stamps(mut self, on: bool) -> Self {
        self.stamps = on;
        self
    }

    /// Sets how waits spend their time.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets whether the queue has a file descriptor for poll or epoll.
    pub fn event(mut self, on: bool) -> Self {
        self.event = on;
        self
    }

    /// Sets whether packets of up to 40 bytes come on the cache line of their completion: sooner to
    /// a pooled receive queue that polls, but groups cost more. Without effect on other queues, and
    /// on devices that cannot do it.
    pub fn beside(mut self, on: bool) -> Self {
        self.beside = on;
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

/// Counters of a queue on the host side. They only go up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStats {
    /// Completions taken, and polls that found none.
    pub polls: u64,
    /// Polls that found no completion.
    pub empty_polls: u64,
    /// Doorbells rung.
    pub doorbells: u64,
    /// Sleeps of a waiting thread that have ended.
    pub sleeps: u64,
    /// Submissions refused because the ring was full.
    pub full: u64,
    /// Times that a waiting thread let others have its core. It does so only when nothing has
    /// arrived for 2 us, or sooner while the other end needs the core.
    pub yields: u64,
}

/// The methods that all queues of virtual channels have.
macro_rules! common_methods {
    ($name:ident) => {
        impl $name {
            /// A handle with which other threads end waits of this queue.
            pub fn canceller(&mut self) -> crate::Canceller {
                self.queue.canceller()
            }

            /// Counters of this queue.
            pub fn stats(&self) -> crate::QueueStats {
                self.queue.stats()
            }

            /// Processor time that the engine has taken in this thread for the queue, ns; 0 unless it is
            /// measured ([`crate::Endpoint::measure_engine`]).
            pub fn engine_ns(&self) -> u64 {
                self.queue.runner.as_ref().map_or(0, |runner| runner.engine_ns())
            }

            /// The descriptor for poll or epoll. On a device with interrupts, one that comes after the
            /// wait that it was for makes it readable once more: look for completions, request again.
            ///
            /// # Errors
            /// BAD_FIELD if the queue was opened without [`crate::QueueOptions::event`].
            pub fn fd(&self) -> crate::Result<rustix::fd::BorrowedFd<'_>> {
                self.queue.event()
            }
        }
    };
}
pub(crate) use common_methods;

/// Identifies a queue in control operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub port: u32,
    pub vc: u32,
    pub kind: QueueKind,
}

pub(crate) struct Queue {
    // Used for every packet.
    pub sq: Producer,
    pub cq: Consumer,
    /// Where `sq` and `cq` are, for what moves one entry at a time: queues with posted buffers. See
    /// [`Queue::catch_up`].
    next: Cursor<Ring>,
    done: Cursor<Ring>,
    /// Second word of the next entry: its phase and the flags of [`Queue::set_posted`].
    next_word: u64,
    /// A look at the device's line without a fence tells whether it is awake.
    looks: bool,
    pub credit: RingCredit,
    pub runner: Option<Runner>,
    device_line: NonNull<AtomicDeviceLine>,
    /// Without the completions taken since `counted`.
    pub stats: QueueStats,
    /// Position up to which completions are counted as polls.
    counted: u32,
    /// Bytes of all completions taken. The device counts the same bytes, so a threshold in bytes
    /// is armed as a value of this counter.
    pub taken_bytes: u64,
    // Used when opening, waiting and closing.
    stamps: NonNull<AtomicU64>,
    host_line: NonNull<AtomicHostLine>,
    pub arm_sequence: u32,
    /// Single buffers offered while a sender was stalled.
    offers: u32,
    /// How much earlier than needed a timed sleep is asked to end; follows the measured lateness.
    pub guard_ns: u64,
    /// How long a wait spins before it lets others have its core, ns ([`wait::next_turn`]).
    turn_ns: u64,
    /// Device time minus host time, ns.
    pub offset_ns: i64,
    pub strategy: Strategy,
    pub event: Option<Arc<Event>>,
    /// Shared with the queue's [`Canceller`]s, once there is one.
    pub cancel: Option<Arc<cancel::Shared>>,
    /// The oldest completion that a wait has seen and that is not yet taken: position and time, ns.
    pub first_seen: Cell<Option<(u32, u64)>>,
    request: QueueRequest,
    pub place: Place,
    memory: Region,
    /// Regions that other code posts pieces of.
    #[cfg(feature = "fast")]
    pub held: Vec<Region>,
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

/// Layout of the queue's memory: lines first, then the rings of `1 << log2` entries, each on its own
/// cache lines. `wide`: the completions are, and have their times in them.
fn layout(log2: u32, wide: bool) -> Layout {
    let entry = contract::ENTRY_BYTES as usize;
    let sq = 128;
    let cq = sq + (entry << log2);
    if wide {
        let bytes = cq + (wide_completion::SIZE << log2);
        return Layout { sq, cq, stamps: cq + wide_completion::TIME_OFFSET, bytes };
    }
    let stamps = cq + (entry << log2);
    Layout { sq, cq, stamps, bytes: stamps + (8 << log2) }
}

impl Queue {
    /// Registers memory for the rings and creates the queue on the device. `fill` sets what only
    /// some kinds of queue have.
    pub fn open(
        device: Arc<Device>,
        place: Place,
        options: &QueueOptions,
        fill: impl FnOnce(&mut QueueRequest),
    ) -> Result<Self> {
        let log2 = options.log2()?;
        let beside = options.beside && place.kind == QueueKind::Rx;
        let wide = beside && device.backend().has_beside();
        let mut at = layout(log2, wide);
        // The times of this kind are followed by immediate data.
        at.bytes += if place.kind == QueueKind::RdmaRx { 8 << log2 } else { 0 };
        let memory = Region::new(device.clone(), "spfe-queue", at.bytes)?;
        let mut place = place;
        if matches!(place.kind, QueueKind::MessageTx | QueueKind::MessageRx) {
            // A port has several message queues. The key of the rings, unique in this client, tells
            // them apart.
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
            options: if options.stamps { queue_options::STAMP } else { 0 }
                | if wide { queue_options::BESIDE } else { 0 },
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
            let cq = base.add(at.cq).cast::<Slot>();
            (
                Ring::new(base.add(at.sq).cast::<Slot>(), log2),
                if wide { Ring::wide(cq, log2) } else { Ring::new(cq, log2) },
                base.add(at.stamps).cast(),
                base.cast(),
                base.add(64).cast(),
            )
        };
        let offset_ns = device.backend().offset_ns();
        let mut queue = Self {
            sq: Producer::new(sq),
            cq: Consumer::new(cq),
            next: Cursor::new(sq, 0),
            done: Cursor::new(cq, 0),
            next_word: 0,
            looks: false,
            credit: RingCredit::default(),
            runner: None,
            device_line,
            stats: QueueStats::default(),
            counted: 0,
            taken_bytes: 0,
            stamps,
            host_line,
            arm_sequence: 1,
            offers: 0,
            guard_ns: 0,
            turn_ns: wait::TURN_NS,
            offset_ns,
            strategy: options.strategy,
            event,
            cancel: None,
            first_seen: Cell::new(None),
            request,
            place,
            memory,
            #[cfg(feature = "fast")]
            held: Vec::new(),
            device,
            broken: None,
        };
        queue.device.backend().watch(queue.memory.shared());
        queue.create()?;
        Ok(queue)
    }

    /// Creates the queue on the device, with a new event vector where it needs one. The device drops
    /// the vector together with the queue.
    fn create(&mut self) -> Result<()> {
        let backend = self.device.backend();
        if self.event.is_some() || backend.interrupts() {
            let fd = self.event.as_ref().map(|event| event.fd.try_clone()).transpose();
            let fd = fd.map_err(|source| Error::io("eventfd", source))?;
            self.request.vector = backend.add_event(fd)?;
        }
        if let Some(cancel) = &self.cancel {
            cancel.moves_to(self.memory.shared(), self.request.vector);
        }
        backend.create_queue(&self.request)
    }

    /// Event vector of the queue, 0 for none.
    pub fn vector(&self) -> u32 {
        self.request.vector
    }

    pub fn host_line(&self) -> &AtomicHostLine {
        // SAFETY: in the ring memory, which the queue keeps; atomics only.
        unsafe { self.host_line.as_ref() }
    }

    #[inline(always)]
    pub fn device_line(&self) -> &AtomicDeviceLine {
        // SAFETY: as for the host line.
        unsafe { self.device_line.as_ref() }
    }

    /// Number of entries that can be posted now.
    #[inline(always)]
    pub fn free(&self) -> u32 {
        self.credit.free(self.sq.ring.size(), self.sq.position)
    }

    /// Number of entries posted and not freed yet.
    pub fn outstanding(&self) -> u32 {
        self.sq.ring.size() - self.free()
    }

    /// Makes posted submissions move: runs the engine in this thread, or rings a sleeping device.
    #[inline(always)]
    pub fn start_posted(&mut self) {
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

    /// Makes this a queue whose entries have some flags, and are posted one at a time.
    pub fn set_posted(&mut self, runner: Option<Runner>, flags: u64) {
        self.looks = runner.is_none() && fence_mode() == FenceMode::Asymmetric;
        self.runner = runner;
        self.next_word = flags;
        self.catch_up();
    }

    /// Whether what was posted moves without [`Queue::start_posted`].
    #[inline(always)]
    pub fn is_awake(&self) -> bool {
        self.looks && !self.device_line().needs_doorbell_here()
    }

    /// [`Queue::start_posted`] in a function of its own: so the engine takes no registers of a loop
    /// over packets.
    #[inline(never)]
    pub fn start_asleep(&mut self) {
        self.start_posted();
    }

    /// Time before which the completion at a position must not be reported, ns; 0 for at once.
    #[inline(always)]
    pub fn not_before(&self, entry: RingEntry, position: u32) -> u64 {
        let flags = (entry[1] >> 32) as u16;
        if flags & cf::TIMED == 0 { 0 } else { self.stamp(position) }
    }

    /// Time of the completion at a position from the side array, as host time in ns.
    pub fn stamp(&self, position: u32) -> u64 {
        let index = (position & (self.cq.ring.size() - 1)) as usize;
        let index = if self.cq.ring.is_wide() { wide_completion::SIZE / 8 * index } else { index };
        // SAFETY: one word per completion, index masked.
        let time = unsafe { self.stamps.add(index).as_ref() }.load(Ordering::Relaxed);
        time.wrapping_add_signed(self.offset_ns.wrapping_neg())
    }

    /// The word of a completion in the second half of the side array (RDMA_RX only).
    #[cfg(feature = "rdma")]
    pub fn second_stamp(&self, position: u32) -> u64 {
        assert!(self.place.kind == QueueKind::RdmaRx);
        let size = self.cq.ring.size();
        let index = (size + (position & (size - 1))) as usize;
        // SAFETY: two words per completion slot in this kind of queue, index masked.
        unsafe { self.stamps.add(index).as_ref() }.load(Ordering::Relaxed)
    }

    /// How the queue was set up.
    #[cfg(feature = "rdma")]
    pub fn setup(&self) -> &QueueSetup {
        &self.request.setup
    }

    /// Counters of the host side.
    pub fn stats(&self) -> QueueStats {
        let taken = self.cq.position.wrapping_sub(self.counted);
        QueueStats { polls: self.stats.polls + u64::from(taken), ..self.stats }
    }

    /// Counts the completions taken: the position alone would wrap.
    #[inline(always)]
    fn count_taken(&mut self) {
        self.stats.polls = self.stats().polls;
        self.counted = self.cq.position;
    }

    /// The next completion, if it is there and due.
    #[inline(always)]
    pub fn peek(&mut self) -> Option<RingEntry> {
        if let Some(entry) = self.cq.peek() {
            let flags = (entry[1] >> 32) as u16;
            if flags & cf::TIMED == 0 || self.is_due() {
                return Some(entry);
            }
        } else {
            self.stats.empty_polls += 1;
        }
        self.stats.polls += 1;
        None
    }

    /// Sets the cursors to the positions, after anything but [`Queue::push`] and [`Queue::pop`] has
    /// changed these.
    #[inline(always)]
    pub fn catch_up(&mut self) {
        self.done.move_to(self.cq.position);
        self.next.move_to(self.sq.position);
        self.pushed(0);
    }

    /// Counts entries that were posted without [`Queue::push`].
    #[inline(always)]
    pub fn pushed(&mut self, count: u32) {
        self.sq.position = self.sq.position.wrapping_add(count);
        self.next.move_by(count, self.sq.position);
        self.next_word = self.next_word & !PHASE | u64::from(self.next.phase()) << 32;
    }

    /// Posts an entry, to whose second word the flags are added. The caller knows that there is room.
    #[inline(always)]
    pub fn push(&mut self, entry: RingEntry) {
        debug_assert_eq!(self.next.index(), self.sq.position & (self.sq.ring.size() - 1));
        if self.next.push([entry[0], entry[1] | self.next_word]) {
            self.next_word = self.next_word.wrapping_add(ONE_LAP);
        }
        self.sq.position = self.sq.position.wrapping_add(1);
    }

    /// The place of the next entry to post.
    #[inline(always)]
    pub fn next(&self) -> Cursor<Ring> {
        self.next
    }

    /// Takes completions of one buffer each from the row of them that are next in this lap, together
    /// with as many of `with`: those without flags, as long as `take` takes their first words. Returns
    /// their number, and whether a lap has ended.
    #[inline(always)]
    pub fn take_row<T>(
        &mut self,
        with: impl ExactSizeIterator<Item = T>,
        mut take: impl FnMut(u64, T) -> bool,
    ) -> (u32, bool) {
        let done = self.done;
        let row = done.straight();
        let first = u64::from(done.phase()) << 32 | u64::from(self.credit.freed as u16);
        let (mut word, mut bytes) = (first, 0);
        for (slot, with) in row.iter().zip(with) {
            if slot.word1() != word {
                break;
            }
            let word0 = slot.word0();
            if !take(word0, with) {
                break;
            }
            bytes += word0 & 0xffff_ffff;
            word += 1;
        }
        let count = (word - first) as u32;
        self.taken_bytes = self.taken_bytes.wrapping_add(bytes);
        self.credit.freed = self.credit.freed.wrapping_add(count);
        self.cq.advance(count);
        self.done.move_by(count, self.cq.position);
        (count, count != 0 && self.done.index() == 0)
    }

    /// Takes the next completion, if it is there, has no flags, and `wants` takes the lower half of
    /// its second word; [`Queue::settle`] follows.
    #[inline(always)]
    pub fn pop_plain(&mut self, wants: impl FnOnce(u32) -> bool) -> Option<Completion> {
        debug_assert_eq!(self.done.index(), self.cq.position & (self.cq.ring.size() - 1));
        let words = self.done.take_plain_if(wants)?;
        self.cq.advance(1);
        Some(Completion::from_words(words))
    }

    /// Takes the next completion, if it is there and due, with its time if it has one;
    /// [`Queue::settle`] follows. Otherwise helps a stalled sender.
    pub fn pop(&mut self) -> Option<(Completion, Option<u64>)> {
        let Some(words) = self.peek() else {
            if self.place.kind == QueueKind::Rx || self.credit.freed != self.sq.position {
                self.help_stalled();
            }
            return None;
        };
        let done = Completion::from_words(words);
        let time_ns = self.time_of(done.flags, self.cq.position);
        self.cq.advance(1);
        self.catch_up();
        Some((done, time_ns))
    }

    /// Whether the time of the next completion has come.
    #[cold]
    pub fn is_due(&self) -> bool {
        self.stamp(self.cq.position) <= self.device.backend().clock().now_ns()
    }

    /// Takes the completion returned by [`Queue::peek`], for queues that do not [`Queue::pop`].
    #[inline(always)]
    pub fn take(&mut self, done: &Completion) -> Option<std::ops::Range<u32>> {
        self.cq.advance(1);
        self.settle(done)
    }

    /// Counts a completion that was taken. Returns the positions of the submissions that it frees;
    /// `None` if the device broke the ring.
    #[inline(always)]
    pub fn settle(&mut self, done: &Completion) -> Option<std::ops::Range<u32>> {
        self.taken_bytes = self.taken_bytes.wrapping_add(u64::from(done.bytes));
        let freed = self.credit.freed;
        if done.position == freed as u16 && freed != self.sq.position {
            // One entry is the usual case, and costs half as much this way.
            self.credit.freed = freed.wrapping_add(1);
            return Some(freed..self.credit.freed);
        }
        self.settle_many(done.position)
    }

    #[inline(never)]
    fn settle_many(&mut self, position: u16) -> Option<std::ops::Range<u32>> {
        let freed = self.credit.free_to(position, self.sq.position);
        if freed.is_none() {
            self.broken = Some(Status::BadRing);
        }
        freed
    }

    /// The same where the caller knows that the completion frees just the oldest entry.
    #[inline(always)]
    pub fn settle_one(&mut self, done: &Completion) {
        self.taken_bytes = self.taken_bytes.wrapping_add(u64::from(done.bytes));
        self.credit.freed = self.credit.freed.wrapping_add(1);
    }

    /// Takes a completion without credit: packed and pooled queues keep their own account.
    #[inline(always)]
    pub fn take_uncredited(&mut self, done: &Completion) {
        self.taken_bytes = self.taken_bytes.wrapping_add(u64::from(done.bytes));
        self.cq.advance(1);
    }

    /// Marks the queue broken: the device wrote a completion that no device may write.
    #[cold]
    pub fn set_broken(&mut self) {
        self.broken = Some(Status::BadRing);
    }

    /// After an empty poll: runs the engine if this thread can move something.
    #[inline(always)]
    pub fn help_stalled(&mut self) {
        self.count_taken();
        if self.runner.as_ref().is_some_and(Runner::has_work) {
            self.progress();
        }
    }

    /// Lets a stalled sender use receive buffers that were just posted.
    ///
    /// A sender whose own thread runs the engine finds the buffers when it polls. Running the engine
    /// here means to claim its seat, which costs a heavy fence; so this tries it only for a batch
    /// (`many`) or for every 16th single buffer. Otherwise the next empty poll here moves the
    /// packets, or the sender, which sleeps at most `STALL_NS` while it is stalled.
    #[inline(always)]
    pub fn offer_buffers(&mut self, many: bool) {
        match &self.runner {
            Some(runner) => {
                if runner.has_work() {
                    self.offers = self.offers.wrapping_add(1);
                    if many || self.offers.is_multiple_of(16) {
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

    /// Time of the completion at a position, ns, if its flags say that it has one.
    #[inline(always)]
    pub fn time_of(&self, flags: u16, position: u32) -> Option<u64> {
        (flags & cf::STAMPED != 0).then(|| self.stamp(position))
    }

    /// Checks that the queue still works.
    ///
    /// # Errors
    /// Why no completion will arrive any more: the device is gone, broke the ring, or stopped the
    /// queue.
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

    /// The descriptor for poll or epoll.
    ///
    /// # Errors
    /// BAD_FIELD if the queue was opened without one.
    pub fn event(&self) -> Result<BorrowedFd<'_>> {
        self.event.as_ref().map(|event| event.fd.as_fd()).ok_or_else(|| {
            Error::device(
                Status::BadField,
                "opened without a descriptor: QueueOptions::event(true)",
            )
        })
    }

    /// A handle with which other threads end waits of this queue.
    pub fn canceller(&mut self) -> Canceller {
        let (memory, device) = (self.memory.shared(), &self.device);
        let vector = self.request.vector;
        let shared = self.cancel.get_or_insert_with(|| cancel::Shared::new(memory, device, vector));
        Canceller::new(shared.clone())
    }

    /// Gives another queue of the device the engine and the cancellers of this one, for a wait.
    #[cfg(feature = "rdma")]
    pub fn lend(&mut self, other: &mut Queue) {
        other.runner = self.runner.take();
        other.cancel = self.cancel.take();
        if let Some(cancel) = &other.cancel {
            cancel.moves_to(other.memory.shared(), other.request.vector);
        }
    }

    /// Whether another thread has asked to end the wait.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|cancel| cancel.is_asked())
    }

    /// Stops the queue so that it can be started again. Afterwards the host owns all buffers.
    pub fn halt(&mut self) -> Result<()> {
        if self.stop() {
            return Ok(());
        }
        let Place { port, vc, kind } = self.place;
        let what = format!("{} queue of port {port} VC {vc} cannot be stopped now", kind.name());
        Err(Error::device(Status::Busy, what))
    }

    /// Starts a stopped queue again, with empty rings.
    pub fn start_again(&mut self) -> Result<()> {
        self.sq.ring.clear();
        self.cq.ring.clear();
        self.host_line().disarm();
        self.counted = self.counted.wrapping_sub(self.cq.position);
        self.sq.position = 0;
        self.cq.position = 0;
        self.catch_up();
        self.credit = RingCredit::default();
        self.taken_bytes = 0;
        self.first_seen.set(None);
        self.broken = None;
        self.create()
    }

    /// Stops the queue. After true the device no longer accesses its rings and buffers. After false
    /// it might, so the caller must leak them.
    #[must_use]
    pub fn stop(&mut self) -> bool {
        // Never started or already stopped. Another queue may have its virtual channel by now.
        if self.device_line().state().0 != u32::from(QueueState::Enabled.raw()) {
            return true;
        }
        let backend = self.device.backend();
        let Place { port, vc, kind } = self.place;
        match backend.destroy_queue(port, vc, kind.raw()) {
            Ok(()) => true,
            Err(error) => match error.status() {
                Some(Status::NotFound) => true,
                // A daemon's device thread died with it, but engines of other clients still run.
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
            #[cfg(feature = "fast")]
            std::mem::forget(std::mem::take(&mut self.held));
        }
        self.device.backend().unwatch(self.memory.shared());
    }
}

/// The status of a completion. Only OK is on the fast path.
#[inline(always)]
pub(crate) fn status_of(done: &Completion) -> Status {
    #[cold]
    fn other(raw: u8) -> Status {
        Status::from_raw(raw).unwrap_or(Status::BadField)
    }
    if done.status == Status::Ok.raw() { Status::Ok } else { other(done.status) }
}
