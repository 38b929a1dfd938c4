//! The command line of `spfe perf`.

use super::place::EndName;
use crate::address::AddressArgs;
use crate::parse;
use clap::{Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};
use spfe::{Link, LinkRate, Mode, Strategy};
use std::path::PathBuf;
use std::time::Duration;

/// Limit of a packet and of a window, bytes.
const BYTES_MAX: u64 = 16 << 20;

/// Measure rates, latencies and processor loads.
#[derive(Args, Clone, Debug)]
pub struct PerfArgs {
    /// The test to run.
    #[command(subcommand)]
    pub test: Test,
}

/// Serve as the far end of a measurement.
#[derive(Args, Clone, Debug)]
pub struct WorkerArgs {
    /// Device of the far end.
    pub device: String,
    /// CPU to run on.
    #[arg(long)]
    pub cpu: Option<usize>,
    /// Run under SCHED_FIFO.
    #[arg(long)]
    pub fifo: bool,
}

/// The tests.
#[derive(Subcommand, Clone, Debug)]
pub enum Test {
    /// Measure the maximum rate with packets of fixed sizes.
    Rate(RateArgs),
    /// Measure the maximum rate with packets of random sizes. The smallest size rises from case to case.
    Random(RandomArgs),
    /// Measure the latency of a packet: half of a round trip, or out of one end and in at the other.
    Latency(LatencyArgs),
    /// Measure the latency of broadcast messages and time-codes, on an idle link and beside data.
    Broadcast(MessageArgs),
    /// Repeat the four scenarios of a publication as published, with the published figures beside them.
    /// Then measure better methods, in rows of their own.
    Tables(TablesArgs),
    /// Measure reads, writes and atomic operations on the memory of a target-only endpoint.
    Rdma(RdmaArgs),
    /// Measure how fast the link of simulated cores recovers from bit errors, and that all packets
    /// arrive as they were sent.
    #[cfg(feature = "rtl")]
    Recovery(RecoveryArgs),
    /// Show several measurements in one report: their curves in the same charts.
    Compare(CompareArgs),
    Theory(TheoryArgs),
}

/// Packets of fixed sizes.
#[derive(Args, Clone, Debug)]
pub struct RateArgs {
    #[command(flatten)]
    pub sizes: SizeArgs,
    #[command(flatten)]
    pub traffic: TrafficArgs,
    #[command(flatten)]
    pub setup: SetupArgs,
}

/// Packets of random sizes.
#[derive(Args, Clone, Debug)]
pub struct RandomArgs {
    #[command(flatten)]
    pub sizes: SizeArgs,
    /// Seed of the sizes [default: random, and printed].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Do not write and verify contents. Sizes are always verified.
    #[arg(long, conflicts_with = "check")]
    pub no_check: bool,
    #[command(flatten)]
    pub traffic: TrafficArgs,
    #[command(flatten)]
    pub setup: SetupArgs,
}

/// Broadcast messages and time-codes.
#[derive(Args, Clone, Debug)]
pub struct MessageArgs {
    /// Messages of an iteration, instead of its length.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    #[command(flatten)]
    pub setup: SetupArgs,
}

/// Operations on remote memory.
#[derive(Args, Clone, Debug)]
pub struct RdmaArgs {
    /// The operation.
    #[arg(value_enum)]
    pub operation: RdmaOperation,
    #[command(flatten)]
    pub sizes: SizeArgs,
    /// Operations with one doorbell and one completion; auto is as many as fit into 2 MiB, at most
    /// 128.
    #[arg(long, value_name = "N|auto", default_value = "auto", value_parser = group)]
    pub group: Group,
    /// Groups that are submitted before the first of them has completed.
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u32).range(1..=64))]
    pub under_way: u32,
    #[command(flatten)]
    pub setup: SetupArgs,
}

/// Operations of RDMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub enum RdmaOperation {
    /// Write remote memory.
    Write,
    /// Read remote memory.
    Read,
    /// Add to 8 bytes of remote memory.
    Atomic,
    /// Send messages to the queue pair of another endpoint.
    Send,
    /// Half of a round trip: two ends write each other's memory, and each polls the last byte of its
    /// own. On a link that takes no time.
    Latency,
}

