//! Packets of the traffic: contents that the receiver can check without knowing them before.
//!
//! A packet is path bytes, which routers take off; then, as it arrives, a logical address, the
//! protocol identifier [`PID`] of a mission's own protocol (50-51C), flow, packet number and length
//! in bytes, all big-endian, and a body that follows from flow and number.

mod check;
mod make;

pub use check::{Arrived, PacketChecker};
pub use make::PacketMaker;

use crate::rng::mix;

/// The protocol identifier of the traffic.
pub const PID: u8 = 0xf0;
/// Bytes of the header, and of the shortest packet.
pub const HEADER_BYTES: u32 = 12;

/// Bytes of a cell: what is made and checked in one go.
const CELL: u32 = 4;
/// Cells of the header.
const HEADER_CELLS: u32 = HEADER_BYTES / CELL;

/// Which packet it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketHeader {
    /// The logical address it arrives with.
    pub target: u8,
    /// Its flow.
    pub flow: u16,
    /// Its number in the flow.
    pub number: u32,
    /// Its length as it arrives, in bytes, this header included.
    pub bytes: u32,
}

impl PacketHeader {
    const fn cells(self) -> [u32; HEADER_CELLS as usize] {
        let [high, low] = self.flow.to_be_bytes();
        let first = u32::from_le_bytes([self.target, PID, high, low]);
        [first, self.number.swap_bytes(), self.bytes.swap_bytes()]
    }

    /// None for another protocol.
    const fn parse(cells: [u32; HEADER_CELLS as usize]) -> Option<Self> {
        let [first, number, bytes] = cells;
        let [target, pid, high, low] = first.to_le_bytes();
        if pid != PID {
            return None;
        }
        let flow = u16::from_be_bytes([high, low]);
        Some(Self { target, flow, number: number.swap_bytes(), bytes: bytes.swap_bytes() })
    }

    /// Headers that the bytes may have, behind address bytes.
    pub fn candidates(bytes: &[u8]) -> impl Iterator<Item = Self> {
        bytes.windows(HEADER_BYTES as usize).filter_map(|header| {
            let cell = |index: usize| {
                header
                    .get(4 * index..)
                    .and_then(<[u8]>::first_chunk)
                    .map(|b| u32::from_le_bytes(*b))
            };
            Self::parse([cell(0)?, cell(1)?, cell(2)?])
        })
    }
}

/// The body of a packet.
#[derive(Clone, Copy, Debug)]
struct Body(u64);

impl Body {
    const fn of(header: PacketHeader) -> Self {
        Self(mix((header.flow as u64) << 32 | header.number as u64))
    }

    /// Four bytes of it.
    #[inline(always)]
    const fn cell(self, index: u32) -> u32 {
        let value = self.0.wrapping_add((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        ((value ^ value >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32) as u32
    }
}

#[cfg(test)]
mod tests;
