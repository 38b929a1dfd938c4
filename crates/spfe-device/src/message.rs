//! Broadcast messages and time-codes: small rings of their own, never behind data.
//!
//! A port has [`CONTEXTS`] transmit and receive contexts, so that several clients can listen. A
//! message goes to every receive context of the far port whose filter matches. A receiver that
//! does not keep up loses messages, never silently: they are counted, and the next message it gets
//! says LOST. On a link a message takes 4 words (SBF, 2 data words, EBF) and goes ahead of data;
//! that time is not modelled on packet-level links.

use crate::flow::Regions;
use crate::memory::RegionKey;
use crate::queue::{CompletionTime, Host, QueueView, completion};
use crate::receive::is_release;
use crate::shared::{Positions, QueueConfig, QueueCounters, bump};
use spfe_contract::message_filter::{MATCH_CHANNEL, MATCH_TYPE};
use spfe_contract::{
    EntryType, Message, MessageKind, QueueKind, QueueState, Release, Status,
    completion_flags as cf, submit_flags as sf,
};
use spfe_ring::sync::{AtomicU32, Ordering, relax};
use std::cell::UnsafeCell;

/// Transmit and receive contexts of each port.
pub const CONTEXTS: usize = 4;

#[derive(Clone, Copy, Debug, Default)]
struct ContextState {
    at: Positions,
    credits: u32,
    lost: u32,
    /// Completions the host has given back since the queue was enabled (mod 2^32).
    released: u32,
    /// What is being sent, for a recovery: whether anything is, its completion position, and the
    /// submission position behind it.
    sending: u32,
    begun: u32,
    behind: u32,
}

/// One message context.
#[repr(C, align(64))]
#[derive(Default)]
pub struct MessageContext {
    state: UnsafeCell<ContextState>,
    config: UnsafeCell<QueueConfig>,
    /// Counters.
    pub count: QueueCounters,
}

/// The message contexts of a port.
#[repr(C, align(64))]
#[derive(Default)]
pub struct MessagePort {
    /// Who moves messages out of, or configures, this port.
    lock: AtomicU32,
    /// Goes up when a configuration changes.
    epoch: AtomicU32,
    /// Last time-code received.
    pub time_code: AtomicU32,
    /// Time-codes that were not one more than the last.
    pub time_code_invalid: AtomicU32,
    /// Transmit contexts.
    pub tx: [MessageContext; CONTEXTS],
    /// Receive contexts.
    pub rx: [MessageContext; CONTEXTS],
}

// SAFETY: the cells are only touched under the lock of the port that sends into them.
unsafe impl Sync for MessagePort {}

/// Holds a port's lock.
pub struct MessageGuard<'a>(&'a MessagePort);

impl MessagePort {
    /// Takes the lock for participant `id`, if it is free.
    pub fn try_lock(&self, id: u32) -> Option<MessageGuard<'_>> {
        let taken = self.lock.compare_exchange(0, id, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok().then(|| MessageGuard(self))
    }

    /// Makes every runner read configurations and regions again. Lock held.
    pub fn touch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Takes the lock; holders keep it for one bounded step.
    pub fn lock(&self, id: u32) -> MessageGuard<'_> {
        loop {
            if let Some(guard) = self.try_lock(id) {
                return guard;
            }
            relax();
        }
    }

    /// Participant that holds the lock, 0 if none.
    pub fn holder(&self) -> u32 {
        self.lock.load(Ordering::Relaxed)
    }

    /// Control plane: takes the lock from a dead participant, if it holds it; then what it was doing
    /// has to be put right ([`MessageContext::recover`]).
    pub fn take_over(&self, dead: u32, id: u32) -> Option<MessageGuard<'_>> {
        let taken = self.lock.compare_exchange(dead, id, Ordering::AcqRel, Ordering::Relaxed);
        taken.is_ok().then(|| MessageGuard(self))
    }
}

impl Drop for MessageGuard<'_> {
    fn drop(&mut self) {
        self.0.lock.store(0, Ordering::Release);
    }
}

