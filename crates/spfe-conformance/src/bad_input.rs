//! RDMA packets that are wrong: each kind has its status and its counter, and changes no memory.
//!
//! The far end is a program with ordinary queues, which makes the packets itself. The queue pair that
//! gets them is in the device under test, first as a target and then as an initiator.

use crate::kit::{EndpointPair, SOON, Thread, eventually, receive, spawn, within};
use crate::rdma::{execute, with_buffers};
use crate::{Capability, Fixture, cases};
use spfe::{End, Endpoint, MibValue, Rx, Status, Tx};
use spfe_proto::sfrp::{Flags, Opcode, SfrpHeader, SfrpStatus};
use spfe_remote::engine::{Local, RegionRights, RemoteKey, WorkError, WorkKind, WorkRequest};
use spfe_remote::{KeyOptions, PairMessage, RdmaQueue, RdmaQueueOptions};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

cases! {
    wrong_requests_have_their_status_and_counter: [Pairs],
    damaged_requests_are_refused_or_discarded: [Pairs],
    messages_without_room_are_refused: [Pairs],
    a_gap_is_reported_once: [Pairs],
    too_many_reads_find_the_target_busy: [Pairs],
    refusals_end_a_request_or_repeat_it: [Pairs],
    damaged_answers_are_discarded: [Pairs],
}

/// Logical address of the queue pair under test, and its number.
const ADDRESS: u8 = 0x42;
const QUEUE: u16 = 7;
/// Logical address of the program at the far end.
const SENDER: u8 = 0x67;
/// The shared memory, and its address for others.
const SHARED: usize = 16 << 10;
const BASE: u64 = 1 << 40;
/// Buffers of the program at the far end, and their size.
const BUFFERS: usize = 40;
const BUFFER: usize = 8 << 10;

/// What a device has counted at port 0.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Counted {
    /// Counters of queue pairs by name, those that are not 0, if the device has names for them.
    named: Option<BTreeMap<String, u64>>,
    /// Packets to the queue pair that were refused or discarded.
    bad: u64,
    /// Requests and buffers of the queue pair that ended with an error.
    errors: [u64; 2],
}

/// Where to count.
#[derive(Clone)]
struct Meter {
    endpoint: Endpoint,
    names: bool,
}

impl Meter {
    fn new(fixture: &Fixture, endpoint: &Endpoint) -> Self {
        Self { endpoint: endpoint.clone(), names: fixture.has(Capability::Counters) }
    }

    fn read(&self) -> Counted {
        let info = self.endpoint.port(0).unwrap().info().unwrap();
        let channel = &info.channels[0];
        let errors = [channel.tx.errors, channel.rx.errors];
        let entries = self.endpoint.port_mib(0).unwrap().into_iter();
        let counters = entries.filter(|entry| entry.layer == "queue pair");
        let number = |value| if let MibValue::Number(number) = value { number } else { 0 };
        let named: BTreeMap<_, _> =
            counters.map(|entry| (entry.name, number(entry.value))).collect();
        // A device that has names is held to them.
        assert!(self.names || named.is_empty(), "{named:?}");
        Counted { named: self.names.then_some(named), bad: channel.rx.stalls, errors }
    }

    /// Waits until exactly this counter, and that of bad packets if it is one of those, has risen by
    /// one since `before`.
    #[track_caller]
    fn rises(&self, before: &Counted, name: &str, is_bad: bool) {
        let mut wanted = before.clone();
        wanted.bad += u64::from(is_bad);
        if let Some(named) = &mut wanted.named {
            *named.entry(name.to_owned()).or_default() += 1;
        }
        let sum = |counted: &Counted| {
            let named = counted.named.iter().flat_map(BTreeMap::values).sum::<u64>();
            named + counted.bad
        };
        eventually(name, || sum(&self.read()) >= sum(&wanted));
        let found = self.read();
        assert_eq!((&found.named, found.bad), (&wanted.named, wanted.bad), "{name} is one more");
    }
}

/// A program that sends and receives packets of RDMA through ordinary queues.
struct Raw {
    endpoint: Endpoint,
    tx: Tx,
    rx: Rx,
}

