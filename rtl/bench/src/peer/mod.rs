//! The endpoint against the TCP stack of smoltcp, through a line with impairments, in virtual time.
//!
//! Every case ends with all bytes at their place once and all sessions closed, within a bound of
//! ticks; without impairments nothing may be sent twice.

pub mod again;
pub mod bed;
pub mod cases;
pub mod channel;
pub mod stack;
pub mod transfer;
