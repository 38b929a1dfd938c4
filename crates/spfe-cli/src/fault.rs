//! `spfe fault`: disturbs the exact links of a running network.

use crate::capture;
use crate::context::{Context, DeviceArg};
use crate::error::Failure;
use crate::output::{plural, printable, table};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use spfe::FaultInfo;
use spfe::backend::daemon::NetworkQuery;
use spfe_sim::scenario::Time;

const AFTER: &str = "\
Faults have the names and keys of a [[fault]] in a scenario (docs/scenarios.md). Times are times of \
the links, which may run slower than the clock. Links are named as in `spfe capture`, such as \
0.0-1.0, ports as 0.0; in a scenario both have their own names.
  spfed --listen /tmp/spfe.sock --link exact:2x2.5G &
  spfe fault unix:/tmp/spfe.sock cut 0.0-1.0 --lane 1 --for 3ms
  spfe fault unix:/tmp/spfe.sock bit-errors 0.0-1.0 --rate 1e-6
  spfe fault unix:/tmp/spfe.sock restore";

/// Disturb the exact links of a daemon while it runs: cuts, bit errors, resets, babbling ports.
///
/// Only the daemon's own user and root may do so, because it concerns all clients.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = AFTER)]
pub struct FaultArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, Subcommand)]
enum Action {
    /// List the faults that wait, repeat or last.
    List,
    /// End faults, and forget those that wait for a word.
    Restore {
        /// Number of a fault, or name of a link, flow or node [default: all].
        #[arg(value_name = "WHICH", default_value = "", hide_default_value = true)]
        which: String,
    },
    /// Interrupt the signal, until it is restored or for a time.
    Cut(Lasting),
    /// Keep the signal of a lane at one level, until it is restored or for a time.
    Stuck {
        #[command(flatten)]
        of: Lasting,
        /// The level: 0 or 1.
        #[arg(long, default_value_t = 0)]
        level: u8,
    },
    /// Invert bits with this probability, until it is restored or for a time.
    BitErrors {
        #[command(flatten)]
        wire: Wire,
        /// Probability for each bit, such as 1e-6.
        #[arg(long)]
        rate: String,
        /// End after this time.
        #[arg(long = "for", value_name = "TIME")]
        time: Option<String>,
    },
    /// Invert one bit of a word.
    BitError(Word),
    /// Make consecutive bits random.
    Burst {
        #[command(flatten)]
        of: Word,
        /// Number of bits.
        #[arg(long)]
        bits: u32,
    },
    /// Remove a word.
    Drop(Word),
    /// Send a word twice.
    Duplicate(Word),
    /// Swap a word with the one before it.
    Reorder(Word),
    /// Swap the two wires of a pair, until it is restored.
    PolaritySwap(Plain),
    /// Make the wire longer, or shorter if negative, until it is restored.
    Skew {
        #[command(flatten)]
        of: Plain,
        /// Number of bits.
        #[arg(long, allow_negative_numbers = true)]
        bits: i32,
    },
    /// Delay everything on the link, until it is restored.
    Delay {
        #[command(flatten)]
        of: Plain,
        /// Additional delay, such as 10us.
        #[arg(long = "by", value_name = "TIME")]
        time: String,
    },
    /// Reset the link at one end.
    LinkReset(End),
    /// Reset the interface at one end.
    InterfaceReset(End),
    /// Reset a lane at one end.
    LaneReset {
        #[command(flatten)]
        end: End,
        /// The lane [default: all].
        #[arg(long)]
        lane: Option<u8>,
    },
    /// Let a port send on a virtual channel as fast as the link takes packets.
    Babble(Channel),
    /// Let a flow of the scenario ignore its rate.
    BabbleFlow {
        /// Name of the flow.
        flow: String,
        /// End after this time.
        #[arg(long = "for", value_name = "TIME")]
        time: Option<String>,
    },
    /// Read nothing at a port.
    BlockedReceiver(Channel),
    /// End the packet that a port is sending, or its next one, with EEP.
    Eep {
        /// The port.
        port: String,
        /// Virtual channel.
        #[arg(long, default_value_t = 0)]
        vc: u8,
    },
    /// Let the master of a scenario send no time-codes.
    TimeCodeLoss {
        /// The node.
        node: String,
        /// End after this time.
        #[arg(long = "for", value_name = "TIME")]
        time: Option<String>,
    },
}

