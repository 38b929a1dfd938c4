//! The command line of `spfed`.

use crate::failure::{EXIT_CODES, FailureKind};
use crate::{DeviceConfig, ServerConfig};
use clap::Parser;
use spfe_contract::CONTRACT_VERSION_MINOR;
use spfe_host::topology::hostile::Hostile;
use spfe_host::topology::{FABRIC_NODES, ForeignStream, units};
use spfe_host::{Link, Mode, Peer, Topology};
use spfe_lab::Scenario;
use spfe_plane::{Stride, Variant};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

const AFTER: &str = "\
Clients are counted by user (of the process that connected); root and the daemon's own user have the
same limits. Only they may reset, cut or configure links, capture, and change the settings of virtual
channels that other clients have open.

Programs attach with the device name unix:PATH/ENDPOINT, for instance:
  spfed --listen /tmp/spfe.sock &
  spfe info unix:/tmp/spfe.sock/0

An endpoint can also be a PCI Express device of a virtual machine. QEMU 10.1 or newer uses it with:
  -M q35,memory-backend=ram -object memory-backend-memfd,id=ram,size=512M,share=on
  -device pcie-root-port,id=port1,chassis=1,slot=1
  -device '{\"driver\":\"vfio-user-pci\",\"bus\":\"port1\",\"x-no-posted-writes\":true,
            \"socket\":{\"type\":\"unix\",\"path\":\"SOCKET\"}}'
SIGUSR1 removes all such devices without warning (every register reads all ones); SIGUSR2 inserts them
again in their power-up state.";

/// Simulated cores of a daemon.
const CORES: u32 = 2;

/// Heading of the options that limit clients.
const LIMITS: &str = "Limits of clients";

