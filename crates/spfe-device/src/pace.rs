//! Paced links: the time at which a link of limited rate would have delivered a packet.
//!
//! There is no pacing thread. The engine copies a packet at once and puts the time at which the link
//! would have delivered it into the completion, which the host does not report before then. All
//! virtual channels of a direction share one [`LinkTime`], which knows how much each of them has
//! still to send. [`share`] divides the link between them.
//!
//! The time of a packet is computed when it is booked, from what all channels have to send at that
//! time. A packet that another channel books later can delay only what is booked after it.
//!
//! Flow control takes link time, too. Data in one direction needs FCTs in the other, so a packet
//! takes longer while the other direction is busy, and lengthens what is booked there.

mod share;

use share::{Backlog, VCS, Waiting};
use spfe_ring::sync::{AtomicU32, AtomicU64, Ordering, relax};
use spfe_topology::LinkTiming;

/// Picoseconds in a nanosecond. Link time is kept in ps so that short packets do not add up to a
/// rounding error.
pub const PS: u64 = 1000;
/// How far a flow with limited booking runs ahead of device time, ns. Every such flow takes a turn
/// at least once in half of this time, so it need not be longer than threads may be late.
pub const BOOKED_MAX_NS: u64 = 10_000_000;
/// Expected bandwidth of virtual channel 0 and of the others until it is set, 65536ths of the link:
/// that of an exact link.
const BANDWIDTH: [u32; 2] = [6554, 256];
/// The whole of the link, in the unit of [`LinkTime::replies`].
const WHOLE: u64 = 1 << 16;

fn scaled(time_ps: u64, by: u64, of: u64) -> u64 {
    (u128::from(time_ps) * u128::from(by) / u128::from(of)) as u64
}

/// What a link knows of a virtual channel.
#[repr(C)]
#[derive(Default)]
struct ChannelTime {
    /// Link time of what was not sent at [`LinkTime::at_ps`].
    backlog_ps: AtomicU64,
    /// [`Waiting::spent_ps`] at `since_ps`.
    spent_ps: AtomicU64,
    since_ps: AtomicU64,
    /// End of the last packet.
    ends_ps: AtomicU64,
}

/// One direction of a link, in shared memory. Zero is the state of an idle link.
#[repr(C, align(64))]
#[derive(Default)]
pub struct LinkTime {
    lock: AtomicU32,
    /// Mask of the channels with a backlog.
    busy: AtomicU32,
    /// Time up to which everything was sent.
    at_ps: AtomicU64,
    /// End of all backlogs. The other direction reads it.
    busy_until_ps: AtomicU64,
    /// Part of the other direction that the flow control for the last packet takes, 65536ths.
    replies: AtomicU32,
    pad: AtomicU32,
    /// Flow control that the other direction has caused and that delays the next packet.
    owed_ps: AtomicU64,
    /// Priorities of the virtual channels, 4 bits each (registers VC_PRIORITY_n).
    priorities: [AtomicU32; 4],
    /// Expected bandwidths, 65536ths; 0 if it was never set.
    bandwidths: [AtomicU32; VCS],
    channels: [ChannelTime; VCS],
}

/// A flow's access to its link.
#[derive(Clone, Copy)]
pub struct Pacer<'a> {
    /// Link time of this direction.
    pub link: &'a LinkTime,
    /// Link time of the other direction.
    pub reverse: &'a LinkTime,
    /// The time that packets take.
    pub timing: LinkTiming,
    /// Virtual channel.
    pub vc: u32,
    /// Id of this participant, for the lock.
    pub id: u32,
    /// The flow books at most [`BOOKED_MAX_NS`] ahead.
    pub limited: bool,
}

