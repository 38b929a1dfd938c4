//! A port with its wires: one call per bit period to send, one per look at the signals to receive.

use super::character::BroadcastCode;
use super::decode::CharacterDecoder;
use super::ds::{DsDecoder, DsEdge, DsEncoder, DsSignals};
use super::encode::{CharacterBits, CharacterEncoder};
use super::port::SpaceWirePort;
use super::state::SpaceWireState;

/// A [`SpaceWirePort`], encoder, decoder and data-strobe of both directions.
#[derive(Clone, Debug)]
pub struct SerialPort<const TX: usize, const RX: usize> {
    /// The port.
    pub port: SpaceWirePort<TX, RX>,
    encoder: CharacterEncoder,
    bits: CharacterBits,
    ds_encoder: DsEncoder,
    decoder: CharacterDecoder,
    ds_decoder: DsDecoder,
    /// Falls of the port that encoder and decoder know of.
    falls: u64,
    flip: bool,
}

impl<const TX: usize, const RX: usize> SerialPort<TX, RX> {
    /// A port and its wires, both signals 0.
    pub fn new(port: SpaceWirePort<TX, RX>) -> Self {
        Self {
            falls: port.counters().falls,
            port,
            encoder: CharacterEncoder::new(),
            bits: CharacterBits::NONE,
            ds_encoder: DsEncoder::new(),
            decoder: CharacterDecoder::new(),
            ds_decoder: DsDecoder::new(),
            flip: false,
        }
    }

    /// Sends the next bit wrong, a fault for tests.
    pub fn flip_next_bit(&mut self) {
        self.flip = true;
    }

    /// The signals for the next bit period; the period is the port's `bit_ps`.
    pub fn transmit(&mut self, now_ns: u64) -> DsSignals {
        self.port.poll(now_ns);
        self.follow();
        if self.bits.count == 0 {
            if let Some(character) = self.port.transmit(now_ns) {
                self.bits = self.encoder.encode(character);
            }
            self.follow();
        }
        match self.bits.next_bit() {
            Some(bit) => self.ds_encoder.bit(bit ^ core::mem::take(&mut self.flip)),
            None => self.ds_encoder.quiet(),
        }
    }

    /// A look at the far end's signals: at least one between two edges.
    pub fn receive(&mut self, now_ns: u64, signals: DsSignals) -> Option<BroadcastCode> {
        self.port.poll(now_ns);
        self.follow();
        let edge = self.ds_decoder.signals(signals);
        if edge == DsEdge::None {
            return None;
        }
        self.port.signal(now_ns, now_ns);
        let DsEdge::Bit(bit) = edge else { return None };
        if self.port.state() == SpaceWireState::ErrorReset {
            return None;
        }
        let received = self.decoder.bit(bit)?;
        let up = self.port.receive(now_ns, received);
        self.follow();
        up
    }

    /// After a fall both directions start anew.
    fn follow(&mut self) {
        let falls = self.port.counters().falls;
        if falls != self.falls {
            self.falls = falls;
            self.encoder = CharacterEncoder::new();
            self.decoder = CharacterDecoder::new();
            self.bits = CharacterBits::NONE;
        }
    }
}
