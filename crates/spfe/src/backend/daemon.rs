//! A virtual network in the `spfed` daemon, over its UNIX socket.
//!
//! In mode thread the daemon's device thread moves the packets, and this process shares only the
//! regions that it registers. In modes auto, inline and coop this process runs the engine on the
//! memory of the network and of its peers; all of them trust each other.
//!
//! A thread of this module notices when the daemon dies and wakes every sleeping thread.

mod capture;
mod link;
mod query;
mod sleepers;

use crate::engine::Engine;
use crate::{Error, PortInfo, Result};
pub use capture::{LiveCapture, socket};
use link::{Link, Watcher};
pub use query::{NetworkQuery, PairInfo};
use rustix::fd::{AsFd, OwnedFd};
use spfe_contract::{MibItem, Status};
use spfe_host::backend::create_memory;
use spfe_host::os::{self, SharedMemory};
use spfe_host::{Backend, Clock, DeviceInfo, LinkCommand, MibEntry, Mode, QueueRequest, RegionKey};
use spfe_session::client::unexpected;
use spfe_session::{Connection, Hello, Reply, Request, WANT_ENGINE, Welcome};
use std::collections::HashMap;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Backend name in [`DeviceInfo`].
const BACKEND: &str = "virtual, daemon";
/// Maximum number of MIB entries accepted from a daemon.
const MIB_MAX: usize = 4096;

/// A client of a daemon.
pub struct Daemon {
    // Dropped first, which stops its thread.
    watcher: Option<Watcher>,
    link: Arc<Link>,
    info: DeviceInfo,
    /// Eventfd that wakes the device.
    doorbell: OwnedFd,
    engine: Option<Engine>,
    chain_max: u32,
    clock: Clock,
    /// Event vectors of open queues, by {port, VC, kind}.
    vectors: Mutex<HashMap<(u32, u32, u8), u32>>,
}

impl Daemon {
    /// Attaches to an endpoint of the daemon at a socket; without a number, to the endpoint with the
    /// fewest clients.
    ///
    /// # Errors
    /// DEVICE_GONE if no daemon answers, BAD_VERSION if it has another protocol or contract,
    /// NOT_FOUND if it has no such endpoint, NO_RESOURCES if it has too many clients.
    pub fn connect(path: &Path, endpoint: Option<u32>, name: &str) -> Result<Self> {
        let connection = Connection::open(path)?;
        Self::attach(connection, &format!("unix:{}", path.display()), endpoint, name)
    }

    /// Attaches to an endpoint of the daemon at a socket, by name.
    ///
    /// # Errors
    /// NOT_FOUND if it has no endpoint of that name; otherwise those of [`Daemon::connect`].
    pub fn connect_named(path: &Path, endpoint: &str, name: &str) -> Result<Self> {
        let number = NetworkQuery::open(path)?.endpoint(endpoint)?;
        Self::connect(path, Some(number), name)
    }

    /// Attaches as the path of a `unix:` name says: to an endpoint by number or by name, or to the
    /// endpoint with the fewest clients.
    pub(crate) fn open(path: &str, endpoint: Option<u32>, name: &str) -> Result<Self> {
        match named(path).filter(|_| endpoint.is_none()) {
            Some((path, endpoint)) => Self::connect_named(path, endpoint, name),
            None => Self::connect(path.as_ref(), endpoint, name),
        }
    }

    /// Attaches over a SOCK_SEQPACKET socket that is already connected to a daemon.
    ///
    /// # Errors
    /// Those of [`Daemon::connect`].
    pub fn over(socket: OwnedFd, endpoint: Option<u32>, name: &str) -> Result<Self> {
        Self::attach(Connection::over(socket)?, "unix:", endpoint, name)
    }

