//! Switches: addressing, arbitration, time-outs, virtual networks, broadcasts, random networks.

mod arbitration;
mod bridge;
mod burst;
mod broadcasts;
mod config;
mod counters;
mod fabric;
mod random;
mod routing;
mod timeouts;
mod units;
