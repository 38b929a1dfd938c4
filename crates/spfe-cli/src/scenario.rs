//! Scenario files, as `spfe sim` and `spfe topo` read them.

use crate::error::Failure;
use spfe_sim::scenario::Scenario;
use std::fs;
use std::io::Read;
use std::path::Path;

/// A scenario and the text of its file.
pub struct File {
    /// Text of the file.
    pub text: String,
    /// The parsed scenario.
    pub scenario: Scenario,
}

/// Reads a scenario file, `-` for standard input.
///
/// # Errors
/// A missing file or an invalid scenario. Several problems are printed on stderr, one per line.
pub fn read(path: &Path) -> Result<File, Failure> {
    let (name, text) = if path == Path::new("-") {
        let mut text = String::new();
        ("standard input".to_owned(), std::io::stdin().read_to_string(&mut text).map(|_| text))
    } else {
        (format!("'{}'", path.display()), fs::read_to_string(path))
    };
    let text = text.map_err(|error| Failure::io(format_args!("scenario {name}"), &error))?;
    let scenario = Scenario::parse(&text).map_err(|error| {
        let count = error.problems.len();
        if count > 1 {
            error.problems.iter().for_each(|problem| eprintln!("{problem}"));
        }
        let first = error.problems.first().map(ToString::to_string).unwrap_or_default();
        let more = if count > 1 { format!(" ({count} problems)") } else { String::new() };
        Failure::usage(format!("scenario {name}: {}{more}", first.replace('\n', " ")))
    })?;
    Ok(File { text, scenario })
}
