//! `spfe rmap`: reads, writes and serves remote memory.

mod remote;
mod serve;
pub mod show;
pub mod values;

use crate::context::{Context, DeviceArg};
use crate::error::{Failure, Kind};
use crate::target::Target;
use crate::{output, parse};
use clap::{Args, Subcommand};
use remote::{Remote, RemoteArgs};
use serde_json::{Value, json};
use serve::ServeArgs;
use spfe::rmap::{Error, RMW_MAX, Write};

const AFTER: &str = "\
Without a device read, write and rmw work on virtual:?peer=rmap:1M: a memory of 1 MiB behind an \
RMAP target that lives as long as the command. A memory that stays:
  spfed --listen /tmp/spfe.sock --topology rmap:1M:key=0x20 &
  spfe rmap write unix:/tmp/spfe.sock --key 0x20 --address 0x100 --data deadbeef
  spfe rmap read unix:/tmp/spfe.sock --key 0x20 --address 0x100 --length 4

Numbers are decimal, or start with 0x. A status of the target other than 0 is an error: exit 1.";

/// Status of a target that does not do what it is asked to (50-52C 5.6).
const NOT_AUTHORISED: u8 = 10;

/// Read, write or serve remote memory (RMAP, ECSS-E-ST-50-52C).
#[derive(Clone, Debug, Subcommand)]
#[command(after_long_help = AFTER)]
pub enum RmapArgs {
    Read(ReadArgs),
    Write(WriteArgs),
    Rmw(RmwArgs),
    Serve(ServeArgs),
}

/// Read remote memory; print a dump, or write the bytes to a file.
#[derive(Clone, Debug, Args)]
pub struct ReadArgs {
    #[command(flatten)]
    remote: RemoteArgs,
    /// Number of bytes to read, such as 4, 0x40 or 64K.
    #[arg(long, short, value_name = "SIZE", value_parser = values::length)]
    length: usize,
    /// Read the same address repeatedly instead of consecutive ones.
    #[arg(long)]
    no_increment: bool,
    /// Write the bytes to this file instead of a dump; - for standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
}

/// Write remote memory, by default verified and acknowledged.
#[derive(Clone, Debug, Args)]
pub struct WriteArgs {
    #[command(flatten)]
    remote: RemoteArgs,
    /// Bytes to write: hexadecimal digits in pairs, or @FILE.
    #[arg(long, value_name = "HEX|@FILE")]
    data: String,
    /// Write all bytes to the same address instead of consecutive ones.
    #[arg(long)]
    no_increment: bool,
    /// Let the target write data before it has checked the data CRC.
    #[arg(long)]
    no_verify: bool,
    /// Request no reply. The result is unknown then.
    #[arg(long)]
    no_reply: bool,
}

/// Write single bits of remote memory and read the old value, in one step.
#[derive(Clone, Debug, Args)]
pub struct RmwArgs {
    #[command(flatten)]
    remote: RemoteArgs,
    /// Data: hexadecimal digits in pairs, 1 to 4 bytes.
    #[arg(long, value_name = "HEX")]
    data: String,
    /// Mask of the bits to write, of the same length.
    #[arg(long, value_name = "HEX")]
    mask: String,
}

impl RmapArgs {
    /// The device.
    pub fn device(&self) -> &DeviceArg {
        match self {
            Self::Read(args) => &args.remote.device,
            Self::Write(args) => &args.remote.device,
            Self::Rmw(args) => &args.remote.device,
            Self::Serve(args) => &args.device,
        }
    }

    /// Whether the bytes go to standard output.
    pub fn owns_stdout(&self) -> bool {
        matches!(self, Self::Read(args) if args.output.as_deref() == Some("-"))
    }
}

/// Runs `spfe rmap`.
pub fn run(args: &RmapArgs, context: &Context) -> Result<(), Failure> {
    match args {
        RmapArgs::Read(args) => read(args, context),
        RmapArgs::Write(args) => write(args, context),
        RmapArgs::Rmw(args) => modify(args, context),
        RmapArgs::Serve(args) => serve::run(args, context),
    }
}

