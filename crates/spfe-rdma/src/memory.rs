//! Memory of a region: large, and only as real as what was written.

/// Size of a page in bytes.
const PAGE: usize = 64 << 10;

/// A page to which nothing was written.
static ZEROS: [u8; PAGE] = [0; PAGE];

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
        self.show(offset, out.len(), |at, bytes| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            Ok(())
        })
    }

    /// Copies bytes in.
    ///
    /// # Errors
    /// The range is not inside the memory; nothing was written.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), BeyondMemory> {
        self.fill(offset, data.len(), |at, place| {
            place.copy_from_slice(&data[at..at + place.len()]);
            Ok(())
        })
    }

    /// The page of an offset: the offset of its first byte, and its bytes. `None` beyond the last page.
    pub fn page(&self, offset: u64) -> Option<(u64, &[u8])> {
        let (page, inside) = place(offset);
        let bytes = self.pages.get(page)?.as_deref().unwrap_or(&ZEROS);
        Some((offset - inside as u64, bytes))
    }

    /// The same, to change its bytes. `None` as well if nothing was written to it.
    pub fn page_mut(&mut self, offset: u64) -> Option<(u64, &mut [u8])> {
        let (page, inside) = place(offset);
        let bytes = self.pages.get_mut(page)?.as_deref_mut()?;
        Some((offset - inside as u64, bytes))
    }

    /// Lets `each` write bytes in place, in parts that do not cross pages. It gets the offset of a part
    /// from the start.
    ///
    /// # Errors
    /// The range is not inside the memory and nothing was written, or the error of `each`.
    pub fn fill<E: From<BeyondMemory>>(
        &mut self,
        offset: u64,
        length: usize,
        mut each: impl FnMut(usize, &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check(offset, length)?;
        let mut done = 0;
        while done < length {
            let (page, inside) = place(offset + done as u64);
            let part = (length - done).min(PAGE - inside);
            let page = self.pages[page].get_or_insert_with(|| vec![0; PAGE].into());
            each(done, &mut page[inside..inside + part])?;
            done += part;
        }
        Ok(())
    }

    /// Shows `each` the bytes, in parts that do not cross pages. It gets the offset of a part from the
    /// start.
    ///
    /// # Errors
    /// The range is not inside the memory, or the error of `each`.
    pub fn show<E: From<BeyondMemory>>(
        &self,
        offset: u64,
        length: usize,
        mut each: impl FnMut(usize, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check(offset, length)?;
        let mut done = 0;
        while done < length {
            let (page, inside) = place(offset + done as u64);
            let part = (length - done).min(PAGE - inside);
            let bytes = self.pages[page].as_deref().unwrap_or(&ZEROS);
            each(done, &bytes[inside..inside + part])?;
            done += part;
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
