//! Builds of the core: reads `model/builds.toml` and makes the libraries.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::model::{self, Model};

/// Number of digits of the hash that identifies a state of the core.
const STATE_DIGITS: usize = 16;

const TABLE: &str = include_str!("../model/builds.toml");

/// Why a build cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The build is not in the table.
    #[error("{0}: no such build; rtl/bench/model/builds.toml has: {1}")]
    Unknown(String, String),
    /// `build.sh` failed.
    #[error("rtl/bench/model/build.sh {0}: {1}")]
    Build(String, String),
    /// The library cannot be loaded.
    #[error(transparent)]
    Model(#[from] model::Error),
}

/// A build: its name, top module and parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// Name in the table.
    pub name: String,
    /// Top module.
    top: String,
    /// Parameters that differ from their defaults.
    parameters: BTreeMap<String, u32>,
}

/// Defaults of `spfe_tcp` that the bench needs to drive the core.
const DEFAULTS: [(&str, u32); 24] = [
    ("SessionCount", 16),
    ("MacRxWidth", 32),
    ("MacTxWidth", 32),
    ("UserTxWidth", 64),
    ("UserRxWidth", 64),
    ("Mtu", 1500),
    ("RxChecksum", 1),
    ("RxPacked", 1),
    ("RxEopMerge", 0),
    ("VifCount", 1),
    ("TxMemAddrBits", 16),
    ("RxFifoPackets", 64),
    ("RxReordering", 0),
    ("RxOutOfSequence", 0),
    ("TxDropIfNotEstablished", 0),
    ("TxCongestionControl", 0),
    ("TxPush", 0),
    ("StatusEvents", 0),
    ("CreditEvents", 0),
    ("InstantAck", 0),
    ("ArpServer", 1),
    ("ArpEntries", 32),
    ("ArpGratuitous", 1),
    ("IcmpServer", 1),
];

/// An entry of the table.
#[derive(Deserialize)]
struct BuildEntry {
    #[serde(default = "core")]
    top: String,
    #[serde(flatten)]
    parameters: BTreeMap<String, u32>,
}

fn core() -> String {
    "spfe_tcp".to_owned()
}

/// All builds of the table.
///
/// # Panics
/// The table, which is compiled into this program, is not valid TOML.
#[must_use]
pub fn all() -> Vec<Build> {
    let table: BTreeMap<String, BuildEntry> = toml::from_str(TABLE).expect("model/builds.toml");
    let build = |(name, BuildEntry { top, parameters })| Build { name, top, parameters };
    table.into_iter().map(build).collect()
}

/// The root directory of the project.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Identifies the sources of the core: the first 12 hexadecimal digits of a SHA-256 over the names
/// and contents of `rtl/tcp/*.sv` and `rtl/prim/*.sv`, in the order of their names.
///
/// # Errors
/// The sources cannot be read.
pub fn sources() -> Result<String, String> {
    let mut files = Vec::new();
    for directory in ["rtl/prim", "rtl/tcp"] {
        let path = root().join(directory);
        let fail = |error: std::io::Error| format!("{}: {error}", path.display());
        for entry in std::fs::read_dir(&path).map_err(fail)? {
            let file = entry.map_err(fail)?.path();
            if file.extension().is_some_and(|end| end == "sv") {
                files.push((file.file_name().map(ToOwned::to_owned), file));
            }
        }
    }
    files.sort();
    let mut sum = Sha256::new();
    for (name, file) in files {
        let bytes = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        sum.update(name.unwrap_or_default().as_encoded_bytes());
        sum.update([0]);
        sum.update(bytes);
    }
    Ok(sum.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect())
}

impl Build {
    /// Finds a build in the table.
    ///
    /// # Errors
    /// The table has no build of this name.
    pub fn named(name: &str) -> Result<Self, Error> {
        let mut builds = all();
        let names = builds.iter().map(|build| build.name.clone()).collect::<Vec<_>>().join(", ");
        let index = builds.iter().position(|build| build.name == name);
        index
            .map(|index| builds.swap_remove(index))
            .ok_or_else(|| Error::Unknown(name.to_owned(), names))
    }

    /// Value of a parameter.
    ///
    /// # Panics
    /// The bench does not know the parameter's default.
    #[must_use]
    pub fn get(&self, parameter: &str) -> u32 {
        let default =
            || DEFAULTS.iter().find(|(name, _)| *name == parameter).map(|(_, value)| *value);
        let value = self.parameters.get(parameter).copied().or_else(default);
        value.unwrap_or_else(|| panic!("the bench does not know the default of {parameter}"))
    }

    /// The parameters that differ from their defaults, as text.
    #[must_use]
    pub fn describe(&self) -> String {
        let list = self.parameters.iter().map(|(name, value)| format!("{name} = {value}"));
        list.collect::<Vec<_>>().join(", ")
    }

    /// Path of the library.
    #[must_use]
    pub fn library(&self) -> PathBuf {
        root().join("target/rtl/models").join(format!("{}.so", self.name))
    }

    /// Identifies the state of the library: the first digits of a hash over everything it was made
    /// of. Empty if the library does not exist.
    #[must_use]
    pub fn state(&self) -> String {
        let stamp = self.library().with_extension("stamp");
        let text = std::fs::read_to_string(stamp).unwrap_or_default();
        text.trim().chars().take(STATE_DIGITS).collect()
    }

    /// Makes the library if it is missing or one of its sources has changed.
    ///
    /// # Errors
    /// `build.sh` failed. The error contains its output.
    pub fn make(&self) -> Result<(), Error> {
        let parameters = self.parameters.iter().map(|(name, value)| format!("-G{name}={value}"));
        let fail = |why: String| Error::Build(self.name.clone(), why);
        let output = Command::new(root().join("rtl/bench/model/build.sh"))
            .arg(&self.name)
            .args(parameters)
            .env("SPFE_RTL_TOP", &self.top)
            .output()
            .map_err(|error| fail(error.to_string()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(fail(format!("{}\n{said}", output.status)));
        }
        Ok(())
    }

    /// Loads a new core of this build. Makes the library first if necessary.
    ///
    /// # Errors
    /// The library cannot be made or loaded.
    pub fn model(&self) -> Result<Model, Error> {
        self.make()?;
        Ok(Model::load(&self.library())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_there() {
        let sum = sources().expect("can be read");
        assert_eq!((sum.len(), Ok(sum)), (12, sources()));
    }

    #[test]
    fn the_table_can_be_read() {
        assert!(all().len() >= 10);
        let build = Build::named("ctraw").expect("is in the table");
        assert_eq!(build.get("UserRxWidth"), 32);
        assert_eq!(build.get("SessionCount"), 16);
        let error = Build::named("none").expect_err("is not in the table").to_string();
        assert!(error.contains("ctraw") && error.contains("none: no such build"), "{error}");
    }
}
