//! Broadcast messages and time-codes. They have rings of their own and never wait behind packets.
//!
//! A port has [`CONTEXTS`] transmit and [`CONTEXTS`] receive contexts, so that several clients can
//! listen. A message goes to every receive context of the far port whose filter matches. A receiver
//! that is too slow loses messages: they are counted, and the next message it gets has the flag
//! LOST. On a link a message takes 4 words (SBF, 2 data words, EBF) and precedes data. Packet-level
//! links do not model that time.

mod carry;

pub use carry::{Carry, FindMessageObserver, MessageObserver, Messages};

use crate::queue::{CompletionTime, Host, QueueView, completion};
use crate::shared::{Positions, QueueConfig, QueueCounters, TURNS, bump};
use spfe_contract::{QueueKind, QueueState, Status};
use spfe_ring::HolderLock;
use spfe_ring::sync::{AtomicU32, Ordering, relax};
use std::cell::UnsafeCell;

/// Number of transmit contexts, and of receive contexts, of each port.
pub const CONTEXTS: usize = 4;

#[derive(Clone, Copy, Debug, Default)]
struct ContextState {
    at: Positions,
    /// Completions that may still be written (receive).
    credits: u32,
    /// Not 0: a message was lost since the last one that was delivered.
    lost: u32,
    /// Completions that the host has given back since the queue was enabled (mod 2^32).
    released: u32,
    /// Not 0: a message is being sent. This and the next two fields are for a recovery.
    sending: u32,
    /// Completion position of that message.
    begun: u32,
    /// Submission position after that message.
    behind: u32,
}

/// A message context: one message queue of a port.
#[repr(C, align(64))]
#[derive(Default)]
pub struct MessageContext {
    state: UnsafeCell<ContextState>,
    config: UnsafeCell<QueueConfig>,
    /// Counters of the queue.
    pub count: QueueCounters,
}

/// The message contexts of a port.
#[repr(C, align(64))]
#[derive(Default)]
pub struct MessagePort {
    /// Id of the participant that sends messages from this port or configures it. 0 if none does.
    lock: HolderLock,
    /// Incremented when a configuration changes.
    epoch: AtomicU32,
    /// Last time-code received.
    pub time_code: AtomicU32,
    /// Number of time-codes that were not one more than the last.
    pub time_code_invalid: AtomicU32,
    /// Transmit contexts.
    pub tx: [MessageContext; CONTEXTS],
    /// Receive contexts.
    pub rx: [MessageContext; CONTEXTS],
}

// SAFETY: the cells are accessed only with the lock of the port that sends to them held.
unsafe impl Sync for MessagePort {}

/// The lock of a port. Dropping it releases the lock.
pub struct MessageGuard<'a>(&'a MessagePort);

impl MessagePort {
    /// Takes the lock for participant `id`, if it is free.
    pub fn try_lock(&self, id: u32) -> Option<MessageGuard<'_>> {
        self.lock.try_lock(id).then(|| MessageGuard(self))
    }

    /// Makes every runner read configurations and regions again. The caller holds the lock.
    pub fn touch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Takes the lock. Spins while another participant holds it, for one bounded step, and lets it
    /// have this core if it takes longer.
    pub fn lock(&self, id: u32) -> MessageGuard<'_> {
        let mut turns = 0u32;
        self.lock.lock(id, || {
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(TURNS) {
                std::thread::yield_now();
            }
            relax();
        });
        MessageGuard(self)
    }

    /// Id of the participant that holds the lock, or 0.
    pub fn holder(&self) -> u32 {
        self.lock.holder()
    }

    /// Control plane: takes the lock from a dead participant. `None` if it does not hold the lock.
    /// The caller then repairs the contexts ([`MessageContext::recover`]).
    pub fn take_over(&self, dead: u32, id: u32) -> Option<MessageGuard<'_>> {
        self.lock.take_over(dead, id).then(|| MessageGuard(self))
    }
}

impl Drop for MessageGuard<'_> {
    fn drop(&mut self) {
        self.0.lock.unlock();
    }
}

impl MessageContext {
    /// Configures the context. The caller holds the locks of its port and of the far port.
    pub fn configure(&self, config: QueueConfig, port: &MessagePort) {
        // SAFETY: the caller holds the locks.
        unsafe {
            *self.config.get() = config;
            *self.state.get() =
                ContextState { credits: 1 << config.cq_log2, ..ContextState::default() };
        }
        port.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Ends the queue and wakes its host. With `flush` posted messages complete with `status`. The
    /// caller holds both locks. Bounded by the ring size.
    pub fn end<H: Host>(&self, view: &QueueView, flush: bool, status: Status, host: &mut H) {
        // SAFETY: the caller holds the locks.
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

    /// Repairs the state after a participant died while it sent messages. A message that it had
    /// begun may have arrived or not. The caller holds the lock of the sending port.
    pub fn recover(&self, view: &QueueView) {
        // SAFETY: the caller holds the lock.
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

    /// The configuration. The caller holds the lock.
    pub fn config(&self) -> QueueConfig {
        // SAFETY: the caller holds the locks.
        unsafe { *self.config.get() }
    }
}
