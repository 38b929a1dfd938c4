//! A queue as a runner sees it: rings, lines, completions and wake-ups.

use crate::memory::{AccessRefusal, Address, READ, RegionKey, RegionMap, Regions, WRITE};
use crate::shared::{Positions, QueueConfig, QueueCounters, bump};
use spfe_contract::{
    self as contract, Completion, EntryType, Message, QueueKind, Release, Status, completion_flags,
    queue_options, submit_flags as sf, wide_completion,
};
use spfe_ring::sync::{AtomicU64, Ordering};
use spfe_ring::{AtomicDeviceLine, AtomicHostLine, Ring, Slot};
use std::ptr::NonNull;

/// What a runner provides to the device: a clock, and a way to wake a host.
pub trait Host {
    /// Device time, ns. Called at most once for each step or message, and only if a time is needed.
    fn now_ns(&mut self) -> u64;

    /// Wakes the threads that sleep on the `wake_seq` of a line, which has been incremented
    /// already.
    /// `event` asks for a signal on the event vector of the queue as well.
    fn wake(&mut self, line: &AtomicDeviceLine, queue: &QueueConfig, event: bool);

    /// Whether a participant is dead.
    fn is_dead(&mut self, participant: u32) -> bool {
        let _ = participant;
        false
    }
}

/// Rings and lines of one queue, as addresses of this process.
#[derive(Clone, Copy)]
pub struct QueueView {
    /// Submission ring.
    pub submissions: Ring,
    /// Completion ring.
    pub completions: Ring,
    stamps: NonNull<AtomicU64>,
    host: NonNull<AtomicHostLine>,
    device: NonNull<AtomicDeviceLine>,
    /// The configuration that the view was made from.
    pub config: QueueConfig,
}

// SAFETY: all pointers are to atomics in shared memory, which the regions of the map keep mapped
// (`RegionMap::set`).
unsafe impl Send for QueueView {}

/// Bytes of host line and device line together.
const LINES_BYTES: u64 = 128;

/// `wide`: a ring of wide completions.
fn ring_at(
    map: &RegionMap,
    address: u64,
    log2: u32,
    domain: u16,
    wide: bool,
) -> Result<Ring, AccessRefusal> {
    let (min, max) = (contract::RING_LOG2_MIN as u32, contract::RING_LOG2_MAX as u32);
    if !(min..=max).contains(&log2) {
        return Err(AccessRefusal::Fault(Status::BadRing));
    }
    let entry = if wide { wide_completion::SIZE as u64 } else { contract::ENTRY_BYTES };
    let slots = aligned(map, address, entry << log2, domain, 64)?.cast::<Slot>();
    // SAFETY: translate checked that the ring lies in a mapped region; alignment was checked.
    Ok(unsafe { if wide { Ring::wide(slots, log2) } else { Ring::new(slots, log2) } })
}

fn aligned(
    map: &RegionMap,
    address: u64,
    bytes: u64,
    domain: u16,
    align: usize,
) -> Result<NonNull<u8>, AccessRefusal> {
    let at = map.translate(Address(address), bytes, domain, READ | WRITE)?;
    match NonNull::new(at) {
        Some(at) if (at.as_ptr() as usize).is_multiple_of(align) => Ok(at),
        _ => Err(AccessRefusal::Fault(Status::BadRing)),
    }
}

impl QueueView {
    /// Checks a configuration and translates its addresses. Fails with BAD_RING for a size or an
    /// alignment that is not allowed, or with the reason why the memory cannot be used.
    pub fn new(config: QueueConfig, map: &RegionMap) -> Result<Self, AccessRefusal> {
        let domain = config.domain as u16;
        if config.cq_log2 < config.sq_log2 {
            return Err(AccessRefusal::Fault(Status::BadRing));
        }
        let wide = config.options & queue_options::BESIDE != 0;
        if wide && config.kind != u32::from(QueueKind::Rx.raw()) {
            return Err(AccessRefusal::Fault(Status::BadField));
        }
        // In an RDMA_RX queue, immediate data follows the times.
        let words = 1 + u64::from(config.kind == u32::from(QueueKind::RdmaRx.raw()));
        let stamps = words << (3 + config.cq_log2.min(31));
        let lines = aligned(map, config.lines, LINES_BYTES, domain, 64)?;
        let completions = ring_at(map, config.cq, config.cq_log2, domain, wide)?;
        Ok(Self {
            submissions: ring_at(map, config.sq, config.sq_log2, domain, false)?,
            completions,
            stamps: match wide {
                true => {
                    // SAFETY: the ring was checked, and its first entry has the time here.
                    unsafe { completions.first().byte_add(wide_completion::TIME_OFFSET) }.cast()
                }
                false => aligned(map, config.stamp, stamps, domain, 8)?.cast(),
            },
            host: lines.cast(),
            // SAFETY: the 128 bytes of both lines were translated together.
            device: unsafe { lines.add(64) }.cast(),
            config,
        })
    }

    /// The line the host writes.
    #[inline(always)]
    pub fn host_line(&self) -> &AtomicHostLine {
        // SAFETY: the line is aligned and in a region that stays mapped while the view is used. It
        // consists of atomics.
        unsafe { self.host.as_ref() }
    }

    /// The line the device writes.
    #[inline(always)]
    pub fn device_line(&self) -> &AtomicDeviceLine {
        // SAFETY: as for the host line.
        unsafe { self.device.as_ref() }
    }

    /// Whether the host wants a time on every completion.
    #[inline(always)]
    pub fn wants_stamps(&self) -> bool {
        self.config.options & queue_options::STAMP != 0
    }

