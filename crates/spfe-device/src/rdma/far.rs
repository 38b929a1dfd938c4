//! Memory of the far end, for requests that are executed at once (`near`).

use crate::copy::move_bytes;
use crate::memory::{Address, FixedWindow};
use spfe_rdma::TargetRegion;
use spfe_rdma::memory::{BeyondMemory, SparseMemory};

/// A region of the far end, for requests of one length that all write to it, or all read it.
pub struct FarMemory<'a, const WRITES: bool> {
    bytes: FarBytes<'a>,
    /// Address of the region's first byte, and offset of the last request that is all in it.
    base: u64,
    last: u64,
    length: u32,
    /// log2 of the largest payload of a packet.
    segment_log2: u32,
    /// Where the last request was, as far as it is one page and one segment.
    reach: FixedWindow,
    /// Ends of segments that requests went across: each makes a packet more.
    pub crossings: u64,
}

/// Where the bytes of a region are.
enum FarBytes<'a> {
    /// From here on, mapped for this step.
    Mapped(*mut u8),
    /// In pages of the target.
    Pages(&'a mut SparseMemory),
}

impl<'a, const WRITES: bool> FarMemory<'a, WRITES> {
    /// A region of at least `length` bytes. `window` finds mapped memory.
    #[inline(always)]
    pub fn new(
        region: &'a mut TargetRegion,
        length: u32,
        segment_log2: u32,
        window: impl FnOnce(Address) -> Option<FixedWindow>,
    ) -> Option<Self> {
        let (base, last) = (region.base, region.bytes() - u64::from(length));
        let bytes = match region.window {
            Some(served) => {
                let start = super::memory::address(served)?;
                let window = window(start)?;
                window.at(start.0 + last)?;
                FarBytes::Mapped(window.at(start.0)?)
            }
            None => FarBytes::Pages(&mut region.memory),
        };
        let reach = FixedWindow::default();
        Some(Self { bytes, base, last, length, segment_log2, reach, crossings: 0 })
    }

    /// Carries the bytes of a request from or to `local`, where they are mapped for this step. False
    /// if they are not all in the region. `length` is that of all requests.
    #[inline(always)]
    pub fn carry(&mut self, address: u64, local: *mut u8, length: u32) -> bool {
        let Some(far) = self.reach.at(address) else { return self.carry_beyond(address, local) };
        let (from, to) = if WRITES { (local, far) } else { (far, local) };
        // SAFETY: there is a request's length of bytes at both. Nobody else uses the target's pages
        // while `bytes` borrows them.
        unsafe { move_bytes(from, to, length) };
        true
    }

    /// The same out of reach. What follows close to it is in reach then.
    #[inline(never)]
    fn carry_beyond(&mut self, address: u64, local: *mut u8) -> bool {
        self.reach_to(address);
        if self.reach.at(address).is_some() {
            return self.carry(address, local, self.length);
        }
        // It goes across the end of a page or segment, or is the first one in its page.
        let (offset, length) = (address.wrapping_sub(self.base), self.length as usize);
        if offset > self.last {
            return false;
        }
        let copy = |done, far: *mut u8, bytes| {
            let local = local.wrapping_add(done);
            let (from, to) = if WRITES { (local, far) } else { (far, local) };
            // SAFETY: the parts make up the bytes of the request, which are there at both ends.
            unsafe { move_bytes(from, to, bytes) };
            Ok::<(), BeyondMemory>(())
        };
        let carried = match &mut self.bytes {
            FarBytes::Mapped(start) => copy(0, start.wrapping_add(offset as usize), self.length),
            FarBytes::Pages(pages) if WRITES => pages.fill(offset, length, |done, part| {
                copy(done, part.as_mut_ptr(), part.len() as u32)
            }),
            FarBytes::Pages(pages) => pages.show(offset, length, |done, part| {
                copy(done, part.as_ptr().cast_mut(), part.len() as u32)
            }),
        };
        let end = self.in_segment(offset) + u64::from(self.length);
        self.crossings += (end - 1) >> self.segment_log2;
        self.reach_to(address);
        carried.is_ok()
    }

    /// Bytes of a segment before an offset. Segments of writes start at addresses that are multiples
    /// of the largest payload, those of reads at such offsets.
    #[inline(always)]
    fn in_segment(&self, offset: u64) -> u64 {
        let at = if WRITES { offset.wrapping_add(self.base) } else { offset };
        at & ((1 << self.segment_log2) - 1)
    }

    /// Gets an address in reach, with what is around it in its page and segment.
    #[inline(always)]
    pub fn reach_to(&mut self, address: u64) {
        self.reach = FixedWindow::default();
        // The offset of an address before the region is huge.
        let offset = address.wrapping_sub(self.base);
        if offset > self.last {
            return;
        }
        let bytes = self.last + u64::from(self.length);
        let found = match &mut self.bytes {
            FarBytes::Mapped(start) => Some((0, *start, bytes)),
            FarBytes::Pages(pages) if WRITES => pages
                .page_mut(offset)
                .map(|(start, page)| (start, page.as_mut_ptr(), page.len() as u64)),
            FarBytes::Pages(pages) => pages
                .page(offset)
                .map(|(start, page)| (start, page.as_ptr().cast_mut(), page.len() as u64)),
        };
        let Some((start, at, length)) = found else { return };
        let inside = self.in_segment(offset);
        let from = offset - inside.min(offset - start);
        let to = (offset + (1 << self.segment_log2) - inside).min(start + length).min(bytes);
        let at = at.wrapping_add((from - start) as usize);
        self.reach = FixedWindow::new(self.base + from, at, to - from, self.length);
    }
}
