//! Ring algorithms of the spfe contract.
//!
//! A ring is an array of 16-byte entries in memory that host and device share. There is no head or
//! tail index in it: an entry is valid when the *phase* in its second word equals the lap number of
//! its position, and the phase is stored last. What keeps a ring from overflowing is credit: every
//! completion frees submissions, and a completion ring is never smaller than its submission ring
//! (see `contract/README.md`).
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`ring`] | entries, phases, one producer or consumer position |
//! | [`batch`] | many entries, one publication |
//! | [`packed`] | the byte area of packed receive, both sides |
//! | [`submission`] | submissions of several entries |
//! | [`lines`] | what a host waits for and how a device wakes it |
//! | [`seat`] | who may run the engine of a flow, biased to its usual owner |
//! | [`board`] | copies shared out between both ends of a flow |
//! | [`sync`] | the atomics and the barriers, named by purpose |
//!
//! Everything works on raw shared memory and trusts nothing it reads: a hostile peer can make a
//! reader see any 128 bits, never make it loop for ever or leave the ring.
#![cfg_attr(not(loom), no_std)]

pub mod batch;
pub mod board;
pub mod cursor;
pub mod lines;
pub mod packed;
pub mod ring;
pub mod seat;
pub mod submission;
pub mod sync;

pub use batch::EntryBatch;
pub use board::Board;
pub use cursor::{Cursor, RingCell, RingPair};
pub use lines::{Arm, DeviceLine, HostLine};
pub use packed::{PackedReader, PackedWriter};
pub use ring::{Consumer, Producer, Ring, RingCredit, RingEntry, Slot};
pub use seat::Seat;
