//! Values people type at `spfe`, and the packets a file is sent in.
#![no_main]

use arbitrary::Arbitrary;

// Modules of a program cannot be named from outside; these two need nothing of it.
#[allow(dead_code)]
#[path = "../../crates/spfe-cli/src/frame.rs"]
mod frame;
#[allow(dead_code)]
#[path = "../../crates/spfe-cli/src/parse.rs"]
mod parse;

#[derive(Arbitrary, Debug)]
enum Input {
    Text(String),
    /// Digits and units only.
    Value(Vec<u8>),
    Packet(Vec<u8>),
    /// A packet that begins like a header.
    Header(u16, u16, u64, Vec<u8>),
    /// A packet of the length of a trailer.
    Trailer([u8; 32], [u8; 24]),
    File([u8; 16], Option<u64>, String),
}

fn check_text(text: &str) {
    if let Ok(bytes) = parse::size(text) {
        assert_eq!(parse::size(&bytes.to_string()), Ok(bytes));
    }
    if let Ok(bytes) = parse::packet(text) {
        assert!((1..=1 << 30).contains(&bytes));
    }
    if let Ok(count) = parse::group(text) {
        assert!((1..=8192).contains(&count));
    }
    if let Ok(time) = parse::seconds(text) {
        assert!(time.as_secs() < 1 << 30);
    }
    assert!(parse::hertz(text).is_ok_and(|rate| rate > 0.0 && rate <= 1e6) || parse::hertz(text).is_err());
    if let Ok(byte) = parse::byte(text) {
        assert_eq!(parse::byte(&format!("{byte:#04x}")), Ok(byte));
    }
    if let Ok(data) = parse::data(text) {
        assert_eq!(parse::data(&format!("0x{}", parse::hex(&data))), Ok(data));
    }
}

fn check_packet(packet: &[u8]) {
    if let Ok(header) = frame::Header::decode(packet) {
        let again = header.encode();
        assert!(again.len() <= frame::HEADER_MAX);
        assert_eq!(frame::Header::decode(&again), Ok(header));
    }
    if let Some(id) = packet.get(8..24).and_then(|id| id.try_into().ok())
        && let Some(trailer) = frame::Trailer::decode(packet, &id)
    {
        assert_eq!(trailer.encode(), packet);
    }
}

libfuzzer_sys::fuzz_target!(|input: Input| {
    match input {
        Input::Text(text) => check_text(&text),
        Input::Value(bytes) => {
            const SET: &[u8; 24] = b"0123456789.+-xeKMGgmuss ";
            let text = bytes.iter().map(|byte| char::from(SET[usize::from(*byte) % SET.len()]));
            check_text(&text.collect::<String>());
        }
        Input::Packet(packet) => check_packet(&packet),
        Input::Header(flags, name, length, rest) => {
            let mut packet = b"SPFEFILE\x01\0".to_vec();
            packet.extend((flags % 4).to_le_bytes());
            packet.extend(name.to_le_bytes());
            packet.extend([0; 2]);
            packet.extend(length.to_le_bytes());
            packet.extend(rest);
            check_packet(&packet);
        }
        Input::Trailer(first, last) => {
            let mut packet = b"SPFEDONE".to_vec();
            packet.extend(first);
            packet.extend(last);
            check_packet(&packet);
        }
        Input::File(id, length, name) => {
            let packet = frame::Header { id, length, name: name.clone() }.encode();
            let header = frame::Header::decode(&packet).expect("what was written");
            assert!(header.id == id && header.length == length && name.starts_with(&header.name));
        }
    }
});
