//! Connections: what is known of a descriptor that may move to memory.

use crate::sys::SharedLock;
use libc::{c_int, c_void};
use spfe_fabric::client::FabricClient;
use spfe_fabric::memory::NodePage;
use spfe_fabric::pace::PathPace;
use spfe_fabric::stream::{PutChoice, StreamView};
use std::ops::Deref;
use std::sync::Mutex;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};

/// Descriptors beyond this stay with the kernel.
pub const FDS_MAX: usize = 1 << 16;

/// A direction is on TCP.
pub const ON_TCP: u32 = 0;
/// The sender is changing over.
pub const CHANGING: u32 = 1;
/// A direction is in the ring.
pub const IN_RING: u32 = 2;

/// Polling that was in vain so often is hardly tried any more.
pub const VAIN_MAX: u32 = 64;

/// State of a connection that all processes with it share after a fork. Starts as zeroes.
#[derive(Debug)]
#[repr(C)]
pub struct SharedState {
    /// Processes that have it.
    pub refs: AtomicU32,
    /// Calls that send through the kernel now.
    pub kernel_senders: AtomicU32,
    /// Calls that wait in the kernel and do not hear the bells.
    pub kernel_waiters: AtomicU32,
    /// Not 0 once the other end broke a rule.
    pub broken: AtomicU32,
    /// Where our stream is.
    pub sending: AtomicU32,
    /// Where the other stream is.
    pub receiving: AtomicU32,
    /// Not 0 if a sender has found the ring full since the last event about it.
    pub was_full: AtomicU32,
    /// Held by who sends.
    pub send_lock: SharedLock,
    /// Held by who receives.
    pub receive_lock: SharedLock,
    /// Bytes that the ring's start lies ahead on TCP.
    pub left_on_tcp: AtomicU64,
    /// Our positions.
    pub produced: AtomicU64,
    /// See there.
    pub consumed: AtomicU64,
    /// The sleeps of the other end that we have answered: for data and for room.
    pub woken: [AtomicU64; 2],
    /// How often polling was in vain, less how often it was not; 0 to [`VAIN_MAX`].
    pub vain: AtomicU32,
    /// How far the other end had read when we sent last.
    pub seen_consumed: AtomicU64,
    /// How bytes get into the ring; for who holds `send_lock`.
    pub put_choice: PutChoice,
}

/// The memory of a connection.
#[derive(Debug)]
pub struct Stream {
    /// What the other end writes.
    pub inward: StreamView,
    /// What we write.
    pub outward: StreamView,
    /// Our bells: data, room.
    pub bells: [c_int; 2],
    /// Those of the other end.
    pub peer_bells: [c_int; 2],
    /// Counters of the node.
    pub page: &'static NodePage,
    /// Index of the other node.
    pub peer: usize,
    /// Limits of the links between.
    pub pace: PathPace,
}

/// An offer to the backplane that waits for its answer.
#[derive(Debug)]
pub struct Offer {
    /// Where the answer comes.
    pub client: FabricClient,
    /// Calls on the connection since the offer.
    pub calls: u64,
    /// The call at which to look for the answer next.
    pub look_at: u64,
}

/// What a process counts: bytes sent and received through rings and through the kernel, wake-ups.
#[derive(Clone, Copy, Debug)]
#[repr(usize)]
pub enum Count {
    /// Bytes sent through rings.
    RingSent,
    /// Bytes received through rings.
    RingReceived,
    /// Bytes sent through the kernel.
    TcpSent,
    /// Bytes received through the kernel.
    TcpReceived,
    /// Bells rung.
    Wakes,
    /// Sleeps.
    Sleeps,
}

/// Number of counters.
pub const COUNTS: usize = 6;

/// A connection. Its memory is never freed, so that a look-up needs no lock: who finds it in the
/// table counts itself as a user and looks again.
#[derive(Debug)]
pub struct Conn {
    users: AtomicUsize,
    /// Descriptors of this process.
    entries: AtomicUsize,
    free: AtomicBool,
    /// A descriptor of it.
    pub fd: AtomicI32,
    shared: AtomicPtr<SharedState>,
    stream: AtomicPtr<Stream>,
    /// The request to the backplane.
    pub offer: Mutex<Option<Offer>>,
    /// Whether it stays on TCP for good.
    pub pinned: AtomicBool,
    /// Whether an epoll descriptor has it.
    pub watched: AtomicBool,
    counts: [AtomicU64; COUNTS],
}

static TABLE: [AtomicPtr<Conn>; FDS_MAX] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; FDS_MAX];
/// Number of the highest descriptor that was ever in the table, plus 1.
static HIGH: AtomicUsize = AtomicUsize::new(0);
/// Every connection there ever was, and those that can be used again.
static ALL: Mutex<(Vec<&'static Conn>, Vec<&'static Conn>)> = Mutex::new((Vec::new(), Vec::new()));
/// Counts of connections that are no more.
static PAST: [AtomicU64; COUNTS] = [const { AtomicU64::new(0) }; COUNTS];
/// Connections that have moved to memory.
pub static MOVED: AtomicU64 = AtomicU64::new(0);

