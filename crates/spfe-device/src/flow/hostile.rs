//! Steps of a flow with the hostile-network instrument: packets leave the sender, are on their way in a
//! [`HostileStream`], and arrive at the receiver, or not.
//!
//! A send is complete when the instrument has the packet. Link time is booked for what arrives.

use super::{Flow, RxEnd, TxEnd};
use crate::copy::CopySource;
use crate::memory::{RegionKey, RegionMap, Regions};
use crate::piece::Piece;
use crate::queue::{CompletionTime, Host, QueueView};
use crate::step::{NextPiece, PieceSink, PieceSource, StepContext, StepOutcome};
use spfe_contract::{EndMarker, Status};
use spfe_topology::hostile::{Hostile, HostileCounts, HostilePacket, HostileStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Packets that are taken from the sender before arrived ones are delivered.
const BATCH: u32 = 16;

/// The instrument of a flow, shared by all that run it. It is in the process that owns the network.
pub struct HostileFlow {
    number: u64,
    state: Mutex<HostileState>,
}

#[derive(Default)]
struct HostileState {
    /// `None` until the network is hostile for the first time.
    stream: Option<HostileStream>,
    /// Packets pass through the instrument.
    is_on: bool,
    /// A packet that the sender has begun.
    open: HostilePacket,
    has_begun: bool,
    /// The packet that is being delivered, and how much of it the receiver has.
    current: Option<HostilePacket>,
    done: u32,
}

impl HostileFlow {
    /// The instrument of a flow, which does nothing. The number gives its random numbers.
    pub fn new(number: u64) -> Self {
        Self { number, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HostileState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the network hostile, or ends that. The control plane changes the epoch of the flow
    /// afterwards. Packets on their way still arrive.
    pub fn set(&self, hostile: Option<Hostile>) {
        let state = &mut *self.lock();
        let hostile = hostile.map(|hostile| hostile.of_direction(self.number));
        state.is_on = hostile.is_some();
        match (&mut state.stream, hostile) {
            (Some(stream), Some(hostile)) => stream.set(hostile),
            (Some(stream), None) => stream.set(Hostile::NONE),
            (stream, Some(hostile)) => *stream = Some(HostileStream::new(hostile)),
            (None, None) => {}
        }
    }

    /// What has happened to packets.
    pub fn counts(&self) -> HostileCounts {
        self.lock().stream.as_ref().map_or_else(HostileCounts::default, HostileStream::counts)
    }

    /// Whether packets pass through the instrument, or are in it.
    fn is_busy(&self) -> bool {
        let state = self.lock();
        let waits = state.stream.as_ref().is_some_and(|stream| !stream.is_empty());
        state.is_on || waits || state.has_begun || state.current.is_some()
    }

    /// Loses all packets: the receiver is gone.
    fn lose(&self) {
        let state = &mut *self.lock();
        (state.current, state.done, state.has_begun) = (None, 0, false);
        if let Some(stream) = &mut state.stream {
            stream.clear();
        }
    }
}

/// Why no more packets are taken from the sender.
enum Filled {
    Idle,
    At(u64),
    Unmapped(RegionKey),
    /// As many as there may be, for now or until some arrive.
    Enough,
}

impl HostileState {
    /// Takes packets from the sender.
    fn fill<S: PieceSource, H: Host>(
        &mut self,
        source: &mut S,
        regions: &Regions,
        piece: &mut Piece,
        (now_ns, packets): (u64, &mut u32),
        cx: &mut StepContext<'_, H>,
    ) -> Filled {
        let filled = loop {
            if self.stream.as_ref().is_none_or(HostileStream::is_full) {
                break Filled::Enough;
            }
            if *packets >= BATCH {
                break Filled::Enough;
            }
            match source.next(&regions.map, piece) {
                NextPiece::Ready => {
                    self.gather(piece);
                    let stamps = source.view().is_some_and(QueueView::wants_stamps);
                    let time = cx.time(stamps);
                    source.done(piece, time);
                    *packets += 1;
                    if piece.end != EndMarker::None {
                        self.send(piece.end == EndMarker::Eep, now_ns);
                    }
                }
                NextPiece::Idle => break Filled::Idle,
                NextPiece::At(ns) => break Filled::At(ns),
                NextPiece::Failed { cut } => self.cut(cut, now_ns),
                NextPiece::Unmapped(key) if regions.exists(key) => break Filled::Unmapped(key),
                NextPiece::Unmapped(_) => {
                    let cut = source.fail_unmapped(piece, Status::BadRegion);
                    self.cut(cut, now_ns);
                }
            }
        };
        source.flush_step(cx.host);
        filled
    }

    fn gather(&mut self, piece: &mut Piece) {
        // A packet that does not fit is cut.
        let room = HostileStream::BYTES_MAX.saturating_sub(self.open.bytes.len()) as u32;
        self.open.eep |= piece.rest() > room;
        piece.append(piece.done..piece.done + piece.rest().min(room), &mut self.open.bytes);
        piece.done = piece.length;
        self.has_begun = true;
    }

    /// The packet that has begun is complete.
    fn send(&mut self, eep: bool, now_ns: u64) {
        let mut packet = std::mem::take(&mut self.open);
        packet.eep |= eep;
        self.has_begun = false;
        if let Some(stream) = &mut self.stream {
            stream.put(packet, now_ns);
        }
    }

    fn cut(&mut self, cut: bool, now_ns: u64) {
        if cut && self.has_begun {
            self.send(true, now_ns);
        }
    }
}

/// The packets that arrive.
struct Arrivals<'a> {
    state: &'a mut HostileState,
    now_ns: u64,
}

impl PieceSource for Arrivals<'_> {
    // Link time is booked here, and no further ahead than an instrument does.
    const ENDLESS: bool = true;

    fn next(&mut self, _: &RegionMap, piece: &mut Piece) -> NextPiece {
        let Some(stream) = &mut self.state.stream else { return NextPiece::Idle };
        if self.state.current.is_none() {
            self.state.current = stream.take(self.now_ns);
            self.state.done = 0;
        }
        let Some(packet) = &self.state.current else {
            return stream.next_ns().map_or(NextPiece::Idle, NextPiece::At);
        };
        piece.clear();
        // The bytes stay in place until `done` allows the next packet.
        let length = packet.bytes.len() as u32;
        piece.add(CopySource { at: packet.bytes.as_ptr(), address: None, length });
        piece.finish(if packet.eep { EndMarker::Eep } else { EndMarker::Eop }, 0, 1);
        piece.done = self.state.done;
        NextPiece::Ready
    }

    fn pause(&mut self, piece: &Piece) {
        self.state.done = piece.done;
    }

    fn done(&mut self, _: &Piece, _: CompletionTime) {
        self.state.current = None;
    }

    fn fail_unmapped(&mut self, _: &Piece, _: Status) -> bool {
        false
    }

    fn flush_step<H: Host>(&mut self, _: &mut H) {}

    fn view(&self) -> Option<&QueueView> {
        None
    }

    fn domain(&self) -> u16 {
        0
    }
}

impl<S: PieceSource, D: PieceSink> Flow<S, D> {
    /// Puts the instrument between the ends, from the next [`Flow::bind`] on.
    pub fn set_hostile(&mut self, hostile: Arc<HostileFlow>) {
        self.hostile = Some(hostile);
    }

    /// Whether packets pass through the instrument. Without a receiver they stay at the sender.
    pub(super) fn is_hostile(&self) -> bool {
        let has_ends = !matches!(self.rx, RxEnd::None);
        has_ends && self.hostile.as_ref().is_some_and(|hostile| hostile.is_busy())
    }

    /// The receiver is gone: what is on the way does not arrive.
    pub(super) fn lose_hostile(&self) {
        if let Some(hostile) = &self.hostile {
            hostile.lose();
        }
    }

    /// A step with the instrument between the ends.
    #[cold]
    #[inline(never)]
    pub(super) fn step_hostile<H: Host>(&mut self, host: &mut H, budget: u32) -> StepOutcome {
        let Some(hostile) = self.hostile.clone() else { return StepOutcome::Idle(0) };
        let mut state = hostile.lock();
        let mut total = 0;
        while total < budget {
            let now_ns = host.now_ns();
            let mut taken = 0;
            let filled = self.fill_hostile(&mut state, (now_ns, &mut taken), host);
            let step = self.deliver_hostile(&mut state, now_ns, budget - total, host);
            let delivered = step.packets();
            total = total.saturating_add(taken).saturating_add(delivered);
            match (filled, step) {
                (_, StepOutcome::Unmapped(..) | StepOutcome::Stale | StepOutcome::Stalled(_)) => {
                    return step.with(total);
                }
                (Filled::Unmapped(key), _) => return StepOutcome::Unmapped(true, key),
                (Filled::Enough, StepOutcome::Until(at, _)) if taken == 0 && delivered == 0 => {
                    return StepOutcome::Until(at, total);
                }
                (Filled::Enough, StepOutcome::Idle(_) | StepOutcome::Until(..))
                | (_, StepOutcome::More(_)) => {}
                (Filled::At(a), StepOutcome::Until(b, _)) => {
                    return StepOutcome::Until(a.min(b), total);
                }
                (Filled::At(at), _) | (Filled::Idle, StepOutcome::Until(at, _)) => {
                    return StepOutcome::Until(at, total);
                }
                (Filled::Idle, _) => return StepOutcome::Idle(total),
            }
        }
        StepOutcome::More(total)
    }

    fn fill_hostile<H: Host>(
        &mut self,
        state: &mut HostileState,
        count: (u64, &mut u32),
        host: &mut H,
    ) -> Filled {
        let mut cx = StepContext::quiet(host);
        cx.timed = self.timed;
        let (regions, piece) = (&self.tx_regions, &mut self.piece);
        match &mut self.tx {
            TxEnd::None => {
                // The sender is gone, and will not end its packet.
                state.cut(true, count.0);
                Filled::Idle
            }
            TxEnd::Queue(tx) => state.fill(tx, regions, piece, count, &mut cx),
            TxEnd::Rdma(tx) => state.fill(tx, regions, piece, count, &mut cx),
            TxEnd::Instrument(tx) => state.fill(tx, regions, piece, count, &mut cx),
        }
    }

    fn deliver_hostile<H: Host>(
        &mut self,
        state: &mut HostileState,
        now_ns: u64,
        budget: u32,
        host: &mut H,
    ) -> StepOutcome {
        let (pacer, timed) = (self.pacer, self.timed);
        let mut cx = StepContext { host, pacer, now_ns, through_ns: 0, timed };
        let (run, _, rx) = self.general(budget);
        let mut arrivals = Arrivals { state, now_ns };
        match rx {
            RxEnd::None => StepOutcome::Idle(0),
            RxEnd::Posted(rx) => run.go(&mut arrivals, rx, &mut cx),
            RxEnd::Packed(rx) => run.go(&mut arrivals, rx, &mut cx),
            RxEnd::Rdma(rx) => run.go(&mut arrivals, rx, &mut cx),
            RxEnd::Instrument(rx) => run.go(&mut arrivals, rx, &mut cx),
        }
    }
}
