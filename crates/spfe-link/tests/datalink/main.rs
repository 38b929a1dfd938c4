//! The data link layer: two joined ends.

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
