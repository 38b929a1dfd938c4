//! Requests that are executed at once ([`crate::near`]): the initiator's part.

use super::{PairState, RdmaInitiator};

impl RdmaInitiator {
    /// The number of the next message, if it can be sent now and without path bytes, and if nothing is
    /// outstanding.
    pub(crate) fn near_sequence(&mut self, now_ns: impl FnOnce() -> u64) -> Option<u16> {
        let idle = self.work.is_empty() && self.completions.is_empty();
        if self.state != PairState::Ready || !idle || !self.is_near() {
            return None;
        }
        if self.pause_ns != 0 {
            if self.pause_ns > now_ns() {
                return None;
            }
            self.pause_ns = 0;
        }
        Some(self.base)
    }

    /// Number of messages up to the one that asks for an acknowledgement although it does not end a
    /// group.
    pub(crate) fn until_asked(&self) -> usize {
        self.options.window.div_ceil(2).saturating_sub(self.unasked)
    }

    /// Notes messages that were sent and executed. `answered`: each of them had an answer.
    pub(crate) fn near_executed(
        &mut self,
        messages: u32,
        packets: u64,
        bytes: u64,
        answered: bool,
    ) {
        self.next_request = self.next_request.wrapping_add(messages);
        self.base = self.base.wrapping_add(messages as u16);
        self.counts.completed += u64::from(messages);
        self.counts.near += u64::from(messages);
        self.counts.packets += packets;
        self.counts.bytes += bytes;
        self.unasked = if answered { 0 } else { self.unasked + messages as usize };
    }

    /// The last message asks for an acknowledgement and has it. False if an answer has come already.
    pub(crate) fn near_acknowledged(&mut self) -> bool {
        std::mem::take(&mut self.unasked) != 0
    }
}
