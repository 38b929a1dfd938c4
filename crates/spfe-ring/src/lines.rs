//! Wake-ups and doorbells: a host arms, looks again and sleeps; a device wakes it.
//!
//! Each queue has two cache lines. The host writes one of them and the device the other. The host
//! arms with a threshold. The device looks at the armed word after it has published completions.
//! Both sides have a fence between their store and their load ([`crate::sync`]): either the device
//! sees the arming, or the host's second look sees the completions.

use crate::sync::{AtomicU32, AtomicU64, Ordering, light_fence};
use spfe_contract::arm_flags;

/// The threshold that a host waits for. Positions and byte totals are free-running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arm {
    /// Wake when the completion position reaches this.
    pub count: Option<u32>,
    /// Wake when the byte total reaches this.
    pub bytes: Option<u64>,
    /// Wake this long after the first completion past `first_position`, ns.
    pub after_first_ns: Option<u64>,
    /// Completion position up to which the host has seen completions.
    pub first_position: u32,
    /// Signal the event vector as well as waking the futex.
    pub event: bool,
}

/// The line that the host writes and the device reads (contract block `host_line`).
#[repr(C, align(64))]
#[derive(Default)]
pub struct AtomicHostLine {
    arm: AtomicU32,
    flags: AtomicU32,
    want_count: AtomicU32,
    reserved0: AtomicU32,
    want_bytes: AtomicU64,
    after_first_ns: AtomicU64,
    first_position: AtomicU32,
    reserved1: AtomicU32,
    reserved2: [AtomicU64; 3],
}

/// The line that the device writes and the host reads (contract block `device_line`).
#[repr(C, align(64))]
#[derive(Default)]
pub struct AtomicDeviceLine {
    /// Number of wake-ups: the futex word that a host sleeps on.
    pub wake_seq: AtomicU32,
    need_doorbell: AtomicU32,
    state: AtomicU32,
    error: AtomicU32,
    full: AtomicU64,
    pair: AtomicU64,
    reserved: [AtomicU64; 4],
}

#[cfg(not(loom))]
const _: () = {
    use core::mem::{offset_of, size_of};
    use spfe_contract::{device_line, host_line};
    assert!(size_of::<AtomicHostLine>() == 64 && size_of::<AtomicDeviceLine>() == 64);
    assert!(offset_of!(AtomicHostLine, flags) == host_line::FLAGS_OFFSET);
    assert!(offset_of!(AtomicHostLine, want_count) == host_line::WANT_COUNT_OFFSET);
    assert!(offset_of!(AtomicHostLine, want_bytes) == host_line::WANT_BYTES_OFFSET);
    assert!(offset_of!(AtomicHostLine, after_first_ns) == host_line::AFTER_FIRST_NS_OFFSET);
    assert!(offset_of!(AtomicHostLine, first_position) == host_line::FIRST_POSITION_OFFSET);
    assert!(offset_of!(AtomicDeviceLine, need_doorbell) == device_line::NEED_DOORBELL_OFFSET);
    assert!(offset_of!(AtomicDeviceLine, state) == device_line::STATE_OFFSET);
    assert!(offset_of!(AtomicDeviceLine, error) == device_line::ERROR_OFFSET);
    assert!(offset_of!(AtomicDeviceLine, full) == device_line::FULL_OFFSET);
};

impl AtomicHostLine {
    /// Arms. Then the caller looks at its ring again, and sleeps only if the threshold is not met.
    /// `sequence` must differ from that of the last arming.
    ///
    /// `heavy` is the heavy fence that pairs with the light one in [`AtomicHostLine::armed`].
    pub fn arm(&self, sequence: u32, arm: &Arm, heavy: impl FnOnce()) {
        let mut flags = if arm.event { arm_flags::EVENT } else { 0 };
        if let Some(count) = arm.count {
            flags |= arm_flags::COUNT;
            self.want_count.store(count, Ordering::Relaxed);
        }
        if let Some(bytes) = arm.bytes {
            flags |= arm_flags::BYTES;
            self.want_bytes.store(bytes, Ordering::Relaxed);
        }
        if let Some(after) = arm.after_first_ns {
            flags |= arm_flags::TIME;
            self.after_first_ns.store(after, Ordering::Relaxed);
        }
        self.first_position.store(arm.first_position, Ordering::Relaxed);
        self.flags.store(flags, Ordering::Relaxed);
        // Release pairs with the acquire in `armed`: a device that sees the sequence sees the
        // threshold.
        self.arm.store(sequence | 1, Ordering::Release);
        heavy();
    }

    /// Disarms. A wake-up that the device has begun may still come and does no harm.
    pub fn disarm(&self) {
        self.arm.store(0, Ordering::Release);
    }

