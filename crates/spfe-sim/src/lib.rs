//! Word-exact SpaceFibre and SpaceWire networks in virtual time.
//!
//! Every symbol of every lane, every character of every SpaceWire link goes over its wire; what the
//! state machines of [`spfe_link`] make of them is what happens. No thread, no clock, no I/O: time
//! goes on when [`link::Link::run`] is called, and the same calls give the same words.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`time`] | picoseconds, and the word periods of a lane without drift |
//! | [`link`] | what every link is: two ends and what happens between them |
//! | [`spacefibre`] | a link of 1 to 16 lanes, symbol by symbol |
//! | [`wire`] | a lane's wire: delay, skew, and what goes wrong on it |
//! | [`fault`] | what can go wrong, when, and how often |
//! | [`campaign`] | random errors on a link, and everything held against what was sent |

pub mod campaign;
pub mod fault;
pub mod link;
pub mod spacefibre;
pub mod time;
pub mod wire;
