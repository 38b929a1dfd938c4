//! Queue pairs: work requests of a ring as packets of SFRP, and packets as completions.
//!
//! An [`RdmaChannel`] is the queue pair of a virtual channel of a port. It is the sending end of the
//! flow out of the port and the receiving end of the flow into it, so it has a lock of its own: the
//! two flows can run at the same time. It lives in the process that runs the flows; modes in which
//! several processes run them have no queue pairs.
//!
//! | module | content |
//! | --- | --- |
//! | [`entry`] | work requests as they lie in a ring |
//! | `memory`, `keys` | registered memory, and which regions are in use |
//! | [`setup`] | registers and statuses |
//! | [`window`] | remote keys |
//! | [`target`] | a target without queues |
//! | `send`, `receive` | the two queues |
//! | `ends` | the channel as source and sink of two flows |
//! | `direct` | packets that are handed over, in one copy |
//! | `near`, `far` | requests that need no packets, and the memory that they use |
//! | `results` | what became of requests, and their completions |

mod direct;
mod ends;
pub mod entry;
mod far;
mod keys;
mod memory;
mod near;
mod receive;
mod results;
mod send;
pub mod setup;
pub mod target;
pub mod window;

pub use ends::{RdmaSink, RdmaSource};

use crate::memory::{RegionKey, RegionMap, Regions};
use crate::queue::{CompletionTime, Host, QueueView, bind_view};
use crate::shared::{FlowShared, QueueConfig};
use keys::KeysInUse;
use memory::{Mapped, ServedMemory};
use receive::ReceiveSide;
use send::SendSide;
use spfe_contract::{PairCounter, QueueState, Status};
use spfe_proto::PacketEnd;
use spfe_rdma::initiator::InitiatorOutcome;
use spfe_rdma::{RdmaInitiator, RdmaTarget};
use spfe_ring::sync::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use target::Alone;

/// Device time, ns.
pub type DeviceClock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Virtual channel of the target's responses: a queue pair has only the one it arrives on.
const VC: u8 = 0;

/// The queue pair of a virtual channel.
pub struct RdmaChannel {
    state: Mutex<ChannelState>,
    /// Held while a packet is handed over, in either direction: then the states of both ends are locked
    /// at the same time.
    gate: Mutex<()>,
    out: &'static FlowShared,
    into: &'static FlowShared,
    /// Until when the thread that sends the requests sleeps, unless it is woken, ns.
    known_ns: AtomicU64,
}

#[derive(Default)]
struct ChannelState {
    send: Option<QueueConfig>,
    receive: Option<QueueConfig>,
    pair: Option<Pair>,
    /// The packet that is being sent, and how many of its bytes the far end has.
    packet: Vec<u8>,
    sent: u32,
    busy: bool,
    /// The packet that is arriving.
    arriving: Vec<u8>,
    open: bool,
}

/// The engines of a queue pair, while it has a queue.
struct Pair {
    send: SendSide,
    receive: ReceiveSide,
    target: RdmaTarget,
    keys: KeysInUse,
    queue: u16,
    /// Longest packet that is kept, and one byte more to detect longer ones.
    kept_max: usize,
    /// It is a target without queues.
    alone: Option<Alone>,
}

impl Pair {
    fn new(send: SendSide, target: RdmaTarget, queue: u16) -> Self {
        let longest = spfe_proto::sfrp::HEADER_MAX
            + target.options().segment_bytes as usize
            + spfe_proto::sfrp::PAYLOAD_CRC_BYTES;
        let (receive, keys) = (ReceiveSide::default(), KeysInUse::default());
        Self { send, receive, target, keys, queue, kept_max: longest + 1, alone: None }
    }

    fn counters(&self) -> impl Iterator<Item = (PairCounter, u64)> {
        let own = self.send.initiator.counts().numbered();
        own.into_iter().chain(self.target.counts().numbered())
    }
}