/// A publication with tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Publication {
    /// Sending and receiving packets.
    Packets,
    /// Single and grouped RDMA operations.
    Rdma,
}

/// Bit errors on a simulated link.
#[cfg(feature = "rtl")]
#[derive(Args, Clone, Debug)]
pub struct RecoveryArgs {
    /// Device; two such cores are joined by a cable of 10 m.
    #[arg(value_name = "DEVICE", default_value = "rtl:")]
    pub device: String,
    /// End after this many words of data in both directions together.
    #[arg(long, value_name = "N", default_value_t = 400_000)]
    pub words: u64,
    /// Seed of the errors.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Reports of earlier measurements.
#[derive(Args, Clone, Debug)]
pub struct CompareArgs {
    /// Results of --json or results.json of --report, or the directory of a report.
    #[arg(value_name = "FILE", required = true, num_args = 2..=spfe_report::compare::RUNS_MAX)]
    pub files: Vec<PathBuf>,
    /// Also write compare.html to this directory.
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
}

/// Round trips, or loops.
#[derive(Args, Clone, Debug)]
pub struct LatencyArgs {
    #[command(flatten)]
    pub sizes: SizeArgs,
    /// Send at one end and receive at the other in the same thread, instead of round trips.
    #[arg(long = "loop")]
    pub looped: bool,
    /// Packets that are sent in an iteration, instead of its length.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Verify the contents of all packets.
    #[arg(long)]
    pub check: bool,
    /// Read each packet before it is answered.
    #[arg(long)]
    pub read: bool,
    /// Receive packets of up to 40 bytes beside their completions.
    #[arg(long)]
    pub beside: bool,
    #[command(flatten)]
    pub setup: SetupArgs,
}

/// The published scenarios.
#[derive(Args, Clone, Debug)]
pub struct TablesArgs {
    /// Run one short iteration of each case, about a minute in all.
    #[arg(long)]
    pub quick: bool,
    /// Bytes of transmit buffers, and of receive buffers at a threshold. The publication gives the
    /// first only.
    #[arg(long, value_name = "TX,RX", value_parser = window, default_value = "1M,4M")]
    pub window: (u64, u64),
    /// The publication.
    #[arg(long, value_enum, default_value = "packets")]
    pub paper: Publication,
    /// Only the published scenarios.
    #[arg(long)]
    pub published: bool,
    /// With a simulated core (DEVICE rtl:), whose results are in cycles: cycles from a completion to
    /// its answer by the host [default: 1 us].
    #[cfg(feature = "rtl")]
    #[arg(long, value_name = "CYCLES", requires = "device")]
    pub answer: Option<u64>,
    #[command(flatten)]
    pub setup: SetupArgs,
}

const THEORY: &str = "\
A SpaceWire packet of n bytes takes 10 n + 4 bits; with traffic both ways each direction also \
carries 4 bits of FCT for every 8 characters of the other. A SpaceFibre packet is filled up to \
words of 4 bytes; every 64 rows of data carry 3 more, with traffic both ways 5. The latency is \
that of one packet on an idle link, from its first bit to its last, and the cable's 5 ns per metre.";

/// Show the highest rates and the least latency of links by packet size.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = THEORY)]
pub struct TheoryArgs {
    #[command(flatten)]
    pub sizes: SizeArgs,
    /// Links, such as 4x7.5G or spw:200M.
    #[arg(long, value_name = "RATE,...", value_delimiter = ',', default_value = "4x7.5G,spw:200M")]
    pub link: Vec<LinkRate>,
    /// Length of the cable.
    #[arg(long, value_name = "METRES", default_value = "0", value_parser = metres)]
    pub cable: f64,
    /// Print tab-separated values.
    #[arg(long, conflicts_with = "json")]
    pub tsv: bool,
}

/// Options for packet sizes.
#[derive(Args, Clone, Debug)]
pub struct SizeArgs {
    /// One size only.
    #[arg(long, value_name = "SIZE", value_parser = bytes,
          conflicts_with_all = ["size_min", "size_max", "step"])]
    pub size: Option<u64>,
    /// Smallest packet, such as 1500 or 64K [default: 1K; latency: 64].
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub size_min: Option<u64>,
    /// Largest packet [default: 256K; latency: 64K].
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub size_max: Option<u64>,
    /// Step from one size to the next: times N (xN) or plus N bytes (+N).
    #[arg(long, value_name = "xN|+N", default_value = "x2", value_parser = step)]
    pub step: Step,
}

