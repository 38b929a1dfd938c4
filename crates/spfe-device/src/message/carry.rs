//! The runner that moves messages from one port to the far one.

use super::{CONTEXTS, ContextState, MessageContext, MessagePort};
use crate::memory::{RegionKey, Regions};
use crate::queue::{CompletionTime, Host, QueueView, bind_view, completion, is_release};
use crate::shared::{QueueCounters, bump};
use spfe_contract::message_filter::{INTERRUPTS, MATCH_CHANNEL, MATCH_TYPE};
use spfe_contract::{
    EntryType, Message, MessageKind, QueueKind, Release, Status, completion_flags as cf,
    submit_flags as sf,
};
use spfe_ring::sync::Ordering;

/// Passes a message to an exact link. Returns whether the link took it.
pub type Carry<'a> = &'a mut dyn FnMut(&Message) -> bool;

/// An observer of messages: gets the device time in ns and the message. It is called with the lock
/// of the port held and must not block.
pub type MessageObserver = Box<dyn FnMut(u64, &Message) + Send>;
/// Finds the observer of a port, if there is one at the moment.
pub type FindMessageObserver = Box<dyn Fn() -> Option<MessageObserver> + Send>;

/// Moves messages from one port to the far one, as one process runs it.
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
    /// A runner for the messages of port `near`. Without a far port they are discarded, because
    /// instruments take no messages. `carries` is the kind of message the link has; an entry of
    /// another kind completes with BAD_OPCODE. At an exact link ([`Messages::step_over`]) `far` is
    /// the same port: arriving messages go to its receive contexts.
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

    /// Sets how to find the observer of a packet-level link. It is looked for again each time the
    /// configurations are read.
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
                        *view = bind_view(config, regions, near)?;
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

    /// Sends at most `budget` posted messages. Returns their number. `Err` names a region to map
    /// first; true if it is a region of this side.
    pub fn step<H: Host>(&mut self, host: &mut H, budget: u32) -> Result<u32, (bool, RegionKey)> {
        self.send_posted(host, budget, None)
    }

    /// The same over an exact link, as long as `carry` takes the messages.
    pub fn step_over<H: Host>(
        &mut self,
        host: &mut H,
        budget: u32,
        carry: Carry<'_>,
    ) -> Result<u32, (bool, RegionKey)> {
        self.send_posted(host, budget, Some(carry))
    }

    /// Delivers a message that came over an exact link to the receive contexts of the far port.
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
            // SAFETY: this function holds the lock.
            let state = unsafe { &mut *near.tx[index].state.get() };
            while sent < budget {
                let Some(entry) = view.submissions.read(state.at.submission) else { break };
                let mut message = Message::from_words(entry);
                let status = check(&message, self.carries);
                if message.kind == MessageKind::Interrupt.raw() {
                    message = as_code(message);
                }
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

    /// Counts a message that was sent or refused, and completes it.
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
        let interrupt = interrupt(&message);
        if message.kind == MessageKind::TimeCode.raw() && interrupt.is_none() {
            let last = far.time_code.swap(message.data as u32 & 0xff, Ordering::Relaxed);
            if message.data & 0x3f != (u64::from(last) + 1) & 0x3f {
                far.time_code_invalid.fetch_add(1, Ordering::Relaxed);
            }
        }
        for (slot, view) in far.rx.iter().zip(&self.rx) {
            let Some(view) = view else { continue };
            let filter = view.config.filter;
            let shown = if filter & INTERRUPTS != 0 { interrupt } else { Some(message) };
            if let Some(message) = shown
                && wants(filter, &message)
            {
                // SAFETY: the caller holds the lock of the sending port, and no other port sends
                // here.
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

    /// Whether a message is posted, for polling. True as well if another participant holds the
    /// lock.
    pub fn has_work(&self) -> bool {
        // The lock keeps the rings in place: its holder may free them.
        let Some(_guard) = self.near.try_lock(self.id) else { return true };
        if self.epochs != Some(self.current()) {
            return true;
        }
        self.tx.iter().zip(&self.near.tx).any(|(view, slot)| {
            // SAFETY: this function holds the lock.
            let position = unsafe { (*slot.state.get()).at.submission };
            view.is_some_and(|view| view.submissions.read(position).is_some())
        })
    }

    /// Wakes receivers that armed after their message was delivered.
    pub fn wake_due<H: Host>(&mut self, host: &mut H) {
        let near = self.near;
        let _guard = near.lock(self.id);
        // After a change the memory of the bound rings may have another use.
        if self.epochs == Some(self.current()) {
            self.notify_far(host);
        }
    }

    /// Tells the senders whether the device sleeps and wants a doorbell.
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

/// Checks a message entry of a port whose link carries messages of one kind.
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
        Some(MessageKind::Interrupt) if message.data > INTERRUPT_MASK => Status::BadField,
        Some(MessageKind::Interrupt) if carries == MessageKind::TimeCode => Status::Ok,
        Some(kind) if kind == carries => Status::Ok,
        // SpaceFibre has no codes, SpaceWire no broadcast messages.
        Some(_) => Status::BadOpcode,
        None => Status::BadField,
    }
}

/// Data of a message of kind INTERRUPT.
const INTERRUPT_MASK: u64 = 0x3f;
/// Type of the broadcast codes that are distributed interrupts (ECSS-E-ST-50-12C 5.6).
const INTERRUPT_TYPE: u64 = 0x80;

/// An interrupt as the broadcast code that the link has.
fn as_code(interrupt: Message) -> Message {
    let data = INTERRUPT_TYPE | interrupt.data;
    Message { data, kind: MessageKind::TimeCode.raw(), ..interrupt }
}

/// A broadcast code as an interrupt, if it is one.
fn interrupt(code: &Message) -> Option<Message> {
    let is =
        code.kind == MessageKind::TimeCode.raw() && code.data & !INTERRUPT_MASK == INTERRUPT_TYPE;
    let kind = MessageKind::Interrupt.raw();
    is.then_some(Message { data: code.data & INTERRUPT_MASK, kind, ..*code })
}

/// Whether a receive filter passes a message.
fn wants(filter: u32, message: &Message) -> bool {
    (filter & MATCH_CHANNEL == 0 || filter as u8 == message.channel)
        && (filter & MATCH_TYPE == 0 || (filter >> 8) as u8 == message.r#type)
}

/// Writes a message to a receive queue, or counts it as lost if the host has given no completion
/// back.
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
