//! The RMAP instrument: memory behind a target, and its text form.

use crate::units::size;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Bytes of a word. Accesses to a single address use whole words.
pub const WORD_BYTES: usize = 4;
/// Maximum size of the memory in bytes.
const BYTES_MAX: u64 = 1 << 32;
const BYTES_DEFAULT: u64 = 1 << 20;
/// Greatest RMAP address: 40 bits, the extended address on top.
pub const RMAP_ADDRESS_MAX: u64 = (1 << 40) - 1;
/// Default logical address of a target (ECSS-E-ST-50-52C).
pub const RMAP_LOGICAL_ADDRESS: u8 = 254;

/// Commands that a target allows. Others get status 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allow {
    /// Read commands.
    pub read: bool,
    /// Write commands.
    pub write: bool,
    /// Read-modify-write commands.
    pub modify: bool,
}

impl Allow {
    /// All commands.
    pub const ALL: Self = Self { read: true, write: true, modify: true };
}

impl FromStr for Allow {
    type Err = String;

    /// Any of the letters `r` (read), `w` (write), `m` (read-modify-write).
    fn from_str(text: &str) -> Result<Self, String> {
        let mut allow = Self { read: false, write: false, modify: false };
        for letter in text.chars() {
            *match letter {
                'r' => &mut allow.read,
                'w' => &mut allow.write,
                'm' => &mut allow.modify,
                _ => return Err(format!("allow '{text}': some of r, w, m allowed")),
            } = true;
        }
        Ok(allow)
    }
}

impl fmt::Display for Allow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = [(self.read, "r"), (self.write, "w"), (self.modify, "m")];
        letters.iter().filter(|(on, _)| *on).try_for_each(|(_, letter)| f.write_str(letter))
    }
}

/// Memory behind an RMAP target.
///
/// ```
/// use spfe_topology::RmapUnit;
/// let unit: RmapUnit = "64K:base=0x40000000:key=0x20:logical=0x42:allow=rw".parse()?;
/// assert_eq!((unit.bytes, unit.base, unit.key), (65536, 0x4000_0000, Some(0x20)));
/// assert_eq!("1M".parse::<RmapUnit>()?, RmapUnit::default());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RmapUnit {
    /// Size in bytes, 1 to 4 GiB.
    pub bytes: u64,
    /// Address of the first byte, 40 bits, the extended address on top.
    pub base: u64,
    /// Key that commands need; `None` accepts any key.
    pub key: Option<u8>,
    /// Logical address of the target.
    pub logical_address: u8,
    /// Commands that it allows.
    pub allow: Allow,
}

impl Default for RmapUnit {
    fn default() -> Self {
        Self {
            bytes: BYTES_DEFAULT,
            base: 0,
            key: None,
            logical_address: RMAP_LOGICAL_ADDRESS,
            allow: Allow::ALL,
        }
    }
}

impl RmapUnit {
    /// Checks size, address range and logical address.
    ///
    /// # Errors
    /// A sentence that names the object, the value and the limit.
    pub fn check(&self) -> Result<(), String> {
        if self.bytes == 0 || self.bytes > BYTES_MAX {
            return Err(format!("RMAP memory of {} bytes: 1 to 4G allowed", self.bytes));
        }
        if self.base > RMAP_ADDRESS_MAX || self.base + self.bytes - 1 > RMAP_ADDRESS_MAX {
            let (base, bytes) = (self.base, self.bytes);
            return Err(format!(
                "RMAP memory of {bytes} bytes at {base:#x}: it ends at {RMAP_ADDRESS_MAX:#x} at most"
            ));
        }
        if self.logical_address < 32 || self.logical_address == 255 {
            let address = self.logical_address;
            return Err(format!("logical address {address}: 32 to 254 allowed"));
        }
        Ok(())
    }
}

impl FromStr for RmapUnit {
    type Err = String;

    /// `[BYTES][:base=ADDRESS][:key=KEY][:logical=ADDRESS][:allow=rwm]`; numbers are decimal or
    /// start with `0x`, bytes are a size such as 64K.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut unit = Self::default();
        let mut parts = text.split(':');
        if let Some(bytes) = parts.next().filter(|bytes| !bytes.is_empty()) {
            unit.bytes = size(bytes).map_err(|what| format!("RMAP memory: {what}"))?;
        }
        for part in parts {
            let bad = || {
                format!(
                    "RMAP target '{part}': base=ADDRESS, key=KEY, logical=ADDRESS or allow=rwm, \
                     numbers as 32 or 0x20"
                )
            };
            let (name, value) = part.split_once('=').ok_or_else(bad)?;
            match name {
                "base" => unit.base = number(value).ok_or_else(bad)?,
                "key" => unit.key = Some(byte(value).ok_or_else(bad)?),
                "logical" => unit.logical_address = byte(value).ok_or_else(bad)?,
                "allow" => unit.allow = value.parse()?,
                _ => return Err(bad()),
            }
        }
        unit.check()?;
        Ok(unit)
    }
}

impl fmt::Display for RmapUnit {
    /// A description for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, base, logical_address, allow, .. } = self;
        write!(f, "RMAP target {logical_address:#04x} with {bytes} bytes at {base:#x}, {allow}")?;
        match self.key {
            Some(key) => write!(f, ", key {key:#04x}"),
            None => Ok(()),
        }
    }
}

fn number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    if digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

fn byte(text: &str) -> Option<u8> {
    number(text).and_then(|value| u8::try_from(value).ok())
}