impl Pacer<'_> {
    /// Books `bytes` on the link from `now_ns` at the earliest. Returns the time at which the last
    /// bit has passed, ns. With `ends` the end marker is added and the last word is filled up.
    pub fn book(&self, now_ns: u64, bytes: u32, ends: bool) -> u64 {
        let (link, now, bytes) = (self.link, now_ns * PS, u64::from(bytes));
        let _guard = LinkLock::take(&link.lock, self.id);
        let mut backlog = link.advanced(now, self.timing.credit_ps());
        let idle = backlog.channels().is_empty();
        let at = link.at_ps.load(Ordering::Relaxed);
        let start = if idle { at } else { link.busy_until_ps.load(Ordering::Relaxed).max(at) };
        let takes = match ends && idle {
            true => self.timing.data_ps(bytes, ends).max(self.timing.alone_ps(bytes)),
            false => self.timing.data_ps(bytes, ends),
        };
        let takes = self.with_replies(start, takes, self.timing.reply_ps(bytes, ends), idle);
        link.busy_until_ps.store(start.saturating_add(takes), Ordering::Relaxed);
        let channel = link.channel(self.vc);
        let vc = self.vc as usize % VCS;
        if !backlog.add(vc, takes) {
            backlog.push(link.waiting(vc, at, takes));
        }
        let left = backlog.time_left(vc);
        link.store(&backlog);
        // A channel that another one has left alone meanwhile still delivers in order.
        let end = channel.ends_ps.load(Ordering::Relaxed).max(at.saturating_add(left));
        channel.ends_ps.store(end, Ordering::Relaxed);
        end.div_ceil(PS)
    }

    /// The time that a packet takes, with the flow control of both directions.
    fn with_replies(&self, start: u64, takes: u64, replies: u64, idle: bool) -> u64 {
        let owed = self.link.owed_ps.swap(0, Ordering::Relaxed);
        // While the link was idle its flow control delayed nothing.
        let takes = if idle { takes } else { takes.saturating_add(owed) };
        let until = self.reverse.busy_until_ps.load(Ordering::Relaxed);
        let overlap = until.saturating_sub(start);
        let part = u64::from(self.reverse.replies.load(Ordering::Relaxed)).min(WHOLE / 2);
        let rest = WHOLE - part;
        let within = scaled(overlap, rest, WHOLE);
        let whole = match takes <= within {
            true => scaled(takes, WHOLE, rest),
            false => takes + (overlap - within),
        };
        let part = scaled(replies.min(whole / 2), WHOLE, whole.max(1));
        self.link.replies.store(part as u32, Ordering::Relaxed);
        let owed = scaled(overlap.min(whole), part, WHOLE);
        self.reverse.owed_ps.fetch_add(owed, Ordering::Relaxed);
        whole
    }

    /// Time before which this flow may not book more, ns: it is `ahead_ns` ahead of `now_ns`.
    pub fn full_until(&self, now_ns: u64, ahead_ns: u64) -> Option<u64> {
        let ends_ns = self.link.channel(self.vc).ends_ps.load(Ordering::Relaxed) / PS;
        (ends_ns > now_ns + ahead_ns).then(|| ends_ns - ahead_ns / 2)
    }
}

impl LinkTime {
    fn channel(&self, vc: u32) -> &ChannelTime {
        &self.channels[vc as usize % VCS]
    }

    /// The backlog at `now`, or at the time of the last booking if that is later.
    fn advanced(&self, now: u64, credit_ps: u64) -> Backlog {
        let mut backlog = Backlog::new(credit_ps);
        let mut busy = self.busy.load(Ordering::Relaxed);
        while busy != 0 {
            let vc = busy.trailing_zeros() as usize;
            busy &= busy - 1;
            let channel = &self.channels[vc];
            backlog.push(Waiting {
                vc,
                level: self.priority(vc as u32),
                share: self.bandwidth(vc as u32).max(1),
                backlog_ps: channel.backlog_ps.load(Ordering::Relaxed),
                spent_ps: channel.spent_ps.load(Ordering::Relaxed),
            });
        }
        let at = self.at_ps.load(Ordering::Relaxed);
        if now > at {
            backlog.advance(now - at);
            self.at_ps.store(now, Ordering::Relaxed);
            self.store(&backlog);
        }
        backlog
    }