/// What a queue pair waits for and has counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairReport {
    /// Participant that opened it.
    pub owner: u32,
    /// Its number.
    pub queue: u16,
    /// Requests that have not completed.
    pub outstanding: u32,
    /// What it waits for, as a sentence that names the partner.
    pub waiting: String,
    /// Counters of its requests, and of those of others, in the order of the contract.
    pub counters: Vec<(PairCounter, u64)>,
}

/// The queues of a channel as a runner sees them.
#[derive(Clone, Copy, Default)]
struct Views {
    send: Option<QueueView>,
    receive: Option<QueueView>,
    /// Domain of a target without queues.
    alone: u16,
}

impl RdmaChannel {
    /// The channel between the flow out of a port and the flow into it.
    pub fn new(out: &'static FlowShared, into: &'static FlowShared) -> Self {
        let (state, gate, known_ns) =
            (Mutex::default(), Mutex::default(), AtomicU64::new(u64::MAX));
        Self { state, gate, out, into, known_ns }
    }

    /// The flow out of the port.
    fn out(&self) -> &'static FlowShared {
        self.out
    }

    fn lock(&self) -> MutexGuard<'_, ChannelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for, and keeps, the right to lock the states of both ends.
    pub(crate) fn gate(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the time until which the thread that sends the requests does not look at them, ns.
    ///
    /// It sets the end of time before it looks, and what it has found afterwards. Then a change that it
    /// does not see is compared with the end of time: the lock of the state orders the two.
    pub fn set_known(&self, ns: u64) {
        self.known_ns.store(ns, Ordering::Relaxed);
    }

    /// Wakes the thread that sends the requests if they can go on earlier than it knows. Another thread
    /// calls this after it has changed that: it may not come back.
    fn rouse<H: Host>(&self, views: &Views, host: &mut H, now_ns: u64) {
        let at = self.lock().pair.as_ref().map_or(u64::MAX, |pair| pair.send.wake_ns(now_ns));
        let queues = [&views.send, &views.receive].into_iter().flatten();
        // A thread that is not armed looks once more before it sleeps.
        let mut armed = queues.filter(|view| view.host_line().armed().is_some()).peekable();
        if armed.peek().is_some() && at < self.known_ns.load(Ordering::Relaxed) {
            // Before the wake-up, so that it does not replace what the thread finds.
            self.set_known(at);
            armed.for_each(|view| view.rouse(host));
        }
    }

    /// Whether the channel has a queue.
    pub fn is_open(&self) -> bool {
        self.lock().pair.is_some()
    }

    /// What the queue pair waits for; `None` if none is open.
    pub fn report(&self, now_ns: u64) -> Option<PairReport> {
        let state = &*self.lock();
        let pair = state.pair.as_ref()?;
        let owner = state.send.or(state.receive).map_or(0, |config| config.owner);
        let initiator = &pair.send.initiator;
        Some(PairReport {
            owner,
            queue: pair.queue,
            outstanding: initiator.outstanding() as u32,
            waiting: initiator.why_text(now_ns),
            counters: pair.counters().collect(),
        })
    }

    /// What the queue pair has counted, in the order of the contract; `None` if none is open.
    pub fn counters(&self) -> Option<Vec<(PairCounter, u64)>> {
        self.lock().pair.as_ref().map(|pair| pair.counters().collect())
    }

    /// The configuration of one of the two queues.
    pub fn config(&self, send: bool) -> Option<QueueConfig> {
        let state = self.lock();
        if send { state.send } else { state.receive }
    }

    /// Opens one of the two queues. The control plane changes the epochs of both flows afterwards.
    ///
    /// # Errors
    /// BAD_FIELD for registers out of range, BUSY if the queue is open, or if the other one belongs to
    /// another client or queue pair.
    pub fn open(&self, send: bool, config: QueueConfig) -> Result<(), Status> {
        let options = setup::options(&config)?;
        let state = &mut *self.lock();
        let (own, other) = match send {
            true => (&mut state.send, &state.receive),
            false => (&mut state.receive, &state.send),
        };
        let fits = |other: &QueueConfig| {
            (other.owner, other.pair, other.domain) == (config.owner, config.pair, config.domain)
        };
        let alone = state.pair.as_ref().is_some_and(|pair| pair.alone.is_some());
        if alone || own.is_some() || !other.as_ref().is_none_or(fits) {
            return Err(Status::Busy);
        }
        *own = Some(config);
        let queue = options.queue;
        let pair = state.pair.get_or_insert_with(|| {
            let mut target = RdmaTarget::new(setup::target(&options));
            target.set_vcs(1);
            Pair::new(SendSide::new(RdmaInitiator::new(options.clone())), target, queue)
        });
        if send {
            pair.send = SendSide::new(RdmaInitiator::new(options));
        } else {
            pair.target.open_queue(queue).map_err(|_| Status::BadField)?;
        }
        Ok(())
    }

    /// Closes a queue. The control plane changes the epochs of both flows, and takes both seats,
    /// before the memory has another use.
    pub fn close(&self, send: bool) {
        let state = &mut *self.lock();
        if send {
            state.send = None;
            if let Some(pair) = &mut state.pair {
                window::unbind_all(&mut pair.target, &mut pair.keys);
            }
        } else {
            state.receive = None;
            if let Some(pair) = &mut state.pair {
                pair.target.close_queue(pair.queue);
                pair.receive = ReceiveSide::default();
            }
        }
        if state.send.is_none() && state.receive.is_none() {
            state.pair = None;
        }
    }

    /// The queues as a runner of this process sees them; `None` without any. `Err` names a region to
    /// map first, with `tx` passed on.
    fn bind(&self, regions: &Regions, tx: bool) -> Result<Option<Views>, (bool, RegionKey)> {
        let state = &mut *self.lock();
        let Some(pair) = &mut state.pair else { return Ok(None) };
        pair.keys.set_changed();
        let alone = pair.alone.as_ref().map_or(0, |alone| alone.domain);
        let view = |config: Option<QueueConfig>| match config {
            Some(config) => bind_view(config, regions, tx),
            None => Ok(None),
        };
        Ok(Some(Views { send: view(state.send)?, receive: view(state.receive)?, alone }))
    }

    /// Completes everything of a queue with a status, for a reset. Returns the number of submissions.
    fn flush(&self, send: bool, views: &Views, map: &RegionMap, status: Status) -> u32 {
        let state = &mut *self.lock();
        let Some(pair) = &mut state.pair else { return 0 };
        let time = CompletionTime::None;
        match (send, &views.send, &views.receive) {
            (true, Some(view), _) => {
                let flushed = pair.send.flush(view, map, status);
                pair.send.results.publish(view, &mut pair.send.at, &self.out.tx_count, time);
                flushed
            }
            (false, _, Some(view)) => pair.receive.flush(view, status, time),
            _ => 0,
        }
    }
}

