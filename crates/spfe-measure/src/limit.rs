//! The limit of packets between two cores: bare rings in shared memory and one copy.
//!
//! Four rings of 16-byte entries, as the queues of spfe have: posted packets and buffers, and their
//! completions. Each entry carries its own position, so that nothing else has to cross from core to
//! core. Nothing is checked, nobody sleeps, and all packets have one size. What spfe reaches of this
//! rate is what its checks, its isolation and its other features cost.

use std::hint::spin_loop;
use std::io;
use std::ptr::{NonNull, copy_nonoverlapping, null_mut};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::{now_ns, pin_to};

/// Entries of each ring.
const RING: u32 = 4096;
/// Packets that one engine moves before its thread looks at the rings of its host.
const BUDGET: u32 = 64;
/// Both ends claim copies of about this many bytes.
const CHUNK: u32 = 64 * 1024;
/// Most packets of a claim.
const RUN: u32 = 32;
/// Bytes sent between two readings of the clock.
const CLOCK_BYTES: u64 = 64 * 1024;
/// In the size of a posted packet: it asks for a completion.
const SIGNAL: u32 = 1 << 31;

/// What to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitSetup {
    /// Bytes of each packet, 1 to 1 GiB.
    pub packet_bytes: u32,
    /// Packets posted together, at most 2048. The next group follows its completion.
    pub group: u32,
    /// Both ends copy; otherwise the sender does.
    pub both: bool,
    /// Bytes of memory to send from and to receive into, raised to what the packets need.
    pub window: (usize, usize),
    /// The processors of sender and receiver.
    pub cpus: (usize, usize),
    /// How long to send.
    pub duration: Duration,
    /// Every packet gets a content of its own, which is checked. Costs more than the copy.
    pub check: bool,
}

/// Rate of payload in Gbit/s (10^9 bits per second).
///
/// # Errors
/// Shared memory is not available.
///
/// # Panics
/// If a packet is too long, a group too large, or a checked packet damaged.
pub fn limit_gbps(setup: LimitSetup) -> io::Result<f64> {
    assert!((1..=1 << 30).contains(&setup.packet_bytes) && (1..=2048).contains(&setup.group));
    let size = setup.packet_bytes as usize;
    let slots = |bytes: usize, least: u32| (bytes / size).clamp(least as usize, 2048) as u32;
    let (tx_slots, rx_slots) = (slots(setup.window.0, setup.group), slots(setup.window.1, 2));
    let source = Shared::new(tx_slots as usize * size)?;
    let target = Shared::new(rx_slots as usize * size)?;
    let rings = Shared::new(size_of::<Rings>())?;
    // SAFETY: the memory is zeroed, aligned to pages and as large as the rings, which consist of
    // atomics. It is mapped until the end of this function.
    let rings = unsafe { rings.start.cast::<Rings>().as_ref() };
    let line = Line { rings, source: source.start, target: target.start, setup };
    thread::scope(|scope| {
        let receiver = scope.spawn(move || {
            pin_to(setup.cpus.1);
            receive(line, rx_slots);
        });
        let sender = scope.spawn(move || {
            pin_to(setup.cpus.0);
            let rate = send(line, tx_slots);
            line.rings.stop.store(true, Ordering::Release);
            rate
        });
        let rate = sender.join().expect("the sender of the limit");
        receiver.join().expect("the receiver of the limit");
        Ok(rate)
    })
}

#[repr(C, align(16))]
struct Entry {
    offset: AtomicU64,
    size: AtomicU32,
    /// Position of the entry plus 1.
    tag: AtomicU32,
}

#[repr(C, align(128))]
struct Ring([Entry; RING as usize]);

impl Ring {
    #[inline(always)]
    fn entry(&self, position: u32) -> &Entry {
        &self.0[(position % RING) as usize]
    }

    #[inline(always)]
    fn put(&self, position: u32, offset: u64, size: u32) {
        let entry = self.entry(position);
        entry.offset.store(offset, Ordering::Relaxed);
        entry.size.store(size, Ordering::Relaxed);
        // Pairs with the load in `get`.
        entry.tag.store(position.wrapping_add(1), Ordering::Release);
    }

    #[inline(always)]
    fn get(&self, position: u32) -> Option<(u64, u32)> {
        let entry = self.entry(position);
        let there = entry.tag.load(Ordering::Acquire) == position.wrapping_add(1);
        there.then(|| (entry.offset.load(Ordering::Relaxed), entry.size.load(Ordering::Relaxed)))
    }
}

#[repr(C, align(128))]
struct Claim(AtomicU64);

#[repr(C, align(128))]
struct Stop(AtomicBool);

