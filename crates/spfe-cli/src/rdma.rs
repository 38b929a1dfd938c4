//! `spfe rdma`: memory and messages of other nodes.

mod access;
mod atomic;
mod messages;
mod ping;
mod regions;
mod remote;
mod serve;
mod share;
mod why;

use crate::context::{Context, DeviceArg};
use crate::error::{Failure, Kind};
use access::{ReadArgs, WriteArgs};
use atomic::AtomicArgs;
use clap::Subcommand;
use messages::{ReceiveArgs, SendArgs};
use ping::PingArgs;
use regions::RegionsArgs;
use serde_json::Value;
use serve::ServeArgs;
use share::ShareArgs;
use spfe_remote::RdmaError;
use spfe_remote::engine::WorkError;
use why::WhyArgs;

const AFTER: &str = "\
Without a device the commands work on virtual:?peer=target:1M: a target-only endpoint with 1 MiB that \
lives as long as the command. A memory that stays, and a file that goes there and back:
  spfed --listen /tmp/spfe.sock --topology target:64M &
  spfe rdma regions unix:/tmp/spfe.sock
  spfe rdma write unix:/tmp/spfe.sock --data @image.raw
  spfe rdma read unix:/tmp/spfe.sock --length 4M --output copy.raw

A process that serves its memory to the other end of a link, and one that takes a message:
  spfe rdma serve unix:/tmp/spfe.sock/1 --target node.toml
  spfe rdma receive unix:/tmp/spfe.sock/1 --queue 7

Numbers are decimal, or start with 0x. docs/rdma.md describes protocol, target files and statuses.";

/// Read, write or serve memory of other nodes, and exchange messages (RDMA).
#[derive(Clone, Debug, Subcommand)]
#[command(after_long_help = AFTER)]
pub enum RdmaArgs {
    Regions(RegionsArgs),
    Read(ReadArgs),
    Write(WriteArgs),
    Atomic(AtomicArgs),
    Send(SendArgs),
    Receive(ReceiveArgs),
    Serve(ServeArgs),
    Share(ShareArgs),
    Ping(PingArgs),
    Why(WhyArgs),
}

impl RdmaArgs {
    /// The device.
    pub fn device(&self) -> &DeviceArg {
        match self {
            Self::Regions(args) => &args.remote.device,
            Self::Read(args) => &args.remote.device,
            Self::Write(args) => &args.remote.device,
            Self::Atomic(args) => &args.remote.device,
            Self::Send(args) => &args.remote.device,
            Self::Receive(args) => &args.device,
            Self::Serve(args) => &args.device,
            Self::Share(args) => &args.device,
            Self::Ping(args) => &args.remote.device,
            Self::Why(args) => &args.device,
        }
    }

    /// Whether the bytes go to standard output.
    pub fn owns_stdout(&self) -> bool {
        match self {
            Self::Read(args) => args.owns_stdout(),
            Self::Receive(args) => args.owns_stdout(),
            _ => false,
        }
    }
}

/// Runs `spfe rdma`.
pub fn run(args: &RdmaArgs, context: &Context) -> Result<(), Failure> {
    match args {
        RdmaArgs::Regions(args) => regions::run(args, context),
        RdmaArgs::Read(args) => access::read(args, context),
        RdmaArgs::Write(args) => access::write(args, context),
        RdmaArgs::Atomic(args) => atomic::run(args, context),
        RdmaArgs::Send(args) => messages::send(args, context),
        RdmaArgs::Receive(args) => messages::receive(args, context),
        RdmaArgs::Serve(args) => serve::run(args, context),
        RdmaArgs::Share(args) => share::run(args, context),
        RdmaArgs::Ping(args) => ping::run(args, context),
        RdmaArgs::Why(args) => why::run(args, context),
    }
}

/// Prints a result as JSON, or as a line of text.
fn done(context: &Context, object: &Value, text: &str) {
    if context.json {
        println!("{object}");
    } else if !context.quiet {
        println!("{text}");
    }
}

impl From<RdmaError> for Failure {
    fn from(error: RdmaError) -> Self {
        if error.is_cancelled() {
            return Self::interrupted();
        }
        let kind = match &error {
            RdmaError::Work { error: WorkError::RetryExceeded, .. } => Kind::TimedOut,
            RdmaError::Work { .. } | RdmaError::Refused { .. } => Kind::Failed,
            RdmaError::Answer { .. } => Kind::Damaged,
            RdmaError::TimedOut { .. } => Kind::TimedOut,
            RdmaError::Post(_) => Kind::Usage,
            RdmaError::Device(_) => {
                let RdmaError::Device(inner) = error else {
                    return Self::failed(error.to_string());
                };
                return inner.into();
            }
        };
        Self::new(kind, error.to_string())
    }
}
