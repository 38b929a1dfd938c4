//! Memory of a region: large, and only as real as what was written.

/// Size of a page in bytes.
const PAGE: usize = 64 << 10;

/// Zeros, except where something was written. Costs 8 bytes for each 64 KiB, and the pages in use.
#[derive(Debug, Default)]
pub struct SparseMemory {
    pages: Vec<Option<Box<[u8]>>>,
    bytes: u64,
}

/// An access beyond the end of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("access to {length} bytes at {offset:#x} of a memory of {bytes} bytes")]
pub struct BeyondMemory {
    /// Offset of the first byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: usize,
    /// Size of the memory.
    pub bytes: u64,
}

impl SparseMemory {
    /// A memory of zeros.
    pub fn new(bytes: u64) -> Self {
        let pages = bytes.div_ceil(PAGE as u64) as usize;
        Self { pages: std::iter::repeat_with(|| None).take(pages).collect(), bytes }
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of the pages that have been written.
    pub fn used_bytes(&self) -> u64 {
        (self.pages.iter().flatten().count() * PAGE) as u64
    }

    /// Copies bytes out.
    ///
    /// # Errors
    /// The range is not inside the memory; nothing was copied.
    pub fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), BeyondMemory> {
        self.check(offset, out.len())?;
        let mut at = offset;
        let mut rest = out;
        while !rest.is_empty() {
            let (page, inside) = place(at);
            let part = rest.len().min(PAGE - inside);
            let (here, after) = rest.split_at_mut(part);
            match &self.pages[page] {
                Some(page) => here.copy_from_slice(&page[inside..inside + part]),
                None => here.fill(0),
            }
            (at, rest) = (at + part as u64, after);
        }
        Ok(())
    }

    /// Copies bytes in.
    ///
    /// # Errors
    /// The range is not inside the memory; nothing was written.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), BeyondMemory> {
        self.check(offset, data.len())?;
        let (mut at, mut rest) = (offset, data);
        while !rest.is_empty() {
            let (page, inside) = place(at);
            let part = rest.len().min(PAGE - inside);
            let (here, after) = rest.split_at(part);
            let page = self.pages[page].get_or_insert_with(|| vec![0; PAGE].into());
            page[inside..inside + part].copy_from_slice(here);
            (at, rest) = (at + part as u64, after);
        }
        Ok(())
    }

    fn check(&self, offset: u64, length: usize) -> Result<(), BeyondMemory> {
        let inside = offset <= self.bytes && length as u64 <= self.bytes - offset;
        inside.then_some(()).ok_or(BeyondMemory { offset, length, bytes: self.bytes })
    }
}

fn place(offset: u64) -> (usize, usize) {
    ((offset / PAGE as u64) as usize, (offset % PAGE as u64) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_written_pages_are_there() {
        let mut memory = SparseMemory::new(8 << 30);
        let mut out = [1; 4];
        memory.read((8 << 30) - 4, &mut out).unwrap();
        assert_eq!((out, memory.used_bytes()), ([0; 4], 0));
        memory.write((5 << 30) - 2, b"edge").unwrap();
        memory.read((5 << 30) - 2, &mut out).unwrap();
        assert_eq!((&out, memory.used_bytes()), (b"edge", 2 * PAGE as u64));
    }

    #[test]
    fn the_end_is_the_end() {
        let mut memory = SparseMemory::new(PAGE as u64 + 10);
        memory.write(PAGE as u64 + 6, b"last").unwrap();
        assert_eq!(memory.read(PAGE as u64 + 10, &mut []), Ok(()));
        for (offset, length) in [(PAGE as u64 + 7, 4), (u64::MAX, 1), (u64::MAX - 2, 4)] {
            let error = memory.write(offset, &vec![1; length]).unwrap_err();
            assert_eq!((error.offset, error.length, error.bytes), (offset, length, 65546));
            assert!(memory.read(offset, &mut vec![0; length]).is_err());
        }
        assert_eq!(memory.used_bytes(), PAGE as u64);
    }
}
