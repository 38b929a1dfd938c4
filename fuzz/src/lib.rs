//! Shared code of the fuzz targets: a small network, hostile clients, and memory that must not be
//! touched.
//!
//! | module | content |
//! | --- | --- |
//! | [`account`] | limits of a step, checks of counters |
//! | [`entry`] | ring entries from fuzz input |
//! | [`memory`] | memory with a pattern that must not change |
//! | [`ring`] | the host side of a queue, honest or hostile |
//! | [`link`] | words of a SpaceFibre line |
//! | [`lab`] | two clients, their neighbours and the engine |

pub mod account;
pub mod entry;
pub mod lab;
pub mod link;
pub mod memory;
pub mod ring;
