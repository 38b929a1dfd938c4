//! Copies that two ends share, on a board that anybody may write over, beside a participant that
//! claims jobs and may never finish them. Every call ends, and no byte outside of the regions
//! changes.
//!
//! Each step takes nine bytes: what is done, and a number.

use crate::memory::{BEHIND, bytes, bytes_mut, is_all, pooled};
use spfe_contract::{EndMarker, EntryType, QueueKind, QueueSetup, access, submit_flags as sf};
use spfe_device::flow::{NoInstrument, SharePolicy};
use spfe_device::memory::{Address, RegionMap, RegionShared, RegionTag, Regions};
use spfe_device::shared::QueueConfig;
use spfe_device::{Flow, FlowShared, Host, RegionKey};
use spfe_host::SharedMemory;
use spfe_ring::{AtomicDeviceLine, Board, Producer, Ring, Slot};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Steps of an input. One that waits in vain takes a millisecond.
const STEPS: usize = 64;
const LOG2: u32 = 4;
const SIZE: u32 = 1 << LOG2;
/// Bytes of a region, and of the memory behind it, which must not change.
const BYTES: usize = 1 << 19;
const SPARE: usize = 4096;
/// Offsets in a region: lines at 0, then rings, times and data.
const SQ: u64 = 128;
const CQ: u64 = SQ + 16 * SIZE as u64;
const STAMPS: u64 = CQ + 16 * SIZE as u64;
const DATA: u64 = 4096;
/// Bytes of a packet whose copy is divided, and of the others.
const LONG: u64 = 1 << 18;
const SHORT: u64 = 24 << 10;
const KEY: RegionKey = RegionKey::new(0, 1);
const SHARE: SharePolicy = SharePolicy { near: false, packet: 1, total: 0, room: 0 };
/// Participants: the sender, the receiver, and the one that may never finish.
const SENDER: u32 = 1;
const RECEIVER: u32 = 2;
const IDLER: u32 = 3;

struct Quiet;

impl Host for Quiet {
    fn now_ns(&mut self) -> u64 {
        1
    }
    fn wake(&mut self, _: &AtomicDeviceLine, _: &QueueConfig, _: bool) {}
}

/// The host at one end. It uses its rings as it should, as far as the device lets it.
struct Side {
    memory: Arc<SharedMemory>,
    regions: Regions,
    config: QueueConfig,
    sq: Producer,
}

impl Side {
    fn new(number: usize, kind: QueueKind, table: &'static [RegionShared; 1]) -> Self {
        let memory = pooled(number, BYTES + SPARE);
        bytes_mut(&memory)[..DATA as usize].fill(0);
        bytes_mut(&memory)[BYTES..].fill(BEHIND);
        let tag = RegionTag::new(KEY, 0, access::LOCAL_READ | access::LOCAL_WRITE);
        table[0].tag.store(tag.0, Ordering::Relaxed);
        let map = Arc::new(RegionMap::default());
        // SAFETY: the pool keeps the memory.
        unsafe { map.set(tag, memory.base().as_ptr(), BYTES as u64) };
        let at = |offset| Address::new(KEY, offset).0;
        let setup = QueueSetup {
            kind: u32::from(kind.raw()),
            sq_log2: LOG2,
            cq_log2: LOG2,
            sq: at(SQ),
            cq: at(CQ),
            stamp: at(STAMPS),
            lines: at(0),
            ..QueueSetup::default()
        };
        let ring = memory.base().as_ptr().wrapping_add(SQ as usize);
        let ring = NonNull::new(ring).expect("an address").cast::<Slot>();
        // SAFETY: inside the memory, aligned.
        let sq = Producer::new(unsafe { Ring::new(ring, LOG2) });
        let config = QueueConfig { setup, ..QueueConfig::default() };
        Self { memory, regions: Regions { map, table }, config, sq }
    }

    fn post(&mut self, offset: u64, length: u64, flags: u16) {
        self.sq.push([Address::new(KEY, offset).0, length | u64::from(flags) << 32]);
    }
}

