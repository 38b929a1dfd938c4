//! What is sent again when packets of a long message are lost, repeated or reordered: the whole message,
//! and all that follow it, and nothing before it.

use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Flags, Opcode, SfrpHeader};
use spfe_rdma::{
    Execution, Local, PairState, RdmaInitiator, RdmaInitiatorOptions, RdmaTarget,
    RdmaTargetOptions, RemoteKey, TargetRegion, WorkCompletion, WorkError, WorkKind, WorkRequest,
};

const SEGMENT: u32 = 256;
/// Packets of the long message, and its bytes.
const PACKETS: usize = 5;
const LONG: u32 = 4 * SEGMENT + 100;
/// Place of the counter that the request after it increments.
const COUNTER: u64 = 8192;
const QUEUE: u16 = 5;

type Packets = Vec<Vec<u8>>;

struct Bench {
    initiator: RdmaInitiator,
    target: RdmaTarget,
    key: RemoteKey,
    memory: Vec<Vec<u8>>,
    now_ns: u64,
    /// Headers of all requests that were sent.
    sent: Vec<SfrpHeader>,
    done: Vec<WorkCompletion>,
}

impl Bench {
    /// Connected, with one message sent and acknowledged.
    fn new() -> Self {
        let options = RdmaTargetOptions { segment_bytes: SEGMENT, ..RdmaTargetOptions::default() };
        let mut target = RdmaTarget::new(options);
        let key = target.regions_mut().add(TargetRegion::new("data", 1 << 16), None).unwrap();
        target.open_queue(QUEUE).unwrap();
        target.post_receive(QUEUE, 1, vec![0; 4096]).unwrap();
        let initiator = RdmaInitiator::new(RdmaInitiatorOptions {
            target_queue: QUEUE,
            segment_bytes: SEGMENT,
            ..RdmaInitiatorOptions::default()
        });
        let memory = vec![(0..1 << 14).map(|n: u32| ((n * 7) >> 2) as u8 | 1).collect()];
        let (sent, done) = (Vec::new(), Vec::new());
        let mut bench = Self { initiator, target, key, memory, now_ns: 1, sent, done };
        bench.initiator.connect();
        bench.run(|_, packets| packets, |_, packets| packets);
        let local = Local { memory: 0, offset: 9000, length: 16 };
        bench.post(WorkRequest::write(0, local, bench.key.0, 9000));
        bench.initiator.ring();
        bench.run(|_, packets| packets, |_, packets| packets);
        bench.sent.clear();
        bench
    }

    fn post(&mut self, request: WorkRequest) {
        self.initiator.post(request, &self.memory).unwrap();
    }

    /// Posts a group: the long message, and an addition to the counter.
    fn group(&mut self, kind: WorkKind) {
        let local = Local { memory: 0, offset: 0, length: LONG };
        let (key, one) = (self.key.0, WorkKind::FetchAdd { add: 1 });
        self.post(WorkRequest { local: [local].into(), key, ..WorkRequest::new(1, kind) });
        self.post(WorkRequest { key, address: COUNTER, ..WorkRequest::new(2, one) });
        self.initiator.ring();
    }

    /// Runs until nothing is outstanding. All that is sent at one time passes through `there` or `back`
    /// with a number that counts these times.
    fn run(
        &mut self,
        mut there: impl FnMut(usize, Packets) -> Packets,
        mut back: impl FnMut(usize, Packets) -> Packets,
    ) {
        let mut out = vec![0; self.initiator.packet_bytes_max()];
        let (mut requests, mut responses) = (0, 0);
        for _ in 0..100 {
            let mut packets = Packets::new();
            while let Some(bytes) = self.initiator.transmit(self.now_ns, &self.memory, &mut out) {
                packets.push(out[..bytes].to_vec());
                self.sent.push(SfrpHeader::parse(&out[..bytes]).unwrap());
            }
            if !packets.is_empty() {
                packets = there(requests, packets);
                requests += 1;
            }
            for packet in packets {
                self.target.handle(&packet, PacketEnd::Eop, 0, self.now_ns);
            }
            let (mut packets, mut response) = (Packets::new(), Vec::new());
            while let Some(vc) = self.target.waiting_vc() {
                if self.target.respond(vc, &mut response).is_some() {
                    packets.push(response.clone());
                }
            }
            let answered = !packets.is_empty();
            if answered {
                packets = back(responses, packets);
                responses += 1;
            }
            for packet in packets {
                self.initiator.handle(&packet, PacketEnd::Eop, self.now_ns, &mut self.memory);
            }
            self.done.extend(std::iter::from_fn(|| self.initiator.poll()));
            if self.initiator.outstanding() == 0 && self.initiator.state() != PairState::Connecting
            {
                return;
            }
            if !answered {
                self.now_ns = self.initiator.wake_ns(self.now_ns).max(self.now_ns);
            }
        }
        panic!("{}", self.initiator.why_text(self.now_ns));
    }

