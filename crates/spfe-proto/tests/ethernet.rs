//! Ethernet frames in packets.

use proptest::prelude::*;
use spfe_proto::ethernet::{self, DropReason, HEADER, HEADER_BYTES};
use spfe_proto::{NoRoom, PacketEnd, pid};

/// Longest packet at an MTU of 1500.
const MOST: usize = 1524;

fn packet(frame: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; HEADER_BYTES + frame.len()];
    ethernet::begin(&mut packet).unwrap().copy_from_slice(frame);
    packet
}

#[test]
fn numbers_match_the_document() {
    assert_eq!(HEADER, [0xfe, 0xf5, 1, 0, 0, 0]);
    assert_eq!(ethernet::packet_bytes(ethernet::MTU_MAX), 65_524);
    let found = pid::IdentifiedPacket::parse(&HEADER).unwrap();
    assert_eq!(found.protocol, pid::Protocol::Mission(0xf5));
}

/// Value of a `#define` in the driver's source.
fn defined(source: &str, name: &str) -> u32 {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut lines = source.lines().map(words);
    let line = lines.find(|words| words.len() == 3 && words[0] == "#define" && words[1] == name);
    line.unwrap_or_else(|| panic!("no #define {name} of a number"))[2].parse().unwrap()
}

#[test]
fn the_driver_uses_the_same_numbers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../driver/linux/netdev.c");
    let source = std::fs::read_to_string(path).unwrap();
    let (_, rest) = source.split_once("spfe_net_header[] = {").expect("the header's bytes");
    let bytes = rest.split('}').next().unwrap().split(',').map(|byte| {
        let byte = byte.trim();
        let hex = byte.strip_prefix("0x").map(|digits| u8::from_str_radix(digits, 16));
        hex.unwrap_or_else(|| byte.parse()).unwrap()
    });
    assert_eq!(bytes.collect::<Vec<_>>(), HEADER);
    assert_eq!(defined(&source, "SPFE_NET_MTU_MIN"), ethernet::MTU_MIN);
    assert_eq!(defined(&source, "SPFE_NET_MTU_MAX"), ethernet::MTU_MAX);
    assert_eq!(defined(&source, "SPFE_NET_MTU"), ethernet::MTU_DEFAULT);
}

#[test]
fn lengths_have_limits() {
    let frame = [7; 2000];
    for (bytes, parsed) in [
        (14, Ok(&frame[..14])),
        (1518, Ok(&frame[..1518])),
        (1519, Err(DropReason::Long { bytes: 1525, most: MOST })),
    ] {
        assert_eq!(ethernet::parse(&packet(&frame[..bytes]), PacketEnd::Eop, MOST), parsed);
    }
    let whole = packet(&frame[..14]);
    for bytes in 0..20 {
        let short = Err(DropReason::Short { bytes });
        assert_eq!(ethernet::parse(&whole[..bytes], PacketEnd::Eop, MOST), short);
        let room = ethernet::begin(&mut vec![9; bytes]).map(|frame| frame.len());
        assert_eq!(room, Err(NoRoom { bytes, needed: 20 }));
    }
    assert_eq!(ethernet::parse(&whole, PacketEnd::Eep, MOST), Err(DropReason::Cut));
}

#[test]
fn every_header_bit_counts() {
    for bit in 0..8 * HEADER_BYTES {
        let mut bytes = packet(&[7; 60]);
        bytes[bit / 8] ^= 1 << (bit % 8);
        let wrong = DropReason::Header { at: bit / 8, value: bytes[bit / 8] };
        assert_eq!(ethernet::parse(&bytes, PacketEnd::Eop, MOST), Err(wrong));
    }
    let error = DropReason::Header { at: 1, value: 2 }.to_string();
    assert_eq!(error, "Ethernet packet: header byte 1 is 0x02, not 0xf5");
}

proptest! {
    #[test]
    fn frames_come_back(frame in prop::collection::vec(any::<u8>(), 14..2000), mtu in 68u32..2000) {
        let most = ethernet::packet_bytes(mtu);
        let bytes = packet(&frame);
        let found = ethernet::parse(&bytes, PacketEnd::Eop, most);
        match bytes.len() {
            bytes if bytes > most => prop_assert_eq!(found, Err(DropReason::Long { bytes, most })),
            _ => prop_assert_eq!(found, Ok(&frame[..])),
        }
    }

    #[test]
    fn no_input_panics(bytes in prop::collection::vec(any::<u8>(), 0..64), most in 0usize..64) {
        if let Ok(frame) = ethernet::parse(&bytes, PacketEnd::Eop, most) {
            prop_assert_eq!(packet(frame), bytes);
        }
    }
}
