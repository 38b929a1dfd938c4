//! `spfe completions`: shell completions.

use crate::error::Failure;
use clap::{Args, Command};
use clap_complete::Shell;

/// Print completions for a shell.
#[derive(Clone, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Prints completions of `command`.
pub fn run(args: &CompletionsArgs, command: &mut Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "spfe", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
    Ok(())
}
