//! Tests the endpoint against the TCP stack of smoltcp, over a line with impairments in virtual
//! time.
//!
//! In every case all bytes must arrive once and in order, and all sessions must close, within a
//! limited number of ticks. Without impairments nothing may be retransmitted. [`watch`] checks each
//! frame of the endpoint. With [`crate::racing`] the core is never at rest meanwhile.

pub mod again;
pub mod bed;
pub mod cases;
pub mod channel;
pub mod plant;
pub mod rule;
pub mod stack;
pub mod transfer;
pub mod watch;
