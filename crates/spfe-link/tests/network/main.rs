//! Switches: addressing, arbitration, time-outs, virtual networks, broadcasts, random networks.

mod arbitration;
mod bridge;
mod broadcasts;
mod burst;
mod config;
mod counters;
mod fabric;
mod random;
mod routing;
mod timeouts;
mod units;
