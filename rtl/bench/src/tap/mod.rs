//! Tests the endpoint against the TCP of Linux, in a separate network namespace behind a TAP
//! device.
//!
//! The core runs while there is input, then it waits. Its ticks follow the clock of the machine,
//! one per 5 ms. If the simulation is too slow, the core's time stops, so that slowness does not
//! look like loss.

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

/// IP address of the endpoint.
pub const OUR_IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// IP address of Linux on the TAP device.
pub const PEER_IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
