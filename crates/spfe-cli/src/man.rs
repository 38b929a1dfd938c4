//! `spfe man`: manual pages.

use crate::context::Context;
use crate::error::Failure;
use clap::{Args, Command};
use serde_json::json;
use std::path::PathBuf;

/// Write manual pages: spfe.1 and one for each command.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Directory to write to; created if it does not exist.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Writes the manual pages of `command` and its subcommands.
pub fn run(args: &ManArgs, command: Command, context: &Context) -> Result<(), Failure> {
    let failed = |error| Failure::io(format!("directory '{}'", args.directory.display()), &error);
    std::fs::create_dir_all(&args.directory).map_err(failed)?;
    clap_mangen::generate_to(command, &args.directory).map_err(failed)?;
    if context.json {
        println!("{}", json!({ "directory": args.directory }));
    }
    Ok(())
}