impl ChannelState {
    /// Reads both rings. `Err` names a region to map first.
    fn fetch(&mut self, views: &Views, map: &RegionMap) -> Result<(), RegionKey> {
        let Some(pair) = &mut self.pair else { return Ok(()) };
        if let Some(key) = pair.keys.unmapped(map) {
            return Err(key);
        }
        if let Some(view) = &views.receive {
            pair.receive.fetch(view, map, &mut pair.keys, &mut pair.target, pair.queue)?;
        }
        match &views.send {
            Some(view) => pair.send.fetch(view, map, &mut pair.keys, &mut pair.target),
            None => Ok(()),
        }
    }

    /// Writes all completions.
    fn publish(&mut self, channel: &RdmaChannel, views: &Views, time: CompletionTime) {
        let Some(pair) = &mut self.pair else { return };
        if let Some(alone) = &mut pair.alone {
            alone.tell(&pair.target);
        }
        pair.send.collect(&mut pair.keys);
        if let Some(view) = &views.send {
            pair.send.results.publish(view, &mut pair.send.at, &channel.out.tx_count, time);
        }
        if let Some(view) = &views.receive {
            let target = (&mut pair.target, pair.queue);
            let count = &channel.into.rx_count;
            pair.receive.publish(view, &mut pair.keys, target, count, time);
        }
    }

