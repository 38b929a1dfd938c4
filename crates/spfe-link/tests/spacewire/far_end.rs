//! A far end for tests: it keeps the standard bit by bit until the test makes it break off.

use spfe_link::spacewire::decode::CharacterDecoder;
use spfe_link::spacewire::ds::{DsDecoder, DsEdge, DsEncoder, DsSignals};
use spfe_link::spacewire::encode::{CharacterBits, CharacterEncoder};
use spfe_link::spacewire::{DecodedCharacter, NChar, SpaceWireCharacter};

/// One connection, from its first bit to the bit that breaks it.
pub struct FarEnd {
    encoder: CharacterEncoder,
    signals: DsEncoder,
    bits: CharacterBits,
    decoder: CharacterDecoder,
    edges: DsDecoder,
    /// Characters received.
    pub heard: Vec<SpaceWireCharacter>,
    /// N-Chars sent completely.
    pub sent: Vec<NChar>,
    current: Option<SpaceWireCharacter>,
    pub fcts_sent: usize,
}

impl FarEnd {
    pub fn new() -> Self {
        Self {
            encoder: CharacterEncoder::new(),
            signals: DsEncoder::new(),
            bits: CharacterBits::NONE,
            decoder: CharacterDecoder::new(),
            edges: DsDecoder::new(),
            heard: Vec::new(),
            sent: Vec::new(),
            current: None,
            fcts_sent: 0,
        }
    }

    pub fn count(&self, wanted: impl Fn(&SpaceWireCharacter) -> bool) -> usize {
        self.heard.iter().filter(|character| wanted(character)).count()
    }

    pub fn heard_fcts(&self) -> usize {
        self.count(|character| *character == SpaceWireCharacter::Fct)
    }

    pub fn heard_n_chars(&self) -> Vec<NChar> {
        let n_char = |character: &SpaceWireCharacter| match character {
            SpaceWireCharacter::NChar(n_char) => Some(*n_char),
            _ => None,
        };
        self.heard.iter().filter_map(n_char).collect()
    }

    /// N-Chars that it may still send, besides the one that it is sending.
    pub fn credit(&self) -> usize {
        8 * self.heard_fcts() - self.sent.len() - usize::from(self.is_sending_n_char())
    }

    /// Whether one more FCT keeps the credit of the other end within 56.
    pub fn may_send_fct(&self) -> bool {
        8 * (self.fcts_sent + 1) - self.heard_n_chars().len() <= 56
    }

    fn is_sending_n_char(&self) -> bool {
        matches!(self.current, Some(SpaceWireCharacter::NChar(_)))
    }

    /// Whether the next bit is the first of a character.
    pub fn is_free(&self) -> bool {
        self.bits.count == 0
    }

    pub fn start(&mut self, character: SpaceWireCharacter) {
        self.bits = self.encoder.encode(character);
        self.fcts_sent += usize::from(character == SpaceWireCharacter::Fct);
        self.current = Some(character);
    }

    /// Signals of the next bit; inverted if `flip`.
    pub fn send_bit(&mut self, flip: bool) -> DsSignals {
        let bit = self.bits.next_bit().expect("a character was started");
        if self.bits.count == 0
            && let Some(SpaceWireCharacter::NChar(n_char)) = self.current.take()
        {
            self.sent.push(n_char);
        }
        self.signals.bit(bit ^ flip)
    }

    /// Signals while it is silent.
    pub fn hold(&self) -> DsSignals {
        self.signals.signals()
    }

    /// Receives from the other end, which must keep the standard too.
    pub fn listen(&mut self, signals: DsSignals) {
        let bit = match self.edges.signals(signals) {
            DsEdge::None => return,
            DsEdge::Bit(bit) => bit,
            DsEdge::Both => panic!("both signals change at once"),
        };
        match self.decoder.bit(bit) {
            Some(DecodedCharacter::Character(character)) => self.heard.push(character),
            Some(error) => panic!("{error:?} after {:?}", self.heard),
            None => {}
        }
    }
}
