//! Converts frames to segments and back, with the packet code of smoltcp.

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, Icmpv4Packet, Icmpv4Repr,
    IpAddress, IpProtocol, Ipv4Packet, TcpPacket, TcpSeqNumber,
};
use std::net::Ipv4Addr;

/// Control bit FIN.
pub const FIN: u8 = 1;
/// Control bit SYN.
pub const SYN: u8 = 2;
/// Control bit RST.
pub const RST: u8 = 4;
/// Control bit PSH.
pub const PSH: u8 = 8;
/// Control bit ACK.
pub const ACK: u8 = 16;
/// Control bit URG.
pub const URG: u8 = 32;

/// Names of the control bits.
pub const FLAG_NAMES: [(&str, u8); 6] =
    [("SYN", SYN), ("FIN", FIN), ("RST", RST), ("PSH", PSH), ("ACK", ACK), ("URG", URG)];

/// Minimum length of a frame without FCS.
pub const MIN_FRAME: usize = 60;

/// A TCP segment with its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the headers, by their usual names")]
pub struct Segment {
    pub src_mac: [u8; 6],
    pub dst_mac: [u8; 6],
    pub vlan: Option<u16>,
    pub src: Ipv4Addr,
    pub dst: Ipv4Addr,
    pub ttl: u8,
    pub id: u16,
    pub sport: u16,
    pub dport: u16,
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub window: u16,
    pub urgent: u16,
    /// The flag DF: no router may fragment the packet.
    pub df: bool,
    /// Options, padded with zeros to a multiple of four bytes.
    pub options: Vec<u8>,
    pub payload: Vec<u8>,
}

impl Segment {
    /// Length in sequence space (RFC 9293, 3.4).
    #[must_use]
    pub fn seq_len(&self) -> u32 {
        self.payload.len() as u32
            + u32::from(self.flags & SYN != 0)
            + u32::from(self.flags & FIN != 0)
    }

    /// Value of the MSS option.
    #[must_use]
    pub fn mss(&self) -> Option<u16> {
        option(&self.options, 2, 4).map(|v| u16::from_be_bytes([v[0], v[1]]))
    }

    /// Value of the window scale option.
    #[must_use]
    pub fn wscale(&self) -> Option<u8> {
        option(&self.options, 3, 3).map(|v| v[0])
    }

    /// Describes the segment for messages.
    #[must_use]
    pub fn text(&self) -> String {
        let flags: Vec<&str> =
            FLAG_NAMES.iter().filter(|(_, b)| self.flags & b != 0).map(|(n, _)| *n).collect();
        format!(
            "{}:{} > {}:{} {} seq={} ack={} win={} len={} mss={:?} ws={:?}",
            self.src,
            self.sport,
            self.dst,
            self.dport,
            flags.join(" "),
            self.seq,
            self.ack,
            self.window,
            self.payload.len(),
            self.mss(),
            self.wscale()
        )
    }
}

/// Finds the last option with a kind and a length. Stops at the first malformed option (RFC 9293,
/// 3.1).
#[must_use]
pub fn option(options: &[u8], kind: u8, len: usize) -> Option<&[u8]> {
    let mut found = None;
    let mut rest = options;
    while let Some((&k, tail)) = rest.split_first() {
        let size = match (k, tail.first()) {
            (0, _) | (2.., None) => break,
            (1, _) => 1,
            (_, Some(size)) => usize::from(*size),
        };
        if k != 1 && size < 2 || size > rest.len() {
            break;
        }
        if k == kind && size == len {
            found = rest.get(2..size);
        }
        rest = rest.get(size..)?;
    }
    found
}

/// Deviations of a frame from its segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lies {
    /// Total length of the IP header.
    pub ip_len: Option<u16>,
    /// Data offset in 32-bit words.
    pub doff: Option<u8>,
    /// Whether the IP header checksum is wrong.
    pub bad_ip_sum: bool,
    /// Whether the TCP checksum is wrong.
    pub bad_sum: bool,
    /// Chooses the last two bytes of payload so that the checksum is zero, written as 0xffff if
    /// `true`.
    pub zero_sum: Option<bool>,
    /// Whether the flag MF (more fragments) is set.
    pub mf: bool,
    /// Fragment offset in octets.
    pub frag: u16,
    /// IP options, a multiple of four bytes.
    pub ip_options: Vec<u8>,
    /// IP version.
    pub version: Option<u8>,
    /// Cuts the frame after this many bytes.
    pub cut: Option<usize>,
    /// Number of bytes after the IP packet.
    pub trailer: usize,
    /// Leaves out the padding to 60 bytes.
    pub no_pad: bool,
}