/// Options for the traffic.
#[derive(Args, Clone, Debug)]
pub struct TrafficArgs {
    /// Direction seen from the near end. tx: to a sink or to the far end; rx: from a generator or
    /// from the far end; both: at the same time.
    #[arg(long, value_enum, default_value = "tx")]
    pub direction: Direction,
    /// Packets per operation; auto is as many as fit into 1 MiB, at most 128.
    #[arg(long, value_name = "N|auto", default_value = "auto", value_parser = group)]
    pub group: Group,
    /// Submit at most this many groups before the first of them has completed [default: as many as
    /// the transmit buffers hold; 1 for single packets].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub under_way: Option<u32>,
    /// Post each group as one burst entry instead of one entry per packet.
    #[arg(long)]
    pub burst: bool,
    /// Receive packets back to back into one packed area.
    #[arg(long)]
    pub packed: bool,
    /// Receive when this percentage of the buffers is full.
    #[arg(long, value_name = "PCT", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub threshold: Option<u32>,
    /// With --threshold: receive at the latest this long after the first packet.
    #[arg(long, value_name = "TIME", default_value = "100us", requires = "threshold", value_parser = parse::time)]
    pub timeout: Duration,
    /// Bytes of transmit and receive buffers [default: 512K,512K]. Raised to two groups where several
    /// are outstanding.
    #[arg(long, value_name = "TX,RX", value_parser = window)]
    pub window: Option<(u64, u64)>,
    /// Verify contents: the sender writes and the receiver checks every byte.
    #[arg(long)]
    pub check: bool,
    /// Packets of an iteration, instead of its length; timed from the first sent to the last
    /// received.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub packets: Option<u64>,
    #[command(flatten)]
    pub address: AddressArgs,
}

/// Options for the network, the ends and the output.
#[derive(Args, Clone, Debug)]
pub struct SetupArgs {
    /// Measure between ports 0 and 1 of this device, which a cable joins, instead of creating a
    /// network; short for --from DEVICE:0.0 --to DEVICE:1.0.
    #[arg(value_name = "DEVICE", conflicts_with_all = ["ends", "from", "to", "mode", "link"])]
    pub device: Option<String>,
    /// Measure between two existing devices that are linked, for example /dev/spfe0,/dev/spfe1,
    /// instead of creating a network.
    #[arg(long, value_name = "NEAR,FAR", value_parser = joined, conflicts_with_all = ["mode", "link"])]
    pub ends: Option<Joined>,
    /// Sending end: a device with its port and virtual channel, such as /dev/spfe0:1.0 or
    /// unix:/run/spfe.sock/0:2 (0.0 if left out). Without --to packets are only sent: to an
    /// instrument, to an address that drops them, or to a receiver started elsewhere.
    #[arg(long, value_name = "DEVICE[:PORT[.VC]]", conflicts_with_all = ["ends", "mode", "link"])]
    pub from: Option<EndName>,
    /// Receiving end, linked to --from; it may be another port of the same device. Without --from
    /// packets are only received, from a sender started elsewhere.
    #[arg(long, value_name = "DEVICE[:PORT[.VC]]", conflicts_with_all = ["ends", "mode", "link"])]
    pub to: Option<EndName>,
    /// Which thread moves the packets: the posting one, with the other end where that is faster
    /// (auto) or not (inline); both ends; a device thread; or the daemon's.
    #[arg(long, value_enum, default_value = "auto")]
    pub mode: Device,
    /// Rate of the link: unlimited, LANESxRATE such as 4x7.5G, spw:RATE; with exact: in front every
    /// symbol is simulated [default: unlimited; tables: 4x7.5G].
    #[arg(long, value_name = "[exact:]RATE")]
    pub link: Option<Link>,
    /// How to wait: poll (never sleep), block (sleep at once), adaptive (spin for the cost of a
    /// sleep, then sleep) [default: adaptive; tables: block].
    #[arg(long, value_enum)]
    pub wait: Option<Wait>,
    /// 2: run the ends in two processes, linked by a daemon's network in the first one or by the
    /// network of the devices of --ends.
    #[arg(long, value_name = "1|2", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=2))]
    pub processes: u32,
    /// Iterations of each case [default: 1; tables: 10].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: Option<u32>,
    /// Length of an iteration [default: 1s; tables: 10s].
    #[arg(long = "duration", alias = "seconds", value_name = "TIME", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// CPUs of the near and the far end; auto gives each of two ends a CPU.
    #[arg(long, value_name = "A,B|auto|none", default_value = "auto", value_parser = pin)]
    pub pin: Pin,
    /// Run under SCHED_FIFO (needs the privilege).
    #[arg(long)]
    pub fifo: bool,
    /// Print tab-separated values.
    #[arg(long, conflicts_with = "json")]
    pub tsv: bool,
    /// Also write report.html, results.json and results.tsv to this directory, with the prices of the
    /// machine.
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
}

