//! Messages of SSDTP2, which carries SpaceWire packets and time-codes over TCP.
//!
//! A message is 12 bytes of header and a body: a flag, a 0, and the length of the body with 80 bits,
//! the most significant byte first.

use std::fmt;

/// Bytes of a header.
pub const HEADER: usize = 12;
/// Longest body that is accepted, bytes: the longest packet.
pub const BODY_MAX: u64 = 1 << 30;

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The last part of a packet, which ends with EOP.
    Eop,
    /// The last part of a packet, which ends with EEP.
    Eep,
    /// A part of a packet; more follow.
    Part,
    /// A time-code to be sent: its value, and a 0.
    SendTimeCode,
    /// A time-code that was received.
    TimeCode,
    /// The divisor of the transmit rate, and a 0.
    Rate,
}

/// A header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Kind of the message.
    pub kind: Kind,
    /// Bytes of its body.
    pub length: u64,
}

/// Why a header is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The flag is not one that a bridge takes.
    Flag(u8),
    /// The second byte is not 0.
    Reserved(u8),
    /// The body is longer than a packet can be.
    Length,
    /// The body has another length than its kind.
    Fixed(u64),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(
                f,
                "message with flag {flag:#04x}: a bridge takes 0x00 to 0x02, 0x30 and 0x38"
            ),
            Self::Reserved(value) => write!(f, "second byte {value:#04x} of a message: 0 expected"),
            Self::Length => write!(f, "message of more than {BODY_MAX} bytes"),
            Self::Fixed(length) => write!(f, "body of {length} bytes: 2 expected"),
        }
    }
}

impl Kind {
    const fn flag(self) -> u8 {
        match self {
            Self::Eop => 0x00,
            Self::Eep => 0x01,
            Self::Part => 0x02,
            Self::SendTimeCode => 0x30,
            Self::TimeCode => 0x31,
            Self::Rate => 0x38,
        }
    }
}

impl Header {
    /// Reads a header of a client.
    pub fn parse(bytes: &[u8; HEADER]) -> Result<Self, Refusal> {
        let [flag, reserved, high0, high1, low @ ..] = *bytes;
        let kinds = [Kind::Eop, Kind::Eep, Kind::Part, Kind::SendTimeCode, Kind::Rate];
        let kind = kinds.into_iter().find(|kind| kind.flag() == flag).ok_or(Refusal::Flag(flag))?;
        if reserved != 0 {
            return Err(Refusal::Reserved(reserved));
        }
        let length = u64::from_be_bytes(low);
        if high0 != 0 || high1 != 0 || length > BODY_MAX {
            return Err(Refusal::Length);
        }
        if matches!(kind, Kind::SendTimeCode | Kind::Rate) && length != 2 {
            return Err(Refusal::Fixed(length));
        }
        Ok(Self { kind, length })
    }

    /// The bytes of a header.
    pub fn encode(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[0] = self.kind.flag();
        bytes[4..].copy_from_slice(&self.length.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_the_published_bytes() {
        let header = Header { kind: Kind::Eep, length: 0x0102_0304 };
        assert_eq!(header.encode(), [1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
        for kind in [Kind::Eop, Kind::Eep, Kind::Part] {
            for length in [0, 1, 2, BODY_MAX] {
                let header = Header { kind, length };
                assert_eq!(Header::parse(&header.encode()), Ok(header));
            }
        }
        let code = Header { kind: Kind::SendTimeCode, length: 2 };
        assert_eq!(code.encode(), [0x30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(Header::parse(&code.encode()), Ok(code));
    }

    #[test]
    fn wrong_headers_are_refused() {
        for (at, value, refusal) in [
            (0, 0x03, Refusal::Flag(3)),
            (0, 0x31, Refusal::Flag(0x31)),
            (0, 0x40, Refusal::Flag(0x40)),
            (1, 9, Refusal::Reserved(9)),
            (2, 1, Refusal::Length),
            (3, 1, Refusal::Length),
            (4, 0x80, Refusal::Length),
            (0, 0x30, Refusal::Fixed(1)),
        ] {
            let mut bytes = Header { kind: Kind::Eop, length: 1 }.encode();
            bytes[at] = value;
            assert_eq!(Header::parse(&bytes), Err(refusal));
            assert!(!refusal.to_string().is_empty());
        }
        let bytes = Header { kind: Kind::Part, length: BODY_MAX + 1 }.encode();
        assert_eq!(Header::parse(&bytes), Err(Refusal::Length));
    }
}
