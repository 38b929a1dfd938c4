//! Sizes, times and rates as text.

use spfe_topology::units::{rate, rate_text, size, size_text, time_ps, time_text};

#[test]
fn a_size_has_one_syntax() {
    for text in ["65536", "65536B", "64K", "64k", "64KiB", "64 KiB", " 64 K "] {
        assert_eq!(size(text), Ok(65536), "{text}");
    }
    for (text, bytes) in [("1m", 1 << 20), ("1.5M", 3 << 19), ("4GiB", 4 << 30), ("64kB", 64000)] {
        assert_eq!(size(text), Ok(bytes), "{text}");
    }
    // The largest number up to which all whole numbers are exact as a double.
    assert_eq!(size("9007199254740991"), Ok((1 << 53) - 1));
    for text in [
        "9007199254740992",
        "",
        "K",
        "-1",
        "+1",
        "0.3K",
        "64KB",
        "64Kb",
        "nan",
        "1e17",
        "64Ж",
        "1 K B",
    ] {
        let error = size(text).unwrap_err();
        assert!(error.contains(&format!("'{text}' is not a size such as 65536")), "{error}");
    }
}

#[test]
fn a_time_without_unit_is_in_seconds() {
    const US: u64 = 1_000_000;
    for (text, ps) in [
        ("2", 2_000_000 * US),
        ("0.25", 250_000 * US),
        ("250ms", 250_000 * US),
        ("50us", 50 * US),
        ("50 \u{b5}s", 50 * US),
        ("50\u{3bc}s", 50 * US),
        ("1e-3 s", 1000 * US),
        ("7ps", 7),
        ("0", 0),
    ] {
        assert_eq!(time_ps(text), Ok(ps), "{text}");
    }
    for text in ["", "us", "10 parsecs", "-1us", "infs", "1e99s", "1.2.3us", "NaNs", "99999999999"]
    {
        assert!(time_ps(text).unwrap_err().contains("10us, 250ms or 2 (seconds)"), "{text}");
    }
}

#[test]
fn a_rate_has_a_unit() {
    for (text, bits) in [
        ("7.5G", 7_500_000_000),
        ("7.5 Gbit/s", 7_500_000_000),
        ("200Mbps", 200_000_000),
        ("9600 bit/s", 9600),
    ] {
        assert_eq!(rate(text), Ok(bits), "{text}");
    }
    assert_eq!(rate("7.5").unwrap_err(), "rate '7.5' has no unit: 7.5G, 7.5M or 7.5k (bit/s)");
    for text in ["", "G", "-1G", "7.5T", "nanG"] {
        assert!(rate(text).unwrap_err().contains("such as 6.25G"), "{text}");
    }
}

#[test]
fn four_digits_and_a_fitting_unit() {
    for (seconds, text) in [
        (0.0, "0 ps"),
        (0.810_692_21, "810.7 ms"),
        (12.8e-6, "12.8 µs"),
        (999.99e-6, "1 ms"),
        (1e-9, "1 ns"),
        (1.5e-12, "1.5 ps"),
        (12345.6, "12350 s"),
        (f64::NAN, "-"),
    ] {
        assert_eq!(time_text(seconds), text, "{seconds}");
    }
    for (bits, text) in [
        (22_921_234_567.0, "22.92 Gbit/s"),
        (158.94e6, "158.9 Mbit/s"),
        (999_999_000.0, "1 Gbit/s"),
        (0.5, "0.5 bit/s"),
    ] {
        assert_eq!(rate_text(bits), text, "{bits}");
    }
    for (bytes, text) in [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1536, "1.5 KiB"),
        (64 << 20, "64 MiB"),
        (u64::MAX, "17180000000 GiB"),
    ] {
        assert_eq!(size_text(bytes), text);
    }
}
