//! Helpers of the cases: endpoints with queues, packets with known bytes, bounded waits.

use crate::Fixture;
use fastrand::Rng;
use spfe::{
    Buf, Clock, Deadline, End, Endpoint, PackedOptions, PackedRx, QueueOptions, Received, Region,
    Rx, Status, Threshold, Tx,
};
use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Limit of every bounded wait, with room for a loaded machine.
pub const SOON: Duration = Duration::from_secs(30);

/// How many times as long every wait may take.
static PATIENCE: AtomicU32 = AtomicU32::new(1);

/// Makes every bounded wait longer, for a device that is many times slower than hardware.
pub fn set_patience(factor: u32) {
    PATIENCE.store(factor.max(1), Ordering::Relaxed);
}

/// How many times as long waits may take.
pub fn patience() -> u32 {
    PATIENCE.load(Ordering::Relaxed)
}

/// More bytes than any link stores for a virtual channel. A packet of this length is not completed
/// before its receiver has taken most of it.
pub const LONG: usize = 64 << 10;

thread_local! {
    /// The clock of the pair that this thread opened last; real time if it has opened none.
    static CLOCK: RefCell<Clock> = const { RefCell::new(Clock::Real) };
}

/// Number of bounded waits begun by all cases of the process.
static WAITS: AtomicU64 = AtomicU64::new(0);

/// Number of bounded waits begun so far. A case during which it stays the same hangs.
pub fn waits_begun() -> u64 {
    WAITS.load(Ordering::Relaxed)
}

/// A deadline on the clock of the pair that this thread opened.
pub fn within(duration: Duration) -> Deadline {
    WAITS.fetch_add(1, Ordering::Relaxed);
    let now = CLOCK.with_borrow(Clock::now_ns);
    Deadline::at_ns(now.saturating_add(duration.as_nanos() as u64))
}

/// A deadline that is reached only if something is wrong.
pub fn soon() -> Deadline {
    within(SOON * patience())
}

/// Lets other threads run in real time, or links move on in virtual time.
pub fn give_way() {
    /// Roughly the time of a few hundred bytes on a link, ns.
    const MOMENT_NS: u64 = 1_000;
    match CLOCK.with_borrow(Clock::clone) {
        Clock::Real => std::thread::yield_now(),
        Clock::Virtual(clock) => {
            let now = Clock::Virtual(clock.clone()).now_ns();
            clock.wait(clock.ticket(), Some(now + MOMENT_NS));
        }
    }
}

/// Sleeps on the clock of the pair.
pub fn pause(duration: Duration) {
    match CLOCK.with_borrow(Clock::clone) {
        Clock::Real => std::thread::sleep(duration),
        Clock::Virtual(clock) => {
            let now = || Clock::Virtual(clock.clone()).now_ns();
            let end = now() + duration.as_nanos() as u64;
            while now() < end {
                clock.wait(clock.ticket(), Some(end));
            }
        }
    }
}

/// A thread that takes part in the clock of the pair.
pub struct Thread<T>(JoinHandle<T>);

/// Starts a thread of a case.
pub fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> Thread<T> {
    let clock = CLOCK.with_borrow(Clock::clone);
    if let Clock::Virtual(clock) = &clock {
        clock.join();
    }
    Thread(std::thread::spawn(move || {
        CLOCK.set(clock.clone());
        let _part = Part(clock);
        body()
    }))
}

/// Participation in a clock, which ends when it is dropped.
struct Part(Clock);

impl Drop for Part {
    fn drop(&mut self) {
        if let Clock::Virtual(clock) = &self.0 {
            clock.leave();
        }
    }
}

impl<T> Thread<T> {
    /// Waits for the thread. Virtual time goes on meanwhile.
    pub fn join(self) -> std::thread::Result<T> {
        let clock = CLOCK.with_borrow(Clock::clone);
        drop(Part(clock.clone()));
        let result = self.0.join();
        if let Clock::Virtual(clock) = &clock {
            clock.join();
        }
        result
    }
}

/// Polls a condition until it is true.
///
/// # Panics
/// If the condition does not become true within [`SOON`].
#[track_caller]
pub fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    WAITS.fetch_add(1, Ordering::Relaxed);
    let now = || CLOCK.with_borrow(Clock::now_ns);
    let limit = SOON * patience();
    let end = now() + limit.as_nanos() as u64;
    while !is_true() {
        assert!(now() < end, "{what}: not within {limit:?}");
        give_way();
    }
}

/// Bytes of the table. A prime, so that parts of a packet that are a power of two apart differ.
const TABLE: usize = 1_048_573;

