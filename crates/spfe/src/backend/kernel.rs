//! A device behind the kernel driver, `/dev/spfeN`.
//!
//! The driver is on the control path only: it pins registered memory, configures queues and forwards
//! interrupts. Rings, lines, packets and the doorbell page are mapped, so moving packets takes no
//! system call.
//!
//! A device behind a bus interrupts; it cannot wake a futex. So every queue has an event of the
//! driver, and a sleeper waits until the count of that event changes. All counts are in a mapped
//! page, so a wait that comes too late ends without a system call.
//!
//! Completions carry device time, which this module converts to CLOCK_MONOTONIC.

#[cfg(feature = "rdma")]
mod pairs;
mod ports;
mod reset;
mod uapi;

use crate::{Error, PortInfo, Result};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Mode as Permissions, OFlags};
use spfe_contract::{CONTRACT_VERSION_MAJOR, MibItem, QueueKind, QueueSetup, Status, capability};
use spfe_host::backend::create_memory;
use spfe_host::os::{self, SharedMemory};
use spfe_host::{Backend, Clock, DeviceInfo, LinkCommand, MibEntry, Mode, QueueRequest, RegionKey};
use spfe_ring::AtomicDeviceLine;
use spfe_ring::sync::{AtomicU32, Ordering};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Backend name in [`DeviceInfo`].
const BACKEND: &str = "kernel";
/// The driver's own event. Its count goes up when the device is lost or reset.
const LOST: u32 = 0;
/// How long a reading of the device's clock is used, ns. Clocks drift.
const OFFSET_NS: u64 = 1_000_000_000;

/// A queue of the open file.
#[derive(Clone, Copy)]
struct Place {
    /// Number of the queue context.
    queue: u32,
    event: u32,
    request: QueueRequest,
}

/// An open `/dev/spfeN`.
pub struct Kernel {
    device: OwnedFd,
    path: String,
    info: uapi::Info,
    doorbell: SharedMemory,
    counts: SharedMemory,
    clock: Clock,
    /// Count of [`LOST`] when the file was opened.
    lost: u32,
    gone: AtomicBool,
    /// Device time minus CLOCK_MONOTONIC, and when it was measured, ns.
    offset_ns: AtomicI64,
    offset_at: spfe_ring::sync::AtomicU64,
    /// Open queues, by {port, VC or the library's number, kind}. Locked while a queue is created and
    /// while a reset destroys them all.
    queues: Mutex<HashMap<(u32, u32, u8), Place>>,
    /// Memory by key. A reset completes pending submissions in its rings.
    memory: Mutex<HashMap<u16, Weak<SharedMemory>>>,
}

/// Why a device file cannot be opened, and what to do.
fn not_opened(name: &str, source: std::io::Error) -> Error {
    match source.kind() {
        std::io::ErrorKind::NotFound => {
            let what = format!("{name}: there is no such device; is the driver loaded?");
            Error::device(Status::NotFound, what)
        }
        std::io::ErrorKind::PermissionDenied => {
            let what = format!("{name}: permission denied; its owner and group may use it");
            Error::device(Status::AccessDenied, what)
        }
        // The kernel does not open a socket like a file.
        _ if source.raw_os_error() == Some(libc::ENXIO) => {
            let what = format!("{name} is not a device; did you mean unix:{name}?");
            Error::device(Status::NotFound, what)
        }
        _ => uapi::error("open", format_args!("{name}"), source),
    }
}

