//! A thread that takes the place of the hardware. It runs every flow of a network of mode thread; in
//! the other modes only the flows at exact links.
//!
//! While there is work it polls the rings. After a while without work it requests doorbells, polls
//! once more, and sleeps until a doorbell or the earliest deadline.
//!
//! Its time is shared by client: in each turn a client has the same time, however many queues it has
//! and whatever it sends. A step of a flow copies a bounded number of bytes
//! ([`StepLimits`](spfe_device::step::StepLimits)), so that nobody waits longer than the other
//! clients' turns.

use crate::arena::DEVICE;
use crate::bells::Bells;
use crate::links::LinkDriver;
use crate::network::Network;
use crate::view::{MessageRunner, Runner, View};
use spfe_device::flow::StepOutcome;
use spfe_host::{Mode, Peer, os};
use spfe_ring::sync::{AtomicU32, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Maximum number of pieces that a flow moves before the next flow runs.
const BUDGET: u32 = 16;
/// Maximum number of messages that a port moves before the next port does.
const MESSAGES: u32 = 64;
/// Time of a client in one turn, ns. The step in which it passes, and the first, are not cut short.
const CLIENT_NS: u64 = 50_000;
/// How long to poll without work before sleeping, ns: about the cost of one sleep and wake-up.
const SPIN_NS: u64 = 20_000;

/// A running device thread. Dropping it stops the thread.
pub struct DeviceThread {
    stop: Arc<AtomicU32>,
    bells: Arc<Bells>,
    thread: Option<JoinHandle<()>>,
    /// Processor time of the thread after its end, ns.
    cpu_ns: Arc<spfe_ring::sync::AtomicU64>,
}

impl DeviceThread {
    /// Starts a thread for a network of packet-level links.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn start(network: &Arc<Network>) -> std::io::Result<Self> {
        Self::start_with(network, |_| None)
    }

    /// Starts a thread that runs the packet-level links of a network of mode thread, and the exact
    /// links of the driver that `driver` returns.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn start_with(
        network: &Arc<Network>,
        driver: impl FnOnce(&Arc<View>) -> Option<Box<dyn LinkDriver>>,
    ) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicU32::new(0));
        let cpu_ns = Arc::new(spfe_ring::sync::AtomicU64::new(0));
        let bells = network.bells().clone();
        let view = network.view(DEVICE);
        let exact = driver(&view);
        let mut device = Device::new(view, exact, bells.clone(), stop.clone(), cpu_ns.clone());
        let thread =
            std::thread::Builder::new().name("spfe-device".into()).spawn(move || device.run())?;
        Ok(Self { stop, bells, thread: Some(thread), cpu_ns })
    }

    /// Processor time of the thread in ns, up to this moment.
    pub fn cpu_ns(&self) -> u64 {
        let running = self.thread.as_ref().and_then(os::cpu_ns_of);
        running.unwrap_or_else(|| self.cpu_ns.load(Ordering::Relaxed))
    }
}

