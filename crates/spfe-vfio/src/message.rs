//! Messages of the vfio-user protocol: what a client may ask, and the answers.
//!
//! A message has a header of 16 bytes and a body. Nothing in this module waits, and nothing that a
//! message says makes it allocate more than [`MESSAGE_MAX`].

use crate::config;
use crate::device::Connection;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use spfe_plane::registers::EVENTS;
use std::io;
use vfio_bindings::bindings::vfio;

/// Size of the header in bytes.
pub const HEADER_BYTES: usize = 16;
/// Longest data of a read or write: the whole configuration space.
pub const ACCESS_MAX: usize = config::BYTES;
/// Longest message in bytes: a write of [`ACCESS_MAX`] bytes. Longer ones end the connection.
pub const MESSAGE_MAX: usize = HEADER_BYTES + ACCESS_BYTES + ACCESS_MAX;
/// Most descriptors that a message may have.
pub const FDS_MAX: usize = 16;

/// Region, offset and length of an access.
const ACCESS_BYTES: usize = 16;
const DMA_MAP_BYTES: usize = 32;
const DMA_UNMAP_BYTES: usize = 24;
const DEVICE_INFO_BYTES: usize = 16;
const REGION_INFO_BYTES: usize = 32;
const IRQ_INFO_BYTES: usize = 16;
const SET_IRQS_BYTES: usize = 20;

const TYPE_MASK: u32 = 0xf;
const REPLY: u32 = 1;
const NO_REPLY: u32 = 1 << 4;
const ERROR: u32 = 1 << 5;

/// Versions of the protocol and our limits. A client that sends more gets an error.
const CAPABILITIES: &str = concat!(
    r#"{"capabilities":{"max_msg_fds":1,"max_data_xfer_size":4096,"#,
    r#""migration":{"pgsize":4096}}}"#,
    "\0"
);
const _: () = assert!(ACCESS_MAX == 4096);

/// The commands of the protocol that the device knows.
mod command {
    pub const VERSION: u16 = 1;
    pub const DMA_MAP: u16 = 2;
    pub const DMA_UNMAP: u16 = 3;
    pub const DEVICE_INFO: u16 = 4;
    pub const REGION_INFO: u16 = 5;
    pub const IRQ_INFO: u16 = 7;
    pub const SET_IRQS: u16 = 8;
    pub const REGION_READ: u16 = 9;
    pub const REGION_WRITE: u16 = 10;
    pub const DEVICE_RESET: u16 = 13;
}

/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageHeader {
    id: u16,
    command: u16,
    bytes: u32,
    flags: u32,
}

impl MessageHeader {
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Self {
        let [id0, id1, command0, command1, rest @ ..] = bytes;
        Self {
            id: u16::from_le_bytes([*id0, *id1]),
            command: u16::from_le_bytes([*command0, *command1]),
            bytes: u32_at(rest, 0),
            flags: u32_at(rest, 4),
        }
    }

    /// Length of the body in bytes.
    ///
    /// # Errors
    /// `InvalidData` if the message is shorter than its header or longer than [`MESSAGE_MAX`]. The
    /// client has lost the thread of messages or is hostile.
    pub fn body_bytes(&self) -> io::Result<usize> {
        let bytes = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        bytes.checked_sub(HEADER_BYTES).filter(|_| bytes <= MESSAGE_MAX).ok_or_else(|| {
            let what = format!(
                "message of {bytes} bytes, {HEADER_BYTES} to {MESSAGE_MAX} are allowed (command \
                 {})",
                self.command
            );
            io::Error::new(io::ErrorKind::InvalidData, what)
        })
    }
}