impl Kernel {
    /// Opens a device file.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such device, ACCESS_DENIED without permission, BAD_VERSION if driver or device have another version, BUSY
    /// if all protection domains of the device are taken, DEVICE_GONE if the device is gone.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let device = rustix::fs::open(path, flags, Permissions::empty())
            .map_err(|error| not_opened(&name, error.into()))?;
        let mut info = uapi::Info::default();
        uapi::call(&device, &uapi::INFO, &mut info).map_err(|source| {
            match source.raw_os_error() {
                Some(libc::ENOTTY) => {
                    let what = format!("{name} is not a device of the spfe driver");
                    Error::device(Status::BadVersion, what)
                }
                _ => uapi::error(uapi::INFO.name, format_args!("{name}"), source),
            }
        })?;
        let version = info.contract_version >> 16;
        if info.uapi_version < uapi::VERSION || version != u32::from(CONTRACT_VERSION_MAJOR) {
            let what = format!(
                "{name}: driver interface {} and contract {version}; {} and {} are needed",
                info.uapi_version,
                uapi::VERSION,
                CONTRACT_VERSION_MAJOR
            );
            return Err(Error::device(Status::BadVersion, what));
        }
        let map = |offset, bytes: u32, write, what: &str| {
            SharedMemory::of_device(&device, offset, bytes as usize, write)
                .map_err(|source| Error::io(format!("{name}: mapping of {what}"), source))
        };
        let doorbell = map(info.doorbell_offset, info.doorbell_bytes, true, "the doorbell")?;
        let counts = map(info.counts_offset, info.counts_bytes, false, "the counts")?;
        if counts.size() / 4 < info.events as usize || doorbell.size() < 8 {
            let what = format!("{name}: the driver says that its pages are too small");
            return Err(Error::device(Status::BadField, what));
        }
        os::join_bus();
        let kernel = Self {
            device,
            path: name,
            info,
            doorbell,
            counts,
            clock: Clock::Real,
            lost: 0,
            gone: AtomicBool::new(false),
            offset_ns: AtomicI64::new(0),
            offset_at: spfe_ring::sync::AtomicU64::new(0),
            queues: Mutex::default(),
            memory: Mutex::default(),
        };
        let lost = kernel.count(LOST);
        kernel.read_device_clock();
        Ok(Self { lost, ..kernel })
    }

    fn count(&self, event: u32) -> u32 {
        debug_assert!((event as usize) < self.counts.size() / 4);
        let counts = self.counts.base().cast::<AtomicU32>();
        // SAFETY: the page has a count for each event of the driver (checked in `open`) and stays
        // mapped while `self` lives.
        unsafe { counts.add(event as usize).as_ref() }.load(Ordering::Acquire)
    }

    /// Calls the driver. `what` names the object for the error message.
    fn call<T>(
        &self,
        number: &uapi::Call<T>,
        argument: &mut T,
        what: std::fmt::Arguments<'_>,
    ) -> Result<()> {
        let done =
            uapi::checked(&self.device, number, argument, format_args!("{}: {what}", self.path));
        if done.as_ref().is_err_and(|error| {
            matches!(error.status(), Some(Status::DeviceGone | Status::DeviceReset))
        }) {
            self.gone.store(true, Ordering::Release);
        }
        done
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<(u32, u32, u8), Place>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn memory(&self) -> MutexGuard<'_, HashMap<u16, Weak<SharedMemory>>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn destroy_event(&self, event: u32) {
        let mut argument = uapi::Event { eventfd: -1, event, ..uapi::Event::default() };
        // It fails only if the device is gone, and the event with it.
        let _ = uapi::call(&self.device, &uapi::EVENT_DESTROY, &mut argument);
    }

    /// Measures the offset of the device's clock.
    fn read_device_clock(&self) {
        let mut time = uapi::Time::default();
        if uapi::call(&self.device, &uapi::TIME, &mut time).is_ok() {
            let middle = time.before_ns / 2 + time.after_ns / 2;
            let offset = time.device_ns.wrapping_sub(middle) as i64;
            self.offset_ns.store(offset, Ordering::Relaxed);
        }
        self.offset_at.store(os::now_ns(), Ordering::Relaxed);
    }

    fn pin(&self, memory: &SharedMemory, access: u32) -> Result<RegionKey> {
        let mut region = uapi::Register {
            addr: memory.base().as_ptr() as u64,
            size: memory.size() as u64,
            access,
            ..uapi::Register::default()
        };
        let what = format_args!("memory of {} bytes", memory.size());
        self.call(&uapi::REGISTER, &mut region, what)?;
        Ok(RegionKey(region.key as u16))
    }

    /// Memory that the driver allocates, for a device that cannot reach user memory.
    fn driver_memory(&self, size: usize, access: u32) -> Result<(Arc<SharedMemory>, RegionKey)> {
        let mut region = uapi::Alloc { size: size as u64, access, ..uapi::Alloc::default() };
        self.call(&uapi::ALLOC, &mut region, format_args!("driver memory of {size} bytes"))?;
        let key = RegionKey(region.key as u16);
        let mapped =
            SharedMemory::of_device(&self.device, region.offset, region.size as usize, true);
        match mapped {
            Ok(memory) => Ok((Arc::new(memory), key)),
            Err(source) => {
                let _ = self.remove_region(key);
                Err(Error::io(format!("{}: mapping of {size} bytes", self.path), source))
            }
        }
    }
}

impl Backend for Kernel {
    fn info(&self) -> DeviceInfo {
        let version = self.info.contract_version;
        DeviceInfo {
            uri: self.path.clone(),
            backend: BACKEND,
            endpoint: 0,
            client: self.info.domain,
            ports: self.info.ports,
            mode: Mode::Thread,
            contract: ((version >> 16) as u16, version as u16),
        }
    }

    fn chain_max(&self) -> u32 {
        // 0: a driver before version 2 of its interface.
        self.info.chain_max.max(spfe_contract::CHAIN_MAX as u32)
    }

    fn has_pairs(&self) -> bool {
        let has = self.info.capability & capability::RDMA != 0;
        has && self.info.uapi_version >= uapi::PAIRS_SINCE
    }

    fn port_info(&self, number: u32) -> Result<PortInfo> {
        self.port_info_of(number)
    }

    fn add_memory(
        &self,
        name: &str,
        size: usize,
        access: u32,
    ) -> Result<(Arc<SharedMemory>, RegionKey)> {
        let (memory, key) = if self.info.flags & uapi::INFO_BOUNCE != 0 {
            self.driver_memory(size, access)?
        } else {
            let memory = create_memory(name, size)?;
            let key = self.pin(&memory, access)?;
            (memory, key)
        };
        self.memory().insert(key.0, Arc::downgrade(&memory));
        Ok((memory, key))
    }

