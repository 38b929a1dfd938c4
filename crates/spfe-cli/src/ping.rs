//! `spfe ping`: round trips of packets to an echo, and the echo itself.

mod echo;

use crate::address::AddressArgs;
use crate::context::{Context, DeviceArg, Patience};
use crate::error::{Failure, Kind};
use crate::frame::random_id;
use crate::{output, parse, signal};
use clap::Args;
use hdrhistogram::Histogram;
use serde_json::json;
use spfe::{Buf, Deadline, End, Endpoint, Error, Peer, Rx, Status, Tx};
use std::time::Duration;

/// Default device: a network with an echo.
const ECHO_DEVICE: &str = "virtual:?peer=echo";
/// Name of the backend of simulated cores.
const SIMULATED: &str = "rtl";
/// Default number of packets.
const COUNT: u64 = 10;
/// Default time limit for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Length of the packet header: number of the run (16 bytes) and of the packet (8 bytes).
const HEADER_BYTES: usize = 24;

const AFTER: &str = "\
Without a device, virtual:?peer=echo is used. To ping another process, start \
the echo at the other end first:
  spfe ping unix:/tmp/spfe.sock/1 --respond &
  spfe ping unix:/tmp/spfe.sock/0 --count 1000 --interval 0

A simulated core whose ports are joined (rtl:) answers itself, with an echo at the other port.

In a network of routers both ends need an address: --path or --logical of ping leads to the echo, that \
of --respond leads back. A path that leads back to the own port needs no echo.

When interrupted, ping prints its figures; the exit code is 0 if an answer has arrived.";

/// Measure round-trip times of packets to an echo.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = AFTER)]
pub struct PingArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u32,
    /// Virtual channel.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub vc: u32,
    /// Length of the packets, with --respond of the buffers, such as 1500 or 64K
    /// [default: 64; with --respond 64K].
    #[arg(long, value_name = "SIZE", value_parser = parse::packet)]
    pub size: Option<usize>,
    /// End after this many packets; 0: until interrupted [default: 10; with --respond 0].
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// Time between packets.
    #[arg(long, value_name = "TIME", default_value = "0.1", value_parser = parse::time)]
    pub interval: Duration,
    /// Fail if no packet arrives for this time [default: 5; with --respond wait forever].
    #[arg(long, value_name = "TIME", value_parser = parse::time)]
    pub deadline: Option<Duration>,
    #[command(flatten)]
    pub address: AddressArgs,
    /// Act as the echo: send received packets back.
    #[arg(long)]
    pub respond: bool,
}

/// The port of the same simulated core at the far end of a port.
fn own_far_port(endpoint: &Endpoint, port: u32) -> Result<Option<u32>, Failure> {
    let info = endpoint.info();
    if info.backend != SIMULATED {
        return Ok(None);
    }
    Ok(match endpoint.port(port)?.info()?.peer {
        Peer::Port { endpoint, port: far } if endpoint == info.endpoint => Some(far),
        _ => None,
    })
}

/// Runs `spfe ping`.
pub fn run(args: &PingArgs, context: &Context) -> Result<(), Failure> {
    if args.respond {
        return echo::run(args, context);
    }
    let endpoint = context.open_or(ECHO_DEVICE)?;
    // A simulated core has nothing but its own ports at the far end.
    if let Some(port) = own_far_port(&endpoint, args.port)? {
        echo::start(&endpoint, &PingArgs { port, size: None, ..args.clone() })?;
    }
    let mut pinger = Pinger::open(&endpoint, args)?;
    let outcome = pinger.ping_all(args, context);
    pinger.report(args, context);
    match outcome {
        Err(failure) if failure.kind == Kind::Interrupted && !pinger.times.is_empty() => Ok(()),
        outcome => outcome,
    }
}

/// The queues of a virtual channel and the measured times.
struct Pinger {
    tx: Tx,
    rx: Rx,
    endpoint: Endpoint,
    patience: Patience,
    run: [u8; 16],
    sent: u64,
    times: Histogram<u64>,
    size: usize,
    /// Bytes before each packet.
    address: Vec<u8>,
    free: Vec<Buf>,
}

/// Room for addresses that are still before an answer.
const ADDRESS_ROOM: usize = 16;

impl Pinger {
    fn open(endpoint: &Endpoint, args: &PingArgs) -> Result<Self, Failure> {
        const BUFS: usize = 4;
        let size = args.size.unwrap_or(64);
        let address = args.address.bytes();
        let room = size + address.len().max(ADDRESS_ROOM);
        let stride = room.next_multiple_of(64);
        let memory = endpoint.alloc(stride * BUFS)?;
        let cut = |index| memory.buf(index * stride..index * stride + room);
        let mut bufs = (0..BUFS).map(cut).collect::<spfe::Result<Vec<_>>>()?;
        let vc = endpoint.port(args.port)?.vc(args.vc)?;
        let mut rx = vc.rx()?;
        rx.post_all(&mut bufs.split_off(BUFS / 2));
        // Three significant digits; the histogram grows as needed.
        let times = Histogram::new(3).map_err(|error| Failure::failed(error.to_string()))?;
        Ok(Self {
            tx: vc.tx()?,
            rx,
            endpoint: endpoint.clone(),
            patience: Patience::new(endpoint, Some(args.deadline.unwrap_or(ANSWER_TIMEOUT))),
            run: random_id(),
            sent: 0,
            times,
            size,
            address,
            free: bufs,
        })
    }

