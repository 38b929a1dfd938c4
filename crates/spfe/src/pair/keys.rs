//! Remote keys: memory of the queue pair that others use without the program.

use super::{Answered, PairQueue, bytes_of, slots};
use crate::wait::Deadline;
use crate::{Error, Result};
use spfe_contract::{REMOTE_KEYS_MAX, Status, WorkOpcode, key_options as ko};
use spfe_rdma::{Local, RegionRights, RemoteKey, WorkError};
use spfe_ring::sync::Ordering;
use std::sync::atomic::AtomicU8;

/// What others may do with shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyOptions {
    /// Address of the first byte, as others see it.
    pub address: u64,
    /// Rights.
    pub rights: RegionRights,
    /// Logical addresses that may use it, at most 8; empty: all.
    pub initiators: Vec<u8>,
    /// Writes and atomic operations of the partner use a buffer of the receive queue, if there is one,
    /// and are reported as messages.
    pub notify: bool,
    /// The list of regions does not tell the key.
    pub hidden: bool,
}

impl Default for KeyOptions {
    fn default() -> Self {
        let (rights, initiators) = (RegionRights::ALL, Vec::new());
        Self { address: 0, rights, initiators, notify: false, hidden: false }
    }
}

impl KeyOptions {
    /// As key_options of the contract.
    fn bits(&self) -> u32 {
        let flag = |on, flag| if on { flag } else { 0 };
        flag(self.rights.read, ko::READ)
            | flag(self.rights.write, ko::WRITE)
            | flag(self.rights.atomic, ko::ATOMIC)
            | flag(self.notify, ko::NOTIFY)
            | flag(self.hidden, ko::HIDDEN)
    }
}

/// A key that the device has.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    key: RemoteKey,
    local: Local,
    options: KeyOptions,
}

impl PairQueue {
    /// Lets others use memory under a new key. The device serves it while the queue pair is open, and
    /// [`PairQueue::load`] and [`PairQueue::store`] reach it.
    ///
    /// # Errors
    /// BAD_OPCODE on a device without remote keys, BAD_FIELD for options that do not fit together,
    /// OUT_OF_BOUNDS if the memory does not have the bytes, NO_RESOURCES if there is no key left, or why
    /// the device refuses it.
    pub fn share(
        &mut self,
        local: Local,
        options: &KeyOptions,
        deadline: Deadline,
    ) -> Result<RemoteKey> {
        let refuse = |status, what: String| Err(Error::device(status, what));
        let KeyOptions { address, initiators, rights, .. } = options;
        let Local { memory, offset, length } = local;
        let piece = format!("{length} bytes at {offset:#x} of memory {memory}");
        if !self.has_keys {
            let what = "the device has no remote keys: serve the memory with an RdmaServer";
            return refuse(Status::BadOpcode, what.to_owned());
        }
        if initiators.len() > 8 || initiators.contains(&0) {
            let what = format!("initiators {initiators:?}: at most 8, from 1 to 255");
            return refuse(Status::BadField, what);
        }
        if rights.atomic && !(address | offset).is_multiple_of(8) {
            let what =
                format!("{piece}, address {address:#x}: atomic operations need multiples of 8");
            return refuse(Status::BadField, what);
        }
        if length == 0 || address.checked_add(u64::from(length) - 1).is_none() {
            let what = format!("{piece}, address {address:#x}: at least 1 byte, below 2^64");
            return refuse(Status::BadField, what);
        }
        if self.address(local).is_none() {
            return refuse(Status::OutOfBounds, format!("{piece}: the memory does not have them"));
        }
        // An index that was used last may still have a read that is being answered.
        let indices = REMOTE_KEYS_MAX as u32;
        let start = self.next_key;
        let taken = |index: u32| self.bound.iter().any(|bound| bound.key.index() == index as usize);
        let free = (0..indices).map(|n| (start + n) % indices).find(|index| !taken(*index));
        let key = free.and_then(RemoteKey::random);
        let Some(key) = key else {
            let what = format!("all {indices} remote keys of the queue pair are in use");
            return refuse(Status::NoResources, what);
        };
        self.next_key = (key.index() as u32 + 1) % indices;
        let bound = Bound { key, local, options: options.clone() };
        self.memory[memory as usize].busy += 1;
        self.bound.push(bound.clone());
        // After a time-out the device may have the key, so the memory stays shared.
        self.bind(&bound, deadline)?.map_err(|error| {
            self.forget(key);
            refused("BIND", key, error)
        })?;
        Ok(key)
    }

