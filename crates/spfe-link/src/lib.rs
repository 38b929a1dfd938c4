//! SpaceFibre (ECSS-E-ST-50-11C) and SpaceWire (ECSS-E-ST-50-12C Rev.1) links, word by word.
//!
//! Pure state machines: no thread, no clock, no allocation. Words and time come in as parameters,
//! words and events go out. The same code therefore serves as a link of the virtual network, as the
//! model for checking other implementations, and as the decoder behind a capture.
//!
//! One module per box of the standard:
//!
//! | module | clause | content |
//! | --- | --- | --- |
//! | [`word`], [`control`] | 50-11C 5.3 | words of four symbols, and every control word |
//! | [`packet`] | 50-11C 5.3.7, 5.3.9 | words of a packet, and the N-Chars of a word |
//! | [`burst`] | - | many word periods at once |
//! | [`code`] | 50-11C 5.5.9 | 8b/10b |
//! | [`crc`], [`prbs`] | 50-11C 5.7.6 | CRC-8, CRC-16, the idle and scrambling sequence |
//! | [`lane`] | 50-11C 5.5 | lane initialisation, word synchronisation, SKIP, RXERR |
//! | [`multilane`], [`mod@column`] | 50-11C 5.6 | rows over lanes, alignment; CRC-16 and scrambler of each lane |
//! | [`row`] | 50-11C 5.6.4 | rows between the data link and multi-lane layers |
//! | [`datalink`], [`qos`] | 50-11C 5.7 | virtual channels, frames, error recovery, link reset, medium access |
//! | [`port`] | 50-11C 5.5 to 5.7 | one end of a link: the data link layer over its lanes |
//! | [`mib`] | 50-11C 5.9 | every parameter, status and error by its name |
//! | [`network`] | 50-11C 5.8, 50-12C 5.6 | routing switches of both kinds |
//! | [`spacewire`] | 50-12C 5.4, 5.5 | characters, wires, the link and its broadcast codes |
#![no_std]

pub mod burst;
pub mod code;
pub mod column;
pub mod control;
pub mod crc;
pub mod datalink;
pub mod lane;
pub mod mib;
pub mod multilane;
pub mod network;
pub mod packet;
pub mod port;
pub mod prbs;
pub mod qos;
pub mod row;
pub mod spacewire;
pub mod word;

pub use control::ControlWord;
pub use datalink::DataLink;
pub use lane::Lane;
pub use multilane::MultiLane;
pub use port::SpaceFibrePort;
pub use row::{ReceivedRow, Row};
pub use word::Word;
