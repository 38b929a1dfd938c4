//! `spfe fabric node`: the process of a node.

use super::{FabricSocket, node_number, space};
use crate::context::Context;
use crate::error::Failure;
use crate::ip::values;
use crate::ip::values::Address;
use crate::signal;
use clap::Args;
use serde_json::json;
use spfe_fabric::node::{FrameTap, NodeEvent, NodeOptions, NodeRunner};
use spfe_fabric::topology::NodeNumber;
use spfe_fabric::wire::PeerState;
use spfe_tap::TapError;

const AFTER: &str = "\
The process owns the node's network interface and its ends of the links to all other nodes. It needs \
CAP_NET_ADMIN, or --namespace, which gives it a network namespace of its own; `spfe fabric exec NODE \
COMMAND` runs a command there. It is gone when the command ends.

    spfe fabric node 1 --namespace --address 192.168.20.1/24";

/// Run a node: its interface vxeth0, and its links to the other nodes.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = AFTER)]
pub struct NodeArgs {
    #[command(flatten)]
    socket: FabricSocket,
    /// Number of the node, or slot and CPU such as 4A.
    #[arg(value_parser = node_number)]
    node: NodeNumber,
    /// IPv4 or IPv6 address of the interface; may be repeated.
    #[arg(long, value_name = "A/PREFIX", value_parser = values::address)]
    address: Vec<Address>,
    /// Name of the interface.
    #[arg(long, value_name = "NAME", default_value = "vxeth0", value_parser = values::name)]
    name: String,
    /// Longest IP packet [default: that of the topology].
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(68..=65500))]
    mtu: Option<u32>,
    /// Make no interface: the node serves raw mode only.
    #[arg(long, conflicts_with_all = ["address", "mtu"])]
    no_interface: bool,
    /// Run in a network namespace of its own.
    #[arg(long)]
    namespace: bool,
    /// How long an idle node polls before it sleeps, in microseconds.
    #[arg(long, value_name = "US", default_value_t = 0)]
    spin: u32,
    /// End when the process that started it ends.
    #[arg(long, hide = true)]
    with_parent: bool,
}

/// Runs the node.
pub fn run(args: &NodeArgs, context: &Context) -> Result<(), Failure> {
    if args.with_parent {
        let signal = Some(rustix::process::Signal::TERM);
        rustix::process::set_parent_process_death_signal(signal)
            .map_err(|error| Failure::io("signal of the parent", &error.into()))?;
    }
    if args.namespace {
        space::leave().map_err(|error| Failure::io("network namespace", &error))?;
        spfe_tap::set_interface_up("lo").map_err(failed)?;
    }
    let mut node = NodeRunner::join(NodeOptions {
        socket: args.socket.path(),
        node: args.node,
        spin_ns: u64::from(args.spin) * 1000,
        addresses: args.address.iter().map(|address| address.ip).collect(),
    })?;
    if !args.no_interface {
        let tap = interface(args, &node)?;
        if !tap.is_steered() {
            context.say(&format!(
                "interface {}: the kernel takes no program here; frames are sorted by this process",
                tap.name()
            ));
        }
        node.attach(tap);
    }
    let epoch = node.epoch();
    tell(args.node, &NodeEvent::Joined { epoch }, context);
    node.run(signal::caught, |event| tell(args.node, &event, context))?;
    Ok(())
}

fn interface(args: &NodeArgs, node: &NodeRunner) -> Result<FrameTap, Failure> {
    let tap = FrameTap::open(&args.name, node.highest().0).map_err(failed)?;
    let device = tap.device();
    // No frames before a peer is READY.
    let _ = device.set_carrier(false);
    device.set_mac(node.mac()).map_err(failed)?;
    device.set_mtu(args.mtu.unwrap_or(node.mtu())).map_err(failed)?;
    for address in &args.address {
        device.set_address(address.ip, address.prefix).map_err(failed)?;
    }
    device.set_up().map_err(failed)?;
    Ok(tap)
}

fn failed(error: TapError) -> Failure {
    Failure::failed(error.to_string())
}

/// Tells about an event: all of them as JSON, else those that are no daily business.
fn tell(node: NodeNumber, event: &NodeEvent, context: &Context) {
    if context.json {
        let object = match event {
            NodeEvent::Joined { epoch } => json!({ "event": "joined", "epoch": epoch }),
            NodeEvent::Peer { peer, state, why } => {
                json!({ "event": "peer", "peer": peer, "state": state.name(), "why": why })
            }
            NodeEvent::BackplaneGone => json!({ "event": "backplane gone" }),
            NodeEvent::Ended => json!({ "event": "ended" }),
        };
        println!("{object}");
        return;
    }
    match event {
        NodeEvent::Joined { epoch } => context.say(&format!("node {node}: joined, start {epoch}")),
        NodeEvent::Peer { peer, state: PeerState::Error, why } => {
            context.say(&format!("node {node}: peer {peer} broke the link: {why}"));
        }
        NodeEvent::Peer { .. } => {}
        NodeEvent::BackplaneGone => context.say(&format!(
            "node {node}: the backplane is gone; links work on until the next one replaces them"
        )),
        NodeEvent::Ended => context.say(&format!("node {node}: the fabric has ended")),
    }
}
