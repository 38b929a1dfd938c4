//! Shared memory of the fabric: who writes what, and where.
//!
//! The backplane makes one sealed memfd for each pair of an owner and a writer, and passes it to
//! these two only. So the kernel enforces that a node writes into the memory of another node only
//! where that node lets it, and that nobody can make a mapping fault.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use spfe_host::os::SharedMemory;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Bytes of the control page before a ring.
pub const CONTROL_BYTES: usize = 4096;
/// Doorbells between two nodes.
pub const DOORBELLS: usize = 64;
/// Scratchpads between two nodes.
pub const SCRATCHPADS: usize = 16;

/// Creates memory that nobody can shrink or grow. Takes no pages before they are used.
///
/// # Errors
/// The process has no descriptor or memory left.
pub fn create(name: &str, size: usize) -> io::Result<OwnedFd> {
    let fd = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&fd, size as u64)?;
    fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW)?;
    Ok(fd)
}

/// Lets nobody map the memory for writing from now on. Mappings that exist stay as they are.
///
/// # Errors
/// The kernel does not know this seal (before Linux 5.1).
pub fn forbid_writers(fd: impl AsFd) -> io::Result<()> {
    Ok(fcntl_add_seals(fd, SealFlags::FUTURE_WRITE)?)
}

/// A mapping whose words are accessed by their offsets.
#[derive(Debug)]
pub struct SharedWords {
    memory: SharedMemory,
}

impl SharedWords {
    /// Maps memory for reading and writing.
    ///
    /// # Errors
    /// The memory is shorter than `size`, or can shrink.
    pub fn open(fd: OwnedFd, size: usize) -> io::Result<Self> {
        Ok(Self { memory: SharedMemory::open(fd, size)? })
    }

    /// Maps memory for reading.
    ///
    /// # Errors
    /// The memory is shorter than `size`, or can shrink.
    pub fn open_to_read(fd: &OwnedFd, size: usize) -> io::Result<Self> {
        let seals = rustix::fs::fcntl_get_seals(fd)?;
        let actual = rustix::fs::fstat(fd)?.st_size as u64;
        if !seals.contains(SealFlags::SHRINK) || actual < size as u64 {
            let what = "memory of the fabric: too short, or not sealed against shrinking";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Ok(Self { memory: SharedMemory::of_device(fd, 0, size, false)? })
    }

    /// Size in bytes.
    pub fn size(&self) -> usize {
        self.memory.size()
    }

    /// The file, to pass to another process.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.memory.fd()
    }

    /// Address of a byte. The caller checks what lies behind it.
    ///
    /// # Panics
    /// The offset is outside of the memory.
    pub fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset <= self.memory.size(), "offset {offset} of {} bytes", self.memory.size());
        self.memory.base().as_ptr().wrapping_add(offset)
    }

    /// A word of 64 bits.
    ///
    /// # Panics
    /// The offset is no multiple of 8 or outside of the memory.
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.memory.size(), "word at {offset}");
        // SAFETY: aligned and inside the mapping, which lives as long as `self`. Other processes
        // may write it at any time, which atomics allow. A mapping for reading is only loaded from.
        unsafe { AtomicU64::from_ptr(self.memory.base().as_ptr().wrapping_add(offset).cast()) }
    }

    /// A word of 32 bits.
    ///
    /// # Panics
    /// The offset is no multiple of 4 or outside of the memory.
    pub fn half(&self, offset: usize) -> &AtomicU32 {
        assert!(
            offset.is_multiple_of(4) && offset + 4 <= self.memory.size(),
            "half word at {offset}"
        );
        // SAFETY: as for `word`.
        unsafe { AtomicU32::from_ptr(self.memory.base().as_ptr().wrapping_add(offset).cast()) }
    }
}

/// Counters of a node about one peer, in the node's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum PeerCounter {
    /// Frames to the peer.
    SentFrames,
    /// Bytes of frames to the peer.
    SentBytes,
    /// Frames from the peer.
    ReceivedFrames,
    /// Bytes of frames from the peer.
    ReceivedBytes,
    /// Times that the ring to the peer became full.
    RingFull,
    /// Frames to the peer that were dropped.
    SentDropped,
    /// Frames from the peer that the kernel refused.
    ReceivedDropped,
    /// Records from the peer that broke the rules of the ring.
    BadRecords,
    /// Wake-ups of the peer.
    Wakes,
    /// Jobs that wrote into the peer's memory.
    PutJobs,
    /// Bytes that they moved.
    PutBytes,
    /// Jobs that read from the peer's memory.
    GetJobs,
    /// Bytes that they moved.
    GetBytes,
    /// Bytes that the library's copy calls wrote through a mapped window.
    PioWritten,
    /// Bytes that they read.
    PioRead,
    /// Accesses that were refused: bounds, rights, revoked windows.
    Refused,
    /// Doorbells rung at the peer.
    Doorbells,
    /// Bytes of TCP connections that went to the peer through rings.
    StreamSent,
    /// Bytes that came from the peer so.
    StreamReceived,
    /// Wake-ups of the programs at the other ends.
    StreamWakes,
}

