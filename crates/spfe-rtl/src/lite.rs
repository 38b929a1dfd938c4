//! Accesses to the registers of the core, one at a time and in order.

use crate::pins::{Inputs, Outputs};
use std::collections::VecDeque;
use std::sync::mpsc::Sender;

/// Cycles within which the core answers an access. It fills its memories after a reset first.
const PATIENCE: u64 = 1 << 18;

/// An access.
pub enum RegisterAccess {
    /// Read 4 bytes. The answer is dropped if the core fails.
    Read { address: u32, answer: Sender<u32> },
    /// Write 4 or 8 bytes.
    Write { address: u32, data: u64, strobes: u8 },
    /// Reset the core. Earlier accesses that wait are dropped.
    Reset { answer: Sender<u32> },
}

impl RegisterAccess {
    /// Whether this is a store to a doorbell: nothing else is written 8 bytes at a time.
    pub fn is_doorbell(&self) -> bool {
        matches!(self, Self::Write { strobes: u8::MAX, .. })
    }

    /// A write of 4 bytes.
    pub fn write32(address: u32, value: u32) -> Self {
        let high = address & 4 != 0;
        let data = if high { u64::from(value) << 32 } else { u64::from(value) };
        Self::Write { address: address & !7, data, strobes: if high { 0xf0 } else { 0x0f } }
    }
}

/// The master of the register bus.
#[derive(Default)]
pub struct Lite {
    waiting: VecDeque<RegisterAccess>,
    /// The address, and the data, of the first access were taken.
    taken: (bool, bool),
    /// Cycles since the first access was first in line.
    age: u64,
}

impl Lite {
    pub fn push(&mut self, access: RegisterAccess) {
        self.waiting.push_back(access);
    }

    pub fn is_busy(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Sets the inputs of the next cycle.
    pub fn drive(&self, to: &mut Inputs) {
        to.lite_ar_valid = false;
        to.lite_aw_valid = false;
        to.lite_w_valid = false;
        match self.waiting.front() {
            Some(RegisterAccess::Read { address, .. }) => {
                to.lite_ar_addr = *address;
                to.lite_ar_valid = !self.taken.0;
            }
            Some(RegisterAccess::Write { address, data, strobes }) => {
                (to.lite_aw_addr, to.lite_w_data, to.lite_w_strb) = (*address, *data, *strobes);
                to.lite_aw_valid = !self.taken.0;
                to.lite_w_valid = !self.taken.1;
            }
            // It is carried out at once, and never waits here.
            Some(RegisterAccess::Reset { .. }) | None => {}
        }
    }

    /// Takes the outputs of the cycle.
    ///
    /// # Errors
    /// The core does not answer.
    pub fn sample(&mut self, given: &Inputs, from: &Outputs) -> Result<(), String> {
        let Some(first) = self.waiting.front() else { return Ok(()) };
        self.taken.0 |= given.lite_ar_valid && from.lite_ar_ready;
        self.taken.0 |= given.lite_aw_valid && from.lite_aw_ready;
        self.taken.1 |= given.lite_w_valid && from.lite_w_ready;
        self.age += 1;
        let done = match first {
            RegisterAccess::Read { address, answer } if from.lite_r_valid => {
                let data = from.lite_r_data >> (8 * (address & 4));
                // Refused registers read as a device that is not there would.
                let value = if from.lite_r_resp == 0 { data as u32 } else { u32::MAX };
                // Whoever asked may be gone.
                let _ = answer.send(value);
                true
            }
            RegisterAccess::Read { .. } => false,
            RegisterAccess::Write { .. } => from.lite_b_valid,
            RegisterAccess::Reset { .. } => true,
        };
        if done {
            self.waiting.pop_front();
            (self.taken, self.age) = ((false, false), 0);
        } else if self.age > PATIENCE {
            return Err(format!("no answer to a register access within {PATIENCE} cycles"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn accesses_are_made_in_order_and_their_halves_chosen() {
        let (answer, answers) = channel();
        let mut lite = Lite::default();
        lite.push(RegisterAccess::write32(0x84, 5));
        lite.push(RegisterAccess::Read { address: 0x84, answer: answer.clone() });
        lite.push(RegisterAccess::Read { address: 0x80, answer });
        let mut given = Inputs::default();
        lite.drive(&mut given);
        assert_eq!(
            (given.lite_aw_addr, given.lite_w_data, given.lite_w_strb),
            (0x80, 5 << 32, 0xf0)
        );
        assert!(given.lite_aw_valid && given.lite_w_valid && !given.lite_ar_valid);
        // The data is taken before the address.
        lite.sample(&given, &Outputs { lite_w_ready: true, ..Outputs::default() }).unwrap();
        lite.drive(&mut given);
        assert!(given.lite_aw_valid && !given.lite_w_valid);
        let out = Outputs { lite_aw_ready: true, lite_b_valid: true, ..Outputs::default() };
        lite.sample(&given, &out).unwrap();
        for _ in 0..2 {
            lite.drive(&mut given);
            assert!(given.lite_ar_valid && !given.lite_aw_valid);
            let out = Outputs { lite_ar_ready: true, ..Outputs::default() };
            lite.sample(&given, &out).unwrap();
            lite.drive(&mut given);
            assert!(!given.lite_ar_valid);
            let out =
                Outputs { lite_r_valid: true, lite_r_data: 5 << 32 | 3, ..Outputs::default() };
            lite.sample(&given, &out).unwrap();
        }
        assert!(!lite.is_busy());
        assert_eq!(answers.iter().collect::<Vec<_>>(), [5, 3]);
    }

    #[test]
    fn a_core_that_does_not_answer_is_noticed() {
        let mut lite = Lite::default();
        lite.push(RegisterAccess::write32(0, 0));
        let mut given = Inputs::default();
        let late = (0..PATIENCE + 2).find_map(|_| {
            lite.drive(&mut given);
            lite.sample(&given, &Outputs::default()).err()
        });
        assert!(late.unwrap().contains("no answer"));
    }
}
