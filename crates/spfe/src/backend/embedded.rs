//! A virtual network in this process. It needs no daemon and no privileges.

use crate::{Error, PortInfo, Result};
use rustix::fd::OwnedFd;
use spfe_contract::{CONTRACT_VERSION_MAJOR, CONTRACT_VERSION_MINOR, MibItem, Status};
use spfe_host::backend::create_memory;
use spfe_host::topology::hostile::{Hostile, HostileCounts};
use spfe_host::{
    Attachment, Backend, Clock, DeviceInfo, FaultInfo, LinkCommand, MibEntry, Mode, QueueRequest,
    RegionKey, SharedMemory, Topology,
};
use spfe_lab::{Capture, CaptureOptions, FaultChoice, Lab, Scenario};
use spfe_plane::{DeviceThread, Event, Network, View};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A network in this process.
pub struct Embedded {
    /// Runs mode thread, and exact links in real time. Dropped before the network.
    device: Option<DeviceThread>,
    lab: Lab,
}

impl Embedded {
    /// Creates a network.
    ///
    /// # Errors
    /// BAD_FIELD if the topology is wrong, or has virtual time in mode thread.
    pub fn new(topology: Topology) -> Result<Arc<Self>> {
        let threaded = topology.mode == Mode::Thread;
        if threaded && topology.virtual_time {
            let what = "virtual time needs mode auto or inline: a device thread has its own pace";
            return Err(Error::device(Status::BadField, what));
        }
        let lab = Lab::new(topology)?;
        let device = lab.start_device()?;
        Ok(Arc::new(Self { device, lab }))
    }

    /// Creates a network that runs a scenario (docs/scenarios.md). The nodes of kind `endpoint` are
    /// its endpoints, in the order of the file.
    ///
    /// # Errors
    /// BAD_FIELD for a scenario without endpoints or beyond the limits of a network.
    pub fn of_scenario(scenario: &Scenario, mode: Mode, virtual_time: bool) -> Result<Arc<Self>> {
        let lab = Lab::of_scenario(scenario, mode, virtual_time)?;
        let device = lab.start_device()?;
        Ok(Arc::new(Self { device, lab }))
    }

    /// Creates a network without a device thread. Benchmarks use it to run the engine themselves.
    ///
    /// # Errors
    /// BAD_FIELD if the topology is wrong.
    pub fn without_device(topology: Topology) -> Result<Arc<Self>> {
        Ok(Arc::new(Self { device: None, lab: Lab::new(topology)? }))
    }

    /// The network of that name in this process; created on first use.
    ///
    /// # Errors
    /// Those of [`Embedded::new`].
    pub fn named(name: &str, topology: impl FnOnce() -> Topology) -> Result<Arc<Self>> {
        static NAMED: Mutex<Option<HashMap<String, Weak<Embedded>>>> = Mutex::new(None);
        let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
        let named = named.get_or_insert_default();
        if let Some(network) = named.get(name).and_then(Weak::upgrade) {
            return Ok(network);
        }
        let network = Self::new(topology())?;
        named.retain(|_, weak| weak.strong_count() > 0);
        named.insert(name.to_owned(), Arc::downgrade(&network));
        Ok(network)
    }

    /// The control plane of the network.
    pub fn network(&self) -> &Arc<Network> {
        self.lab.network()
    }

    /// Starts a capture of links into a pcapng file (docs/capture.md), which a separate thread
    /// writes. Links never wait for the writer. The capture ends with [`Capture::finish`] or when it
    /// is dropped.
    ///
    /// # Errors
    /// NOT_FOUND for the name of a link that does not exist, BUSY if 8 captures are running.
    pub fn capture(
        &self,
        options: &CaptureOptions,
        to: impl std::io::Write + Send + 'static,
    ) -> Result<Capture> {
        Ok(Capture::start(&self.lab, options, Box::new(to))?)
    }

    /// Gives a fault to the exact links and returns its number. `fault` has the keys of a `[[fault]]`
    /// (docs/scenarios.md); times count from now, and without one it happens at once.
    ///
    /// # Errors
    /// BAD_FIELD with what is wrong, BAD_OPCODE if there are no exact links.
    pub fn add_fault(&self, fault: &str) -> Result<u32> {
        Ok(self.lab.add_fault(fault)?)
    }

    /// Ends faults: one by its number, those of a link, flow or node, or all for an empty text.
    /// Returns how many of those that waited, repeated or lasted.
    ///
    /// # Errors
    /// BAD_OPCODE if there are no exact links.
    pub fn end_faults(&self, which: &str) -> Result<usize> {
        Ok(self.lab.end_faults(&FaultChoice::of(which))?)
    }

    /// The faults that wait, repeat or last.
    pub fn faults(&self) -> Vec<FaultInfo> {
        self.lab.faults()
    }