    fn ping_all(&mut self, args: &PingArgs, context: &Context) -> Result<(), Failure> {
        let count = args.count.unwrap_or(COUNT);
        let mut due_ns = self.endpoint.now_ns();
        while count == 0 || self.sent < count {
            let now = self.endpoint.now_ns();
            let interval = Duration::from_nanos(due_ns.saturating_sub(now));
            if !interval.is_zero() && !signal::sleep(interval) {
                return Err(Failure::interrupted());
            }
            due_ns = due_ns.max(now).saturating_add(args.interval.as_nanos() as u64);
            let ns = self.ping()?;
            // A growing histogram accepts every value.
            let _ = self.times.record(ns);
            let (seq, size) = (self.sent - 1, self.size);
            if context.json {
                println!("{}", json!({ "seq": seq, "bytes": size, "rtt_ns": ns }));
            } else if !context.quiet {
                println!("{size} bytes: seq={seq} time={}", output::time(ns));
            }
        }
        Ok(())
    }

    /// Sends a packet and returns the time until its answer, ns.
    fn ping(&mut self) -> Result<u64, Failure> {
        let mut packet = self.buffer()?;
        let pattern = self.pattern(self.sent);
        packet.put(&[&self.address[..], &pattern].concat());
        self.patience.renew();
        let start = self.endpoint.now_ns();
        self.tx.send(packet).map_err(|full| Failure::from(Error::from(full)))?;
        self.sent += 1;
        loop {
            let (tx, rx) = (&mut self.tx, &mut self.rx);
            let what = format!("seq={}: no answer", self.sent - 1);
            let received = self.patience.wait(&what, |until| {
                // If this thread runs the engine, polling moves the packets on.
                let _ = tx.wait(Deadline::NOW);
                rx.recv(until)
            })?;
            let end = self.endpoint.now_ns();
            let good = received.status == Status::Ok && received.end == End::Eop;
            // Logical addresses remain before the packet.
            let extra = received.buf.len().saturating_sub(self.size).min(ADDRESS_ROOM);
            let matches = good && received.buf[extra..] == pattern[..];
            let own = self.is_own(&received.buf[extra..]);
            let length = received.buf.len();
            self.rx.post(received.buf).map_err(|full| Failure::from(Error::from(full)))?;
            if matches {
                return Ok(end - start);
            }
            if own {
                return Err(Failure::damaged(format!(
                    "seq={}: {length} bytes came back, not the {} that were sent",
                    self.sent - 1,
                    self.size
                )));
            }
            // A late answer to an earlier run.
        }
    }

    /// Whether a packet belongs to this run. Short packets carry no number and are accepted.
    fn is_own(&self, packet: &[u8]) -> bool {
        packet.len() < HEADER_BYTES || self.size < HEADER_BYTES || packet[..16] == self.run
    }

    /// Returns a free buffer.
    fn buffer(&mut self) -> Result<Buf, Failure> {
        loop {
            while let Some(sent) = self.tx.poll() {
                if sent.status != Status::Ok {
                    let what = format!("a packet was not sent: {}", sent.status.doc());
                    return Err(Error::device(sent.status, what).into());
                }
            }
            while let Some(buf) = self.tx.take() {
                self.free.push(buf);
            }
            if let Some(buf) = self.free.pop() {
                return Ok(buf);
            }
            let tx = &mut self.tx;
            self.patience.wait("no packet was taken by the far end", |until| tx.wait(until))?;
        }
    }

    /// The contents of packet `number`: run, number, and bytes that depend on both.
    fn pattern(&self, number: u64) -> Vec<u8> {
        let head = self.run.iter().copied().chain(number.to_le_bytes());
        let body = (HEADER_BYTES..).map(|at| (at as u64).wrapping_add(number) as u8);
        head.chain(body).take(self.size).collect()
    }

    fn report(&self, args: &PingArgs, context: &Context) {
        let times = &self.times;
        let (min, p50, p99) =
            (times.min(), times.value_at_quantile(0.5), times.value_at_quantile(0.99));
        let (mean, max) = (times.mean() as u64, times.max());
        if context.json {
            let ns = json!({ "min": min, "p50": p50, "mean": mean, "p99": p99, "max": max });
            let rtt = if times.is_empty() { serde_json::Value::Null } else { ns };
            let object = json!({
                "device": self.endpoint.info().uri,
                "port": args.port,
                "vc": args.vc,
                "size": self.size,
                "sent": self.sent,
                "received": times.len(),
                "rtt_ns": rtt,
            });
            println!("{object}");
            return;
        }
        let sent = output::plural(self.sent, "packet");
        let size = output::bytes(self.size as u64);
        println!("{sent} of {size} sent, {} came back", times.len());
        if !times.is_empty() {
            let text = [min, p50, mean, p99, max].map(output::time).join(" / ");
            println!("round trip min / p50 / mean / p99 / max = {text}");
        }
    }
}
