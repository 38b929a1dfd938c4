//! `spfe fabric up`: the backplane, and its nodes if wanted.

use super::{FabricSocket, topology};
use crate::context::Context;
use crate::error::Failure;
use crate::ip::values;
use crate::ip::values::Address;
use crate::signal;
use clap::Args;
use serde_json::json;
use spfe_fabric::backplane::Backplane;
use spfe_fabric::topology::{FabricTopology, NodeNumber, RateLimit};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time that nodes get to end.
const END: Duration = Duration::from_secs(2);
/// Interval between looks at how many nodes are READY.
const LOOK: Duration = Duration::from_millis(20);

const AFTER: &str = "\
TOPOLOGY is a file (docs/fabric.md) or a preset: dist2-x8, dist3-x8, dist5-x1, star6-x4, star12-x2, \
dual6-x4, star64-x1. The command runs until it is interrupted or `spfe fabric down` ends it.

    spfe fabric up star12-x2 --nodes --net 192.168.20.0/24";

/// Run a fabric: the backplane that gives nodes their memory. It carries no payload.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = AFTER)]
pub struct UpArgs {
    #[command(flatten)]
    socket: FabricSocket,
    /// File, or name of a preset.
    topology: String,
    /// Start every node, each in a network namespace of its own.
    #[arg(long)]
    nodes: bool,
    /// Network of the nodes' addresses: node n gets the n-th.
    #[arg(long, value_name = "A/PREFIX", value_parser = values::address, requires = "nodes")]
    net: Option<Address>,
    /// Start the nodes without interfaces, for raw mode.
    #[arg(long, requires = "nodes", conflicts_with = "net")]
    no_interface: bool,
    /// How long an idle node polls before it sleeps, in microseconds.
    #[arg(long, value_name = "US", default_value_t = 0, requires = "nodes")]
    spin: u32,
    /// Let the links limit the rate of transfers.
    #[arg(long)]
    capped: bool,
    /// End with the process that started the command.
    #[arg(long, hide = true)]
    with_parent: bool,
}

/// Runs the fabric.
pub fn run(args: &UpArgs, context: &Context) -> Result<(), Failure> {
    if args.with_parent {
        let signal = Some(rustix::process::Signal::TERM);
        rustix::process::set_parent_process_death_signal(signal)
            .map_err(|error| Failure::io("signal of the parent", &error.into()))?;
    }
    let mut topology = topology(&args.topology)?;
    if args.capped {
        topology.limit = RateLimit::Pcie;
    }
    let path = args.socket.path();
    let mut backplane = Backplane::open(&path, topology.clone())?;
    announce(&topology, &path, context);
    let mut children = if args.nodes { start_nodes(args, &topology, &path)? } else { Vec::new() };
    let started = Instant::now();
    let (mut shown, mut looked) = (0, started);
    while !signal::caught() && !backplane.is_ended() {
        backplane.turn(20_000_000).map_err(|error| Failure::io("backplane", &error))?;
        // Not at each of many messages while nodes greet each other.
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            let (ready, all) = backplane.ready();
            if ready != shown {
                shown = ready;
                progress(ready, all, started.elapsed(), context);
            }
        }
        // A node that ends is no concern of the others; its process is collected here.
        children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    }
    backplane.end();
    end_nodes(&mut backplane, children);
    Ok(())
}

fn announce(topology: &FabricTopology, path: &Path, context: &Context) {
    let (name, nodes) = (&topology.name, topology.nodes.len());
    if context.json {
        println!("{}", json!({ "fabric": name, "nodes": nodes, "socket": path.to_string_lossy() }));
    } else {
        context.say(&format!("fabric {name}: {nodes} nodes, socket {}", path.display()));
    }
}

fn progress(ready: usize, all: usize, time: Duration, context: &Context) {
    let ms = time.as_secs_f64() * 1000.0;
    if context.json {
        println!("{}", json!({ "ready": ready, "nodes": all, "ms": ms.round() }));
    } else {
        context.say(&format!("{ready} of {all} nodes READY after {ms:.0} ms"));
    }
}

/// The address with a node's number in a network.
fn address_in(net: Address, node: NodeNumber) -> Address {
    let number = u32::from(node.0);
    let ip = match net.ip {
        IpAddr::V4(ip) => IpAddr::V4(Ipv4Addr::from(u32::from(ip).wrapping_add(number))),
        IpAddr::V6(ip) => {
            IpAddr::V6(Ipv6Addr::from(u128::from(ip).wrapping_add(u128::from(number))))
        }
    };
    Address { ip, prefix: net.prefix }
}

fn start_nodes(
    args: &UpArgs,
    topology: &FabricTopology,
    path: &Path,
) -> Result<Vec<Child>, Failure> {
    let nodes = topology.nodes.iter().map(|node| {
        let address = args.net.map(|net| address_in(net, node.number));
        start_node(path, node.number, address, args.spin, args.no_interface)
    });
    nodes.collect()
}

/// Starts the process of a node, in a network namespace of its own. It ends with this process.
pub fn start_node(
    path: &Path,
    node: NodeNumber,
    address: Option<Address>,
    spin: u32,
    no_interface: bool,
) -> Result<Child, Failure> {
    let program =
        std::env::current_exe().map_err(|error| Failure::io("path of this program", &error))?;
    let mut command = Command::new(program);
    command.args(["--quiet", "fabric", "node", &node.to_string()]);
    command.args(["--namespace", "--with-parent"]).arg("--socket").arg(path);
    command.args(["--spin", &spin.to_string()]);
    if let Some(address) = address {
        command.args(["--address", &address.to_string()]);
    }
    if no_interface {
        command.arg("--no-interface");
    }
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.spawn().map_err(|error| Failure::io(format_args!("node {node}"), &error))
}

/// Waits until the nodes have ended, and ends those that do not.
fn end_nodes(backplane: &mut Backplane, mut children: Vec<Child>) {
    let until = Instant::now() + END;
    while !children.is_empty() && Instant::now() < until {
        if backplane.turn(10_000_000).is_err() {
            break;
        }
        children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    }
    for child in &mut children {
        let _ = child.kill();
        let _ = child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_get_the_addresses_of_their_numbers() {
        let address = |net: &str, node| {
            address_in(values::address(net).unwrap(), NodeNumber(node)).to_string()
        };
        assert_eq!(address("192.168.20.0/24", 12), "192.168.20.12/24");
        assert_eq!(address("fd00::/64", 64), "fd00::40/64");
    }
}
