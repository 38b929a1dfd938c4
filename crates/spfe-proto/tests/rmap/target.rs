//! The target: incomplete headers, limits, faults, authorisation, and the effect of broken writes.

use crate::lab::{Watched, ask, command, header, hex, packet, target, with_crc};
use spfe_proto::rmap::target::{REPLY_OVERHEAD, TargetDiscard};
use spfe_proto::rmap::{
    CommandHeader, Denial, Memory, MemoryFault, Ram, ReplyAddress, ReplyHeader, ReplyPathError,
    RmapStatus, RmapTarget, RmapTargetConfig, TargetOutcome,
};
use spfe_proto::{NoRoom, PacketEnd};

const WRITE: u8 = 0x6c;
const VERIFIED: u8 = 0x7c;
const READ: u8 = 0x4c;
const MODIFY: u8 = 0x5c;

fn discard(outcome: TargetOutcome) -> TargetDiscard {
    match outcome {
        TargetOutcome::Discarded(discard) => discard,
        other => panic!("{other:?}"),
    }
}

/// 5.3.3.4.2, 5.3.3.4.3, 5.3.3.4.5: no reply while the header is not intact.
#[test]
fn headers_cut_anywhere() {
    for instruction in [WRITE, WRITE | 3, READ | 1, MODIFY | 2] {
        let whole = command(instruction, 0x10, &[0; 0]);
        let length = 16 + 4 * usize::from(instruction & 3);
        let (mut target, mut memory) = (target(), Watched::default());
        for bytes in 0..length {
            let cut = &whole[..bytes];
            let answer = ask(&mut target, cut, PacketEnd::Eop, &mut memory);
            assert_eq!(discard(answer.outcome), TargetDiscard::EarlyEop);
            let answer = ask(&mut target, cut, PacketEnd::Eep, &mut memory);
            assert_eq!(discard(answer.outcome), TargetDiscard::EarlyEep);
        }
        let answer = ask(&mut target, &whole[..length], PacketEnd::Eep, &mut memory);
        assert_eq!(discard(answer.outcome), TargetDiscard::EepAfterHeader);
        let counters = target.counters();
        assert_eq!(counters.early_eop_in_header, length as u64);
        assert_eq!(counters.early_eep_in_header, length as u64);
        assert_eq!((counters.eep_after_header, counters.replies), (1, 0));
        assert_eq!(memory.accesses, []);
    }
}

#[test]
fn damaged_headers_and_other_protocols() {
    let good = command(VERIFIED | 1, 0x10, &[1, 2, 3, 4]);
    for bit in 0..20 * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let mut memory = Watched::default();
        let answer = ask(&mut target(), &bad, PacketEnd::Eop, &mut memory);
        match discard(answer.outcome) {
            TargetDiscard::Protocol { pid } => assert_eq!((bit / 8, pid), (1, bad[1])),
            TargetDiscard::Reply => assert_eq!(bit, 2 * 8 + 6),
            TargetDiscard::EarlyEop => assert_eq!(bit / 8, 2),
            found => assert_eq!(found, TargetDiscard::HeaderCrc),
        }
        assert_eq!(memory.accesses, []);
    }
}

/// Both logical addresses, and the default address where it is not accepted.
#[test]
fn logical_addresses() {
    for (own, accept_default, to, status) in [
        (Some(0x30), true, 0x30, 0),
        (Some(0x30), true, 0xfe, 0),
        (Some(0x30), false, 0xfe, 12),
        (Some(0x30), true, 0x31, 12),
        (Some(0xfe), false, 0xfe, 0),
        (None, false, 0x31, 0),
    ] {
        let config = RmapTargetConfig {
            logical_address: own,
            accept_default,
            ..RmapTargetConfig::default()
        };
        let header = CommandHeader { target: to, ..header(READ, 0, 4) };
        let mut memory = Watched::default();
        let answer =
            ask(&mut RmapTarget::new(config), &packet(&header, &[]), PacketEnd::Eop, &mut memory);
        assert_eq!(answer.status(0), Some(status));
        assert_eq!(answer.reply[4], to);
    }
}

