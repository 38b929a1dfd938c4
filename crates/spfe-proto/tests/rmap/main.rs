//! RMAP: the vectors, every command code, target and initiator, random packets.

mod codes;
mod crcs;
mod independent;
mod initiator;
mod lab;
mod properties;
mod stream;
mod target;
mod vectors;
