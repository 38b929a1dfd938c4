//! Versions and offloads: what the kernel may leave to the far end, and packets of both versions.

use spfe_proto::ethernet::{
    self, EthernetHello, EthernetPeerState, HelloFlags, OFFLOAD_BYTES, Offload, PACKET_MAX_BYTES,
    PREFIX_BYTES, PeerFeatures, complete_checksum,
};
use spfe_tap::{TapDevice, TapOffloads};

/// Features of the protocol and of TAP devices.
const FEATURES: [(PeerFeatures, TapOffloads); 5] = [
    (PeerFeatures::CHECKSUM, TapOffloads::CHECKSUM),
    (PeerFeatures::TCP_IPV4, TapOffloads::TCP_IPV4),
    (PeerFeatures::TCP_IPV6, TapOffloads::TCP_IPV6),
    (PeerFeatures::TCP_ECN, TapOffloads::TCP_ECN),
    (PeerFeatures::UDP, TapOffloads::UDP),
];

/// What the kernel of this machine can receive. It leaves out nothing yet.
pub fn own_features(tap: &TapDevice) -> PeerFeatures {
    let all = TapOffloads::BASIC.and(TapOffloads::UDP);
    let udp = tap.set_offloads(all).is_ok();
    let _ = tap.set_offloads(TapOffloads::NONE);
    if udp {
        PeerFeatures(PeerFeatures::BASIC.0 | PeerFeatures::UDP.0)
    } else {
        PeerFeatures::BASIC
    }
}

/// What the kernel may leave to a far end with these features, if its buffers take the largest
/// packet. Nothing is left out unless checksums are.
pub fn offloads_for(far: &EthernetHello) -> TapOffloads {
    if !far.features.has(PeerFeatures::CHECKSUM) {
        return TapOffloads::NONE;
    }
    let large = far.packet_max as usize >= PACKET_MAX_BYTES;
    let fits = |feature| feature == PeerFeatures::CHECKSUM || large;
    let both =
        FEATURES.into_iter().filter(|(feature, _)| far.features.has(*feature) && fits(*feature));
    both.fold(TapOffloads::NONE, |all, (_, offload)| all.and(offload))
}

/// The ends of a virtual channel between two nodes of a fabric; 0 and 0 on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Number of this node.
    pub own: u16,
    /// Number of the node at the far end.
    pub far: u16,
}

impl Ends {
    /// Start of the packets of version 2 from the far end.
    pub fn inward(self) -> [u8; PREFIX_BYTES] {
        ethernet::prefix(self.own, self.far)
    }

    /// Start of those to it.
    fn outward(self) -> [u8; PREFIX_BYTES] {
        ethernet::prefix(self.far, self.own)
    }
}

/// The hello of this end.
pub fn hello(flags: HelloFlags, features: PeerFeatures, ends: Ends) -> [u8; ethernet::HELLO_BYTES] {
    let packet_max = PACKET_MAX_BYTES as u32;
    let mut packet = EthernetHello { flags, version: 2, features, packet_max }.encode();
    packet[4..PREFIX_BYTES].copy_from_slice(&ends.outward()[4..]);
    packet
}

/// A packet made from a frame of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Bytes of the packet.
    pub packet_bytes: usize,
    /// Why it is not sent, if so.
    pub refused: Option<Refusal>,
    /// The frame stands for several segments.
    pub large: bool,
}

/// Why a frame is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is longer than the MTU allows.
    Long,
    /// The far end does not understand its segments.
    Offload,
}

/// Bytes before a frame for a far end of which so much is known.
pub fn header_bytes(state: EthernetPeerState) -> usize {
    if state == EthernetPeerState::Second {
        ethernet::HEADER2_BYTES
    } else {
        ethernet::HEADER_BYTES
    }
}

/// Makes what is in a slot into a packet of the version that the far end understands: there are
/// [`header_bytes`] bytes for the header, then the frame, of which `fields` say what is left to do.
/// The slot is the packet and no longer.
pub fn pack(
    slot: &mut [u8],
    fields: &[u8; OFFLOAD_BYTES],
    mtu: u32,
    (state, far): (EthernetPeerState, &EthernetHello),
    ends: Ends,
) -> Outgoing {
    let (header, frame) = slot.split_at_mut(header_bytes(state));
    let offload = Offload::decode(fields);
    let (offload, refused) = match prepare(offload, frame, mtu, far) {
        Ok(offload) => (offload, None),
        Err(refusal) => (offload, Some(refusal)),
    };
    if state == EthernetPeerState::Second {
        header[..PREFIX_BYTES].copy_from_slice(&ends.outward());
        header[PREFIX_BYTES..].copy_from_slice(&offload.encode());
    } else {
        header.copy_from_slice(&ethernet::HEADER);
    }
    Outgoing { packet_bytes: slot.len(), refused, large: offload.is_segmented() }
}

