//! SpaceWire links: wires, bits or characters to packets, time-codes and interrupts.

use spfe_link::spacewire::character::Meaning;
use spfe_link::spacewire::credit::{FCT_N_CHARS, MAX_N_CHARS};
use spfe_link::spacewire::decode::Decoder;
use spfe_link::spacewire::ds::{DsDecoder, Edge, Signals};
use spfe_link::spacewire::{BroadcastCode, Character, NChar, Received};

use crate::event::{End, Packet, Violation};
use crate::packet::Reassembly;
use crate::pair::Direction;

pub mod text;

/// Something that happened on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    /// Number of the character, from 0.
    pub at: u64,
    /// What it was.
    pub what: What<'a>,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What<'a> {
    /// The first NULL: a link starts.
    GotNull,
    /// A character, every one of them.
    Character(Character),
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
    Packet(Packet<'a>),
    /// Something the standard does not allow, or damage.
    Violation(Violation),
}

/// Where events go.
pub type Sink<'s> = dyn FnMut(Event<'_>) + 's;

/// Follows one direction. It may begin anywhere; bits are understood from the first NULL on.
#[derive(Clone, Debug)]
pub struct Listener {
    decoder: Decoder,
    wires: DsDecoder,
    packet: Reassembly,
    packet_limit: usize,
    at: u64,
    /// Characters have come.
    started: bool,
    time: Option<u8>,
}

impl Listener {
    /// One that has heard nothing; of a packet the first `packet_limit_bytes` are kept.
    pub const fn new(packet_limit_bytes: usize) -> Self {
        Self {
            decoder: Decoder::new(),
            wires: DsDecoder::new(),
            packet: Reassembly::new(false),
            packet_limit: packet_limit_bytes,
            at: 0,
            started: false,
            time: None,
        }
    }

    /// Data and strobe, sampled at least once between two edges.
    pub fn push_signals(&mut self, signals: Signals, sink: &mut Sink<'_>) {
        match self.wires.signals(signals) {
            Edge::None => {}
            Edge::Bit(bit) => self.push_bit(bit, sink),
            Edge::Both => self.violation(Violation::SimultaneousEdges, sink),
        }
    }

    /// A bit in the order of the wire.
    pub fn push_bit(&mut self, bit: bool, sink: &mut Sink<'_>) {
        match self.decoder.bit(bit) {
            None => {}
            Some(Received::Character(character)) => self.push(character, sink),
            Some(Received::ParityError) => self.fail(Violation::Parity, sink),
            Some(Received::EscapeError) => self.fail(Violation::Escape, sink),
        }
    }

    fn violation(&self, what: Violation, sink: &mut Sink<'_>) {
        sink(Event { at: self.at, what: What::Violation(what) });
    }

    /// The link ends here, and starts again with a NULL.
    fn fail(&mut self, what: Violation, sink: &mut Sink<'_>) {
        self.violation(what, sink);
        self.finish(sink);
        self.decoder = Decoder::new();
        self.started = false;
    }

    /// Nothing more comes: a packet under way is told of.
    pub fn finish(&mut self, sink: &mut Sink<'_>) {
        self.packet.cut(0, self.at, &mut relay(sink));
    }

    /// A character.
    pub fn push(&mut self, character: Character, sink: &mut Sink<'_>) {
        let at = self.at;
        if !core::mem::replace(&mut self.started, true) {
            if character == Character::Null {
                sink(Event { at, what: What::GotNull });
            } else {
                self.violation(Violation::FirstNull, sink);
            }
        }
        sink(Event { at, what: What::Character(character) });
        match character {
            Character::Null | Character::Fct => {}
            Character::NChar(NChar::Data(value)) => self.packet.byte(value, self.packet_limit, at),
            Character::NChar(NChar::Eop) => self.packet.end(0, End::Eop, at, &mut relay(sink)),
            Character::NChar(NChar::Eep) => self.packet.end(0, End::Eep, at, &mut relay(sink)),
            Character::Broadcast(code) => self.code(code, sink),
        }
        self.at += 1;
    }

