//! What may happen in one step of a flow, and what the counters say about it.

use spfe_contract::CHAIN_MAX;
use spfe_device::shared::{FlowShared, QueueCounts, RxState, TxState};

/// Times a runner may begin a step again, generously.
const TRIES: u64 = 4;

/// Positions and counters of both ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Submissions read: sender, receiver.
    pub read: [u32; 2],
    /// Completions written: sender, receiver.
    pub written: [u32; 2],
    /// Counters: sender, receiver.
    pub count: [QueueCounts; 2],
    done: [u32; 2],
}

impl Totals {
    /// Those of now; nobody runs.
    pub fn of(shared: &FlowShared) -> Self {
        let (tx, rx) = states(shared);
        Self {
            read: [tx.at.submission, rx.at.submission],
            written: [tx.at.completion, rx.at.completion],
            count: [shared.tx_count.values(), shared.rx_count.values()],
            done: [tx.done, rx.fill],
        }
    }

    /// Fails if a step that began with these did more than `budget` pieces, or counted backwards.
    pub fn check_step(&self, now: &Self, budget: u32, packets: u32) {
        assert!(packets <= budget, "{packets} packets of {budget}");
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
            assert!(all == [true; 5], "counters go back: {old:?}, {new:?}");
        }
        // A runner begins again when it had to map a region. A piece reads a chain at most.
        let read = now.read[0].wrapping_sub(self.read[0]);
        let budget = u64::from(budget).saturating_add(1) * TRIES;
        let most = budget * (CHAIN_MAX + 1);
        assert!(u64::from(read) <= most, "{read} submissions read with a budget of {budget}");
        let sent = now.count[0].packets - self.count[0].packets;
        assert!(sent <= budget, "{sent} packets counted with a budget of {budget}");
    }
}

/// The states of both ends; nobody runs.
pub fn states(shared: &FlowShared) -> (TxState, RxState) {
    // SAFETY: who calls this is the only thread that runs the engine.
    unsafe { (*shared.tx.get(), *shared.rx.get()) }
}

/// What completions since a queue was opened say, to be held against the counters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reported {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
    /// The counters when the queue was opened.
    pub base: QueueCounts,
}

impl Reported {
    /// Fails unless `now` is what was reported. With errors in between the counters say less.
    pub fn check(&self, now: QueueCounts, what: &str) {
        let since = (now.packets - self.base.packets, now.bytes - self.base.bytes);
        if now.errors == self.base.errors {
            assert_eq!((self.packets, self.bytes), since, "{what}: completions, counters");
        }
    }
}