    /// Device, after publishing completions: the sequence number of the arming, or `None` if the
    /// host does not wait.
    #[inline(always)]
    pub fn armed(&self) -> Option<u32> {
        light_fence();
        match self.arm.load(Ordering::Acquire) {
            0 => None,
            sequence => Some(sequence),
        }
    }

    /// Device: whether the host is armed. The caller has executed [`light_fence`] since it
    /// published.
    #[inline(always)]
    pub fn is_armed(&self) -> bool {
        self.arm.load(Ordering::Acquire) != 0
    }

    /// Device: the threshold, each word read once.
    pub fn threshold(&self) -> Arm {
        let flags = self.flags.load(Ordering::Relaxed);
        let has = |bit: u32| flags & bit != 0;
        Arm {
            count: has(arm_flags::COUNT).then(|| self.want_count.load(Ordering::Relaxed)),
            bytes: has(arm_flags::BYTES).then(|| self.want_bytes.load(Ordering::Relaxed)),
            after_first_ns: has(arm_flags::TIME)
                .then(|| self.after_first_ns.load(Ordering::Relaxed)),
            first_position: self.first_position.load(Ordering::Relaxed),
            event: has(arm_flags::EVENT),
        }
    }
}

impl Arm {
    /// Whether completions up to `position`, or a total of `bytes`, meet the threshold.
    pub fn is_met(&self, position: u32, bytes: u64) -> bool {
        self.count.is_some_and(|want| position.wrapping_sub(want) as i32 >= 0)
            || self.bytes.is_some_and(|want| bytes >= want)
    }

    /// Whether there is a completion that the host has not seen yet.
    pub fn has_first(&self, position: u32) -> bool {
        position.wrapping_sub(self.first_position) as i32 > 0
    }
}

impl AtomicDeviceLine {
    /// Device: asks for doorbells before it sleeps, or for none. A heavy fence and another look at
    /// the submission rings follow before it sleeps.
    pub fn set_need_doorbell(&self, on: bool) {
        self.need_doorbell.store(u32::from(on), Ordering::Release);
    }

    /// Host, after posting: whether to ring the doorbell. The light fence pairs with the heavy
    /// fence of the device.
    #[inline(always)]
    pub fn needs_doorbell(&self) -> bool {
        light_fence();
        self.need_doorbell.load(Ordering::Acquire) != 0
    }

    /// The same where the fence mode was `Asymmetric` when the queue was made. It stays so towards
    /// the device of this queue, since one behind a bus sets its mode before.
    #[cfg(not(loom))]
    #[inline(always)]
    pub fn needs_doorbell_here(&self) -> bool {
        core::sync::atomic::compiler_fence(Ordering::SeqCst);
        self.need_doorbell.load(Ordering::Acquire) != 0
    }

    /// Host: the word of [`AtomicDeviceLine::needs_doorbell`], for code in other languages.
    pub fn need_doorbell_word(&self) -> *const u32 {
        core::ptr::from_ref(&self.need_doorbell).cast()
    }

    /// Device: counts a wake-up. Then the caller wakes the futex. The release pairs with the
    /// acquire of the host that loads `wake_seq`.
    pub fn bump(&self) {
        self.wake_seq.fetch_add(1, Ordering::Release);
    }

    /// Device: marks the queue as full. A packet waits for room after completion `completion` was
    /// written and everything posted before `submission` was used. A light fence follows before the
    /// device looks at the arming ([`AtomicHostLine::armed`]).
    pub fn set_full(&self, completion: u32, submission: u32) {
        let full = u64::from(submission) << 32 | u64::from(completion);
        // Relaxed: the fences on both sides order it, and it publishes no other data.
        self.full.store(full, Ordering::Relaxed);
    }

    /// Host: whether a packet waits for room and these positions are the latest. The host looks
    /// after arming, so after its heavy fence.
    #[inline]
    pub fn is_full(&self, completion: u32, submission: u32) -> bool {
        let full = self.full.load(Ordering::Relaxed);
        full == u64::from(submission) << 32 | u64::from(completion)
    }

    /// Device: shows the `pair_status` of a queue pair. Relaxed: it publishes no other data.
    pub fn set_pair(&self, status: u64) {
        self.pair.store(status, Ordering::Relaxed);
    }

    /// Host: the `pair_status` of a queue pair.
    pub fn pair(&self) -> u64 {
        self.pair.load(Ordering::Relaxed)
    }

    /// Device: publishes the state of the queue (`queue_state`) and the status that stopped it. The
    /// release pairs with the acquire in [`AtomicDeviceLine::state`].
    pub fn set_state(&self, state: u32, error: u32) {
        self.error.store(error, Ordering::Relaxed);
        self.state.store(state, Ordering::Release);
    }

    /// Host: the state of the queue and the status that stopped it.
    pub fn state(&self) -> (u32, u32) {
        let state = self.state.load(Ordering::Acquire);
        (state, self.error.load(Ordering::Relaxed))
    }
}
