//! Distributed interrupts (50-12C 5.6.4, optional): the relay of a router and the flags of a node.

use super::character::{BroadcastCode, CodeMeaning};

/// Kinds of interrupts in a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterruptMode {
    /// 32 interrupts, no acknowledge codes.
    #[default]
    Interrupt,
    /// 32 interrupts, each acknowledged.
    Acknowledged,
    /// 64 interrupts, no acknowledge codes. Found in drafts of the standard and in devices, but not
    /// in the published standard.
    Extended,
}

/// Meaning of a code in the mode in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Interrupt(usize),
    Acknowledge(usize),
}

const fn event(mode: InterruptMode, code: BroadcastCode) -> Option<Event> {
    match (mode, code.meaning()) {
        (_, CodeMeaning::Interrupt(id)) => Some(Event::Interrupt(id as usize)),
        (InterruptMode::Acknowledged, CodeMeaning::Acknowledge(id)) => {
            Some(Event::Acknowledge(id as usize))
        }
        (InterruptMode::Extended, CodeMeaning::Acknowledge(id)) => {
            Some(Event::Interrupt(id as usize + 32))
        }
        _ => None,
    }
}

/// A router's record of interrupts in progress, with a timer for each. Each interrupt passes once,
/// which ends loops.
#[derive(Clone, Copy, Debug)]
pub struct InterruptRelay {
    mode: InterruptMode,
    timeout_ns: u64,
    ends_ns: [Option<u64>; 64],
}

impl InterruptRelay {
    /// No interrupt is in progress. The time-out must be longer than the longest route through the
    /// network. With acknowledges it must also cover the handler and the route back.
    pub const fn new(mode: InterruptMode, timeout_ns: u64) -> Self {
        Self { mode, timeout_ns, ends_ns: [None; 64] }
    }

    /// Processes a received code. Returns true if it must be passed on.
    pub fn receive(&mut self, now_ns: u64, code: BroadcastCode) -> bool {
        let Some(event) = event(self.mode, code) else { return false };
        let (Event::Interrupt(id) | Event::Acknowledge(id)) = event;
        let Some(end) = self.ends_ns.get_mut(id) else { return false };
        let set = end.is_some_and(|end_ns| now_ns < end_ns);
        match event {
            Event::Interrupt(_) if !set => *end = Some(now_ns.saturating_add(self.timeout_ns)),
            Event::Acknowledge(_) if set => *end = None,
            _ => return false,
        }
        true
    }

    /// Whether an interrupt is in progress.
    pub fn is_set(&self, now_ns: u64, id: u8) -> bool {
        let end = self.ends_ns.get(usize::from(id)).copied().flatten();
        end.is_some_and(|end_ns| now_ns < end_ns)
    }
}

/// Interrupt flags of a node. An interrupt is active from its code until the host has handled it.
#[derive(Clone, Copy, Debug)]
pub struct InterruptFlags {
    mode: InterruptMode,
    /// Minimum time from an interrupt to its acknowledge, in ns.
    acknowledge_ns: u64,
    active: u64,
    since_ns: [u64; 64],
}

impl InterruptFlags {
    /// No interrupt is active. In acknowledged mode, an acknowledge is sent no earlier than
    /// `acknowledge_ns` after its interrupt: the delay of the longest route through the network.
    pub const fn new(mode: InterruptMode, acknowledge_ns: u64) -> Self {
        Self { mode, acknowledge_ns, active: 0, since_ns: [0; 64] }
    }

    /// Mask of active interrupts.
    pub const fn active(&self) -> u64 {
        self.active
    }

    /// Processes a received code. Returns the identifier if the host must be told.
    pub fn receive(&mut self, now_ns: u64, code: BroadcastCode) -> Option<u8> {
        let Event::Interrupt(id) = event(self.mode, code)? else { return None };
        if self.active >> id & 1 != 0 {
            return None;
        }
        self.active |= 1 << id;
        *self.since_ns.get_mut(id)? = now_ns;
        Some(id as u8)
    }

    /// The host has handled an interrupt. Returns the code to send, and the earliest time to send
    /// it.
    pub fn handled(&mut self, now_ns: u64, id: u8) -> Option<(BroadcastCode, u64)> {
        let since_ns = *self.since_ns.get(usize::from(id))?;
        let bit = 1 << id;
        if self.active & bit == 0 {
            return None;
        }
        self.active &= !bit;
        (self.mode == InterruptMode::Acknowledged).then(|| {
            let from_ns = since_ns.saturating_add(self.acknowledge_ns).max(now_ns);
            (BroadcastCode::acknowledge(id), from_ns)
        })
    }
}
