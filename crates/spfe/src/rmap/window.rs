//! Windows: the memory to which a target gives access.

use super::Allow;
use crate::Buf;
use spfe_proto::rmap::{
    ADDRESS_MAX, CommandHeader, Denial, Memory, MemoryFault, Ram, RmapOperation,
};
use std::fmt;

/// The memory of a window.
pub enum Backing {
    /// Bytes of a registered region.
    Bytes(Buf),
    /// Any other memory, such as registers or a file. It gets the addresses of the commands.
    Memory(Box<dyn Memory + Send>),
}

impl fmt::Debug for Backing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(buf) => buf.fmt(f),
            Self::Memory(_) => f.write_str("Memory"),
        }
    }
}

/// A range of RMAP addresses with its memory and its access rules.
#[derive(Debug)]
pub struct Window {
    rule: Rule,
    backing: Backing,
}

/// Range and access rules of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    base: u64,
    bytes: u64,
    allow: Allow,
    key: Option<u8>,
    logical_address: Option<u8>,
    word_bytes: usize,
}

impl Window {
    /// A window onto all of a buffer, starting at a 40-bit address whose upper 8 bits are the
    /// extended address. It allows all commands with any key.
    pub fn new(base: u64, buf: Buf) -> Self {
        let bytes = buf.capacity() as u64;
        let mut buf = buf;
        buf.set_len(buf.capacity());
        Self::on(base, bytes, Backing::Bytes(buf))
    }

    /// A window of `bytes` addresses onto another kind of memory.
    pub fn memory(base: u64, bytes: u64, memory: Box<dyn Memory + Send>) -> Self {
        Self::on(base, bytes, Backing::Memory(memory))
    }

    fn on(base: u64, bytes: u64, backing: Backing) -> Self {
        let (key, logical_address) = (None, None);
        let rule = Rule { base, bytes, allow: Allow::ALL, key, logical_address, word_bytes: 4 };
        Self { rule, backing }
    }

    /// Restricts the commands; others get status 10.
    pub fn allow(mut self, allow: Allow) -> Self {
        self.rule.allow = allow;
        self
    }

    /// Requires a key; commands with another key get status 3.
    pub fn key(mut self, key: u8) -> Self {
        self.rule.key = Some(key);
        self
    }

    /// Requires a target logical address; commands with another one get status 12.
    pub fn logical_address(mut self, address: u8) -> Self {
        self.rule.logical_address = Some(address);
        self
    }

    /// Sets the number of bytes of a word, for accesses to a single address. The default is 4.
    pub fn word_bytes(mut self, bytes: usize) -> Self {
        self.rule.word_bytes = bytes;
        self
    }

    /// The memory of the window.
    pub fn backing(&self) -> &Backing {
        &self.backing
    }
}

impl Rule {
    fn end(&self) -> u64 {
        self.base.saturating_add(self.bytes)
    }

    fn holds(&self, address: u64, bytes: u64) -> bool {
        let end = address.checked_add(bytes);
        address >= self.base && address < self.end() && end.is_some_and(|end| end <= self.end())
    }
}

/// The windows of a target. They do not overlap.
#[derive(Debug, Default)]
pub(super) struct Windows {
    rules: Vec<Rule>,
    backings: Vec<Backing>,
}

/// Why a window cannot be added, if so.
pub(super) fn refusal(rules: &[Rule], new: &Rule) -> Option<String> {
    let Rule { base, bytes, .. } = *new;
    let words = format!("RMAP window of {bytes} bytes at {base:#x}");
    if bytes == 0 || base > ADDRESS_MAX || bytes - 1 > ADDRESS_MAX - base {
        return Some(format!("{words}: 1 byte at least, up to address {ADDRESS_MAX:#x}"));
    }
    let other = rules.iter().find(|rule| rule.base < new.end() && base < rule.end())?;
    let Rule { base, bytes, .. } = other;
    Some(format!("{words}: it overlaps the one of {bytes} bytes at {base:#x}"))
}

impl Windows {
    /// Adds a window and returns its number.
    pub fn add(&mut self, window: Window) -> Result<usize, String> {
        if let Some(what) = refusal(&self.rules, &window.rule) {
            return Err(what);
        }
        self.rules.push(window.rule);
        self.backings.push(window.backing);
        Ok(self.rules.len() - 1)
    }

    pub fn backing(&mut self, number: usize) -> Option<&mut Backing> {
        self.backings.get_mut(number)
    }

    /// Splits into the rules, which authorise a command, and the memory, which executes it.
    pub fn split(&mut self) -> (&[Rule], Open<'_>) {
        (&self.rules, Open { rules: &self.rules, backings: &mut self.backings })
    }
}

/// Checks a command against the rules of its window.
pub(super) fn permit(rules: &[Rule], header: &CommandHeader) -> Result<(), Denial> {
    let operation = header.instruction.operation();
    let bytes = match operation {
        Some(RmapOperation::ReadModifyWrite) => u64::from(header.length / 2),
        Some(operation) if operation.increments() => u64::from(header.length),
        _ => u64::from(header.length.min(1)),
    };
    let rule = rules.iter().find(|rule| rule.holds(header.address, bytes));
    let rule = rule.ok_or(Denial::Access)?;
    if rule.logical_address.is_some_and(|address| address != header.target) {
        return Err(Denial::LogicalAddress);
    }
    if rule.key.is_some_and(|key| key != header.key) {
        return Err(Denial::Key);
    }
    let Allow { read, write, modify } = rule.allow;
    match operation {
        Some(operation) if operation.is_among(read, write, modify) => Ok(()),
        _ => Err(Denial::Access),
    }
}

/// The memory of all windows.
pub(super) struct Open<'a> {
    rules: &'a [Rule],
    backings: &'a mut [Backing],
}

impl Open<'_> {
    fn with(
        &mut self,
        address: u64,
        act: impl FnOnce(&mut dyn Memory) -> Result<(), MemoryFault>,
    ) -> Result<(), MemoryFault> {
        let mut all = self.rules.iter().zip(self.backings.iter_mut());
        let (rule, backing) =
            all.find(|(rule, _)| rule.holds(address, 1)).ok_or(MemoryFault::Refused)?;
        match backing {
            Backing::Bytes(buf) => {
                act(&mut Ram { base: rule.base, word_bytes: rule.word_bytes, bytes: buf })
            }
            Backing::Memory(memory) => act(&mut **memory),
        }
    }
}

impl Memory for Open<'_> {
    fn read(&mut self, address: u64, increment: bool, data: &mut [u8]) -> Result<(), MemoryFault> {
        self.with(address, |memory| memory.read(address, increment, data))
    }

    fn write(&mut self, address: u64, increment: bool, data: &[u8]) -> Result<(), MemoryFault> {
        self.with(address, |memory| memory.write(address, increment, data))
    }

    fn modify(
        &mut self,
        address: u64,
        data: &[u8],
        mask: &[u8],
        old: &mut [u8],
    ) -> Result<(), MemoryFault> {
        self.with(address, |memory| memory.modify(address, data, mask, old))
    }
}
