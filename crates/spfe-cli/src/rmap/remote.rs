//! The remote target and the path to it.

use super::values;
use crate::context::{Context, DeviceArg, end_at_signal};
use crate::error::Failure;
use crate::parse;
use clap::Args;
use serde_json::Value;
use spfe::rmap::{ADDRESS_MAX, Initiator, InitiatorOptions, ReplyAddress};
use spfe::{Deadline, Endpoint};
use std::time::Duration;

/// Default device: a network with an RMAP target.
const DEVICE: &str = "virtual:?peer=rmap:1M";

/// Bytes transferred under one deadline.
pub const PART: usize = 1 << 20;

/// Options for the target, the path to it and the address in its memory.
#[derive(Clone, Debug, Args)]
pub struct RemoteArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Address of the first byte, up to 40 bits.
    #[arg(long, short, value_name = "ADDRESS", value_parser = values::number)]
    address: u64,
    /// Bits 39 to 32 of the address.
    #[arg(long, value_name = "BYTE", value_parser = parse::byte)]
    extended: Option<u8>,
    /// Path address of the target, such as 1,2.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = parse::byte)]
    path: Vec<u8>,
    /// Reply address (path), at most 12 bytes.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = parse::byte)]
    reply_path: Vec<u8>,
    /// Target logical address.
    #[arg(long, value_name = "BYTE", default_value = "0xfe", value_parser = parse::byte)]
    target_logical: u8,
    /// Initiator logical address.
    #[arg(long, value_name = "BYTE", default_value = "0xfe", value_parser = parse::byte)]
    initiator_logical: u8,
    /// Key that the target requires.
    #[arg(long, short, value_name = "BYTE", default_value = "0", value_parser = parse::byte)]
    key: u8,
    /// Port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u32,
    /// Virtual channel.
    #[arg(long, value_name = "N", default_value_t = 0)]
    vc: u32,
    /// Limit of the data of one command, bytes; longer accesses are split.
    #[arg(long, value_name = "BYTES", default_value = "64K", value_parser = values::max_data)]
    max_data: u32,
    /// Limit of outstanding commands, 1 to 64.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = values::outstanding)]
    outstanding: usize,
    /// Time limit for each MiB.
    #[arg(long, value_name = "TIME", default_value = "5", value_parser = parse::time)]
    timeout: Duration,
}

/// An initiator with the target address of the access.
pub struct Remote {
    pub initiator: Initiator,
    pub address: u64,
    endpoint: Endpoint,
    timeout: Duration,
}

impl Remote {
    /// Opens the device and the queues.
    pub fn open(args: &RemoteArgs, context: &Context) -> Result<Self, Failure> {
        let address = match args.extended {
            Some(extended) if args.address <= u64::from(u32::MAX) => {
                u64::from(extended) << 32 | args.address
            }
            None if args.address <= ADDRESS_MAX => args.address,
            None => {
                let what = format!("--address {:#x}: at most {ADDRESS_MAX:#x}", args.address);
                return Err(Failure::usage(what));
            }
            Some(_) => {
                let what =
                    format!("--address {:#x}: at most 0xffffffff with --extended", args.address);
                return Err(Failure::usage(what));
            }
        };
        let reply_address = ReplyAddress::from_path(&args.reply_path)
            .map_err(|error| Failure::usage(format!("--reply-path: {error}")))?;
        let remote = spfe::rmap::Remote {
            path: args.path.clone(),
            target: args.target_logical,
            key: args.key,
            reply_address,
            initiator: args.initiator_logical,
        };
        let options = InitiatorOptions {
            max_data: args.max_data,
            outstanding: args.outstanding,
            ..InitiatorOptions::new(remote)
        };
        let endpoint = context.open_or(DEVICE)?;
        let mut initiator = Initiator::open(&endpoint.port(args.port)?.vc(args.vc)?, options)?;
        end_at_signal(initiator.canceller());
        Ok(Self { initiator, address, endpoint, timeout: args.timeout })
    }

    /// Address of a part.
    pub fn at(&self, part: usize, increment: bool) -> u64 {
        let offset = if increment { part * PART } else { 0 };
        self.address.saturating_add(offset as u64)
    }

    /// The deadline of an access that starts now.
    pub fn deadline(&self) -> Deadline {
        self.endpoint.deadline_after(self.timeout)
    }

    /// Waits until all commands have been sent.
    pub fn flush(&mut self) -> Result<(), Failure> {
        let deadline = self.deadline();
        Ok(self.initiator.flush(deadline)?)
    }

    /// The JSON fields that every result starts with.
    pub fn json(&self, bytes: usize) -> Value {
        let mut object = super::place(self.address, bytes);
        object["commands"] = self.initiator.counters().packets.commands.into();
        object
    }
}
