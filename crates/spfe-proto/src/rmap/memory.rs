//! Memory behind a target.

use super::RMW_MAX;

/// Reason why memory did not carry out an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFault {
    /// The memory does not have this address, alignment or length: status 10.
    Refused,
    /// The access failed: status 1.
    Failed,
}

/// The memory of a target. It only gets authorised accesses of at least one byte, and incrementing
/// accesses never end above the 40-bit addresses.
pub trait Memory {
    /// Reads all of `data`, from one address only unless `increment`.
    fn read(&mut self, address: u64, increment: bool, data: &mut [u8]) -> Result<(), MemoryFault>;

    /// Writes all of `data`, to one address only unless `increment`.
    fn write(&mut self, address: u64, increment: bool, data: &[u8]) -> Result<(), MemoryFault>;

    /// Reads 1 to 4 bytes into `old`, and writes the bits of `data` where `mask` is one, without
    /// another access in between (50-52C 5.5). All three slices have the same length.
    fn modify(
        &mut self,
        address: u64,
        data: &[u8],
        mask: &[u8],
        old: &mut [u8],
    ) -> Result<(), MemoryFault> {
        let mut new = [0; RMW_MAX];
        let new = new.get_mut(..old.len()).ok_or(MemoryFault::Refused)?;
        self.read(address, true, old)?;
        for (((new, old), data), mask) in new.iter_mut().zip(&*old).zip(data).zip(mask) {
            *new = mask & data | !mask & old;
        }
        self.write(address, true, new)
    }
}

/// Plain memory starting at `base`.
#[derive(Debug)]
pub struct Ram<'a> {
    /// Address of the first byte.
    pub base: u64,
    /// Bytes of a word. An access to a single address must consist of whole words.
    pub word_bytes: usize,
    /// Content of the memory.
    pub bytes: &'a mut [u8],
}

impl Ram<'_> {
    fn place(&mut self, address: u64, bytes: usize) -> Result<&mut [u8], MemoryFault> {
        let offset = address.checked_sub(self.base).ok_or(MemoryFault::Refused)?;
        let start = usize::try_from(offset).map_err(|_| MemoryFault::Refused)?;
        let end = start.checked_add(bytes).ok_or(MemoryFault::Refused)?;
        self.bytes.get_mut(start..end).ok_or(MemoryFault::Refused)
    }

    fn word(&mut self, address: u64, bytes: usize) -> Result<&mut [u8], MemoryFault> {
        let word = self.word_bytes;
        if word == 0 || !bytes.is_multiple_of(word) {
            return Err(MemoryFault::Refused);
        }
        self.place(address, word)
    }
}

impl Memory for Ram<'_> {
    fn read(&mut self, address: u64, increment: bool, data: &mut [u8]) -> Result<(), MemoryFault> {
        if increment {
            data.copy_from_slice(self.place(address, data.len())?);
            return Ok(());
        }
        let word = self.word(address, data.len())?;
        data.chunks_exact_mut(word.len()).for_each(|chunk| chunk.copy_from_slice(word));
        Ok(())
    }

    fn write(&mut self, address: u64, increment: bool, data: &[u8]) -> Result<(), MemoryFault> {
        if increment {
            self.place(address, data.len())?.copy_from_slice(data);
            return Ok(());
        }
        let word = self.word(address, data.len())?;
        data.chunks_exact(word.len()).for_each(|chunk| word.copy_from_slice(chunk));
        Ok(())
    }
}
