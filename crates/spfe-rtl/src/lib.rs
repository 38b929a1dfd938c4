//! The endpoint core of `rtl/`, Verilated, as one more device of the library.
//!
//! A [`Machine`] owns simulated cores and the cables between their ports. A thread runs its cycles
//! while there is something to do. [`Rtl`] is the register space of one core, on which
//! [`Registers`](spfe_registers::Registers) drives it; [`open`] does all of this for a device name.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `model` | the shared library with the Verilated core |
//! | `pins` | the bits of its inputs and outputs |
//! | `memory` | memory of this process by bus address |
//! | `axi` | the bus of the core: its reads and writes of that memory |
//! | `lite` | accesses to its registers |
//! | `core` | one core with its buses |
//! | `cable` | what is at the far ends of its ports |
//! | `machine` | the thread that runs cores |
//! | `program` | programs that run in the time of the cores |
//! | `name` | device names, `rtl:...` |
//!
//! Building this crate needs no Verilator. Opening a device needs the model, which `make rtl-model`
//! builds. Whatever the core does, this process stays whole: the core reaches registered memory
//! only, its accesses elsewhere are refused with SLVERR, and a core that breaks the rules of a bus,
//! fails an assertion or does not answer is a device that is gone.

mod axi;
mod bits;
mod cable;
mod core;
mod lite;
mod machine;
mod memory;
mod model;
mod name;
mod pins;
mod program;
mod space;

pub use axi::Timing;
pub use cable::Far;
pub use core::Counts;
pub use machine::{Machine, Plan, Report};
pub use memory::ForeignMemory;
pub use model::models;
pub use name::{Name, open};
pub use pins::{LaneWord, Shape};
pub use program::{Damage, Moment, Program};
pub use space::Rtl;
pub use spfe_link::ControlWord;
