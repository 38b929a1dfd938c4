//! Quantities with units, as written in a scenario.

use crate::time::Ps;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use std::fmt;

/// Delay of a cable: 5 ns per metre.
pub const PS_PER_METRE: f64 = 5_000.0;

/// A time in ps, written "10us". Units: ps, ns, us, ms, s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub Ps);

/// A rate in bit/s, written "6.25G". Units: none, k, M, G.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BitRate(pub u64);

/// A number of bytes, written "64KiB" or as a number. Units: none, B, kB, MB, GB, KiB, MiB, GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// Delay of a cable in ps, written as its length "5m" (5 ns per metre) or as a time "25ns".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cable(pub Ps);

/// A share, written 0.25 or "25%".
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);

/// A probability, written 1e-6 or "1e-6".
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(pub f64);

const TIMES: &[(&str, f64)] = &[("ps", 1.0), ("ns", 1e3), ("us", 1e6), ("ms", 1e9), ("s", 1e12)];
const RATES: &[(&str, f64)] = &[("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)];
const SIZES: &[(&str, f64)] = &[
    ("", 1.0),
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];
const CABLES: &[(&str, f64)] =
    &[("m", PS_PER_METRE), ("ps", 1.0), ("ns", 1e3), ("us", 1e6), ("ms", 1e9)];
const SHARES: &[(&str, f64)] = &[("", 1.0), ("%", 0.01)];
const PROBABILITIES: &[(&str, f64)] = &[("", 1.0)];

/// Larger whole numbers are not exact as a double.
const MOST: f64 = 9e15;

/// Parses a number with one of the units.
fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    // Takes the longest prefix that is a number, because an exponent contains a letter.
    let split = text
        .char_indices()
        .map(|(at, c)| at + c.len_utf8())
        .rev()
        .find(|&end| text.get(..end).is_some_and(|number| number.parse::<f64>().is_ok()))?;
    let (number, unit) = text.split_at_checked(split)?;
    let unit = unit.trim();
    let factor = units.iter().find(|(name, _)| *name == unit)?.1;
    let value = number.parse::<f64>().ok()? * factor;
    (value.is_finite() && (0.0..=MOST).contains(&value)).then_some(value)
}

/// A kind of quantity.
struct Quantity {
    what: &'static str,
    units: &'static [(&'static str, f64)],
    /// Numbers without quotes are accepted.
    plain: bool,
}

impl Visitor<'_> for Quantity {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<f64, E> {
        scaled(text, self.units).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
        if self.plain && (0.0..=MOST).contains(&value) {
            Ok(value)
        } else {
            Err(E::invalid_value(Unexpected::Float(value), &self))
        }
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
        if self.plain && (0..=MOST as i64).contains(&value) {
            Ok(value as f64)
        } else {
            Err(E::invalid_value(Unexpected::Signed(value), &self))
        }
    }
}

macro_rules! quantity {
    ($type:ident, $units:expr, $plain:expr, $what:expr, $convert:expr) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let quantity = Quantity { what: $what, units: $units, plain: $plain };
                from.deserialize_any(quantity).map($convert)
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let convert: fn(f64) -> Self = $convert;
                scaled(text, $units)
                    .map(convert)
                    .ok_or_else(|| format!("'{text}' is not {}", $what))
            }
        }
    };
}

quantity!(Time, TIMES, false, "a time such as \"10us\" (ps, ns, us, ms, s)", |value| Self(
    value.round() as Ps
));
quantity!(BitRate, RATES, true, "a rate in bit/s such as \"6.25G\" (k, M, G)", |value| Self(
    value.round() as u64
));
quantity!(
    Size,
    SIZES,
    true,
    "a number of bytes such as 256 or \"64KiB\" (B, kB, MB, GB, KiB, MiB, GiB)",
    |value| Self(value.round() as u64)
);
quantity!(
    Cable,
    CABLES,
    false,
    "a cable such as \"5m\" or \"25ns\" (m, ps, ns, us, ms)",
    |value| Self(value.round() as Ps)
);
quantity!(Share, SHARES, true, "a share such as 0.25 or \"25%\"", Self);
quantity!(Probability, PROBABILITIES, true, "a probability such as 1e-6", Self);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, scale, unit) = [(1e12, 1e12, "s"), (1e9, 1e9, "ms"), (1e6, 1e6, "us")]
            .into_iter()
            .find(|(least, ..)| self.0 as f64 >= *least)
            .unwrap_or(if self.0 >= 1000 { (0.0, 1e3, "ns") } else { (0.0, 1.0, "ps") });
        write!(f, "{} {unit}", rounded(self.0 as f64 / scale))
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scale, unit) = match self.0 {
            1_000_000_000.. => (1e9, "Gbit/s"),
            1_000_000.. => (1e6, "Mbit/s"),
            1_000.. => (1e3, "kbit/s"),
            _ => (1.0, "bit/s"),
        };
        write!(f, "{} {unit}", rounded(self.0 as f64 / scale))
    }
}

/// Rounds to three decimal places.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_units() {
        assert_eq!("10us".parse(), Ok(Time(10_000_000)));
        assert_eq!("1e-3 s".parse(), Ok(Time(1_000_000_000)));
        assert_eq!("6.25G".parse(), Ok(BitRate(6_250_000_000)));
        assert_eq!("64KiB".parse(), Ok(Size(65_536)));
        assert_eq!("5m".parse(), Ok(Cable(25_000)));
        assert_eq!("5ms".parse(), Ok(Cable(5_000_000_000)));
        assert_eq!("25%".parse(), Ok(Share(0.25)));
        assert_eq!("1e-6".parse(), Ok(Probability(1e-6)));
    }

    #[test]
    fn errors_show_a_valid_quantity() {
        for text in ["", "us", "10", "10 parsecs", "-1us", "infs", "1e99s", "1.2.3us", "NaNs"] {
            let error = text.parse::<Time>().expect_err(text);
            assert!(error.contains("such as \"10us\""), "{text}: {error}");
        }
    }

    #[test]
    fn quantities_are_printed_with_a_unit() {
        assert_eq!(Time(12_800_000).to_string(), "12.8 us");
        assert_eq!(Time(999).to_string(), "999 ps");
        assert_eq!(BitRate(6_250_000_000).to_string(), "6.25 Gbit/s");
    }
}
