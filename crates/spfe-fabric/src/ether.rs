//! Ethernet on the fabric: who a frame is for, and answers to questions for addresses of nodes.
//!
//! The fabric knows every node's addresses, so a node answers ARP and neighbour solicitations of its
//! own kernel itself, and they load nobody. Frames are those of the own kernel, already copied.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Start of the Ethernet address of every node.
pub const MAC_START: [u8; 3] = [0x02, 0x56, 0x58];
/// Bytes of an Ethernet header.
const HEADER: usize = 14;

/// Where a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameTarget {
    /// To all nodes.
    Group,
    /// To the node whose number is the last byte of its address.
    Node(u8),
    /// To an address that is no node's.
    Unknown,
}

/// Where a frame goes, by its destination.
pub fn target(frame: &[u8]) -> FrameTarget {
    match frame.first_chunk::<6>() {
        Some([first, ..]) if first & 1 == 1 => FrameTarget::Group,
        Some([a, b, c, _, _, number]) if [*a, *b, *c] == MAC_START => FrameTarget::Node(*number),
        _ => FrameTarget::Unknown,
    }
}

/// The address for whose owner a frame asks: an ARP request or an IPv6 neighbour solicitation.
/// Questions of a node for its own address, by which it looks for another user of it, are none.
pub fn question(frame: &[u8]) -> Option<IpAddr> {
    if target(frame) != FrameTarget::Group {
        return None;
    }
    match frame.get(12..14)? {
        [0x08, 0x06] => arp_question(frame.get(HEADER..HEADER + 28)?),
        [0x86, 0xdd] => nd_question(frame.get(HEADER..)?),
        _ => None,
    }
}

fn arp_question(packet: &[u8]) -> Option<IpAddr> {
    // Ethernet, IPv4, lengths 6 and 4, request.
    if packet.get(..8)? != [0, 1, 8, 0, 6, 4, 0, 1] {
        return None;
    }
    let sender: [u8; 4] = packet.get(14..18)?.try_into().ok()?;
    let asked: [u8; 4] = packet.get(24..28)?.try_into().ok()?;
    (sender != asked && sender != [0; 4]).then(|| Ipv4Addr::from(asked).into())
}

fn nd_question(packet: &[u8]) -> Option<IpAddr> {
    // Version 6, next header ICMPv6, hop limit 255, type 135 and code 0.
    let icmp = packet.get(40..64)?;
    let fits = packet[0] >> 4 == 6 && packet[6] == 58 && packet[7] == 255 && icmp[..2] == [135, 0];
    let from: [u8; 16] = packet.get(8..24)?.try_into().ok()?;
    let asked: [u8; 16] = icmp.get(8..24)?.try_into().ok()?;
    (fits && from != [0; 16]).then(|| Ipv6Addr::from(asked).into())
}

/// The answer to a frame for which [`question`] found an address: its owner has this `mac`.
pub fn answer(frame: &[u8], mac: [u8; 6]) -> Option<Vec<u8>> {
    let asker = frame.get(6..12)?;
    let mut reply = Vec::with_capacity(86);
    reply.extend_from_slice(asker);
    reply.extend_from_slice(&mac);
    reply.extend_from_slice(frame.get(12..14)?);
    match question(frame)? {
        IpAddr::V4(asked) => {
            let sender = frame.get(HEADER + 8..HEADER + 18)?;
            reply.extend_from_slice(&[0, 1, 8, 0, 6, 4, 0, 2]);
            reply.extend_from_slice(&mac);
            reply.extend_from_slice(&asked.octets());
            reply.extend_from_slice(sender);
        }
        IpAddr::V6(asked) => {
            let from: [u8; 16] = frame.get(HEADER + 8..HEADER + 24)?.try_into().ok()?;
            // An advertisement: solicited, overrides, with the option "target address".
            let mut icmp = vec![136, 0, 0, 0, 0x60, 0, 0, 0];
            icmp.extend_from_slice(&asked.octets());
            icmp.extend_from_slice(&[2, 1]);
            icmp.extend_from_slice(&mac);
            let sum = icmp_checksum(&asked.octets(), &from, &icmp);
            icmp[2..4].copy_from_slice(&sum.to_be_bytes());
            reply.extend_from_slice(&[0x60, 0, 0, 0, 0, icmp.len() as u8, 58, 255]);
            reply.extend_from_slice(&asked.octets());
            reply.extend_from_slice(&from);
            reply.extend_from_slice(&icmp);
        }
    }
    Some(reply)
}