    /// Takes a key back. Afterwards nobody uses its memory.
    ///
    /// # Errors
    /// NOT_FOUND for a key that the queue pair does not have, or why the device refuses it.
    pub fn unshare(&mut self, key: RemoteKey, deadline: Deadline) -> Result<()> {
        if !self.bound.iter().any(|bound| bound.key == key) {
            let what = format!("remote key {key}: not of this queue pair");
            return Err(Error::device(Status::NotFound, what));
        }
        let mut slots = slots::Slots::new(key.0, 0, slots::question(WorkOpcode::Unbind));
        let done = self.command(slots.question(), None, deadline)?;
        done.map_err(|error| refused("UNBIND", key, error))?;
        self.forget(key);
        Ok(())
    }

    /// The device does not have the key any more.
    fn forget(&mut self, key: RemoteKey) {
        if let Some(place) = self.bound.iter().position(|bound| bound.key == key) {
            let memory = self.bound.swap_remove(place).local.memory;
            self.memory[memory as usize].busy -= 1;
        }
    }

    fn bind(&mut self, bound: &Bound, deadline: Deadline) -> Result<Answered> {
        let Bound { key, local, options } = bound;
        let Some(address) = self.address(*local) else {
            let what = format!("memory {} of remote key {key} was released", local.memory);
            return Err(Error::device(Status::OutOfBounds, what));
        };
        let opcode = slots::question(WorkOpcode::Bind);
        let mut slots = slots::Slots::new(key.0, options.address, opcode);
        slots.element(address, local.length);
        self.command(slots.bind(options.bits(), bytes_of(&options.initiators)), None, deadline)
    }

    /// Gives the device the keys again, after it has forgotten them.
    pub(super) fn bind_again(&mut self, deadline: Deadline) -> Result<()> {
        for one in self.bound.clone() {
            let done = self.bind(&one, deadline)?;
            done.map_err(|error| refused("BIND", one.key, error))?;
        }
        Ok(())
    }

    /// Copies bytes out of memory, also while it is shared. Bytes that others write meanwhile are old
    /// or new, each for itself.
    ///
    /// # Errors
    /// OUT_OF_BOUNDS if the memory does not have the bytes.
    pub fn load(&self, memory: u32, offset: u64, out: &mut [u8]) -> Result<()> {
        let at = self.bytes(memory, offset, out.len())?;
        for (byte, at) in out.iter_mut().zip(at) {
            *byte = at.load(Ordering::Relaxed);
        }
        std::sync::atomic::fence(Ordering::Acquire);
        Ok(())
    }

    /// Copies bytes into memory, also while it is shared.
    ///
    /// # Errors
    /// OUT_OF_BOUNDS if the memory does not have the bytes.
    pub fn store(&mut self, memory: u32, offset: u64, data: &[u8]) -> Result<()> {
        let at = self.bytes(memory, offset, data.len())?;
        std::sync::atomic::fence(Ordering::Release);
        for (byte, at) in data.iter().zip(at) {
            at.store(*byte, Ordering::Relaxed);
        }
        Ok(())
    }

    fn bytes(&self, memory: u32, offset: u64, length: usize) -> Result<&[AtomicU8]> {
        let piece = Local { memory, offset, length: length.try_into().unwrap_or(u32::MAX) };
        let at = self.at(piece).filter(|_| u32::try_from(length).is_ok());
        let Some(at) = at else {
            let what = format!("{length} bytes at {offset:#x} of memory {memory}: not there");
            return Err(Error::device(Status::OutOfBounds, what));
        };
        // SAFETY: inside memory that the queue keeps; the device and others reach the same bytes, so
        // they are accessed as atomics.
        Ok(unsafe { std::slice::from_raw_parts(at.cast(), length) })
    }
}

fn refused(what: &str, key: RemoteKey, error: WorkError) -> Error {
    let what = format!("{what} of remote key {key}: {error}; connect the queue pair again");
    Error::device(Status::RemoteRequest, what)
}
