//! Receive queues as sinks of packets: posted buffers and packed areas.

mod packed;
mod posted;

pub use packed::RxPacked;
pub use posted::RxPosted;

use crate::queue::{Host, QueueView};
use crate::shared::{FlowShared, QueueCounters, RxState};
use std::ptr::NonNull;

/// State and counters of the receive side of a flow. Only the holder of the seat uses them.
struct RxShared {
    state: NonNull<RxState>,
    counters: NonNull<QueueCounters>,
}

impl RxShared {
    fn new(flow: &FlowShared) -> Self {
        // SAFETY: the pointer of an `UnsafeCell` is not null.
        let state = unsafe { NonNull::new_unchecked(flow.rx.get()) };
        Self { state, counters: NonNull::from(&flow.rx_count) }
    }

    #[inline(always)]
    fn state(&mut self) -> &mut RxState {
        // SAFETY: the runner holds the seat (see `FlowShared`), so there is no other access.
        unsafe { self.state.as_mut() }
    }

    #[inline(always)]
    fn counters(&self) -> &QueueCounters {
        // SAFETY: the counters are atomics in shared memory that outlives the queue.
        unsafe { self.counters.as_ref() }
    }

    /// State and counters, borrowed together.
    #[inline(always)]
    fn parts(&mut self) -> (&mut RxState, &QueueCounters) {
        // SAFETY: as in `state` and `counters`; the two do not overlap.
        unsafe { (self.state.as_mut(), self.counters.as_ref()) }
    }

    /// The state, for reading.
    #[inline(always)]
    fn peek(&self) -> &RxState {
        // SAFETY: as in `state`.
        unsafe { self.state.as_ref() }
    }

    #[inline(always)]
    fn notify<H: Host>(&mut self, view: &QueueView, host: &mut H) {
        let (state, counters) = self.parts();
        view.notify(&mut state.at, counters, host);
    }

    /// Marks the queue as full. A host that waits for more packets than it has room for is woken
    /// for those that are there. A host that arms later finds the mark when it looks again.
    fn mark_full(&mut self, view: &QueueView) {
        let at = &mut self.state().at;
        view.device_line().set_full(at.completion, at.submission);
        if view.host_line().armed().is_some()
            && view.host_line().threshold().has_first(at.completion)
        {
            at.urgent = 1;
        }
    }
}
