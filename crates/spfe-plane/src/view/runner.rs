//! A participant's handle to run one flow.

use super::{View, ViewHost};
use crate::arena::DEVICE;
use crate::engine_time::EngineTime;
use crate::instrument::{FlowSink, FlowSource};
use spfe_device::distance;
use spfe_device::flow::{Flow, SingleEnd, StepOutcome};
use spfe_device::shared::FlowShared;
use spfe_host::{RegionKey, os};
use spfe_ring::sync::Ordering;
use std::sync::Arc;

/// Number of polls of a guest that waits for the owner to leave the seat.
const CLAIM_SPINS: u32 = 200;
/// Number of attempts of an owner to enter a seat that another participant has claimed.
const OWNER_PATIENCE: u32 = 1 << 20;
/// The same for a device thread, which has other flows to run.
const DEVICE_PATIENCE: u32 = 16;
/// Turns between the two directions of a queue pair in one run.
const ROUNDS: u32 = 1 << 12;
/// Number of attempts to fetch a region, one millisecond apart.
const FETCH_TRIES: u32 = 64;

/// A participant's handle to run one flow.
pub struct Runner {
    flow: Flow<FlowSource, FlowSink>,
    view: Arc<View>,
    ends: (u32, u32),
    /// Endpoint, port, virtual channel and direction that an observer may tap; packet level only.
    tapped: Option<(u32, u32, u32, bool)>,
    owner: bool,
    id: u32,
    time: EngineTime,
    engine_ns: u64,
    /// Time from which the engine can do more than in its last run, ns.
    due_ns: Option<u64>,
    /// Number of attempts of an owner to enter the seat.
    patience: u32,
    /// The other direction of a virtual channel with a queue pair, which goes with this one.
    partner: Option<Box<Runner>>,
    /// The last question of the sender that this end has answered.
    answered: u32,
}

impl Runner {
    pub(super) fn new(
        view: &Arc<View>,
        flow: Flow<FlowSource, FlowSink>,
        ends: (u32, u32),
        owner: bool,
        time: EngineTime,
    ) -> Self {
        let (id, view) = (view.id, view.clone());
        let patience = if id == DEVICE { DEVICE_PATIENCE } else { OWNER_PATIENCE };
        Self {
            flow,
            view,
            ends,
            tapped: None,
            owner,
            id,
            time,
            engine_ns: 0,
            due_ns: None,
            patience,
            partner: None,
            answered: 0,
        }
    }

    /// Makes this runner run the other direction of its virtual channel as well, for a queue pair.
    pub fn with_partner(mut self, partner: Self) -> Self {
        self.partner = Some(Box::new(partner));
        self
    }

    /// Lets the network's observer tap the flow out of a port, or into it.
    pub(super) fn observe(&mut self, endpoint: u32, port: u32, vc: u32, out: bool) {
        self.tapped = Some((endpoint, port, vc, out));
    }