impl Drop for DeviceThread {
    fn drop(&mut self) {
        self.stop.store(1, Ordering::Release);
        self.bells.own().ring();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Device {
    view: Arc<View>,
    bells: Arc<Bells>,
    stop: Arc<AtomicU32>,
    cpu_ns: Arc<spfe_ring::sync::AtomicU64>,
    flows: Vec<Runner>,
    messages: Vec<MessageRunner>,
    /// The flows with queues, by client.
    clients: Vec<ClientFlows>,
    epoch: Option<u32>,
    /// Driver of the exact links, and the time at which it started, ns.
    exact: Option<Box<dyn LinkDriver>>,
    start_ns: u64,
}

/// The flows that work for a client.
struct ClientFlows {
    /// Participant id: the owner of the transmit queue, or of the receive queue without one.
    client: u32,
    /// Indices in [`Device::flows`].
    flows: Vec<usize>,
    /// The flow that runs first in the next turn.
    next: usize,
}

/// Result of one turn over all flows.
#[derive(Default)]
struct Turn {
    moved: bool,
    until: Option<u64>,
}

impl ClientFlows {
    /// Runs the client's flows in turn until none has more to do, or until its time is up.
    fn serve(&mut self, flows: &mut [Runner], view: &View, turn: &mut Turn) {
        let mut since = None;
        // Number of flows to run before the client is known to have no more work.
        let mut left = self.flows.len();
        while left > 0 {
            let step = flows[self.flows[self.next]].run(BUDGET);
            self.next = (self.next + 1) % self.flows.len();
            left -= 1;
            let moved = match step {
                Some(StepOutcome::Until(at, packets)) => {
                    turn.until = Some(turn.until.map_or(at, |was| was.min(at)));
                    packets > 0
                }
                // Refused entries count as no packets, but more work may follow.
                Some(StepOutcome::More(_)) => {
                    left = self.flows.len();
                    true
                }
                Some(step) => step.packets() > 0,
                // The control plane has the flow for a moment.
                None => {
                    turn.moved = true;
                    false
                }
            };
            if moved {
                turn.moved = true;
                let now = view.clock().now_ns();
                if now - *since.get_or_insert(now) >= CLIENT_NS {
                    return;
                }
            }
        }
    }
}

impl Device {
    fn new(
        view: Arc<View>,
        exact: Option<Box<dyn LinkDriver>>,
        bells: Arc<Bells>,
        stop: Arc<AtomicU32>,
        cpu_ns: Arc<spfe_ring::sync::AtomicU64>,
    ) -> Self {
        let (flows, messages) = if view.arena().topology().mode == Mode::Thread {
            Self::runners(&view)
        } else {
            Default::default()
        };
        let start_ns = view.clock().now_ns();
        let (clients, epoch) = (Vec::new(), None);
        Self { view, bells, stop, cpu_ns, flows, messages, clients, epoch, exact, start_ns }
    }

    /// A runner for each flow of packet-level links: out of each port, and into ports whose far end
    /// is an instrument.
    fn runners(view: &Arc<View>) -> (Vec<Runner>, Vec<MessageRunner>) {
        let topology = view.arena().topology();
        let (mut flows, mut messages) = (Vec::new(), Vec::new());
        for (e, ports) in topology.endpoints.iter().enumerate() {
            for (p, port) in ports.iter().enumerate().filter(|(_, port)| !port.is_exact()) {
                let (e, p) = (e as u32, p as u32);
                messages.push(view.messages_out(e, p));
                for vc in 0..port.vcs {
                    match port.peer {
                        peer if peer.answers() => {
                            let (out, into) = view.runners_answering(e, p, vc);
                            flows.extend([out, into]);
                        }
                        Peer::Generator { .. } => flows.push(view.runner_into(e, p, vc, true)),
                        _ => flows.push(view.runner_out(e, p, vc, true)),
                    }
                }
            }
        }
        (flows, messages)
    }

    fn run(&mut self) {
        let mut idle_since = None;
        while self.stop.load(Ordering::Acquire) == 0 {
            self.refresh();
            let turn = self.turn();
            if turn.moved {
                idle_since = None;
                continue;
            }
            let now = self.view.clock().now_ns();
            let since = *idle_since.get_or_insert(now);
            if now.saturating_sub(since) < SPIN_NS {
                // The hosts may need this core to post more work.
                std::thread::yield_now();
                continue;
            }
            idle_since = None;
            self.sleep();
        }
        self.cpu_ns.store(os::thread_cpu_ns(), Ordering::Relaxed);
    }

    /// Updates the list of flows with queues at both ends, after queues have changed.
    fn refresh(&mut self) {
        let epoch = self.view.arena().header().config_epoch.load(Ordering::Acquire);
        if self.epoch == Some(epoch) {
            return;
        }
        self.clients.clear();
        let mut all = true;
        for (index, runner) in self.flows.iter_mut().enumerate() {
            // Binds the flow; moves nothing.
            all &= runner.run(0).is_some();
            if runner.flow().is_active() {
                // It may still be set in the memory of a queue that was started again.
                runner.set_need_doorbell(false);
                let client = runner.client();
                match self.clients.iter_mut().find(|flows| flows.client == client) {
                    Some(flows) => flows.flows.push(index),
                    None => self.clients.push(ClientFlows { client, flows: vec![index], next: 0 }),
                }
            }
        }
        // A flow whose seat was taken is retried in the next turn.
        self.epoch = all.then_some(epoch);
    }

    fn is_current(&self) -> bool {
        self.epoch == Some(self.view.arena().header().config_epoch.load(Ordering::Acquire))
    }

    fn turn(&mut self) -> Turn {
        let mut turn = Turn::default();
        for client in &mut self.clients {
            client.serve(&mut self.flows, &self.view, &mut turn);
        }
        for messages in &mut self.messages {
            if messages.has_work() {
                turn.moved |= messages.run(MESSAGES) > 0;
            }
        }
        if let Some(exact) = &mut self.exact {
            turn.moved |= exact.turn(self.view.clock().now_ns() - self.start_ns);
        }
        turn
    }

    /// Requests doorbells, polls once more, sleeps.
    fn sleep(&mut self) {
        self.need_doorbell(true);
        os::heavy_barrier();
        let turn = self.turn();
        let mut until = turn.until;
        for &index in self.clients.iter().flat_map(|client| &client.flows) {
            let due = self.flows[index].wake_due();
            until = until.into_iter().chain(due).min();
        }
        for messages in &mut self.messages {
            messages.wake_due();
        }
        if let Some(exact) = &mut self.exact {
            let due = exact.due_ns().map(|due| self.start_ns.saturating_add(due));
            until = until.into_iter().chain(exact.wake_due()).chain(due).min();
        }
        // A later change of the queues rings a doorbell, which ends the sleep even if it comes first.
        let current = self.exact.as_ref().is_none_or(|exact| exact.is_current());
        let idle = !turn.moved && current && self.is_current();
        if idle && self.stop.load(Ordering::Acquire) == 0 {
            // Wake up once a second in any case.
            let beat = os::now_ns() + 1_000_000_000;
            self.bells.wait(until.map_or(beat, |at| at.min(beat)));
        }
        self.need_doorbell(false);
    }

    fn need_doorbell(&mut self, on: bool) {
        if let Some(exact) = &mut self.exact {
            exact.set_need_doorbell(on);
        }
        for &index in self.clients.iter().flat_map(|client| &client.flows) {
            self.flows[index].set_need_doorbell(on);
        }
        for messages in &self.messages {
            messages.set_need_doorbell(on);
        }
    }
}
