//! Endpoints that virtual machines use as PCI Express devices.

use crate::listen::Listener;
use crate::say;
use rustix::fd::{AsFd, OwnedFd};
use spfe_plane::{Network, Variant};
use spfe_session::{Error, Result};
use spfe_vfio::{Log, VfioDevice};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Socket and endpoint of one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceConfig {
    /// Path of the vfio-user socket.
    pub path: PathBuf,
    /// Endpoint number. `None`: the position of the device in the list, from 0.
    pub endpoint: Option<u32>,
}

impl FromStr for DeviceConfig {
    type Err = String;

    /// `SOCKET` or `SOCKET=ENDPOINT`.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (path, endpoint) = match text.rsplit_once('=') {
            Some((path, number)) => {
                let number = number.parse();
                let what = |_| format!("'{text}' is not SOCKET or SOCKET=ENDPOINT");
                (path, Some(number.map_err(what)?))
            }
            None => (text, None),
        };
        if path.is_empty() {
            return Err(format!("'{text}' names no socket"));
        }
        Ok(Self { path: path.into(), endpoint })
    }
}

/// The devices of a server.
#[derive(Default)]
pub struct Devices(Mutex<Vec<(VfioDevice, Listener)>>);

impl Devices {
    /// Starts serving these devices of a network.
    ///
    /// # Errors
    /// BUSY if a socket is in use, NOT_FOUND if there is no such endpoint.
    pub(crate) fn start(
        configs: &[DeviceConfig],
        network: &Arc<Network>,
        variant: Variant,
    ) -> Result<Arc<Self>> {
        Self::start_each(configs, |endpoint, socket, log| {
            VfioDevice::start(network.clone(), endpoint, variant, socket, log)
        })
    }

    /// Starts serving other devices, which `maker` makes by number.
    ///
    /// # Errors
    /// BUSY if a socket is in use, and what the maker says.
    #[cfg(feature = "rtl")]
    pub(crate) fn serve(
        configs: &[DeviceConfig],
        maker: impl Fn(u32) -> Result<Box<dyn spfe_vfio::Maker>>,
    ) -> Result<Arc<Self>> {
        Self::start_each(configs, |number, socket, log| {
            VfioDevice::serve(maker(number)?, socket, log)
        })
    }

    fn start_each(
        configs: &[DeviceConfig],
        start: impl Fn(u32, OwnedFd, Log) -> Result<VfioDevice>,
    ) -> Result<Arc<Self>> {
        let log: Log = Arc::new(say);
        let devices = Self::default();
        for (number, config) in (0..).zip(configs) {
            let listener = Listener::bind_stream(&config.path)?;
            let socket = listener.as_fd().try_clone_to_owned().map_err(Error::from)?;
            let device = start(config.endpoint.unwrap_or(number), socket, log.clone())?;
            devices.lock().push((device, listener));
        }
        Ok(Arc::new(devices))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(VfioDevice, Listener)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes every device without warning: its registers then read all ones.
    pub fn unplug(&self) {
        self.lock().iter().for_each(|(device, _)| device.unplug());
    }

    /// Inserts removed devices again.
    ///
    /// # Errors
    /// NO_RESOURCES if the network has no room for a client.
    pub fn plug(&self) -> Result<()> {
        self.lock().iter().try_for_each(|(device, _)| device.plug())
    }

    /// Endpoint and socket of each device.
    pub fn list(&self) -> Vec<(u32, PathBuf)> {
        let of = |(device, listener): &(VfioDevice, Listener)| {
            (device.endpoint(), listener.path().to_owned())
        };
        self.lock().iter().map(of).collect()
    }

    /// Event counters of each device.
    pub fn counts(&self) -> Vec<spfe_vfio::DeviceCounts> {
        self.lock().iter().map(|(device, _)| device.counts()).collect()
    }

    /// Stops all devices and removes their sockets.
    pub(crate) fn close(&self) {
        self.lock().clear();
    }
}
