//! The receiving side: a queue of kind RDMA_RX takes the messages of an initiator at the far end,
//! alone and beside a queue of kind RDMA.

use super::*;
use spfe_rdma::{Local, PairState, RdmaInitiatorOptions, WorkCompletion, WorkError, WorkRequest};

/// Where the rings of the receive queue are in the region, as those of the other queue from 0 on.
const BASE: u64 = 0xb000;
const SIDE: u64 = BASE + STAMPS;
const HOST_LINE: u64 = BASE + 0x600;
/// Its buffers.
const BUFFERS: u64 = 0xc000;
const BUFFER: u32 = 0x2400;
/// Number and logical address of the queue pair of the core.
const OWN: u16 = 7;
const CORE: u8 = 0x50;

/// Buffers posted and completed.
#[derive(Default)]
struct Receive {
    posted: u32,
    completed: u32,
}

/// A message that has arrived.
#[derive(Debug, PartialEq, Eq)]
struct Message {
    position: u16,
    status: u8,
    bytes: u32,
    immediate: Option<u64>,
}

/// An initiator for messages to the core.
fn initiator() -> RdmaInitiator {
    RdmaInitiator::new(RdmaInitiatorOptions {
        target: CORE,
        target_queue: OWN,
        address: 0x42,
        queue: PARTNER,
        timeout_ns: TIMEOUT_US * 1000,
        retries: 6,
        not_ready_retries: 20,
        ..RdmaInitiatorOptions::default()
    })
}

fn context(bed: &mut Bed, partner: u16) {
    // The rings of the sending side stay as they are.
    let (rings, posted) = (RINGS as usize..(RINGS + LINES) as usize, (bed.posted, bed.completed));
    let kept = bed.device.memory[rings.clone()].to_vec();
    bed.context(RECEIVE, QueueKind::RdmaRx, partner);
    bed.device.memory[rings].copy_from_slice(&kept);
    (bed.posted, bed.completed) = posted;
    let at = bed.queues + queue::STRIDE * RECEIVE;
    for (register, value) in [
        (queue::SQ_LO, bed.keys[0] + BASE),
        (queue::CQ_LO, bed.keys[0] + BASE + CQ),
        (queue::STAMP_LO, bed.keys[0] + SIDE),
        (queue::LINES_LO, bed.keys[0] + HOST_LINE),
    ] {
        bed.device.write64(at + register, value);
    }
    bed.local(BASE, 0x800).fill(0);
}

impl Receive {
    fn start(bed: &mut Bed) -> Self {
        context(bed, PARTNER);
        assert_eq!(bed.command(Command::QueueEnable, RECEIVE), Status::Ok);
        Self::default()
    }

    fn stop(bed: &mut Bed) {
        assert_eq!(bed.command(Command::QueueDisable, RECEIVE), Status::Ok);
    }

    /// Posts a buffer, and rings.
    fn post(&mut self, bed: &mut Bed, slot: u64, length: u32, kind: EntryType) {
        let address = bed.keys[0] + BUFFERS + slot * u64::from(BUFFER / 2);
        let [low, high] = data(address, length);
        let flags = u64::from(EntryType::Data.raw() ^ kind.raw()) << 32;
        let phase = u64::from((self.posted >> LOG2) as u16 + 1) << 48;
        let at = RINGS + BASE + 16 * u64::from(self.posted % (1 << LOG2));
        bed.put(at, [low, high ^ flags | phase]);
        self.posted += 1;
        let page = bed.device.read(global::DOORBELL_OFFSET);
        bed.device.write64(page, u64::from(RECEIVE) & doorbell::QUEUE_MASK);
    }

    /// The next message, once it is there.
    fn wait(&mut self, bed: &mut Bed) -> Message {
        for _ in 0..MOST {
            let slot = u64::from(self.completed % (1 << LOG2));
            let at = RINGS + BASE + CQ + 16 * slot;
            let done = Completion::from_words([bed.word(at), bed.word(at + 8)]);
            if done.phase == (self.completed >> LOG2) as u16 + 1 {
                self.completed += 1;
                assert_eq!(done.packets, 1);
                assert!(bed.word(RINGS + SIDE + 8 * slot) > 0 && done.flags & cf::STAMPED != 0);
                let word = bed.word(RINGS + SIDE + 8 * ((1 << LOG2) + slot));
                let has = done.flags & cf::IMMEDIATE != 0;
                let (position, status, bytes) = (done.position, done.status, done.bytes);
                return Message { position, status, bytes, immediate: has.then_some(word) };
            }
            bed.device.run(1);
        }
        panic!("no message: {}", bed.far.borrow().initiator.as_ref().expect("sends").0.why_text(0));
    }
}

