//! Words received since the lane entered its state (50-11C 5.5.2).

use crate::control::ControlWord;
use crate::word::{Word, k};

/// Counters of received words. They saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReceivedWords {
    /// Consecutive words without RXERR.
    pub good_words: u32,
    /// Whether an INIT1 or INIT2 is among them.
    pub init1_or_init2: bool,
    /// Whether an INIT1 was received.
    pub init1: bool,
    /// INIT2 words without an RXERR between them.
    pub init2: u8,
    /// Identical INIT3 words without an RXERR between them.
    pub init3: u8,
    /// Capability field of these INIT3.
    pub capability: u8,
    /// Inverted INIT1 words without an RXERR between them.
    pub init1_inverted: u8,
    /// Inverted INIT2 words without an RXERR between them.
    pub init2_inverted: u8,
    /// Consecutive STANDBY words.
    pub standby: u8,
    /// Consecutive LOST_SIGNAL words.
    pub lost_signal: u8,
    /// Reason or cause in the last STANDBY or LOST_SIGNAL.
    pub stop_field: u8,
    /// Whether a word that begins with K28.7 was received.
    pub comma: bool,
}

impl ReceivedWords {
    /// Resets the counters for a new state. INIT3 words received in Connecting still count in
    /// Connected.
    pub fn clear(&mut self, keep_init3: bool) {
        let (init3, capability) = if keep_init3 { (self.init3, self.capability) } else { (0, 0) };
        *self = Self { init3, capability, ..Self::default() };
    }

    /// Counts one more word in a state of initialisation.
    pub fn word(&mut self, word: Word, control: Option<ControlWord>) {
        if word == Word::RXERR {
            *self = Self::default();
            return;
        }
        self.good_words = self.good_words.saturating_add(1);
        self.comma |= word.k & 1 != 0 && word.symbol(0) == k::COMMA;
        match control {
            Some(ControlWord::Init1) => {
                self.init1 = true;
                self.init1_or_init2 = true;
            }
            Some(ControlWord::Init2) => {
                self.init1_or_init2 = true;
                self.init2 = self.init2.saturating_add(1);
            }
            Some(ControlWord::Init3 { capability }) => {
                let same = self.init3 != 0 && self.capability == capability;
                self.init3 = if same { self.init3.saturating_add(1) } else { 1 };
                self.capability = capability;
            }
            Some(ControlWord::Init1Inverted) => {
                self.init1_inverted = self.init1_inverted.saturating_add(1);
            }
            Some(ControlWord::Init2Inverted) => {
                self.init2_inverted = self.init2_inverted.saturating_add(1);
            }
            _ => {}
        }
        self.stop(control);
    }

    /// Counts STANDBY and LOST_SIGNAL. Only SKIP may stand between them.
    pub fn stop(&mut self, control: Option<ControlWord>) {
        match control {
            Some(ControlWord::Skip) => {}
            Some(ControlWord::Standby { reason }) => {
                self.standby = self.standby.saturating_add(1);
                self.lost_signal = 0;
                self.stop_field = reason;
            }
            Some(ControlWord::LostSignal { cause }) => {
                self.lost_signal = self.lost_signal.saturating_add(1);
                self.standby = 0;
                self.stop_field = cause;
            }
            _ => {
                self.standby = 0;
                self.lost_signal = 0;
            }
        }
    }
}
