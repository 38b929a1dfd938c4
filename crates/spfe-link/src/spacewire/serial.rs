//! A port with its wires. Call it once per bit period to send, and once per sample of the signals
//! to receive.

use super::character::BroadcastCode;
use super::decode::CharacterDecoder;
use super::ds::{DsDecoder, DsEdge, DsEncoder, DsSignals};
use super::encode::{CharacterBits, CharacterEncoder};
use super::port::SpaceWirePort;
use super::state::SpaceWireState;

/// A [`SpaceWirePort`] with encoder, decoder and data-strobe coding of both directions.
#[derive(Clone, Debug)]
pub struct SerialPort<const TX: usize, const RX: usize> {
    /// The port above the wires.
    pub port: SpaceWirePort<TX, RX>,
    encoder: CharacterEncoder,
    bits: CharacterBits,
    ds_encoder: DsEncoder,
    decoder: CharacterDecoder,
    ds_decoder: DsDecoder,
    /// Value of the port's fall counter that encoder and decoder have seen.
    falls: u64,
    flip: bool,
}

impl<const TX: usize, const RX: usize> SerialPort<TX, RX> {
    /// Adds wires to a port; both signals are 0.
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

    /// Inverts the next bit that is sent, to inject a fault.
    pub fn flip_next_bit(&mut self) {
        self.flip = true;
    }

    /// Signals for the next bit period, which lasts the port's `bit_ps`.
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

    /// Samples the far end's signals; call it at least once between two edges. Returns a broadcast
    /// code to pass on.
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

    /// Restarts both directions after the link fell back to ErrorReset.
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
