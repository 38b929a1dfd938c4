//! The far node, the way to it, and the region.

use crate::context::{Context, DeviceArg, end_at_signal};
use crate::error::{Failure, Kind};
use crate::rmap::values;
use crate::{output, parse};
use clap::Args;
use spfe::Endpoint;
use spfe_remote::{RdmaError, RdmaQueue, RdmaQueueOptions, RegionEntry, ReplyPath};
use std::time::Duration;

/// Default device: a network with a target-only endpoint.
const DEVICE: &str = "virtual:?peer=target:1M";

/// Largest segment of SFRP, bytes.
pub const SEGMENT_MAX: u32 = spfe_proto::sfrp::SEGMENT_MAX;

/// Options for the far node and the way to it.
#[derive(Clone, Debug, Args)]
pub struct RemoteArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Ports of the routers on the way, such as 1,2.
    #[arg(long, value_name = "PORT,...", value_delimiter = ',', value_parser = parse::byte)]
    path: Vec<u8>,
    /// Path bytes of the responses, at most 24.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = parse::byte)]
    reply_path: Vec<u8>,
    /// Logical address of the target.
    #[arg(long, value_name = "BYTE", default_value = "0xfe", value_parser = parse::byte)]
    target_logical: u8,
    /// Own logical address.
    #[arg(long, value_name = "BYTE", default_value = "0xfe", value_parser = parse::byte)]
    logical: u8,
    /// Protocol identifier.
    #[arg(long, value_name = "BYTE", default_value = "0xf0", value_parser = protocol)]
    protocol: u8,
    /// Port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u32,
    /// Virtual channel.
    #[arg(long, value_name = "N", default_value_t = 0)]
    vc: u32,
    /// Largest payload of a packet, a power of two from 256 to 65536.
    #[arg(long, value_name = "BYTES", default_value = "4096", value_parser = segment)]
    segment: u32,
    /// Time limit without progress.
    #[arg(long, value_name = "TIME", default_value = "5", value_parser = parse::time)]
    timeout: Duration,
}

/// Options for the region and the address in it.
#[derive(Clone, Debug, Args)]
pub struct PlaceArgs {
    /// Index of the region [default: 0].
    #[arg(long, value_name = "N", conflicts_with = "key", value_parser = index)]
    region: Option<u16>,
    /// Key of the region, instead of asking the target for it.
    #[arg(long, short, value_name = "KEY", value_parser = key)]
    key: Option<u32>,
    /// Address of the first byte [default: the first of the region; with --key 0].
    #[arg(long, short, value_name = "ADDRESS", value_parser = values::number)]
    address: Option<u64>,
}

/// A place in the memory of the far node.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub key: u32,
    pub address: u64,
    /// Bytes from the address to the end of the region, if the target told.
    pub rest: Option<u64>,
}

/// A connected queue to the far node.
pub struct Remote {
    pub queue: RdmaQueue,
    pub endpoint: Endpoint,
    pub timeout: Duration,
}

pub fn protocol(text: &str) -> Result<u8, String> {
    parse::within("protocol identifier", text, 0xf0..=0xfe)
}

pub fn segment(text: &str) -> Result<u32, String> {
    let bytes = parse::size(text)?;
    let allowed = u32::try_from(bytes).ok();
    let allowed = allowed.filter(|n| n.is_power_of_two() && (256..=65536).contains(n));
    allowed.ok_or_else(|| format!("segment of {bytes} bytes: a power of two from 256 to 65536"))
}

fn index(text: &str) -> Result<u16, String> {
    let index = values::number(text)?;
    u16::try_from(index).map_err(|_| format!("region {index}: 0 to 65535 allowed"))
}

fn key(text: &str) -> Result<u32, String> {
    let key = values::number(text)?;
    u32::try_from(key).map_err(|_| format!("key {key:#x}: at most 0xffffffff"))
}

impl Remote {
    /// Opens the device and its queues; `queue` is the partner's queue pair.
    pub fn open(args: &RemoteArgs, queue: u16, context: &Context) -> Result<Self, Failure> {
        let reply_path = ReplyPath::new(&args.reply_path)
            .map_err(|error| Failure::usage(format!("--reply-path: {error}")))?;
        let mut options = RdmaQueueOptions::default();
        let initiator = &mut options.initiator;
        initiator.path.clone_from(&args.path);
        initiator.reply_path = reply_path;
        (initiator.target, initiator.target_queue) = (args.target_logical, queue);
        (initiator.address, initiator.protocol) = (args.logical, args.protocol);
        initiator.segment_bytes = args.segment;
        let endpoint = context.open_or(DEVICE)?;
        let vc = endpoint.port(args.port)?.vc(args.vc)?;
        let mut queue = RdmaQueue::open(&vc, options)?;
        end_at_signal(queue.canceller());
        Ok(Self { queue, endpoint, timeout: args.timeout })
    }

    /// Starts a sequence of messages.
    pub fn connect(&mut self) -> Result<(), Failure> {
        self.queue.connect(self.timeout).map_err(nobody)
    }

    /// The regions that the target tells of.
    pub fn regions(&mut self) -> Result<Vec<RegionEntry>, Failure> {
        self.queue.regions(self.timeout).map_err(nobody)
    }

    /// Finds the region, asking the target unless the key is given.
    pub fn place(&mut self, args: &PlaceArgs) -> Result<Place, Failure> {
        if let Some(key) = args.key {
            return Ok(Place { key, address: args.address.unwrap_or(0), rest: None });
        }
        let wanted = args.region.unwrap_or(0);
        let regions = self.regions()?;
        let region = regions.iter().find(|region| region.index == wanted).ok_or_else(|| {
            let count = output::plural(regions.len() as u64, "region");
            Failure::not_there(format!(
                "region {wanted}: the target tells of {count}; `spfe rdma regions` lists them"
            ))
        })?;
        if region.key == 0 {
            let what = format!("region {wanted}: the target does not tell its key; use --key");
            return Err(Failure::usage(what));
        }
        let address = args.address.unwrap_or(region.base);
        let rest = address
            .checked_sub(region.base)
            .and_then(|offset| region.bytes.checked_sub(offset))
            .ok_or_else(|| {
                let (base, bytes) = (region.base, region.bytes);
                let what = format!("{address:#x}: region {wanted} has {bytes} bytes at {base:#x}");
                Failure::usage(format!("--address {what}"))
            })?;
        Ok(Place { key: region.key, address, rest: Some(rest) })
    }
}

/// What to look at when nobody answers at all.
fn nobody(error: RdmaError) -> Failure {
    let mut failure = Failure::from(error);
    if failure.kind == Kind::TimedOut {
        failure.what += "; is there a target with these --target-logical, --protocol, --vc and \
                         --path?";
    }
    failure
}
