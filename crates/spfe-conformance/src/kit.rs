//! What cases are made of: endpoints with queues, known bytes, whole packets.

use crate::Fixture;
use fastrand::Rng;
use spfe::{
    Buf, Clock, Deadline, End, Endpoint, PackedOptions, PackedRx, QueueOptions, Received, Region,
    Rx, Status, Threshold, Tx,
};
use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longest time anything that is bounded may take on a loaded machine.
pub const SOON: Duration = Duration::from_secs(30);

/// More bytes than any link keeps on the way of a virtual channel: a packet that long is not gone
/// before its receiver has taken most of it.
pub const LONG: usize = 64 << 10;

thread_local! {
    /// The clock of the pair this thread has opened last; real time where there is none.
    static CLOCK: RefCell<Clock> = const { RefCell::new(Clock::Real) };
}

/// Bounded waits that have begun, in all cases of the process.
static WAITS: AtomicU64 = AtomicU64::new(0);

/// How many bounded waits have begun: a case in which this stands still hangs.
pub fn waits_begun() -> u64 {
    WAITS.load(Ordering::Relaxed)
}

/// So long from now, on the clock of the pair this thread has opened.
pub fn within(duration: Duration) -> Deadline {
    WAITS.fetch_add(1, Ordering::Relaxed);
    let now = CLOCK.with_borrow(Clock::now_ns);
    Deadline::at_ns(now.saturating_add(duration.as_nanos() as u64))
}

/// A deadline that is never reached where all is well.
pub fn soon() -> Deadline {
    within(SOON)
}

/// Lets others go on for a moment: threads in real time, links in virtual time.
pub fn give_way() {
    /// About as long as a link takes for a few hundred bytes, ns.
    const MOMENT_NS: u64 = 1_000;
    match CLOCK.with_borrow(Clock::clone) {
        Clock::Real => std::thread::yield_now(),
        Clock::Virtual(clock) => {
            let now = Clock::Virtual(clock.clone()).now_ns();
            clock.wait(clock.ticket(), Some(now + MOMENT_NS));
        }
    }
}

/// Waits for a time to pass, on the clock of the pair.
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

/// A thread that takes part in the time of the pair.
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

/// Part in a time, given up in the end.
struct Part(Clock);

impl Drop for Part {
    fn drop(&mut self) {
        if let Clock::Virtual(clock) = &self.0 {
            clock.leave();
        }
    }
}

impl<T> Thread<T> {
    /// What the thread returns; time goes on meanwhile.
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

/// Asks until it is true.
///
/// # Panics
/// If it does not become true in [`SOON`].
#[track_caller]
pub fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    WAITS.fetch_add(1, Ordering::Relaxed);
    let now = || CLOCK.with_borrow(Clock::now_ns);
    let end = now() + SOON.as_nanos() as u64;
    while !is_true() {
        assert!(now() < end, "{what}: not in {SOON:?}");
        give_way();
    }
}

/// A prime, so that no two stretches of a packet that lie a power of two apart are alike.
const TABLE: usize = 1_048_573;

fn table() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let mut bytes = vec![0; TABLE];
        Rng::with_seed(1).fill(&mut bytes);
        bytes
    })
}

/// Where the bytes of packet `seed` begin in the table.
fn start(seed: u64, from: usize) -> usize {
    ((seed.wrapping_mul(7919) % TABLE as u64) as usize + from) % TABLE
}

/// Writes bytes `from` and on of packet `seed`.
pub fn fill(bytes: &mut [u8], seed: u64, from: usize) {
    let (mut done, mut at) = (0, start(seed, from));
    while done < bytes.len() {
        let part = (bytes.len() - done).min(TABLE - at);
        bytes[done..done + part].copy_from_slice(&table()[at..at + part]);
        (done, at) = (done + part, 0);
    }
}

/// Whether these are bytes `from` and on of packet `seed`.
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

/// Two endpoints; packets go from `a` to `b`.
pub struct Pair {
    /// Sends.
    pub a: Endpoint,
    /// Receives.
    pub b: Endpoint,
}

/// Small rings: they wrap early.
pub fn depth(entries: u32) -> QueueOptions {
    QueueOptions::default().depth(entries)
}

impl Pair {
    /// Two endpoints of a fresh network.
    pub fn new(fixture: &Fixture) -> Self {
        let (a, b) = (fixture.open)();
        CLOCK.set(a.clock().clone());
        Self { a, b }
    }

    /// A transmit end of `a`.
    pub fn tx(&self, vc: u32) -> Tx {
        self.tx_with(vc, QueueOptions::default())
    }

    /// A transmit end of `a`, opened this way.
    pub fn tx_with(&self, vc: u32, options: QueueOptions) -> Tx {
        self.a.port(0).unwrap().vc(vc).unwrap().tx_with(options).unwrap()
    }

