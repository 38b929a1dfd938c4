//! Two clients joined by a cable, a neighbour on each endpoint, and the engine.
//!
//! The input drives the clients. An honest client posts any entries, but only as many as it has
//! credit for, and does not change them afterwards. A hostile client stores anything anywhere in
//! its rings. The engine must keep these rules:
//!
//! * it changes no memory of neighbours, after the end of a region, read-only or revoked, and no
//!   byte of a region that no receive buffer names;
//! * it delivers no byte of such memory;
//! * a step is bounded, and each submission has at most one completion;
//! * for an honest host, no completion is overwritten before the host has consumed it, every
//!   completion names an outstanding entry, and records stay unchanged until they are given back;
//! * every submission of an honest host completes with a status if the other end makes room, and
//!   the counters agree with the completions.

use crate::account::{Reported, Totals, states};
use crate::entry::{Entry, Flags, Keys, Length, Place};
use crate::memory::{self, Allowed};
use crate::ring::{HostQueue, RINGS_BYTES, Shape};
use arbitrary::{Arbitrary, Result, Unstructured};
use spfe_contract::{Completion, EntryType, QueueKind, Release, Status, Submission, access};
use spfe_contract::{RecordHeader, completion_flags as cf};
use spfe_device::flow::StepOutcome;
use spfe_host::topology::{LinkModel, PortConfig};
use spfe_host::{Attachment, Clock, LinkRate, Mode, Peer, SharedMemory, Topology, os};
use spfe_plane::arena::DEVICE;
use spfe_plane::network::RegionMemory;
use spfe_plane::{Network, Placement, Runner};
use spfe_ring::sync::{FenceMode, set_fence_mode};
use spfe_ring::{Arm, PackedReader};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

/// Bytes of a data region and of its mapping, which is longer. Most inputs use the small one, which
/// is filled and checked in a tenth of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    bytes: usize,
    mapped: usize,
}
const SMALL: Extent = Extent { bytes: 9_000, mapped: 12 << 10 };
const LARGE: Extent = Extent { bytes: 73_000, mapped: 80 << 10 };
const SMALL_BYTES: usize = 4096;
/// Pieces of a step, and the number of steps after which the engine must have read every entry.
const BUDGET: u32 = 64;
const TURNS_MAX: usize = 1000;
const OPS_MAX: usize = 200;
/// Turns without a change after which the engine is idle.
const STILL_TURNS: usize = 16;
/// Bytes of each buffer that is posted at the end.
const LAST_BYTES: u32 = 4096;

/// What buffers hold before a run: of the sender and the receiver, small and large.
static CLEAN: LazyLock<[[Vec<u8>; 2]; 2]> = LazyLock::new(|| {
    let make = |extent: Extent, payload: bool| {
        let mut bytes = vec![memory::BEHIND; extent.mapped];
        if payload {
            memory::fill_payload(&mut bytes[..extent.bytes]);
        } else {
            bytes[..extent.bytes].fill(0);
        }
        bytes
    };
    [SMALL, LARGE].map(|extent| [true, false].map(|payload| make(extent, payload)))
});

/// One of the two clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The sender.
    Tx,
    /// The receiver.
    Rx,
}

impl<'a> Arbitrary<'a> for End {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(if u.arbitrary()? { Self::Rx } else { Self::Tx })
    }
}

/// An operation of the input.
#[derive(Clone, Debug)]
pub enum Op {
    /// Posts submissions.
    Post(End, Vec<Entry>),
    /// Runs the engine, as the device or as the receiver.
    Step(u8, bool),
    /// Consumes completions.
    Consume(End, u8),
    /// Gives runs of the packed area back.
    Give(u8),
    /// A host arms.
    Arm(End, Wish),
    /// The engine wakes hosts whose time has come.
    Due,
    /// Advances the time.
    Time(u16),
    /// Changes a submission after it was posted.
    Rewrite(End, u8, Entry),
    /// Stores a word into the memory of the rings.
    Scribble(End, u16, u64),
    /// Closes a queue.
    Close(End),
    /// Opens a queue.
    Open(End, Shape),
    /// Resets the share of a client.
    Reset(End),
    /// Kills a client and attaches a new one.
    Die(End),
    /// Revokes the buffers of a client and registers new ones.
    Revoke(End),
}

/// A threshold to arm with: completions, bytes, a time, whether to signal the event vector.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Wish {
    count: Option<u8>,
    bytes: Option<u32>,
    after: Option<u32>,
    event: bool,
}

