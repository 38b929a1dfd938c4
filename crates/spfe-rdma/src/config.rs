//! The file that describes a target-only endpoint.

use crate::region::{RegionError, RegionRights, TargetRegion};
use crate::target::{RdmaTarget, RdmaTargetOptions};
use serde::Deserialize;
use spfe_proto::DEFAULT_LOGICAL_ADDRESS;
use spfe_proto::sfrp::{PID, SEGMENT_DEFAULT, SEGMENT_MAX, SEGMENT_MIN};
use spfe_topology::units;

/// Maximum size of all regions of a target together, in bytes.
pub const MEMORY_MAX: u64 = 8 << 30;
/// Maximum number of notifications that a target keeps.
pub const NOTIFICATIONS_MAX: usize = 1 << 16;

/// Contents of the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetFile {
    /// Logical address of the endpoint.
    #[serde(default = "default_address")]
    pub logical_address: u8,
    /// Protocol identifier of SFRP, 0xf0 to 0xfe.
    #[serde(default = "default_protocol")]
    pub protocol: u8,
    /// Largest payload of a packet.
    #[serde(default = "default_segment")]
    pub segment: u32,
    /// Number of notifications that are kept; 0: none.
    #[serde(default)]
    pub notifications: usize,
    /// Vendor, as INFO tells it.
    #[serde(default)]
    pub vendor: u32,
    /// Device, as INFO tells it.
    #[serde(default)]
    pub device: u32,
    /// Serial number, as INFO tells it.
    #[serde(default)]
    pub serial: u32,
    /// RMAP on the same port.
    pub rmap: Option<RmapFile>,
    /// The regions, in order of their indices.
    #[serde(default, rename = "region")]
    pub regions: Vec<RegionFile>,
}

/// The part of the file about RMAP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RmapFile {
    /// Key that commands must have; without it any.
    pub key: Option<u8>,
    /// What the 40 bits of an address mean.
    #[serde(default)]
    pub addressing: RmapAddressing,
    /// Most bytes of a verified write, at most 16 MiB less one, the default.
    pub verify: Option<u32>,
}

/// How RMAP addresses reach regions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RmapAddressing {
    /// The extended address is the index of the region, the address an offset in it.
    #[default]
    Region,
    /// Regions lie at their base addresses.
    Absolute,
}

/// A region in the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegionFile {
    /// Name.
    pub name: String,
    /// Size, such as 4096 or "8G".
    pub size: RegionSize,
    /// Address of the first byte.
    #[serde(default)]
    pub base: u64,
    /// Any of r (READ), w (WRITE), a (atomic operations).
    #[serde(default = "default_rights")]
    pub rights: String,
    /// Lower 12 bits of the key; without it they are random.
    pub generation: Option<u32>,
    /// Logical addresses of the initiators that may use it; without it all.
    pub initiators: Option<Vec<u8>>,
    /// Operations raise a notification.
    #[serde(default)]
    pub notify: bool,
    /// REGIONS does not tell the key.
    #[serde(default)]
    pub hidden: bool,
}

/// A size as a number, or as text with a unit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum RegionSize {
    /// Bytes.
    Bytes(u64),
    /// Text such as "8G".
    Text(String),
}

fn default_address() -> u8 {
    DEFAULT_LOGICAL_ADDRESS
}

fn default_protocol() -> u8 {
    PID
}

fn default_segment() -> u32 {
    SEGMENT_DEFAULT
}