    /// Makes the links hostile, exact ones as well, or ends that (`virtual:?hostile=`). What has been
    /// sent still arrives.
    pub fn set_hostile(&self, hostile: Option<Hostile>) {
        self.network().set_hostile(hostile);
    }

    /// What has happened to packets on hostile links.
    pub fn hostile_counts(&self) -> HostileCounts {
        self.network().hostile_counts()
    }

    /// Processor time of the device thread in ns; 0 without one.
    pub fn device_cpu_ns(&self) -> u64 {
        self.device.as_ref().map_or(0, DeviceThread::cpu_ns)
    }
}

/// A client of a network in this process.
pub struct EmbeddedBackend {
    embedded: Arc<Embedded>,
    at: Attachment,
    view: Arc<View>,
    uri: String,
}

impl EmbeddedBackend {
    /// Attaches to an endpoint. `uri` is the device name for messages.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such endpoint, NO_RESOURCES if there are too many clients.
    pub fn attach(embedded: Arc<Embedded>, endpoint: u32, uri: &str) -> Result<Self> {
        let name = format!("process {}", std::process::id());
        let at = embedded.network().attach(endpoint, &name)?;
        let view = embedded.network().view(at.client);
        Ok(Self { embedded, at, view, uri: uri.to_owned() })
    }

    /// The data plane of this client, if it runs the engine itself.
    pub(crate) fn view(&self) -> Option<&Arc<View>> {
        (self.embedded.network().topology().mode != Mode::Thread).then_some(&self.view)
    }
}

impl Backend for EmbeddedBackend {
    fn info(&self) -> DeviceInfo {
        let topology = self.embedded.network().topology();
        DeviceInfo {
            uri: self.uri.clone(),
            backend: "virtual, embedded",
            endpoint: self.at.endpoint,
            client: self.at.client,
            ports: topology.endpoints[self.at.endpoint as usize].len() as u32,
            mode: topology.mode,
            contract: (CONTRACT_VERSION_MAJOR, CONTRACT_VERSION_MINOR),
        }
    }

    fn chain_max(&self) -> u32 {
        spfe_plane::CHAIN_MAX as u32
    }

    fn has_pairs(&self) -> bool {
        true
    }

    fn has_beside(&self) -> bool {
        true
    }

    fn port_info(&self, port: u32) -> Result<PortInfo> {
        Ok(self.embedded.network().port_info(self.at.endpoint, port)?)
    }

    fn add_memory(
        &self,
        name: &str,
        size: usize,
        access: u32,
    ) -> Result<(Arc<SharedMemory>, RegionKey)> {
        let memory = create_memory(name, size)?;
        let key = self.embedded.network().add_region(self.at, memory.clone(), access)?;
        Ok((memory, key))
    }

    fn remove_region(&self, key: RegionKey) -> Result<()> {
        Ok(self.embedded.network().remove_region(self.at, key)?)
    }

    fn add_event(&self, event: Option<OwnedFd>) -> Result<u32> {
        let Some(event) = event else { return Ok(0) };
        Ok(self.embedded.network().add_event(self.at, Event::own(event))?)
    }

    fn create_queue(&self, request: &QueueRequest) -> Result<()> {
        Ok(self.embedded.network().create_queue(self.at, *request)?)
    }

    fn destroy_queue(&self, port: u32, vc: u32, kind: u8) -> Result<()> {
        Ok(self.embedded.network().destroy_queue(self.at, port, vc, kind)?)
    }

    fn set_priority(&self, port: u32, vc: u32, priority: u8) -> Result<()> {
        Ok(self.embedded.network().set_priority(self.at, port, vc, priority)?)
    }

    fn port_mib(&self, port: u32) -> Result<Vec<MibEntry>> {
        Ok(self.embedded.network().port_mib(self.at.endpoint, port)?)
    }

    fn mib_item(&self, port: u32, item: MibItem, index: u32) -> Result<u64> {
        Ok(self.embedded.network().mib_item(self.at.endpoint, port, item, index)?)
    }

    fn link_command(&self, port: u32, command: LinkCommand) -> Result<()> {
        Ok(self.embedded.network().link_command(self.at, port, command)?)
    }

    fn reset(&self) -> Result<()> {
        Ok(self.embedded.network().reset(self.at)?)
    }

    fn ring(&self) {
        self.embedded.network().ring();
    }

    fn clock(&self) -> &Clock {
        self.view.clock()
    }

    fn is_gone(&self) -> bool {
        false
    }
}

impl Drop for EmbeddedBackend {
    fn drop(&mut self) {
        // All queues and regions are closed by now; this frees the client's id.
        let _ = self.embedded.network().detach(self.at, false);
    }
}
