//! The configuration latch, registers of 64 bits, and the time of the device.

use crate::backend::{Registers, State};
use spfe_contract::{
    CONTRACT_MAGIC, Command, DoorbellKind, Status, doorbell, global_block as global,
};
use spfe_host::{Error, Result, os};
use spfe_ring::sync::Ordering;
use std::time::Duration;

/// Polls of CFG_ACK before the driver sleeps between them.
const QUICK_LOOKS: u32 = 64;
/// Pause between later polls.
const PAUSE: Duration = Duration::from_micros(50);
/// Pause before a command is repeated that the device refused with BUSY.
const BUSY_PAUSE: Duration = Duration::from_millis(5);
/// Attempts of a command that the device refuses with BUSY.
const BUSY_TRIES: u32 = 100;
/// Attempts to read a pair of registers before its upper word changes.
const PAIR_TRIES: u32 = 8;

impl Registers {
    pub(crate) fn read(&self, offset: u32) -> u32 {
        self.space.read32(offset)
    }

    pub(crate) fn write(&self, offset: u32, value: u32) {
        self.space.write32(offset, value);
    }

    pub(crate) fn write_pair(&self, low: u32, value: u64) {
        self.write(low, value as u32);
        self.write(low + 4, (value >> 32) as u32);
    }

    /// Reads a counter of 64 bits, the low word of which comes first.
    pub(crate) fn read_pair(&self, low: u32) -> u64 {
        let mut high = self.read(low + 4);
        let mut word = 0;
        for _ in 0..PAIR_TRIES {
            let before = high;
            word = self.read(low);
            high = self.read(low + 4);
            if high == before {
                break;
            }
        }
        u64::from(high) << 32 | u64::from(word)
    }

    /// Stores to the driver's own doorbell page.
    pub(crate) fn ring_kind(&self, kind: DoorbellKind, context: u32) {
        let value = u64::from(kind.raw()) << doorbell::KIND_SHIFT | u64::from(context as u16);
        self.space.ring(self.map.doorbell_at, value);
    }

    pub(crate) fn lost(&self, why: &str) -> Error {
        self.mark_gone();
        Error::device(Status::DeviceGone, format!("{}: {why}", self.uri))
    }

    /// Issues a command and waits for its acknowledgement.
    ///
    /// # Errors
    /// The status of the device; DEVICE_GONE without an answer.
    pub(crate) fn command(
        &self,
        state: &mut State,
        command: Command,
        index: u32,
        what: std::fmt::Arguments<'_>,
    ) -> Result<()> {
        if self.events.is_gone() {
            return Err(self.lost("the device is gone"));
        }
        let status = self.issue(state, command, index)?;
        if status == u32::from(Status::Ok.raw()) {
            return Ok(());
        }
        let known = u8::try_from(status).ok().and_then(Status::from_raw);
        Err(match known {
            Some(status) => {
                Error::device(status, format!("{}: {what}: {}", self.uri, status.doc()))
            }
            None => {
                let what = format!("{}: {what}: the device answers {status:#x}", self.uri);
                Error::device(Status::BadField, what)
            }
        })
    }

    /// Issues a command again as long as the device refuses it with BUSY.
    pub(crate) fn command_patiently(
        &self,
        state: &mut State,
        command: Command,
        index: u32,
        what: std::fmt::Arguments<'_>,
    ) -> Result<()> {
        let mut done = self.command(state, command, index, what);
        for _ in 1..BUSY_TRIES {
            if !done.as_ref().is_err_and(|error| error.status() == Some(Status::Busy)) {
                break;
            }
            std::thread::sleep(BUSY_PAUSE);
            done = self.command(state, command, index, what);
        }
        done
    }

    /// Returns CFG_STATUS.
    fn issue(&self, state: &mut State, command: Command, index: u32) -> Result<u32> {
        state.sequence = next_sequence(state.sequence);
        self.write(global::CFG_COMMAND, u32::from(command.raw()));
        self.write(global::CFG_INDEX, index);
        self.write(global::CFG_SEQ, state.sequence);
        self.ring_kind(DoorbellKind::Latch, 0);
        let end = os::now_ns().saturating_add(os::ns(self.space.patience()));
        for look in 0u32.. {
            // The last poll follows the deadline, even if this thread did not run for long.
            let late = os::now_ns() > end;
            let acknowledged = self.read(global::CFG_ACK);
            if acknowledged == state.sequence {
                break;
            }
            if acknowledged == u32::MAX && self.read(global::MAGIC) != CONTRACT_MAGIC {
                return Err(self.lost("the device is gone: its registers read all ones"));
            }
            if self.events.is_gone() {
                return Err(self.lost("the device is gone"));
            }
            if late {
                let what = format!("no answer to command {} in time", command.name());
                return Err(self.lost(&what));
            }
            if look >= QUICK_LOOKS {
                std::thread::sleep(PAUSE);
            }
        }
        Ok(self.read(global::CFG_STATUS))
    }

    /// Measures device time minus the time of this machine.
    pub(crate) fn read_device_clock(&self) -> i64 {
        let before = os::now_ns();
        let device = self.read_pair(global::TIME_LO);
        let after = os::now_ns();
        let offset = device.wrapping_sub(before / 2 + after / 2) as i64;
        self.offset_ns.store(offset, Ordering::Relaxed);
        self.offset_at.store(after, Ordering::Relaxed);
        offset
    }
}

/// The next number of a command: neither 0 nor what the registers of a lost device read.
fn next_sequence(sequence: u32) -> u32 {
    match sequence.wrapping_add(1) {
        0 | u32::MAX => 1,
        next => next,
    }
}

#[cfg(test)]
mod tests {
    use super::next_sequence;

    #[test]
    fn sequence_numbers_skip_zero_and_all_ones() {
        assert_eq!([0, 5, u32::MAX - 1, u32::MAX].map(next_sequence), [1, 6, 1, 1]);
    }
}
