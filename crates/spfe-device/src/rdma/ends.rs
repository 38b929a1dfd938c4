//! A queue pair as the sending end of one flow and the receiving end of another.

use super::{ChannelState, DeviceClock, RdmaChannel, Views};
use crate::copy::{CopySource, CopyTarget};
use crate::memory::{RegionKey, RegionMap, Regions};
use crate::piece::Piece;
use crate::queue::{CompletionTime, Host, QueueView};
use crate::shared::{bump, count};
use crate::step::{
    Accepted, HandRoom, HandSink, HandSource, NextPiece, PieceSink, PieceSource, StepContext,
};
use spfe_contract::{EndMarker, QueueState, Status};
use spfe_proto::PacketEnd;
use spfe_ring::sync::Ordering;
use std::sync::Arc;

/// What both ends have.
struct ChannelEnd {
    channel: Arc<RdmaChannel>,
    clock: DeviceClock,
    views: Views,
    /// The region that was asked for last.
    missing: Option<RegionKey>,
}

impl ChannelEnd {
    fn bind(
        channel: &Arc<RdmaChannel>,
        clock: &DeviceClock,
        regions: &Regions,
        tx: bool,
    ) -> Result<Option<Self>, (bool, RegionKey)> {
        let Some(views) = channel.bind(regions, tx)? else { return Ok(None) };
        let (channel, clock) = (channel.clone(), clock.clone());
        Ok(Some(Self { channel, clock, views, missing: None }))
    }

    fn notify<H: Host>(&self, host: &mut H) {
        let now_ns = (self.clock)();
        self.channel.lock().notify(&self.channel, &self.views, host, now_ns);
    }

    fn rouse<H: Host>(&self, host: &mut H) {
        self.channel.rouse(&self.views, host, (self.clock)());
    }

    /// The region that was asked for does not exist.
    fn set_absent(&mut self) {
        if let Some(key) = self.missing.take()
            && let Some(pair) = &mut self.channel.lock().pair
        {
            pair.keys.set_absent(key);
        }
    }

    fn domain(&self) -> u16 {
        self.views.domain()
    }

    fn parts(&self) -> (&RdmaChannel, &DeviceClock, &Views) {
        (&self.channel, &self.clock, &self.views)
    }
}

/// The sending end: requests of the queue pair, and its responses to the far end.
pub struct RdmaSource(ChannelEnd);

/// The receiving end.
pub struct RdmaSink(ChannelEnd);

impl RdmaSource {
    pub(super) fn parts(&self) -> (&RdmaChannel, &DeviceClock, &Views) {
        self.0.parts()
    }

    /// The sending end, while the channel has a queue. `Err` names a region to map first.
    pub fn bind(
        channel: &Arc<RdmaChannel>,
        clock: &DeviceClock,
        regions: &Regions,
    ) -> Result<Option<Self>, (bool, RegionKey)> {
        Ok(ChannelEnd::bind(channel, clock, regions, true)?.map(Self))
    }

    /// The queue pair.
    pub fn channel(&self) -> &Arc<RdmaChannel> {
        &self.0.channel
    }

    /// The RDMA queue.
    pub fn queue(&self) -> Option<&QueueView> {
        self.0.views.send.as_ref()
    }

    /// Wakes the host if its requests can go on earlier than it knows.
    pub fn rouse<H: Host>(&self, host: &mut H) {
        self.0.rouse(host);
    }

    /// When a waiting host has to be woken, or the timers have something to do, ns.
    pub fn deadline(&self) -> Option<u64> {
        let now_ns = (self.0.clock)();
        self.0.channel.lock().deadline(&self.0.views, now_ns)
    }

    /// Ends everything that was posted with a status. Returns the number of work requests.
    pub fn flush<H: Host>(&mut self, map: &RegionMap, host: &mut H, status: Status) -> u32 {
        let flushed = self.0.channel.flush(true, &self.0.views, map, status);
        self.0.notify(host);
        flushed
    }

    /// Publishes the state of the queue, and wakes its host.
    pub fn set_state<H: Host>(&self, host: &mut H, state: QueueState, error: Status) {
        self.0.views.set_state(true, host, state, error);
    }

    /// Runs the timers while nothing takes packets. Returns when to do it again; `None` if nothing is
    /// to be sent.
    pub fn wait(&mut self, map: &RegionMap) -> NextPiece {
        let mut piece = Piece::default();
        match self.next(map, &mut piece) {
            NextPiece::Ready => {
                let now_ns = (self.0.clock)();
                let state = self.0.channel.lock();
                match state.pair.as_ref().map_or(u64::MAX, |pair| pair.send.wake_ns(now_ns)) {
                    u64::MAX => NextPiece::Ready,
                    at => NextPiece::At(at.max(now_ns + 1)),
                }
            }
            next => next,
        }
    }
}

