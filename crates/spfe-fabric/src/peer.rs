//! A node's end of the link to one peer.

use crate::memory::PairMemory;
use crate::pace::PathPace;
use crate::ring::{RingFault, RingReader, RingWriter};
use crate::wire::PeerState;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::{RecvFlags, SendFlags};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{Ordering, fence};

/// Most frames, and bytes, that wait for a peer whose ring is full, if the kernel has no queue for
/// each peer.
const BACKLOG_FRAMES: usize = 128;
const BACKLOG_BYTES: usize = 1 << 20;

/// The link to a peer.
#[derive(Debug)]
pub struct PeerLink {
    /// Identity of the link.
    pub link: u64,
    /// IP addresses of the peer.
    pub addresses: Vec<IpAddr>,
    /// Limits of transfers to the peer, and from it.
    pub pace_out: PathPace,
    /// Limits of transfers from the peer.
    pub pace_in: PathPace,
    state: PeerState,
    /// Memory that we read, and memory that we write.
    inward: PairMemory,
    outward: PairMemory,
    writer: RingWriter,
    reader: RingReader,
    wire: Option<OwnedFd>,
    sleeps: u64,
    starved: u64,
    /// Sleeps of the peer for which it was woken.
    woken: u64,
    fed: u64,
    backlog: VecDeque<Vec<u8>>,
    backlog_bytes: usize,
}

impl PeerLink {
    /// A link over this memory.
    pub fn new(link: u64, inward: PairMemory, outward: PairMemory) -> Self {
        // Release pairs with the acquire in `shake_hands`.
        outward.greeting().store(link, Ordering::Release);
        Self {
            link,
            addresses: Vec::new(),
            pace_out: PathPace::default(),
            pace_in: PathPace::default(),
            state: PeerState::Link,
            inward,
            outward,
            writer: RingWriter::default(),
            reader: RingReader::default(),
            wire: None,
            sleeps: 0,
            starved: 0,
            woken: 0,
            fed: 0,
            backlog: VecDeque::new(),
            backlog_bytes: 0,
        }
    }

    /// The socket that wakes the peer has arrived.
    pub fn set_wire(&mut self, wire: OwnedFd) {
        self.wire = Some(wire);
        self.wake();
    }

    /// State of the link.
    pub fn state(&self) -> PeerState {
        self.state
    }

    /// Whether frames can go.
    pub fn is_ready(&self) -> bool {
        self.state == PeerState::Ready
    }

    /// Ends the use of the link: the peer broke a rule.
    pub fn fail(&mut self) {
        self.state = PeerState::Error;
    }

    /// Continues the greeting. True if the state has changed.
    pub fn shake_hands(&mut self) -> bool {
        if self.state != PeerState::Link {
            return false;
        }
        // Acquire pairs with the release in `new`.
        if self.inward.greeting().load(Ordering::Acquire) != self.link {
            return false;
        }
        if self.outward.echo().load(Ordering::Relaxed) != self.link {
            self.outward.echo().store(self.link, Ordering::Release);
            self.wake();
        }
        if self.inward.echo().load(Ordering::Acquire) == self.link {
            self.state = PeerState::Ready;
            return true;
        }
        false
    }

    /// The ring to the peer and the memory with its credit.
    pub fn outbound(&mut self) -> (&mut RingWriter, &PairMemory, &PairMemory) {
        (&mut self.writer, &self.outward, &self.inward)
    }

    /// The ring from the peer.
    pub fn inbound(&mut self) -> (&mut RingReader, &PairMemory) {
        (&mut self.reader, &self.inward)
    }

    /// Shows the peer what was written. [`PeerLink::wake_reader`] follows.
    pub fn publish(&self) {
        self.writer.publish(&self.outward);
    }

    /// Gives the peer the room of what was read.
    pub fn give_back(&self) {
        self.reader.give_back(&self.outward);
    }

    /// Wakes the peer if it sleeps. True if it did.
    pub fn wake_reader(&mut self) -> bool {
        // Pairs with the fence in `sleep`: either we see that the peer sleeps, or it sees the frame.
        fence(Ordering::SeqCst);
        let sleeps = self.inward.sleeps().load(Ordering::Relaxed);
        let asleep = sleeps % 2 == 1 && sleeps != self.woken;
        if asleep {
            self.woken = sleeps;
            self.wake();
        }
        asleep
    }