impl MessageContext {
    /// Configures the context. Both the lock of its port and that of the far port must be held.
    pub fn configure(&self, config: QueueConfig, port: &MessagePort) {
        // SAFETY: locks held.
        unsafe {
            *self.config.get() = config;
            *self.state.get() =
                ContextState { credits: 1 << config.cq_log2, ..ContextState::default() };
        }
        port.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Ends the queue: what is posted completes with `status` if `flush` is set, and its host is
    /// told. Locks held. Bounded by the ring size.
    pub fn end<H: Host>(&self, view: &QueueView, flush: bool, status: Status, host: &mut H) {
        // SAFETY: locks held.
        let state = unsafe { &mut *self.state.get() };
        for _ in 0..view.submissions.size() {
            if !flush || view.submissions.read(state.at.submission).is_none() {
                break;
            }
            let done = completion(&view.config, state.at.submission, status);
            view.complete_at(state.at.completion, done, CompletionTime::None);
            state.at.submission = state.at.submission.wrapping_add(1);
            state.at.completion = state.at.completion.wrapping_add(1);
            bump(&self.count.errors, 1);
        }
        let stopped = u32::from(QueueState::Disabled.raw());
        view.device_line().set_state(stopped, u32::from(status.raw()));
        view.kick(host);
    }

    /// Puts the state in line with the rings after a participant died while it sent messages. Lock
    /// of the sending port held. A message that had begun may have arrived or not.
    pub fn recover(&self, view: &QueueView) {
        // SAFETY: lock held.
        let state = unsafe { &mut *self.state.get() };
        let mut free = crate::recover::first_free(view, state.at.completion);
        let size = view.completions.size();
        if view.config.kind == u32::from(QueueKind::MessageRx.raw()) {
            state.credits = size.saturating_sub(free.wrapping_sub(state.released));
        } else if state.sending != 0 && state.behind == state.at.submission && free == state.begun {
            let position = state.at.submission.wrapping_sub(1);
            let done = completion(&view.config, position, Status::DeviceReset);
            view.complete_at(free, done, CompletionTime::None);
            free = free.wrapping_add(1);
        }
        state.sending = 0;
        state.at.completion = free;
    }

    /// The configuration. Lock held.
    pub fn config(&self) -> QueueConfig {
        // SAFETY: locks held.
        unsafe { *self.config.get() }
    }
}

/// Whether a link that takes its own time takes a message now.
pub type Carry<'a> = &'a mut dyn FnMut(&Message) -> bool;

/// Who is shown the messages a link carries, and when. Called with the port's lock held: it must
/// not wait.
pub type MessageObserver = Box<dyn FnMut(u64, &Message) + Send>;
/// Gives the observer of a port, if there is one now.
pub type FindMessageObserver = Box<dyn Fn() -> Option<MessageObserver> + Send>;

/// Moves messages from one port to the far one, as one process sees them.
pub struct Messages {
    near: &'static MessagePort,
    far: Option<&'static MessagePort>,
    near_regions: Regions,
    far_regions: Option<Regions>,
    tx: [Option<QueueView>; CONTEXTS],
    rx: [Option<QueueView>; CONTEXTS],
    epochs: Option<(u32, u32)>,
    carries: MessageKind,
    id: u32,
    observer: Option<MessageObserver>,
    find_observer: Option<FindMessageObserver>,
}

impl Messages {
    /// A runner for the messages out of `near`; without a far port they are sent into the void
    /// (instruments do not answer messages). The link carries messages of one kind: entries of
    /// another are BAD_OPCODE. At a link that takes its own time ([`Messages::step_over`]) the port
    /// is its own far one: what comes goes into its receive queues.
    pub fn new(
        carries: MessageKind,
        near: &'static MessagePort,
        far: Option<(&'static MessagePort, Regions)>,
        near_regions: Regions,
        id: u32,
    ) -> Self {
        let (far, far_regions) = far.unzip();
        let none = [const { None }; CONTEXTS];
        let (tx, rx) = (none, none);
        let (epochs, observer, find_observer) = (None, None, None);
        Self {
            near,
            far,
            near_regions,
            far_regions,
            tx,
            rx,
            epochs,
            carries,
            id,
            observer,
            find_observer,
        }
    }

    /// Shows what a packet-level link carries to whoever this finds, each time that configurations
    /// are read again.
    pub fn set_observer(&mut self, find: FindMessageObserver) {
        self.find_observer = Some(find);
    }

    fn current(&self) -> (u32, u32) {
        let far = self.far.map_or(0, |far| far.epoch.load(Ordering::Acquire));
        (self.near.epoch.load(Ordering::Acquire), far)
    }

    fn bind(&mut self) -> Result<(), (bool, RegionKey)> {
        let epochs = self.current();
        self.observer = self.find_observer.as_ref().and_then(|find| find());
        let views =
            |slots: &[MessageContext; CONTEXTS], kind: QueueKind, regions: &Regions, near| {
                regions.map.sync(regions.table);
                let mut views = [const { None }; CONTEXTS];
                for (slot, view) in slots.iter().zip(&mut views) {
                    let config = slot.config();
                    if config.kind == u32::from(kind.raw()) {
                        *view = crate::flow::view(config, regions, near)?;
                    }
                }
                Ok(views)
            };
        self.tx = views(&self.near.tx, QueueKind::MessageTx, &self.near_regions, true)?;
        if let (Some(far), Some(regions)) = (self.far, &self.far_regions) {
            self.rx = views(&far.rx, QueueKind::MessageRx, regions, false)?;
        }
        self.epochs = Some(epochs);
        Ok(())
    }

    /// Sends what is posted, at most `budget` messages. `Err` names a region to be mapped first
    /// {this side's, key}.
    pub fn step<H: Host>(&mut self, host: &mut H, budget: u32) -> Result<u32, (bool, RegionKey)> {
        self.send_posted(host, budget, None)
    }

    /// The same over a link that takes its own time: `carry` says whether it takes a message now.
    pub fn step_over<H: Host>(
        &mut self,
        host: &mut H,
        budget: u32,
        carry: Carry<'_>,
    ) -> Result<u32, (bool, RegionKey)> {
        self.send_posted(host, budget, Some(carry))
    }

    /// A message that came over such a link, for the receive queues of the far port.
    pub fn arrive<H: Host>(
        &mut self,
        host: &mut H,
        message: Message,
    ) -> Result<(), (bool, RegionKey)> {
        let near = self.near;
        let _guard = near.lock(self.id);
        if self.epochs != Some(self.current()) {
            self.bind()?;
        }
        self.deliver(message, host.now_ns());
        self.notify_far(host);
        Ok(())
    }

    fn send_posted<H: Host>(
        &mut self,
        host: &mut H,
        budget: u32,
        mut carry: Option<Carry<'_>>,
    ) -> Result<u32, (bool, RegionKey)> {
        let near = self.near;
        let _guard = near.lock(self.id);
        if self.epochs != Some(self.current()) {
            self.bind()?;
        }
        let mut sent = 0;
        for index in 0..CONTEXTS {
            let Some(view) = self.tx[index] else { continue };
            // SAFETY: lock held.
            let state = unsafe { &mut *near.tx[index].state.get() };
            while sent < budget {
                let Some(entry) = view.submissions.read(state.at.submission) else { break };
                let message = Message::from_words(entry);
                let status = check(&message, self.carries);
                if status == Status::Ok
                    && let Some(carry) = &mut carry
                    && !carry(&message)
                {
                    break;
                }
                state.begun = state.at.completion;
                state.behind = state.at.submission.wrapping_add(1);
                state.sending = 1;
                state.at.submission = state.behind;
                let now = host.now_ns();
                if carry.is_none() && status == Status::Ok {
                    if let Some(observer) = &mut self.observer {
                        observer(now, &message);
                    }
                    self.deliver(message, now);
                }
                self.report((&message, status), &view, state, index, now);
                state.sending = 0;
                sent += 1;
            }
            view.notify(&mut state.at, &near.tx[index].count, host);
        }
        if sent != 0 && carry.is_none() {
            self.notify_far(host);
        }
        Ok(sent)
    }

    /// Counts and completes a message that was sent or refused.
    fn report(
        &self,
        (message, status): (&Message, Status),
        view: &QueueView,
        state: &mut ContextState,
        index: usize,
        now: u64,
    ) {
        let count = &self.near.tx[index].count;
        if status == Status::Ok {
            bump(&count.packets, 1);
            bump(&count.bytes, 8);
        } else {
            bump(&count.errors, 1);
        }
        if message.flags & sf::SIGNAL != 0 || status != Status::Ok {
            let mut done = completion(&view.config, state.at.submission.wrapping_sub(1), status);
            done.packets = u16::from(status == Status::Ok);
            let position = state.at.completion;
            state.at.completion = position.wrapping_add(1);
            view.complete_at(position, done, CompletionTime::Stamp(now));
        }
    }

    fn deliver(&mut self, message: Message, now: u64) {
        let Some(far) = self.far else { return };
        if message.kind == MessageKind::TimeCode.raw() {
            let last = far.time_code.swap(message.data as u32 & 0xff, Ordering::Relaxed);
            if message.data & 0x3f != (u64::from(last) + 1) & 0x3f {
                far.time_code_invalid.fetch_add(1, Ordering::Relaxed);
            }
        }
        for (slot, view) in far.rx.iter().zip(&self.rx) {
            if let Some(view) = view
                && wants(view.config.filter, &message)
            {
                // SAFETY: the lock of the sending port is held; no other port sends here.
                let state = unsafe { &mut *slot.state.get() };
                put(message, now, view, state, &slot.count);
            }
        }
    }

    fn notify_far<H: Host>(&mut self, host: &mut H) {
        let Some(far) = self.far else { return };
        for (slot, view) in far.rx.iter().zip(&self.rx) {
            if let Some(view) = view {
                // SAFETY: as in `deliver`.
                let state = unsafe { &mut *slot.state.get() };
                view.notify(&mut state.at, &slot.count, host);
            }
        }
    }

    /// Whether anything is posted, or somebody is looking (for polling).
    pub fn has_work(&self) -> bool {
        // With the lock: rings may be taken away by who holds it.
        let Some(_guard) = self.near.try_lock(self.id) else { return true };
        if self.epochs != Some(self.current()) {
            return true;
        }
        self.tx.iter().zip(&self.near.tx).any(|(view, slot)| {
            // SAFETY: lock held.
            let position = unsafe { (*slot.state.get()).at.submission };
            view.is_some_and(|view| view.submissions.read(position).is_some())
        })
    }

    /// Wakes receivers whose arming came after their message.
    pub fn wake_due<H: Host>(&mut self, host: &mut H) {
        let near = self.near;
        let _guard = near.lock(self.id);
        // Rings bound before a change may be somebody else's memory by now.
        if self.epochs == Some(self.current()) {
            self.notify_far(host);
        }
    }

    /// Tells the senders whether the device sleeps.
    pub fn set_need_doorbell(&self, on: bool) {
        let _guard = self.near.lock(self.id);
        if self.epochs != Some(self.current()) {
            return;
        }
        for view in self.tx.iter().flatten() {
            view.device_line().set_need_doorbell(on);
        }
    }
}

/// Whether a message can go out of a port that carries messages of one kind.
fn check(message: &Message, carries: MessageKind) -> Status {
    let kind = message.flags & sf::TYPE_MASK == u16::from(EntryType::Message.raw());
    if !kind {
        return Status::BadOpcode;
    }
    if message.flags & sf::MBZ_MASK != 0 {
        return Status::BadField;
    }
    match MessageKind::from_raw(message.kind) {
        Some(MessageKind::TimeCode) if message.data > 0xff => Status::BadField,
        Some(kind) if kind == carries => Status::Ok,
        // SpaceFibre has no time-codes, SpaceWire no broadcast messages.
        Some(_) => Status::BadOpcode,
        None => Status::BadField,
    }
}

fn wants(filter: u32, message: &Message) -> bool {
    (filter & MATCH_CHANNEL == 0 || filter as u8 == message.channel)
        && (filter & MATCH_TYPE == 0 || (filter >> 8) as u8 == message.r#type)
}

fn put(
    mut message: Message,
    now: u64,
    view: &QueueView,
    state: &mut ContextState,
    count: &QueueCounters,
) {
    for _ in 0..view.submissions.size() {
        let Some(entry) = view.submissions.read(state.at.submission) else { break };
        state.at.submission = state.at.submission.wrapping_add(1);
        let release = Release::from_words(entry);
        let credits = state.credits.saturating_add(release.completions);
        if is_release(&release) && credits <= view.completions.size() {
            state.credits = credits;
            state.released = state.released.wrapping_add(release.completions);
        } else {
            bump(&count.errors, 1);
        }
    }
    if state.credits == 0 {
        state.lost = 1;
        bump(&count.dropped, 1);
        return;
    }
    state.credits -= 1;
    message.flags = if state.lost != 0 { cf::LOST } else { 0 };
    state.lost = 0;
    let position = state.at.completion;
    state.at.completion = position.wrapping_add(1);
    state.at.reported_bytes = state.at.reported_bytes.wrapping_add(8);
    bump(&count.packets, 1);
    bump(&count.bytes, 8);
    view.message_at(position, message, now);
}
