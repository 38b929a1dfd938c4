//! Packets of SFRP, and the blocks and segments in them.

use arbitrary::Arbitrary;
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Info, RegionEntry, SfrpHeader, SfrpSegments, SfrpStatus, VERSION, crc};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    /// Bit 0: mend the CRC of the header; bit 1: that of the payload; bit 2: cut by the network.
    how: u8,
    segment_log2: u8,
    packet: &'a [u8],
}

crate::target!(|input: Input| {
    let mut packet = input.packet.to_vec();
    let header_bytes = packet.get(2).map_or(0, |byte| usize::from(byte & 15) * 8);
    if input.how & 1 != 0
        && let Some(header) = packet.get_mut(..header_bytes)
        && let Some((bytes, found)) = header.split_last_chunk_mut::<2>()
    {
        *found = crc::header(bytes).to_be_bytes();
    }
    if input.how & 2 != 0
        && let Some(behind) = packet.get_mut(header_bytes..)
        && let Some((payload, found)) = behind.split_last_chunk_mut::<4>()
    {
        *found = crc::payload(payload).to_be_bytes();
    }
    let Ok(header) = SfrpHeader::parse(&packet) else { return };
    assert_eq!(crc::header(&packet[..header_bytes]), 0);
    let end = if input.how & 4 != 0 { PacketEnd::Eep } else { PacketEnd::Eop };
    let payload = header.payload(&packet, end);
    if end == PacketEnd::Eep {
        assert_eq!(payload, Err(SfrpStatus::EEP));
    }
    if let Ok(payload) = payload {
        assert_eq!((payload.len(), packet.len()), (header.payload_bytes(), header.packet_bytes()));
        // Every bit of an intact packet has a meaning.
        if header.version == VERSION {
            let mut again = vec![0xaa; packet.len()];
            assert_eq!(header.encode(payload, &mut again), Ok(packet.len()));
            assert_eq!(again, packet);
            let short = packet.len() - 1;
            assert!(header.encode(payload, &mut again[..short]).is_err());
        }
        if let Some(info) = Info::decode(payload) {
            assert_eq!(info.encode(), payload);
        }
        let (entries, _) = payload.as_chunks();
        for entry in entries {
            assert_eq!(RegionEntry::decode(entry).encode(), *entry);
        }
    }
    segments(header.address, header.length % 100_000, input.segment_log2 % 17);
});

/// Segments cover a message once, in order, and cross no multiple of their size.
fn segments(address: u64, length: u32, segment_log2: u8) {
    let size = 1u64 << segment_log2.max(4);
    let (mut next, mut done) = (0, false);
    for part in SfrpSegments::new(address, length, size as u32) {
        assert!(!done && part.offset == next && part.first == (next == 0));
        let start = address.wrapping_add(part.offset.into());
        assert!(start % size + u64::from(part.length) <= size);
        assert!(part.length > 0 || length == 0);
        next += part.length;
        done = part.last;
    }
    assert!(done && next == length);
}
