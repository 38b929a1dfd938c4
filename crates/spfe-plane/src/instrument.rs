//! Instruments as ends of a flow: generator, sink with optional check, echo, and memory behind an
//! RMAP target. The runner of the flow owns them; they have no thread.

pub mod rmap;
pub mod target;

use crate::links::{LinkSink, LinkSource};
use spfe_contract::EndMarker;
use spfe_device::copy::{CopySource, CopyTarget};
use spfe_device::flow::{Accepted, NextPiece, Piece, PieceSink, PieceSource, StepContext};
use spfe_device::memory::RegionMap;
use spfe_device::queue::{CompletionTime, Host, QueueView};
use spfe_device::shared::{FlowShared, QueueCounters, bump};
use spfe_device::step::{HandSink, HandSource};
use spfe_host::Clock;
use spfe_ring::packed::{PackedWriter, record_bytes};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Test pattern. Packet `n` starts with its number (8 bytes, little-endian). Byte `i` after it is
/// byte `(n + i) mod 2^16` of a fixed table, which reveals shifted, repeated or exchanged bytes.
pub struct Pattern {
    table: Box<[u8]>,
}

const TABLE: usize = 1 << 16;

impl Pattern {
    /// A pattern for packets of up to `longest` bytes.
    pub fn new(longest: usize) -> Self {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let table: Vec<u8> = (0..TABLE)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        let table = table.iter().copied().cycle().take(TABLE + longest).collect();
        Self { table }
    }

    /// The bytes of packet `number` from byte 8 on.
    pub fn body(&self, number: u64, length: usize) -> &[u8] {
        let start = (number as usize) & (TABLE - 1);
        &self.table[start..start + length]
    }

    /// Writes packet `number` into a buffer.
    pub fn fill(&self, number: u64, packet: &mut [u8]) {
        let head = packet.len().min(8);
        packet[..head].copy_from_slice(&number.to_le_bytes()[..head]);
        let body = packet.len() - head;
        packet[head..].copy_from_slice(self.body(number, body));
    }

    /// Whether a buffer holds packet `number`.
    pub fn matches(&self, number: u64, packet: &[u8]) -> bool {
        let head = packet.len().min(8);
        packet[..head] == number.to_le_bytes()[..head]
            && packet[head..] == *self.body(number, packet.len() - head)
    }
}

/// Random packet lengths from a seed, the same on every machine.
#[derive(Clone, Debug)]
pub struct Lengths {
    min: u32,
    span: u64,
    state: u64,
}

impl Lengths {
    /// Lengths from `min` to `max` bytes.
    pub fn new(min: u32, max: u32, seed: u64) -> Self {
        Self { min, span: u64::from(max.max(min) - min) + 1, state: seed ^ 0x5bf0_3635_dee9_a8c1 }
    }

    /// The next length (splitmix64).
    pub fn next_length(&mut self) -> u32 {
        if self.span == 1 {
            return self.min;
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.min + ((z ^ (z >> 31)) % self.span) as u32
    }
}

/// Source of the packets that enter a port, if it is not another port.
pub enum FlowSource {
    /// Sends without end.
    Generator(Generator),
    /// Returns the packets of its [`EchoIn`].
    Echo(EchoOut),
    /// Sends the replies of its [`rmap::RmapIn`].
    Rmap(rmap::RmapOut),
    /// Sends the responses of its [`target::TargetIn`].
    Target(target::TargetOut),
    /// Packets from an exact link.
    Link(Box<dyn LinkSource>),
}

/// Destination of the packets that leave a port, if it is not another port.
pub enum FlowSink {
    /// Consumes every packet.
    Sink(SinkCheck),
    /// Keeps packets for its [`EchoOut`].
    Echo(EchoIn),
    /// Executes RMAP commands.
    Rmap(rmap::RmapIn),
    /// Executes requests of RDMA, and RMAP commands.
    Target(target::TargetIn),
    /// Packets go to an exact link.
    Link(Box<dyn LinkSink>),
}

/// Sends packets of the test pattern without end.
pub struct Generator {
    shared: &'static FlowShared,
    pattern: Pattern,
    lengths: Lengths,
    number: u64,
    head: [u8; 8],
    current: u32,
    done: u32,
}

impl Generator {
    /// A generator on a flow, for lengths from `min` to `max` bytes.
    pub fn new(shared: &'static FlowShared, min: u32, max: u32, seed: u64) -> Self {
        let mut lengths = Lengths::new(min, max, seed);
        let current = lengths.next_length();
        let pattern = Pattern::new(max as usize);
        Self { shared, pattern, lengths, number: 0, head: [0; 8], current, done: 0 }
    }
}

fn own(bytes: &[u8]) -> CopySource {
    CopySource { at: bytes.as_ptr(), address: None, length: bytes.len() as u32 }
}

/// Counts a packet at an instrument.
fn count(counters: &QueueCounters, bytes: u32) {
    bump(&counters.packets, 1);
    bump(&counters.bytes, u64::from(bytes));
}

impl PieceSource for FlowSource {
    const ENDLESS: bool = true;

