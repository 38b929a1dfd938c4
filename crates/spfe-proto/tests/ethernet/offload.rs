//! Frames of version 2.

use proptest::prelude::*;
use spfe_proto::PacketEnd;
use spfe_proto::ethernet::{
    self, DropReason, EthernetHello, EthernetPacket, HEADER2_BYTES, HelloFlags, Offload, PREFIX,
    PREFIX_BYTES, PeerFeatures, complete_checksum, parse_any,
};

/// Fields of a segmented TCP frame over IPv4 with 54 bytes of headers.
const TCP: Offload = Offload {
    flags: 1,
    segment_kind: 1,
    header_bytes: 54,
    segment_bytes: 1446,
    checksum_start: 34,
    checksum_offset: 16,
};

fn packet(offload: &Offload, frame: &[u8]) -> Vec<u8> {
    [&PREFIX[..], &offload.encode(), frame].concat()
}

fn parsed(packet: &[u8]) -> Result<EthernetPacket<'_>, DropReason> {
    parse_any(packet, PacketEnd::Eop, 1500)
}

#[test]
fn lengths_of_version_2() {
    assert_eq!((HEADER2_BYTES, ethernet::PACKET_MAX_BYTES), (18, 65_571));
    let frame = vec![7; 66_000];
    let none = Offload::default();
    assert_eq!(
        parsed(&packet(&none, &frame[..1518])),
        Ok(EthernetPacket::Offloaded(none, &frame[..1518]))
    );
    let long = Err(DropReason::Long { bytes: 1537, most: 1536 });
    assert_eq!(parsed(&packet(&none, &frame[..1519])), long);
    assert!(parsed(&packet(&TCP, &frame[..65_553])).is_ok(), "segments may exceed the MTU");
    let long = Err(DropReason::Long { bytes: 65_572, most: 65_571 });
    assert_eq!(parsed(&packet(&TCP, &frame[..65_554])), long);
    let whole = packet(&none, &frame[..14]);
    for bytes in 3..whole.len() {
        assert_eq!(parsed(&whole[..bytes]), Err(DropReason::Short { bytes }));
    }
    assert_eq!(parse_any(&whole, PacketEnd::Eep, 1500), Err(DropReason::Cut));
}

#[test]
fn a_prefix_is_of_a_link_between_two_ends() {
    for at in [0, 1, 3, 4, 5, 6, 7] {
        let mut bytes = packet(&Offload::default(), &[7; 60]);
        bytes[at] ^= 0x40;
        assert_eq!(parsed(&bytes), Err(DropReason::Header { at, value: bytes[at] }));
    }
}

#[test]
fn version_1_is_understood_too() {
    let mut packet = vec![7; 66];
    ethernet::begin(&mut packet).unwrap();
    assert_eq!(parsed(&packet), Ok(EthernetPacket::Plain(&[7; 60])));
    packet[2] = 3;
    assert_eq!(parsed(&packet), Err(DropReason::Header { at: 2, value: 3 }));
}

#[test]
fn hellos_come_back() {
    let hello = EthernetHello {
        flags: HelloFlags { ask: true, seen: false },
        version: 2,
        features: PeerFeatures::BASIC,
        packet_max: 65_571,
    };
    let packet = hello.encode();
    assert_eq!(parsed(&packet), Ok(EthernetPacket::Hello(hello)));
    assert_eq!(parsed(&packet[..19]), Err(DropReason::Short { bytes: 19 }));
    let longer = [&packet[..], &[9; 30]].concat();
    assert_eq!(parsed(&longer), Ok(EthernetPacket::Hello(hello)), "a later version");
    assert!(hello.features.has(PeerFeatures::TCP_IPV6) && !hello.features.has(PeerFeatures::UDP));
}

