//! A memory behind an AXI4 port with beats of 16 bytes. It answers late, and writes in any order.

use std::collections::VecDeque;

use crate::{Packer, Unpacker, once_in};

/// Answer of a bus on which nobody has the address (DECERR).
const NOBODY: u64 = 3;
/// Bits of an ID of a single master.
const ID_BITS: usize = 3;

/// A burst whose data came, which is not in memory yet: address, ID, beats with byte enables.
type Write = (u64, u64, Vec<(u128, u16)>);

/// The port of the memory.
#[derive(Debug)]
pub struct Axi {
    /// Bits of an ID.
    id_bits: usize,
    /// Bursts to read: address, ID, beats that are left.
    reads: VecDeque<(u64, u64, u64)>,
    /// Addresses of bursts to write, with IDs.
    addresses: VecDeque<(u64, u64)>,
    beats: Vec<(u128, u16)>,
    whole: VecDeque<Vec<(u128, u16)>>,
    writes: Vec<Write>,
    ar_ready: bool,
    aw_ready: bool,
    w_ready: bool,
    r: Option<(u128, u64, u64, bool)>,
    b: Option<(u64, u64)>,
}

fn load(memory: &[u8], address: u64) -> Option<u128> {
    let at = usize::try_from(address & !15).ok()?;
    Some(u128::from_le_bytes(memory.get(at..at.checked_add(16)?)?.try_into().ok()?))
}

impl Default for Axi {
    fn default() -> Self {
        Self::new(ID_BITS)
    }
}

impl Axi {
    /// A memory for a master whose IDs have so many bits.
    #[must_use]
    pub fn new(id_bits: usize) -> Self {
        Self {
            id_bits,
            reads: VecDeque::new(),
            addresses: VecDeque::new(),
            beats: Vec::new(),
            whole: VecDeque::new(),
            writes: Vec::new(),
            ar_ready: false,
            aw_ready: false,
            w_ready: false,
            r: None,
            b: None,
        }
    }

    /// Chooses the inputs of the core for a cycle; an answered write is in memory.
    pub fn drive(&mut self, memory: &mut [u8], rng: &mut fastrand::Rng) {
        self.ar_ready = rng.u8(..4) != 0;
        self.aw_ready = rng.u8(..4) != 0;
        self.w_ready = rng.u8(..4) != 0;
        self.r = None;
        if rng.u8(..4) != 0
            && let Some((address, id, left)) = self.reads.front_mut()
        {
            let data = load(memory, *address);
            let answer = if data.is_some() { 0 } else { NOBODY };
            self.r = Some((data.unwrap_or(0), *id, answer, *left == 1));
            *address = (*address & !15) + 16;
            *left -= 1;
            if *left == 0 {
                self.reads.pop_front();
            }
        }
        self.b = None;
        if !self.writes.is_empty() && once_in(rng, 4) {
            let (mut address, id, beats) = self.writes.swap_remove(rng.usize(..self.writes.len()));
            let mut answer = 0;
            for (data, enables) in beats {
                for (place, byte) in data.to_le_bytes().into_iter().enumerate() {
                    if enables >> place & 1 != 0 {
                        match memory.get_mut((address & !15) as usize + place) {
                            Some(cell) => *cell = byte,
                            None => answer = NOBODY,
                        }
                    }
                }
                address = (address & !15) + 16;
            }
            self.b = Some((id, answer));
        }
    }

    /// Writes the inputs: ar_ready, r_data, r_id, r_resp, r_last, r_valid, aw_ready, w_ready, b_id,
    /// b_resp, b_valid.
    pub fn put(&self, packer: &mut Packer) {
        let (b_id, b_resp) = self.b.unwrap_or_default();
        packer.flag(self.b.is_some()).put(b_resp, 2).put(b_id, self.id_bits);
        packer.flag(self.w_ready).flag(self.aw_ready);
        let (data, id, answer, last) = self.r.unwrap_or_default();
        packer.flag(self.r.is_some()).flag(last).put(answer, 2).put(id, self.id_bits);
        packer.put(data as u64, 64).put((data >> 64) as u64, 64).flag(self.ar_ready);
    }

    /// Reads the outputs: ar_addr, ar_id, ar_len, ar_valid, r_ready, aw_addr, aw_id, aw_len,
    /// aw_valid, w_data, w_strb, w_last, w_valid, b_ready.
    ///
    /// # Panics
    /// The core refuses an answer, which it must never do.
    pub fn take(&mut self, outputs: &mut Unpacker<'_>) {
        assert!(outputs.flag(), "b_ready");
        let (w_valid, w_last) = (outputs.flag(), outputs.flag());
        let enables = outputs.get(16) as u16;
        let data = u128::from(outputs.get(64)) | u128::from(outputs.get(64)) << 64;
        let (aw_valid, aw_len, aw_id) = (outputs.flag(), outputs.get(8), outputs.get(self.id_bits));
        let aw_addr = outputs.get(64);
        assert!(outputs.flag(), "r_ready");
        let (ar_valid, ar_len, ar_id) = (outputs.flag(), outputs.get(8), outputs.get(self.id_bits));
        let ar_addr = outputs.get(64);
        if ar_valid && self.ar_ready {
            self.reads.push_back((ar_addr, ar_id, ar_len + 1));
        }
        if aw_valid && self.aw_ready {
            assert!(aw_len < 256, "beats of a burst");
            self.addresses.push_back((aw_addr, aw_id));
        }
        if w_valid && self.w_ready {
            self.beats.push((data, enables));
            if w_last {
                self.whole.push_back(std::mem::take(&mut self.beats));
            }
        }
        while let (Some(_), Some(_)) = (self.addresses.front(), self.whole.front()) {
            let (address, id) = self.addresses.pop_front().expect("is there");
            self.writes.push((address, id, self.whole.pop_front().expect("is there")));
        }
    }

    /// Nothing is under way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.reads.is_empty() && self.addresses.is_empty() && self.writes.is_empty()
    }
}
