//! An endpoint with its registers and a memory. A cable joins its two ports, or each port has a far
//! end of the caller.

use std::collections::VecDeque;

use spfe_link::Word;

use crate::axi::Axi;
use crate::{Core, Packer, Unpacker};

/// Ports of the endpoint.
pub const PORTS: usize = 2;
/// Bits of an ID on the bus.
const ID_BITS: usize = 6;
/// Cycles of a word on the cable.
const CABLE: usize = 20;
/// Cycles within which the registers answer; after a reset they are filled first.
const PATIENCE: u32 = 40_000;
/// Cycles in which a command ends.
const COMMAND: u32 = 100_000;

/// The far ends of all ports: takes the word of each port, and returns the one that arrives next.
pub type Far = Box<dyn FnMut(&[Option<Word>]) -> Vec<Option<Word>>>;

/// The far ends of the SpaceWire ports: takes data (bit 1) and strobe (bit 0) of each port, and
/// returns those that arrive next.
pub type FarWires = Box<dyn FnMut(&[u8]) -> Vec<u8>>;

/// The endpoint, and what is around it.
pub struct Endpoint {
    core: Core,
    /// Memory behind its bus, from address 0.
    pub memory: Vec<u8>,
    axi: Axi,
    rng: fastrand::Rng,
    ports: usize,
    /// Words on their way to each port.
    cables: Vec<VecDeque<Option<Word>>>,
    /// Instead of a cable from port 0 to port 1.
    far: Option<Far>,
    /// What is at the SpaceWire ports.
    pub far_wires: Option<FarWires>,
    /// Data and strobe that arrive at each port.
    wires: Vec<u8>,
    /// Whether the cable is plugged in.
    pub plugged: bool,
    /// Interrupt messages of each vector.
    pub messages: Vec<u32>,
    /// Level-sensitive lines.
    pub lines: u64,
    /// Ports that packets can pass.
    pub up: u64,
    events: usize,
    packer: Packer,
    sequence: u32,
    reset: bool,
}

/// An access to the registers.
#[derive(Clone, Copy)]
enum Access {
    None,
    Read(u32),
    Write(u32, u64, u8),
}

impl Endpoint {
    /// An endpoint with these parameters, with so many ports and events, after its reset.
    ///
    /// # Panics
    /// There is no far end, and not two ports either.
    #[must_use]
    pub fn with(
        parameters: &[(&str, usize)],
        (ports, events): (usize, usize),
        far: Option<Far>,
        seed: u64,
    ) -> Self {
        assert!(far.is_some() || ports == 2, "a cable has two ends");
        let delay = if far.is_some() { 1 } else { CABLE };
        let mut made = Self {
            core: Core::new("spfe_sim_endpoint", parameters, seed),
            memory: vec![0; 1 << 20],
            axi: Axi::new(ID_BITS),
            rng: fastrand::Rng::with_seed(seed),
            ports,
            cables: vec![VecDeque::from(vec![None; delay]); ports],
            far,
            far_wires: None,
            wires: vec![0; ports],
            plugged: true,
            messages: vec![0; events],
            lines: 0,
            up: 0,
            events,
            packer: Packer::default(),
            sequence: 0,
            reset: true,
        };
        made.run(4);
        made.reset = false;
        made
    }

    /// Lets time pass.
    pub fn run(&mut self, cycles: u32) {
        for _ in 0..cycles {
            self.cycle(Access::None, (false, false));
        }
    }

