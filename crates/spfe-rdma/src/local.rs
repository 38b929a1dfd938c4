//! Local memory: where the bytes of a request come from or go to.

use std::sync::atomic::{AtomicU8, Ordering};

/// A piece of local memory. What `memory` names is up to the [`LocalMemory`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Local {
    /// Number of the memory.
    pub memory: u32,
    /// Offset of the first byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u32,
}

/// Local memory does not have these bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("local memory {}: no {} bytes at {:#x}", .0.memory, .0.length, .0.offset)]
pub struct LocalFault(pub Local);

/// Memory of the initiator's side. It is checked when a request is posted, and again whenever the
/// engine touches it.
pub trait LocalMemory {
    /// Whether the piece exists.
    fn check(&self, piece: Local) -> bool;

    /// Whether the piece can be read now. A packet that is handed over is not sent otherwise.
    fn can_read(&self, piece: Local) -> bool {
        self.check(piece)
    }

    /// The bytes of a piece that can be read, if they lie in memory which others may change at any
    /// time. `None` if not, and for memory that is only copied.
    fn shared(&self, _piece: Local) -> Option<&[AtomicU8]> {
        None
    }

    /// Copies bytes of such memory in, which has the length of the piece.
    ///
    /// # Errors
    /// The memory does not have room for them.
    fn write_shared(&mut self, piece: Local, bytes: &[AtomicU8]) -> Result<(), LocalFault> {
        let bytes: Vec<u8> = bytes.iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
        self.write(piece, &bytes)
    }

    /// Copies bytes out; `out` has the length of the piece.
    ///
    /// # Errors
    /// The memory does not have them.
    fn read(&self, piece: Local, out: &mut [u8]) -> Result<(), LocalFault>;

    /// Copies bytes in; `data` has the length of the piece.
    ///
    /// # Errors
    /// The memory does not have room for them.
    fn write(&mut self, piece: Local, data: &[u8]) -> Result<(), LocalFault>;

    /// The memory of receive buffers, if requests of others have other rights than they.
    fn buffers(&mut self) -> Option<&mut dyn LocalMemory> {
        None
    }

    /// Changes a number of 8 bytes in little-endian order, and returns the old one. Memory that others
    /// write at the same time changes it as a whole.
    ///
    /// # Errors
    /// The memory does not have the bytes, or cannot change them as a whole.
    fn update(
        &mut self,
        piece: Local,
        change: &mut dyn FnMut(u64) -> u64,
    ) -> Result<u64, LocalFault> {
        let mut bytes = [0; 8];
        self.read(piece, &mut bytes)?;
        let old = u64::from_le_bytes(bytes);
        self.write(piece, &change(old).to_le_bytes())?;
        Ok(old)
    }
}

/// The local memory of a side that has none.
pub struct NoMemory;

impl LocalMemory for NoMemory {
    fn check(&self, _: Local) -> bool {
        false
    }

    fn read(&self, piece: Local, _: &mut [u8]) -> Result<(), LocalFault> {
        Err(LocalFault(piece))
    }

    fn write(&mut self, piece: Local, _: &[u8]) -> Result<(), LocalFault> {
        Err(LocalFault(piece))
    }
}

/// Memories by their index.
impl LocalMemory for Vec<Vec<u8>> {
    fn check(&self, piece: Local) -> bool {
        range(self.get(piece.memory as usize).map(Vec::len), piece).is_some()
    }

    fn read(&self, piece: Local, out: &mut [u8]) -> Result<(), LocalFault> {
        let memory = self.get(piece.memory as usize);
        let range = range(memory.map(Vec::len), piece).filter(|range| range.len() == out.len());
        let bytes = memory.zip(range).and_then(|(memory, range)| memory.get(range));
        out.copy_from_slice(bytes.ok_or(LocalFault(piece))?);
        Ok(())
    }

    fn write(&mut self, piece: Local, data: &[u8]) -> Result<(), LocalFault> {
        let memory = self.get_mut(piece.memory as usize);
        let range = range(memory.as_ref().map(|memory| memory.len()), piece);
        let range = range.filter(|range| range.len() == data.len());
        let bytes = memory.zip(range).and_then(|(memory, range)| memory.get_mut(range));
        bytes.ok_or(LocalFault(piece))?.copy_from_slice(data);
        Ok(())
    }
}

fn range(bytes: Option<usize>, piece: Local) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(piece.offset).ok()?;
    let end = start.checked_add(piece.length as usize)?;
    (end <= bytes?).then_some(start..end)
}

/// Calls `each` with the parts of a scatter list that a range of the message covers, and the range
/// of the packet's payload.
pub fn scatter<E>(
    pieces: &[Local],
    offset: u32,
    length: u32,
    mut each: impl FnMut(Local, std::ops::Range<usize>) -> Result<(), E>,
) -> Result<(), E> {
    let (mut skip, mut left, mut at) = (offset, length, 0);
    for piece in pieces {
        if skip >= piece.length {
            skip -= piece.length;
            continue;
        }
        if left == 0 {
            break;
        }
        let part = (piece.length - skip).min(left);
        let offset = piece.offset + u64::from(skip);
        each(Local { offset, length: part, ..*piece }, at..at + part as usize)?;
        (skip, left, at) = (0, left - part, at + part as usize);
    }
    Ok(())
}
