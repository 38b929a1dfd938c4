//! Sizes, times and rates as text: one syntax for command lines, device names and scenario files,
//! and one form in output.
//!
//! | quantity | units | without unit |
//! | --- | --- | --- |
//! | size | B; K, KiB, M, MiB, G, GiB (factors of 1024); kB, MB, GB (factors of 1000) | bytes |
//! | time | ps, ns, us or µs, ms, s | seconds |
//! | rate | k, M, G, each also with bit/s or bps | refused |
//!
//! A blank may precede the unit, and the number may have a fraction.

/// Largest value: a time of 115 days in ps still fits 64 bits.
const MOST: f64 = 1e19;
/// Largest size. Larger whole numbers are not exact as a double.
const SIZE_MOST: f64 = 9_007_199_254_740_991.0;

const SIZES: &[(&str, f64)] = &[
    ("", 1.0),
    ("B", 1.0),
    ("K", 1024.0),
    ("k", 1024.0),
    ("KiB", 1024.0),
    ("kB", 1e3),
    ("M", 1_048_576.0),
    ("m", 1_048_576.0),
    ("MiB", 1_048_576.0),
    ("MB", 1e6),
    ("G", 1_073_741_824.0),
    ("g", 1_073_741_824.0),
    ("GiB", 1_073_741_824.0),
    ("GB", 1e9),
];
/// In picoseconds. The micro sign and the Greek letter are different characters.
const TIMES: &[(&str, f64)] = &[
    ("", 1e12),
    ("ps", 1.0),
    ("ns", 1e3),
    ("us", 1e6),
    ("\u{b5}s", 1e6),
    ("\u{3bc}s", 1e6),
    ("ms", 1e9),
    ("s", 1e12),
];
const RATES: &[(&str, f64)] =
    &[("k", 1e3), ("K", 1e3), ("M", 1e6), ("m", 1e6), ("G", 1e9), ("g", 1e9)];

/// Reads a number that is not negative, with one of the units.
pub fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    text.starts_with(|c: char| c.is_ascii_digit() || c == '.').then_some(())?;
    // Takes the longest prefix that is a number, because an exponent contains a letter.
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
    let split = |&end: &usize| text.get(..end).is_some_and(|number| number.parse::<f64>().is_ok());
    let (number, unit) = text.split_at_checked({ ends }.find(split)?)?;
    let factor = units.iter().find(|(name, _)| *name == unit.trim())?.1;
    let value = number.parse::<f64>().ok()? * factor;
    (0.0..=MOST).contains(&value).then_some(value)
}

/// Reads a number of bytes: `65536`, `64K`, `64KiB`, `64 KiB`, `1.5M`, `64kB`.
///
/// # Errors
/// What is not a whole number of bytes, with valid examples.
pub fn size(text: &str) -> Result<u64, String> {
    let bytes = scaled(text, SIZES).filter(|bytes| bytes.fract() == 0.0 && *bytes <= SIZE_MOST);
    bytes.map(|bytes| bytes as u64).ok_or_else(|| {
        format!("'{text}' is not a size such as 65536, 64K, 64KiB (factors of 1024) or 64kB (1000)")
    })
}

/// Reads a time in picoseconds: `10us`, `250 ms`, `2s`, `2`.
///
/// # Errors
/// What is not a time, with valid examples.
pub fn time_ps(text: &str) -> Result<u64, String> {
    let ps = scaled(text, TIMES).map(|ps| ps.round() as u64);
    ps.ok_or_else(|| {
        format!("'{text}' is not a time such as 10us, 250ms or 2 (seconds): ps, ns, us, ms, s")
    })
}

/// Reads a rate in bit/s: `7.5G`, `200M`, `200 Mbit/s`.
///
/// # Errors
/// What is not a rate; if only the unit is missing, with the value and its units.
pub fn rate(text: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let short = trimmed.strip_suffix("bit/s").or_else(|| trimmed.strip_suffix("bps"));
    let plain: &[(&str, f64)] = &[("", 1.0)];
    let value = scaled(short.unwrap_or(trimmed), RATES);
    let value = value.or_else(|| short.and_then(|number| scaled(number, plain)));
    value.map(|rate| rate.round() as u64).ok_or_else(|| match scaled(trimmed, plain) {
        Some(_) => {
            format!("rate '{text}' has no unit: {trimmed}G, {trimmed}M or {trimmed}k (bit/s)")
        }
        None => format!("'{text}' is not a rate such as 6.25G or 200M (bit/s: k, M, G)"),
    })
}

/// A value rounded to four significant digits, with the places after its decimal point.
fn rounded(value: f64) -> (f64, usize) {
    let places = if value == 0.0 { 0.0 } else { 3.0 - value.abs().log10().floor() };
    let scale = 10f64.powf(places.abs());
    let whole = if places < 0.0 {
        (value / scale).round() * scale
    } else {
        (value * scale).round() / scale
    };
    (whole, places.clamp(0.0, 12.0) as usize)
}

/// A value with four significant digits and the largest of the units in which it is 1 or more.
/// `units` come in descending order; the last one also takes what is smaller.
fn shown(value: f64, units: &[(f64, &str)]) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    // Round before the choice of the unit: 999.99 us are 1 ms.
    let fits = |unit: &&(f64, &str)| rounded(value / unit.0).0.abs() >= 1.0;
    let &(scale, unit) = units.iter().find(fits).or(units.last()).unwrap_or(&(1.0, ""));
    let (value, places) = rounded(value / scale);
    let text = format!("{value:.places$}");
    let text = if places > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

/// A number of bytes as text: `1 byte`, `512 bytes`, `64 KiB`, `1.5 MiB`.
pub fn size_text(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..1024 => format!("{bytes} bytes"),
        _ => {
            let units = [(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB")];
            shown(bytes as f64, &units)
        }
    }
}

/// A time in seconds as text: `810.7 ms`, `12.8 µs`.
pub fn time_text(seconds: f64) -> String {
    shown(seconds, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps")])
}

/// A rate in bit/s as text: `22.92 Gbit/s`, `158.9 Mbit/s`.
pub fn rate_text(bits_per_second: f64) -> String {
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")];
    shown(bits_per_second, &units)
}