/// The thread that moves the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Device {
    /// The thread that posts, and that of the other end where that is faster.
    Auto,
    /// The thread that posts.
    Inline,
    /// The threads of both ends.
    Coop,
    /// A device thread of this process.
    Thread,
    /// The device thread of a daemon.
    Daemon,
}

impl Device {
    /// The mode of the network.
    pub fn mode(self) -> Mode {
        match self {
            Self::Auto => Mode::Auto,
            Self::Inline => Mode::Inline,
            Self::Coop => Mode::Coop,
            Self::Thread | Self::Daemon => Mode::Thread,
        }
    }

    /// The value of the option.
    pub fn name(self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::Auto => "auto",
            Self::Inline => "inline",
            Self::Coop => "coop",
            Self::Thread => "thread",
        }
    }
}

/// Names of two devices that are linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The measured end.
    pub near: EndName,
    /// The far end, which may replace an instrument.
    pub far: EndName,
}

/// How both ends wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub enum Wait {
    /// Never sleep.
    Poll,
    /// Sleep at once.
    Block,
    /// Spin for the cost of a sleep, then sleep.
    Adaptive,
}

impl Wait {
    /// The corresponding strategy of the library.
    pub fn strategy(self) -> Strategy {
        match self {
            Self::Poll => Strategy::Poll,
            Self::Block => Strategy::Block,
            Self::Adaptive => Strategy::Adaptive,
        }
    }

    /// The value of the option.
    pub fn name(self) -> &'static str {
        match self {
            Self::Poll => "poll",
            Self::Block => "block",
            Self::Adaptive => "adaptive",
        }
    }
}

/// Direction of the packets, seen from the near end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub enum Direction {
    /// The near end sends.
    Tx,
    /// The near end receives.
    Rx,
    /// The near end sends and receives.
    Both,
}

/// Step from one packet size to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Multiply by this factor.
    Times(u64),
    /// Add this many bytes.
    Plus(u64),
}

/// Packets per operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// As many as fit into 1 MiB, at most 128.
    Auto,
    /// A fixed number.
    Of(u32),
}

impl Group {
    /// Packets in a group, for packets of `size` bytes.
    pub fn of(self, size: u64) -> u32 {
        match self {
            Self::Auto => spfe_report::paper::group(size),
            Self::Of(count) => count,
        }
    }
}

/// Processors of the ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// Pin each of two ends to a processor; do not pin a single end.
    Auto,
    /// Do not pin.
    None,
    /// Pin the near and the far end to these processors.
    Cpus(usize, usize),
}

/// Parses the size of a packet or of the buffers.
fn bytes(text: &str) -> Result<u64, String> {
    match parse::size(text)? {
        0 => Err(format!("'{text}' is not a size from 1 byte to 16M")),
        bytes if bytes > BYTES_MAX => Err(format!("'{text}' is not a size from 1 byte to 16M")),
        bytes => Ok(bytes),
    }
}

