//! The Data Link layer, two ends joined.

mod basics;
mod channels;
mod harness;
mod qos;
mod random;
mod rate;
mod recovery;
mod table;
mod vectors;