#[repr(C)]
struct Rings {
    posted: Ring,
    sent: Ring,
    buffers: Ring,
    filled: Ring,
    /// Next copy that nobody has claimed: position of its packet and number of its chunk.
    claim: Claim,
    stop: Stop,
    /// Chunks done of each long packet.
    chunks: [AtomicU32; RING as usize],
}

impl std::ops::Deref for Stop {
    type Target = AtomicBool;
    fn deref(&self) -> &AtomicBool {
        &self.0
    }
}

/// Rings and memory, as both threads see them.
#[derive(Clone, Copy)]
struct Line<'a> {
    rings: &'a Rings,
    source: NonNull<u8>,
    target: NonNull<u8>,
    setup: LimitSetup,
}

// SAFETY: the memory behind the pointers outlives both threads. A packet is written by the sender
// before it is posted, copied by whoever has claimed it, and read after its completion.
unsafe impl Send for Line<'_> {}

impl Line<'_> {
    #[inline(always)]
    fn copy(&self, from: u64, to: u64, length: u32) {
        // SAFETY: offsets of slots, and a length within them. Source and target are mappings of
        // their own.
        unsafe {
            let (from, to) = (self.source.add(from as usize), self.target.add(to as usize));
            copy_nonoverlapping(from.as_ptr(), to.as_ptr(), length as usize);
        }
    }

    /// The engine of one end: moves the next packets in order.
    #[inline(always)]
    fn step(&self, at: &mut Engine) {
        let rings = self.rings;
        for _ in 0..BUDGET {
            let Some((from, size)) = rings.posted.get(at.packet) else { break };
            let Some((to, _)) = rings.buffers.get(at.packet) else { break };
            let length = size & !SIGNAL;
            self.copy(from, to, length);
            rings.filled.put(at.packet, to, length);
            if size & SIGNAL != 0 {
                rings.sent.put(at.completion, from, length);
                at.completion = at.completion.wrapping_add(1);
            }
            at.packet = at.packet.wrapping_add(1);
        }
    }

    /// The engine of both ends: claims copies. A packet completes in the slot of its number, in
    /// whichever order the copies end.
    #[inline(always)]
    fn share(&self) {
        let rings = self.rings;
        let mut moved = 0;
        while moved < BUDGET {
            let claim = rings.claim.0.load(Ordering::Relaxed);
            let (packet, chunk) = ((claim >> 16) as u32, claim as u32 & 0xffff);
            let (Some((from, size)), Some((to, _))) =
                (rings.posted.get(packet), rings.buffers.get(packet))
            else {
                return;
            };
            let length = size & !SIGNAL;
            let chunks = length.div_ceil(CHUNK);
            let run = if chunks == 1 { self.run(packet, length) } else { 1 };
            let after = if chunk + 1 < chunks {
                claim + 1
            } else {
                u64::from(packet.wrapping_add(run)) << 16
            };
            let order = (Ordering::AcqRel, Ordering::Relaxed);
            if rings.claim.0.compare_exchange(claim, after, order.0, order.1).is_err() {
                continue;
            }
            moved += run;
            if chunks == 1 {
                (0..run).for_each(|ahead| self.one(packet.wrapping_add(ahead)));
                continue;
            }
            let start = chunk * CHUNK;
            let (from_at, to_at) = (from + u64::from(start), to + u64::from(start));
            self.copy(from_at, to_at, CHUNK.min(length - start));
            let done = &rings.chunks[(packet % RING) as usize];
            if done.fetch_add(1, Ordering::AcqRel) + 1 == chunks {
                done.store(0, Ordering::Relaxed);
                rings.filled.put(packet, to, length);
                rings.sent.put(packet, from, length);
            }
        }
    }

    /// Number of packets of a claim, which are all posted and have buffers.
    #[inline(always)]
    fn run(&self, packet: u32, length: u32) -> u32 {
        let rings = self.rings;
        let there = |ahead: &u32| {
            let packet = packet.wrapping_add(*ahead);
            rings.posted.get(packet).is_some() && rings.buffers.get(packet).is_some()
        };
        let most = RUN.min(CHUNK.div_ceil(length));
        1 + (1..most).take_while(there).count() as u32
    }

    /// Moves one packet of a claim.
    #[inline(always)]
    fn one(&self, packet: u32) {
        let rings = self.rings;
        if let (Some((from, size)), Some((to, _))) =
            (rings.posted.get(packet), rings.buffers.get(packet))
        {
            let length = size & !SIGNAL;
            self.copy(from, to, length);
            rings.filled.put(packet, to, length);
            rings.sent.put(packet, from, length);
        }
    }
}

/// Positions of an engine that works alone.
#[derive(Default)]
struct Engine {
    packet: u32,
    completion: u32,
}

