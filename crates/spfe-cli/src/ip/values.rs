//! Parsers of `spfe ip` values: interface names and addresses. Every error names the value.

use spfe_tap::NAME_MAX;
use std::net::IpAddr;

/// An IP address and its prefix length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub ip: IpAddr,
    /// Length of the prefix in bits.
    pub prefix: u8,
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.ip, self.prefix)
    }
}

/// Parses an address such as `10.0.0.1/24` or `fd00::1/64`.
pub fn address(text: &str) -> Result<Address, String> {
    let bad = || format!("'{text}' is no address and prefix such as 10.0.0.1/24 or fd00::1/64");
    let (ip, digits) = text.split_once('/').ok_or_else(bad)?;
    let ip: IpAddr = ip.parse().map_err(|_| bad())?;
    let plain = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit());
    let prefix = plain.then(|| digits.parse().ok()).flatten().ok_or_else(bad)?;
    let most = if ip.is_ipv4() { 32 } else { 128 };
    if prefix > most {
        return Err(format!("'{text}' has a prefix of {prefix} bits: 0 to {most} allowed"));
    }
    Ok(Address { ip, prefix })
}

/// Parses an Ethernet unicast address such as `02:00:00:00:00:01`.
pub fn mac(text: &str) -> Result<[u8; 6], String> {
    let bad = |what: &str| format!("'{text}' {what}: six bytes such as 02:00:00:00:00:01");
    let mut mac = [0; 6];
    let mut parts = text.split(':');
    for byte in &mut mac {
        let part = parts.next().unwrap_or_default();
        let hex = part.len() == 2 && part.bytes().all(|c| c.is_ascii_hexdigit());
        let value = hex.then(|| u8::from_str_radix(part, 16).ok()).flatten();
        *byte = value.ok_or_else(|| bad("is no Ethernet address"))?;
    }
    if parts.next().is_some() {
        return Err(bad("is no Ethernet address"));
    }
    if mac[0] & 1 != 0 || mac == [0; 6] {
        return Err(bad("is no address of one interface"));
    }
    Ok(mac)
}

/// Parses the name of an interface; the kernel replaces `%d` by a number.
pub fn name(text: &str) -> Result<String, String> {
    let allowed = text.bytes().all(|c| c.is_ascii_graphic() && c != b'/' && c != b':');
    if !text.is_empty() && text.len() <= NAME_MAX && allowed && text != "." && text != ".." {
        return Ok(text.to_owned());
    }
    Err(format!(
        "'{text}' is no name of an interface: 1 to {NAME_MAX} characters, no blank, '/' or ':'"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn addresses_have_a_prefix() {
        for text in ["10.0.0.1/24", "0.0.0.0/0", "fd00::1/64", "::1/128"] {
            assert_eq!(address(text).unwrap().to_string(), text);
        }
        for text in ["10.0.0.1", "10.0.0.1/", "10.0.0/8", "10.0.0.1/+8", "x/8", "10.0.0.1/999"] {
            assert!(address(text).unwrap_err().contains("no address and prefix"), "{text}");
        }
        assert!(address("10.0.0.1/33").unwrap_err().contains("0 to 32 allowed"));
        assert!(address("fd00::1/129").unwrap_err().contains("0 to 128 allowed"));
    }

    #[test]
    fn ethernet_addresses_are_of_one_interface() {
        assert_eq!(mac("02:00:0a:ff:00:01"), Ok([2, 0, 10, 255, 0, 1]));
        for text in ["", "02:00:00:00:00", "02:00:00:00:00:01:02", "02:0:00:00:00:01", "0x:00"] {
            assert!(mac(text).unwrap_err().contains("no Ethernet address"), "{text}");
        }
        for text in ["ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01", "00:00:00:00:00:00"] {
            assert!(mac(text).unwrap_err().contains("no address of one interface"), "{text}");
        }
    }

    #[test]
    fn names_are_what_the_kernel_takes() {
        for text in ["spfe0", "a", "spfe%d", "fifteen_letters"] {
            assert_eq!(name(text).as_deref(), Ok(text));
        }
        for text in ["", ".", "..", "a b", "a/b", "a:b", "sixteen_letters_", "é"] {
            assert!(name(text).unwrap_err().contains("no name of an interface"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn anything_is_survived(text in any::<String>()) {
            let _ = (address(&text), mac(&text), name(&text));
        }

        #[test]
        fn addresses_come_back(ip in any::<IpAddr>(), prefix in 0u8..=32) {
            let wanted = Address { ip, prefix };
            prop_assert_eq!(address(&wanted.to_string()), Ok(wanted));
        }
    }
}
