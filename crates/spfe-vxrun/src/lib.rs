//! The library that `vxrun` preloads into programs.
//!
//! It replaces the functions of libc that touch descriptors. A descriptor that is no TCP connection
//! between two nodes of a fabric goes straight on to libc.
//!
//! | module | content |
//! | --- | --- |
//! | `calls` | the functions that programs call |
//! | `real` | the functions of libc behind them |

mod calls;
mod real;