/// Owns a virtual SpaceFibre network that several processes share.
///
/// In mode thread the daemon moves the packets, and its clients need not trust each other. In modes
/// auto, inline and coop the clients access each other's memory to move them, and must trust each
/// other.
#[derive(Clone, Debug, Parser)]
#[command(name = "spfed", version, after_help = format!("{EXIT_CODES}\n\n{AFTER}"))]
pub struct Options {
    /// Socket to listen on [default: $XDG_RUNTIME_DIR/spfe.sock, or /run/spfe.sock].
    #[arg(long, value_name = "PATH")]
    pub listen: Option<PathBuf>,
    /// Number of endpoints, linked in pairs 0-1, 2-3 ... (1 to 64; for --topology pairs only).
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub endpoints: u32,
    /// Rate of the SpaceFibre links: unlimited, LANESxRATE such as 4x7.5G, or spw:200M. A prefix
    /// exact: simulates every word of the link: exact:1x6.25G. exact-lenient: also starts with far
    /// ends that leave initialisation too early.
    #[arg(long, value_name = "RATE", default_value = "unlimited")]
    pub link: Link,
    /// Rate of the SpaceWire links: unlimited, or a rate such as 200M (the default if --link has a
    /// rate). A prefix exact: simulates every character. By default they are exact if --link is.
    #[arg(long, value_name = "RATE", value_parser = Link::spacewire)]
    pub spw: Option<Link>,
    /// Simulate the network of a scenario (docs/scenarios.md). Its nodes of kind endpoint become the
    /// endpoints, by number or name (unix:PATH/NAME); its other traffic and its faults take place.
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["link", "spw", "endpoints", "topology"])]
    pub scenario: Option<PathBuf>,
    /// Which thread moves the packets: thread (the daemon's), or auto, inline or coop (those of its
    /// clients, which must trust each other).
    #[arg(long, default_value = "thread")]
    pub mode: Mode,
    /// Shape of the network: pairs, loop (one endpoint, ports 0 and 1 linked), or one endpoint with
    /// an instrument on port 0: sink, check, echo, generator[:MIN[:MAX]] (sizes),
    /// rmap[:BYTES][:base=ADDRESS][:key=KEY][:logical=ADDRESS][:allow=rwm] (an RMAP target);
    /// target:FILE (a target-only endpoint of RDMA, docs/rdma.md);
    /// fabric:NODES (2 to 64 endpoints, each a node of a PCIe fabric, docs/fabric.md);
    /// foreign:STREAM is another simulator or a board (docs/foreign-ends.md): needs an exact link.
    #[arg(long, value_name = "KIND", default_value = "pairs")]
    pub topology: Kind,
    /// SpaceFibre ports of each endpoint; with --topology loop they are linked in pairs [default: 1;
    /// loop: 2].
    #[arg(long, value_name = "N", conflicts_with = "scenario")]
    pub ports: Option<u32>,
    /// SpaceWire ports of each endpoint [default: 1; loop: 2].
    #[arg(long, value_name = "N", conflicts_with = "scenario")]
    pub spw_ports: Option<u32>,
    /// Virtual channels of each SpaceFibre port, 1 to 32 [default: 8].
    #[arg(long, value_name = "N", conflicts_with = "scenario")]
    pub vcs: Option<u32>,
    /// What happens to packets on their way, at random: some of drop=P, duplicate=P, reorder=P,
    /// delay=P, damage=P, cut=P (probabilities), time=T (the greatest lateness) and seed=N, with
    /// commas between. Needs mode thread.
    #[arg(long, value_name = "LIST")]
    pub hostile: Option<Hostile>,
    /// Serve an endpoint as a PCI Express device to a virtual machine, over vfio-user, to one emulator
    /// at a time. Needs mode thread. May be repeated; without a number the first is endpoint 0.
    #[arg(long, value_name = "SOCKET[=ENDPOINT]")]
    pub vfio_user: Vec<DeviceConfig>,
    /// What such a device is: soft, an endpoint of the network, or rtl[:][?OPTIONS], a simulated core
    /// (docs/devices.md) in builds with the feature rtl. Two cores are joined port by port; they are
    /// the endpoints 0 and 1, and there is no network and no other client.
    #[arg(long, value_name = "KIND", default_value = "soft", value_parser = device)]
    pub device: DeviceKind,
    /// Let an endpoint serve memory to others without software: FILE describes a target of RDMA
    /// (docs/rdma.md), which takes virtual channel 0 of port 0. A device of the endpoint has the
    /// capability TARGET. May be repeated; needs mode thread.
    #[arg(long, value_name = "ENDPOINT=FILE", value_parser = target)]
    pub target: Vec<(u32, String)>,
    /// Distance between the doorbell pages of such a device in bytes: 4096 or 65536.
    #[arg(long, value_name = "BYTES", default_value = "4096", value_parser = stride)]
    pub doorbell_stride: Stride,
    /// Minor version of the contract of such a device; an older one tests a driver with an older
    /// device.
    #[arg(long, value_name = "N", default_value_t = CONTRACT_VERSION_MINOR, hide = true,
          value_parser = clap::value_parser!(u16).range(1..=CONTRACT_VERSION_MINOR as i64))]
    pub contract_minor: u16,
    /// Largest number of attached clients of one user of the system; 64 is the limit for all users.
    #[arg(long, value_name = "N", default_value_t = 48, help_heading = LIMITS)]
    pub max_clients: usize,
    /// Memory that the clients of one user may register.
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = units::size,
          help_heading = LIMITS)]
    pub max_memory: u64,
    /// Memory that all clients together may register.
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = units::size,
          help_heading = LIMITS)]
    pub max_total_memory: u64,
    /// Regions that the clients of one user may have at an endpoint, which has 256.
    #[arg(long, value_name = "N", default_value_t = 192, help_heading = LIMITS)]
    pub max_regions: usize,
    /// Queues that the clients of one user may have.
    #[arg(long, value_name = "N", default_value_t = 512, help_heading = LIMITS)]
    pub max_queues: usize,
    /// Event descriptors that the clients of one user may have; a client may have 128.
    #[arg(long, value_name = "N", default_value_t = 512, help_heading = LIMITS)]
    pub max_events: usize,
    /// Time after which a connection that has not attached is closed. Such connections of one user have
    /// 16 places, those of all users 32; newcomers replace the oldest.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time,
          help_heading = LIMITS)]
    pub hello_timeout: Duration,
    /// Exit when the last client has detached (virtual machines do not count).
    #[arg(long)]
    pub once: bool,
    /// Log when clients attach, detach, or make a request that is refused.
    #[arg(long, short)]
    pub verbose: bool,
}

