//! Parsers of `spfe link` values: items, shares of a link, time-slots. Every error names the value.

use spfe::{Error, MibName};

/// Number of time-slots in a schedule.
const SLOTS: u32 = 64;

/// Parses an item with its value, such as `LaneStart[0]=1`.
pub fn setting(text: &str) -> Result<(MibName, u64), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("'{text}' is no NAME=VALUE such as LaneStart[0]=1"))?;
    let name = name.trim().parse().map_err(|error: Error| error.to_string())?;
    Ok((name, number(value)?))
}

/// Parses a number: `42` or `0x2a`.
pub fn number(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let value = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let digits = text.starts_with(|c: char| c.is_ascii_digit());
    value.filter(|_| digits).ok_or_else(|| format!("'{text}' is no number such as 42 or 0x2a"))
}

/// Parses a share of the link in 65536ths: a number, or a percentage.
pub fn share(text: &str) -> Result<u64, String> {
    let Some(percent) = text.strip_suffix('%') else { return number(text) };
    let bad = || format!("'{text}' is no percentage from 0% to 100%");
    let percent = percent.parse::<f64>().map_err(|_| bad())?;
    if !(0.0..=100.0).contains(&percent) {
        return Err(bad());
    }
    // The field has 16 bits: 100 % is 65535.
    Ok(((percent * 655.36).round() as u64).min(65535))
}

/// Parses a mask of time-slots: `all`, `none`, a mask with 0x, or slots such as `0-15,32`.
pub fn slots(text: &str) -> Result<u64, String> {
    match text {
        "all" => return Ok(u64::MAX),
        "none" => return Ok(0),
        _ if text.starts_with("0x") => return number(text),
        _ => {}
    }
    let bad =
        || format!("'{text}' is none of all, none, a mask such as 0xff, slots such as 0-15,32");
    let slot = |text: &str| {
        let slot = text.trim().parse::<u32>().map_err(|_| bad())?;
        if slot < SLOTS {
            Ok(slot)
        } else {
            Err(format!("slot {slot}: 0 to {} allowed", SLOTS - 1))
        }
    };
    text.split(',').try_fold(0, |mask, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (slot(first)?, slot(last)?);
        if first > last {
            return Err(bad());
        }
        Ok((first..=last).fold(mask, |mask, slot| mask | 1 << slot))
    })
}

/// The time-slots of a mask as text.
pub fn slots_text(mask: u64) -> String {
    match mask {
        0 => return "none".to_owned(),
        u64::MAX => return "all".to_owned(),
        _ => {}
    }
    let (mut parts, mut slot) = (Vec::new(), 0);
    while slot < SLOTS {
        if mask >> slot & 1 == 0 {
            slot += 1;
            continue;
        }
        let count = (mask >> slot).trailing_ones();
        let last = slot + count - 1;
        parts.push(if count == 1 { slot.to_string() } else { format!("{slot}-{last}") });
        slot = last + 1;
    }
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use spfe::MibItem;

    #[test]
    fn items_are_understood() {
        for (text, item, index, value) in [
            ("LaneStart[1]=0", MibItem::LaneStart, 1, 0),
            ("priority.3=2", MibItem::Priority, 3, 2),
            ("time-slots.31 = 0xff", MibItem::TimeSlots, 31, 255),
            ("Link Reset=1", MibItem::LinkReset, 0, 1),
        ] {
            assert_eq!(setting(text).unwrap(), (MibName { item, index }, value), "{text}");
        }
        for (text, part) in [
            ("", "NAME=VALUE"),
            ("priority.3", "NAME=VALUE"),
            ("color=1", "no parameter"),
            ("priority=1", "which virtual channel"),
            ("priority.3=x", "'x' is no number"),
            ("priority.3=+1", "'+1' is no number"),
            ("priority.3=", "is no number"),
        ] {
            let error = setting(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn shares_are_parts_of_65536() {
        for (text, value) in
            [("0%", 0), ("25%", 16384), ("100%", 65535), ("6554", 6554), ("0x10", 16)]
        {
            assert_eq!(share(text), Ok(value), "{text}");
        }
        for text in ["", "%", "101%", "-1%", "NaN%", "a quarter"] {
            assert!(share(text).unwrap_err().contains(text), "{text}");
        }
    }

    #[test]
    fn slots_are_masks() {
        for (text, mask) in [
            ("all", u64::MAX),
            ("none", 0),
            ("0xff", 255),
            ("5", 32),
            ("0-3,8,62-63", 0xc000_0000_0000_010f),
        ] {
            assert_eq!(slots(text), Ok(mask), "{text}");
            assert_eq!(slots(&slots_text(mask)), Ok(mask), "{text}");
        }
        assert_eq!(slots_text(0xc000_0000_0000_010f), "0-3,8,62-63");
        for (text, part) in
            [("", "none of all"), ("64", "0 to 63"), ("5-3", "none of all"), ("0x", "no number")]
        {
            assert!(slots(text).unwrap_err().contains(part), "{text}");
        }
    }
}
