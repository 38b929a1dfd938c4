//! Runs a directory of scripts and records the results.

use super::endpoint::Endpoint;
use super::run::{Outcome, run};
use super::script::{Script, parse};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Points of conformance, C1 to C30. Each has a script.
pub const POINTS: u32 = 30;

/// Maximum number of scripts in a directory.
const MAX_SCRIPTS: usize = 1000;

/// Result of a script.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct ScriptResult {
    /// Point of conformance, C1 to C30.
    pub point: String,
    /// Name of the file without extension.
    pub script: String,
    /// Title of the script.
    pub title: String,
    /// Clauses that the script tests.
    pub clause: String,
    /// `passed`, `skipped` or `failed`.
    pub result: String,
    /// Reason of the skip, or line and reason of the failure.
    pub detail: String,
}

/// A run of all scripts (`conformance.json`).
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct ScriptRecord {
    /// Name of the tested endpoint.
    pub endpoint: String,
    /// State of the core ([`crate::builds::Build::state`]), empty for the reference.
    #[serde(default)]
    pub core: String,
    /// Number of passed scripts.
    pub passed: usize,
    /// Number of skipped scripts.
    pub skipped: usize,
    /// Number of failed scripts.
    pub failed: usize,
    /// Results of the scripts.
    pub rows: Vec<ScriptResult>,
}

/// Reads all scripts (`*.drill`) of a directory in the order of their names.
///
/// # Errors
/// Returns the first file that cannot be read or parsed.
pub fn load(dir: &Path) -> Result<Vec<(String, Script)>, String> {
    let entries = std::fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut paths: Vec<_> = entries
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "drill"))
        .collect();
    paths.sort();
    if paths.is_empty() || paths.len() > MAX_SCRIPTS {
        return Err(format!("{}: {} scripts; 1 to {MAX_SCRIPTS}", dir.display(), paths.len()));
    }
    let mut scripts = Vec::new();
    for path in paths {
        let name = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        let text =
            std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let script = parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        scripts.push((name, script));
    }
    Ok(scripts)
}

/// Runs the scripts whose name contains `only`. With `verbose` it prints the packets of failed
/// scripts.
pub fn run_all(
    scripts: &[(String, Script)],
    only: &str,
    endpoint: &str,
    ep: &mut dyn Endpoint,
    verbose: bool,
) -> ScriptRecord {
    let mut record = ScriptRecord {
        endpoint: endpoint.into(),
        core: String::new(),
        passed: 0,
        skipped: 0,
        failed: 0,
        rows: Vec::new(),
    };
    for (name, script) in scripts.iter().filter(|(n, _)| n.contains(only)) {
        let (result, detail) = match run(script, ep) {
            Outcome::Passed => {
                record.passed += 1;
                ("passed", String::new())
            }
            Outcome::Skipped(why) => {
                record.skipped += 1;
                ("skipped", why)
            }
            Outcome::Failed { line, text, trace } => {
                record.failed += 1;
                if verbose {
                    println!("{name}:{line}: {text}");
                    trace.iter().for_each(|t| println!("    {t}"));
                }
                ("failed", format!("line {line}: {text}"))
            }
        };
        record.rows.push(ScriptResult {
            point: script.point.clone(),
            script: name.clone(),
            title: script.title.clone(),
            clause: script.clause.clone(),
            result: result.into(),
            detail,
        });
    }
    record
}
