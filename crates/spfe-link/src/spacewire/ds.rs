//! Data-strobe encoding (50-12C 5.4.5): for each bit either data or strobe changes, never both.

/// Levels of the two signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DsSignals {
    /// Data.
    pub d: bool,
    /// Strobe.
    pub s: bool,
}

/// Data-strobe encoder of a transmitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DsEncoder {
    signals: DsSignals,
}

impl DsEncoder {
    /// Both signals are 0, as at reset.
    pub const fn new() -> Self {
        Self { signals: DsSignals { d: false, s: false } }
    }

    /// Current levels.
    pub const fn signals(&self) -> DsSignals {
        self.signals
    }

    /// Encodes a bit.
    pub const fn bit(&mut self, bit: bool) -> DsSignals {
        if bit == self.signals.d {
            self.signals.s = !self.signals.s;
        }
        self.signals.d = bit;
        self.signals
    }

    /// Takes one step towards both signals at 0: first strobe, then data, never both at once. Call
    /// it once per bit period while the transmitter is off; the time between the steps is then
    /// between one bit and 500 ns.
    pub const fn quiet(&mut self) -> DsSignals {
        if self.signals.s {
            self.signals.s = false;
        } else {
            self.signals.d = false;
        }
        self.signals
    }
}

/// Change between two samples of the signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DsEdge {
    /// No signal changed.
    None,
    /// One signal changed: a bit.
    Bit(bool),
    /// Both signals changed at once. This is not a bit, and by itself not an error.
    Both,
}

/// Data-strobe decoder of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DsDecoder {
    signals: DsSignals,
}

impl DsDecoder {
    /// Both signals are 0.
    pub const fn new() -> Self {
        Self { signals: DsSignals { d: false, s: false } }
    }

    /// Samples the signals; call it at least once between two edges.
    pub const fn signals(&mut self, signals: DsSignals) -> DsEdge {
        let d = signals.d != self.signals.d;
        let s = signals.s != self.signals.s;
        self.signals = signals;
        match (d, s) {
            (false, false) => DsEdge::None,
            (true, true) => DsEdge::Both,
            _ => DsEdge::Bit(signals.d),
        }
    }
}
