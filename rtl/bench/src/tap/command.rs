//! The commands.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::process::Command;
use std::str::FromStr;

use clap::Args;

use super::cases::{self, Size};
use super::proxy::{Connect, Serve};
use super::suite::{Lab, endpoint};
use super::{programs, space};
use crate::bench::record::{self, PeerRun, Peers};

/// `PORT=ADDRESS:PORT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Join {
    from: u16,
    to: SocketAddrV4,
}

impl FromStr for Join {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text}: is not PORT=ADDRESS:PORT");
        let (from, to) = text.split_once('=').ok_or_else(wrong)?;
        let to = to.parse().or_else(|_| {
            to.parse().map(|port| SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)).map_err(|_| wrong())
        })?;
        Ok(Self { from: from.parse().map_err(|_| wrong())?, to })
    }
}

/// A network namespace with the core behind a TAP device, and a program in it.
///
/// In the namespace the core is 10.0.0.1, Linux is 10.0.0.2 on the device tap0 and 127.0.0.1.
#[derive(Args, Debug)]
pub struct TapCommand {
    /// A build in model/builds.toml, or `reference`, the model in software.
    #[arg(long, default_value = "full")]
    endpoint: String,
    /// A port of the core that a local program serves: PORT=ADDRESS:PORT or PORT=PORT.
    #[arg(long, value_name = "JOIN")]
    serve: Vec<Join>,
    /// A port of 127.0.0.1 from where the core opens connections: PORT=10.0.0.2:PORT.
    #[arg(long, value_name = "JOIN")]
    connect: Vec<Join>,
    /// Sessions that listen for each port of `--serve`.
    #[arg(long, default_value_t = 8)]
    sessions: u16,
    /// The program and its arguments; its exit code is that of this command.
    #[arg(trailing_var_arg = true, default_values_t = ["bash".to_owned()])]
    program: Vec<String>,
}

/// Transfers, programs, sessions, closed windows and bad lines against the TCP of Linux.
#[derive(Args, Debug)]
pub struct PeersCommand {
    /// A build in model/builds.toml, or `reference`, the model in software.
    #[arg(long, default_value = "full")]
    endpoint: String,
    /// The long form.
    #[arg(long)]
    long: bool,
    /// Only checks whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// Seed of the impairments.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl TapCommand {
    /// Runs the program; its exit code.
    ///
    /// # Errors
    /// No namespace, device, endpoint or program.
    pub fn run(&self) -> Result<u8, String> {
        space::enter()?;
        let to = |join: &Join| join.to.into();
        let sessions = self.sessions;
        let serve = self.serve.iter().map(|j| Serve { port: j.from, to: to(j), sessions });
        let connect = self.connect.iter().map(|j| Connect { local: j.from, to: j.to });
        let (serve, connect) = (serve.collect(), connect.collect());
        let lab = Lab::start(&self.endpoint, serve, connect, std::env::temp_dir(), 0)?;
        let (program, arguments) = self.program.split_first().ok_or("no program")?;
        let status = Command::new(program).args(arguments).status();
        let status = status.map_err(|e| format!("{program}: {e}"))?;
        lab.stop()?;
        Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }
}

impl PeersCommand {
    /// Runs the checks and writes their record; what has failed.
    ///
    /// # Errors
    /// No namespace, device or endpoint.
    pub fn run(&self) -> Result<Vec<String>, String> {
        // Made before the namespace: a build may have to fetch its tools.
        let sessions = endpoint(&self.endpoint)?.build().session_count;
        space::enter()?;
        let size = Size::new(self.long);
        let directory: PathBuf = record::directory().join("peers");
        let (name, only) = (self.endpoint.as_str(), self.only.as_str());
        let mut runs = cases::run(name, sessions, size, only, &directory, self.seed)?;
        runs.extend(programs::run(name, sessions, size, only, &directory, self.seed)?);
        let failed = |run: &&PeerRun| !run.passed;
        let wrong = runs.iter().filter(failed);
        let wrong =
            wrong.map(|run| format!("{} ({}): {}", run.name, run.role, run.detail)).collect();
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        // The model's record is its own.
        let prefix = if name == super::suite::REFERENCE { "reference-" } else { "" };
        let peers = Peers { kernel: kernel.trim().to_owned(), runs };
        record::write(&format!("{prefix}peers.json"), &peers)?;
        Ok(wrong)
    }
}