/// What the devices of virtual machines are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// Endpoints of the network.
    Soft,
    /// Simulated cores of this device name.
    Rtl(String),
}

fn device(text: &str) -> Result<DeviceKind, String> {
    let core = text.strip_prefix("rtl").map(|rest| rest.strip_prefix(':').unwrap_or(rest));
    match core {
        _ if text == "soft" => Ok(DeviceKind::Soft),
        Some(options) if options.is_empty() || options.starts_with('?') => {
            // A name makes it a pair of cores.
            Ok(DeviceKind::Rtl(format!("rtl:spfed{options}")))
        }
        _ => Err(format!("device '{text}' is not one of soft, rtl[?OPTIONS]")),
    }
}

/// Shape of the network.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Endpoints linked in pairs.
    Pairs,
    /// One endpoint whose ports are linked.
    Loop,
    /// One endpoint with an instrument on port 0.
    Instrument(Peer),
    /// One endpoint with a target-only endpoint of RDMA on port 0.
    Target(String),
    /// One endpoint whose port leads to another simulator or a board.
    Foreign(ForeignStream),
    /// Nodes of a PCIe fabric.
    Fabric(u32),
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "topology '{text}' is not one of pairs, loop, sink, check, echo, rmap[:BYTES...], \
                 target:FILE, generator[:MIN[:MAX]], foreign:STREAM, fabric:NODES"
            )
        };
        let mut parts = text.split(':');
        let kind = match parts.next() {
            Some("pairs") => Self::Pairs,
            Some("loop") => Self::Loop,
            Some("sink") => Self::Instrument(Peer::Sink { check: false }),
            Some("check") => Self::Instrument(Peer::Sink { check: true }),
            Some("echo") => Self::Instrument(Peer::Echo),
            Some("rmap") => {
                let unit = text.split_once(':').map_or("", |(_, unit)| unit);
                return Ok(Self::Instrument(Peer::Rmap(unit.parse()?)));
            }
            Some("target") => {
                let file = text.split_once(':').ok_or_else(bad)?.1;
                return Ok(Self::Target(file.to_owned()));
            }
            Some("foreign") => {
                let stream = text.split_once(':').map_or("", |(_, stream)| stream);
                return Ok(Self::Foreign(stream.parse()?));
            }
            Some("fabric") => {
                let nodes = parts.next().and_then(|nodes| nodes.parse().ok());
                Self::Fabric(nodes.filter(|nodes| *nodes <= FABRIC_NODES).ok_or_else(bad)?)
            }
            Some("generator") => {
                let read = |text| units::size(text).ok().and_then(|size| size.try_into().ok());
                let mut size = |or: u32| parts.next().map_or(Ok(or), |n| read(n).ok_or_else(bad));
                let min_bytes = size(1024)?;
                let max_bytes = size(min_bytes)?;
                Self::Instrument(Peer::Generator { min_bytes, max_bytes, seed: 1 })
            }
            _ => return Err(bad()),
        };
        if parts.next().is_some() { Err(bad()) } else { Ok(kind) }
    }
}

fn time(text: &str) -> Result<Duration, String> {
    units::time_ps(text).map(|ps| Duration::from_nanos(ps / 1000))
}

fn target(text: &str) -> Result<(u32, String), String> {
    let place = text.split_once('=').and_then(|(number, file)| Some((number.parse().ok()?, file)));
    let (endpoint, file) = place.ok_or_else(|| format!("'{text}' is not ENDPOINT=FILE"))?;
    Ok((endpoint, file.to_owned()))
}

fn stride(text: &str) -> Result<Stride, String> {
    let known = [Stride::Usual, Stride::Wide];
    let found = known.into_iter().find(|stride| stride.bytes().to_string() == text);
    found.ok_or_else(|| format!("doorbell stride of {text} bytes: it is 4096 or 65536"))
}

