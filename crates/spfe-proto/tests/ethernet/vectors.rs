//! Packets that `vectors/netdev.py` made: ours have the same bytes and the same fields.

use spfe_proto::PacketEnd;
use spfe_proto::ethernet::{
    self, EthernetHello, EthernetPacket, HelloFlags, Offload, PREFIX, PeerFeatures,
    complete_checksum, parse_any,
};
use std::collections::HashMap;

const VECTORS: &str = include_str!("../../../../vectors/netdev.txt");

fn hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Makes the packet of a line from its fields.
fn make(fields: &HashMap<&str, &str>) -> Vec<u8> {
    let number = |key: &str| fields[key].parse::<u32>().unwrap();
    if fields.contains_key("hello") {
        let hello = EthernetHello {
            flags: HelloFlags { ask: number("ask") == 1, seen: number("seen") == 1 },
            version: number("hello") as u8,
            features: PeerFeatures(number("features") as u16),
            packet_max: number("packet_max"),
        };
        return hello.encode().to_vec();
    }
    let frame = hex(fields["frame"]);
    if number("version") == 1 {
        let mut packet = vec![0; ethernet::HEADER_BYTES + frame.len()];
        ethernet::begin(&mut packet).unwrap().copy_from_slice(&frame);
        return packet;
    }
    let offload = Offload {
        flags: number("flags") as u8,
        segment_kind: number("kind") as u8,
        header_bytes: number("header") as u16,
        segment_bytes: number("segment") as u16,
        checksum_start: number("start") as u16,
        checksum_offset: number("offset") as u16,
    };
    [&PREFIX[..], &offload.encode(), &frame].concat()
}

#[test]
fn packets_match_another_encoder() {
    let lines: Vec<_> = VECTORS.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), 8);
    for line in lines {
        let parts: Vec<_> = line.split("; ").collect();
        let fields: HashMap<_, _> =
            parts[1].split(' ').map(|field| field.split_once('=').unwrap()).collect();
        let packet = hex(parts[2]);
        assert_eq!(make(&fields), packet, "{}", parts[0]);
        match parse_any(&packet, PacketEnd::Eop, 1500).unwrap() {
            EthernetPacket::Plain(frame) => assert_eq!(frame, hex(fields["frame"])),
            EthernetPacket::Offloaded(offload, frame) => {
                assert_eq!(frame, hex(fields["frame"]));
                assert_eq!(offload.is_segmented(), fields["kind"] != "0", "{}", parts[0]);
                assert_eq!(offload.needs_checksum(), fields["flags"] == "1", "{}", parts[0]);
            }
            EthernetPacket::Hello(hello) => assert_eq!(hello.encode()[..], packet),
        }
    }
}

/// The same frame with a checksum that is to be completed and with the one that another program
/// computed.
#[test]
fn completing_gives_the_checksum_of_another_program() {
    let frame_of = |name: &str| {
        let line = VECTORS.lines().find(|line| line.starts_with(name)).unwrap();
        hex(line.split("frame=").nth(1).unwrap().split(';').next().unwrap())
    };
    let whole = frame_of("complete;");
    let mut half = whole.clone();
    half[50..52].copy_from_slice(&(0x0a00u16 + 1 + 0x0a00 + 2 + 6 + 25).to_be_bytes());
    let offload =
        Offload { flags: 1, checksum_start: 34, checksum_offset: 16, ..Offload::default() };
    complete_checksum(&mut half, &offload);
    assert_eq!(half, whole);
}
