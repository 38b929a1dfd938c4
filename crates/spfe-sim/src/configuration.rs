//! The registers of a router as the memory of an RMAP target: its configuration port.
//!
//! `docs/router-registers.md` describes the registers. Commands access whole registers. A register
//! that refuses an access makes the command fail with status 10.

use spfe_link::network::config::{self, SwitchRegisters};
use spfe_proto::rmap::{Memory, MemoryFault};

/// Size of a register in bytes.
const WORD: usize = 4;

/// The registers of a switch.
///
/// ```
/// use spfe_link::network::config::SwitchRegisters;
/// use spfe_proto::PacketEnd;
/// use spfe_proto::rmap::RmapTarget;
/// use spfe_sim::configuration::ConfigurationMemory;
///
/// /// Handles a packet for port 0, without its path byte, and returns the bytes of the reply.
/// fn configure<S: SwitchRegisters>(
///     target: &mut RmapTarget,
///     switch: &mut S,
///     packet: &[u8],
/// ) -> Vec<u8> {
///     let mut reply = vec![0; 4096];
///     let mut registers = ConfigurationMemory(switch);
///     let outcome = target.handle(packet, PacketEnd::Eop, &mut registers, |_| Ok(()), &mut reply);
///     reply.truncate(outcome.map_or(0, |outcome| outcome.reply_bytes()));
///     reply
/// }
/// ```
#[derive(Debug)]
pub struct ConfigurationMemory<'a, S: ?Sized>(pub &'a mut S);

/// Address of the register for each word of an access; `None` beyond 32 bits.
fn registers(address: u64, increment: bool) -> impl Iterator<Item = Option<u32>> {
    let step = if increment { WORD as u64 } else { 0 };
    (0u64..).map(move |word| u32::try_from(address.checked_add(word * step)?).ok())
}

impl<S: SwitchRegisters + ?Sized> Memory for ConfigurationMemory<'_, S> {
    fn read(&mut self, address: u64, increment: bool, data: &mut [u8]) -> Result<(), MemoryFault> {
        let (words, rest) = data.as_chunks_mut::<WORD>();
        if !rest.is_empty() {
            return Err(MemoryFault::Refused);
        }
        for (word, register) in words.iter_mut().zip(registers(address, increment)) {
            let value = register.and_then(|register| config::read(&*self.0, register));
            *word = value.ok_or(MemoryFault::Refused)?.to_be_bytes();
        }
        Ok(())
    }

    fn write(&mut self, address: u64, increment: bool, data: &[u8]) -> Result<(), MemoryFault> {
        let (words, rest) = data.as_chunks::<WORD>();
        if !rest.is_empty() {
            return Err(MemoryFault::Refused);
        }
        for (word, register) in words.iter().zip(registers(address, increment)) {
            let register = register.ok_or(MemoryFault::Refused)?;
            let written = config::write(self.0, register, u32::from_be_bytes(*word));
            written.map_err(|_| MemoryFault::Refused)?;
        }
        Ok(())
    }
}