    /// Keeps the state of all channels at `at_ps`.
    fn store(&self, backlog: &Backlog) {
        let at = self.at_ps.load(Ordering::Relaxed);
        let mut busy = 0;
        for waiting in backlog.all() {
            let channel = &self.channels[waiting.vc];
            channel.backlog_ps.store(waiting.backlog_ps, Ordering::Relaxed);
            channel.spent_ps.store(waiting.spent_ps, Ordering::Relaxed);
            channel.since_ps.store(at, Ordering::Relaxed);
            busy |= u32::from(waiting.backlog_ps != 0) << waiting.vc;
        }
        self.busy.store(busy, Ordering::Relaxed);
    }

    /// A channel that was idle. It has regained credit since.
    fn waiting(&self, vc: usize, at: u64, backlog_ps: u64) -> Waiting {
        let channel = &self.channels[vc];
        let idle = at.saturating_sub(channel.since_ps.load(Ordering::Relaxed));
        let spent_ps = channel.spent_ps.load(Ordering::Relaxed).saturating_sub(idle);
        let (level, share) = (self.priority(vc as u32), self.bandwidth(vc as u32).max(1));
        Waiting { vc, level, share, backlog_ps, spent_ps }
    }

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

    /// Expected bandwidth of a virtual channel, 65536ths of the link.
    pub fn bandwidth(&self, vc: u32) -> u32 {
        match self.bandwidths[vc as usize % VCS].load(Ordering::Relaxed) {
            0 => BANDWIDTH[usize::from(vc != 0)],
            set => set,
        }
    }

    /// Control plane: sets the expected bandwidth (1 to 65535) of a virtual channel.
    pub fn set_bandwidth(&self, vc: u32, bandwidth: u16) {
        self.bandwidths[vc as usize % VCS].store(bandwidth.into(), Ordering::Relaxed);
    }