/// Each denial at its place in the order of priority, and never an access.
#[test]
fn authorisation() {
    let denials = [(Denial::LogicalAddress, 12), (Denial::Key, 3), (Denial::Access, 10)];
    for (denial, status) in denials {
        for (instruction, data, instead) in
            [(READ, 0, None), (WRITE, 4, None), (VERIFIED, 9, Some(9)), (MODIFY, 5, Some(11))]
        {
            let data = vec![0; data];
            let packet = command(instruction, 0x10, &data);
            let config = RmapTargetConfig {
                key: Some(0x20),
                verify_bytes: 8,
                ..RmapTargetConfig::default()
            };
            let (mut target, mut memory) = (RmapTarget::new(config), Watched::default());
            let (mut out, mut asked) = ([0; 64], 0);
            let allow = |seen: &CommandHeader| {
                asked += 1;
                assert_eq!((seen.address, seen.length), (0x10, data.len() as u32));
                Err(denial)
            };
            let outcome =
                target.handle(&packet, PacketEnd::Eop, &mut memory, allow, &mut out).unwrap();
            let status = if denial == Denial::Access { instead.unwrap_or(status) } else { status };
            let TargetOutcome::Refused { status: found, .. } = outcome else {
                panic!("{outcome:?}")
            };
            assert_eq!((found, asked), (RmapStatus(status), 1));
            assert_eq!(memory.accesses, []);
        }
    }
    // A wrong logical address is reported first, then a wrong key, whoever finds them.
    let header = CommandHeader { key: 0, ..header(READ, 0, 4) };
    let (mut target, mut out) = (target(), [0; 64]);
    let allow = |_: &CommandHeader| Err(Denial::LogicalAddress);
    let outcome = target
        .handle(&packet(&header, &[]), PacketEnd::Eop, &mut Watched::default(), allow, &mut out)
        .unwrap();
    assert!(matches!(outcome, TargetOutcome::Refused { status: RmapStatus(12), .. }));
}

#[test]
fn faults_of_the_memory() {
    for (fault, status) in [(MemoryFault::Failed, 1), (MemoryFault::Refused, 10)] {
        for (instruction, data) in [(READ, 0), (WRITE, 4), (VERIFIED, 4), (MODIFY, 4)] {
            let mut memory = Watched { fault: Some(fault), ..Watched::default() };
            let length = if instruction == READ { 4 } else { data };
            let rest = if instruction == READ { vec![] } else { with_crc(&vec![0; data as usize]) };
            let packet = packet(&header(instruction, 0, length), &rest);
            let answer = ask(&mut target(), &packet, PacketEnd::Eop, &mut memory);
            assert_eq!(answer.status(0), Some(status));
            if instruction & 0x20 == 0 {
                let header = ReplyHeader::parse(&answer.reply).unwrap();
                assert_eq!((header.length, answer.reply.len()), (0, 13));
                assert_eq!(answer.reply[12], 0);
            }
            // Errors of the packet take precedence over errors of the memory.
            if instruction == WRITE {
                let answer =
                    ask(&mut target(), &packet[..packet.len() - 1], PacketEnd::Eop, &mut memory);
                assert_eq!(answer.status(0), Some(5));
            }
        }
    }
}

/// The verify buffer holds exactly the configured number of bytes (5.3.3.4, status 9).
#[test]
fn verify_buffer() {
    for (bytes, status) in [(0, 0), (7, 0), (8, 0), (9, 9), (100, 9)] {
        let config = RmapTargetConfig { verify_bytes: 8, ..RmapTargetConfig::default() };
        let (mut target, mut memory) = (RmapTarget::new(config), Watched::default());
        let answer =
            ask(&mut target, &command(VERIFIED, 0, &vec![0; bytes]), PacketEnd::Eop, &mut memory);
        assert_eq!(answer.status(0), Some(status));
        assert_eq!(memory.accesses.len(), usize::from(status == 0 && bytes != 0));
        let answer =
            ask(&mut target, &command(WRITE, 0, &vec![0; bytes]), PacketEnd::Eop, &mut memory);
        assert_eq!(answer.status(0), Some(0));
    }
}

