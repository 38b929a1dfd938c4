//! Bad input: each kind has its status, its counter, and leaves memory as it was.

use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Flags, Opcode, SfrpHeader, SfrpStatus};
use spfe_rdma::target::{Dropped, Handled};
use spfe_rdma::{RdmaTarget, RdmaTargetOptions, RegionRights, RemoteKey, TargetRegion};

const ME: u8 = 0x67;
const TARGET: u8 = 0x42;

struct Bench {
    target: RdmaTarget,
    key: RemoteKey,
    sequence: u16,
}

/// A target with a region of 8 KiB at 0x1000, and queue pair 5 without buffers.
fn bench() -> Bench {
    let options =
        RdmaTargetOptions { logical_address: TARGET, notifications: 2, ..Default::default() };
    let mut target = RdmaTarget::new(options);
    let region = TargetRegion { base: 0x1000, ..TargetRegion::new("data", 8192) };
    let key = target.regions_mut().add(region, Some(0xabc)).unwrap();
    target.open_queue(5).unwrap();
    Bench { target, key, sequence: 0 }
}

impl Bench {
    fn request(&mut self, opcode: Opcode, length: u32) -> SfrpHeader {
        self.sequence += 1;
        let mut header = SfrpHeader {
            receiver: TARGET,
            sender: ME,
            sender_queue: 9,
            request: u32::from(self.sequence),
            sequence: self.sequence,
            key: self.key.0,
            address: 0x1000,
            length,
            flags: Flags::ACK | Flags::FIRST | Flags::LAST,
            ..SfrpHeader::request(opcode)
        };
        header.flags |= Flags::PAYLOAD_CRC.when(header.payload_bytes() > 0);
        header
    }

    fn handle(&mut self, header: &SfrpHeader) -> Handled {
        let mut packet = vec![0; header.packet_bytes()];
        let payload = vec![0xee; header.payload_bytes()];
        header.encode(&payload, &mut packet).unwrap();
        self.target.handle(&packet, PacketEnd::Eop, 3, 77)
    }

    /// The next response.
    fn response(&mut self) -> Option<SfrpHeader> {
        let mut out = Vec::new();
        self.target.respond(3, &mut out)?;
        let header = SfrpHeader::parse(&out).unwrap();
        header.payload(&out, PacketEnd::Eop).unwrap();
        Some(header)
    }

    fn content(&self) -> Vec<u8> {
        let mut content = vec![0; 8192];
        self.target.regions().get(self.key).unwrap().memory.read(0, &mut content).unwrap();
        content
    }
}

/// Sends a changed request; expects this status in the response, in the result and in the counter,
/// nothing in memory, and no execution of anything that follows.
fn refused(
    opcode: Opcode,
    length: u32,
    status: SfrpStatus,
    change: impl FnOnce(&mut Bench, &mut SfrpHeader),
) -> SfrpHeader {
    let mut bench = bench();
    let mut header = bench.request(opcode, length);
    change(&mut bench, &mut header);
    assert_eq!(bench.handle(&header), Handled::Refused(status));
    assert_eq!(bench.target.counts().refused(status), 1);
    let response = bench.response().unwrap();
    assert_eq!(response, SfrpHeader { immediate: response.immediate, ..header.response(status) });
    assert_eq!(bench.response(), None);
    if bench.target.regions().get(bench.key).is_some() {
        assert_eq!(bench.content(), vec![0; 8192]);
    }
    response
}

#[test]
fn keys() {
    let refused = |status, change: &dyn Fn(&mut Bench, &mut SfrpHeader)| {
        for opcode in [Opcode::Write, Opcode::Read] {
            refused(opcode, 8, status, change);
        }
        refused(Opcode::FetchAdd, 8, status, change);
    };
    refused(SfrpStatus::BAD_KEY, &|_, header| header.key = 0);
    refused(SfrpStatus::BAD_KEY, &|_, header| header.key += 1 << 12);
    refused(SfrpStatus::BAD_KEY, &|_, header| header.key ^= 1);
    refused(SfrpStatus::BAD_KEY, &|bench, _| assert!(bench.target.regions_mut().revoke(bench.key)));
}

