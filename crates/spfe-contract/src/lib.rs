//! contract
#![no_std]
#![forbid(unsafe_code)]
#[rustfmt::skip]
mod generated;
pub use generated::*;
