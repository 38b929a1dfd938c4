//! Switches: addressing, arbitration, time-outs, virtual networks, broadcasts, random networks.

mod arbitration;
mod broadcasts;
mod config;
mod fabric;
mod random;
mod routing;
mod timeouts;
mod units;
