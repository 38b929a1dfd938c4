//! Configuration of a server.

use crate::devices::DeviceConfig;
use spfe_host::Topology;
use spfe_lab::Scenario;
use spfe_plane::Stride;
use std::path::PathBuf;

/// Largest number of attached clients.
pub const CLIENTS_MAX: usize = 64;
/// Default limit of a client's regions. An endpoint has 256 for all of its clients.
pub const REGIONS_MAX: usize = 128;
/// Default limit of a client's registered memory, bytes.
pub const MEMORY_MAX: u64 = 4 << 30;

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
    /// Distance between the doorbell pages of these devices.
    pub stride: Stride,
    /// A simulated network to serve instead: its nodes of kind `endpoint` become the endpoints. Of
    /// `topology` only the mode is used.
    pub scenario: Option<Scenario>,
    /// Largest sum of a client's registered regions, bytes.
    pub max_memory: u64,
    /// Largest number of regions a client may have registered.
    pub max_regions: usize,
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
            stride: Stride::Usual,
            scenario: None,
            max_memory: MEMORY_MAX,
            max_regions: REGIONS_MAX,
            once: false,
            verbose: false,
        }
    }

    /// Sets the path of the socket to listen on.
    pub fn listen(mut self, path: impl Into<PathBuf>) -> Self {
        self.listen = Some(path.into());
        self
    }
}