/// Builds the frame of a segment.
#[must_use]
pub fn build(s: &Segment, lies: &Lies) -> Vec<u8> {
    let opts = s.options.len().div_ceil(4) * 4;
    let tcp_len = 20 + opts + s.payload.len();
    let ip_header = 20 + lies.ip_options.len().div_ceil(4) * 4;
    let ip_len = ip_header + tcp_len;
    let mut out = ethernet(s.src_mac, s.dst_mac, s.vlan, EthernetProtocol::Ipv4, ip_len);
    let start = out.len() - ip_len;
    let mut ip = Ipv4Packet::new_unchecked(&mut out[start..]);
    ipv4(&mut ip, s, lies, ip_header, ip_len);
    if let Some(body) = out.get_mut(start + 20..start + 20 + lies.ip_options.len()) {
        body.copy_from_slice(&lies.ip_options);
    }
    Ipv4Packet::new_unchecked(&mut out[start..]).fill_checksum();
    let tcp_start = start + ip_header;
    tcp(&mut out[tcp_start..], s, opts, lies);
    if let Some(len) = lies.ip_len {
        let mut ip = Ipv4Packet::new_unchecked(&mut out[start..]);
        ip.set_total_len(len);
        ip.fill_checksum();
    }
    if let Some(version) = lies.version {
        out[start] = version << 4 | (out[start] & 15);
    }
    if lies.bad_ip_sum {
        out[start + 10] ^= 0x5a;
    }
    out.resize(out.len() + lies.trailer, 0xee);
    if !lies.no_pad && out.len() < MIN_FRAME {
        out.resize(MIN_FRAME, 0);
    }
    if let Some(cut) = lies.cut {
        out.truncate(cut);
    }
    out
}

fn ethernet(
    src: [u8; 6],
    dst: [u8; 6],
    vlan: Option<u16>,
    kind: EthernetProtocol,
    len: usize,
) -> Vec<u8> {
    let tag = vlan.map_or(0, |_| 4);
    let mut out = vec![0; 14 + tag + len];
    let mut eth = EthernetFrame::new_unchecked(&mut out[..]);
    eth.set_src_addr(EthernetAddress(src));
    eth.set_dst_addr(EthernetAddress(dst));
    eth.set_ethertype(if tag == 0 { kind } else { EthernetProtocol::Unknown(0x8100) });
    if let Some(tci) = vlan {
        let payload = eth.payload_mut();
        payload[..2].copy_from_slice(&tci.to_be_bytes());
        payload[2..4].copy_from_slice(&u16::from(kind).to_be_bytes());
    }
    out
}

fn ipv4(ip: &mut Ipv4Packet<&mut [u8]>, s: &Segment, lies: &Lies, header: usize, len: usize) {
    ip.set_version(4);
    ip.set_header_len(header as u8);
    ip.set_total_len(len as u16);
    ip.set_ident(s.id);
    ip.clear_flags();
    ip.set_dont_frag(s.df && !lies.mf && lies.frag == 0);
    ip.set_more_frags(lies.mf);
    ip.set_frag_offset(lies.frag);
    ip.set_hop_limit(s.ttl);
    ip.set_next_header(IpProtocol::Tcp);
    ip.set_src_addr(s.src);
    ip.set_dst_addr(s.dst);
}

fn tcp(buf: &mut [u8], s: &Segment, opts: usize, lies: &Lies) {
    let mut p = TcpPacket::new_unchecked(&mut *buf);
    p.set_src_port(s.sport);
    p.set_dst_port(s.dport);
    p.set_seq_number(TcpSeqNumber(s.seq as i32));
    p.set_ack_number(TcpSeqNumber(s.ack as i32));
    p.clear_flags();
    p.set_header_len((20 + opts) as u8);
    p.set_fin(s.flags & FIN != 0);
    p.set_syn(s.flags & SYN != 0);
    p.set_rst(s.flags & RST != 0);
    p.set_psh(s.flags & PSH != 0);
    p.set_ack(s.flags & ACK != 0);
    p.set_urg(s.flags & URG != 0);
    p.set_window_len(s.window);
    p.set_urgent_at(s.urgent);
    p.options_mut()[..s.options.len()].copy_from_slice(&s.options);
    p.payload_mut().copy_from_slice(&s.payload);
    if let Some(doff) = lies.doff {
        // A false data offset may point outside, so write it after everything else.
        buf[12] = doff << 4 | (buf[12] & 15);
    }
    let (src, dst) = (IpAddress::Ipv4(s.src), IpAddress::Ipv4(s.dst));
    TcpPacket::new_unchecked(&mut *buf).fill_checksum(&src, &dst);
    if let Some(ones) = lies.zero_sum {
        let at = buf.len() & !1;
        if at >= 22 && s.payload.len() >= 2 {
            buf[at - 2..at].fill(0);
            TcpPacket::new_unchecked(&mut *buf).fill_checksum(&src, &dst);
            let sum = TcpPacket::new_unchecked(&*buf).checksum();
            buf[at - 2..at].copy_from_slice(&sum.to_be_bytes());
        }
        TcpPacket::new_unchecked(&mut *buf).set_checksum(if ones { 0xffff } else { 0 });
    }
    if lies.bad_sum {
        let sum = TcpPacket::new_unchecked(&*buf).checksum();
        TcpPacket::new_unchecked(&mut *buf).set_checksum(sum ^ 0x1234);
    }
}