/// A flow without jobs, and the tables of its regions. One for each thread, because they are never
/// freed.
fn flow() -> (&'static FlowShared, [&'static [RegionShared; 1]; 2]) {
    thread_local! {
        static FLOW: (NonNull<FlowShared>, [&'static [RegionShared; 1]; 2]) =
            (NonNull::from(Box::leak(Box::default())), [(); 2].map(|()| &*Box::leak(Box::default())));
    }
    FLOW.with(|(flow, tables)| {
        // SAFETY: no other flow of this thread is left. All zero is a new one.
        unsafe {
            flow.write_bytes(0, 1);
            (flow.as_ref(), *tables)
        }
    })
}

/// The words of the board.
fn words(board: &Board) -> &[AtomicU32] {
    let (at, words) = (std::ptr::from_ref(board).cast(), size_of::<Board>() / 4);
    // SAFETY: a board consists of atomics, which any word may be written to.
    unsafe { std::slice::from_raw_parts(at, words) }
}

crate::target!(|input: Vec<u8>| {
    let (shared, tables) = flow();
    let mut tx = Side::new(900, QueueKind::Tx, tables[0]);
    let mut rx = Side::new(901, QueueKind::Rx, tables[1]);
    // SAFETY: no other thread knows the flow.
    unsafe {
        *shared.tx_config.get() = tx.config;
        *shared.rx_config.get() = rx.config;
    }
    let [mut sender, mut receiver] = [SENDER, RECEIVER].map(|id| {
        let (from, to) = (tx.regions.clone(), rx.regions.clone());
        Flow::<NoInstrument, NoInstrument>::new(shared, from, to, None, id, Some(SHARE))
    });
    assert_eq!((sender.bind(), receiver.bind()), (Ok(()), Ok(())));
    let (board, mut idle) = (&shared.board, Vec::new());
    for step in input.chunks_exact(9).take(STEPS) {
        let number = u64::from_le_bytes(step[1..].try_into().unwrap_or_default());
        let low = number as u32;
        match step[0] % 12 {
            0 | 1 => {
                let kind = if number % 16 == 0 { EntryType::Inline } else { EntryType::Data };
                let length = number >> 8 & 0xff_ffff;
                let length = if step[0] % 2 == 0 { length % SHORT } else { length % LONG };
                let signal = if number & 32 != 0 { sf::SIGNAL } else { 0 };
                let end = u16::from(EndMarker::Eop.raw()) << sf::END_SHIFT;
                tx.post(DATA, length, u16::from(kind.raw()) | end | signal);
            }
            2 | 3 => {
                let (offset, room) = if number & 1 == 0 {
                    (DATA + SHORT * (number >> 1 & 15), SHORT)
                } else {
                    (DATA, LONG)
                };
                rx.post(offset, room, u16::from(EntryType::Buffer.raw()));
            }
            4 | 5 => {
                let budget = if number & 1 == 0 { low % 64 } else { u32::MAX };
                let packets = sender.step(&mut Quiet, budget).packets();
                assert!(packets <= budget, "{packets} packets with a budget of {budget}");
            }
            6 => drop(receiver.help()),
            7 => idle.extend(board.claim(IDLER)),
            8 => idle.drain(..).for_each(|number| _ = board.finish(number)),
            // The counters, the lock and the states of jobs.
            9 => {
                let near = words(board)[0].load(Ordering::Relaxed).wrapping_add(low >> 8 & 63);
                let at = [0, 16, 32, 33][step[1] as usize % 4];
                words(board)[at].store(near.wrapping_sub(32), Ordering::Relaxed);
            }
            10 => {
                let words = words(board);
                words[low as usize % words.len()].store((number >> 32) as u32, Ordering::Relaxed);
            }
            _ => drop(sender.quiesce(&mut Quiet)),
        }
    }
    let _ = sender.quiesce(&mut Quiet);
    board.abandon();
    assert!(board.is_sound() && !sender.is_pending());
    for side in [tx, rx] {
        assert!(
            is_all(&bytes(&side.memory)[BYTES..], BEHIND),
            "memory behind a region was written"
        );
    }
});
