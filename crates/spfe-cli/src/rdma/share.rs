//! `spfe rdma share`: memory that the device itself serves, under a remote key.

use super::{done, remote};
use crate::context::{Context, DeviceArg, Role, end_at_signal};
use crate::error::Failure;
use crate::rmap::values;
use crate::{output, parse};
use clap::Args;
use serde_json::json;
use sha2::{Digest, Sha256};
use spfe::QueueOptions;
use spfe_remote::engine::Local;
use spfe_remote::{KeyOptions, RdmaQueue, RdmaQueueOptions};
use std::time::Duration;

/// Time limit of what the device does at once.
const AT_ONCE: Duration = Duration::from_secs(30);
/// Time of a wait. It ends at a signal, and then the next one begins.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);
/// Largest memory that can be shared, bytes.
const SIZE_MAX: u64 = 256 << 20;

/// Share memory under a remote key until interrupted, then print its SHA-256.
///
/// A device with remote keys serves the memory without a thread of this process.
#[derive(Clone, Debug, Args)]
pub struct ShareArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Bytes of memory.
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = size)]
    size: usize,
    /// Address of the first byte, as others see it.
    #[arg(long, short, value_name = "ADDRESS", default_value = "0", value_parser = values::number)]
    address: u64,
    /// Own queue pair, from 1.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    queue: u16,
    /// Own logical address.
    #[arg(long, value_name = "BYTE", default_value = "0xfe", value_parser = parse::byte)]
    logical: u8,
    /// Protocol identifier.
    #[arg(long, value_name = "BYTE", default_value = "0xf0", value_parser = remote::protocol)]
    protocol: u8,
    /// Port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u32,
    /// Virtual channel.
    #[arg(long, value_name = "N", default_value_t = 0)]
    vc: u32,
}

fn size(text: &str) -> Result<usize, String> {
    let bytes = parse::size(text)?;
    if !(1..=SIZE_MAX).contains(&bytes) {
        return Err(format!("memory of {bytes} bytes: 1 to {SIZE_MAX} allowed"));
    }
    Ok(bytes as usize)
}

/// Runs `spfe rdma share`.
pub fn run(args: &ShareArgs, context: &Context) -> Result<(), Failure> {
    let mut options = RdmaQueueOptions::default();
    let initiator = &mut options.initiator;
    (initiator.queue, initiator.address) = (args.queue, args.logical);
    initiator.protocol = args.protocol;
    let endpoint = context.open_shared(args.port, Role::Serve)?;
    let vc = endpoint.port(args.port)?.vc(args.vc)?;
    let mut queue = RdmaQueue::open(&vc, options)?;
    // Partners connect to the receive queue, which takes their messages only with buffers.
    queue.open_buffers(&QueueOptions::default())?;
    let memory = queue.register_shared(&vec![0; args.size])?;
    let local = Local { memory, offset: 0, length: args.size as u32 };
    let shared = KeyOptions { address: args.address, ..KeyOptions::default() };
    let key = queue.share(local, &shared, AT_ONCE)?;
    end_at_signal(queue.canceller());
    let object = json!({
        "key": key.0,
        "address": format!("{:#x}", args.address),
        "bytes": args.size,
        "queue": args.queue,
    });
    let bytes = output::bytes(args.size as u64);
    let text =
        format!("key {:#x}: {bytes} at {:#x}, queue pair {}", key.0, args.address, args.queue);
    done(context, &object, &text);
    loop {
        match queue.wait_message(LONG) {
            Err(error) if error.is_cancelled() => break,
            Err(error) if error.is_timeout() => {}
            Err(error) => return Err(error.into()),
            Ok(()) => drop(queue.poll_message()),
        }
    }
    queue.unshare(key, AT_ONCE)?;
    let mut data = vec![0; args.size];
    queue.load(memory, 0, &mut data)?;
    let sha256 = parse::hex(&Sha256::digest(&data));
    done(context, &json!({ "sha256": sha256 }), &format!("{sha256}  -"));
    Ok(())
}
