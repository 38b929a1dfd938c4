//! Counters of an end, beside those of its port.

use spfe_link::spacewire::character::CodeMeaning;
use spfe_link::spacewire::{NChar, SpaceWireCharacter, SpaceWirePort};

/// Numbers of characters of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct CharacterCounts {
    nulls: u64,
    fcts: u64,
    data: u64,
    eops: u64,
    eeps: u64,
    time_codes: u64,
    interrupts: u64,
    acknowledges: u64,
    reserved_codes: u64,
}

impl CharacterCounts {
    #[inline]
    pub const fn count(&mut self, character: SpaceWireCharacter) {
        let counter = match character {
            SpaceWireCharacter::Null => &mut self.nulls,
            SpaceWireCharacter::Fct => &mut self.fcts,
            SpaceWireCharacter::NChar(NChar::Data(_)) => &mut self.data,
            SpaceWireCharacter::NChar(NChar::Eop) => &mut self.eops,
            SpaceWireCharacter::NChar(NChar::Eep) => &mut self.eeps,
            SpaceWireCharacter::Broadcast(code) => match code.meaning() {
                CodeMeaning::Time(_) => &mut self.time_codes,
                CodeMeaning::Interrupt(_) => &mut self.interrupts,
                CodeMeaning::Acknowledge(_) => &mut self.acknowledges,
                CodeMeaning::Reserved => &mut self.reserved_codes,
            },
        };
        *counter += 1;
    }
}

/// Numbers of transitions to ErrorReset by cause.
#[derive(Clone, Copy, Debug, Default)]
pub struct ErrorResetCounts {
    pub disconnect: u64,
    pub parity: u64,
    pub escape: u64,
    pub credit: u64,
    pub sequence: u64,
    pub timeout: u64,
    pub command: u64,
}

/// All counters of an end.
#[derive(Clone, Copy, Debug, Default)]
pub struct WireCounts {
    pub sent: CharacterCounts,
    pub received: CharacterCounts,
    pub falls: ErrorResetCounts,
    /// Received codes that found the queue full.
    pub lost_codes: u64,
}

impl WireCounts {
    /// All counters by name, with those of the port.
    pub fn named<const TX: usize, const RX: usize>(
        &self,
        port: &SpaceWirePort<TX, RX>,
    ) -> Vec<(&'static str, u64)> {
        let (sent, received, falls) = (&self.sent, &self.received, &self.falls);
        let (counters, credit) = (port.counters(), port.credit());
        vec![
            ("runs", counters.runs),
            ("disconnect errors", falls.disconnect),
            ("parity errors", falls.parity),
            ("escape errors", falls.escape),
            ("credit errors", falls.credit),
            ("sequence errors", falls.sequence),
            ("start time-outs", falls.timeout),
            ("disables and resets", falls.command),
            ("NULLs sent", sent.nulls),
            ("FCTs sent", sent.fcts),
            ("data characters sent", sent.data),
            ("EOPs sent", sent.eops),
            ("EEPs sent", sent.eeps),
            ("time-codes sent", sent.time_codes),
            ("interrupts sent", sent.interrupts),
            ("acknowledges sent", sent.acknowledges),
            ("NULLs received", received.nulls),
            ("FCTs received", received.fcts),
            ("data characters received", received.data),
            ("EOPs received", received.eops),
            ("EEPs received", received.eeps),
            ("time-codes received", received.time_codes),
            ("interrupts received", received.interrupts),
            ("acknowledges received", received.acknowledges),
            ("reserved codes received", received.reserved_codes),
            ("N-Chars spilled", counters.spilled_n_chars),
            ("EEPs appended", counters.appended_eeps),
            ("codes discarded", counters.discarded_broadcasts),
            ("codes lost", self.lost_codes),
            ("transmit credit", u64::from(credit.transmit())),
            ("receive credit", u64::from(credit.receive())),
        ]
    }
}
