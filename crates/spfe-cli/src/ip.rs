//! `spfe ip`: a network interface over a virtual channel, compatible with the kernel driver's.

mod counters;
mod frames;
mod inbound;
mod nodes;
mod offload;
mod path;
mod pump;
pub mod values;

use crate::context::{Context, DeviceArg};
use crate::error::Failure;
use crate::signal;
use clap::{Args, Subcommand};
use frames::Frames;
use nodes::Nodes;
use pump::{Pump, Way};
use serde_json::json;
use spfe::{Clock, Endpoint};
use spfe_proto::ethernet::{MTU_DEFAULT, MTU_MAX, MTU_MIN};
use spfe_tap::{TapDevice, TapError};
use std::io::Write;
use values::Address;

const AFTER: &str = "\
One SpaceFibre packet carries one Ethernet frame (docs/netdev.md), as with the interface of the \
kernel driver; both ends use the same virtual channel of a link. The interface needs CAP_NET_ADMIN: \
root, or a network namespace of your own. It is gone when the command ends, which it does on SIGINT \
or SIGTERM, when the interface is removed (both exit with 0), and when the device is gone (5).

Counters are printed at the end and on SIGUSR1. Packets of the network that are no frames are \
dropped and counted by reason: cut (EEP), short, long (for the MTU), wrong header, wrong offload.

The ends find out whether both understand version 2. Then the kernel leaves checksums and the \
segmentation of TCP to the far end. A far end of version 1 counts up to eight wrong headers.

On a fabric port the interface reaches all nodes: it has a queue for each, and the Ethernet address of \
the node. A node that does not read delays its own frames only.

    spfe ip up unix:/run/spfe.sock/0 --address 10.0.0.1/24";

/// Run a network interface over SpaceFibre.
#[derive(Clone, Debug, Subcommand)]
pub enum IpArgs {
    Up(UpArgs),
}

/// Make a network interface whose frames go over a virtual channel, and keep it.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = AFTER)]
pub struct UpArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u32,
    /// Virtual channel of a link [default: the last one of the port].
    #[arg(long, value_name = "N")]
    vc: Option<u32>,
    /// Name of the interface; %d stands for the first free number [default: spfe%d; vxeth%d on a
    /// fabric port].
    #[arg(long, value_name = "NAME", value_parser = values::name)]
    name: Option<String>,
    /// Longest IP packet: 68 to 65500 bytes [default: 9000, 65500 on a fabric port, or the MTU of an
    /// existing TAP device].
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(i64::from(MTU_MIN)..=i64::from(MTU_MAX)))]
    mtu: Option<u32>,
    /// IPv4 or IPv6 address of the interface; more with `ip addr add`.
    #[arg(long, value_name = "A/PREFIX", value_parser = values::address)]
    address: Option<Address>,
    /// Ethernet address of the interface [default: random; fixed on a fabric port].
    #[arg(long, value_name = "M", value_parser = values::mac)]
    mac: Option<[u8; 6]>,
    /// Highest version of the encapsulation: 2 finds out what the far end understands.
    #[arg(long, value_name = "V", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2))]
    encapsulation: u8,
}

/// Runs `spfe ip`.
pub fn run(args: &IpArgs, context: &Context) -> Result<(), Failure> {
    match args {
        IpArgs::Up(args) => up(args, context),
    }
}

fn up(args: &UpArgs, context: &Context) -> Result<(), Failure> {
    let endpoint = open(context)?;
    let port = endpoint.port(args.port)?;
    let nodes = Nodes::at(&endpoint, &port)?;
    let way = match nodes {
        Some(nodes) => {
            check_fabric(args)?;
            Way::Fabric(nodes)
        }
        None => {
            // A port has at least one virtual channel.
            let last = port.info()?.vcs.saturating_sub(1);
            Way::Link(port.vc(args.vc.unwrap_or(last))?)
        }
    };
    signal::catch_report();
    let frames = open_frames(args, &way, context)?;
    let device = (endpoint.info().uri, args.port);
    let pump = Pump::new(frames, (&endpoint, port), &way, args.encapsulation == 1, context)?;
    pump.run(|pump| announce(pump, device, &way, context))
}

