//! Endpoints, ports and what links tell about themselves.

use crate::buffer::{Buffer, Rows};
use crate::capture::Capture;
use crate::error::{fault, raise};
use crate::held::Held;
use crate::message::{Broadcast, InterruptCodes, TimeCodes};
use crate::network::Network;
use crate::packed::PackedRx;
use crate::rdma::{Rdma, Server};
use crate::record;
use crate::rmap::{Rmap, Target};
use crate::rmap_target::RmapTarget;
use crate::rx::{Rx, RxCore};
use crate::time::{Deadline, Timeout, Until};
use crate::tx::{Tx, TxCore};
use crate::view::Views;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde_json::json;
use spfe::rmap::TargetConfig;
use spfe::{CaptureRequest, MessageOptions, PackedOptions, QueueOptions, Status, Strategy};
use spfe_remote::{RdmaQueueOptions, ReplyPath};

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Something that is closed with its endpoint.
pub trait Child: Send + Sync {
    fn close_with_parent(&self, py: Python<'_>) -> PyResult<()>;
}

/// What an endpoint shares with everything opened from it.
pub struct Shared {
    endpoint: Held<spfe::Endpoint>,
    closed: AtomicBool,
    children: Mutex<Vec<Weak<dyn Child>>>,
    /// Views of all memory of the endpoint.
    pub views: Arc<Views>,
}

impl Shared {
    pub fn new(endpoint: spfe::Endpoint) -> Arc<Self> {
        Arc::new(Self {
            endpoint: Held::new(endpoint),
            closed: AtomicBool::new(false),
            children: Mutex::default(),
            views: Arc::default(),
        })
    }

    /// The endpoint, in the process that opened it.
    pub fn endpoint(&self) -> spfe::Result<&spfe::Endpoint> {
        if self.endpoint.is_ours() {
            return Ok(&self.endpoint);
        }
        let what = "endpoint: opened before a fork; open it again in this process";
        Err(spfe::Error::device(Status::BadField, what))
    }

    /// The endpoint, if it is open.
    fn open(&self) -> PyResult<&spfe::Endpoint> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(fault(Status::BadField, "endpoint: it is closed"));
        }
        self.endpoint().map_err(raise)
    }

    /// Closes this child when the endpoint is closed.
    pub fn adopt(&self, child: Weak<dyn Child>) {
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        children.retain(|child| child.strong_count() != 0);
        children.push(child);
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.endpoint().map_err(raise)?;
        if self.closed.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.views.none("endpoint")?;
        self.closed.store(true, Ordering::Relaxed);
        let children =
            std::mem::take(&mut *self.children.lock().unwrap_or_else(PoisonError::into_inner));
        let mut first = Ok(());
        for child in children.iter().filter_map(Weak::upgrade) {
            let closed = child.close_with_parent(py);
            first = first.and(closed);
        }
        first
    }
}

/// An open SpaceFibre processor endpoint; `spfe.open` makes it.
///
/// Closing it, or leaving its `with` statement, closes all queues that were opened from it. That raises
/// BufferError while views of its memory exist.
///
/// >>> import spfe
/// >>> with spfe.open("virtual:") as endpoint:
/// ...     endpoint.info().ports
/// 4
#[pyclass(frozen, weakref, module = "spfe")]
pub struct Endpoint {
    shared: Arc<Shared>,
}

impl Endpoint {
    pub fn of(endpoint: spfe::Endpoint) -> Self {
        Self { shared: Shared::new(endpoint) }
    }
}

#[pymethods]
impl Endpoint {
    /// Opens a device by name: "virtual:", "unix:/run/spfe.sock/0", "/dev/spfe0" (docs/devices.md).
    #[new]
    fn new(py: Python<'_>, name: &str) -> PyResult<Self> {
        Ok(Self::of(py.detach(|| spfe::Endpoint::open(name)).map_err(raise)?))
    }

