//! `spfe packet`: sends and shows single packets.

use crate::address::AddressArgs;
use crate::context::{Context, DeviceArg, Patience, Role};
use crate::error::{Failure, Kind};
use crate::rmap::{show, values};
use crate::{output, parse, post, signal};
use clap::{Args, Subcommand};
use serde_json::json;
use spfe::{Buf, End, Endpoint, Received, Rx, Status};
use std::time::Duration;

/// Logical address of a node that has no other one (50-51C): before a protocol identifier.
const DEFAULT_LOGICAL: u8 = 254;
/// Buffers of a listener.
const BUFFERS: usize = 64;
/// Memory of a listener's buffers, bytes.
const MEMORY: usize = 64 << 20;

const AFTER: &str = "\
A packet is its path bytes, which routers take off, the logical address, the protocol identifier \
and the data:
  spfe packet send unix:/tmp/spfe.sock/0 --path 1,3 --logical 0x40 --pid 0xf0 --hex '01 02 03'
  spfe packet listen unix:/tmp/spfe.sock/1";

/// Send or show single packets.
#[derive(Clone, Debug, Subcommand)]
#[command(after_long_help = AFTER)]
pub enum PacketArgs {
    Send(SendArgs),
    Listen(ListenArgs),
}

/// Send a packet with the given bytes and end marker.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = AFTER)]
pub struct SendArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u32,
    /// Virtual channel.
    #[arg(long, value_name = "N", default_value_t = 0)]
    vc: u32,
    #[command(flatten)]
    address: AddressArgs,
    /// Protocol identifier; the logical address before it is 254 without --logical.
    #[arg(long, value_name = "BYTE", value_parser = parse::byte)]
    pid: Option<u8>,
    /// Data: hexadecimal digits in pairs, or @FILE.
    #[arg(long, value_name = "HEX|@FILE", default_value = "")]
    hex: String,
    /// Data as text, after those of --hex.
    #[arg(long, value_name = "TEXT", default_value = "")]
    text: String,
    /// End the packet with EEP, the error end of packet.
    #[arg(long)]
    eep: bool,
    /// Number of packets to send; 0: until interrupted.
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u64,
    /// Time between packets.
    #[arg(long, value_name = "TIME", default_value = "1", value_parser = parse::time)]
    interval: Duration,
    /// Fail if a packet has not left after this time.
    #[arg(long, value_name = "TIME", default_value = "5", value_parser = parse::time)]
    deadline: Duration,
}

/// Show packets as they arrive: time, length, end marker, and a dump of the bytes.
#[derive(Clone, Debug, Args)]
pub struct ListenArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u32,
    /// Virtual channel.
    #[arg(long, value_name = "N", default_value_t = 0)]
    vc: u32,
    /// Length of the buffers; longer packets are shown in parts.
    #[arg(long, value_name = "SIZE", default_value = "64K", value_parser = parse::packet)]
    size: usize,
    /// Show at most this many bytes of a packet [default: all].
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    dump: Option<u64>,
    /// End after this many packets [default: until interrupted].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Fail if no packet arrives for this time [default: wait forever].
    #[arg(long, value_name = "TIME", value_parser = parse::time)]
    deadline: Option<Duration>,
}

impl PacketArgs {
    /// The device.
    pub fn device(&self) -> &DeviceArg {
        match self {
            Self::Send(args) => &args.device,
            Self::Listen(args) => &args.device,
        }
    }
}

/// Runs `spfe packet`.
pub fn run(args: &PacketArgs, context: &Context) -> Result<(), Failure> {
    match args {
        PacketArgs::Send(args) => send(args, context),
        PacketArgs::Listen(args) => listen(args, context),
    }
}

impl SendArgs {
    /// The bytes of the packet.
    fn bytes(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = self.address.bytes();
        if let Some(pid) = self.pid {
            if self.address.logical.is_none() {
                bytes.push(DEFAULT_LOGICAL);
            }
            bytes.push(pid);
        }
        bytes.extend(values::data(&self.hex)?);
        bytes.extend(self.text.as_bytes());
        match bytes.len() {
            0 => Err(Failure::usage("an empty packet: give --hex or --text, 1 byte or more")),
            _ => Ok(bytes),
        }
    }
}

