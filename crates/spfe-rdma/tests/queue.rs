//! Queue pairs without a hostile network: groups, order, limits, and what a queue waits for.

mod net;

use net::{Net, To};
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Flags, Opcode, SfrpHeader, SfrpStatus};
use spfe_rdma::initiator::PostError;
use spfe_rdma::{
    Execution, Local, PairState, PairWait, RdmaInitiator, RdmaInitiatorOptions, RdmaTarget,
    RdmaTargetOptions, RemoteKey, TargetRegion, WorkError, WorkKind, WorkRequest,
};
use spfe_topology::hostile::Hostile;

struct Bench {
    initiator: RdmaInitiator,
    target: RdmaTarget,
    key: RemoteKey,
    memory: Vec<Vec<u8>>,
    net: Net,
}

fn bench(options: RdmaInitiatorOptions) -> Bench {
    let mut target = RdmaTarget::new(RdmaTargetOptions::default());
    let key = target.regions_mut().add(TargetRegion::new("data", 1 << 20), None).unwrap();
    target.open_queue(5).unwrap();
    let initiator = RdmaInitiator::new(options);
    let memory = vec![(0..1 << 18).map(|n: u32| ((n * 7) >> 2) as u8).collect()];
    Bench { initiator, target, key, memory, net: Net::new(1, Hostile::NONE) }
}

/// Connected; `target_queue` is 5, which has one buffer of 100 bytes.
fn connected(options: RdmaInitiatorOptions) -> Bench {
    let mut bench = bench(RdmaInitiatorOptions { target_queue: 5, ..options });
    bench.target.post_receive(5, 1, vec![0; 100]).unwrap();
    bench.initiator.connect();
    bench.run();
    assert_eq!(bench.initiator.state(), PairState::Ready);
    bench
}

const fn local(offset: u64, length: u32) -> Local {
    Local { memory: 0, offset, length }
}

impl Bench {
    fn post(&mut self, request: WorkRequest) {
        self.initiator.post(request, &self.memory).unwrap();
    }

    fn write(&mut self, id: u64, length: u32) {
        let key = self.key.0;
        self.post(WorkRequest::write(id, local(0, length), key, id * 8192));
    }

    fn transmit(&mut self) -> Option<SfrpHeader> {
        let mut out = vec![0; self.initiator.packet_bytes_max()];
        let bytes = self.initiator.transmit(self.net.now_ns, &self.memory, &mut out)?;
        Some(SfrpHeader::parse(&out[..bytes]).unwrap())
    }

    /// Until both sides and the network are quiet.
    fn run(&mut self) {
        for _ in 0..100_000 {
            self.net.exchange(&mut self.initiator, &mut self.target, &mut self.memory);
            let idle = matches!(
                self.initiator.why(self.net.now_ns),
                PairWait::Nothing | PairWait::Ring | PairWait::Connection
            );
            if idle && self.net.is_empty() && self.target.waiting_vc().is_none() {
                return;
            }
        }
        panic!("{}", self.initiator.why_text(self.net.now_ns));
    }

    fn results(&mut self) -> Vec<(u64, Result<(), WorkError>)> {
        std::iter::from_fn(|| self.initiator.poll().map(|done| (done.id, done.result))).collect()
    }
}

#[test]
fn nothing_is_sent_before_the_ring_and_a_group_has_one_acknowledgement() {
    let mut bench = connected(RdmaInitiatorOptions::default());
    for id in 0..100 {
        bench.write(id, 5000);
    }
    assert_eq!((bench.transmit(), bench.initiator.why(9)), (None, PairWait::Ring));
    bench.initiator.ring();
    let mut asked = 0;
    let mut packets = Vec::new();
    let mut out = vec![0; bench.initiator.packet_bytes_max()];
    while let Some(bytes) = bench.initiator.transmit(1, &bench.memory, &mut out) {
        let header = SfrpHeader::parse(&out[..bytes]).unwrap();
        asked += u32::from(header.has(Flags::ACK));
        packets.push(out[..bytes].to_vec());
    }
    assert_eq!((packets.len(), asked), (200, 1));
    for packet in packets {
        bench.target.handle(&packet, PacketEnd::Eop, 0, 0);
    }
    bench.run();
    assert_eq!(bench.results(), (0..100).map(|id| (id, Ok(()))).collect::<Vec<_>>());
    assert_eq!(bench.initiator.outstanding(), 0);
}

#[test]
fn only_signalled_requests_complete() {
    let mut bench = connected(RdmaInitiatorOptions::default());
    for id in 0..8 {
        let mut request = WorkRequest::write(id, local(0, 64), bench.key.0, 0);
        request.flags.signaled = id == 5;
        bench.post(request);
    }
    bench.initiator.ring();
    bench.run();
    assert_eq!(bench.results(), [(5, Ok(()))]);
}

