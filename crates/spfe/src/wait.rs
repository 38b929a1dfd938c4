//! Parameters of a wait: strategy, threshold and deadline.

use spfe_host::os;
use std::sync::OnceLock;
use std::time::Duration;

/// How a wait spends its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Never sleep: shortest latency, but it keeps a core busy.
    Poll,
    /// Sleep at once, unless what is waited for is due before a sleep could end: least processor time.
    Block,
    /// Spin for about as long as one sleep and wake-up costs, then sleep.
    #[default]
    Adaptive,
}

/// The time at which a wait gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(Option<u64>);

impl Deadline {
    /// Wait without a time limit.
    pub const NEVER: Self = Self(None);
    /// Do not wait: check once.
    pub const NOW: Self = Self(Some(0));

    /// A device time in ns ([`crate::Endpoint::now_ns`]).
    pub const fn at_ns(ns: u64) -> Self {
        Self(Some(ns))
    }

    /// A duration from now, in real time. Where the endpoint's clock may be virtual, use
    /// [`crate::Endpoint::deadline_after`] instead.
    pub fn after(duration: Duration) -> Self {
        Self(Some(os::now_ns().saturating_add(os::ns(duration))))
    }

    /// The time in ns; `u64::MAX` for never.
    pub(crate) fn ns(self) -> u64 {
        self.0.unwrap_or(u64::MAX)
    }

    /// The time in ns; `None` for never.
    pub(crate) fn time_ns(self) -> Option<u64> {
        self.0
    }

    pub(crate) fn passed(self, now: u64) -> bool {
        self.0.is_some_and(|at| at <= now)
    }
}

/// What to wait for: whichever condition is met first. A receiver without room for the next packet
/// meets any count and any number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// Number of packets; for transmit queues, of completions.
    pub count: Option<u32>,
    /// Number of bytes; for packed receive, headers and padding included.
    pub bytes: Option<u64>,
    /// Time since the first packet arrived.
    pub after_first: Option<Duration>,
}

impl Threshold {
    /// A single packet.
    pub const ONE: Self = Self { count: Some(1), bytes: None, after_first: None };

    /// A number of packets.
    pub const fn count(count: u32) -> Self {
        Self { count: Some(count), bytes: None, after_first: None }
    }

    /// A number of bytes.
    pub const fn bytes(bytes: u64) -> Self {
        Self { count: None, bytes: Some(bytes), after_first: None }
    }

    /// Adds a time limit that starts when the first packet arrives.
    pub const fn or_after_first(mut self, after: Duration) -> Self {
        self.after_first = Some(after);
        self
    }

    /// Adds a number of bytes as an alternative.
    pub const fn or_bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// The count or the number of bytes was reached.
    Threshold,
    /// The time since the first packet has passed.
    AfterFirst,
    /// A completion carries an error, or a packet was cut: poll before going on.
    Attention,
}

/// The measured cost of sleeping on this machine.
#[derive(Clone, Copy, Debug)]
pub struct SleepCost {
    /// How much later than asked a timed sleep ends, ns. Waits ask for an earlier end by this much
    /// and spin for the rest.
    pub overshoot_ns: u64,
    /// How long [`Strategy::Adaptive`] spins before it sleeps, ns.
    pub spin_ns: u64,
}

/// Measures the cost of sleeping, once per process; takes about a millisecond.
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

/// Sets the timer slack of the calling thread to 1 ns; the default is 50 us.
pub(crate) fn sharpen_timers() {
    thread_local!(static DONE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    DONE.with(|done| {
        if !done.replace(true) {
            // SAFETY: the call passes numbers only and affects the calling thread.
            unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
        }
    });
}
