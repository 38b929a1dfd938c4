//! Test bench of the TCP core (`rtl/tcp`).
//!
//! [`station::Station`] is a Verilated core with sources and sinks at all its pins. It drives the
//! clock, so every run can be repeated exactly. The measurements write JSON files into
//! `target/rtl/report/data`, and the report uses only these files.
//!
//! Clocks are counted from 0. A value is on a bus "in clock `c`" if it is valid before the rising
//! edge that ends the clock. Latency is the time from the first beat in to the first beat out.

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
pub mod racing;
pub mod random;
pub mod rate;
pub mod reference;
pub mod registers;
pub mod report;
pub mod setup;
pub mod station;
pub mod tap;
pub mod user;
