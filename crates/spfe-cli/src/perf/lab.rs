//! The network a case runs on, and its far end.

use super::args::{Device, Joined, Pin, SetupArgs};
use super::far::{Far, Place};
use super::meter::DeviceClock;
use spfe::{Embedded, Endpoint, Error, LinkRate, Mode, Peer, Result, Status, Topology};
use spfed::{Server, ServerConfig};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is measured on.
#[derive(Clone, Debug)]
pub enum Network {
    /// A network of our own, and who moves its packets.
    Own(Device),
    /// Devices that are there.
    Joined(Joined),
}

/// How it is measured.
#[derive(Clone, Debug)]
pub struct Setup {
    /// On what.
    pub network: Network,
    /// The device, as in the results.
    pub name: String,
    /// Who moves the packets.
    pub mode: Mode,
    /// Whether what the device spends can be measured: it runs in this process, or in those of the
    /// ends.
    pub device_is_measured: bool,
    /// Rate of its link.
    pub link: LinkRate,
    /// Processes for two ends.
    pub processes: u32,
    /// Where the ends run.
    pub pin: Pin,
    /// Under SCHED_FIFO.
    pub fifo: bool,
}

impl Setup {
    /// As the command line says; devices that are there say what they are themselves.
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
        // Both, so that a name that is wrong is known before anything is measured.
        let (near, far) = (Endpoint::open(&joined.near)?, Endpoint::open(&joined.far)?);
        if args.processes == 2 && far.embedded().is_some() {
            let what = format!(
                "--processes 2: {} is of a network inside one process; use devices of spfed or of \
                 the driver",
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

    /// What the results have to say of it.
    pub fn notes(&self) -> Vec<String> {
        let Network::Joined(Joined { near, far }) = &self.network else { return Vec::new() };
        let mut notes = vec![format!(
            "ends {near} and {far}; a far end in place of an instrument has its load in no column"
        )];
        if !self.device_is_measured {
            notes.push(
                "device load and sum: not measured, the devices run outside of these processes"
                    .to_owned(),
            );
        }
        notes
    }

    /// CPUs of the near and the far end.
    fn cpus(&self, two_ends: bool) -> (Option<usize>, Option<usize>) {
        match self.pin {
            Pin::Cpus(near, far) => (Some(near), Some(far)),
            Pin::Auto if two_ends => {
                let (near, far) = spfe_measure::measurement_cpus();
                // With one CPU for both, the scheduler knows better.
                if near == far { (None, None) } else { (Some(near), Some(far)) }
            }
            Pin::Auto | Pin::None => (None, None),
        }
    }
}

/// A directory that is removed with everything in it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let mut last = None;
        for number in 0..100 {
            let name = format!("spfe-perf-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) => last = Some(error),
            }
        }
        let what = format!("directory in {}", std::env::temp_dir().display());
        Err(Error::io(what, last.unwrap_or_else(std::io::Error::last_os_error)))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A network with the near end open. What is dropped first stands first.
pub struct Lab {
    /// The other end, if it is one of ours and not an instrument.
    pub far: Option<Far>,
    /// This end.
    pub near: Endpoint,
    server: Option<Arc<Server>>,
    _scratch: Option<Scratch>,
}

impl Lab {
    /// One endpoint of a network of our own, with an instrument on port 0.
    pub fn instrument(setup: &Setup, device: Device, peer: Peer) -> Result<Self> {
        prepare(setup);
        let lab = if device == Device::Daemon {
            let topology = Topology::instrument(peer, setup.link, setup.mode);
            let (server, scratch) = serve(topology)?;
            let near = Endpoint::open(&name(&server, 0))?;
            Self { far: None, near, server: Some(server), _scratch: Some(scratch) }
        } else {
            let near = Endpoint::open(&uri(setup, peer))?;
            Self { far: None, near, server: None, _scratch: None }
        };
        pin(setup.cpus(false).0);
        Ok(lab)
    }

    /// Two endpoints joined by a cable, the far one in a thread or a process of its own.
    pub fn pair(setup: &Setup) -> Result<Self> {
        prepare(setup);
        let (cpu, far_cpu) = setup.cpus(true);
        let place = Place { cpu: far_cpu, fifo: setup.fifo };
        let lab = match &setup.network {
            Network::Joined(Joined { near, far }) => {
                Self::between(near, far, setup.processes, place)?
            }
            Network::Own(device) if *device != Device::Daemon && setup.processes == 1 => {
                let network = Embedded::new(Topology::pairs(2, setup.link, setup.mode))?;
                let near = Endpoint::attach(&network, 0, "virtual:0")?;
                let far = Endpoint::attach(&network, 1, "virtual:1")?;
                let far = Far::thread(&near, far, place)?;
                Self { far: Some(far), near, server: None, _scratch: None }
            }
            Network::Own(_) => {
                let (server, scratch) = serve(Topology::pairs(2, setup.link, setup.mode))?;
                let ends = (name(&server, 0), name(&server, 1));
                let lab = Self::between(&ends.0, &ends.1, setup.processes, place)?;
                Self { server: Some(server), _scratch: Some(scratch), ..lab }
            }
        };
        // Last: threads and processes inherit the CPU of who starts them.
        pin(cpu);
        Ok(lab)
    }

    /// Two devices that are there.
    fn between(near: &str, far: &str, processes: u32, place: Place) -> Result<Self> {
        let near = Endpoint::open(near)?;
        let far = match processes {
            1 => Far::thread(&near, Endpoint::open(far)?, place)?,
            _ => Far::process(&near, far, place)?,
        };
        Ok(Self { far: Some(far), near, server: None, _scratch: None })
    }

    /// Reads the processor time of the device's own thread, if there is one.
    pub fn device_clock(&self) -> Option<DeviceClock> {
        if let Some(server) = &self.server {
            let server = server.clone();
            return Some(Arc::new(move || server.device_cpu_ns()));
        }
        let network = self.near.embedded()?.clone();
        Some(Arc::new(move || network.device_cpu_ns()))
    }
}

fn prepare(setup: &Setup) {
    // Before any thread is started: a device thread inherits it.
    if setup.fifo && !spfe_measure::set_fifo() {
        eprintln!("no right to SCHED_FIFO: running without");
    }
}

fn pin(cpu: Option<usize>) {
    if let Some(cpu) = cpu
        && !spfe_measure::pin_to(cpu)
    {
        eprintln!("cannot run on CPU {cpu}: running anywhere");
    }
}

fn serve(topology: Topology) -> Result<(Arc<Server>, Scratch)> {
    let scratch = Scratch::new()?;
    let server = Server::start(ServerConfig::new(topology).listen(scratch.0.join("s")))?;
    Ok((Arc::new(server), scratch))
}

fn name(server: &Server, endpoint: u32) -> String {
    format!("unix:{}/{endpoint}", server.path().unwrap_or(Path::new("")).display())
}

/// The device name of a private network with an instrument.
fn uri(setup: &Setup, peer: Peer) -> String {
    let peer = match peer {
        Peer::Generator { min_bytes, max_bytes, seed } => {
            format!("generator:{min_bytes}:{max_bytes}&seed={seed}")
        }
        _ => "sink".to_owned(),
    };
    format!("virtual:?link={}&mode={}&peer={peer}", setup.link, setup.mode)
}
