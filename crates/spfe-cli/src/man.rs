//! `spfe man`: manual pages.

use crate::cli::Cli;
use crate::context::Context;
use crate::error::Failure;
use clap::{Args, CommandFactory};
use serde_json::json;
use std::path::PathBuf;

/// Write manual pages: spfe.1 and one for each command.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Directory to write to; made if it is not there.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Writes manual pages.
pub fn run(args: &ManArgs, context: &Context) -> Result<(), Failure> {
    let failed = |error| Failure::io(format!("directory '{}'", args.directory.display()), &error);
    std::fs::create_dir_all(&args.directory).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), &args.directory).map_err(failed)?;
    if context.json {
        println!("{}", json!({ "directory": args.directory }));
    }
    Ok(())
}
