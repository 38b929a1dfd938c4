//! Broadcast messages in a switch (50-11C 5.8): to all other ports, each once in spite of loops.
//!
//! For each channel the switch remembers that a message passed, for the duration of the broadcast
//! time-out. The time-out must be longer than any route through the network. A setting selects how
//! copies are recognised, because the standard can be read in two ways. The caller keeps the
//! messages themselves, and marks those DELAYED that an output cannot send at once.

/// Which messages count as copies within the time-out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyRule {
    /// A message that comes in at another port than the last message of its channel. A source may
    /// send as often as the links allow.
    #[default]
    OtherPort,
    /// Any message of the channel. A source then sends at most one message per time-out.
    AnyPort,
}

#[derive(Clone, Copy, Debug)]
struct Passed {
    port: u8,
    end_ns: u64,
}

/// Counters of the broadcast messages of a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BroadcastCounters {
    /// Messages passed on.
    pub passed: u64,
    /// Copies discarded.
    pub copies: u64,
}

/// A switch's record of broadcast channels.
#[derive(Clone, Debug)]
pub struct BroadcastSwitch {
    rule: CopyRule,
    timeout_ns: u64,
    /// Mask of ports that messages may leave by.
    ports: u32,
    channels: [Option<Passed>; 256],
    counters: BroadcastCounters,
}

impl BroadcastSwitch {
    /// Creates a record without messages. `ports` is the mask of ports that messages may leave by.
    pub const fn new(rule: CopyRule, timeout_ns: u64, ports: u32) -> Self {
        let counters = BroadcastCounters { passed: 0, copies: 0 };
        Self { rule, timeout_ns, ports, channels: [None; 256], counters }
    }

    /// Sets the mask of ports that messages may leave by.
    pub const fn set_ports(&mut self, ports: u32) {
        self.ports = ports;
    }

    /// Counters.
    pub const fn counters(&self) -> BroadcastCounters {
        self.counters
    }

    /// A message of a channel came in at `port`, 0 to 31. Returns the mask of ports that it leaves
    /// by; 0 for a copy.
    pub fn receive(&mut self, now_ns: u64, port: u8, channel: u8) -> u32 {
        let place = &mut self.channels[usize::from(channel)];
        let copy = place.is_some_and(|passed| {
            now_ns < passed.end_ns && (self.rule == CopyRule::AnyPort || passed.port != port)
        });
        if copy {
            self.counters.copies += 1;
            return 0;
        }
        *place = Some(Passed { port, end_ns: now_ns.saturating_add(self.timeout_ns) });
        self.counters.passed += 1;
        self.ports & !1u32.checked_shl(u32::from(port)).unwrap_or(0)
    }
}
