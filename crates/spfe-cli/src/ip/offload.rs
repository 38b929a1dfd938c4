//! Versions and offloads: what the kernel may leave to the far end, and packets of both versions.

use spfe_host::Peer;
use spfe_host::topology::FABRIC_CHANNELS;
use spfe_proto::ethernet::{
    self, EthernetHello, EthernetPeerState, HelloFlags, OFFLOAD_BYTES, Offload, PACKET_MAX_BYTES,
    PREFIX_BYTES, PeerFeatures, complete_checksum,
};
use spfe_tap::{TapDevice, TapOffloads};
use std::io;

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
pub struct Nodes {
    /// This node.
    pub own: u16,
    /// The other one.
    pub far: u16,
}

impl Nodes {
    /// Those of a virtual channel of an endpoint.
    pub fn of(peer: Peer, endpoint: u32, vc: u32) -> Self {
        match peer {
            Peer::Fabric { .. } => {
                Self { own: endpoint as u16 + 1, far: (vc / FABRIC_CHANNELS) as u16 + 1 }
            }
            _ => Self::default(),
        }
    }

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
pub fn hello(
    flags: HelloFlags,
    features: PeerFeatures,
    nodes: Nodes,
) -> [u8; ethernet::HELLO_BYTES] {
    let packet_max = PACKET_MAX_BYTES as u32;
    let mut packet = EthernetHello { flags, version: 2, features, packet_max }.encode();
    packet[4..PREFIX_BYTES].copy_from_slice(&nodes.outward()[4..]);
    packet
}

/// A packet made from the next frame of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Bytes of the frame.
    pub frame_bytes: usize,
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

/// Reads the next frame into a slot, which becomes a packet of the version that the far end
/// understands.
///
/// # Errors
/// Those of the TAP device.
pub fn read(
    tap: &TapDevice,
    slot: &mut [u8],
    mtu: u32,
    state: EthernetPeerState,
    far: &EthernetHello,
    nodes: Nodes,
) -> io::Result<Outgoing> {
    let mut fields = [0; OFFLOAD_BYTES];
    let second = state == EthernetPeerState::Second;
    let header = if second { ethernet::HEADER2_BYTES } else { ethernet::HEADER_BYTES };
    let too_short = || io::Error::from(io::ErrorKind::InvalidInput);
    let frame = slot.get_mut(header..).ok_or_else(too_short)?;
    let bytes = tap.read_offloaded(&mut fields, frame)?;
    let frame = frame.get_mut(..bytes).ok_or_else(too_short)?;
    let offload = Offload::decode(&fields);
    let checked = prepare(offload, frame, mtu, far);
    let (offload, refused) = match checked {
        Ok(offload) => (offload, None),
        Err(refusal) => (offload, Some(refusal)),
    };
    if second {
        slot[..PREFIX_BYTES].copy_from_slice(&nodes.outward());
        slot[PREFIX_BYTES..header].copy_from_slice(&offload.encode());
    } else {
        slot[..header].copy_from_slice(&ethernet::HEADER);
    }
    let large = offload.is_segmented();
    Ok(Outgoing { frame_bytes: bytes, packet_bytes: header + bytes, refused, large })
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
