//! The daemon that owns a virtual network: several processes share it, and in mode thread they
//! need not trust each other.
//!
//! One thread answers requests ([`Server`]); in mode thread another one stands for the hardware. No
//! client can make the first wait: a reply that does not fit into a client's socket ends that
//! client.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`server`] | starting and stopping |
//! | [`devices`] | endpoints that are devices of virtual machines |
//! | [`listen`] | the socket: in use, stale, permissions, removal |
//! | [`options`] | the command line |
//! | [`notify`] | telling a service manager |
//! | `serve` | the loop over all connections |
//! | `connection`, `requests` | one client: what it asks for, and its limits |
//! | `capture` | live captures, each with a pipe to its reader |
//! | `populate` | mapping the pages of regions, a little at a time |
//!
//! The socket's permissions (mode 0660) say who may attach.

mod capture;
mod connection;
pub mod devices;
pub mod listen;
pub mod notify;
pub mod options;
mod peer;
mod populate;
mod requests;
mod serve;
pub mod server;

pub use devices::{DeviceConfig, Devices};
pub use options::Options;
pub use server::{Server, ServerConfig, Stopper};

/// Most clients at a time.
pub const CLIENTS_MAX: usize = 64;
/// Most regions of one client at a time (an endpoint has 256 for all of its clients).
pub const REGIONS_MAX: usize = 128;
/// Most memory of one client at a time in bytes, unless said otherwise.
pub const MEMORY_MAX: u64 = 4 << 30;

/// Writes a line to stderr; nobody reading it is no reason to stop.
pub fn say(line: std::fmt::Arguments<'_>) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "spfed: {line}");
}
