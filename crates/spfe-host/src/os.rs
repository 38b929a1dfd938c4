//! Linux calls: shared memory, futexes, `membarrier`, time.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create,
};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use spfe_ring::sync::{AtomicU32, FenceMode, fence_mode, set_fence_mode};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};
use std::time::Duration;

/// A mapping of shared memory whose file cannot shrink.
#[derive(Debug)]
pub struct SharedMemory {
    fd: OwnedFd,
    base: NonNull<u8>,
    size: usize,
    /// Number of files mapped into it by [`SharedMemory::place`].
    pieces: AtomicUsize,
}

// SAFETY: a mapping has no thread affinity; users synchronise through atomics.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

/// Seals of new memory. No process can shrink the file, so accesses to a mapping never fault.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

/// Flags of reserved address space, which takes no memory.
const EMPTY: MapFlags = MapFlags::PRIVATE.union(MapFlags::NORESERVE);

/// Bytes unmapped in one call; takes about a millisecond.
const UNMAP_BYTES: usize = 16 << 20;

/// Number of files mapped into all [`SharedMemory`] of this process.
static PIECES: AtomicUsize = AtomicUsize::new(0);

/// Upper limit of [`PIECES`]: half of the mappings that the kernel allows a process.
fn pieces_max() -> usize {
    static MAX: OnceLock<usize> = OnceLock::new();
    *MAX.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
        text.trim().parse().unwrap_or(65_530usize) / 2
    })
}

impl SharedMemory {
    /// Creates memory of `size` zero bytes, rounded up to whole pages. All pages are present.
    ///
    /// # Errors
    /// The system has no memory or descriptor left.
    pub fn create(name: &str, size: usize) -> io::Result<Self> {
        let page = rustix::param::page_size();
        let size = size.max(1).checked_next_multiple_of(page).ok_or(io::ErrorKind::OutOfMemory)?;
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let fd = memfd_create(name, flags)?;
        ftruncate(&fd, size as u64)?;
        fcntl_add_seals(&fd, SEALS)?;
        Self::map(fd, size, MapFlags::POPULATE)
    }

