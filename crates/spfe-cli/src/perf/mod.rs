//! `spfe perf`: measures rates, latencies and processor loads through the public library.
//!
//! The loops in [`send`], [`receive`] and [`latency`] are also examples of how to use the library at
//! full speed; their comments explain why they are written as they are.
//!
//! | module | contents |
//! | --- | --- |
//! | [`args`], [`setup`] | the command line; the network under test and how to measure |
//! | [`case`], [`cases`] | a test case; the cases of each subcommand |
//! | [`runner`], [`iteration`] | runs cases; one iteration of a case |
//! | [`lab`], [`far`] | the network of a case; the far end, in a thread or a process |
//! | [`streams`], [`send`], [`receive`], [`latency`] | the traffic of an end |
//! | [`rdma`], [`rdma_receiver`], [`rdma_exchange`] | operations on remote memory, messages, and writes as answers |
//! | [`rdma_thread`] | the thread of their far end |
//! | [`loops`], [`saturate`] | both ends in one thread; data beside messages |
//! | [`meter`] | clocks and counts of an end |
//! | `place`, [`theory`] | names of ends; what links allow |
//! | `cycles` | simulated cores (feature `rtl`), in cycles |
//! | [`output`], [`compare`] | reports, with the prices of the machine; several runs in one |

mod args;
mod case;
mod cases;
mod compare;
#[cfg(feature = "rtl")]
mod cycles;
mod far;
mod iteration;
mod lab;
mod latency;
mod loops;
mod meter;
mod output;
mod place;
mod rdma;
mod rdma_exchange;
mod rdma_receiver;
mod rdma_thread;
mod receive;
mod runner;
mod saturate;
mod send;
mod setup;
mod streams;
mod theory;

use crate::context::Context;
use crate::error::Failure;
use args::{
    Direction, LatencyArgs, MessageArgs, Publication, RandomArgs, RateArgs, RdmaArgs, SetupArgs,
    TablesArgs, Test, Wait,
};
pub use args::{PerfArgs, WorkerArgs};
use runner::CaseRunner;
use setup::{Plan, Setup};
use spfe::{Endpoint, LinkRate};

/// The link of the published measurements.
const PUBLISHED: LinkRate = LinkRate::SpaceFibre { lanes: 4, mbps: 7500 };

/// The link of the published measurements of RDMA.
const PUBLISHED_RDMA: LinkRate = LinkRate::SpaceFibre { lanes: 4, mbps: 6250 };

/// Runs a measurement and writes its results.
///
/// # Errors
/// Wrong usage, errors of the library, and damaged packets.
pub fn run(args: &PerfArgs, context: &Context) -> Result<(), Failure> {
    let mut args = args.clone();
    if let Test::Rate(RateArgs { setup, traffic, .. })
    | Test::Random(RandomArgs { setup, traffic, .. }) = &mut args.test
        && setup.from.is_none()
        && setup.to.is_some()
    {
        // There is only this direction.
        traffic.direction = Direction::Rx;
    }
    let (setup, plan, calibrated) = match &args.test {
        Test::Theory(args) => return theory::run(args, context),
        #[cfg(feature = "rtl")]
        Test::Recovery(args) => return cycles::recovery(args, context),
        #[cfg(feature = "rtl")]
        Test::Tables(TablesArgs { setup: SetupArgs { device: Some(device), .. }, .. })
            if device.starts_with("rtl:") =>
        {
            let Test::Tables(tables) = &args.test else { unreachable!() };
            return cycles::tables(tables, device, context);
        }
        Test::Rate(RateArgs { setup, traffic, .. })
        | Test::Random(RandomArgs { setup, traffic, .. }) => {
            let direction = Some(traffic.direction);
            let plan = plan(setup, LinkRate::Unlimited, (1, 1.0), Wait::Adaptive, direction)?;
            (setup, plan, setup.report.is_some())
        }
        Test::Latency(LatencyArgs { setup, .. }) | Test::Broadcast(MessageArgs { setup, .. }) => {
            let plan = plan(setup, LinkRate::Unlimited, (1, 1.0), Wait::Adaptive, None)?;
            (setup, plan, setup.report.is_some())
        }
        Test::Tables(TablesArgs { setup, quick, paper, .. }) => {
            let often = if *quick { (1, 0.7) } else { (10, 10.0) };
            let link = match paper {
                Publication::Packets => PUBLISHED,
                Publication::Rdma => PUBLISHED_RDMA,
            };
            (setup, plan(setup, link, often, Wait::Block, None)?, true)
        }
        Test::Rdma(RdmaArgs { setup, .. }) => {
            let plan = plan(setup, LinkRate::Unlimited, (1, 1.0), Wait::Adaptive, None)?;
            (setup, plan, setup.report.is_some())
        }
        Test::Compare(args) => return compare::run(args, context),
    };
    if let Some(device) = &context.device {
        // A warning only: SPFE_DEVICE may be set for other commands.
        context.say(&format!(
            "{device} is not used: a measurement creates a network (--mode), or takes a DEVICE as its \
             argument or ends (--ends, --from, --to)"
        ));
    }
    let document = output::document(&plan, calibrated);
    let runner = CaseRunner::new(&plan, context);
    let rows = match &args.test {
        Test::Rate(args) => runner.run(&cases::rate(args, &plan)?),
        Test::Random(args) => runner.run(&cases::random(args, &plan, context)?),
        Test::Latency(args) => runner.run(&cases::latency(args, &plan)?),
        Test::Broadcast(args) => runner.run(&cases::messages(args, &plan)?),
        Test::Rdma(args) => runner.run(&cases::rdma(args, &plan)?),
        Test::Compare(_) | Test::Theory(_) => Ok(Vec::new()),
        #[cfg(feature = "rtl")]
        Test::Recovery(_) => Ok(Vec::new()),
        Test::Tables(args) => {
            let cases = match args.paper {
                Publication::Packets => cases::tables(args, &plan),
                Publication::Rdma => cases::rdma_tables(args, &plan),
            };
            runner.with_bar(cases.len()).run(&cases)
        }
    }?;
    output::finish(document, rows, setup, context)
}

/// Serves as the far end of a measurement in another process until that process ends it.
///
/// # Errors
/// Errors of the library, and the end of the other process.
pub fn worker(args: &WorkerArgs) -> Result<(), Failure> {
    let place = far::Placement { cpu: args.cpu, fifo: args.fifo, alone: true };
    Ok(far::serve_process(&Endpoint::open(&args.device)?, place)?)
}

fn plan(
    args: &SetupArgs,
    link: LinkRate,
    (iterations, seconds): (u32, f64),
    wait: Wait,
    direction: Option<Direction>,
) -> Result<Plan, Failure> {
    Ok(Plan {
        setup: Setup::new(args, link, direction)?,
        iterations: args.iterations.unwrap_or(iterations),
        seconds: args.seconds.unwrap_or(seconds),
        wait: args.wait.unwrap_or(wait),
    })
}
