//! `spfe perf`: rates, latencies and processor loads, measured with the library as any program
//! would use it. Also the example of how to be fast with it: [`send`], [`receive`] and [`latency`]
//! are the loops, and their comments say why they are as they are.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`args`] | the command line |
//! | [`case`], [`cases`], [`tables`] | test cases, and running them one after the other |
//! | [`lab`] | what a case runs on: a network with an instrument, with two ends, in a daemon; devices |
//! | [`far`] | the far end, in a thread or a process of its own |
//! | [`run`] | one iteration: both ends run, their figures are put together |
//! | [`send`], [`receive`], [`latency`] | the loops |
//! | [`meter`] | clocks and counts of an end |
//! | [`output`] | documents, reports, the machine's prices |

mod args;
mod case;
mod cases;
mod far;
mod lab;
mod latency;
mod meter;
mod output;
mod receive;
mod run;
mod send;
mod tables;

use crate::context::Context;
use crate::error::Failure;
use args::{LatencyArgs, RandomArgs, RateArgs, SetupArgs, TablesArgs, Test};
pub use args::{PerfArgs, WorkerArgs};
use cases::{Plan, Runner};
use lab::Setup;
use spfe::{Endpoint, LinkRate};

/// The link of the published measurements.
const PUBLISHED: LinkRate = LinkRate::SpaceFibre { lanes: 4, mbps: 7500 };

/// Measures.
///
/// # Errors
/// Usage, what the library says, and damaged packets.
pub fn run(args: &PerfArgs, context: &Context) -> Result<(), Failure> {
    let (setup, plan, calibrated) = match &args.test {
        Test::Rate(RateArgs { setup, .. })
        | Test::Random(RandomArgs { setup, .. })
        | Test::Latency(LatencyArgs { setup, .. }) => {
            (setup, plan(setup, LinkRate::Unlimited, (1, 1.0))?, setup.report.is_some())
        }
        Test::Tables(TablesArgs { setup, quick }) => {
            let often = if *quick { (1, 0.7) } else { (10, 10.0) };
            (setup, plan(setup, PUBLISHED, often)?, true)
        }
    };
    if let Some(device) = &context.device {
        // Not refused: SPFE_DEVICE may be set for the other commands.
        context.say(&format!(
            "{device} is not used: a measurement makes its own network (--mode) or has two ends \
             (--ends)"
        ));
    }
    let document = output::document(&plan, setup, calibrated);
    let runner = Runner::new(&plan, context);
    let rows = match &args.test {
        Test::Rate(args) => runner.run(&cases::rate(args, &plan)?),
        Test::Random(args) => runner.run(&cases::random(args, &plan, context)?),
        Test::Latency(args) => runner.run(&cases::latency(args, &plan)?),
        Test::Tables(args) => {
            let cases = tables::cases(&plan, args.setup.wait);
            runner.with_bar(cases.len()).run(&cases)
        }
    }?;
    output::finish(document, rows, setup, context)
}

/// Plays the far end for a measurement in another process, until that one says it is over.
///
/// # Errors
/// What the library says; that the other process is gone.
pub fn worker(args: &WorkerArgs) -> Result<(), Failure> {
    let place = far::Place { cpu: args.cpu, fifo: args.fifo };
    Ok(far::serve(&Endpoint::open(&args.device)?, place)?)
}

fn plan(
    args: &SetupArgs,
    link: LinkRate,
    (iterations, seconds): (u32, f64),
) -> Result<Plan, Failure> {
    Ok(Plan {
        setup: Setup::new(args, link)?,
        iterations: args.iterations.unwrap_or(iterations),
        seconds: args.seconds.unwrap_or(seconds),
    })
}