fn entry(u: &mut Unstructured<'_>, end: End) -> Result<Entry> {
    if end == End::Tx { Entry::to_send(u) } else { Entry::to_receive(u) }
}

impl Op {
    fn post(u: &mut Unstructured<'_>) -> Result<Self> {
        let end = u.arbitrary()?;
        let entries = if end == End::Tx && !u.ratio(7, 8)? {
            vec![Entry::burst(u)?, Entry::burst_ext(u)?]
        } else {
            let count = u.int_in_range(1..=4u8)?;
            (0..count).map(|_| entry(u, end)).collect::<Result<_>>()?
        };
        Ok(Self::Post(end, entries))
    }
}

impl<'a> Arbitrary<'a> for Op {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=63u8)? {
            0..=21 => Self::post(u)?,
            22..=35 => Self::Step(u.arbitrary()?, !u.ratio(3, 4)?),
            36..=42 => Self::Consume(u.arbitrary()?, u.arbitrary()?),
            43..=45 => Self::Give(u.arbitrary()?),
            46 | 47 => Self::Arm(u.arbitrary()?, u.arbitrary()?),
            48 => Self::Due,
            49 | 50 => Self::Time(u.arbitrary()?),
            51..=54 => {
                let end = u.arbitrary()?;
                Self::Rewrite(end, u.arbitrary::<u8>()? % 4, entry(u, end)?)
            }
            55 | 56 => Self::Scribble(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            57 => Self::Close(u.arbitrary()?),
            58..=60 => Self::Open(u.arbitrary()?, u.arbitrary()?),
            61 => Self::Reset(u.arbitrary()?),
            62 => Self::Die(u.arbitrary()?),
            _ => Self::Revoke(u.arbitrary()?),
        })
    }
}

/// An input of the fuzz target.
#[derive(Clone, Debug)]
pub struct Input {
    honest: bool,
    paced: bool,
    coop: bool,
    large: bool,
    shapes: [Shape; 2],
    ops: Vec<Op>,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let bits: u8 = u.arbitrary()?;
        let shapes = u.arbitrary()?;
        let mut ops = Vec::new();
        while !u.is_empty() && ops.len() < OPS_MAX {
            ops.push(u.arbitrary()?);
        }
        let of = |shift: u32| bits >> shift & 3 == 3;
        let (honest, paced, coop) = (of(0), of(2), of(4));
        Ok(Self { honest, paced, coop, large: of(6), shapes, ops })
    }
}

/// A run that the host has not given back, with a copy of its bytes.
struct Kept {
    offset: usize,
    bytes: Vec<u8>,
    owed: u32,
}

/// What the device finds in the buffers of a client.
fn clean(extent: Extent, end: End) -> &'static [u8] {
    &CLEAN[usize::from(extent == LARGE)][end as usize]
}

struct Side {
    end: End,
    kind: QueueKind,
    at: Attachment,
    neighbour: Attachment,
    rings: Arc<SharedMemory>,
    data: Arc<SharedMemory>,
    spare: Arc<SharedMemory>,
    extent: Extent,
    is_revoked: bool,
    read_only: Arc<SharedMemory>,
    write_only: Arc<SharedMemory>,
    foreign: Arc<SharedMemory>,
    keys: Keys,
    queue: Option<HostQueue>,
    allowed: Allowed,
    /// Set once the test cannot tell where the device may write.
    is_open: bool,
    /// Bytes of each posted buffer, in order of position (honest hosts).
    lengths: VecDeque<u32>,
    reader: PackedReader,
    area_bytes: u32,
    kept: VecDeque<Kept>,
    reported: Reported,
}

