//! Limits of one step of a flow, and checks of its counters.

use spfe_device::CHAIN_MAX;
use spfe_device::shared::{FlowShared, QueueCounts, RxState, TxState};

/// Number of times that a runner may begin a step again. A generous limit.
const TRIES: u64 = 4;

/// Positions and counters of both ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Submissions read at the sender and the receiver.
    pub read: [u32; 2],
    /// Completions written at the sender and the receiver.
    pub written: [u32; 2],
    /// Counters of the sender and the receiver.
    pub count: [QueueCounts; 2],
    done: [u32; 2],
}

impl Totals {
    /// The current values. No other thread may run the engine.
    pub fn of(shared: &FlowShared) -> Self {
        let (tx, rx) = states(shared);
        Self {
            read: [tx.at.submission, rx.at.submission],
            written: [tx.at.completion, rx.at.completion],
            count: [shared.tx_count.values(), shared.rx_count.values()],
            done: [tx.done, rx.fill],
        }
    }

    /// Fails if a step from this state moved more than `budget` pieces, or decreased a counter.
    pub fn check_step(&self, now: &Self, budget: u32, packets: u32) {
        assert!(packets <= budget, "{packets} packets with a budget of {budget}");
        for end in 0..2 {
            let (old, new) = (self.count[end], now.count[end]);
            let grows = |of: fn(QueueCounts) -> u64| of(old) <= of(new);
            let all = [
                grows(|c| c.packets),
                grows(|c| c.bytes),
                grows(|c| c.errors),
                grows(|c| c.stalls),
                grows(|c| c.wakes),
            ];
            assert!(all == [true; 5], "a counter decreased: {old:?}, {new:?}");
        }
        // A runner begins a step again after mapping a region. A piece reads at most a chain.
        let read = now.read[0].wrapping_sub(self.read[0]);
        let budget = u64::from(budget).saturating_add(1) * TRIES;
        let most = budget * (CHAIN_MAX as u64 + 1);
        assert!(u64::from(read) <= most, "{read} submissions read with a budget of {budget}");
        let sent = now.count[0].packets - self.count[0].packets;
        assert!(sent <= budget, "{sent} packets counted with a budget of {budget}");
    }
}

/// The state of both ends. No other thread may run the engine.
pub fn states(shared: &FlowShared) -> (TxState, RxState) {
    // SAFETY: the caller is the only thread that runs the engine.
    unsafe { (*shared.tx.get(), *shared.rx.get()) }
}

/// Sums of all completions since a queue was opened, for comparison with the counters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reported {
    /// Packets completed.
    pub packets: u64,
    /// Bytes completed.
    pub bytes: u64,
    /// Counters when the queue was opened.
    pub base: QueueCounts,
}

impl Reported {
    /// Fails unless the counters `now` agree with the completions. After errors the counters are
    /// lower.
    pub fn check(&self, now: QueueCounts, what: &str) {
        let since = (now.packets - self.base.packets, now.bytes - self.base.bytes);
        if now.errors == self.base.errors {
            assert_eq!(
                (self.packets, self.bytes),
                since,
                "{what}: completions and counters differ"
            );
        }
    }
}
