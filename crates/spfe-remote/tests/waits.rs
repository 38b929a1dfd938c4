//! Waits for a number of completions, for bytes, for a part of the buffers, and for a time since the first
//! one: with the engine in the device and in the program, in virtual time.

use spfe::{
    Deadline, Embedded, Endpoint, Link, Mode, Peer, QueueOptions, Ready, Threshold, Topology,
};
use spfe_rdma::{Local, WorkKind, WorkRequest};
use spfe_remote::{RdmaError, RdmaQueue, RdmaQueueOptions};
use std::sync::Arc;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);
const MEMORY: usize = 1 << 20;

struct Bench {
    endpoint: Endpoint,
    queue: RdmaQueue,
    key: u32,
    memory: u32,
    in_program: bool,
    _network: Arc<Embedded>,
}

/// A link of 18.9 Gbit/s to a target-only endpoint.
fn bench(in_program: bool) -> Bench {
    let rate = "4x6.25G".parse::<Link>().unwrap().rate;
    let mut topology = Topology { virtual_time: true, ..Topology::pairs(2, rate, Mode::Inline) };
    topology.endpoints[0][0].peer = Peer::Target { file: 0 };
    topology.endpoints[1][0].peer = Peer::None;
    topology.targets = vec!["2M".into()];
    let network = Embedded::new(topology).unwrap();
    let endpoint = Endpoint::attach(&network, 0, "near").unwrap();
    let options = RdmaQueueOptions { in_program, ..RdmaQueueOptions::default() };
    let mut queue = RdmaQueue::open(&endpoint.port(0).unwrap().vc(0).unwrap(), options).unwrap();
    let key = queue.regions(SOON).unwrap()[0].key;
    queue.connect(SOON).unwrap();
    let memory = queue.register(vec![7; MEMORY]).unwrap();
    Bench { endpoint, queue, key, memory, in_program, _network: network }
}

impl Bench {
    /// Posts writes, each a group of its own.
    fn write(&mut self, lengths: &[u32]) {
        for (id, length) in lengths.iter().enumerate() {
            let local = Local { memory: self.memory, offset: 0, length: *length };
            self.queue.post(WorkRequest::write(id as u64, local, self.key, 0)).unwrap();
            self.queue.ring().unwrap();
        }
    }

    fn take(&mut self) -> usize {
        std::iter::from_fn(|| self.queue.poll().unwrap()).count()
    }
}

fn on_both_paths(test: impl Fn(Bench)) {
    for in_program in [false, true] {
        test(bench(in_program));
    }
}

#[test]
fn a_number_of_completions() {
    on_both_paths(|mut bench| {
        bench.write(&[100_000; 6]);
        let goal = Threshold::count(4);
        assert_eq!(bench.queue.wait_for(&goal, SOON).unwrap(), Ready::Threshold);
        // Those that are there stay, so the same wait ends at once.
        let now_ns = bench.endpoint.now_ns();
        assert_eq!(bench.queue.wait_for(&goal, SOON).unwrap(), Ready::Threshold);
        assert_eq!(bench.endpoint.now_ns(), now_ns);
        let taken = (0..4).filter(|_| bench.queue.poll().unwrap().is_some()).count();
        assert_eq!(taken, 4);
    });
}

#[test]
fn a_number_of_bytes() {
    on_both_paths(|mut bench| {
        let start_ns = bench.endpoint.now_ns();
        bench.write(&[200_000; 5]);
        let goal = Threshold::bytes(500_000);
        assert_eq!(bench.queue.wait_for(&goal, SOON).unwrap(), Ready::Threshold);
        // Three of them at 18.9 Gbit/s, and not all.
        let took_ns = bench.endpoint.now_ns() - start_ns;
        assert!((250_000..330_000).contains(&took_ns), "{took_ns} ns");
    });
}

#[test]
fn a_time_since_the_first() {
    on_both_paths(|mut bench| {
        let start_ns = bench.endpoint.now_ns();
        // The first is there after 43 us, the second after 470 us.
        bench.write(&[100_000, 1_000_000]);
        let goal = Threshold::count(2).or_after_first(Duration::from_micros(100));
        assert_eq!(bench.queue.wait_for(&goal, SOON).unwrap(), Ready::AfterFirst);
        let took_ns = bench.endpoint.now_ns() - start_ns;
        // A program that waits for room to send sees the first one later.
        let latest_ns = if bench.in_program { 260_000 } else { 160_000 };
        assert!((142_000..latest_ns).contains(&took_ns), "{took_ns} ns");
        assert_eq!(bench.take(), 1);
        // Nothing has come yet, so the time has not begun.
        let goal = Threshold::bytes(5_000_000).or_after_first(Duration::from_micros(10));
        let error = bench.queue.wait_for(&goal, Duration::from_micros(50)).unwrap_err();
        assert!(matches!(error, RdmaError::TimedOut { .. }), "{error}");
        bench.queue.wait(1, SOON).unwrap();
    });
}

