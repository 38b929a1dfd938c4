//! Starting and stopping the daemon.

use crate::client::ServerState;
use crate::config::ServerConfig;
use crate::control::{Control, Incoming};
use crate::devices::Devices;
use crate::listen::Listener;
use crate::peer;
use crate::serve::Serve;
use rustix::fd::OwnedFd;
use spfe_contract::Status;
use spfe_host::Mode;
use spfe_lab::Lab;
use spfe_plane::{DeviceThread, Network};
use spfe_session::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Stops a server from another thread.
#[derive(Clone)]
pub struct Stopper(Arc<Control>);

impl Stopper {
    /// Asks the server to stop. Requests that are being answered are finished first, if they take no
    /// longer than some seconds.
    pub fn stop(&self) {
        self.0.stop();
    }
}

/// A running server. Dropping it stops it; its clients then get DEVICE_GONE.
pub struct Server {
    network: Arc<Network>,
    path: Option<PathBuf>,
    control: Arc<Control>,
    thread: Option<JoinHandle<()>>,
    device: Option<DeviceThread>,
    devices: Arc<Devices>,
}

impl Server {
    /// Creates the network and starts the threads that listen and serve.
    ///
    /// # Errors
    /// BUSY if the socket is in use. BAD_FIELD if the topology is invalid, asks for virtual time
    /// (which works in a single process only), or has devices in another mode than thread.
    pub fn start(config: ServerConfig) -> Result<Self> {
        if config.topology.virtual_time {
            let what = "virtual time works inside one process only; a daemon's clients are other processes";
            return Err(Error::new(Status::BadField, what));
        }
        if !config.devices.is_empty() && config.topology.mode != Mode::Thread {
            let what = format!(
                "devices for virtual machines need mode thread; this network has mode {}",
                config.topology.mode
            );
            return Err(Error::new(Status::BadField, what));
        }
        if !config.topology.targets.is_empty() && config.topology.mode != Mode::Thread {
            let what = format!(
                "target-only endpoints need mode thread, because the daemon has their memory; this \
                 network has mode {}",
                config.topology.mode
            );
            return Err(Error::new(Status::BadField, what));
        }
        let listener = config.listen.as_deref().map(Listener::bind).transpose()?;
        let path = listener.as_ref().map(|listener| listener.path().to_owned());
        let lab = Arc::new(match &config.scenario {
            Some(scenario) => Lab::of_scenario(scenario, config.topology.mode, false)?,
            None => Lab::new(config.topology.clone())?,
        });
        let (network, device) = (lab.network().clone(), lab.start_device()?);
        if config.topology.hostile.is_some() {
            network.set_hostile(config.topology.hostile);
        }
        for (endpoint, file) in &config.targets {
            network.add_target(*endpoint, file)?;
        }
        let devices = Devices::start(&config.devices, &network, config.variant)?;
        let control = Control::new()?;
        network.set_limits(config.limits());
        let state = ServerState { network: network.clone(), lab, config };
        let mut serve = Serve::new(state, listener, control.clone());
        let thread = std::thread::Builder::new()
            .name("spfed".into())
            .spawn(move || serve.run())
            .map_err(Error::from)?;
        Ok(Self { network, path, control, thread: Some(thread), device, devices })
    }

    /// Serves a connected SOCK_SEQPACKET socket as if the listener had accepted it.
    ///
    /// # Errors
    /// DEVICE_GONE if the server has stopped.
    pub fn adopt(&self, socket: OwnedFd) -> Result<()> {
        let user = peer::user(&socket);
        self.adopt_for(socket, user)
    }

    /// Serves a connected SOCK_SEQPACKET socket in the name of a user of the system, whoever is at its
    /// other end.
    ///
    /// # Errors
    /// DEVICE_GONE if the server has stopped.
    pub fn adopt_for(&self, socket: OwnedFd, user: u32) -> Result<()> {
        rustix::io::ioctl_fionbio(&socket, true).map_err(std::io::Error::from)?;
        self.control.adopt(Incoming { socket, user })
    }

    /// Path of the socket that the server listens on.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The network that the server owns.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Processor time of the device thread, ns; 0 without a device thread.
    pub fn device_cpu_ns(&self) -> u64 {
        self.device.as_ref().map_or(0, DeviceThread::cpu_ns)
    }

    /// The endpoints that virtual machines use as devices.
    pub fn devices(&self) -> &Arc<Devices> {
        &self.devices
    }

    /// A handle that stops the server from another thread.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.control.clone())
    }

    /// Waits until the server has stopped.
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
        // The device thread must end before the network goes away.
        self.device = None;
    }
}
