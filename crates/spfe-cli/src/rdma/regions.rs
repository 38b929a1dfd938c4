//! `spfe rdma regions`: what a target offers.

use super::remote::{Remote, RemoteArgs};
use crate::context::Context;
use crate::error::Failure;
use crate::output;
use clap::Args;
use serde_json::{Value, json};
use spfe_proto::sfrp::Capabilities;
use spfe_remote::{Info, RegionEntry, RegionFlags};

/// List the regions of a target and what it can do.
#[derive(Clone, Debug, Args)]
pub struct RegionsArgs {
    #[command(flatten)]
    pub remote: RemoteArgs,
}

const CAPABILITIES: [(Capabilities, &str); 5] = [
    (Capabilities::SEND, "messages"),
    (Capabilities::ATOMIC, "atomic"),
    (Capabilities::FULL, "queue-pairs"),
    (Capabilities::RMAP, "rmap"),
    (Capabilities::NOTIFY, "notifications"),
];

/// Runs `spfe rdma regions`.
pub fn run(args: &RegionsArgs, context: &Context) -> Result<(), Failure> {
    let mut remote = Remote::open(&args.remote, 0, context)?;
    let regions = remote.regions()?;
    let info = remote.queue.info(remote.timeout)?;
    if context.json {
        println!("{}", object(&info, &regions));
        return Ok(());
    }
    let rows: Vec<_> = regions.iter().map(row).collect();
    print!("{}", output::table(&["REGION", "KEY", "RIGHTS", "BASE", "BYTES"], 3, &rows));
    context.say(&format!(
        "SFRP {}, segments of {} bytes, {} reads outstanding; offers {}",
        info.version_max,
        1u64 << info.segment_log2.min(32),
        info.reads_max,
        capabilities(&info).join(", ")
    ));
    Ok(())
}

fn capabilities(info: &Info) -> Vec<&'static str> {
    let found = CAPABILITIES.iter().filter(|(bit, _)| info.capabilities.has(*bit));
    found.map(|(_, name)| *name).collect()
}

fn rights(region: &RegionEntry) -> String {
    let letters = [(RegionFlags::READ, 'r'), (RegionFlags::WRITE, 'w'), (RegionFlags::ATOMIC, 'a')];
    letters
        .iter()
        .map(|(flag, letter)| if region.flags.has(*flag) { *letter } else { '-' })
        .collect()
}

fn key(region: &RegionEntry) -> Option<String> {
    (region.key != 0).then(|| format!("{:#010x}", region.key))
}

fn row(region: &RegionEntry) -> Vec<String> {
    vec![
        region.index.to_string(),
        key(region).unwrap_or_else(|| "hidden".to_owned()),
        rights(region),
        format!("{:#x}", region.base),
        region.bytes.to_string(),
    ]
}

fn object(info: &Info, regions: &[RegionEntry]) -> Value {
    let list = regions.iter().map(|region| {
        json!({
            "region": region.index,
            "key": key(region),
            "rights": rights(region),
            "base": format!("{:#x}", region.base),
            "bytes": region.bytes,
            "notifies": region.flags.has(RegionFlags::NOTIFY),
        })
    });
    json!({
        "version": info.version_max,
        "segment": 1u64 << info.segment_log2.min(32),
        "reads": info.reads_max,
        "message_max": info.message_max,
        "vendor": info.vendor,
        "device": info.device,
        "serial": info.serial,
        "offers": capabilities(info),
        "regions": list.collect::<Vec<_>>(),
    })
}
