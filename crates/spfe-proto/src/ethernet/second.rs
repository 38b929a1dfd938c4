//! Version 2: addresses of nodes and offload fields before the frame.

use super::hello::EthernetHello;
use super::offload::{OFFLOAD_BYTES, Offload};
use super::plain::{
    self, DropReason, FRAME_HEADER_MAX_BYTES, FRAME_MIN_BYTES, HEADER, PID, packet_bytes,
};
use crate::packet::{DEFAULT_LOGICAL_ADDRESS, PacketEnd};

/// Start of every version 2 frame on a link between two ends: logical address, protocol, version,
/// kind 0, and the nodes to and from which it goes, which are 0.
pub const PREFIX: [u8; PREFIX_BYTES] = [DEFAULT_LOGICAL_ADDRESS, PID, 2, 0, 0, 0, 0, 0];
/// Bytes of the prefix.
pub const PREFIX_BYTES: usize = 8;
/// Bytes of a version 2 header: prefix and offload fields.
pub const HEADER2_BYTES: usize = PREFIX_BYTES + OFFLOAD_BYTES;
/// Longest frame that stands for several segments: an IP packet of 65535 bytes.
pub const FRAME_MAX_BYTES: usize = FRAME_HEADER_MAX_BYTES + 65_535;
/// Bytes of the longest packet of version 2.
pub const PACKET_MAX_BYTES: usize = HEADER2_BYTES + FRAME_MAX_BYTES;
/// Kind of a packet: its byte 3.
const KIND_FRAME: u8 = 0;
const KIND_HELLO: u8 = 1;

/// Start of the frames to a node of a fabric from another one; 0 and 0 on a link between two ends.
pub const fn prefix(to: u16, from: u16) -> [u8; PREFIX_BYTES] {
    let [address, protocol, version, kind, ..] = PREFIX;
    let ([to0, to1], [from0, from1]) = (to.to_le_bytes(), from.to_le_bytes());
    [address, protocol, version, kind, to0, to1, from0, from1]
}

/// A packet of either version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EthernetPacket<'a> {
    /// Version 1: a complete frame.
    Plain(&'a [u8]),
    /// Version 2: a frame and what its sender left to the receiver, which fits the frame.
    Offloaded(Offload, &'a [u8]),
    /// The far end tells what it understands.
    Hello(EthernetHello),
}

/// Reads a packet of either version on a link between two ends, for an interface with this MTU.
///
/// # Errors
/// The reason for dropping the packet: EEP, length, header or offload fields, in this order.
pub fn parse_any(
    packet: &[u8],
    end: PacketEnd,
    mtu: u32,
) -> Result<EthernetPacket<'_>, DropReason> {
    parse_between(packet, end, mtu, PREFIX)
}

/// Reads a packet of either version whose frames start with `prefix`, for an interface with this
/// MTU.
///
/// # Errors
/// Those of [`parse_any`]; other nodes are another header.
pub fn parse_between(
    packet: &[u8],
    end: PacketEnd,
    mtu: u32,
    prefix: [u8; PREFIX_BYTES],
) -> Result<EthernetPacket<'_>, DropReason> {
    if end == PacketEnd::Eop && packet.get(2) == Some(&PREFIX[2]) {
        return parse_second(packet, mtu, prefix);
    }
    plain::parse(packet, end, packet_bytes(mtu)).map(EthernetPacket::Plain)
}

fn parse_second(
    packet: &[u8],
    mtu: u32,
    mut wanted: [u8; PREFIX_BYTES],
) -> Result<EthernetPacket<'_>, DropReason> {
    let bytes = packet.len();
    if bytes > PACKET_MAX_BYTES {
        return Err(DropReason::Long { bytes, most: PACKET_MAX_BYTES });
    }
    let Some((prefix, rest)) = packet.split_first_chunk::<PREFIX_BYTES>() else {
        return Err(DropReason::Short { bytes });
    };
    let kind = prefix[3];
    wanted[3] = kind.min(KIND_HELLO);
    if let Some(at) = prefix.iter().zip(wanted).position(|(found, wanted)| *found != wanted) {
        return Err(DropReason::Header { at, value: prefix[at] });
    }
    if kind == KIND_HELLO {
        return EthernetHello::decode(rest)
            .map(EthernetPacket::Hello)
            .ok_or(DropReason::Short { bytes });
    }
    debug_assert_eq!((kind, prefix[1]), (KIND_FRAME, HEADER[1]));
    let Some((offload, frame)) = rest.split_first_chunk::<OFFLOAD_BYTES>() else {
        return Err(DropReason::Short { bytes });
    };
    if frame.len() < FRAME_MIN_BYTES {
        return Err(DropReason::Short { bytes });
    }
    let offload = Offload::decode(offload);
    let most = HEADER2_BYTES + FRAME_HEADER_MAX_BYTES + mtu as usize;
    if !offload.is_segmented() && bytes > most {
        return Err(DropReason::Long { bytes, most });
    }
    if !offload.fits(frame.len(), mtu) {
        return Err(DropReason::Offload);
    }
    Ok(EthernetPacket::Offloaded(offload, frame))
}