/// A region goes when the reads of it have ended; until then its key is answered with REVOKED.
#[test]
fn a_revoked_region() {
    let mut bench = bench();
    let read = bench.request(Opcode::Read, 8192);
    assert_eq!(bench.handle(&read), Handled::Executed(Opcode::Read));
    assert_eq!(bench.response().unwrap().length, 4096);
    assert!(bench.target.regions_mut().revoke(bench.key));
    assert!(!bench.target.regions_mut().revoke(bench.key));
    let write = bench.request(Opcode::Write, 8);
    assert_eq!(bench.handle(&write), Handled::Refused(SfrpStatus::REVOKED));
    let cut = bench.response().unwrap();
    assert_eq!((cut.status, cut.address, cut.length), (SfrpStatus::REVOKED.0, 4096, 0));
    assert!(cut.has(Flags::LAST) && !cut.has(Flags::FIRST));
    assert_eq!(bench.response().unwrap().status, SfrpStatus::REVOKED.0);
    assert_eq!(bench.target.regions().count(), 0);
    // The next region at this index has another key.
    let new = bench.target.regions_mut().add(TargetRegion::new("new", 1), Some(1)).unwrap();
    assert_eq!((new.index(), new == bench.key), (0, false));
}

#[test]
fn bounds() {
    let beyond = [
        (0xfff, 1),
        (0x1000 + 8192, 1),
        (0x1000 + 8185, 8),
        (u64::MAX, 1),
        (u64::MAX - 3, 8),
        (0, 8),
        (0x0fff, 0),
        (0x1000 + 8193, 0),
    ];
    for (address, length) in beyond {
        for opcode in [Opcode::Write, Opcode::Read] {
            refused(opcode, length, SfrpStatus::BOUNDS, |_, header| header.address = address);
        }
    }
    refused(Opcode::Read, u32::MAX, SfrpStatus::BOUNDS, |_, _| {});
    refused(Opcode::FetchAdd, 8, SfrpStatus::BOUNDS, |_, header| header.address = 0x1000 + 8192);
    refused(Opcode::CompareSwap, 16, SfrpStatus::BOUNDS, |_, header| header.address = u64::MAX - 7);
}

#[test]
fn rights_and_initiators() {
    let only = |rights: RegionRights| {
        move |bench: &mut Bench, _: &mut SfrpHeader| {
            bench.target.regions_mut().get_mut(bench.key).unwrap().rights = rights;
        }
    };
    let none = RegionRights::default();
    refused(
        Opcode::Read,
        8,
        SfrpStatus::ACCESS,
        only(RegionRights { read: false, ..RegionRights::ALL }),
    );
    refused(
        Opcode::Write,
        8,
        SfrpStatus::ACCESS,
        only(RegionRights { write: false, ..RegionRights::ALL }),
    );
    refused(
        Opcode::FetchAdd,
        8,
        SfrpStatus::ACCESS,
        only(RegionRights { atomic: false, ..RegionRights::ALL }),
    );
    refused(Opcode::CompareSwap, 16, SfrpStatus::ACCESS, only(none));
    refused(Opcode::Write, 8, SfrpStatus::ACCESS, |bench, _| {
        bench.target.regions_mut().get_mut(bench.key).unwrap().initiators = Some(vec![ME + 1]);
    });
}

#[test]
fn nothing_is_a_length() {
    let mut bench = bench();
    for opcode in [Opcode::Write, Opcode::Read] {
        let header = bench.request(opcode, 0);
        assert_eq!(bench.handle(&header), Handled::Executed(opcode));
        assert_eq!(bench.response().unwrap().status, 0);
    }
    // Its key is checked nevertheless.
    let mut header = bench.request(Opcode::Write, 0);
    header.key = 0;
    assert_eq!(bench.handle(&header), Handled::Refused(SfrpStatus::BAD_KEY));
}