fn default_rights() -> String {
    "rwa".to_owned()
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetFileError {
    /// It is not TOML, or has unknown or missing keys.
    #[error("{0}")]
    Syntax(String),
    /// A value is out of range.
    #[error("{0}")]
    Value(String),
    /// A region cannot be added.
    #[error(transparent)]
    Region(#[from] RegionError),
}

impl TargetFile {
    /// Reads a file.
    ///
    /// # Errors
    /// The text is not TOML of this form, or a value is out of range.
    pub fn parse(text: &str) -> Result<Self, TargetFileError> {
        let file: Self =
            toml::from_str(text).map_err(|error| TargetFileError::Syntax(error.to_string()))?;
        file.check()?;
        Ok(file)
    }

    /// A target with one region of this many bytes, and RMAP.
    pub fn of_size(bytes: u64) -> Self {
        let region = RegionFile {
            name: "memory".to_owned(),
            size: RegionSize::Bytes(bytes),
            base: 0,
            rights: default_rights(),
            generation: None,
            initiators: None,
            notify: false,
            hidden: false,
        };
        Self {
            logical_address: default_address(),
            protocol: default_protocol(),
            segment: default_segment(),
            notifications: 0,
            vendor: 0,
            device: 0,
            serial: 0,
            rmap: Some(RmapFile::default()),
            regions: vec![region],
        }
    }

    /// Reads what a user names: a size such as `1M`, or the path of a file.
    ///
    /// # Errors
    /// The file cannot be read, or those of [`TargetFile::parse`]. The text names the file.
    pub fn open(name: &str) -> Result<Self, TargetFileError> {
        if let Ok(bytes) = units::size(name) {
            let file = Self::of_size(bytes);
            file.check()?;
            return Ok(file);
        }
        let named = |what: &dyn std::fmt::Display| {
            TargetFileError::Value(format!("target file '{}': {what}", name.escape_debug()))
        };
        let text = std::fs::read_to_string(name).map_err(|error| named(&error))?;
        Self::parse(&text).map_err(|error| named(&error))
    }

    /// Checks the values.
    ///
    /// # Errors
    /// One is out of range.
    pub fn check(&self) -> Result<(), TargetFileError> {
        let wrong = |what: String| Err(TargetFileError::Value(what));
        if !(0xf0..=0xfe).contains(&self.protocol) {
            return wrong(format!("protocol {:#04x}: 0xf0 to 0xfe allowed", self.protocol));
        }
        let segment = self.segment;
        if !segment.is_power_of_two() || !(SEGMENT_MIN..=SEGMENT_MAX).contains(&segment) {
            return wrong(format!(
                "segment {segment}: a power of two from {SEGMENT_MIN} to {SEGMENT_MAX} allowed"
            ));
        }
        if self.notifications > NOTIFICATIONS_MAX {
            let found = self.notifications;
            return wrong(format!("notifications {found}: at most {NOTIFICATIONS_MAX} allowed"));
        }
        let mut total = 0u64;
        for region in &self.regions {
            let name = &region.name;
            total = total.saturating_add(region.bytes()?);
            if total > MEMORY_MAX {
                return wrong(format!(
                    "region '{name}': regions of {total} bytes in all, 8G allowed"
                ));
            }
            region.rights()?;
            if region.hidden && region.generation.is_none() {
                return wrong(format!(
                    "region '{name}': hidden with a random key, which nobody could know; set \
                     generation"
                ));
            }
        }
        Ok(())
    }

    /// The target that the file describes.
    ///
    /// # Errors
    /// A region cannot be added.
    pub fn target(&self) -> Result<RdmaTarget, TargetFileError> {
        let mut target = RdmaTarget::new(RdmaTargetOptions {
            logical_address: self.logical_address,
            protocol: self.protocol,
            segment_bytes: self.segment,
            notifications: self.notifications,
            rmap: self.rmap.is_some(),
            vendor: self.vendor,
            device: self.device,
            serial: self.serial,
        });
        for file in &self.regions {
            let region = TargetRegion {
                base: file.base,
                rights: file.rights()?,
                initiators: file.initiators.clone(),
                notify: file.notify,
                hidden: file.hidden,
                ..TargetRegion::new(&file.name, file.bytes()?)
            };
            target.regions_mut().add(region, file.generation)?;
        }
        Ok(target)
    }
}

impl RegionFile {
    /// Size in bytes.
    ///
    /// # Errors
    /// It is not a size, or out of range.
    pub fn bytes(&self) -> Result<u64, TargetFileError> {
        let name = &self.name;
        let bytes = match &self.size {
            RegionSize::Bytes(bytes) => *bytes,
            RegionSize::Text(text) => units::size(text)
                .map_err(|what| TargetFileError::Value(format!("region '{name}': {what}")))?,
        };
        if !(1..=MEMORY_MAX).contains(&bytes) {
            let what = format!("region '{name}' of {bytes} bytes: 1 to 8G allowed");
            return Err(TargetFileError::Value(what));
        }
        Ok(bytes)
    }

    fn rights(&self) -> Result<RegionRights, TargetFileError> {
        let mut rights = RegionRights::default();
        for letter in self.rights.chars() {
            match letter {
                'r' => rights.read = true,
                'w' => rights.write = true,
                'a' => rights.atomic = true,
                _ => {
                    let (name, rights) = (&self.name, &self.rights);
                    let what =
                        format!("region '{name}': rights '{rights}', letters r, w, a allowed");
                    return Err(TargetFileError::Value(what));
                }
            }
        }
        Ok(rights)
    }
}