fn step(text: &str) -> Result<Step, String> {
    let by = |rest: &str, least| bytes(rest).ok().filter(|by| *by >= least);
    let step = match text.split_at_checked(1) {
        Some(("x", rest)) => by(rest, 2).map(Step::Times),
        Some(("+", rest)) => by(rest, 1).map(Step::Plus),
        _ => None,
    };
    step.ok_or_else(|| format!("'{text}' is not a step such as x2 or +1K"))
}

fn group(text: &str) -> Result<Group, String> {
    if text == "auto" {
        return Ok(Group::Auto);
    }
    match text.parse() {
        Ok(count @ 1..=16384) => Ok(Group::Of(count)),
        _ => Err(format!("group '{text}' is neither auto nor a number from 1 to 16384")),
    }
}

fn window(text: &str) -> Result<(u64, u64), String> {
    let (tx, rx) = text.split_once(',').unwrap_or((text, text));
    Ok((bytes(tx)?, bytes(rx)?))
}

fn seconds(text: &str) -> Result<f64, String> {
    match parse::time(text)?.as_secs_f64() {
        value if (0.001..=86400.0).contains(&value) => Ok(value),
        _ => Err(format!("'{text}' is not a time from 1 ms to one day")),
    }
}

fn joined(text: &str) -> Result<Joined, String> {
    let (near, far): (EndName, EndName) = match text.split(',').collect::<Vec<_>>()[..] {
        ["", _] | [_, ""] => return Err(format!("'{text}': the name of a device is missing")),
        [near, far] => (near.parse()?, far.parse()?),
        _ => return Err(format!("'{text}' is not two devices such as /dev/spfe0,/dev/spfe1")),
    };
    if near == far {
        return Err(format!("'{text}': both ends are the same device, port and virtual channel"));
    }
    Ok(Joined { near, far })
}

fn pin(text: &str) -> Result<Pin, String> {
    let cpus = || {
        let (near, far) = text.split_once(',')?;
        Some(Pin::Cpus(near.parse().ok()?, far.parse().ok()?))
    };
    match text {
        "auto" => Ok(Pin::Auto),
        "none" => Ok(Pin::None),
        _ => {
            cpus().ok_or_else(|| format!("'{text}' is neither two CPUs such as 0,1 nor auto, none"))
        }
    }
}

/// Longest cable, metres.
const METRES_MAX: f64 = 1e6;

fn metres(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('m').unwrap_or(text).trim_end();
    let metres = number.parse::<f64>().ok().filter(|metres| (0.0..=METRES_MAX).contains(metres));
    metres.ok_or_else(|| format!("'{text}' is not a length from 0 to 1000 km such as 10m"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_groups_hold_up_to_128_packets_and_1_mib() {
        let groups: Vec<u32> = (6..=21).map(|log2| Group::Auto.of(1 << log2)).collect();
        let expected = [128; 8].into_iter().chain([64, 32, 16, 8, 4, 2, 1, 1]);
        assert!(groups.into_iter().eq(expected));
        assert_eq!(Group::Of(7).of(1 << 20), 7);
    }

    #[test]
    fn words_are_read_or_named() {
        assert_eq!((bytes("1500"), bytes("64K")), (Ok(1500), Ok(65536)));
        assert_eq!((step("x2"), step("+1K")), (Ok(Step::Times(2)), Ok(Step::Plus(1024))));
        assert_eq!(window("64K"), Ok((65536, 65536)));
        assert_eq!(pin("0,3"), Ok(Pin::Cpus(0, 3)));
        for text in ["0", "17M", "lots"] {
            assert!(bytes(text).unwrap_err().contains(text));
        }
        for text in ["", "x", "x1", "+0", "2"] {
            assert!(step(text).unwrap_err().contains("x2"), "{text}");
        }
        for text in ["", "a", "a,", ",b", "a,a", "a,b,c"] {
            assert!(joined(text).unwrap_err().contains(text), "{text}");
        }
        assert!(metres("10m") == Ok(10.0) && metres("-1").is_err() && metres("x").is_err());
        assert!(group("0").is_err() && group("16385").is_err() && pin("1").is_err());
        assert!(seconds("0").is_err() && seconds("nan").is_err());
    }
}