impl PeerCounter {
    /// Every counter with its name in output.
    pub const ALL: [(Self, &'static str); 20] = [
        (Self::SentFrames, "sent_frames"),
        (Self::SentBytes, "sent_bytes"),
        (Self::ReceivedFrames, "received_frames"),
        (Self::ReceivedBytes, "received_bytes"),
        (Self::RingFull, "ring_full"),
        (Self::SentDropped, "sent_dropped"),
        (Self::ReceivedDropped, "received_dropped"),
        (Self::BadRecords, "bad_records"),
        (Self::Wakes, "wakes"),
        (Self::PutJobs, "put_jobs"),
        (Self::PutBytes, "put_bytes"),
        (Self::GetJobs, "get_jobs"),
        (Self::GetBytes, "get_bytes"),
        (Self::PioWritten, "pio_written_bytes"),
        (Self::PioRead, "pio_read_bytes"),
        (Self::Refused, "refused"),
        (Self::Doorbells, "doorbells"),
        (Self::StreamSent, "stream_sent_bytes"),
        (Self::StreamReceived, "stream_received_bytes"),
        (Self::StreamWakes, "stream_wakes"),
    ];
}

/// The page of a node: its counters and the times at which its ports are free again. The processes of
/// the node write it, the backplane reads it.
#[derive(Debug)]
pub struct NodePage {
    words: SharedWords,
}

/// Words of a peer in a node's page.
const PEER_WORDS: usize = 32;
/// Ports of a node that have a rate.
const PACERS: usize = 64;

impl NodePage {
    /// Size in bytes.
    pub const BYTES: usize = (crate::topology::NODES_MAX * PEER_WORDS + 2 * PACERS) * 8;

    /// Maps the page.
    ///
    /// # Errors
    /// The memory is too short or can shrink.
    pub fn open(fd: OwnedFd) -> io::Result<Self> {
        Ok(Self { words: SharedWords::open(fd, Self::BYTES)? })
    }

    /// A counter. An index beyond the last node gives that of the last node.
    pub fn counter(&self, peer: usize, counter: PeerCounter) -> &AtomicU64 {
        let peer = peer.min(crate::topology::NODES_MAX - 1);
        self.words.word((peer * PEER_WORDS + counter as usize) * 8)
    }

    /// When the port with this index is free again, ns.
    pub fn pacer(&self, port: usize, inbound: bool) -> &AtomicU64 {
        let start = crate::topology::NODES_MAX * PEER_WORDS;
        self.words.word((start + usize::from(inbound) * PACERS + port % PACERS) * 8)
    }

    /// The file, to pass to a process of the node.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.words.fd()
    }
}

/// The directory: what exists now, for all to read and for the backplane to write.
#[derive(Debug)]
pub struct Directory {
    words: SharedWords,
}

/// Most windows that are exposed at a time.
pub const WINDOWS_MAX: usize = 4096;

impl Directory {
    const BYTES: usize = (2 * crate::topology::NODES_MAX + WINDOWS_MAX) * 8;

    /// Creates an empty directory. Nobody else can ever write it.
    ///
    /// # Errors
    /// The process has no descriptor or memory left.
    pub fn create() -> io::Result<Self> {
        let fd = create("spfe-fabric-directory", Self::BYTES)?;
        let words = SharedWords::open(fd, Self::BYTES)?;
        forbid_writers(words.fd())?;
        Ok(Self { words })
    }

    /// Maps the directory of a backplane.
    ///
    /// # Errors
    /// The memory is too short or can shrink.
    pub fn open(fd: &OwnedFd) -> io::Result<Self> {
        Ok(Self { words: SharedWords::open_to_read(fd, Self::BYTES)? })
    }

    /// The epoch of a node; 0 while it is absent.
    pub fn epoch(&self, node: usize) -> &AtomicU64 {
        self.words.word(node.min(crate::topology::NODES_MAX - 1) * 8)
    }

    /// The key of the window in this slot; 0 while the slot is free.
    pub fn window(&self, slot: usize) -> &AtomicU64 {
        self.words.word((2 * crate::topology::NODES_MAX + slot % WINDOWS_MAX) * 8)
    }

    /// The peers that a node reaches: bit n - 1 for node n.
    pub fn reach(&self, node: usize) -> &AtomicU64 {
        let nodes = crate::topology::NODES_MAX;
        self.words.word((nodes + node.min(nodes - 1)) * 8)
    }

    /// The file, to pass to other processes.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.words.fd()
    }
}

/// The memory of a pair: the writer's words for the owner, and the ring of frames from writer to
/// owner.
#[derive(Debug)]
pub struct PairMemory {
    words: SharedWords,
    ring: usize,
}

impl PairMemory {
    /// Size in bytes for a ring of so many bytes.
    pub const fn bytes(ring: usize) -> usize {
        CONTROL_BYTES + ring
    }

