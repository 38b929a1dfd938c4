//! Bench of the TCP core.

pub mod drill;
pub mod reference;
