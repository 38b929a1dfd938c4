//! Ethernet frames in packets.

mod offload;
mod peer;
mod vectors;

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

/// The bytes of an array in the driver's source.
fn array(source: &str, name: &str) -> Vec<u8> {
    let (_, rest) = source.split_once(&format!("{name}[] = {{")).expect("the array");
    let bytes = rest.split('}').next().unwrap().split(',').map(|byte| {
        let byte = byte.trim();
        let hex = byte.strip_prefix("0x").map(|digits| u8::from_str_radix(digits, 16));
        hex.unwrap_or_else(|| byte.parse()).unwrap()
    });
    bytes.collect()
}

#[test]
fn the_driver_uses_the_same_numbers() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../driver/linux/");
    let source = |file: &str| std::fs::read_to_string(format!("{folder}{file}")).unwrap();
    let source = source("spfe_net.h") + &source("netdev_peer.c");
    assert_eq!(array(&source, "spfe_net_header"), HEADER);
    assert_eq!(array(&source, "spfe_net_prefix"), ethernet::PREFIX);
    assert_eq!(defined(&source, "SPFE_NET_HELLO_BYTES") as usize, ethernet::HELLO_BYTES);
    assert_eq!(defined(&source, "SPFE_NET_ASK_TRIES"), ethernet::ASK_TRIES);
    assert_eq!(
        u64::from(defined(&source, "SPFE_NET_ASK_MS")) * 1_000_000,
        ethernet::ASK_INTERVAL_NS
    );
    assert_eq!(defined(&source, "SPFE_NET_PACKET_MAX") as usize, ethernet::PACKET_MAX_BYTES);
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
    assert_eq!(error, "Ethernet packet: header byte 1 is 0x02");
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