impl Side {
    fn new(network: &Arc<Network>, end: End, kind: QueueKind, extent: Extent) -> Self {
        let first = if end == End::Tx { 0 } else { 6 };
        let pooled = |number: usize, bytes| memory::pooled(first + number, bytes);
        let rings = pooled(0, RINGS_BYTES);
        let (data, spare) = (pooled(1, LARGE.mapped), pooled(2, LARGE.mapped));
        let [read_only, write_only, foreign] = [3, 4, 5].map(|n| pooled(n, SMALL_BYTES));
        let clean = clean(extent, end);
        memory::bytes_mut(&data)[..extent.mapped].copy_from_slice(clean);
        memory::bytes_mut(&spare)[..extent.mapped].copy_from_slice(clean);
        memory::fill_payload(memory::bytes_mut(&read_only));
        memory::bytes_mut(&write_only).fill(memory::SECRET);
        memory::bytes_mut(&foreign).fill(memory::FOREIGN);
        let at = attach(network, end);
        let neighbour = attach(network, end);
        let both = access::LOCAL_READ | access::LOCAL_WRITE;
        let foreign_key = network.add_region(neighbour, foreign.clone(), both);
        let keys = Keys { foreign: foreign_key.expect("a free region"), ..Keys::default() };
        let mut side = Self {
            end,
            kind,
            at,
            neighbour,
            rings,
            data,
            spare,
            extent,
            is_revoked: false,
            read_only,
            write_only,
            foreign,
            keys,
            queue: None,
            allowed: Allowed::default(),
            is_open: false,
            lengths: VecDeque::new(),
            reader: PackedReader::new(0),
            area_bytes: 0,
            kept: VecDeque::new(),
            reported: Reported::default(),
        };
        side.register(network);
        side
    }

    fn register(&mut self, network: &Network) {
        let (read, write) = (access::LOCAL_READ, access::LOCAL_WRITE);
        let add = |memory: &Arc<SharedMemory>, bytes: usize, access| {
            let place = Placement::default();
            let what = RegionMemory { memory: memory.clone(), bytes: bytes as u64, window: None };
            let key = network.add_region_at(self.at, what, access, place);
            key.expect("a free region")
        };
        self.keys = Keys {
            rings: add(&self.rings, RINGS_BYTES, read | write),
            data: add(&self.data, self.extent.bytes, read | write),
            read_only: add(&self.read_only, SMALL_BYTES, read),
            write_only: add(&self.write_only, SMALL_BYTES, write),
            foreign: self.keys.foreign,
        };
    }

    fn open(&mut self, network: &Network, shape: Shape) {
        if self.queue.is_some() {
            return;
        }
        let request = shape.within(self.extent.bytes).request(self.kind, &self.keys);
        let queue = HostQueue::new(self.rings.clone(), &request);
        if network.create_queue(self.at, request).is_err() {
            return;
        }
        self.queue = Some(queue);
        self.is_open |= !shape.is_plain();
        self.lengths.clear();
        self.kept.clear();
        self.reported = Reported::default();
        self.reader = PackedReader::new(request.area_bytes);
        self.area_bytes = request.area_bytes;
        if self.kind == QueueKind::RxPacked {
            self.allowed.add(0, u64::from(request.area_bytes), self.extent.bytes);
        }
    }

    /// Notes the memory that an entry allows the device to write. False if no honest host posts it.
    fn note(&mut self, words: [u64; 2]) -> bool {
        let entry = Submission::from_words(words);
        if self.end == End::Tx {
            return true;
        }
        if entry.region == self.keys.data.0 {
            self.allowed.add(entry.offset, u64::from(entry.length), self.extent.bytes);
        }
        let overlaid = entry.region == self.keys.rings.0;
        self.is_open |= overlaid;
        !overlaid
    }

    fn post(&mut self, entry: Entry, honest: bool) {
        let words = entry.words(&self.keys);
        let overlaid = Submission::from_words(words).region == self.keys.rings.0;
        let packed = self.kind == QueueKind::RxPacked;
        let Some(queue) = &self.queue else { return };
        if honest && (packed || overlaid || queue.free() == 0) {
            return;
        }
        self.note(words);
        self.lengths.push_back(Submission::from_words(words).length);
        if let Some(queue) = &mut self.queue {
            queue.post(words);
        }
    }

    fn rewrite(&mut self, back: u8, entry: Entry) {
        let words = entry.words(&self.keys);
        self.note(words);
        if let Some(queue) = &self.queue {
            queue.rewrite(back, words);
        }
    }

    fn scribble(&mut self, offset: u16, value: u64) {
        self.is_open = true;
        if let Some(queue) = &self.queue {
            queue.scribble(offset, value);
        }
    }

    fn consume(&mut self, honest: bool) {
        match self.kind {
            _ if !honest => {
                let _ = self.queue.as_mut().and_then(HostQueue::take_uncredited);
            }
            QueueKind::RxPacked => self.consume_run(),
            _ => self.consume_credited(),
        }
    }

