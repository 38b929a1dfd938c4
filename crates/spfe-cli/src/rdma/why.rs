//! `spfe rdma why`: what the queue pairs of a daemon's network wait for.

use crate::capture;
use crate::context::{Context, DeviceArg};
use crate::error::Failure;
use crate::output;
use clap::Args;
use serde_json::{Value, json};
use spfe::backend::daemon::{NetworkQuery, PairInfo};

/// Show the credit, timer or partner that each queue pair of a daemon waits for, and what it has
/// counted.
#[derive(Clone, Debug, Args)]
pub struct WhyArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Print the counters as well, those that are not 0.
    #[arg(long)]
    counters: bool,
}

/// An open queue pair and its place.
struct Found {
    endpoint: u32,
    port: u32,
    vc: u32,
    pair: PairInfo,
}

/// Runs `spfe rdma why`.
pub fn run(args: &WhyArgs, context: &Context) -> Result<(), Failure> {
    let name = context.device.as_deref();
    let name = name.ok_or_else(|| Failure::usage("no daemon: give unix:SOCKET"))?;
    let mut query = NetworkQuery::open(&capture::socket(name, "queue pairs of others")?)?;
    let mut found = Vec::new();
    for endpoint in query.endpoints() {
        for port in 0..endpoint.ports {
            for vc in 0..query.port_info(endpoint.endpoint, port)?.vcs {
                if let Some(pair) = query.pair(endpoint.endpoint, port, vc)? {
                    found.push(Found { endpoint: endpoint.endpoint, port, vc, pair });
                }
            }
        }
    }
    if context.json {
        found.iter().for_each(|found| println!("{}", found.object()));
        return Ok(());
    }
    let rows: Vec<_> = found.iter().map(Found::row).collect();
    let head = ["ENDPOINT", "PORT", "VC", "CLIENT", "PAIR", "OUTSTANDING", "WAITS FOR"];
    print!("{}", output::table(&head, head.len(), &rows));
    if args.counters {
        for found in &found {
            for (name, count) in &found.pair.counters {
                println!("endpoint {} VC {} {name} {count}", found.endpoint, found.vc);
            }
        }
    }
    Ok(())
}

impl Found {
    fn row(&self) -> Vec<String> {
        let numbers = [self.endpoint, self.port, self.vc, self.pair.client];
        let mut row: Vec<_> = numbers.iter().map(u32::to_string).collect();
        row.extend([
            self.pair.queue.to_string(),
            self.pair.outstanding.to_string(),
            self.pair.waiting.clone(),
        ]);
        row
    }

    fn object(&self) -> Value {
        let counters: serde_json::Map<_, _> =
            self.pair.counters.iter().map(|(name, count)| (name.clone(), json!(count))).collect();
        json!({
            "endpoint": self.endpoint,
            "port": self.port,
            "vc": self.vc,
            "client": self.pair.client,
            "pair": self.pair.queue,
            "outstanding": self.pair.outstanding,
            "waiting": self.pair.waiting,
            "counters": counters,
        })
    }
}
