//! Makes segments that are almost valid, by a few changes to a valid one.
//!
//! If checksums and FCS of a segment are valid, its payload is always the pattern of its sequence
//! numbers. Delivered bytes can therefore be checked by their position alone.

use crate::drill::wire::{ACK, FIN, Lies, PSH, RST, SYN, Segment, URG};
use crate::random::Random;

/// A frame to inject.
#[derive(Clone, Debug)]
pub struct Shot {
    /// The segment.
    pub segment: Segment,
    /// Deviations of the frame from the segment.
    pub lies: Lies,
    /// Whether the FCS is wrong.
    pub bad_fcs: bool,
    /// Length of the payload, which is filled in when the sequence number is final.
    pub len: usize,
}

/// State of the connection for choosing mutations.
#[derive(Clone, Copy, Debug)]
pub struct Edges {
    /// RCV.NXT of the endpoint.
    pub rcv_nxt: u32,
    /// Receive window of the endpoint.
    pub rcv_wnd: u32,
    /// SND.UNA of the endpoint.
    pub una: u32,
    /// SND.NXT of the endpoint.
    pub nxt: u32,
    /// Whether the endpoint verifies checksums, so that wrong ones may be sent.
    pub checksum: bool,
}

/// Makes one random change.
pub fn mutate(shot: &mut Shot, e: &Edges, r: &mut Random) {
    let s = &mut shot.segment;
    match r.below(16) {
        0 => s.seq = near(e.rcv_nxt, e.rcv_wnd, r),
        1 => s.ack = near(e.una, e.nxt.wrapping_sub(e.una).max(65535), r),
        2 => s.flags = (r.bits() as u8) & (SYN | FIN | RST | PSH | ACK | URG),
        3 => s.flags ^= [SYN, FIN, RST, PSH, ACK, URG][r.below(6) as usize],
        4 => shot.len = [0, 1, 2, 3, 7, 8, 9, 535, 536, 1459, 1460][r.below(11) as usize],
        5 => s.window = [0, 1, 100, 1460, 65535][r.below(5) as usize],
        6 => s.options = options(r),
        7 => s.urgent = r.bits() as u16,
        8 => length_lie(shot, r),
        9 => shot.bad_fcs = true,
        10 => shot.lies.bad_sum = e.checksum,
        11 => shot.lies.bad_ip_sum = e.checksum,
        12 => {
            shot.lies.mf = r.chance(500);
            shot.lies.frag = if shot.lies.mf { 0 } else { (r.below(8000) * 8) as u16 };
        }
        13 => shot.lies.ip_options = vec![1; 4 * (1 + r.below(10) as usize)],
        14 => addresses(s, r),
        _ => shot.lies.trailer = r.below(1500) as usize,
    }
}

/// A sequence number at an edge of a window, or a random one.
fn near(base: u32, size: u32, r: &mut Random) -> u32 {
    let at = match r.below(6) {
        0 => base,
        1 => base.wrapping_add(size),
        2 => base.wrapping_sub(size),
        3 => base.wrapping_add(1 << 31),
        4 => base.wrapping_add(r.below(size.max(1).into()) as u32),
        _ => r.bits() as u32,
    };
    at.wrapping_add(r.below(5) as u32).wrapping_sub(2)
}

fn options(r: &mut Random) -> Vec<u8> {
    let n = 4 * r.below(11) as usize;
    let mut all = Vec::new();
    while all.len() < n {
        match r.below(8) {
            0 => all.push(1),
            1 => all.push(0),
            2 => all.extend([2, 4, r.bits() as u8, r.bits() as u8]),
            3 => all.extend([3, 3, r.bits() as u8 & 31]),
            4 => all.extend([8, 10, 0, 0, 0, 1, 0, 0, 0, 2]),
            5 => all.extend([r.bits() as u8, r.below(4) as u8]),
            6 => all.extend([2, r.bits() as u8]),
            _ => all.push(r.bits() as u8),
        }
    }
    all.truncate(n);
    all
}

/// Sets a length that contradicts another one.
fn length_lie(shot: &mut Shot, r: &mut Random) {
    let whole = 40 + shot.segment.options.len() + shot.len;
    match r.below(4) {
        0 => shot.lies.ip_len = Some([0, 19, 20, 39, 40, 65535][r.below(6) as usize]),
        1 => shot.lies.ip_len = Some((whole + 1 + r.below(3000) as usize).min(65535) as u16),
        2 => shot.lies.cut = Some(r.below(whole as u64 + 14) as usize),
        _ => {
            // An offset within the segment would turn other bytes into payload, so use invalid
            // offsets.
            shot.lies.doff = Some(r.below(5) as u8);
        }
    }
}

fn addresses(s: &mut Segment, r: &mut Random) {
    match r.below(8) {
        0 => s.dst_mac = [0xff; 6],
        1 => s.dst_mac[5] ^= 1,
        2 => s.dst = std::net::Ipv4Addr::BROADCAST,
        3 => s.dst = std::net::Ipv4Addr::from(r.bits() as u32),
        4 => s.sport = r.bits() as u16,
        5 => s.dport = r.bits() as u16,
        6 => s.vlan = Some(r.bits() as u16),
        _ => s.ttl = r.bits() as u8,
    }
}
