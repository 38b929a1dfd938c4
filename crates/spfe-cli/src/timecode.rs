//! `spfe timecode`: SpaceWire time-codes.

use crate::context::{Context, DeviceArg, Patience, Role, port_of};
use crate::error::Failure;
use crate::{output, parse, post};
use clap::{Args, Subcommand};
use serde_json::json;
use spfe::{PortKind, TimeCodeValue};
use std::time::Duration;

/// Send or show SpaceWire time-codes.
#[derive(Clone, Debug, Subcommand)]
pub enum TimeCodeArgs {
    /// Send time-codes with increasing times.
    Send(SendArgs),
    /// Show time-codes as they arrive.
    Listen(ListenArgs),
}

fn time(text: &str) -> Result<u8, String> {
    parse::within("time", text, 0..=63)
}

fn flags(text: &str) -> Result<u8, String> {
    parse::within("flags", text, 0..=3)
}

impl TimeCodeArgs {
    /// The device.
    pub fn device(&self) -> &DeviceArg {
        match self {
            Self::Send(args) => &args.device,
            Self::Listen(args) => &args.device,
        }
    }
}

/// Options of `timecode send`.
#[derive(Clone, Debug, Args)]
pub struct SendArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Port [default: the first SpaceWire port].
    #[arg(long, value_name = "N")]
    port: Option<u32>,
    /// The first time, 0 to 63.
    #[arg(long, value_name = "0-63", conflicts_with = "tick", value_parser = time)]
    time: Option<u8>,
    /// The two flag bits, 0 to 3.
    #[arg(long, value_name = "0-3", default_value_t = 0, conflicts_with = "tick", value_parser = flags)]
    flags: u8,
    /// Act as time master: send 1, 2, 3 ... until interrupted, or --count of them.
    #[arg(long)]
    tick: bool,
    /// Number of time-codes to send; 0: until interrupted [default: 1; with --tick 0].
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Time-codes per second.
    #[arg(long, value_name = "HZ", default_value = "1", value_parser = parse::hertz)]
    rate: f64,
}

/// Options of `timecode listen`.
#[derive(Clone, Debug, Args)]
pub struct ListenArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Port [default: the first SpaceWire port].
    #[arg(long, value_name = "N")]
    port: Option<u32>,
    /// End after this many [default: until interrupted].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Fail if none arrives for this time [default: wait forever].
    #[arg(long, value_name = "TIME", value_parser = parse::time)]
    deadline: Option<Duration>,
}

/// Sends or shows time-codes.
pub fn run(args: &TimeCodeArgs, context: &Context) -> Result<(), Failure> {
    match args {
        TimeCodeArgs::Send(args) => send(args, context),
        TimeCodeArgs::Listen(args) => listen(args, context),
    }
}

fn send(args: &SendArgs, context: &Context) -> Result<(), Failure> {
    let endpoint = context.open()?;
    let port = port_of(&endpoint, args.port, PortKind::Spacewire)?;
    let mut time_codes = port.time_code()?;
    let count = args.count.unwrap_or(if args.tick { 0 } else { 1 });
    let (mut time, mut last, mut sent) = (args.time.unwrap_or(1), 0, 0u64);
    post::repeat(&port, count, Duration::from_secs_f64(1.0 / args.rate), || {
        last = if args.tick {
            time_codes.tick()?
        } else {
            time_codes.send(time, args.flags)?;
            time
        };
        time = (last + 1) % 64;
        sent += 1;
        Ok(())
    })?;
    if context.json {
        println!("{}", json!({ "port": port.number(), "sent": sent, "last": last }));
    } else {
        post::summary(sent, "time-code", context);
    }
    Ok(())
}

fn listen(args: &ListenArgs, context: &Context) -> Result<(), Failure> {
    let endpoint = context.open_shared(args.port.unwrap_or(0), Role::Serve)?;
    let port = port_of(&endpoint, args.port, PortKind::Spacewire)?;
    let mut time_codes = port.time_code()?;
    context.say(&format!("listening on port {}", port.number()));
    let mut patience = Patience::new(&endpoint, args.deadline);
    let mut before = None;
    let recv = |until| time_codes.recv(until);
    post::listen(&mut patience, args.count, "no time-code", recv, |value| {
        show(&value, before.replace(value.time_ns), context);
    })
}

fn show(value: &TimeCodeValue, before_ns: Option<u64>, context: &Context) {
    let TimeCodeValue { time, flags, time_ns } = *value;
    let since = before_ns.map(|before| time_ns.saturating_sub(before));
    if context.json {
        let object = json!({ "time": time, "flags": flags, "time_ns": time_ns, "since_ns": since });
        println!("{object}");
        return;
    }
    let since = since.map(|ns| format!(" +{}", output::time(ns))).unwrap_or_default();
    println!("{} time {time} flags {flags}{since}", post::stamp(time_ns));
}
