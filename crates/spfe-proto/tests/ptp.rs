//! Protocol identifiers and CCSDS packet transfer.

use proptest::prelude::*;
use spfe_proto::ptp::space_packet::PACKET_MAX;
use spfe_proto::ptp::{
    PacketKind, PrimaryHeader, SequenceFlags, SpacePacket, SpacePacketError, Transfer,
    TransferError, TransferReceiver,
};
use spfe_proto::{NoRoom, PacketEnd, pid};

#[test]
fn every_identifier() {
    for byte in 0..=255u8 {
        let packet = [0x42, byte, 0x01, 0x02, 0x03];
        let found = pid::IdentifiedPacket::parse(&packet);
        let (protocol, cargo) = match byte {
            0 => (pid::Protocol::Extended(0x0102), 4),
            1 => (pid::Protocol::Rmap, 2),
            2 => (pid::Protocol::PacketTransfer, 2),
            238 => (pid::Protocol::Grddp, 2),
            239 => (pid::Protocol::Stup, 2),
            240..=254 => (pid::Protocol::Mission(byte), 2),
            255 => {
                assert_eq!(found, Err(pid::PidError::Reserved));
                continue;
            }
            _ => (pid::Protocol::Standard(byte), 2),
        };
        assert_eq!(
            found,
            Ok(pid::IdentifiedPacket { target: 0x42, protocol, cargo: &packet[cargo..] })
        );
        assert_eq!(protocol.pid(), byte);
    }
    assert_eq!((spfe_proto::rmap::PID, spfe_proto::ptp::PID), (1, 2));
}

#[test]
fn extended_identifiers() {
    for identifier in [0x0000u16, 0x0001, 0x00ff, 0x0100, 0x0101, 0xffff] {
        let [high, low] = identifier.to_be_bytes();
        let found =
            pid::IdentifiedPacket::parse(&[1, 0, high, low, 9]).map(|packet| packet.protocol);
        let expected = match identifier {
            ..0x0100 => Err(pid::PidError::ExtendedReserved { identifier }),
            _ => Ok(pid::Protocol::Extended(identifier)),
        };
        assert_eq!(found, expected);
    }
    for (packet, needed) in [(&[][..], 2), (&[1], 2), (&[1, 0], 4), (&[1, 0, 1], 4)] {
        let bytes = packet.len();
        assert_eq!(
            pid::IdentifiedPacket::parse(packet),
            Err(pid::PidError::Short { bytes, needed })
        );
    }
    let error = pid::IdentifiedPacket::parse(&[1, 0, 0, 7]).unwrap_err().to_string();
    let said = "extended protocol identifier: 0x0007 is reserved, at least 0x0100 needed";
    assert_eq!(error, said);
}

const HEADER: PrimaryHeader = PrimaryHeader {
    kind: PacketKind::Telecommand,
    secondary_header: true,
    apid: 0x123,
    sequence_flags: SequenceFlags::Unsegmented,
    sequence_count: 0x1234,
};

/// Bits of CCSDS 133.0-B: version 000, type, secondary header, 11 bits of identifier; 2 bits of
/// flags, 14 bits of count; number of data bytes less one.
#[test]
fn space_packet_bits() {
    let data = [0xa0, 0xa1, 0xa2];
    let mut out = [0; 16];
    let bytes = SpacePacket { header: HEADER, data: &data }.write(&mut out).unwrap();
    assert_eq!(out[..bytes], [0x19, 0x23, 0xd2, 0x34, 0x00, 0x02, 0xa0, 0xa1, 0xa2]);
    let idle = PrimaryHeader {
        kind: PacketKind::Telemetry,
        secondary_header: false,
        apid: 0x7ff,
        sequence_flags: SequenceFlags::Continuation,
        sequence_count: 0,
    };
    assert_eq!(idle.to_bytes(1), Ok([0x07, 0xff, 0, 0, 0, 0]));
    assert!(idle.is_idle() && !HEADER.is_idle());
    for (bits, flags) in [
        (0, SequenceFlags::Continuation),
        (1, SequenceFlags::First),
        (2, SequenceFlags::Last),
        (3, SequenceFlags::Unsegmented),
    ] {
        let packet = [0, 0, bits << 6, 0, 0, 0, 0];
        assert_eq!(SpacePacket::parse(&packet).unwrap().header.sequence_flags, flags);
        let header = PrimaryHeader { sequence_flags: flags, ..idle };
        assert_eq!(header.to_bytes(1).unwrap()[2], bits << 6);
    }
}

#[test]
fn space_packet_limits() {
    let good = [0x19, 0x23, 0xd2, 0x34, 0x00, 0x00, 0xa0];
    assert!(SpacePacket::parse(&good).is_ok());
    for bytes in 0..7 {
        assert_eq!(SpacePacket::parse(&good[..bytes]), Err(SpacePacketError::Short { bytes }));
    }
    let long = [&good[..], &[0]].concat();
    let mismatch = SpacePacketError::Length { bytes: 8, declared: 7 };
    assert_eq!(SpacePacket::parse(&long), Err(mismatch));
    assert_eq!(mismatch.to_string(), "space packet: 8 bytes, its header says 7");
    let mut version = good;
    version[0] |= 0xe0;
    assert_eq!(SpacePacket::parse(&version), Err(SpacePacketError::Version { version: 7 }));

    assert_eq!(HEADER.to_bytes(0), Err(SpacePacketError::Data { bytes: 0 }));
    assert_eq!(HEADER.to_bytes(65_537), Err(SpacePacketError::Data { bytes: 65_537 }));
    let header = PrimaryHeader { apid: 0x800, ..HEADER };
    assert_eq!(header.to_bytes(1), Err(SpacePacketError::Apid { apid: 0x800 }));
    let header = PrimaryHeader { sequence_count: 0x4000, ..HEADER };
    assert_eq!(header.to_bytes(1), Err(SpacePacketError::Count { count: 0x4000 }));

    let (data, mut out) = (vec![7; 65_536], vec![0; PACKET_MAX]);
    let longest = SpacePacket { header: HEADER, data: &data };
    assert_eq!(longest.write(&mut out), Ok(PACKET_MAX));
    assert_eq!(SpacePacket::parse(&out), Ok(longest));
    let (bytes, needed) = (PACKET_MAX - 1, PACKET_MAX);
    assert_eq!(
        longest.write(&mut out[1..]),
        Err(SpacePacketError::NoRoom(NoRoom { bytes, needed }))
    );
}

