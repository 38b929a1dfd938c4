//! `spfe stats`: the counters of a device's ports.

mod network;
mod rdma;

use crate::context::{Context, DeviceArg};
use crate::error::Failure;
use crate::{output, parse, signal};
use clap::Args;
pub use network::NetworkState;
use rdma::RdmaCounters;
use serde_json::{Value, json};
use spfe::{ChannelCounters, Endpoint, MessageCounters, PortInfo, TimeCodeInfo};
use std::time::Duration;

/// Show the counters of ports, virtual channels and messages.
///
/// Counters that are zero are omitted without --all. Counters start when the network is created.
#[derive(Clone, Debug, Args)]
pub struct StatsArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Show them repeatedly, with rates, until interrupted.
    #[arg(long, value_name = "TIME", value_parser = period)]
    watch: Option<Duration>,
    /// Also show counters that are zero.
    #[arg(long)]
    all: bool,
    /// Show only this port.
    #[arg(long, value_name = "N")]
    port: Option<u32>,
}

/// Parses the period of --watch.
fn period(text: &str) -> Result<Duration, String> {
    match parse::time(text)? {
        time if time >= Duration::from_millis(100) => Ok(time),
        _ => Err(format!("'{text}' is shorter than 100ms, the shortest period")),
    }
}

/// The counters of a device at one moment.
struct Snapshot {
    at_ns: u64,
    ports: Vec<(u32, PortInfo)>,
    network: NetworkState,
    rdma: RdmaCounters,
}

/// Runs `spfe stats`.
pub fn run(args: &StatsArgs, context: &Context) -> Result<(), Failure> {
    let endpoint = context.open()?;
    let mut now = take(&endpoint, args)?;
    print(&now, None, args, context);
    let Some(period) = args.watch else {
        return Ok(());
    };
    while signal::sleep(period) {
        let before = std::mem::replace(&mut now, take(&endpoint, args)?);
        print(&now, Some(&before), args, context);
    }
    Ok(())
}

fn take(endpoint: &Endpoint, args: &StatsArgs) -> Result<Snapshot, Failure> {
    let numbers = match args.port {
        Some(number) => number..number + 1,
        None => 0..endpoint.info().ports,
    };
    let ports = numbers.map(|number| Ok((number, endpoint.port(number)?.info()?)));
    let ports = ports.collect::<Result<Vec<_>, Failure>>()?;
    let mut network = NetworkState::default();
    let mut rdma = RdmaCounters::default();
    for (index, (number, _)) in ports.iter().enumerate() {
        let entries = endpoint.port_mib(*number).unwrap_or_default();
        if index == 0 {
            // Every port of a network with exact links knows them.
            network = NetworkState::of(&entries);
        }
        rdma.add(*number, &entries);
    }
    Ok(Snapshot { at_ns: endpoint.now_ns(), ports, network, rdma })
}

/// Counters of one direction of one virtual channel.
struct Line {
    port: u32,
    vc: usize,
    direction: &'static str,
    client: Option<u32>,
    counters: ChannelCounters,
}

/// Counters with their names, in display order.
fn named(counters: &ChannelCounters) -> [(&'static str, u64); 5] {
    let ChannelCounters { packets, bytes, errors, stalls, wakes } = *counters;
    [
        ("packets", packets),
        ("bytes", bytes),
        ("errors", errors),
        ("stalls", stalls),
        ("wakes", wakes),
    ]
}

impl Snapshot {
    fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for (port, info) in &self.ports {
            for (vc, channel) in info.channels.iter().enumerate() {
                let line = |direction, client, counters| Line {
                    port: *port,
                    vc,
                    direction,
                    client,
                    counters,
                };
                lines.push(line("tx", channel.sender, channel.tx));
                lines.push(line("rx", channel.receiver, channel.rx));
            }
        }
        lines
    }
}

impl Line {
    fn is_zero(&self) -> bool {
        self.counters == ChannelCounters::default() && self.client.is_none()
    }

    /// Packets and Gbit per second since an earlier snapshot.
    fn rates(&self, before: &Self, seconds: f64) -> (f64, f64) {
        let (now, then) = (&self.counters, &before.counters);
        let packets = now.packets.wrapping_sub(then.packets);
        (packets as f64 / seconds, output::gbps(now.bytes.wrapping_sub(then.bytes), seconds))
    }
}

