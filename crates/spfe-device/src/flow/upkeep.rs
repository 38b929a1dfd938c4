//! Work on a flow beside its steps: help, wake-ups, resets and recovery.

use super::{Flow, PieceSink, PieceSource, RxEnd, StepContext, TxEnd};
use crate::memory::RegionKey;
use crate::queue::{Host, QueueView};
use spfe_contract::{QueueState, Status};
use spfe_ring::sync::Ordering;

/// How long a recovery waits for a helper that has a job, ms.
const PATIENCE_MS: u32 = 1000;

impl<S: PieceSource, D: PieceSink> Flow<S, D> {
    /// Makes copies of jobs that another participant has posted. Needs no seat. Returns the number of
    /// jobs done and, if one could not be done, a region to map before the next call.
    pub fn help(&self) -> (u32, Option<(bool, RegionKey)>) {
        let dead = |id| id != 0 && id == self.shared.dead.load(Ordering::Acquire);
        match self.copies() {
            Some(copies) => copies.help(|| self.is_stale(), dead),
            None => (0, None),
        }
    }

    /// Whether copies of this flow are under way, or their completions are not published yet.
    #[inline(always)]
    pub fn is_pending(&self) -> bool {
        self.shared.board.pending() != 0
    }

    /// Finishes copies that are under way, for a caller who wants to change the flow. Waits briefly
    /// for those that another participant makes. `Ok(false)` if it has not made them yet. `Err`
    /// names a region to map first.
    pub fn quiesce<H: Host>(&mut self, host: &mut H) -> Result<bool, (bool, RegionKey)> {
        if !self.is_pending() {
            return Ok(true);
        }
        let shared = self.shared;
        if !shared.board.is_sound() {
            self.break_board(host);
            return Ok(true);
        }
        match self.copies() {
            Some(copies) => copies.drain(1000, &mut |id| super::is_dead(shared, host, id)),
            // Nobody can make them any more.
            None => {
                shared.board.abandon();
                Ok(true)
            }
        }
    }

    /// Device time at which a waiting host has to be woken, ns. Device threads sleep until then.
    pub fn deadline(&self) -> Option<u64> {
        if self.is_stale() {
            return None;
        }
        // SAFETY: the caller holds the seat.
        let (tx, rx) = unsafe { (&*self.shared.tx.get(), &*self.shared.rx.get()) };
        let tx_view = if let TxEnd::Queue(queue) = &self.tx { Some(&queue.view) } else { None };
        let sent = match &self.tx {
            TxEnd::Rdma(source) => source.deadline(),
            _ => tx_view.and_then(|view| view.deadline(&tx.at)),
        };
        // The two queues of a queue pair are looked after at its sending end.
        let paired = matches!(self.rx, RxEnd::Rdma(_));
        let view = self.rx_view().filter(|_| !paired);
        let got = view.and_then(|view| view.deadline(&rx.at));
        sent.into_iter().chain(got).min()
    }

    /// The receive queue, if it is bound.
    pub fn rx_view(&self) -> Option<&QueueView> {
        match &self.rx {
            RxEnd::Posted(rx) => rx.view(),
            RxEnd::Packed(rx) => rx.view(),
            RxEnd::Rdma(rx) => rx.queue(),
            _ => None,
        }
    }

    /// Whether the configuration has changed since [`Flow::bind`].
    pub fn is_stale(&self) -> bool {
        self.shared.epoch() != self.epoch
    }

    /// Whether a device has to step this flow: it has a sender or a receive queue. A receive queue
    /// without a sender may still wait for the end of its last packet, or for a time.
    pub fn is_active(&self) -> bool {
        !matches!((&self.tx, &self.rx), (TxEnd::None, RxEnd::None | RxEnd::Instrument(_)))
    }

    /// Whether either end has a queue or a queue pair.
    pub fn has_queue(&self) -> bool {
        let paired = matches!(self.tx, TxEnd::Rdma(_)) || matches!(self.rx, RxEnd::Rdma(_));
        paired || self.tx_view().is_some() || self.rx_view().is_some()
    }

