//! Repairs the state of a flow after its runner died in the middle of a step.
//!
//! The rings decide: an entry that was published has happened, and any other has not. The state of
//! the flow is changed to agree with them. Only the control plane does this, after it has taken
//! over the seat ([`spfe_ring::Seat::take_over`]).

use crate::queue::QueueView;
use crate::shared::{FlowShared, RxState, TxState};
use spfe_contract::{Completion, QueueKind, completion_flags as cf};
use spfe_ring::PackedWriter;

/// First position without a published completion. `near` is the stored position, which may be off
/// by up to a ring in both directions.
pub(crate) fn first_free(view: &QueueView, near: u32) -> u32 {
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

/// Completions published between two positions, at most a ring of them.
fn published(view: &QueueView, from: u32, to: u32) -> impl Iterator<Item = Completion> + '_ {
    let count = to.wrapping_sub(from).min(view.completions.size());
    (0..count).map_while(move |ahead| {
        view.completions.read(from.wrapping_add(ahead)).map(Completion::from_words)
    })
}

/// Repairs the receive side of a flow whose receiver is alive. `planned`: copies were shared
/// through the board, so the state may count bytes that were never copied.
pub fn receive(flow: &FlowShared, view: &QueueView, planned: bool) {
    // SAFETY: the caller holds the seat.
    let state: &mut RxState = unsafe { &mut *flow.rx.get() };
    let free = first_free(view, state.at.completion);
    state.at.completion = free;
    let open = if view.config.kind == u32::from(QueueKind::Rx.raw()) {
        posted(state, view, free, planned)
    } else {
        packed(state, view, free)
    };
    // The host has the beginning of a packet that will not continue.
    state.open = u32::from(open);
    state.cut = u32::from(open);
}

/// Posted buffers. Returns whether a packet is open.
fn posted(state: &mut RxState, view: &QueueView, free: u32, planned: bool) -> bool {
    // Every buffer has exactly one completion.
    state.at.submission = free;
    if planned {
        state.fill = 0;
    }
    let last = published(view, free.wrapping_sub(1), free).next().filter(|_| free != 0);
    state.fill != 0 || last.is_some_and(|last| last.flags & cf::MORE != 0)
}

/// A packed area. Returns whether a packet is open. Runs that were not published become free.
fn packed(state: &mut RxState, view: &QueueView, free: u32) -> bool {
    let size = view.config.area_bytes;
    let mut mark = state.known;
    for done in published(view, mark.position, free) {
        if done.flags & cf::WRAP != 0 {
            mark.bytes = mark.bytes.wrapping_add(size.saturating_sub(mark.head));
            mark.head = 0;
        }
        // The host may have changed its ring, so the offset is limited to the area.
        mark.head = mark.head.saturating_add(done.bytes).min(size);
        mark.bytes = mark.bytes.wrapping_add(done.bytes);
        mark.position = mark.position.wrapping_add(1);
    }
    mark.open = match mark.position {
        position if position == state.handed.position => state.handed.open,
        position if position == state.known.position => state.known.open,
        // Only some of the runs that were handed out together: it is unknown. An extra end, of an
        // empty packet, does no harm; a missing one would join two packets.
        _ => 1,
    };
    let used = mark.bytes.wrapping_sub(state.released_bytes).min(size);
    state.packed = PackedWriter::at(size, mark.head, used);
    state.credits = view.completions.size().saturating_sub(free.wrapping_sub(state.released));
    state.run_records = 0;
    state.run_bytes = 0;
    state.handed = mark;
    state.known = mark;
    mark.open != 0
}

/// Repairs the transmit side of a flow whose sender is alive. The caller completes everything
/// pending with PEER_GONE afterwards, so a packet that was delivered but not reported may get that
/// status.
pub fn transmit(flow: &FlowShared, view: &QueueView) {
    // SAFETY: the caller holds the seat.
    let state: &mut TxState = unsafe { &mut *flow.tx.get() };
    let free = first_free(view, state.at.completion);
    let ahead = free.wrapping_sub(state.at.completion) as i32 > 0;
    state.at.completion = free;
    let last = published(view, free.wrapping_sub(1), free).next().filter(|_| free != 0);
    state.at.submission = last.map_or(0, |last| {
        let (freed, near) = (last.position.wrapping_add(1), state.at.submission);
        // The stored position is at most a ring away. It is behind only if completions were
        // published that the state does not know of.
        if ahead {
            near.wrapping_add(u32::from(freed.wrapping_sub(near as u16)))
        } else {
            near.wrapping_sub(u32::from((near as u16).wrapping_sub(freed)))
        }
    });
    state.done = 0;
    state.burst.left = 0;
    state.pending_packets = 0;
    state.pending_bytes = 0;
}
