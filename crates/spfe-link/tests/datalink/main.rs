//! The Data Link layer, two ends joined.

mod basics;
mod broadcasts;
mod channels;
mod credit;
mod harness;
mod hostile;
mod qos;
mod random;
mod rate;
mod recovery;
mod table;
mod vectors;