    fn consume_credited(&mut self) {
        let Some((done, freed)) = self.queue.as_mut().and_then(HostQueue::take) else { return };
        self.reported.packets += u64::from(done.packets);
        self.reported.bytes += u64::from(done.bytes);
        if self.end == End::Tx {
            return;
        }
        assert_eq!(freed.len(), 1, "a receive completion frees one buffer");
        let length = self.lengths.pop_front().expect("a posted buffer");
        let status = Status::from_raw(done.status).expect("a status");
        if matches!(status, Status::Ok | Status::PacketCut) {
            assert!(done.bytes <= length, "{} bytes in a buffer of {length}", done.bytes);
        }
    }

    fn consume_run(&mut self) {
        let Some(done) = self.queue.as_mut().and_then(HostQueue::take_uncredited) else { return };
        let run = self.reader.run(done.bytes, done.flags & cf::WRAP != 0);
        let run = run.expect("a run in the area");
        let area = &memory::bytes(&self.data)[..self.area_bytes as usize];
        let offset = run.offset as usize;
        let bytes = area[offset..][..run.bytes as usize].to_vec();
        assert_eq!(records(&bytes), usize::from(done.packets), "records of a run");
        self.kept.push_back(Kept { offset, bytes, owed: run.owed });
    }

    /// Gives several runs back with one release.
    fn give(&mut self, count: u8) {
        let count = usize::from(count % 4 + 1).min(self.kept.len());
        if count == 0 {
            return;
        }
        let mut bytes = 0;
        let area = memory::bytes(&self.data);
        for kept in self.kept.drain(..count) {
            let now = &area[kept.offset..][..kept.bytes.len()];
            assert!(now == kept.bytes, "records were overwritten before they were given back");
            bytes += kept.owed;
        }
        let flags = u16::from(EntryType::Release.raw());
        let release = Release { bytes, completions: count as u32, flags, ..Release::default() };
        if let Some(queue) = &mut self.queue {
            queue.post(release.to_words());
        }
    }

    /// Whether a packed area is among the buffers, or has runs that are not given back.
    fn has_area(&self) -> bool {
        self.kind == QueueKind::RxPacked && (self.queue.is_some() || !self.kept.is_empty())
    }

    fn revoke(&mut self, network: &Network) {
        if self.is_revoked || network.remove_region(self.at, self.keys.data).is_err() {
            return;
        }
        self.is_revoked = true;
        std::mem::swap(&mut self.data, &mut self.spare);
        // Delivered bytes have been checked. From now on this memory has a secret pattern.
        if !self.is_open {
            self.allowed.check(memory_of(&self.spare, self.extent), clean(self.extent, self.end));
        }
        memory::bytes_mut(&self.spare)[..self.extent.mapped].fill(memory::SECRET);
        self.allowed = Allowed::default();
        let both = access::LOCAL_READ | access::LOCAL_WRITE;
        let place = Placement::default();
        let bytes = self.extent.bytes as u64;
        let what = RegionMemory { memory: self.data.clone(), bytes, window: None };
        let key = network.add_region_at(self.at, what, both, place);
        self.keys.data = key.expect("a free region");
    }

    fn check(&mut self) {
        let foreign = &memory::bytes(&self.foreign)[..SMALL_BYTES];
        let whole = memory::is_all(foreign, memory::FOREIGN);
        assert!(whole, "the device wrote to memory of another client");
        let read_only = &memory::bytes(&self.read_only)[..SMALL_BYTES];
        let payload = &clean(self.extent, End::Tx)[..SMALL_BYTES];
        assert!(read_only == payload, "the device wrote to read-only memory");
        let behind = &self.bytes(&self.data)[self.extent.bytes..];
        let whole = behind == &clean(self.extent, self.end)[self.extent.bytes..];
        assert!(whole, "the device wrote after the end of a region");
        if self.is_revoked {
            let revoked = self.bytes(&self.spare);
            let whole = memory::is_all(revoked, memory::SECRET);
            assert!(whole, "the device wrote to revoked memory ({:?})", self.end);
        }
        if !self.is_open {
            self.allowed.check(memory_of(&self.data, self.extent), clean(self.extent, self.end));
        }
    }

    /// The part of a data memory that this run uses.
    fn bytes<'a>(&self, memory: &'a SharedMemory) -> &'a [u8] {
        memory_of(memory, self.extent)
    }
}

