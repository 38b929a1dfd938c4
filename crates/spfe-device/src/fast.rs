//! The common case of a step, short: whole packets, one DATA entry each, into one posted buffer
//! each, on a link without pacing, without stamps. Anything else is left to the general path, which
//! does the same things one packet at a time (`flow::Run`).
//!
//! Places live in registers and positions are stored when the loop ends. Should the runner die
//! inside it, the rings say how far it came (`recover`).

use crate::copy::move_bytes;
use crate::memory::{Address, READ, RegionMap, WRITE, Window};
use crate::queue::QueueView;
use crate::shared::{Counters, RxState, TxState, bump};
use spfe_contract::{self as contract, EntryType, submit_flags as sf};
use spfe_ring::ring::Spot;

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Nothing is posted.
    Idle,
    /// Something the loop does not do is next.
    General,
    /// The budget is used up.
    Budget,
}

/// Both queues of a flow, as the loop needs them.
pub struct Pair<'a> {
    /// Transmit queue.
    pub tx: &'a QueueView,
    /// Receive queue.
    pub rx: &'a QueueView,
    /// Transmit state; seat held.
    pub tx_state: &'a mut TxState,
    /// Receive state; seat held.
    pub rx_state: &'a mut RxState,
    /// Transmit counters.
    pub tx_count: &'a Counters,
    /// Receive counters.
    pub rx_count: &'a Counters,
    /// Sender's regions.
    pub tx_map: &'a RegionMap,
    /// Receiver's regions.
    pub rx_map: &'a RegionMap,
    /// The region the last packet came from; forgotten whenever regions change.
    pub source: &'a mut Window,
    /// The region the last packet went to.
    pub target: &'a mut Window,
}

const BUFFER: u64 = (EntryType::Buffer.raw() as u64) << 32;
const DATA: u64 = (EntryType::Data.raw() as u64) << 32;
const TX_CHECK: u64 = ((sf::TYPE_MASK | sf::CHAIN | sf::MBZ_MASK | sf::END_MASK) as u64) << 32;
const RX_CHECK: u64 = ((sf::TYPE_MASK | sf::MBZ_MASK) as u64) << 32;
const SIGNAL: u64 = (sf::SIGNAL as u64) << 32;
const ONE_PACKET: u64 = 1 << 32;
const MOST: u32 = contract::PACKET_MAX_BYTES as u32;
/// More pending bytes than this would not fit a completion's count.
const PENDING_MOST: u64 = 0x8000_0000;

/// Whether two queues can use the fast path at all (their configuration does not change that).
pub fn suits(tx: &QueueView, rx: &QueueView) -> bool {
    // One place serves both rings of the receive queue.
    rx.config.sq_log2 == rx.config.cq_log2 && !tx.wants_stamps() && !rx.wants_stamps()
}