fn table() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let mut bytes = vec![0; TABLE];
        Rng::with_seed(1).fill(&mut bytes);
        bytes
    })
}

/// Index of byte `from` of packet `seed` in the table.
fn start(seed: u64, from: usize) -> usize {
    ((seed.wrapping_mul(7919) % TABLE as u64) as usize + from) % TABLE
}

/// Writes the bytes of packet `seed` from byte `from` on.
pub fn fill(bytes: &mut [u8], seed: u64, from: usize) {
    let (mut done, mut at) = (0, start(seed, from));
    while done < bytes.len() {
        let part = (bytes.len() - done).min(TABLE - at);
        bytes[done..done + part].copy_from_slice(&table()[at..at + part]);
        (done, at) = (done + part, 0);
    }
}

/// Whether these are the bytes of packet `seed` from byte `from` on.
pub fn matches(bytes: &[u8], seed: u64, from: usize) -> bool {
    let (mut done, mut at) = (0, start(seed, from));
    while done < bytes.len() {
        let part = (bytes.len() - done).min(TABLE - at);
        if bytes[done..done + part] != table()[at..at + part] {
            return false;
        }
        (done, at) = (done + part, 0);
    }
    true
}

/// Two joined endpoints. Packets go from `a` to `b`.
pub struct EndpointPair {
    /// The sending endpoint.
    pub a: Endpoint,
    /// The receiving endpoint.
    pub b: Endpoint,
}

/// Options of a ring with this many entries. Small rings wrap early.
pub fn depth(entries: u32) -> QueueOptions {
    QueueOptions::default().depth(entries)
}

impl EndpointPair {
    /// Opens two endpoints of the device under test.
    pub fn new(fixture: &Fixture) -> Self {
        let (a, b) = (fixture.open)();
        CLOCK.set(a.clock().clone());
        Self { a, b }
    }

    /// A transmit queue of `a`.
    pub fn tx(&self, vc: u32) -> Tx {
        self.tx_with(vc, QueueOptions::default())
    }

    /// A transmit queue of `a` with these options.
    pub fn tx_with(&self, vc: u32, options: QueueOptions) -> Tx {
        self.a.port(0).unwrap().vc(vc).unwrap().tx_with(options).unwrap()
    }

    /// A receive queue of `b`.
    pub fn rx(&self, vc: u32) -> Rx {
        self.rx_with(vc, QueueOptions::default())
    }

    /// A receive queue of `b` with these options.
    pub fn rx_with(&self, vc: u32, options: QueueOptions) -> Rx {
        self.b.port(0).unwrap().vc(vc).unwrap().rx_with(options).unwrap()
    }

    /// A receive queue of `b` with `count` buffers of `bytes` posted.
    pub fn rx_posted(&self, vc: u32, bytes: usize, count: usize) -> Rx {
        let mut rx = self.rx(vc);
        let mut bufs = self.b.alloc(bytes * count).unwrap().split(bytes, count).unwrap();
        assert_eq!(rx.post_all(&mut bufs), count);
        rx
    }

    /// A packed receive queue of `b`.
    pub fn packed(&self, vc: u32, area: u32) -> PackedRx {
        let options = PackedOptions::default().area(area);
        self.b.port(0).unwrap().vc(vc).unwrap().rx_packed(options).unwrap()
    }

    /// A buffer of `bytes` at `a`.
    pub fn buf(&self, bytes: usize) -> Buf {
        self.a.alloc(bytes).unwrap().buf(0..bytes).unwrap()
    }

    /// A buffer at `a` that holds packet `seed`.
    pub fn packet(&self, bytes: usize, seed: u64) -> Buf {
        let mut buf = self.buf(bytes);
        fill(&mut buf, seed, 0);
        buf
    }
}

/// Takes a buffer with packet `seed` from a region and advances the offset.
pub fn cut(region: &Region, at: &mut usize, bytes: usize, seed: u64) -> Buf {
    let mut buf = region.buf(*at..*at + bytes).unwrap();
    *at += bytes;
    fill(&mut buf, seed, 0);
    buf
}

/// A received packet, assembled from its parts.
#[derive(Debug)]
pub struct ReceivedPacket {
    /// All bytes.
    pub bytes: Vec<u8>,
    /// End marker.
    pub end: End,
    /// Status of its last part.
    pub status: Status,
    /// Number of parts, each in a buffer of its own.
    pub parts: usize,
}