/// Refuses options that have no meaning for a node of a fabric.
fn check_fabric(args: &UpArgs) -> Result<(), Failure> {
    let what = match (args.vc, args.mac) {
        (Some(vc), _) => format!(
            "--vc {vc}: port {} is a fabric port, whose interface has a virtual channel to each node",
            args.port
        ),
        (None, Some(_)) => format!(
            "--mac: port {} is a fabric port, whose nodes find each other by fixed addresses",
            args.port
        ),
        (None, None) => return Ok(()),
    };
    Err(Failure::usage(format!("{what}: leave it out")))
}

/// Opens and configures the interface.
fn open_frames(args: &UpArgs, way: &Way, context: &Context) -> Result<Frames, Failure> {
    let (nodes, name) = match way {
        Way::Link(_) => (None, "spfe%d"),
        Way::Fabric(nodes) => (Some(nodes), "vxeth%d"),
    };
    let frames = Frames::open(args.name.as_deref().unwrap_or(name), nodes).map_err(failed)?;
    let (mtu, mac) = match nodes {
        None => (MTU_DEFAULT, args.mac),
        Some(nodes) => (MTU_MAX, Some(nodes.mac())),
    };
    configure(&frames.tap, args, mtu, mac)?;
    if nodes.is_some() && !frames.is_steered() {
        context.say(&format!(
            "interface {}: frames are sorted by this process, because the kernel lets it load no \
             program (CAP_BPF)",
            frames.tap.name()
        ));
    }
    Ok(frames)
}

/// Opens a device that another process can reach.
fn open(context: &Context) -> Result<Endpoint, Failure> {
    if context.device.is_none() {
        let what = "no device: name one whose link goes elsewhere, such as \
            `spfe ip up unix:/run/spfe.sock/0` or `spfe ip up /dev/spfe0`";
        return Err(Failure::usage(what));
    }
    let endpoint = context.open()?;
    if matches!(endpoint.clock(), Clock::Virtual(_)) {
        let what = format!(
            "device {}: its time is virtual, and an interface lives in real time: leave out \
             time=virtual",
            endpoint.info().uri
        );
        return Err(Failure::usage(what));
    }
    Ok(endpoint)
}

/// Configures the interface. An interface that existed before gets only what the options name, and
/// its address on a fabric.
fn configure(
    tap: &TapDevice,
    args: &UpArgs,
    mtu: u32,
    mac: Option<[u8; 6]>,
) -> Result<(), Failure> {
    // No frames before the state of the link is known.
    let _ = tap.set_carrier(false);
    if let Some(mtu) = args.mtu.or(tap.is_created().then_some(mtu)) {
        tap.set_mtu(mtu).map_err(failed)?;
    }
    if let Some(mac) = mac {
        tap.set_mac(mac).map_err(failed)?;
    }
    if let Some(address) = args.address {
        tap.set_address(address.ip, address.prefix).map_err(failed)?;
    }
    tap.set_up().map_err(failed)
}

fn failed(error: TapError) -> Failure {
    Failure::failed(error.to_string())
}

/// Announces the interface when it works.
fn announce(pump: &Pump<'_>, (device, port): (String, u32), way: &Way, context: &Context) {
    let (tap, mtu) = (&pump.frames().tap, pump.mtu());
    let (name, mac) = (tap.name(), tap.mac().unwrap_or_default());
    if context.json {
        let mut object =
            json!({ "interface": name, "device": device, "port": port, "mtu": mtu, "mac": mac });
        match way {
            Way::Link(vc) => object["vc"] = vc.number().into(),
            Way::Fabric(nodes) => {
                object["node"] = nodes.own.into();
                object["nodes"] = nodes.count().into();
            }
        }
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{object}").and_then(|()| out.flush());
        return;
    }
    let place = match way {
        Way::Link(vc) => format!("VC {}", vc.number()),
        Way::Fabric(nodes) => format!("node {} of {}", nodes.own, nodes.count()),
    };
    context.say(&format!(
        "interface {name}: {device} port {port} {place}, MTU {mtu}, Ethernet address {mac}"
    ));
}
