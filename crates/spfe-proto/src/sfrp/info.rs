//! What a target tells about itself: the blocks in responses to INFO and REGIONS.

use core::ops::BitOr;

/// Bytes of the block in the response to INFO.
pub const INFO_BYTES: usize = 32;
/// Bytes of an entry in the response to REGIONS.
pub const REGION_BYTES: usize = 24;

/// What a target offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(pub u8);

impl Capabilities {
    /// Takes messages (SEND).
    pub const SEND: Self = Self(1);
    /// Executes atomic operations.
    pub const ATOMIC: Self = Self(2);
    /// Has software and queue pairs.
    pub const FULL: Self = Self(4);
    /// Executes RMAP commands on the same port.
    pub const RMAP: Self = Self(8);
    /// Notifies its software of operations.
    pub const NOTIFY: Self = Self(16);

    /// Whether all capabilities of `other` are there.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Capabilities {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The answer to INFO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Lowest version of the protocol that the target speaks.
    pub version_min: u8,
    /// Highest version of the protocol that the target speaks.
    pub version_max: u8,
    /// What it offers.
    pub capabilities: Capabilities,
    /// Base-2 logarithm of the largest payload of a packet.
    pub segment_log2: u8,
    /// Number of regions.
    pub regions: u16,
    /// Reads and atomic operations that a queue pair may have outstanding.
    pub reads_max: u16,
    /// Longest message for SEND, bytes.
    pub message_max: u32,
    /// Vendor.
    pub vendor: u32,
    /// Device of the vendor.
    pub device: u32,
    /// Serial number of the device.
    pub serial: u32,
    /// The target's time, ns.
    pub time_ns: u64,
}

impl Info {
    /// The block.
    pub fn encode(&self) -> [u8; INFO_BYTES] {
        let mut block = [0; INFO_BYTES];
        block[0] = self.version_min;
        block[1] = self.version_max;
        block[2] = self.capabilities.0;
        block[3] = self.segment_log2;
        block[4..6].copy_from_slice(&self.regions.to_be_bytes());
        block[6..8].copy_from_slice(&self.reads_max.to_be_bytes());
        block[8..12].copy_from_slice(&self.message_max.to_be_bytes());
        block[12..16].copy_from_slice(&self.vendor.to_be_bytes());
        block[16..20].copy_from_slice(&self.device.to_be_bytes());
        block[20..24].copy_from_slice(&self.serial.to_be_bytes());
        block[24..].copy_from_slice(&self.time_ns.to_be_bytes());
        block
    }

    /// Reads a block; `None` if it has another length.
    pub fn decode(block: &[u8]) -> Option<Self> {
        let block: &[u8; INFO_BYTES] = block.try_into().ok()?;
        let half = |at: usize| u16::from_be_bytes([block[at], block[at + 1]]);
        let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
        Some(Self {
            version_min: block[0],
            version_max: block[1],
            capabilities: Capabilities(block[2]),
            segment_log2: block[3],
            regions: half(4),
            reads_max: half(6),
            message_max: word(8),
            vendor: word(12),
            device: word(16),
            serial: word(20),
            time_ns: u64::from(word(24)) << 32 | u64::from(word(28)),
        })
    }
}

/// Rights and properties of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionFlags(pub u16);

impl RegionFlags {
    /// May be read.
    pub const READ: Self = Self(1);
    /// May be written.
    pub const WRITE: Self = Self(2);
    /// Takes atomic operations.
    pub const ATOMIC: Self = Self(4);
    /// Its first byte has address 0.
    pub const ZERO_BASED: Self = Self(8);
    /// Operations raise a notification.
    pub const NOTIFY: Self = Self(16);

    /// Whether all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for RegionFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// An entry in the answer to REGIONS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionEntry {
    /// Number of the region.
    pub index: u16,
    /// Rights and properties.
    pub flags: RegionFlags,
    /// Key; 0 if the target does not tell it.
    pub key: u32,
    /// Address of the first byte.
    pub base: u64,
    /// Size in bytes.
    pub bytes: u64,
}

impl RegionEntry {
    /// The entry.
    pub fn encode(&self) -> [u8; REGION_BYTES] {
        let mut entry = [0; REGION_BYTES];
        entry[..2].copy_from_slice(&self.index.to_be_bytes());
        entry[2..4].copy_from_slice(&self.flags.0.to_be_bytes());
        entry[4..8].copy_from_slice(&self.key.to_be_bytes());
        entry[8..16].copy_from_slice(&self.base.to_be_bytes());
        entry[16..].copy_from_slice(&self.bytes.to_be_bytes());
        entry
    }

    /// Reads an entry.
    pub fn decode(entry: &[u8; REGION_BYTES]) -> Self {
        let half = |at: usize| u16::from_be_bytes([entry[at], entry[at + 1]]);
        let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
        let long = |at: usize| u64::from(word(at)) << 32 | u64::from(word(at + 4));
        Self {
            index: half(0),
            flags: RegionFlags(half(2)),
            key: word(4),
            base: long(8),
            bytes: long(16),
        }
    }
}
