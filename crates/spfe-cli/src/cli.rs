//! The command line: global options, commands, and errors in them.

use crate::bridge::{self, BridgeArgs};
use crate::broadcast::{self, BroadcastArgs};
use crate::capture::{self, CaptureArgs};
use crate::completions::{self, CompletionsArgs};
use crate::console;
use crate::context::{Context, DeviceArg};
use crate::decode::{self, DecodeArgs};
use crate::error::{EXIT_CODES, Failure};
use crate::fabric::{self, FabricArgs};
use crate::fault::{self, FaultArgs};
use crate::info::{self, InfoArgs};
use crate::interrupt::{self, InterruptArgs};
use crate::ip::{self, IpArgs};
use crate::link::{self, LinkArgs};
use crate::list;
use crate::man::{self, ManArgs};
use crate::packet::{self, PacketArgs};
use crate::perf::{self, PerfArgs, WorkerArgs};
use crate::ping::{self, PingArgs};
use crate::rdma::{self, RdmaArgs};
use crate::recv::{self, RecvArgs};
use crate::rmap::{self, RmapArgs};
use crate::send::{self, SendArgs};
use crate::signal;
use crate::sim::{self, SimArgs};
use crate::stats::{self, StatsArgs};
use crate::timecode::{self, TimeCodeArgs};
use crate::topo::{self, TopoArgs};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

/// SpaceFibre packets, messages and measurements on the command line.
///
/// A device is virtual: (a network in this process), virtual:?peer=echo (with an instrument at the far
/// end), unix:SOCKET/N (endpoint N of the spfed that listens on SOCKET), /dev/spfeN, or rtl: (a
/// simulated core, in builds with the feature rtl).
#[derive(Clone, Debug, Parser)]
#[command(name = "spfe", version, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    /// Device to use, like DEVICE after the command [default: virtual:].
    #[arg(long, global = true, value_name = "NAME", env = "SPFE_DEVICE")]
    device: Option<String>,
    /// Print results and errors as JSON, one object per line.
    #[arg(long, global = true)]
    json: bool,
    /// Print results and errors only, no progress and no remarks.
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// List the built-in device and the daemons of this machine.
    ///
    /// Daemons are searched for at $SPFE_SOCKET, $XDG_RUNTIME_DIR/spfe.sock and /run/spfe.sock.
    List,
    Info(InfoArgs),
    Send(SendArgs),
    Recv(RecvArgs),
    Ping(PingArgs),
    #[command(subcommand)]
    Packet(PacketArgs),
    #[command(subcommand)]
    Broadcast(BroadcastArgs),
    #[command(subcommand)]
    Timecode(TimeCodeArgs),
    #[command(subcommand)]
    Interrupt(InterruptArgs),
    #[command(subcommand)]
    Rmap(RmapArgs),
    #[command(subcommand)]
    Rdma(Box<RdmaArgs>),
    Stats(StatsArgs),
    Capture(CaptureArgs),
    Decode(DecodeArgs),
    Link(LinkArgs),
    Fault(FaultArgs),
    #[command(subcommand)]
    Ip(IpArgs),
    #[command(subcommand)]
    Fabric(Box<FabricArgs>),
    #[command(subcommand)]
    Bridge(BridgeArgs),
    Perf(Box<PerfArgs>),
    Sim(SimArgs),
    Topo(TopoArgs),
    #[command(hide = true)]
    PerfWorker(WorkerArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

impl Command {
    /// The device argument, if the command has one.
    fn device(&self) -> Option<&DeviceArg> {
        match self {
            Self::Info(args) => Some(&args.device),
            Self::Send(args) => Some(&args.device),
            Self::Recv(args) => Some(&args.device),
            Self::Ping(args) => Some(&args.device),
            Self::Packet(args) => Some(args.device()),
            Self::Broadcast(args) => Some(args.device()),
            Self::Timecode(args) => Some(args.device()),
            Self::Interrupt(args) => Some(args.device()),
            Self::Rmap(args) => Some(args.device()),
            Self::Rdma(args) => Some(args.device()),
            Self::Stats(args) => Some(&args.device),
            Self::Capture(args) => Some(&args.device),
            Self::Link(args) => Some(&args.device),
            Self::Fault(args) => Some(&args.device),
            Self::Ip(IpArgs::Up(args)) => Some(&args.device),
            Self::Bridge(args) => Some(args.device()),
            Self::List
            | Self::Decode(_)
            | Self::Fabric(_)
            | Self::Perf(_)
            | Self::Sim(_)
            | Self::Topo(_)
            | Self::PerfWorker(_)
            | Self::Completions(_)
            | Self::Man(_) => None,
        }
    }

    /// Whether the command writes data to standard output.
    fn owns_stdout(&self) -> bool {
        match self {
            Self::Recv(args) => args.owns_stdout(),
            Self::Rmap(args) => args.owns_stdout(),
            Self::Rdma(args) => args.owns_stdout(),
            Self::Capture(args) => args.owns_stdout(),
            _ => false,
        }
    }
}

impl Cli {
    fn context(&self) -> Context {
        let own = self.command.device().and_then(|device| device.name.clone());
        let device = own.or_else(|| self.device.clone()).filter(|name| !name.is_empty());
        Context { device, json: self.json, quiet: self.quiet }
    }

    fn run(self) -> Result<(), Failure> {
        let context = self.context();
        match &self.command {
            Command::List => list::run(&context),
            Command::Info(_) => info::run(&context),
            Command::Send(args) => send::run(args, &context),
            Command::Recv(args) => recv::run(args, &context),
            Command::Ping(args) => ping::run(args, &context),
            Command::Packet(args) => packet::run(args, &context),
            Command::Broadcast(args) => broadcast::run(args, &context),
            Command::Timecode(args) => timecode::run(args, &context),
            Command::Interrupt(args) => interrupt::run(args, &context),
            Command::Rmap(args) => rmap::run(args, &context),
            Command::Rdma(args) => rdma::run(args, &context),
            Command::Stats(args) => stats::run(args, &context),
            Command::Capture(args) => capture::run(args, &context),
            Command::Decode(args) => decode::run(args, &context),
            Command::Link(args) => link::run(args, &context),
            Command::Fault(args) => fault::run(args, &context),
            Command::Ip(args) => ip::run(args, &context),
            Command::Fabric(args) => fabric::run(args, &context),
            Command::Bridge(args) => bridge::run(args, &context),
            Command::Perf(args) => perf::run(args, &context),
            Command::Sim(args) => sim::run(args, &context),
            Command::Topo(args) => topo::run(args, &context),
            Command::PerfWorker(args) => perf::worker(args),
            Command::Completions(args) => completions::run(args, &mut Self::command()),
            Command::Man(args) => man::run(args, Self::command(), &context),
        }
    }
}

/// Parses the command line, runs the command and reports its failure.
pub fn main() -> ExitCode {
    let words = expanded(std::env::args_os().collect());
    // Look for --json before parsing: usage errors are printed as JSON, too.
    let json = words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, json),
    };
    signal::install();
    // Errors must not be mixed with data on standard output.
    let json = json && !cli.command.owns_stdout();
    let outcome = cli.run();
    if let Some(failure) = console::failure() {
        return if console::is_closed() { ExitCode::FAILURE } else { failure.report(false) };
    }
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(json),
    }
}