#[test]
fn modify_lengths() {
    for length in 0..20u8 {
        let data: Vec<u8> = (0..length).collect();
        let mut memory = Watched::new(0x10, &[0xff; 4]);
        let answer = ask(&mut target(), &command(MODIFY, 0x10, &data), PacketEnd::Eop, &mut memory);
        let good = [0, 2, 4, 6, 8].contains(&length);
        assert_eq!(answer.status(0), Some(if good { 0 } else { 11 }), "{length}");
        assert_eq!(memory.accesses.is_empty(), !good || length == 0);
    }
}

/// Effect of a broken write: nothing if verified or so configured; otherwise the data that arrived,
/// except a byte that may be the CRC.
#[test]
fn broken_writes() {
    let data = [1, 2, 3, 4];
    let good = with_crc(&data);
    let damaged = [1, 2, 3, 4, !good[4]];
    let long = [&good[..], &[9]].concat();
    let cases: [(&[u8], PacketEnd, u8, [u8; 4]); 8] = [
        (&good, PacketEnd::Eop, 0, [1, 2, 3, 4]),
        (&good, PacketEnd::Eep, 7, [1, 2, 3, 4]),
        (&good[..4], PacketEnd::Eop, 5, [1, 2, 3, 0]),
        (&good[..3], PacketEnd::Eep, 7, [1, 2, 0, 0]),
        (&good[..1], PacketEnd::Eop, 5, [0, 0, 0, 0]),
        (&[], PacketEnd::Eop, 5, [0, 0, 0, 0]),
        (&long, PacketEnd::Eop, 6, [1, 2, 3, 4]),
        (&damaged, PacketEnd::Eop, 4, [1, 2, 3, 4]),
    ];
    for (rest, end, status, left) in cases {
        for (instruction, check_all_writes) in [(WRITE, false), (WRITE, true), (VERIFIED, false)] {
            let config = RmapTargetConfig { check_all_writes, ..RmapTargetConfig::default() };
            let mut memory = Watched::new(0, &[0; 4]);
            let packet = packet(&header(instruction, 0, 4), rest);
            let answer = ask(&mut RmapTarget::new(config), &packet, end, &mut memory);
            assert_eq!(answer.status(0), Some(status));
            let kept = status == 0 || instruction == WRITE && !check_all_writes;
            assert_eq!(memory.bytes, if kept { left } else { [0; 4] }, "{rest:?} {instruction:#x}");
        }
    }
}

/// Addresses end at 40 bits; a single address may be the last one.
#[test]
fn end_of_addresses() {
    let last = 0xff_ffff_ffff;
    for (instruction, address, status) in [
        (0x4c, last - 3, 0),
        (0x4c, last - 2, 10),
        (0x48, last, 0),
        (0x6c, last - 3, 0),
        (0x6c, last, 10),
        (0x68, last, 0),
        (0x5c, last - 1, 0),
        (0x5c, last, 10),
    ] {
        let mut memory = Watched::default();
        let rest = if instruction < 0x50 { vec![] } else { with_crc(&[0; 4]) };
        let packet = packet(&header(instruction, address, 4), &rest);
        let answer = ask(&mut target(), &packet, PacketEnd::Eop, &mut memory);
        assert_eq!(answer.status(0), Some(status), "{instruction:#x} {address:#x}");
        assert_eq!(memory.accesses.is_empty(), status != 0);
    }
}