/// Reads a scenario file.
fn scenario(path: &Path) -> Result<Scenario, (FailureKind, String)> {
    let named = |kind, what: String| (kind, format!("scenario '{}': {what}", path.display()));
    let text = std::fs::read_to_string(path)
        .map_err(|error| named(FailureKind::Failed, error.to_string()))?;
    Scenario::parse(&text).map_err(|error| named(FailureKind::Usage, error.to_string()))
}

/// Path of the socket without --listen.
pub fn default_path() -> PathBuf {
    let directory = std::env::var_os("XDG_RUNTIME_DIR").filter(|directory| !directory.is_empty());
    directory.map_or(PathBuf::from("/run"), PathBuf::from).join("spfe.sock")
}

impl Options {
    /// The server configuration that the options describe.
    ///
    /// # Errors
    /// The kind of failure and a message: options that contradict each other, with object, value and
    /// limit, or a scenario that cannot be read.
    pub fn config(&self) -> Result<ServerConfig, (FailureKind, String)> {
        let scenario = self.scenario.as_deref().map(scenario).transpose()?;
        self.with_scenario(scenario).map_err(|what| (FailureKind::Usage, what))
    }

    fn with_scenario(&self, scenario: Option<Scenario>) -> Result<ServerConfig, String> {
        if self.endpoints != 2 && self.topology != Kind::Pairs {
            return Err(format!("--endpoints {} is for --topology pairs only", self.endpoints));
        }
        if self.endpoints as usize > spfe_host::topology::ENDPOINTS_MAX {
            let most = spfe_host::topology::ENDPOINTS_MAX;
            return Err(format!("--endpoints {}: 1 to {most} allowed", self.endpoints));
        }
        let Link { rate, model } = self.link;
        let topology = match &self.topology {
            Kind::Pairs => Topology::pairs(self.endpoints, rate, self.mode),
            Kind::Loop => Topology::looped(rate, self.mode),
            Kind::Instrument(peer) => Topology::instrument(*peer, rate, self.mode),
            Kind::Target(file) => Topology::with_target(file, rate, self.mode),
            Kind::Foreign(stream) => Topology::with_foreign_end(stream.clone(), rate, self.mode),
            Kind::Fabric(nodes) => {
                let mut topology = Topology::fabric(*nodes, self.mode);
                topology.endpoints.iter_mut().flatten().for_each(|port| port.rate = rate);
                topology
            }
        };
        let mut topology =
            topology.with_model(model).with_ports(self.ports, self.spw_ports, self.vcs)?;
        if let Some(link) = self.spw {
            topology = topology.with_spacewire(link);
        }
        if self.hostile.is_some() && self.mode != Mode::Thread {
            return Err(format!("--hostile needs --mode thread, not {}", self.mode));
        }
        topology.hostile = self.hostile;
        topology.check()?;
        // The endpoints of a scenario are counted when its network is created.
        let most = if scenario.is_some() { u32::MAX } else { topology.endpoints.len() as u32 };
        let devices = self.devices(most)?;
        self.check_targets(most)?;
        Ok(ServerConfig {
            devices,
            targets: self.target.clone(),
            variant: Variant { stride: self.doorbell_stride, minor: self.contract_minor },
            listen: Some(self.listen.clone().unwrap_or_else(default_path)),
            max_clients: self.max_clients,
            max_memory: self.max_memory,
            max_total_memory: self.max_total_memory,
            max_regions: self.max_regions,
            max_queues: self.max_queues,
            max_events: self.max_events,
            hello_timeout: self.hello_timeout,
            once: self.once,
            verbose: self.verbose,
            scenario,
            ..ServerConfig::new(topology)
        })
    }

    fn check_targets(&self, endpoints: u32) -> Result<(), String> {
        if !self.target.is_empty() && self.mode != Mode::Thread {
            return Err(format!("--target needs --mode thread, not {}", self.mode));
        }
        for (endpoint, file) in &self.target {
            if *endpoint >= endpoints {
                return Err(format!(
                    "--target {endpoint}={file}: this network has endpoints 0 to {}",
                    endpoints - 1
                ));
            }
        }
        Ok(())
    }