    /// Writes a completion: first its time into the side array, then the entry.
    #[inline(always)]
    pub fn complete_at(&self, position: u32, mut completion: Completion, time: CompletionTime) {
        let flags = match time {
            CompletionTime::None => 0,
            CompletionTime::Stamp(_) => completion_flags::STAMPED,
            CompletionTime::Visible(_) => completion_flags::STAMPED | completion_flags::TIMED,
        };
        completion.flags |= flags;
        self.write_stamped(position, completion.to_words(), time);
    }

    /// Writes immediate data and key of a completion, before the completion itself. Only in an RDMA_RX
    /// queue.
    pub fn write_word(&self, position: u32, word: u64) {
        if self.config.kind != u32::from(QueueKind::RdmaRx.raw()) {
            return;
        }
        let size = self.completions.size();
        let index = (size + (position & (size - 1))) as usize;
        // SAFETY: the side array of this kind has two words per completion slot; the index is masked.
        unsafe { self.stamps.add(index).as_ref() }.store(word, Ordering::Relaxed);
    }

    /// Writes a received message and the time of its arrival.
    pub fn message_at(&self, position: u32, mut message: Message, now_ns: u64) {
        message.flags |= completion_flags::STAMPED;
        self.write_stamped(position, message.to_words(), CompletionTime::Stamp(now_ns));
    }

    #[inline(always)]
    fn write_stamped(&self, position: u32, entry: [u64; 2], time: CompletionTime) {
        if let CompletionTime::Stamp(ns) | CompletionTime::Visible(ns) = time {
            let index = (position & (self.completions.size() - 1)) as usize;
            let wide = self.completions.is_wide();
            let index = if wide { index * (wide_completion::SIZE / 8) } else { index };
            // SAFETY: the side array has one word per completion slot, a wide completion has one
            // among its eight; the index is masked.
            unsafe { self.stamps.add(index).as_ref() }.store(ns, Ordering::Relaxed);
        }
        // The release store of the entry publishes the side array too.
        self.completions.write(position, entry);
    }

    /// Called after completions were written: wakes the host if its threshold is met.
    #[inline(always)]
    pub fn notify<H: Host>(&self, at: &mut Positions, count: &QueueCounters, host: &mut H) {
        if let Some(sequence) = self.host_line().armed() {
            self.answer(sequence, at, count, host);
        }
    }

    #[cold]
    fn answer<H: Host>(
        &self,
        sequence: u32,
        at: &mut Positions,
        count: &QueueCounters,
        host: &mut H,
    ) {
        if at.answered == sequence {
            return;
        }
        let threshold = self.host_line().threshold();
        let mut met = at.urgent != 0 || threshold.is_met(at.completion, at.reported_bytes);
        if let Some(after) = threshold.after_first_ns
            && !met
            && threshold.has_first(at.completion)
        {
            let now = host.now_ns();
            if at.timed != sequence {
                at.timed = sequence;
                at.first_ns = now;
            }
            met = now.saturating_sub(at.first_ns) >= after;
        }
        if met {
            at.answered = sequence;
            at.urgent = 0;
            bump(&count.wakes, 1);
            self.device_line().bump();
            host.wake(self.device_line(), &self.config, threshold.event);
        }
    }

    /// Wakes the host whatever it waits for, because the state of its queue has changed.
    pub fn kick<H: Host>(&self, host: &mut H) {
        self.device_line().bump();
        host.wake(self.device_line(), &self.config, true);
    }

    /// Wakes the host if it is armed, though nothing has completed.
    pub fn rouse<H: Host>(&self, host: &mut H) {
        if self.host_line().armed().is_some() {
            self.device_line().bump();
            host.wake(self.device_line(), &self.config, self.host_line().threshold().event);
        }
    }

    /// Device time at which the host has to be woken, ns, if it waits for a time.
    pub fn deadline(&self, at: &Positions) -> Option<u64> {
        let sequence = self.host_line().armed()?;
        if at.answered == sequence {
            return None;
        }
        let after = self.host_line().threshold().after_first_ns?;
        (at.timed == sequence).then(|| at.first_ns.saturating_add(after))
    }
}

/// The time of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionTime {
    /// The completion has no time.
    None,
    /// Device time at which the packet was completed, ns.
    Stamp(u64),
    /// Device time at which a paced link completes the packet, ns. The host must not report the
    /// completion before.
    Visible(u64),
}

/// A completion of the submission at `position`, with nothing else filled in.
#[inline(always)]
pub fn completion(config: &QueueConfig, position: u32, status: Status) -> Completion {
    Completion {
        vc: config.vc as u8,
        status: status.raw(),
        position: position as u16,
        ..Completion::default()
    }
}

/// Whether an entry is a valid RELEASE.
pub(crate) fn is_release(entry: &Release) -> bool {
    let kind = entry.flags & (sf::TYPE_MASK | sf::MBZ_MASK);
    kind == u16::from(EntryType::Release.raw()) && entry.reserved0 == 0 && entry.completions != 0
}

/// The view of a queue. `Ok(None)` if its configuration is not usable. `Err` names a region to map
/// first, with `tx` passed on.
pub(crate) fn bind_view(
    config: QueueConfig,
    regions: &Regions,
    tx: bool,
) -> Result<Option<QueueView>, (bool, RegionKey)> {
    match QueueView::new(config, &regions.map) {
        Ok(view) => Ok(Some(view)),
        Err(AccessRefusal::Unmapped(key)) if regions.exists(key) => Err((tx, key)),
        Err(_) => Ok(None),
    }
}