    /// Control plane: the sender of a virtual channel is gone. Link time that it has booked and not
    /// used is free again.
    pub fn give_back(&self, vc: u32, now_ns: u64, timing: &LinkTiming, id: u32) {
        let _guard = LinkLock::take(&self.lock, id);
        self.advanced(now_ns * PS, timing.credit_ps());
        let channel = self.channel(vc);
        let unsent = channel.backlog_ps.swap(0, Ordering::Relaxed);
        if self.busy.load(Ordering::Relaxed) & 1 << (vc as usize % VCS) != 0 {
            self.busy.fetch_and(!(1 << (vc as usize % VCS)), Ordering::Relaxed);
            let until = self.busy_until_ps.load(Ordering::Relaxed);
            self.busy_until_ps.store(until.saturating_sub(unsent), Ordering::Relaxed);
        }
        channel.ends_ps.store(0, Ordering::Relaxed);
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
    use spfe_topology::LinkRate;

    fn pacer<'a>(rate: &str, link: &'a LinkTime, reverse: &'a LinkTime, vc: u32) -> Pacer<'a> {
        link.set_priority(vc, vc as u8);
        let timing = rate.parse::<LinkRate>().unwrap().timing().unwrap();
        Pacer { link, reverse, timing, vc, id: 1, limited: false }
    }

    #[test]
    fn packets_queue_and_idle_time_is_lost() {
        let (link, reverse) = (LinkTime::default(), LinkTime::default());
        let pacer = pacer("spw:200M", &link, &reverse, 0);
        assert_eq!(pacer.book(1_000, 60, true), 1_000 + 604 * 5);
        assert_eq!(pacer.book(1_000, 60, true), 1_000 + 2 * 604 * 5);
        assert_eq!(pacer.book(10_000, 60, true), 10_000 + 604 * 5);
        assert_eq!(pacer.full_until(10_000, 3019), Some(10_000 + 3020 - 3019 / 2));
        assert_eq!(pacer.full_until(10_000, 3020), None);
    }

    #[test]
    fn urgent_packet_overtakes_a_backlog_and_delays_it() {
        let (link, reverse) = (LinkTime::default(), LinkTime::default());
        let slow = pacer("4x7.5G", &link, &reverse, 5);
        let urgent = pacer("4x7.5G", &link, &reverse, 1);
        link.set_bandwidth(1, 32768);
        let backlog = (0..100).fold(0, |_, _| slow.book(0, 4092, true));
        let alone = urgent.book(0, 4092, true);
        assert!(alone < backlog / 50, "urgent packet waited: {alone} of {backlog}");
        let next = slow.book(0, 4092, true);
        assert!(next.abs_diff(backlog + 2 * alone) <= 4, "the link gave more than it has");
    }

    #[test]
    fn shares_of_a_full_link_are_those_that_are_set() {
        let (link, reverse) = (LinkTime::default(), LinkTime::default());
        let flows = [0u32, 1, 2].map(|vc| pacer("1x6.25G", &link, &reverse, vc));
        let shares = [0.5, 0.3, 0.2];
        for (flow, share) in flows.iter().zip(shares) {
            link.set_bandwidth(flow.vc, (65536.0 * share) as u16);
        }
        let mut packets = [0u64; 3];
        let mut times = [0u64; 3];
        // Each channel books a packet whenever one of its 16 is sent.
        let mut windows = [const { std::collections::VecDeque::new() }; 3];
        for (flow, window) in flows.iter().zip(&mut windows) {
            (0..16).for_each(|_| window.push_back(flow.book(0, 4092, true)));
        }
        let end = 20_000_000;
        loop {
            let next = (0..3).min_by_key(|vc| windows[*vc][0]).unwrap();
            times[next] = windows[next].pop_front().unwrap();
            if times[next] > end {
                break;
            }
            packets[next] += u64::from(times[next] > end / 4);
            windows[next].push_back(flows[next].book(times[next], 4092, true));
        }
        let all = packets.iter().sum::<u64>() as f64;
        for (packets, share) in packets.iter().zip(shares) {
            assert!((*packets as f64 / all - share).abs() < 0.01, "{packets} of {all}: {share}");
        }
        let rate = all * 4092.0 * 8.0 / (end as f64 * 0.75);
        let limit = flows[0].timing.payload_bps(4092, false) / 1e9;
        assert!((rate / limit - 1.0).abs() < 0.005, "{rate} Gbit/s of {limit}");
    }

    #[test]
    fn link_time_of_a_sender_that_is_gone_is_free() {
        let (link, reverse) = (LinkTime::default(), LinkTime::default());
        let (gone, next) =
            (pacer("spw:10M", &link, &reverse, 0), pacer("spw:10M", &link, &reverse, 0));
        let far = (0..100).fold(0, |_, _| gone.book(0, 1 << 20, true));
        link.give_back(0, 1_000, &gone.timing, 2);
        let alone = next.book(1_000, 99, true) - 1_000;
        assert_eq!(alone, 994 * 100);
        assert!(far > 1_000 * alone);
    }

    #[test]
    fn data_in_both_directions_is_slower_by_the_flow_control() {
        for (rate, bytes) in
            [("spw:200M", 1u32), ("spw:200M", 60), ("4x7.5G", 64), ("1x2.5G", 4096)]
        {
            let (there, back) = (LinkTime::default(), LinkTime::default());
            let ends = [pacer(rate, &there, &back, 0), pacer(rate, &back, &there, 0)];
            let mut times = [0; 2];
            for _ in 0..4000 {
                for (end, time) in ends.iter().zip(&mut times) {
                    *time = end.book(0, bytes, true);
                }
            }
            let limit = ends[0].timing.payload_bps(u64::from(bytes), true) / 1e9;
            for time in times {
                let rate = 4000.0 * 8.0 * f64::from(bytes) / time as f64;
                assert!((rate / limit - 1.0).abs() < 0.003, "{rate} Gbit/s of {limit}");
            }
            // Alone again.
            let later = times[0].max(times[1]) + 1_000_000;
            let alone = ends[0].timing.alone_ps(u64::from(bytes)).div_ceil(PS);
            assert!(ends[0].book(later, bytes, true) - later <= alone + alone / 20 + 1);
        }
    }
}
