//! Packets that `vectors/sfrp.py` made: ours have the same bytes and the same fields.

use crate::hex;
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Flags, Info, Opcode, RegionEntry, ReplyPath, SfrpHeader, SfrpStatus, crc};
use std::collections::HashMap;

const VECTORS: &str = include_str!("../../../../vectors/sfrp.txt");

struct Vector<'a> {
    name: &'a str,
    header: SfrpHeader,
    payload: Vec<u8>,
    packet: Vec<u8>,
}

fn vectors() -> Vec<Vector<'static>> {
    let read = |line: &'static str| {
        let mut parts = line.split("; ");
        let mut part = || parts.next().unwrap();
        let (name, fields, packet) = (part(), part(), hex(part()));
        let fields: HashMap<_, _> =
            fields.split(' ').map(|field| field.split_once('=').unwrap()).collect();
        let number = |key: &str| u64::from_str_radix(&fields[key][2..], 16).unwrap();
        let header = SfrpHeader {
            receiver: number("receiver") as u8,
            code: number("code") as u8,
            flags: Flags(number("flags") as u8),
            status: number("status") as u8,
            sender: number("sender") as u8,
            reply_path: ReplyPath::new(&hex(fields["path"])).unwrap(),
            sender_queue: number("sender_queue") as u16,
            receiver_queue: number("receiver_queue") as u16,
            request: number("request") as u32,
            key: number("key") as u32,
            length: number("length") as u32,
            address: number("address"),
            immediate: number("immediate") as u32,
            sequence: number("sequence") as u16,
            ..SfrpHeader::request(Opcode::Info)
        };
        Vector { name, header, payload: hex(fields["payload"]), packet }
    };
    VECTORS.lines().filter(|line| !line.starts_with('#')).map(read).collect()
}

#[test]
fn packets_match_another_encoder() {
    let vectors = vectors();
    assert!(vectors.len() >= 23, "{}", vectors.len());
    for Vector { name, header, payload, packet } in vectors {
        let parsed = SfrpHeader::parse(&packet).unwrap();
        assert_eq!(parsed, header, "{name}");
        assert_eq!(parsed.payload(&packet, PacketEnd::Eop), Ok(&payload[..]), "{name}");
        let mut out = vec![0xaa; packet.len()];
        assert_eq!(header.encode(&payload, &mut out), Ok(packet.len()), "{name}");
        assert_eq!(out, packet, "{name}");
        assert_eq!(crc::header(&packet[..header.bytes()]), 0, "{name}");
    }
}

/// The published check values of the two CRCs.
#[test]
fn check_values() {
    assert_eq!(crc::header(b"123456789"), 0x29b1);
    assert_eq!(crc::payload(b"123456789"), 0xe306_9283);
    assert_eq!((crc::header(b""), crc::payload(b"")), (0xffff, 0));
}

/// Every length modulo the steps of the implementation gives what the definition says.
#[test]
fn payload_crc_by_definition() {
    let by_bits = |bytes: &[u8]| {
        !bytes.iter().fold(!0u32, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |rest, _| {
                if rest & 1 != 0 { rest >> 1 ^ 0x82f6_3b78 } else { rest >> 1 }
            })
        })
    };
    let bytes: Vec<u8> = (0..25_000u32).map(|n| ((n * n) >> 3) as u8).collect();
    for start in [0, 1, 5] {
        for length in (0..64).chain([767, 768, 769, 4095, 4096, 4100, 24_577]) {
            let part = &bytes[start..start + length];
            assert_eq!(crc::payload(part), by_bits(part), "{length} bytes from {start}");
        }
    }
}

#[test]
fn a_response_goes_back_to_the_sender() {
    let find = |name: &str| vectors().into_iter().find(|vector| vector.name == name).unwrap();
    let (request, response) = (find("V1 WRITE"), find("V2 WRITE_ACK"));
    let made = SfrpHeader { address: 8, ..request.header.response(SfrpStatus::OK) };
    assert_eq!(made, response.header);
    let refused = SfrpHeader { request: 3, sequence: 3, ..find("V3 READ").header };
    assert_eq!(refused.response(SfrpStatus::BOUNDS), find("V5 READ, BOUNDS").header);
}

#[test]
fn blocks_come_back() {
    let find = |name: &str| vectors().into_iter().find(|vector| vector.name == name).unwrap();
    let block = find("INFO answered").payload;
    let info = Info::decode(&block).unwrap();
    assert_eq!((info.segment_log2, info.regions, info.reads_max), (12, 2, 16));
    assert_eq!((info.message_max, info.time_ns), (1 << 20, 123_456_789));
    assert_eq!(info.encode()[..], block);
    assert_eq!(Info::decode(&block[1..]), None);
    let block = find("REGIONS answered").payload;
    let ([first, second], []) = block.as_chunks::<24>() else { panic!("{block:x?}") };
    assert_eq!(RegionEntry::decode(first).encode(), *first);
    let (first, second) = (RegionEntry::decode(first), RegionEntry::decode(second));
    assert_eq!((first.index, first.key, first.bytes), (0, 0x0001_2abc, 8 << 30));
    assert_eq!((second.index, second.key, second.base, second.bytes), (1, 0, 1 << 32, 1));
}