    /// Maps it. `ring` is a power of two.
    ///
    /// # Errors
    /// The memory is too short or can shrink; the ring has a wrong size.
    pub fn open(fd: OwnedFd, ring: usize) -> io::Result<Self> {
        if !ring.is_power_of_two() || ring < 4096 {
            let what = format!("ring of {ring} bytes: a power of two from 4096 is needed");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Ok(Self { words: SharedWords::open(fd, Self::bytes(ring))?, ring })
    }

    /// Size of the ring in bytes.
    pub fn ring(&self) -> usize {
        self.ring
    }

    /// The writer's greeting: identity of the link, 0 before it has mapped the memory.
    pub fn greeting(&self) -> &AtomicU64 {
        self.words.word(0)
    }

    /// The greeting that the writer has seen from the owner.
    pub fn echo(&self) -> &AtomicU64 {
        self.words.word(8)
    }

    /// Bytes that the writer has put into the ring to the owner.
    pub fn produced(&self) -> &AtomicU64 {
        self.words.word(64)
    }

    /// Bytes that the writer has taken from the ring of the other direction.
    pub fn consumed(&self) -> &AtomicU64 {
        self.words.word(128)
    }

    /// Sleep count of the writer: odd while it sleeps and wants to be woken.
    pub fn sleeps(&self) -> &AtomicU64 {
        self.words.word(192)
    }

    /// The same for credit: odd while the writer's ring is full and it wants to be woken.
    pub fn starved(&self) -> &AtomicU64 {
        self.words.word(200)
    }

    /// Address of a byte of the ring.
    pub fn ring_at(&self, position: u64) -> *mut u8 {
        self.words.at(CONTROL_BYTES + (position as usize & (self.ring - 1)))
    }

    /// A word of the ring; the position is a multiple of 8.
    pub fn ring_word(&self, position: u64) -> &AtomicU64 {
        self.words.word(CONTROL_BYTES + (position as usize & (self.ring - 1) & !7))
    }
}

/// Doorbells and scratchpads from one node to another, in memory that the writer's processes write.
#[derive(Debug)]
pub struct Mailbox {
    words: SharedWords,
}

impl Mailbox {
    /// Size in bytes.
    pub const BYTES: usize = 4096;

    /// Maps it.
    ///
    /// # Errors
    /// The memory is too short or can shrink.
    pub fn open(fd: OwnedFd) -> io::Result<Self> {
        Ok(Self { words: SharedWords::open(fd, Self::BYTES)? })
    }

    /// Maps it for reading.
    ///
    /// # Errors
    /// The memory is too short or can shrink.
    pub fn open_to_read(fd: &OwnedFd) -> io::Result<Self> {
        Ok(Self { words: SharedWords::open_to_read(fd, Self::BYTES)? })
    }

    /// Word that changes with every doorbell, for sleepers.
    pub fn bell(&self) -> &AtomicU32 {
        self.words.half(0)
    }

    /// How often a doorbell was rung. A number beyond the last gives the last one.
    pub fn doorbell(&self, number: usize) -> &AtomicU64 {
        self.words.word(64 + 8 * number.min(DOORBELLS - 1))
    }

    /// A scratchpad. A number beyond the last gives the last one.
    pub fn scratchpad(&self, number: usize) -> &AtomicU64 {
        self.words.word(1024 + 8 * number.min(SCRATCHPADS - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn nobody_else_writes_the_directory() {
        let directory = Directory::create().unwrap();
        directory.window(7).store(9, Ordering::Release);
        let fd = directory.fd().try_clone_to_owned().unwrap();
        assert_eq!(Directory::open(&fd).unwrap().window(7).load(Ordering::Acquire), 9);
        assert!(SharedWords::open(fd, 4096).is_err(), "a mapping for writing");
    }

    #[test]
    fn nobody_shrinks_the_memory_of_a_pair() {
        let fd = create("t", PairMemory::bytes(1 << 18)).unwrap();
        assert!(ftruncate(&fd, 0).is_err());
        let memory = PairMemory::open(fd.try_clone().unwrap(), 1 << 18).unwrap();
        memory.ring_word(u64::MAX).store(5, Ordering::Relaxed);
        assert_eq!(memory.ring_word((1 << 18) - 8).load(Ordering::Relaxed), 5);
        assert!(PairMemory::open(fd.try_clone().unwrap(), 1 << 19).is_err(), "too short");
        assert!(PairMemory::open(fd, 5000).unwrap_err().to_string().contains("power of two"));
    }

    #[test]
    fn counters_have_names_and_places_of_their_own() {
        let page = NodePage::open(create("t", NodePage::BYTES).unwrap()).unwrap();
        for (index, (counter, name)) in PeerCounter::ALL.iter().enumerate() {
            assert_eq!(*counter as usize, index, "{name}");
            page.counter(63, *counter).store(index as u64 + 1, Ordering::Relaxed);
        }
        assert_eq!(page.pacer(0, false).load(Ordering::Relaxed), 0);
        assert_eq!(page.counter(63, PeerCounter::SentFrames).load(Ordering::Relaxed), 1);
        assert!(PeerCounter::ALL.len() <= PEER_WORDS);
    }
}