/// Makes a frame into one that the far end understands. Returns what is still left to it.
fn prepare(
    offload: Offload,
    frame: &mut [u8],
    mtu: u32,
    far: &EthernetHello,
) -> Result<Offload, Refusal> {
    let most = ethernet::FRAME_HEADER_MAX_BYTES + mtu as usize;
    if !offload.is_segmented() && frame.len() > most {
        return Err(Refusal::Long);
    }
    if offload.is_segmented() {
        let allowed = segments(offload.segment_kind).is_some_and(|kind| far.features.has(kind));
        let room = far.packet_max as usize >= ethernet::HEADER2_BYTES + frame.len();
        return if allowed && room { Ok(offload) } else { Err(Refusal::Offload) };
    }
    if offload.needs_checksum() && !far.features.has(PeerFeatures::CHECKSUM) {
        complete_checksum(frame, &offload);
        return Ok(Offload::default());
    }
    Ok(offload)
}

/// The features that a far end needs for segments of this kind.
fn segments(kind: u8) -> Option<PeerFeatures> {
    let needs = match kind & 0x7f {
        1 => PeerFeatures::TCP_IPV4,
        4 => PeerFeatures::TCP_IPV6,
        5 => PeerFeatures::UDP,
        _ => return None,
    };
    let ecn = if kind & 0x80 != 0 { PeerFeatures::TCP_ECN.0 } else { 0 };
    Some(PeerFeatures(needs.0 | ecn | PeerFeatures::CHECKSUM.0))
}

/// Names of features for people.
pub fn names(features: PeerFeatures) -> String {
    let all = ["checksums", "TCP/IPv4", "TCP/IPv6", "ECN", "UDP"];
    let has = FEATURES.iter().zip(all).filter(|((feature, _), _)| features.has(*feature));
    has.map(|(_, name)| name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: EthernetHello = EthernetHello {
        flags: HelloFlags { ask: false, seen: true },
        version: 2,
        features: PeerFeatures(31),
        packet_max: PACKET_MAX_BYTES as u32,
    };
    const HALF: Offload = Offload {
        flags: 1,
        segment_kind: 0,
        header_bytes: 0,
        segment_bytes: 0,
        checksum_start: 34,
        checksum_offset: 6,
    };

    #[test]
    fn a_checksum_is_completed_for_who_cannot() {
        let mut frame = [3; 60];
        assert_eq!(prepare(HALF, &mut frame, 1500, &ALL), Ok(HALF));
        assert_eq!(frame, [3; 60], "left to the far end");
        let none = EthernetHello::default();
        assert_eq!(prepare(HALF, &mut frame, 1500, &none), Ok(Offload::default()));
        assert_ne!(frame, [3; 60]);
    }

    #[test]
    fn segments_go_only_to_who_understands_them() {
        let mut frame = vec![3; 40_000];
        let large = |kind| Offload { segment_kind: kind, segment_bytes: 1000, ..HALF };
        for (kind, needs) in [(1, 3), (4, 5), (5, 17), (0x81, 11), (0x84, 13)] {
            assert_eq!(prepare(large(kind), &mut frame, 1500, &ALL), Ok(large(kind)));
            let without = |bit: u16| EthernetHello { features: PeerFeatures(31 & !bit), ..ALL };
            for bit in [1, 2, 4, 8, 16] {
                let result = prepare(large(kind), &mut frame, 1500, &without(bit));
                assert_eq!(result.is_ok(), needs & bit == 0, "kind {kind}, without {bit}");
            }
            let small = EthernetHello { packet_max: 40_000, ..ALL };
            assert_eq!(prepare(large(kind), &mut frame, 1500, &small), Err(Refusal::Offload));
        }
        assert_eq!(prepare(HALF, &mut frame, 1500, &ALL), Err(Refusal::Long));
        assert_eq!(prepare(large(3), &mut frame, 1500, &ALL), Err(Refusal::Offload));
    }

    #[test]
    fn the_kernel_leaves_out_what_the_far_end_understands() {
        assert_eq!(offloads_for(&ALL), TapOffloads::BASIC.and(TapOffloads::UDP));
        let small = EthernetHello { packet_max: 9000, ..ALL };
        assert_eq!(offloads_for(&small), TapOffloads::CHECKSUM);
        let no_checksum = EthernetHello { features: PeerFeatures(30), ..ALL };
        assert_eq!(offloads_for(&no_checksum), TapOffloads::NONE);
        assert_eq!(offloads_for(&EthernetHello::default()), TapOffloads::NONE);
        assert_eq!(names(PeerFeatures(3)), "checksums, TCP/IPv4");
    }
}
