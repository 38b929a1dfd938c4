//! The initiator: its table, time-outs, and every reply that does not match.

use crate::lab::{Watched, ask, command, model_crc, target};
use spfe_proto::PacketEnd;
use spfe_proto::rmap::initiator::InitiatorDiscard;
use spfe_proto::rmap::{
    BodyError, BuildError, HeaderError, Instruction, ReplyHeader, RmapInitiator, RmapNode,
    RmapRequest, RmapStatus, TransactionFailure,
};

const NODE: RmapNode<'static> = RmapNode {
    path: &[],
    target: 0xfe,
    key: 0x20,
    reply_address: spfe_proto::rmap::ReplyAddress::NONE,
    initiator: 0x67,
};

fn begin<const N: usize>(
    initiator: &mut RmapInitiator<N>,
    request: &RmapRequest<'_>,
    now_ns: u64,
) -> Result<(u16, Vec<u8>), BuildError> {
    let mut out = [0; 128];
    let sent = initiator.begin(&NODE, 0x10, request, now_ns, 100, &mut out)?;
    Ok((sent.transaction, out[..sent.bytes].to_vec()))
}

/// A reply by the offsets of the standard; writes have no length field.
fn reply(instruction: u8, status: u8, transaction: u16, data: Option<&[u8]>) -> Vec<u8> {
    let [t1, t0] = transaction.to_be_bytes();
    let mut reply = vec![0x67, 1, instruction, status, 0xfe, t1, t0];
    if let Some(data) = data {
        reply.extend([0, 0, 0, data.len() as u8]);
    }
    reply.push(model_crc(&reply));
    if let Some(data) = data {
        reply.extend(data);
        reply.push(model_crc(data));
    }
    reply
}

/// Changes a byte of a header and restores its CRC.
fn mend(mut packet: Vec<u8>, at: usize, value: u8, header: usize) -> Vec<u8> {
    packet[at] = value;
    packet[header - 1] = model_crc(&packet[..header - 1]);
    packet
}

#[test]
fn replies_in_any_order() {
    let (mut initiator, mut target) = (RmapInitiator::<8>::new(), target());
    let mut memory = Watched::new(0x10, &[1, 2, 3, 4]);
    let requests = [
        RmapRequest::read(4),
        RmapRequest::write(&[1, 2, 3, 4]),
        RmapRequest::Read { increment: false, length: 8 },
        RmapRequest::ReadModifyWrite { data: &[0; 3], mask: &[0; 3] },
        RmapRequest::ReadModifyWrite { data: &[], mask: &[] },
        RmapRequest::read(0),
        RmapRequest::write(&[]),
    ];
    let expected: [&[u8]; 7] =
        [&[1, 2, 3, 4], &[], &[1, 2, 3, 4, 1, 2, 3, 4], &[1, 2, 3], &[], &[], &[]];
    let replies: Vec<(u16, Vec<u8>)> = requests
        .iter()
        .map(|request| {
            let (transaction, packet) = begin(&mut initiator, request, 0).unwrap();
            (transaction, ask(&mut target, &packet, PacketEnd::Eop, &mut memory).reply)
        })
        .collect();
    assert_eq!(initiator.outstanding(), 7);
    for ((transaction, reply), expected) in replies.iter().zip(expected).rev() {
        let done = initiator.handle(reply, PacketEnd::Eop).unwrap();
        assert_eq!((done.transaction, done.result), (*transaction, Ok(expected)));
        let again = initiator.handle(reply, PacketEnd::Eop);
        assert_eq!(again, Err(InitiatorDiscard::Unknown { transaction: *transaction }));
    }
    assert_eq!(initiator.outstanding(), 0);
    let counters = initiator.counters();
    assert_eq!((counters.commands, counters.completed, counters.unknown), (7, 7, 7));
}

#[test]
fn a_full_table_refuses_and_recovers() {
    let mut initiator = RmapInitiator::<3>::new().with_transaction(0xfffe);
    let read = RmapRequest::read(4);
    let ids: Vec<u16> = (0..3).map(|_| begin(&mut initiator, &read, 0).unwrap().0).collect();
    assert_eq!(ids.iter().map(|id| id % 3).fold(0, |set, place| set | 1 << place), 0b111);
    assert_eq!(begin(&mut initiator, &read, 0), Err(BuildError::Outstanding { capacity: 3 }));
    // A command without reply needs no slot.
    let plain = RmapRequest::Write { verify: false, reply: false, increment: true, data: &[1] };
    assert!(begin(&mut initiator, &plain, 0).is_ok());
    assert!(initiator.cancel(ids[1]) && !initiator.cancel(ids[1]));
    let (id, _) = begin(&mut initiator, &read, 0).unwrap();
    assert!(!ids.contains(&id));
    assert_eq!(id % 3, ids[1] % 3);
    let late = reply(0x0c, 0, ids[1], Some(&[0; 4]));
    assert_eq!(
        initiator.handle(&late, PacketEnd::Eop),
        Err(InitiatorDiscard::Unknown { transaction: ids[1] })
    );
}