#[test]
fn reply_buffer() {
    let (mut target, mut memory) = (target(), Watched::default());
    let read = packet(&header(READ | 3, 0, 4), &[]);
    let mut small = vec![0; REPLY_OVERHEAD - 1];
    let refused = target.handle(&read, PacketEnd::Eop, &mut memory, |_| Ok(()), &mut small);
    let (bytes, needed) = (REPLY_OVERHEAD - 1, REPLY_OVERHEAD);
    assert_eq!(refused, Err(NoRoom { bytes, needed }));
    assert_eq!(refused.unwrap_err().to_string(), "output buffer: 24 bytes, 25 needed");
    for (room, status) in [(3, 10), (4, 0)] {
        let mut out = vec![0; REPLY_OVERHEAD + room];
        let outcome =
            target.handle(&read, PacketEnd::Eop, &mut memory, |_| Ok(()), &mut out).unwrap();
        let path = 11;
        assert_eq!(out[path + 3], status);
        assert_eq!(outcome.reply_bytes(), path + 13 + if status == 0 { 4 } else { 0 });
    }
    let huge = packet(&header(READ, 0, 0xff_ffff), &[]);
    assert_eq!(ask(&mut target, &huge, PacketEnd::Eop, &mut memory).status(0), Some(10));
    assert_eq!(memory.accesses.len(), 1);
}

#[test]
fn reply_addresses() {
    for (field, path) in [
        ("", ""),
        ("00 00 00 00", "00"),
        ("00 00 00 00 00 00 00 00", "00"),
        ("00 00 00 88", "88"),
        ("01 00 00 00", "01 00 00 00"),
        ("00 99 AA BB CC DD EE 00", "99 AA BB CC DD EE 00"),
        ("01 02 03 04 05 06 07 08 09 0A 0B 0C", "01 02 03 04 05 06 07 08 09 0A 0B 0C"),
    ] {
        let address = ReplyAddress::from_field(&hex(field)).unwrap();
        assert_eq!((address.field(), address.path()), (&hex(field)[..], &hex(path)[..]));
        let again = ReplyAddress::from_path(&hex(path)).unwrap();
        assert_eq!(again.path(), hex(path));
        assert!(again.field().len() <= address.field().len());
    }
    for bytes in [1, 2, 3, 5, 7, 9, 11, 13, 16] {
        assert_eq!(ReplyAddress::from_field(&vec![1; bytes]), None);
    }
    assert_eq!(ReplyAddress::from_path(&[1; 13]), Err(ReplyPathError::Long { bytes: 13 }));
    assert_eq!(ReplyAddress::from_path(&[0, 1]), Err(ReplyPathError::LeadingZero));
}

#[test]
fn ram() {
    let mut bytes = [1, 2, 3, 4, 5, 6, 7, 8];
    let mut ram = Ram { base: 0x100, word_bytes: 4, bytes: &mut bytes };
    let mut two = [0; 8];
    assert_eq!(ram.read(0x100, false, &mut two), Ok(()));
    assert_eq!(two, [1, 2, 3, 4, 1, 2, 3, 4]);
    assert_eq!(ram.write(0x104, false, &[9, 9, 9, 9, 6, 6, 6, 6]), Ok(()));
    assert_eq!(ram.read(0x100, true, &mut two), Ok(()));
    assert_eq!(two, [1, 2, 3, 4, 6, 6, 6, 6]);
    for (address, bytes) in [(0x0ff, 4), (0x105, 4), (0x101, 8), (u64::MAX, 1), (0, 1)] {
        assert_eq!(ram.write(address, true, &vec![0; bytes]), Err(MemoryFault::Refused));
    }
    assert_eq!(ram.read(0x100, false, &mut [0; 3]), Err(MemoryFault::Refused));
    assert_eq!(ram.write(0x106, false, &[0; 4]), Err(MemoryFault::Refused));
    ram.word_bytes = 0;
    assert_eq!(ram.read(0x100, false, &mut [0; 4]), Err(MemoryFault::Refused));
    assert_eq!(ram.modify(0x100, &[0; 5], &[0; 5], &mut [0; 5]), Err(MemoryFault::Refused));
}