#[test]
fn lengths_and_alignment() {
    refused(Opcode::Write, 4097, SfrpStatus::BAD_LENGTH, |_, _| {});
    refused(Opcode::FetchAdd, 8, SfrpStatus::BAD_LENGTH, |_, header| header.address += 4);
    refused(Opcode::FetchAdd, 16, SfrpStatus::BAD_LENGTH, |_, _| {});
    refused(Opcode::CompareSwap, 8, SfrpStatus::BAD_LENGTH, |_, _| {});
    let total =
        |total: u64| move |_: &mut Bench, header: &mut SfrpHeader| header.address = total << 32;
    refused(Opcode::Send, 8, SfrpStatus::BAD_LENGTH, total(7));
    refused(Opcode::Send, 8, SfrpStatus::BAD_LENGTH, total(9));
}

#[test]
fn versions_opcodes_and_queues() {
    let change = |_: &mut Bench, header: &mut SfrpHeader| header.version = 2;
    assert_eq!(refused(Opcode::Write, 8, SfrpStatus::BAD_VERSION, change).immediate, 0x0101);
    let mut bench = bench();
    let mut header = bench.request(Opcode::Flush, 0);
    header.code = 0x3f;
    assert_eq!(bench.handle(&header), Handled::Refused(SfrpStatus::BAD_OPCODE));
    refused(Opcode::Write, 8, SfrpStatus::BAD_QUEUE, |_, header| header.receiver_queue = 6);
    // A queue pair that nobody is connected to, and a message sent before to a new target.
    refused(Opcode::Write, 8, SfrpStatus::BAD_QUEUE, |_, header| header.receiver_queue = 5);
    refused(Opcode::Write, 8, SfrpStatus::BAD_QUEUE, |_, header| header.flags |= Flags::RETRY);
    refused(Opcode::Connect, 0, SfrpStatus::BAD_QUEUE, |_, header| header.receiver_queue = 6);
}

#[test]
fn receive_buffers() {
    let connect = |bench: &mut Bench, header: &mut SfrpHeader| {
        let mut connect = bench.request(Opcode::Connect, 0);
        (connect.receiver_queue, connect.sequence) = (5, header.sequence.wrapping_sub(1));
        assert_eq!(bench.handle(&connect), Handled::Executed(Opcode::Connect));
        assert_eq!(bench.response().unwrap().immediate, 0);
        (header.receiver_queue, header.address) = (5, 8 << 32);
    };
    let none = refused(Opcode::Send, 8, SfrpStatus::RECEIVER_NOT_READY, connect);
    assert!(none.immediate > 0);
    refused(Opcode::Write, 8, SfrpStatus::RECEIVER_NOT_READY, |bench, header| {
        connect(bench, header);
        (header.address, header.flags) = (0x1000, header.flags | Flags::IMMEDIATE);
    });
    let short = |bench: &mut Bench, header: &mut SfrpHeader| {
        connect(bench, header);
        bench.target.post_receive(5, 1, vec![0; 7]).unwrap();
        // The announcement of the buffer.
        assert_eq!(bench.response().unwrap().immediate, 1);
    };
    let long = refused(Opcode::Send, 8, SfrpStatus::MESSAGE_TOO_LONG, short);
    assert_eq!(long.immediate, 7);
    let mut bench = bench();
    let mut header = bench.request(Opcode::Send, 8);
    short(&mut bench, &mut header);
    bench.handle(&header);
    let received = bench.target.received(5).unwrap().unwrap();
    assert_eq!((received.status, received.id), (SfrpStatus::MESSAGE_TOO_LONG, 1));
}

#[test]
fn damaged_payloads() {
    let send = |change: &dyn Fn(&mut Vec<u8>), end, status| {
        let mut bench = bench();
        let header = bench.request(Opcode::Write, 8);
        let mut packet = vec![0; header.packet_bytes()];
        header.encode(&[1; 8], &mut packet).unwrap();
        change(&mut packet);
        assert_eq!(bench.target.handle(&packet, end, 3, 0), Handled::Refused(status));
        assert_eq!(bench.target.counts().refused(status), 1);
        assert_eq!(bench.response().unwrap().status, status.0);
        assert_eq!(bench.content(), vec![0; 8192]);
        // The initiator may repeat it.
        let again = SfrpHeader { flags: header.flags | Flags::RETRY, ..header };
        assert_eq!(bench.handle(&again), Handled::Executed(Opcode::Write));
    };
    send(&|packet| packet[44] ^= 1, PacketEnd::Eop, SfrpStatus::PAYLOAD_CRC);
    send(&|packet| packet.truncate(45), PacketEnd::Eop, SfrpStatus::SHORT);
    send(&|packet| packet.push(0), PacketEnd::Eop, SfrpStatus::LONG);
    send(&|packet| packet.truncate(45), PacketEnd::Eep, SfrpStatus::EEP);
}

