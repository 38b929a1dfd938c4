//! The builds of the core: `model/builds.toml`, and making them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::model::{self, Model};

/// Digits of the hash that tells one state of the core from another.
const STATE_DIGITS: usize = 16;

const TABLE: &str = include_str!("../model/builds.toml");

/// What is wrong with a build.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not in the table.
    #[error("{0}: no such build; rtl/bench/model/builds.toml has: {1}")]
    Unknown(String, String),
    /// `build.sh` has failed.
    #[error("rtl/bench/model/build.sh {0}: {1}")]
    Build(String, String),
    /// The library cannot be used.
    #[error(transparent)]
    Model(#[from] model::Error),
}

/// A build: its name, top module and parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// Name.
    pub name: String,
    /// Top module.
    top: String,
    /// Parameters other than the defaults.
    parameters: BTreeMap<String, u32>,
}

/// Defaults of `spfe_tcp` that the bench has to know to drive it.
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
    ("RxFifoPackets", 3),
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

/// A build in the table.
#[derive(Deserialize)]
struct Row {
    #[serde(default = "core")]
    top: String,
    #[serde(flatten)]
    parameters: BTreeMap<String, u32>,
}

fn core() -> String {
    "spfe_tcp".to_owned()
}

/// All builds.
///
/// # Panics
/// The table, which is part of this program, is not TOML.
#[must_use]
pub fn all() -> Vec<Build> {
    let table: BTreeMap<String, Row> = toml::from_str(TABLE).expect("model/builds.toml");
    let build = |(name, Row { top, parameters })| Build { name, top, parameters };
    table.into_iter().map(build).collect()
}

/// The directory of the project.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the core is made of: the first 12 hexadecimal digits of a SHA-256 over the names and contents of
/// `rtl/tcp/*.sv` and `rtl/prim/*.sv`, in the order of their names.
///
/// # Errors
/// They cannot be read.
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
    /// A build of the table.
    ///
    /// # Errors
    /// It has none of this name.
    pub fn named(name: &str) -> Result<Self, Error> {
        let mut builds = all();
        let names = builds.iter().map(|build| build.name.clone()).collect::<Vec<_>>().join(", ");
        let index = builds.iter().position(|build| build.name == name);
        index
            .map(|index| builds.swap_remove(index))
            .ok_or_else(|| Error::Unknown(name.to_owned(), names))
    }

    /// Value of a parameter the bench knows the default of.
    ///
    /// # Panics
    /// It does not.
    #[must_use]
    pub fn get(&self, parameter: &str) -> u32 {
        let default =
            || DEFAULTS.iter().find(|(name, _)| *name == parameter).map(|(_, value)| *value);
        let value = self.parameters.get(parameter).copied().or_else(default);
        value.unwrap_or_else(|| panic!("the bench does not know the default of {parameter}"))
    }

    /// Parameters other than the defaults, as text.
    #[must_use]
    pub fn describe(&self) -> String {
        let list = self.parameters.iter().map(|(name, value)| format!("{name} = {value}"));
        list.collect::<Vec<_>>().join(", ")
    }

    /// The library.
    #[must_use]
    pub fn library(&self) -> PathBuf {
        root().join("target/rtl/models").join(format!("{}.so", self.name))
    }

    /// Which core the library is: the first digits of a hash of all it is made of. Empty if it has
    /// not been made.
    #[must_use]
    pub fn state(&self) -> String {
        let stamp = self.library().with_extension("stamp");
        let text = std::fs::read_to_string(stamp).unwrap_or_default();
        text.trim().chars().take(STATE_DIGITS).collect()
    }

    /// Makes the library, if it is missing or something it is made of has changed.
    ///
    /// # Errors
    /// `build.sh` has failed; what it said is in the error.
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

    /// A new core of this build, which is made first if it has to be.
    ///
    /// # Errors
    /// It cannot be made or loaded.
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
