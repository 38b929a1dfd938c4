//! The transmit side of the fast path: loops over DATA entries and bursts.

use super::{AHEAD_BYTES, BURST, DATA, FastSink, FastState, LoopEnd, SIGNAL, TX_CHECK, TYPE};
use crate::memory::{Address, READ, RegionMap};
use crate::shared::{TxState, bump};
use crate::transmit::TxQueue;
use spfe_contract::submit_flags as sf;
use spfe_ring::Ring;
use spfe_ring::cursor::{Cursor, PHASE_BITS, RingCell};

/// The transmit queue as a loop uses it.
pub struct FastSender<'a> {
    /// The transmit queue.
    pub tx: &'a mut TxQueue,
    /// Regions of the sender.
    pub map: &'a RegionMap,
    /// Rings and windows of the flow.
    pub fast: &'a FastState,
}

impl FastSender<'_> {
    /// Whether no further entry is posted.
    #[inline(always)]
    pub fn is_idle(&mut self) -> bool {
        self.fast.posted.get().read(self.tx.parts().1.at.submission).is_none()
    }

    /// Moves packets of one DATA entry each. Returns their number and why the loop ended.
    #[inline(always)]
    pub fn packets<K: FastSink>(&mut self, sink: K, budget: u32) -> (u32, LoopEnd) {
        let fast = self.fast;
        let (_, state, _) = self.tx.parts();
        if state.done | state.open | state.burst.left != 0 {
            let long = state.burst.length > fast.from.get().1;
            let other = state.done | state.open != 0 || long;
            return (0, if other { LoopEnd::General } else { LoopEnd::Burst });
        }
        // A single packet costs less without the preparations of the loop.
        let second = state.at.submission.wrapping_add(1);
        if budget != 0 && fast.posted.get().read(second).is_none() {
            self.one(sink)
        } else {
            self.many(sink, budget)
        }
    }

    /// Moves the packet of the next entry.
    #[inline(always)]
    fn one<K: FastSink>(&mut self, mut sink: K) -> (u32, LoopEnd) {
        let fast = self.fast;
        let first = self.tx.parts().1.at.submission;
        let at = Cursor::new(&fast.posted, first);
        let (source, length, flags) = match take(fast, self.map, at, at.phase() | DATA) {
            Ok(taken) => taken,
            Err(ended) => return (0, ended),
        };
        if !sink.put(source, length) {
            return (0, LoopEnd::General);
        }
        let (_, state, count) = self.tx.parts();
        let (next, bytes) = (first.wrapping_add(1), u64::from(length));
        if flags & SIGNAL != 0 {
            signal(fast, state, next, state.pending_bytes + bytes);
            state.pending_bytes = 0;
        } else {
            state.at.submission = next;
            state.pending_packets += 1;
            state.pending_bytes += bytes;
        }
        bump(&count.packets, 1);
        bump(&count.bytes, bytes);
        sink.finish(1, bytes);
        (1, LoopEnd::Idle)
    }

    /// Moves packets until no plain entry is left.
    #[inline(always)]
    fn many<K: FastSink>(&mut self, mut sink: K, budget: u32) -> (u32, LoopEnd) {
        let fast = self.fast;
        let map = self.map;
        let (_, state, count) = self.tx.parts();
        let first = state.at.submission;
        let mut next = first;
        let mut at = Cursor::new(&fast.posted, first);
        // `bytes`: pending before plus sent here. `reported`: the part of them in completions.
        let before = state.pending_bytes;
        let (mut bytes, mut reported) = (before, 0);
        let ended = loop {
            let straight = at.left().min(sink.left());
            let straight = straight.min(budget - next.wrapping_sub(first));
            if straight == 0 {
                break LoopEnd::Budget;
            }
            let expected = at.phase() | DATA;
            let lap = next.wrapping_add(straight);
            let mut left = straight;
            let ended = loop {
                let (source, length, flags) = match take(fast, map, at, expected) {
                    Ok(taken) => taken,
                    Err(ended) => break Some(ended),
                };
                if length >= AHEAD_BYTES {
                    fast.look_ahead(at.mark(), sink.place(), length);
                }
                if !sink.put(source, length) {
                    break Some(LoopEnd::General);
                }
                // SAFETY: `left` is at least 1, and `turn` follows when it gets 0.
                unsafe { at.step() };
                left -= 1;
                bytes += u64::from(length);
                if flags & SIGNAL != 0 {
                    signal(fast, state, lap.wrapping_sub(left), bytes - reported);
                    reported = bytes;
                }
                if left == 0 {
                    break None;
                }
                let word1 = u64::from(flags) << 32 | u64::from(length);
                if K::ALIKE
                    && length < AHEAD_BYTES
                    && flags & SIGNAL == 0
                    && at.slot().word1() == word1
                {
                    let count = sink.put_alike(at.mark(), word1, length, left);
                    // SAFETY: the run was limited to `left`, and `turn` follows when it gets 0.
                    unsafe { at.skip(count) };
                    left -= count;
                    bytes += u64::from(count) * u64::from(length);
                    if left == 0 {
                        break None;
                    }
                }
            };
            next = lap.wrapping_sub(left);
            if let Some(ended) = ended {
                break ended;
            }
            at.turn();
            sink.turn();
        };
        let packets = next.wrapping_sub(first);
        if packets != 0 {
            // `signal` has moved `state.at.submission` past the reported packets.
            state.pending_packets += next.wrapping_sub(state.at.submission);
            state.pending_bytes = bytes - reported;
            state.at.submission = next;
            bump(&count.packets, u64::from(packets));
            bump(&count.bytes, bytes - before);
            sink.finish(packets, bytes - before);
        }
        (packets, ended)
    }

    /// Moves packets of the open burst, or of the next one. Ends with [`LoopEnd::Burst`] when the
    /// burst is finished, and completed if it asked for a completion.
    #[inline(always)]
    pub fn burst<K: FastSink>(&mut self, mut sink: K, budget: u32) -> (u32, LoopEnd) {
        if self.tx.parts().1.burst.left == 0 {
            let most_bytes = self.fast.from.get().1;
            let (view, state, _) = self.tx.parts();
            match view.submissions.read(state.at.submission) {
                Some(entry) if self.tx.open_burst_plain(self.map, entry, most_bytes) => {}
                _ => return (0, LoopEnd::General),
            }
        }
        let burst = self.tx.parts().1.burst;
        let (length, stride) = (burst.length, u64::from(burst.stride));
        let plain = (burst.flags as u16 & sf::END_MASK) == 0;
        let span = u64::from(burst.left - 1) * stride + u64::from(length);
        let whole = u32::try_from(span).ok().and_then(|span| self.source(burst.address, span));
        let (true, Some(mut source)) = (plain, whole) else { return (0, LoopEnd::General) };
        let most = burst.left.min(budget);
        let mut packets = 0;
        'laps: while packets < most {
            let lap = most.min(packets.saturating_add(sink.left()));
            while packets < lap {
                if K::ALIKE && length < AHEAD_BYTES {
                    let count = sink.put_strides(source, stride as usize, length, lap - packets);
                    source = source.wrapping_add(stride as usize * count as usize);
                    packets += count;
                    if packets == lap {
                        break;
                    }
                }
                if !sink.put(source, length) {
                    break 'laps;
                }
                source = source.wrapping_add(stride as usize);
                packets += 1;
            }
            sink.turn();
        }
        let bytes = u64::from(packets) * u64::from(length);
        let (_, state, count) = self.tx.parts();
        state.burst.address = burst.address + u64::from(packets) * stride;
        state.burst.left -= packets;
        state.pending_packets += packets;
        state.pending_bytes += bytes;
        bump(&count.packets, u64::from(packets));
        bump(&count.bytes, bytes);
        if packets != 0 {
            sink.finish(packets, bytes);
        }
        if state.burst.left != 0 {
            return (packets, if packets == budget { LoopEnd::Budget } else { LoopEnd::General });
        }
        let next = state.at.submission.wrapping_add(2);
        if burst.flags & u32::from(sf::SIGNAL) != 0 {
            let (pending, bytes) = (state.pending_packets, state.pending_bytes);
            // `signal` adds the two entries of the burst to its count, but its packets are already
            // in it.
            state.pending_packets = pending.wrapping_sub(2);
            signal(self.fast, state, next, bytes);
            state.pending_bytes = 0;
        }
        state.at.submission = next;
        (packets, LoopEnd::Burst)
    }

    /// Memory of all packets of a burst, `span` bytes from address `from`.
    #[inline(always)]
    fn source(&mut self, from: u64, span: u32) -> Option<*const u8> {
        let domain = self.tx.view.config.domain as u16;
        let window = self.map.window(Address(from), domain, READ, u32::MAX)?;
        window.at(from, span).map(<*mut u8>::cast_const)
    }
}

