//! A queue pair of the simulated core, with the library as it is on any device. The far end is another
//! core: a target without queues, or a queue pair. Skipped without the models, as `tests/rtl_device.rs` is.

use spfe::{Endpoint, MibValue, QueueOptions, Status};
use spfe_remote::engine::{Execution, Local, WorkError, WorkFlags, WorkKind, WorkRequest};
use spfe_remote::{RdmaQueue, RdmaQueueOptions, SfrpStatus};
use spfe_rtl::models;
use std::time::Duration;

/// Longest wait for what does not fail.
const PATIENCE: Duration = Duration::from_secs(60);
/// Key of the memory of the target, address of its first byte, and its size.
const KEY: u32 = 0xabc;
const BASE: u64 = 0x1000;
const BYTES: u64 = 0x1_0000;
/// Lengths of a beat, around it, around the payload of a frame, and of one segment and several.
const LENGTHS: [usize; 9] = [0, 1, 15, 16, 17, 2948, 4095, 4096, 9000];

fn has_models(shapes: &[&str]) -> bool {
    let there =
        shapes.iter().all(|shape| models().join(format!("spfe_sim_endpoint_{shape}.so")).exists());
    assert!(there || std::env::var_os("SPFE_RTL_REQUIRED").is_none(), "make rtl-model");
    if !there {
        eprintln!("skipped: no models of a core with a queue pair or of a target; make rtl-model");
    }
    there
}

fn open(options: RdmaQueueOptions) -> Option<RdmaQueue> {
    if !has_models(&["2_1_4_wires1_pair", "1_1_4_target"]) {
        return None;
    }
    let device = spfe_rtl::open("rtl:?peer=target&ports=1&spwports=1&pairs=1").unwrap();
    let endpoint = Endpoint::with_backend(device);
    let vc = endpoint.port(0).unwrap().vc(0).unwrap();
    let queue = RdmaQueue::open(&vc, options).unwrap();
    assert!(queue.is_on_device());
    Some(queue)
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 + length) as u8).collect()
}

#[test]
fn a_queue_pair_of_the_core_reaches_memory_behind_another() {
    let Some(mut queue) = open(RdmaQueueOptions::default()) else { return };
    let regions = queue.regions(PATIENCE).unwrap();
    assert_eq!((regions[0].key, regions[0].base, regions[0].bytes), (KEY, BASE, BYTES));
    queue.connect(PATIENCE).unwrap();
    assert_eq!(queue.info(PATIENCE).unwrap().regions, 1);
    for length in LENGTHS {
        let address = BASE + length as u64 % 7;
        queue.write(KEY, address, pattern(length), PATIENCE).unwrap();
        assert_eq!(queue.read(KEY, address, length, PATIENCE).unwrap(), pattern(length));
    }
    // More requests than the core can have outstanding, with one completion.
    let memory = queue.register(pattern(6400)).unwrap();
    for number in 0..100 {
        let local = Local { memory, offset: 64 * number, length: 64 };
        let flags = WorkFlags { signaled: number == 99, ..WorkFlags::default() };
        let request = WorkRequest::write(number, local, KEY, BASE + 64 * number);
        queue.post(WorkRequest { flags, ..request }).unwrap();
    }
    queue.ring().unwrap();
    queue.wait(1, PATIENCE).unwrap();
    let done = queue.poll().unwrap().unwrap();
    assert_eq!((done.id, done.result, queue.poll().unwrap()), (99, Ok(()), None));
    assert_eq!(queue.read(KEY, BASE, 6400, PATIENCE).unwrap(), pattern(6400));
    let old = u64::from_le_bytes(pattern(6400)[8..16].try_into().unwrap());
    let add = WorkRequest::new(7, WorkKind::FetchAdd { add: 5 });
    queue.post(WorkRequest { key: KEY, address: BASE + 8, ..add }).unwrap();
    queue.ring().unwrap();
    queue.wait(1, PATIENCE).unwrap();
    let done = queue.poll().unwrap().unwrap();
    assert_eq!((done.result, done.old), (Ok(()), Some(old)));
    // Behind the end of the memory, and then anew.
    let local = Local { memory, offset: 0, length: 8 };
    queue.post(WorkRequest::write(8, local, KEY, BASE + BYTES)).unwrap();
    queue.post(WorkRequest::read(9, local, KEY, BASE)).unwrap();
    queue.ring().unwrap();
    queue.wait(2, PATIENCE).unwrap();
    let ends = [(); 2].map(|()| queue.poll().unwrap().unwrap().result);
    let refused = WorkError::Refused(SfrpStatus::BOUNDS, Execution::NotExecuted);
    assert_eq!(ends, [Err(refused), Err(WorkError::Flushed(Execution::NotExecuted))]);
    queue.connect(PATIENCE).unwrap();
    assert_eq!(queue.read(KEY, BASE + 16, 8, PATIENCE).unwrap(), pattern(6400)[16..24]);
}

#[test]
fn a_target_that_is_not_there_ends_requests_of_the_core() {
    let mut options = RdmaQueueOptions::default();
    // Nobody has this logical address.
    options.initiator.target = 0x99;
    (options.initiator.timeout_ns, options.initiator.retries) = (20_000, 2);
    let Some(mut queue) = open(options) else { return };
    let error = queue.connect(PATIENCE).unwrap_err();
    assert!(error.is_timeout(), "{error}");
    let memory = queue.register(vec![0; 8]).unwrap();
    queue.post(WorkRequest::read(1, Local { memory, offset: 0, length: 8 }, KEY, BASE)).unwrap();
    queue.ring().unwrap();
    queue.wait(1, PATIENCE).unwrap();
    let done = queue.poll().unwrap().unwrap();
    assert_eq!(done.result, Err(WorkError::Flushed(Execution::NotExecuted)));
}