fn memory_of(memory: &SharedMemory, extent: Extent) -> &[u8] {
    &memory::bytes(memory)[..extent.mapped]
}

/// Number of records in a run. Fails unless it consists of whole records.
fn records(mut bytes: &[u8]) -> usize {
    let mut count = 0;
    while let Some(head) = bytes.first_chunk::<8>() {
        let head = u64::from_le_bytes(*head);
        let header =
            RecordHeader { length: head as u32, end: (head >> 32) as u8, ..Default::default() };
        assert!(header.end <= 2, "end marker {}", header.end);
        let total = spfe_ring::packed::record_bytes(header.length) as usize;
        assert!(total <= bytes.len(), "a record exceeds its run");
        bytes = &bytes[total..];
        count += 1;
    }
    assert!(bytes.is_empty());
    count
}

fn attach(network: &Network, end: End) -> Attachment {
    let endpoint = if end == End::Tx { 0 } else { 1 };
    network.attach(endpoint, "fuzz").expect("room for a client")
}

/// Two endpoints with one port and one virtual channel each, joined by a cable.
pub fn cable(rate: LinkRate, mode: Mode, virtual_time: bool) -> Topology {
    let port = |endpoint| PortConfig {
        space_wire: false,
        vcs: 1,
        rate,
        model: LinkModel::Packet,
        peer: Peer::Port { endpoint, port: 0 },
    };
    Topology {
        endpoints: vec![vec![port(1)], vec![port(0)]],
        mode,
        virtual_time,
        ..Topology::default()
    }
}

/// Most inputs that use one network.
const USES_MAX: u32 = 256;

thread_local! {
    /// Networks without clients that earlier inputs have left, and how many those were. To make a
    /// network takes longer than to run most inputs.
    static NETWORKS: RefCell<Vec<(Arc<Network>, u32)>> = const { RefCell::new(Vec::new()) };
}

/// A network of this thread only. Its barriers need no other thread, so none is interrupted by them.
pub struct Lent {
    network: Arc<Network>,
    uses: u32,
}

impl Lent {
    /// A new network, or one that an earlier input has left.
    pub fn new(topology: Topology) -> Self {
        let left = NETWORKS.with_borrow_mut(|left| {
            let found = left.iter().position(|(network, _)| *network.topology() == topology);
            found.map(|index| left.swap_remove(index))
        });
        let (network, uses) = left.unwrap_or_else(|| {
            let network = Network::new(topology).expect("a network");
            set_fence_mode(FenceMode::Full);
            (network, 0)
        });
        Self { network, uses }
    }

    /// Detaches the clients and leaves the network to the next input. After a failure it is dropped.
    pub fn give_back(self, clients: &[Attachment]) {
        for client in clients {
            self.network.detach(*client, true).expect("a clean end");
        }
        if self.uses + 1 < USES_MAX {
            NETWORKS.with_borrow_mut(|left| left.push((self.network, self.uses + 1)));
        }
    }
}

impl std::ops::Deref for Lent {
    type Target = Arc<Network>;

    fn deref(&self) -> &Arc<Network> {
        &self.network
    }
}

struct Lab {
    network: Lent,
    /// The link has times, which outlive an input.
    paced: bool,
    device: Runner,
    guest: Runner,
    tx: Side,
    rx: Side,
    honest: bool,
    /// Shapes of the queues.
    shapes: [Shape; 2],
    /// A client has died, and the state of its peer was rebuilt from rings that a hostile host
    /// wrote.
    recovered: bool,
}

impl Lab {
    fn new(input: &Input, kind: QueueKind) -> Self {
        let rate = match input.paced {
            true => LinkRate::SpaceFibre { lanes: 1, mbps: 1000 },
            false => LinkRate::Unlimited,
        };
        let mode = if input.coop { Mode::Coop } else { Mode::Thread };
        let network = Lent::new(cable(rate, mode, true));
        let extent = if input.large { LARGE } else { SMALL };
        let device = network.view(DEVICE).runner_out(0, 0, 0, true);
        let tx = Side::new(&network, End::Tx, QueueKind::Tx, extent);
        let rx = Side::new(&network, End::Rx, kind, extent);
        let guest = network.view(rx.at.client).runner_into(1, 0, 0, false);
        let honest = input.honest;
        let shapes = input.shapes;
        let paced = input.paced;
        let recovered = false;
        let mut lab = Self { network, paced, device, guest, tx, rx, honest, shapes, recovered };
        for end in [End::Tx, End::Rx] {
            lab.open(end, shapes[end as usize]);
        }
        lab
    }