    /// Maps memory of another process. Takes the same time for any size: pages are mapped when they
    /// are accessed, or by [`SharedMemory::populate`].
    ///
    /// # Errors
    /// `InvalidInput` for a file that can shrink or is shorter than `size`, because accesses could
    /// fault later.
    pub fn open(fd: OwnedFd, size: usize) -> io::Result<Self> {
        let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what);
        let seals = fcntl_get_seals(&fd)
            .map_err(|_| invalid("not a memfd: regions must be sealed shared memory"))?;
        if !seals.contains(SealFlags::SHRINK) {
            return Err(invalid("memory is not sealed against shrinking (F_SEAL_SHRINK)"));
        }
        let actual = rustix::fs::fstat(&fd)?.st_size as u64;
        if size == 0 || size as u64 > actual {
            return Err(invalid("region is longer than its memory"));
        }
        Self::map(fd, size, MapFlags::empty())
    }

    /// Maps memory of a device driver, at an offset of its device file.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn of_device(device: &OwnedFd, offset: u64, size: usize, write: bool) -> io::Result<Self> {
        let write = if write { ProtFlags::WRITE } else { ProtFlags::empty() };
        let fd = device.try_clone()?;
        Self::map_at(fd, offset, size, ProtFlags::READ | write, MapFlags::empty())
    }

    fn map(fd: OwnedFd, size: usize, flags: MapFlags) -> io::Result<Self> {
        Self::map_at(fd, 0, size, ProtFlags::READ | ProtFlags::WRITE, flags)
    }

    fn map_at(
        fd: OwnedFd,
        offset: u64,
        size: usize,
        prot: ProtFlags,
        flags: MapFlags,
    ) -> io::Result<Self> {
        let flags = MapFlags::SHARED | flags;
        // SAFETY: a fresh mapping at an address the kernel chooses.
        let base = unsafe { mmap(std::ptr::null_mut(), size, prot, flags, &fd, offset) }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { fd, base, size, pieces: AtomicUsize::new(0) })
    }

    /// Maps the existing pages in `bytes` bytes from `from`, a multiple of the page size, so that the
    /// first access to them is no page fault. Creates no pages: their memory would be charged to this
    /// process. Returns the offset to continue at; the size when done.
    pub fn populate(&self, from: usize, bytes: usize) -> usize {
        let page = rustix::param::page_size();
        let end = from.saturating_add(bytes.next_multiple_of(page)).min(self.size);
        if from >= end {
            return self.size;
        }
        let mut present = vec![0u8; (end - from).div_ceil(page)];
        let at = self.base.as_ptr().wrapping_add(from);
        // SAFETY: inside the mapping, and a byte of `present` for each page.
        let known = unsafe { libc::mincore(at.cast(), end - from, present.as_mut_ptr()) } == 0;
        let mut first = 0;
        for run in present.chunk_by(|a, b| a & 1 == b & 1) {
            if known && run[0] & 1 == 1 {
                let at = at.wrapping_add(first * page);
                let advice = Advice::LinuxPopulateWrite;
                // SAFETY: inside the mapping; contents do not change. Older kernels refuse, which
                // only means page faults later.
                let _ = unsafe { madvise(at.cast(), run.len() * page, advice) };
            }
            first += run.len();
        }
        end
    }

    /// Reserves address space for pieces of other processes' files. It reads as zero until
    /// [`SharedMemory::place`] maps a piece. It has no file to pass to other processes.
    ///
    /// # Errors
    /// The process has no address space or descriptor left.
    pub fn reserve(size: usize) -> io::Result<Self> {
        let page = rustix::param::page_size();
        let size = size.max(1).checked_next_multiple_of(page).ok_or(io::ErrorKind::OutOfMemory)?;
        let fd = memfd_create("spfe-pieces", MemfdFlags::CLOEXEC)?;
        let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, EMPTY);
        // SAFETY: a fresh mapping at an address the kernel chooses.
        let base = unsafe { mmap_anonymous(std::ptr::null_mut(), size, prot, flags) }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { fd, base, size, pieces: AtomicUsize::new(0) })
    }

    /// Maps `bytes` bytes of a file at an offset of reserved space. Offsets and size are multiples of
    /// the page size. The file must not shrink.
    ///
    /// # Errors
    /// `InvalidInput` past the end of the space; `OutOfMemory` if the process has no mappings left.
    pub fn place(
        &self,
        at: usize,
        file: BorrowedFd<'_>,
        offset: u64,
        bytes: usize,
        writable: bool,
    ) -> io::Result<()> {
        if at.checked_add(bytes).is_none_or(|end| end > self.size) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // Counted before the call: `take_away` and `drop` subtract failed attempts as well.
        self.pieces.fetch_add(1, Ordering::Relaxed);
        if PIECES.fetch_add(1, Ordering::Relaxed) >= pieces_max() {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let write = if writable { ProtFlags::WRITE } else { ProtFlags::empty() };
        let (prot, flags) = (ProtFlags::READ | write, MapFlags::SHARED | MapFlags::FIXED);
        let place = self.base.as_ptr().wrapping_add(at).cast();
        // SAFETY: inside our own mapping. Its users access it with atomics and raw copies, which
        // allow the contents to change at any time.
        unsafe { mmap(place, bytes, prot, flags, file, offset) }?;
        Ok(())
    }

    /// Unmaps all pieces and replaces them by zeroes. Afterwards no thread of this process can access
    /// the files.
    ///
    /// # Errors
    /// The kernel refuses the mapping; the pieces stay.
    pub fn take_away(&self) -> io::Result<()> {
        let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, EMPTY | MapFlags::FIXED);
        // SAFETY: replaces our own mapping as a whole; otherwise as for `place`.
        unsafe { mmap_anonymous(self.base.as_ptr().cast(), self.size, prot, flags) }?;
        PIECES.fetch_sub(self.pieces.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        Ok(())
    }

    /// Address of the first byte.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Size of the mapping in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The file descriptor, to pass to another process.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // In pieces: other threads that map memory wait for each call.
        for from in (0..self.size).step_by(UNMAP_BYTES) {
            let bytes = UNMAP_BYTES.min(self.size - from);
            let at = self.base.as_ptr().wrapping_add(from).cast();
            // SAFETY: the mapping is ours, and every holder of a pointer into it keeps `self` alive.
            let _ = unsafe { munmap(at, bytes) };
        }
        PIECES.fetch_sub(*self.pieces.get_mut(), Ordering::Relaxed);
    }
}