/// The words of the command line. The program's alias `vxfabric` is `spfe fabric status`, and `vxrun`
/// is `spfe fabric run`.
fn expanded(mut words: Vec<OsString>) -> Vec<OsString> {
    let name = words.first().map(std::path::Path::new).and_then(std::path::Path::file_name);
    let alias = match name.and_then(std::ffi::OsStr::to_str) {
        Some("vxfabric") => "status",
        Some("vxrun") => "run",
        _ => return words,
    };
    words.splice(..1, ["spfe", "fabric", alias].map(OsString::from));
    words
}

/// Prints help and version; reports every other parse error in one line.
fn refuse(error: &clap::Error, json: bool) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        print!("{}", error.render().ansi());
        let failure = console::failure().filter(|_| !console::is_closed());
        return failure.map_or(ExitCode::SUCCESS, |failure| failure.report(false));
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let what = "a command is missing: `spfe --help` lists them";
        return Failure::usage(what).report(json);
    }
    Failure::usage(one_line(&error.to_string())).report(json)
}

/// The text of clap's message before the usage, in one line.
fn one_line(message: &str) -> String {
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let lines = message.lines().map(str::trim);
    let lines =
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn vxfabric_and_vxrun_are_commands_of_the_fabric() {
        let of = |words: &[&str]| expanded(words.iter().map(OsString::from).collect());
        assert_eq!(of(&["/usr/bin/vxfabric", "-a"]), ["spfe", "fabric", "status", "-a"]);
        assert_eq!(of(&["vxrun", "ls"]), ["spfe", "fabric", "run", "ls"]);
        assert_eq!(of(&["spfe", "vxfabric"]), ["spfe", "vxfabric"]);
    }

    #[test]
    fn usage_errors_fit_on_a_line() {
        for words in [
            &["spfe", "send"][..],
            &["spfe", "send", "x", "--packet", "0"],
            &["spfe", "recv", "x", "--count", "3"],
            &["spfe", "pong"],
            &["spfe", "timecode", "send", "--time", "64"],
        ] {
            let error = Cli::try_parse_from(words).unwrap_err();
            let line = one_line(&error.to_string());
            assert!(!line.is_empty() && !line.contains('\n') && !line.contains("Usage"), "{line}");
        }
    }
}
