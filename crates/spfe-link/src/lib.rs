//! SpaceFibre (ECSS-E-ST-50-11C) and SpaceWire (ECSS-E-ST-50-12C Rev.1) links, word by word.
//!
//! Pure state machines: no thread, no clock, no allocation. Words and time come in as parameters,
//! words and events go out, so the same code is a link of the virtual network, the model another
//! implementation is checked against, and the decoder behind a capture.
//!
//! One module per box of the standard:
//!
//! | module | clause | what it holds |
//! | --- | --- | --- |
//! | [`word`], [`control`] | 50-11C 5.3 | words of four symbols, and every control word |
//! | [`crc`], [`prbs`] | 50-11C 5.7.6 | CRC-8, CRC-16, the idle and scrambling sequence |
//! | [`row`] | 50-11C 5.6.4 | what the Data Link and the Multi-Lane layer hand each other |
//! | [`datalink`], [`qos`] | 50-11C 5.7 | virtual channels, frames, error recovery, link reset, medium access |
#![no_std]

pub mod control;
pub mod crc;
pub mod datalink;
pub mod prbs;
pub mod qos;
pub mod row;
pub mod word;

pub use control::Control;
pub use datalink::DataLink;
pub use row::{Received, Row};
pub use word::Word;