    /// Description: name, number, number of ports, mode, version of the contract.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let of = self.shared.open()?.info();
        let description = json!({
            "name": of.uri,
            "backend": of.backend,
            "endpoint": of.endpoint,
            "client": of.client,
            "ports": of.ports,
            "mode": of.mode.to_string(),
            "contract": [of.contract.0, of.contract.1],
        });
        record::of(py, &description)
    }

    /// A port by number.
    fn port(&self, number: u32) -> PyResult<Port> {
        let port = self.shared.open()?.port(number).map_err(raise)?;
        Ok(Port { shared: self.shared.clone(), port: Held::new(port) })
    }

    /// New registered memory: `bytes`, or `rows` of `bytes` each for a group of packets.
    #[pyo3(signature = (bytes, rows=None))]
    fn alloc(&self, bytes: usize, rows: Option<usize>) -> PyResult<Buffer> {
        let memory = Rows::new(self.shared.open()?, &self.shared.views, rows.unwrap_or(1), bytes)?;
        Ok(Buffer::new(memory, rows.is_none()))
    }

    /// Device time in ns.
    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        Ok(self.shared.open()?.now_ns())
    }

    /// A time in so many seconds, on the real or virtual clock of the endpoint.
    fn deadline(&self, seconds: f64) -> PyResult<Deadline> {
        Deadline::new(self.shared.open()?, seconds)
    }

    /// The network in this process that the endpoint belongs to; None for other devices.
    #[getter]
    fn network(&self) -> PyResult<Option<Network>> {
        Ok(self.shared.open()?.embedded().map(|network| Network::of(network.clone())))
    }

    /// Starts a capture of links into a pcapng file (docs/capture.md): those with these names, such as
    /// "0.0-0.1", or all. `words` asks for every word of exact links as well, and `packets` ends it
    /// after so many. The network is one in this process or that of a daemon.
    #[pyo3(signature = (path, links=Vec::new(), *, words=false, packets=None))]
    fn capture(
        &self,
        py: Python<'_>,
        path: PathBuf,
        links: Vec<String>,
        words: bool,
        packets: Option<u64>,
    ) -> PyResult<Capture> {
        Capture::start(py, self.shared.open()?, path, CaptureRequest { links, words, packets })
    }

    /// Resets this client: its queues stop and its memory is revoked. Open them again.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        let endpoint = self.shared.open()?;
        py.detach(|| endpoint.reset()).map_err(raise)
    }

    /// Closes the endpoint and its queues. BufferError while views of its memory exist; then it stays
    /// open.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.close(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.shared.close(py)
    }
}

/// A port of an endpoint, on which queues are opened; `Endpoint.port` makes it.
#[pyclass(frozen, module = "spfe")]
pub struct Port {
    shared: Arc<Shared>,
    port: Held<spfe::Port>,
}

/// The strategy of waits by its name.
fn strategy(name: &str) -> PyResult<Strategy> {
    match name {
        "adaptive" => Ok(Strategy::Adaptive),
        "poll" => Ok(Strategy::Poll),
        "block" => Ok(Strategy::Block),
        _ => Err(fault(Status::BadField, format!("strategy '{name}': adaptive, poll or block"))),
    }
}

/// Checks the buffers that a queue gets.
fn pool(buffers: usize, bytes: usize, least: usize) -> PyResult<()> {
    if (least..=32768).contains(&buffers) && (1..=1 << 30).contains(&bytes) {
        return Ok(());
    }
    let what =
        format!("{buffers} buffers of {bytes} bytes: {least} to 32768 buffers of 1 byte to 1 GiB");
    Err(fault(Status::BadField, what))
}

#[pymethods]
impl Port {
    /// Number of the port.
    #[getter]
    fn number(&self) -> u32 {
        self.port.number()
    }