    /// A receive end of `b`.
    pub fn rx(&self, vc: u32) -> Rx {
        self.rx_with(vc, QueueOptions::default())
    }

    /// A receive end of `b`, opened this way.
    pub fn rx_with(&self, vc: u32, options: QueueOptions) -> Rx {
        self.b.port(0).unwrap().vc(vc).unwrap().rx_with(options).unwrap()
    }

    /// A receive end of `b` with `count` buffers of `bytes` posted.
    pub fn rx_posted(&self, vc: u32, bytes: usize, count: usize) -> Rx {
        let mut rx = self.rx(vc);
        let mut bufs = self.b.alloc(bytes * count).unwrap().split(bytes, count).unwrap();
        assert_eq!(rx.post_all(&mut bufs), count);
        rx
    }

    /// A packed receive end of `b`.
    pub fn packed(&self, vc: u32, area: u32) -> PackedRx {
        let options = PackedOptions::default().area(area);
        self.b.port(0).unwrap().vc(vc).unwrap().rx_packed(options).unwrap()
    }

    /// One buffer of `bytes` at `a`.
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

/// Cuts a packet with these bytes from a region, at an offset that is given on.
pub fn cut(region: &Region, at: &mut usize, bytes: usize, seed: u64) -> Buf {
    let mut buf = region.buf(*at..*at + bytes).unwrap();
    *at += bytes;
    fill(&mut buf, seed, 0);
    buf
}

/// A received packet, put together again.
#[derive(Debug)]
pub struct Packet {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// How it ended.
    pub end: End,
    /// Status of its last part.
    pub status: Status,
    /// Parts it came in.
    pub parts: usize,
}

impl Packet {
    /// It is whole and equal to packet `seed` of this many bytes.
    #[track_caller]
    pub fn is(&self, length: usize, seed: u64) {
        assert_eq!((self.end, self.status), (End::Eop, Status::Ok), "packet {seed}");
        assert_eq!(self.bytes.len(), length, "packet {seed}");
        assert!(matches(&self.bytes, seed, 0), "packet {seed} of {length} bytes differs");
    }
}

/// The next packet; its buffers are posted again.
#[track_caller]
pub fn receive(rx: &mut Rx) -> Packet {
    receive_with(rx, |rx, got| rx.post(got.buf).unwrap())
}

/// The next packet; `then` has each of its parts.
#[track_caller]
pub fn receive_with(rx: &mut Rx, mut then: impl FnMut(&mut Rx, Received)) -> Packet {
    let mut packet = Packet { bytes: Vec::new(), end: End::More, status: Status::Ok, parts: 0 };
    while packet.end == End::More {
        let got = rx.recv(soon()).unwrap();
        packet.bytes.extend_from_slice(&got.buf);
        (packet.end, packet.status) = (got.end, got.status);
        packet.parts += 1;
        then(rx, got);
    }
    packet
}

/// Receives until packet `seed` of `length` bytes comes, which no packet before is as long as.
/// Returns those before: where a link keeps what a receiver has left, the next one gets it first.
#[track_caller]
pub fn receive_until(rx: &mut Rx, length: usize, seed: u64) -> Vec<Packet> {
    let (mut before, mut bytes) = (Vec::new(), 0);
    loop {
        let packet = receive(rx);
        if packet.bytes.len() == length && packet.end == End::Eop {
            packet.is(length, seed);
            return before;
        }
        bytes += packet.bytes.len();
        assert!(bytes <= LONG, "{bytes} bytes before packet {seed}: more than any link keeps");
        before.push(packet);
    }
}

/// Packets of a packed receive end, as they come.
#[derive(Default)]
pub struct Unpacked {
    open: Vec<u8>,
    /// Whole packets, in order.
    pub packets: Vec<(Vec<u8>, End)>,
    /// Records they came in.
    pub records: usize,
}

impl Unpacked {
    /// Takes every run there is.
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

    /// Waits for `count` packets in all.
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

    /// The packets so far are these {length, seed}.
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

/// Every buffer that has come back so far, with its tag.
pub fn take_all(tx: &mut Tx) -> Vec<Buf> {
    std::iter::from_fn(|| tx.take()).collect()
}

/// The tags 0 to `count` - 1 are all there, once each.
#[track_caller]
pub fn tags_are_complete<'a>(bufs: impl IntoIterator<Item = &'a Buf>, count: u64) {
    let mut tags: Vec<u64> = bufs.into_iter().map(|buf| buf.tag).collect();
    tags.sort_unstable();
    assert_eq!(tags, (0..count).collect::<Vec<_>>());
}

/// Buffers of `bytes` with tags from 0, holding packets of that number.
pub fn tagged(region: &Region, bytes: usize, count: usize) -> Vec<Buf> {
    let mut bufs = region.split(bytes, count).unwrap();
    for (tag, buf) in bufs.iter_mut().enumerate() {
        buf.tag = tag as u64;
        fill(buf, tag as u64, 0);
    }
    bufs
}
