//! Values people type at `spfe`, and the packets a file is sent in.

use crate::{assembly, frame, parse, ssdtp2};
use arbitrary::Arbitrary;
use spfe::{End, Endpoint, Received, Region, Status};
use std::sync::LazyLock;

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
    File([u8; 16], Option<u64>, String, Option<Vec<u8>>),
    /// What `spfe recv` gets: a header or none, then anything.
    Transfer(bool, Vec<Part>),
}

/// A packet, or part of one.
#[derive(Arbitrary, Debug)]
enum Part {
    Header,
    Trailer(u64),
    /// The trailer of another transfer.
    Other([u8; 16]),
    Bytes(Vec<u8>, u8, u8),
    /// The first bytes of a header, or of a trailer.
    Short(bool, u8, u8),
}

const PART_MAX: usize = 4096;
const ID: frame::Id = [7; 16];

static MEMORY: LazyLock<Region> = LazyLock::new(|| {
    let endpoint = Endpoint::open("virtual:").expect("the built-in device");
    endpoint.alloc(PART_MAX).expect("a buffer")
});

fn trailer(id: frame::Id, length: u64) -> Vec<u8> {
    frame::Trailer { id, length, sha256: [1; 32] }.encode()
}

fn header() -> Vec<u8> {
    frame::Header { id: ID, length: None, name: "a.bin".to_owned(), reply: None }.encode()
}

impl Part {
    fn packet(&self) -> (Vec<u8>, End, Status) {
        let end = |end: u8| match end % 8 {
            0 => End::More,
            1 => End::Eep,
            _ => End::Eop,
        };
        let whole = |bytes| (bytes, End::Eop, Status::Ok);
        match self {
            Self::Header => whole(header()),
            Self::Trailer(length) => whole(trailer(ID, *length)),
            Self::Other(id) => whole(trailer(*id, 0)),
            Self::Bytes(bytes, ending, status) => {
                let status = Status::from_raw(*status).unwrap_or(Status::Ok);
                (bytes[..bytes.len().min(PART_MAX)].to_vec(), end(*ending), status)
            }
            Self::Short(first, length, ending) => {
                let mut bytes = if *first { header() } else { trailer(ID, 0) };
                bytes.truncate((*length).into());
                (bytes, end(*ending), Status::Ok)
            }
        }
    }
}

/// A file begins with its header and ends with its trailer, whatever comes.
fn check_transfer(parts: &[(Vec<u8>, End, Status)]) {
    let mut assembly = assembly::Assembly::new("port 0 VC 0");
    let mut buf = Some(MEMORY.buf(0..PART_MAX).expect("the only user"));
    let (mut bytes, mut begun, mut inside) = (0, false, false);
    for (part, end, status) in parts {
        let Some(mut buf_now) = buf.take() else { break };
        buf_now.set_len(0);
        buf_now.put(part);
        let received = Received { buf: buf_now, end: *end, status: *status, time_ns: None };
        match assembly.take(&received, bytes) {
            Ok(assembly::Step::Header(header)) => {
                assert!(!begun && !inside && *end == End::Eop);
                let (found, at) = frame::Header::decode(part).expect("a header");
                assert!(found == header && at <= 1);
                begun = true;
            }
            Ok(assembly::Step::Again) => assert!(begun && !inside && *end == End::Eop),
            Ok(assembly::Step::Stranger) => assert!(!begun),
            Ok(assembly::Step::Data(address)) => {
                assert!(begun && *status == Status::Ok && *end != End::Eep);
                assert!(address <= 1);
                bytes += part.len() as u64;
            }
            Ok(assembly::Step::Done(done)) => {
                assert!(begun && !inside && *end == End::Eop);
                assert!(part.ends_with(&done.encode()) && part.len() <= 65);
                return;
            }
            Err(failure) => {
                assert!(failure.kind.code() != 0 && !failure.what.is_empty());
                return;
            }
        }
        inside = *end == End::More;
        buf = Some(received.buf);
    }
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
    if let Ok(time) = parse::time(text) {
        assert!(time.as_secs() < 1 << 30);
    }
    assert!(
        parse::hertz(text).is_ok_and(|rate| rate > 0.0 && rate <= 1e6)
            || parse::hertz(text).is_err()
    );
    if let Ok(byte) = parse::byte(text) {
        assert_eq!(parse::byte(&format!("{byte:#04x}")), Ok(byte));
    }
    if let Ok(data) = parse::data(text) {
        assert_eq!(parse::data(&format!("0x{}", parse::hex(&data))), Ok(data));
    }
}

fn check_packet(packet: &[u8]) {
    if let Some((id, answer)) = frame::Answer::decode(packet) {
        let again = answer.encode(&id);
        assert!(again.len() <= frame::ANSWER_MAX);
        // Text that is no UTF-8 grows, and is cut.
        let same = frame::Answer::decode(&again).expect("an answer");
        assert!(same.0 == id && std::mem::discriminant(&same.1) == std::mem::discriminant(&answer));
    }
    if let Ok(header) = frame::Header::decode(packet) {
        let again = header.0.encode();
        assert!(again.len() <= frame::HEADER_MAX);
        assert_eq!(frame::Header::decode(&again), Ok((header.0, 0)));
    }
    if let Some(id) = packet.get(8..24).and_then(|id| id.try_into().ok())
        && let Some(trailer) = frame::Trailer::decode(packet, &id)
    {
        assert_eq!(trailer.encode(), packet);
    }
}

/// A header of SSDTP2 that is taken is written again as it was.
fn check_message(packet: &[u8]) {
    if let Some(bytes) = packet.first_chunk()
        && let Ok(header) = ssdtp2::Header::parse(bytes)
    {
        assert!(header.length <= ssdtp2::BODY_MAX && header.encode() == *bytes);
    }
}

crate::target!(|input: Input| {
    match input {
        Input::Text(text) => check_text(&text),
        Input::Value(bytes) => {
            const SET: &[u8; 24] = b"0123456789.+-xeKMGgmuss ";
            let text = bytes.iter().map(|byte| char::from(SET[usize::from(*byte) % SET.len()]));
            check_text(&text.collect::<String>());
        }
        Input::Packet(packet) => {
            check_packet(&packet);
            check_message(&packet);
        }
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
        Input::Transfer(greets, parts) => {
            let first = greets.then(|| Part::Header.packet());
            let parts = first.into_iter().chain(parts.iter().map(Part::packet));
            check_transfer(&parts.collect::<Vec<_>>());
        }
        Input::File(id, length, name, reply) => {
            let reply = reply.map(|mut address| {
                address.truncate(frame::REPLY_MAX);
                address
            });
            let sent = frame::Header { id, length, name: name.clone(), reply };
            let (header, at) = frame::Header::decode(&sent.encode()).expect("what was written");
            assert!(at == 0 && header.id == id && header.length == length);
            assert!(name.starts_with(&header.name) && header.reply == sent.reply);
        }
    }
});
