//! SpaceWire broadcast codes as SpaceFibre broadcast messages, and back (50-11C 5.8, 50-12C 5.6).
//!
//! The standards fix no B_TYPE for codes. Channel, type and position of the code in the eight bytes
//! are therefore settings, separate for time-codes and for interrupts. A bridge is one port of both
//! switches. The [`super::codes::CodeSwitch`] on one side and the
//! [`super::broadcast::BroadcastSwitch`] on the other side end loops.

use crate::datalink::LinkBroadcast;
use crate::spacewire::BroadcastCode;
use crate::spacewire::character::CodeMeaning;

/// Position of one kind of codes in broadcast messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeMapping {
    /// Broadcast channel for sent messages. Each channel has one source in a network.
    pub channel: u8,
    /// B_TYPE of sent messages.
    pub kind: u8,
    /// Bits of B_TYPE that must equal those of `kind` in a received message.
    pub kind_mask: u8,
    /// Index of the byte that holds the code, 0 to 7. The other bytes are sent as 0.
    pub byte: u8,
}

impl CodeMapping {
    fn code(&self, message: &LinkBroadcast) -> Option<BroadcastCode> {
        let fits = (message.kind ^ self.kind) & self.kind_mask == 0;
        let code = message.data.get(usize::from(self.byte)).copied().map(BroadcastCode);
        code.filter(|_| fits)
    }

    fn message(&self, code: BroadcastCode, delayed: bool) -> Option<LinkBroadcast> {
        let mut data = [0; 8];
        *data.get_mut(usize::from(self.byte))? = code.0;
        Some(LinkBroadcast { channel: self.channel, kind: self.kind, data, late: false, delayed })
    }
}

/// Settings of a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BridgeConfig {
    /// Mapping of time-codes; `None`: the bridge passes no time-codes.
    pub time: Option<CodeMapping>,
    /// Mapping of interrupts and their acknowledges; `None`: the bridge passes none.
    pub interrupts: Option<CodeMapping>,
    /// Also pass time-codes of LATE or DELAYED messages. Otherwise they are discarded, and the
    /// register of the next switch sees two codes that do not follow each other.
    pub passes_late_time: bool,
}

/// A code taken out of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BridgedCode {
    /// The broadcast code.
    pub code: BroadcastCode,
    /// Whether its message was LATE.
    pub late: bool,
    /// Whether its message was DELAYED.
    pub delayed: bool,
}

/// Counters of a bridge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BridgeCounters {
    /// Codes sent on as messages.
    pub to_messages: u64,
    /// Messages that were marked DELAYED.
    pub delayed: u64,
    /// Messages passed on as codes.
    pub to_codes: u64,
    /// Codes and messages without a mapping.
    pub ignored: u64,
    /// Time-codes discarded because their message was LATE or DELAYED.
    pub late: u64,
}

/// A bridge of broadcast codes.
#[derive(Clone, Copy, Debug)]
pub struct Bridge {
    config: BridgeConfig,
    counters: BridgeCounters,
}

impl Bridge {
    /// Creates a bridge with its counters at 0.
    pub fn new(config: BridgeConfig) -> Self {
        Self { config, counters: BridgeCounters::default() }
    }

    /// Settings.
    pub const fn config(&self) -> &BridgeConfig {
        &self.config
    }

    /// Counters.
    pub const fn counters(&self) -> BridgeCounters {
        self.counters
    }

    /// Converts a code from the SpaceWire side. Returns the message to send, if the code passes.
    /// `at_once`: whether the link takes the message now ([`crate::DataLink::broadcasts_at_once`]);
    /// otherwise it is marked DELAYED.
    pub fn code(&mut self, code: BroadcastCode, at_once: bool) -> Option<LinkBroadcast> {
        let mapping = match code.meaning() {
            CodeMeaning::Time(_) => self.config.time,
            CodeMeaning::Interrupt(_) | CodeMeaning::Acknowledge(_) => self.config.interrupts,
            CodeMeaning::Reserved => None,
        };
        let message = mapping.and_then(|mapping| mapping.message(code, !at_once));
        self.counters.ignored += u64::from(message.is_none());
        self.counters.to_messages += u64::from(message.is_some());
        self.counters.delayed += u64::from(message.is_some() && !at_once);
        message
    }

    /// Converts a message from the SpaceFibre side. Returns the code to send, if the message
    /// passes. A message of one kind that holds a code of the other kind does not pass.
    pub fn message(&mut self, message: &LinkBroadcast) -> Option<BridgedCode> {
        let of = |mapping: Option<CodeMapping>| mapping.and_then(|mapping| mapping.code(message));
        let is_time = |code: &BroadcastCode| matches!(code.meaning(), CodeMeaning::Time(_));
        let is_interrupt = |code: &BroadcastCode| {
            matches!(code.meaning(), CodeMeaning::Interrupt(_) | CodeMeaning::Acknowledge(_))
        };
        let time = of(self.config.time).filter(is_time);
        let Some(code) = time.or_else(|| of(self.config.interrupts).filter(is_interrupt)) else {
            self.counters.ignored += 1;
            return None;
        };
        let LinkBroadcast { late, delayed, .. } = *message;
        if time.is_some() && (late || delayed) && !self.config.passes_late_time {
            self.counters.late += 1;
            return None;
        }
        self.counters.to_codes += 1;
        Some(BridgedCode { code, late, delayed })
    }
}
