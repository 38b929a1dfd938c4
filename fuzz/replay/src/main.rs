//! Runs the kept inputs of `seeds/` through the targets, with any compiler.
//!
//!     replay [TARGET...]      all targets, or these
//!     replay TARGET FILE...   these inputs
//!
//! Prints a line of TAP for each target. A target without inputs, or an input that is none, fails.

use spfe_fuzz::TARGETS;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The kept inputs of a target, by name.
fn seeds(target: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds").join(target);
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// Runs inputs, and returns how many there were or what is wrong.
fn replay(fuzz: fn(&[u8]) -> bool, files: &[PathBuf]) -> Result<usize, String> {
    for file in files {
        let data = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        match catch_unwind(AssertUnwindSafe(|| fuzz(&data))) {
            Ok(true) => {}
            Ok(false) => return Err(format!("{}: no input of this target", file.display())),
            Err(_) => return Err(format!("{}: the target failed", file.display())),
        }
    }
    if files.is_empty() { Err("no kept input".to_owned()) } else { Ok(files.len()) }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let known = |word: &String| TARGETS.iter().any(|(name, _)| name == word);
    let files: Vec<PathBuf> = words.iter().filter(|word| !known(word)).map(PathBuf::from).collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    let targets: Vec<_> = TARGETS.iter().filter(|(name, _)| wanted(name)).collect();
    if targets.is_empty() || (!files.is_empty() && targets.len() > 1) {
        eprintln!("replay: name one target and its inputs, or targets only");
        return ExitCode::from(2);
    }
    println!("1..{}", targets.len());
    let mut failed = false;
    for (number, (name, fuzz)) in (1..).zip(targets) {
        let files = if files.is_empty() { seeds(name) } else { files.clone() };
        match replay(*fuzz, &files) {
            Ok(count) => println!("ok {number} - {name}: {count} inputs"),
            Err(why) => {
                failed = true;
                println!("not ok {number} - {name}: {why}");
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