impl Raw {
    fn open(endpoint: &Endpoint) -> Self {
        let vc = endpoint.port(0).unwrap().vc(0).unwrap();
        let (tx, rx) = (vc.tx().unwrap(), vc.rx().unwrap());
        Self { endpoint: endpoint.clone(), tx, rx }
    }

    /// Makes room for packets that arrive.
    fn post_buffers(&mut self) {
        let memory = self.endpoint.alloc(BUFFERS * BUFFER).unwrap();
        let mut buffers = memory.split(BUFFER, BUFFERS).unwrap();
        assert_eq!(self.rx.post_all(&mut buffers), BUFFERS);
    }

    /// Sends bytes as they are.
    fn send_bytes(&mut self, packet: &[u8], end: End) {
        while self.tx.take().is_some() {}
        let mut buf = self.endpoint.alloc(packet.len()).unwrap().buf(0..packet.len()).unwrap();
        buf.put(packet);
        self.tx.send_ending(buf, end).unwrap();
    }

    fn send(&mut self, header: &SfrpHeader) {
        self.send_bytes(&packet(header), End::Eop);
    }

    /// The next packet, without announcements of buffers.
    #[track_caller]
    fn receive(&mut self) -> SfrpHeader {
        loop {
            let packet = receive(&mut self.rx);
            let header = SfrpHeader::parse(&packet.bytes).unwrap();
            if header.opcode() != Some(Opcode::Credit) {
                return header;
            }
        }
    }

    /// The next response, with its status.
    #[track_caller]
    fn answers(&mut self, request: &SfrpHeader, status: SfrpStatus) -> SfrpHeader {
        let header = self.receive();
        assert!(header.is_response(), "{header:?}");
        assert_eq!((header.request, SfrpStatus(header.status)), (request.request, status));
        header
    }
}

/// A packet with this header and a payload of bytes 0xee.
fn packet(header: &SfrpHeader) -> Vec<u8> {
    let mut packet = vec![0; header.packet_bytes()];
    header.encode(&vec![0xee; header.payload_bytes()], &mut packet).unwrap();
    packet
}

/// The program of the queue pair under test, which takes messages. In modes without a device thread
/// its waits run the engine.
struct Far {
    stop: Arc<AtomicBool>,
    thread: Thread<(RdmaQueue, Vec<PairMessage>)>,
}

impl Far {
    fn start(mut queue: RdmaQueue) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = spawn(move || {
            let mut messages = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                let _bounded = within(Duration::from_millis(5));
                // Mostly nothing comes, so this ends with a time-out.
                let _ = queue.wait_message(Duration::from_millis(5));
                messages.extend(std::iter::from_fn(|| queue.poll_message()));
            }
            (queue, messages)
        });
        Self { stop, thread }
    }

    fn end(self) -> (RdmaQueue, Vec<PairMessage>) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// A queue pair with shared memory at one end, a program with packets of its own at the other.
struct Bench {
    raw: Raw,
    far: Far,
    meter: Meter,
    memory: u32,
    /// For everything; for reading; for another initiator; taken back.
    keys: [RemoteKey; 4],
    /// Number of the next request. Each has a sequence of its own.
    next: u16,
}

const ALL: usize = 0;
const REVOKED: usize = 3;

impl Bench {
    fn new(fixture: &Fixture) -> Self {
        let EndpointPair { a, b } = EndpointPair::new(fixture);
        let mut far = with_buffers(&b, QUEUE, 5);
        let memory = far.register_shared(&[0x11; SHARED]).unwrap();
        let local = Local { memory, offset: 0, length: SHARED as u32 };
        let all = KeyOptions { address: BASE, ..KeyOptions::default() };
        let rights = RegionRights { read: true, ..RegionRights::default() };
        let keys = [
            all.clone(),
            KeyOptions { rights, ..all.clone() },
            KeyOptions { initiators: vec![SENDER + 1], ..all.clone() },
            all,
        ];
        let keys = keys.map(|options| far.share(local, &options, SOON).unwrap());
        far.unshare(keys[REVOKED], SOON).unwrap();
        Self {
            raw: Raw::open(&a),
            far: Far::start(far),
            meter: Meter::new(fixture, &b),
            memory,
            keys,
            next: 0,
        }
    }

