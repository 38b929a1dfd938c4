//! The soft device as a PCI Express device of a virtual machine.
//!
//! A [`VfioDevice`] serves one endpoint of a network on a UNIX socket with the protocol vfio-user.
//! The client, an emulator such as QEMU, forwards accesses to registers, passes the memory of the
//! machine as files, and receives interrupts through event descriptors. The machine sees:
//!
//! * an endpoint with the vendor, device and class of the contract, and function level reset;
//! * BAR 0: the registers of the contract and the doorbell pages, for aligned accesses of 4 and 8
//!   bytes. Other accesses read all ones and write nothing;
//! * BAR 2: MSI-X, entry n for event vector n;
//! * regions by bus address or page list (capability IOVA) within memory mapped for the device;
//! * no memory accesses and no interrupts while the bus master bit is off.
//!
//! | module | content |
//! | --- | --- |
//! | `config` | configuration space |
//! | `device` | accesses, mappings and resets |
//! | `interrupts` | MSI-X |
//! | `shared` | state shared by the threads of a device |
//!
//! A device serves one client at a time. When the client disconnects, the device releases all of
//! its resources, and the next client finds a device after power-up. The machine is not trusted.
//! The client is trusted, but only for its own connection.

#![forbid(unsafe_code)]

mod config;
mod device;
mod interrupts;
mod shared;

pub use shared::DeviceCounts;

use device::Connection;
use rustix::fd::OwnedFd;
use rustix::net::Shutdown;
use shared::Shared;
use spfe_host::ControlError as Error;
use spfe_plane::registers::EVENTS;
use spfe_plane::{Network, Stride};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use vfio_bindings::bindings::vfio;
use vfio_user::{IrqInfo, Server, ServerRegion};

/// Receives log messages of a device.
pub type Log = Arc<dyn Fn(std::fmt::Arguments<'_>) + Send + Sync>;

/// Delay before a failed socket is tried again.
const RETRY: Duration = Duration::from_millis(100);

/// A device on a socket. Dropping it removes the device.
pub struct VfioDevice {
    shared: Arc<Shared>,
    listener: OwnedFd,
}

impl VfioDevice {
    /// Serves an endpoint of a network to the clients of a listening stream socket, one after the
    /// other, in a new thread. A [`DeviceThread`](spfe_plane::DeviceThread) must run.
    ///
    /// # Errors
    /// NOT_FOUND if the endpoint does not exist, NO_RESOURCES if the network has no room for a
    /// client.
    pub fn start(
        network: Arc<Network>,
        endpoint: u32,
        stride: Stride,
        listener: OwnedFd,
        log: Log,
    ) -> Result<Self, Error> {
        let shared = Arc::new(Shared::new(network, endpoint, stride, log));
        let bytes = shared.plug()?;
        let server =
            Server::from_owned_fd(listener.try_clone()?, true, interrupts(), regions(bytes));
        let served = shared.clone();
        let run = move || serve(&server, &served, bytes);
        std::thread::Builder::new().name("spfe-vfio-user".into()).spawn(run)?;
        Ok(Self { shared, listener })
    }

    /// Removes the device by surprise: registers and configuration space read all ones, and the
    /// machine's resources are released. The client stays connected.
    pub fn unplug(&self) {
        self.shared.unplug();
    }

    /// Plugs in a device in its state after power-up.
    ///
    /// # Errors
    /// The same as those of [`VfioDevice::start`].
    pub fn plug(&self) -> Result<(), Error> {
        self.shared.plug().map(drop)
    }

    /// Reads the counters.
    pub fn counts(&self) -> DeviceCounts {
        self.shared.counts()
    }

    /// Number of the endpoint.
    pub fn endpoint(&self) -> u32 {
        self.shared.endpoint
    }
}

impl Drop for VfioDevice {
    fn drop(&mut self) {
        // A connected client sees a removed device until it disconnects. No other client is served.
        self.shared.close();
        let _ = rustix::net::shutdown(&self.listener, Shutdown::Both);
    }
}

/// Serves clients until the slot is closed.
fn serve(server: &Server, shared: &Arc<Shared>, bytes: u32) {
    while !shared.is_closed() {
        let mut connection = Connection::new(shared.clone(), bytes);
        // An invalid message ends its connection and nothing else.
        let ended = catch_unwind(AssertUnwindSafe(|| server.run(&mut connection)));
        shared.disconnected();
        if shared.is_closed() {
            return;
        }
        match ended {
            Ok(Ok(())) => shared.say(format_args!("the client disconnected")),
            Ok(Err(error)) => {
                shared.say(format_args!("the connection to the client failed: {error}"));
                std::thread::sleep(RETRY);
            }
            Err(_) => shared.say(format_args!("the client sent an invalid message")),
        }
        while let Err(error) = shared.plug() {
            shared.say(format_args!("the device is not ready for the next client yet: {error}"));
            std::thread::sleep(RETRY);
        }
    }
}

/// The interrupts of the device. It has MSI-X. It also claims to report bus errors, because
/// emulators expect this.
fn interrupts() -> Vec<IrqInfo> {
    let kinds = vfio::VFIO_PCI_INTX_IRQ_INDEX..=vfio::VFIO_PCI_REQ_IRQ_INDEX;
    let info = |index| match index {
        vfio::VFIO_PCI_MSIX_IRQ_INDEX => {
            let flags = vfio::VFIO_IRQ_INFO_EVENTFD | vfio::VFIO_IRQ_INFO_MASKABLE;
            IrqInfo { index, flags, count: EVENTS }
        }
        vfio::VFIO_PCI_ERR_IRQ_INDEX => {
            IrqInfo { index, flags: vfio::VFIO_IRQ_INFO_EVENTFD, count: 1 }
        }
        _ => IrqInfo { index, flags: 0, count: 0 },
    };
    kinds.map(info).collect()
}

/// The regions of the device: BAR 0, BAR 2 and the configuration space. Every access is a message;
/// no region can be mapped.
fn regions(register_bytes: u32) -> Vec<ServerRegion> {
    let size = |index| match index {
        vfio::VFIO_PCI_BAR0_REGION_INDEX => u64::from(register_bytes),
        vfio::VFIO_PCI_BAR2_REGION_INDEX => config::MSIX_BYTES,
        vfio::VFIO_PCI_CONFIG_REGION_INDEX => config::BYTES as u64,
        _ => 0,
    };
    let region = |index| {
        let flags = vfio::VFIO_REGION_INFO_FLAG_READ | vfio::VFIO_REGION_INFO_FLAG_WRITE;
        let size = size(index);
        let flags = if size == 0 { 0 } else { flags };
        let argsz = size_of::<vfio::vfio_region_info>() as u32;
        let region_info =
            vfio::vfio_region_info { argsz, flags, index, size, ..Default::default() };
        ServerRegion { region_info, sparse_areas: Vec::new(), mmap_fd: None }
    };
    (vfio::VFIO_PCI_BAR0_REGION_INDEX..vfio::VFIO_PCI_NUM_REGIONS).map(region).collect()
}
