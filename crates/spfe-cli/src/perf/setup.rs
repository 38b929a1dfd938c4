//! The network under test, and the conditions of a measurement.

use super::args::{Device, Joined, Pin, SetupArgs, Wait};
use spfe::{Endpoint, Error, LinkRate, Mode, Result, Status};

/// The network under test.
#[derive(Clone, Debug)]
pub enum Network {
    /// A network that the command creates.
    Own(Device),
    /// Two existing devices.
    Joined(Joined),
}

/// How to measure.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The network under test.
    pub network: Network,
    /// Name of the device in the results.
    pub name: String,
    /// Which thread moves the packets.
    pub mode: Mode,
    /// Whether the processor time of the device can be measured: it runs in a measured process.
    pub device_is_measured: bool,
    /// Rate of the link.
    pub link: LinkRate,
    /// Number of processes for two ends: 1 or 2.
    pub processes: u32,
    /// Processors of the ends.
    pub pin: Pin,
    /// Run the ends under SCHED_FIFO.
    pub fifo: bool,
}

impl Setup {
    /// The set-up that the command line asks for. Existing devices are opened to learn their mode and
    /// rate.
    pub fn new(args: &SetupArgs, link: LinkRate) -> Result<Self> {
        let link = args.link.unwrap_or(link);
        let own = Self {
            network: Network::Own(args.mode),
            name: args.mode.name().to_owned(),
            mode: args.mode.mode(),
            device_is_measured: true,
            link,
            processes: args.processes,
            pin: args.pin,
            fifo: args.fifo,
        };
        let Some(joined) = &args.ends else { return Ok(own) };
        // Open both, so that a wrong name fails before anything is measured.
        let (near, far) = (Endpoint::open(&joined.near)?, Endpoint::open(&joined.far)?);
        if args.processes == 2 && far.embedded().is_some() {
            let what = format!(
                "--processes 2: {} exists inside one process only; use devices of spfed or of the \
                 driver",
                joined.far
            );
            return Err(Error::device(Status::BadField, what));
        }
        let (info, link) = (near.info(), near.port(0)?.info()?.rate);
        Ok(Self {
            network: Network::Joined(joined.clone()),
            name: info.backend.to_owned(),
            mode: info.mode,
            device_is_measured: info.mode != Mode::Thread || near.embedded().is_some(),
            link,
            ..own
        })
    }

    /// Remarks for the report.
    pub fn notes(&self) -> Vec<String> {
        let Network::Joined(Joined { near, far }) = &self.network else { return Vec::new() };
        let mut notes = vec![format!(
            "ends {near} and {far}; the load of a far end that replaces an instrument is in no column"
        )];
        if !self.device_is_measured {
            notes.push(
                "device load and sum: not measured, because the devices run in other processes"
                    .to_owned(),
            );
        }
        notes
    }

    /// Processors of the near and the far end.
    pub fn cpus(&self, two_ends: bool) -> (Option<usize>, Option<usize>) {
        match self.pin {
            Pin::Cpus(near, far) => (Some(near), Some(far)),
            Pin::Auto if two_ends => {
                let (near, far) = spfe_measure::measurement_cpus();
                // With one processor for both, leave the choice to the scheduler.
                if near == far { (None, None) } else { (Some(near), Some(far)) }
            }
            Pin::Auto | Pin::None => (None, None),
        }
    }
}

/// Where, how often and how long cases run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Network and ends.
    pub setup: Setup,
    /// Iterations of each case.
    pub iterations: u32,
    /// Length of an iteration, seconds.
    pub seconds: f64,
    /// How both ends wait.
    pub wait: Wait,
}
