//! Broadcast messages in a switch (50-11C 5.8): to all other ports, each once in spite of loops.
//!
//! The switch remembers per channel that a message passed, for the broadcast time-out, which is to
//! be longer than any way through the network. How copies are told is a setting, as readings of
//! the standard differ. The messages themselves stay with the caller, who marks those DELAYED that
//! an output cannot send at once.

/// What counts as a copy, within the time-out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyRule {
    /// What comes in at another port than the last message of the channel did. A source may send
    /// as often as the links allow.
    #[default]
    OtherPort,
    /// Any message of the channel: a source sends one per time-out at most.
    AnyPort,
}

#[derive(Clone, Copy, Debug)]
struct Passed {
    port: u8,
    end_ns: u64,
}

/// Counters of a switch's broadcast messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BroadcastCounters {
    /// Handed on.
    pub passed: u64,
    /// Discarded as copies.
    pub copies: u64,
}

/// A switch's memory of broadcast channels.
#[derive(Clone, Debug)]
pub struct BroadcastSwitch {
    rule: CopyRule,
    timeout_ns: u64,
    /// Ports that messages are handed on to.
    ports: u32,
    channels: [Option<Passed>; 256],
    counters: BroadcastCounters,
}

impl BroadcastSwitch {
    /// Nothing has passed yet. The ports, bit per number, are those that messages go to.
    pub const fn new(rule: CopyRule, timeout_ns: u64, ports: u32) -> Self {
        let counters = BroadcastCounters { passed: 0, copies: 0 };
        Self { rule, timeout_ns, ports, channels: [None; 256], counters }
    }

    /// Sets the ports that messages are handed on to.
    pub const fn set_ports(&mut self, ports: u32) {
        self.ports = ports;
    }

    /// The counters.
    pub const fn counters(&self) -> BroadcastCounters {
        self.counters
    }

    /// A message of a channel came in at a port, 0 to 31. Gives back the ports it goes to, bit per
    /// number; none for a copy.
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
