//! Word-exact SpaceFibre and SpaceWire networks in virtual time.
//!
//! Every symbol of every lane, every character of every SpaceWire link goes over its wire; what the
//! state machines of [`spfe_link`] make of them is what happens. No thread, no clock, no I/O: time
//! goes on when [`link::SimulatedLink::run`] is called, and the same calls give the same words.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`time`] | picoseconds, and the word periods of a lane without drift |
//! | [`link`] | what every link is: two ends and what happens between them |
//! | [`spacefibre`] | a link of 1 to 16 lanes, symbol by symbol |
//! | [`spacewire`] | SpaceWire links, character by character |
//! | [`wire`] | a lane's wire: delay, skew, and what goes wrong on it |
//! | [`fault`] | what can go wrong, when, and how often |
//! | [`packet`] | contents of packets, made and checked on the way |
//! | [`rng`] | random numbers, a stream for each object |
//! | [`simulation`] | a scenario under way: nodes, routers, traffic, the conservation check |
//! | [`scenario`] | a network, its traffic and its faults, as a TOML file |
//! | [`results`] | what a simulation has measured, as a JSON document |
//! | [`recorder`] | a capture of a simulation |
//! | [`configuration`] | the registers of a switch as the memory of an RMAP target |
//! | [`campaign`] | random errors on a link, and everything held against what was sent |

pub mod campaign;
pub mod configuration;
pub mod fault;
mod ledger;
pub mod link;
mod messages;
mod node;
pub mod packet;
pub mod recorder;
mod records;
pub mod results;
mod rmap;
pub mod rng;
mod router;
pub mod scenario;
pub mod simulation;
pub mod spacefibre;
pub mod spacewire;
mod stream;
mod tap;
pub mod time;
mod traffic;
pub mod wire;
