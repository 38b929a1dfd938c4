//! Word streams between exact links and foreign ends: other simulators and boards.
//!
//! `docs/foreign-ends.md` describes the stream and `include/spfe/foreign.h` is the same for C. A
//! [`ForeignEnd`] is one side of it: for a link of ours it is the far end
//! ([`spfe_sim::spacefibre::with_foreign_end`]), and another program uses it to be that far end.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`message`] | layout of the greeting and of messages |
//! | `line` | sockets and pipes that never block |
//! | `end` | connection, greeting, messages |

mod end;
mod line;
pub mod message;

pub use end::{ForeignEnd, ForeignError, PATIENCE, later, waiting};
pub use message::StreamShape;