    /// A request in a new sequence.
    fn request(&mut self, opcode: Opcode, length: u32) -> SfrpHeader {
        self.next += 1;
        let mut header = SfrpHeader {
            receiver: ADDRESS,
            sender: SENDER,
            sender_queue: self.next,
            request: self.next.into(),
            sequence: 1,
            key: self.keys[ALL].0,
            address: BASE,
            length,
            flags: Flags::ACK | Flags::FIRST | Flags::LAST,
            ..SfrpHeader::request(opcode)
        };
        header.flags |= Flags::PAYLOAD_CRC.when(header.payload_bytes() > 0);
        header
    }

    /// Sends a request; expects this status and this counter.
    #[track_caller]
    fn expect(&mut self, header: &SfrpHeader, status: SfrpStatus, counter: &str) -> SfrpHeader {
        let before = self.meter.read();
        self.raw.send(header);
        let answer = self.raw.answers(header, status);
        self.meter.rises(&before, counter, status != SfrpStatus::OK);
        answer
    }

    /// Ends the case. Nothing of the memory may have changed but the first bytes, to `start`. Returns
    /// the queue pair and the messages that came.
    #[track_caller]
    fn end(self, start: &[u8]) -> (RdmaQueue, Vec<PairMessage>) {
        let (mut far, messages) = self.far.end();
        let (mut expected, mut found) = (vec![0x11; SHARED], vec![0; SHARED]);
        expected[..start.len()].copy_from_slice(start);
        far.load(self.memory, 0, &mut found).unwrap();
        assert!(found == expected, "memory changed");
        (far, messages)
    }
}

fn wrong_requests_have_their_status_and_counter(fixture: &Fixture) {
    let mut bench = Bench::new(fixture);
    bench.raw.post_buffers();
    let [all, reads, others, revoked] = bench.keys.map(|key| key.0);
    let end = BASE + SHARED as u64;
    let (bad_key, access) = ("target bad key", "target access");
    for opcode in [Opcode::Write, Opcode::Read, Opcode::FetchAdd] {
        for key in [0, all ^ 1, all + (100 << 12), revoked] {
            let header = SfrpHeader { key, ..bench.request(opcode, 8) };
            bench.expect(&header, SfrpStatus::BAD_KEY, bad_key);
        }
        for address in [BASE - 8, end, u64::MAX - 7, 0] {
            let header = SfrpHeader { address, ..bench.request(opcode, 8) };
            bench.expect(&header, SfrpStatus::BOUNDS, "target bounds");
        }
        let header = SfrpHeader { key: others, ..bench.request(opcode, 8) };
        bench.expect(&header, SfrpStatus::ACCESS, access);
        let header = SfrpHeader { receiver_queue: 99, ..bench.request(opcode, 8) };
        bench.expect(&header, SfrpStatus::BAD_QUEUE, "target bad queue");
    }
    for address in [end - 7, u64::MAX - 3] {
        let header = SfrpHeader { address, ..bench.request(Opcode::Read, 8) };
        bench.expect(&header, SfrpStatus::BOUNDS, "target bounds");
    }
    for opcode in [Opcode::Write, Opcode::FetchAdd] {
        let header = SfrpHeader { key: reads, ..bench.request(opcode, 8) };
        bench.expect(&header, SfrpStatus::ACCESS, access);
    }
    let long = bench.request(Opcode::Write, 4097);
    let misaligned = SfrpHeader { address: BASE + 4, ..bench.request(Opcode::FetchAdd, 8) };
    let half = bench.request(Opcode::CompareSwap, 8);
    for header in [long, misaligned, half] {
        bench.expect(&header, SfrpStatus::BAD_LENGTH, "target bad length");
    }
    let header = SfrpHeader { version: 2, ..bench.request(Opcode::Write, 8) };
    bench.expect(&header, SfrpStatus::BAD_VERSION, "target bad version");
    let header = SfrpHeader { code: 0x3f, ..bench.request(Opcode::Flush, 0) };
    bench.expect(&header, SfrpStatus::BAD_OPCODE, "target bad opcode");
    // Not connected, and no start of a sequence.
    let header = SfrpHeader { receiver_queue: QUEUE, ..bench.request(Opcode::Write, 8) };
    bench.expect(&header, SfrpStatus::BAD_QUEUE, "target bad queue");
    // No bytes are a legal length, if the key is right.
    for (opcode, counter) in [(Opcode::Write, "target writes"), (Opcode::Read, "target reads")] {
        let header = bench.request(opcode, 0);
        bench.expect(&header, SfrpStatus::OK, counter);
        let header = SfrpHeader { key: revoked, ..bench.request(opcode, 0) };
        bench.expect(&header, SfrpStatus::BAD_KEY, bad_key);
    }
    let right = bench.request(Opcode::Write, 8);
    bench.expect(&right, SfrpStatus::OK, "target writes");
    assert!(bench.end(&[0xee; 8]).1.is_empty());
}

