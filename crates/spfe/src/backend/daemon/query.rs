//! Queries of a daemon's network without attaching to it.

use super::{BACKEND, endpoint_uri};
use crate::{Error, PortInfo, Result};
use spfe_contract::Status;
use spfe_host::{DeviceInfo, FaultInfo};
pub use spfe_session::PairInfo;
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

    /// The queue pair of a virtual channel; `None` if none is open.
    ///
    /// # Errors
    /// DEVICE_GONE if the daemon is gone.
    pub fn pair(&mut self, endpoint: u32, port: u32, vc: u32) -> Result<Option<PairInfo>> {
        match self.connection.call(&Request::Pair { endpoint, port, vc }, &[])?.0 {
            Reply::Pair(pair) => Ok(pair),
            reply => Err(unexpected("Pair", &reply).into()),
        }
    }

    /// Gives a fault to the exact links and returns its number. `fault` has the keys of a `[[fault]]`
    /// (docs/scenarios.md); times count from now, and without one it happens at once.
    ///
    /// # Errors
    /// BAD_FIELD with what is wrong, BAD_OPCODE if there are no exact links, ACCESS_DENIED for
    /// another user than the daemon's.
    pub fn add_fault(&mut self, fault: &str) -> Result<u32> {
        let fault = fault.to_owned();
        self.value(Request::Fault { fault }).map(|number| number as u32)
    }

    /// Ends faults: one by its number, those of a link, flow or node, or all for an empty text.
    /// Returns how many of those that waited, repeated or lasted.
    ///
    /// # Errors
    /// Those of [`NetworkQuery::add_fault`].
    pub fn end_faults(&mut self, which: &str) -> Result<u64> {
        self.value(Request::EndFaults { which: which.to_owned() })
    }

    fn value(&mut self, request: Request) -> Result<u64> {
        match self.connection.call(&request, &[])?.0 {
            Reply::Value(value) => Ok(value),
            reply => Err(unexpected(request.name(), &reply).into()),
        }
    }

    /// The faults that wait, repeat or last.
    ///
    /// # Errors
    /// DEVICE_GONE if the daemon is gone.
    pub fn faults(&mut self) -> Result<Vec<FaultInfo>> {
        match self.connection.call(&Request::Faults, &[])?.0 {
            Reply::Faults(faults) => Ok(faults),
            reply => Err(unexpected("Faults", &reply).into()),
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
