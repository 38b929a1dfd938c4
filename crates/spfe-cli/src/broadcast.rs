//! `spfe broadcast`: SpaceFibre broadcast messages.

use crate::context::{Context, DeviceArg, Patience, Role, port_of};
use crate::error::Failure;
use crate::{output, parse, post};
use clap::{Args, Subcommand};
use serde_json::json;
use spfe::{BroadcastMessage, PortKind};
use std::time::Duration;

/// Send or show SpaceFibre broadcast messages.
#[derive(Clone, Debug, Subcommand)]
pub enum BroadcastArgs {
    /// Send a broadcast message.
    Send(SendArgs),
    /// Show broadcast messages as they arrive.
    Listen(ListenArgs),
}

impl BroadcastArgs {
    /// The device.
    pub fn device(&self) -> &DeviceArg {
        match self {
            Self::Send(args) => &args.device,
            Self::Listen(args) => &args.device,
        }
    }
}

/// Options of `broadcast send`.
#[derive(Clone, Debug, Args)]
pub struct SendArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Port [default: the first SpaceFibre port].
    #[arg(long, value_name = "N")]
    port: Option<u32>,
    /// Broadcast channel.
    #[arg(long, value_name = "N", default_value = "0", value_parser = parse::byte)]
    channel: u8,
    /// Broadcast type.
    #[arg(long = "type", value_name = "N", default_value = "0", value_parser = parse::byte)]
    kind: u8,
    /// Up to eight bytes: 0x and hexadecimal digits, or text; padded with zeros.
    #[arg(long, value_name = "HEX|TEXT", default_value = "", value_parser = parse::data)]
    data: [u8; 8],
    /// Number of messages to send; 0: until interrupted.
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u64,
    /// Time between messages.
    #[arg(long, value_name = "TIME", default_value = "1", value_parser = parse::time)]
    interval: Duration,
}

/// Options of `broadcast listen`.
#[derive(Clone, Debug, Args)]
pub struct ListenArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Port [default: the first SpaceFibre port].
    #[arg(long, value_name = "N")]
    port: Option<u32>,
    /// Show only this broadcast channel.
    #[arg(long, value_name = "N", value_parser = parse::byte)]
    channel: Option<u8>,
    /// Show only this broadcast type.
    #[arg(long = "type", value_name = "N", value_parser = parse::byte)]
    kind: Option<u8>,
    /// End after this many messages [default: until interrupted].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Fail if no message arrives for this time [default: wait forever].
    #[arg(long, value_name = "TIME", value_parser = parse::time)]
    deadline: Option<Duration>,
}

/// Sends or shows messages.
pub fn run(args: &BroadcastArgs, context: &Context) -> Result<(), Failure> {
    match args {
        BroadcastArgs::Send(args) => send(args, context),
        BroadcastArgs::Listen(args) => listen(args, context),
    }
}

fn send(args: &SendArgs, context: &Context) -> Result<(), Failure> {
    let endpoint = context.open()?;
    let port = port_of(&endpoint, args.port, PortKind::Spacefibre)?;
    let mut messages = port.broadcast()?;
    let mut sent = 0u64;
    post::repeat(&port, args.count, args.interval, || {
        messages.send(args.channel, args.kind, args.data)?;
        sent += 1;
        Ok(())
    })?;
    if context.json {
        let object = json!({
            "port": port.number(),
            "channel": args.channel,
            "type": args.kind,
            "data": parse::hex(&args.data),
            "sent": sent,
        });
        println!("{object}");
    } else {
        post::summary(sent, "message", context);
    }
    Ok(())
}

fn listen(args: &ListenArgs, context: &Context) -> Result<(), Failure> {
    let endpoint = context.open_shared(args.port.unwrap_or(0), Role::Serve)?;
    let port = port_of(&endpoint, args.port, PortKind::Spacefibre)?;
    let mut messages = port.broadcast_filtered(args.channel, args.kind)?;
    context.say(&format!("listening on port {}", port.number()));
    let mut patience = Patience::new(&endpoint, args.deadline);
    let recv = |until| messages.recv(until);
    post::listen(&mut patience, args.count, "no broadcast message", recv, |message| {
        show(&message, context);
    })
}

fn show(message: &BroadcastMessage, context: &Context) {
    if context.json {
        let object = json!({
            "channel": message.channel,
            "type": message.kind,
            "data": parse::hex(&message.data),
            "late": message.late,
            "delayed": message.delayed,
            "lost_before": message.lost_before,
            "time_ns": message.time_ns,
        });
        println!("{object}");
        return;
    }
    let flags = [
        (message.late, " late"),
        (message.delayed, " delayed"),
        (message.lost_before, " lost-before"),
    ];
    let flags: String = flags.iter().filter(|(on, _)| *on).map(|(_, name)| *name).collect();
    println!(
        "{} channel {} type {:#04x} data {} '{}'{flags}",
        post::stamp(message.time_ns),
        message.channel,
        message.kind,
        parse::hex(&message.data),
        text(&message.data)
    );
}

/// The bytes as text, without trailing zeros.
fn text(data: &[u8; 8]) -> String {
    let end = data.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    output::printable(&String::from_utf8_lossy(&data[..end]))
}