    fn code(&mut self, code: BroadcastCode, sink: &mut Sink<'_>) {
        let at = self.at;
        let what = match code.meaning() {
            Meaning::Time(time) => {
                let expected = self.time.replace(time).map_or(time, |time| (time + 1) & 0x3f);
                if expected != time {
                    self.violation(Violation::TimeCodeOrder { expected, got: time }, sink);
                }
                What::TimeCode { time }
            }
            Meaning::Interrupt(id) => What::Interrupt { id },
            Meaning::Acknowledge(id) => What::Acknowledge { id },
            Meaning::Reserved => What::Violation(Violation::ReservedCode { code: code.0 }),
        };
        sink(Event { at, what });
    }
}

/// Packets of the common reassembly, as events of SpaceWire.
fn relay<'s>(sink: &'s mut Sink<'_>) -> impl FnMut(crate::event::Event<'_>) + 's {
    move |event| {
        if let crate::event::What::Packet(packet) = event.what {
            sink(Event { at: event.at, what: What::Packet(packet) });
        }
    }
}

/// Follows both directions: credit too.
#[derive(Clone, Debug)]
pub struct Pair {
    listeners: [Listener; 2],
    /// N-Chars that each direction may send, if the start of the other was seen.
    credit: [Option<u8>; 2],
}

impl Pair {
    /// One that has heard nothing; of a packet the first `packet_limit_bytes` are kept.
    pub const fn new(packet_limit_bytes: usize) -> Self {
        Self {
            listeners: [Listener::new(packet_limit_bytes), Listener::new(packet_limit_bytes)],
            credit: [None; 2],
        }
    }

    /// A character of one direction, in the order of time.
    pub fn push(&mut self, from: Direction, character: Character, sink: &mut Sink<'_>) {
        self.feed(from, |listener, sink| listener.push(character, sink), sink);
    }

    /// A bit of one direction, in the order of time.
    pub fn push_bit(&mut self, from: Direction, bit: bool, sink: &mut Sink<'_>) {
        self.feed(from, |listener, sink| listener.push_bit(bit, sink), sink);
    }

    /// Data and strobe of one direction, in the order of time.
    pub fn push_signals(&mut self, from: Direction, signals: Signals, sink: &mut Sink<'_>) {
        self.feed(from, |listener, sink| listener.push_signals(signals, sink), sink);
    }

    fn feed(
        &mut self,
        from: Direction,
        push: impl FnOnce(&mut Listener, &mut Sink<'_>),
        sink: &mut Sink<'_>,
    ) {
        let Self { listeners: [to_b, to_a], credit: [a, b] } = self;
        let (listener, own, other) =
            if from == Direction::AToB { (to_b, a, b) } else { (to_a, b, a) };
        push(listener, &mut |event| {
            let found = match event.what {
                What::GotNull => {
                    *other = Some(0);
                    None
                }
                What::Character(character) => account(character, own, other),
                _ => None,
            };
            sink(event);
            if let Some(what) = found {
                sink(Event { at: event.at, what: What::Violation(what) });
            }
        });
    }

    /// Nothing more comes.
    pub fn finish(&mut self, sink: &mut Sink<'_>) {
        for listener in &mut self.listeners {
            listener.finish(sink);
        }
    }
}

/// A character against the credit of its sender, or for that of its receiver.
fn account(
    character: Character,
    own: &mut Option<u8>,
    other: &mut Option<u8>,
) -> Option<Violation> {
    match (character, own, other) {
        (Character::NChar(_), Some(0), _) => return Some(Violation::NCharWithoutCredit),
        (Character::NChar(_), Some(own), _) => *own -= 1,
        (Character::Fct, _, Some(other)) if *other > MAX_N_CHARS - FCT_N_CHARS => {
            return Some(Violation::FctOverCredit);
        }
        (Character::Fct, _, Some(other)) => *other += FCT_N_CHARS,
        _ => {}
    }
    None
}