/// What a source has found.
pub enum Looked<T> {
    /// Something to send.
    Found(T),
    /// Nothing.
    Idle,
    /// Nothing before this device time, ns.
    At(u64),
    /// A region to map first.
    Unmapped(RegionKey),
}

impl RdmaSource {
    /// Reads the rings, looks for something to send, and writes completions.
    pub(super) fn look<T>(
        &mut self,
        map: &RegionMap,
        find: impl FnOnce(&mut ChannelState, &Views, u64) -> Option<T>,
    ) -> Looked<T> {
        let now_ns = (self.0.clock)();
        let ChannelEnd { channel, views, missing, .. } = &mut self.0;
        let state = &mut *channel.lock();
        if let Err(key) = state.fetch(views, map) {
            *missing = Some(key);
            return Looked::Unmapped(key);
        }
        let found = find(state, views, now_ns);
        let time = match &views.send {
            Some(view) if view.wants_stamps() => CompletionTime::Stamp(now_ns),
            _ => CompletionTime::None,
        };
        state.publish(channel, views, time);
        match found {
            Some(found) => Looked::Found(found),
            None => match state.wake_ns(now_ns) {
                u64::MAX => Looked::Idle,
                at => Looked::At(at.max(now_ns + 1)),
            },
        }
    }
}

impl PieceSource for RdmaSource {
    // Beyond that the timers would run before the packets are on the link.
    const ENDLESS: bool = true;

    fn next(&mut self, map: &RegionMap, piece: &mut Piece) -> NextPiece {
        let looked = self.look(map, |state, views, now_ns| {
            if !state.busy {
                state.busy = state.transmit(views, map, now_ns);
                state.sent = 0;
            } else if let Some(pair) = &mut state.pair {
                pair.send.tick(now_ns);
            }
            state.busy.then_some(())
        });
        match looked {
            Looked::Found(()) => {}
            Looked::Idle => return NextPiece::Idle,
            Looked::At(ns) => return NextPiece::At(ns),
            Looked::Unmapped(key) => return NextPiece::Unmapped(key),
        }
        let state = &*self.0.channel.lock();
        piece.clear();
        // The bytes stay in place until `done` allows the next packet.
        let length = state.packet.len() as u32;
        piece.add(CopySource { at: state.packet.as_ptr(), address: None, length });
        piece.finish(EndMarker::Eop, 0, 1);
        piece.done = state.sent.min(length);
        NextPiece::Ready
    }

    fn pause(&mut self, piece: &Piece) {
        self.0.channel.lock().sent = piece.done;
    }

    fn count_stall(&mut self) {
        bump(&self.0.channel.out.tx_count.stalls, 1);
    }

    fn done(&mut self, piece: &Piece, _time: CompletionTime) {
        // The far end counts its answers here as well, while it has the lock.
        let state = &mut *self.0.channel.lock();
        (state.busy, state.sent) = (false, 0);
        count(&self.0.channel.out.tx_count, 1, piece.length.into());
    }

    fn fail_unmapped(&mut self, _: &Piece, _: Status) -> bool {
        self.0.set_absent();
        false
    }

    fn flush_step<H: Host>(&mut self, host: &mut H) {
        self.0.notify(host);
    }

    fn view(&self) -> Option<&QueueView> {
        None
    }

    fn hands(&mut self) -> Option<&mut impl HandSource> {
        Some(self)
    }

    fn domain(&self) -> u16 {
        self.0.domain()
    }

    /// The receiver of the packet is gone; a time-out repeats it.
    fn lose(&mut self) {
        let mut state = self.0.channel.lock();
        (state.busy, state.sent) = (false, 0);
    }
}

impl RdmaSink {
    pub(super) fn parts(&self) -> (&RdmaChannel, &DeviceClock, &Views) {
        self.0.parts()
    }

    /// The receiving end, while the channel has a queue. `Err` names a region to map first.
    pub fn bind(
        channel: &Arc<RdmaChannel>,
        clock: &DeviceClock,
        regions: &Regions,
    ) -> Result<Option<Self>, (bool, RegionKey)> {
        Ok(ChannelEnd::bind(channel, clock, regions, false)?.map(Self))
    }

    /// The queue pair.
    pub fn channel(&self) -> &Arc<RdmaChannel> {
        &self.0.channel
    }

    /// Wakes the host if its requests can go on earlier than it knows.
    pub fn rouse<H: Host>(&self, host: &mut H) {
        self.0.rouse(host);
    }

    /// The RDMA_RX queue.
    pub fn queue(&self) -> Option<&QueueView> {
        self.0.views.receive.as_ref()
    }

