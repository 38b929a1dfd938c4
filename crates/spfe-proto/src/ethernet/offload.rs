//! What the sender of a frame left to its receiver. The bytes are those of `struct virtio_net_hdr`
//! in little-endian order, which kernels and TAP devices read and write.

/// Bytes of the offload fields in a version 2 header.
pub const OFFLOAD_BYTES: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const VERIFIED: u8 = 2;
const TCP_IPV4: u8 = 1;
const TCP_IPV6: u8 = 4;
const UDP: u8 = 5;
const ECN: u8 = 0x80;
/// Bytes of two Ethernet addresses and a type, which no checksum covers.
const ETHERNET_BYTES: usize = 14;

/// Offload fields of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// 1: the checksum is to be completed; 2: the sender has verified it.
    pub flags: u8,
    /// 0: one segment; 1: TCP over IPv4; 4: TCP over IPv6; 5: UDP; 0x80 is added for ECN.
    pub segment_kind: u8,
    /// Bytes of all headers of the frame: a hint.
    pub header_bytes: u16,
    /// Payload bytes of each segment but the last.
    pub segment_bytes: u16,
    /// Where the checksum begins to cover the frame.
    pub checksum_start: u16,
    /// Where the checksum is, behind `checksum_start`.
    pub checksum_offset: u16,
}

impl Offload {
    /// Reads the fields.
    pub fn decode(bytes: &[u8; OFFLOAD_BYTES]) -> Self {
        let [flags, segment_kind, h0, h1, s0, s1, c0, c1, o0, o1] = *bytes;
        Self {
            flags,
            segment_kind,
            header_bytes: u16::from_le_bytes([h0, h1]),
            segment_bytes: u16::from_le_bytes([s0, s1]),
            checksum_start: u16::from_le_bytes([c0, c1]),
            checksum_offset: u16::from_le_bytes([o0, o1]),
        }
    }

    /// The bytes of the fields.
    pub fn encode(&self) -> [u8; OFFLOAD_BYTES] {
        let [h0, h1] = self.header_bytes.to_le_bytes();
        let [s0, s1] = self.segment_bytes.to_le_bytes();
        let [c0, c1] = self.checksum_start.to_le_bytes();
        let [o0, o1] = self.checksum_offset.to_le_bytes();
        [self.flags, self.segment_kind, h0, h1, s0, s1, c0, c1, o0, o1]
    }

    /// Whether the receiver has to complete the checksum.
    pub fn needs_checksum(&self) -> bool {
        self.flags & NEEDS_CHECKSUM != 0
    }

    /// Whether the frame stands for several segments.
    pub fn is_segmented(&self) -> bool {
        self.segment_kind != 0
    }

    /// Whether the fields fit a frame of this length on an interface with this MTU. Only then may
    /// anything rely on them.
    pub fn fits(&self, frame_bytes: usize, mtu: u32) -> bool {
        if self.flags & !(NEEDS_CHECKSUM | VERIFIED) != 0 {
            return false;
        }
        let start = usize::from(self.checksum_start);
        let end = start + usize::from(self.checksum_offset) + 2;
        if self.needs_checksum() && (start < ETHERNET_BYTES || end > frame_bytes) {
            return false;
        }
        match self.segment_kind {
            0 => self.segment_bytes == 0,
            UDP => self.segments_fit(frame_bytes, mtu),
            kind if matches!(kind & !ECN, TCP_IPV4 | TCP_IPV6) => {
                self.segments_fit(frame_bytes, mtu)
            }
            _ => false,
        }
    }

    fn segments_fit(&self, frame_bytes: usize, mtu: u32) -> bool {
        self.needs_checksum()
            && self.segment_bytes != 0
            && u32::from(self.segment_bytes) <= mtu
            && usize::from(self.header_bytes) <= frame_bytes
    }
}

/// Completes the checksum of a frame whose fields [fit](Offload::fits), for a receiver that cannot
/// do it itself.
pub fn complete_checksum(frame: &mut [u8], offload: &Offload) {
    let start = usize::from(offload.checksum_start);
    let at = start + usize::from(offload.checksum_offset);
    let Some(covered) = frame.get(start..) else { return };
    let sum = match ones_complement(covered) {
        // To UDP a sum of 0 means that there is none. The other 0 of this arithmetic is 0xffff.
        0xffff => 0xffff,
        sum => !sum,
    };
    if let Some(place) = frame.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = sum.to_be_bytes();
    }
}

/// The sum of the 16-bit words in the arithmetic of the Internet checksum.
fn ones_complement(bytes: &[u8]) -> u16 {
    let (words, rest) = bytes.as_chunks::<2>();
    let mut sum: u64 = words.iter().map(|word| u64::from(u16::from_be_bytes(*word))).sum();
    if let [last] = rest {
        sum += u64::from(*last) << 8;
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
