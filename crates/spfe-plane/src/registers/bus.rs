//! Source of the memory of regions.

use spfe_contract::{CONTRACT_VERSION_MINOR, DOORBELL_STRIDE, Status, access, capability};
use spfe_device::memory::BusWindow;
use spfe_host::SharedMemory;
use std::sync::{Arc, Mutex, PoisonError};

/// A region as the host describes it in registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionRequest {
    /// Register BASE: bus address, or number of a segment.
    pub base: u64,
    /// Register SIZE, bytes.
    pub bytes: u64,
    /// Register PAGE_LIST: 0, or log2 of the page size.
    pub page_list: u32,
    /// Register PAGE_LEVELS: 0 or 1 for a contiguous list.
    pub levels: u32,
    /// Register ACCESS.
    pub access: u32,
}

/// Access rights of the device to a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// The device may read.
    pub read: bool,
    /// The device may write.
    pub write: bool,
}

impl Rights {
    /// The rights that a region with these ACCESS bits needs.
    pub(super) fn of(bits: u32) -> Self {
        let has = |some: u32| bits & some != 0;
        Self {
            read: has(access::LOCAL_READ | access::REMOTE_READ),
            write: has(access::LOCAL_WRITE | access::REMOTE_WRITE),
        }
    }

    pub(super) fn allows(self, wanted: Self) -> bool {
        (self.read || !wanted.read) && (self.write || !wanted.write)
    }
}

/// Access to the host's memory.
pub trait Bus: Send + Sync {
    /// Capability bits of the bus.
    fn capability(&self) -> u32;

    /// Most pages of a page list (register PAGES_MAX); 0 without page lists.
    fn pages_max(&self) -> u32 {
        0
    }

    /// The memory of a region, contiguous in this process's address space and at least of the
    /// requested size.
    ///
    /// # Errors
    /// The status of the command REGION_ENABLE.
    fn memory(&self, request: &RegionRequest) -> Result<Arc<SharedMemory>, Status>;

    /// All bus addresses that the device can reach, now and later (capability LOCAL_DMA), and a
    /// piece of memory that stands for them: it is lost when the device may not use the bus any
    /// more.
    ///
    /// # Errors
    /// The status of the command REGION_ENABLE; BAD_FIELD without the capability.
    fn everything(&self) -> Result<(Arc<SharedMemory>, Arc<dyn BusWindow>), Status> {
        Err(Status::BadField)
    }
}

/// Shared memory segments that the device knows in advance. The host names them by number.
#[derive(Default)]
pub struct Segments(Mutex<Vec<Arc<SharedMemory>>>);

impl Segments {
    /// Adds a segment and returns its number.
    pub fn add(&self, memory: impl Into<Arc<SharedMemory>>) -> u32 {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(memory.into());
        list.len() as u32 - 1
    }
}

impl Bus for Segments {
    fn capability(&self) -> u32 {
        0
    }

    fn memory(&self, request: &RegionRequest) -> Result<Arc<SharedMemory>, Status> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let segment = usize::try_from(request.base).ok();
        let memory = segment.and_then(|number| list.get(number)).ok_or(Status::BadField)?;
        if request.page_list != 0 || request.levels != 0 || request.bytes == 0 {
            return Err(Status::BadField);
        }
        if request.bytes > memory.size() as u64 {
            return Err(Status::OutOfBounds);
        }
        Ok(memory.clone())
    }
}

/// Distance of doorbell pages: a page of the host, so that a process can map a single one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stride {
    /// DOORBELL_STRIDE.
    #[default]
    Usual,
    /// 64 KiB (DOORBELL_64K), for hosts with pages of up to that size.
    Wide,
}

impl Stride {
    /// Bytes from one doorbell page to the next.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Usual => DOORBELL_STRIDE as u32,
            Self::Wide => 65_536,
        }
    }

    /// The capability bit of this distance.
    pub const fn capability(self) -> u32 {
        match self {
            Self::Usual => 0,
            Self::Wide => capability::DOORBELL_64K,
        }
    }
}

/// Variant of the registers that a host finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Distance of doorbell pages.
    pub stride: Stride,
    /// Minor version of the contract. With an older one the registers lack what came later, to test
    /// drivers with an older device.
    pub minor: u16,
}

impl Default for Variant {
    fn default() -> Self {
        Self { stride: Stride::default(), minor: CONTRACT_VERSION_MINOR }
    }
}

impl From<Stride> for Variant {
    fn from(stride: Stride) -> Self {
        Self { stride, ..Self::default() }
    }
}

impl Variant {
    /// Whether the device has interrupt lines (capability LEVEL).
    pub const fn has_line(self) -> bool {
        super::shows(self.minor, capability::LEVEL)
    }
}
