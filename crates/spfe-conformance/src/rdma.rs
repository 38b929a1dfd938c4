//! RDMA: work requests, with the queue pair in the device and in the program. Both behave alike.

use crate::kit::{EndpointPair, SOON, spawn, within};
use crate::{Fixture, cases};
use spfe::{QueueOptions, Status};
use spfe_remote::engine::target::ReceivedMessage;
use spfe_remote::engine::{
    Execution, InlineBytes, Local, TargetFile, TargetNode, WorkCompletion, WorkError, WorkFlags,
    WorkKind, WorkRequest,
};
use spfe_remote::engine::{RegionRights, RemoteKey};
use spfe_remote::{KeyOptions, RdmaQueue, RdmaQueueOptions, RdmaServer, SfrpStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

cases! {
    bytes_of_every_size_go_to_remote_memory_and_back: [Pairs],
    a_group_of_requests_has_one_completion: [Pairs],
    messages_and_immediate_data_arrive_in_order: [Pairs],
    atomic_operations_return_the_old_value: [Pairs],
    a_request_gathers_and_scatters_four_elements: [Pairs],
    a_refused_request_ends_the_queue_pair: [Pairs],
    a_target_that_does_not_answer_ends_the_request: [Pairs],
    two_queue_pairs_exchange_messages: [Pairs],
    shared_memory_is_served_by_the_device: [Pairs],
    a_remote_key_has_limits_and_an_end: [Pairs],
    operations_on_shared_memory_can_notify: [Pairs],
}

const KEY: u32 = 0xabc;
const QUEUE: u16 = 7;
const FILE: &str = "logical_address = 0x42\n[[region]]\nname = \"m\"\nsize = \"1M\"\n\
                    generation = 0xabc\n[[region]]\nname = \"read\"\nsize = 4096\nrights = \"r\"\n\
                    generation = 0xdef\n";

/// Runs a case with a server at the far end, once with each kind of queue pair. Returns what the far
/// end received.
fn each(fixture: &Fixture, partner: u16, case: fn(&mut RdmaQueue)) -> Vec<Vec<ReceivedMessage>> {
    [false, true].map(|in_program| once(fixture, partner, in_program, case)).into()
}

fn options(partner: u16, in_program: bool) -> RdmaQueueOptions {
    let mut options = RdmaQueueOptions { in_program, ..RdmaQueueOptions::default() };
    (options.initiator.target, options.initiator.target_queue) = (0x42, partner);
    (options.initiator.queue, options.initiator.timeout_ns) = (5, 2_000_000_000);
    options
}

fn once(
    fixture: &Fixture,
    partner: u16,
    in_program: bool,
    case: fn(&mut RdmaQueue),
) -> Vec<ReceivedMessage> {
    let pair = EndpointPair::new(fixture);
    let mut node = TargetNode::new(&TargetFile::parse(FILE).unwrap()).unwrap();
    node.target.open_queue(QUEUE).unwrap();
    for id in 0..4 {
        node.target.post_receive(QUEUE, id, vec![0; 8192]).unwrap();
    }
    let mut server = RdmaServer::open(&pair.b.port(0).unwrap().vc(0).unwrap(), node).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let far = spawn(move || {
        let mut received = Vec::new();
        while !stopped.load(Ordering::Relaxed) {
            server.serve(within(Duration::from_millis(5))).unwrap();
            while let Some(message) = server.node().target.received(QUEUE).unwrap() {
                received.push(message);
                let id = received.len() as u64;
                server.node().target.post_receive(QUEUE, id, vec![0; 8192]).unwrap();
            }
        }
        received
    });
    let vc = pair.a.port(0).unwrap().vc(0).unwrap();
    let mut queue = RdmaQueue::open(&vc, options(partner, in_program)).unwrap();
    assert_eq!(queue.is_on_device(), !in_program);
    queue.connect(SOON).unwrap();
    case(&mut queue);
    drop(queue);
    stop.store(true, Ordering::Relaxed);
    far.join().unwrap()
}

fn pattern(bytes: usize, seed: u32) -> Vec<u8> {
    (0..bytes as u32)
        .map(|n| (n.wrapping_add(seed).wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect()
}

#[track_caller]
fn one(queue: &mut RdmaQueue) -> WorkCompletion {
    queue.wait(1, SOON).unwrap();
    queue.poll().unwrap().expect("a completion")
}

fn bytes_of_every_size_go_to_remote_memory_and_back(fixture: &Fixture) {
    each(fixture, 0, |queue| {
        for (seed, length) in [0, 1, 7, 255, 4095, 4096, 4097, 70_001].into_iter().enumerate() {
            let data = pattern(length, seed as u32);
            let address = 4000 + seed as u64;
            queue.write(KEY, address, data.clone(), SOON).unwrap();
            assert!(queue.read(KEY, address, length, SOON).unwrap() == data, "{length} bytes");
        }
        let regions = queue.regions(SOON).unwrap();
        let known: Vec<_> =
            regions.iter().map(|region| (region.key & 0xfff, region.bytes)).collect();
        assert_eq!(known, [(KEY, 1 << 20), (0xdef, 4096)]);
        assert_eq!(queue.info(SOON).unwrap().regions, 2);
    });
}

fn a_group_of_requests_has_one_completion(fixture: &Fixture) {
    each(fixture, 0, |queue| {
        let memory = queue.register(pattern(128 * 64, 3)).unwrap();
        for round in 0..20 {
            for index in 0..128 {
                let local = Local { memory, offset: 64 * index, length: 64 };
                let signaled = index == 127;
                let request = WorkRequest::write(round, local, KEY, 64 * index);
                let flags = WorkFlags { signaled, ..WorkFlags::default() };
                queue.post(WorkRequest { flags, ..request }).unwrap();
            }
            queue.ring().unwrap();
            let done = one(queue);
            assert_eq!((done.id, done.bytes, done.result), (round, 64, Ok(())));
            assert_eq!(queue.poll().unwrap(), None);
        }
        assert!(queue.memory(memory) == pattern(128 * 64, 3));
        assert!(queue.read(KEY, 0, 128 * 64, SOON).unwrap() == pattern(128 * 64, 3));
    });
}

fn messages_and_immediate_data_arrive_in_order(fixture: &Fixture) {
    let received = each(fixture, QUEUE, |queue| {
        let memory = queue.register(pattern(6000, 0)).unwrap();
        for number in 0..30u32 {
            let local = Local { memory, offset: number.into(), length: 5000 };
            let kind = if number % 3 == 2 { WorkKind::Write } else { WorkKind::Send };
            queue
                .post(WorkRequest {
                    local: [local].into(),
                    key: if kind == WorkKind::Write { KEY } else { 0 },
                    immediate: (number % 3 != 0).then_some(0xcafe_0000 + number),
                    ..WorkRequest::new(number.into(), kind)
                })
                .unwrap();
        }
        // More messages than buffers: the rest waits for credit.
        queue.ring().unwrap();
        for number in 0..30 {
            let done = one(queue);
            assert_eq!((done.id, done.result), (number, Ok(())));
        }
    });
    for messages in received {
        assert_eq!(messages.len(), 30);
        for (number, message) in (0u32..).zip(&messages) {
            let immediate = (number % 3 != 0).then_some(0xcafe_0000 + number);
            assert_eq!((message.immediate, message.bytes), (immediate, 5000));
            if number % 3 != 2 {
                let data = &pattern(6000, 0)[number as usize..][..5000];
                assert!(message.buffer[..5000] == *data, "message {number}");
            }
        }
    }
}

fn atomic_operations_return_the_old_value(fixture: &Fixture) {
    each(fixture, 0, |queue| {
        let at = |kind, id| WorkRequest { key: KEY, address: 64, ..WorkRequest::new(id, kind) };
        let mut expected = 0u64;
        for id in 0..40 {
            queue.post(at(WorkKind::FetchAdd { add: id + 1 }, id)).unwrap();
        }
        queue.ring().unwrap();
        for id in 0..40 {
            let done = one(queue);
            assert_eq!((done.id, done.old, done.result), (id, Some(expected), Ok(())));
            expected += id + 1;
        }
        for (compare, swap, old) in [(1, 9, expected), (expected, 5, expected), (5, 6, 5)] {
            queue.post(at(WorkKind::CompareSwap { compare, swap }, 0)).unwrap();
            queue.ring().unwrap();
            assert_eq!(one(queue).old, Some(old));
        }
        assert_eq!(queue.read(KEY, 64, 8, SOON).unwrap(), 6u64.to_le_bytes());
    });
}

fn a_request_gathers_and_scatters_four_elements(fixture: &Fixture) {
    each(fixture, 0, |queue| {
        let (from, to) = (queue.register(pattern(9000, 1)), queue.register(vec![0; 9000]));
        let (from, to) = (from.unwrap(), to.unwrap());
        let list = |memory| {
            let piece = |(offset, length)| Local { memory, offset, length };
            [(10, 100), (5000, 3000), (0, 1), (200, 2000)].map(piece).into()
        };
        let write = WorkRequest { key: KEY, address: 77, ..WorkRequest::new(1, WorkKind::Write) };
        queue.post(WorkRequest { local: list(from), ..write }).unwrap();
        let fence = WorkFlags { signaled: true, fence: true, ..WorkFlags::default() };
        let read = WorkRequest { key: KEY, address: 77, ..WorkRequest::new(2, WorkKind::Read) };
        queue.post(WorkRequest { local: list(to), flags: fence, ..read }).unwrap();
        let inline = InlineBytes::new(&pattern(44, 9));
        let write = WorkRequest { key: KEY, address: 9000, ..WorkRequest::new(3, WorkKind::Write) };
        queue.post(WorkRequest { inline, ..write }).unwrap();
        queue.ring().unwrap();
        let bytes = [5101, 5101, 44];
        for (id, bytes) in (1..).zip(bytes) {
            let done = one(queue);
            assert_eq!((done.id, done.bytes, done.result), (id, bytes, Ok(())));
        }
        let (sent, back) = (pattern(9000, 1), queue.memory(to));
        for range in [10..110, 5000..8000, 0..1, 200..2200] {
            assert!(sent[range.clone()] == back[range.clone()], "{range:?}");
        }
        assert!(back[1..10].iter().chain(&back[110..200]).all(|byte| *byte == 0));
        assert_eq!(queue.read(KEY, 9000, 44, SOON).unwrap(), pattern(44, 9));
    });
}

fn a_refused_request_ends_the_queue_pair(fixture: &Fixture) {
    each(fixture, 0, |queue| {
        let memory = queue.register(pattern(64, 1)).unwrap();
        let local = Local { memory, offset: 0, length: 64 };
        // Wrong key, beyond the end, no right to write.
        for (key, address) in [(KEY ^ 1, 0), (KEY, 1 << 20), (1 << 12 | 0xdef, 0)] {
            for id in 0..4 {
                let (key, address) = if id == 1 { (key, address) } else { (KEY, 64 * id) };
                queue.post(WorkRequest::write(id, local, key, address)).unwrap();
            }
            queue.ring().unwrap();
            let ends: Vec<_> = (0..4).map(|_| one(queue)).collect();
            assert_eq!(ends[0].result, Ok(()));
            match ends[1].result {
                Err(WorkError::Refused(status, Execution::NotExecuted)) => {
                    assert!(matches!(status.0, 3..=5), "{status}");
                }
                other => panic!("{other:?}"),
            }
            let flushed = Err(WorkError::Flushed(Execution::NotExecuted));
            assert_eq!((ends[2].result, ends[3].result), (flushed, flushed));
            queue.post(WorkRequest::write(9, local, KEY, 0)).unwrap();
            queue.ring().unwrap();
            assert_eq!(one(queue).result, flushed);
            queue.connect(SOON).unwrap();
        }
        queue.write(KEY, 0, vec![1], SOON).unwrap();
    });
}

fn a_target_that_does_not_answer_ends_the_request(fixture: &Fixture) {
    for in_program in [false, true] {
        let pair = EndpointPair::new(fixture);
        let vc = pair.a.port(0).unwrap().vc(0).unwrap();
        let mut options = options(0, in_program);
        (options.initiator.timeout_ns, options.initiator.retries) = (1_000_000, 2);
        let mut queue = RdmaQueue::open(&vc, options).unwrap();
        // Nobody receives at the far end.
        assert!(queue.connect(SOON).unwrap_err().is_timeout());
        drop(queue);
        let mut rx = pair.b.port(0).unwrap().vc(0).unwrap().rx().unwrap();
        rx.poll();
    }
}

/// A queue pair with a receive queue.
pub(crate) fn with_buffers(endpoint: &spfe::Endpoint, own: u16, partner: u16) -> RdmaQueue {
    let mut options = options(partner, false);
    (options.initiator.queue, options.initiator.address) = (own, 0x42);
    let vc = endpoint.port(0).unwrap().vc(0).unwrap();
    let mut queue = RdmaQueue::open(&vc, options).unwrap();
    queue.open_buffers(&QueueOptions::default().depth(4)).unwrap();
    queue
}

/// Both ends have a queue pair with buffers, where the device has them: messages in both directions,
/// too long ones, and immediate data.
fn two_queue_pairs_exchange_messages(fixture: &Fixture) {
    const ROUNDS: u32 = 40;
    let pair = EndpointPair::new(fixture);
    let (mut near, mut far) = (with_buffers(&pair.a, 5, 7), with_buffers(&pair.b, 7, 5));
    let echo = spawn(move || {
        let memory = far.register(vec![0; 4 * 1000]).unwrap();
        let answer = far.register(b"an answer".to_vec()).unwrap();
        let buffer = |id: u64| Local { memory, offset: 1000 * (id % 4), length: 1000 };
        (0..4).for_each(|id| far.post_buffer(id, buffer(id)).unwrap());
        for number in 0..ROUNDS {
            far.wait_message(SOON).unwrap();
            let message = far.poll_message().unwrap();
            assert_eq!((message.id, message.status), (u64::from(number), Status::Ok));
            assert_eq!((message.immediate, message.bytes), (Some(number), 10 * number));
            far.post_buffer(message.id + 4, buffer(message.id)).unwrap();
            let local = Local { memory: answer, offset: 0, length: 9 };
            let request = WorkRequest::send(number.into(), local);
            far.post(WorkRequest { immediate: Some(!number), ..request }).unwrap();
            far.ring().unwrap();
            assert_eq!(one(&mut far).result, Ok(()));
        }
        far.wait_message(SOON).unwrap();
        let message = far.poll_message().unwrap();
        assert_eq!((message.status, message.bytes), (Status::TooLong, 1001));
        far
    });
    let (data, back) = (near.register(pattern(2000, 0)).unwrap(), near.register(vec![0; 9]));
    let back = back.unwrap();
    for number in 0..ROUNDS {
        near.post_buffer(0, Local { memory: back, offset: 0, length: 9 }).unwrap();
        let local = Local { memory: data, offset: 0, length: 10 * number };
        let request = WorkRequest::send(number.into(), local);
        near.post(WorkRequest { immediate: Some(number), ..request }).unwrap();
        near.ring().unwrap();
        assert_eq!(one(&mut near).result, Ok(()), "message {number}");
        near.wait_message(SOON).unwrap();
        let answer = near.poll_message().unwrap();
        assert_eq!((answer.bytes, answer.immediate, answer.status), (9, Some(!number), Status::Ok));
        assert_eq!(near.memory(back), b"an answer");
    }
    near.post(WorkRequest::send(0, Local { memory: data, offset: 0, length: 1001 })).unwrap();
    near.ring().unwrap();
    let done = one(&mut near).result;
    assert!(matches!(done, Err(WorkError::Refused(SfrpStatus::MESSAGE_TOO_LONG, _))), "{done:?}");
    drop(echo.join().unwrap());
}

/// A far end whose program does nothing but wait. In modes without a device thread the waits run the
/// engine.
struct Idle {
    stop: Arc<AtomicBool>,
    thread: crate::kit::Thread<RdmaQueue>,
}

impl Idle {
    fn start(mut queue: RdmaQueue) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let _bounded = within(Duration::from_millis(5));
                // Nothing comes, so this ends with a time-out.
                queue.wait_message(Duration::from_millis(5)).unwrap_err();
            }
            queue
        });
        Self { stop, thread }
    }

    fn end(self) -> RdmaQueue {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

const SHARED: usize = 30_000;

/// A far end that shares its memory.
fn sharing(pair: &EndpointPair, options: &KeyOptions) -> (RdmaQueue, u32, RemoteKey) {
    let mut far = with_buffers(&pair.b, 7, 5);
    let memory = far.register_shared(&pattern(SHARED, 1)).unwrap();
    let local = Local { memory, offset: 0, length: SHARED as u32 };
    let key = far.share(local, options, SOON).unwrap();
    (far, memory, key)
}

#[track_caller]
pub(crate) fn execute(queue: &mut RdmaQueue, request: WorkRequest) -> WorkCompletion {
    queue.post(request).unwrap();
    queue.ring().unwrap();
    one(queue)
}

#[track_caller]
fn is_refused(done: Result<(), WorkError>, wanted: SfrpStatus) {
    assert!(matches!(done, Err(WorkError::Refused(status, _)) if status == wanted), "{done:?}");
}

fn shared_memory_is_served_by_the_device(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    const BASE: u64 = 1 << 40;
    let options = KeyOptions { address: BASE, ..KeyOptions::default() };
    let (far, memory, key) = sharing(&pair, &options);
    let far = Idle::start(far);
    let mut near = with_buffers(&pair.a, 5, 7);
    let (key, mut truth) = (key.0, pattern(SHARED, 1));
    for (seed, length) in [0, 1, 7, 4095, 4097, 20_001].into_iter().enumerate() {
        let data = pattern(length, seed as u32 + 9);
        let at = 13 + 1000 * seed;
        near.write(key, BASE + at as u64, data.clone(), SOON).unwrap();
        truth[at..at + length].copy_from_slice(&data);
        assert!(near.read(key, BASE, SHARED, SOON).unwrap() == truth, "{length} bytes at {at}");
    }
    let number = u64::from_le_bytes(truth[64..72].try_into().unwrap());
    let old = |kind| WorkRequest { address: BASE + 64, key, ..WorkRequest::new(1, kind) };
    let added = execute(&mut near, old(WorkKind::FetchAdd { add: 5 }));
    assert_eq!((added.result, added.old), (Ok(()), Some(number)));
    let (compare, swap) = (number.wrapping_add(5), 77);
    let swapped = execute(&mut near, old(WorkKind::CompareSwap { compare, swap }));
    assert_eq!((swapped.result, swapped.old), (Ok(()), Some(compare)));
    truth[64..72].copy_from_slice(&77u64.to_le_bytes());
    let listed = near.regions(SOON).unwrap();
    let listed: Vec<_> = listed.iter().map(|region| (region.key, region.base)).collect();
    assert_eq!(listed, [(key, BASE)]);
    let mut far = far.end();
    let mut got = vec![0; SHARED];
    far.load(memory, 0, &mut got).unwrap();
    assert!(got == truth, "what the program sees");
    assert!(far.memory(memory).is_empty(), "shared memory belongs to the device");
    far.store(memory, 5, b"from the program").unwrap();
    let far = Idle::start(far);
    assert_eq!(near.read(key, BASE + 5, 16, SOON).unwrap(), b"from the program");
    drop((near, far.end()));
}

fn a_remote_key_has_limits_and_an_end(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let rights = RegionRights { read: true, ..RegionRights::default() };
    let (mut far, memory, key) = sharing(&pair, &KeyOptions { rights, ..KeyOptions::default() });
    let local = Local { memory, offset: 8, length: 8 };
    let others = KeyOptions { initiators: vec![0x67, 0x68], ..KeyOptions::default() };
    let closed = far.share(local, &others, SOON).unwrap();
    let ours = KeyOptions { initiators: vec![0x67, 0x42], hidden: true, ..KeyOptions::default() };
    let open = far.share(local, &ours, SOON).unwrap();
    for wrong in [
        far.share(Local { length: 200_000, ..local }, &ours, SOON),
        far.share(Local { length: 0, ..local }, &ours, SOON),
        far.share(Local { offset: 9, ..local }, &ours, SOON),
        far.share(local, &KeyOptions { initiators: vec![0], ..KeyOptions::default() }, SOON),
        far.share(local, &KeyOptions { address: u64::MAX - 3, ..KeyOptions::default() }, SOON),
    ] {
        wrong.unwrap_err();
    }
    let far = Idle::start(far);
    let mut near = with_buffers(&pair.a, 5, 7);
    let word = near.register(vec![1; 16]).unwrap();
    let local = Local { memory: word, offset: 0, length: 8 };
    let write = |key: RemoteKey, address| WorkRequest::write(0, local, key.0, address);
    let read = |key: RemoteKey, address| WorkRequest {
        local: [local].into(),
        key: key.0,
        address,
        ..WorkRequest::new(0, WorkKind::Read)
    };
    assert_eq!(execute(&mut near, write(open, 0)).result, Ok(()));
    let end = SHARED as u64;
    let refusals = [
        (write(key, 0), SfrpStatus::ACCESS),
        (read(key, end - 7), SfrpStatus::BOUNDS),
        (read(key, u64::MAX - 3), SfrpStatus::BOUNDS),
        (read(closed, 0), SfrpStatus::ACCESS),
        (read(RemoteKey(key.0 ^ 1), 0), SfrpStatus::BAD_KEY),
        (read(RemoteKey(key.0 + (100 << 12)), 0), SfrpStatus::BAD_KEY),
    ];
    for (request, status) in refusals {
        is_refused(execute(&mut near, request).result, status);
        near.connect(SOON).unwrap();
        assert_eq!(execute(&mut near, read(key, end - 8)).result, Ok(()));
    }
    assert_eq!(near.regions(SOON).unwrap().len(), 3);
    let mut far = far.end();
    let mut expected = pattern(SHARED, 1);
    expected[8..16].fill(1);
    let mut got = vec![0; SHARED];
    far.load(memory, 0, &mut got).unwrap();
    assert!(got == expected, "nothing but the one write");
    // Keys outlast a new start of the far end, which has a partner now.
    let waiting = Idle::start(near);
    far.connect(SOON).unwrap();
    let mut near = waiting.end();
    far.unshare(key, SOON).unwrap();
    far.unshare(key, SOON).unwrap_err();
    let far = Idle::start(far);
    near.connect(SOON).unwrap();
    assert_eq!(execute(&mut near, read(open, 0)).result, Ok(()));
    is_refused(execute(&mut near, read(key, 0)).result, SfrpStatus::BAD_KEY);
    drop((near, far.end()));
}

fn operations_on_shared_memory_can_notify(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let options = KeyOptions { notify: true, ..KeyOptions::default() };
    let (mut far, _, key) = sharing(&pair, &options);
    let buffer = far.register(vec![0; 64]).unwrap();
    let local = Local { memory: buffer, offset: 0, length: 64 };
    far.post_buffer(1, local).unwrap();
    far.post_buffer(2, local).unwrap();
    let program = spawn(move || {
        far.wait_message(SOON).unwrap();
        let first = far.poll_message().unwrap();
        far.wait_message(SOON).unwrap();
        let second = far.poll_message().unwrap();
        (far, [first, second])
    });
    let mut near = with_buffers(&pair.a, 5, 7);
    // A read does not notify.
    near.write(key.0, 0, vec![7; 5000], SOON).unwrap();
    assert_eq!(near.read(key.0, 0, 5000, SOON).unwrap(), [7; 5000]);
    let word = near.register(vec![3; 8]).unwrap();
    let piece = Local { memory: word, offset: 0, length: 8 };
    let send = WorkRequest { immediate: Some(9), ..WorkRequest::send(5, piece) };
    assert_eq!(execute(&mut near, send).result, Ok(()));
    let (far, [first, second]) = program.join().unwrap();
    let of = |message: &spfe_remote::PairMessage| (message.id, message.bytes, message.immediate);
    assert_eq!((of(&first), first.is_write, first.key), ((1, 5000, None), true, key.0));
    assert_eq!((of(&second), second.is_write, second.key), ((2, 8, Some(9)), false, 0));
    drop((near, far));
}
