//! Names of the ends of a measurement: a virtual channel of a port of a device.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The name of an end: `DEVICE`, `DEVICE:PORT` or `DEVICE:PORT.VC`.
///
/// A name of a device contains ':' and may end with a number after it. So a last part is a port only
/// if it has digits, or digits, '.' and digits, and what is before it is the name of a device; with
/// options (`virtual:?peer=generator:64`) only the form with '.' is a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndName {
    /// Device.
    pub device: String,
    /// Port.
    pub port: u32,
    /// Virtual channel.
    pub vc: u32,
}

impl FromStr for EndName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("the name of a device is missing".to_owned());
        }
        let whole = || Self { device: text.to_owned(), port: 0, vc: 0 };
        let Some((device, place)) = text.rsplit_once(':') else { return Ok(whole()) };
        let named = device.contains(':') || device.starts_with('/');
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
        let (port, vc) = match place.split_once('.') {
            Some((port, vc)) if named && digits(port) && digits(vc) => (port, vc),
            None if named && digits(place) && !device.contains('?') => (place, "0"),
            _ => return Ok(whole()),
        };
        let number = |what, part: &str| {
            part.parse().map_err(|_| format!("'{text}': {what} {part} does not exist"))
        };
        let (port, vc) = (number("port", port)?, number("virtual channel", vc)?);
        Ok(Self { device: device.to_owned(), port, vc })
    }
}

impl fmt::Display for EndName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.port, self.vc) {
            (0, 0) => f.write_str(&self.device),
            (port, vc) => write!(f, "{}:{port}.{vc}", self.device),
        }
    }
}

/// Port and virtual channel of an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    /// Port.
    pub port: u32,
    /// Virtual channel of the measured packets.
    pub vc: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_and_a_channel_follow_the_name_of_a_device() {
        for (text, device, port, vc) in [
            ("/dev/spfe0", "/dev/spfe0", 0, 0),
            ("/dev/spfe0:1", "/dev/spfe0", 1, 0),
            ("/dev/spfe0:1.3", "/dev/spfe0", 1, 3),
            ("unix:/run/spfe.sock/0:2.0", "unix:/run/spfe.sock/0", 2, 0),
            ("unix:/run/spfe.sock", "unix:/run/spfe.sock", 0, 0),
            ("virtual:", "virtual:", 0, 0),
            ("virtual::1", "virtual:", 1, 0),
            ("virtual:7", "virtual:7", 0, 0),
            ("virtual:lab/0:1.2", "virtual:lab/0", 1, 2),
            ("virtual:?link=spw:200M", "virtual:?link=spw:200M", 0, 0),
            ("virtual:?link=spw:200M:2.0", "virtual:?link=spw:200M", 2, 0),
            ("virtual:?peer=generator:64:128", "virtual:?peer=generator:64:128", 0, 0),
            ("virtual:?peer=generator:64:0.3", "virtual:?peer=generator:64", 0, 3),
            ("virtual:?link=4x7.5G", "virtual:?link=4x7.5G", 0, 0),
        ] {
            let name: EndName = text.parse().unwrap();
            assert_eq!((&*name.device, name.port, name.vc), (device, port, vc), "{text}");
            assert_eq!(name.to_string().parse(), Ok(name), "{text}");
        }
        assert!("".parse::<EndName>().is_err());
        assert!("virtual::99999999999".parse::<EndName>().unwrap_err().contains("port"));
    }
}
