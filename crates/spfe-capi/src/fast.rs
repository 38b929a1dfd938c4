//! The state that inline functions of the header work on, and its way into the queue and back.
//!
//! A program that asks for the fast path of a queue gets the address of a structure with the
//! addresses and positions of the queue. Its inline functions change only that. Every function of the
//! library first lets the queue continue from there ([`Fast::inside`]) and writes the new state
//! back, so calls and inline functions can be mixed.
//!
//! The structure outlives the queue. After closing, and in a child after a fork, it says that nothing
//! is free and nothing has arrived, so that every inline function falls back to its call, which
//! refuses the handle.

mod packed;
mod rx;
mod tx;

pub use packed::CFastPacked;
pub use rx::{CFastPosted, CFastRx};
pub use tx::CFastTx;

use spfe::{Mark, PackedRx, PooledRx, PooledTx, Rx, Tx};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// Version of all layouts (SPFE_FAST_VERSION).
pub const VERSION: u32 = 2;
/// Number of structures of closed queues that are kept before the oldest is used again.
const KEEP: usize = 4096;
/// A phase that no entry has: the lower half of such words are flags, and these are never all set.
const NO_PHASE: u32 = u32::MAX;
/// Bytes of a ring entry.
const SLOT: u32 = 16;

/// The entry at which the structure of a closed queue looks.
#[repr(C, align(16))]
struct Nothing([u64; 2]);
static NOTHING: Nothing = Nothing([0, 0]);

/// A structure, and the next one that was ever made.
#[repr(C)]
struct Node<F> {
    fast: F,
    next: *mut Node<F>,
}

/// Every structure of a kind. They are never freed, so a child can walk the list after any fork.
pub struct Registry<F> {
    all: AtomicPtr<Node<F>>,
    /// Addresses of those of closed queues, the longest closed first.
    closed: Mutex<VecDeque<usize>>,
}

impl<F> Registry<F> {
    const fn new() -> Self {
        Self { all: AtomicPtr::new(null_mut()), closed: Mutex::new(VecDeque::new()) }
    }
}

/// A queue with a fast path.
pub trait FastQueue: Sized {
    type Fast: 'static;
    fn registry() -> &'static Registry<Self::Fast>;
    fn begin(&self, handle: *mut c_void) -> Self::Fast;
    fn state_to(&self, fast: &mut Self::Fast);
    fn continue_from(&mut self, fast: &mut Self::Fast);
    /// Makes every inline function fall back to its call.
    fn end(fast: &mut Self::Fast);
    /// Frees what belongs to the structure, of a queue that is closed.
    fn free(_fast: &mut Self::Fast) {}
}

/// The phase in the second word of an entry.
const PHASES: u64 = 0xffff << 48;

/// The phase of a mark, in the second word of an entry.
fn phase_word(mark: Mark) -> u64 {
    u64::from(mark.phase) << 32
}

/// The phase in the second word of an entry, as marks have it.
fn phase_of(word: u64) -> u32 {
    ((word & PHASES) >> 32) as u32
}

fn mark(offset: u32, phase: u32) -> Mark {
    Mark { offset: offset as usize, phase }
}

/// An empty ring, for the structure of a closed queue.
fn nothing() -> *mut u8 {
    (&raw const NOTHING).cast_mut().cast()
}

/// Bytes of slots between two offers to a stalled sender, less one: as in Rust, 32 slots or half a
/// ring.
fn offers(last: u32) -> u32 {
    let slots = last / SLOT + 1;
    SLOT * 32.min(slots / 2) - 1
}

/// A queue, and the structure of its fast path if the program has asked for it.
pub struct Fast<Q: FastQueue> {
    queue: Q,
    node: *mut Node<Q::Fast>,
}

// SAFETY: the structure is used only by the thread that is inside the queue's handle, or that has
// the right to use the handle (the header's rule for inline functions).
unsafe impl<Q: FastQueue + Send> Send for Fast<Q> {}

