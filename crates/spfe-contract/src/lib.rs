//! The spfe contract for Rust: everything a host and a device must agree on.
//!
//! All of it is generated from `contract/spfe.toml`. `contract/README.md` has the rules in prose:
//! who may write what, in which order, and what a reset does. `contract/REFERENCE.md` has tables of
//! everything.
//!
//! | in the contract | here |
//! | --- | --- |
//! | constant | `u64` constant, for example [`ENTRY_BYTES`] |
//! | enum | Rust enum with `from_raw`, `raw`, `name` and `ALL`, for example [`Status`] |
//! | bit set | module of constants, for example [`submit_flags`]; masks are in place |
//! | ring entry | plain struct with `to_words` and `from_words`, for example [`Completion`] |
//! | other structure | `repr(C)` struct with checked offsets, for example [`HostLine`] |
//! | register block | module of register offsets, for example [`queue_block`] |
//! | item of the management information base | [`MibItem`], with name, unit and range in [`MIB_ITEMS`] |
//!
//! Structs and words hold values, not bytes. Code that stores them to memory must store each word
//! little-endian, and word 1 of an entry last and with release order.
#![no_std]
#![forbid(unsafe_code)]

mod address;
#[rustfmt::skip]
mod generated;
#[cfg(feature = "fabric")]
#[rustfmt::skip]
mod fabric;
#[cfg(feature = "rdma")]
#[rustfmt::skip]
mod rdma;

pub use address::{Address, RegionKey};
#[cfg(feature = "fabric")]
pub use fabric::*;
pub use generated::*;
#[cfg(feature = "rdma")]
pub use rdma::*;

/// Bits of a message queue's FILTER: bits 7:0 are a channel, bits 15:8 a type.
pub mod message_filter {
    /// Receive only broadcast messages of the channel in bits 7:0.
    pub const MATCH_CHANNEL: u32 = 1 << 16;
    /// Receive only broadcast messages of the type in bits 15:8.
    pub const MATCH_TYPE: u32 = 1 << 17;
    /// Receive only distributed interrupts, as messages of kind INTERRUPT (capability INTERRUPTS).
    pub const INTERRUPTS: u32 = 1 << 18;
}

#[cfg(test)]
mod tests;
