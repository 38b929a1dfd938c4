//! Putting a flow right after a runner died in the middle of a step.
//!
//! The rings are the truth: what has been published there has happened, what has not, has not. The
//! state in the flow is brought back in line with them. Only the control plane does this, with the
//! seat of the dead runner broken and claimed.

use crate::queue::QueueView;
use crate::shared::{FlowShared, RxState, TxState};
use spfe_contract::{Completion, QueueKind, completion_flags as cf};
use spfe_ring::PackedWriter;

/// First position at which no completion has been published, near a position that may be torn.
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

/// Completions published from a position to another one, at most a ring of them.
fn published(view: &QueueView, from: u32, to: u32) -> impl Iterator<Item = Completion> + '_ {
    let count = to.wrapping_sub(from).min(view.completions.size());
    (0..count).map_while(move |ahead| {
        view.completions.read(from.wrapping_add(ahead)).map(Completion::from_words)
    })
}

/// The receiver lives; the participant that died was running the engine. `planned`: copies were
/// being shared out, so bytes may be booked that never arrived.
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
    // The host has seen the beginning of a packet that will not go on.
    state.open = u32::from(open);
    state.cut = u32::from(open);
}

/// Posted buffers; whether a packet is open.
fn posted(state: &mut RxState, view: &QueueView, free: u32, planned: bool) -> bool {
    // Every buffer has exactly one completion.
    state.at.submission = free;
    if planned {
        state.fill = 0;
    }
    let last = published(view, free.wrapping_sub(1), free).next().filter(|_| free != 0);
    state.fill != 0 || last.is_some_and(|last| last.flags & cf::MORE != 0)
}

/// A packed area; whether a packet is open. Runs that were not published are free again.
fn packed(state: &mut RxState, view: &QueueView, free: u32) -> bool {
    let size = view.config.area_bytes;
    let mut mark = state.known;
    for done in published(view, mark.position, free) {
        if done.flags & cf::WRAP != 0 {
            mark.bytes = mark.bytes.wrapping_add(size.saturating_sub(mark.head));
            mark.head = 0;
        }
        // What the host wrote into its own ring cannot lead out of the area.
        mark.head = mark.head.saturating_add(done.bytes).min(size);
        mark.bytes = mark.bytes.wrapping_add(done.bytes);
        mark.position = mark.position.wrapping_add(1);
    }
    mark.open = match mark.position {
        position if position == state.handed.position => state.handed.open,
        position if position == state.known.position => state.known.open,
        // Some of the runs that were handed out together: nobody knows. An end too many, of an
        // empty packet, does no harm; one too few would join two packets.
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

/// The sender lives; the participant that died was running the engine. Everything pending is about
/// to be completed with PEER_GONE, so a packet delivered but not reported may be reported so too.
pub fn transmit(flow: &FlowShared, view: &QueueView) {
    // SAFETY: the caller holds the seat.
    let state: &mut TxState = unsafe { &mut *flow.tx.get() };
    let free = first_free(view, state.at.completion);
    let ahead = free.wrapping_sub(state.at.completion) as i32 > 0;
    state.at.completion = free;
    let last = published(view, free.wrapping_sub(1), free).next().filter(|_| free != 0);
    state.at.submission = last.map_or(0, |last| {
        let (freed, near) = (last.position.wrapping_add(1), state.at.submission);
        // The torn position is at most a ring away. It is behind only if completions were
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
