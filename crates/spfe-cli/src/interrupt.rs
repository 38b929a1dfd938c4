//! `spfe interrupt`: distributed interrupts of SpaceWire.

use crate::context::{Context, DeviceArg, Patience, Role, port_of};
use crate::error::Failure;
use crate::{output, parse, post};
use clap::{Args, Subcommand};
use serde_json::json;
use spfe::{InterruptCode, PortKind};
use std::time::Duration;

/// Send or show distributed interrupts of SpaceWire.
#[derive(Clone, Debug, Subcommand)]
pub enum InterruptArgs {
    /// Send an interrupt, or its acknowledgement.
    Send(SendArgs),
    /// Show interrupts and acknowledgements as they arrive.
    Listen(ListenArgs),
}

fn number(text: &str) -> Result<u8, String> {
    parse::within("interrupt", text, 0..=31)
}

impl InterruptArgs {
    /// The device.
    pub fn device(&self) -> &DeviceArg {
        match self {
            Self::Send(args) => &args.device,
            Self::Listen(args) => &args.device,
        }
    }
}

/// Options of `interrupt send`.
#[derive(Clone, Debug, Args)]
pub struct SendArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Port [default: the first SpaceWire port].
    #[arg(long, value_name = "N")]
    port: Option<u32>,
    /// Identifier of the interrupt, 0 to 31.
    #[arg(long, value_name = "0-31", default_value_t = 0, value_parser = number)]
    number: u8,
    /// Send the acknowledgement.
    #[arg(long)]
    acknowledge: bool,
    /// Number of codes to send; 0: until interrupted.
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u64,
    /// Codes per second.
    #[arg(long, value_name = "HZ", default_value = "1", value_parser = parse::hertz)]
    rate: f64,
}

/// Options of `interrupt listen`.
#[derive(Clone, Debug, Args)]
pub struct ListenArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Port [default: the first SpaceWire port].
    #[arg(long, value_name = "N")]
    port: Option<u32>,
    /// Acknowledge each interrupt.
    #[arg(long)]
    acknowledge: bool,
    /// End after this many [default: until interrupted].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Fail if none arrives for this time [default: wait forever].
    #[arg(long, value_name = "TIME", value_parser = parse::time)]
    deadline: Option<Duration>,
}

/// Sends or shows interrupts.
pub fn run(args: &InterruptArgs, context: &Context) -> Result<(), Failure> {
    match args {
        InterruptArgs::Send(args) => send(args, context),
        InterruptArgs::Listen(args) => listen(args, context),
    }
}

fn send(args: &SendArgs, context: &Context) -> Result<(), Failure> {
    let endpoint = context.open()?;
    let port = port_of(&endpoint, args.port, PortKind::Spacewire)?;
    let mut interrupts = port.interrupts()?;
    let mut sent = 0u64;
    post::repeat(&port, args.count, Duration::from_secs_f64(1.0 / args.rate), || {
        if args.acknowledge {
            interrupts.acknowledge(args.number)?;
        } else {
            interrupts.send(args.number)?;
        }
        sent += 1;
        Ok(())
    })?;
    if context.json {
        println!("{}", json!({ "port": port.number(), "sent": sent }));
    } else {
        post::summary(sent, "interrupt", context);
    }
    Ok(())
}

fn listen(args: &ListenArgs, context: &Context) -> Result<(), Failure> {
    let endpoint = context.open_shared(args.port.unwrap_or(0), Role::Serve)?;
    let port = port_of(&endpoint, args.port, PortKind::Spacewire)?;
    let mut interrupts = port.interrupts()?;
    context.say(&format!("listening on port {}", port.number()));
    let mut patience = Patience::new(&endpoint, args.deadline);
    let mut before = None;
    let recv = |until| {
        let got = interrupts.recv(until)?;
        if args.acknowledge && !got.acknowledge {
            interrupts.acknowledge(got.number)?;
        }
        Ok(got)
    };
    post::listen(&mut patience, args.count, "no interrupt", recv, |got| {
        show(&got, before.replace(got.time_ns), context);
    })?;
    // The last acknowledgement is on its way.
    Ok(interrupts.drain(spfe::Deadline::after(Duration::from_secs(1)))?)
}

fn show(got: &InterruptCode, before_ns: Option<u64>, context: &Context) {
    let InterruptCode { number, acknowledge, lost_before, time_ns } = *got;
    let since = before_ns.map(|before| time_ns.saturating_sub(before));
    if context.json {
        let object = json!({
            "number": number, "acknowledge": acknowledge, "lost_before": lost_before,
            "time_ns": time_ns, "since_ns": since,
        });
        println!("{object}");
        return;
    }
    let what = if acknowledge { "acknowledgement" } else { "interrupt" };
    let lost = if lost_before { " (earlier ones were lost)" } else { "" };
    let since = since.map(|ns| format!(" +{}", output::time(ns))).unwrap_or_default();
    println!("{} {what} {number}{since}{lost}", post::stamp(time_ns));
}
