//! A runner dies between a change of state and the write to a ring: afterwards every completion is
//! there once, and no packet is joined to another.

use proptest::collection::vec;
use proptest::prelude::*;
use spfe_contract::{
    Completion, EndMarker, EntryType, QueueKind, Status, access, completion_flags as cf,
    submit_flags as sf,
};
use spfe_device::flow::Regions;
use spfe_device::memory::{Address, RegionKey, RegionMap, RegionShared, RegionTag};
use spfe_device::queue::{Host, QueueView};
use spfe_device::receive::RxPacked;
use spfe_device::shared::{QueueConfig, RxState, TxState};
use spfe_device::{Flow, FlowShared};
use spfe_ring::packed::PackedReader;
use spfe_ring::sync::Ordering;
use spfe_ring::{Consumer, DeviceLine, Producer, Ring, RingCredit, Slot};
use std::ptr::NonNull;
use std::sync::Arc;

const LOG2: u32 = 4;
const SIZE: u32 = 1 << LOG2;
const BYTES: usize = 1 << 20;
/// Offsets of a side's memory: lines, rings, times, then data.
const SQ: u64 = 128;
const CQ: u64 = SQ + 16 * SIZE as u64;
const STAMPS: u64 = CQ + 16 * SIZE as u64;
const DATA: u64 = 4096;

/// Random cases are repeated with the seed in PROPTEST_RNG_SEED, not from a file.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() }
}

struct Quiet;

impl Host for Quiet {
    fn now_ns(&mut self) -> u64 {
        1
    }
    fn wake(&mut self, _: &DeviceLine, _: &QueueConfig, _: bool) {}
}

/// What a test's flow has at neither end.
enum Nothing {}

mod nothing {
    use super::{Host, Nothing, QueueView, RegionMap, Status};
    use spfe_device::copy::Copier;
    use spfe_device::flow::{Accepted, NextPiece, Piece, PieceSink, PieceSource, StepContext};
    use spfe_device::queue::CompletionTime;

    impl PieceSource for Nothing {
        fn next(&mut self, _: &RegionMap, _: &mut Piece, _: &mut Copier<'_>) -> NextPiece {
            match *self {}
        }
        fn pause(&mut self, _: &Piece) {}
        fn done(&mut self, _: &Piece, _: CompletionTime, _: &mut Copier<'_>) {}
        fn fail_unmapped(&mut self, _: &Piece, _: Status, _: &mut Copier<'_>) -> bool {
            match *self {}
        }
        fn flush_step<H: Host>(&mut self, _: &mut H) {}
        fn view(&self) -> Option<&QueueView> {
            None
        }
        fn domain(&self) -> u16 {
            0
        }
    }

    impl PieceSink for Nothing {
        fn take<H: Host>(
            &mut self,
            _: &mut Piece,
            _: &RegionMap,
            _: &mut StepContext<'_, '_, H>,
        ) -> Accepted {
            match *self {}
        }
        fn cut<H: Host>(&mut self, _: &mut StepContext<'_, '_, H>) {}
        fn fail_unmapped<H: Host>(&mut self, _: Status, _: &mut StepContext<'_, '_, H>) {}
        fn publish<H: Host>(&mut self, _: &mut StepContext<'_, '_, H>) {}
        fn flush_step<H: Host>(&mut self, _: &mut H) {}
        fn view(&self) -> Option<&QueueView> {
            None
        }
        fn domain(&self) -> u16 {
            0
        }
        fn is_open(&self) -> bool {
            false
        }
    }
}

/// One side: its memory, mapped as region 0, and the host's view of its rings.
struct Side {
    memory: Box<[u128]>,
    regions: Regions,
    sq: Producer,
    cq: Consumer,
    credit: RingCredit,
    config: QueueConfig,
}

const KEY: RegionKey = RegionKey::new(0, 1);

impl Side {
    fn new(kind: QueueKind, area: u32) -> Self {
        // Lines and rings are aligned to 64 bytes by hand.
        let mut memory = vec![0u128; BYTES / 16 + 4].into_boxed_slice();
        let base = memory.as_mut_ptr().cast::<u8>();
        let base = base.wrapping_add(base.align_offset(64));
        let tag = RegionTag::new(KEY, 0, access::LOCAL_READ | access::LOCAL_WRITE);
        let map = Arc::new(RegionMap::default());
        // SAFETY: the memory lives as long as the side, and the flow no longer.
        unsafe { map.set(tag, base, BYTES as u64) };
        let table = Box::leak(Box::<[RegionShared; 1]>::default());
        table[0].tag.store(tag.0, Ordering::Relaxed);
        let ring = |offset: u64| {
            let at = NonNull::new(base.wrapping_add(offset as usize)).unwrap();
            // SAFETY: inside the memory, aligned.
            unsafe { Ring::new(at.cast::<Slot>(), LOG2) }
        };
        let at = |offset| Address::new(KEY, offset).0;
        let config = QueueConfig {
            kind: u32::from(kind.raw()),
            sq_log2: LOG2,
            cq_log2: LOG2,
            sq: at(SQ),
            cq: at(CQ),
            stamps: at(STAMPS),
            lines: at(0),
            area: if kind == QueueKind::RxPacked { at(DATA) } else { 0 },
            area_bytes: if kind == QueueKind::RxPacked { area } else { 0 },
            ..QueueConfig::default()
        };
        let (sq, cq) = (Producer::new(ring(SQ)), Consumer::new(ring(CQ)));
        let regions = Regions { map, table };
        Self { memory, regions, sq, cq, credit: RingCredit::default(), config }
    }

