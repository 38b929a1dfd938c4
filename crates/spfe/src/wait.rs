//! How to wait, for what, and until when.

use spfe_host::os;
use std::sync::OnceLock;
use std::time::Duration;

/// How a queue waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Never sleep: the shortest latency, a whole core.
    Poll,
    /// Sleep at once: the least processor time.
    Block,
    /// Spin for about the price of one sleep and wake, then sleep.
    #[default]
    Adaptive,
}

/// Until when to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(Option<u64>);

impl Deadline {
    /// For ever.
    pub const NEVER: Self = Self(None);
    /// Not at all: look once.
    pub const NOW: Self = Self(Some(0));

    /// Until this device time in ns ([`crate::Endpoint::now_ns`]).
    pub const fn at_ns(ns: u64) -> Self {
        Self(Some(ns))
    }

    /// This long from now, in real time only. For an endpoint whose time may be virtual use
    /// [`crate::Endpoint::deadline_after`]: a real time means nothing to a virtual clock.
    pub fn after(duration: Duration) -> Self {
        Self(Some(os::now_ns().saturating_add(os::ns(duration))))
    }

    /// The time, ns; the end of all times for never.
    pub(crate) fn ns(self) -> u64 {
        self.0.unwrap_or(u64::MAX)
    }

    /// The time, ns; `None` for never.
    pub(crate) fn time_ns(self) -> Option<u64> {
        self.0
    }

    pub(crate) fn passed(self, now: u64) -> bool {
        self.0.is_some_and(|at| at <= now)
    }
}

/// What to wait for: whichever of these comes first. A receiver without room for the next packet
/// has reached any count and any number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// This many packets (transmit: completions).
    pub count: Option<u32>,
    /// This many bytes (packed receive: headers and padding included).
    pub bytes: Option<u64>,
    /// This long after the first one.
    pub after_first: Option<Duration>,
}

impl Threshold {
    /// One packet.
    pub const ONE: Self = Self { count: Some(1), bytes: None, after_first: None };

    /// This many packets.
    pub const fn count(count: u32) -> Self {
        Self { count: Some(count), bytes: None, after_first: None }
    }

    /// This many bytes.
    pub const fn bytes(bytes: u64) -> Self {
        Self { count: None, bytes: Some(bytes), after_first: None }
    }

    /// Also this long after the first packet.
    pub const fn or_after_first(mut self, after: Duration) -> Self {
        self.after_first = Some(after);
        self
    }

    /// Also this many bytes.
    pub const fn or_bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// Count or bytes reached.
    Threshold,
    /// The time after the first packet has passed.
    AfterFirst,
    /// Something ended with an error or was cut: look at it before going on.
    Attention,
}

/// How long sleeping really takes here.
#[derive(Clone, Copy, Debug)]
pub struct SleepCost {
    /// How much later than asked a timed sleep ends, ns: wake that much earlier and spin.
    pub overshoot_ns: u64,
    /// How long to spin before sleeping, ns.
    pub spin_ns: u64,
}

/// Measures the price of sleeping, once per process (about a millisecond).
pub fn sleep_cost() -> SleepCost {
    static COST: OnceLock<SleepCost> = OnceLock::new();
    *COST.get_or_init(|| {
        sharpen_timers();
        let mut late: Vec<u64> = (0..15)
            .map(|_| {
                let at = os::now_ns() + 30_000;
                os::sleep_until(at);
                os::now_ns().saturating_sub(at)
            })
            .collect();
        late.sort_unstable();
        let overshoot_ns = late[late.len() * 2 / 3].clamp(2_000, 100_000);
        SleepCost { overshoot_ns, spin_ns: overshoot_ns.clamp(5_000, 50_000) }
    })
}

/// Asks the kernel not to round this thread's timers (the default slack is 50 us).
pub(crate) fn sharpen_timers() {
    thread_local!(static DONE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    DONE.with(|done| {
        if !done.replace(true) {
            // SAFETY: sets a number of the calling thread.
            unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
        }
    });
}
