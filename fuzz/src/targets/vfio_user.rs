//! A device of a virtual machine: any messages of the vfio-user protocol, among them accesses of
//! the configuration space and of the registers, mappings, interrupts and resets.

use crate::lab::cable;
use arbitrary::{Arbitrary, Result, Unstructured};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use spfe_contract::{CONTRACT_MAGIC, PCI_DEVICE, PCI_VENDOR, global_block as global};
use spfe_host::{LinkRate, Mode, SharedMemory};
use spfe_plane::{Network, Stride};
use spfe_vfio::VfioExchange;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

const MEMORY_BYTES: usize = 256 << 10;
const HEADER_BYTES: usize = 16;
const MESSAGES_MAX: usize = 200;

const BAR0: u32 = 0;
const CONFIG: u32 = 7;
const MSIX: u32 = 2;
const REPLY: u32 = 1;
const ERROR: u32 = 1 << 5;

/// The commands of the protocol, and some that do not exist.
mod command {
    pub const DMA_MAP: u16 = 2;
    pub const DMA_UNMAP: u16 = 3;
    pub const SET_IRQS: u16 = 8;
    pub const READ: u16 = 9;
    pub const WRITE: u16 = 10;
    pub const RESET: u16 = 13;
    pub const MAX: u16 = 15;
}

/// What a descriptor of a message is.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Carried {
    Memory,
    Event,
    File,
}

#[derive(Debug)]
enum Message {
    /// A header as it stands, and a body.
    Raw([u32; 3], Vec<u8>),
    /// A command with the right length.
    Command(u16, u8, Vec<u8>, Vec<Carried>),
    Read(u32, u64, u32),
    Write(u32, u64, Vec<u8>),
    Map([u64; 3], u32, Option<Carried>),
    Unmap(u64, u64, u32),
    Interrupts([u32; 4], Vec<Carried>),
}

/// A region and an offset in it: mostly of what exists.
fn place(u: &mut Unstructured<'_>) -> Result<(u32, u64)> {
    let region = match u.int_in_range(0..=7u8)? {
        0..=2 => BAR0,
        3 => 2,
        4..=6 => CONFIG,
        _ => u.arbitrary()?,
    };
    let offset = match u.int_in_range(0..=15u8)? {
        0 => u.arbitrary()?,
        1 => u64::from(u.arbitrary::<u32>()?),
        2..=8 => u64::from(u.arbitrary::<u8>()?) * 4,
        _ => u64::from(u.arbitrary::<u16>()?) & !3,
    };
    Ok((region, offset))
}

/// Numbers of pages, in most cases.
fn pages(u: &mut Unstructured<'_>) -> Result<u64> {
    Ok(if u.ratio(7, 8)? { u64::from(u.arbitrary::<u8>()?) << 12 } else { u.arbitrary()? })
}

impl<'a> Arbitrary<'a> for Message {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=15u8)? {
            0 => Self::Raw(u.arbitrary()?, u.arbitrary()?),
            1 => {
                let number = u.int_in_range(0..=command::MAX)?;
                Self::Command(number, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?)
            }
            2..=4 => {
                let (region, offset) = place(u)?;
                Self::Read(region, offset, u.arbitrary::<u16>()?.into())
            }
            5..=10 => {
                let (region, offset) = place(u)?;
                let data = match u.int_in_range(0..=3u8)? {
                    0 => u.arbitrary::<u64>()?.to_le_bytes().to_vec(),
                    1 | 2 => u.arbitrary::<u32>()?.to_le_bytes().to_vec(),
                    _ => u.arbitrary()?,
                };
                Self::Write(region, offset, data)
            }
            11 | 12 => {
                Self::Map([pages(u)?, pages(u)?, pages(u)?], u.arbitrary()?, u.arbitrary()?)
            }
            13 => Self::Unmap(pages(u)?, pages(u)?, u.arbitrary()?),
            14 => {
                let small = |u: &mut Unstructured<'_>| u.arbitrary::<u8>().map(u32::from);
                let index = if u.ratio(3, 4)? { MSIX } else { small(u)? };
                Self::Interrupts([small(u)?, index, small(u)?, small(u)?], u.arbitrary()?)
            }
            _ => Self::Command(command::RESET, 0, Vec::new(), Vec::new()),
        })
    }
}

/// A message with a good header, and its number.
fn message(command: u16, flags: u32, body: &[u8]) -> Vec<u8> {
    let mut all = [7u16.to_le_bytes(), command.to_le_bytes()].concat();
    let bytes = (HEADER_BYTES + body.len()) as u32;
    all.extend([bytes, flags, 0].into_iter().flat_map(u32::to_le_bytes));
    all.extend(body);
    all
}

fn access(command: u16, region: u32, offset: u64, count: u32, data: &[u8]) -> Vec<u8> {
    let words = [region.to_le_bytes(), count.to_le_bytes()].concat();
    message(command, 0, &[&offset.to_le_bytes()[..], &words, data].concat())
}

