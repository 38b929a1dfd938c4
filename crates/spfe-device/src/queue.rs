//! A queue as its runner sees it: rings, lines, completions, wake-ups.

use crate::memory::{AccessRefusal, Address, READ, RegionMap, WRITE};
use crate::shared::{Positions, QueueConfig, QueueCounters, bump};
use spfe_contract::{
    self as contract, Completion, Message, Status, completion_flags, queue_options,
};
use spfe_ring::sync::{AtomicU64, Ordering};
use spfe_ring::{DeviceLine, HostLine, Ring, Slot};
use std::ptr::NonNull;

/// What a runner of the device offers to it: time and a way to wake a host.
pub trait Host {
    /// Time in ns. Called once per step or per packet, and only where times are used.
    fn now_ns(&mut self) -> u64;

    /// Wakes whoever sleeps on the line's `wake_seq` (already bumped); `event` asks for a signal on
    /// the queue's event vector as well.
    fn wake(&mut self, line: &DeviceLine, queue: &QueueConfig, event: bool);

    /// Whether a participant is dead (0 is: cannot be told apart).
    fn is_dead(&mut self, participant: u32) -> bool {
        let _ = participant;
        false
    }
}

/// Rings and lines of one queue, translated for this process.
#[derive(Clone, Copy)]
pub struct QueueView {
    /// Submission ring.
    pub submissions: Ring,
    /// Completion ring.
    pub completions: Ring,
    stamps: NonNull<AtomicU64>,
    host: NonNull<HostLine>,
    device: NonNull<DeviceLine>,
    /// The configuration it was made from.
    pub config: QueueConfig,
}

// SAFETY: the view is pointers into shared memory that only atomics are used on; whoever made it
// keeps the memory mapped (`QueueView::new`).
unsafe impl Send for QueueView {}

/// Bytes of the two lines of a queue.
const LINES_BYTES: u64 = 128;

fn ring_at(map: &RegionMap, address: u64, log2: u32, domain: u16) -> Result<Ring, AccessRefusal> {
    let (min, max) = (contract::RING_LOG2_MIN as u32, contract::RING_LOG2_MAX as u32);
    if !(min..=max).contains(&log2) {
        return Err(AccessRefusal::Fault(Status::BadRing));
    }
    let bytes = contract::ENTRY_BYTES << log2;
    let slots = aligned(map, address, bytes, domain, 64)?.cast::<Slot>();
    // SAFETY: translate checked that the ring lies in a mapped region; alignment was checked.
    Ok(unsafe { Ring::new(slots, log2) })
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
    /// Checks a configuration and translates its addresses.
    pub fn new(config: QueueConfig, map: &RegionMap) -> Result<Self, AccessRefusal> {
        let domain = config.domain as u16;
        if config.cq_log2 < config.sq_log2 {
            return Err(AccessRefusal::Fault(Status::BadRing));
        }
        let stamps = 8u64 << config.cq_log2.min(31);
        let lines = aligned(map, config.lines, LINES_BYTES, domain, 64)?;
        Ok(Self {
            submissions: ring_at(map, config.sq, config.sq_log2, domain)?,
            completions: ring_at(map, config.cq, config.cq_log2, domain)?,
            stamps: aligned(map, config.stamps, stamps, domain, 8)?.cast(),
            host: lines.cast(),
            // SAFETY: the 128 bytes of both lines were translated together.
            device: unsafe { lines.add(64) }.cast(),
            config,
        })
    }

    /// The line the host writes.
    #[inline(always)]
    pub fn host_line(&self) -> &HostLine {
        // SAFETY: inside a mapped region for as long as the view is used, aligned; only atomics.
        unsafe { self.host.as_ref() }
    }

    /// The line the device writes.
    #[inline(always)]
    pub fn device_line(&self) -> &DeviceLine {
        // SAFETY: as for the host line.
        unsafe { self.device.as_ref() }
    }

    /// Whether the host wants a time on every completion.
    #[inline(always)]
    pub fn wants_stamps(&self) -> bool {
        self.config.options & queue_options::STAMP != 0
    }

    /// Writes a completion at a position: side array first, then the entry.
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

    /// Writes a received message and its time at a position.
    pub fn message_at(&self, position: u32, mut message: Message, now_ns: u64) {
        message.flags |= completion_flags::STAMPED;
        self.write_stamped(position, message.to_words(), CompletionTime::Stamp(now_ns));
    }

    #[inline(always)]
    fn write_stamped(&self, position: u32, entry: [u64; 2], time: CompletionTime) {
        if let CompletionTime::Stamp(ns) | CompletionTime::Visible(ns) = time {
            let index = (position & (self.completions.size() - 1)) as usize;
            // SAFETY: the side array has one word per completion slot; the index is masked.
            unsafe { self.stamps.add(index).as_ref() }.store(ns, Ordering::Relaxed);
        }
        // The entry's release store publishes the side array too.
        self.completions.write(position, entry);
    }

    /// After completions were written: wakes the host if it waits for what is there now.
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
        let wishes = self.host_line().wishes();
        let mut met = at.urgent != 0 || wishes.is_met(at.completion, at.reported_bytes);
        if let Some(after) = wishes.after_first_ns
            && !met
            && wishes.has_first(at.completion)
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
            host.wake(self.device_line(), &self.config, wishes.event);
        }
    }

    /// Wakes the host whatever it waits for: its queue changed under it.
    pub fn kick<H: Host>(&self, host: &mut H) {
        self.device_line().bump();
        host.wake(self.device_line(), &self.config, true);
    }

    /// When the host has to be woken because of time, if that is what it waits for.
    pub fn deadline(&self, at: &Positions) -> Option<u64> {
        let sequence = self.host_line().armed()?;
        if at.answered == sequence {
            return None;
        }
        let after = self.host_line().wishes().after_first_ns?;
        (at.timed == sequence).then(|| at.first_ns.saturating_add(after))
    }
}

/// The time that goes with a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionTime {
    /// None is wanted.
    None,
    /// When it happened.
    Stamp(u64),
    /// When a paced link will have done it: not to be reported before.
    Visible(u64),
}

/// A completion without times: the common case written in one place.
#[inline(always)]
pub fn completion(config: &QueueConfig, position: u32, status: Status) -> Completion {
    Completion {
        vc: config.vc as u8,
        status: status.raw(),
        position: position as u16,
        ..Completion::default()
    }
}
