//! Damaged, cut and malformed packets.

use proptest::prelude::*;
use spfe_proto::sfrp::{Flags, Opcode, ReplyPath, SfrpHeader, SfrpHeaderError, SfrpStatus, crc};
use spfe_proto::{NoRoom, PacketEnd};

fn write(path: &[u8]) -> (SfrpHeader, Vec<u8>) {
    let header = SfrpHeader {
        flags: Flags::FIRST | Flags::LAST | Flags::PAYLOAD_CRC,
        reply_path: ReplyPath::new(path).unwrap(),
        length: 5,
        ..SfrpHeader::request(Opcode::Write)
    };
    let mut packet = vec![0; header.packet_bytes()];
    header.encode(b"hello", &mut packet).unwrap();
    (header, packet)
}

/// Puts the right CRC behind a header that was changed.
fn mend(packet: &mut [u8], bytes: usize) {
    let crc = crc::header(&packet[..bytes - 2]);
    packet[bytes - 2..bytes].copy_from_slice(&crc.to_be_bytes());
}

#[test]
fn every_damaged_bit_is_noticed() {
    let (header, packet) = write(&[1, 2, 3]);
    for bit in 0..packet.len() * 8 {
        let mut damaged = packet.clone();
        damaged[bit / 8] ^= 0x80 >> (bit % 8);
        let found = SfrpHeader::parse(&damaged)
            .map(|header| header.payload(&damaged, PacketEnd::Eop).map(<[u8]>::to_vec));
        if bit < header.bytes() * 8 {
            assert!(found.is_err(), "bit {bit}");
        } else {
            assert_eq!(found, Ok(Err(SfrpStatus::PAYLOAD_CRC)), "bit {bit}");
        }
    }
}

#[test]
fn every_cut_is_noticed() {
    let (header, packet) = write(&[]);
    for bytes in 0..packet.len() {
        let cut = &packet[..bytes];
        match SfrpHeader::parse(cut) {
            Err(error) => assert_eq!(error, SfrpHeaderError::Short { bytes, needed: 40 }),
            Ok(found) => assert_eq!(found.payload(cut, PacketEnd::Eop), Err(SfrpStatus::SHORT)),
        }
    }
    assert_eq!(header.payload(&packet, PacketEnd::Eep), Err(SfrpStatus::EEP));
    let longer = [&packet[..], &[0]].concat();
    assert_eq!(header.payload(&longer, PacketEnd::Eop), Err(SfrpStatus::LONG));
}

#[test]
fn a_payload_needs_its_crc() {
    let (mut header, _) = write(&[]);
    header.flags = Flags::FIRST | Flags::LAST;
    let mut packet = vec![0; header.packet_bytes()];
    header.encode(b"hello", &mut packet).unwrap();
    let found = SfrpHeader::parse(&packet).unwrap();
    assert_eq!(found.payload(&packet, PacketEnd::Eop), Err(SfrpStatus::PAYLOAD_CRC));
}

#[test]
fn headers_that_contradict_themselves() {
    let (header, packet) = write(&[7]);
    let bytes = header.bytes();
    let with = |change: &dyn Fn(&mut [u8])| {
        let mut changed = packet.clone();
        change(&mut changed);
        mend(&mut changed, bytes);
        SfrpHeader::parse(&changed)
    };
    assert_eq!(with(&|_| {}), Ok(header));
    let layout = Err(SfrpHeaderError::Layout);
    assert_eq!(with(&|packet| packet[4] |= 1), layout, "a reserved flag");
    assert_eq!(with(&|packet| packet[7] = 0), layout, "a header longer than its path");
    assert_eq!(with(&|packet| packet[7] = 9), layout, "a path longer than the header");
    assert_eq!(with(&|packet| packet[45] = 1), layout, "padding");
    assert_eq!(with(&|packet| packet[3] |= 0x80), layout, "a response with a path");
    assert_eq!(with(&|packet| packet[3] = 2), layout, "a CRC of no payload");
    // A later version may use all that; its header can still be answered.
    assert_eq!(with(&|packet| (packet[2], packet[4]) = (0x26, 0xff)).unwrap().version, 2);
    for units in [0u8, 4, 9, 15] {
        let mut changed = packet.clone();
        changed[2] = 0x10 | units;
        assert_eq!(SfrpHeader::parse(&changed), Err(SfrpHeaderError::Length { units }));
    }
    let mut longer = packet[..40].to_vec();
    longer[2] = 0x17;
    assert_eq!(SfrpHeader::parse(&longer), Err(SfrpHeaderError::Short { bytes: 40, needed: 56 }));
}

#[test]
fn what_errors_say() {
    let cases = [
        (SfrpHeaderError::Short { bytes: 3, needed: 40 }, "packet of 3 bytes, 40 needed"),
        (SfrpHeaderError::Length { units: 9 }, "9 units of 8 bytes, 5 to 8 allowed"),
        (SfrpHeaderError::Crc, "CRC is wrong"),
        (SfrpHeaderError::Layout, "reply path does not fit"),
    ];
    for (error, words) in cases {
        assert!(error.to_string().contains(words), "{error}");
    }
    let long = ReplyPath::new(&[0; 25]).unwrap_err();
    assert_eq!(long.to_string(), "reply path of 25 bytes: at most 24 allowed");
    assert_eq!(SfrpStatus::BOUNDS.to_string(), "status 4: the access reaches beyond the region");
    assert_eq!(SfrpStatus(99).to_string(), "status 99: not defined by SFRP");
    let (header, packet) = write(&[]);
    let mut out = vec![0; packet.len() - 1];
    let needed = packet.len();
    assert_eq!(header.encode(b"hello", &mut out), Err(NoRoom { bytes: needed - 1, needed }));
}

proptest! {
    /// What is read is written again as it was, whatever it is.
    #[test]
    fn there_and_back(bytes in prop::collection::vec(any::<u8>(), 0..120), mended: bool) {
        let mut bytes = bytes;
        if mended && bytes.len() > 2 {
            bytes[2] = 0x10 | (5 + bytes[2] % 4);
            let header = usize::from(bytes[2] & 15) * 8;
            if bytes.len() >= header {
                bytes[7] %= 25;
                mend(&mut bytes, header);
            }
        }
        if let Ok(header) = SfrpHeader::parse(&bytes)
            && let Ok(payload) = header.payload(&bytes, PacketEnd::Eop)
            && header.version == 1
        {
            let mut out = vec![0; bytes.len()];
            prop_assert_eq!(header.encode(payload, &mut out), Ok(bytes.len()));
            prop_assert_eq!(out, bytes);
        }
    }
}