/// The far end sends a message of its memory from the start.
fn send(bed: &Bed, length: u32, immediate: Option<u32>) {
    let far = &mut *bed.far.borrow_mut();
    let (initiator, memory) = far.initiator.as_mut().expect("is there");
    if initiator.state() != PairState::Ready {
        initiator.connect();
    }
    let work = WorkRequest::send(1, Local { memory: 0, offset: 0, length });
    let mut work = WorkRequest { immediate, ..work };
    work.flags.signaled = true;
    initiator.post(work, memory).expect("has room");
    initiator.ring();
}

/// The end of a message at the far end.
fn sent(bed: &mut Bed) -> WorkCompletion {
    for _ in 0..MOST {
        let done = bed.far.borrow_mut().initiator.as_mut().expect("is there").0.poll();
        if let Some(done) = done {
            return done;
        }
        bed.device.run(1);
    }
    panic!("a message does not end");
}

fn with_initiator(seed: u64) -> (Bed, Vec<u8>) {
    let bed = Bed::new(seed);
    let bytes: Vec<u8> = (0..10_000).map(|at: u32| ((at * 37) >> 3) as u8).collect();
    bed.far.borrow_mut().initiator = Some((initiator(), vec![bytes.clone()]));
    (bed, bytes)
}

fn counted(bed: &mut Bed, register: u32) -> u32 {
    bed.device.read(bed.statistics + statistics::STRIDE * RECEIVE + register)
}

#[test]
fn messages_of_every_length_arrive() {
    let (mut bed, bytes) = with_initiator(21);
    let mut receive = Receive::start(&mut bed);
    let mut total = 0;
    for (round, errors) in [0, 3000].into_iter().enumerate() {
        bed.far.borrow_mut().errors = errors;
        for (index, length) in [0, 1, 3, 4, 5, 2948, 4096, 9000].into_iter().enumerate() {
            let position = receive.posted as u16;
            receive.post(&mut bed, 0, BUFFER, EntryType::Buffer);
            let immediate = (index % 2 == 0).then_some(0xcafe_0000 + length);
            send(&bed, length, immediate);
            let expected =
                Message { position, status: 0, bytes: length, immediate: immediate.map(u64::from) };
            assert_eq!(receive.wait(&mut bed), expected, "round {round}");
            assert_eq!(bed.local(BUFFERS, length), &bytes[..length as usize], "{length} bytes");
            assert_eq!(sent(&mut bed).result, Ok(()));
            total += length;
        }
    }
    assert_eq!(counted(&mut bed, statistics::PACKETS_LO), 16);
    assert_eq!(counted(&mut bed, statistics::BYTES_LO), total);
    assert_eq!(counted(&mut bed, statistics::ERRORS_LO), 0);
    // A message without a buffer waits for one.
    send(&bed, 17, None);
    bed.device.run(60_000);
    assert!(counted(&mut bed, statistics::STALLS_LO) > 0, "was refused");
    receive.post(&mut bed, 1, BUFFER, EntryType::Buffer);
    assert_eq!((receive.wait(&mut bed).bytes, sent(&mut bed).result), (17, Ok(())));
    // A wrong buffer, and one that is too short.
    receive.post(&mut bed, 1, 5, EntryType::Data);
    let wrong = receive.wait(&mut bed);
    assert_eq!((wrong.status, wrong.bytes), (Status::BadOpcode.raw(), 0));
    receive.post(&mut bed, 1, 5, EntryType::Buffer);
    send(&bed, 6, None);
    let long = receive.wait(&mut bed);
    assert_eq!((long.status, long.bytes), (Status::TooLong.raw(), 6));
    let refused = sent(&mut bed).result;
    assert!(
        matches!(refused, Err(WorkError::Refused(SfrpStatus::MESSAGE_TOO_LONG, _))),
        "{refused:?}"
    );
    assert_eq!(counted(&mut bed, statistics::ERRORS_LO), 2);
    Receive::stop(&mut bed);
}

