//! Memory regions, and the check that every access of the device passes.

pub use spfe_contract::{Address, RegionKey};
use spfe_contract::{Status, access};
use spfe_ring::sync::{AtomicU64, Ordering};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Maximum number of regions of an endpoint.
pub const REGIONS: usize = 256;

/// Everything that an access is checked against, in one word: {valid 1, access 15, serial 16,
/// domain 16, key 16}.
///
/// The generation of a key repeats after 16 regions at an index. The serial number tells a runner
/// that has not looked for so long that it has an older region of the same key mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionTag(pub u64);

impl RegionTag {
    const VALID: u64 = 1 << 63;

    /// The tag of a valid region, with serial number 0.
    pub const fn new(key: RegionKey, domain: u16, access: u32) -> Self {
        Self(Self::VALID | (access as u64 & 0x7fff) << 48 | (domain as u64) << 16 | key.0 as u64)
    }

    /// The same tag with a serial number, which differs in each round of generations.
    pub const fn with_serial(self, serial: u16) -> Self {
        Self(self.0 & !(0xffff << 32) | (serial as u64) << 32)
    }

    /// Whether the region exists.
    pub const fn is_valid(self) -> bool {
        self.0 & Self::VALID != 0
    }

    /// Key of the region.
    pub const fn key(self) -> RegionKey {
        RegionKey(self.0 as u16)
    }

    /// Allowed accesses (`access` bits of the contract).
    pub const fn access(self) -> u32 {
        (self.0 >> 48 & 0x7fff) as u32
    }

    /// Protection domain.
    pub const fn domain(self) -> u16 {
        (self.0 >> 16) as u16
    }
}

/// A region as all runners see it, in shared memory. Only the control plane writes it.
#[repr(C)]
#[derive(Default)]
pub struct RegionShared {
    /// A [`RegionTag`]; 0 for no region.
    pub tag: AtomicU64,
    /// Size in bytes.
    pub size: AtomicU64,
}

impl RegionShared {
    /// The current tag.
    pub fn tag(&self) -> RegionTag {
        RegionTag(self.tag.load(Ordering::Acquire))
    }
}

/// A region whose memory comes and goes while it is enabled: everything that a device can reach on a
/// bus (contract `region_options::LOCAL_DMA`).
///
/// # Safety
/// A pointer from [`BusWindow::at`] may be used for the length and access that were asked for as
/// long as the object exists, also after the memory was taken from the device.
pub unsafe trait BusWindow: Send + Sync {
    /// The memory of `length` bytes from a bus address.
    ///
    /// # Errors
    /// OUT_OF_BOUNDS if the device cannot reach all of them, ACCESS_DENIED if it lacks an `access`.
    fn at(&self, address: u64, length: u64, access: u32) -> Result<*mut u8, Status>;
}

/// A region as this process has mapped it. `base` is its address here.
#[derive(Default)]
struct Mapped {
    tag: AtomicU64,
    size: AtomicU64,
    base: AtomicU64,
}

/// The regions of one endpoint as one process has mapped them.
///
/// Regions appear and disappear while other threads translate: the tag is stored last and cleared
/// first. The memory of a cleared region may be unmapped only while no step that may have
/// translated it is running: the control plane takes the seats of those flows first.
pub struct RegionMap {
    mapped: Box<[Mapped]>,
    /// Regions of all bus addresses, by index. Their size in `mapped` is 0.
    windows: RwLock<BTreeMap<usize, Arc<dyn BusWindow>>>,
}

impl Default for RegionMap {
    fn default() -> Self {
        let mapped = (0..REGIONS).map(|_| Mapped::default()).collect();
        Self { mapped, windows: RwLock::default() }
    }
}

/// Why an access was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRefusal {
    /// The entry is wrong: complete it with this status.
    Fault(Status),
    /// This process has no such region mapped. If the region exists, map it and try again.
    Unmapped(RegionKey),
}

