//! Broadcast codes in a SpaceWire switch (50-12C 5.6.3, 5.6.4).

use crate::spacewire::BroadcastCode;
use crate::spacewire::character::CodeMeaning;
use crate::spacewire::interrupt::InterruptRelay;
use crate::spacewire::timecode::TimeCodeRegister;

/// Ports that take part, as masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodePorts {
    /// Ports that time-codes leave by.
    pub time_out: u32,
    /// Ports at which interrupts and acknowledges are accepted.
    pub interrupt_in: u32,
    /// Ports that interrupts and acknowledges leave by.
    pub interrupt_out: u32,
}

/// Time-code register and interrupt relay of a switch.
#[derive(Clone, Debug)]
pub struct CodeSwitch {
    time: TimeCodeRegister,
    relay: Option<InterruptRelay>,
    enables: CodePorts,
}

impl CodeSwitch {
    /// Creates a switch with its time-code register at 0. Without a relay it discards interrupts.
    pub const fn new(enables: CodePorts, relay: Option<InterruptRelay>) -> Self {
        Self { time: TimeCodeRegister::new(), relay, enables }
    }

    /// The time-code register.
    pub const fn time(&self) -> u8 {
        self.time.value()
    }

    /// The switch is the time master: returns its next time-code and the mask of ports it leaves
    /// by.
    pub const fn tick(&mut self) -> (BroadcastCode, u32) {
        (self.time.tick(), self.enables.time_out)
    }

    /// A code came in at `port`, 0 to 31. Returns the mask of ports that it leaves by.
    pub fn receive(&mut self, now_ns: u64, port: u8, code: BroadcastCode) -> u32 {
        let arrival = 1u32.checked_shl(u32::from(port)).unwrap_or(0);
        let out = match code.meaning() {
            CodeMeaning::Time(value) if self.time.receive(value) => self.enables.time_out,
            CodeMeaning::Interrupt(_) | CodeMeaning::Acknowledge(_)
                if self.enables.interrupt_in & arrival != 0
                    && self.relay.as_mut().is_some_and(|relay| relay.receive(now_ns, code)) =>
            {
                self.enables.interrupt_out
            }
            _ => 0,
        };
        out & !arrival
    }
}
