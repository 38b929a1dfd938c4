//! Words of a packet, made when they are needed.

use super::{Body, CELL, HEADER_CELLS, PacketHeader};
use spfe_link::Word;
use spfe_link::word::k;

#[derive(Clone, Debug)]
enum Cargo {
    Traffic { header: [u32; HEADER_CELLS as usize], body: Body },
    Bytes(Vec<u8>),
}

/// A packet that is being handed in.
#[derive(Clone, Debug)]
pub struct PacketMaker {
    path: Vec<u8>,
    path_done: usize,
    cargo: Cargo,
    /// The next cell of the cargo.
    cell: u32,
    /// Bytes of the cargo that are not in `held` yet.
    left: u32,
    /// Bytes that are made and not in a word yet, the first lowest.
    held: u64,
    held_bytes: u32,
    ended: bool,
}

impl PacketMaker {
    /// A packet of the traffic behind the bytes of its path.
    pub fn traffic(path: &[u8], header: PacketHeader) -> Self {
        let cargo = Cargo::Traffic { header: header.cells(), body: Body::of(header) };
        Self::new(path, cargo, header.bytes)
    }

    /// A packet of given bytes.
    pub fn bytes(bytes: Vec<u8>) -> Self {
        let left = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        Self::new(&[], Cargo::Bytes(bytes), left)
    }

    fn new(path: &[u8], cargo: Cargo, left: u32) -> Self {
        let path = path.to_vec();
        Self { path, path_done: 0, cargo, cell: 0, left, held: 0, held_bytes: 0, ended: false }
    }

    /// All of it has been given out.
    pub const fn is_done(&self) -> bool {
        self.ended
    }

    /// Gives the next words; how many.
    pub fn fill(&mut self, words: &mut [Word]) -> usize {
        for (index, word) in words.iter_mut().enumerate() {
            if self.ended {
                return index;
            }
            while self.path_done < self.path.len() && self.held_bytes < CELL {
                self.held |= u64::from(self.path[self.path_done]) << (8 * self.held_bytes);
                self.held_bytes += 1;
                self.path_done += 1;
            }
            if self.held_bytes < CELL && self.left != 0 {
                let taken = self.left.min(CELL);
                let cell = u64::from(self.next_cell()) & ((1 << (8 * taken)) - 1);
                self.held |= cell << (8 * self.held_bytes);
                self.held_bytes += taken;
                self.left -= taken;
            }
            if self.held_bytes >= CELL {
                *word = Word::data(self.held as u32);
                self.held >>= 32;
                self.held_bytes -= CELL;
            } else {
                *word = ending(self.held as u32, self.held_bytes);
                self.ended = true;
            }
        }
        words.len()
    }

    #[inline]
    fn next_cell(&mut self) -> u32 {
        let cell = self.cell;
        self.cell += 1;
        match &self.cargo {
            Cargo::Traffic { header, body } => match header.get(cell as usize) {
                Some(cell) => *cell,
                None => body.cell(cell - HEADER_CELLS),
            },
            Cargo::Bytes(bytes) => {
                let start = cell as usize * CELL as usize;
                let rest = bytes.get(start..).unwrap_or(&[]);
                let mut four = [0; CELL as usize];
                four.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
                u32::from_le_bytes(four)
            }
        }
    }
}

/// The last word: up to three bytes, EOP, Fill.
fn ending(bytes: u32, count: u32) -> Word {
    let mut symbols = bytes.to_le_bytes();
    for (index, symbol) in symbols.iter_mut().enumerate().skip(count as usize) {
        *symbol = if index == count as usize { k::EOP } else { k::FILL };
    }
    Word::from_symbols(symbols, 0xf << count)
}