    /// Completes every posted buffer with a status. Returns their number.
    pub fn flush<H: Host>(&mut self, map: &RegionMap, host: &mut H, status: Status) -> u32 {
        let flushed = self.0.channel.flush(false, &self.0.views, map, status);
        self.0.notify(host);
        flushed
    }

    /// Publishes the state of the queue, and wakes its host.
    pub fn set_state<H: Host>(&self, host: &mut H, state: QueueState, error: Status) {
        self.0.views.set_state(false, host, state, error);
    }

    /// Whether a packet can be handed over now.
    pub(super) fn room(&mut self, map: &RegionMap) -> HandRoom {
        let ChannelEnd { channel, missing, .. } = &mut self.0;
        let state = &mut *channel.lock();
        let Some(pair) = state.pair.as_ref().filter(|_| !state.open) else {
            return HandRoom::Packet;
        };
        if let Some(key) = pair.keys.unmapped(map) {
            *missing = Some(key);
            return HandRoom::Unmapped(key);
        }
        if pair.target.is_full(super::VC) { HandRoom::Packet } else { HandRoom::Free }
    }

    /// Gives a packet that has arrived to `take`, and writes completions.
    pub(super) fn finish_with<H: Host>(
        &mut self,
        cx: &mut StepContext<'_, H>,
        take: impl FnOnce(&mut ChannelState, &Views, u64) -> bool,
    ) {
        let ChannelEnd { channel, clock, views, .. } = &self.0;
        // On a paced link the packet arrives later than now.
        let now_ns = clock().max(cx.through_ns);
        let stamps = [&views.send, &views.receive].into_iter().flatten();
        let time = cx.time(stamps.fold(false, |any, view| any | view.wants_stamps()));
        let state = &mut *channel.lock();
        let taken = take(state, views, now_ns);
        state.publish(channel, views, time);
        bump(&channel.into.rx_count.stalls, u64::from(!taken));
        // There may be something to send now: a response, or what waited for this one.
        channel.out.stalled.store(1, Ordering::Release);
    }

    fn finish<H: Host>(&mut self, end: EndMarker, map: &RegionMap, cx: &mut StepContext<'_, H>) {
        let end = if end == EndMarker::Eep { PacketEnd::Eep } else { PacketEnd::Eop };
        self.finish_with(cx, |state, views, now_ns| {
            let taken = state.arrived(views, map, end, now_ns);
            state.arriving.clear();
            state.open = false;
            taken
        });
    }
}

impl PieceSink for RdmaSink {
    fn take<H: Host>(
        &mut self,
        piece: &mut Piece,
        map: &RegionMap,
        cx: &mut StepContext<'_, H>,
    ) -> Accepted {
        let ends = piece.end != EndMarker::None;
        {
            let ChannelEnd { channel, missing, .. } = &mut self.0;
            let state = &mut *channel.lock();
            let Some(pair) = &state.pair else { return Accepted::Full };
            if ends && pair.target.is_full(super::VC) {
                return Accepted::Full;
            }
            if let Some(key) = pair.keys.unmapped(map) {
                *missing = Some(key);
                return Accepted::Unmapped(key);
            }
            let rest = piece.rest();
            let start = state.arriving.len();
            let kept = (rest as usize).min(pair.kept_max.saturating_sub(start));
            state.arriving.resize(start + kept, 0);
            let target = CopyTarget { at: state.arriving[start..].as_mut_ptr(), address: None };
            // SAFETY: `arriving` has `kept` bytes from `start` on. A copy to a target without an
            // address is done before `take` returns.
            unsafe { piece.take(target, kept as u32) };
            piece.done = piece.length;
            state.open = true;
            cx.book(rest, ends);
        }
        if ends {
            self.finish(piece.end, map, cx);
        }
        Accepted::Whole
    }

    fn cut<H: Host>(&mut self, _cx: &mut StepContext<'_, H>) {
        // The far end repeats what was cut.
        let mut state = self.0.channel.lock();
        state.arriving.clear();
        state.open = false;
    }

    fn fail_unmapped<H: Host>(&mut self, _status: Status, _cx: &mut StepContext<'_, H>) {
        self.0.set_absent();
    }

    fn publish<H: Host>(&mut self, _cx: &mut StepContext<'_, H>) {}

    fn flush_step<H: Host>(&mut self, host: &mut H) {
        self.0.notify(host);
    }

    fn view(&self) -> Option<&QueueView> {
        None
    }

    fn takes(&mut self) -> Option<&mut impl HandSink> {
        Some(self)
    }

    fn domain(&self) -> u16 {
        self.0.domain()
    }

    fn is_open(&self) -> bool {
        self.0.channel.lock().open
    }

    fn has_room(&self) -> bool {
        self.0.channel.lock().pair.as_ref().is_some_and(|pair| !pair.target.is_full(super::VC))
    }
}
