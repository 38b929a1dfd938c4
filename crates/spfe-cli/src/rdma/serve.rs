//! `spfe rdma serve`: the regions of a target file in this process.

use super::remote;
use crate::context::{Context, DeviceArg, Role, end_at_signal};
use crate::error::Failure;
use crate::output;
use clap::Args;
use serde_json::{Map, Value, json};
use spfe::Deadline;
use spfe_remote::RdmaServer;
use spfe_remote::engine::{Notification, TargetFile, TargetNode};

/// Serve regions until interrupted, then print counters of executed and refused packets.
#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Target file, or the size of a single region.
    #[arg(long, value_name = "FILE|SIZE", default_value = "1M")]
    target: String,
    /// Print each notification (an operation on a region with `notify`, or a message).
    #[arg(long)]
    watch: bool,
    /// Port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u32,
    /// Virtual channel.
    #[arg(long, value_name = "N", default_value_t = 0)]
    vc: u32,
    /// End after this many packets; 0: until interrupted.
    #[arg(long, value_name = "N", default_value_t = 0)]
    count: u64,
}

/// Runs `spfe rdma serve`.
pub fn run(args: &ServeArgs, context: &Context) -> Result<(), Failure> {
    let wrong = |error: spfe_remote::engine::TargetFileError| Failure::usage(error.to_string());
    let mut file = TargetFile::open(&args.target).map_err(wrong)?;
    if args.watch && file.notifications == 0 {
        file.notifications = 1024;
    }
    let node = TargetNode::new(&file).map_err(wrong)?;
    let endpoint = context.open_shared(args.port, Role::Serve)?;
    let vc = endpoint.port(args.port)?.vc(args.vc)?;
    let mut server = RdmaServer::open(&vc, node)?;
    end_at_signal(server.canceller());
    context.say(&format!(
        "target {:#04x} with {} on port {} VC {}",
        file.logical_address,
        output::plural(file.regions.len() as u64, "region"),
        args.port,
        args.vc
    ));
    let outcome = serve(&mut server, args, context);
    if !args.watch || !context.json {
        report(&mut server, context);
    }
    outcome
}

fn serve(server: &mut RdmaServer, args: &ServeArgs, context: &Context) -> Result<(), Failure> {
    let mut packets = 0;
    while args.count == 0 || packets < args.count {
        match server.serve(Deadline::NEVER) {
            Ok(executed) => packets += executed,
            // Without --count an interruption is the regular end.
            Err(error) if error.is_cancelled() && args.count == 0 => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        while let Some(notification) = server.node().target.notification() {
            if args.watch {
                show(&notification, context);
            }
        }
    }
    Ok(server.flush(Deadline::NEVER)?)
}

fn show(what: &Notification, context: &Context) {
    let Notification { initiator, queue, opcode, region, sequence, address, length, .. } = *what;
    let name = opcode.name();
    if context.json {
        let message = region.is_none().then(|| &what.data[..(length as usize).min(32)]);
        println!(
            "{}",
            json!({
                "operation": name,
                "initiator": initiator,
                "queue": queue,
                "region": region,
                "sequence": sequence,
                "address": format!("{address:#x}"),
                "bytes": length,
                "immediate": what.immediate,
                "data": message.map(crate::parse::hex),
            })
        );
        return;
    }
    let place = match region {
        Some(region) => format!("region {region} at {address:#x}"),
        None => format!("message {}", crate::parse::hex(&what.data[..(length as usize).min(32)])),
    };
    let immediate = what.immediate.map_or(String::new(), |value| format!(", immediate {value:#x}"));
    println!("{name} of {length} bytes from {initiator:#04x}.{queue}: {place}{immediate}");
}

/// Prints the counters; as text only those that are not zero.
fn report(server: &mut RdmaServer, context: &Context) {
    let mut named: Vec<_> = server.node().target.counts().named().collect();
    named.push(("too_long".to_owned(), server.too_long()));
    if context.json {
        let object: Map<String, Value> =
            named.iter().map(|(name, value)| (name.clone(), (*value).into())).collect();
        println!("{}", Value::from(object));
        return;
    }
    let counted = named.iter().filter(|(_, value)| *value != 0);
    let rows: Vec<_> =
        counted.map(|(name, value)| vec![name.replace('_', " "), value.to_string()]).collect();
    print!("{}", output::table(&["COUNTER", "PACKETS"], 1, &rows));
}

/// Options of a node that takes messages, without regions.
pub fn mailbox(logical: u8, protocol: u8) -> Result<TargetNode, Failure> {
    let file = TargetFile {
        logical_address: logical,
        protocol,
        rmap: None,
        regions: Vec::new(),
        segment: remote::SEGMENT_MAX,
        ..TargetFile::of_size(1)
    };
    TargetNode::new(&file).map_err(|error| Failure::usage(error.to_string()))
}
