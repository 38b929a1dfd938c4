//! Generations, widths and rates of PCIe links.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Generation of a link: 1 to 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct PcieGeneration(u8);

impl PcieGeneration {
    /// The slowest generation.
    pub const FIRST: Self = Self(1);
    /// Generation 3, the default.
    pub const THIRD: Self = Self(3);

    /// The generation with this number.
    ///
    /// # Errors
    /// The number, with the valid ones.
    pub fn new(number: u8) -> Result<Self, String> {
        if (1..=5).contains(&number) {
            Ok(Self(number))
        } else {
            Err(format!("gen = {number}: there is no such generation; use 1 to 5"))
        }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Bytes per second of one lane in one direction, after line coding: 8b/10b up to generation 2,
    /// 128b/130b from generation 3 on.
    pub const fn lane_bytes_per_s(self) -> u64 {
        match self.0 {
            1 => 250_000_000,
            2 => 500_000_000,
            // 8, 16 and 32 GT/s times 128 / 130 / 8.
            number => 984_615_385 << (number - 3),
        }
    }

    /// The same in the rounded figures of product sheets: 250 MB/s, doubled with each generation.
    pub const fn rounded_lane_bytes_per_s(self) -> u64 {
        250_000_000 << (self.0 - 1)
    }
}

impl TryFrom<u8> for PcieGeneration {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        Self::new(number)
    }
}

impl From<PcieGeneration> for u8 {
    fn from(generation: PcieGeneration) -> Self {
        generation.0
    }
}

/// Number of lanes of a link: a power of two from 1 to 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct LinkWidth(u8);

impl LinkWidth {
    /// One lane.
    pub const ONE: Self = Self(1);

    /// The width with so many lanes.
    ///
    /// # Errors
    /// The number, with the valid ones.
    pub fn new(lanes: u8) -> Result<Self, String> {
        if lanes.is_power_of_two() && lanes <= 32 {
            Ok(Self(lanes))
        } else {
            Err(format!("width = {lanes}: a link has 1, 2, 4, 8, 16 or 32 lanes"))
        }
    }

    /// Number of lanes.
    pub const fn lanes(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for LinkWidth {
    type Error = String;

    fn try_from(lanes: u8) -> Result<Self, String> {
        Self::new(lanes)
    }
}

impl From<LinkWidth> for u8 {
    fn from(width: LinkWidth) -> Self {
        width.0
    }
}

/// Generation and width that both ends of a link agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PcieRate {
    /// Generation.
    pub generation: PcieGeneration,
    /// Lanes.
    pub width: LinkWidth,
}

impl PcieRate {
    /// What two ends with these abilities agree on: the lower generation and the smaller width.
    pub fn negotiate(self, other: Self) -> Self {
        Self {
            generation: self.generation.min(other.generation),
            width: self.width.min(other.width),
        }
    }

    /// Bytes per second in one direction.
    pub const fn bytes_per_s(self) -> u64 {
        self.generation.lane_bytes_per_s() * self.width.0 as u64
    }

    /// The same in the rounded figures of product sheets.
    pub const fn rounded_bytes_per_s(self) -> u64 {
        self.generation.rounded_lane_bytes_per_s() * self.width.0 as u64
    }

    /// The slower of two links on a path.
    pub fn slower(self, other: Self) -> Self {
        if other.bytes_per_s() < self.bytes_per_s() { other } else { self }
    }
}

impl fmt::Display for PcieRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gen{} x{}", self.generation.0, self.width.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(generation: u8, width: u8) -> PcieRate {
        PcieRate {
            generation: PcieGeneration::new(generation).unwrap(),
            width: LinkWidth::new(width).unwrap(),
        }
    }

    #[test]
    fn rates_are_exact_and_rounded() {
        assert_eq!(rate(1, 4).bytes_per_s(), 1_000_000_000);
        assert_eq!(rate(2, 4).bytes_per_s(), 2_000_000_000);
        assert_eq!(rate(3, 8).bytes_per_s(), 7_876_923_080);
        assert_eq!(rate(5, 1).bytes_per_s(), 3_938_461_540);
        assert_eq!(rate(3, 8).rounded_bytes_per_s(), 8_000_000_000);
        let rounded = |number| PcieGeneration::new(number).unwrap().rounded_lane_bytes_per_s();
        assert_eq!([1, 2, 3].map(rounded), [250_000_000, 500_000_000, 1_000_000_000]);
    }

    #[test]
    fn the_ends_agree_on_what_both_can_do() {
        let agreed = rate(3, 2).negotiate(rate(1, 8));
        assert_eq!(agreed, rate(1, 2));
        assert_eq!(rate(3, 1).slower(rate(1, 2)), rate(1, 2));
        assert!(PcieGeneration::new(0).unwrap_err().contains("1 to 5"));
        assert!(PcieGeneration::new(6).is_err() && LinkWidth::new(3).is_err());
        assert!(LinkWidth::new(64).unwrap_err().contains("32"));
    }
}
