//! Programs whose TCP connections between nodes use memory.

use super::FabricSocket;
use crate::error::Failure;
use clap::Args;
use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Name of the library.
const LIBRARY: &str = "libspfe_vxrun.so";

/// Run a program with its TCP connections between nodes in memory. `vxrun` is an alias.
///
/// The program itself need not change. Run it on a node: `spfe fabric exec 1 vxrun iperf3 -s`.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    socket: FabricSocket,
    /// Poll for so many microseconds before sleeping: faster where processors are idle.
    #[arg(long, value_name = "US", default_value_t = 0)]
    spin: u64,
    /// Connections use memory once they have carried so many bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 32768)]
    after: u64,
    /// Leave every connection to the kernel.
    #[arg(long)]
    pass_through: bool,
    /// Write what each process has moved to this file when it ends, a line of JSON each.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Runs the command; returns only if that fails.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let library = library()?;
    let [program, arguments @ ..] = &args.command[..] else {
        return Err(Failure::usage("a command is missing"));
    };
    let mut preload = library.into_os_string();
    if let Some(more) = env::var_os("LD_PRELOAD").filter(|more| !more.is_empty()) {
        preload.push(":");
        preload.push(more);
    }
    let socket = std::path::absolute(args.socket.path())
        .map_err(|error| Failure::io("path of the fabric's socket", &error))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LD_PRELOAD", preload)
        .env("VXRUN_FABRIC", socket)
        .env("VXRUN_SPIN_US", args.spin.to_string())
        .env("VXRUN_AFTER", args.after.to_string())
        .env("VXRUN_PASS", if args.pass_through { "1" } else { "0" });
    if let Some(report) = &args.report {
        let report = std::path::absolute(report)
            .map_err(|error| Failure::io(format_args!("report {}", report.display()), &error))?;
        command.env("VXRUN_REPORT", report);
    }
    let error = command.exec();
    Err(Failure::io(format_args!("command {}", OsStr::display(program)), &error))
}

/// The library: beside this program, or where packages install it.
pub fn library() -> Result<PathBuf, Failure> {
    if let Some(path) = env::var_os("VXRUN_LIBRARY") {
        return Ok(path.into());
    }
    let program = env::current_exe().map_err(|error| Failure::io("this program", &error))?;
    let beside = program.with_file_name(LIBRARY);
    let installed = program.with_file_name("../lib/spfe").join(LIBRARY);
    [beside, installed].into_iter().find(|path| path.is_file()).ok_or_else(|| {
        let what = format!("{LIBRARY}: not beside {} and not in ../lib/spfe", program.display());
        Failure::not_there(format!("{what}; build it, or name it in VXRUN_LIBRARY"))
    })
}
