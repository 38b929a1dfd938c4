//! Requests, messages and their completions make no allocation, after the first rounds have filled
//! the queues. Device and program run in the same thread, so both are counted.

use spfe::{Deadline, Embedded, Endpoint, LinkRate, Mode, Peer, QueueOptions, Topology};
use spfe_rdma::{Local, WorkFlags, WorkKind, WorkRequest};
use spfe_remote::{RdmaQueue, RdmaQueueOptions};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

struct Counting;

thread_local!(static COUNT: Cell<u64> = const { Cell::new(0) });

// SAFETY: passes every call to the system's allocator and only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const SOON: Duration = Duration::from_secs(10);
const GROUP: u64 = 16;

/// Allocations of 100 rounds, after 50 that are not counted.
fn allocations(mut round: impl FnMut()) -> u64 {
    (0..50).for_each(|_| round());
    let before = COUNT.with(Cell::get);
    (0..100).for_each(|_| round());
    COUNT.with(Cell::get) - before
}

fn open(endpoint: &Endpoint, own: u16, partner: u16) -> RdmaQueue {
    let mut options = RdmaQueueOptions::default();
    (options.initiator.queue, options.initiator.target_queue) = (own, partner);
    let queue = RdmaQueue::open(&endpoint.port(0).unwrap().vc(0).unwrap(), options).unwrap();
    assert!(queue.is_on_device());
    queue
}

fn network(target: bool) -> (Endpoint, Endpoint, Arc<Embedded>) {
    let mut topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Inline);
    if target {
        topology.endpoints[0][0].peer = Peer::Target { file: 0 };
        topology.endpoints[1][0].peer = Peer::None;
        topology.targets = vec!["1M".into()];
    }
    let network = Embedded::new(topology).unwrap();
    let end = |endpoint| Endpoint::attach(&network, endpoint, "end").unwrap();
    (end(0), end(1), network)
}

/// Posts a group of one kind and takes its completion.
fn group(queue: &mut RdmaQueue, kind: WorkKind, memory: u32, key: u32, bytes: u32) {
    for index in 0..GROUP {
        let local = Local { memory, offset: index * u64::from(bytes), length: bytes };
        let signaled = index + 1 == GROUP;
        queue
            .post(WorkRequest {
                local: [local].into(),
                key,
                address: if kind == WorkKind::Send { 0 } else { local.offset },
                flags: WorkFlags { signaled, ..WorkFlags::default() },
                ..WorkRequest::new(index, kind)
            })
            .unwrap();
    }
    queue.ring().unwrap();
    queue.wait(1, SOON).unwrap();
    queue.poll().unwrap().unwrap().result.unwrap();
}

#[test]
fn requests_to_memory_are_without_allocation() {
    let (a, _b, _network) = network(true);
    let mut queue = open(&a, 5, 0);
    queue.connect(SOON).unwrap();
    let key = queue.regions(SOON).unwrap()[0].key;
    let memory = queue.register(vec![1; 1 << 18]).unwrap();
    for (kind, bytes) in [
        (WorkKind::Write, 64),
        (WorkKind::Write, 9000),
        (WorkKind::Read, 64),
        (WorkKind::Read, 9000),
        (WorkKind::FetchAdd { add: 1 }, 8),
        (WorkKind::Flush, 0),
    ] {
        let count = allocations(|| group(&mut queue, kind, memory, key, bytes));
        assert_eq!(count, 0, "{kind:?} of {bytes} bytes");
    }
}

#[test]
fn pooled_requests_are_without_allocation() {
    let (a, _b, _network) = network(true);
    let mut queue = open(&a, 5, 0);
    let key = queue.regions(SOON).unwrap()[0].key;
    let memory = queue.register(vec![1; 1 << 20]).unwrap();
    let request = WorkRequest::write(0, Local { memory, offset: 0, length: 64 }, key, 0);
    // One place: pages of the target take memory when they are first written.
    let mut pooled = queue.pooled(&request, 64, 0).unwrap();
    let count = allocations(|| {
        for _ in 0..GROUP {
            assert!(pooled.stage());
        }
        pooled.submit();
        pooled.wait(Deadline::after(SOON)).unwrap();
        let done = pooled.poll().unwrap();
        assert_eq!((done.requests, done.bytes), (GROUP as u32, 64 * GROUP as u32));
    });
    assert_eq!(count, 0);
}

#[test]
fn messages_are_without_allocation() {
    let (a, b, _network) = network(false);
    let (mut near, mut far) = (open(&a, 5, 7), open(&b, 7, 5));
    far.open_buffers(&QueueOptions::default()).unwrap();
    let buffers = far.register(vec![0; 64 * 1024]).unwrap();
    let buffer = |id: u64| Local { memory: buffers, offset: 1024 * id, length: 1024 };
    (0..64).for_each(|id| far.post_buffer(id, buffer(id)).unwrap());
    near.connect(SOON).unwrap();
    let memory = near.register(vec![1; 1 << 16]).unwrap();
    let count = allocations(|| {
        group(&mut near, WorkKind::Send, memory, 0, 1000);
        while let Some(message) = far.poll_message() {
            far.post_buffer(message.id, buffer(message.id)).unwrap();
        }
    });
    assert_eq!(count, 0);
}