/// A change of the bytes of a packet.
type Damage = fn(&mut Vec<u8>);

fn damaged_requests_are_refused_or_discarded(fixture: &Fixture) {
    let mut bench = Bench::new(fixture);
    bench.raw.post_buffers();
    let refused: [(Damage, End, SfrpStatus, &str); 4] = [
        (|packet| packet[44] ^= 1, End::Eop, SfrpStatus::PAYLOAD_CRC, "target payload crc"),
        (|packet| packet.truncate(45), End::Eop, SfrpStatus::SHORT, "target short"),
        (|packet| packet.push(0), End::Eop, SfrpStatus::LONG, "target long"),
        (|packet| packet.truncate(45), End::Eep, SfrpStatus::EEP, "target eep"),
    ];
    for (damage, end, status, counter) in refused {
        let header = bench.request(Opcode::Write, 8);
        let mut bytes = packet(&header);
        damage(&mut bytes);
        let before = bench.meter.read();
        bench.raw.send_bytes(&bytes, end);
        bench.raw.answers(&header, status);
        bench.meter.rises(&before, counter, true);
        // The initiator may repeat it.
        let again = SfrpHeader { flags: header.flags | Flags::RETRY, ..header };
        bench.expect(&again, SfrpStatus::OK, "target writes");
    }
    let discarded: [(Damage, End, &str); 6] = [
        (|packet| packet[30] ^= 1, End::Eop, "target header crc"),
        (|packet| packet.truncate(39), End::Eop, "target short header"),
        (|packet| packet.truncate(39), End::Eep, "target short header"),
        (|packet| packet.truncate(1), End::Eop, "target short header"),
        (|packet| packet[2] = 0x19, End::Eop, "target header length"),
        (|packet| packet[1] = 1, End::Eop, "target other protocol"),
    ];
    for (damage, end, counter) in discarded {
        let header = bench.request(Opcode::Write, 8);
        let mut bytes = packet(&header);
        damage(&mut bytes);
        let before = bench.meter.read();
        bench.raw.send_bytes(&bytes, end);
        bench.meter.rises(&before, counter, true);
        // The next answer is not to the damaged packet.
        let right = bench.request(Opcode::Write, 8);
        bench.expect(&right, SfrpStatus::OK, "target writes");
    }
    let before = bench.meter.read();
    let other = SfrpHeader { receiver: ADDRESS + 1, ..bench.request(Opcode::Write, 8) };
    bench.raw.send(&other);
    bench.meter.rises(&before, "target not ours", true);
    assert!(bench.end(&[0xee; 8]).1.is_empty());
}

