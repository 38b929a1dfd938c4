//! Numbers and sizes as text. Values that are not finite become [`NONE`].

/// Shown where there is no number.
pub(crate) const NONE: &str = "-";

/// Formats a value with `decimals` places, or in scientific form from 10^12 on.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    if value.abs() >= 1e12 {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.decimals$}");
    let zero = text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.');
    if zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// Like [`fixed`], with [`NONE`] for a missing value.
pub(crate) fn optional(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| NONE.to_owned(), |value| fixed(value, decimals))
}

/// `mean (worst)`, or the mean alone.
pub(crate) fn with_worst(mean: f64, worst: Option<f64>, decimals: usize) -> String {
    match worst.filter(|worst| worst.is_finite()) {
        Some(worst) => format!("{} ({})", fixed(mean, decimals), fixed(worst, decimals)),
        None => fixed(mean, decimals),
    }
}

/// Formats a value with four significant digits.
pub(crate) fn significant(value: f64) -> String {
    let digits = value.abs().log10().floor();
    let decimals = if digits.is_finite() { (3.0 - digits).clamp(0.0, 9.0) } else { 2.0 };
    fixed(value, decimals as usize)
}

/// The unit of rates of this magnitude, and how many of it are 1 Gbit/s.
pub(crate) fn rate_unit(gbps: f64) -> (&'static str, f64) {
    match gbps {
        gbps if gbps < 1e-3 && gbps > 0.0 => ("kbit/s", 1e6),
        gbps if gbps < 1.0 && gbps > 0.0 => ("Mbit/s", 1e3),
        _ => ("Gbit/s", 1.0),
    }
}

/// A rate with the unit of its magnitude: `22.92 Gbit/s`, `158.9 Mbit/s`.
pub(crate) fn rate(gbps: f64) -> String {
    let (unit, scale) = rate_unit(gbps);
    format!("{} {unit}", significant(gbps * scale))
}

/// Formats a value with about three significant digits.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        magnitude if magnitude >= 100.0 => fixed(value, 0),
        magnitude if magnitude >= 10.0 => fixed(value, 1),
        _ => fixed(value, 2),
    }
}

/// Formats a value with four significant digits.
pub(crate) fn four(value: f64) -> String {
    match value.abs() {
        magnitude if magnitude >= 1000.0 => fixed(value, 0),
        magnitude if magnitude >= 100.0 => fixed(value, 1),
        magnitude if magnitude >= 10.0 => fixed(value, 2),
        _ => fixed(value, 3),
    }
}

/// A packet size with its unit: `64 B`, `1.5 KB`, `2 MB`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..=0xf_ffff => format!("{} KB", trimmed(bytes as f64 / 1024.0)),
        _ => format!("{} MB", trimmed(bytes as f64 / 1_048_576.0)),
    }
}

/// Formats a time with the largest unit in which it is at least 1.
pub(crate) fn time_ns(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        magnitude if magnitude >= 1e9 => (ns / 1e9, "s"),
        magnitude if magnitude >= 1e6 => (ns / 1e6, "ms"),
        magnitude if magnitude >= 1e3 => (ns / 1e3, "µs"),
        _ => (ns, "ns"),
    };
    format!("{} {unit}", trimmed(value))
}

/// Formats a value with at most two decimals, without trailing zeros.
pub(crate) fn trimmed(value: f64) -> String {
    let text = fixed(value, 2);
    if text.contains('e') || !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_never_show_as_nan_or_minus_zero() {
        assert_eq!(fixed(f64::NAN, 2), "-");
        assert_eq!(fixed(f64::NEG_INFINITY, 2), "-");
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(fixed(-1.0, 1), "-1.0");
        assert_eq!(fixed(1.5e300, 2), "1.50e300");
        assert_eq!(with_worst(2.0, Some(1.5), 2), "2.00 (1.50)");
        assert_eq!(with_worst(2.0, Some(f64::NAN), 1), "2.0");
        assert_eq!(
            (short(0.456), short(45.6), short(4567.8)),
            ("0.46".into(), "45.6".into(), "4568".into())
        );
    }

    #[test]
    fn rates_have_four_digits_and_a_fitting_unit() {
        assert_eq!(
            (rate(22.921), rate(0.1589), rate(0.0)),
            ("22.92 Gbit/s".into(), "158.9 Mbit/s".into(), "0.00 Gbit/s".into())
        );
        assert_eq!((rate(1.0), rate(0.000_123_46)), ("1.000 Gbit/s".into(), "123.5 kbit/s".into()));
        assert_eq!((significant(f64::NAN), significant(97_531.0)), ("-".into(), "97531".into()));
    }

    #[test]
    fn sizes_and_times_have_fitting_units() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1024), "1 KB");
        assert_eq!(size(1536), "1.5 KB");
        assert_eq!(size(1 << 20), "1 MB");
        assert_eq!(size(u64::MAX), "1.76e13 MB");
        assert_eq!((time_ns(100.0), time_ns(1500.0)), ("100 ns".into(), "1.5 µs".into()));
        assert_eq!(time_ns(2e9), "2 s");
    }
}