    fn remote(&self, offset: u64, length: u32) -> Vec<u8> {
        let mut bytes = vec![0; length as usize];
        self.target.regions().get(self.key).unwrap().memory.read(offset, &mut bytes).unwrap();
        bytes
    }

    /// The long message arrived as it was sent, and both requests were executed once.
    fn check(&mut self, kind: WorkKind) {
        let ended: Vec<_> = self.done.iter().map(|done| (done.id, done.result)).collect();
        assert_eq!(ended, [(0, Ok(())), (1, Ok(())), (2, Ok(()))]);
        assert_eq!(self.done[2].old, Some(0));
        assert_eq!(self.remote(COUNTER, 8), 1u64.to_le_bytes());
        let bytes = match kind {
            WorkKind::Send => {
                let message = self.target.received(QUEUE).unwrap().unwrap();
                assert_eq!(self.target.received(QUEUE), Ok(None), "received once");
                message.buffer[..message.bytes as usize].to_vec()
            }
            _ => self.remote(0, LONG),
        };
        assert_eq!(bytes, self.memory[0][..LONG as usize]);
        assert_eq!(self.remote(LONG.into(), 64), [0; 64], "behind the message");
    }

    /// The packets that were sent: first all of the group, then these numbers of them again.
    fn check_sent(&self, again: &[usize]) {
        let (first, rest) = self.sent.split_at(PACKETS + 1);
        assert!(first.iter().all(|header| !header.has(Flags::RETRY)));
        assert_eq!(rest.len(), again.len(), "{rest:#?}");
        for (header, number) in rest.iter().zip(again) {
            let flags = first[*number].flags | Flags::RETRY;
            // Nothing differs but the flag, and that of the acknowledgement.
            let expected = SfrpHeader { flags: flags | header.flags, ..first[*number] };
            assert_eq!((header.has(Flags::RETRY), *header), (true, expected));
        }
    }
}

const ALL: [usize; PACKETS + 1] = [0, 1, 2, 3, 4, 5];
const KINDS: [WorkKind; 2] = [WorkKind::Write, WorkKind::Send];

/// A group whose first transmission goes through `fate`.
fn once(kind: WorkKind, fate: impl Fn(Packets) -> Packets) -> Bench {
    let mut bench = Bench::new();
    bench.group(kind);
    let there = |time, packets| if time == 0 { fate(packets) } else { packets };
    bench.run(there, |_, packets| packets);
    bench.check(kind);
    bench
}

#[test]
fn a_lost_segment_brings_the_whole_message_again() {
    for kind in KINDS {
        for lost in 0..PACKETS {
            let bench = once(kind, |mut packets| {
                packets.remove(lost);
                packets
            });
            bench.check_sent(&ALL);
            // The packet behind the gap tells of it.
            let counts = bench.initiator.counts();
            assert_eq!((counts.timeouts, counts.refusals), (0, 1), "segment {lost} of {kind:?}");
            assert_eq!(counts.resent, ALL.len() as u64);
        }
    }
}

#[test]
fn a_lost_end_of_the_group_brings_what_was_not_acknowledged() {
    for kind in KINDS {
        let bench = once(kind, |mut packets| {
            packets.pop();
            packets
        });
        // The message was executed; its repetition is not.
        bench.check_sent(&ALL);
        assert_eq!(bench.initiator.counts().timeouts, 1);
        assert_eq!(bench.target.counts().repeated, PACKETS as u64);
    }
}

