//! SpaceWire broadcast codes as SpaceFibre broadcast messages, and back (50-11C 5.8, 50-12C 5.6).
//!
//! No B_TYPE is fixed for them, so channel, type and place of the code in the eight bytes are
//! settings, for time-codes and for interrupts apart. A bridge is one port of both switches: what
//! ends loops is the [`super::codes::CodeSwitch`] on one side and the
//! [`super::broadcast::BroadcastSwitch`] on the other.

use crate::datalink::Broadcast;
use crate::spacewire::BroadcastCode;
use crate::spacewire::character::Meaning;

/// How one kind of codes stands in broadcast messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Broadcast channel that messages are sent on; each channel has one source in a network.
    pub channel: u8,
    /// B_TYPE.
    pub kind: u8,
    /// Bits of B_TYPE that a received message must have as in `kind`.
    pub kind_mask: u8,
    /// Which of the eight bytes is the code, 0 to 7. The others are sent 0.
    pub byte: u8,
}

impl Mapping {
    fn code(&self, message: &Broadcast) -> Option<BroadcastCode> {
        let fits = (message.kind ^ self.kind) & self.kind_mask == 0;
        let code = message.data.get(usize::from(self.byte)).copied().map(BroadcastCode);
        code.filter(|_| fits)
    }

    fn message(&self, code: BroadcastCode, delayed: bool) -> Option<Broadcast> {
        let mut data = [0; 8];
        *data.get_mut(usize::from(self.byte))? = code.0;
        Some(Broadcast { channel: self.channel, kind: self.kind, data, late: false, delayed })
    }
}

/// Settings of a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Time-codes; none are passed without it.
    pub time: Option<Mapping>,
    /// Interrupts and their acknowledges; none are passed without it.
    pub interrupts: Option<Mapping>,
    /// Time-codes of messages that are LATE or DELAYED pass too. Without it they are discarded, and
    /// the register of the next switch sees two codes that do not follow each other.
    pub passes_late_time: bool,
}

/// A code out of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The code.
    pub code: BroadcastCode,
    /// Its message was LATE.
    pub late: bool,
    /// Its message was DELAYED.
    pub delayed: bool,
}

/// What a bridge counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
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
    config: Config,
    counters: Counters,
}

impl Bridge {
    /// With its counters at 0.
    pub fn new(config: Config) -> Self {
        Self { config, counters: Counters::default() }
    }

    /// The settings.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The counters.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// A code came from the SpaceWire side: the message to send, if it passes. `at_once`: whether
    /// the link takes it now ([`crate::DataLink::broadcasts_at_once`]); if not it is DELAYED.
    pub fn code(&mut self, code: BroadcastCode, at_once: bool) -> Option<Broadcast> {
        let mapping = match code.meaning() {
            Meaning::Time(_) => self.config.time,
            Meaning::Interrupt(_) | Meaning::Acknowledge(_) => self.config.interrupts,
            Meaning::Reserved => None,
        };
        let message = mapping.and_then(|mapping| mapping.message(code, !at_once));
        self.counters.ignored += u64::from(message.is_none());
        self.counters.to_messages += u64::from(message.is_some());
        self.counters.delayed += u64::from(message.is_some() && !at_once);
        message
    }

    /// A message came from the SpaceFibre side: the code to send, if it passes. A message of one
    /// kind with a code of the other does not.
    pub fn message(&mut self, message: &Broadcast) -> Option<Passed> {
        let of = |mapping: Option<Mapping>| mapping.and_then(|mapping| mapping.code(message));
        let is_time = |code: &BroadcastCode| matches!(code.meaning(), Meaning::Time(_));
        let is_interrupt = |code: &BroadcastCode| {
            matches!(code.meaning(), Meaning::Interrupt(_) | Meaning::Acknowledge(_))
        };
        let time = of(self.config.time).filter(is_time);
        let Some(code) = time.or_else(|| of(self.config.interrupts).filter(is_interrupt)) else {
            self.counters.ignored += 1;
            return None;
        };
        let Broadcast { late, delayed, .. } = *message;
        if time.is_some() && (late || delayed) && !self.config.passes_late_time {
            self.counters.late += 1;
            return None;
        }
        self.counters.to_codes += 1;
        Some(Passed { code, late, delayed })
    }
}