    /// "SPACEFIBRE" or "SPACEWIRE".
    #[getter]
    fn kind(&self) -> &'static str {
        self.port.kind().name()
    }

    /// State, far end and counters, at this moment.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.shared.open()?;
        let info = self.port.info().map_err(raise)?;
        record::of(py, &record::json(serde_json::to_value(info))?)
    }

    /// The management information base of the link, by the names of the standard.
    #[getter]
    fn mib(&self) -> PyResult<Mib> {
        self.shared.open()?;
        Ok(Mib { shared: self.shared.clone(), mib: Held::new(self.port.mib()) })
    }

    /// Sets the transmit priority of a virtual channel: 0, the most urgent, to 15.
    fn set_priority(&self, vc: u32, priority: u8) -> PyResult<()> {
        self.shared.open()?;
        self.port.vc(vc).and_then(|vc| vc.set_priority(priority)).map_err(raise)
    }

    /// Opens the transmit end of a virtual channel, with buffers for data that is copied (longer data
    /// gets longer ones). `depth` is the number of packets under way, `event` asks for a descriptor,
    /// `strategy` says how waits spend their time: "adaptive", "poll" or "block".
    #[pyo3(signature = (vc=0, *, buffers=64, bytes=4096, depth=1024, event=false, strategy="adaptive"))]
    #[allow(clippy::too_many_arguments)] // by name in Python
    fn tx(
        &self,
        vc: u32,
        buffers: usize,
        bytes: usize,
        depth: u32,
        event: bool,
        strategy: &str,
    ) -> PyResult<Tx> {
        self.shared.open()?;
        pool(buffers, bytes, 1)?;
        let options = options(depth, event, strategy, false)?;
        let vc = self.port.vc(vc).map_err(raise)?;
        Ok(Tx::new(TxCore::open(&self.shared, &vc, options, buffers, bytes)?))
    }

    /// Opens the receive end of a virtual channel with buffers of its own, or with `buffers=0` for
    /// those that `Rx.post` gives it. `stamps` asks for the time of each packet.
    #[pyo3(signature = (vc=0, *, buffers=64, bytes=65536, depth=1024, event=false, stamps=false, strategy="adaptive"))]
    #[allow(clippy::too_many_arguments)] // by name in Python
    fn rx(
        &self,
        vc: u32,
        buffers: usize,
        bytes: usize,
        depth: u32,
        event: bool,
        stamps: bool,
        strategy: &str,
    ) -> PyResult<Rx> {
        self.shared.open()?;
        pool(buffers, bytes, 0)?;
        let options = options(depth, event, strategy, stamps)?;
        let vc = self.port.vc(vc).map_err(raise)?;
        Ok(Rx::new(RxCore::open(&self.shared, &vc, options, buffers, bytes)?))
    }

    /// Opens the receive end of a virtual channel with an area of so many bytes in which packets lie
    /// back to back, for many small ones. `depth` is the number of runs that can wait.
    #[pyo3(signature = (vc=0, *, area=1048576, depth=1024, event=false, stamps=false, strategy="adaptive"))]
    fn rx_packed(
        &self,
        vc: u32,
        area: u32,
        depth: u32,
        event: bool,
        stamps: bool,
        strategy: &str,
    ) -> PyResult<PackedRx> {
        self.shared.open()?;
        let queue = options(depth, event, strategy, stamps)?;
        let vc = self.port.vc(vc).map_err(raise)?;
        PackedRx::open(&self.shared, &vc, PackedOptions { area_bytes: area, queue })
    }

    /// Opens the broadcast messages of a SpaceFibre port, and receives those of a channel and type.
    #[pyo3(signature = (channel=None, kind=None, *, event=false))]
    fn broadcast(&self, channel: Option<u8>, kind: Option<u8>, event: bool) -> PyResult<Broadcast> {
        self.shared.open()?;
        let defaults = MessageOptions::default();
        let queue = defaults.queue.event(event);
        let options = MessageOptions { channel, kind, queue };
        let broadcast = self.port.broadcast_with(options).map_err(raise)?;
        Ok(Broadcast::new(&self.shared, broadcast))
    }

    /// Opens the time-codes of a SpaceWire port.
    #[pyo3(signature = (*, event=false))]
    fn time_codes(&self, event: bool) -> PyResult<TimeCodes> {
        self.shared.open()?;
        let options = MessageOptions::default().queue.event(event);
        let codes = self.port.time_code_with(options).map_err(raise)?;
        Ok(TimeCodes::new(&self.shared, codes))
    }

    /// Opens the distributed interrupts of a SpaceWire port.
    #[pyo3(signature = (*, event=false))]
    fn interrupts(&self, event: bool) -> PyResult<InterruptCodes> {
        self.shared.open()?;
        let options = MessageOptions::default().queue.event(event);
        let interrupts = self.port.interrupts_with(options).map_err(raise)?;
        Ok(InterruptCodes::new(&self.shared, interrupts))
    }

    /// Opens an RMAP initiator on a virtual channel (ECSS-E-ST-50-52C). `target` and `initiator` are
    /// logical addresses, `path` and `reply_path` path addresses.
    #[pyo3(signature = (vc=0, *, target=254, key=0, path=Vec::new(), reply_path=Vec::new(), initiator=254))]
    #[allow(clippy::too_many_arguments)] // by name in Python
    fn rmap(
        &self,
        vc: u32,
        target: u8,
        key: u8,
        path: Vec<u8>,
        reply_path: Vec<u8>,
        initiator: u8,
    ) -> PyResult<Rmap> {
        self.shared.open()?;
        let vc = self.port.vc(vc).map_err(raise)?;
        Rmap::open(&self.shared, &vc, Target { target, key, path, reply_path, initiator })
    }

    /// Opens an RMAP target on a virtual channel, which executes the commands of other nodes for
    /// `logical_address` and 254. `max_data` is the most data of a reply, and of a write that is
    /// verified before it is executed.
    #[pyo3(signature = (vc=0, *, logical_address=254, max_data=65536))]
    fn rmap_target(&self, vc: u32, logical_address: u8, max_data: u32) -> PyResult<RmapTarget> {
        self.shared.open()?;
        let vc = self.port.vc(vc).map_err(raise)?;
        let logical_address = Some(logical_address);
        let verify_bytes = max_data;
        let config = TargetConfig { logical_address, verify_bytes, ..TargetConfig::default() };
        RmapTarget::open(&self.shared, &vc, config, max_data)
    }

    /// Opens a queue of RDMA requests on a virtual channel; `target` is the logical address of the
    /// target, `target_queue` its queue pair (0: a target-only endpoint), `depth` the number of requests
    /// that may be outstanding.
    #[pyo3(signature = (vc=0, *, target=254, target_queue=0, path=Vec::new(), reply_path=Vec::new(), queue=None, depth=None, strategy="adaptive"))]
    #[allow(clippy::too_many_arguments)] // by name in Python
    fn rdma(
        &self,
        vc: u32,
        target: u8,
        target_queue: u16,
        path: Vec<u8>,
        reply_path: Vec<u8>,
        queue: Option<u16>,
        depth: Option<usize>,
        strategy: &str,
    ) -> PyResult<Rdma> {
        self.shared.open()?;
        let vc = self.port.vc(vc).map_err(raise)?;
        let mut options = RdmaQueueOptions {
            queue: QueueOptions::default().strategy(self::strategy(strategy)?),
            ..RdmaQueueOptions::default()
        };
        let of = &mut options.initiator;
        (of.target, of.target_queue, of.path) = (target, target_queue, path);
        of.queue = queue.unwrap_or(of.queue);
        of.depth = depth.unwrap_or(of.depth);
        of.reply_path = ReplyPath::new(&reply_path)
            .map_err(|error| fault(Status::BadField, format!("reply path: {error}")))?;
        Rdma::open(&self.shared, &vc, options)
    }

    /// Opens a server of RDMA requests for the regions of a target file (docs/rdma.md), or for one
    /// region of a size such as "1M".
    #[pyo3(signature = (vc=0, target="1M"))]
    fn rdma_server(&self, vc: u32, target: &str) -> PyResult<Server> {
        self.shared.open()?;
        let vc = self.port.vc(vc).map_err(raise)?;
        Server::open(&self.shared, &vc, target)
    }

    fn __repr__(&self) -> String {
        format!("Port({}, {})", self.port.number(), self.port.kind().name())
    }
}

