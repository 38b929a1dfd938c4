//! `spfe rdma atomic`: 8 bytes of remote memory, changed in one step.

use super::done;
use super::remote::{PlaceArgs, Remote, RemoteArgs};
use crate::context::Context;
use crate::error::Failure;
use crate::rmap::values;
use clap::Args;
use serde_json::json;
use spfe_remote::RdmaError;
use spfe_remote::engine::{WorkKind, WorkRequest};

/// Add to 8 bytes of remote memory, or exchange them, and print the old value.
#[derive(Clone, Debug, Args)]
pub struct AtomicArgs {
    #[command(flatten)]
    pub remote: RemoteArgs,
    #[command(flatten)]
    place: PlaceArgs,
    /// Add this number, modulo 2^64.
    #[arg(long, value_name = "N", value_parser = values::number,
          required_unless_present = "swap", conflicts_with = "swap")]
    add: Option<u64>,
    /// Write this number if the old value is that of --compare.
    #[arg(long, value_name = "N", value_parser = values::number, requires = "compare")]
    swap: Option<u64>,
    /// The old value that --swap expects.
    #[arg(long, value_name = "N", value_parser = values::number, requires = "swap")]
    compare: Option<u64>,
}

/// Runs `spfe rdma atomic`.
pub fn run(args: &AtomicArgs, context: &Context) -> Result<(), Failure> {
    let kind = match (args.add, args.compare, args.swap) {
        (Some(add), ..) => WorkKind::FetchAdd { add },
        (None, Some(compare), Some(swap)) => WorkKind::CompareSwap { compare, swap },
        _ => return Err(Failure::usage("one of --add, or --compare and --swap, is needed")),
    };
    let mut remote = Remote::open(&args.remote, 0, context)?;
    let place = remote.place(&args.place)?;
    remote.connect()?;
    let (key, address) = (place.key, place.address);
    let queue = &mut remote.queue;
    queue
        .post(WorkRequest { key, address, ..WorkRequest::new(0, kind) })
        .map_err(RdmaError::from)?;
    queue.ring()?;
    queue.wait(1, remote.timeout)?;
    let completion = queue.poll()?.ok_or_else(|| Failure::failed("the operation has not ended"))?;
    completion.result.map_err(|error| RdmaError::Work {
        what: format!("{} at {address:#x} of region key {key:#010x}", kind.opcode().name()),
        error,
    })?;
    let old = completion.old.unwrap_or_default();
    let swapped = args.compare.is_none_or(|compare| compare == old);
    let object = json!({
        "key": format!("{key:#010x}"),
        "address": format!("{address:#x}"),
        "old": format!("{old:#x}"),
        "changed": swapped,
        "status": 0,
    });
    done(context, &object, &format!("{old:#x}{}", if swapped { "" } else { "  not changed" }));
    Ok(())
}