fn mapping(command: u16, flags: u32, numbers: &[u64]) -> Vec<u8> {
    let words = [32, flags].into_iter().flat_map(u32::to_le_bytes);
    let body: Vec<u8> = words.chain(numbers.iter().flat_map(|number| number.to_le_bytes())).collect();
    message(command, 0, &body)
}

fn interrupts([flags, index, start, count]: [u32; 4]) -> Vec<u8> {
    let words = [20, flags, index, start, count].into_iter().flat_map(u32::to_le_bytes);
    message(command::SET_IRQS, 0, &words.collect::<Vec<u8>>())
}

/// A device that every input reuses. A reset and an unmapping of everything precede each input.
struct Device {
    exchange: VfioExchange,
    memory: SharedMemory,
    event: OwnedFd,
    file: OwnedFd,
}

static DEVICE: LazyLock<Mutex<Device>> = LazyLock::new(|| {
    let network = Network::new(cable(LinkRate::Unlimited, Mode::Thread, true)).expect("a network");
    let quiet: spfe_vfio::Log = Arc::new(|_| ());
    let exchange = VfioExchange::new(network, 0, Stride::Usual, quiet).expect("a device");
    let memory = SharedMemory::create("spfe-fuzz", MEMORY_BYTES).expect("memory");
    let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).expect("an eventfd");
    let file = std::fs::File::open("/dev/null").expect("a file").into();
    Mutex::new(Device { exchange, memory, event, file })
});

impl Device {
    fn carry(&self, carried: &[Carried]) -> Vec<OwnedFd> {
        let fd = |carried: &Carried| match carried {
            Carried::Memory => self.memory.fd().try_clone_to_owned(),
            Carried::Event => self.event.try_clone(),
            Carried::File => self.file.try_clone(),
        };
        carried.iter().take(16).map(|carried| fd(carried).expect("a descriptor")).collect()
    }

    /// Sends a message and checks the form of the reply.
    fn send(&mut self, message: &[u8], carried: &[Carried]) -> Option<Vec<u8>> {
        let fds = self.carry(carried);
        let reply = self.exchange.take(message, fds).ok().flatten()?;
        let word = |at: usize| u32::from_le_bytes(*reply[at..].first_chunk().expect("a header"));
        assert_eq!(reply[..4], message[..4], "number and command");
        assert_eq!(word(4) as usize, reply.len());
        match word(8) {
            REPLY => assert_eq!(word(12), 0),
            flags => {
                assert_eq!(flags, REPLY | ERROR);
                assert!(word(12) != 0 && reply.len() == HEADER_BYTES, "an error without a number");
            }
        }
        Some(reply)
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Raw(words, body) => {
                let header = words.map(u32::to_le_bytes).concat();
                let header = [&7u16.to_le_bytes()[..], &header[..2], &header[..]].concat();
                self.send(&[&header[..HEADER_BYTES], &body].concat(), &[]);
            }
            Message::Command(number, flags, body, carried) => {
                let bytes = self::message(number, flags.into(), &body);
                self.send(&bytes, &carried);
            }
            Message::Read(region, offset, count) => {
                let reply = self.send(&access(command::READ, region, offset, count, &[]), &[]);
                let bytes = reply.map_or(0, |reply| reply.len());
                assert!(bytes == HEADER_BYTES || bytes == HEADER_BYTES + 16 + count as usize);
            }
            Message::Write(region, offset, data) => {
                let count = data.len() as u32;
                self.send(&access(command::WRITE, region, offset, count, &data), &[]);
            }
            Message::Map([offset, address, size], flags, carried) => {
                let carried: Vec<Carried> = carried.into_iter().collect();
                self.send(&mapping(command::DMA_MAP, flags, &[offset, address, size]), &carried);
            }
            Message::Unmap(address, size, flags) => {
                self.send(&mapping(command::DMA_UNMAP, flags, &[address, size]), &[]);
            }
            Message::Interrupts(words, carried) => {
                self.send(&interrupts(words), &carried);
            }
        }
    }

    /// Puts the device into its state after power-up.
    fn restart(&mut self) {
        for bytes in [
            interrupts([1 | 32, MSIX, 0, 0]),
            message(command::RESET, 0, &[]),
            mapping(command::DMA_UNMAP, 2, &[0, 0]),
        ] {
            let reply = self.send(&bytes, &[]).expect("a reply");
            assert_eq!(reply[8], REPLY as u8, "refused: {bytes:?}");
        }
    }

    fn word(&mut self, region: u32, offset: u64) -> u32 {
        let reply = self.send(&access(command::READ, region, offset, 4, &[]), &[]);
        let reply = reply.expect("a reply");
        u32::from_le_bytes(*reply[HEADER_BYTES + 16..].first_chunk().expect("four bytes"))
    }
}

crate::target!(|messages: Vec<Message>| {
    let mut device = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    device.restart();
    messages.into_iter().take(MESSAGES_MAX).for_each(|message| device.take(message));
    // What no host can write is as before.
    let ids = (PCI_DEVICE as u32) << 16 | PCI_VENDOR as u32;
    assert_eq!(device.word(CONFIG, 0), ids);
    assert_eq!(device.word(BAR0, global::MAGIC.into()), CONTRACT_MAGIC);
});