/// More transactions than identifiers: no identifier is used twice at the same time.
#[test]
fn identifiers_wrap() {
    let mut initiator = RmapInitiator::<7>::new();
    let read = RmapRequest::read(1);
    let stuck: Vec<u16> = (0..6).map(|_| begin(&mut initiator, &read, 0).unwrap().0).collect();
    for _ in 0..30_000 {
        let (id, _) = begin(&mut initiator, &read, 0).unwrap();
        assert!(!stuck.contains(&id));
        assert_eq!(
            initiator.handle(&reply(0x0c, 0, id, Some(&[5])), PacketEnd::Eop).unwrap().transaction,
            id
        );
    }
    assert_eq!(initiator.outstanding(), 6);
}

#[test]
fn time_outs() {
    let mut initiator = RmapInitiator::<4>::new();
    let read = RmapRequest::read(1);
    assert_eq!((initiator.next_deadline_ns(), initiator.expire(u64::MAX)), (None, None));
    let (first, _) = begin(&mut initiator, &read, 0).unwrap();
    let (third, _) = begin(&mut initiator, &read, 0).unwrap();
    let (second, _) = begin(&mut initiator, &read, 50).unwrap();
    assert_eq!(initiator.next_deadline_ns(), Some(100));
    assert_eq!(initiator.expire(99), None);
    let mut expired = [initiator.expire(100).unwrap(), initiator.expire(100).unwrap()];
    expired.sort_unstable();
    assert_eq!(expired, [first, third]);
    assert_eq!((initiator.expire(149), initiator.next_deadline_ns()), (None, Some(150)));
    assert_eq!(
        initiator.handle(&reply(0x0c, 0, first, Some(&[5])), PacketEnd::Eop),
        Err(InitiatorDiscard::Unknown { transaction: first })
    );
    assert_eq!((initiator.expire(150), initiator.expire(150)), (Some(second), None));
    assert_eq!((initiator.counters().timed_out, initiator.outstanding()), (3, 0));
    let (id, _) = begin(&mut initiator, &read, u64::MAX - 1).unwrap();
    assert_eq!(initiator.next_deadline_ns(), Some(u64::MAX));
    assert_eq!(initiator.expire(u64::MAX), Some(id));
}

/// Packets that complete nothing are counted, and the transaction stays outstanding.
#[test]
fn discards() {
    let mut initiator = RmapInitiator::<4>::new();
    let (id, sent) = begin(&mut initiator, &RmapRequest::read(4), 0).unwrap();
    let good = reply(0x0c, 0, id, Some(&[1, 2, 3, 4]));
    let header = |error| InitiatorDiscard::Header(error);
    let instruction = |instruction| Instruction(instruction);
    let mut damaged = good.clone();
    damaged[11] ^= 1;
    let crc = HeaderError::Crc { found: damaged[11], expected: good[11] };
    let mismatch = InitiatorDiscard::Mismatch { transaction: id };
    let cases = [
        (vec![], header(HeaderError::Short { bytes: 0, needed: 8 })),
        (good[..7].to_vec(), header(HeaderError::Short { bytes: 7, needed: 12 })),
        (good[..11].to_vec(), header(HeaderError::Short { bytes: 11, needed: 12 })),
        (damaged, header(crc)),
        (mend(good.clone(), 7, 1, 12), header(HeaderError::Reserved { value: 1 })),
        (vec![0x67, 2, 0x0c], header(HeaderError::Protocol { pid: 2 })),
        (sent, header(HeaderError::PacketType { instruction: instruction(0x4c) })),
        (
            mend(good.clone(), 2, 0x8c, 12),
            header(HeaderError::PacketType { instruction: instruction(0x8c) }),
        ),
        (
            mend(good.clone(), 2, 0x04, 12),
            InitiatorDiscard::Instruction { instruction: instruction(0x04) },
        ),
        (
            mend(good.clone(), 2, 0x18, 12),
            InitiatorDiscard::Instruction { instruction: instruction(0x18) },
        ),
        (
            reply(0x24, 0, id, None),
            InitiatorDiscard::Instruction { instruction: instruction(0x24) },
        ),
        (mend(good.clone(), 6, 0x77, 12), InitiatorDiscard::Unknown { transaction: 0x77 }),
        (mend(good.clone(), 0, 0x68, 12), mismatch),
        (mend(good.clone(), 4, 0xfd, 12), mismatch),
        (mend(good.clone(), 2, 0x08, 12), mismatch),
        (mend(good.clone(), 2, 0x0d, 12), mismatch),
        (reply(0x2c, 0, id, None), mismatch),
    ];
    let count = cases.len() as u64;
    for (packet, discard) in cases {
        assert_eq!(initiator.handle(&packet, PacketEnd::Eop), Err(discard), "{packet:02x?}");
    }
    let c = *initiator.counters();
    let by_kind = [c.other_protocol, c.not_reply, c.header_errors, c.instruction_errors];
    assert_eq!((by_kind, c.unknown, c.mismatched), ([1, 2, 5, 3], 1, 5));
    assert_eq!(by_kind.iter().sum::<u64>() + 6, count);
    assert_eq!(initiator.handle(&good, PacketEnd::Eop).unwrap().result, Ok(&[1, 2, 3, 4][..]));
}