    fn next(&mut self, _map: &RegionMap, piece: &mut Piece) -> NextPiece {
        match self {
            Self::Generator(talker) => {
                let length = talker.current as usize;
                let head = length.min(8);
                talker.head = talker.number.to_le_bytes();
                piece.clear();
                piece.add(own(&talker.head[..head]));
                if length > head {
                    piece.add(own(talker.pattern.body(talker.number, length - head)));
                }
                piece.finish(EndMarker::Eop, 0, 1);
                piece.done = talker.done;
                NextPiece::Ready
            }
            Self::Echo(talker) => talker.next(piece),
            Self::Rmap(talker) => talker.next(piece),
            Self::Target(talker) => talker.next(piece),
            Self::Link(link) => link.next(piece),
        }
    }

    fn pause(&mut self, piece: &Piece) {
        match self {
            Self::Generator(talker) => talker.done = piece.done,
            Self::Echo(talker) => lock(&talker.store).done = piece.done,
            Self::Rmap(talker) => talker.pause(piece.done),
            Self::Target(talker) => talker.pause(piece.done),
            Self::Link(link) => link.pause(piece.done),
        }
    }

    fn count_stall(&mut self) {
        if let Self::Generator(talker) = self {
            bump(&talker.shared.tx_count.stalls, 1);
        }
    }

    fn done(&mut self, piece: &Piece, _time: CompletionTime) {
        match self {
            Self::Generator(talker) => {
                count(&talker.shared.tx_count, piece.length);
                talker.number += 1;
                talker.done = 0;
                talker.current = talker.lengths.next_length();
            }
            Self::Echo(talker) => talker.finish(),
            Self::Rmap(talker) => talker.finish(piece),
            Self::Target(talker) => talker.finish(piece),
            Self::Link(link) => link.done(piece.length),
        }
    }

    fn fail_unmapped(&mut self, _piece: &Piece, _status: spfe_contract::Status) -> bool {
        false
    }

    fn flush_step<H: Host>(&mut self, _host: &mut H) {}

    fn view(&self) -> Option<&QueueView> {
        None
    }

    fn hands(&mut self) -> Option<&mut impl HandSource> {
        if let Self::Target(target) = self { Some(target) } else { None }
    }

    fn domain(&self) -> u16 {
        0
    }

    fn lose(&mut self) {
        if let Self::Link(link) = self {
            link.lose();
        }
    }
}

/// Memory of an echo in bytes. Taking a packet costs the engine one copy, as it costs the hardware
/// one read.
const STORE_BYTES: u32 = 4 << 20;

/// Consumes every packet, counts it, and checks the test pattern if requested.
pub struct SinkCheck {
    shared: &'static FlowShared,
    store: Vec<u8>,
    at: usize,
    fill: usize,
    packet_bytes: u64,
    open: bool,
    check: Option<Pattern>,
    next: u64,
    /// Number of packets that were not the next packet of the pattern.
    pub mismatches: u64,
}

impl SinkCheck {
    /// A sink on a flow. It checks up to 1 MiB of each packet. Without a check it uses little memory,
    /// like hardware that does not touch the processor's cache.
    pub fn new(shared: &'static FlowShared, check: bool) -> Self {
        Self {
            shared,
            store: vec![0; if check { 1 << 20 } else { 256 << 10 }],
            at: 0,
            fill: 0,
            packet_bytes: 0,
            open: false,
            check: check.then(|| Pattern::new(1 << 20)),
            next: 0,
            mismatches: 0,
        }
    }