    fn base(&self) -> *const u8 {
        let base = self.memory.as_ptr().cast::<u8>();
        base.wrapping_add(base.align_offset(64))
    }

    fn bytes(&self, offset: u64, length: u32) -> Vec<u8> {
        let at = self.base().wrapping_add(offset as usize);
        assert!(offset as usize + length as usize <= BYTES);
        // SAFETY: inside the memory; one thread.
        unsafe { std::slice::from_raw_parts(at, length as usize) }.to_vec()
    }

    fn fill(&mut self, offset: u64, length: u32, value: u8) {
        let at = self.base().cast_mut().wrapping_add(offset as usize);
        assert!(offset as usize + length as usize <= BYTES);
        // SAFETY: inside the memory; one thread.
        unsafe { at.write_bytes(value, length as usize) };
    }

    fn view(&self) -> QueueView {
        QueueView::new(self.config, &self.regions.map).unwrap()
    }

    fn free(&self) -> u32 {
        self.credit.free(SIZE, self.sq.position)
    }
}

/// A flow between two sides.
struct Pair {
    shared: &'static FlowShared,
    flow: Flow<Nothing, Nothing>,
    tx: Side,
    rx: Side,
    /// Number of the next packet; its bytes are all this number.
    next: u8,
    /// Copies are shared out.
    share: bool,
    /// Everything is this many times as long: only long copies are shared out.
    unit: u32,
}

fn unit(share: bool) -> u32 {
    if share { 40 } else { 1 }
}

/// Bytes of a packed area.
fn area(share: bool) -> u32 {
    4096 * unit(share)
}

impl Pair {
    fn new(kind: QueueKind, share: bool) -> Self {
        let shared: &'static FlowShared = Box::leak(Box::default());
        let (tx, rx) = (Side::new(QueueKind::Tx, 0), Side::new(kind, area(share)));
        let mut state = RxState::default();
        if kind == QueueKind::RxPacked {
            RxPacked::start(&mut state, &rx.view());
        }
        // SAFETY: nobody else knows the flow yet.
        unsafe {
            *shared.rx.get() = state;
            *shared.tx_config.get() = tx.config;
            *shared.rx_config.get() = rx.config;
        }
        let mut flow = Flow::new(shared, tx.regions.clone(), rx.regions.clone(), None, 7, share);
        assert_eq!(flow.bind(), Ok(()));
        Self { shared, flow, tx, rx, next: 1, share, unit: unit(share) }
    }

    /// Bytes of a receive buffer.
    fn buffer(&self) -> u32 {
        64 * self.unit
    }

    /// A packet, or a piece of one.
    fn post(&mut self, length: u32, end: EndMarker, signal: bool) {
        if self.tx.free() == 0 {
            return;
        }
        let slot = u64::from(self.tx.sq.position % SIZE);
        let (offset, length) = (DATA + slot * 1024 * u64::from(self.unit), length * self.unit);
        self.tx.fill(offset, length, self.next);
        if end != EndMarker::None {
            self.next = self.next.wrapping_add(1).max(1);
        }
        let signal = if signal { sf::SIGNAL } else { 0 };
        let flags = u16::from(EntryType::Data.raw()) | u16::from(end.raw()) << sf::END_SHIFT;
        let word = u64::from(length) | u64::from(flags | signal) << 32;
        self.tx.sq.push([Address::new(KEY, offset).0, word]);
    }

