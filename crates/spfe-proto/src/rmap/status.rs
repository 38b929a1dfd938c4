//! The status of a reply (50-52C 5.6).

use core::fmt;

/// A status byte. Any value is possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RmapStatus(pub u8);

impl RmapStatus {
    /// The command was executed.
    pub const SUCCESS: Self = Self(0);
    /// Unknown error, or the access to the memory failed.
    pub const GENERAL_ERROR: Self = Self(1);
    /// The header is intact, but the standard does not use its packet type or command code.
    pub const UNUSED_TYPE_OR_CODE: Self = Self(2);
    /// The key is not the one that the target expects.
    pub const INVALID_KEY: Self = Self(3);
    /// The data does not match its CRC.
    pub const INVALID_DATA_CRC: Self = Self(4);
    /// The packet ended before its data did.
    pub const EARLY_EOP: Self = Self(5);
    /// The packet continued after its data: cargo too large.
    pub const TOO_MUCH_DATA: Self = Self(6);
    /// The network cut the packet within or directly after its data.
    pub const EEP: Self = Self(7);
    /// More data than the target can hold for verification.
    pub const VERIFY_BUFFER_OVERRUN: Self = Self(9);
    /// The target does not have this command, or does not allow it.
    pub const NOT_AUTHORISED: Self = Self(10);
    /// The data length of a read-modify-write is not 0, 2, 4, 6 or 8.
    pub const RMW_DATA_LENGTH: Self = Self(11);
    /// The target does not have this logical address.
    pub const INVALID_LOGICAL_ADDRESS: Self = Self(12);

    /// Whether the status is undefined: 8, and 13 and above.
    pub const fn is_reserved(self) -> bool {
        self.0 == 8 || self.0 > 12
    }

    /// Text for people.
    pub const fn text(self) -> &'static str {
        match self.0 {
            0 => "success",
            1 => "general error",
            2 => "unused packet type or command code",
            3 => "invalid key",
            4 => "invalid data CRC",
            5 => "early end of packet",
            6 => "too much data",
            7 => "error end of packet",
            9 => "verify buffer overrun",
            10 => "command not implemented or not authorised",
            11 => "invalid data length of read-modify-write",
            12 => "invalid target logical address",
            _ => "reserved",
        }
    }
}

impl fmt::Display for RmapStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}: {}", self.0, self.text())
    }
}