    /// Writes the next packet. False if there is none now.
    fn transmit(&mut self, views: &Views, map: &RegionMap, now_ns: u64) -> bool {
        let Some(pair) = &mut self.pair else { return false };
        let ready = pair.target.ready_ns(VC).is_some_and(|ready| ready <= now_ns);
        let served = ServedMemory(Mapped { map, domain: views.domain() });
        if ready && pair.target.respond_with(VC, &served, &mut self.packet).is_some() {
            return true;
        }
        let Some(view) = &views.send else { return false };
        let memory = Mapped { map, domain: view.config.domain as u16 };
        pair.send.transmit(now_ns, &memory, &mut self.packet, &mut pair.keys)
    }

    /// When the next packet can be sent; the end of time if nothing is outstanding.
    fn wake_ns(&self, now_ns: u64) -> u64 {
        let Some(pair) = &self.pair else { return u64::MAX };
        let response = pair.target.ready_ns(VC).unwrap_or(u64::MAX);
        pair.send.wake_ns(now_ns).min(response)
    }

    /// Takes the packet that has arrived.
    fn arrived(&mut self, views: &Views, map: &RegionMap, end: PacketEnd, now_ns: u64) -> bool {
        let Some(pair) = &mut self.pair else { return false };
        let packet = &self.arriving[..];
        let response = packet.get(3).is_some_and(|code| code & 0x80 != 0);
        let credit = spfe_proto::sfrp::Opcode::Credit as u8;
        if !response && packet.get(3) != Some(&credit) {
            let mut served = ServedMemory(Mapped { map, domain: views.domain() });
            let handled = pair.target.handle_with(packet, end, VC, now_ns, &mut served);
            return matches!(
                handled,
                spfe_rdma::target::Handled::Executed(_) | spfe_rdma::target::Handled::Repeated(_)
            );
        }
        let mut memory = Mapped { map, domain: views.domain() };
        match pair.send.initiator.handle(packet, end, now_ns, &mut memory) {
            InitiatorOutcome::Taken => true,
            InitiatorOutcome::Stale | InitiatorOutcome::Invalid => false,
            InitiatorOutcome::Answer(number, answer) => {
                pair.send.answer(number, answer, &mut memory, &mut pair.keys);
                true
            }
        }
    }

    /// Wakes hosts whose thresholds are met, and shows what the queue pair waits for.
    fn notify<H: Host>(&mut self, channel: &RdmaChannel, views: &Views, host: &mut H, now_ns: u64) {
        let Some(pair) = &mut self.pair else { return };
        if let Some(view) = &views.send {
            pair.send.show(view, now_ns);
            view.notify(&mut pair.send.at, &channel.out.tx_count, host);
        }
        if let Some(view) = &views.receive {
            view.notify(&mut pair.receive.at, &channel.into.rx_count, host);
        }
    }

    /// When a waiting host has to be woken, or the timers have something to do, ns.
    fn deadline(&self, views: &Views, now_ns: u64) -> Option<u64> {
        let pair = self.pair.as_ref()?;
        let send = views.send.and_then(|view| view.deadline(&pair.send.at));
        let receive = views.receive.and_then(|view| view.deadline(&pair.receive.at));
        let timer = Some(self.wake_ns(now_ns)).filter(|at| *at != u64::MAX);
        send.into_iter().chain(receive).chain(timer).min()
    }
}

impl Views {
    /// The domain of both queues.
    fn domain(&self) -> u16 {
        self.send.or(self.receive).map_or(self.alone, |view| view.config.domain as u16)
    }

    fn set_state<H: Host>(&self, send: bool, host: &mut H, state: QueueState, error: Status) {
        if let Some(view) = if send { &self.send } else { &self.receive } {
            view.device_line().set_state(u32::from(state.raw()), u32::from(error.raw()));
            view.kick(host);
        }
    }
}