    fn attach(
        mut connection: Connection,
        place: &str,
        endpoint: Option<u32>,
        name: &str,
    ) -> Result<Self> {
        os::join_barriers();
        let wants = if cfg!(feature = "virtual") { WANT_ENGINE } else { 0 };
        let hello = Hello { wants, ..Hello::new(endpoint, name) };
        let (welcome, fds) = connection.hello(hello)?;
        let (info, chain_max) = (check(&welcome, place)?, welcome.chain_max);
        let mut fds = fds.into_iter();
        let mut next = |what: &str| {
            let what = format!("daemon at {place}: sent no descriptor of {what}");
            fds.next().ok_or_else(|| Error::device(Status::BadField, what))
        };
        let doorbell = next("the doorbell")?;
        let link = Arc::new(Link::new(connection)?);
        let engine = match info.mode {
            Mode::Thread => None,
            Mode::Auto | Mode::Inline | Mode::Coop => {
                Some(engine(next("the network's memory")?, welcome, &link, info.client)?)
            }
        };
        let watcher = Some(Watcher::start(&link)?);
        Ok(Self {
            watcher,
            link,
            info,
            doorbell,
            engine,
            chain_max,
            clock: Clock::Real,
            vectors: Mutex::default(),
        })
    }

    /// Checks that the daemon answers.
    ///
    /// # Errors
    /// DEVICE_GONE if it does not.
    pub fn ping(&self) -> Result<()> {
        self.done(&Request::Ping)
    }

    /// Takes the engine out, if this client runs it itself. The device holds it from then on.
    pub(crate) fn take_engine(&mut self) -> Option<Engine> {
        self.engine.take()
    }

    fn vectors(&self) -> MutexGuard<'_, HashMap<(u32, u32, u8), u32>> {
        self.vectors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn done(&self, request: &Request) -> Result<()> {
        match self.link.call(request, &[])? {
            (Reply::Done, _) => Ok(()),
            (reply, _) => Err(unexpected(request.name(), &reply).into()),
        }
    }
}

/// Splits a path such as /run/spfe.sock/camera into socket and endpoint name.
fn named(path: &str) -> Option<(&Path, &str)> {
    let (socket, name) = path.rsplit_once('/')?;
    let socket = Path::new(socket);
    let is_socket = socket.metadata().is_ok_and(|meta| meta.file_type().is_socket());
    is_socket.then_some((socket, name))
}

/// Creates the engine of a client in a network of mode auto, inline or coop.
#[cfg(feature = "virtual")]
fn engine(memory: OwnedFd, welcome: Welcome, link: &Arc<Link>, client: u32) -> Result<Engine> {
    let arena = spfe_plane::arena::Arena::open(memory, welcome.topology)
        .map_err(|source| Error::io("memory of the daemon's network", source))?;
    let (arena, link) = (Arc::new(arena), link.clone());
    Ok(Engine(spfe_plane::View::new(arena, client, link, Clock::Real, None)))
}

/// Without the engine a client cannot use networks of mode auto, inline or coop.
#[cfg(not(feature = "virtual"))]
fn engine(_: OwnedFd, welcome: Welcome, _: &Arc<Link>, _: u32) -> Result<Engine> {
    let what = format!(
        "the daemon's network has mode {}, in which clients run the engine: build the library with \
         the cargo feature `virtual`, or run spfed --mode thread",
        welcome.topology.mode
    );
    Err(Error::device(Status::BadVersion, what))
}

/// Device name of an endpoint: with its name, if it has one that is not taken for a number.
fn endpoint_uri(place: &str, number: u32, name: &str) -> String {
    if name.is_empty() || name.parse::<u32>().is_ok() {
        return format!("{place}/{number}");
    }
    format!("{place}/{}", spfe_host::printable(name))
}

/// Checks the welcome of a daemon and returns the device description.
fn check(welcome: &Welcome, place: &str) -> Result<DeviceInfo> {
    let (topology, at) = (&welcome.topology, welcome.attachment);
    let bad = |what: String| Error::device(Status::BadField, format!("daemon at {place}: {what}"));
    topology.check().map_err(bad)?;
    let ports = topology
        .endpoints
        .get(at.endpoint as usize)
        .ok_or_else(|| bad(format!("attached to endpoint {}, which it has not", at.endpoint)))?;
    if topology.virtual_time {
        return Err(bad("virtual time works inside one process only".to_owned()));
    }
    Ok(DeviceInfo {
        uri: endpoint_uri(place, at.endpoint, &welcome.name),
        backend: BACKEND,
        endpoint: at.endpoint,
        client: at.client,
        ports: ports.len() as u32,
        mode: topology.mode,
        contract: welcome.contract,
    })
}

