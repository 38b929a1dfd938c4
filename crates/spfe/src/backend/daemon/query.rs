//! Queries of a daemon's network without attaching to it.

use super::{BACKEND, endpoint_uri};
use crate::{Error, PortInfo, Result};
use spfe_contract::Status;
use spfe_host::DeviceInfo;
use spfe_session::client::unexpected;
use spfe_session::{ClientInfo, Connection, NetworkInfo, Reply, Request};
use std::path::Path;

/// Queries of a daemon's network. The daemon closes the connection 5 s after it was opened, so open
/// a new one to poll.
pub struct NetworkQuery {
    connection: Connection,
    place: String,
    network: NetworkInfo,
}

impl NetworkQuery {
    /// Connects to the daemon at a socket.
    ///
    /// # Errors
    /// DEVICE_GONE if no daemon answers, BAD_VERSION if it has another protocol.
    pub fn open(path: &Path) -> Result<Self> {
        let mut connection = Connection::open(path)?;
        let place = format!("unix:{}", path.display());
        match connection.call(&Request::Network, &[])?.0 {
            Reply::Network(network) => {
                network.topology.check().map_err(|what| {
                    Error::device(Status::BadField, format!("daemon at {place}: {what}"))
                })?;
                Ok(Self { connection, place, network })
            }
            reply => Err(unexpected("Network", &reply).into()),
        }
    }

    /// The number of the endpoint with a name.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such endpoint.
    pub fn endpoint(&self, name: &str) -> Result<u32> {
        let names = &self.network.names;
        let number = names.iter().position(|known| known == name);
        number.map(|number| number as u32).ok_or_else(|| {
            let known = if names.is_empty() {
                let last = self.network.topology.endpoints.len().saturating_sub(1);
                format!("its endpoints are numbers, 0 to {last}")
            } else {
                format!("its endpoints are {}", names.join(", "))
            };
            let what = format!("endpoint '{name}' of {}: {known}", self.place);
            Error::device(Status::NotFound, what)
        })
    }

    /// Description of each endpoint, with client number 0.
    pub fn endpoints(&self) -> Vec<DeviceInfo> {
        let topology = &self.network.topology;
        let name = |number| self.network.names.get(number as usize).map_or("", String::as_str);
        let info = |(number, ports): (u32, &Vec<_>)| DeviceInfo {
            uri: endpoint_uri(&self.place, number, name(number)),
            backend: BACKEND,
            endpoint: number,
            client: 0,
            ports: ports.len() as u32,
            mode: topology.mode,
            contract: self.network.contract,
        };
        (0..).zip(&topology.endpoints).map(info).collect()
    }

    /// State and counters of a port.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such port.
    pub fn port_info(&mut self, endpoint: u32, port: u32) -> Result<PortInfo> {
        match self.connection.call(&Request::NetworkPort { endpoint, port }, &[])?.0 {
            Reply::Port(info) => Ok(info),
            reply => Err(unexpected("NetworkPort", &reply).into()),
        }
    }

    /// The attached clients.
    ///
    /// # Errors
    /// DEVICE_GONE if the daemon is gone.
    pub fn clients(&mut self) -> Result<Vec<ClientInfo>> {
        match self.connection.call(&Request::Clients, &[])?.0 {
            Reply::Clients(clients) => Ok(clients),
            reply => Err(unexpected("Clients", &reply).into()),
        }
    }
}