/// Hints the processor to get a line for writing.
#[inline(always)]
fn prefetch_write(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching has no effect on memory, whatever the address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_ET0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Whether nothing is half done.
#[inline(always)]
fn is_clean(tx: &TxState, rx: &RxState) -> bool {
    (tx.done | tx.open | tx.burst.left | rx.fill | rx.open | rx.cut) == 0
}

/// The next entry is in another region than the last one, or out of bounds. Looks the regions up
/// again; false leaves the entry to the general path, which says what is wrong with it.
#[cold]
#[inline(never)]
fn look_up(pair: &mut Pair<'_>, from: (u64, u32), to: (u64, u32)) -> bool {
    let (tx_domain, rx_domain) = (pair.tx.config.domain as u16, pair.rx.config.domain as u16);
    let source = pair.tx_map.window(Address(from.0), tx_domain, READ);
    let target = pair.rx_map.window(Address(to.0), rx_domain, WRITE);
    let (Some(source), Some(target)) = (source, target) else { return false };
    *pair.source = source;
    *pair.target = target;
    source.at(from.0, from.1).is_some() && target.at(to.0, to.1).is_some()
}

/// Moves packets while they are of the common kind. Returns how many, and why it ended.
#[inline(always)]
pub fn run(pair: &mut Pair<'_>, budget: u32) -> (u32, Ended) {
    if !is_clean(pair.tx_state, pair.rx_state) {
        return (0, Ended::General);
    }
    let first = pair.tx_state.at.submission;
    let first_buffer = pair.rx_state.at.submission;
    let mut submission = Spot::new(&pair.tx.submissions, first);
    let mut buffer = Spot::new(&pair.rx.submissions, first_buffer);
    let (posted, buffers, received) =
        (pair.tx.submissions, pair.rx.submissions, pair.rx.completions);
    let vc = ONE_PACKET | u64::from(pair.rx.config.vc as u8) << 48;
    let mut packets = 0u32;
    let mut pending_bytes = pair.tx_state.pending_bytes;
    let mut bytes = 0u64;
    let ended = loop {
        let Some([from, w]) = submission.read(&posted) else { break Ended::Idle };
        if packets == budget {
            break Ended::Budget;
        }
        let Some([to, r]) = buffer.read(&buffers) else { break Ended::General };
        let (length, room) = (w as u32, r as u32);
        let plain = (w & TX_CHECK) ^ DATA | (r & RX_CHECK) ^ BUFFER;
        if plain != 0 || length.wrapping_sub(1) >= room || room > MOST {
            break Ended::General;
        }
        let (source, target) = match (pair.source.at(from, length), pair.target.at(to, room)) {
            (Some(source), Some(target)) => (source, target),
            _ if look_up(pair, (from, length), (to, room)) => continue,
            _ => break Ended::General,
        };
        // SAFETY: both lie in regions mapped for this process until the end of the step.
        unsafe { move_bytes(source, target, length) };
        let position = u64::from(first_buffer.wrapping_add(packets) as u16);
        buffer.write(&received, [u64::from(length) | vc, position]);
        packets += 1;
        bytes += u64::from(length);
        pending_bytes += u64::from(length);
        submission.advance(&posted);
        buffer.advance(&buffers);
        if w & SIGNAL != 0 || pending_bytes > PENDING_MOST {
            signal(pair, first, packets, pending_bytes);
            pending_bytes = 0;
        }
    };
    if packets != 0 {
        // The next packet's buffer and the lines it will touch, while there is time.
        if let Some([to, _]) = buffer.read(&buffers)
            && let Some(target) = pair.target.at(to, 1)
        {
            prefetch_write(target);
        }
        buffers.prefetch(first_buffer.wrapping_add(packets + 4));
        let (tx, rx) = (&mut *pair.tx_state, &mut *pair.rx_state);
        // `signal` has counted those that were reported.
        tx.pending_packets =
            tx.pending_packets.wrapping_add(first.wrapping_add(packets)).wrapping_sub(tx.at.submission);
        tx.pending_bytes = pending_bytes;
        tx.at.submission = first.wrapping_add(packets);
        rx.at.submission = first_buffer.wrapping_add(packets);
        rx.at.completion = rx.at.completion.wrapping_add(packets);
        rx.at.reported_bytes = rx.at.reported_bytes.wrapping_add(bytes);
        bump(&pair.tx_count.packets, u64::from(packets));
        bump(&pair.tx_count.bytes, bytes);
        bump(&pair.rx_count.packets, u64::from(packets));
        bump(&pair.rx_count.bytes, bytes);
    }
    (packets, ended)
}

/// Writes the sender's completion for everything up to the packet just moved.
#[inline(always)]
fn signal(pair: &mut Pair<'_>, first: u32, packets: u32, bytes: u64) {
    let state = &mut *pair.tx_state;
    let next = first.wrapping_add(packets);
    let count = state.pending_packets.wrapping_add(next).wrapping_sub(state.at.submission);
    let word0 = bytes & 0xffff_ffff
        | u64::from(count as u16) << 32
        | u64::from(pair.tx.config.vc as u8) << 48;
    let done = state.at.completion;
    pair.tx.completions.write(done, [word0, u64::from(next.wrapping_sub(1) as u16)]);
    state.at.completion = done.wrapping_add(1);
    state.at.submission = next;
    state.at.reported_bytes = state.at.reported_bytes.wrapping_add(bytes);
    state.pending_packets = 0;
}