impl ReceivedPacket {
    /// Checks that this is packet `seed` of `length` bytes.
    #[track_caller]
    pub fn is(&self, length: usize, seed: u64) {
        assert_eq!((self.end, self.status), (End::Eop, Status::Ok), "packet {seed}");
        assert_eq!(self.bytes.len(), length, "packet {seed}");
        assert!(matches(&self.bytes, seed, 0), "packet {seed} of {length} bytes differs");
    }
}

/// Receives the next packet and posts its buffers again.
#[track_caller]
pub fn receive(rx: &mut Rx) -> ReceivedPacket {
    receive_with(rx, |rx, got| rx.post(got.buf).unwrap())
}

/// Receives the next packet and passes each of its parts to `then`.
#[track_caller]
pub fn receive_with(rx: &mut Rx, mut then: impl FnMut(&mut Rx, Received)) -> ReceivedPacket {
    let mut packet =
        ReceivedPacket { bytes: Vec::new(), end: End::More, status: Status::Ok, parts: 0 };
    while packet.end == End::More {
        let got = rx.recv(soon()).unwrap();
        packet.bytes.extend_from_slice(&got.buf);
        (packet.end, packet.status) = (got.end, got.status);
        packet.parts += 1;
        then(rx, got);
    }
    packet
}

/// Receives until packet `seed` arrives, which is the only one of `length` bytes. Returns the
/// packets before it: a receiver first gets packets of the one before it that an exact link has
/// stored.
#[track_caller]
pub fn receive_until(rx: &mut Rx, length: usize, seed: u64) -> Vec<ReceivedPacket> {
    let (mut before, mut bytes) = (Vec::new(), 0);
    loop {
        let packet = receive(rx);
        if packet.bytes.len() == length && packet.end == End::Eop {
            packet.is(length, seed);
            return before;
        }
        bytes += packet.bytes.len();
        assert!(bytes <= LONG, "{bytes} bytes before packet {seed}: more than any link stores");
        before.push(packet);
    }
}

/// Packets received in a packed area.
#[derive(Default)]
pub struct Unpacked {
    open: Vec<u8>,
    /// Whole packets, in order.
    pub packets: Vec<(Vec<u8>, End)>,
    /// Number of records.
    pub records: usize,
}

impl Unpacked {
    /// Takes all runs that are there.
    pub fn take(&mut self, rx: &mut PackedRx) {
        while let Some(run) = rx.poll() {
            let before = self.records;
            for record in run.records() {
                self.records += 1;
                self.open.extend_from_slice(record.bytes);
                if !record.more() {
                    self.packets.push((std::mem::take(&mut self.open), record.end));
                }
            }
            assert_eq!(self.records - before, run.packets as usize, "records in a run");
        }
    }

    /// Waits until there are `count` packets in all.
    #[track_caller]
    pub fn wait(&mut self, rx: &mut PackedRx, count: usize) {
        self.take(rx);
        while self.packets.len() < count {
            if let Err(error) = rx.wait(&Threshold::ONE, soon()) {
                panic!("{} of {count} packets: {error}", self.packets.len());
            }
            self.take(rx);
        }
    }

    /// Checks that the packets so far are these (length, seed).
    #[track_caller]
    pub fn are(&self, expected: impl Iterator<Item = (usize, u64)>) {
        let mut count = 0;
        for ((bytes, end), (length, seed)) in self.packets.iter().zip(expected) {
            assert_eq!((bytes.len(), *end), (length, End::Eop), "packet {count}");
            assert!(matches(bytes, seed, 0), "packet {count} of {length} bytes differs");
            count += 1;
        }
        assert_eq!(self.packets.len(), count, "more packets than were sent");
    }
}

/// Takes all returned buffers.
pub fn take_all(tx: &mut Tx) -> Vec<Buf> {
    std::iter::from_fn(|| tx.take()).collect()
}

/// Checks that each tag from 0 to `count` - 1 occurs once.
#[track_caller]
pub fn tags_are_complete<'a>(bufs: impl IntoIterator<Item = &'a Buf>, count: u64) {
    let mut tags: Vec<u64> = bufs.into_iter().map(|buf| buf.tag()).collect();
    tags.sort_unstable();
    assert_eq!(tags, (0..count).collect::<Vec<_>>());
}

/// Buffers of `bytes` with tags from 0. Each holds the packet of that number.
pub fn tagged(region: &Region, bytes: usize, count: usize) -> Vec<Buf> {
    let mut bufs = region.split(bytes, count).unwrap();
    for (tag, buf) in bufs.iter_mut().enumerate() {
        buf.set_tag(tag as u64);
        fill(buf, tag as u64, 0);
    }
    bufs
}