impl Backend for Daemon {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }

    fn chain_max(&self) -> u32 {
        self.chain_max
    }

    fn has_pairs(&self) -> bool {
        // In the other modes several processes run the flows.
        self.info.mode == Mode::Thread && self.info.contract >= (1, 3)
    }

    fn has_beside(&self) -> bool {
        self.info.contract >= (1, 7)
    }

    fn port_info(&self, port: u32) -> Result<PortInfo> {
        match self.link.call(&Request::PortInfo { port }, &[])? {
            (Reply::Port(info), _) => Ok(info),
            (reply, _) => Err(unexpected("PortInfo", &reply).into()),
        }
    }

    fn add_memory(
        &self,
        name: &str,
        size: usize,
        access: u32,
    ) -> Result<(Arc<SharedMemory>, RegionKey)> {
        let memory = create_memory(name, size)?;
        let request = Request::AddRegion { size: memory.size() as u64, access };
        match self.link.call(&request, &[memory.fd()])? {
            (Reply::Region { key }, _) => Ok((memory, RegionKey(key))),
            (reply, _) => Err(unexpected("AddRegion", &reply).into()),
        }
    }

    fn remove_region(&self, key: RegionKey) -> Result<()> {
        self.done(&Request::RemoveRegion { key: key.0 })
    }

    fn add_event(&self, event: Option<OwnedFd>) -> Result<u32> {
        let Some(event) = event else { return Ok(0) };
        match self.link.call(&Request::AddEvent, &[event.as_fd()])? {
            (Reply::Vector { vector }, _) => {
                self.link.sleepers.add_event(vector, event);
                Ok(vector)
            }
            (reply, _) => Err(unexpected("AddEvent", &reply).into()),
        }
    }

    fn create_queue(&self, request: &QueueRequest) -> Result<()> {
        let name = (request.port, request.vc, request.kind as u8);
        let done = self.done(&Request::CreateQueue(*request));
        // The daemon drops the vector together with the queue, or if it refuses the queue.
        match &done {
            Ok(()) if request.vector != 0 => {
                self.vectors().insert(name, request.vector);
            }
            Ok(()) => {}
            Err(_) => self.link.sleepers.remove_event(request.vector),
        }
        done
    }

    fn destroy_queue(&self, port: u32, vc: u32, kind: u8) -> Result<()> {
        let vector = self.vectors().remove(&(port, vc, kind));
        let done = self.done(&Request::DestroyQueue { port, vc, kind });
        if let Some(vector) = vector {
            self.link.sleepers.remove_event(vector);
        }
        done
    }

    fn set_priority(&self, port: u32, vc: u32, priority: u8) -> Result<()> {
        self.done(&Request::SetPriority { port, vc, priority })
    }

    fn port_mib(&self, port: u32) -> Result<Vec<MibEntry>> {
        let mut list = Vec::new();
        loop {
            let request = Request::PortMib { port, first: list.len() as u32 };
            match self.link.call(&request, &[])? {
                (Reply::Mib(part), _) if part.is_empty() => return Ok(list),
                (Reply::Mib(part), _) if list.len() < MIB_MAX => list.extend(part),
                (Reply::Mib(_), _) => return Ok(list),
                (reply, _) => return Err(unexpected("PortMib", &reply).into()),
            }
        }
    }

    fn mib_item(&self, port: u32, item: MibItem, index: u32) -> Result<u64> {
        let request = Request::MibItem { port, item: item.raw(), index };
        match self.link.call(&request, &[])? {
            (Reply::Value(value), _) => Ok(value),
            (reply, _) => Err(unexpected("MibItem", &reply).into()),
        }
    }

    fn link_command(&self, port: u32, command: LinkCommand) -> Result<()> {
        self.done(&Request::Link { port, command })
    }

    fn reset(&self) -> Result<()> {
        self.done(&Request::Reset)
    }

    fn ring(&self) {
        // It fails only if the counter is full, after 2^64 - 2 rings.
        let _ = rustix::io::write(&self.doorbell, &1u64.to_ne_bytes());
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn is_gone(&self) -> bool {
        self.link.sleepers.is_gone()
    }

    fn watch(&self, memory: &Arc<SharedMemory>) {
        self.link.sleepers.watch(memory);
    }

    fn unwatch(&self, memory: &Arc<SharedMemory>) {
        self.link.sleepers.unwatch(memory);
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Wait until the daemon has released everything. It fails only if the daemon is gone.
        let _ = self.link.call(&Request::Goodbye, &[]);
        drop(self.watcher.take());
    }
}
