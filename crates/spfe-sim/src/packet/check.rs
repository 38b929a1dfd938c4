//! Reassembles received packets and checks their contents.

use super::{CELL, HEADER_BYTES, HEADER_CELLS, PacketBody, PacketHeader};
use spfe_link::Word;
use spfe_link::word::k;
use spfe_proto::PacketEnd;

/// Maximum number of bytes kept of a packet of another protocol.
const KEPT: usize = 17 << 20;

/// A packet received up to its end marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrivedPacket {
    /// A packet of a traffic stream.
    Traffic {
        /// Its header.
        header: PacketHeader,
        /// Number of received bytes.
        bytes: u64,
        /// Offset of the first wrong byte.
        altered: Option<u64>,
        /// Its end marker.
        end: PacketEnd,
    },
    /// Any other packet, or one with an incomplete header.
    Other {
        /// Its bytes, up to a maximum number.
        bytes: Vec<u8>,
        /// Its end marker.
        end: PacketEnd,
    },
}

#[derive(Clone, Debug)]
enum CheckPhase {
    Header,
    Body { header: PacketHeader, body: PacketBody },
    Other,
}

/// Reassembles the packets of one virtual channel.
#[derive(Clone, Debug)]
pub struct PacketChecker {
    phase: CheckPhase,
    /// Number of complete cells.
    cell: u32,
    /// Number of cells that lie completely in the body.
    last_cell: u32,
    header: [u32; HEADER_CELLS as usize],
    /// Bytes of the next cell, the first one lowest.
    held: u64,
    held_bytes: u32,
    altered: Option<u64>,
    /// Bytes of a packet of another protocol.
    other: Vec<u8>,
}

impl Default for PacketChecker {
    fn default() -> Self {
        Self::new()
    }
}

impl PacketChecker {
    /// A checker between packets.
    pub const fn new() -> Self {
        Self {
            phase: CheckPhase::Header,
            cell: 0,
            last_cell: 0,
            header: [0; HEADER_CELLS as usize],
            held: 0,
            held_bytes: 0,
            altered: None,
            other: Vec::new(),
        }
    }

    /// Whether a packet is incomplete.
    pub const fn is_open(&self) -> bool {
        self.cell != 0 || self.held_bytes != 0
    }

    /// Processes words up to the end of a packet. Returns their number, and the packet if it ended.
    pub fn take(&mut self, words: &[Word]) -> (usize, Option<ArrivedPacket>) {
        let mut index = 0;
        while let Some(&word) = words.get(index) {
            if let CheckPhase::Body { body, .. } = self.phase {
                index += self.take_body(body, words.get(index..).unwrap_or(&[]));
                if index == words.len() {
                    break;
                }
            }
            let word = words.get(index).copied().unwrap_or(word);
            index += 1;
            if let Some(end) = self.take_word(word) {
                return (index, Some(self.finish(end)));
            }
        }
        (index, None)
    }

    /// Checks words that consist of body bytes only, as far as cells are complete.
    fn take_body(&mut self, body: PacketBody, words: &[Word]) -> usize {
        let shift = 8 * self.held_bytes;
        let (mut held, mut cell) = (self.held, self.cell);
        let most = (self.last_cell.saturating_sub(cell) as usize).min(words.len());
        let mut taken = 0;
        for word in words.iter().take(most) {
            if word.k != 0 {
                break;
            }
            held |= u64::from(word.bits) << shift;
            if held as u32 != body.cell(cell - HEADER_CELLS) && self.altered.is_none() {
                self.altered = Some(u64::from(cell) * u64::from(CELL));
            }
            held >>= 32;
            cell += 1;
            taken += 1;
        }
        (self.held, self.cell) = (held, cell);
        taken
    }

    fn take_word(&mut self, word: Word) -> Option<PacketEnd> {
        for index in 0..4 {
            match (word.is_k(index), word.symbol(index)) {
                (false, byte) => self.take_byte(byte),
                (true, k::EOP) => return Some(PacketEnd::Eop),
                (true, k::EEP) => return Some(PacketEnd::Eep),
                _ => {}
            }
        }
        None
    }

    fn take_byte(&mut self, byte: u8) {
        if matches!(self.phase, CheckPhase::Other) {
            if self.other.len() < KEPT {
                self.other.push(byte);
            }
            return;
        }
        self.held |= u64::from(byte) << (8 * self.held_bytes);
        self.held_bytes += 1;
        if self.held_bytes == CELL {
            let cell = self.held as u32;
            (self.held, self.held_bytes) = (0, 0);
            self.take_cell(cell);
        }
    }

    fn take_cell(&mut self, value: u32) {
        let cell = self.cell;
        self.cell = cell.saturating_add(1);
        if let Some(place) = self.header.get_mut(cell as usize) {
            *place = value;
            if self.cell == HEADER_CELLS {
                self.open();
            }
            return;
        }
        if let CheckPhase::Body { body, .. } = self.phase
            && self.altered.is_none()
            && (cell >= self.last_cell || value != body.cell(cell - HEADER_CELLS))
        {
            self.altered = Some(u64::from(cell) * u64::from(CELL));
        }
    }

    /// Handles a complete header.
    fn open(&mut self) {
        match PacketHeader::parse(self.header) {
            Some(header) => {
                self.last_cell = header.bytes / CELL;
                self.phase = CheckPhase::Body { header, body: PacketBody::of(header) };
            }
            None => {
                self.other.clear();
                self.other.extend(self.header.iter().flat_map(|cell| cell.to_le_bytes()));
                self.phase = CheckPhase::Other;
            }
        }
    }

    /// Handles the end of the packet.
    fn finish(&mut self, end: PacketEnd) -> ArrivedPacket {
        let held = self.held.to_le_bytes();
        let held = held.get(..self.held_bytes as usize).unwrap_or(&[]);
        let arrived = match self.phase {
            CheckPhase::Body { header, body } => {
                let bytes = u64::from(self.cell) * u64::from(CELL) + held.len() as u64;
                let expected = body.cell(self.cell.saturating_sub(HEADER_CELLS)).to_le_bytes();
                let wrong = !expected.starts_with(held) || bytes > u64::from(header.bytes);
                let at = u64::from(self.cell) * u64::from(CELL);
                let altered = self.altered.or((wrong && !held.is_empty()).then_some(at));
                ArrivedPacket::Traffic { header, bytes, altered, end }
            }
            CheckPhase::Header => {
                let cells = self.header.get(..self.cell as usize).unwrap_or(&[]);
                let mut bytes: Vec<u8> = cells.iter().flat_map(|cell| cell.to_le_bytes()).collect();
                bytes.extend(held);
                ArrivedPacket::Other { bytes, end }
            }
            CheckPhase::Other => {
                ArrivedPacket::Other { bytes: std::mem::take(&mut self.other), end }
            }
        };
        *self = Self::new();
        arrived
    }
}

const _: () = assert!(HEADER_BYTES.is_multiple_of(CELL));
