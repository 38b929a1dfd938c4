//! Packets of a virtual channel that is a network interface's, as the other end may send them.

use crate::inbound;
use arbitrary::Arbitrary;
use spfe::{End, Packet, Status};
use spfe_proto::ethernet::{
    EthernetPacket, EthernetPeer, HEADER, Heard, PREFIX, EthernetPeerState, complete_checksum,
};

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

impl Part {
    /// The bytes, behind the start of a frame of either version or of a hello.
    fn packet(&self) -> Vec<u8> {
        let mut hello = PREFIX;
        hello[3] = 1;
        let start = match (self.framed, self.end >> 6) {
            (false, _) => &[][..],
            (true, 1) => &PREFIX,
            (true, 2) => &hello,
            (true, _) => &HEADER,
        };
        [start, &self.bytes].concat()
    }
}

crate::target!(|input: Input| {
    let mut inbound = inbound::Inbound::new(input.mtu.into(), input.mtu % 8 == 1);
    let mut peer = EthernetPeer::default();
    let (mut taken, mut inside) = (0, false);
    for part in &input.parts {
        let bytes = part.packet();
        let end = match part.end % 8 {
            0 => End::More,
            1 => End::Eep,
            _ => End::Eop,
        };
        let status = Status::from_raw(part.status % 64).unwrap_or(Status::Ok);
        let before = inbound.drops;
        let packet = inbound.take(Packet { bytes: &bytes, end, status });
        let dropped = inbound.drops != before;
        if let Some(packet) = packet {
            // Whole, and what was sent.
            assert!(!inside && !dropped && end == End::Eop && status == Status::Ok);
            check(&mut peer, packet, &bytes);
            taken += 1;
        } else {
            // Counted with its first part, and only then.
            assert_eq!(dropped, !inside);
        }
        inside = end == End::More && status == Status::Ok;
    }
    let inbound::Drops { cut, short, long, header, offload } = inbound.drops;
    assert!(taken + cut + short + long + header + offload <= input.parts.len() as u64);
});

fn check(peer: &mut EthernetPeer, packet: EthernetPacket<'_>, bytes: &[u8]) {
    let heard = match packet {
        EthernetPacket::Plain(frame) => {
            assert_eq!([&HEADER, frame].concat(), bytes);
            Heard::First
        }
        EthernetPacket::Offloaded(offload, frame) => {
            assert_eq!([&PREFIX[..], &offload.encode(), frame].concat(), bytes);
            complete_checksum(&mut frame.to_vec(), &offload);
            Heard::Second
        }
        EthernetPacket::Hello(hello) => Heard::Hello(hello),
    };
    // Only a hello without `ask` may stay without an answer once the far end is known.
    let known = peer.state() == EthernetPeerState::Second;
    let answer = peer.hear(heard);
    if let Heard::Hello(hello) = heard {
        assert_eq!(answer.is_some(), hello.flags.ask || !known);
        assert_eq!(peer.state(), EthernetPeerState::Second);
    }
    let _ = peer.tick(true);
}