/// Time of CLOCK_MONOTONIC in ns. All processes of a machine share this clock.
#[inline]
pub fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Processor time of the calling thread in ns.
pub fn thread_cpu_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Number of times that the calling thread had to leave its processor.
pub fn thread_preemptions() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for writing a `rusage`, of which every bit pattern is valid.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.ru_nivcsw as u64
}

/// Processor time of another thread of this process in ns; `None` once it has ended.
pub fn cpu_ns_of<T>(thread: &std::thread::JoinHandle<T>) -> Option<u64> {
    use std::os::unix::thread::JoinHandleExt;
    if thread.is_finished() {
        return None;
    }
    let mut clock = 0;
    // A number in glibc, a pointer in musl.
    let thread = thread.as_pthread_t() as libc::pthread_t;
    // SAFETY: the handle keeps the thread's identifier valid, also after the thread has ended.
    if unsafe { libc::pthread_getcpuclockid(thread, &mut clock) } != 0 {
        return None;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` outlives the call. The clock of a thread that has just ended is refused.
    let read = unsafe { libc::clock_gettime(clock, &mut time) } == 0;
    read.then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Sleeps while the word is `value`, at most until `deadline_ns` (CLOCK_MONOTONIC). Works across
/// processes. It may return early; the caller must check its condition again.
pub fn futex_wait(word: &AtomicU32, value: u32, deadline_ns: Option<u64>) {
    let timeout = deadline_ns.map(|at| libc::timespec {
        tv_sec: (at / 1_000_000_000) as _, // `libc` calls time_t deprecated for musl
        tv_nsec: (at % 1_000_000_000) as libc::c_long,
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let op = libc::FUTEX_WAIT_BITSET;
    let word = std::ptr::from_ref(word).cast::<u32>();
    // SAFETY: the word is mapped for as long as the reference lives; the timeout outlives the call.
    unsafe {
        libc::syscall(libc::SYS_futex, word, op, value, timeout, std::ptr::null::<u32>(), !0u32)
    };
}

/// Wakes at most this many threads that sleep on the word.
pub fn futex_wake(word: &AtomicU32, most: u32) {
    let word = std::ptr::from_ref(word).cast::<u32>();
    // SAFETY: the word is mapped for as long as the reference lives.
    unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE, most.min(i32::MAX as u32)) };
}

/// Sleeps until `deadline_ns` (CLOCK_MONOTONIC).
pub fn sleep_until(deadline_ns: u64) {
    let at = libc::timespec {
        tv_sec: (deadline_ns / 1_000_000_000) as _,
        tv_nsec: (deadline_ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: the time outlives the call.
    unsafe {
        libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &at, std::ptr::null_mut())
    };
}

const MEMBARRIER_GLOBAL_EXPEDITED: libc::c_int = 1 << 1;
const MEMBARRIER_REGISTER_GLOBAL_EXPEDITED: libc::c_int = 1 << 2;

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: no memory is passed.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Makes this process take part in asymmetric barriers; falls back to fences where the kernel has
/// none. Every process that maps a network calls it before it touches a ring.
pub fn join_barriers() {
    static JOINED: Once = Once::new();
    JOINED.call_once(|| {
        if membarrier(MEMBARRIER_REGISTER_GLOBAL_EXPEDITED) {
            set_fence_mode(FenceMode::Asymmetric);
        }
    });
}

/// Makes fences work with devices behind a bus, which `membarrier` does not reach. Fences with
/// processes of this machine work as before.
pub fn join_bus() {
    join_barriers();
    if fence_mode() == FenceMode::Asymmetric {
        set_fence_mode(FenceMode::Bus);
    }
}

/// The heavy side of the barrier pair: a fence on every thread of every process that joined.
pub fn heavy_barrier() {
    let forced = fence_mode() != FenceMode::Full && membarrier(MEMBARRIER_GLOBAL_EXPEDITED);
    if !forced || fence_mode() == FenceMode::Bus {
        spfe_ring::sync::full_fence();
    }
}

/// A duration in ns, saturating.
pub fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
