//! SpaceWire links (ECSS-E-ST-50-12C Rev.1): from wires to N-Chars and back.
//!
//! | module | clause | content |
//! | --- | --- | --- |
//! | [`character`] | 5.4.2, 5.4.3 | N-Chars, L-Chars, broadcast codes |
//! | [`encode`], [`decode`] | 5.4.4 | bits in the order of the wire, parity, the first NULL |
//! | [`ds`] | 5.4.5 | data and strobe |
//! | [`credit`] | 5.5.4 | FCT credit of both directions |
//! | [`state`] | 5.5.7 | the link state machine and its timers |
//! | [`port`] | 5.5 | a whole link: queues, priority, recovery, status |
//! | [`serial`] | 5.4 | a port with its wires, bit by bit |
//! | [`schedule`] | 5.5.3 | broadcast codes that wait to be sent |
//! | [`timecode`], [`interrupt`] | 5.6.3, 5.6.4 | time-codes and distributed interrupts |
//!
//! Networks call a [`SpaceWirePort`] once per character: [`SpaceWirePort::transmit`] when the
//! transmitter is free, [`SpaceWirePort::receive`] when a character is complete.
//! [`serial::SerialPort`] adds bits and wires: one call per bit, for traces and for bit errors.

pub mod character;
pub mod credit;
pub mod decode;
pub mod ds;
pub mod encode;
pub mod interrupt;
pub mod port;
mod queue;
pub mod schedule;
pub mod serial;
pub mod state;
pub mod timecode;

pub use character::{BroadcastCode, NChar, SpaceWireCharacter};
pub use decode::DecodedCharacter;
pub use port::SpaceWirePort;
pub use state::{ErrorResetCause, SpaceWireState, SpaceWireTiming};