/// A wire of a link.
#[derive(Clone, Debug, Args)]
struct Wire {
    /// Name of the link.
    link: String,
    /// The lane [default: all].
    #[arg(long)]
    lane: Option<u8>,
    /// The direction [default: both]. End A is the first in the link's name or in the scenario.
    #[arg(long)]
    direction: Option<Direction>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Direction {
    AToB,
    BToA,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Side {
    A,
    B,
}

/// When a fault occurs.
#[derive(Clone, Debug, Args)]
struct When {
    /// Wait for this time first.
    #[arg(long, value_name = "TIME", conflicts_with_all = ["every", "random"])]
    at: Option<String>,
    /// Repeat it with this period.
    #[arg(long, value_name = "TIME", conflicts_with = "random")]
    every: Option<String>,
    /// Repeat it after random times with this mean.
    #[arg(long, value_name = "TIME")]
    random: Option<String>,
    /// End the repetition after this time.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Maximum number of repetitions.
    #[arg(long, value_name = "N")]
    count: Option<u64>,
}

#[derive(Clone, Debug, Args)]
struct Plain {
    #[command(flatten)]
    wire: Wire,
    #[command(flatten)]
    when: When,
}

#[derive(Clone, Debug, Args)]
struct Lasting {
    #[command(flatten)]
    plain: Plain,
    /// Length of the fault.
    #[arg(long = "for", value_name = "TIME")]
    time: Option<String>,
}

#[derive(Clone, Debug, Args)]
struct Word {
    #[command(flatten)]
    plain: Plain,
    /// Kind of word that it waits for: fct, sdf, edf, ack, data ... [default: any].
    #[arg(long)]
    word: Option<String>,
}

#[derive(Clone, Debug, Args)]
struct End {
    /// Name of the link.
    link: String,
    /// The end: a, the first in the link's name or in the scenario, or b.
    #[arg(long)]
    end: Side,
    #[command(flatten)]
    when: When,
}

#[derive(Clone, Debug, Args)]
struct Channel {
    /// The port: 0.0 is endpoint 0 port 0; in a scenario NODE or NODE:PORT.
    port: String,
    /// Virtual channel.
    #[arg(long, default_value_t = 0)]
    vc: u8,
    /// End after this time.
    #[arg(long = "for", value_name = "TIME")]
    time: Option<String>,
}

/// The keys of a fault, as in a scenario file.
struct Keys(String);

impl Keys {
    fn new(what: &str) -> Self {
        Self(format!("what = {what:?}\n"))
    }

    fn key(mut self, key: &str, value: impl Into<Value>) -> Self {
        // The strings and numbers of JSON are also those of TOML.
        self.0 += &format!("{key} = {}\n", value.into());
        self
    }

    fn maybe(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.key(key, value),
            None => self,
        }
    }

    fn wire(self, wire: &Wire) -> Self {
        let direction = wire.direction.map(|direction| match direction {
            Direction::AToB => "a-to-b",
            Direction::BToA => "b-to-a",
        });
        self.key("link", &*wire.link).maybe("lane", wire.lane).maybe("direction", direction)
    }

    fn when(self, when: &When) -> Self {
        let When { at, every, random, until, count } = when;
        self.maybe("at", at.as_deref())
            .maybe("every", every.as_deref())
            .maybe("random", random.as_deref())
            .maybe("until", until.as_deref())
            .maybe("count", *count)
    }

    fn plain(self, of: &Plain) -> Self {
        self.wire(&of.wire).when(&of.when)
    }

    fn lasting(self, of: &Lasting) -> Self {
        self.plain(&of.plain).maybe("duration", of.time.as_deref())
    }

    fn word(self, of: &Word) -> Self {
        self.plain(&of.plain).maybe("word", of.word.as_deref())
    }

    fn end(self, of: &End) -> Self {
        let end = match of.end {
            Side::A => "a",
            Side::B => "b",
        };
        self.key("link", &*of.link).key("end", end).when(&of.when)
    }

    fn channel(self, of: &Channel) -> Self {
        let time = of.time.as_deref();
        self.key("node", &*of.port).key("vc", of.vc).maybe("until", time)
    }
}

impl Action {
    /// The fault that it gives, as the keys of a scenario.
    fn fault(&self) -> Option<String> {
        let new = Keys::new;
        let keys = match self {
            Self::List | Self::Restore { .. } => return None,
            Self::Cut(of) => new("cut").lasting(of),
            Self::Stuck { of, level } => new("stuck").lasting(of).key("level", *level),
            Self::BitErrors { wire, rate, time } => {
                let keys = new("bit-errors").wire(wire).key("rate", &**rate);
                keys.maybe("until", time.as_deref())
            }
            Self::BitError(of) => new("bit-error").word(of),
            Self::Burst { of, bits } => new("burst").word(of).key("bits", *bits),
            Self::Drop(of) => new("drop").word(of),
            Self::Duplicate(of) => new("duplicate").word(of),
            Self::Reorder(of) => new("reorder").word(of),
            Self::PolaritySwap(of) => new("polarity-swap").plain(of),
            Self::Skew { of, bits } => new("skew").plain(of).key("bits", *bits),
            Self::Delay { of, time } => new("delay").plain(of).key("duration", &**time),
            Self::LinkReset(of) => new("link-reset").end(of),
            Self::InterfaceReset(of) => new("interface-reset").end(of),
            Self::LaneReset { end, lane } => new("lane-reset").end(end).maybe("lane", *lane),
            Self::Babble(of) => new("babble").channel(of),
            Self::BabbleFlow { flow, time } => {
                new("babble").key("flow", &**flow).maybe("until", time.as_deref())
            }
            Self::BlockedReceiver(of) => new("blocked-receiver").channel(of),
            Self::Eep { port, vc } => new("eep").key("node", &**port).key("vc", *vc),
            Self::TimeCodeLoss { node, time } => {
                new("time-code-loss").key("node", &**node).maybe("until", time.as_deref())
            }
        };
        Some(keys.0)
    }
}

/// Runs `spfe fault`.
pub fn run(args: &FaultArgs, context: &Context) -> Result<(), Failure> {
    let name = context.device.as_deref();
    let name = name.ok_or_else(|| Failure::usage("no daemon: give unix:SOCKET"))?;
    let mut query = NetworkQuery::open(&capture::socket(name, "faults")?)?;
    if let Some(fault) = args.action.fault() {
        let number = query.add_fault(&fault)?;
        match context.json {
            true => println!("{}", json!({ "fault": number })),
            false => context.say(&format!("fault {number} given")),
        }
        return Ok(());
    }
    if let Action::Restore { which } = &args.action {
        let count = query.end_faults(which)?;
        match context.json {
            true => println!("{}", json!({ "ended": count })),
            false => context.say(&format!("{} ended", plural(count, "fault"))),
        }
        return Ok(());
    }
    let faults = query.faults()?;
    if context.json {
        faults.iter().for_each(|fault| println!("{}", document(fault)));
    } else {
        let rows: Vec<_> = faults.iter().map(row).collect();
        print!("{}", table(&["FAULT", "NAME", "STATE", "TIMES", "NEXT IN", "ENDS IN"], 3, &rows));
    }
    Ok(())
}

fn document(fault: &FaultInfo) -> Value {
    json!({
        "fault": fault.number,
        "name": fault.name,
        "active": fault.active,
        "times": fault.times,
        "next_ns": fault.next_ns,
        "left_ns": fault.left_ns,
    })
}

fn row(fault: &FaultInfo) -> Vec<String> {
    let time = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| Time(1000 * ns).to_string());
    vec![
        fault.number.to_string(),
        printable(&fault.name),
        if fault.active { "active" } else { "waits" }.to_owned(),
        fault.times.to_string(),
        time(fault.next_ns),
        time(fault.left_ns),
    ]
}