    fn side(&mut self, end: End) -> &mut Side {
        if end == End::Tx { &mut self.tx } else { &mut self.rx }
    }

    fn open(&mut self, end: End, shape: Shape) {
        self.shapes[end as usize] = shape;
        let shape = if self.honest { shape.plain() } else { shape };
        let network = self.network.network.clone();
        let base = Totals::of(self.device.shared()).count[end as usize];
        let side = self.side(end);
        if side.queue.is_none() {
            side.open(&network, shape);
            side.reported.base = base;
        }
    }

    fn close(&mut self, end: End) {
        let network = self.network.network.clone();
        let side = self.side(end);
        if side.queue.take().is_some() {
            let closed = network.destroy_queue(side.at, 0, 0, side.kind.raw());
            closed.expect("a queue that can be closed");
        }
    }

    fn take(&mut self, op: Op) {
        let (honest, network) = (self.honest, self.network.network.clone());
        match op {
            Op::Post(end, entries) => {
                // A client needs a queue to post to.
                let shape = self.shapes[end as usize];
                self.open(end, shape);
                entries.into_iter().for_each(|entry| self.side(end).post(entry, honest));
            }
            Op::Step(budget, guest) => drop(self.step(budget, guest)),
            Op::Consume(end, count) => (0..count % 8).for_each(|_| self.side(end).consume(honest)),
            Op::Give(count) => self.rx.give(count),
            Op::Arm(end, wish) => self.arm(end, wish),
            Op::Due => drop(self.device.wake_due()),
            Op::Time(ns) => self.pass(u64::from(ns)),
            Op::Rewrite(end, back, entry) if !honest => self.side(end).rewrite(back, entry),
            Op::Scribble(end, at, value) if !honest => self.side(end).scribble(at, value),
            Op::Rewrite(..) | Op::Scribble(..) => {}
            Op::Close(end) => self.close(end),
            Op::Open(end, shape) => self.open(end, shape),
            Op::Reset(end) => self.reset(end),
            Op::Die(end) => self.die(end),
            // An honest client does not revoke an area in use.
            Op::Revoke(end) if honest && self.side(end).has_area() => {}
            Op::Revoke(end) => self.side(end).revoke(&network),
        }
    }

    fn step(&mut self, budget: u8, guest: bool) -> StepOutcome {
        let budget = if budget == u8::MAX { u32::MAX } else { u32::from(budget % BUDGET as u8) };
        let before = Totals::of(self.device.shared());
        let runner = if guest { &mut self.guest } else { &mut self.device };
        let step = runner.run(budget);
        let step = step.expect("the seat is free and every region can be mapped");
        let now = Totals::of(self.device.shared());
        before.check_step(&now, budget, step.packets());
        self.check_positions();
        step
    }

    fn arm(&mut self, end: End, wish: Wish) {
        let Some(queue) = &self.side(end).queue else { return };
        let first_position = queue.consumed;
        let arm = Arm {
            count: wish.count.map(|count| first_position.wrapping_add(u32::from(count))),
            bytes: wish.bytes.map(u64::from),
            after_first_ns: wish.after.map(u64::from),
            first_position,
            event: wish.event,
        };
        queue.host_line().arm(first_position.wrapping_mul(2) | 1, &arm, os::heavy_barrier);
    }

    fn pass(&self, ns: u64) {
        if let Clock::Virtual(clock) = self.network.clock() {
            let until = self.network.clock().now_ns() + ns;
            clock.wait(clock.ticket(), Some(until));
        }
    }

    fn reset(&mut self, end: End) {
        let network = self.network.network.clone();
        let side = self.side(end);
        network.reset(side.at).expect("a reset");
        side.queue = None;
        side.register(&network);
    }

    fn die(&mut self, end: End) {
        let network = self.network.network.clone();
        self.recovered = true;
        let side = self.side(end);
        network.detach(side.at, true).expect("a clean end");
        side.queue = None;
        side.at = attach(&network, end);
        side.register(&network);
    }

