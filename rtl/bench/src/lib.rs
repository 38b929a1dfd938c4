//! Bench of the TCP core (`rtl/tcp`).
//!
//! [`station::Station`] is a Verilated core with sources and sinks at all its pins; it owns the
//! clock, so every run is the same run. On top of it are the measurements, whose results are JSON
//! below `target/rtl/report/data`, and the report, which is made of these files alone.
//!
//! Clocks are counted from 0; what is on a bus "in clock `c`" is there before the rising edge that
//! ends it. Latency is from the first beat of what goes in to the first beat of what comes out.

pub mod axil;
pub mod bench;
pub mod builds;
pub mod core;
pub mod drill;
pub mod event;
pub mod formula;
pub mod fuzz;
pub mod mac;
pub mod model;
pub mod peer;
pub mod published;
pub mod random;
pub mod rate;
pub mod reference;
pub mod registers;
pub mod report;
pub mod setup;
pub mod station;
pub mod tap;
pub mod user;
