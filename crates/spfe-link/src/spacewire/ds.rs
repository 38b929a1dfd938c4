//! Data-Strobe encoding (50-12C 5.4.5): strobe changes exactly when data does not.

/// The two signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DsSignals {
    /// Data.
    pub d: bool,
    /// Strobe.
    pub s: bool,
}

/// The transmitter's side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DsEncoder {
    signals: DsSignals,
}

impl DsEncoder {
    /// Both signals 0, as at reset.
    pub const fn new() -> Self {
        Self { signals: DsSignals { d: false, s: false } }
    }

    /// The signals now.
    pub const fn signals(&self) -> DsSignals {
        self.signals
    }

    /// The signals for a bit.
    pub const fn bit(&mut self, bit: bool) -> DsSignals {
        if bit == self.signals.d {
            self.signals.s = !self.signals.s;
        }
        self.signals.d = bit;
        self.signals
    }

    /// One step towards both signals 0, never both at once: strobe, then data. Call it once per
    /// bit period while the transmitter is off; the gap is then between one bit and 500 ns.
    pub const fn quiet(&mut self) -> DsSignals {
        if self.signals.s {
            self.signals.s = false;
        } else {
            self.signals.d = false;
        }
        self.signals
    }
}

/// What a look at the signals shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DsEdge {
    /// Nothing changed.
    None,
    /// One signal changed: a bit.
    Bit(bool),
    /// Both changed at once: not a bit, and no reason to fail.
    Both,
}

/// The receiver's side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DsDecoder {
    signals: DsSignals,
}

impl DsDecoder {
    /// Both signals 0.
    pub const fn new() -> Self {
        Self { signals: DsSignals { d: false, s: false } }
    }

    /// Takes the signals; call it at least once between two edges.
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
