//! Versions and revision of everything that took part in a measurement.

use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::builds::root;

/// `meta.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Meta {
    /// Revision of the sources, with `+` if they have changed since.
    pub revision: String,
    /// Version of the simulator.
    pub simulator: String,
    /// Version of the compiler of the models.
    pub compiler: String,
    /// Version of the compiler of the bench.
    pub rust: String,
    /// Seed of all random payload.
    pub seed: u64,
}

/// First line of a program's output.
fn say(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(root()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}

/// Collects all versions.
#[must_use]
pub fn measure() -> Meta {
    let unknown = || "unknown".to_owned();
    let changed = say("git", &["status", "--porcelain", "--untracked-files=no"]).is_some();
    let revision = say("git", &["rev-parse", "--short=12", "HEAD"])
        .map(|revision| revision + if changed { "+" } else { "" });
    let simulator = say("tools/rtl.sh", &["run", "verilator", "--version"])
        .or_else(|| say("verilator", &["--version"]));
    Meta {
        revision: revision.unwrap_or_else(unknown),
        simulator: simulator.unwrap_or_else(unknown),
        compiler: say("g++", &["--version"]).unwrap_or_else(unknown),
        rust: say("rustc", &["--version"]).unwrap_or_else(unknown),
        seed: 1,
    }
}
