//! A device as a PCI Express device of a virtual machine.
//!
//! A [`VfioDevice`] serves one endpoint of a network, or any other [`Device`] with the registers of
//! the contract, on a UNIX socket with the protocol vfio-user.
//! The client, an emulator such as QEMU, forwards accesses to registers, passes the memory of the
//! machine as files, and receives interrupts through event descriptors. The machine sees:
//!
//! * an endpoint with the vendor, device and class of the contract, and function level reset;
//! * BAR 0: the registers of the contract and the doorbell pages, for aligned accesses of 4 and 8
//!   bytes. Other accesses read all ones and write nothing;
//! * BAR 2: MSI-X, entry n for event vector n; and INTA#, for a machine that does not use MSI-X;
//! * regions by bus address or page list (capability IOVA) within memory mapped for the device;
//! * no memory accesses and no interrupts while the bus master bit is off.
//!
//! | module | content |
//! | --- | --- |
//! | `config` | configuration space |
//! | `device` | accesses, mappings and resets |
//! | `interrupts` | MSI-X and INTA# |
//! | `message` | the messages of the protocol |
//! | `shared` | state shared by the threads of a device |
//! | `slot` | what a device is to this crate; an endpoint of a network |
//!
//! A device serves one client at a time. When the client disconnects, the device releases all of
//! its resources, and the next client finds a device after power-up. Neither machine nor client is
//! trusted: a message is bounded before memory is taken for it, and a wrong one gets an error.

#![forbid(unsafe_code)]

mod config;
mod device;
mod interrupts;
mod message;
mod shared;
mod slot;

pub use shared::DeviceCounts;
pub use slot::{Device, Maker, VfioHost};

use device::Connection;
use message::{FDS_MAX, HEADER_BYTES, MESSAGE_MAX, MessageHeader};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{
    self, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, Shutdown, SocketFlags,
};
use shared::Shared;
use slot::SoftMaker;
use spfe_host::ControlError as Error;
use spfe_plane::{Network, Variant};
use std::io::{self, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

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
        variant: impl Into<Variant>,
        listener: OwnedFd,
        log: Log,
    ) -> Result<Self, Error> {
        let maker = SoftMaker { network, endpoint, variant: variant.into() };
        Self::serve(Box::new(maker), listener, log)
    }

    /// Serves the devices that are made for a slot, like [`VfioDevice::start`].
    ///
    /// # Errors
    /// Those of [`Maker::plug`].
    pub fn serve(maker: Box<dyn Maker>, listener: OwnedFd, log: Log) -> Result<Self, Error> {
        let shared = Arc::new(Shared::new(maker, log));
        let bytes = shared.plug()?;
        let (accepting, served) = (listener.try_clone()?, shared.clone());
        let run = move || serve(&accepting, &served, bytes);
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
        self.shared.number()
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
fn serve(listener: &OwnedFd, shared: &Arc<Shared>, bytes: u32) {
    while !shared.is_closed() {
        let mut connection = Connection::new(shared.clone(), bytes);
        // Whatever a client sends ends its connection at most.
        let ended = catch_unwind(AssertUnwindSafe(|| serve_client(listener, &mut connection)));
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
            Err(_) => shared.say(format_args!("a message of the client met an error of ours")),
        }
        while let Err(error) = shared.plug() {
            shared.say(format_args!("the device is not ready for the next client yet: {error}"));
            std::thread::sleep(RETRY);
        }
    }
}

/// Serves the next client until it disconnects.
fn serve_client(listener: &OwnedFd, connection: &mut Connection) -> io::Result<()> {
    let socket = net::accept_with(listener, SocketFlags::CLOEXEC)?;
    let mut stream = UnixStream::from(socket);
    let (mut header, mut body) = ([0; HEADER_BYTES], [0; MESSAGE_MAX]);
    loop {
        let (received, fds) = receive(&stream, &mut header)?;
        if received == 0 {
            return Ok(());
        }
        stream.read_exact(&mut header[received..])?;
        let header = MessageHeader::decode(&header);
        let body = &mut body[..header.body_bytes()?];
        stream.read_exact(body)?;
        if let Some(reply) = message::answer(connection, &header, body, fds) {
            stream.write_all(&reply)?;
        }
    }
}

/// Receives the first bytes of a message, with its descriptors. 0 bytes at the end.
fn receive(stream: &UnixStream, bytes: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = loop {
        let mut parts = [IoSliceMut::new(bytes)];
        match net::recvmsg(stream, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            message => break message?,
        }
    };
    let mut fds = Vec::new();
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = part {
            fds.extend(rights);
        }
    }
    if message.flags.contains(ReturnFlags::CTRUNC) {
        let what = format!("message with more than {FDS_MAX} descriptors");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok((message.bytes, fds))
}

/// A device and its client without a socket, for tests of what a client can send.
pub struct VfioExchange {
    shared: Arc<Shared>,
    connection: Connection,
}

impl VfioExchange {
    /// Plugs in a device on an endpoint of a network.
    ///
    /// # Errors
    /// The same as those of [`VfioDevice::start`].
    pub fn new(
        network: Arc<Network>,
        endpoint: u32,
        variant: impl Into<Variant>,
        log: Log,
    ) -> Result<Self, Error> {
        let maker = SoftMaker { network, endpoint, variant: variant.into() };
        let shared = Arc::new(Shared::new(Box::new(maker), log));
        let bytes = shared.plug()?;
        Ok(Self { connection: Connection::new(shared.clone(), bytes), shared })
    }

    /// Takes a message: a header and a body of the length in the header, with its descriptors.
    /// Returns the reply if there is one.
    ///
    /// # Errors
    /// `InvalidData` for a message that ends the connection.
    pub fn take(&mut self, message: &[u8], fds: Vec<OwnedFd>) -> io::Result<Option<Vec<u8>>> {
        let (header, rest) = message.split_first_chunk().ok_or(io::ErrorKind::UnexpectedEof)?;
        let header = MessageHeader::decode(header);
        let body = rest.get(..header.body_bytes()?).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(message::answer(&mut self.connection, &header, body, fds))
    }

    /// Reads the counters.
    pub fn counts(&self) -> DeviceCounts {
        self.shared.counts()
    }
}
