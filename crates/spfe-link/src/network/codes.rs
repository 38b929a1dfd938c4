//! Broadcast codes in a SpaceWire switch (50-12C 5.6.3, 5.6.4).

use crate::spacewire::BroadcastCode;
use crate::spacewire::character::CodeMeaning;
use crate::spacewire::interrupt::InterruptRelay;
use crate::spacewire::timecode::TimeCodeRegister;

/// Ports that take part, bit per number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodePorts {
    /// Time-codes go out.
    pub time_out: u32,
    /// Interrupts and acknowledges are taken in.
    pub interrupt_in: u32,
    /// Interrupts and acknowledges go out.
    pub interrupt_out: u32,
}

/// A switch's time-code register and its relay of interrupts.
#[derive(Clone, Debug)]
pub struct CodeSwitch {
    time: TimeCodeRegister,
    relay: Option<InterruptRelay>,
    enables: CodePorts,
}

impl CodeSwitch {
    /// With the register at 0. Without a relay, interrupts are discarded.
    pub const fn new(enables: CodePorts, relay: Option<InterruptRelay>) -> Self {
        Self { time: TimeCodeRegister::new(), relay, enables }
    }

    /// The time-code register.
    pub const fn time(&self) -> u8 {
        self.time.value()
    }

    /// The switch is the master: its next time-code, and the ports it goes to.
    pub const fn tick(&mut self) -> (BroadcastCode, u32) {
        (self.time.tick(), self.enables.time_out)
    }

    /// A code came in at a port, 0 to 31. Gives back the ports it goes to, bit per number.
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
