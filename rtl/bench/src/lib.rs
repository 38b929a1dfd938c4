//! Bench of the TCP core.

pub mod drill;
pub mod peer;
pub mod reference;