#[test]
fn a_lost_answer_brings_what_was_not_acknowledged() {
    for kind in KINDS {
        let mut bench = Bench::new();
        bench.group(kind);
        let lost = |time, packets| if time == 0 { Packets::new() } else { packets };
        bench.run(|_, packets| packets, lost);
        bench.check(kind);
        bench.check_sent(&ALL);
        assert_eq!(bench.target.counts().repeated, ALL.len() as u64);
    }
}

#[test]
fn repeated_packets_change_nothing() {
    for kind in KINDS {
        for repeated in ALL {
            let bench = once(kind, |mut packets| {
                packets.insert(repeated, packets[repeated].clone());
                packets
            });
            bench.check_sent(&[]);
            // The first packet of an open message begins it anew, with the same bytes.
            let counted = u64::from(repeated != 0);
            assert_eq!(bench.target.counts().repeated, counted, "packet {repeated} of {kind:?}");
        }
        // Everything twice, as after a detour.
        let bench = once(kind, |packets| [packets.clone(), packets].concat());
        bench.check_sent(&[]);
        assert_eq!(bench.target.counts().repeated, ALL.len() as u64);
    }
}

#[test]
fn reordered_segments_bring_the_whole_message_again() {
    for kind in KINDS {
        for early in 1..=PACKETS {
            let bench = once(kind, |mut packets| {
                packets.swap(early - 1, early);
                packets
            });
            bench.check_sent(&ALL);
            assert_eq!(bench.initiator.counts().timeouts, 0);
        }
        let bench = once(kind, |packets| packets.into_iter().rev().collect());
        bench.check_sent(&ALL);
    }
}

#[test]
fn a_segment_that_is_always_lost_fails_the_message_within_its_bytes() {
    for kind in KINDS {
        let mut bench = Bench::new();
        bench.group(kind);
        let always = |_, mut packets: Packets| {
            packets.remove(2);
            packets
        };
        bench.run(always, |_, packets| packets);
        let retries = bench.initiator.options().retries;
        assert_eq!(bench.sent.len(), ALL.len() * (retries as usize + 1));
        let ended: Vec<_> = bench.done[1..].iter().map(|done| (done.id, done.result)).collect();
        let flushed = Err(WorkError::Flushed(Execution::Unknown));
        assert_eq!(ended, [(1, Err(WorkError::RetryExceeded)), (2, flushed)]);
        assert_eq!(bench.remote(COUNTER, 8), [0; 8], "nothing behind the gap is executed");
        // Segments before the gap may be there, those behind it are not.
        let gap = u64::from(2 * SEGMENT);
        assert_eq!(bench.remote(gap, LONG - 2 * SEGMENT), vec![0; (LONG - 2 * SEGMENT) as usize]);
        assert_eq!(bench.target.received(QUEUE), Ok(None));
    }
}

#[test]
fn a_lost_part_of_an_answer_brings_the_whole_read_again() {
    for lost in 0..PACKETS {
        let mut bench = Bench::new();
        let expected: Vec<u8> = (0..LONG).map(|n| (n * 3) as u8).collect();
        let region = bench.target.regions_mut().get_mut(bench.key).unwrap();
        region.memory.write(0, &expected).unwrap();
        bench.group(WorkKind::Read);
        let mut answers = Vec::new();
        bench.run(
            |_, packets| packets,
            |time, mut packets| {
                let of = |packet: &Vec<u8>| SfrpHeader::parse(packet).unwrap();
                let reads = packets.iter().map(of).filter(|of| of.opcode() == Some(Opcode::Read));
                answers.push(reads.count());
                if time == 0 {
                    packets.remove(lost);
                }
                packets
            },
        );
        assert_eq!(bench.memory[0][..LONG as usize], expected);
        assert_eq!(bench.remote(COUNTER, 8), 1u64.to_le_bytes());
        // The same question, the same answers: those that had arrived are not taken again.
        let reads = bench.sent.iter().filter(|of| of.opcode() == Some(Opcode::Read));
        let reads: Vec<_> = reads.map(|of| (of.request, of.address, of.length)).collect();
        assert_eq!((reads.len(), reads[0]), (2, reads[1]));
        assert_eq!(answers[..2], [PACKETS, PACKETS], "part {lost}");
        assert!(bench.done[1..].iter().all(|done| done.result.is_ok()));
    }
}
