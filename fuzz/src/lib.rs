//! What the fuzz targets share: a small network, clients that do as they like, and memory nobody
//! may touch.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`account`] | what a step may do, and what counters say |
//! | [`entry`] | ring entries from fuzz input |
//! | [`memory`] | memory with a pattern that has to stay |
//! | [`ring`] | a queue as a host works it, honest or not |
//! | [`link`] | words of a SpaceFibre line |
//! | [`lab`] | two clients, their neighbours and the engine between them |

pub mod account;
pub mod entry;
pub mod lab;
pub mod link;
pub mod memory;
pub mod ring;
