//! A network with its exact links and captures.

use crate::capture::{Buffer, CaptureOptions, CaptureSummary, Hub, Now};
use crate::exact::Exact;
use crate::exact::driver::{Driver, Shared};
use crate::scenario::{self, Parts};
use spfe_contract::Status;
use spfe_host::{Clock, ControlError as Error, Mode, Topology};
use spfe_plane::arena::DEVICE;
use spfe_plane::{DeviceThread, Extensions, Network};
use spfe_sim::scenario::Scenario;
use std::io::Write;
use std::sync::{Arc, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

/// A network, its exact links and the captures of its links.
pub struct Lab {
    network: Arc<Network>,
    exact: Option<Arc<Exact>>,
    hub: Arc<Hub>,
    /// Runs the exact links in virtual time; the clock knows it weakly.
    _driver: Option<Arc<Shared>>,
}

impl Lab {
    /// A network of this topology.
    ///
    /// # Errors
    /// BAD_FIELD if the topology is wrong.
    pub fn new(topology: Topology) -> Result<Self, Error> {
        let bad = |what| Error::new(Status::BadField, what);
        topology.check().map_err(bad)?;
        let exact = Exact::of(&topology).map_err(bad)?;
        Self::with_exact(topology, exact, Vec::new())
    }

    /// A network that runs a scenario: its endpoints are the nodes of kind `endpoint`, in the order
    /// of the file; port N is the node's link with the N-th lowest port number, from 0 on.
    ///
    /// # Errors
    /// BAD_FIELD: no node is an endpoint, or one has more ports than an endpoint has (8), or a link
    /// cannot be made.
    pub fn of_scenario(scenario: &Scenario, mode: Mode, virtual_time: bool) -> Result<Self, Error> {
        let bad = |what: String| Error::new(Status::BadField, format!("scenario: {what}"));
        let Parts { topology, exact, names } =
            scenario::parts(scenario, mode, virtual_time).map_err(bad)?;
        Self::with_exact(topology, Some(Arc::new(exact)), names)
    }

    fn with_exact(
        topology: Topology,
        exact: Option<Arc<Exact>>,
        names: Vec<String>,
    ) -> Result<Self, Error> {
        let links = exact.as_ref().map(|exact| exact.links()).unwrap_or_default();
        let hub =
            Hub::new(&topology, links, |endpoint, port| exact.as_ref()?.link_end(endpoint, port));
        if let Some(exact) = &exact {
            exact.show_to(&hub);
        }
        let extensions = Extensions {
            exact: exact.clone().map(|exact| exact as _),
            observer: Some(hub.clone()),
            names,
        };
        let network = Network::with(topology, extensions)?;
        let driver = match (network.clock(), &exact) {
            (Clock::Virtual(clock), Some(exact)) => {
                let driver = Shared::new(Driver::new(exact, &network.view(DEVICE)));
                let weak: Weak<Shared> = Arc::downgrade(&driver);
                clock.set_driver(weak);
                Some(driver)
            }
            _ => None,
        };
        Ok(Self { network, exact, hub, _driver: driver })
    }

    /// The network.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Names of the links, as captures call them.
    pub fn link_names(&self) -> Vec<String> {
        self.hub.names().map(str::to_owned).collect()
    }

    /// Starts the device thread that the network needs; `None` if it needs none
    /// ([`Network::needs_device`]).
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn start_device(&self) -> std::io::Result<Option<DeviceThread>> {
        if !self.network.needs_device() {
            return Ok(None);
        }
        let thread = DeviceThread::start_with(&self.network, |view| {
            let exact = self.exact.as_ref()?;
            Some(Box::new(Driver::new(exact, view)) as _)
        })?;
        Ok(Some(thread))
    }
}

/// A capture under way; it ends when dropped.
pub struct Capture {
    network: Weak<Network>,
    exact: Option<Arc<Exact>>,
    hub: Arc<Hub>,
    buffer: Arc<Buffer>,
    id: u32,
}

impl Capture {
    /// Begins a capture of a network's links, a pcapng file (docs/capture.md) that a thread of its
    /// own writes. In real time its times are those of the day; in virtual time they are the
    /// network's.
    ///
    /// # Errors
    /// NOT_FOUND for a name that is no link's, BUSY when there are
    /// [`CAPTURES_MAX`](crate::capture::CAPTURES_MAX) captures.
    pub fn start(
        lab: &Lab,
        options: &CaptureOptions,
        to: Box<dyn Write + Send>,
    ) -> Result<Self, Error> {
        let (network, hub, exact) = (&lab.network, lab.hub.clone(), lab.exact.clone());
        let buffer = Buffer::new(options.buffer_bytes);
        let day = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = Now {
            exact_ps: exact.as_ref().map_or(0, |exact| exact.now_ps()),
            clock_ns: network.clock().now_ns(),
            day: (!network.clock().is_virtual()).then(day),
        };
        let id = hub.begin(options, &buffer, now)?;
        let capture = Self { network: Arc::downgrade(network), exact, hub, buffer, id };
        capture.retap();
        capture.buffer.write_to(to)?;
        Ok(capture)
    }

    /// Captures have come or gone: links and flows look again who observes them.
    fn retap(&self) {
        if let Some(exact) = &self.exact {
            exact.show_words(&self.hub.words());
        }
        if let Some(network) = self.network.upgrade() {
            network.retap();
        }
    }

    /// Whether it has ended by itself: it has as many packets as it wanted, or its writer failed.
    pub fn has_ended(&self) -> bool {
        self.buffer.has_ended()
    }

    /// Ends the file: what became of the records. The thread goes on until all is written.
    pub fn end(&mut self) -> CaptureSummary {
        let summary = self.hub.end(self.id);
        self.retap();
        summary
    }

    /// Ends the file, and waits until all of it is written.
    ///
    /// # Errors
    /// The first error of the writer.
    pub fn finish(mut self) -> std::io::Result<CaptureSummary> {
        let summary = self.end();
        self.buffer.wait()?;
        Ok(summary)
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.end();
    }
}
