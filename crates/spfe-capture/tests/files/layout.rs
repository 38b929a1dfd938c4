//! The encoding of records, as documented in `docs/capture.md`.

use spfe_capture::layout::{HEADER, LINKTYPE, MAGIC, VERSION, flag, offset};
use spfe_capture::record::BroadcastMessage;
use spfe_capture::*;
use spfe_link::spacewire::BroadcastCode;

/// The bytes of each record in a file.
fn raw(file: &[u8]) -> Vec<Vec<u8>> {
    let mut records = vec![];
    let mut at = 0;
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    while at < file.len() {
        if word(at) == 6 {
            records.push(file[at + 28..at + 28 + word(at + 20)].to_vec());
        }
        at += word(at + 4);
    }
    records
}

fn one(write: impl FnOnce(&mut CaptureWriter<Vec<u8>>, InterfaceId)) -> Vec<u8> {
    let mut capture = CaptureWriter::new(Vec::new(), &WriterOptions::default()).unwrap();
    let interface = Interface { name: "a", description: "", speed_bps: None };
    let id = capture.interface(&interface).unwrap();
    write(&mut capture, id);
    raw(&capture.finish().unwrap().0).remove(0)
}

#[test]
fn packet_record_has_the_documented_bytes() {
    let packet = PacketRecord {
        link: LinkKind::SpaceFibre,
        direction: RecordDirection::Received,
        vc: Some(4),
        network: Some(5),
        id: 0x0102_0304_0506_0708,
        flags: flag::RESENT,
        ..PacketRecord::new(b"\xfe\x01", PacketEnd::Eep)
    };
    let found = one(|capture, id| capture.packet(7_000_123, id, &packet).unwrap());
    let expected = [
        0x53, 0x46, 1, 32, 1, 1, 2, 0xff, 4, 5, 2, 0, 8, 0, 123, 0, 2, 0, 0, 0, 0, 0, 0, 0, 8, 7,
        6, 5, 4, 3, 2, 1, 0xfe, 0x01,
    ];
    assert_eq!(found, expected);
}

#[test]
fn contents_have_the_documented_bytes() {
    let direction = RecordDirection::Sent;
    let message = BroadcastMessage { channel: 9, kind: 8, data: [7; 8], late: true, delayed: true };
    let broadcast = BroadcastRecord { message, direction, flags: 0 };
    let found = one(|capture, id| capture.broadcast(0, id, &broadcast).unwrap());
    assert_eq!(found[HEADER..], [9, 8, 3, 0, 7, 7, 7, 7, 7, 7, 7, 7]);
    let code = CodeRecord { code: BroadcastCode::time(33), direction, flags: 0 };
    let found = one(|capture, id| capture.time_code(0, id, &code).unwrap());
    assert_eq!(found[HEADER..], [33]);
    let event = LinkEvent::new(EventCode::CodeInvalid, 0x0102_0304).text("why");
    let found = one(|capture, id| capture.event(0, id, &event).unwrap());
    assert_eq!(found[HEADER..], *b"\x03\x05\x01\x00\x04\x03\x02\x01why");
    let words = [LineWord::from(spfe_link::Word::RXERR), LineWord::from(None)];
    let frame = FrameRecord { words: &words, lane: 0, lanes: 1, direction, flags: 0 };
    let found = one(|capture, id| capture.frame(0, id, &frame).unwrap());
    assert_eq!(found[HEADER..], [0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0]);
}

#[test]
fn offsets_match_the_encoded_header() {
    let header = PseudoHeader {
        kind: RecordKind::Frame,
        link: LinkKind::SpaceWire,
        direction: RecordDirection::Sent,
        lane: Some(3),
        vc: Some(4),
        network: Some(5),
        end: PacketEnd::Eop,
        lanes: 6,
        flags: 0x0807,
        sub_ns_ps: 0x0109,
        length: 0x0c0b_0a09,
        period_ps: 0x100f_0e0d,
        id: 0x1817_1615_1413_1211,
    };
    let bytes = header.to_bytes();
    let at = |offset: usize, field: &[u8]| assert_eq!(&bytes[offset..offset + field.len()], field);
    at(offset::MAGIC, &MAGIC);
    at(offset::VERSION, &[VERSION]);
    at(offset::HEADER_BYTES, &[HEADER as u8]);
    at(offset::KIND, &[7]);
    at(offset::LINK, &[2]);
    at(offset::DIRECTION, &[1]);
    at(offset::LANE, &[3]);
    at(offset::VC, &[4]);
    at(offset::NETWORK, &[5]);
    at(offset::END, &[1]);
    at(offset::LANES, &[6]);
    at(offset::FLAGS, &[0x07, 0x08]);
    at(offset::SUB_NS, &[0x09, 0x01]);
    at(offset::LENGTH, &[0x09, 0x0a, 0x0b, 0x0c]);
    at(offset::PERIOD, &[0x0d, 0x0e, 0x0f, 0x10]);
    at(offset::ID, &[0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18]);
    assert_eq!(PseudoHeader::parse(&bytes), Ok((header, &[][..])));
    assert_eq!(LINKTYPE, 147);
}

#[test]
fn a_longer_header_of_a_later_version_is_accepted() {
    let mut bytes = PseudoHeader { length: 1, ..PseudoHeader::default() }.to_bytes().to_vec();
    bytes[offset::HEADER_BYTES] = 36;
    bytes.extend([1, 2, 3, 4, 0x55]);
    let (header, content) = PseudoHeader::parse(&bytes).expect("known version");
    assert_eq!(RecordContent::parse(&header, content), Ok(RecordContent::Packet(&[0x55])));
}

#[test]
fn docs_list_every_event() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/capture.md");
    let docs = std::fs::read_to_string(path).expect("docs/capture.md is there");
    for code in EventCode::ALL {
        let severity = format!("{:?}", code.severity()).to_lowercase();
        let (name, value) = (code.name(), code.value_meaning());
        let row = format!("| 0x{:04x} | {name} | {severity} | {value} |", *code as u16);
        assert!(docs.contains(&row), "docs/capture.md lacks the line {row}");
    }
}
