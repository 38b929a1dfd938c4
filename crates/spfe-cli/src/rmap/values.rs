//! Parsers of `spfe rmap` values, and names of counters.

use crate::error::Failure;
use crate::{output, parse};
use spfe::rmap::{LENGTH_MAX, TargetCounters};
use std::fs;

/// Limit of one access, bytes.
const ACCESS_MAX: u64 = 1 << 30;

/// Parses a number: `256` or `0x100`.
pub fn number(text: &str) -> Result<u64, String> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let digits = Some(digits).filter(|digits| !digits.starts_with('+'));
    let value = digits.and_then(|digits| u64::from_str_radix(digits, radix).ok());
    value.ok_or_else(|| format!("'{text}' is no number such as 256 or 0x100"))
}

/// Parses the length of an access: `256`, `0x100`, `64K`, at most 1 GiB.
pub fn length(text: &str) -> Result<usize, String> {
    let value = number(text).or_else(|_| parse::size(text))?;
    if value > ACCESS_MAX {
        return Err(format!("length of {value}: 0 to {ACCESS_MAX} allowed"));
    }
    Ok(value as usize)
}

/// Parses the data length of one command: 1 to 16777215 bytes.
pub fn max_data(text: &str) -> Result<u32, String> {
    let value = parse::size(text)?;
    let allowed = u32::try_from(value).ok().filter(|value| (1..=LENGTH_MAX).contains(value));
    allowed.ok_or_else(|| format!("data of {value} bytes: 1 to {LENGTH_MAX} allowed"))
}

/// Parses the limit of outstanding commands: 1 to 64.
pub fn outstanding(text: &str) -> Result<usize, String> {
    let value = number(text)?;
    if !(1..=64).contains(&value) {
        return Err(format!("outstanding {value}: 1 to 64 allowed"));
    }
    Ok(value as usize)
}

/// Parses bytes in pairs of hexadecimal digits; a leading `0x` and blanks are ignored.
pub fn hex(text: &str) -> Result<Vec<u8>, Failure> {
    let bad = || {
        let shown = output::printable(text);
        Failure::usage(format!("'{shown}' is no hexadecimal digits in pairs, such as deadbeef"))
    };
    let digits: Vec<u8> =
        text.strip_prefix("0x").unwrap_or(text).bytes().filter(|c| *c != b' ').collect();
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(bad());
    }
    let nibble = |c: u8| char::from(c).to_digit(16);
    let pair = |[high, low]: &[u8; 2]| Some((nibble(*high)? << 4 | nibble(*low)?) as u8);
    pairs.iter().map(|digits| pair(digits).ok_or_else(bad)).collect()
}

/// Parses bytes in hexadecimal digits, or reads them from `@FILE`.
pub fn data(text: &str) -> Result<Vec<u8>, Failure> {
    let Some(path) = text.strip_prefix('@') else { return hex(text) };
    let what = || format!("file '{}'", output::printable(path));
    let bytes = fs::read(path).map_err(|error| Failure::io(what(), &error))?;
    if bytes.len() as u64 > ACCESS_MAX {
        let (what, bytes) = (what(), bytes.len());
        return Err(Failure::usage(format!("{what}: {bytes} bytes, at most {ACCESS_MAX}")));
    }
    Ok(bytes)
}

/// The counters of a target with their names.
pub fn counters(counters: &TargetCounters) -> [(&'static str, u64); 22] {
    [
        ("reads", counters.reads),
        ("writes", counters.writes),
        ("modifies", counters.modifies),
        ("replies", counters.replies),
        ("other_protocol", counters.other_protocol),
        ("reply_received", counters.reply_received),
        ("early_eop_in_header", counters.early_eop_in_header),
        ("early_eep_in_header", counters.early_eep_in_header),
        ("eep_after_header", counters.eep_after_header),
        ("header_crc", counters.header_crc),
        ("reserved_type", counters.reserved_type),
        ("general_error", counters.general_error),
        ("unused_type_or_code", counters.unused_type_or_code),
        ("invalid_key", counters.invalid_key),
        ("invalid_data_crc", counters.invalid_data_crc),
        ("early_eop", counters.early_eop),
        ("too_much_data", counters.too_much_data),
        ("eep", counters.eep),
        ("verify_buffer_overrun", counters.verify_buffer_overrun),
        ("not_authorised", counters.not_authorised),
        ("rmw_data_length", counters.rmw_data_length),
        ("invalid_logical_address", counters.invalid_logical_address),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_and_data() {
        assert_eq!((number("256"), number("0x100")), (Ok(256), Ok(256)));
        assert_eq!((length("64K"), length("0x10")), (Ok(65536), Ok(16)));
        assert_eq!((max_data("16777215"), outstanding("64")), (Ok(LENGTH_MAX), Ok(64)));
        for text in ["", "0x", "-1", "+1", "0x+1", "1.5", "0xfffffffffffffffff"] {
            assert!(number(text).is_err(), "{text}");
        }
        assert!(length("2G").is_err() && max_data("0").is_err() && max_data("16M").is_err());
        assert!(outstanding("0").is_err() && outstanding("65").is_err());
        assert_eq!(hex("0xDE ad").unwrap(), [0xde, 0xad]);
        assert!(hex("").unwrap().is_empty());
        for text in ["1", "0xg0", "zz", "é", "éé"] {
            assert!(hex(text).unwrap_err().what.contains("in pairs"), "{text}");
        }
        assert!(data("@/no/such/file").unwrap_err().what.contains("/no/such/file"));
    }

    proptest! {
        #[test]
        fn data_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(hex(&parse::hex(&bytes)).unwrap(), bytes);
        }

        #[test]
        fn anything_is_survived(text in any::<String>()) {
            let _ = (number(&text), length(&text), max_data(&text), outstanding(&text), hex(&text));
        }
    }
}
