//! The pooled form of the queue: what it does to memory, and what it refuses.

use spfe::{Deadline, Embedded, Endpoint, LinkRate, Mode, Peer, QueueOptions, Status, Topology};
use spfe_rdma::{Local, WorkKind, WorkRequest};
use spfe_remote::{PooledPair, RdmaQueue, RdmaQueueOptions};
use std::sync::Arc;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);
/// Requests in a ring, and bytes of one.
const REQUESTS: u32 = 16;
const BYTES: u32 = 100;
const STRIDE: u32 = 128;

/// A queue to a target-only endpoint, its key, and memory for all requests.
fn open(mode: Mode, in_program: bool) -> (RdmaQueue, u32, u32, Arc<Embedded>) {
    let mut topology = Topology::pairs(2, LinkRate::Unlimited, mode);
    topology.endpoints[0][0].peer = Peer::Target { file: 0 };
    topology.endpoints[1][0].peer = Peer::None;
    topology.targets = vec!["64K".into()];
    let network = Embedded::new(topology).unwrap();
    let endpoint = Endpoint::attach(&network, 0, "near").unwrap();
    let mut options = RdmaQueueOptions { in_program, ..RdmaQueueOptions::default() };
    options.initiator.depth = REQUESTS as usize / 2;
    options.queue = QueueOptions::default();
    let mut queue = RdmaQueue::open(&endpoint.port(0).unwrap().vc(0).unwrap(), options).unwrap();
    let key = queue.regions(SOON).unwrap()[0].key;
    let memory = queue.register(vec![0; (STRIDE * REQUESTS) as usize]).unwrap();
    (queue, key, memory, network)
}

fn request(kind: WorkKind, key: u32, memory: u32) -> WorkRequest {
    let local = Local { memory, offset: 0, length: BYTES };
    WorkRequest { local: [local].into(), key, address: 0x100, ..WorkRequest::new(0, kind) }
}

/// Posts a group, and waits for its completion.
fn group(pooled: &mut PooledPair, count: u32) -> Status {
    for _ in 0..count {
        assert!(pooled.stage());
    }
    pooled.submit();
    pooled.wait(Deadline::after(SOON)).unwrap_or_else(|error| panic!("{error}: {}", pooled.why()));
    let done = pooled.poll().unwrap();
    if done.status == Status::Ok {
        assert_eq!((done.requests, done.bytes), (count, count * BYTES));
        assert_eq!((pooled.outstanding(), pooled.free()), (0, pooled.requests()));
    }
    done.status
}

#[test]
fn groups_write_and_read_every_place_many_times() {
    for mode in [Mode::Inline, Mode::Thread] {
        let (queue, key, memory, _network) = open(mode, false);
        let mut pooled =
            queue.pooled(&request(WorkKind::Write, key, memory), STRIDE, BYTES.into()).unwrap();
        assert_eq!(pooled.requests(), REQUESTS);
        let (mut remote, mut value) = (vec![0u8; (BYTES * REQUESTS) as usize], 0u8);
        // Groups of every size, so that they end everywhere in the ring, also across its end.
        for count in (1..=REQUESTS).chain([3, 5, 7, 11, 13, 16, 16, 1]) {
            for ahead in 0..count {
                let number = (pooled.next_request() + ahead) % REQUESTS;
                value = value.wrapping_mul(3).wrapping_add(1);
                pooled.bytes(number).unwrap().fill(value);
                let at = (BYTES * number) as usize;
                remote[at..at + BYTES as usize].fill(value);
            }
            assert_eq!(group(&mut pooled, count), Status::Ok);
        }
        let mut queue = RdmaQueue::from_pooled(pooled);
        queue.connect(SOON).unwrap();
        assert_eq!(queue.read(key, 0x100, remote.len(), SOON).unwrap(), remote);

        queue.memory_mut(memory).fill(0);
        let mut pooled =
            queue.pooled(&request(WorkKind::Read, key, memory), STRIDE, BYTES.into()).unwrap();
        for _ in 0..3 {
            assert_eq!(group(&mut pooled, REQUESTS), Status::Ok);
        }
        for number in 0..REQUESTS {
            let at = (BYTES * number) as usize;
            assert_eq!(pooled.bytes(number).unwrap(), &remote[at..at + BYTES as usize]);
        }
    }
}

