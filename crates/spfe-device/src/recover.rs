//! Putting a flow right after a runner died in the middle of a step.
//!
//! The rings are the truth: what has been published there has happened, what has not, has not. The
//! state in the flow is brought back in line with them. Only the control plane does this, with the
//! seat of the dead runner broken and claimed.

use crate::queue::QueueView;
use crate::shared::{FlowShared, RxState, TxState};
use spfe_contract::{Completion, QueueKind};

/// First position at which no completion has been published, near a position that may be torn.
fn first_free(view: &QueueView, near: u32) -> u32 {
    let size = view.completions.size();
    let mut position = near;
    for _ in 0..size {
        if view.completions.read(position).is_none() {
            break;
        }
        position = position.wrapping_add(1);
    }
    for _ in 0..size {
        if position == 0 || view.completions.read(position.wrapping_sub(1)).is_some() {
            break;
        }
        position = position.wrapping_sub(1);
    }
    position
}

/// The receiver lives, its sender died while running the engine.
pub fn receive(flow: &FlowShared, view: &QueueView) {
    // SAFETY: the caller holds the seat.
    let state: &mut RxState = unsafe { &mut *flow.rx.get() };
    let free = first_free(view, state.at.completion);
    if view.config.kind == u32::from(QueueKind::Rx.raw()) {
        // Every buffer has exactly one completion.
        state.at.completion = free;
        state.at.submission = free;
    } else {
        if state.run_records != 0 && view.completions.read(state.run_completion).is_none() {
            // The run in hand was never published: its bytes are free again.
            state.packed = state.before_run;
        }
        state.at.completion = free;
        state.credits = state.credits.min(view.completions.size());
        let used = free.wrapping_sub(state.released);
        state.credits = view.completions.size().saturating_sub(used);
        state.run_records = 0;
        state.run_bytes = 0;
    }
    if state.fill != 0 || state.open != 0 {
        state.open = 1;
        state.cut = 1;
    }
}

/// The sender lives, its receiver died while running the engine for it. Everything pending is about
/// to be completed with PEER_GONE, so a packet delivered but not reported may be reported so too.
pub fn transmit(flow: &FlowShared, view: &QueueView) {
    // SAFETY: the caller holds the seat.
    let state: &mut TxState = unsafe { &mut *flow.tx.get() };
    let free = first_free(view, state.at.completion);
    state.at.completion = free;
    let last = free.checked_sub(1).and_then(|position| view.completions.read(position));
    state.at.submission = match last {
        Some(entry) => {
            let freed = Completion::from_words(entry).position.wrapping_add(1);
            let near = state.at.submission;
            near.wrapping_sub(u32::from((near as u16).wrapping_sub(freed)))
        }
        None => 0,
    };
    state.done = 0;
    state.burst.left = 0;
    state.pending_packets = 0;
    state.pending_bytes = 0;
}