/// The window closes and opens again by itself, without a ring in between.
#[test]
fn a_group_longer_than_the_window() {
    let mut bench = connected(RdmaInitiatorOptions { window: 4, ..Default::default() });
    for id in 0..100 {
        bench.write(id, 100);
    }
    bench.initiator.ring();
    while bench.transmit().is_some() {}
    assert_eq!(bench.initiator.why(bench.net.now_ns), PairWait::Window { messages: 4 });
    // What was taken from the queue above is lost; the timer repairs it.
    bench.run();
    assert_eq!(bench.results().len(), 100);
    assert!(bench.initiator.counts().timeouts > 0);
}

#[test]
fn data_goes_there_and_comes_back_in_pieces() {
    let mut bench = connected(RdmaInitiatorOptions::default());
    let key = bench.key.0;
    let mut write = WorkRequest::write(1, local(10, 9000), key, 4000);
    write.local = [local(10, 1), local(100, 0), local(200, 8000), local(9000, 999)].into();
    let mut read = WorkRequest::read(2, local(0, 0), key, 4000);
    read.local = [local(100_000, 4500), local(120_000, 4500)].into();
    let expected: Vec<u8> = [10..11, 200..8200, 9000..9999]
        .into_iter()
        .flat_map(|r| bench.memory[0][r].to_vec())
        .collect();
    bench.post(write);
    bench.post(read);
    bench.initiator.ring();
    bench.run();
    assert_eq!(bench.results(), [(1, Ok(())), (2, Ok(()))]);
    let got = [&bench.memory[0][100_000..104_500], &bench.memory[0][120_000..124_500]].concat();
    assert!(got == expected);
    let mut inline = WorkRequest::new(3, WorkKind::Write);
    (inline.inline, inline.key) = (Some((*b"copied at once").into()), key);
    bench.post(inline);
    bench.post(WorkRequest::read(4, local(0, 14), key, 0));
    bench.initiator.ring();
    bench.run();
    assert_eq!(&bench.memory[0][..14], b"copied at once");
}

#[test]
fn messages_wait_for_credit() {
    let mut bench = connected(RdmaInitiatorOptions::default());
    for id in 0..3 {
        bench.post(WorkRequest::send(id, local(id * 10, 10)));
    }
    bench.initiator.ring();
    while !matches!(bench.initiator.why(bench.net.now_ns), PairWait::Credit { .. }) {
        bench.net.exchange(&mut bench.initiator, &mut bench.target, &mut bench.memory);
    }
    let words = "queue pair 1 to 0xfe.5: waits for the partner to post a receive buffer";
    assert_eq!(bench.initiator.why_text(bench.net.now_ns), words);
    for id in 2..4 {
        bench.target.post_receive(5, id, vec![0; 100]).unwrap();
    }
    bench.run();
    assert_eq!(bench.results().len(), 3);
    for id in 1..4 {
        let received = bench.target.received(5).unwrap().unwrap();
        let at = (id - 1) * 10;
        assert_eq!((received.id, received.bytes), (id as u64, 10));
        assert_eq!(received.buffer[..10], bench.memory[0][at..at + 10]);
    }
    assert_eq!(bench.initiator.counts().probes, 0);
}

#[test]
fn a_receiver_that_is_never_ready() {
    let mut bench = connected(RdmaInitiatorOptions::default());
    for id in 0..3 {
        bench.post(WorkRequest::send(id, local(0, 10)));
    }
    bench.initiator.ring();
    bench.run();
    let not_ready = WorkError::NotReadyExceeded(SfrpStatus::RECEIVER_NOT_READY);
    let flushed = WorkError::Flushed(Execution::NotExecuted);
    assert_eq!(bench.results(), [(0, Ok(())), (1, Err(not_ready)), (2, Err(flushed))]);
    assert_eq!((not_ready.verbs(), flushed.verbs()), (13, 5));
    assert_eq!(bench.initiator.state(), PairState::Error);
    assert_eq!(bench.target.counts().refused(SfrpStatus::RECEIVER_NOT_READY), 8);
}

#[test]
fn a_fence_waits_for_reads() {
    let mut bench = connected(RdmaInitiatorOptions::default());
    bench.post(WorkRequest::read(1, local(0, 8), bench.key.0, 0));
    let mut write = WorkRequest::write(2, local(0, 8), bench.key.0, 0);
    write.flags.fence = true;
    bench.post(write);
    bench.initiator.ring();
    assert_eq!(bench.transmit().unwrap().opcode(), Some(Opcode::Read));
    assert_eq!((bench.transmit(), bench.initiator.why(1)), (None, PairWait::Fence));
    bench.run();
    assert_eq!(bench.results().len(), 2);
}

