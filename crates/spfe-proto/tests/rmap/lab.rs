//! Shared by the tests: bytes in hexadecimal, an independent CRC, a memory that records accesses.

use spfe_proto::PacketEnd;
use spfe_proto::rmap::{
    CommandHeader, Instruction, Memory, MemoryFault, ReplyAddress, RmapCommand, RmapTarget,
    RmapTargetConfig, TargetOutcome,
};

/// The CRC bit by bit, most significant bit first on reversed bytes: independent of the tables.
pub fn model_crc(bytes: &[u8]) -> u8 {
    let mut value = 0u8;
    for byte in bytes {
        value ^= byte.reverse_bits();
        for _ in 0..8 {
            value = if value & 0x80 != 0 { value << 1 ^ 0x07 } else { value << 1 };
        }
    }
    value.reverse_bits()
}

/// Bytes of a text such as "FE 01 6C". `|` ends a path and is left out.
pub fn hex(text: &str) -> Vec<u8> {
    let digits = text.split_whitespace().filter(|word| *word != "|");
    digits.map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect()
}

/// The path before `|`, and the packet after it.
pub fn split(text: &str) -> (Vec<u8>, Vec<u8>) {
    match text.split_once('|') {
        Some((path, packet)) => (hex(path), hex(packet)),
        None => (Vec::new(), hex(text)),
    }
}

/// Sparse memory over all addresses: a window of bytes, zero elsewhere. It records every access,
/// and fails on request.
#[derive(Debug, Default)]
pub struct Watched {
    pub base: u64,
    pub bytes: Vec<u8>,
    pub accesses: Vec<Access>,
    pub fault: Option<MemoryFault>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub write: bool,
    pub address: u64,
    pub increment: bool,
    pub bytes: usize,
}

impl Watched {
    pub fn new(base: u64, bytes: &[u8]) -> Self {
        Self { base, bytes: bytes.to_vec(), ..Self::default() }
    }

    fn access(&mut self, access: Access) -> Result<(), MemoryFault> {
        self.accesses.push(access);
        self.fault.map_or(Ok(()), Err)
    }

    fn byte(&mut self, address: u64, increment: bool, index: usize) -> Option<&mut u8> {
        let address = if increment { address + index as u64 } else { address + index as u64 % 4 };
        self.bytes.get_mut(usize::try_from(address.checked_sub(self.base)?).ok()?)
    }
}

impl Memory for Watched {
    fn read(&mut self, address: u64, increment: bool, data: &mut [u8]) -> Result<(), MemoryFault> {
        self.access(Access { write: false, address, increment, bytes: data.len() })?;
        for (index, to) in data.iter_mut().enumerate() {
            *to = self.byte(address, increment, index).map_or(0, |byte| *byte);
        }
        Ok(())
    }

    fn write(&mut self, address: u64, increment: bool, data: &[u8]) -> Result<(), MemoryFault> {
        self.access(Access { write: true, address, increment, bytes: data.len() })?;
        for (index, from) in data.iter().enumerate() {
            if let Some(byte) = self.byte(address, increment, index) {
                *byte = *from;
            }
        }
        Ok(())
    }
}

/// Result of one packet at a target.
pub struct Answer {
    pub outcome: TargetOutcome,
    pub reply: Vec<u8>,
}

impl Answer {
    /// Status of the reply after its path; `None` without a reply.
    pub fn status(&self, path: usize) -> Option<u8> {
        self.reply.get(path + 3).copied()
    }
}

/// Gives a packet to a target that allows everything.
pub fn ask(
    target: &mut RmapTarget,
    packet: &[u8],
    end: PacketEnd,
    memory: &mut dyn Memory,
) -> Answer {
    let mut out = [0x5a; 4096];
    let outcome = target.handle(packet, end, memory, |_| Ok(()), &mut out).unwrap();
    Answer { outcome, reply: out[..outcome.reply_bytes()].to_vec() }
}

/// A target with key 0x20.
pub fn target() -> RmapTarget {
    RmapTarget::new(RmapTargetConfig { key: Some(0x20), ..RmapTargetConfig::default() })
}

/// A header for a target with key 0x20.
pub fn header(instruction: u8, address: u64, length: u32) -> CommandHeader {
    CommandHeader {
        target: 0xfe,
        instruction: Instruction(instruction),
        key: 0x20,
        reply_address: ReplyAddress::from_field(
            &[0, 7, 8, 9, 0, 0, 1, 2, 3, 4, 5, 6][..4 * usize::from(instruction & 3)],
        )
        .unwrap(),
        initiator: 0x67,
        transaction: 0x1234,
        address,
        length,
    }
}

/// A header followed by any bytes.
pub fn packet(header: &CommandHeader, rest: &[u8]) -> Vec<u8> {
    let mut out = [0; 28];
    let bytes = header.write(&mut out).unwrap();
    [&out[..bytes], rest].concat()
}

/// Packet of a valid command.
pub fn command(instruction: u8, address: u64, data: &[u8]) -> Vec<u8> {
    let mut out = [0; 4096];
    let header = header(instruction, address, data.len() as u32);
    let bytes = RmapCommand { header, data }.write(&[], &mut out).unwrap();
    out[..bytes].to_vec()
}

/// Data with the CRC of the model.
pub fn with_crc(data: &[u8]) -> Vec<u8> {
    [data, &[model_crc(data)]].concat()
}