    fn check_positions(&mut self) {
        let (tx, rx) = states(self.device.shared());
        if !self.honest && self.recovered {
            return;
        }
        let more =
            |submissions: u32, completions: u32| submissions.wrapping_sub(completions) as i32 >= 0;
        assert!(more(tx.at.submission, tx.at.completion), "{:?}", tx.at);
        if self.rx.kind == QueueKind::Rx {
            assert_eq!(rx.at.submission, rx.at.completion);
        }
        if self.honest {
            for (side, at) in [(&self.tx, tx.at), (&self.rx, rx.at)] {
                check_unread(side, at.completion);
            }
        }
    }

    /// Runs the engine until it is idle.
    fn finish(&mut self) {
        for _ in 0..TURNS_MAX {
            self.pass(1_000_000);
            match self.device.run(BUDGET) {
                Some(StepOutcome::More(_)) => self.check_positions(),
                Some(_) => {
                    self.check_positions();
                    return;
                }
                None => panic!("the seat is not free"),
            }
        }
        panic!("the engine does not become idle");
    }

    /// If the other end makes room, every entry of an honest host completes.
    fn settle(&mut self) {
        for end in [End::Tx, End::Rx] {
            self.open(end, self.shapes[end as usize]);
        }
        // The last packet closes an open packet and asks for the completion of everything before
        // it.
        let last = Entry::Inline(0, 0, 8, Flags::END);
        let (mut posted, mut still) = (false, 0);
        for _ in 0..TURNS_MAX {
            let before = Totals::of(self.device.shared());
            let (Some(queue), true) = (&self.tx.queue, self.rx.queue.is_some()) else { return };
            if posted && queue.free() == queue.sq.size() {
                return self.check_counters();
            }
            if !posted && queue.free() != 0 {
                self.tx.post(last, true);
                posted = true;
            }
            self.make_room();
            self.pass(1_000_000);
            let steps = [false, true].map(|guest| self.step(BUDGET as u8 - 1, guest));
            self.consume_all();
            let same = before == Totals::of(self.device.shared());
            still = if same { still + 1 } else { 0 };
            if still > STILL_TURNS {
                // A ring full of entries that ask for no completion stays full.
                let now = self.network.clock().now_ns();
                assert!(!posted, "at {now} ns {steps:?}: an entry never completed: {before:?}");
                return;
            }
        }
    }

    /// The receiver posts as many buffers as it can, or gives back all runs.
    fn make_room(&mut self) {
        let buffer = Entry::Buffer(Place::Data, 0, Length(LAST_BYTES), false);
        let free = self.rx.queue.as_ref().map_or(0, HostQueue::free);
        if self.rx.kind == QueueKind::RxPacked {
            self.rx.give(u8::MAX);
        } else {
            (0..free).for_each(|_| self.rx.post(buffer, true));
        }
    }

    fn consume_all(&mut self) {
        for side in [&mut self.tx, &mut self.rx] {
            while side.queue.as_ref().is_some_and(|queue| queue.peek().is_some()) {
                side.consume(true);
            }
        }
    }

    /// Checks that the counters agree with the completions.
    fn check_counters(&self) {
        let now = Totals::of(self.device.shared());
        self.tx.reported.check(now.count[0], "sender");
    }
}

/// Checks that no unread completion of an honest host was overwritten.
fn check_unread(side: &Side, completion: u32) {
    let Some(queue) = &side.queue else { return };
    let unread = completion.wrapping_sub(queue.consumed);
    assert!(
        unread <= queue.cq.size(),
        "{unread} unread completions in a ring of {}",
        queue.cq.size()
    );
    for position in 0..unread {
        let entry = queue.cq.read(queue.consumed.wrapping_add(position));
        let done = Completion::from_words(entry.expect("a completion in the ring"));
        assert!(Status::from_raw(done.status).is_some());
    }
    assert!(queue.cq.read(completion).is_none(), "a completion that the state does not count");
}

/// Runs one input. `kind` is the kind of the receive queue.
pub fn run(input: Input, kind: QueueKind) {
    let mut lab = Lab::new(&input, kind);
    for op in input.ops {
        lab.take(op);
    }
    lab.finish();
    if lab.honest {
        lab.settle();
    }
    lab.tx.check();
    lab.rx.check();
    for end in [End::Rx, End::Tx] {
        lab.close(end);
    }
    lab.tx.check();
    lab.rx.check();
    // The engine must still work.
    let released = lab.device.run(BUDGET);
    assert!(released.is_some());
    let Lab { network, paced, tx, rx, .. } = lab;
    if !paced {
        network.give_back(&[tx.at, tx.neighbour, rx.at, rx.neighbour]);
    }
}