fn print(now: &Snapshot, before: Option<&Snapshot>, args: &StatsArgs, context: &Context) {
    let seconds = before.map(|before| now.at_ns.saturating_sub(before.at_ns).max(1) as f64 / 1e9);
    let earlier = before.map(Snapshot::lines).unwrap_or_default();
    let lines = now.lines();
    let lines = lines.iter().enumerate().map(|(index, line)| {
        let rates = earlier.get(index).zip(seconds).map(|(then, s)| line.rates(then, s));
        (line, rates)
    });
    let lines: Vec<_> = lines.filter(|(line, _)| args.all || !line.is_zero()).collect();
    if context.json {
        println!("{}", snapshot_json(now, &lines, args.all));
        return;
    }
    let mut head =
        vec!["PORT", "VC", "END", "CLIENT", "PACKETS", "BYTES", "ERRORS", "STALLS", "WAKES"];
    if before.is_some() {
        head.extend(["PACKETS/S", "GBIT/S"]);
    }
    let rows: Vec<_> = lines.iter().map(|(line, rates)| row(line, *rates)).collect();
    print!("{}", output::table(&head, 3, &rows));
    let rows: Vec<_> =
        now.ports.iter().filter_map(|(n, info)| messages(*n, info, args.all)).collect();
    if !rows.is_empty() {
        let head = ["PORT", "MESSAGES SENT", "RECEIVED", "DROPPED", "LAST TIME-CODE", "INVALID"];
        print!("\n{}", output::table(&head, 1, &rows));
    }
    print!("{}", now.network.text(before.map(|before| (&before.network, seconds))));
    print!("{}", now.rdma.text());
    if before.is_some() {
        println!();
    }
}

fn row(line: &Line, rates: Option<(f64, f64)>) -> Vec<String> {
    let mut row = vec![line.port.to_string(), line.vc.to_string(), line.direction.to_owned()];
    row.push(line.client.map_or("-".to_owned(), |client| client.to_string()));
    row.extend(named(&line.counters).map(|(_, value)| value.to_string()));
    row.extend(
        rates
            .into_iter()
            .flat_map(|(packets, gbps)| [format!("{packets:.0}"), format!("{gbps:.3}")]),
    );
    row
}

fn has_messages(info: &PortInfo) -> bool {
    info.messages != MessageCounters::default() || info.time_codes != TimeCodeInfo::default()
}

fn messages(number: u32, info: &PortInfo, all: bool) -> Option<Vec<String>> {
    let MessageCounters { sent, received, dropped } = info.messages;
    let TimeCodeInfo { last, out_of_sequence } = info.time_codes;
    (all || has_messages(info)).then(|| {
        let numbers = [u64::from(number), sent, received, dropped, u64::from(last.time)];
        numbers.iter().map(u64::to_string).chain([out_of_sequence.to_string()]).collect()
    })
}

fn snapshot_json(now: &Snapshot, lines: &[(&Line, Option<(f64, f64)>)], all: bool) -> Value {
    let ports = now.ports.iter().map(|(number, info)| {
        let own = lines.iter().filter(|(line, _)| line.port == *number);
        let MessageCounters { sent, received, dropped } = info.messages;
        let mut port = json!({
            "port": number,
            "channels": own.map(|(line, rates)| line_json(line, *rates)).collect::<Vec<_>>(),
        });
        if all || has_messages(info) {
            port["messages"] = json!({ "sent": sent, "received": received, "dropped": dropped });
            let TimeCodeInfo { last, out_of_sequence } = info.time_codes;
            port["time_code"] = json!({ "last": last.time, "invalid": out_of_sequence });
        }
        port
    });
    let mut object = json!({ "time_ns": now.at_ns, "ports": ports.collect::<Vec<_>>() });
    now.network.add_to(&mut object);
    now.rdma.add_to(&mut object);
    object
}

fn line_json(line: &Line, rates: Option<(f64, f64)>) -> Value {
    let mut object =
        json!({ "vc": line.vc, "end": line.direction, "client": line.client.unwrap_or(0) });
    for (name, value) in named(&line.counters) {
        object[name] = value.into();
    }
    if let Some((packets, gbps)) = rates {
        object["packets_per_s"] = output::rounded(packets).into();
        object["gbps"] = output::rounded(gbps).into();
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_changes_over_time() {
        let line = |packets, bytes| Line {
            port: 0,
            vc: 0,
            direction: "tx",
            client: None,
            counters: ChannelCounters { packets, bytes, ..ChannelCounters::default() },
        };
        let (packets, gbps) = line(30, 2_500_000_000).rates(&line(10, 0), 2.0);
        assert_eq!((packets, gbps), (10.0, 10.0));
        assert!(line(0, 0).is_zero() && !line(1, 0).is_zero());
    }
}
