//! Word-exact SpaceFibre and SpaceWire networks in virtual time.
//!
//! Links carry every symbol of every lane, and every SpaceWire character. The state machines of
//! [`spfe_link`] send and receive them. There is no clock and no I/O here: time advances when
//! [`link::SimulatedLink::run`] is called. The same calls with the same seed give the same words, with
//! any number of threads ([`simulation::Simulation::set_threads`]).
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`time`] | picoseconds, and the word periods of a lane without drift |
//! | [`link`] | interfaces of every link: the link, its ends, its observers |
//! | [`links`] | links side by side, of which those sleep where nothing happens |
//! | [`spacefibre`] | a link of 1 to 16 lanes, symbol by symbol |
//! | [`spacewire`] | SpaceWire links, character by character |
//! | [`wire`] | the wire of one lane: delay, skew and faults |
//! | [`fault`] | faults that can be injected |
//! | [`foreign`] | ends that are another simulator or a board |
//! | [`live`] | faults that are given to a running network |
//! | [`packet`] | packet contents that the receiver can verify |
//! | [`rng`] | random numbers, one stream for each object |
//! | [`simulation`] | a running scenario: nodes, routers, traffic, the conservation check |
//! | [`scenario`] | a network, its traffic and its faults, read from a TOML file |
//! | [`results`] | measurements of a simulation, written as a JSON document |
//! | [`recorder`] | packet captures of a simulation |
//! | [`configuration`] | the registers of a router as the memory of an RMAP target |
//! | [`campaign`] | random errors on one link, with a check of everything it delivers |

pub mod campaign;
pub mod configuration;
pub mod fault;
pub mod foreign;
mod ledger;
pub mod link;
pub mod links;
pub mod live;
mod messages;
mod node;
pub mod packet;
mod rdma;
pub mod recorder;
mod records;
mod reports;
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
