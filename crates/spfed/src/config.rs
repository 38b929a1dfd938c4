//! Configuration of a server.

use crate::devices::DeviceConfig;
use spfe_host::Topology;
use spfe_lab::Scenario;
use spfe_plane::{UserLimits, Variant};
use std::path::PathBuf;
use std::time::Duration;

/// Largest number of attached clients.
pub const CLIENTS_MAX: usize = 64;

/// The network that a server owns, and the limits of its clients.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Socket to listen on. `None`: the server takes only connections given to
    /// [`Server::adopt`](crate::Server::adopt).
    pub listen: Option<PathBuf>,
    /// The network.
    pub topology: Topology,
    /// Endpoints that virtual machines use as devices (mode thread only).
    pub devices: Vec<DeviceConfig>,
    /// Endpoints that serve memory to others without software, and the files that describe their
    /// targets (mode thread only). Each takes virtual channel 0 of port 0.
    pub targets: Vec<(u32, String)>,
    /// Variant of the registers of these devices.
    pub variant: Variant,
    /// A simulated network to serve instead: its nodes of kind `endpoint` become the endpoints. Of
    /// `topology` only the mode is used.
    pub scenario: Option<Scenario>,
    /// Largest number of attached clients of one user.
    pub max_clients: usize,
    /// Largest sum of the registered regions of one user's clients, bytes.
    pub max_memory: u64,
    /// Largest sum of the registered regions of all clients, bytes.
    pub max_total_memory: u64,
    /// Largest number of regions that one user's clients have at an endpoint, which has 256.
    pub max_regions: usize,
    /// Largest number of queues of one user's clients.
    pub max_queues: usize,
    /// Largest number of events of one user's clients.
    pub max_events: usize,
    /// A connection that has not attached after this time is closed.
    pub hello_timeout: Duration,
    /// Stop when the last client has detached.
    pub once: bool,
    /// Log to stderr when clients attach, detach, or make a request that is refused.
    pub verbose: bool,
}

impl ServerConfig {
    /// A server without a socket and with default limits.
    pub fn new(topology: Topology) -> Self {
        Self {
            listen: None,
            topology,
            devices: Vec::new(),
            targets: Vec::new(),
            variant: Variant::default(),
            scenario: None,
            max_clients: 48,
            max_memory: 1 << 30,
            max_total_memory: 2 << 30,
            max_regions: 192,
            max_queues: 512,
            max_events: 512,
            hello_timeout: Duration::from_secs(5),
            once: false,
            verbose: false,
        }
    }

    /// The limits that the network checks.
    pub(crate) fn limits(&self) -> UserLimits {
        UserLimits {
            bytes: self.max_memory,
            total_bytes: self.max_total_memory,
            regions: self.max_regions,
            queues: self.max_queues,
            events: self.max_events,
        }
    }

    /// Sets the path of the socket to listen on.
    pub fn listen(mut self, path: impl Into<PathBuf>) -> Self {
        self.listen = Some(path.into());
        self
    }
}