impl RegionMap {
    /// Makes a mapped region usable for translation.
    ///
    /// # Safety
    /// `base` points to `size` bytes. They stay mapped until the region is cleared
    /// ([`RegionMap::clear`], [`RegionMap::sync`]) and every step that began before has ended.
    pub unsafe fn set(&self, tag: RegionTag, base: *mut u8, size: u64) {
        let mapped = &self.mapped[tag.key().index()];
        mapped.tag.store(0, Ordering::Release);
        mapped.size.store(size, Ordering::Relaxed);
        mapped.base.store(base as u64, Ordering::Relaxed);
        // Release pairs with the acquire in `translate`: a thread that sees the tag sees base and
        // size.
        mapped.tag.store(tag.0, Ordering::Release);
    }

    /// Makes a region of all bus addresses usable for translation. It stays until the region is
    /// cleared ([`RegionMap::clear`]) and every step that began before has ended.
    pub fn set_window(&self, tag: RegionTag, window: Arc<dyn BusWindow>) {
        let mut windows = self.windows.write().unwrap_or_else(PoisonError::into_inner);
        windows.insert(tag.key().index(), window);
        drop(windows);
        // SAFETY: there are no bytes.
        unsafe { self.set(tag, std::ptr::dangling_mut(), 0) };
    }

    /// Removes the region at an index.
    pub fn clear(&self, index: usize) {
        if let Some(mapped) = self.mapped.get(index) {
            mapped.tag.store(0, Ordering::Release);
        }
        self.windows.write().unwrap_or_else(PoisonError::into_inner).remove(&index);
    }

    /// Removes every region whose tag differs from the one in the shared table.
    pub fn sync(&self, table: &[RegionShared]) {
        for (mapped, shared) in self.mapped.iter().zip(table) {
            let tag = mapped.tag.load(Ordering::Acquire);
            if tag != 0 && tag != shared.tag.load(Ordering::Acquire) {
                mapped.tag.store(0, Ordering::Release);
            }
        }
    }

    /// The memory of an address, if `domain` has the wanted `access` to `length` bytes there.
    #[inline(always)]
    pub fn translate(
        &self,
        address: Address,
        length: u64,
        domain: u16,
        access: u32,
    ) -> Result<*mut u8, AccessRefusal> {
        let key = address.key();
        let Some(mapped) = self.mapped.get(key.index()) else {
            return Err(AccessRefusal::Fault(Status::BadRegion));
        };
        let tag = mapped.tag.load(Ordering::Acquire);
        let want = RegionTag::new(key, domain, access).0;
        // Key, domain and validity must be equal, and every wanted access bit must be set. `sync`
        // checks the serial number.
        const EXACT: u64 = RegionTag::VALID | 0xffff_ffff;
        if (tag ^ want) & EXACT != 0 || want & !tag != 0 {
            return Err(Self::refuse(RegionTag(tag), key, domain));
        }
        let size = mapped.size.load(Ordering::Relaxed);
        let offset = address.offset();
        // offset < 2^48 and length < 2^33, so the sum cannot overflow.
        if offset + length > size {
            return self.beyond(key, offset, length, access);
        }
        let base = mapped.base.load(Ordering::Relaxed) as *mut u8;
        Ok(base.wrapping_add(offset as usize))
    }

    /// Looks up a region for many accesses of at most `most` bytes each. The window is valid until
    /// the end of the step.
    #[inline(always)]
    pub fn window(
        &self,
        address: Address,
        domain: u16,
        access: u32,
        most: u32,
    ) -> Option<RegionWindow> {
        let key = address.key();
        let mapped = self.mapped.get(key.index())?;
        let tag = RegionTag(mapped.tag.load(Ordering::Acquire));
        let good = tag.is_valid() && tag.key() == key && tag.domain() == domain;
        if !good || tag.access() & access != access {
            return None;
        }
        let (base, size) =
            (mapped.base.load(Ordering::Relaxed), mapped.size.load(Ordering::Relaxed));
        let start = Address::new(key, 0).0;
        let most = size.min(u64::from(most)) as u32;
        let delta = base.wrapping_sub(start);
        Some(RegionWindow {
            start: start.into(),
            size: size.into(),
            delta: delta.into(),
            most: most.into(),
        })
    }

