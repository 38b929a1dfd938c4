//! Messages out of a port, run by one participant.

use super::{View, ViewHost};
use spfe_contract::Message;
use spfe_device::message::{Carry, Messages};
use spfe_host::RegionKey;
use std::sync::Arc;

/// Messages out of a port, driven by this process.
pub struct MessageRunner {
    messages: Messages,
    view: Arc<View>,
    ends: (u32, u32),
}

impl MessageRunner {
    pub(super) fn new(view: &Arc<View>, messages: Messages, ends: (u32, u32)) -> Self {
        Self { messages, view: view.clone(), ends }
    }

    /// Sends what is posted; the number of messages.
    pub fn run(&mut self, budget: u32) -> u32 {
        // Each turn maps one region; an endpoint has few message queues.
        for _ in 0..64 {
            match self.messages.step(&mut ViewHost(&self.view), budget) {
                Ok(sent) => return sent,
                Err(missing) => self.map(missing),
            }
        }
        0
    }

    /// Sends what is posted over an exact link; the number of messages.
    pub fn run_over(&mut self, budget: u32, carry: Carry<'_>) -> u32 {
        for _ in 0..64 {
            match self.messages.step_over(&mut ViewHost(&self.view), budget, carry) {
                Ok(sent) => return sent,
                Err(missing) => self.map(missing),
            }
        }
        0
    }

    /// A message came over an exact link.
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

    /// Whether anything is posted.
    pub fn has_work(&self) -> bool {
        self.messages.has_work()
    }

    /// Tells senders whether the device sleeps.
    pub fn set_need_doorbell(&self, on: bool) {
        self.messages.set_need_doorbell(on);
    }

    /// Wakes receivers whose arming came late.
    pub fn wake_due(&mut self) {
        self.messages.wake_due(&mut ViewHost(&self.view));
    }
}
