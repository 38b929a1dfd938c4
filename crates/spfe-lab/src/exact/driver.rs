//! Runs exact links and the flows at their ends: in a device thread, or, in virtual time, in the
//! thread of the participant that waits last.

use super::{Exact, Progress};
use spfe_device::flow::StepOutcome;
use spfe_host::clock::Drive;
use spfe_plane::links::LinkDriver;
use spfe_plane::view::{MessageRunner, Runner, View};
use spfe_ring::sync::Ordering;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of pieces that a flow moves before the next flow runs.
const BUDGET: u32 = 64;
/// Maximum number of messages that a port moves before data does.
const MESSAGES: u32 = 64;

/// A virtual channel of a port in one direction.
struct Channel {
    runner: Runner,
    /// A client has a queue on the channel.
    active: bool,
    /// Time at which the engine can do more, ns.
    due_ns: Option<u64>,
}

impl Channel {
    fn new(runner: Runner) -> Self {
        Self { runner, active: false, due_ns: None }
    }

    /// Runs the flow. Whether anything moved, and whether it found nothing more to do.
    fn run(&mut self) -> (bool, bool) {
        let step = self.runner.run(BUDGET);
        // `None`: the control plane holds the flow for a moment, so try again.
        let rests = matches!(step, Some(StepOutcome::Idle(_)));
        (step.is_none_or(|step| step.packets() != 0), rests)
    }

    /// Whether its queue sends.
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
    /// Virtual channels whose queue may have something to send, a bit for each.
    sends: u32,
    /// The port may have messages to send.
    has_messages: bool,
}

impl Port {
    /// Whether it may have something to send.
    fn may_send(&self) -> bool {
        self.sends != 0 || self.has_messages
    }
}

/// The exact links of a network and the flows at their ends.
pub struct Driver {
    exact: Arc<Exact>,
    view: Arc<View>,
    /// By the number of their face.
    ports: Vec<Port>,
    /// Faces at which there may be something to do.
    busy: Vec<usize>,
    /// Ports that may have something to send, in order, and those of the next round.
    sending: Vec<usize>,
    next: Vec<usize>,
    epoch: Option<u32>,
}

impl Driver {
    /// The driver of a network's exact links, as a participant.
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
                    sends: 0,
                    has_messages: false,
                });
            }
        }
        ports.sort_by_key(|port| port.face);
        debug_assert!(ports.iter().zip(0..).all(|(port, face)| port.face == face));
        let (exact, view) = (exact.clone(), view.clone());
        let [busy, sending, next] = [(); 3].map(|()| Vec::with_capacity(ports.len()));
        Self { exact, view, ports, busy, sending, next, epoch: None }
    }

    fn channels(&mut self) -> impl Iterator<Item = &mut Channel> {
        self.ports.iter_mut().flat_map(|port| port.out.iter_mut().chain(&mut port.into))
    }

    fn config_epoch(&self) -> u32 {
        self.view.arena().header().config_epoch.load(Ordering::Acquire)
    }

    /// Updates which channels have queues, after queues have changed.
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
        // A flow whose seat was taken is retried next time.
        self.epoch = all.then_some(epoch);
    }

    /// Starts a turn: hosts may have posted on any channel since the last one.
    fn begin(&mut self) {
        self.refresh();
        self.sending.clear();
        for port in &mut self.ports {
            let active = port.out.iter().enumerate().filter(|(_, channel)| channel.active);
            port.sends = active.fold(0, |mask, (vc, _)| mask | 1 << vc);
            port.has_messages = port.messages.has_work();
            if port.may_send() {
                self.sending.push(port.face);
            }
        }
    }

    /// Moves packets and messages between queues and links. Whether anything moved.
    fn pump(&mut self) -> bool {
        let mut moved = false;
        let exact = &*self.exact;
        exact.busy_faces(&mut self.busy);
        // Both lists in the order of the ports, each port once.
        let (mut busy, mut sending) = (self.busy.iter().peekable(), 0);
        loop {
            let next = busy.peek().copied().into_iter().chain(self.sending.get(sending)).min();
            let Some(face) = next.copied() else { break };
            let is_busy = busy.next_if_eq(&&face).is_some();
            sending += usize::from(self.sending.get(sending) == Some(&face));
            let port = &mut self.ports[face];
            if is_busy {
                exact.flush(port.face);
                let waiting = exact.waiting(port.face);
                let into = port.into.iter_mut().enumerate().filter(|(_, channel)| channel.active);
                let mut arrived = 0u32;
                for (vc, channel) in into.filter(|(vc, _)| waiting >> vc & 1 != 0) {
                    let any = channel.run().0;
                    arrived |= u32::from(any) << vc;
                    moved |= any;
                }
                // A queue pair may have something to send after what arrived.
                let active = port.out.iter().enumerate().filter(|(_, channel)| channel.active);
                port.sends |= arrived & active.fold(0, |mask, (vc, _)| mask | 1 << vc);
            }
            let writable = exact.writable(port.face) & port.sends;
            let out = port.out.iter_mut().enumerate();
            for (vc, channel) in out.filter(|(vc, _)| writable >> vc & 1 != 0) {
                let (any, rests) = channel.run();
                moved |= any;
                if rests && channel.is_out() {
                    port.sends &= !(1 << vc);
                }
            }
            while is_busy && let Some(message) = exact.receive(port.face) {
                port.messages.arrive(message);
                moved = true;
            }
            port.has_messages = port.messages.has_work();
            if port.has_messages {
                let carry = &mut |message: &_| exact.send(port.face, message);
                moved |= port.messages.run_over(MESSAGES, carry) != 0;
            }
            if port.may_send() {
                self.next.push(face);
            }
        }
        std::mem::swap(&mut self.sending, &mut self.next);
        self.next.clear();
        moved
    }

    /// Runs links and flows up to a time, in at most `rounds` rounds over the ports, and stops early
    /// when `stop` is set. Without a time it runs while there are events.
    fn advance(&mut self, until_ns: Option<u64>, rounds: u32, stop: &AtomicBool) -> Turn {
        self.begin();
        let mut turn = Turn::default();
        for _ in 0..rounds {
            turn.moved |= self.pump();
            if stop.load(Ordering::Acquire) {
                return turn;
            }
            let now = self.exact.now_ns();
            if until_ns.is_some_and(|until| now >= until) {
                turn.reached = true;
                break;
            }
            let progress = self.exact.run(until_ns);
            if self.view.clock().is_virtual() {
                let clock = &self.view.arena().header().virtual_ns;
                clock.fetch_max(self.exact.now_ns(), Ordering::AcqRel);
            }
            if progress == Progress::Blocked {
                turn.reached = true;
                turn.blocked = true;
                break;
            }
        }
        turn
    }
}

impl LinkDriver for Driver {
    fn turn(&mut self, now_ns: u64) -> bool {
        self.exact.set_zero(self.view.clock().now_ns().saturating_sub(now_ns));
        let turn = self.advance(Some(now_ns), ROUNDS, &AtomicBool::new(false));
        // Events at a later time do not need another turn now.
        let waits = || self.exact.is_still() || self.exact.due_ns().is_some_and(|due| due > now_ns);
        turn.moved || !turn.blocked && !waits()
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

/// Maximum number of rounds over the ports in one turn in real time.
const ROUNDS: u32 = 64;

/// Result of a turn.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    moved: bool,
    /// The time was reached, or no event will happen before a port acts.
    reached: bool,
    /// No event will happen before a port acts.
    blocked: bool,
}

/// A driver that a virtual clock runs.
pub struct Shared(Mutex<Driver>);

impl Shared {
    /// Wraps a driver for the clock of a network.
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