/// Content of a checked packet.
fn content(number: u32) -> u8 {
    (number % 251) as u8
}

/// Sends groups until the time is over. Returns the rate in Gbit/s.
fn send(line: Line<'_>, slots: u32) -> f64 {
    let LimitSetup { packet_bytes: size, group, both, check, .. } = line.setup;
    let (mut engine, mut next, mut slot, mut taken) = (Engine::default(), 0u32, 0u32, 0u32);
    let completions = if both { group } else { 1 };
    let from = now_ns();
    let (mut packets, mut unclocked, mut now) = (0u64, 0u64, from);
    let end = from + line.setup.duration.as_nanos() as u64;
    while now < end {
        // The last entry first: whoever looks sees none of the group or all of it.
        for ahead in (0..group).rev() {
            let at = (slot + ahead) % slots;
            let offset = u64::from(at) * u64::from(size);
            if check {
                // SAFETY: a slot of the sender's memory, whose last packet has completed.
                let bytes = unsafe { line.source.add(offset as usize) };
                // SAFETY: as above.
                unsafe { bytes.write_bytes(content(next.wrapping_add(ahead)), size as usize) };
            }
            let signal = if ahead + 1 == group { SIGNAL } else { 0 };
            line.rings.posted.put(next.wrapping_add(ahead), offset, size | signal);
        }
        next = next.wrapping_add(group);
        slot = (slot + group) % slots;
        for _ in 0..completions {
            while line.rings.sent.get(taken).is_none() {
                if both { line.share() } else { line.step(&mut engine) }
            }
            taken = taken.wrapping_add(1);
        }
        packets += u64::from(group);
        unclocked += u64::from(group) * u64::from(size);
        if unclocked >= CLOCK_BYTES {
            (unclocked, now) = (0, now_ns());
        }
    }
    packets as f64 * f64::from(size) * 8.0 / (now - from).max(1) as f64
}

/// Receives packets and posts their buffers again, until the sender stops.
fn receive(line: Line<'_>, slots: u32) {
    let LimitSetup { packet_bytes: size, both, check, .. } = line.setup;
    let rings = line.rings;
    for slot in 0..slots {
        rings.buffers.put(slot, u64::from(slot) * u64::from(size), size);
    }
    let (mut next, mut posted) = (0u32, slots);
    loop {
        let Some((offset, length)) = rings.filled.get(next) else {
            if both {
                line.share();
            } else {
                spin_loop();
            }
            if rings.stop.load(Ordering::Relaxed) {
                return;
            }
            continue;
        };
        if check {
            // SAFETY: a slot of the receiver's memory that was filled and not posted again.
            let bytes = unsafe {
                let start = line.target.add(offset as usize);
                std::slice::from_raw_parts(start.as_ptr(), length as usize)
            };
            assert!(bytes.iter().all(|byte| *byte == content(next)), "packet {next} is damaged");
        }
        next = next.wrapping_add(1);
        rings.buffers.put(posted, offset, size);
        posted = posted.wrapping_add(1);
    }
}

/// Memory of a file that two processes could map, as queues and buffers of spfe are.
struct Shared {
    start: NonNull<u8>,
    bytes: usize,
}

impl Shared {
    fn new(bytes: usize) -> io::Result<Self> {
        let bytes = bytes.max(1).next_multiple_of(4096);
        // SAFETY: a system call with a constant string.
        let fd = unsafe { libc::memfd_create(c"spfe-limit".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let (access, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_POPULATE);
        // SAFETY: a new file of this size and a new mapping of all of it. The file is closed here.
        let start = unsafe {
            let sized = libc::ftruncate(fd, bytes as libc::off_t) == 0;
            let start = if sized {
                libc::mmap(null_mut(), bytes, access, flags, fd, 0)
            } else {
                libc::MAP_FAILED
            };
            libc::close(fd);
            start
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(start.cast())
            .map(|start| Self { start, bytes })
            .ok_or_else(io::Error::last_os_error)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, and nobody uses it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement_cpus;

    #[test]
    fn packets_arrive_whole_and_in_order() {
        for both in [false, true] {
            for (packet_bytes, group) in [(1, 3), (64, 128), (5000, 7), (200_000, 2)] {
                let setup = LimitSetup {
                    packet_bytes,
                    group,
                    both,
                    window: (1 << 16, 1 << 17),
                    cpus: measurement_cpus(),
                    duration: Duration::from_millis(3),
                    check: true,
                };
                let rate = limit_gbps(setup).unwrap();
                assert!(rate.is_finite() && rate > 0.0, "{setup:?}: {rate}");
            }
        }
    }
}
