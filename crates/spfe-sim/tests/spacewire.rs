//! SpaceWire links.

#[path = "spacewire/kit.rs"]
mod kit;

#[path = "spacewire/codes.rs"]
mod codes;
#[path = "spacewire/errors.rs"]
mod errors;
#[path = "spacewire/random.rs"]
mod random;
#[path = "spacewire/start.rs"]
mod start;
#[path = "spacewire/throughput.rs"]
mod throughput;