    /// The transmit queue, if it is bound.
    pub fn tx_view(&self) -> Option<&QueueView> {
        match &self.tx {
            TxEnd::Queue(queue) => Some(&queue.view),
            TxEnd::Rdma(source) => source.queue(),
            _ => None,
        }
    }

    /// Sets the time until which the owner of the flow does not look at the requests of the queue pair
    /// that sends, ns (`RdmaChannel::set_known`).
    pub fn set_known(&self, ns: u64) {
        if let TxEnd::Rdma(source) = &self.tx {
            source.channel().set_known(ns);
        }
    }

    /// Whether the queue pair of another participant is at an end: that which receives if this one is
    /// the owner of the flow, otherwise that which sends.
    #[inline]
    pub fn has_foreign_pair(&self, owner: bool) -> bool {
        if owner { matches!(self.rx, RxEnd::Rdma(_)) } else { matches!(self.tx, TxEnd::Rdma(_)) }
    }

    /// Wakes the host of that queue pair if its requests can go on earlier than it knows. The caller
    /// holds the seat.
    pub fn rouse<H: Host>(&self, host: &mut H, owner: bool) {
        match (&self.tx, &self.rx) {
            _ if self.is_stale() => {}
            (_, RxEnd::Rdma(sink)) if owner => sink.rouse(host),
            (TxEnd::Rdma(source), _) if !owner => source.rouse(host),
            _ => {}
        }
    }

    /// Wakes hosts whose time has come, and hosts that armed after their packet was completed.
    pub fn wake_due<H: Host>(&mut self, host: &mut H) {
        if self.is_stale() {
            return;
        }
        match &mut self.tx {
            TxEnd::Queue(tx) => tx.flush_step(host),
            TxEnd::Rdma(tx) => tx.flush_step(host),
            TxEnd::None | TxEnd::Instrument(_) => {}
        }
        match &mut self.rx {
            RxEnd::Posted(rx) => rx.flush_step(host),
            RxEnd::Packed(rx) => rx.flush_step(host),
            RxEnd::Rdma(rx) => rx.flush_step(host),
            _ => {}
        }
    }

    /// Tells both hosts whether the device sleeps and wants a doorbell.
    pub fn set_need_doorbell(&self, on: bool) {
        // After a change the memory of the bound rings may have another use.
        if self.is_stale() {
            return;
        }
        for view in self.tx_view().into_iter().chain(self.rx_view()) {
            view.device_line().set_need_doorbell(on);
        }
    }

    /// Completes every posted submission with `status`, and ends the open packet of the receiver
    /// with EEP. With `only_open` it completes only the packet that has begun. Returns the number
    /// of submissions completed.
    pub fn flush<H: Host>(&mut self, host: &mut H, status: Status, only_open: bool) -> u32 {
        let mut flushed = 0;
        self.lose_hostile();
        match &mut self.tx {
            TxEnd::Instrument(source) => source.lose(),
            TxEnd::Rdma(source) => source.lose(),
            _ => {}
        }
        if let TxEnd::Queue(tx) = &mut self.tx {
            // SAFETY: the caller holds the seat.
            let begun = unsafe { (*self.shared.tx.get()).done != 0 };
            if !only_open {
                flushed = tx.flush(status);
            } else if begun {
                flushed = tx.flush_one(status);
            } else {
                tx.lose();
            }
            if flushed != 0 {
                tx.view.kick(host);
            }
        }
        self.cut(host);
        flushed
    }

    /// Ends the sending queue: what it has posted is discarded and counted, and a packet that has
    /// begun ends with EEP at the receiver.
    pub fn end_sender<H: Host>(&mut self, host: &mut H) {
        if let TxEnd::Queue(tx) = &mut self.tx {
            tx.discard();
        }
        self.cut(host);
    }

    /// Completes every posted receive buffer with `status`, for a reset. Returns their number.
    pub fn flush_receive<H: Host>(&mut self, host: &mut H, status: Status) -> u32 {
        let mut cx = StepContext::quiet(host);
        match &mut self.rx {
            RxEnd::Posted(rx) => rx.flush(status, &mut cx),
            RxEnd::Rdma(rx) => rx.flush(&self.rx_regions.map, cx.host, status),
            _ => 0,
        }
    }