    /// An access that ends after the size of its region: to a bus address, or wrong.
    #[cold]
    fn beyond(
        &self,
        key: RegionKey,
        offset: u64,
        length: u64,
        access: u32,
    ) -> Result<*mut u8, AccessRefusal> {
        let windows = self.windows.read().unwrap_or_else(PoisonError::into_inner);
        let window = windows.get(&key.index()).ok_or(Status::OutOfBounds);
        window.and_then(|window| window.at(offset, length, access)).map_err(AccessRefusal::Fault)
    }

    #[cold]
    fn refuse(tag: RegionTag, key: RegionKey, domain: u16) -> AccessRefusal {
        if !tag.is_valid() || tag.key() != key {
            AccessRefusal::Unmapped(key)
        } else if tag.domain() != domain {
            AccessRefusal::Fault(Status::BadRegion)
        } else {
            AccessRefusal::Fault(Status::AccessDenied)
        }
    }

    /// Whether the region with this tag is mapped here.
    pub fn has(&self, tag: RegionTag) -> bool {
        self.mapped
            .get(tag.key().index())
            .is_some_and(|mapped| mapped.tag.load(Ordering::Acquire) == tag.0)
    }
}

/// A region looked up by [`RegionMap::window`], for tight loops.
///
/// The fields are cells so that a loop loads each where it needs it: there are too few registers to
/// keep copies of all of them.
#[derive(Clone, Default)]
pub struct RegionWindow {
    /// Address of the first byte.
    start: Cell<u64>,
    /// Bytes of the region.
    size: Cell<u64>,
    /// Added to an address of the region it gives the address in this process (mod 2^64).
    delta: Cell<u64>,
    /// Longest access. At most the size.
    most: Cell<u32>,
}

impl RegionWindow {
    /// The memory of `length` bytes at an address. `None` if they are not all in this region, if
    /// `length` is 0, or if it exceeds the longest access.
    #[inline(always)]
    pub fn at(&self, address: u64, length: u32) -> Option<*mut u8> {
        if length.wrapping_sub(1) >= self.most.get() {
            return None;
        }
        // The offset of an address before the start is huge. The right side cannot be negative.
        let offset = address.wrapping_sub(self.start.get());
        (offset <= self.size.get() - u64::from(length)).then(|| self.guess(address).cast_mut())
    }

    /// The same region for accesses of one length. `None` if no access may have it.
    #[inline(always)]
    pub fn fixed(&self, length: u32) -> Option<FixedWindow> {
        (length.wrapping_sub(1) < self.most.get()).then(|| {
            let start = self.start.get();
            FixedWindow::new(start, self.guess(start).cast_mut(), self.size.get(), length)
        })
    }

    /// The memory of an address if it is in this region. Unchecked: only for prefetching.
    #[inline(always)]
    pub fn guess(&self, address: u64) -> *const u8 {
        address.wrapping_add(self.delta.get()) as *const u8
    }

    /// The same region for accesses of at most `most` bytes.
    pub fn at_most(&self, most: u32) -> Self {
        let window = self.clone();
        window.most.set(window.most.get().min(most));
        window
    }

    /// Takes over the content of another window.
    pub fn set(&self, other: Self) {
        self.start.set(other.start.get());
        self.size.set(other.size.get());
        self.delta.set(other.delta.get());
        self.most.set(other.most.get());
    }
}

/// Memory for accesses of one length: a [`RegionWindow`], or a part of one.
#[derive(Clone, Copy, Debug, Default)]
pub struct FixedWindow {
    /// Address of the first byte.
    start: u64,
    /// Number of offsets at which an access is all in the memory.
    places: u64,
    /// Address of the first byte in this process.
    base: u64,
}

impl FixedWindow {
    /// `bytes` at an address, which are at `base` in this process.
    #[inline(always)]
    pub fn new(start: u64, base: *mut u8, bytes: u64, length: u32) -> Self {
        let places = (bytes + 1).saturating_sub(length.into());
        Self { start, places, base: base as u64 }
    }

    /// The memory at an address. `None` if the access is not all in this memory.
    #[inline(always)]
    pub fn at(&self, address: u64) -> Option<*mut u8> {
        // The offset of an address before the start is huge.
        let offset = address.wrapping_sub(self.start);
        (offset < self.places).then(|| (self.base + offset) as *mut u8)
    }
}