#[test]
fn an_error_and_an_empty_queue_ask_for_attention() {
    on_both_paths(|mut bench| {
        let goal = Threshold::count(3).or_bytes(1 << 30);
        assert_eq!(bench.queue.wait_for(&goal, SOON).unwrap(), Ready::Attention);
        bench.write(&[100, 100]);
        assert_eq!(bench.queue.wait_for(&goal, SOON).unwrap(), Ready::Attention);
        assert_eq!(bench.take(), 2);
        let request = WorkRequest { key: bench.key + 1, ..WorkRequest::new(9, WorkKind::Flush) };
        let wrong = WorkRequest { kind: WorkKind::FetchAdd { add: 1 }, ..request };
        bench.queue.post(wrong).unwrap();
        bench.write(&[1_000_000; 3]);
        assert_eq!(bench.queue.wait_for(&goal, SOON).unwrap(), Ready::Attention);
        assert!(bench.queue.poll().unwrap().unwrap().result.is_err());
    });
}

#[test]
fn groups_of_requests_that_repeat() {
    let Bench { endpoint, queue, key, memory, .. } = bench(false);
    let local = Local { memory, offset: 0, length: 256 };
    let mut pooled = queue.pooled(&WorkRequest::write(0, local, key, 0), 256, 256).unwrap();
    for _ in 0..4 {
        (0..100).for_each(|_| assert!(pooled.stage()));
        pooled.submit();
    }
    let deadline = endpoint.deadline_after(SOON);
    let goal = Threshold::bytes(3 * 25_600);
    assert_eq!(pooled.wait_for(&goal, deadline).unwrap(), Ready::Threshold);
    let done: u32 = (0..3).map(|_| pooled.poll().unwrap().bytes).sum();
    assert_eq!(done, 3 * 25_600);
    assert_eq!(pooled.wait_for(&Threshold::ONE, Deadline::NEVER).unwrap(), Ready::Threshold);
}

#[test]
fn a_part_of_the_buffers() {
    let rate = "4x6.25G".parse::<Link>().unwrap().rate;
    let topology = Topology { virtual_time: true, ..Topology::pairs(2, rate, Mode::Inline) };
    let network = Embedded::new(topology).unwrap();
    let [near, far] = [(0, 5, 7), (1, 7, 5)].map(|(endpoint, own, partner)| {
        let mut options = RdmaQueueOptions::default();
        (options.initiator.queue, options.initiator.target_queue) = (own, partner);
        let endpoint = Endpoint::attach(&network, endpoint, "end").unwrap();
        RdmaQueue::open(&endpoint.port(0).unwrap().vc(0).unwrap(), options).unwrap()
    });
    let (mut near, mut far) = (near, far);
    far.open_buffers(&QueueOptions::default()).unwrap();
    let buffers = far.register(vec![0; 8 * 1000]).unwrap();
    for id in 0..8 {
        let buffer = Local { memory: buffers, offset: 1000 * id, length: 1000 };
        far.post_buffer(id, buffer).unwrap();
    }
    let half = far.fill_threshold(50).unwrap();
    assert_eq!(half, Threshold::count(4));
    near.connect(SOON).unwrap();
    let memory = near.register(vec![1; 1000]).unwrap();
    let mut send = |count: u64| {
        for id in 0..count {
            near.post(WorkRequest::send(id, Local { memory, offset: 0, length: 1000 })).unwrap();
        }
        near.ring().unwrap();
        near.wait(count as usize, SOON).unwrap();
        while near.poll().unwrap().is_some() {}
    };
    send(3);
    let error = far.wait_messages(&half, Duration::from_micros(50)).unwrap_err();
    assert!(matches!(error, RdmaError::TimedOut { .. }), "{error}");
    let some = half.or_after_first(Duration::from_micros(20));
    assert_eq!(far.wait_messages(&some, SOON).unwrap(), Ready::AfterFirst);
    send(1);
    assert_eq!(far.wait_messages(&half, SOON).unwrap(), Ready::Threshold);
    assert_eq!(far.wait_messages(&Threshold::bytes(4000), SOON).unwrap(), Ready::Threshold);
    assert_eq!(std::iter::from_fn(|| far.poll_message()).count(), 4);
}
