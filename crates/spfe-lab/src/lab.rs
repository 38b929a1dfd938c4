//! A network with its exact links and captures.

use crate::capture::{Buffer, CaptureOptions, CaptureSummary, Hub, Now};
use crate::exact::Exact;
use crate::exact::driver::{Driver, Shared};
use crate::scenario::{self, Parts};
use spfe_contract::Status;
use spfe_host::{Clock, ControlError as Error, FaultInfo, Mode, Topology};
use spfe_plane::arena::DEVICE;
use spfe_plane::{DeviceThread, Extensions, Network};
use spfe_sim::live::FaultChoice;
use spfe_sim::scenario::{Scenario, ScenarioFault};
use std::io::Write;
use std::sync::{Arc, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

/// A network with its exact links and the captures of its links.
pub struct Lab {
    network: Arc<Network>,
    exact: Option<Arc<Exact>>,
    hub: Arc<Hub>,
    /// Runs the exact links in virtual time; the clock knows it weakly.
    _driver: Option<Arc<Shared>>,
}

impl Lab {
    /// Creates a network.
    ///
    /// # Errors
    /// BAD_FIELD if the topology is wrong.
    pub fn new(topology: Topology) -> Result<Self, Error> {
        let bad = |what| Error::new(Status::BadField, what);
        topology.check().map_err(bad)?;
        let exact = Exact::of(&topology).map_err(bad)?;
        Self::with_exact(topology, exact, Vec::new())
    }

    /// Creates a network that runs a scenario. Its endpoints are the nodes of kind `endpoint`, in the
    /// order of the file. Port N of an endpoint is the node's link with the N-th lowest port number,
    /// counted from 0.
    ///
    /// # Errors
    /// BAD_FIELD if no node is an endpoint, an endpoint has more than 8 ports, or a link is wrong.
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

    /// The control plane of the network.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Gives a fault to the exact links. `text` has the keys of a `[[fault]]` (docs/scenarios.md);
    /// times count from now, and without one it happens at once. Returns its number.
    ///
    /// # Errors
    /// BAD_FIELD with what is wrong; BAD_OPCODE if the network has no exact links.
    pub fn add_fault(&self, text: &str) -> Result<u32, Error> {
        let bad = |what: String| Error::new(Status::BadField, what);
        let exact = self.exact_links()?;
        let fault = ScenarioFault::live(text).map_err(bad)?;
        let place = spfe_sim::live::place(&fault);
        if self.hub.has_link(place) && !exact.links().iter().any(|link| link.name == place) {
            let what = format!(
                "fault '{}': link '{place}' is packet level and has no wire; exact links have",
                fault.name
            );
            return Err(Error::new(Status::BadOpcode, what));
        }
        let number = exact.add_fault(fault, self.network.clock().now_ns()).map_err(bad)?;
        self.network.wake_links();
        Ok(number)
    }

    /// Ends faults: all, one by its number, or those of a link, flow or node. Returns how many of
    /// those that waited, repeated or lasted.
    ///
    /// # Errors
    /// BAD_OPCODE if the network has no exact links.
    pub fn end_faults(&self, which: &FaultChoice) -> Result<usize, Error> {
        let count = self.exact_links()?.end_faults(which);
        self.network.wake_links();
        Ok(count)
    }

    /// The faults that wait, repeat or last.
    pub fn faults(&self) -> Vec<FaultInfo> {
        self.exact.as_ref().map_or(Vec::new(), |exact| exact.faults())
    }

    fn exact_links(&self) -> Result<&Arc<Exact>, Error> {
        self.exact.as_ref().ok_or_else(|| {
            let what = "fault: all links are packet level and have no wire; give links such as \
                        exact:1x6.25G, or a scenario";
            Error::new(Status::BadOpcode, what)
        })
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

/// A running capture. Dropping it ends the capture.
pub struct Capture {
    network: Weak<Network>,
    exact: Option<Arc<Exact>>,
    hub: Arc<Hub>,
    buffer: Arc<Buffer>,
    id: u32,
    /// The numbers of records, once the capture has ended.
    ended: Option<CaptureSummary>,
}

impl Capture {
    /// Starts a capture of links into a pcapng file (docs/capture.md), which a separate thread writes.
    /// In real time the records carry the time of day, in virtual time that of the network.
    ///
    /// # Errors
    /// NOT_FOUND for the name of a link that does not exist, BUSY if
    /// [`CAPTURES_MAX`](crate::capture::CAPTURES_MAX) captures are running.
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
        let network = Arc::downgrade(network);
        let capture = Self { network, exact, hub, buffer, id, ended: None };
        capture.retap();
        capture.buffer.write_to(to)?;
        Ok(capture)
    }

    /// Makes links and flows ask again for their observers, after a capture has started or ended.
    fn retap(&self) {
        if let Some(exact) = &self.exact {
            exact.show_words(&self.hub.words());
        }
        if let Some(network) = self.network.upgrade() {
            network.retap();
        }
    }

    /// Whether the capture has ended by itself: it has the requested number of packets, or its writer
    /// has failed.
    pub fn has_ended(&self) -> bool {
        self.buffer.has_ended()
    }

    /// Ends the capture and returns the number of records, the same in every call. The thread
    /// continues until the file is complete.
    pub fn end(&mut self) -> CaptureSummary {
        if let Some(summary) = self.ended {
            return summary;
        }
        let summary = self.hub.end(self.id);
        self.ended = Some(summary);
        self.retap();
        summary
    }

    /// Ends the capture and waits until the file is complete.
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