fn read(args: &ReadArgs, context: &Context) -> Result<(), Failure> {
    let mut remote = Remote::open(&args.remote, context)?;
    let mut data = vec![0; args.length];
    let (address, increment) = (remote.address, !args.no_increment);
    for (index, part) in parts(data.chunks_mut(remote::PART), &mut []) {
        let (at, deadline) = (remote.at(index, increment), remote.deadline());
        remote.initiator.read_from(at, increment, part, deadline)?;
    }
    if let Some(path) = &args.output {
        let mut target = Target::open(path)?;
        target.write(&data)?;
        target.commit()?;
        if path == "-" {
            return Ok(());
        }
    }
    let mut object = remote.json(data.len());
    match (&args.output, context.json) {
        (None, true) => object["data"] = parse::hex(&data).into(),
        (None, false) => {
            print!("{}", show::dump(address, increment, &data));
            return Ok(());
        }
        (Some(path), _) => object["file"] = path.clone().into(),
    }
    done(context, &object, &format!("{} read", output::plural(data.len() as u64, "byte")));
    Ok(())
}

fn write(args: &WriteArgs, context: &Context) -> Result<(), Failure> {
    let data = values::data(&args.data)?;
    let mut remote = Remote::open(&args.remote, context)?;
    let increment = !args.no_increment;
    let how = Write { verify: !args.no_verify, reply: !args.no_reply, increment };
    for (index, part) in parts(data.chunks(remote::PART), &[]) {
        let (at, deadline) = (remote.at(index, increment), remote.deadline());
        remote.initiator.write_as(at, how, part, deadline)?;
    }
    remote.flush()?;
    let mut object = remote.json(data.len());
    object["acknowledged"] = how.reply.into();
    let verb = if how.reply { "written" } else { "sent" };
    let text = format!("{} {verb}", output::plural(data.len() as u64, "byte"));
    done(context, &object, &text);
    Ok(())
}

fn modify(args: &RmwArgs, context: &Context) -> Result<(), Failure> {
    let (data, mask) = (values::hex(&args.data)?, values::hex(&args.mask)?);
    if data.is_empty() || data.len() > RMW_MAX || data.len() != mask.len() {
        return Err(Failure::usage(format!(
            "--data of {} bytes and --mask of {}: 1 to {RMW_MAX} allowed, and as many",
            data.len(),
            mask.len()
        )));
    }
    let mut remote = Remote::open(&args.remote, context)?;
    let mut old = vec![0; data.len()];
    let (address, deadline) = (remote.address, remote.deadline());
    remote.initiator.modify(address, &data, &mask, &mut old, deadline)?;
    let mut object = remote.json(data.len());
    object["old"] = parse::hex(&old).into();
    if context.json {
        println!("{object}");
    } else {
        print!("{}", show::dump(address, true, &old));
    }
    Ok(())
}

/// The parts of the data with their numbers. Empty data is one part.
fn parts<T>(parts: impl ExactSizeIterator<Item = T>, empty: T) -> impl Iterator<Item = (usize, T)> {
    let empty = Some(empty).filter(|_| parts.len() == 0);
    parts.chain(empty).enumerate()
}

fn done(context: &Context, object: &Value, text: &str) {
    if context.json {
        println!("{object}");
    } else if !context.quiet {
        println!("{text}");
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Refused { status, .. } if status.0 == NOT_AUTHORISED => {
                return Self::failed(format!(
                    "{error}: the command is not allowed, or reaches beyond the target's memory"
                ));
            }
            Error::Refused { .. } => Kind::Failed,
            Error::Invalid { .. } => Kind::Damaged,
            Error::TimedOut { .. } => Kind::TimedOut,
            Error::Command(_) => Kind::Usage,
            Error::Device(inner) if inner.is_cancelled() => return Self::interrupted(),
            Error::Device(_) => {
                let Error::Device(inner) = error else { return Self::failed(error.to_string()) };
                return inner.into();
            }
        };
        Self::new(kind, error.to_string())
    }
}

/// The JSON fields that all results start with.
fn place(address: u64, bytes: usize) -> Value {
    json!({ "address": format!("{address:#012x}"), "bytes": bytes, "status": 0 })
}
