//! Ring algorithms of the spfe contract.
//!
//! A ring is an array of 16-byte entries in memory that host and device share. It has no head or
//! tail index. An entry is valid if the *phase* in its second word equals the lap number of its
//! position, and the phase is stored last. Credit keeps a ring from overflowing: every completion
//! frees submissions, and a completion ring is never smaller than its submission ring (see
//! `contract/README.md`).
//!
//! | module | content |
//! | --- | --- |
//! | [`ring`] | entries, phases, and the positions of producer and consumer |
//! | [`cursor`] | positions that tight loops keep in registers |
//! | [`batch`] | many entries that are published together |
//! | [`submission`] | submissions of several entries |
//! | [`packed`] | the area of packed receive, both sides |
//! | [`lines`] | wake-ups of hosts, doorbells of devices |
//! | [`sync`] | atomics, and fences named by their purpose |
//! | [`seat`] | which participant runs the engine of a flow |
//! | [`lock`] | a lock that knows its holder |
//! | [`board`] | copies that both ends of a flow share |
//!
//! The last three are for the participants of a software engine, and have the feature `engine`, a
//! default. A host of hardware does without.
//!
//! The code works on raw shared memory and trusts no value in it. A hostile peer can make a reader
//! see any 128 bits, but cannot make it loop for ever or access memory outside of the ring.
//!
//! # Models
//!
//! Each protocol has a loom model in `tests/loom`, which runs it in every order of events:
//!
//! | protocol | models |
//! | --- | --- |
//! | submissions, completions and their credit | `rings::rings_keep_order_and_overwrite_nothing`, `rings::one_completion_frees_several_submissions` |
//! | slots whose first word never changes ([`Cursor`]) | `rings::publishing_a_slot_publishes_its_buffer`, `rings::slots_are_posted_again_for_the_next_lap` |
//! | [`EntryBatch`]: publish and cancel | `batches::*` |
//! | [`AtomicHostLine`]: arm, look again, sleep | `wakes::no_wake_up_is_lost_by_count`, `wakes::no_wake_up_is_lost_by_bytes`, `wakes::arming_again_loses_no_wake_up`, `wakes::device_that_sees_an_arming_sees_its_threshold` |
//! | [`AtomicDeviceLine`]: mark of a full queue | `wakes::host_of_a_full_queue_sees_the_mark_or_is_woken` |
//! | [`AtomicDeviceLine`]: state of a stopped queue | `wakes::host_sees_why_its_queue_stopped` |
//! | [`AtomicDeviceLine`]: doorbell | `doorbells::sleeping_device_is_always_rung` |
//! | doorbells of several clients of a device | `doorbells::device_of_two_clients_misses_neither`, `doorbells::rings_of_one_client_take_none_from_the_other` |
//! | [`Seat`]: enter and claim | `seat::*` |
//! | [`Seat::take_over`] | `takeover::*` |
//! | [`HolderLock`] of a message port | `lock::*` |
//! | region revoked beside a runner: tag, seat, epoch | `revocation::*` |
//! | [`Board`]: claim, finish, settle, and deaths in each state | `board::*` |
//! | [`PackedWriter`] and [`PackedReader`]: releases and completions | `packed::*` |
//!
//! Further models there leave out one fence or one rule and must fail.
#![cfg_attr(not(loom), no_std)]

pub mod batch;
#[cfg(feature = "engine")]
pub mod board;
pub mod cursor;
pub mod lines;
#[cfg(feature = "engine")]
pub mod lock;
pub mod packed;
pub mod ring;
#[cfg(feature = "engine")]
pub mod seat;
pub mod submission;
pub mod sync;

pub use batch::EntryBatch;
#[cfg(feature = "engine")]
pub use board::Board;
pub use cursor::{Cursor, RingCell, RingPair};
pub use lines::{Arm, AtomicDeviceLine, AtomicHostLine};
#[cfg(feature = "engine")]
pub use lock::HolderLock;
pub use packed::{PackedReader, PackedWriter};
pub use ring::{Consumer, Producer, Ring, RingCredit, RingEntry, Slot};
#[cfg(feature = "engine")]
pub use seat::Seat;