/// Bytes of the shared state's mapping.
const PAGE: usize = 4096;

/// A connection in use.
pub struct Using(&'static Conn);

impl Deref for Using {
    type Target = Conn;
    fn deref(&self) -> &Conn {
        self.0
    }
}

impl Drop for Using {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// The connection of a descriptor. Takes no lock.
#[inline]
pub fn find(fd: c_int) -> Option<Using> {
    let place = TABLE.get(fd as usize)?;
    if place.load(Ordering::Relaxed).is_null() {
        return None;
    }
    loop {
        let at = place.load(Ordering::SeqCst);
        // SAFETY: connections are never freed.
        let conn = unsafe { at.as_ref() }?;
        // The store to the table in `forget` and its look at the users are ordered the other way
        // round: either it sees us, or we see that the entry is gone.
        conn.users.fetch_add(1, Ordering::SeqCst);
        let using = Using(conn);
        if place.load(Ordering::SeqCst) == at {
            return Some(using);
        }
    }
}

/// Makes a connection for a descriptor of TCP.
pub fn adopt(fd: c_int) {
    let Some(place) = TABLE.get(fd as usize) else { return };
    // SAFETY: a fresh mapping of zeroes.
    let page = unsafe {
        let (prot, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        libc::mmap(std::ptr::null_mut(), PAGE, prot, flags, -1, 0)
    };
    if page == libc::MAP_FAILED {
        return;
    }
    let Ok(mut all) = ALL.lock() else { return };
    let conn = all.1.pop().unwrap_or_else(|| {
        let conn: &'static Conn = Box::leak(Box::new(Conn {
            users: AtomicUsize::new(0),
            entries: AtomicUsize::new(0),
            free: AtomicBool::new(true),
            fd: AtomicI32::new(-1),
            shared: AtomicPtr::new(std::ptr::null_mut()),
            stream: AtomicPtr::new(std::ptr::null_mut()),
            offer: Mutex::new(None),
            pinned: AtomicBool::new(false),
            watched: AtomicBool::new(false),
            counts: [const { AtomicU64::new(0) }; COUNTS],
        }));
        all.0.push(conn);
        conn
    });
    drop(all);
    conn.shared.store(page.cast(), Ordering::SeqCst);
    conn.pinned.store(false, Ordering::Relaxed);
    conn.watched.store(false, Ordering::Relaxed);
    conn.fd.store(fd, Ordering::Relaxed);
    conn.entries.store(1, Ordering::SeqCst);
    conn.shared().refs.store(1, Ordering::SeqCst);
    conn.free.store(false, Ordering::SeqCst);
    HIGH.fetch_max(fd as usize + 1, Ordering::Relaxed);
    place.store(std::ptr::from_ref(conn).cast_mut(), Ordering::SeqCst);
}

/// Another descriptor of the same connection.
pub fn duplicate(conn: &Using, fd: c_int) {
    let Some(place) = TABLE.get(fd as usize) else {
        conn.pinned.store(true, Ordering::SeqCst);
        return;
    };
    conn.entries.fetch_add(1, Ordering::SeqCst);
    HIGH.fetch_max(fd as usize + 1, Ordering::Relaxed);
    place.store(std::ptr::from_ref::<Conn>(conn).cast_mut(), Ordering::SeqCst);
}

/// Takes a descriptor out of the table. Returns its connection, and whether this was its last
/// descriptor in any process.
pub fn forget(fd: c_int) -> Option<(Using, bool)> {
    let conn = find(fd)?;
    let at = std::ptr::from_ref::<Conn>(&conn).cast_mut();
    let place = TABLE.get(fd as usize)?;
    place.compare_exchange(at, std::ptr::null_mut(), Ordering::SeqCst, Ordering::SeqCst).ok()?;
    let is_last = conn.entries.fetch_sub(1, Ordering::SeqCst) == 1
        && conn.shared().refs.fetch_sub(1, Ordering::SeqCst) == 1;
    Some((conn, is_last))
}

/// The descriptors in the table.
pub fn descriptors() -> impl Iterator<Item = c_int> {
    let high = HIGH.load(Ordering::Relaxed).min(FDS_MAX);
    (0..high).filter(|fd| !TABLE[*fd].load(Ordering::Relaxed).is_null()).map(|fd| fd as c_int)
}

