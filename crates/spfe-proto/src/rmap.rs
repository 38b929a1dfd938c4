//! Remote memory access protocol, RMAP (ECSS-E-ST-50-52C).
//!
//! | module | clause | what it holds |
//! | --- | --- | --- |
//! | [`instruction`] | 5.1 | the instruction byte: packet type, command code, address length |
//! | [`address`] | 5.1 | the path a reply takes |
//! | [`command`], [`reply`], [`body`] | 5.3 to 5.5 | packets, read and written |
//! | [`crc`] | 5.2 | the CRC of headers and data |
//! | [`status`] | 5.6 | how a command went |
//! | [`memory`], [`target`] | 5.3 to 5.6 | the side that has the memory |
//! | [`initiator`] | 5.3 to 5.6 | the side that asks |
//!
//! A node that is both looks at [`Instruction::of`] a packet: commands go to its target, replies to
//! its initiator.

pub mod address;
pub mod body;
pub mod command;
pub mod crc;
mod error;
pub mod initiator;
pub mod instruction;
pub mod memory;
pub mod reply;
pub mod status;
pub mod target;

pub use address::{REPLY_ADDRESS_MAX, ReplyAddress, ReplyPathError};
pub use body::BodyError;
pub use command::{CommandHeader, RmapCommand};
pub use error::{BuildError, HeaderError, PacketError};
pub use initiator::{
    CompletedTransaction, RmapInitiator, RmapNode, RmapRequest, SentCommand, TransactionFailure,
};
pub use instruction::{Instruction, PacketType, RmapOperation};
pub use memory::{Memory, MemoryFault, Ram};
pub use reply::{ReplyHeader, RmapReply};
pub use status::RmapStatus;
pub use target::{CommandStream, Denial, RmapTarget, RmapTargetConfig, TargetOutcome};

/// The protocol identifier of RMAP (50-51C).
pub const PID: u8 = 1;
/// The most data one command can carry or ask for, in bytes: the length has 24 bits.
pub const LENGTH_MAX: u32 = 0x00ff_ffff;
/// The highest address: the extended address and the address have 40 bits together.
pub const ADDRESS_MAX: u64 = 0xff_ffff_ffff;
/// The most data of a read-modify-write, in bytes; as much mask comes with it.
pub const RMW_MAX: usize = 4;

/// The instruction of a packet whose header has at least `needed` bytes.
fn instruction_of(packet: &[u8], needed: usize) -> Result<Instruction, HeaderError> {
    match packet {
        [_, PID, instruction, ..] => Ok(Instruction(*instruction)),
        [_, PID] | [_] | [] => Err(HeaderError::Short { bytes: packet.len(), needed }),
        [_, pid, ..] => Err(HeaderError::Protocol { pid: *pid }),
    }
}

/// Checks the CRC at the end of a header.
fn check_header(header: &[u8], found: u8) -> Result<(), HeaderError> {
    let fields = header.get(..header.len().saturating_sub(1)).unwrap_or(&[]);
    let expected = crc::crc(fields);
    if found == expected { Ok(()) } else { Err(HeaderError::Crc { found, expected }) }
}
