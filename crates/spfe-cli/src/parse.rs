//! Parsers of option values: sizes, times, numbers, message data. Every error names the value.

use spfe_host::topology::units;
use std::ops::RangeInclusive;
use std::time::Duration;

pub use units::size;

/// Limit of a packet or buffer, bytes.
pub const PACKET_MAX: u64 = spfe_contract::PACKET_MAX_BYTES;
/// Limit of packets in a group: four groups fit the longest queue.
pub const GROUP_MAX: u64 = (1 << spfe_contract::RING_LOG2_MAX) / 4;

/// A size of a packet: 1 byte to 1 GiB.
pub fn packet(text: &str) -> Result<usize, String> {
    limited("packet", size(text)?, 1..=PACKET_MAX).map(|bytes| bytes as usize)
}

/// A number of packets in a group.
pub fn group(text: &str) -> Result<usize, String> {
    let count = unsigned(text).ok_or_else(|| format!("'{text}' is no number of packets"))?;
    limited("group", count, 1..=GROUP_MAX).map(|count| count as usize)
}

/// A time: `250ms`, `50us`, `10s`; without unit in seconds.
pub fn time(text: &str) -> Result<Duration, String> {
    let ps = units::time_ps(text)?;
    Ok(Duration::from_nanos(ps.div_ceil(1000)))
}

/// A rate in 1/s: above 0, at most a million.
pub fn hertz(text: &str) -> Result<f64, String> {
    let bad = || format!("'{text}' is no rate per second over 0, at most 1000000");
    decimal(text).filter(|rate| *rate > 0.0 && *rate <= 1e6).ok_or_else(bad)
}

/// A small number within limits, decimal or with `0x`.
pub fn within(what: &str, text: &str, range: RangeInclusive<u8>) -> Result<u8, String> {
    let value = byte(text).ok().filter(|value| range.contains(value));
    let (least, most) = (range.start(), range.end());
    value.ok_or_else(|| format!("{what} '{text}': {least} to {most} allowed"))
}

/// A byte: `32` or `0x20`.
pub fn byte(text: &str) -> Result<u8, String> {
    let value = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if digits.bytes().all(|c| c.is_ascii_hexdigit()) => {
            u8::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None => unsigned(text).and_then(|value| u8::try_from(value).ok()),
    };
    value.ok_or_else(|| format!("'{text}' is no number from 0 to 255 (or 0x00 to 0xff)"))
}

/// The eight bytes of a broadcast message: `0x` and up to 16 hexadecimal digits, or up to 8 bytes
/// of text, padded with zeros.
pub fn data(text: &str) -> Result<[u8; 8], String> {
    let mut data = [0u8; 8];
    let Some(digits) = text.strip_prefix("0x") else {
        let length = text.len();
        let place = data.get_mut(..length);
        let place =
            place.ok_or_else(|| format!("'{text}' has {length} bytes, at most 8 allowed"))?;
        place.copy_from_slice(text.as_bytes());
        return Ok(data);
    };
    let bad = |what: &str| format!("'{text}' {what}: 0x and 2 to 16 hexadecimal digits, in pairs");
    if digits.is_empty() || !digits.len().is_multiple_of(2) {
        return Err(bad("has no whole number of bytes"));
    }
    if digits.len() > 16 {
        return Err(bad("has more than 8 bytes"));
    }
    for (byte, pair) in data.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let nibble = |c: u8| char::from(c).to_digit(16);
        let value =
            nibble(pair[0]).zip(nibble(pair[1])).ok_or_else(|| bad("is not hexadecimal"))?;
        *byte = (value.0 << 4 | value.1) as u8;
    }
    Ok(data)
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A decimal number without sign or blanks.
fn unsigned(text: &str) -> Option<u64> {
    text.bytes().all(|c| c.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// A decimal number with at most one decimal point.
fn decimal(text: &str) -> Option<f64> {
    let allowed = text.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    allowed.then(|| text.parse().ok()).flatten()
}

fn limited(what: &str, value: u64, range: RangeInclusive<u64>) -> Result<u64, String> {
    if range.contains(&value) {
        return Ok(value);
    }
    Err(format!("{what} of {value}: {} to {} allowed", range.start(), range.end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packets_and_groups_have_limits() {
        assert_eq!((packet("1G"), group("8192")), (Ok(1 << 30), Ok(8192)));
        assert!(packet("0").unwrap_err().contains("1 to 1073741824 allowed"));
        assert!(packet("2G").unwrap_err().contains("packet of 2147483648"));
        assert!(group("0").unwrap_err().contains("1 to 8192 allowed"));
        assert!(group("x").unwrap_err().contains("no number of packets"));
    }

    #[test]
    fn times_are_in_seconds_or_have_a_unit() {
        assert_eq!(time("2"), Ok(Duration::from_secs(2)));
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(time("1ps"), Ok(Duration::from_nanos(1)), "only 0 is no time at all");
        assert!(time("soon").unwrap_err().contains("not a time such as"));
        assert_eq!(hertz("0.5"), Ok(0.5));
        for text in ["0", "", "-2", "1000001", "NaN"] {
            assert!(hertz(text).is_err(), "{text}");
        }
    }

    #[test]
    fn message_data_are_hexadecimal_or_text() {
        assert_eq!(data("0x0102"), Ok([1, 2, 0, 0, 0, 0, 0, 0]));
        assert_eq!(data("hello"), Ok(*b"hello\0\0\0"));
        assert_eq!(data(""), Ok([0; 8]));
        for text in ["0x", "0x1", "0xgg", "0x+1", "0x010203040506070809"] {
            assert!(data(text).unwrap_err().contains("2 to 16 hexadecimal"), "{text}");
        }
        assert!(data("nine bytes").unwrap_err().contains("10 bytes, at most 8"));
        assert_eq!((byte("0x20"), byte("255")), (Ok(32), Ok(255)));
        for text in ["", "256", "0x100", "0x", "-1", "0x+1"] {
            assert!(byte(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn anything_is_survived(text in any::<String>()) {
            let _ = (size(&text), packet(&text), group(&text), time(&text));
            let _ = (hertz(&text), byte(&text), data(&text));
        }

        #[test]
        fn every_number_is_read_back(value in 0u64..1 << 53, large in 0u64..1 << 20) {
            prop_assert_eq!(size(&value.to_string()), Ok(value));
            prop_assert_eq!(size(&format!("{large}G")), Ok(large << 30));
        }

        #[test]
        fn every_message_is_read_back(bytes in any::<[u8; 8]>()) {
            prop_assert_eq!(data(&format!("0x{}", hex(&bytes))), Ok(bytes));
        }

        #[test]
        fn times_come_back(micros in 0u64..1 << 43) {
            let time = time(&format!("{micros}us")).unwrap();
            prop_assert!(time.abs_diff(Duration::from_micros(micros)) < Duration::from_micros(1));
        }
    }
}