/// A parsed frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet {
    /// A TCP segment in IPv4.
    Tcp(Segment),
    /// An ARP packet.
    Arp(Arp),
    /// An ICMP echo request or reply.
    Echo(Echo),
}

/// An ARP packet for IPv4 over Ethernet (RFC 826).
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of RFC 826")]
pub struct Arp {
    pub src_mac: [u8; 6],
    pub dst_mac: [u8; 6],
    pub vlan: Option<u16>,
    pub request: bool,
    pub sha: [u8; 6],
    pub spa: Ipv4Addr,
    pub tha: [u8; 6],
    pub tpa: Ipv4Addr,
}

/// An ICMP echo message (RFC 792).
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of RFC 792 and below")]
pub struct Echo {
    pub src_mac: [u8; 6],
    pub dst_mac: [u8; 6],
    pub vlan: Option<u16>,
    pub src: Ipv4Addr,
    pub dst: Ipv4Addr,
    pub reply: bool,
    pub ident: u16,
    pub seq: u16,
    pub data: Vec<u8>,
}

/// Builds the frame of an ARP packet.
#[must_use]
pub fn build_arp(a: &Arp) -> Vec<u8> {
    let mut out = ethernet(a.src_mac, a.dst_mac, a.vlan, EthernetProtocol::Arp, 28);
    let start = out.len() - 28;
    let repr = ArpRepr::EthernetIpv4 {
        operation: if a.request {
            smoltcp::wire::ArpOperation::Request
        } else {
            smoltcp::wire::ArpOperation::Reply
        },
        source_hardware_addr: EthernetAddress(a.sha),
        source_protocol_addr: a.spa,
        target_hardware_addr: EthernetAddress(a.tha),
        target_protocol_addr: a.tpa,
    };
    repr.emit(&mut ArpPacket::new_unchecked(&mut out[start..]));
    out.resize(out.len().max(MIN_FRAME), 0);
    out
}

/// Builds the frame of an echo message. `lies` apply as for a segment, and `bad_sum` to ICMP.
#[must_use]
pub fn build_echo(e: &Echo, lies: &Lies) -> Vec<u8> {
    let len = 28 + e.data.len();
    let mut out = ethernet(e.src_mac, e.dst_mac, e.vlan, EthernetProtocol::Ipv4, len);
    let start = out.len() - len;
    let mut ip = Ipv4Packet::new_unchecked(&mut out[start..]);
    ip.set_version(4);
    ip.set_header_len(20);
    ip.set_total_len(lies.ip_len.unwrap_or(len as u16));
    ip.clear_flags();
    ip.set_more_frags(lies.mf);
    ip.set_frag_offset(lies.frag);
    ip.set_hop_limit(64);
    ip.set_next_header(IpProtocol::Icmp);
    ip.set_src_addr(e.src);
    ip.set_dst_addr(e.dst);
    ip.fill_checksum();
    let repr = if e.reply {
        Icmpv4Repr::EchoReply { ident: e.ident, seq_no: e.seq, data: &e.data }
    } else {
        Icmpv4Repr::EchoRequest { ident: e.ident, seq_no: e.seq, data: &e.data }
    };
    let caps = ChecksumCapabilities::default();
    repr.emit(&mut Icmpv4Packet::new_unchecked(&mut out[start + 20..]), &caps);
    if lies.bad_sum {
        out[start + 22] ^= 0x5a;
    }
    if lies.bad_ip_sum {
        out[start + 10] ^= 0x5a;
    }
    out.resize(out.len().max(MIN_FRAME), 0);
    if let Some(cut) = lies.cut {
        out.truncate(cut);
    }
    out
}