    fn finish(&mut self, end: EndMarker) {
        count(&self.shared.rx_count, 0);
        if let Some(pattern) = &self.check {
            let whole = self.packet_bytes == self.fill as u64 && end == EndMarker::Eop;
            let packet = &self.store[self.at..self.at + self.fill];
            if !(whole && pattern.matches(self.next, packet)) {
                self.mismatches += 1;
                bump(&self.shared.rx_count.errors, 1);
            }
            self.next += 1;
        }
        self.at += self.fill;
        self.fill = 0;
        self.packet_bytes = 0;
        self.open = false;
    }

    /// Takes the rest of a piece. The store wraps between packets, and inside a packet that is longer
    /// than the store.
    fn take(&mut self, piece: &mut Piece) {
        while piece.rest() > 0 {
            let need = piece.rest() as usize;
            if self.at + self.fill + need > self.store.len() && self.at != 0 {
                self.store.copy_within(self.at..self.at + self.fill, 0);
                self.at = 0;
            }
            if self.fill == self.store.len() {
                self.fill = 0;
            }
            let start = self.at + self.fill;
            let part = need.min(self.store.len() - start);
            let target = CopyTarget { at: self.store[start..].as_mut_ptr(), address: None };
            // SAFETY: `part` bytes of the store from `start`.
            unsafe { piece.take(target, part as u32) };
            self.fill += part;
            self.packet_bytes += part as u64;
            bump(&self.shared.rx_count.bytes, part as u64);
        }
    }
}

/// Memory of an echo: records of pieces, in order.
pub struct EchoStore {
    bytes: Vec<u8>,
    writer: PackedWriter,
    records: VecDeque<Record>,
    /// The record being returned, and the number of its bytes that have been sent.
    current: Option<Record>,
    done: u32,
}

#[derive(Clone, Copy)]
struct Record {
    offset: u32,
    length: u32,
    owed: u32,
    end: EndMarker,
    /// When its last byte has arrived over a paced link, ns. It is not returned before.
    through_ns: u64,
}

impl EchoStore {
    /// An empty store.
    pub fn new() -> Arc<Mutex<Self>> {
        let records = VecDeque::with_capacity(4096);
        let writer = PackedWriter::new(STORE_BYTES);
        let bytes = vec![0; STORE_BYTES as usize];
        Arc::new(Mutex::new(Self { bytes, writer, records, current: None, done: 0 }))
    }
}

/// The two ends of an echo; `into` is the flow out of the port.
pub fn echo(
    store: &Arc<Mutex<EchoStore>>,
    into: &'static FlowShared,
    clock: &Clock,
) -> (EchoIn, EchoOut) {
    let talker = EchoOut { store: store.clone(), clock: clock.clone() };
    (EchoIn { store: store.clone(), shared: into, open: false }, talker)
}

fn lock(store: &Mutex<EchoStore>) -> std::sync::MutexGuard<'_, EchoStore> {
    store.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Receiving end of an echo.
pub struct EchoIn {
    store: Arc<Mutex<EchoStore>>,
    shared: &'static FlowShared,
    open: bool,
}

impl EchoIn {
    fn take<H: Host>(&mut self, piece: &mut Piece, cx: &mut StepContext<'_, H>) -> Accepted {
        let mut store = lock(&self.store);
        let most = store.writer.record_max();
        loop {
            let length = piece.rest().min(most);
            let head = store.writer;
            if store.records.len() == store.records.capacity() {
                return Accepted::Full;
            }
            let Some(place) = store.writer.reserve(length) else { return Accepted::Full };
            let owed = store.writer.used() - head.used();
            let start = place.offset as usize + 8;
            let target = CopyTarget { at: store.bytes[start..].as_mut_ptr(), address: None };
            // SAFETY: `reserve` placed header and payload inside the store.
            unsafe { piece.take(target, length) };
            let whole = piece.rest() == 0;
            let end = if whole { piece.end } else { EndMarker::None };
            debug_assert!(owed >= record_bytes(length));
            cx.book(length, whole && end != EndMarker::None);
            let (offset, through_ns) = (place.offset + 8, cx.through_ns);
            store.records.push_back(Record { offset, length, owed, end, through_ns });
            if whole {
                self.open = piece.end == EndMarker::None;
                count(&self.shared.rx_count, piece.length);
                return Accepted::Whole;
            }
        }
    }
}

/// Sending end of an echo.
pub struct EchoOut {
    store: Arc<Mutex<EchoStore>>,
    clock: Clock,
}

impl EchoOut {
    fn next(&mut self, piece: &mut Piece) -> NextPiece {
        let mut store = lock(&self.store);
        if store.current.is_none() {
            store.current = store.records.pop_front();
        }
        let Some(record) = store.current else { return NextPiece::Idle };
        if record.through_ns != 0 && record.through_ns > self.clock.now_ns() {
            return NextPiece::At(record.through_ns);
        }
        let start = record.offset as usize;
        piece.clear();
        // The bytes stay in place until `finish` releases them.
        piece.add(own(&store.bytes[start..start + record.length as usize]));
        piece.finish(record.end, 0, 1);
        piece.done = store.done;
        NextPiece::Ready
    }

