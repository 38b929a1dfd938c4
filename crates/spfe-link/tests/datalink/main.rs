//! The Data Link layer, two ends joined.

mod basics;
mod harness;
