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
            ("disconnect_errors", falls.disconnect),
            ("parity_errors", falls.parity),
            ("escape_errors", falls.escape),
            ("credit_errors", falls.credit),
            ("sequence_errors", falls.sequence),
            ("start_timeouts", falls.timeout),
            ("disables_and_resets", falls.command),
            ("sent_nulls", sent.nulls),
            ("sent_fcts", sent.fcts),
            ("sent_data", sent.data),
            ("sent_eops", sent.eops),
            ("sent_eeps", sent.eeps),
            ("sent_time_codes", sent.time_codes),
            ("sent_interrupts", sent.interrupts),
            ("sent_acknowledges", sent.acknowledges),
            ("received_nulls", received.nulls),
            ("received_fcts", received.fcts),
            ("received_data", received.data),
            ("received_eops", received.eops),
            ("received_eeps", received.eeps),
            ("received_time_codes", received.time_codes),
            ("received_interrupts", received.interrupts),
            ("received_acknowledges", received.acknowledges),
            ("received_reserved_codes", received.reserved_codes),
            ("spilled_n_chars", counters.spilled_n_chars),
            ("appended_eeps", counters.appended_eeps),
            ("discarded_codes", counters.discarded_broadcasts),
            ("lost_codes", self.lost_codes),
            ("transmit_credit", u64::from(credit.transmit())),
            ("receive_credit", u64::from(credit.receive())),
        ]
    }
}
