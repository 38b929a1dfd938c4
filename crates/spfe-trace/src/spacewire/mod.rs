//! SpaceWire links: wires, bits or characters to packets, time-codes and interrupts.

use spfe_link::spacewire::character::CodeMeaning;
use spfe_link::spacewire::credit::{FCT_N_CHARS, MAX_N_CHARS};
use spfe_link::spacewire::decode::CharacterDecoder;
use spfe_link::spacewire::ds::{DsDecoder, DsEdge, DsSignals};
use spfe_link::spacewire::{BroadcastCode, DecodedCharacter, NChar, SpaceWireCharacter};

use crate::event::{TraceEnd, TracePacket, TraceViolation};
use crate::packet::Reassembly;
use crate::pair::LinkDirection;

pub mod text;

/// An event on a SpaceWire link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpaceWireEvent<'a> {
    /// Number of the character, from 0.
    pub at: u64,
    /// Kind of event.
    pub what: SpaceWireEventKind<'a>,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpaceWireEventKind<'a> {
    /// The first NULL: the link starts.
    GotNull,
    /// A character; reported for every character.
    Character(SpaceWireCharacter),
    /// A time-code.
    TimeCode {
        /// Value 0 to 63.
        time: u8,
    },
    /// An interrupt.
    Interrupt {
        /// Identifier 0 to 31.
        id: u8,
    },
    /// An interrupt acknowledge, or interrupt 32 to 63 in networks that have those.
    Acknowledge {
        /// Identifier 0 to 31.
        id: u8,
    },
    /// A packet has ended.
    Packet(TracePacket<'a>),
    /// A violation of the standard, or damage.
    Violation(TraceViolation),
}

/// Function that receives the events.
pub type SpaceWireSink<'s> = dyn FnMut(SpaceWireEvent<'_>) + 's;

/// Decodes one direction. It may start anywhere; bits are decoded from the first NULL on.
#[derive(Clone, Debug)]
pub struct SpaceWireListener {
    decoder: CharacterDecoder,
    wires: DsDecoder,
    packet: Reassembly,
    packet_limit: usize,
    at: u64,
    /// Whether a character has been received.
    started: bool,
    time: Option<u8>,
}

impl SpaceWireListener {
    /// Creates a listener that has received nothing. It keeps the first `packet_limit_bytes` of a
    /// packet.
    pub const fn new(packet_limit_bytes: usize) -> Self {
        Self {
            decoder: CharacterDecoder::new(),
            wires: DsDecoder::new(),
            packet: Reassembly::new(false),
            packet_limit: packet_limit_bytes,
            at: 0,
            started: false,
            time: None,
        }
    }

    /// Processes a sample of data and strobe. There must be at least one sample between two edges.
    pub fn push_signals(&mut self, signals: DsSignals, sink: &mut SpaceWireSink<'_>) {
        match self.wires.signals(signals) {
            DsEdge::None => {}
            DsEdge::Bit(bit) => self.push_bit(bit, sink),
            DsEdge::Both => self.violation(TraceViolation::SimultaneousEdges, sink),
        }
    }

    /// Processes a bit, in the order of the wire.
    pub fn push_bit(&mut self, bit: bool, sink: &mut SpaceWireSink<'_>) {
        match self.decoder.bit(bit) {
            None => {}
            Some(DecodedCharacter::Character(character)) => self.push(character, sink),
            Some(DecodedCharacter::ParityError) => self.fail(TraceViolation::Parity, sink),
            Some(DecodedCharacter::EscapeError) => self.fail(TraceViolation::Escape, sink),
        }
    }

    fn violation(&self, what: TraceViolation, sink: &mut SpaceWireSink<'_>) {
        sink(SpaceWireEvent { at: self.at, what: SpaceWireEventKind::Violation(what) });
    }

    /// The link ends here; it starts again with a NULL.
    fn fail(&mut self, what: TraceViolation, sink: &mut SpaceWireSink<'_>) {
        self.violation(what, sink);
        self.finish(sink);
        self.decoder = CharacterDecoder::new();
        self.started = false;
    }

    /// Ends the input: reports a packet in progress.
    pub fn finish(&mut self, sink: &mut SpaceWireSink<'_>) {
        self.packet.cut(0, self.at, &mut relay(sink));
    }

    /// Processes a character.
    pub fn push(&mut self, character: SpaceWireCharacter, sink: &mut SpaceWireSink<'_>) {
        let at = self.at;
        if !core::mem::replace(&mut self.started, true) {
            if character == SpaceWireCharacter::Null {
                sink(SpaceWireEvent { at, what: SpaceWireEventKind::GotNull });
            } else {
                self.violation(TraceViolation::FirstNull, sink);
            }
        }
        sink(SpaceWireEvent { at, what: SpaceWireEventKind::Character(character) });
        match character {
            SpaceWireCharacter::Null | SpaceWireCharacter::Fct => {}
            SpaceWireCharacter::NChar(NChar::Data(value)) => {
                self.packet.byte(value, self.packet_limit, at)
            }
            SpaceWireCharacter::NChar(NChar::Eop) => {
                self.packet.end(0, TraceEnd::Eop, at, &mut relay(sink))
            }
            SpaceWireCharacter::NChar(NChar::Eep) => {
                self.packet.end(0, TraceEnd::Eep, at, &mut relay(sink))
            }
            SpaceWireCharacter::Broadcast(code) => self.code(code, sink),
        }
        self.at += 1;
    }