/// Forks with every connection counted for the child.
///
/// # Safety
/// That of `fork`.
pub unsafe fn fork(fork: impl FnOnce() -> libc::pid_t) -> libc::pid_t {
    // Held over the fork, so that the child finds it free.
    let Ok(all) = ALL.lock() else { return fork() };
    let open = || all.0.iter().filter(|conn| conn.entries.load(Ordering::SeqCst) > 0);
    for conn in open() {
        conn.shared().refs.fetch_add(1, Ordering::SeqCst);
        // Both processes would read the backplane's answer.
        if conn.offer.try_lock().map_or(true, |offer| offer.is_some()) {
            conn.pinned.store(true, Ordering::SeqCst);
        }
    }
    let child = fork();
    if child == 0 {
        crate::sys::forget_thread();
        for conn in &all.0 {
            conn.users.store(0, Ordering::SeqCst);
            conn.counts.iter().for_each(|count| count.store(0, Ordering::Relaxed));
        }
        PAST.iter().for_each(|count| count.store(0, Ordering::Relaxed));
        MOVED.store(0, Ordering::Relaxed);
    } else if child < 0 {
        for conn in open() {
            conn.shared().refs.fetch_sub(1, Ordering::SeqCst);
        }
    }
    drop(all);
    child
}

/// A counter over all connections of this process.
pub fn total(count: Count) -> u64 {
    let open = ALL.lock().map_or(0, |all| {
        all.0.iter().map(|conn| conn.counts[count as usize].load(Ordering::Relaxed)).sum()
    });
    open + PAST[count as usize].load(Ordering::Relaxed)
}

impl Conn {
    /// The state that forked processes share.
    pub fn shared(&self) -> &SharedState {
        // SAFETY: set before the connection enters the table, and mapped until its last user leaves.
        unsafe { &*self.shared.load(Ordering::Acquire) }
    }

    /// Its memory, once both ends have it.
    pub fn stream(&self) -> Option<&Stream> {
        // SAFETY: set once, and valid until the last user leaves.
        unsafe { self.stream.load(Ordering::SeqCst).as_ref() }
    }

    /// Gives it its memory.
    pub fn set_stream(&self, stream: Stream) {
        MOVED.fetch_add(1, Ordering::Relaxed);
        self.stream.store(Box::into_raw(Box::new(stream)), Ordering::SeqCst);
        self.listen();
    }

    /// Tells the other end that we hear our bells, once no call waits in the kernel alone.
    fn listen(&self) {
        let Some(stream) = self.stream() else { return };
        // Pairs with `enter_kernel`: either we see the waiter, or it sees the stream.
        if self.shared().kernel_waiters.load(Ordering::SeqCst) == 0 {
            stream.outward.listens().store(1, Ordering::SeqCst);
        }
    }

    /// A call is about to wait in the kernel. False if it must wait for the bells, too.
    pub fn enter_kernel(&self) -> bool {
        self.shared().kernel_waiters.fetch_add(1, Ordering::SeqCst);
        if self.stream.load(Ordering::SeqCst).is_null() {
            return true;
        }
        self.leave_kernel();
        false
    }

    /// The call is back.
    pub fn leave_kernel(&self) {
        self.shared().kernel_waiters.fetch_sub(1, Ordering::SeqCst);
        self.listen();
    }

    /// Counts something.
    pub fn count(&self, count: Count, by: u64) {
        self.counts[count as usize].fetch_add(by, Ordering::Relaxed);
    }

    /// Bytes that it has carried on TCP.
    pub fn carried(&self) -> u64 {
        let of = |count: Count| self.counts[count as usize].load(Ordering::Relaxed);
        of(Count::TcpSent) + of(Count::TcpReceived)
    }

    fn leave(&self) {
        if self.users.fetch_sub(1, Ordering::SeqCst) == 1
            && self.entries.load(Ordering::SeqCst) == 0
            && !self.free.swap(true, Ordering::SeqCst)
        {
            self.release();
        }
    }

    /// Frees what belongs to a connection that nobody can find any more.
    fn release(&self) {
        if let Ok(mut offer) = self.offer.try_lock() {
            *offer = None;
        }
        let stream = self.stream.swap(std::ptr::null_mut(), Ordering::SeqCst);
        if !stream.is_null() {
            // SAFETY: made by `set_stream`, and this is the last reference.
            let stream = unsafe { Box::from_raw(stream) };
            for bell in stream.bells.into_iter().chain(stream.peer_bells) {
                // SAFETY: the bell is ours.
                unsafe { crate::real::close(bell) };
            }
            for view in [stream.inward, stream.outward] {
                let bytes = StreamView::bytes(view.ring());
                // SAFETY: mapped by `offer::accept`, and no user is left.
                unsafe { libc::munmap(view.base().as_ptr().cast(), bytes) };
            }
        }
        for (past, count) in PAST.iter().zip(&self.counts) {
            past.fetch_add(count.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        }
        let page = self.shared.load(Ordering::SeqCst).cast::<c_void>();
        // SAFETY: mapped by `adopt`; no user is left.
        unsafe { libc::munmap(page, PAGE) };
        if let Ok(mut all) = ALL.lock() {
            let own = all.0.iter().copied().find(|conn| std::ptr::eq(*conn, self));
            all.1.extend(own);
        }
    }
}