/// Parses a frame and checks all lengths, checksums and padding.
///
/// # Errors
/// Describes what is wrong with the frame.
pub fn parse(frame: &[u8]) -> Result<Packet, String> {
    let short = |e: smoltcp::wire::Error| format!("frame of {} bytes: {e}", frame.len());
    let eth = EthernetFrame::new_checked(frame).map_err(short)?;
    let (src_mac, dst_mac) = (eth.src_addr().0, eth.dst_addr().0);
    let mut body = eth.payload();
    let mut kind = u16::from(eth.ethertype());
    let mut vlan = None;
    if let (0x8100, [a, b, c, d, rest @ ..]) = (kind, body) {
        vlan = Some(u16::from_be_bytes([*a, *b]));
        kind = u16::from_be_bytes([*c, *d]);
        body = rest;
    }
    if kind == u16::from(EthernetProtocol::Arp) {
        let packet = ArpPacket::new_checked(body).map_err(short)?;
        let ArpRepr::EthernetIpv4 {
            operation,
            source_hardware_addr: sha,
            source_protocol_addr: spa,
            target_hardware_addr: tha,
            target_protocol_addr: tpa,
        } = ArpRepr::parse(&packet).map_err(short)?
        else {
            return Err("ARP of another kind".into());
        };
        let request = operation == smoltcp::wire::ArpOperation::Request;
        let (sha, tha) = (sha.0, tha.0);
        return Ok(Packet::Arp(Arp { src_mac, dst_mac, vlan, request, sha, spa, tha, tpa }));
    }
    if kind != u16::from(EthernetProtocol::Ipv4) {
        return Err(format!("EtherType {kind:#06x}"));
    }
    let ip = Ipv4Packet::new_checked(body).map_err(short)?;
    if ip.version() != 4 || ip.header_len() != 20 {
        return Err(format!("IP version {}, header of {} bytes", ip.version(), ip.header_len()));
    }
    if !ip.verify_checksum() {
        return Err("IP header checksum is wrong".into());
    }
    if ip.more_frags() || ip.frag_offset() != 0 {
        return Err("fragment".into());
    }
    let (src, dst) = (ip.src_addr(), ip.dst_addr());
    match ip.next_header() {
        IpProtocol::Tcp => {
            let p = TcpPacket::new_checked(ip.payload()).map_err(short)?;
            if !p.verify_checksum(&IpAddress::Ipv4(src), &IpAddress::Ipv4(dst)) {
                return Err("TCP checksum is wrong".into());
            }
            Ok(Packet::Tcp(Segment {
                src_mac,
                dst_mac,
                vlan,
                src,
                dst,
                ttl: ip.hop_limit(),
                id: ip.ident(),
                sport: p.src_port(),
                dport: p.dst_port(),
                seq: p.seq_number().0 as u32,
                ack: p.ack_number().0 as u32,
                flags: flags(&p),
                window: p.window_len(),
                urgent: p.urgent_at(),
                df: ip.dont_frag(),
                options: p.options().to_vec(),
                payload: p.payload().to_vec(),
            }))
        }
        IpProtocol::Icmp => {
            let p = Icmpv4Packet::new_checked(ip.payload()).map_err(short)?;
            let caps = ChecksumCapabilities::default();
            let repr = Icmpv4Repr::parse(&p, &caps).map_err(|_| "ICMP checksum is wrong")?;
            let (reply, ident, seq, data) = match repr {
                Icmpv4Repr::EchoRequest { ident, seq_no, data } => (false, ident, seq_no, data),
                Icmpv4Repr::EchoReply { ident, seq_no, data } => (true, ident, seq_no, data),
                _ => return Err("ICMP of another kind".into()),
            };
            let data = data.to_vec();
            Ok(Packet::Echo(Echo { src_mac, dst_mac, vlan, src, dst, reply, ident, seq, data }))
        }
        other => Err(format!("IP protocol {other}")),
    }
}

fn flags(p: &TcpPacket<&[u8]>) -> u8 {
    let bits = [
        (p.fin(), FIN),
        (p.syn(), SYN),
        (p.rst(), RST),
        (p.psh(), PSH),
        (p.ack(), ACK),
        (p.urg(), URG),
    ];
    bits.iter().filter(|(set, _)| *set).fold(0, |all, (_, bit)| all | bit)
}