fn options(depth: u32, event: bool, waits: &str, stamps: bool) -> PyResult<QueueOptions> {
    let options = QueueOptions::default().depth(depth).event(event).stamps(stamps);
    Ok(options.strategy(strategy(waits)?))
}

/// The management information base of a link (ECSS-E-ST-50-11C 5.9), by name.
///
/// >>> import spfe
/// >>> with spfe.open("virtual:?link=exact:2x6.25G&time=virtual") as endpoint:
/// ...     mib = endpoint.port(0).mib
/// ...     mib["Expected Bandwidth[3]"] = 16384
/// ...     mib["Expected Bandwidth[3]"]
/// 16384
#[pyclass(frozen, module = "spfe")]
pub struct Mib {
    shared: Arc<Shared>,
    mib: Held<spfe::Mib>,
}

#[pymethods]
impl Mib {
    /// All items that can be read, with their values.
    fn items(&self) -> PyResult<Vec<(String, u64)>> {
        self.shared.open()?;
        let items = self.mib.items().map_err(raise)?;
        Ok(items.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    }

    fn __getitem__(&self, name: &str) -> PyResult<u64> {
        self.shared.open()?;
        self.mib.get(name).map_err(raise)
    }

    fn __setitem__(&self, name: &str, value: u64) -> PyResult<()> {
        self.shared.open()?;
        self.mib.set(name, value).map_err(raise)
    }
}

/// The end of a wait on an endpoint.
pub fn until(shared: &Shared, timeout: Option<Timeout>) -> PyResult<Until> {
    Until::of(shared.endpoint().map_err(raise)?, timeout)
}
