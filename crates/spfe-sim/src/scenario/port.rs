//! Ports, directions of links, addressing of packets, time-slots.

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use std::fmt;
use std::str::FromStr;

/// A port of a node or router, written "unit:port", or "unit" for port 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortName {
    /// Name of the node or router.
    pub unit: String,
    /// Port, 1 to 31.
    pub port: u8,
}

impl FromStr for PortName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (unit, port) = text.split_once(':').unwrap_or((text, "1"));
        let bad =
            || format!("'{text}' is not a port; give UNIT or UNIT:PORT with a port of 1 to 31");
        let port = port.parse().ok().filter(|port| (1..=31).contains(port)).ok_or_else(bad)?;
        if unit.is_empty() {
            return Err(bad());
        }
        Ok(Self { unit: unit.into(), port })
    }
}

impl<'de> Deserialize<'de> for PortName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.unit, self.port)
    }
}

/// Directions of a link. Ends A and B are in the order of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Directions {
    /// From A to B.
    AToB,
    /// From B to A.
    BToA,
    /// Both directions.
    #[default]
    Both,
}

impl Directions {
    /// The ends that send in these directions.
    pub const fn from(self) -> &'static [crate::link::Side] {
        use crate::link::Side;
        match self {
            Self::AToB => &[Side::A],
            Self::BToA => &[Side::B],
            Self::Both => &Side::BOTH,
        }
    }
}

/// How packets are addressed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Addressing {
    /// Path addresses along the shortest route, computed from the scenario.
    #[default]
    Auto,
    /// Path addresses, 0 to 31 each, in front of the packet; none on a direct link.
    Path(Vec<u8>),
    /// A logical address, 32 to 254, from the routing tables.
    Logical(u8),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenAddressing {
    Path(Vec<i64>),
    Logical(i64),
    Word(String),
}

impl<'de> Deserialize<'de> for Addressing {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let bad = |what: &str| {
            D::Error::custom(format!(
                "{what} is not a route; give a list of path addresses 0 to 31, a logical address \
                 32 to 254, or \"auto\""
            ))
        };
        match WrittenAddressing::deserialize(from).map_err(|_| bad("this"))? {
            WrittenAddressing::Path(path) => path
                .iter()
                .map(|&port| u8::try_from(port).ok().filter(|port| *port < 32))
                .collect::<Option<_>>()
                .map(Self::Path)
                .ok_or_else(|| bad(&format!("{path:?}"))),
            WrittenAddressing::Logical(address) => u8::try_from(address)
                .ok()
                .filter(|address| (32..=254).contains(address))
                .map(Self::Logical)
                .ok_or_else(|| bad(&address.to_string())),
            WrittenAddressing::Word(word) if word == "auto" => Ok(Self::Auto),
            WrittenAddressing::Word(word) => Err(bad(&format!("'{word}'"))),
        }
    }
}

impl fmt::Display for Addressing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Path(path) => {
                let ports: Vec<_> = path.iter().map(u8::to_string).collect();
                write!(f, "path {}", ports.join("."))
            }
            Self::Logical(address) => write!(f, "address {address}"),
        }
    }
}

/// Time-slots, written as a list of numbers and ranges: "0-7, 32". Bit T stands for time-slot T.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSlots(pub u64);

impl Default for TimeSlots {
    fn default() -> Self {
        Self(u64::MAX)
    }
}

impl FromStr for TimeSlots {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("'{text}' is not a list of time-slots 0 to 63 such as \"0-7, 32\"");
        let number = |text: &str| text.trim().parse().ok().filter(|slot: &u32| *slot < 64);
        let mut slots = 0;
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first).ok_or_else(bad)?, number(last).ok_or_else(bad)?);
            if first > last {
                return Err(bad());
            }
            for slot in first..=last {
                slots |= 1u64 << slot;
            }
        }
        Ok(Self(slots))
    }
}

impl<'de> Deserialize<'de> for TimeSlots {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        assert_eq!("a:3".parse(), Ok(PortName { unit: "a".into(), port: 3 }));
        assert_eq!("a".parse(), Ok(PortName { unit: "a".into(), port: 1 }));
        for text in ["", ":1", "a:0", "a:32", "a:", "a:b", "a:1:2"] {
            assert!(text.parse::<PortName>().is_err(), "{text}");
        }
    }

    #[test]
    fn slots() {
        assert_eq!("0-3, 63".parse(), Ok(TimeSlots(0xF | 1 << 63)));
        assert_eq!("0-63".parse(), Ok(TimeSlots(u64::MAX)));
        for text in ["", "64", "5-3", "1-", "x"] {
            assert!(text.parse::<TimeSlots>().is_err(), "{text}");
        }
    }
}