#[test]
fn both_directions_share_the_channel() {
    let (mut bed, bytes) = with_initiator(22);
    let mut receive = Receive::start(&mut bed);
    bed.start(PARTNER);
    bed.local(FROM, 9000).copy_from_slice(&bytes[..9000]);
    let send_9000 = [work(WorkOpcode::Send, 0, 0, wf::SIGNAL), data(bed.keys[0] + FROM, 9000)];
    for round in 0..6 {
        bed.far.borrow_mut().target.post_receive(PARTNER, 1, vec![0; 9000]).expect("is open");
        receive.post(&mut bed, 0, BUFFER, EntryType::Buffer);
        send(&bed, 8999, None);
        bed.post(&send_9000);
        bed.ring();
        let done = bed.complete();
        assert_eq!((done.status, done.bytes), (0, 9000), "round {round}");
        assert_eq!(receive.wait(&mut bed).bytes, 8999, "round {round}");
        assert_eq!(bed.local(BUFFERS, 8999), &bytes[..8999], "round {round}");
        assert_eq!(sent(&mut bed).result, Ok(()), "round {round}");
        let got = bed.far.borrow_mut().target.received(PARTNER).expect("is open").expect("has one");
        assert_eq!(got.buffer, &bytes[..9000], "round {round}");
    }
    // Each of the two goes on without the other one.
    bed.stop();
    receive.post(&mut bed, 1, BUFFER, EntryType::Buffer);
    send(&bed, 100, None);
    assert_eq!((receive.wait(&mut bed).bytes, sent(&mut bed).result), (100, Ok(())));
    bed.start(PARTNER);
    Receive::stop(&mut bed);
    bed.far.borrow_mut().target.post_receive(PARTNER, 2, vec![0; 9000]).expect("is open");
    bed.succeed(&send_9000, 9000);
    // Without the queue the partner is refused; with a new one it connects again.
    send(&bed, 1, None);
    let refused = sent(&mut bed).result;
    assert!(matches!(refused, Err(WorkError::Refused(SfrpStatus::BAD_QUEUE, _))), "{refused:?}");
    // In the middle of a message.
    for cycles in [100, 400, 1000, 3000] {
        let mut receive = Receive::start(&mut bed);
        receive.post(&mut bed, 0, BUFFER, EntryType::Buffer);
        send(&bed, 9000, None);
        bed.device.run(cycles);
        Receive::stop(&mut bed);
        bed.far.borrow_mut().initiator = Some((initiator(), vec![bytes.clone()]));
    }
    let mut receive = Receive::start(&mut bed);
    receive.post(&mut bed, 0, BUFFER, EntryType::Buffer);
    send(&bed, 9000, Some(5));
    assert_eq!((receive.wait(&mut bed).immediate, sent(&mut bed).result), (Some(5), Ok(())));
    assert_eq!(bed.command(Command::Reset, 0), Status::Ok);
    for number in [PAIR, RECEIVE] {
        let at = bed.queues + queue::STRIDE * number + queue::STATE;
        assert_eq!(bed.device.read(at), QueueState::Disabled.raw().into());
    }
}

#[test]
fn both_queues_name_the_same_pair() {
    let (mut bed, _) = with_initiator(23);
    // Immediate data needs as much room as the times.
    context(&mut bed, PARTNER);
    let at = bed.queues + queue::STRIDE * RECEIVE;
    bed.device.write64(at + queue::STAMP_LO, bed.keys[0] + BYTES - 8 * (1 << LOG2));
    assert_eq!(bed.command(Command::QueueEnable, RECEIVE), Status::OutOfBounds);
    bed.start(PARTNER);
    context(&mut bed, PARTNER + 1);
    assert_eq!(bed.command(Command::QueueEnable, RECEIVE), Status::Busy);
    bed.context(RECEIVE, QueueKind::Rx, PARTNER);
    assert_eq!(bed.command(Command::QueueEnable, RECEIVE), Status::Busy);
    Receive::start(&mut bed);
    bed.stop();
    bed.context(PAIR, QueueKind::Rdma, PARTNER + 1);
    assert_eq!(bed.command(Command::QueueEnable, PAIR), Status::Busy);
    bed.context(PAIR, QueueKind::Tx, 0);
    assert_eq!(bed.command(Command::QueueEnable, PAIR), Status::Busy);
    bed.start(PARTNER);
    bed.stop();
    Receive::stop(&mut bed);
    // The channel has ordinary queues at other times.
    bed.context(PAIR, QueueKind::Tx, 0);
    assert_eq!(bed.command(Command::QueueEnable, PAIR), Status::Ok);
    context(&mut bed, PARTNER);
    assert_eq!(bed.command(Command::QueueEnable, RECEIVE), Status::Busy);
    bed.stop();
    Receive::start(&mut bed);
    Receive::stop(&mut bed);
}