    fn post_buffer(&mut self) {
        if self.rx.free() != 0 {
            let slot = u64::from(self.rx.sq.position % SIZE);
            let address = Address::new(KEY, DATA + slot * u64::from(self.buffer())).0;
            let flags = u64::from(EntryType::Buffer.raw()) << 32;
            self.rx.sq.push([address, u64::from(self.buffer()) | flags]);
        }
    }

    fn step(&mut self, budget: u32) {
        self.flow.step(&mut Quiet, budget);
    }

    fn states(&self) -> (TxState, RxState) {
        // SAFETY: one thread.
        unsafe { (*self.shared.tx.get(), *self.shared.rx.get()) }
    }

    fn set_states(&self, tx: TxState, rx: RxState) {
        // SAFETY: one thread.
        unsafe {
            *self.shared.tx.get() = tx;
            *self.shared.rx.get() = rx;
        }
    }
}

/// Entries of a completion ring, to put them back.
fn snapshot(side: &Side) -> Vec<u8> {
    side.bytes(CQ, 16 * SIZE)
}

/// Takes the completions written since a snapshot away again, all but the first `keep`.
fn unwrite(side: &mut Side, before: &[u8], from: u32, to: u32, keep: u32) {
    for position in from.wrapping_add(keep)..to {
        let slot = (position % SIZE) as usize * 16;
        let at = side.base().cast_mut().wrapping_add(CQ as usize + slot);
        for (i, byte) in before[slot..slot + 16].iter().enumerate() {
            // SAFETY: inside the memory.
            unsafe { at.add(i).write_volatile(*byte) };
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Post(u32, bool, bool),
    Buffer,
    StepOutcome(u32),
    Poll,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => (1u32..200, any::<bool>(), any::<bool>()).prop_map(|(l, e, s)| Op::Post(l, e, s)),
        4 => Just(Op::Buffer),
        3 => (1u32..6).prop_map(Op::StepOutcome),
        2 => Just(Op::Poll),
    ];
    vec(op, 0..60)
}

/// Where in its last step the runner died.
#[derive(Clone, Copy, Debug)]
struct Tear {
    /// Completions of that step that were written, as a fraction of 8.
    written: u32,
    /// Whether the state is that of before the step (registers not stored yet).
    early: bool,
    /// Whether the state has gone one completion further than the ring.
    ahead: bool,
}

fn tears() -> impl Strategy<Value = Tear> {
    (0u32..=8, any::<bool>(), any::<bool>()).prop_map(|(written, early, ahead)| Tear {
        written,
        early,
        ahead,
    })
}

/// Every posted receive buffer, as its host sees them: what has been received so far.
#[derive(Default)]
struct Got {
    open: Vec<u8>,
    packets: Vec<(Vec<u8>, bool)>,
}

impl Got {
    fn add(&mut self, bytes: &[u8], more: bool, cut: bool) {
        self.open.extend_from_slice(bytes);
        if !more {
            self.packets.push((std::mem::take(&mut self.open), cut));
        }
    }

    /// No packet has bytes of two, and no number comes twice.
    fn check(&self) {
        let mut last = 0;
        for (bytes, cut) in &self.packets {
            let Some(first) = bytes.first() else {
                assert!(cut, "an empty packet that is whole");
                continue;
            };
            let other = bytes.iter().find(|byte| *byte != first);
            assert!(other.is_none(), "packets {first} and {other:?} in one");
            assert!(*first > last, "packet {first} after packet {last}");
            last = *first;
        }
    }
}

fn poll_posted(pair: &mut Pair, got: &mut Got) {
    while let Some(words) = pair.rx.cq.pop() {
        let done = Completion::from_words(words);
        let freed = pair.rx.credit.free_to(done.position, pair.rx.sq.position);
        let freed = freed.expect("a position that is not outstanding");
        assert_eq!(freed.len(), 1, "one completion for each buffer");
        let offset = DATA + u64::from(freed.start % SIZE) * u64::from(pair.buffer());
        let bytes = pair.rx.bytes(offset, done.bytes);
        let more = done.flags & cf::MORE != 0;
        got.add(&bytes, more, done.status == Status::PacketCut.raw());
    }
}

fn poll_packed(pair: &mut Pair, reader: &mut PackedReader, got: &mut Got) {
    let (mut owed, mut runs) = (0u32, 0u32);
    while let Some(words) = pair.rx.cq.pop() {
        let done = Completion::from_words(words);
        let run = reader.run(done.bytes, done.flags & cf::WRAP != 0).expect("a run in the area");
        owed += run.owed;
        runs += 1;
        let (mut at, end) = (run.offset, run.offset + run.bytes);
        let mut records = 0;
        while at < end {
            let header = pair.rx.bytes(DATA + u64::from(at), 8);
            let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
            assert!(at + 8 + length <= end, "a record past its run");
            let bytes = pair.rx.bytes(DATA + u64::from(at) + 8, length);
            got.add(&bytes, header[5] != 0, header[4] == EndMarker::Eep.raw());
            at += spfe_ring::packed::record_bytes(length);
            records += 1;
        }
        assert_eq!(records, u32::from(done.packets));
    }
    if runs != 0 {
        let word = u64::from(EntryType::Release.raw()) << 32;
        pair.rx.sq.push([u64::from(owed) | u64::from(runs) << 32, word]);
    }
}

fn poll_tx(pair: &mut Pair) -> Vec<Completion> {
    let mut all = Vec::new();
    while let Some(words) = pair.tx.cq.pop() {
        let done = Completion::from_words(words);
        let freed = pair.tx.credit.free_to(done.position, pair.tx.sq.position);
        freed.unwrap_or_else(|| panic!("{done:?} frees what is not outstanding"));
        all.push(done);
    }
    all
}

/// Runs a load, and leaves the flow as a runner that died in the last step would.
fn tear(pair: &mut Pair, ops: &[Op], last: u32, torn: Tear, mut poll: impl FnMut(&mut Pair)) {
    for op in ops {
        match *op {
            Op::Post(length, ends, signal) => {
                pair.post(length, if ends { EndMarker::Eop } else { EndMarker::None }, signal);
            }
            Op::Buffer if pair.rx.config.area == 0 => pair.post_buffer(),
            Op::Buffer => {}
            Op::StepOutcome(budget) => pair.step(budget),
            Op::Poll => {
                poll(pair);
                poll_tx(pair);
            }
        }
    }
    let before = (snapshot(&pair.tx), snapshot(&pair.rx));
    let (tx_before, rx_before) = pair.states();
    pair.step(last);
    let (mut tx, mut rx) = pair.states();
    let packed = pair.rx.config.area != 0;
    let (tx_from, tx_to) = (tx_before.at.completion, tx.at.completion);
    let (rx_from, rx_to) = (rx_before.at.completion, rx.at.completion);
    // Shared copies: the state is ahead of the ring by a round. Else by one completion at most,
    // or, where the loop keeps its places in registers, behind it.
    let keep = |from: u32, to: u32| match to - from {
        count if !pair.share && (packed || torn.ahead) => count.saturating_sub(torn.written % 2),
        count => count * torn.written / 8,
    };
    let (tx_keep, rx_keep) = (keep(tx_from, tx_to), keep(rx_from, rx_to));
    unwrite(&mut pair.tx, &before.0, tx_from, tx_to, tx_keep);
    unwrite(&mut pair.rx, &before.1, rx_from, rx_to, rx_keep);
    if rx_keep != rx_to - rx_from && !packed {
        // What came after the missing completion has not happened.
        rx.fill = 0;
    }
    if !pair.share && !packed && !torn.ahead {
        let counts = |state: u32, keep: u32| if torn.early { state } else { state + keep };
        (rx.at.completion, tx.at.completion) = (counts(rx_from, rx_keep), counts(tx_from, tx_keep));
        rx.at.submission = counts(rx_before.at.submission, rx_keep);
        if torn.early {
            tx = tx_before;
        }
    }
    pair.set_states(tx, rx);
}

/// A new sender takes the place of the dead one.
fn new_sender(pair: &mut Pair) {
    pair.flow.cut(&mut Quiet);
    // SAFETY: one thread.
    unsafe { *pair.shared.tx.get() = TxState::default() };
    let next = pair.next.wrapping_add(1).max(1);
    pair.tx.sq.ring.clear();
    pair.tx.cq.ring.clear();
    (pair.tx.sq.position, pair.tx.cq.position) = (0, 0);
    pair.tx.credit = RingCredit::default();
    pair.next = next;
    assert_eq!(pair.flow.bind(), Ok(()));
}

proptest! {
    #![proptest_config(config())]

    /// The sender died: the receiver gets every buffer back once, in order, and whole packets of
    /// the next sender.
    #[test]
    fn posted_buffers_survive_their_sender(
        ops in ops(), last in 1u32..20, torn in tears(), share in any::<bool>(),
    ) {
        let mut pair = Pair::new(QueueKind::Rx, share);
        let mut got = Got::default();
        tear(&mut pair, &ops, last, torn, |pair| poll_posted(pair, &mut got));
        pair.flow.recover();
        new_sender(&mut pair);
        let first = pair.next;
        let mut sent = 0;
        for _ in 0..20 {
            while pair.rx.free() != 0 {
                pair.post_buffer();
            }
            pair.post(100, EndMarker::Eop, true);
            sent += 1;
            pair.step(100);
            poll_posted(&mut pair, &mut got);
            poll_tx(&mut pair);
        }
        got.check();
        let arrived = got.packets.iter().filter(|(bytes, cut)| {
            !cut && bytes.len() == 100 * unit(share) as usize && bytes[0] >= first
        });
        prop_assert_eq!(arrived.count(), sent);
    }

    /// The same with a packed area: runs stay readable, and nothing leaks.
    #[test]
    fn a_packed_area_survives_its_sender(
        ops in ops(), last in 1u32..20, torn in tears(), share in any::<bool>(),
    ) {
        let mut pair = Pair::new(QueueKind::RxPacked, share);
        let (mut got, mut reader) = (Got::default(), PackedReader::new(area(share)));
        tear(&mut pair, &ops, last, torn, |pair| poll_packed(pair, &mut reader, &mut got));
        pair.flow.recover();
        new_sender(&mut pair);
        let first = pair.next;
        let mut sent = 0;
        // More than the area holds, so that it wraps and every byte has come back.
        for _ in 0..60 {
            pair.post(150, EndMarker::Eop, true);
            sent += 1;
            pair.step(100);
            poll_packed(&mut pair, &mut reader, &mut got);
            pair.step(100);
            poll_packed(&mut pair, &mut reader, &mut got);
            poll_tx(&mut pair);
        }
        got.check();
        let arrived = got.packets.iter().filter(|(bytes, cut)| {
            !cut && bytes.len() == 150 * unit(share) as usize && bytes[0] >= first
        });
        prop_assert_eq!(arrived.count(), sent);
    }

    /// The receiver died while it ran the engine: the sender gets every entry back once.
    #[test]
    fn a_transmit_queue_survives_its_receiver(
        ops in ops(), last in 1u32..20, torn in tears(), packed in any::<bool>(),
        share in any::<bool>(),
    ) {
        let kind = if packed { QueueKind::RxPacked } else { QueueKind::Rx };
        let mut pair = Pair::new(kind, share);
        let (mut got, mut reader) = (Got::default(), PackedReader::new(area(share)));
        tear(&mut pair, &ops, last, torn, |pair| match packed {
            true => poll_packed(pair, &mut reader, &mut got),
            false => poll_posted(pair, &mut got),
        });
        pair.flow.recover();
        pair.flow.flush(&mut Quiet, Status::PeerGone, false);
        poll_tx(&mut pair);
        prop_assert_eq!(pair.tx.free(), SIZE, "entries that nobody completes");
        // SAFETY: one thread.
        unsafe {
            *pair.shared.rx.get() = RxState::default();
            *pair.shared.rx_config.get() = QueueConfig::default();
        }
        pair.shared.bump_epoch();
        pair.rx = Side::new(QueueKind::Rx, 0);
        // SAFETY: one thread.
        unsafe { *pair.shared.rx_config.get() = pair.rx.config };
        let (tx, rx) = (pair.tx.regions.clone(), pair.rx.regions.clone());

        pair.flow = Flow::new(pair.shared, tx, rx, None, 7, share);
        prop_assert_eq!(pair.flow.bind(), Ok(()));
        // What is left of a packet whose beginning the dead one had is refused, up to its end.
        pair.post(10, EndMarker::Eop, true);
        pair.step(1);
        poll_tx(&mut pair);
        let mut got = Got::default();
        let mut sent = 0;
        for _ in 0..20 {
            pair.post_buffer();
            pair.post_buffer();
            pair.post(100, EndMarker::Eop, true);
            pair.step(100);
            poll_posted(&mut pair, &mut got);
            sent += poll_tx(&mut pair).iter().filter(|done| done.status == 0).count();
        }
        got.check();
        prop_assert_eq!(sent, 20);
    }
}
