//! The endpoint against the TCP of Linux: in a network namespace of its own, behind a TAP device.
//!
//! Clocks are driven by what happens: the core runs while a frame or a byte is there, then waits.
//! Its ticks come from the clock of the machine, one for 5 ms, and never faster; where the
//! simulation falls behind, time stands still for the core, so slowness is not taken for loss.

pub mod bridge;
pub mod capture;
pub mod cases;
pub mod command;
pub mod device;
pub mod echo;
pub mod line;
pub mod programs;
pub mod proxy;
pub mod service;
pub mod space;
pub mod suite;

use std::net::Ipv4Addr;

/// Address of the endpoint.
pub const OUR_IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// Address of Linux on the TAP device.
pub const PEER_IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
