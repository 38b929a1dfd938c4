//! The library that `vxrun` preloads into programs.
//!
//! It replaces the functions of libc that touch descriptors. A descriptor that is no TCP connection
//! between two nodes of a fabric goes straight on to libc. A connection between two nodes whose ends
//! both have this library moves to rings in memory: both ends offer it to the backplane, which gives
//! them the memory and bells, and then each direction changes over by itself. The kernel's connection
//! stays open: it names the ends, and tells them of each other's end. Waits hear the bells and the
//! kernel.
//!
//! | module | content |
//! | --- | --- |
//! | `calls` | the functions that programs call |
//! | `real` | the functions of libc behind them |
//! | `conn` | descriptors that are connections; what forked processes share |
//! | `offer` | how the two ends get their memory |
//! | `moves` | sending and receiving |
//! | `waits`, `epolls` | poll and select; epoll |
//! | `life` | new and closed descriptors, the end of the process |
//! | `settings`, `sys` | the environment; helpers around system calls |

mod calls;
mod conn;
mod epolls;
mod life;
mod moves;
mod offer;
mod real;
mod settings;
mod sys;
mod waits;
