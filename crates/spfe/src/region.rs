//! Registered memory, and buffers cut from it.

use crate::device::Device;
use crate::{Error, Result};
use spfe_contract::{PACKET_MAX_BYTES, Status, access};
use spfe_host::{Address, RegionKey, SharedMemory};
use std::collections::BTreeMap;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// Registered memory that the device may read and write.
///
/// A region is cut into [`Buf`]s; each byte belongs to at most one. Dropping the last clone and the
/// last buffer revokes the region. The memory is unmapped after the device has released it.
#[derive(Clone)]
pub struct Region {
    inner: Arc<Inner>,
}

struct Inner {
    memory: Arc<SharedMemory>,
    key: RegionKey,
    device: Arc<Device>,
    taken: Mutex<BTreeMap<usize, usize>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // On an error the device is gone. In any case it no longer accesses the memory.
        let _ = self.device.backend().remove_region(self.key);
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Region(key {:#06x}, {} bytes)", self.inner.key.0, self.size())
    }
}

impl Region {
    pub(crate) fn new(device: Arc<Device>, name: &str, size: usize) -> Result<Self> {
        Self::with_access(device, name, size, access::LOCAL_READ | access::LOCAL_WRITE)
    }

    pub(crate) fn with_access(
        device: Arc<Device>,
        name: &str,
        size: usize,
        access: u32,
    ) -> Result<Self> {
        let (memory, key) = device.backend().add_memory(name, size, access)?;
        let inner = Inner { memory, key, device, taken: Mutex::default() };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Size in bytes, a whole number of pages.
    pub fn size(&self) -> usize {
        self.inner.memory.size()
    }

    /// The key by which ring entries name the region.
    pub fn key(&self) -> RegionKey {
        self.inner.key
    }

    /// The mapping of the region.
    pub(crate) fn shared(&self) -> &Arc<SharedMemory> {
        &self.inner.memory
    }

    /// The device that knows it.
    #[cfg(feature = "fast")]
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.inner.device
    }

    /// Address of the first byte in this process.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.inner.memory.base()
    }

    /// The address of an offset as ring entries carry it.
    pub(crate) fn address(&self, offset: usize) -> u64 {
        Address::new(self.inner.key, offset as u64).0
    }

    /// Takes a range of the region as a buffer.
    ///
    /// # Errors
    /// OUT_OF_BOUNDS past the end, EMPTY for an empty range, TOO_LONG for more than 1 GiB, BUSY if a
    /// byte belongs to another buffer.
    pub fn buf(&self, range: Range<usize>) -> Result<Buf> {
        let size = self.size();
        let say = |status, what: &str| {
            let what = format!("bytes {range:?} of a region of {size} bytes: {what}");
            Error::device(status, what)
        };
        if range.start >= range.end {
            return Err(say(Status::Empty, "a buffer has at least one byte"));
        }
        if range.end > size {
            return Err(say(Status::OutOfBounds, "past the end"));
        }
        if range.len() as u64 > PACKET_MAX_BYTES {
            return Err(say(Status::TooLong, "a buffer has at most 1 GiB"));
        }
        let mut taken = self.inner.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let before = taken.range(..range.end).next_back();
        if before.is_some_and(|(_, end)| *end > range.start) {
            return Err(say(Status::Busy, "some of them belong to another buffer"));
        }
        taken.insert(range.start, range.end);
        drop(taken);
        let head = Head {
            address: self.address(range.start),
            length: range.len() as u32,
            capacity: range.len() as u32,
            tag: 0,
            region: self.clone(),
        };
        Ok(Buf { head: ManuallyDrop::new(Box::new(head)) })
    }

    /// Cuts the region into `count` adjacent buffers of `bytes` each, starting at offset 0.
    ///
    /// # Errors
    /// Those of [`Region::buf`].
    pub fn split(&self, bytes: usize, count: usize) -> Result<Vec<Buf>> {
        (0..count).map(|i| self.buf(i * bytes..(i + 1) * bytes)).collect()
    }