    /// Completes everything that a queue pair at the sending end has posted with `status`.
    pub fn flush_pair<H: Host>(&mut self, host: &mut H, status: Status) -> u32 {
        match &mut self.tx {
            TxEnd::Rdma(source) => source.flush(&self.tx_regions.map, host, status),
            _ => 0,
        }
    }

    /// Publishes the state of the queue at one end, and wakes its host.
    pub fn set_state<H: Host>(&self, host: &mut H, tx: bool, state: QueueState, error: Status) {
        let view = if tx { self.tx_view() } else { self.rx_view() };
        if let Some(view) = view {
            view.device_line().set_state(u32::from(state.raw()), u32::from(error.raw()));
            view.kick(host);
        }
    }

    /// A participant has written over the counters of the board: nobody knows any more which copies
    /// are made. Completes what was posted and not delivered with BAD_RING. Later packets are moved
    /// as usual.
    #[cold]
    pub(super) fn break_board<H: Host>(&mut self, host: &mut H) {
        self.recover();
        self.shared.stalled.store(0, Ordering::Release);
        self.flush(host, Status::BadRing, false);
    }

    /// Finishes the copies that a dead participant has posted or begun.
    fn finish_copies(&mut self) {
        let dead = self.shared.dead.load(Ordering::Acquire);
        let sound = self.shared.board.is_sound();
        let Some(copies) = self.copies().filter(|_| sound) else {
            return self.shared.board.abandon();
        };
        for turn in 0..=PATIENCE_MS {
            // Both ends of such a flow trust each other, so at the end a helper that is stopped with
            // a job counts as dead.
            let mut gone = |id| (id == dead && dead != 0) || turn == PATIENCE_MS;
            match copies.drain(1000, &mut gone) {
                Ok(true) => return,
                Ok(false) => std::thread::sleep(std::time::Duration::from_millis(1)),
                Err(_) => break,
            }
        }
        self.shared.board.abandon();
    }

    /// Repairs the state after a participant died while it ran the engine.
    pub fn recover(&mut self) {
        self.finish_copies();
        // Queue pairs run in the process that owns the network, which does not die alone.
        if let Some(view) = self.rx_view().filter(|_| !matches!(self.rx, RxEnd::Rdma(_))) {
            crate::recover::receive(self.shared, view, self.share.is_some());
        }
        if let Some(view) = self.tx_view().filter(|_| !matches!(self.tx, TxEnd::Rdma(_))) {
            crate::recover::transmit(self.shared, view);
        }
    }

    /// Ends the open packet of the receiver with EEP, because its sender will not continue.
    pub fn cut<H: Host>(&mut self, host: &mut H) {
        let mut cx = StepContext::quiet(host);
        let was_open = match &self.rx {
            RxEnd::Posted(rx) => rx.is_open(),
            RxEnd::Packed(rx) => rx.is_open(),
            RxEnd::Instrument(rx) => rx.is_open(),
            RxEnd::Rdma(rx) => rx.is_open(),
            RxEnd::None => false,
        };
        match &mut self.rx {
            RxEnd::Posted(rx) if rx.is_open() => {
                rx.cut(&mut cx);
                rx.flush_step(cx.host);
            }
            RxEnd::Packed(rx) if rx.is_open() => {
                rx.cut(&mut cx);
                rx.publish(&mut cx);
                rx.flush_step(cx.host);
            }
            RxEnd::Instrument(rx) if rx.is_open() => rx.cut(&mut cx),
            RxEnd::Rdma(rx) if rx.is_open() => rx.cut(&mut cx),
            _ => {}
        }
        if was_open
            && !self.rx_is_cut()
            && let Some(observer) = &mut self.observer
        {
            observer.cut(&mut StepContext::quiet(host));
        }
        if self.rx_is_cut() {
            // The receiver runs the engine when it makes room.
            self.shared.stalled.store(1, Ordering::Release);
        }
    }

    fn rx_is_cut(&self) -> bool {
        match &self.rx {
            RxEnd::Posted(rx) => rx.is_cut(),
            RxEnd::Packed(rx) => rx.is_cut(),
            _ => false,
        }
    }
}
