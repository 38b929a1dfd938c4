//! Time-codes (50-12C 5.6.3).

use super::character::BroadcastCode;

/// Time-code register of a node or router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeCodeRegister {
    value: u8,
}

impl TimeCodeRegister {
    /// Register value after reset: 0.
    pub const fn new() -> Self {
        Self { value: 0 }
    }

    /// Last value, 0 to 63.
    pub const fn value(&self) -> u8 {
        self.value
    }

    /// Processes a received time-code. Returns true if it is the next one; a node then reports it
    /// to its host, and a router passes it on.
    ///
    /// The register takes any value. After a lost time-code, the first one is therefore not the
    /// next, but the second one is.
    pub const fn receive(&mut self, value: u8) -> bool {
        let valid = value & 0x3f == (self.value + 1) & 0x3f;
        self.value = value & 0x3f;
        valid
    }

    /// Tick of the time master: increments the register and returns the code to send.
    pub const fn tick(&mut self) -> BroadcastCode {
        self.value = (self.value + 1) & 0x3f;
        BroadcastCode::time(self.value)
    }
}
