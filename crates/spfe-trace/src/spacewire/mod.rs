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

/// Something that happened on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpaceWireEvent<'a> {
    /// Number of the character, from 0.
    pub at: u64,
    /// What it was.
    pub what: SpaceWireEventKind<'a>,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpaceWireEventKind<'a> {
    /// The first NULL: a link starts.
    GotNull,
    /// A character, every one of them.
    Character(SpaceWireCharacter),
    /// A time-code.
    TimeCode {
        /// 0 to 63.
        time: u8,
    },
    /// An interrupt.
    Interrupt {
        /// 0 to 31.
        id: u8,
    },
    /// An interrupt acknowledge, or interrupt 32 to 63 where a network has those.
    Acknowledge {
        /// 0 to 31.
        id: u8,
    },
    /// A packet has ended.
    Packet(TracePacket<'a>),
    /// Something the standard does not allow, or damage.
    Violation(TraceViolation),
}

/// Where events go.
pub type SpaceWireSink<'s> = dyn FnMut(SpaceWireEvent<'_>) + 's;

/// Follows one direction. It may begin anywhere; bits are understood from the first NULL on.
#[derive(Clone, Debug)]
pub struct SpaceWireListener {
    decoder: CharacterDecoder,
    wires: DsDecoder,
    packet: Reassembly,
    packet_limit: usize,
    at: u64,
    /// Characters have come.
    started: bool,
    time: Option<u8>,
}

impl SpaceWireListener {
    /// One that has heard nothing; of a packet the first `packet_limit_bytes` are kept.
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

    /// Data and strobe, sampled at least once between two edges.
    pub fn push_signals(&mut self, signals: DsSignals, sink: &mut SpaceWireSink<'_>) {
        match self.wires.signals(signals) {
            DsEdge::None => {}
            DsEdge::Bit(bit) => self.push_bit(bit, sink),
            DsEdge::Both => self.violation(TraceViolation::SimultaneousEdges, sink),
        }
    }

    /// A bit in the order of the wire.
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

    /// The link ends here, and starts again with a NULL.
    fn fail(&mut self, what: TraceViolation, sink: &mut SpaceWireSink<'_>) {
        self.violation(what, sink);
        self.finish(sink);
        self.decoder = CharacterDecoder::new();
        self.started = false;
    }

    /// Nothing more comes: a packet under way is told of.
    pub fn finish(&mut self, sink: &mut SpaceWireSink<'_>) {
        self.packet.cut(0, self.at, &mut relay(sink));
    }

    /// A character.
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

/// Packets of the common reassembly, as events of SpaceWire.
fn relay<'s>(sink: &'s mut SpaceWireSink<'_>) -> impl FnMut(crate::event::TraceEvent<'_>) + 's {
    move |event| {
        if let crate::event::TraceEventKind::Packet(packet) = event.what {
            sink(SpaceWireEvent { at: event.at, what: SpaceWireEventKind::Packet(packet) });
        }
    }
}

/// Follows both directions: credit too.
#[derive(Clone, Debug)]
pub struct SpaceWirePair {
    listeners: [SpaceWireListener; 2],
    /// N-Chars that each direction may send, if the start of the other was seen.
    credit: [Option<u8>; 2],
}

impl SpaceWirePair {
    /// One that has heard nothing; of a packet the first `packet_limit_bytes` are kept.
    pub const fn new(packet_limit_bytes: usize) -> Self {
        Self {
            listeners: [
                SpaceWireListener::new(packet_limit_bytes),
                SpaceWireListener::new(packet_limit_bytes),
            ],
            credit: [None; 2],
        }
    }

    /// A character of one direction, in the order of time.
    pub fn push(
        &mut self,
        from: LinkDirection,
        character: SpaceWireCharacter,
        sink: &mut SpaceWireSink<'_>,
    ) {
        self.feed(from, |listener, sink| listener.push(character, sink), sink);
    }

    /// A bit of one direction, in the order of time.
    pub fn push_bit(&mut self, from: LinkDirection, bit: bool, sink: &mut SpaceWireSink<'_>) {
        self.feed(from, |listener, sink| listener.push_bit(bit, sink), sink);
    }

    /// Data and strobe of one direction, in the order of time.
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

    /// Nothing more comes.
    pub fn finish(&mut self, sink: &mut SpaceWireSink<'_>) {
        for listener in &mut self.listeners {
            listener.finish(sink);
        }
    }
}

/// A character against the credit of its sender, or for that of its receiver.
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