/// The checksum of an ICMPv6 packet whose checksum field is zero.
fn icmp_checksum(from: &[u8; 16], to: &[u8; 16], packet: &[u8]) -> u16 {
    let words = |bytes: &[u8]| -> u32 {
        bytes
            .chunks(2)
            .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)))
            .sum()
    };
    let mut sum = words(from) + words(to) + packet.len() as u32 + 58 + words(packet);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The link-local address that the kernel derives from an Ethernet address.
pub fn link_local(mac: [u8; 6]) -> Ipv6Addr {
    let [a, b, c, d, e, f] = mac;
    let word = |high: u8, low: u8| u16::from(high) << 8 | u16::from(low);
    Ipv6Addr::new(0xfe80, 0, 0, 0, word(a ^ 2, b), word(c, 0xff), word(0xfe, d), word(e, f))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MAC: [u8; 6] = [2, 0x56, 0x58, 0, 2, 3];
    const OWN: [u8; 6] = [2, 0x56, 0x58, 0, 1, 1];

    fn arp(sender: [u8; 4], asked: [u8; 4]) -> Vec<u8> {
        let mut frame = vec![0xff; 6];
        frame.extend_from_slice(&OWN);
        frame.extend_from_slice(&[8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
        frame.extend_from_slice(&OWN);
        frame.extend_from_slice(&sender);
        frame.extend_from_slice(&[0; 6]);
        frame.extend_from_slice(&asked);
        frame
    }

    fn solicitation(from: Ipv6Addr, asked: Ipv6Addr) -> Vec<u8> {
        let mut frame = vec![0x33, 0x33, 0xff, 0, 2, 3];
        frame.extend_from_slice(&OWN);
        frame.extend_from_slice(&[0x86, 0xdd, 0x60, 0, 0, 0, 0, 24, 58, 255]);
        frame.extend_from_slice(&from.octets());
        frame.extend_from_slice(&asked.octets());
        frame.extend_from_slice(&[135, 0, 0, 0, 0, 0, 0, 0]);
        frame.extend_from_slice(&asked.octets());
        frame
    }

    #[test]
    fn frames_find_their_node() {
        assert_eq!(target(&[0xff; 14]), FrameTarget::Group);
        assert_eq!(target(&[2, 0x56, 0x58, 0, 6, 12]), FrameTarget::Node(12));
        assert_eq!(target(&[2, 0, 0, 0, 0, 1]), FrameTarget::Unknown);
        assert_eq!(target(&[2, 0x56]), FrameTarget::Unknown);
    }

    #[test]
    fn an_arp_request_is_answered() {
        let frame = arp([192, 168, 20, 1], [192, 168, 20, 3]);
        assert_eq!(question(&frame), Some("192.168.20.3".parse().unwrap()));
        let reply = answer(&frame, MAC).unwrap();
        assert_eq!(reply[..12], [&OWN[..], &MAC].concat());
        assert_eq!(reply[20..22], [0, 2]);
        assert_eq!(
            reply[22..42],
            [&MAC[..], &[192, 168, 20, 3], &OWN, &[192, 168, 20, 1]].concat()
        );
        assert_eq!(question(&arp([1, 2, 3, 4], [1, 2, 3, 4])), None, "looks for another user");
        assert_eq!(question(&arp([0; 4], [1, 2, 3, 4])), None, "probe of an address");
    }

    #[test]
    fn a_neighbour_solicitation_is_answered_with_a_right_checksum() {
        let (from, asked) = (link_local(OWN), link_local(MAC));
        assert_eq!(asked.to_string(), "fe80::56:58ff:fe00:203");
        let reply = answer(&solicitation(from, asked), MAC).unwrap();
        assert_eq!((reply.len(), reply[54]), (86, 136));
        let mut icmp = reply[54..].to_vec();
        let sum = u16::from_be_bytes([icmp[2], icmp[3]]);
        icmp[2..4].fill(0);
        assert_eq!(sum, icmp_checksum(&asked.octets(), &from.octets(), &icmp));
        assert_eq!(reply[80..86], MAC);
        assert_eq!(question(&solicitation(Ipv6Addr::UNSPECIFIED, asked)), None, "probe");
    }

    proptest! {
        #[test]
        fn any_frame_is_harmless(frame in proptest::collection::vec(any::<u8>(), 0..120)) {
            prop_assert_eq!(answer(&frame, MAC).is_some(), question(&frame).is_some());
        }
    }
}
