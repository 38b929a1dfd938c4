//! Packets of traffic streams. The receiver can check their contents without any further
//! information.
//!
//! A packet begins with path bytes, which routers delete. It arrives with a logical address, the
//! protocol identifier [`PID`] of a private protocol (50-51C), stream, packet number and length in
//! bytes, all big-endian. The body is a function of stream and packet number.

mod check;
mod make;

pub use check::{ArrivedPacket, PacketChecker};
pub use make::PacketMaker;

use crate::rng::mix;

/// Protocol identifier of packets of traffic streams.
pub const PID: u8 = 0xfe;
/// Numbers of traffic streams are below this. The third byte of RDMA is above its high byte, so that
/// damage of three bits does not turn one into the other.
const FLOWS: u16 = 0x1000;
/// Size of the header in bytes, and of the shortest packet.
pub const HEADER_BYTES: u32 = 12;

/// Bytes generated and checked at a time.
const CELL: u32 = 4;
const HEADER_CELLS: u32 = HEADER_BYTES / CELL;

/// Header of a packet as it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketHeader {
    /// The logical address.
    pub target: u8,
    /// Number of the traffic stream.
    pub flow: u16,
    /// Number of the packet within its stream.
    pub number: u32,
    /// Length of the packet in bytes, with this header.
    pub bytes: u32,
}

impl PacketHeader {
    const fn cells(self) -> [u32; HEADER_CELLS as usize] {
        let [high, low] = self.flow.to_be_bytes();
        let first = u32::from_le_bytes([self.target, PID, high, low]);
        [first, self.number.swap_bytes(), self.bytes.swap_bytes()]
    }

    /// `None` if the packet has another protocol.
    const fn parse(cells: [u32; HEADER_CELLS as usize]) -> Option<Self> {
        let [first, number, bytes] = cells;
        let [target, pid, high, low] = first.to_le_bytes();
        let flow = u16::from_be_bytes([high, low]);
        if pid != PID || flow >= FLOWS {
            return None;
        }
        Some(Self { target, flow, number: number.swap_bytes(), bytes: bytes.swap_bytes() })
    }

    /// All headers that these bytes may contain, behind any number of address bytes.
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

/// Generates the body of a packet.
#[derive(Clone, Copy, Debug)]
struct PacketBody(u64);

impl PacketBody {
    const fn of(header: PacketHeader) -> Self {
        Self(mix((header.flow as u64) << 32 | header.number as u64))
    }

    /// Four bytes of the body.
    #[inline(always)]
    const fn cell(self, index: u32) -> u32 {
        let value = self.0.wrapping_add((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        ((value ^ value >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32) as u32
    }
}

#[cfg(test)]
mod tests;