    fn code(&mut self, code: BroadcastCode, sink: &mut SpaceWireSink<'_>) {
        let at = self.at;
        let what = match code.meaning() {
            CodeMeaning::Time(time) => {
                let expected = self.time.replace(time).map_or(time, |time| (time + 1) & 0x3f);
                if expected != time {
                    self.violation(TraceViolation::TimeCodeOrder { expected, got: time }, sink);
                }
                SpaceWireEventKind::TimeCode { time }
            }
            CodeMeaning::Interrupt(id) => SpaceWireEventKind::Interrupt { id },
            CodeMeaning::Acknowledge(id) => SpaceWireEventKind::Acknowledge { id },
            CodeMeaning::Reserved => {
                SpaceWireEventKind::Violation(TraceViolation::ReservedCode { code: code.0 })
            }
        };
        sink(SpaceWireEvent { at, what });
    }
}

/// Converts packets of the common reassembly to SpaceWire events.
fn relay<'s>(sink: &'s mut SpaceWireSink<'_>) -> impl FnMut(crate::event::TraceEvent<'_>) + 's {
    move |event| {
        if let crate::event::TraceEventKind::Packet(packet) = event.what {
            sink(SpaceWireEvent { at: event.at, what: SpaceWireEventKind::Packet(packet) });
        }
    }
}

/// Decodes both directions, and checks credit.
#[derive(Clone, Debug)]
pub struct SpaceWirePair {
    listeners: [SpaceWireListener; 2],
    /// N-Chars that each direction may send, if the start of the other direction was seen.
    credit: [Option<u8>; 2],
}

impl SpaceWirePair {
    /// Creates a pair that has received nothing. It keeps the first `packet_limit_bytes` of a
    /// packet.
    pub const fn new(packet_limit_bytes: usize) -> Self {
        Self {
            listeners: [
                SpaceWireListener::new(packet_limit_bytes),
                SpaceWireListener::new(packet_limit_bytes),
            ],
            credit: [None; 2],
        }
    }

    /// Processes a character of one direction. Calls must be in the order of time.
    pub fn push(
        &mut self,
        from: LinkDirection,
        character: SpaceWireCharacter,
        sink: &mut SpaceWireSink<'_>,
    ) {
        self.feed(from, |listener, sink| listener.push(character, sink), sink);
    }

    /// Processes a bit of one direction. Calls must be in the order of time.
    pub fn push_bit(&mut self, from: LinkDirection, bit: bool, sink: &mut SpaceWireSink<'_>) {
        self.feed(from, |listener, sink| listener.push_bit(bit, sink), sink);
    }

    /// Processes a sample of data and strobe of one direction. Calls must be in the order of time.
    pub fn push_signals(
        &mut self,
        from: LinkDirection,
        signals: DsSignals,
        sink: &mut SpaceWireSink<'_>,
    ) {
        self.feed(from, |listener, sink| listener.push_signals(signals, sink), sink);
    }

    fn feed(
        &mut self,
        from: LinkDirection,
        push: impl FnOnce(&mut SpaceWireListener, &mut SpaceWireSink<'_>),
        sink: &mut SpaceWireSink<'_>,
    ) {
        let Self { listeners: [to_b, to_a], credit: [a, b] } = self;
        let (listener, own, other) =
            if from == LinkDirection::AToB { (to_b, a, b) } else { (to_a, b, a) };
        push(listener, &mut |event| {
            let found = match event.what {
                SpaceWireEventKind::GotNull => {
                    *other = Some(0);
                    None
                }
                SpaceWireEventKind::Character(character) => account(character, own, other),
                _ => None,
            };
            sink(event);
            if let Some(what) = found {
                sink(SpaceWireEvent { at: event.at, what: SpaceWireEventKind::Violation(what) });
            }
        });
    }

    /// Ends the input.
    pub fn finish(&mut self, sink: &mut SpaceWireSink<'_>) {
        for listener in &mut self.listeners {
            listener.finish(sink);
        }
    }
}

/// Checks a character against the credit of its sender, and updates the credit of its receiver.
fn account(
    character: SpaceWireCharacter,
    own: &mut Option<u8>,
    other: &mut Option<u8>,
) -> Option<TraceViolation> {
    match (character, own, other) {
        (SpaceWireCharacter::NChar(_), Some(0), _) => {
            return Some(TraceViolation::NCharWithoutCredit);
        }
        (SpaceWireCharacter::NChar(_), Some(own), _) => *own -= 1,
        (SpaceWireCharacter::Fct, _, Some(other)) if *other > MAX_N_CHARS - FCT_N_CHARS => {
            return Some(TraceViolation::FctOverCredit);
        }
        (SpaceWireCharacter::Fct, _, Some(other)) => *other += FCT_N_CHARS,
        _ => {}
    }
    None
}