#[test]
fn at_most_16_results_are_outstanding() {
    let mut bench = connected(RdmaInitiatorOptions { reads: 99, ..Default::default() });
    for id in 0..40 {
        let add = WorkKind::FetchAdd { add: 1 };
        bench.post(WorkRequest { key: bench.key.0, ..WorkRequest::new(id, add) });
    }
    bench.initiator.ring();
    while bench.transmit().is_some() {}
    assert_eq!(bench.initiator.why(1), PairWait::Reads { reads: 16 });
    bench.run();
    let olds: Vec<_> = std::iter::from_fn(|| bench.initiator.poll()?.old).collect();
    assert_eq!(olds, (0..40).collect::<Vec<_>>());
}

#[test]
fn a_refusal_tells_what_was_executed() {
    let mut bench = connected(RdmaInitiatorOptions::default());
    bench.write(0, 64);
    bench.post(WorkRequest::write(1, local(0, 64), bench.key.0 ^ 1, 0));
    bench.write(2, 64);
    bench.initiator.ring();
    bench.run();
    let refused = WorkError::Refused(SfrpStatus::BAD_KEY, Execution::NotExecuted);
    let flushed = WorkError::Flushed(Execution::NotExecuted);
    assert_eq!(bench.results(), [(0, Ok(())), (1, Err(refused)), (2, Err(flushed))]);
    assert_eq!(refused.verbs(), 10);
    let words = "refused with status 3: no region of the target has this key; it was not executed";
    assert_eq!(refused.to_string(), words);
    // Everything is flushed until the queue pair is connected again.
    bench.write(3, 64);
    bench.initiator.ring();
    assert_eq!(bench.results(), [(3, Err(flushed))]);
    bench.initiator.connect();
    bench.write(4, 64);
    bench.initiator.ring();
    bench.run();
    assert_eq!(bench.results(), [(4, Ok(()))]);
}

/// A target that dies, and one that comes back without memory of its initiators.
#[test]
fn every_operation_ends_within_the_bound() {
    let mut bench = connected(RdmaInitiatorOptions::default());
    bench.write(0, 64);
    bench.initiator.ring();
    bench.net.deaf = Some(To::Target);
    let start = bench.net.now_ns;
    bench.run();
    assert_eq!(bench.results(), [(0, Err(WorkError::RetryExceeded))]);
    let took = bench.net.now_ns - start;
    assert!(took >= 150_000_000 && took <= bench.initiator.options().bound_ns(), "{took}");

    bench.initiator.connect();
    assert!(matches!(bench.initiator.why(0), PairWait::Connect { attempts: 0, .. }));
    bench.write(1, 64);
    bench.initiator.ring();
    bench.run();
    assert_eq!(bench.results(), [(1, Err(WorkError::RetryExceeded))]);

    bench.net.deaf = None;
    bench.initiator.connect();
    bench.run();
    bench.target.reset();
    bench.write(2, 64);
    bench.initiator.ring();
    bench.run();
    let refused = WorkError::Refused(SfrpStatus::BAD_QUEUE, Execution::Unknown);
    assert_eq!(bench.results(), [(2, Err(refused))]);
}

#[test]
fn what_cannot_be_posted() {
    let mut bench = bench(RdmaInitiatorOptions { depth: 2, ..Default::default() });
    let mut post = |request| bench.initiator.post(request, &bench.memory);
    let beyond = local((1 << 18) - 1, 2);
    let error = post(WorkRequest::send(0, beyond)).unwrap_err();
    assert_eq!(error, PostError::Local(beyond));
    assert_eq!(error.to_string(), "local memory 0: no 2 bytes at 0x3ffff");
    let add = WorkRequest::new(0, WorkKind::FetchAdd { add: 1 });
    assert_eq!(post(WorkRequest { address: 4, ..add.clone() }), Err(PostError::Shape));
    assert_eq!(post(WorkRequest { local: [local(0, 4)].into(), ..add }), Err(PostError::Shape));
    let mut read = WorkRequest::read(0, local(0, 4), 1, 0);
    read.immediate = Some(1);
    assert_eq!(post(read), Err(PostError::Shape));
    let flush = WorkRequest { local: [local(0, 1)].into(), ..WorkRequest::new(0, WorkKind::Flush) };
    assert_eq!(post(flush), Err(PostError::Shape));
    for id in 0..2 {
        post(WorkRequest::send(id, local(0, 1))).unwrap();
    }
    assert_eq!(post(WorkRequest::send(2, local(0, 1))), Err(PostError::Full { depth: 2 }));
}

/// Local memory that is taken away after posting.
#[test]
fn local_memory_is_checked_again() {
    let mut bench = connected(RdmaInitiatorOptions::default());
    bench.write(0, 64);
    bench.initiator.ring();
    bench.memory[0].truncate(10);
    bench.run();
    let error = WorkError::LocalMemory(Execution::NotExecuted);
    assert_eq!(bench.results(), [(0, Err(error))]);
    assert_eq!(error.verbs(), 4);
}
