//! The RDMA initiator: responses as any target may send them. It writes nothing but the landing
//! places of its reads, and every request completes once.

use arbitrary::Arbitrary;
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Flags, SfrpHeader, SfrpStatus, crc};
use spfe_rdma::{Local, PairState, RdmaInitiator, RdmaInitiatorOptions, WorkKind, WorkRequest};
use std::collections::VecDeque;

/// Local bytes before and behind the landing places stay as they are.
const EDGE: u64 = 64;

#[derive(Arbitrary, Debug)]
struct Input {
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    Raw {
        bytes: Vec<u8>,
        eep: bool,
    },
    /// A response to a request that was sent, more or less changed.
    Answer {
        which: u8,
        status: u8,
        address: u16,
        immediate: u16,
        flags: u8,
        data: Vec<u8>,
    },
    Post {
        kind: u8,
        length: u16,
        signaled: bool,
        fence: bool,
    },
    Ring,
    Transmit(u8),
    Time(u32),
    Connect,
    Abort,
}

crate::target!(|input: Input| {
    let options = RdmaInitiatorOptions { depth: 16, window: 8, ..RdmaInitiatorOptions::default() };
    let mut initiator = RdmaInitiator::new(options);
    let mut memory = vec![vec![0x5a; EDGE as usize + 8192 + EDGE as usize]];
    let mut packet = vec![0; initiator.packet_bytes_max()];
    let (mut sent, mut now_ns) = (VecDeque::new(), 0u64);
    let (mut posted, mut ended) = (0u64, Vec::new());
    initiator.connect();
    for step in input.steps {
        match step {
            Step::Raw { mut bytes, eep } => {
                let header = bytes.get(2).map_or(0, |units| usize::from(units & 15) * 8);
                if header >= 40 && bytes.len() >= header {
                    let crc = crc::header(&bytes[..header - 2]);
                    bytes[header - 2..header].copy_from_slice(&crc.to_be_bytes());
                }
                let end = if eep { PacketEnd::Eep } else { PacketEnd::Eop };
                initiator.handle(&bytes, end, now_ns, &mut memory);
            }
            Step::Answer { which, status, address, immediate, flags, data } => {
                if sent.is_empty() {
                    continue;
                }
                let request: &SfrpHeader = &sent[usize::from(which) % sent.len()];
                let status = SfrpStatus(if status < 128 { 0 } else { status % 20 });
                let mut answer = request.response(status);
                answer.length = data.len() as u32;
                (answer.address, answer.immediate) = (address.into(), immediate.into());
                answer.flags = Flags(flags & !0x11);
                let payload = answer.payload_bytes();
                answer.flags |= Flags::PAYLOAD_CRC.when(payload > 0);
                let mut bytes = vec![0; answer.packet_bytes()];
                answer.encode(&data, &mut bytes).unwrap();
                initiator.handle(&bytes, PacketEnd::Eop, now_ns, &mut memory);
            }
            Step::Post { kind, length, signaled, fence } => {
                let length = u32::from(length % 8193);
                let local = Local { memory: 0, offset: EDGE, length };
                let kinds = [
                    WorkKind::Write,
                    WorkKind::Read,
                    WorkKind::Send,
                    WorkKind::FetchAdd { add: 1 },
                    WorkKind::Flush,
                ];
                let mut request = WorkRequest::new(posted, kinds[usize::from(kind) % 5]);
                if matches!(request.kind, WorkKind::Write | WorkKind::Read | WorkKind::Send) {
                    request.local = [local].into();
                }
                (request.flags.signaled, request.flags.fence) = (signaled, fence);
                if initiator.post(request, &memory).is_ok() {
                    posted += 1;
                }
            }
            Step::Ring => initiator.ring(),
            Step::Transmit(count) => {
                for _ in 0..count {
                    let Some(bytes) = initiator.transmit(now_ns, &memory, &mut packet) else {
                        break;
                    };
                    let header = SfrpHeader::parse(&packet[..bytes]).unwrap();
                    header.payload(&packet[..bytes], PacketEnd::Eop).unwrap();
                    sent.push_back(header);
                    sent.truncate(64);
                }
            }
            Step::Time(ns) => now_ns += u64::from(ns),
            Step::Connect => initiator.connect(),
            Step::Abort => initiator.abort(),
        }
        ended.extend(std::iter::from_fn(|| initiator.poll()));
        let (front, rest) = memory[0].split_at(EDGE as usize);
        let back = &rest[8192..];
        assert!(front.iter().chain(back).all(|byte| *byte == 0x5a), "written beside a read");
        assert!(initiator.wake_ns(now_ns) >= now_ns || initiator.state() != PairState::Error);
        initiator.why_text(now_ns);
    }
    initiator.abort();
    ended.extend(std::iter::from_fn(|| initiator.poll()));
    assert_eq!(initiator.outstanding(), 0);
    assert!(ended.is_sorted_by(|a, b| a.id < b.id), "each request completes once, in order");
    assert!(ended.last().is_none_or(|last| last.id < posted));
});