fn messages_without_room_are_refused(fixture: &Fixture) {
    let mut bench = Bench::new(fixture);
    bench.raw.post_buffers();
    let connect = SfrpHeader { receiver_queue: QUEUE, ..bench.request(Opcode::Connect, 0) };
    bench.expect(&connect, SfrpStatus::OK, "target connects");
    let in_sequence = |header: SfrpHeader| SfrpHeader {
        sender_queue: connect.sender_queue,
        receiver_queue: QUEUE,
        sequence: connect.sequence + 1,
        ..header
    };
    let immediate = bench.request(Opcode::Write, 8);
    let flags = immediate.flags | Flags::IMMEDIATE;
    let immediate = in_sequence(SfrpHeader { flags, ..immediate });
    let send = in_sequence(SfrpHeader { address: 8 << 32, ..bench.request(Opcode::Send, 8) });
    for header in [immediate, send] {
        let none = SfrpStatus::RECEIVER_NOT_READY;
        let answer = bench.expect(&header, none, "target receiver not ready");
        assert!(answer.immediate > 0, "the time to wait");
    }
    // A buffer of 7 bytes.
    let (mut far, _) = bench.far.end();
    let memory = far.register(vec![0; 7]).unwrap();
    far.post_buffer(0, Local { memory, offset: 0, length: 7 }).unwrap();
    bench.far = Far::start(far);
    let [sent, received] = bench.meter.read().errors;
    let again = SfrpHeader { flags: send.flags | Flags::RETRY, ..send };
    // Until the device has taken the buffer, it answers as before.
    eventually("the buffer", || {
        let before = bench.meter.read();
        bench.raw.send(&again);
        let answer = bench.raw.receive();
        let waits = SfrpStatus(answer.status) == SfrpStatus::RECEIVER_NOT_READY;
        let counter = if waits { "target receiver not ready" } else { "target message too long" };
        bench.meter.rises(&before, counter, true);
        if !waits {
            let found = (answer.request, SfrpStatus(answer.status), answer.immediate);
            assert_eq!(found, (again.request, SfrpStatus::MESSAGE_TOO_LONG, 7));
        }
        !waits
    });
    eventually("the error", || bench.meter.read().errors == [sent, received + 1]);
    let (mut far, mut messages) = bench.end(&[]);
    if messages.is_empty() {
        far.wait_message(SOON).unwrap();
        messages.extend(far.poll_message());
    }
    let found: Vec<_> = messages.iter().map(|it| (it.id, it.status, it.bytes)).collect();
    assert_eq!(found, [(0, Status::TooLong, 8)]);
}

fn a_gap_is_reported_once(fixture: &Fixture) {
    let mut bench = Bench::new(fixture);
    bench.raw.post_buffers();
    let first = bench.request(Opcode::Write, 8);
    let [lost, third, fourth] = [2, 3, 4].map(|sequence| {
        let request = first.request + u32::from(sequence);
        SfrpHeader { sequence, request, ..first }
    });
    bench.expect(&first, SfrpStatus::OK, "target writes");
    let gap = bench.expect(&third, SfrpStatus::SEQUENCE, "target sequence");
    assert_eq!(gap.immediate, u32::from(lost.sequence));
    let before = bench.meter.read();
    bench.raw.send(&fourth);
    bench.meter.rises(&before, "target drained", true);
    for header in [lost, third, fourth] {
        let again = SfrpHeader { flags: header.flags | Flags::RETRY, ..header };
        bench.expect(&again, SfrpStatus::OK, "target writes");
    }
    bench.expect(&lost, SfrpStatus::OK, "target repeated");
    assert!(bench.end(&[0xee; 8]).1.is_empty());
}