    /// The sockets of simulated cores, with the numbers of the cores.
    ///
    /// # Errors
    /// A message: no socket, or a core that does not exist.
    pub fn cores(&self) -> Result<Vec<DeviceConfig>, String> {
        if self.vfio_user.is_empty() {
            return Err("--device rtl serves virtual machines only: --vfio-user is missing".into());
        }
        if self.scenario.is_some() || self.topology != Kind::Pairs {
            return Err(
                "--device rtl: the cores have no network; --scenario and --topology are for \
                        soft devices"
                    .into(),
            );
        }
        self.devices(CORES)
    }

    /// The devices of virtual machines, with their endpoint numbers.
    fn devices(&self, endpoints: u32) -> Result<Vec<DeviceConfig>, String> {
        if !self.vfio_user.is_empty() && self.mode != Mode::Thread {
            return Err(format!("--vfio-user needs --mode thread, not {}", self.mode));
        }
        let mut devices: Vec<DeviceConfig> = Vec::new();
        for (number, device) in (0..).zip(&self.vfio_user) {
            let endpoint = device.endpoint.unwrap_or(number);
            let path = device.path.display();
            if endpoint >= endpoints {
                return Err(format!(
                    "--vfio-user {path}={endpoint}: this network has endpoints 0 to {}; raise \
                     --endpoints",
                    endpoints - 1
                ));
            }
            if devices.iter().any(|other| other.endpoint == Some(endpoint)) {
                return Err(format!(
                    "--vfio-user {path}={endpoint}: the endpoint is already a device"
                ));
            }
            devices.push(DeviceConfig { endpoint: Some(endpoint), ..device.clone() });
        }
        Ok(devices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<ServerConfig, String> {
        let words = std::iter::once("spfed").chain(line.split_whitespace());
        let options = Options::try_parse_from(words).map_err(|error| error.to_string())?;
        options.config().map_err(|(kind, what)| {
            assert_eq!(kind, FailureKind::Usage, "{what}");
            what
        })
    }

    #[test]
    fn options_describe_a_network() {
        let config = parse("--listen /tmp/x --endpoints 4 --link 4x7.5G --max-memory 1M").unwrap();
        assert_eq!((config.topology.endpoints.len(), config.max_memory), (4, 1 << 20));
        let defaults = ServerConfig::new(config.topology.clone());
        let limits = |config: &ServerConfig| {
            let ServerConfig { max_clients, max_regions, max_queues, max_events, .. } = *config;
            let numbers = [max_clients, max_regions, max_queues, max_events];
            (numbers, config.max_total_memory, config.hello_timeout)
        };
        assert_eq!(
            limits(&config),
            limits(&defaults),
            "the help shows the defaults of the library"
        );
        let line = "--max-clients 1 --max-regions 2 --max-queues 3 --max-events 4 --max-total-memory 5K \
                    --hello-timeout 250ms";
        let config = parse(line).unwrap();
        assert_eq!(limits(&config), ([1, 2, 3, 4], 5 << 10, Duration::from_millis(250)));
        assert_eq!(config.topology.mode, Mode::Thread);
        assert!(parse("--link exact:1x6.25G").unwrap().topology.has_exact());
        let config = parse("--link exact:1x6.25G --spw 100M").unwrap();
        let links = config.topology.endpoints[0].iter().map(|port| port.link().to_string());
        assert_eq!(links.collect::<Vec<_>>(), ["exact:1x6.25G", "spw:100M"]);
        let config = parse("--topology generator:64:1K --mode inline").unwrap();
        let peer = Peer::Generator { min_bytes: 64, max_bytes: 1024, seed: 1 };
        assert_eq!(config.topology.endpoints[0][0].peer, peer);
        let config = parse("--topology fabric:12").unwrap();
        assert_eq!(
            (config.topology.endpoints.len(), config.topology.endpoints[11][0].vcs),
            (12, 24)
        );
        let config = parse("--ports 2 --spw-ports 3 --vcs 16").unwrap();
        let ports = config.topology.endpoints[1].iter().map(|port| (port.space_wire, port.vcs));
        assert!(ports.eq([(false, 16), (false, 16), (true, 1), (true, 1), (true, 1)]));
        for (line, unit) in [("rmap", "1M"), ("rmap:64K:key=7", "64K:key=7")] {
            let config = parse(&format!("--topology {line}")).unwrap();
            let peer = Peer::Rmap(unit.parse().unwrap());
            assert_eq!(config.topology.endpoints[0][0].peer, peer);
        }
    }

    #[test]
    fn a_device_without_a_number_gets_its_position() {
        let config = parse("--vfio-user /tmp/a --vfio-user /tmp/b=0").unwrap_err();
        assert!(config.contains("already a device"), "{config}");
        let line = "--endpoints 4 --vfio-user /tmp/a=3 --vfio-user /tmp/b --doorbell-stride 65536 \
                    --contract-minor 1";
        let config = parse(line).unwrap();
        let endpoints: Vec<_> = config.devices.iter().map(|device| device.endpoint).collect();
        assert_eq!(
            (endpoints, config.variant),
            (vec![Some(3), Some(1)], Variant { stride: Stride::Wide, minor: 1 })
        );
    }

    #[test]
    fn a_device_may_be_a_simulated_core() {
        let options = |line: &str| {
            let words = std::iter::once("spfed").chain(line.split_whitespace());
            Options::try_parse_from(words).unwrap()
        };
        assert_eq!(options("").device, DeviceKind::Soft);
        let pair = options("--device rtl:?lanes=4 --vfio-user /tmp/a --vfio-user /tmp/b");
        assert_eq!(pair.device, DeviceKind::Rtl("rtl:spfed?lanes=4".into()));
        let numbers = pair.cores().unwrap().into_iter().map(|config| config.endpoint);
        assert_eq!(numbers.collect::<Vec<_>>(), [Some(0), Some(1)]);
        for (line, part) in [
            ("--device rtl", "--vfio-user is missing"),
            ("--device rtl --vfio-user /tmp/a=2", "endpoints 0 to 1"),
            ("--device rtl --vfio-user /tmp/a --topology loop", "no network"),
        ] {
            let error = options(line).cores().unwrap_err();
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn errors_name_the_bad_value() {
        for (line, part) in [
            ("--vfio-user /tmp/a=x", "SOCKET=ENDPOINT"),
            ("--vfio-user =1", "no socket"),
            ("--vfio-user /tmp/a=2", "endpoints 0 to 1"),
            ("--vfio-user /tmp/a --mode coop", "needs --mode thread"),
            ("--doorbell-stride 8192", "4096 or 65536"),
            ("--target 1", "ENDPOINT=FILE"),
            ("--target 2=1M", "endpoints 0 to 1"),
            ("--target 1=1M --mode inline", "needs --mode thread"),
            ("--endpoints 65", "1 to 64"),
            ("--endpoints 0", "0 endpoints"),
            ("--endpoints 3 --topology loop", "--topology pairs only"),
            ("--topology ring", "'ring' is not one of"),
            ("--topology fabric:65", "fabric:NODES"),
            ("--topology fabric:1", "2 to 64 allowed"),
            ("--topology fabric:3 --vcs 4", "its channels"),
            ("--topology fabric:3 --link 1x5G", "has no rate here"),
            ("--topology fabric:3 --vfio-user /tmp/a=3", "endpoints 0 to 2"),
            ("--topology echo:1", "'echo:1' is not one of"),
            ("--topology generator:9:3", "shortest first"),
            ("--topology rmap:1M:key=256", "key=KEY"),
            ("--topology rmap:5G", "1 to 4G"),
            ("--link 99x1G", "1 to 16 lanes"),
            ("--link exact:1x6.25G --topology sink", "joins two ports"),
            ("--spw 1x5G", "exact:RATE"),
            ("--mode magic", "'magic' is none of"),
            ("--hello-timeout soon", "is not a time"),
            ("--ports 9", "9 ports: 1 to 8 allowed"),
            ("--vcs 33", "channels 33 is not in 1 to 32"),
            ("--topology sink --spw-ports 1", "no SpaceWire ports"),
            ("--device board", "soft, rtl"),
            ("--device rtl9", "soft, rtl"),
            ("--max-memory lots", "'lots' is not a size"),
            ("--max-memory 99999999999G", "is not a size"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(part), "{line}: {error}");
        }
    }
}
