//! The network that a case runs on, with its far end.

use super::args::{Device, Joined};
use super::far::{Far, Placement};
use super::meter::DeviceClock;
use super::place::EndName;
use super::setup::{Network, Setup};
use spfe::{Embedded, Endpoint, Error, Peer, Result, Status, Topology};
use spfed::{Server, ServerConfig};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A temporary directory, removed with its contents.
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

/// A network with the near end open. The order of the fields is the order in which they are dropped.
pub struct Lab {
    /// The far end, unless it is an instrument.
    pub far: Option<Far>,
    /// The near end.
    pub near: Endpoint,
    /// Somebody else runs the far end, or there is none.
    pub alone: bool,
    /// The far end may be another tester, which is told when packets end.
    pub peered: bool,
    /// The other end, where this process opens both.
    pub other: Option<Endpoint>,
    /// Processor for a thread of the other end.
    pub far_cpu: Option<usize>,
    server: Option<Arc<Server>>,
    _scratch: Option<Scratch>,
}

impl Lab {
    /// A new network of one endpoint with an instrument on port 0.
    pub fn instrument(setup: &Setup, device: Device, peer: Peer) -> Result<Self> {
        prepare(setup);
        let lab = if device == Device::Daemon {
            let topology = Topology::instrument(peer, setup.link, setup.mode);
            let (server, scratch) = serve(topology)?;
            let near = Endpoint::open(&name(&server, 0))?;
            Self { server: Some(server), _scratch: Some(scratch), ..Self::of(near) }
        } else {
            let near = Endpoint::open(&uri(setup, peer))?;
            Self::of(near)
        };
        pin(setup.cpus(false).0);
        Ok(lab)
    }

    /// A new network of one endpoint with a target-only endpoint of RDMA on port 0.
    pub fn target(setup: &Setup, device: Device, memory: &str) -> Result<Self> {
        prepare(setup);
        let topology =
            Topology::with_target(memory, setup.link, setup.mode).with_model(setup.model);
        let lab = if device == Device::Daemon {
            let (server, scratch) = serve(topology)?;
            let near = Endpoint::open(&name(&server, 0))?;
            Self { server: Some(server), _scratch: Some(scratch), ..Self::of(near) }
        } else {
            Self::of(Endpoint::attach(&Embedded::new(topology)?, 0, "virtual:0")?)
        };
        pin(setup.cpus(false).0);
        Ok(lab)
    }

    fn of(near: Endpoint) -> Self {
        let (far, other, far_cpu, server, scratch) = (None, None, None, None, None);
        let (alone, peered) = (false, false);
        Self { far, near, alone, peered, other, far_cpu, server, _scratch: scratch }
    }

    /// An existing end without a far end of ours.
    pub fn alone(setup: &Setup, end: &EndName) -> Result<Self> {
        prepare(setup);
        let near = Endpoint::open(&end.device)?;
        let peer = near.port(end.port)?.info()?.peer;
        pin(setup.cpus(false).0);
        let peered = matches!(peer, Peer::Port { .. } | Peer::Network | Peer::None);
        Ok(Self { alone: true, peered, ..Self::of(near) })
    }

    /// Two linked endpoints, both open in this process, for one thread that uses both.
    pub fn looped(setup: &Setup) -> Result<Self> {
        prepare(setup);
        let (cpu, far_cpu) = setup.cpus(true);
        let lab = match &setup.network {
            Network::Joined(Joined { near, far }) => {
                let end = Endpoint::open(&near.device)?;
                let other = match far.device == near.device {
                    true => end.clone(),
                    false => Endpoint::open(&far.device)?,
                };
                Self { other: Some(other), ..Self::of(end) }
            }
            Network::Alone(_) => return Err(no_round_trip()),
            Network::Own(device) if *device != Device::Daemon => {
                let network = Embedded::new(setup.pair())?;
                let other = Some(Endpoint::attach(&network, 1, "virtual:1")?);
                Self { other, ..Self::of(Endpoint::attach(&network, 0, "virtual:0")?) }
            }
            Network::Own(_) => {
                let (server, scratch) = serve(setup.pair())?;
                let other = Some(Endpoint::open(&name(&server, 1))?);
                let near = Endpoint::open(&name(&server, 0))?;
                Self { other, server: Some(server), _scratch: Some(scratch), ..Self::of(near) }
            }
        };
        pin(cpu);
        Ok(Self { far_cpu, ..lab })
    }

    /// Two linked endpoints; the far one runs in a thread or process of its own.
    pub fn pair(setup: &Setup) -> Result<Self> {
        prepare(setup);
        let (cpu, far_cpu) = setup.cpus(true);
        let place = Placement { cpu: far_cpu, fifo: setup.fifo, alone: false };
        let lab = match &setup.network {
            Network::Joined(Joined { near, far }) => {
                Self::between(&near.device, &far.device, setup.processes, place)?
            }
            Network::Alone(_) => return Err(no_round_trip()),
            Network::Own(device) if *device != Device::Daemon && setup.processes == 1 => {
                let network = Embedded::new(setup.pair())?;
                let near = Endpoint::attach(&network, 0, "virtual:0")?;
                let far = Endpoint::attach(&network, 1, "virtual:1")?;
                Self { far: Some(Far::thread(far, place)?), ..Self::of(near) }
            }
            Network::Own(_) => {
                let (server, scratch) = serve(setup.pair())?;
                let ends = (name(&server, 0), name(&server, 1));
                let lab = Self::between(&ends.0, &ends.1, setup.processes, place)?;
                Self { server: Some(server), _scratch: Some(scratch), ..lab }
            }
        };
        // Pin last: new threads and processes inherit the processor of their creator.
        pin(cpu);
        Ok(lab)
    }

    /// Two existing devices, or one for both ends.
    fn between(near: &str, far: &str, processes: u32, place: Placement) -> Result<Self> {
        let opened = near;
        let near = Endpoint::open(opened)?;
        let far = match processes {
            1 if opened == far => Far::thread(near.clone(), place)?,
            1 => Far::thread(Endpoint::open(far)?, place)?,
            _ => Far::process(far, place)?,
        };
        Ok(Self { far: Some(far), ..Self::of(near) })
    }

    /// A function that reads the processor time of the device thread, if there is one.
    pub fn device_clock(&self) -> Option<DeviceClock> {
        if let Some(server) = &self.server {
            let server = server.clone();
            return Some(Arc::new(move || server.device_cpu_ns()));
        }
        let network = self.near.embedded()?.clone();
        Some(Arc::new(move || network.device_cpu_ns()))
    }
}

fn no_round_trip() -> Error {
    Error::device(Status::BadField, "this test needs both --from and --to")
}

fn prepare(setup: &Setup) {
    // Before any thread starts: the device thread inherits the scheduling class.
    if setup.fifo && !spfe_measure::set_fifo() {
        eprintln!("no permission for SCHED_FIFO; continuing without it");
    }
}

/// Puts the calling thread on a processor, if one is named.
pub fn pin(cpu: Option<usize>) {
    if let Some(cpu) = cpu
        && !spfe_measure::pin_to(cpu)
    {
        eprintln!("cannot pin to CPU {cpu}; continuing without pinning");
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

/// Device name of a private network with an instrument.
fn uri(setup: &Setup, peer: Peer) -> String {
    let peer = match peer {
        Peer::Generator { min_bytes, max_bytes, seed } => {
            format!("generator:{min_bytes}:{max_bytes}&seed={seed}")
        }
        _ => "sink".to_owned(),
    };
    format!("virtual:?link={}&mode={}&peer={peer}", setup.link, setup.mode)
}
