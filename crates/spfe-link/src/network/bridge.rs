//! SpaceWire broadcast codes as SpaceFibre broadcast messages, and back (50-11C 5.8, 50-12C 5.6).
//!
//! No B_TYPE is fixed for them, so channel, type and place of the code in the eight bytes are
//! settings, for time-codes and for interrupts apart. A bridge is one port of both switches: what
//! ends loops is the [`super::codes::CodeSwitch`] on one side and the
//! [`super::broadcast::BroadcastSwitch`] on the other.

use crate::datalink::LinkBroadcast;
use crate::spacewire::BroadcastCode;
use crate::spacewire::character::CodeMeaning;

/// How one kind of codes stands in broadcast messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeMapping {
    /// Broadcast channel that messages are sent on; each channel has one source in a network.
    pub channel: u8,
    /// B_TYPE.
    pub kind: u8,
    /// Bits of B_TYPE that a received message must have as in `kind`.
    pub kind_mask: u8,
    /// Which of the eight bytes is the code, 0 to 7. The others are sent 0.
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
    /// Time-codes; none are passed without it.
    pub time: Option<CodeMapping>,
    /// Interrupts and their acknowledges; none are passed without it.
    pub interrupts: Option<CodeMapping>,
    /// Time-codes of messages that are LATE or DELAYED pass too. Without it they are discarded, and
    /// the register of the next switch sees two codes that do not follow each other.
    pub passes_late_time: bool,
}

/// A code out of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BridgedCode {
    /// The code.
    pub code: BroadcastCode,
    /// Its message was LATE.
    pub late: bool,
    /// Its message was DELAYED.
    pub delayed: bool,
}

/// What a bridge counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BridgeCounters {
    /// Codes that became messages.
    pub to_messages: u64,
    /// Those that were marked DELAYED.
    pub delayed: u64,
    /// Messages that became codes.
    pub to_codes: u64,
    /// Codes and messages that no setting is for.
    pub ignored: u64,
    /// Time-codes discarded because their messages were LATE or DELAYED.
    pub late: u64,
}

/// A bridge of broadcast codes.
#[derive(Clone, Copy, Debug)]
pub struct Bridge {
    config: BridgeConfig,
    counters: BridgeCounters,
}

impl Bridge {
    /// With its counters at 0.
    pub fn new(config: BridgeConfig) -> Self {
        Self { config, counters: BridgeCounters::default() }
    }

    /// The settings.
    pub const fn config(&self) -> &BridgeConfig {
        &self.config
    }

    /// The counters.
    pub const fn counters(&self) -> BridgeCounters {
        self.counters
    }

    /// A code came from the SpaceWire side: the message to send, if it passes. `at_once`: whether
    /// the link takes it now ([`crate::DataLink::broadcasts_at_once`]); if not it is DELAYED.
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

    /// A message came from the SpaceFibre side: the code to send, if it passes. A message of one
    /// kind with a code of the other does not.
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
