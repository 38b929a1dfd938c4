//! Remote memory access protocol, RMAP (ECSS-E-ST-50-52C).
//!
//! | module | clause | content |
//! | --- | --- | --- |
//! | [`instruction`] | 5.1 | the instruction byte: packet type, command code, address length |
//! | [`address`] | 5.1 | the path of a reply |
//! | [`command`], [`reply`], [`body`] | 5.3 to 5.5 | reading and writing packets |
//! | [`crc`] | 5.2 | the CRC of headers and data |
//! | [`status`] | 5.6 | the result of a command |
//! | [`memory`], [`target`] | 5.3 to 5.6 | the side that has the memory |
//! | [`initiator`] | 5.3 to 5.6 | the side that sends commands |
//!
//! A node that is both uses [`Instruction::of`] to pass commands to its target and replies to its
//! initiator.

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

/// Protocol identifier of RMAP (50-51C).
pub const PID: u8 = 1;
/// Maximum data of a command, in bytes: the length field has 24 bits.
pub const LENGTH_MAX: u32 = 0x00ff_ffff;
/// Highest address: extended address and address together have 40 bits.
pub const ADDRESS_MAX: u64 = 0xff_ffff_ffff;
/// Maximum data of a read-modify-write in bytes; the mask has the same length.
pub const RMW_MAX: usize = 4;

/// Instruction of a packet whose header must have at least `needed` bytes.
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