    fn finish(&mut self) {
        let mut store = lock(&self.store);
        if let Some(record) = store.current.take() {
            store.writer.release(record.owed);
        }
        store.done = 0;
    }
}

impl PieceSink for FlowSink {
    #[inline]
    fn take<H: Host>(
        &mut self,
        piece: &mut Piece,
        _map: &RegionMap,
        cx: &mut StepContext<'_, H>,
    ) -> Accepted {
        match self {
            Self::Sink(sink) => {
                let rest = piece.rest();
                sink.take(piece);
                let ends = piece.end != EndMarker::None;
                cx.book(rest, ends);
                sink.open = true;
                if ends {
                    sink.finish(piece.end);
                }
                Accepted::Whole
            }
            Self::Echo(echo) => echo.take(piece, cx),
            Self::Rmap(target) => target.take(piece, cx),
            Self::Target(target) => target.take(piece, cx),
            Self::Link(link) => link.take(piece),
        }
    }

    fn cut<H: Host>(&mut self, cx: &mut StepContext<'_, H>) {
        match self {
            Self::Sink(sink) if sink.open => sink.finish(EndMarker::Eep),
            Self::Sink(_) => {}
            Self::Rmap(target) => target.cut(cx.through_ns),
            Self::Target(target) => target.cut(cx.through_ns),
            Self::Echo(echo) => {
                let through_ns = cx.through_ns;
                let mut store = lock(&echo.store);
                if let Some(place) = store.writer.reserve(0) {
                    let offset = place.offset + 8;
                    store.records.push_back(Record {
                        offset,
                        length: 0,
                        owed: 8,
                        end: EndMarker::Eep,
                        through_ns,
                    });
                }
                echo.open = false;
            }
            Self::Link(link) => link.cut(),
        }
    }

    fn fail_unmapped<H: Host>(
        &mut self,
        _status: spfe_contract::Status,
        _cx: &mut StepContext<'_, H>,
    ) {
    }

    fn publish<H: Host>(&mut self, _cx: &mut StepContext<'_, H>) {}

    fn flush_step<H: Host>(&mut self, _host: &mut H) {}

    fn view(&self) -> Option<&QueueView> {
        None
    }

    fn takes(&mut self) -> Option<&mut impl HandSink> {
        if let Self::Target(target) = self { Some(target) } else { None }
    }

    fn domain(&self) -> u16 {
        0
    }

    fn is_open(&self) -> bool {
        match self {
            Self::Sink(sink) => sink.open,
            Self::Echo(echo) => echo.open,
            Self::Rmap(target) => target.is_open(),
            Self::Target(target) => target.is_open(),
            Self::Link(link) => link.is_open(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_tells_packets_apart() {
        let pattern = Pattern::new(300);
        let mut packet = [0u8; 300];
        pattern.fill(7, &mut packet);
        assert!(pattern.matches(7, &packet));
        assert!(!pattern.matches(8, &packet));
        packet[299] ^= 1;
        assert!(!pattern.matches(7, &packet));
        let mut short = [0u8; 3];
        pattern.fill(0x01_0203, &mut short);
        assert!(pattern.matches(0x01_0203, &short));
    }

    #[test]
    fn lengths_stay_in_their_range_and_repeat() {
        let mut a = Lengths::new(5, 9, 42);
        let mut b = Lengths::new(5, 9, 42);
        let mut seen = [false; 10];
        for _ in 0..1000 {
            let length = a.next_length();
            assert_eq!(length, b.next_length());
            assert!((5..=9).contains(&length));
            seen[length as usize] = true;
        }
        assert!(seen[5..].iter().all(|seen| *seen));
        assert_eq!(Lengths::new(4, 4, 1).next_length(), 4);
    }
}
