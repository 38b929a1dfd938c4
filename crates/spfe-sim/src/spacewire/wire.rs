//! One direction of a SpaceWire link: bits on the wire, and the decoder at the far end.
//!
//! Every bit exists with its time. As long as the arriving bits are unchanged and the decoder is
//! synchronised, its state follows from the last character and it need not see the bits. The
//! decoder gets every bit at its time once a bit is wrong or missing, and while it searches for the
//! first NULL.

use super::chunk::{Signals, WireCharacter};
use crate::time::Ps;
use spfe_link::spacewire::decode::CharacterDecoder;
use spfe_link::spacewire::encode::{CharacterBits, CharacterEncoder};
use spfe_link::spacewire::{DecodedCharacter, SpaceWireCharacter};
use std::collections::VecDeque;

/// State of the receiver.
#[derive(Clone, Debug)]
enum WireReceiver {
    /// Turned off.
    Off,
    /// Decoding bit by bit.
    Bits(CharacterDecoder),
    /// Synchronised with the sender. The last character still waits for its parity bit.
    InStep(SpaceWireCharacter),
}

/// Result of a step.
#[derive(Clone, Copy, Debug)]
pub enum WireStep {
    /// Nothing.
    Nothing,
    /// An edge and its time, which may be a little before the step.
    Edge(Ps),
    /// An edge, and with it a character or an error.
    Received(DecodedCharacter),
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct CharacterWire {
    delay_ps: Ps,
    chunks: VecDeque<WireCharacter>,
    /// Number of bits of the first chunk that have arrived.
    index: u8,
    ear: WireReceiver,
    /// Time of the next step, or [`NEVER`].
    next_at: Ps,
    /// No edges leave before this time.
    cut_until: Ps,
    /// Signal levels after all chunks.
    signals: Signals,
}

/// A time that is never reached.
pub const NEVER: Ps = Ps::MAX;

impl CharacterWire {
    pub fn new(delay_ps: Ps) -> Self {
        Self {
            delay_ps,
            chunks: VecDeque::new(),
            index: 0,
            ear: WireReceiver::Off,
            next_at: NEVER,
            cut_until: 0,
            signals: Signals::default(),
        }
    }

    /// Time of the next step.
    #[inline(always)]
    pub fn next_at(&self) -> Ps {
        self.next_at
    }

    /// Whether only NULLs are on the wire.
    pub fn is_quiet(&self) -> bool {
        let idle =
            |chunk: &WireCharacter| chunk.intact && chunk.character == SpaceWireCharacter::Null;
        let ear = match self.ear {
            WireReceiver::Off => self.chunks.is_empty(),
            WireReceiver::Bits(_) => false,
            WireReceiver::InStep(last) => last == SpaceWireCharacter::Null,
        };
        ear && self.chunks.iter().all(idle)
    }

