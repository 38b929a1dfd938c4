//! Who runs exact links and the flows at their ends: a device thread, or, in virtual time, whoever
//! waits last.

use super::{Exact, Went};
use spfe_device::flow::StepOutcome;
use spfe_host::clock::Drive;
use spfe_plane::links::LinkDriver;
use spfe_plane::view::{MessageRunner, Runner, View};
use spfe_ring::sync::Ordering;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// Pieces a flow may move before the others get their turn.
const BUDGET: u32 = 64;
/// Messages a port may move before data gets its turn.
const MESSAGES: u32 = 64;

/// A virtual channel of a port in one direction.
struct Channel {
    runner: Runner,
    /// Somebody has a queue here.
    active: bool,
    /// A run found nothing more to do, and nothing has changed at the host's side since.
    rests: bool,
    /// A time at which the engine can do more.
    due_ns: Option<u64>,
}

impl Channel {
    fn new(runner: Runner) -> Self {
        Self { runner, active: false, rests: false, due_ns: None }
    }

    /// Runs the flow; whether anything moved.
    fn run(&mut self) -> bool {
        let step = self.runner.run(BUDGET);
        // Somebody else, the control plane, holds a flow for a moment: look again.
        self.rests = matches!(step, Some(StepOutcome::Idle(_)) if self.is_out());
        step.is_none_or(|step| step.packets() != 0)
    }

    fn is_out(&self) -> bool {
        self.runner.flow().tx_view().is_some()
    }
}

/// A port on an exact link.
struct Port {
    face: usize,
    out: Vec<Channel>,
    into: Vec<Channel>,
    messages: MessageRunner,
}

/// Everything at the ports of exact links.
pub struct Driver {
    exact: Arc<Exact>,
    view: Arc<View>,
    ports: Vec<Port>,
    epoch: Option<u32>,
}

impl Driver {
    /// The driver of a network's exact links, for a participant.
    pub fn new(exact: &Arc<Exact>, view: &Arc<View>) -> Self {
        let mut ports = Vec::new();
        for (e, configs) in view.arena().topology().endpoints.iter().enumerate() {
            for (p, config) in configs.iter().enumerate() {
                let (e, p) = (e as u32, p as u32);
                let Some(face) = exact.face(e, p) else { continue };
                let channels = |make: &dyn Fn(u32) -> Runner| {
                    (0..config.vcs).map(|vc| Channel::new(make(vc))).collect()
                };
                ports.push(Port {
                    face,
                    out: channels(&|vc| view.runner_out(e, p, vc, true)),
                    into: channels(&|vc| view.runner_into(e, p, vc, true)),
                    messages: view.messages_out(e, p),
                });
            }
        }
        Self { exact: exact.clone(), view: view.clone(), ports, epoch: None }
    }

    fn channels(&mut self) -> impl Iterator<Item = &mut Channel> {
        self.ports.iter_mut().flat_map(|port| port.out.iter_mut().chain(&mut port.into))
    }

    fn config_epoch(&self) -> u32 {
        self.view.arena().header().config_epoch.load(Ordering::Acquire)
    }

    /// Looks at which channels have queues, after some have changed.
    fn refresh(&mut self) {
        let epoch = self.config_epoch();
        if self.epoch == Some(epoch) {
            return;
        }
        let mut all = true;
        for channel in self.channels() {
            all &= channel.runner.run(0).is_some();
            channel.active = channel.runner.flow().has_queue();
            if channel.active {
                channel.runner.set_need_doorbell(false);
            }
        }
        // A flow that somebody held is looked at again.
        self.epoch = all.then_some(epoch);
    }

    /// Somebody may have posted anywhere since the last turn.
    fn begin(&mut self) {
        self.refresh();
        for channel in self.channels() {
            channel.rests = false;
        }
    }