#[test]
fn fields_that_do_not_fit_are_refused() {
    let bytes = 1518;
    assert!(TCP.fits(bytes, 1500) && Offload::default().fits(bytes, 1500));
    let verified = Offload { flags: 2, ..Offload::default() };
    assert!(verified.fits(bytes, 1500));
    for (wrong, why) in [
        (Offload { flags: 4, ..TCP }, "unknown flag"),
        (Offload { flags: 0, ..TCP }, "segments without a checksum"),
        (Offload { segment_kind: 3, ..TCP }, "fragments of UDP"),
        (Offload { segment_kind: 0x85, ..TCP }, "UDP with ECN"),
        (Offload { segment_bytes: 0, ..TCP }, "empty segments"),
        (Offload { segment_bytes: 1501, ..TCP }, "segments beyond the MTU"),
        (Offload { segment_kind: 0, ..TCP }, "segment size of one segment"),
        (Offload { header_bytes: 1519, ..TCP }, "headers beyond the frame"),
        (Offload { checksum_start: 13, ..TCP }, "checksum of the addresses"),
        (Offload { checksum_start: 1501, ..TCP }, "checksum behind the frame"),
        (Offload { checksum_offset: u16::MAX, ..TCP }, "checksum far behind the frame"),
    ] {
        assert!(!wrong.fits(bytes, 1500), "{why}");
        assert_eq!(parsed(&packet(&wrong, &vec![7; bytes])), Err(DropReason::Offload), "{why}");
    }
}

/// An IPv4 TCP segment from a capture of another system, whose checksum is known.
#[test]
fn a_checksum_is_completed() {
    let mut frame = vec![0; 34];
    // Pseudo-header of 10.0.0.1 to 10.0.0.2, TCP, 23 bytes: its sum is the start value.
    let seed: u16 = 0x0a00 + 0x0001 + 0x0a00 + 0x0002 + 6 + 23;
    let mut tcp = vec![0x12, 0x34, 0x00, 0x50, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 0x20, 0];
    tcp.extend(seed.to_be_bytes());
    tcp.extend([0, 0, b'a', b'b', b'c']);
    frame.extend(&tcp);
    let offload = Offload { segment_kind: 0, segment_bytes: 0, ..TCP };
    assert!(offload.fits(frame.len(), 1500));
    complete_checksum(&mut frame, &offload);
    // Computed by hand: words of pseudo-header and segment, folded and inverted.
    let words = [0x1234u32, 0x50, 0, 1, 0, 2, 0x5010, 0x2000, 0, 0x6162, 0x6300];
    let sum: u32 = words.iter().sum::<u32>() + u32::from(seed);
    let folded = (sum & 0xffff) + (sum >> 16);
    assert_eq!(frame[50..52], (!(folded as u16)).to_be_bytes());
}

proptest! {
    /// The sum over what is covered is 0xffff afterwards, which is what receivers check, and the
    /// field is never 0.
    #[test]
    fn completed_checksums_are_right(
        bytes in prop::collection::vec(any::<u8>(), 16..200),
        start in 14u16..100,
        offset in 0u16..50,
    ) {
        let offload = Offload {
            flags: 1, checksum_start: start, checksum_offset: offset * 2, ..Offload::default()
        };
        prop_assume!(offload.fits(bytes.len(), 1500));
        let mut frame = bytes.clone();
        complete_checksum(&mut frame, &offload);
        let at = usize::from(start + 2 * offset);
        prop_assert_ne!(&frame[at..at + 2], &[0, 0]);
        prop_assert_eq!((&frame[..at], &frame[at + 2..]), (&bytes[..at], &bytes[at + 2..]));
        // The field held part of the sum: replacing it by the inverted sum is what a device does.
        let sum = |bytes: &[u8]| bytes.chunks(2).fold(0u64, |sum, pair| {
            sum + (u64::from(pair[0]) << 8) + u64::from(*pair.get(1).unwrap_or(&0))
        }) % 0xffff;
        let field = u64::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
        prop_assert_eq!((field + sum(&bytes[usize::from(start)..])) % 0xffff, 0);
    }

    #[test]
    fn offload_fields_come_back(bytes: [u8; 10]) {
        prop_assert_eq!(Offload::decode(&bytes).encode(), bytes);
    }

    #[test]
    fn no_input_panics(bytes in prop::collection::vec(any::<u8>(), 0..64), mtu in 0u32..70_000) {
        let mut second = PREFIX.to_vec();
        second.extend(&bytes);
        for packet in [&bytes, &second] {
            if let Ok(EthernetPacket::Offloaded(offload, frame)) =
                parse_any(packet, PacketEnd::Eop, mtu)
            {
                complete_checksum(&mut frame.to_vec(), &offload);
                prop_assert_eq!(packet[PREFIX_BYTES..HEADER2_BYTES].to_vec(), offload.encode());
            }
        }
    }
}