/// Performs a command and returns the reply, if the client wants one.
pub fn answer(
    connection: &mut Connection,
    header: &MessageHeader,
    body: &[u8],
    fds: Vec<OwnedFd>,
) -> Option<Vec<u8>> {
    let mut reply = vec![0; HEADER_BYTES];
    let done = if header.flags & TYPE_MASK == 0 {
        perform(connection, header.command, body, fds, &mut reply)
    } else {
        Err(Errno::INVAL.into())
    };
    if header.flags & NO_REPLY != 0 {
        return None;
    }
    let (flags, error) = match done {
        Ok(()) => (REPLY, 0),
        Err(error) => {
            reply.truncate(HEADER_BYTES);
            (REPLY | ERROR, errno(&error))
        }
    };
    let bytes = reply.len() as u32;
    reply[0..2].copy_from_slice(&header.id.to_le_bytes());
    reply[2..4].copy_from_slice(&header.command.to_le_bytes());
    for (at, value) in [(4, bytes), (8, flags), (12, error)] {
        reply[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    Some(reply)
}

/// The number that a client gets for an error.
fn errno(error: &io::Error) -> u32 {
    let number = match error.kind() {
        io::ErrorKind::InvalidInput => Errno::INVAL,
        io::ErrorKind::AlreadyExists => Errno::EXIST,
        io::ErrorKind::OutOfMemory => Errno::NOMEM,
        io::ErrorKind::Unsupported => Errno::OPNOTSUPP,
        _ => Errno::from_io_error(error).unwrap_or(Errno::IO),
    };
    number.raw_os_error().unsigned_abs()
}

/// Performs a command and appends the body of its reply.
fn perform(
    connection: &mut Connection,
    command: u16,
    body: &[u8],
    fds: Vec<OwnedFd>,
    reply: &mut Vec<u8>,
) -> io::Result<()> {
    match command {
        command::VERSION => version(body, reply),
        command::DMA_MAP => {
            let body = sized(body, DMA_MAP_BYTES)?;
            if fds.len() > 1 {
                return Err(invalid("a mapping with more than one file"));
            }
            let file = fds.into_iter().next().map(|fd| (fd, u64_at(body, 8)));
            connection.dma_map(u32_at(body, 4), u64_at(body, 16), u64_at(body, 24), file)
        }
        command::DMA_UNMAP => {
            let body = sized(body, DMA_UNMAP_BYTES)?;
            connection.dma_unmap(u32_at(body, 4), u64_at(body, 8), u64_at(body, 16))?;
            reply.extend(body);
            Ok(())
        }
        command::DEVICE_INFO => {
            sized(body, DEVICE_INFO_BYTES)?;
            let flags = vfio::VFIO_DEVICE_FLAGS_PCI | vfio::VFIO_DEVICE_FLAGS_RESET;
            let counts = [vfio::VFIO_PCI_NUM_REGIONS, vfio::VFIO_PCI_NUM_IRQS];
            push(reply, &[DEVICE_INFO_BYTES as u32, flags, counts[0], counts[1]]);
            Ok(())
        }
        command::REGION_INFO => region_info(connection, body, reply),
        command::IRQ_INFO => irq_info(connection, body, reply),
        command::SET_IRQS => {
            let body = sized(body, SET_IRQS_BYTES)?;
            let [flags, index, start, count] = [4, 8, 12, 16].map(|at| u32_at(body, at));
            connection.set_irqs(index, flags, start, count, fds)
        }
        command::REGION_READ => region_read(connection, body, reply),
        command::REGION_WRITE => region_write(connection, body, reply),
        command::DEVICE_RESET => {
            connection.reset_device();
            Ok(())
        }
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// VERSION. The client's capabilities do not matter: replies are no longer than it asks for.
fn version(body: &[u8], reply: &mut Vec<u8>) -> io::Result<()> {
    let major = u32_at(sized(body, 4)?, 0) & 0xffff;
    if major != 0 {
        return Err(invalid("version 0 only"));
    }
    reply.extend([0; 4]);
    reply.extend(CAPABILITIES.as_bytes());
    Ok(())
}

fn region_info(connection: &Connection, body: &[u8], reply: &mut Vec<u8>) -> io::Result<()> {
    let index = region(u32_at(sized(body, REGION_INFO_BYTES)?, 8))?;
    // Every access is a message; no region can be mapped.
    let size = connection.region_bytes(index);
    let both = vfio::VFIO_REGION_INFO_FLAG_READ | vfio::VFIO_REGION_INFO_FLAG_WRITE;
    let flags = if size == 0 { 0 } else { both };
    push(reply, &[REGION_INFO_BYTES as u32, flags, index, 0]);
    reply.extend([size, 0].map(u64::to_le_bytes).concat());
    Ok(())
}

/// The interrupts of the device. It has MSI-X and, if the contract knows lines, INTA#. It also claims to report bus errors, because
/// emulators expect this.
fn irq_info(connection: &Connection, body: &[u8], reply: &mut Vec<u8>) -> io::Result<()> {
    let index = u32_at(sized(body, IRQ_INFO_BYTES)?, 8);
    let eventfd = vfio::VFIO_IRQ_INFO_EVENTFD;
    let (flags, count) = match index {
        vfio::VFIO_PCI_MSIX_IRQ_INDEX => (eventfd | vfio::VFIO_IRQ_INFO_MASKABLE, EVENTS),
        vfio::VFIO_PCI_ERR_IRQ_INDEX => (eventfd, 1),
        vfio::VFIO_PCI_INTX_IRQ_INDEX if connection.has_line() => {
            (eventfd | vfio::VFIO_IRQ_INFO_MASKABLE | vfio::VFIO_IRQ_INFO_AUTOMASKED, 1)
        }
        _ if index < vfio::VFIO_PCI_NUM_IRQS => (0, 0),
        _ => return Err(invalid("no such interrupt")),
    };
    push(reply, &[IRQ_INFO_BYTES as u32, flags, index, count]);
    Ok(())
}

/// Region, offset and length of an access.
fn access(body: &[u8]) -> io::Result<(u32, u64, usize)> {
    let body = sized(body, ACCESS_BYTES)?;
    let count = usize::try_from(u32_at(body, 12)).unwrap_or(usize::MAX);
    if count > ACCESS_MAX {
        let what = format!("access of {count} bytes, at most {ACCESS_MAX} are allowed");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok((region(u32_at(body, 8))?, u64_at(body, 0), count))
}

fn region_read(connection: &mut Connection, body: &[u8], reply: &mut Vec<u8>) -> io::Result<()> {
    let (region, offset, count) = access(body).inspect_err(|_| connection.refuse())?;
    reply.extend(&body[..ACCESS_BYTES]);
    let first = reply.len();
    reply.resize(first + count, 0);
    connection.region_read(region, offset, &mut reply[first..]);
    Ok(())
}

fn region_write(connection: &mut Connection, body: &[u8], reply: &mut Vec<u8>) -> io::Result<()> {
    let (region, offset, count) = access(body).inspect_err(|_| connection.refuse())?;
    let data = body[ACCESS_BYTES..].get(..count);
    connection.region_write(region, offset, data.ok_or_else(|| invalid("too few bytes"))?);
    reply.extend(&body[..ACCESS_BYTES]);
    Ok(())
}

fn region(index: u32) -> io::Result<u32> {
    let known = index < vfio::VFIO_PCI_NUM_REGIONS;
    known.then_some(index).ok_or_else(|| invalid("no such region"))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// A body of at least this length.
fn sized(body: &[u8], bytes: usize) -> io::Result<&[u8]> {
    (body.len() >= bytes).then_some(body).ok_or_else(|| invalid("a message that is too short"))
}

fn push(reply: &mut Vec<u8>, words: &[u32]) {
    words.iter().for_each(|word| reply.extend(word.to_le_bytes()));
}

/// A field of a body whose length was checked.
fn u32_at(body: &[u8], at: usize) -> u32 {
    body[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(body: &[u8], at: usize) -> u64 {
    body[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