    /// Whether nothing is on the wire.
    pub fn is_silent(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Sends a character.
    #[inline]
    pub fn push(&mut self, mut chunk: WireCharacter) {
        chunk.before = self.signals;
        self.signals.d = chunk.bit(chunk.bits.count - 1);
        // Each bit changes one of the two signals. Their difference changes after an odd number of
        // bits.
        let changes = chunk.bits.count & 1 != 0;
        self.signals.s = self.signals.d ^ chunk.before.d ^ chunk.before.s ^ changes;
        let at = chunk.at;
        self.chunks.push_back(chunk);
        if at < self.cut_until {
            self.cut_again();
        }
        if self.next_at == NEVER {
            self.schedule();
        } else if self.index != 0 && self.follows() {
            self.pass_front();
            self.schedule();
        }
    }

    /// Removes the edges of the last chunk that leave while the wire is interrupted.
    fn cut_again(&mut self) {
        if let Some(last) = self.chunks.back_mut() {
            last.remove(0, self.cut_until);
        }
    }

    /// Ends an interruption.
    pub fn restore(&mut self, now: Ps) {
        self.cut_until = self.cut_until.min(now);
    }

    /// Interrupts the wire. Returns the time of the last edge if the receiver has to know it.
    pub fn cut(&mut self, now: Ps, duration_ps: Ps) -> Option<Ps> {
        self.cut_until = self.cut_until.max(now.saturating_add(duration_ps));
        for chunk in &mut self.chunks {
            chunk.remove(now, self.cut_until);
        }
        self.disturbed(now)
    }

    /// Turns the transmitter off. Bits that have not left are removed, and both signals return to
    /// 0, strobe first (5.4.5). Returns the last edge as [`CharacterWire::cut`] does.
    pub fn stop(&mut self, now: Ps) -> Option<Ps> {
        // A duplicated character may not have begun.
        while self.chunks.back().is_some_and(|last| last.at >= now) {
            self.chunks.pop_back().inspect(|last| self.signals = last.before);
        }
        let Some(last) = self.chunks.back_mut() else {
            self.index = 0;
            self.schedule();
            return None;
        };
        let kept = last.begun(now);
        last.intact &= kept == last.bits.count;
        last.bits.count = kept;
        let mut signals = last.before;
        (0..kept).for_each(|index| signals.bit(last.bit(index)));
        let (at, pace) = (last.time(kept).max(now), last.pace);
        self.signals = Signals::default();
        // The receiver takes these edges for bits.
        let count = u8::from(signals.s) + u8::from(signals.d);
        if count != 0 {
            let bits = CharacterBits { value: u16::from(signals.s && signals.d), count };
            let quiet = WireCharacter::new(at, pace, bits, SpaceWireCharacter::Null);
            self.chunks.push_back(WireCharacter { intact: false, before: signals, ..quiet });
            self.cut_again();
        }
        self.disturbed(now)
    }

    /// Whether the receiver is on.
    pub fn listens(&self) -> bool {
        !matches!(self.ear, WireReceiver::Off)
    }

    /// Turns the receiver on or off.
    pub fn listen(&mut self, now: Ps, on: bool) {
        self.ear = if on { WireReceiver::Bits(CharacterDecoder::new()) } else { WireReceiver::Off };
        self.skip(now);
        self.pop_passed();
        self.schedule();
    }

    /// Handles changed bits on the wire. If the receiver is within their character, it decodes bit
    /// by bit from now on. Returns the last edge that it skipped.
    fn disturbed(&mut self, now: Ps) -> Option<Ps> {
        let old = self.index;
        let front = *self.chunks.front()?;
        let mut passed = None;
        match self.ear {
            WireReceiver::InStep(_) if front.intact => {}
            WireReceiver::InStep(last) => {
                self.skip(now);
                if self.index != old {
                    passed = Some(front.time(self.index - 1) + self.delay_ps);
                }
                // Bits up to here are unchanged, and the character before was delivered.
                let mut decoder = in_step(last);
                (0..self.index).for_each(|index| {
                    decoder.bit(front.bit(index));
                });
                self.ear = WireReceiver::Bits(decoder);
            }
            WireReceiver::Off | WireReceiver::Bits(_) => self.skip(now),
        }
        self.pop_passed();
        self.schedule();
        passed
    }

    /// Skips bits of the first chunk that arrived before now.
    fn skip(&mut self, now: Ps) {
        let Some(front) = self.chunks.front() else { return };
        while self.index < front.bits.count && front.time(self.index) + self.delay_ps < now {
            self.index += 1;
        }
    }

    fn pop_passed(&mut self) {
        if self.chunks.front().is_some_and(|front| self.index == front.bits.count) {
            self.pop();
        }
    }

    #[inline]
    fn schedule(&mut self) {
        self.next_at = match self.chunks.front() {
            None => NEVER,
            // Its last edge is sampled late, because the next character usually comes first.
            Some(front) if self.looks_late(front) => front.time(front.bits.count + 2),
            Some(front) => front.time(self.next_index(front)),
        };
        if self.next_at != NEVER {
            self.next_at += self.delay_ps;
        }
    }

    #[inline]
    fn looks_late(&self, front: &WireCharacter) -> bool {
        self.index != 0
            && front.intact
            && front.pace.skips_characters()
            && matches!(self.ear, WireReceiver::InStep(_))
    }

    /// Whether another character follows the first one. Its first or second bit is then the next
    /// edge to sample.
    #[inline]
    fn follows(&self) -> bool {
        self.chunks.front().is_some_and(|front| self.looks_late(front))
            && self.chunks.get(1).is_some_and(|next| next.present & 1 != 0)
    }

    /// Index of the next bit to sample.
    #[inline]
    fn next_index(&self, front: &WireCharacter) -> u8 {
        let last = front.bits.count - 1;
        match &self.ear {
            WireReceiver::InStep(_) if front.intact => match self.index {
                0 => 1,
                index => last.min(index - 1 + front.pace.stride()),
            },
            WireReceiver::Off => last,
            _ => self.index,
        }
    }

    /// Performs the step that is due.
    #[inline]
    pub fn step(&mut self) -> WireStep {
        let Some(front) = self.chunks.front() else { return WireStep::Nothing };
        let step = match &mut self.ear {
            WireReceiver::InStep(last) if front.intact && self.index == 0 => {
                let received = DecodedCharacter::Character(*last);
                self.index = 2;
                if self.follows() {
                    self.pass_front();
                }
                WireStep::Received(received)
            }
            WireReceiver::InStep(_) if front.intact => {
                let last = front.bits.count - 1;
                let at = if self.looks_late(front) { last } else { self.next_index(front) };
                let edge_at = front.time(at) + self.delay_ps;
                self.index = at + 1;
                if at == last {
                    self.pass_front();
                }
                WireStep::Edge(edge_at)
            }
            WireReceiver::InStep(last) => {
                self.ear = WireReceiver::Bits(in_step(*last));
                self.bit()
            }
            WireReceiver::Bits(_) => self.bit(),
            WireReceiver::Off => {
                self.pop();
                WireStep::Nothing
            }
        };
        self.schedule();
        step
    }

    /// Delivers the first chunk as a whole: it has arrived, or will before the next sampled bit.
    #[inline]
    fn pass_front(&mut self) {
        if let Some(front) = self.chunks.pop_front() {
            self.ear = WireReceiver::InStep(front.character);
        }
        self.index = 0;
    }

    fn pop(&mut self) {
        self.chunks.pop_front();
        self.index = 0;
    }

    #[cold]
    fn bit(&mut self) -> WireStep {
        let (WireReceiver::Bits(decoder), Some(front)) = (&mut self.ear, self.chunks.front())
        else {
            return WireStep::Nothing;
        };
        let index = self.index;
        let mut step = WireStep::Nothing;
        if front.present >> index & 1 != 0 {
            let edge = WireStep::Edge(front.time(index) + self.delay_ps);
            step = decoder.bit(front.bit(index)).map_or(edge, WireStep::Received);
        }
        self.index += 1;
        if self.index == front.bits.count {
            if front.pace.stride() != 0 && *decoder == in_step(front.character) {
                self.pass_front();
            } else {
                self.pop();
            }
        }
        step
    }
}

/// A synchronised decoder that has just seen this character.
fn in_step(last: SpaceWireCharacter) -> CharacterDecoder {
    let mut decoder = CharacterDecoder::new();
    let mut encoder = CharacterEncoder::new();
    for character in [SpaceWireCharacter::Null, SpaceWireCharacter::Null, last] {
        let mut bits = encoder.encode(character);
        while let Some(bit) = bits.next_bit() {
            decoder.bit(bit);
        }
    }
    decoder
}