    /// Wakes the peer if its ring was full and has room again. True if it did.
    pub fn wake_writer(&mut self) -> bool {
        // Pairs with the fence in `starve`.
        fence(Ordering::SeqCst);
        let starved = self.inward.starved().load(Ordering::Relaxed);
        let waits = starved % 2 == 1 && starved != self.fed;
        if waits {
            self.fed = starved;
            self.wake();
        }
        waits
    }

    /// Tells the peer that we are about to sleep, or that we are awake.
    pub fn sleep(&mut self, asleep: bool) {
        if (self.sleeps % 2 == 1) != asleep {
            self.sleeps += 1;
            self.outward.sleeps().store(self.sleeps, Ordering::Relaxed);
        }
    }

    /// Tells the peer whether we wait for room in its ring. The caller looks once more afterwards.
    pub fn starve(&mut self, starved: bool) {
        if (self.starved % 2 == 1) != starved {
            self.starved += 1;
            self.outward.starved().store(self.starved, Ordering::Relaxed);
            fence(Ordering::SeqCst);
        }
    }

    /// Whether the peer has written something that was not read yet.
    pub fn has_news(&self) -> bool {
        match self.state {
            PeerState::Ready => self.reader.has_news(&self.inward),
            PeerState::Link => {
                self.inward.greeting().load(Ordering::Relaxed) == self.link
                    && (self.inward.echo().load(Ordering::Relaxed) == self.link
                        || self.outward.echo().load(Ordering::Relaxed) != self.link)
            }
            _ => false,
        }
    }

    /// Keeps a frame until the ring has room. False if too many wait: the frame is dropped.
    pub fn keep(&mut self, frame: &[u8]) -> bool {
        let fits = self.backlog.len() < BACKLOG_FRAMES
            && self.backlog_bytes + frame.len() <= BACKLOG_BYTES;
        if fits {
            self.backlog_bytes += frame.len();
            self.backlog.push_back(frame.to_vec());
        }
        fits
    }

    /// Whether frames wait for room.
    pub fn has_backlog(&self) -> bool {
        !self.backlog.is_empty()
    }

    /// Writes frames that waited. Returns their number and bytes.
    ///
    /// # Errors
    /// The peer broke a rule.
    pub fn flush_backlog(&mut self) -> Result<(u64, u64), RingFault> {
        let (mut frames, mut bytes) = (0, 0);
        while let Some(frame) = self.backlog.pop_front() {
            if !self.put(&frame)? {
                self.backlog.push_front(frame);
                break;
            }
            self.backlog_bytes -= frame.len();
            frames += 1;
            bytes += frame.len() as u64;
        }
        Ok((frames, bytes))
    }

    /// Whether we wait for room in the ring.
    pub fn is_starved(&self) -> bool {
        self.starved % 2 == 1
    }

    /// Whether the ring has room for a record of this length.
    ///
    /// # Errors
    /// The peer broke a rule.
    pub fn has_room(&mut self, bytes: usize) -> Result<bool, RingFault> {
        Ok(self.writer.room(&self.outward, &self.inward, bytes)?.is_some())
    }

    /// Writes a frame, with its offload header. False if the ring is full.
    ///
    /// # Errors
    /// The peer broke a rule.
    pub fn put(&mut self, frame: &[u8]) -> Result<bool, RingFault> {
        let Some(room) = self.writer.room(&self.outward, &self.inward, frame.len())? else {
            return Ok(false);
        };
        // SAFETY: the room is inside the mapping and has at least as many bytes. The peer may read
        // it meanwhile, and sees it as a frame only after `publish`.
        unsafe { std::ptr::copy_nonoverlapping(frame.as_ptr(), room.at, frame.len()) };
        self.writer.push(&self.outward, frame.len());
        self.publish();
        Ok(true)
    }

    /// The socket to the peer.
    pub fn wire(&self) -> Option<BorrowedFd<'_>> {
        self.wire.as_ref().map(AsFd::as_fd)
    }

    /// Takes the wake-ups. False if the peer is gone.
    pub fn drain_wire(&mut self) -> bool {
        let Some(wire) = &self.wire else { return true };
        let mut bytes = [0u8; 8];
        // A peer that fills its socket cannot keep us here.
        for _ in 0..64 {
            match rustix::net::recv(wire, &mut bytes[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) | Err(rustix::io::Errno::CONNRESET) => {
                    self.wire = None;
                    return false;
                }
                Ok(_) => {}
                Err(_) => return true,
            }
        }
        true
    }

    /// Wakes the peer. A full socket means that wake-ups are under way.
    fn wake(&self) {
        if let Some(wire) = &self.wire {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            let _ = rustix::net::send(wire, b"w", flags);
        }
    }
}