/// A core of a cable between two cores, with a queue pair that takes messages.
fn end(number: u32, own: u16, partner: u16) -> Option<RdmaQueue> {
    if !has_models(&["2_1_4_wires1_pair"]) {
        return None;
    }
    let name = format!("rtl:messages/{number}?ports=1&spwports=1&pairs=1");
    let endpoint = Endpoint::with_backend(spfe_rtl::open(&name).unwrap());
    let vc = endpoint.port(0).unwrap().vc(0).unwrap();
    let mut options = RdmaQueueOptions::default();
    (options.initiator.queue, options.initiator.target_queue) = (own, partner);
    options.initiator.address = options.initiator.target;
    let mut queue = RdmaQueue::open(&vc, options).unwrap();
    queue.open_buffers(&QueueOptions::default().depth(16)).unwrap();
    assert!(queue.is_on_device());
    Some(queue)
}

#[test]
fn two_cores_exchange_messages_in_both_directions() {
    let (Some(near), Some(far)) = (end(0, 5, 7), end(1, 7, 5)) else { return };
    let mut ends = [near, far];
    let memories = ends.each_mut().map(|queue| {
        let [from, to] = [pattern(9000), vec![0; 9000]];
        (queue.register(from).unwrap(), queue.register(to).unwrap())
    });
    for (round, length) in (0..).zip(LENGTHS) {
        // Both ends send at the same time.
        for (queue, (from, to)) in ends.iter_mut().zip(memories) {
            queue.post_buffer(round, Local { memory: to, offset: 0, length: 9000 }).unwrap();
            let local = Local { memory: from, offset: 0, length: length as u32 };
            let work = WorkRequest::send(round, local);
            let flags = WorkFlags { signaled: true, ..WorkFlags::default() };
            let immediate = (round % 2 == 0).then_some(round as u32);
            queue.post(WorkRequest { immediate, flags, ..work }).unwrap();
            queue.ring().unwrap();
        }
        for (queue, (_, to)) in ends.iter_mut().zip(memories) {
            queue.wait_message(PATIENCE).unwrap();
            let message = queue.poll_message().unwrap();
            assert_eq!((message.id, message.status), (round, Status::Ok));
            assert_eq!(message.bytes, length as u32);
            assert_eq!(message.immediate, (round % 2 == 0).then_some(round as u32));
            assert!(queue.memory(to)[..length] == pattern(9000)[..length], "{length} bytes");
            queue.wait(1, PATIENCE).unwrap();
            let done = queue.poll().unwrap().unwrap();
            assert_eq!((done.id, done.result), (round, Ok(())), "{length} bytes");
        }
    }
}

/// The counters of the queue pair of a virtual channel, as a program sees them, that are not 0.
fn counters(endpoint: &Endpoint, vc: u32) -> Vec<(String, MibValue)> {
    let entries = endpoint.port_mib(0).unwrap().into_iter();
    let entries = entries.filter(|entry| entry.layer == "queue pair" && entry.index == Some(vc));
    entries.map(|entry| (entry.name, entry.value)).collect()
}

#[test]
fn counters_of_the_core_have_names() {
    if !has_models(&["2_1_4_wires1_pair"]) {
        return;
    }
    let ends = [(0, 5, 7), (1, 7, 5)].map(|(number, own, partner)| {
        let name = format!("rtl:counters/{number}?ports=1&spwports=1&pairs=1");
        let endpoint = Endpoint::with_backend(spfe_rtl::open(&name).unwrap());
        let vc = endpoint.port(0).unwrap().vc(0).unwrap();
        assert_eq!(counters(&endpoint, 0), []);
        let mut options = RdmaQueueOptions::default();
        (options.initiator.queue, options.initiator.target_queue) = (own, partner);
        options.initiator.address = options.initiator.target;
        let mut queue = RdmaQueue::open(&vc, options).unwrap();
        queue.open_buffers(&QueueOptions::default().depth(16)).unwrap();
        (endpoint, queue)
    });
    let [(near, mut from), (far, mut to)] = ends;
    let memory = to.register(vec![0; 9000]).unwrap();
    to.post_buffer(1, Local { memory, offset: 0, length: 9000 }).unwrap();
    let local = from.register(pattern(9000)).unwrap();
    let send = WorkRequest::send(1, Local { memory: local, offset: 0, length: 9000 });
    let flags = WorkFlags { signaled: true, ..WorkFlags::default() };
    from.post(WorkRequest { flags, ..send }).unwrap();
    from.ring().unwrap();
    from.wait(1, PATIENCE).unwrap();
    assert_eq!(from.poll().unwrap().unwrap().result, Ok(()));
    let number = |name: &str, count: u64| (name.to_owned(), MibValue::Number(count));
    // CONNECT, and three packets.
    let sent = [number("completed", 1), number("packets", 4), number("bytes", 9000)];
    assert_eq!(counters(&near, 0), sent);
    assert_eq!(counters(&far, 0), [number("target sends", 3), number("target connects", 1)]);
    assert_eq!((counters(&near, 1), counters(&far, 1)), (vec![], vec![]));
    drop((from, to));
    assert_eq!((counters(&near, 0), counters(&far, 0)), (vec![], vec![]));
}