/// Access that a transmit queue needs.
pub const READ: u32 = access::LOCAL_READ;
/// Access that a receive queue needs.
pub const WRITE: u32 = access::LOCAL_WRITE;

/// The regions of one endpoint: the shared table and the mappings of this process.
#[derive(Clone)]
pub struct Regions {
    /// Mappings of this process.
    pub map: Arc<RegionMap>,
    /// Table in shared memory.
    pub table: &'static [RegionShared],
}

impl Regions {
    /// Whether a region with this key exists. If it is not mapped here it has to be mapped.
    pub fn exists(&self, key: RegionKey) -> bool {
        self.table.get(key.index()).is_some_and(|region| {
            let tag = region.tag();
            tag.is_valid() && tag.key() == key
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest offset of an address.
    const OFFSET_MAX: u64 = (1 << spfe_contract::OFFSET_BITS) - 1;

    fn map(size: u64, bits: u32) -> (RegionMap, RegionKey, Vec<u8>) {
        let mut bytes = vec![0u8; size as usize];
        let key = RegionKey::new(3, 5);
        let map = RegionMap::default();
        // SAFETY: the vector outlives every use of the map in these tests.
        unsafe { map.set(RegionTag::new(key, 7, bits), bytes.as_mut_ptr(), size) };
        (map, key, bytes)
    }

    #[test]
    fn bounds_are_exact_and_do_not_wrap() {
        let (map, key, bytes) = map(100, READ);
        let at = |offset, length| map.translate(Address::new(key, offset), length, 7, READ);
        assert_eq!(at(0, 100), Ok(bytes.as_ptr().cast_mut()));
        assert_eq!(at(99, 1), Ok(bytes.as_ptr().wrapping_add(99).cast_mut()));
        assert_eq!(at(99, 2), Err(AccessRefusal::Fault(Status::OutOfBounds)));
        assert_eq!(at(OFFSET_MAX, 1), Err(AccessRefusal::Fault(Status::OutOfBounds)));
        assert_eq!(
            at(OFFSET_MAX, u64::from(u32::MAX)),
            Err(AccessRefusal::Fault(Status::OutOfBounds))
        );
    }

    #[test]
    fn access_domain_and_generation_are_checked() {
        let (map, key, _bytes) = map(100, READ);
        let at = |key, domain, bits| map.translate(Address::new(key, 0), 1, domain, bits);
        assert_eq!(at(key, 7, WRITE), Err(AccessRefusal::Fault(Status::AccessDenied)));
        assert_eq!(at(key, 8, READ), Err(AccessRefusal::Fault(Status::BadRegion)));
        assert_eq!(at(key.next(), 7, READ), Err(AccessRefusal::Unmapped(key.next())));
        let beyond = RegionKey::new(4000, 0);
        assert_eq!(at(beyond, 7, READ), Err(AccessRefusal::Fault(Status::BadRegion)));
        map.clear(key.index());
        assert_eq!(at(key, 7, READ), Err(AccessRefusal::Unmapped(key)));
    }

    #[test]
    fn region_of_an_earlier_round_of_generations_is_removed() {
        let (map, key, _bytes) = map(100, READ);
        let tag = RegionTag::new(key, 7, READ);
        assert!(map.has(tag) && !map.has(tag.with_serial(1)));
        let table: Vec<_> = (0..REGIONS).map(|_| RegionShared::default()).collect();
        table[key.index()].tag.store(tag.0, Ordering::Release);
        map.sync(&table);
        assert!(map.translate(Address::new(key, 0), 1, 7, READ).is_ok());
        table[key.index()].tag.store(tag.with_serial(1).0, Ordering::Release);
        map.sync(&table);
        assert_eq!(
            map.translate(Address::new(key, 0), 1, 7, READ),
            Err(AccessRefusal::Unmapped(key))
        );
        let tag = tag.with_serial(u16::MAX);
        assert_eq!((tag.key(), tag.domain(), tag.access()), (key, 7, READ));
    }

    #[test]
    fn generations_wrap_after_sixteen() {
        let key = RegionKey::new(9, 0);
        let mut next = key;
        for _ in 0..15 {
            next = next.next();
            assert_ne!(next, key);
        }
        assert_eq!(next.next(), key);
    }
}
