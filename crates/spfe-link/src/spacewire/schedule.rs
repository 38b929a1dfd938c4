//! Broadcast codes that wait until the character in progress ends (50-12C 5.5.3, 5.6).

use super::character::{BroadcastCode, CodeMeaning};

/// Pending codes: one time-code, any of 32 acknowledges and 32 interrupts, and one code of a
/// reserved type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeSchedule {
    time: Option<u8>,
    acknowledges: u32,
    interrupts: u32,
    reserved: Option<u8>,
}

impl CodeSchedule {
    /// No code is pending.
    pub const fn new() -> Self {
        Self { time: None, acknowledges: 0, interrupts: 0, reserved: None }
    }

    /// Adds a code. A time-code replaces a pending time-code; an interrupt that is already pending
    /// is not doubled. Returns false for the reserved types, which are not sent.
    pub const fn offer(&mut self, code: BroadcastCode) -> bool {
        match code.meaning() {
            CodeMeaning::Time(value) => self.time = Some(value),
            CodeMeaning::Acknowledge(id) => self.acknowledges |= 1 << id,
            CodeMeaning::Interrupt(id) => self.interrupts |= 1 << id,
            CodeMeaning::Reserved => return false,
        }
        true
    }

    /// Adds a code of any type, for devices that give the two upper bits a meaning of their own.
    pub const fn offer_any(&mut self, code: BroadcastCode) {
        if !self.offer(code) {
            self.reserved = Some(code.0);
        }
    }

    /// Removes the next code to send: time-code, acknowledges, interrupts, each with the lowest
    /// identifier first, then a reserved type.
    pub const fn take(&mut self) -> Option<BroadcastCode> {
        if let Some(value) = self.time.take() {
            return Some(BroadcastCode::time(value));
        }
        if self.acknowledges != 0 {
            let id = self.acknowledges.trailing_zeros() as u8;
            self.acknowledges &= self.acknowledges - 1;
            return Some(BroadcastCode::acknowledge(id));
        }
        if self.interrupts != 0 {
            let id = self.interrupts.trailing_zeros() as u8;
            self.interrupts &= self.interrupts - 1;
            return Some(BroadcastCode::interrupt(id));
        }
        match self.reserved.take() {
            Some(code) => Some(BroadcastCode(code)),
            None => None,
        }
    }
}
