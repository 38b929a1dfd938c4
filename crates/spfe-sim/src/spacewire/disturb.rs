//! Faults of one direction, applied to characters before they are on the wire.

use super::chunk::WireCharacter;
use crate::fault::{FaultKind, FaultTarget, WireFault};
use crate::time::Ps;
use fastrand::Rng;
use spfe_link::spacewire::{NChar, SpaceWireCharacter};

/// How to send a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharacterFate {
    /// Send it once.
    Send,
    /// Do not send it.
    Drop,
    /// Send it twice.
    Twice,
    /// Interrupt the wire for this time, beginning with the character.
    Cut(Ps),
}

/// Planned faults, random bit errors and the random numbers of one direction.
#[derive(Clone, Debug)]
pub struct FaultInjector {
    rng: Rng,
    rate: f64,
    /// Bits before the next error.
    error_in: u64,
    /// Remaining bits of a burst.
    burst: u32,
    /// Planned faults in the order of their times.
    faults: Vec<(Ps, WireFault)>,
    /// The previous character was dropped, so the parity of this one covers bits that were never
    /// sent.
    dropped: bool,
}

impl FaultInjector {
    pub const fn new(rng: Rng) -> Self {
        Self { rng, rate: 0.0, error_in: u64::MAX, burst: 0, faults: Vec::new(), dropped: false }
    }

    /// Whether no fault is active or planned.
    pub fn is_quiet(&self) -> bool {
        self.rate == 0.0 && self.faults.is_empty() && self.burst == 0 && !self.dropped
    }

    /// Sets the probability that a bit is inverted.
    pub fn set_rate(&mut self, rate: f64) {
        self.rate = if rate.is_nan() { 0.0 } else { rate.clamp(0.0, 1.0) };
        self.error_in = self.gap();
    }

    /// Number of bits before the next error, from a geometric distribution.
    fn gap(&mut self) -> u64 {
        if self.rate == 0.0 {
            return u64::MAX;
        }
        // The logarithm's argument is above 0 and at most 1. At a rate of 1 the quotient is 0.
        ((1.0 - self.rng.f64()).ln() / (-self.rate).ln_1p()) as u64
    }

    /// Plans a fault. False if SpaceWire links do not have it.
    pub fn inject(&mut self, at: Ps, fault: WireFault) -> bool {
        let known = matches!(
            fault.kind,
            FaultKind::BitError
                | FaultKind::Burst { .. }
                | FaultKind::Drop
                | FaultKind::Duplicate
                | FaultKind::Cut { .. }
        );
        if !known || !fault.target.is_spacewire() || fault.lane.unwrap_or(0) != 0 {
            return false;
        }
        let index = self.faults.partition_point(|(other, _)| *other <= at);
        self.faults.insert(index, (at, fault));
        true
    }

    /// Forgets planned faults and the rest of a burst.
    pub fn restore(&mut self) {
        self.faults.clear();
        self.burst = 0;
    }

    /// Time of the next cut that does not wait for a character.
    pub fn next_cut(&self) -> Option<Ps> {
        self.faults.iter().find(|(_, fault)| is_cut(fault)).map(|(at, _)| *at)
    }

    /// Takes the cut that is due.
    pub fn take_cut(&mut self, now: Ps) -> Option<(WireFault, Ps)> {
        let due = |(at, fault): &(Ps, WireFault)| *at <= now && is_cut(fault);
        let (_, fault) = self.faults.remove(self.faults.iter().position(due)?);
        match fault.kind {
            FaultKind::Cut { duration_ps } => Some((fault, duration_ps)),
            _ => None,
        }
    }

    /// Applies faults to a character that leaves, and reports each of them.
    #[inline]
    pub fn pass(
        &mut self,
        chunk: &mut WireCharacter,
        report: impl FnMut(WireFault),
    ) -> CharacterFate {
        let bits = u64::from(chunk.bits.count);
        if self.faults.is_empty() && self.burst == 0 && !self.dropped && self.error_in >= bits {
            // Without bit errors the counter starts too high to ever reach 0.
            self.error_in -= bits;
            return CharacterFate::Send;
        }
        self.disturb(chunk, report)
    }

    fn disturb(
        &mut self,
        chunk: &mut WireCharacter,
        mut report: impl FnMut(WireFault),
    ) -> CharacterFate {
        let was = chunk.bits;
        let mut verdict = CharacterFate::Send;
        if std::mem::take(&mut self.dropped) {
            chunk.intact = false;
        }
        let due = |(at, fault): &(Ps, WireFault)| {
            *at <= chunk.at && !is_cut(fault) && hits(fault.target, chunk.character)
        };
        if let Some(index) = self.faults.iter().position(due) {
            let (_, fault) = self.faults.remove(index);
            match fault.kind {
                FaultKind::BitError => {
                    chunk.bits.value ^= 1 << self.rng.u64(..u64::from(was.count))
                }
                FaultKind::Burst { bits } => self.burst = bits,
                FaultKind::Drop => verdict = CharacterFate::Drop,
                FaultKind::Duplicate => verdict = CharacterFate::Twice,
                FaultKind::Cut { duration_ps } => verdict = CharacterFate::Cut(duration_ps),
                // `inject` refuses these.
                FaultKind::Reorder
                | FaultKind::PolaritySwap
                | FaultKind::Skew { .. }
                | FaultKind::Stuck { .. }
                | FaultKind::Delay { .. } => {}
            }
            report(fault);
        }
        for index in 0..was.count {
            if self.burst != 0 {
                self.burst -= 1;
                chunk.bits.value ^= (self.rng.u64(..2) as u16) << index;
            }
            if self.error_in == 0 {
                chunk.bits.value ^= 1 << index;
                self.error_in = self.gap();
            } else {
                self.error_in -= 1;
            }
        }
        chunk.intact &= chunk.bits == was && verdict == CharacterFate::Send;
        self.dropped = verdict == CharacterFate::Drop;
        verdict
    }
}

const fn is_cut(fault: &WireFault) -> bool {
    matches!(fault.kind, FaultKind::Cut { .. }) && matches!(fault.target, FaultTarget::Any)
}

const fn hits(target: FaultTarget, character: SpaceWireCharacter) -> bool {
    match target {
        FaultTarget::Any => true,
        FaultTarget::Fct => matches!(character, SpaceWireCharacter::Fct),
        FaultTarget::Data => matches!(character, SpaceWireCharacter::NChar(NChar::Data(_))),
        FaultTarget::Null => matches!(character, SpaceWireCharacter::Null),
        FaultTarget::EndMarker => {
            matches!(character, SpaceWireCharacter::NChar(NChar::Eop | NChar::Eep))
        }
        FaultTarget::Code => matches!(character, SpaceWireCharacter::Broadcast(_)),
        _ => false,
    }
}
