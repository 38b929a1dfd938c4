//! The daemon that owns a virtual network. Several processes share the network; in mode thread they
//! need not trust each other.
//!
//! One thread accepts connections ([`Server`]); each connection has a thread of its own. Whatever a
//! client sends is received, used and closed there, so what blocks one client blocks no other. A reply
//! that does not fit into a client's socket buffer ends that client. In mode thread a further thread
//! runs the devices.
//!
//! | module | contents |
//! | --- | --- |
//! | [`config`], [`options`] | configuration; the command line |
//! | [`server`] | starting and stopping |
//! | [`devices`] | endpoints that virtual machines use as devices |
//! | `rtl` | simulated cores as such devices (feature `rtl`) |
//! | [`listen`], `lock` | the socket: creation, permissions, removal; daemons that start at once |
//! | [`failure`] | kinds of failure and exit codes, those of `spfe` |
//! | [`notify`] | notifications to a service manager |
//! | `serve`, `control` | the serving thread, and requests to it from other threads |
//! | `roster` | all connections: admission, replacement, closes that take long |
//! | `connection`, `peer` | a client's socket and thread; what is known of the process behind it |
//! | `client`, `requests`, `answer` | a client's state; its requests, their limits and answers |
//! | `capture` | live captures, each with a pipe to its reader |
//! | `populate` | maps the pages of regions in small steps |
//!
//! The socket's permissions (mode 0660) say who may attach.

mod answer;
mod capture;
mod client;
pub mod config;
mod connection;
mod control;
pub mod devices;
pub mod failure;
pub mod listen;
mod lock;
pub mod notify;
pub mod options;
mod peer;
mod populate;
mod requests;
mod roster;
#[cfg(feature = "rtl")]
pub mod rtl;
mod serve;
pub mod server;

pub use config::{CLIENTS_MAX, ServerConfig};
pub use devices::{DeviceConfig, Devices};
pub use options::Options;
pub use server::{Server, Stopper};

/// Writes a line to stderr, without characters that control a terminal. Errors are ignored: the daemon
/// works without a reader.
pub fn say(line: std::fmt::Arguments<'_>) {
    use std::io::Write;
    let line = spfe_host::printable(&line.to_string());
    let _ = writeln!(std::io::stderr(), "spfed: {line}");
}
