//! Packets of a virtual channel that is a network interface's, as the other end may send them.

use crate::inbound;
use arbitrary::Arbitrary;
use spfe::{End, Packet, Status};
use spfe_proto::ethernet;

#[derive(Arbitrary, Debug)]
struct Input {
    mtu: u16,
    parts: Vec<Part>,
}

/// A packet, or what fills a buffer of it.
#[derive(Arbitrary, Debug)]
struct Part {
    bytes: Vec<u8>,
    /// Begins like a packet with a frame.
    framed: bool,
    end: u8,
    status: u8,
}

crate::target!(|input: Input| {
    let most = ethernet::packet_bytes(input.mtu.into());
    let mut inbound = inbound::Inbound::new(most);
    let (mut frames, mut inside) = (0, false);
    for part in &input.parts {
        let start = if part.framed { &ethernet::HEADER[..] } else { &[] };
        let bytes = [start, &part.bytes].concat();
        let end = match part.end % 8 {
            0 => End::More,
            1 => End::Eep,
            _ => End::Eop,
        };
        let status = Status::from_raw(part.status % 64).unwrap_or(Status::Ok);
        let before = inbound.drops;
        let frame = inbound.take(Packet { bytes: &bytes, end, status });
        let dropped = inbound.drops != before;
        if let Some(frame) = frame {
            // Whole, and what was sent.
            assert!(!inside && !dropped && end == End::Eop && status == Status::Ok);
            let mut again = vec![0; bytes.len()];
            ethernet::begin(&mut again).expect("room").copy_from_slice(frame);
            assert_eq!(again, bytes);
            assert!(bytes.len() <= most);
            frames += 1;
        } else {
            // Counted with its first part, and only then.
            assert_eq!(dropped, !inside);
        }
        inside = end == End::More && status == Status::Ok;
    }
    let inbound::Drops { cut, short, long, header } = inbound.drops;
    assert!(frames + cut + short + long + header <= input.parts.len() as u64);
});
