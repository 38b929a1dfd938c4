//! The network under test, and the conditions of a measurement.

use super::args::{Device, Direction, Joined, Pin, SetupArgs, Wait};
use super::place::{EndName, Spot};
use spfe::{Endpoint, Error, Link, LinkModel, LinkRate, Mode, Result, Status, Topology};

/// The network under test.
#[derive(Clone, Debug)]
pub enum Network {
    /// A network that the command creates.
    Own(Device),
    /// Two existing ends.
    Joined(Joined),
    /// One existing end; somebody else runs the other one, or there is none.
    Alone(EndName),
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
    /// How the link is simulated.
    pub model: LinkModel,
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
    pub fn new(args: &SetupArgs, link: LinkRate, direction: Option<Direction>) -> Result<Self> {
        let Link { rate: link, model } = args.link.unwrap_or(link.into());
        check_pin(args.pin)?;
        let own = Self {
            network: Network::Own(args.mode),
            name: args.mode.name().to_owned(),
            mode: args.mode.mode(),
            device_is_measured: true,
            link,
            model,
            processes: args.processes,
            pin: args.pin,
            fifo: args.fifo,
        };
        let Some(network) = network(args, direction)? else { return Ok(own) };
        let name = match &network {
            Network::Joined(Joined { near, .. }) | Network::Alone(near) => near.clone(),
            Network::Own(_) => return Ok(own),
        };
        // Open both, so that a wrong name fails before anything is measured.
        let near = Endpoint::open(&name.device)?;
        near.port(name.port)?.vc(name.vc)?;
        if let Network::Joined(Joined { far, .. }) = &network {
            let other = match far.device == name.device {
                true => near.clone(),
                false => Endpoint::open(&far.device)?,
            };
            other.port(far.port)?.vc(far.vc)?;
            if args.processes == 2 && other.embedded().is_some() {
                let what = format!(
                    "--processes 2: {} exists inside one process only; use devices of spfed or of \
                     the driver",
                    far.device
                );
                return Err(Error::device(Status::BadField, what));
            }
        }
        let (info, port) = (near.info(), near.port(name.port)?.info()?);
        let (link, model) = (port.rate, port.model);
        Ok(Self {
            network,
            name: info.backend.to_owned(),
            mode: info.mode,
            device_is_measured: info.mode != Mode::Thread || near.embedded().is_some(),
            link,
            model,
            ..own
        })
    }

    /// The two endpoints of a network that the command creates.
    pub fn pair(&self) -> Topology {
        Topology::pairs(2, self.link, self.mode).with_model(self.model)
    }

    /// Port and virtual channel of the near and the far end.
    pub fn spots(&self) -> (Spot, Spot) {
        let spot = |name: &EndName| Spot { port: name.port, vc: name.vc };
        match &self.network {
            Network::Own(_) => Default::default(),
            Network::Joined(Joined { near, far }) => (spot(near), spot(far)),
            Network::Alone(near) => (spot(near), Spot::default()),
        }
    }

    /// Remarks for the report.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = match &self.network {
            Network::Own(_) => return Vec::new(),
            Network::Joined(Joined { near, far }) => vec![format!(
                "ends {near} and {far}; the load of a far end that replaces an instrument is in no \
                 column"
            )],
            Network::Alone(near) => {
                vec![format!("end {near} alone; the load of the other end is in no column")]
            }
        };
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

/// The existing ends that the command line names: `None` for a network of its own. `direction` is
/// that of a test that has one.
fn network(args: &SetupArgs, direction: Option<Direction>) -> Result<Option<Network>> {
    let usage = |what: &str| Err(Error::device(Status::BadField, what));
    let port = |port| args.device.clone().map(|device| EndName { device, port, vc: 0 });
    let (from, to) = (port(0).or(args.from.clone()), port(1).or(args.to.clone()));
    let (near, far) = match (&args.ends, &from, &to) {
        (Some(joined), ..) => return Ok(Some(Network::Joined(joined.clone()))),
        (None, None, None) => return Ok(None),
        (None, Some(from), Some(to)) if from == to => {
            return usage("--from and --to are the same device, port and virtual channel");
        }
        // Packets go from --from to --to; the near end is the measured one.
        (None, Some(from), Some(to)) if direction == Some(Direction::Rx) => (to, from),
        (None, Some(from), Some(to)) => (from, to),
        (None, Some(end), None) if direction == Some(Direction::Tx) => {
            return Ok(Some(Network::Alone(end.clone())));
        }
        (None, None, Some(end)) if direction == Some(Direction::Rx) => {
            return Ok(Some(Network::Alone(end.clone())));
        }
        (None, Some(_), None) => return usage("--from alone only sends; give --to as well"),
        (None, None, Some(_)) => return usage("--to alone only receives; give --from as well"),
    };
    Ok(Some(Network::Joined(Joined { near: near.clone(), far: far.clone() })))
}

/// Refuses processors that do not exist.
fn check_pin(pin: Pin) -> Result<()> {
    let Pin::Cpus(near, far) = pin else { return Ok(()) };
    let cpus = spfe_measure::machine_facts().cpus_online;
    match [near, far].into_iter().find(|cpu| *cpu >= cpus) {
        None => Ok(()),
        Some(cpu) => {
            let what = format!("--pin {near},{far}: CPU {cpu}; this machine has 0 to {}", cpus - 1);
            Err(Error::device(Status::BadField, what))
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
