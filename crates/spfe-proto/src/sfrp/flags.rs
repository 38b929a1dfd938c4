//! Flags of a header.

use core::ops::{BitOr, BitOrAssign};

/// Flags of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// The sender wants a response.
    pub const ACK: Self = Self(0x80);
    /// First packet of a message.
    pub const FIRST: Self = Self(0x40);
    /// Last packet of a message.
    pub const LAST: Self = Self(0x20);
    /// A CRC-32C follows the payload.
    pub const PAYLOAD_CRC: Self = Self(0x10);
    /// The header carries immediate data for the receiver's completion.
    pub const IMMEDIATE: Self = Self(0x08);
    /// The receiver shall wake its software.
    pub const SOLICITED: Self = Self(0x04);
    /// The message was sent before.
    pub const RETRY: Self = Self(0x02);
    /// Always 0 in version 1.
    pub const RESERVED: Self = Self(0x01);

    /// Whether all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags if `on`, otherwise none.
    pub const fn when(self, on: bool) -> Self {
        if on { self } else { Self::NONE }
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
