//! `spfe completions`: what a shell needs to complete the command line.

use crate::cli::Cli;
use crate::error::Failure;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io::{self, Write};

/// Print completions for a shell.
#[derive(Clone, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Prints completions.
pub fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "spfe", &mut script);
    let written = io::stdout().write_all(&script);
    written.map_err(|error| Failure::io("standard output", &error))
}
