//! A flow, run by one participant.

use super::{View, ViewHost};
use crate::engine_time::EngineTime;
use crate::instrument::{FlowSink, FlowSource};
use spfe_device::flow::{Flow, StepOutcome};
use spfe_device::shared::FlowShared;
use spfe_host::{RegionKey, os};
use spfe_ring::sync::Ordering;
use std::sync::Arc;

/// Turns a guest waits for the owner to leave the seat.
const CLAIM_SPINS: u32 = 200;
/// Times a region that cannot be mapped is asked for, a millisecond apart.
const FETCH_TRIES: u32 = 64;

/// A flow, driven by this process.
pub struct Runner {
    flow: Flow<FlowSource, FlowSink>,
    view: Arc<View>,
    ends: (u32, u32),
    /// Endpoint, port, virtual channel, out of it or into it, where the link is packet level.
    tapped: Option<(u32, u32, u32, bool)>,
    owner: bool,
    id: u32,
    time: EngineTime,
    engine_ns: u64,
    /// When the engine could do more than at its last run, ns.
    due_ns: Option<u64>,
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
        Self { flow, view, ends, tapped: None, owner, id, time, engine_ns: 0, due_ns: None }
    }

    /// Lets the network's observer tap the flow out of a port, or into it.
    pub(super) fn observe(&mut self, endpoint: u32, port: u32, vc: u32, out: bool) {
        self.tapped = Some((endpoint, port, vc, out));
    }

    /// The state all runners of the flow share.
    pub fn shared(&self) -> &'static FlowShared {
        self.flow.shared()
    }

    /// Runs the engine for at most `budget` pieces, and as many again after each region that had to
    /// be mapped first. `None` if somebody else holds the seat, or if a region it needs cannot be
    /// mapped (its daemon is gone).
    #[inline(never)]
    pub fn run(&mut self, budget: u32) -> Option<StepOutcome> {
        // Regions that cannot be had are retried for a while: their owner may be removing them.
        let mut missed = 0;
        while missed < FETCH_TRIES {
            if !self.enter() {
                // What was begun did not come to anything.
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

    /// What a poster does after posting: the common case without detours, everything else through
    /// [`Runner::run`].
    #[inline(always)]
    pub fn run_posted(&mut self) {
        let seat = &self.flow.shared().seat;
        if self.owner && seat.enter(self.id) {
            self.time.begin();
            let done = self.flow.sweep(&mut ViewHost(&self.view));
            seat.leave();
            if done {
                self.engine_ns += self.time.end(true);
                return;
            }
        }
        self.run(u32::MAX);
    }

    #[inline]
    fn step(&mut self, budget: u32) -> StepOutcome {
        self.time.begin();
        let step = self.flow.step(&mut ViewHost(&self.view), budget);
        self.engine_ns += self.time.end(step.packets() > 0);
        step
    }

    /// Reads configuration and regions again, and whether somebody looks on.
    #[cold]
    fn bind(&mut self) -> Result<(), (bool, RegionKey)> {
        let tap = self.tapped.and_then(|(endpoint, port, vc, out)| {
            self.view.fetch.observer()?.tap(endpoint, port, vc, out)
        });
        self.flow.set_observer(tap);
        self.flow.bind()
    }

    /// Gets a region that is missing here; false if it cannot be had (now).
    #[cold]
    fn fetch(&mut self, tx: bool, key: RegionKey) -> bool {
        let endpoint = if tx { self.ends.0 } else { self.ends.1 };
        let mapped = self.view.map_region(endpoint, key);
        if !mapped {
            // The daemon is gone or out of mappings: do not spin on it.
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        mapped
    }

    #[inline(always)]
    fn enter(&self) -> bool {
        let (seat, id) = (&self.flow.shared().seat, self.view.id);
        if !self.owner {
            // With the owner inside there is nothing for a guest to do.
            return seat.busy() == 0 && seat.claim(id, os::heavy_barrier, CLAIM_SPINS);
        }
        let mut turns = 0u32;
        while !seat.enter(id) {
            turns += 1;
            if turns.is_multiple_of(64) {
                std::thread::yield_now();
            }
            if turns > 1 << 20 {
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

    /// When the engine could do more than at its last run, ns: an instrument's next packet.
    pub fn due_ns(&self) -> Option<u64> {
        self.due_ns
    }

    /// Processor time the engine has taken in this thread, ns; 0 if it is not measured.
    pub fn engine_ns(&self) -> u64 {
        self.engine_ns
    }

    /// Whether the sender has something that waits for a receive buffer.
    #[inline(always)]
    pub fn is_stalled(&self) -> bool {
        self.flow.shared().stalled.load(Ordering::Relaxed) != 0
    }

    /// Whether this runner usually runs the flow.
    pub fn is_owner(&self) -> bool {
        self.owner
    }

    /// Whether there may be something to do (a plain look, for polling).
    #[inline(always)]
    pub fn has_work(&self) -> bool {
        self.owner || self.is_stalled() || self.flow.shared().board.has_work()
    }

    /// Helps with copies somebody else shares out. Returns jobs done.
    #[inline]
    pub fn help(&mut self) -> u32 {
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

    /// Wakes hosts whose time has come; returns when the next one is due.
    pub fn wake_due(&mut self) -> Option<u64> {
        if !self.enter() {
            return None;
        }
        self.flow.wake_due(&mut ViewHost(&self.view));
        let due = self.flow.deadline();
        self.leave();
        due
    }

    /// Tells both hosts whether the device sleeps and wants a doorbell.
    pub fn set_need_doorbell(&self, on: bool) {
        // In the seat: rings may be taken away by who holds it.
        if self.enter() {
            self.flow.set_need_doorbell(on);
            self.leave();
        }
    }

    /// Reads configuration and regions again without a step, for who has claimed the seat: the
    /// state may be torn.
    pub fn rebind(&mut self) -> bool {
        // Each turn maps one region; a flow has few.
        (0..64).any(|_| match self.bind() {
            Ok(()) => true,
            Err((tx, key)) => {
                self.fetch(tx, key);
                false
            }
        })
    }

    /// The flow, for who has claimed its seat.
    pub fn flow_mut(&mut self) -> &mut Flow<FlowSource, FlowSink> {
        &mut self.flow
    }

    /// The flow, for looks that need no seat.
    pub fn flow(&self) -> &Flow<FlowSource, FlowSink> {
        &self.flow
    }
}