#[test]
fn damaged_headers_get_no_response() {
    let mut bench = bench();
    let header = bench.request(Opcode::Write, 8);
    let mut packet = vec![0; header.packet_bytes()];
    header.encode(&[1; 8], &mut packet).unwrap();
    let mut dropped = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut packet = packet.clone();
        change(&mut packet);
        match bench.target.handle(&packet, PacketEnd::Eop, 3, 0) {
            Handled::Dropped(_) => assert_eq!(bench.response(), None),
            handled => panic!("{handled:?}"),
        }
    };
    dropped(&|packet| packet[30] ^= 1);
    dropped(&|packet| packet.truncate(39));
    dropped(&|packet| packet.clear());
    dropped(&|packet| packet[2] = 0x19);
    dropped(&|packet| packet[1] = 1);
    let other = SfrpHeader { receiver: 1, ..header };
    dropped(&|packet| {
        other.encode(&[1; 8], packet).unwrap();
    });
    let counts = bench.target.counts();
    assert_eq!((counts.header_crc, counts.short_header, counts.header_length), (1, 2, 1));
    assert_eq!((counts.other_protocol, counts.not_ours), (1, 1));
    assert_eq!(bench.content(), vec![0; 8192]);
    // Nothing was taken for a message: the sequence starts with the next one.
    assert_eq!(bench.handle(&header), Handled::Executed(Opcode::Write));
}

#[test]
fn a_gap_is_reported_once() {
    let mut bench = bench();
    let first = bench.request(Opcode::Write, 8);
    let lost = bench.request(Opcode::Write, 8);
    let (third, fourth) = (bench.request(Opcode::Write, 8), bench.request(Opcode::Write, 8));
    assert_eq!(bench.handle(&first), Handled::Executed(Opcode::Write));
    bench.response().unwrap();
    assert_eq!(bench.handle(&third), Handled::Refused(SfrpStatus::SEQUENCE));
    assert_eq!(bench.response().unwrap().immediate, u32::from(lost.sequence));
    assert_eq!(bench.handle(&fourth), Handled::Dropped(Dropped::Drained));
    for header in [lost, third, fourth] {
        let again = SfrpHeader { flags: header.flags | Flags::RETRY, ..header };
        assert_eq!(bench.handle(&again), Handled::Executed(Opcode::Write));
        assert_eq!(bench.response().unwrap().status, 0);
    }
    assert_eq!((bench.target.counts().drained, bench.response()), (1, None));
}

/// After a refusal for good nothing of the sequence is executed, and a lost response can be had
/// again.
#[test]
fn a_refusal_ends_the_sequence() {
    let mut bench = bench();
    let bad = SfrpHeader { key: 0, ..bench.request(Opcode::Write, 8) };
    let next = bench.request(Opcode::Write, 8);
    assert_eq!(bench.handle(&bad), Handled::Refused(SfrpStatus::BAD_KEY));
    assert_eq!(bench.handle(&next), Handled::Dropped(Dropped::Drained));
    let again = SfrpHeader { key: bench.key.0, flags: bad.flags | Flags::RETRY, ..bad };
    assert_eq!(bench.handle(&again), Handled::Refused(SfrpStatus::BAD_KEY));
    assert_eq!(bench.content(), vec![0; 8192]);
    let connect = bench.request(Opcode::Connect, 0);
    assert_eq!(bench.handle(&connect), Handled::Executed(Opcode::Connect));
    let fresh = bench.request(Opcode::Write, 8);
    assert_eq!(bench.handle(&fresh), Handled::Executed(Opcode::Write));
}

