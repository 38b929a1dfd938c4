//! Paced links: the time at which a link of limited rate would have delivered a packet.
//!
//! There is no pacing thread. A packet starts when the link is free and occupies it for its bits.
//! The engine copies the packet at once and puts that end time into the completion, which the host
//! does not report before then. All virtual channels of a direction share one [`LinkTime`].
//!
//! Each priority level has its own time from which the link is free. A packet moves that time for
//! its own level and for all less urgent ones. So urgent traffic never waits behind a backlog of
//! less urgent traffic, and the rate it uses is taken from the others.

use spfe_ring::sync::{AtomicU32, AtomicU64, Ordering, relax};

/// Priority levels of ECSS-E-ST-50-11C (0 is the most urgent).
pub const PRIORITIES: usize = 16;

/// Picoseconds in a nanosecond. Link time is kept in ps so that short packets do not add up to a
/// rounding error.
pub const PS: u64 = 1000;

/// The rate of a link for payload, with the overhead of the standard included.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Rate {
    /// Femtoseconds per byte while only this direction carries data. 0 for a link without pacing.
    pub fs_per_byte: u64,
    /// Femtoseconds per byte while the other direction carries data as well.
    pub fs_per_byte_both: u64,
}

impl Rate {
    /// A link without pacing.
    pub const UNLIMITED: Self = Self { fs_per_byte: 0, fs_per_byte_both: 0 };

    /// Whether the link is paced.
    pub const fn is_paced(&self) -> bool {
        self.fs_per_byte != 0
    }
}

/// One direction of a link, in shared memory.
#[repr(C, align(64))]
#[derive(Default)]
pub struct LinkTime {
    lock: AtomicU32,
    pad: AtomicU32,
    /// From when the link is free for each priority, ps.
    free_ps: [AtomicU64; PRIORITIES],
    /// End of the last packet of any priority, ps. The other direction reads it.
    busy_until_ps: AtomicU64,
    /// Priorities of the virtual channels, 4 bits each (registers VC_PRIORITY_n).
    priorities: [AtomicU32; 4],
}

/// A flow's access to its link.
#[derive(Clone, Copy)]
pub struct Pacer<'a> {
    /// Link time of this direction.
    pub link: &'a LinkTime,
    /// Link time of the other direction.
    pub reverse: &'a LinkTime,
    /// The rate of the link.
    pub rate: Rate,
    /// Virtual channel. It has a priority in the link.
    pub vc: u32,
    /// Id of this participant, for the lock.
    pub id: u32,
}

impl Pacer<'_> {
    /// Books `bytes` on the link from `now_ns` at the earliest. Returns the time at which the last
    /// bit has passed, ns. With `ends` the end marker is added and the last word is filled up.
    pub fn book(&self, now_ns: u64, bytes: u32, ends: bool) -> u64 {
        let wire = if ends { (u64::from(bytes) + 4) & !3 } else { u64::from(bytes) };
        let now = now_ns * PS;
        let level = usize::from(self.link.priority(self.vc));
        let _guard = LinkLock::take(&self.link.lock, self.id);
        let free = self.link.free_ps[level].load(Ordering::Relaxed);
        let start = free.max(now);
        let both = self.reverse.busy_until_ps.load(Ordering::Relaxed) > start;
        let rate = if both { self.rate.fs_per_byte_both } else { self.rate.fs_per_byte };
        let takes = wire * rate / 1000;
        let end = start + takes;
        self.link.free_ps[level].store(end, Ordering::Relaxed);
        for lower in &self.link.free_ps[level + 1..] {
            let was = lower.load(Ordering::Relaxed).max(start);
            lower.store(was + takes, Ordering::Relaxed);
        }
        let busy = self.link.busy_until_ps.load(Ordering::Relaxed).max(end);
        self.link.busy_until_ps.store(busy, Ordering::Relaxed);
        end.div_ceil(PS)
    }

    /// From when the link is free for this priority, ns.
    pub fn free_ns(&self) -> u64 {
        let level = usize::from(self.link.priority(self.vc));
        self.link.free_ps[level].load(Ordering::Relaxed) / PS
    }
}

impl LinkTime {
    /// Priority of a virtual channel.
    pub fn priority(&self, vc: u32) -> u8 {
        let word = self.priorities[vc as usize / 8 % 4].load(Ordering::Relaxed);
        (word >> (vc % 8 * 4) & 0xf) as u8
    }

    /// Control plane: sets the priority (0 to 15) of a virtual channel.
    pub fn set_priority(&self, vc: u32, priority: u8) {
        let word = &self.priorities[vc as usize / 8 % 4];
        let shift = vc % 8 * 4;
        let rest = word.load(Ordering::Relaxed) & !(0xf << shift);
        word.store(rest | u32::from(priority & 0xf) << shift, Ordering::Relaxed);
    }

    /// Control plane: frees the lock if this dead participant held it.
    pub fn release_dead(&self, id: u32) {
        let _ = self.lock.compare_exchange(id, 0, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// A spin lock that names its holder, so that the control plane can free it after a death.
struct LinkLock<'a>(&'a AtomicU32);

impl<'a> LinkLock<'a> {
    fn take(word: &'a AtomicU32, id: u32) -> Self {
        while word.compare_exchange_weak(0, id, Ordering::Acquire, Ordering::Relaxed).is_err() {
            relax();
        }
        Self(word)
    }
}

impl Drop for LinkLock<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four SpaceFibre lanes at 7.5 Gbit/s.
    const RATE: Rate = Rate { fs_per_byte: 349_028, fs_per_byte_both: 359_447 };

    fn pacer<'a>(link: &'a LinkTime, reverse: &'a LinkTime, vc: u32) -> Pacer<'a> {
        link.set_priority(vc, vc as u8);
        Pacer { link, reverse, rate: RATE, vc, id: 1 }
    }

    #[test]
    fn packets_queue_and_idle_time_is_lost() {
        let (link, reverse) = (LinkTime::default(), LinkTime::default());
        let pacer = pacer(&link, &reverse, 0);
        let first = pacer.book(1_000, 1020, true);
        assert_eq!(first, 1_000 + (1024u64 * pacer.rate.fs_per_byte / 1000).div_ceil(1000));
        let second = pacer.book(1_000, 1020, true);
        assert!((second - 1_000).abs_diff(2 * (first - 1_000)) <= 1);
        let later = pacer.book(10_000, 1020, true);
        assert_eq!(later - 10_000, first - 1_000);
    }

    #[test]
    fn urgent_packet_overtakes_a_backlog_and_delays_it() {
        let (link, reverse) = (LinkTime::default(), LinkTime::default());
        let slow = pacer(&link, &reverse, 5);
        let urgent = pacer(&link, &reverse, 1);
        let backlog = (0..100).fold(0, |_, _| slow.book(0, 4092, true));
        let alone = urgent.book(0, 4092, true);
        assert!(alone < backlog / 50, "urgent packet waited: {alone} of {backlog}");
        let next = slow.book(0, 4092, true);
        assert!(next.abs_diff(backlog + 2 * alone) <= 2, "the link gave more than it has");
    }

    #[test]
    fn data_in_both_directions_is_slower() {
        let (there, back) = (LinkTime::default(), LinkTime::default());
        let one_way = pacer(&there, &back, 0).book(0, 1 << 20, true);
        let both_ways = pacer(&back, &there, 0).book(0, 1 << 20, true);
        assert!(both_ways > one_way);
    }
}
