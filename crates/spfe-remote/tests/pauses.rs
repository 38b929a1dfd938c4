//! Requests that meet a target that is not ready or busy, while the far end is outside of the library:
//! the thread that waits for them goes on when the pause is over, long before the time-out.

use spfe::{Clock, Embedded, Endpoint, LinkRate, Mode, QueueOptions, Rx, Strategy, Topology, Tx};
use spfe_proto::sfrp::{Opcode, SfrpHeader, SfrpStatus};
use spfe_rdma::{Local, WorkRequest};
use spfe_remote::{RdmaQueue, RdmaQueueOptions};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// Time-out of a request, which no case reaches.
const TIMEOUT: Duration = Duration::from_secs(1200);
/// Limit of a wait. A request that waits for its time-out fails here.
const SOON: Duration = Duration::from_secs(60);
/// How long a refused request has to wait.
const PAUSE_US: u32 = 300;
/// Messages of the case whose threads race.
const ROUNDS: u64 = 300;
const BUFFERS: usize = 64;

fn open(endpoint: &Endpoint, own: u16, partner: u16) -> RdmaQueue {
    let mut options = RdmaQueueOptions::default();
    (options.initiator.queue, options.initiator.target_queue) = (own, partner);
    options.initiator.timeout_ns = TIMEOUT.as_nanos() as u64;
    options.queue = QueueOptions::default().strategy(Strategy::Block);
    RdmaQueue::open(&endpoint.port(0).unwrap().vc(0).unwrap(), options).unwrap()
}

/// Endpoints 0 and 1 of a network of their own, at the ends of a link without limit.
fn ends(mode: Mode, virtual_time: bool) -> [Endpoint; 2] {
    let topology = Topology { virtual_time, ..Topology::pairs(2, LinkRate::Unlimited, mode) };
    let network = Embedded::new(topology).unwrap();
    [0, 1].map(|number| Endpoint::attach(&network, number, "end").unwrap())
}

/// A program that answers requests with packets of its own making.
struct Answers {
    endpoint: Endpoint,
    tx: Tx,
    rx: Rx,
}

impl Answers {
    fn open(endpoint: Endpoint) -> Self {
        let vc = endpoint.port(0).unwrap().vc(0).unwrap();
        let (tx, mut rx) = (vc.tx().unwrap(), vc.rx().unwrap());
        let mut buffers = endpoint.alloc(BUFFERS * 8192).unwrap().split(8192, BUFFERS).unwrap();
        assert_eq!(rx.post_all(&mut buffers), BUFFERS);
        Self { endpoint, tx, rx }
    }

    /// The next request; the first packets of a queue pair are answered with OK.
    fn request(&mut self) -> SfrpHeader {
        loop {
            let got = self.rx.recv(self.endpoint.deadline_after(SOON)).expect("a request");
            let header = SfrpHeader::parse(&got.buf).unwrap();
            self.rx.post(got.buf).unwrap();
            match header.opcode().unwrap() {
                Opcode::Connect | Opcode::Flush => self.answer(&header, SfrpStatus::OK, 0),
                Opcode::Disconnect => {}
                _ => return header,
            }
        }
    }

    fn answer(&mut self, request: &SfrpHeader, status: SfrpStatus, pause_us: u32) {
        let header = SfrpHeader { immediate: pause_us, ..request.response(status) };
        let region = self.endpoint.alloc(header.packet_bytes()).unwrap();
        let mut buf = region.buf(0..header.packet_bytes()).unwrap();
        header.encode(&[], &mut buf).unwrap();
        self.tx.send(buf).unwrap();
    }
}

/// The far end refuses each request once, and receives the repetition: in the library, or after it
/// has been outside of it for longer than the pause.
fn refuse([near, far]: [Endpoint; 2], outside: Duration) {
    let mut answers = Answers::open(far);
    if let Clock::Virtual(clock) = near.clock() {
        clock.join();
    }
    let target = std::thread::spawn(move || {
        for status in [SfrpStatus::RECEIVER_NOT_READY, SfrpStatus::BUSY] {
            let first = answers.request();
            answers.answer(&first, status, PAUSE_US);
            std::thread::sleep(outside);
            let again = answers.request();
            assert_eq!((again.request, again.sequence), (first.request, first.sequence));
            answers.answer(&again, SfrpStatus::OK, 0);
        }
        if let Clock::Virtual(clock) = answers.endpoint.clock() {
            clock.leave();
        }
        answers
    });
    let mut queue = open(&near, 5, 0);
    queue.connect(SOON).unwrap();
    let memory = queue.register(vec![1; 8]).unwrap();
    for id in 0..2 {
        let start_ns = near.now_ns();
        let local = Local { memory, offset: 0, length: 8 };
        queue.post(WorkRequest::write(id, local, 0x1234, 0)).unwrap();
        queue.ring().unwrap();
        queue.wait(1, SOON).expect("the request is repeated after the pause");
        assert_eq!(queue.poll().unwrap().unwrap().result, Ok(()));
        if near.clock().is_virtual() {
            assert_eq!(near.now_ns() - start_ns, 1000 * u64::from(PAUSE_US));
        }
    }
    drop(target.join().unwrap());
}

#[test]
fn a_refusal_is_a_pause() {
    for mode in [Mode::Auto, Mode::Inline, Mode::Coop, Mode::Thread] {
        for outside in [Duration::ZERO, Duration::from_millis(5)] {
            refuse(ends(mode, false), outside);
        }
    }
}

/// In virtual time the repetition comes when the pause is over and not later.
#[test]
fn a_refusal_is_a_pause_in_virtual_time() {
    for mode in [Mode::Auto, Mode::Inline] {
        refuse(ends(mode, true), Duration::ZERO);
    }
}

/// Messages without a buffer. The far end posts one and is then outside of the library until the
/// near end has seen the completion, so the request cannot wait for it. Both threads race.
#[test]
fn a_buffer_that_comes_later_is_enough() {
    for mode in [Mode::Auto, Mode::Inline, Mode::Coop, Mode::Thread] {
        let [near, far] = ends(mode, false);
        let (mut near, mut far) = (open(&near, 5, 7), open(&far, 7, 5));
        far.open_buffers(&QueueOptions::default()).unwrap();
        let memory = far.register(vec![0; 8]).unwrap();
        let (next, posts) = sync_channel(1);
        let (completed, completions) = sync_channel::<u64>(1);
        let target = std::thread::spawn(move || {
            for round in posts {
                far.post_buffer(round, Local { memory, offset: 0, length: 8 }).unwrap();
                assert_eq!(completions.recv().unwrap(), round);
                assert_eq!(far.poll_message().unwrap().id, round);
            }
        });
        near.connect(SOON).unwrap();
        let memory = near.register(vec![1; 8]).unwrap();
        for round in 0..ROUNDS {
            near.post(WorkRequest::send(round, Local { memory, offset: 0, length: 8 })).unwrap();
            // The far end posts before, while and after this thread runs the engine or falls asleep.
            let early = round % 3 == 0;
            if early {
                next.send(round).unwrap();
            }
            near.ring().unwrap();
            if !early {
                next.send(round).unwrap();
            }
            if round % 3 == 1 {
                std::thread::yield_now();
            }
            near.wait(1, SOON).expect("the message goes when there is a buffer");
            assert_eq!(near.poll().unwrap().unwrap().result, Ok(()));
            completed.send(round).unwrap();
        }
        drop(next);
        target.join().unwrap();
    }
}