fn too_many_reads_find_the_target_busy(fixture: &Fixture) {
    let mut bench = Bench::new(fixture);
    // Nobody takes the answers, so reads stay outstanding. Links and queues store a few.
    let first = bench.request(Opcode::Read, 4096);
    let reads: [_; 32] = std::array::from_fn(|number| {
        let sequence = first.sequence + number as u16;
        SfrpHeader { sequence, request: sequence.into(), ..first }
    });
    let before = bench.meter.read();
    reads.iter().for_each(|header| bench.raw.send(header));
    eventually("a refusal", || bench.meter.read().bad > before.bad);
    bench.raw.post_buffers();
    let (mut answered, mut busy) = (0, None);
    while busy.is_none() {
        let answer = bench.raw.receive();
        assert_eq!(answer.request, reads[answered].request);
        match SfrpStatus(answer.status) {
            SfrpStatus::OK => answered += 1,
            SfrpStatus::BUSY => busy = Some(answer),
            status => panic!("read {answered}: {status}"),
        }
    }
    assert!(answered >= 16, "{answered} reads");
    assert!(busy.unwrap().immediate > 0, "the time to wait");
    // Those behind it are discarded without an answer.
    let bad = (reads.len() - answered) as u64;
    eventually("discarded reads", || bench.meter.read().bad == before.bad + bad);
    let names = ["target reads", "target busy", "target drained"];
    if let Some(risen) = bench.meter.read().risen(&before, names) {
        assert_eq!(risen, [answered as u64, 1, bad - 1], "{names:?}");
    }
    let again = SfrpHeader { flags: first.flags | Flags::RETRY, ..reads[answered] };
    bench.expect(&again, SfrpStatus::OK, "target reads");
    assert!(bench.end(&[]).1.is_empty());
}

/// The queue pair under test as an initiator, whose time-out is no part of a case.
fn initiator(endpoint: &Endpoint) -> RdmaQueue {
    let mut options = RdmaQueueOptions::default();
    (options.initiator.target, options.initiator.target_queue) = (SENDER, 0);
    (options.initiator.address, options.initiator.queue) = (ADDRESS, QUEUE);
    options.initiator.timeout_ns = 20_000_000_000;
    RdmaQueue::open(&endpoint.port(0).unwrap().vc(0).unwrap(), options).unwrap()
}

impl Raw {
    /// Answers the start of a queue pair, and takes its first request.
    #[track_caller]
    fn connects(&mut self) -> SfrpHeader {
        loop {
            let header = self.receive();
            match header.opcode().unwrap() {
                Opcode::Disconnect => {}
                Opcode::Connect | Opcode::Flush => self.send(&header.response(SfrpStatus::OK)),
                _ => return header,
            }
        }
    }

    /// Takes the repetition of a request, and answers it.
    #[track_caller]
    fn repeats(&mut self, request: &SfrpHeader) {
        let again = self.receive();
        assert_eq!((again.request, again.sequence), (request.request, request.sequence));
        assert!(again.has(Flags::RETRY), "{again:?}");
        self.send(&again.response(SfrpStatus::OK));
    }
}

impl Counted {
    /// By how much these counters have risen since `before`, if the device has names for them.
    fn risen<const N: usize>(&self, before: &Self, names: [&str; N]) -> Option<[u64; N]> {
        let (now, then) = (self.named.as_ref()?, before.named.as_ref()?);
        Some(names.map(|name| now.get(name).unwrap_or(&0) - then.get(name).unwrap_or(&0)))
    }
}

