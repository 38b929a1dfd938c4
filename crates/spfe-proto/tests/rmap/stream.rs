//! Commands in pieces: reply, memory and counters are the same as for the whole command.

use crate::lab::{Access, Watched, command, header, model_crc, packet, target, with_crc};
use proptest::prelude::*;
use spfe_proto::rmap::{
    CommandHeader, CommandStream, Denial, Instruction, MemoryFault, ReplyAddress, RmapTarget,
    RmapTargetConfig, TargetOutcome,
};
use spfe_proto::{NoRoom, PacketEnd};

/// Feeds a packet in pieces of these lengths, in turn.
fn feed(
    target: &mut RmapTarget,
    stream: &mut CommandStream<[u8; 66]>,
    packet: &[u8],
    lengths: &[usize],
    memory: &mut Watched,
) {
    let mut rest = packet;
    for length in lengths.iter().cycle() {
        let (piece, behind) = rest.split_at((*length).min(rest.len()));
        target.piece(stream, piece, memory, |_| Ok(()));
        rest = behind;
        if rest.is_empty() {
            break;
        }
    }
}

prop_compose! {
    /// A valid command with random damage.
    fn case()(
        instruction in any::<u8>(),
        data in prop::collection::vec(any::<u8>(), 0..100),
        length in prop_oneof![4 => Just(None), 1 => (0..100u32).prop_map(Some)],
        damage in prop_oneof![3 => Just(None), 1 => any::<(prop::sample::Index, u8)>().prop_map(Some)],
        cut in prop_oneof![3 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)],
        more in prop_oneof![3 => Just(0), 1 => 1..20usize],
        mended in any::<bool>(),
    ) -> Vec<u8> {
        let length = length.unwrap_or(data.len() as u32);
        let header = CommandHeader {
            length,
            reply_address: ReplyAddress::from_field(&[7; 12][..usize::from(instruction & 3) * 4]).unwrap(),
            ..header(instruction | 0x40, 0x1000, length)
        };
        let reads = matches!(Instruction(instruction).code(), 2 | 3);
        let mut packet = packet(&header, &if reads { vec![] } else { with_crc(&data) });
        if let Some((at, to)) = damage {
            let at = at.index(packet.len());
            packet[at] = to;
        }
        let end = header.bytes() - 1;
        if mended {
            packet[end] = model_crc(&packet[..end]);
        }
        packet.extend(std::iter::repeat_n(0x55, more));
        packet.truncate(cut.map_or(packet.len(), |cut| cut.index(packet.len() + 1)));
        packet
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn pieces_do_not_matter(
        packets in prop::collection::vec((case(), any::<bool>()), 1..4),
        lengths in prop::collection::vec(1..40usize, 1..6),
        check_all_writes in any::<bool>(),
        reply_to_reserved in any::<bool>(),
        fault in prop_oneof![
            3 => Just(None), 1 => Just(Some(MemoryFault::Refused)), 1 => Just(Some(MemoryFault::Failed))
        ],
    ) {
        let config = RmapTargetConfig {
            key: Some(0x20), verify_bytes: 64, check_all_writes, reply_to_reserved,
            ..RmapTargetConfig::default()
        };
        let (mut whole, mut pieces) = (RmapTarget::new(config), RmapTarget::new(config));
        let memory = || Watched { fault, ..Watched::new(0x1000, &[0xaa; 128]) };
        let (mut one, mut other) = (memory(), memory());
        let mut stream = CommandStream::new([0; 66]);
        for (packet, eep) in packets {
            let end = if eep { PacketEnd::Eep } else { PacketEnd::Eop };
            let (mut out, mut again) = ([0x5a; 256], [0x5a; 256]);
            let expected = whole.handle(&packet, end, &mut one, |_| Ok(()), &mut out).unwrap();
            feed(&mut pieces, &mut stream, &packet, &lengths, &mut other);
            let outcome = pieces.end(&mut stream, end, &mut other, &mut again).unwrap();
            prop_assert!(!stream.is_open());
            // A write that is checked first is limited by the buffer, verified or not.
            let unbounded = check_all_writes && matches!(
                outcome, TargetOutcome::Refused { status, .. } if status.0 == 9
            );
            if unbounded {
                return Ok(());
            }
            prop_assert_eq!(outcome, expected);
            let bytes = outcome.reply_bytes();
            prop_assert_eq!(&again[..bytes], &out[..bytes]);
            prop_assert_eq!(&one.bytes, &other.bytes);
        }
        prop_assert_eq!(whole.counters(), pieces.counters());
    }

    /// No bytes make the stream panic, or write without permission.
    #[test]
    fn no_input_panics(
        packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 1..4),
        lengths in prop::collection::vec(1..40usize, 1..6),
    ) {
        let (mut target, mut stream) = (RmapTarget::default(), CommandStream::new([0; 66]));
        let mut memory = Watched::default();
        for packet in packets {
            for piece in packet.chunks(lengths[0]) {
                target.piece(&mut stream, piece, &mut memory, |_| Err(Denial::Access));
            }
            target.end(&mut stream, PacketEnd::Eop, &mut memory, &mut [0; 64]).unwrap();
        }
        prop_assert_eq!(memory.accesses, vec![]);
    }
}

/// An unverified write needs no buffer: units go to the memory as they arrive, and at least the
/// last byte is held back until it cannot be the CRC.
#[test]
fn unverified_writes_go_through() {
    let data: Vec<u8> = (0..40).collect();
    let packet = command(0x64, 0x1000, &data);
    let (mut target, mut stream) = (target(), CommandStream::new([]));
    let mut memory = Watched::new(0x1000, &[0xaa; 64]);
    let (start, rest) = packet.split_at(16 + 17);
    target.piece(&mut stream, start, &mut memory, |_| Ok(()));
    let access = |address, bytes| Access { write: true, address, increment: true, bytes };
    assert_eq!(memory.accesses, [access(0x1000, 16)]);
    for byte in rest {
        target.piece(&mut stream, &[*byte], &mut memory, |_| Ok(()));
    }
    assert_eq!(memory.accesses, [access(0x1000, 16), access(0x1010, 16)]);
    let outcome = target.end(&mut stream, PacketEnd::Eop, &mut memory, &mut [0; 64]).unwrap();
    assert!(matches!(outcome, TargetOutcome::Executed { reply_bytes: 0, .. }));
    assert_eq!(memory.accesses[2], access(0x1020, 8));
    assert_eq!(memory.bytes[..40], data);
    assert_eq!(memory.bytes[40..], [0xaa; 24]);
}

/// A verified write that does not fit the buffer gets status 9, and the memory is not accessed.
#[test]
fn verified_writes_are_bounded_by_the_buffer() {
    for (bytes, status) in [(64, 0), (65, 9)] {
        let packet = command(0x7c, 0x1000, &vec![1; bytes]);
        let (mut target, mut stream) = (target(), CommandStream::new([0; 66]));
        let mut memory = Watched::new(0x1000, &[0xaa; 64]);
        target.piece(&mut stream, &packet, &mut memory, |_| Ok(()));
        let mut out = [0; 64];
        assert_eq!(
            target.end(&mut stream, PacketEnd::Eop, &mut memory, &mut [0; 24]),
            Err(NoRoom { bytes: 24, needed: 25 })
        );
        target.end(&mut stream, PacketEnd::Eop, &mut memory, &mut out).unwrap();
        assert_eq!(out[3], status);
        assert_eq!(memory.accesses.is_empty(), status != 0);
    }
}
