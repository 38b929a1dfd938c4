//! Backends: how the library reaches a device.
//!
//! | backend | what it reaches | feature |
//! | --- | --- | --- |
//! | `kernel` | a device behind the kernel driver, `/dev/spfeN` | `kernel` |
//! | `daemon` | a virtual network in the `spfed` daemon | `daemon` |
//! | `embedded` | a virtual network in this process | `virtual` |
//! | crate `spfe-rtl` | a simulated core | `rtl` |
//!
//! Everything above is the same for all of them.

#[cfg(feature = "daemon")]
pub mod daemon;
#[cfg(feature = "virtual")]
pub mod embedded;
#[cfg(feature = "kernel")]
pub mod kernel;