    /// The state that all runners of the flow share.
    pub fn shared(&self) -> &'static FlowShared {
        self.flow.shared()
    }

    /// Runs the engine for at most `budget` pieces; after mapping a region it starts again. `None` if
    /// another participant holds the seat, or if a region cannot be mapped because the daemon is
    /// gone.
    #[inline(never)]
    pub fn run(&mut self, budget: u32) -> Option<StepOutcome> {
        if self.partner.is_some() {
            return self.run_both(budget);
        }
        let step = self.run_one(budget);
        if self.flow.has_foreign_pair(self.owner) && (self.owner || self.due_ns.is_some()) {
            self.rouse();
        }
        step
    }

    /// Runs both directions. What the other end can send now or later is left to it where it has to
    /// wait, or runs its flow just now.
    #[cold]
    fn run_both(&mut self, budget: u32) -> Option<StepOutcome> {
        self.flow.set_known(u64::MAX);
        let step = self.take_turns(budget);
        self.flow.set_known(self.due_ns.unwrap_or(u64::MAX));
        let leaves = |partner: &Runner| partner.is_stalled() || partner.due_ns.is_some();
        if self.partner.as_deref().is_some_and(leaves) {
            self.rouse();
        }
        step
    }

    /// Tells the owner of a queue pair at the other end when it has to go on.
    #[cold]
    fn rouse(&self) {
        // A device thread runs the flows of both ends.
        if self.id != DEVICE && self.enter() {
            self.flow.rouse(&mut ViewHost(&self.view), self.owner);
            self.leave();
        }
    }

    /// Runs both directions until neither has more to do.
    fn take_turns(&mut self, budget: u32) -> Option<StepOutcome> {
        let mut packets = 0u32;
        for _ in 0..ROUNDS {
            let out = self.run_one(budget)?;
            let Some(partner) = self.partner.as_mut().filter(|partner| partner.is_wanted()) else {
                return Some(out);
            };
            let back = partner.run_one(budget)?.packets();
            packets = packets.saturating_add(out.packets()).saturating_add(back);
            let again = budget != 0 && (back != 0 || self.is_stalled());
            if !again || matches!(out, StepOutcome::Stalled(_)) && back == 0 {
                return Some(if packets == 0 { out } else { StepOutcome::More(packets) });
            }
        }
        Some(StepOutcome::More(packets))
    }

    fn run_one(&mut self, budget: u32) -> Option<StepOutcome> {
        // Retry regions that cannot be fetched: their owner may be removing them.
        // A device thread has other flows to run in the meantime.
        let tries = if self.id == DEVICE { 1 } else { FETCH_TRIES };
        let mut missed = 0;
        while missed < tries {
            if !self.enter() {
                // The time measured so far was not spent in the engine.
                self.time.end(false);
                return None;
            }
            let step = self.step(budget);
            match step {
                StepOutcome::Stale => {
                    let bound = self.bind();
                    self.leave();
                    if let Err((tx, key)) = bound {
                        missed += u32::from(!self.fetch(tx, key));
                    }
                }
                StepOutcome::Unmapped(tx, key) => {
                    self.leave();
                    missed += u32::from(!self.fetch(tx, key));
                }
                _ => {
                    self.leave();
                    self.due_ns = match step {
                        StepOutcome::Until(at, _) => Some(at),
                        _ => None,
                    };
                    return Some(step);
                }
            }
        }
        None
    }

    /// Moves submissions that were just posted. The owner takes the fast path for the common kinds
    /// of submission; everything else, queue pairs as well, goes through [`Runner::run`].
    #[inline(always)]
    pub fn run_posted(&mut self) {
        match self.flow.move_single(self.id) {
            SingleEnd::Moved => {}
            SingleEnd::Awaited => self.wake_hosts(),
            SingleEnd::Entered => self.sweep(),
            SingleEnd::Refused => self.run_group(),
        }
    }

    #[inline(never)]
    fn run_group(&mut self) {
        if self.owner && self.flow.shared().seat.enter(self.id) {
            self.sweep();
        } else {
            self.run(u32::MAX);
        }
    }

    /// Moves everything that was posted. The seat is held, and left at the end.
    #[inline(never)]
    fn sweep(&mut self) {
        self.time.begin();
        // Steps that are measured all go this way.
        let keep = !self.time.is_on();
        let done = self.flow.sweep(&mut ViewHost(&self.view), keep);
        self.flow.shared().seat.leave();
        if done {
            self.engine_ns += self.time.end(true);
        } else {
            self.run(u32::MAX);
        }
    }

    /// Wakes hosts that are armed. The seat is held, and left at the end.
    #[cold]
    #[inline(never)]
    fn wake_hosts(&mut self) {
        self.flow.wake_due(&mut ViewHost(&self.view));
        self.flow.shared().seat.leave();
    }

    #[inline]
    fn step(&mut self, budget: u32) -> StepOutcome {
        self.time.begin();
        let step = self.flow.step(&mut ViewHost(&self.view), budget);
        self.engine_ns += self.time.end(step.packets() > 0);
        step
    }

    /// Reads configuration and regions again, and asks for the observer's tap.
    #[cold]
    fn bind(&mut self) -> Result<(), (bool, RegionKey)> {
        let tap = self.tapped.and_then(|(endpoint, port, vc, out)| {
            self.view.fetch.observer()?.tap(endpoint, port, vc, out)
        });
        self.flow.set_observer(tap);
        self.flow.bind()
    }

    /// Maps a missing region. False if it cannot be fetched now.
    #[cold]
    fn fetch(&mut self, tx: bool, key: RegionKey) -> bool {
        let endpoint = if tx { self.ends.0 } else { self.ends.1 };
        let mapped = self.view.map_region(endpoint, key);
        if !mapped && self.id != DEVICE {
            // The daemon is gone or has no more mappings: do not spin.
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        mapped
    }

    #[inline(always)]
    fn enter(&self) -> bool {
        let (seat, id) = (&self.flow.shared().seat, self.view.id);
        if !self.owner {
            // While the owner runs the flow there is nothing for a guest to do.
            return seat.busy() == 0 && seat.claim(id, os::heavy_barrier, CLAIM_SPINS);
        }
        let mut turns = 0u32;
        while !seat.enter(id) {
            turns += 1;
            // The guest has planned copies that this thread can make.
            self.flow.help();
            if turns.is_multiple_of(64) {
                std::thread::yield_now();
            }
            if turns > self.patience {
                return false;
            }
        }
        true
    }

    #[inline(always)]
    fn leave(&self) {
        let seat = &self.flow.shared().seat;
        if self.owner { seat.leave() } else { seat.release() }
    }

    /// Participant that the flow works for: the owner of the transmit queue, or of the receive queue
    /// without one.
    pub fn client(&self) -> u32 {
        let view = self.flow.tx_view().or_else(|| self.flow.rx_view());
        view.map_or(0, |view| view.config.owner)
    }

    /// Time from which the engine can do more than in its last run, ns: the next packet of an
    /// instrument.
    pub fn due_ns(&self) -> Option<u64> {
        let partner = self.partner.as_ref().and_then(|partner| partner.due_ns);
        self.due_ns.into_iter().chain(partner).min()
    }

    /// Processor time the engine has taken in this thread, ns; 0 if it is not measured.
    pub fn engine_ns(&self) -> u64 {
        self.engine_ns + self.partner.as_ref().map_or(0, |partner| partner.engine_ns)
    }

    /// Whether the sender has something that waits for a receive buffer.
    #[inline(always)]
    pub fn is_stalled(&self) -> bool {
        self.flow.shared().stalled.load(Ordering::Relaxed) != 0
    }

    /// Whether a queue pair runs this direction beside its own. As a guest it finishes what it has
    /// begun: what its last run left for later is its business until then, and a time that has
    /// passed would end every wait at once.
    fn is_wanted(&self) -> bool {
        let due = |at: u64| at <= self.view.clock().now_ns();
        self.owner || self.is_stalled() || self.due_ns.is_some_and(due)
    }

    /// Whether this runner usually runs the flow.
    pub fn is_owner(&self) -> bool {
        self.owner
    }

    /// Whether there may be something to do. Plain loads of lines that rarely change, for polling.
    #[inline(always)]
    pub fn has_work(&self) -> bool {
        let flow = self.flow.shared();
        self.owner
            || self.is_stalled()
            || flow.asked.load(Ordering::Relaxed) != self.answered
            || flow.board.has_work()
    }

    /// Answers the sender's questions for the distance and takes copy jobs that it shares. Returns
    /// the number of jobs done.
    #[inline]
    pub fn help(&mut self) -> u32 {
        distance::answer(self.flow.shared(), &mut self.answered);
        if !self.flow.shared().board.has_work() {
            return 0;
        }
        if self.flow.is_stale() {
            self.run(0);
        }
        self.time.begin();
        let (jobs, missing) = self.flow.help();
        self.engine_ns += self.time.end(jobs > 0);
        if let Some((tx, key)) = missing {
            self.fetch(tx, key);
        }
        jobs
    }

    /// Whether copies that the other end makes are not published yet. Only the owner may sleep while
    /// they are not: nobody wakes it.
    pub fn is_pending(&self) -> bool {
        self.owner && self.flow.is_pending()
    }

    /// Finishes copies that are under way. The caller has claimed the seat. False if another
    /// participant makes one of them just now.
    pub fn quiesce(&mut self) -> bool {
        if !self.flow.is_pending() {
            return true;
        }
        // Each turn maps one region; a flow has few.
        for _ in 0..64 {
            if self.flow.is_stale() && !self.rebind() {
                return false;
            }
            match self.flow.quiesce(&mut ViewHost(&self.view)) {
                Ok(done) => return done,
                Err((tx, key)) => self.fetch(tx, key),
            };
        }
        false
    }

    /// Wakes hosts whose time threshold has passed. Returns when the next one is due, ns.
    pub fn wake_due(&mut self) -> Option<u64> {
        if !self.enter() {
            return None;
        }
        self.flow.wake_due(&mut ViewHost(&self.view));
        let due = self.flow.deadline();
        self.leave();
        due
    }

    /// Tells both hosts whether the device sleeps and needs a doorbell.
    pub fn set_need_doorbell(&self, on: bool) {
        // Hold the seat: the control plane unmaps rings while it holds it.
        if self.enter() {
            self.flow.set_need_doorbell(on);
            self.leave();
        }
    }

    /// Reads configuration and regions again without a step, because the state may be inconsistent.
    /// The caller has claimed the seat.
    pub fn rebind(&mut self) -> bool {
        // Each iteration maps one region; a flow has few.
        (0..64).any(|_| match self.bind() {
            Ok(()) => true,
            Err((tx, key)) => {
                self.fetch(tx, key);
                false
            }
        })
    }

    /// The flow, for a caller that has claimed its seat.
    pub fn flow_mut(&mut self) -> &mut Flow<FlowSource, FlowSink> {
        &mut self.flow
    }

    /// The flow, for queries that need no seat.
    pub fn flow(&self) -> &Flow<FlowSource, FlowSink> {
        &self.flow
    }
}
