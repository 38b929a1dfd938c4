//! The pins of `rtl/sim/spfe_sim_endpoint.sv`: the order of the fields here is the order there,
//! from the last one.

use crate::bits::{PinReader, PinWriter};

/// Bits of an ID on the bus.
const ID: usize = 6;
/// Bits of a word with its K flags.
const WORD: usize = 36;
/// Bits of a SpaceWire direction: data and strobe.
const WIRE: usize = 2;

/// Parameters of a model: its pins depend on them, and the name of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Ports.
    pub ports: usize,
    /// SpaceWire ports among them, the last ones.
    pub wires: usize,
    /// Lanes of each SpaceFibre port.
    pub lanes: usize,
    /// Virtual channels of each SpaceFibre port.
    pub vcs: usize,
    /// Event vectors.
    pub events: usize,
    /// It has a queue pair on channel 0 of port 0.
    pub pair: bool,
    /// It has no queues, and serves memory to channel 0 of port 0.
    pub target: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self { ports: 2, wires: 0, lanes: 1, vcs: 4, events: 16, pair: false, target: false }
    }
}

/// What a lane carries in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneWord {
    /// The four symbols and, above them, their K flags.
    pub word: u64,
    /// There is a signal.
    pub on: bool,
}

/// Inputs of the core in a cycle. Buses have the names of their pins.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    pub rst: bool,
    pub lite_aw_addr: u32,
    pub lite_aw_valid: bool,
    pub lite_w_data: u64,
    pub lite_w_strb: u8,
    pub lite_w_valid: bool,
    pub lite_ar_addr: u32,
    pub lite_ar_valid: bool,
    pub ar_ready: bool,
    pub r_data: u128,
    pub r_id: u8,
    pub r_resp: u8,
    pub r_last: bool,
    pub r_valid: bool,
    pub aw_ready: bool,
    pub w_ready: bool,
    pub b_id: u8,
    pub b_resp: u8,
    pub b_valid: bool,
    /// [port * lanes + lane]
    pub lanes: Vec<LaneWord>,
    /// Data (bit 1) and strobe (bit 0) of each port; 0 for SpaceFibre ports.
    pub wires: Vec<u8>,
}

/// Outputs of the core in a cycle.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    pub lite_aw_ready: bool,
    pub lite_w_ready: bool,
    pub lite_b_resp: u8,
    pub lite_b_valid: bool,
    pub lite_ar_ready: bool,
    pub lite_r_data: u64,
    pub lite_r_resp: u8,
    pub lite_r_valid: bool,
    pub ar_addr: u64,
    pub ar_id: u8,
    pub ar_len: u8,
    pub ar_valid: bool,
    pub r_ready: bool,
    pub aw_addr: u64,
    pub aw_id: u8,
    pub aw_len: u8,
    pub aw_valid: bool,
    pub w_data: u128,
    pub w_strb: u16,
    pub w_last: bool,
    pub w_valid: bool,
    pub b_ready: bool,
    pub message: u32,
    pub message_valid: bool,
    /// The level line of any vector is high: that is INTA#.
    pub level: bool,
    /// A bit for each port whose link is up.
    pub up: u64,
    /// A memory of the core has an error that cannot be corrected.
    pub failed: bool,
    pub lanes: Vec<LaneWord>,
    pub wires: Vec<u8>,
}

impl Inputs {
    pub fn pack(&self, shape: Shape, to: &mut PinWriter) {
        let count = shape.ports * shape.lanes;
        to.clear();
        let wire = |port| self.wires.get(port).copied().unwrap_or_default();
        (0..shape.ports).for_each(|port| to.put(wire(port).into(), WIRE));
        to.put(0, count); // realigned
        let lane = |at| self.lanes.get(at).copied().unwrap_or_default();
        (0..count).for_each(|at| to.flag(lane(at).on));
        (0..count).for_each(|at| to.put(lane(at).word, WORD));
        to.flag(true); // message_ready
        to.flag(self.b_valid);
        to.put(self.b_resp.into(), 2);
        to.put(self.b_id.into(), ID);
        to.flag(self.w_ready);
        to.flag(self.aw_ready);
        to.flag(self.r_valid);
        to.flag(self.r_last);
        to.put(self.r_resp.into(), 2);
        to.put(self.r_id.into(), ID);
        to.wide(self.r_data);
        to.flag(self.ar_ready);
        to.flag(true); // lite_r_ready
        to.flag(self.lite_ar_valid);
        to.put(self.lite_ar_addr.into(), 32);
        to.flag(true); // lite_b_ready
        to.flag(self.lite_w_valid);
        to.put(self.lite_w_strb.into(), 8);
        to.put(self.lite_w_data, 64);
        to.flag(self.lite_aw_valid);
        to.put(self.lite_aw_addr.into(), 32);
        to.flag(self.rst);
    }
}

impl Outputs {
    /// Reads the pins. Returns the number of bits that they have.
    pub fn unpack(&mut self, shape: Shape, words: &[u32]) -> usize {
        let count = shape.ports * shape.lanes;
        let mut from = PinReader::new(words);
        self.wires.resize(shape.ports, 0);
        self.wires.iter_mut().for_each(|wire| *wire = from.get(WIRE) as u8);
        from.get(count); // invert
        from.get(count); // receive
        self.lanes.resize(count, LaneWord::default());
        self.lanes.iter_mut().for_each(|lane| lane.on = from.flag());
        self.lanes.iter_mut().for_each(|lane| lane.word = from.get(WORD));
        self.failed = from.flag();
        self.up = from.get(shape.ports);
        self.level = false;
        for _ in 0..shape.events {
            self.level |= from.flag();
        }
        self.message_valid = from.flag();
        self.message = from.get(16) as u32;
        self.b_ready = from.flag();
        self.w_valid = from.flag();
        self.w_last = from.flag();
        self.w_strb = from.get(16) as u16;
        self.w_data = from.wide();
        self.aw_valid = from.flag();
        self.aw_len = from.get(8) as u8;
        self.aw_id = from.get(ID) as u8;
        self.aw_addr = from.get(64);
        self.r_ready = from.flag();
        self.ar_valid = from.flag();
        self.ar_len = from.get(8) as u8;
        self.ar_id = from.get(ID) as u8;
        self.ar_addr = from.get(64);
        self.lite_r_valid = from.flag();
        self.lite_r_resp = from.get(2) as u8;
        self.lite_r_data = from.get(64);
        self.lite_ar_ready = from.flag();
        self.lite_b_valid = from.flag();
        self.lite_b_resp = from.get(2) as u8;
        self.lite_w_ready = from.flag();
        self.lite_aw_ready = from.flag();
        from.bits()
    }
}

impl Shape {
    /// Whether a port is a SpaceWire port.
    pub fn is_wire(self, port: usize) -> bool {
        port + self.wires >= self.ports
    }

    /// Words of 32 bits of the inputs and of the outputs.
    pub fn words(self) -> (usize, usize) {
        let mut packer = PinWriter::default();
        Inputs::default().pack(self, &mut packer);
        let outputs = Outputs::default().unpack(self, &[]);
        (packer.bits().div_ceil(32), outputs.div_ceil(32))
    }
}
