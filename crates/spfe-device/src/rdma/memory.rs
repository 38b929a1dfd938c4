//! Registered memory as the local memory of a queue pair.

use crate::copy::move_bytes;
use crate::memory::{AccessRefusal, Address, READ, RegionKey, RegionMap, WRITE};
use spfe_contract::access;
use spfe_rdma::initiator::LocalFault;
use spfe_rdma::{Local, LocalMemory};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The regions of an endpoint that the queues of one domain may use.
pub struct Mapped<'a> {
    pub map: &'a RegionMap,
    pub domain: u16,
}

/// The address of a piece; `None` for a piece that no entry can name.
pub fn address(piece: Local) -> Option<Address> {
    let key = RegionKey(u16::try_from(piece.memory).ok()?);
    (piece.offset >> spfe_contract::OFFSET_BITS == 0).then(|| Address::new(key, piece.offset))
}

impl Mapped<'_> {
    fn at(&self, piece: Local, access: u32) -> Result<*mut u8, LocalFault> {
        let address = address(piece).ok_or(LocalFault(piece))?;
        let at = self.map.translate(address, piece.length.into(), self.domain, access);
        at.map_err(|_| LocalFault(piece))
    }

    /// A region that exists perhaps, but is not mapped here.
    pub fn unmapped(&self, key: RegionKey) -> bool {
        let at = self.map.translate(Address::new(key, 0), 0, self.domain, 0);
        matches!(at, Err(AccessRefusal::Unmapped(_)))
    }
}

impl Mapped<'_> {
    fn copy_out(&self, piece: Local, access: u32, out: &mut [u8]) -> Result<(), LocalFault> {
        let at = self.at(piece, access)?;
        if out.len() != piece.length as usize {
            return Err(LocalFault(piece));
        }
        // SAFETY: the piece was translated for its whole length, which is that of `out`.
        unsafe { move_bytes(at, out.as_mut_ptr(), piece.length) };
        Ok(())
    }

    fn shared_bytes(&self, piece: Local, access: u32) -> Option<&[AtomicU8]> {
        let at = self.at(piece, access).ok()?;
        // SAFETY: the piece was translated for its whole length, and stays mapped while the caller holds
        // the seat of the flow, longer than `self`. Whoever else changes the bytes does so as if
        // they were atomic: another process, or a copy of this one, byte by byte or in words.
        Some(unsafe { core::slice::from_raw_parts(at.cast(), piece.length as usize) })
    }

    fn copy_shared(&self, piece: Local, access: u32, bytes: &[AtomicU8]) -> Result<(), LocalFault> {
        let at = self.at(piece, access)?;
        if bytes.len() != piece.length as usize {
            return Err(LocalFault(piece));
        }
        // SAFETY: as in `copy_in`; `bytes` may change at any time, and are only copied.
        unsafe { move_bytes(bytes.as_ptr().cast(), at, piece.length) };
        Ok(())
    }

    fn copy_in(&self, piece: Local, access: u32, data: &[u8]) -> Result<(), LocalFault> {
        let at = self.at(piece, access)?;
        if data.len() != piece.length as usize {
            return Err(LocalFault(piece));
        }
        // SAFETY: the piece was translated for its whole length, which is that of `data`.
        unsafe { move_bytes(data.as_ptr(), at, piece.length) };
        Ok(())
    }
}

/// The memory of the queue pair's own requests.
impl LocalMemory for Mapped<'_> {
    fn check(&self, piece: Local) -> bool {
        address(piece).is_some()
    }

    fn can_read(&self, piece: Local) -> bool {
        self.at(piece, READ).is_ok()
    }

    fn shared(&self, piece: Local) -> Option<&[AtomicU8]> {
        self.shared_bytes(piece, READ)
    }

    fn write_shared(&mut self, piece: Local, bytes: &[AtomicU8]) -> Result<(), LocalFault> {
        self.copy_shared(piece, WRITE, bytes)
    }

    fn read(&self, piece: Local, out: &mut [u8]) -> Result<(), LocalFault> {
        self.copy_out(piece, READ, out)
    }

    fn write(&mut self, piece: Local, data: &[u8]) -> Result<(), LocalFault> {
        self.copy_in(piece, WRITE, data)
    }
}

/// The same regions for the requests of others: what the regions allow peers.
pub struct ServedMemory<'a>(pub Mapped<'a>);

impl LocalMemory for ServedMemory<'_> {
    fn check(&self, piece: Local) -> bool {
        address(piece).is_some()
    }

    fn can_read(&self, piece: Local) -> bool {
        self.0.at(piece, access::REMOTE_READ).is_ok()
    }

    fn shared(&self, piece: Local) -> Option<&[AtomicU8]> {
        self.0.shared_bytes(piece, access::REMOTE_READ)
    }

    fn write_shared(&mut self, piece: Local, bytes: &[AtomicU8]) -> Result<(), LocalFault> {
        self.0.copy_shared(piece, access::REMOTE_WRITE, bytes)
    }

    fn read(&self, piece: Local, out: &mut [u8]) -> Result<(), LocalFault> {
        self.0.copy_out(piece, access::REMOTE_READ, out)
    }

    fn write(&mut self, piece: Local, data: &[u8]) -> Result<(), LocalFault> {
        self.0.copy_in(piece, access::REMOTE_WRITE, data)
    }

    fn buffers(&mut self) -> Option<&mut dyn LocalMemory> {
        Some(&mut self.0)
    }

    /// Programs and other queue pairs may change the number at the same time.
    fn update(
        &mut self,
        piece: Local,
        change: &mut dyn FnMut(u64) -> u64,
    ) -> Result<u64, LocalFault> {
        let at = self.0.at(piece, access::REMOTE_READ | access::REMOTE_WRITE)?;
        if piece.length != 8 || !(at as usize).is_multiple_of(align_of::<AtomicU64>()) {
            return Err(LocalFault(piece));
        }
        // SAFETY: 8 bytes of a mapped region, aligned.
        let number = unsafe { AtomicU64::from_ptr(at.cast()) };
        let changed = number.fetch_update(Ordering::AcqRel, Ordering::Acquire, |old| {
            Some(change(u64::from_le(old)).to_le())
        });
        changed.map(u64::from_le).map_err(|_| LocalFault(piece))
    }
}