fn refusals_end_a_request_or_repeat_it(fixture: &Fixture) {
    const STATUSES: [SfrpStatus; 18] = [
        SfrpStatus::BAD_VERSION,
        SfrpStatus::BAD_OPCODE,
        SfrpStatus::BAD_KEY,
        SfrpStatus::BOUNDS,
        SfrpStatus::ACCESS,
        SfrpStatus::BAD_LENGTH,
        SfrpStatus::RECEIVER_NOT_READY,
        SfrpStatus::MESSAGE_TOO_LONG,
        SfrpStatus::PAYLOAD_CRC,
        SfrpStatus::SHORT,
        SfrpStatus::LONG,
        SfrpStatus::EEP,
        SfrpStatus::MEMORY,
        SfrpStatus::BUSY,
        SfrpStatus::BAD_QUEUE,
        SfrpStatus::SEQUENCE,
        SfrpStatus::REVOKED,
        SfrpStatus::GENERAL,
    ];
    let repeats = |status: SfrpStatus| status.is_transient() || status == SfrpStatus::SEQUENCE;
    let EndpointPair { a, b } = EndpointPair::new(fixture);
    let mut raw = Raw::open(&b);
    raw.post_buffers();
    let target = spawn(move || {
        for status in STATUSES {
            let request = raw.connects();
            let immediate = match status {
                SfrpStatus::SEQUENCE => request.sequence.into(),
                // No time to wait after a receiver that is not ready.
                _ => 0,
            };
            raw.send(&SfrpHeader { immediate, ..request.response(status) });
            if repeats(status) {
                raw.repeats(&request);
            }
        }
        raw
    });
    let mut queue = initiator(&a);
    let memory = queue.register(vec![1; 8]).unwrap();
    let meter = Meter::new(fixture, &a);
    let names = ["refusals", "resent", "completed", "failed"];
    for status in STATUSES {
        queue.connect(SOON).unwrap();
        let before = meter.read();
        let local = Local { memory, offset: 0, length: 8 };
        let done = execute(&mut queue, WorkRequest::write(1, local, 0x1234, 0)).result;
        let now = meter.read();
        let (risen, errors) = (now.risen(&before, names), now.errors[0] - before.errors[0]);
        let wanted = if repeats(status) {
            assert_eq!((done, errors), (Ok(()), 0), "{status}");
            [1, 1, 1, 0]
        } else {
            assert!(matches!(done, Err(WorkError::Refused(it, _)) if it == status), "{done:?}");
            assert_eq!(errors, 1, "{status}");
            [1, 0, 0, 1]
        };
        assert_eq!(risen.unwrap_or(wanted), wanted, "{names:?} after {status}");
    }
    drop((queue, target.join().unwrap()));
}

fn damaged_answers_are_discarded(fixture: &Fixture) {
    /// A wrong answer, its end, and the counter for it.
    type Wrong = (fn(SfrpHeader) -> SfrpHeader, Damage, End, &'static str);
    const WRONG: [Wrong; 8] = [
        (|it| it, |packet| packet[30] ^= 1, End::Eop, "invalid"),
        (|it| it, |packet| packet.truncate(39), End::Eep, "invalid"),
        (|it| it, |packet| packet[44] ^= 1, End::Eop, "invalid"),
        (|it| it, |packet| packet.push(0), End::Eop, "invalid"),
        (|it| it, |packet| packet.truncate(45), End::Eep, "invalid"),
        (|it| SfrpHeader { receiver_queue: QUEUE + 1, ..it }, |_| {}, End::Eop, "invalid"),
        (|it| SfrpHeader { request: it.request + 1, ..it }, |_| {}, End::Eop, "stale"),
        (|it| SfrpHeader { sequence: it.sequence + 1, ..it }, |_| {}, End::Eop, "stale"),
    ];
    let EndpointPair { a, b } = EndpointPair::new(fixture);
    let mut raw = Raw::open(&b);
    raw.post_buffers();
    let target = spawn(move || {
        for (change, damage, end, _) in WRONG {
            let request = raw.connects();
            let flags = Flags::FIRST | Flags::LAST | Flags::PAYLOAD_CRC;
            let answer = SfrpHeader { flags, length: 8, ..request.response(SfrpStatus::OK) };
            let mut bytes = packet(&change(answer));
            damage(&mut bytes);
            raw.send_bytes(&bytes, end);
            raw.send(&answer);
        }
        raw
    });
    let mut queue = initiator(&a);
    let memory = queue.register(vec![1; 8]).unwrap();
    queue.connect(SOON).unwrap();
    let meter = Meter::new(fixture, &a);
    for (number, (_, _, _, counter)) in (0..).zip(WRONG) {
        queue.memory_mut(memory).fill(1);
        let before = meter.read();
        let local = [Local { memory, offset: 0, length: 8 }].into();
        let read = WorkRequest { local, key: 1, ..WorkRequest::new(number, WorkKind::Read) };
        assert_eq!(execute(&mut queue, read).result, Ok(()), "answer {number}");
        assert_eq!(queue.memory(memory), [0xee; 8]);
        let now = meter.read();
        assert_eq!((now.bad - before.bad, now.errors), (1, before.errors), "answer {number}");
        if let Some(risen) = now.risen(&before, [counter, "completed"]) {
            assert_eq!(risen, [1, 1], "answer {number}: {counter}");
        }
    }
    drop((queue, target.join().unwrap()));
}
