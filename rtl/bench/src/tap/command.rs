//! The commands `tap` and `peers`.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::str::FromStr;

use clap::Args;

use super::line::{BridgeThread, endpoint};
use super::proxy::{Connect, Serve};
use super::suite::{Part, Plan, Size};
use super::{OUR_IP, PEER_IP, cases, programs, space};
use crate::bench::record;

/// A pair `PORT=ADDRESS:PORT` or `PORT=PORT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Join {
    from: u16,
    ip: Option<Ipv4Addr>,
    port: u16,
}

impl FromStr for Join {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text}: is not PORT=ADDRESS:PORT or PORT=PORT, ports 1 to 65535");
        let port = |text: &str| text.parse().ok().filter(|port| *port != 0).ok_or_else(wrong);
        let (from, to) = text.split_once('=').ok_or_else(wrong)?;
        let (ip, to) = match to.split_once(':') {
            Some((ip, to)) => (Some(ip.parse().map_err(|_| wrong())?), to),
            None => (None, to),
        };
        Ok(Self { from: port(from)?, ip, port: port(to)? })
    }
}

impl Join {
    fn to(self, default: Ipv4Addr) -> SocketAddrV4 {
        SocketAddrV4::new(self.ip.unwrap_or(default), self.port)
    }
}

/// Run a program in a network namespace with the core behind a TAP device.
///
/// In the namespace the core is 10.0.0.1. Linux is 10.0.0.2 on the device tap0, and 127.0.0.1. The
/// streams of the core's users are joined to plain sockets. With --serve the core listens, and each
/// accepted connection is joined to a program here. With --connect programs connect to a port here,
/// and the core opens a connection for each. The default is
/// --serve 8080=8080 --connect 8081=8082. The command prints counters of the line at the end.
///
/// Needs no privileges if users may make namespaces. Otherwise run it as root.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct TapCommand {
    /// A build in model/builds.toml, or `reference` for the software model.
    #[arg(long, default_value = "full")]
    endpoint: String,
    /// A port of the core and its server: PORT=PORT (of 127.0.0.1) or PORT=ADDRESS:PORT.
    #[arg(long, value_name = "JOIN")]
    serve: Vec<Join>,
    /// A port of 127.0.0.1, and whom the core opens a connection to: PORT=PORT (of 10.0.0.2) or
    /// PORT=ADDRESS:PORT.
    #[arg(long, value_name = "JOIN")]
    connect: Vec<Join>,
    /// Number of sessions that listen on each port of `--serve`.
    #[arg(long, default_value_t = 8)]
    sessions: u16,
    /// Write the last 60,000 frames on the line into a pcapng file.
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
    /// Print only errors.
    #[arg(long)]
    quiet: bool,
    /// The program and its arguments [default: a shell]. Its exit code is that of this command.
    #[arg(trailing_var_arg = true, default_values_t = ["bash".to_owned()])]
    program: Vec<String>,
}