    /// Runs until something holds, or panics.
    ///
    /// # Panics
    /// It does not happen.
    pub fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        for _ in 0..COMMAND {
            if holds(self) {
                return;
            }
            self.run(1);
        }
        panic!("never: {what}");
    }

    /// One cycle. Returns what the registers say: {taken, read data if valid, write done}.
    fn cycle(&mut self, access: Access, ready: (bool, bool)) -> (bool, Option<u64>, bool) {
        self.axi.drive(&mut self.memory, &mut self.rng);
        let message_ready = self.rng.bool();
        let packer = &mut self.packer;
        packer.clear();
        for wires in &self.wires {
            packer.put((*wires).into(), 2);
        }
        packer.put(0, self.ports);
        let heard = self.cables.iter_mut().map(|cable| cable.pop_front().flatten());
        let heard: Vec<_> = heard.map(|word| word.filter(|_| self.plugged)).collect();
        for word in &heard {
            packer.flag(word.is_some());
        }
        for word in heard {
            packer.word(word.unwrap_or_default());
        }
        packer.flag(message_ready);
        self.axi.put(packer);
        let (reads, writes) =
            (matches!(access, Access::Read(_)), matches!(access, Access::Write(..)));
        let (address, data, strobe) = match access {
            Access::None => (0, 0, 0),
            Access::Read(address) => (address, 0, 0),
            Access::Write(address, data, strobe) => (address, data, strobe),
        };
        packer.flag(ready.0).flag(reads).put(address.into(), 32).flag(ready.1);
        packer.flag(writes).put(strobe.into(), 8).put(data, 64);
        packer.flag(writes).put(address.into(), 32).flag(self.reset);

        let mut bits = Unpacker::new(self.core.step(self.packer.words()));
        let wires: Vec<_> = (0..self.ports).map(|_| bits.get(2) as u8).collect();
        if let Some(far) = &mut self.far_wires {
            self.wires = far(&wires);
        }
        bits.get(2 * self.ports);
        let on: Vec<_> = (0..self.ports).map(|_| bits.flag()).collect();
        let said: Vec<_> = on.iter().map(|on| Some(bits.word()).filter(|_| *on)).collect();
        let heard = match &mut self.far {
            Some(far) => far(&said),
            None => vec![said[1], said[0]],
        };
        for (cable, word) in self.cables.iter_mut().zip(heard) {
            cable.push_back(word);
        }
        let failed = bits.flag();
        assert!(!failed || self.reset, "a memory of the endpoint failed");
        self.up = bits.get(self.ports);
        self.lines = bits.get(self.events);
        let (message_valid, message) = (bits.flag(), bits.get(16));
        if self.reset {
            return (false, None, false);
        }
        if message_valid && message_ready {
            self.messages[message as usize] += 1;
        }
        self.axi.take(&mut bits);
        let read = bits.flag();
        let _response = bits.get(2);
        let data = bits.get(64);
        let ar_ready = bits.flag();
        let written = bits.flag();
        let _response = bits.get(2);
        let w_ready = bits.flag();
        let aw_ready = bits.flag();
        assert_eq!(aw_ready, w_ready, "address and data are taken together");
        let taken = match access {
            Access::None => false,
            Access::Read(_) => ar_ready,
            Access::Write(..) => aw_ready,
        };
        (taken, read.then_some(data), written)
    }

    fn access(&mut self, access: Access) -> u64 {
        for _ in 0..PATIENCE {
            if self.cycle(access, (false, false)).0 {
                for _ in 0..PATIENCE {
                    let ready = self.rng.bool();
                    let (_, read, written) = self.cycle(Access::None, (ready, ready));
                    if ready && (read.is_some() || written) {
                        return read.unwrap_or(0);
                    }
                }
            }
        }
        panic!("the registers do not answer");
    }

    /// Reads 8 bytes.
    pub fn read64(&mut self, offset: u32) -> u64 {
        self.access(Access::Read(offset))
    }

    /// Reads a register.
    pub fn read(&mut self, offset: u32) -> u32 {
        (self.read64(offset) >> (8 * (offset & 4))) as u32
    }

    /// Writes a register.
    pub fn write(&mut self, offset: u32, value: u32) {
        let half = offset & 4;
        self.access(Access::Write(offset, u64::from(value) << (8 * half), 0xf << half));
    }

    /// Writes 8 bytes.
    pub fn write64(&mut self, offset: u32, value: u64) {
        self.access(Access::Write(offset, value, 0xff));
    }

    /// Writes some bytes of 8, as a bus may do and a driver does not.
    pub fn write_bytes(&mut self, offset: u32, value: u64, strobe: u8) {
        self.access(Access::Write(offset, value, strobe));
    }

    /// Carries out a command of the latch. Returns its status.
    ///
    /// # Panics
    /// The command does not end.
    pub fn command(&mut self, command: u32, index: u32) -> u32 {
        use spfe_contract::global_block as global;
        self.sequence = self.read(global::CFG_ACK).wrapping_add(1).max(1);
        self.write(global::CFG_COMMAND, command);
        self.write(global::CFG_INDEX, index);
        self.write(global::CFG_SEQ, self.sequence);
        for _ in 0..COMMAND {
            if self.read(global::CFG_ACK) == self.sequence {
                return self.read(global::CFG_STATUS);
            }
        }
        panic!("command {command} of {index} does not end");
    }

    /// Cycles so far.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.core.cycles()
    }
}