#[test]
fn outstanding_requests_keep_their_bytes() {
    let (queue, key, memory, _network) = open(Mode::Inline, false);
    let mut pooled = queue.pooled(&request(WorkKind::Write, key, memory), STRIDE, 0).unwrap();
    assert!(pooled.stage() && pooled.stage());
    assert!(pooled.bytes(0).is_none() && pooled.bytes(1).is_none());
    assert!(pooled.bytes(2).is_some() && pooled.bytes(REQUESTS).is_none());
    while pooled.stage() {}
    assert_eq!((pooled.free(), pooled.outstanding()), (0, REQUESTS));
    assert!((0..REQUESTS).all(|number| pooled.bytes(number).is_none()));
    pooled.submit();
    pooled.wait(Deadline::after(SOON)).unwrap();
    assert_eq!(pooled.poll().unwrap().requests, REQUESTS);
    assert!(pooled.bytes(0).is_some() && pooled.poll().is_none());
}

#[test]
fn an_error_ends_everything_and_the_queue_can_go_on() {
    let (queue, key, memory, _network) = open(Mode::Inline, false);
    // The ninth request lies behind the region of 64 KiB.
    let wide = 0x2000;
    let mut pooled = queue.pooled(&request(WorkKind::Write, key, memory), STRIDE, wide).unwrap();
    assert_eq!(group(&mut pooled, 7), Status::Ok);
    (0..6).for_each(|_| assert!(pooled.stage()));
    pooled.submit();
    let mut ended = Vec::new();
    while pooled.outstanding() > 0 {
        pooled.wait(Deadline::after(SOON)).unwrap();
        let done = pooled.poll().unwrap();
        ended.extend((0..done.requests).map(|_| done.status));
    }
    assert_eq!((ended.len(), ended[0]), (6, Status::Ok), "{ended:?}");
    assert!(ended.contains(&Status::RemoteAccess) && ended.contains(&Status::Flushed), "{ended:?}");
    let mut queue = RdmaQueue::from_pooled(pooled);
    queue.connect(SOON).unwrap();
    queue.write(key, 0, vec![1; 100], SOON).unwrap();
    assert_eq!(queue.memory(memory).len(), (STRIDE * REQUESTS) as usize);
}

#[test]
fn what_cannot_be_pooled_is_refused() {
    let good = |key, memory| request(WorkKind::Write, key, memory);
    let refused = |change: &dyn Fn(&mut WorkRequest), stride, status| {
        let (queue, key, memory, _network) = open(Mode::Inline, false);
        let mut request = good(key, memory);
        change(&mut request);
        let error = queue.pooled(&request, stride, 0).err().unwrap();
        assert_eq!(error.status(), Some(status), "{error}");
    };
    refused(&|request| request.local = [].into(), STRIDE, Status::BadField);
    refused(&|request| request.immediate = Some(1), STRIDE, Status::BadField);
    refused(&|request| request.kind = WorkKind::FetchAdd { add: 1 }, STRIDE, Status::BadField);
    refused(&|_| {}, BYTES - 1, Status::BadField);
    refused(&|_| {}, STRIDE + 4, Status::OutOfBounds);
    refused(
        &|request| request.local = [Local { memory: 9, offset: 0, length: 8 }].into(),
        STRIDE,
        Status::OutOfBounds,
    );
    let (queue, key, memory, _network) = open(Mode::Thread, true);
    let error = queue.pooled(&good(key, memory), STRIDE, 0).err().unwrap();
    assert_eq!(error.status(), Some(Status::BadOpcode), "{error}");
}
