//! A participant's handle to send the messages of a port.

use super::{View, ViewHost};
use spfe_contract::Message;
use spfe_device::message::{Carry, Messages};
use spfe_host::RegionKey;
use std::sync::Arc;

/// A participant's handle to send the messages of a port.
pub struct MessageRunner {
    messages: Messages,
    view: Arc<View>,
    ends: (u32, u32),
}

impl MessageRunner {
    pub(super) fn new(view: &Arc<View>, messages: Messages, ends: (u32, u32)) -> Self {
        Self { messages, view: view.clone(), ends }
    }

    /// Sends posted messages, at most `budget`. Returns their number.
    pub fn run(&mut self, budget: u32) -> u32 {
        // Each iteration maps one region; an endpoint has few message queues.
        for _ in 0..64 {
            match self.messages.step(&mut ViewHost(&self.view), budget) {
                Ok(sent) => return sent,
                Err(missing) => self.map(missing),
            }
        }
        0
    }

    /// Sends posted messages over an exact link with `carry`, at most `budget`. Returns their number.
    pub fn run_over(&mut self, budget: u32, carry: Carry<'_>) -> u32 {
        for _ in 0..64 {
            match self.messages.step_over(&mut ViewHost(&self.view), budget, carry) {
                Ok(sent) => return sent,
                Err(missing) => self.map(missing),
            }
        }
        0
    }

    /// Delivers a message that has arrived over an exact link.
    pub fn arrive(&mut self, message: Message) {
        for _ in 0..64 {
            match self.messages.arrive(&mut ViewHost(&self.view), message) {
                Ok(()) => return,
                Err(missing) => self.map(missing),
            }
        }
    }

    fn map(&self, (near, key): (bool, RegionKey)) {
        let endpoint = if near { self.ends.0 } else { self.ends.1 };
        self.view.map_region(endpoint, key);
    }

    /// Whether a message is posted.
    pub fn has_work(&self) -> bool {
        self.messages.has_work()
    }

    /// Tells senders whether the device sleeps and needs a doorbell.
    pub fn set_need_doorbell(&self, on: bool) {
        self.messages.set_need_doorbell(on);
    }

    /// Wakes receivers that armed after a message was delivered.
    pub fn wake_due(&mut self) {
        self.messages.wake_due(&mut ViewHost(&self.view));
    }
}
