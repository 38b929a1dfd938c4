//! One simulated core with its buses.

use crate::axi::{Axi, Timing};
use crate::bits::PinWriter;
use crate::lite::{Lite, RegisterAccess};
use crate::memory::BusMemory;
use crate::model::Model;
use crate::pins::{Inputs, LaneWord, Outputs, Shape};
use spfe_registers::Interrupts;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

/// Cycles of the reset at the start.
const RESET_CYCLES: u32 = 16;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a core has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Stores to its doorbells.
    pub doorbells: u64,
    /// Its interrupts.
    pub interrupts: u64,
    /// Accesses that were refused.
    pub refusals: u64,
    /// Bytes read and written.
    pub bytes: (u64, u64),
}

/// What the thread of a machine shares with the users of a core.
#[derive(Default)]
pub struct CoreFace {
    /// A driver has the core.
    pub taken: AtomicBool,
    /// Memory that the core reaches.
    pub memory: BusMemory,
    /// The level line of any of its vectors is high.
    pub level: AtomicBool,
    accesses: Mutex<Vec<RegisterAccess>>,
    sink: Mutex<Option<Weak<dyn Interrupts>>>,
}

impl CoreFace {
    pub fn push(&self, access: RegisterAccess) {
        lock(&self.accesses).push(access);
    }

    /// Takes what was asked for.
    fn take(&self) -> Vec<RegisterAccess> {
        std::mem::take(&mut *lock(&self.accesses))
    }

    /// Nobody will answer: whoever waits for a register gets none.
    pub fn drop_accesses(&self) {
        drop(self.take());
    }

    pub fn connect(&self, sink: Option<Weak<dyn Interrupts>>) {
        *lock(&self.sink) = sink;
    }

    pub fn sink(&self) -> Option<std::sync::Arc<dyn Interrupts>> {
        lock(&self.sink).as_ref().and_then(Weak::upgrade)
    }
}

/// A core.
pub struct Core {
    model: Model,
    shape: Shape,
    lite: Lite,
    axi: Axi,
    given: Inputs,
    out: Outputs,
    packer: PinWriter,
    doorbells: u64,
    interrupts: u64,
}

impl Core {
    /// Takes a core out of its reset.
    ///
    /// # Errors
    /// An assertion of the core fails.
    pub fn start(model: Model, shape: Shape, timing: Timing) -> Result<Self, String> {
        let mut core = Self {
            model,
            shape,
            lite: Lite::default(),
            axi: Axi::new(timing),
            given: Inputs::default(),
            out: Outputs::default(),
            packer: PinWriter::default(),
            doorbells: 0,
            interrupts: 0,
        };
        core.given.lanes = vec![LaneWord::default(); shape.ports * shape.lanes];
        core.given.wires = vec![0; shape.ports];
        core.reset()?;
        Ok(core)
    }

    /// Resets the core. Accesses that wait are dropped, and so is what is under way on the bus.
    fn reset(&mut self) -> Result<(), String> {
        let lanes = std::mem::take(&mut self.given.lanes);
        let wires = std::mem::take(&mut self.given.wires);
        self.given = Inputs { rst: true, lanes, wires, ..Inputs::default() };
        self.lite = Lite::default();
        self.axi.reset();
        for _ in 0..RESET_CYCLES {
            self.step()?;
        }
        self.given.rst = false;
        Ok(())
    }

    /// Takes the accesses that users asked for.
    ///
    /// # Errors
    /// The core fails an assertion in a reset.
    pub fn fetch(&mut self, shared: &CoreFace) -> Result<(), String> {
        for access in shared.take() {
            match access {
                RegisterAccess::Reset { answer } => {
                    self.reset()?;
                    // Whoever asked may be gone.
                    let _ = answer.send(0);
                }
                access => {
                    self.doorbells += u64::from(access.is_doorbell());
                    self.lite.push(access);
                }
            }
        }
        Ok(())
    }

    /// The lanes of a port in the next cycle.
    pub fn lanes_in(&mut self, port: usize) -> &mut [LaneWord] {
        let lanes = self.shape.lanes;
        &mut self.given.lanes[port * lanes..][..lanes]
    }

    /// The lanes of a port in the last cycle.
    pub fn lanes_out(&self, port: usize) -> &[LaneWord] {
        let lanes = self.shape.lanes;
        self.out.lanes.get(port * lanes..(port + 1) * lanes).unwrap_or_default()
    }

    /// Data and strobe of a SpaceWire port in the next cycle.
    pub fn wire_in(&mut self, port: usize) -> &mut u8 {
        &mut self.given.wires[port]
    }

    /// Data and strobe of a SpaceWire port in the last cycle.
    pub fn wire_out(&self, port: usize) -> u8 {
        self.out.wires.get(port).copied().unwrap_or_default()
    }

    /// The same, to be changed before they arrive anywhere.
    pub fn lanes_out_mut(&mut self, port: usize) -> &mut [LaneWord] {
        let lanes = self.shape.lanes;
        &mut self.out.lanes[port * lanes..][..lanes]
    }

    /// Whether packets can pass a port.
    pub fn is_up(&self, port: usize) -> bool {
        self.out.up >> port & 1 != 0
    }

    /// Whether an access to the registers is under way.
    pub fn is_accessed(&self) -> bool {
        self.lite.is_busy()
    }

    fn step(&mut self) -> Result<(), String> {
        self.given.pack(self.shape, &mut self.packer);
        let words = self.model.step(self.packer.words())?;
        self.out.unpack(self.shape, words);
        Ok(())
    }

    /// Simulates a cycle. Whether the host side of the core did anything, or will.
    ///
    /// # Errors
    /// The core fails an assertion, breaks a rule of a bus or does not answer.
    pub fn cycle(&mut self, shared: &CoreFace) -> Result<bool, String> {
        self.lite.drive(&mut self.given);
        self.axi.drive(&shared.memory, &mut self.given);
        self.step()?;
        self.lite.sample(&self.given, &self.out)?;
        let mut active = self.axi.sample(&shared.memory, &self.given, &self.out)?;
        if self.out.message_valid {
            self.interrupts += 1;
            active = true;
            if let Some(sink) = shared.sink() {
                sink.raise(self.out.message);
            }
        }
        // Whoever looks at the line after its rise was told finds it high.
        let level = self.out.level;
        if shared.level.swap(level, Ordering::SeqCst) != level && level {
            active = true;
            if let Some(sink) = shared.sink() {
                sink.raise_line();
            }
        }
        if self.out.failed {
            return Err("a memory of the core has an error that it cannot correct".to_owned());
        }
        Ok(active || self.lite.is_busy() || self.axi.is_busy())
    }

    /// What the core has done so far.
    pub fn counts(&self) -> Counts {
        let Self { doorbells, interrupts, .. } = *self;
        Counts { doorbells, interrupts, refusals: self.axi.refusals, bytes: self.axi.bytes }
    }
}