    fn remove_region(&self, key: RegionKey) -> Result<()> {
        // Wait for a running reset, which reads the memory: unmapping takes effect at once.
        let _queues = self.queues();
        self.memory().remove(&key.0);
        let mut argument = uapi::Key { key: key.0.into(), reserved: 0 };
        self.call(&uapi::UNREGISTER, &mut argument, format_args!("region {:#06x}", key.0))
    }

    fn heavy_barrier(&self) {
        // `membarrier` reaches threads of this machine only, not a device behind a bus.
        spfe_ring::sync::full_fence();
    }

    fn interrupts(&self) -> bool {
        true
    }

    fn add_event(&self, event: Option<OwnedFd>) -> Result<u32> {
        let eventfd = event.as_ref().map_or(-1, |fd| fd.as_raw_fd());
        let mut argument = uapi::Event { eventfd, ..uapi::Event::default() };
        self.call(&uapi::EVENT_CREATE, &mut argument, format_args!("event"))?;
        if argument.event == LOST || argument.event as usize >= self.counts.size() / 4 {
            let what = format!("{}: event {} has no count", self.path, argument.event);
            return Err(Error::device(Status::BadField, what));
        }
        Ok(argument.event)
    }

    fn create_queue(&self, request: &QueueRequest) -> Result<()> {
        let QueueRequest { port, vc, setup } = *request;
        let (kind, vector) = (setup.kind as u8, setup.vector);
        let mut queue = uapi::Queue::from(request);
        let name = request.queue_kind().map_or("unknown", QueueKind::name);
        let what = format_args!("{name} queue of port {port} VC {vc}");
        let mut queues = self.queues();
        let done = if matches!(request.queue_kind(), Some(QueueKind::Rdma | QueueKind::RdmaRx)) {
            let QueueSetup { pair, limits, path, reply, .. } = setup;
            let mut both = uapi::Pair { queue, pair, limits, path, reply, reserved: 0 };
            let done = self.call(&uapi::PAIR_CREATE, &mut both, what);
            queue = both.queue;
            done
        } else {
            self.call(&uapi::QUEUE_CREATE, &mut queue, what)
        };
        if let Err(error) = done {
            self.destroy_event(vector);
            return Err(self.refused(queue.status, what).unwrap_or(error));
        }
        let place = Place { queue: queue.queue, event: vector, request: *request };
        queues.insert((port, vc, kind), place);
        Ok(())
    }

    fn destroy_queue(&self, port: u32, vc: u32, kind: u8) -> Result<()> {
        let name = (port, vc, kind);
        let Some(place) = self.queues().get(&name).copied() else {
            let what = format!("{}: no queue of kind {kind} of port {port} VC {vc}", self.path);
            return Err(Error::device(Status::NotFound, what));
        };
        let mut argument = uapi::Index { index: place.queue, reserved: 0 };
        let what = format_args!("queue {}", place.queue);
        self.call(&uapi::QUEUE_DESTROY, &mut argument, what)?;
        self.queues().remove(&name);
        self.destroy_event(place.event);
        Ok(())
    }

    fn set_priority(&self, port: u32, vc: u32, priority: u8) -> Result<()> {
        self.set_priority_of(port, vc, priority)
    }

    fn port_mib(&self, port: u32) -> Result<Vec<MibEntry>> {
        self.mib_of(port)
    }

    fn mib_item(&self, port: u32, item: MibItem, index: u32) -> Result<u64> {
        self.mib_item_of(port, item, index)
    }

    fn link_command(&self, port: u32, command: LinkCommand) -> Result<()> {
        self.command_link(port, command)
    }

    fn reset(&self) -> Result<()> {
        self.reset_all()
    }

    fn settle(&self) {
        drop(self.queues());
    }

    fn ring(&self) {
        let register = self.doorbell.base().cast::<u64>();
        // SAFETY: the page stays mapped for writing while `self` lives, and starts with the register.
        unsafe { register.write_volatile(0) };
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn offset_ns(&self) -> i64 {
        let age = os::now_ns().wrapping_sub(self.offset_at.load(Ordering::Relaxed));
        if age > OFFSET_NS {
            self.read_device_clock();
        }
        self.offset_ns.load(Ordering::Relaxed)
    }

    fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire) || self.count(LOST) != self.lost
    }

    fn seen(&self, vector: u32, _: &AtomicDeviceLine) -> u32 {
        self.count(vector)
    }

    fn sleep(&self, vector: u32, _: &AtomicDeviceLine, seen: u32, until_ns: Option<u64>) {
        let deadline_ns = until_ns.map_or(-1, |at| i64::try_from(at).unwrap_or(i64::MAX));
        let mut argument = uapi::Wait { event: vector, seen, deadline_ns };
        let done = uapi::call(&self.device, &uapi::WAIT, &mut argument);
        if done.is_err_and(|source| {
            matches!(uapi::status_of(&source), Some(Status::DeviceGone | Status::DeviceReset))
        }) {
            self.gone.store(true, Ordering::Release);
        }
    }

    fn wake(&self, vector: u32, _: &AtomicDeviceLine) {
        self.wake_event(vector);
    }
}

#[cfg(test)]
mod tests;
