//! The soft device as a PCI Express device of a virtual machine.
//!
//! A [`VfioDevice`] serves one endpoint of a network on a UNIX socket, in the protocol vfio-user: the
//! client, an emulator such as QEMU, forwards every access to registers, hands over the memory of the
//! machine as files, and takes interrupts as event descriptors. What the machine sees:
//!
//! * vendor, device and class of the contract, an endpoint with function level reset;
//! * BAR 0: the registers of the contract and the doorbell pages, for aligned accesses of 4 and 8
//!   bytes; others read all ones and write nothing;
//! * BAR 2: MSI-X, entry n for event vector n;
//! * regions by bus address or page list (capability IOVA), inside what is mapped for the device;
//! * nothing of the bus while the bus master bit is off: no memory and no interrupt.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `config` | configuration space |
//! | `device` | what accesses, mappings and resets do |
//! | `interrupts` | MSI-X |
//! | `shared` | what the threads of a device share |
//!
//! One client at a time. When it hangs up, everything it had is taken back, and the next one finds
//! a device that has just been powered up. What the machine does is not trusted; the client is, as
//! far as its own connection goes.

#![forbid(unsafe_code)]

mod config;
mod device;
mod interrupts;
mod shared;

pub use shared::Counts;

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

/// Where a device says what happens.
pub type Log = Arc<dyn Fn(std::fmt::Arguments<'_>) + Send + Sync>;

/// How long to wait before the socket is tried again.
const RETRY: Duration = Duration::from_millis(100);

/// A device on a socket; it is taken out when dropped.
pub struct VfioDevice {
    shared: Arc<Shared>,
    listener: OwnedFd,
}

impl VfioDevice {
    /// Serves an endpoint of a network to the clients of a listening stream socket, one after the
    /// other, in a thread of its own. A [`DeviceThread`](spfe_plane::DeviceThread) has to run.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such endpoint; NO_RESOURCES if the network has no room for a client.
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

    /// Surprise removal: all registers and the configuration space read all ones, and what the
    /// machine had is taken back. The client notices nothing.
    pub fn unplug(&self) {
        self.shared.unplug();
    }

    /// Puts a device in the state after power-up in the slot again.
    ///
    /// # Errors
    /// As [`VfioDevice::start`].
    pub fn plug(&self) -> Result<(), Error> {
        self.shared.plug().map(drop)
    }

    /// What has happened so far.
    pub fn counts(&self) -> Counts {
        self.shared.counts()
    }

    /// The endpoint it is.
    pub fn endpoint(&self) -> u32 {
        self.shared.endpoint
    }
}

impl Drop for VfioDevice {
    fn drop(&mut self) {
        // A client that is connected sees a removed device until it hangs up; nobody comes after it.
        self.shared.close();
        let _ = rustix::net::shutdown(&self.listener, Shutdown::Both);
    }
}

/// Serves clients until stopped.
fn serve(server: &Server, shared: &Arc<Shared>, bytes: u32) {
    while !shared.is_closed() {
        let mut connection = Connection::new(shared.clone(), bytes);
        // A message that cannot be understood ends its connection and nothing else.
        let ended = catch_unwind(AssertUnwindSafe(|| server.run(&mut connection)));
        shared.disconnected();
        if shared.is_closed() {
            return;
        }
        match ended {
            Ok(Ok(())) => shared.say(format_args!("the client has left")),
            Ok(Err(error)) => {
                shared.say(format_args!("the client is gone: {error}"));
                std::thread::sleep(RETRY);
            }
            Err(_) => shared.say(format_args!("the client sent what is no message")),
        }
        while let Err(error) = shared.plug() {
            shared.say(format_args!("cannot be used again yet: {error}"));
            std::thread::sleep(RETRY);
        }
    }
}

/// The kinds of interrupts a PCI device can have: it has MSI-X, and says that it could report errors of
/// the bus, so that emulators do not miss that.
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

/// The regions a PCI device can have: BAR 0, BAR 2 and the configuration space. Every access is a
/// message; none can be mapped.
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
