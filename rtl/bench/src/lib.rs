//! Bench of the TCP core.

pub mod drill;
pub mod fuzz;
pub mod peer;
pub mod reference;