impl<Q: FastQueue> Fast<Q> {
    pub fn new(queue: Q) -> Self {
        Self { queue, node: null_mut() }
    }

    /// The queue, as the inline functions have left it. What the caller changes is theirs when the
    /// result is dropped.
    pub fn inside(&mut self) -> Inside<'_, Q> {
        if !self.node.is_null() {
            // SAFETY: nodes are never freed, and the caller is the one user of the queue.
            self.queue.continue_from(unsafe { &mut (*self.node).fast });
        }
        Inside(self)
    }

    /// The queue itself, for what needs no state of it.
    pub fn engine(&mut self) -> &mut Q {
        &mut self.queue
    }

    /// Whether the program has asked for inline functions.
    pub fn is_inline(&self) -> bool {
        !self.node.is_null()
    }

    /// The structure for inline functions. The same at every call.
    pub fn fast(&mut self, handle: *mut c_void) -> *mut Q::Fast {
        if self.node.is_null() {
            self.node = node::<Q>(self.queue.begin(handle));
        }
        self.node.cast()
    }
}

impl<Q: FastQueue> Drop for Fast<Q> {
    fn drop(&mut self) {
        if self.node.is_null() {
            return;
        }
        // SAFETY: as in `inside`.
        let fast = unsafe { &mut (*self.node).fast };
        Q::free(fast);
        Q::end(fast);
        let mut closed = Q::registry().closed.lock().unwrap_or_else(PoisonError::into_inner);
        closed.push_back(self.node as usize);
    }
}

/// A new node, or that of a queue that was closed long ago.
fn node<Q: FastQueue>(fast: Q::Fast) -> *mut Node<Q::Fast> {
    let registry = Q::registry();
    let mut closed = registry.closed.lock().unwrap_or_else(PoisonError::into_inner);
    if closed.len() > KEEP
        && let Some(address) = closed.pop_front()
    {
        let node = address as *mut Node<Q::Fast>;
        // SAFETY: it came from a box that is never freed, and its queue is closed.
        unsafe { (*node).fast = fast };
        return node;
    }
    let mut next = registry.all.load(Ordering::Relaxed);
    let node = Box::into_raw(Box::new(Node { fast, next }));
    // The lock keeps others from adding. Release: a child that finds the node finds its content.
    while let Err(now) =
        registry.all.compare_exchange(next, node, Ordering::Release, Ordering::Relaxed)
    {
        next = now;
        // SAFETY: the node is not in the list yet.
        unsafe { (*node).next = next };
    }
    node
}

/// In a child after a fork: no inline function touches what belongs to the parent.
fn end_all<Q: FastQueue>() {
    let mut node = Q::registry().all.load(Ordering::Acquire);
    while !node.is_null() {
        // SAFETY: nodes are never freed, and a child has one thread.
        unsafe {
            Q::end(&mut (*node).fast);
            node = (*node).next;
        }
    }
}

pub fn forked() {
    end_all::<PooledTx>();
    end_all::<PooledRx>();
    end_all::<Tx>();
    end_all::<Rx>();
    end_all::<PackedRx>();
}

/// A queue that is up to date.
pub struct Inside<'a, Q: FastQueue>(&'a mut Fast<Q>);

impl<Q: FastQueue> Deref for Inside<'_, Q> {
    type Target = Q;
    fn deref(&self) -> &Q {
        &self.0.queue
    }
}

impl<Q: FastQueue> DerefMut for Inside<'_, Q> {
    fn deref_mut(&mut self) -> &mut Q {
        &mut self.0.queue
    }
}

impl<Q: FastQueue> Drop for Inside<'_, Q> {
    fn drop(&mut self) {
        if !self.0.node.is_null() {
            // SAFETY: as in `inside`.
            self.0.queue.state_to(unsafe { &mut (*self.0.node).fast });
        }
    }
}
