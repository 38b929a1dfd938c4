//! Starting and stopping the daemon.

use crate::devices::{DeviceConfig, Devices};
use crate::listen::Listener;
use crate::serve::Serve;
use crate::{MEMORY_MAX, REGIONS_MAX};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use spfe_contract::Status;
use spfe_net::{DeviceThread, Mode, Network, Scenario, Stride, Topology};
use spfe_session::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// What a server serves, and its limits.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Socket to listen at; `None`: only connections that are adopted.
    pub listen: Option<PathBuf>,
    /// The network.
    pub topology: Topology,
    /// Endpoints that are devices of virtual machines (mode thread).
    pub devices: Vec<DeviceConfig>,
    /// How far the doorbell pages of such devices are apart.
    pub stride: Stride,
    /// A simulated network instead, whose nodes of kind `endpoint` are the endpoints. Of `topology`
    /// the mode counts.
    pub scenario: Option<Scenario>,
    /// Most memory a client may have registered at a time, bytes.
    pub max_memory: u64,
    /// Most regions a client may have registered at a time.
    pub max_regions: usize,
    /// Stop when the last client has left.
    pub once: bool,
    /// Say on stderr who comes, who goes and what is refused.
    pub verbose: bool,
}

impl ServerConfig {
    /// A server without a socket, with the usual limits.
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

    /// Listens at a path.
    pub fn listen(mut self, path: impl Into<PathBuf>) -> Self {
        self.listen = Some(path.into());
        self
    }
}

/// What the handle and the serving thread share.
pub(crate) struct Control {
    stop: AtomicBool,
    bell: OwnedFd,
    inbox: Mutex<Inbox>,
}

#[derive(Default)]
struct Inbox {
    sockets: Vec<OwnedFd>,
    closed: bool,
}

impl Control {
    fn new() -> Result<Arc<Self>> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let bell = eventfd(0, flags).map_err(std::io::Error::from)?;
        Ok(Arc::new(Self { stop: AtomicBool::new(false), bell, inbox: Mutex::default() }))
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        // A full counter already signals.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    pub fn bell(&self) -> &OwnedFd {
        &self.bell
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Connections to adopt; resets the bell.
    pub fn take(&self) -> Vec<OwnedFd> {
        let _ = rustix::io::read(&self.bell, &mut [0u8; 8]);
        std::mem::take(&mut self.inbox().sockets)
    }

    /// Nobody serves any more.
    pub fn close(&self) {
        let mut inbox = self.inbox();
        inbox.closed = true;
        inbox.sockets.clear();
    }
}

/// Stops a server from another thread.
#[derive(Clone)]
pub struct Stopper(Arc<Control>);

impl Stopper {
    /// Asks the server to stop; it does when it has answered the request in hand.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Release);
        self.0.ring();
    }
}

/// A running server; it stops when dropped. Clients then find their device gone.
pub struct Server {
    network: Arc<Network>,
    path: Option<PathBuf>,
    control: Arc<Control>,
    thread: Option<JoinHandle<()>>,
    device: Option<DeviceThread>,
    devices: Arc<Devices>,
}

impl Server {
    /// Makes the network, listens, and serves in threads of its own.
    ///
    /// # Errors
    /// BUSY if the socket is in use; BAD_FIELD if the topology is wrong, or has virtual time, which
    /// works inside one process only, or has devices and is not of mode thread.
    pub fn start(config: ServerConfig) -> Result<Self> {
        if config.topology.virtual_time {
            let what = "a daemon has no virtual time: its clients are different processes";
            return Err(Error::new(Status::BadField, what));
        }
        if !config.devices.is_empty() && config.topology.mode != Mode::Thread {
            let what = format!(
                "devices of virtual machines need mode thread, and this network has mode {}",
                config.topology.mode
            );
            return Err(Error::new(Status::BadField, what));
        }
        let listener = config.listen.as_deref().map(Listener::bind).transpose()?;
        let path = listener.as_ref().map(|listener| listener.path().to_owned());
        let network = match &config.scenario {
            Some(scenario) => {
                spfe_net::exact::scenario::network(scenario, config.topology.mode, false)?
            }
            None => Network::new(config.topology.clone())?,
        };
        let device = network.needs_device().then(|| DeviceThread::start(&network)).transpose()?;
        let devices = Devices::start(&config.devices, &network, config.stride)?;
        let control = Control::new()?;
        let mut serve = Serve::new(config, network.clone(), listener, control.clone());
        let thread = std::thread::Builder::new()
            .name("spfed".into())
            .spawn(move || serve.run())
            .map_err(Error::from)?;
        Ok(Self { network, path, control, thread: Some(thread), device, devices })
    }

    /// Serves a connected SOCK_SEQPACKET socket, as if it had been accepted.
    ///
    /// # Errors
    /// DEVICE_GONE if the server has stopped.
    pub fn adopt(&self, socket: OwnedFd) -> Result<()> {
        rustix::io::ioctl_fionbio(&socket, true).map_err(std::io::Error::from)?;
        let mut inbox = self.control.inbox();
        if inbox.closed {
            return Err(Error::new(Status::DeviceGone, "the server has stopped"));
        }
        inbox.sockets.push(socket);
        drop(inbox);
        self.control.ring();
        Ok(())
    }

    /// Where it listens.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The network it owns.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Processor time of the device thread, ns; 0 without one.
    pub fn device_cpu_ns(&self) -> u64 {
        self.device.as_ref().map_or(0, DeviceThread::cpu_ns)
    }

    /// Its devices of virtual machines.
    pub fn devices(&self) -> &Arc<Devices> {
        &self.devices
    }

    /// A way to stop it from elsewhere.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.control.clone())
    }

    /// Waits until it stops.
    ///
    /// # Errors
    /// DEVICE_GONE if the serving thread has failed.
    pub fn wait(&mut self) -> Result<()> {
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        thread.join().map_err(|_| Error::new(Status::DeviceGone, "the serving thread has failed"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopper().stop();
        let _ = self.wait();
        self.devices.close();
        // While there is a network: what the device looks for in vain, it looks for again.
        self.device = None;
    }
}