/// Replies that end their transaction without success.
#[test]
fn failures() {
    let good = |id| reply(0x0c, 0, id, Some(&[1, 2, 3, 4]));
    let last = |mut packet: Vec<u8>| {
        *packet.last_mut().unwrap() ^= 1;
        packet
    };
    let crc = model_crc(&[1, 2, 3, 4]);
    let body = |error| TransactionFailure::Body(error);
    type Make = Box<dyn Fn(u16) -> Vec<u8>>;
    let cases: Vec<(Make, PacketEnd, TransactionFailure)> = vec![
        (Box::new(good), PacketEnd::Eep, body(BodyError::Eep { bytes: 5, expected: 5 })),
        (
            Box::new(move |id| good(id)[..16].to_vec()),
            PacketEnd::Eop,
            body(BodyError::Early { bytes: 4, expected: 5 }),
        ),
        (
            Box::new(move |id| [&good(id)[..], &[0]].concat()),
            PacketEnd::Eop,
            body(BodyError::TooMuch { bytes: 6, expected: 5 }),
        ),
        (
            Box::new(move |id| last(good(id))),
            PacketEnd::Eop,
            body(BodyError::Crc { found: crc ^ 1, expected: crc }),
        ),
        (
            Box::new(|id| reply(0x0c, 0, id, Some(&[1, 2, 3]))),
            PacketEnd::Eop,
            TransactionFailure::Length { length: 3, expected: 4 },
        ),
        (
            Box::new(|id| reply(0x0c, 10, id, Some(&[]))),
            PacketEnd::Eop,
            TransactionFailure::Status(RmapStatus::NOT_AUTHORISED),
        ),
        (
            Box::new(|id| reply(0x0c, 200, id, Some(&[]))[..12].to_vec()),
            PacketEnd::Eep,
            TransactionFailure::Status(RmapStatus(200)),
        ),
    ];
    let mut initiator = RmapInitiator::<1>::new();
    for (make, end, failure) in cases {
        let (id, _) = begin(&mut initiator, &RmapRequest::read(4), 0).unwrap();
        let packet = make(id);
        let done = initiator.handle(&packet, end).unwrap();
        assert_eq!((done.transaction, done.result), (id, Err(failure)));
        assert_eq!(initiator.outstanding(), 0);
    }
    assert_eq!((initiator.counters().invalid, initiator.counters().refused), (5, 2));

    let (id, _) = begin(&mut initiator, &RmapRequest::write(&[1]), 0).unwrap();
    let long = [&reply(0x3c, 0, id, None)[..], &[0]].concat();
    let failure = body(BodyError::TooMuch { bytes: 1, expected: 0 });
    assert_eq!(initiator.handle(&long, PacketEnd::Eop).unwrap().result, Err(failure));

    // A read-modify-write reply has the requested number of bytes, so never more than four.
    let modify = RmapRequest::ReadModifyWrite { data: &[0; 4], mask: &[0; 4] };
    let (id, _) = begin(&mut initiator, &modify, 0).unwrap();
    let long = reply(0x1c, 0, id, Some(&[0; 5]));
    let failure = TransactionFailure::Length { length: 5, expected: 4 };
    assert_eq!(initiator.handle(&long, PacketEnd::Eop).unwrap().result, Err(failure));
}

/// A command that cannot be encoded takes no slot and leaves the buffer unchanged.
#[test]
fn refused_requests() {
    let mut initiator = RmapInitiator::<1>::new();
    let read = RmapRequest::read(0x0100_0000);
    let modify = |data, mask| RmapRequest::ReadModifyWrite { data, mask };
    let cases = [
        (0, read, BuildError::Length { length: 0x0100_0000 }),
        (1 << 40, RmapRequest::read(1), BuildError::Address { address: 1 << 40 }),
        (0, modify(&[0; 5], &[0; 5]), BuildError::Mask { data: 5, mask: 5 }),
        (0, modify(&[0; 2], &[0; 3]), BuildError::Mask { data: 2, mask: 3 }),
        (
            0,
            RmapRequest::write(&[0; 20]),
            BuildError::NoRoom(spfe_proto::NoRoom { bytes: 32, needed: 37 }),
        ),
    ];
    for (address, request, error) in cases {
        let mut out = [0xa5; 32];
        let refused = initiator.begin(&NODE, address, &request, 0, 1, &mut out);
        assert_eq!(refused, Err(error));
        assert_eq!((out, initiator.outstanding()), ([0xa5; 32], 0));
    }
    assert_eq!(initiator.counters().commands, 0);
}

/// An initiator never accepts a command, whatever its bytes.
#[test]
fn commands_are_not_replies() {
    let mut initiator = RmapInitiator::<1>::default();
    let command = command(0x7c, 0, &[1, 2, 3]);
    assert!(initiator.handle(&command, PacketEnd::Eop).is_err());
    assert!(ReplyHeader::parse(&command).is_err());
    assert_eq!(initiator.counters().not_reply, 1);
}