/// Test transfers, programs, sessions, closed windows and bad lines against the TCP of Linux.
#[derive(Args, Debug)]
pub struct PeersCommand {
    /// A build in model/builds.toml, or `reference` for the software model.
    #[arg(long, default_value = "full")]
    endpoint: String,
    /// Run the long form.
    #[arg(long)]
    long: bool,
    /// Run only this part. May be given several times.
    #[arg(long)]
    part: Vec<Part>,
    /// Run only checks whose printed name, `NAME (ROLE)`, contains this text.
    #[arg(long, default_value = "")]
    only: String,
    /// Seed of the impairments.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl TapCommand {
    /// Runs the program and returns its exit code.
    ///
    /// # Errors
    /// The namespace, the device or the endpoint cannot be set up, or the program cannot be
    /// started.
    pub fn run(&self) -> Result<u8, String> {
        // Make the build before entering the namespace, because it may have to fetch its tools.
        drop(endpoint(&self.endpoint)?);
        let (mut serve, mut connect) = (self.serve.clone(), self.connect.clone());
        if serve.is_empty() && connect.is_empty() {
            serve.push(Join { from: 8080, ip: None, port: 8080 });
            connect.push(Join { from: 8081, ip: None, port: 8082 });
        }
        let sessions = self.sessions;
        let serve = serve
            .iter()
            .map(|j| Serve { port: j.from, to: j.to(Ipv4Addr::LOCALHOST).into(), sessions })
            .collect::<Vec<_>>();
        let connect = connect
            .iter()
            .map(|j| Connect { local: j.from, to: j.to(PEER_IP) })
            .collect::<Vec<_>>();
        space::enter()?;
        let line = BridgeThread::start(&self.endpoint, serve.clone(), connect.clone())?;
        if !self.quiet {
            eprint!("{}", welcome(&self.endpoint, &serve, &connect));
        }
        let (program, arguments) = self.program.split_first().ok_or("no program")?;
        let status = Command::new(program).args(arguments).status();
        let report = line.report()?;
        line.stop()?;
        if let Some(file) = &self.capture {
            report.captures[0].write(file)?;
        }
        if !self.quiet {
            eprintln!(
                "tcp-bench: {} frames from the core, {} to it; sent again: {} and {}",
                report.out.frames, report.inward.frames, report.out.again, report.inward.again
            );
        }
        status.map(code).or_else(|error| {
            eprintln!("tcp-bench: {program}: {error}");
            // The same codes as those of a shell.
            Ok(if error.kind() == ErrorKind::NotFound { 127 } else { 126 })
        })
    }
}

/// Converts an exit status to the code of a shell.
fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let killed = status.signal().map(|signal| 128 + signal);
    status.code().or(killed).and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// The text that explains what the user can do.
fn welcome(endpoint: &str, serve: &[Serve], connect: &[Connect]) -> String {
    let mut text = format!(
        "The core ({endpoint}) is {OUR_IP}; Linux is {PEER_IP} on tap0, and 127.0.0.1.\n  \
         ping {OUR_IP}\n"
    );
    for one in serve {
        text += &format!(
            "  curl http://{OUR_IP}:{}   the core is the server; the page comes from {}\n",
            one.port, one.to
        );
    }
    for one in connect {
        text += &format!(
            "  curl http://127.0.0.1:{}   the core is the client; the page comes from {}\n",
            one.local, one.to
        );
    }
    text + "Servers must bind these addresses, for example: \
        python3 -m http.server --bind ADDRESS PORT &\n"
}

impl PeersCommand {
    /// Runs the checks and writes their record. Returns the failures.
    ///
    /// # Errors
    /// The namespace, the device or the endpoint cannot be set up.
    pub fn run(&self) -> Result<Vec<String>, String> {
        // Make the build before entering the namespace, because it may have to fetch its tools.
        let (sessions, sums) = {
            let endpoint = endpoint(&self.endpoint)?;
            (endpoint.build().session_count, endpoint.build().rx_checksum)
        };
        space::enter()?;
        let plan = Plan {
            endpoint: self.endpoint.clone(),
            sessions,
            sums,
            size: Size::new(self.long),
            parts: self.part.clone(),
            only: self.only.clone(),
            directory: record::directory().join("peers"),
            seed: self.seed,
        };
        let mut wrong = cases::run(&plan)?;
        wrong.extend(programs::run(&plan)?);
        Ok(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_ports_are_parsed() {
        let join = |text: &str| text.parse::<Join>();
        let to = |text: &str| join(text).map(|join| (join.from, join.to(PEER_IP).to_string()));
        assert_eq!(to("80=8080"), Ok((80, "10.0.0.2:8080".to_owned())));
        assert_eq!(to("80=127.0.0.1:1"), Ok((80, "127.0.0.1:1".to_owned())));
        for wrong in
            ["80", "80=", "=80", "0=80", "80=0", "80=65536", "80=localhost:1", "80=1.2.3:4"]
        {
            assert!(join(wrong).is_err_and(|error| error.starts_with(wrong)), "{wrong}");
        }
    }
}