/// Memory, length and entry flags of the packet at a cursor. `expected` is the phase and type of a
/// valid DATA entry there.
#[inline(always)]
pub(super) fn take(
    fast: &FastState,
    map: &RegionMap,
    at: Cursor<&RingCell<Ring>>,
    expected: u32,
) -> Result<(*const u8, u32, u32), LoopEnd> {
    let slot = at.slot();
    let entry = slot.word1();
    let (flags, length) = ((entry >> 32) as u32, entry as u32);
    if (flags ^ expected) & TX_CHECK != 0 {
        return Err(other_than_data(flags, at.phase()));
    }
    let from = slot.word0();
    let source = match fast.source.at(from, length) {
        Some(source) => source,
        None => fast.other_source(map, from, length).ok_or(LoopEnd::General)?,
    };
    Ok((source, length, flags))
}

/// Why an entry that is no valid DATA entry ends the loop.
#[inline(always)]
fn other_than_data(flags: u32, phase: u32) -> LoopEnd {
    match flags & TYPE {
        _ if flags & PHASE_BITS != phase => LoopEnd::Idle,
        BURST => LoopEnd::Burst,
        _ => LoopEnd::General,
    }
}

/// Writes the completion for all entries before position `next`. `bytes` are those not yet
/// reported.
#[inline(always)]
fn signal(fast: &FastState, state: &mut TxState, next: u32, bytes: u64) {
    let count = state.pending_packets.wrapping_add(next).wrapping_sub(state.at.submission);
    let word0 = bytes & 0xffff_ffff | u64::from(count as u16) << 32 | fast.vc.get().0;
    let done = state.at.completion;
    fast.sent.get().write(done, [word0, u64::from(next.wrapping_sub(1) as u16)]);
    state.at.completion = done.wrapping_add(1);
    state.at.submission = next;
    state.at.reported_bytes = state.at.reported_bytes.wrapping_add(bytes);
    state.pending_packets = 0;
}