fn send(args: &SendArgs, context: &Context) -> Result<(), Failure> {
    let bytes = args.bytes()?;
    let endpoint = context.open_shared(args.port, Role::Send)?;
    let mut tx = endpoint.port(args.port)?.vc(args.vc)?.tx()?;
    let mut buf = Some(endpoint.alloc(bytes.len())?.buf(0..bytes.len())?);
    let end = if args.eep { End::Eep } else { End::Eop };
    let mut patience = Patience::new(&endpoint, Some(args.deadline));
    let mut sent = 0u64;
    while args.count == 0 || sent < args.count {
        if sent != 0 && !signal::sleep(args.interval) {
            if args.count == 0 {
                break;
            }
            return Err(Failure::interrupted());
        }
        // The buffer came back with the completion of the packet before.
        let Some(mut packet) = buf.take() else { break };
        packet.put(&bytes);
        tx.send_ending(packet, end).map_err(spfe::Error::from)?;
        patience.renew();
        let what = format!("port {} VC {}: the packet has not left", args.port, args.vc);
        patience.wait(&what, |until| tx.wait(until))?;
        while let Some(done) = tx.poll() {
            if done.status != Status::Ok {
                let what = format!("the packet was not sent: {}", done.status.doc());
                return Err(spfe::Error::device(done.status, what).into());
            }
        }
        buf = tx.take();
        sent += 1;
    }
    report(args, &bytes, sent, context);
    Ok(())
}

fn report(args: &SendArgs, bytes: &[u8], sent: u64, context: &Context) {
    let end = if args.eep { "EEP" } else { "EOP" };
    if context.json {
        let (port, vc, length) = (args.port, args.vc, bytes.len());
        let object = json!({ "port": port, "vc": vc, "bytes": length, "end": end, "sent": sent });
        println!("{object}");
    } else {
        let length = output::bytes(bytes.len() as u64);
        context.say(&format!("{} of {length} with {end} sent", output::plural(sent, "packet")));
    }
}

fn listen(args: &ListenArgs, context: &Context) -> Result<(), Failure> {
    let endpoint = context.open_shared(args.port, Role::Receive)?;
    let mut rx = endpoint.port(args.port)?.vc(args.vc)?.rx()?;
    let mut bufs = buffers(&endpoint, args.size)?;
    rx.post_all(&mut bufs);
    context.say(&format!("listening on port {} VC {}", args.port, args.vc));
    let mut patience = Patience::new(&endpoint, args.deadline);
    let (mut packets, mut offset) = (0u64, 0u64);
    while args.count.is_none_or(|count| packets < count) {
        let received = match next(&mut rx, &patience) {
            Ok(received) => received,
            Err(failure) if failure.kind == Kind::Interrupted && args.count.is_none() => break,
            Err(failure) => return Err(failure),
        };
        patience.renew();
        if !matches!(received.status, Status::Ok | Status::PacketCut) {
            let what = format!("a buffer was not used: {}", received.status.doc());
            return Err(spfe::Error::device(received.status, what).into());
        }
        let time_ns = received.time_ns.unwrap_or_else(|| endpoint.now_ns());
        show(args, &received, time_ns, offset, context);
        offset = if received.more() { offset + received.buf.len() as u64 } else { 0 };
        packets += u64::from(!received.more());
        rx.post(received.buf).map_err(spfe::Error::from)?;
    }
    Ok(())
}

fn next(rx: &mut Rx, patience: &Patience) -> Result<Received, Failure> {
    patience.wait("no packet", |until| rx.recv(until))
}

fn buffers(endpoint: &Endpoint, size: usize) -> Result<Vec<Buf>, Failure> {
    let stride = size.next_multiple_of(64);
    let count = (MEMORY / stride).clamp(2, BUFFERS);
    let memory = endpoint.alloc(stride * count)?;
    let cut = |index| memory.buf(index * stride..index * stride + size);
    Ok((0..count).map(cut).collect::<spfe::Result<_>>()?)
}

/// Prints a packet, or the part of one that begins at `offset`.
fn show(args: &ListenArgs, received: &Received, time_ns: u64, offset: u64, context: &Context) {
    let data = &received.buf[..];
    let end = match received.end {
        End::Eop => "EOP",
        End::Eep => "EEP",
        End::More => "continues",
    };
    if context.json {
        let object = json!({
            "time_ns": time_ns,
            "port": args.port,
            "vc": args.vc,
            "offset": offset,
            "bytes": data.len(),
            "end": (received.end != End::More).then_some(end),
            "data": parse::hex(data),
        });
        println!("{object}");
        return;
    }
    let (stamp, total) = (post::stamp(time_ns), output::bytes(data.len() as u64));
    println!("{stamp} port {} VC {}: {total}, {end}", args.port, args.vc);
    let shown = args.dump.map_or(data.len(), |most| data.len().min(most as usize));
    print!("{}", show::dump(offset, true, &data[..shown]));
}
