//! `spfe ip`: a network interface over a virtual channel, compatible with the kernel driver's.

mod counters;
mod inbound;
mod offload;
mod pump;
pub mod values;

use crate::context::{Context, DeviceArg};
use crate::error::Failure;
use crate::signal;
use clap::{Args, Subcommand};
use offload::Nodes;
use pump::Pump;
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
    /// Virtual channel [default: the last one of the port].
    #[arg(long, value_name = "N")]
    vc: Option<u32>,
    /// Name of the interface; %d stands for the first free number.
    #[arg(long, value_name = "NAME", default_value = "spfe%d", value_parser = values::name)]
    name: String,
    /// Longest IP packet: 68 to 65500 bytes [default: 9000, or the MTU of an existing TAP device].
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(i64::from(MTU_MIN)..=i64::from(MTU_MAX)))]
    mtu: Option<u32>,
    /// IPv4 or IPv6 address of the interface; more with `ip addr add`.
    #[arg(long, value_name = "A/PREFIX", value_parser = values::address)]
    address: Option<Address>,
    /// Ethernet address of the interface [default: random].
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
    // A port has at least one virtual channel.
    let info = port.info()?;
    let vc = port.vc(args.vc.unwrap_or(info.vcs.saturating_sub(1)))?;
    let nodes = Nodes::of(info.peer, endpoint.info().endpoint, vc.number());
    signal::catch_report();
    let tap = TapDevice::open_offloaded(&args.name).map_err(failed)?;
    configure(&tap, args)?;
    let place = (args.port, vc.number());
    let pump = Pump::new(&tap, port, vc, context, args.encapsulation == 1, nodes)?;
    pump.run(|mtu| announce(&tap, &endpoint, place, mtu, context))
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

/// Configures the interface. An interface that existed before gets only what the options name.
fn configure(tap: &TapDevice, args: &UpArgs) -> Result<(), Failure> {
    // No frames before the state of the link is known.
    let _ = tap.set_carrier(false);
    if let Some(mtu) = args.mtu.or(tap.is_created().then_some(MTU_DEFAULT)) {
        tap.set_mtu(mtu).map_err(failed)?;
    }
    if let Some(mac) = args.mac {
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
fn announce(tap: &TapDevice, endpoint: &Endpoint, place: (u32, u32), mtu: u32, context: &Context) {
    let (device, mac) = (endpoint.info().uri, tap.mac().unwrap_or_default());
    let (port, vc) = place;
    let name = tap.name();
    if context.json {
        let object = json!({
            "interface": name, "device": device, "port": port, "vc": vc, "mtu": mtu, "mac": mac,
        });
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{object}").and_then(|()| out.flush());
    } else {
        context.say(&format!(
            "interface {name}: {device} port {port} VC {vc}, MTU {mtu}, Ethernet address {mac}"
        ));
    }
}
