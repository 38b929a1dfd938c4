//! Quantities with units, as written in a scenario. Sizes, times and rates have the syntax of
//! [`spfe_topology::units`].

use crate::time::Ps;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use spfe_topology::units::{self, scaled};
use std::fmt;

/// Delay of a cable: 5 ns per metre.
pub const PS_PER_METRE: f64 = 5_000.0;

/// A time in ps, written "10us". Units: ps, ns, us, ms, s; without unit seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub Ps);

/// A rate in bit/s, written "6.25G". Units: k, M, G.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BitRate(pub u64);

/// A number of bytes, written "64K" or "64KiB", or as a number.
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

const CABLES: &[(&str, f64)] =
    &[("m", PS_PER_METRE), ("ps", 1.0), ("ns", 1e3), ("us", 1e6), ("ms", 1e9)];
const SHARES: &[(&str, f64)] = &[("", 1.0), ("%", 0.01)];
const PROBABILITIES: &[(&str, f64)] = &[("", 1.0)];

/// Parses a quantity, or says what it should be.
type Read<T> = fn(&str) -> Result<T, String>;

/// A quantity that a scenario writes as text or as a number.
struct Quantity<T> {
    what: &'static str,
    read: Read<T>,
}

impl<T> Visitor<'_> for Quantity<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.read)(text).map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        (self.read)(&value.to_string())
            .map_err(|_| E::invalid_value(Unexpected::Float(value), &self))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        (self.read)(&value.to_string())
            .map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
    }
}

macro_rules! quantity {
    ($type:ident, $what:expr, $read:expr) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_any(Quantity { what: $what, read: str::parse::<Self> })
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let read: Read<Self> = $read;
                read(text)
            }
        }
    };
    // A quantity with units of its own.
    ($type:ident, $what:expr, $units:expr, $convert:expr) => {
        quantity!($type, $what, |text| {
            let value = scaled(text, $units).map($convert);
            value.ok_or_else(|| format!("'{text}' is not {}", $what))
        });
    };
}

quantity!(Time, "a time such as \"10us\" (ps, ns, us, ms, s)", |text| units::time_ps(text)
    .map(Self));
quantity!(BitRate, "a rate in bit/s such as \"6.25G\" (k, M, G)", |text| units::rate(text)
    .map(Self));
quantity!(Size, "a number of bytes such as 256, \"64K\" or \"64KiB\"", |text| units::size(text)
    .map(Self));
quantity!(Cable, "a cable such as \"5m\" or \"25ns\" (m, ps, ns, us, ms)", CABLES, |value| Self(
    value.round() as Ps
));
quantity!(Share, "a share such as 0.25 or \"25%\"", SHARES, Self);
quantity!(Probability, "a probability such as 1e-6", PROBABILITIES, Self);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&units::time_text(self.0 as f64 / 1e12))
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&units::rate_text(self.0 as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_units() {
        assert_eq!("10us".parse(), Ok(Time(10_000_000)));
        assert_eq!("6.25G".parse(), Ok(BitRate(6_250_000_000)));
        assert_eq!("64KiB".parse::<Size>(), "64K".parse());
        assert_eq!("5m".parse(), Ok(Cable(25_000)));
        assert_eq!("5ms".parse(), Ok(Cable(5_000_000_000)));
        assert_eq!("25%".parse(), Ok(Share(0.25)));
        assert_eq!("1e-6".parse(), Ok(Probability(1e-6)));
    }

    #[test]
    fn errors_show_a_valid_quantity() {
        for text in ["", "ns", "5", "-1m", "infm", "NaNm", "1.2.3m"] {
            let error = text.parse::<Cable>().expect_err(text);
            assert!(error.contains("such as \"5m\""), "{text}: {error}");
        }
    }

    #[test]
    fn quantities_are_printed_with_a_unit() {
        assert_eq!(Time(12_800_000).to_string(), "12.8 µs");
        assert_eq!(Time(999).to_string(), "999 ps");
        assert_eq!(BitRate(6_250_000_000).to_string(), "6.25 Gbit/s");
    }
}