    fn give_back(&self, offset: usize) {
        self.inner.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&offset);
    }
}

/// Exclusive access to a range of a [`Region`], as a byte slice.
///
/// Posting moves a buffer into the queue and a completion moves it back, so safe code cannot access
/// bytes that the device is reading or writing. A buffer is one pointer, so a move is cheap.
pub struct Buf {
    /// Moved out by the drop, and valid until then.
    head: ManuallyDrop<Box<Head>>,
}

/// What there is to know about a buffer. Its place in memory never changes.
struct Head {
    /// Region and offset, as ring entries carry them.
    address: u64,
    length: u32,
    capacity: u32,
    tag: u64,
    region: Region,
}

impl Buf {
    #[inline(always)]
    fn at(&self) -> *mut u8 {
        let offset = Address(self.head.address).offset() as usize;
        // SAFETY: `Region::buf` checked that the range lies in the mapping, which the region keeps.
        unsafe { self.head.region.base().as_ptr().add(offset) }
    }

    /// The address of the first byte, as ring entries carry it.
    #[inline(always)]
    pub(crate) fn address(&self) -> u64 {
        self.head.address
    }

    /// Number of bytes in use: to be sent, or received.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.head.length as usize
    }

    /// Whether no byte is in use.
    pub fn is_empty(&self) -> bool {
        self.head.length == 0
    }

    /// Maximum number of bytes in use.
    #[inline(always)]
    pub fn capacity(&self) -> usize {
        self.head.capacity as usize
    }

    #[inline(always)]
    pub(crate) fn length32(&self) -> u32 {
        self.head.length
    }

    #[inline(always)]
    pub(crate) fn capacity32(&self) -> u32 {
        self.head.capacity
    }

    /// Sets the number of bytes in use.
    ///
    /// # Panics
    /// If `length` exceeds the capacity.
    #[inline]
    pub fn set_len(&mut self, length: usize) {
        assert!(length <= self.capacity(), "length {length} of a buffer of {}", self.head.capacity);
        self.head.length = length as u32;
    }

    #[inline(always)]
    pub(crate) fn received(&mut self, length: u32) {
        self.head.length = length.min(self.head.capacity);
    }

    /// Copies `bytes` to the front of the buffer and sets the number of bytes in use.
    ///
    /// # Panics
    /// If they exceed the capacity.
    pub fn put(&mut self, bytes: &[u8]) {
        self.set_len(bytes.len());
        self.copy_from_slice(bytes);
    }

    /// A number for the application. It comes back unchanged with the buffer; at first it is 0.
    pub fn tag(&self) -> u64 {
        self.head.tag
    }

    /// Sets the number for the application.
    pub fn set_tag(&mut self, tag: u64) {
        self.head.tag = tag;
    }

    /// The region that the buffer belongs to.
    pub fn region(&self) -> &Region {
        &self.head.region
    }
}

impl Deref for Buf {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the region keeps the bytes mapped and no other Buf has them. The device accesses
        // them only while a queue owns the Buf.
        unsafe { std::slice::from_raw_parts(self.at(), self.head.length as usize) }
    }
}

impl DerefMut for Buf {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `deref`; the Buf is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.at(), self.head.length as usize) }
    }
}

impl fmt::Debug for Buf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Buf({} of {} bytes, tag {})",
            self.head.length, self.head.capacity, self.head.tag
        )
    }
}

impl Drop for Buf {
    #[inline(always)]
    fn drop(&mut self) {
        #[cold]
        #[inline(never)]
        #[expect(clippy::boxed_local, reason = "the box is freed here, out of line")]
        fn give_back(head: Box<Head>) {
            head.region.give_back(Address(head.address).offset() as usize);
        }
        // Passed by value: a buffer whose own address no function gets stays in a register.
        // SAFETY: nobody uses the field after the drop.
        give_back(unsafe { ManuallyDrop::take(&mut self.head) });
    }
}