#[test]
fn transfer_bytes() {
    let cargo = [0x19, 0x23, 0xd2, 0x34, 0x00, 0x00, 0xa0];
    let transfer = Transfer { target: 0xfe, user_application: 0x77, cargo: &cargo };
    let mut out = [0; 16];
    let bytes = transfer.write(&[3, 5], &mut out).unwrap();
    let expected = [3, 5, 0xfe, 2, 0, 0x77, 0x19, 0x23, 0xd2, 0x34, 0x00, 0x00, 0xa0];
    assert_eq!(out[..bytes], expected);
    assert_eq!(Transfer::parse(&out[2..bytes], PacketEnd::Eop), Ok(transfer));
    assert_eq!(transfer.write(&[], &mut out[..10]), Err(NoRoom { bytes: 10, needed: 11 }));
}

/// 50-53C: what is delivered, what is not, and what is reported.
#[test]
fn receiver() {
    let good = [0xfe, 2, 0, 0x77, 0x19, 0x23, 0xd2, 0x34, 0x00, 0x00, 0xa0];
    let mut receiver = TransferReceiver::default();
    let indication = receiver.handle(&good, PacketEnd::Eop).unwrap();
    assert_eq!((indication.transfer.user_application, indication.transfer.target), (0x77, 0xfe));
    assert_eq!(indication.transfer.cargo, &good[4..]);
    assert_eq!(indication.space_packet.unwrap().header, HEADER);

    // Cut: discarded before anything is examined.
    assert_eq!(receiver.handle(&good, PacketEnd::Eep), Err(TransferError::Eep { bytes: 11 }));
    assert_eq!(receiver.handle(&[], PacketEnd::Eep), Err(TransferError::Eep { bytes: 0 }));
    let mut other = good;
    other[1] = 1;
    assert_eq!(receiver.handle(&other, PacketEnd::Eop), Err(TransferError::Protocol { pid: 1 }));
    let mut reserved = good;
    reserved[2] = 0x80;
    assert_eq!(
        receiver.handle(&reserved, PacketEnd::Eop),
        Err(TransferError::Reserved { value: 0x80 })
    );
    for bytes in 0..4 {
        let short = TransferError::Short { bytes };
        assert_eq!(receiver.handle(&good[..bytes], PacketEnd::Eop), Err(short));
    }
    // A length other than declared, or no space packet at all: delivered unchanged, and reported.
    let long = [&good[..], &[1]].concat();
    let indication = receiver.handle(&long, PacketEnd::Eop).unwrap();
    assert_eq!(indication.transfer.cargo, &long[4..]);
    assert_eq!(indication.space_packet, Err(SpacePacketError::Length { bytes: 8, declared: 7 }));
    let indication = receiver.handle(&good[..4], PacketEnd::Eop).unwrap();
    assert_eq!(indication.space_packet, Err(SpacePacketError::Short { bytes: 0 }));

    let c = receiver.counters();
    assert_eq!((c.delivered, c.invalid_cargo, c.eep, c.short, c.reserved), (3, 2, 2, 4, 1));
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let random = prop::collection::vec(any::<u8>(), 0..40);
    let ours = (random.clone(), prop_oneof![Just(0u8), any::<u8>()], any::<bool>());
    let ours = ours.prop_map(|(mut bytes, reserved, right)| {
        bytes.splice(..bytes.len().min(2), [0xfe, 2, reserved]);
        if right && bytes.len() > 10 {
            bytes[4] &= 0x1f;
            bytes[8] = 0;
            bytes[9] = (bytes.len() - 11) as u8;
        }
        bytes
    });
    prop_oneof![random, ours]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn transfers_round_trip(bytes in bytes(), path in prop::collection::vec(any::<u8>(), 0..4)) {
        let mut out = [0; 64];
        if let Ok(packet) = pid::IdentifiedPacket::parse(&bytes) {
            let written = packet.write(&path, &mut out).unwrap();
            prop_assert_eq!(&out[..written], &[&path[..], &bytes].concat()[..]);
        }
        if let Ok(transfer) = Transfer::parse(&bytes, PacketEnd::Eop) {
            let written = transfer.write(&path, &mut out).unwrap();
            prop_assert_eq!(&out[..written], &[&path[..], &bytes].concat()[..]);
            if let Ok(packet) = transfer.space_packet() {
                let written = packet.write(&mut out).unwrap();
                prop_assert_eq!(&out[..written], transfer.cargo);
            }
        }
        if let Ok(packet) = SpacePacket::parse(&bytes) {
            let written = packet.write(&mut out).unwrap();
            prop_assert_eq!(&out[..written], &bytes[..]);
        }
    }
}
