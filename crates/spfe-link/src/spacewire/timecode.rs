//! Time-codes (50-12C 5.6.3).

use super::character::BroadcastCode;

/// The time-code register of a node or router, 0 at reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeCodeRegister {
    value: u8,
}

impl TimeCodeRegister {
    /// At 0.
    pub const fn new() -> Self {
        Self { value: 0 }
    }

    /// The last value, 0 to 63.
    pub const fn value(&self) -> u8 {
        self.value
    }

    /// A time-code came. True if it is the next one: a node then tells its host, a router hands it
    /// on. Any value becomes the register's, so the one after a lost one is not the next, and the
    /// second after is.
    pub const fn receive(&mut self, value: u8) -> bool {
        let valid = value & 0x3f == (self.value + 1) & 0x3f;
        self.value = value & 0x3f;
        valid
    }

    /// The master's tick: one more, and the code to send.
    pub const fn tick(&mut self) -> BroadcastCode {
        self.value = (self.value + 1) & 0x3f;
        BroadcastCode::time(self.value)
    }
}