#[test]
fn repeated_messages_are_answered_and_not_executed() {
    let mut bench = bench();
    let write = bench.request(Opcode::Write, 8);
    let add = bench.request(Opcode::FetchAdd, 8);
    let note = SfrpHeader { address: 8 << 32, ..bench.request(Opcode::Send, 8) };
    for header in [write, add, note] {
        assert!(matches!(bench.handle(&header), Handled::Executed(_)));
        bench.response().unwrap();
    }
    let before = bench.content();
    bench.target.regions_mut().get_mut(bench.key).unwrap().memory.write(0, &[7]).unwrap();
    for header in [write, add, note] {
        let opcode = header.opcode().unwrap();
        assert_eq!(bench.handle(&header), Handled::Repeated(opcode));
        let answer = bench.response().unwrap();
        assert_eq!((answer.status, answer.request), (0, header.request));
    }
    assert_eq!(bench.target.counts().repeated, 3);
    assert_eq!(bench.content()[1..], before[1..]);
    assert!(bench.target.notification().is_some() && bench.target.notification().is_none());
    // Only the last 16 results are kept; an initiator has no more outstanding.
    for _ in 0..16 {
        let header = bench.request(Opcode::FetchAdd, 8);
        assert_eq!(bench.handle(&header), Handled::Executed(Opcode::FetchAdd));
    }
    assert_eq!(bench.handle(&add), Handled::Dropped(Dropped::Forgotten));
    assert_eq!(bench.target.counts().forgotten, 1);
}

#[test]
fn too_many_reads_are_busy() {
    let mut bench = bench();
    for _ in 0..16 {
        let header = bench.request(Opcode::Read, 8);
        assert_eq!(bench.handle(&header), Handled::Executed(Opcode::Read));
    }
    let one_more = bench.request(Opcode::Read, 8);
    assert_eq!(bench.handle(&one_more), Handled::Refused(SfrpStatus::BUSY));
    for _ in 0..16 {
        assert_eq!(bench.response().unwrap().status, 0);
    }
    let busy = bench.response().unwrap();
    assert!(busy.status == SfrpStatus::BUSY.0 && busy.immediate > 0);
    let again = SfrpHeader { flags: one_more.flags | Flags::RETRY, ..one_more };
    assert_eq!(bench.handle(&again), Handled::Executed(Opcode::Read));
}

#[test]
fn notifications_drop_and_count() {
    let mut bench = bench();
    bench.target.regions_mut().get_mut(bench.key).unwrap().notify = true;
    for _ in 0..5 {
        let header = bench.request(Opcode::Write, 8);
        assert_eq!(bench.handle(&header), Handled::Executed(Opcode::Write));
    }
    assert_eq!(bench.target.counts().notifications_dropped, 3);
    let first = bench.target.notification().unwrap();
    assert_eq!((first.initiator, first.queue, first.sequence, first.time_ns), (ME, 9, 1, 77));
    assert_eq!((first.region, first.address, first.length), (Some(0), 0x1000, 8));
    assert!(bench.target.notification().is_some() && bench.target.notification().is_none());
    let long = SfrpHeader { address: 33 << 32, ..bench.request(Opcode::Send, 33) };
    assert_eq!(bench.handle(&long), Handled::Refused(SfrpStatus::MESSAGE_TOO_LONG));
}

/// More initiators than a target remembers: the one that was quiet longest starts anew.
#[test]
fn forgotten_initiators() {
    let mut bench = bench();
    let first = bench.request(Opcode::Write, 8);
    assert_eq!(bench.handle(&first), Handled::Executed(Opcode::Write));
    for queue in 100..132 {
        let header = SfrpHeader { sender_queue: queue, ..bench.request(Opcode::Write, 8) };
        assert_eq!(bench.handle(&header), Handled::Executed(Opcode::Write));
    }
    let mut next = bench.request(Opcode::Write, 8);
    next.flags |= Flags::RETRY;
    assert_eq!(bench.handle(&next), Handled::Refused(SfrpStatus::BAD_QUEUE));
    next.flags = first.flags;
    assert_eq!(bench.handle(&next), Handled::Executed(Opcode::Write));
}