    /// Moves what there is between queues and links; whether anything moved.
    fn pump(&mut self) -> bool {
        let mut moved = false;
        for port in &mut self.ports {
            let exact = &*self.exact;
            exact.flush(port.face);
            let waiting = exact.waiting(port.face);
            let into = port.into.iter_mut().enumerate().filter(|(_, channel)| channel.active);
            for (_, channel) in into.filter(|(vc, _)| waiting >> vc & 1 != 0) {
                moved |= channel.run();
            }
            let writable = exact.writable(port.face);
            let out = port.out.iter_mut().enumerate();
            let ready = |channel: &Channel| channel.active && !channel.rests;
            for (_, channel) in
                out.filter(|(vc, channel)| ready(channel) && writable >> vc & 1 != 0)
            {
                moved |= channel.run();
            }
            while let Some(message) = exact.receive(port.face) {
                port.messages.arrive(message);
                moved = true;
            }
            if port.messages.has_work() {
                let carry = &mut |message: &_| exact.send(port.face, message);
                moved |= port.messages.run_over(MESSAGES, carry) != 0;
            }
        }
        moved
    }

    /// Goes on up to a time, at most so many looks at the ports; stops when `stop` is set. `None`:
    /// for as long as anything can happen.
    fn advance(&mut self, until_ns: Option<u64>, looks: u32, stop: &AtomicBool) -> Progress {
        self.begin();
        let mut progress = Progress::default();
        for _ in 0..looks {
            progress.moved |= self.pump();
            if stop.load(Ordering::Acquire) {
                return progress;
            }
            let now = self.exact.now_ns();
            if until_ns.is_some_and(|until| now >= until) {
                progress.reached = true;
                break;
            }
            let went = self.exact.run(until_ns);
            if self.view.clock().is_virtual() {
                let clock = &self.view.arena().header().virtual_ns;
                clock.fetch_max(self.exact.now_ns(), Ordering::AcqRel);
            }
            if went == Went::Still {
                progress.reached = true;
                progress.still = true;
                break;
            }
        }
        progress
    }
}

impl LinkDriver for Driver {
    fn turn(&mut self, now_ns: u64) -> bool {
        let progress = self.advance(Some(now_ns), LOOKS, &AtomicBool::new(false));
        // What is due at a time is waited for.
        let waits = || self.exact.is_still() || self.exact.due_ns().is_some_and(|due| due > now_ns);
        progress.moved || !progress.still && !waits()
    }

    fn due_ns(&self) -> Option<u64> {
        self.exact.due_ns().filter(|due| *due < u64::MAX / 2)
    }

    fn wake_due(&mut self) -> Option<u64> {
        let mut next: Option<u64> = None;
        for channel in self.channels().filter(|channel| channel.active) {
            channel.due_ns = channel.runner.wake_due();
            next = next.into_iter().chain(channel.due_ns).min();
        }
        for port in &mut self.ports {
            port.messages.wake_due();
        }
        next
    }

    fn set_need_doorbell(&mut self, on: bool) {
        for channel in self.channels().filter(|channel| channel.active) {
            channel.runner.set_need_doorbell(on);
        }
        for port in &self.ports {
            port.messages.set_need_doorbell(on);
        }
    }

    fn is_current(&self) -> bool {
        self.epoch == Some(self.config_epoch())
    }
}

/// Looks at the ports in one turn in real time.
const LOOKS: u32 = 64;

/// What came of a turn.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    moved: bool,
    /// The time was reached.
    reached: bool,
    /// Nothing will happen before somebody does something at a port.
    still: bool,
}

/// A driver that a virtual clock runs.
pub struct Shared(Mutex<Driver>);

impl Shared {
    /// For the clock of a network.
    pub fn new(driver: Driver) -> Arc<Self> {
        Arc::new(Self(Mutex::new(driver)))
    }
}

impl Drive for Shared {
    fn advance(&self, until_ns: u64, stop: &AtomicBool) {
        let mut driver = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let until = (until_ns != u64::MAX).then_some(until_ns);
        while !driver.advance(until, u32::MAX, stop).reached && !stop.load(Ordering::Acquire) {}
    }
}
