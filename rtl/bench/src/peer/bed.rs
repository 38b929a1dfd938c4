//! Endpoint and stack with the line between them, in virtual time.

use super::again::Again;
use super::channel::{Channel, Impair};
use super::stack::Stack;
use crate::drill::endpoint::{Endpoint, Settings};

/// Address of the stack.
pub const PEER_IP: [u8; 4] = [10, 0, 0, 2];
/// MAC address of the stack.
pub const PEER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
/// Address of the endpoint.
pub const OUR_IP: [u8; 4] = [10, 0, 0, 1];

/// Most exchanges within a tick.
const MAX_ROUNDS: usize = 64;

/// The bed.
pub struct Bed<'a> {
    /// The endpoint under test.
    pub ep: &'a mut dyn Endpoint,
    /// The other end.
    pub stack: Stack,
    /// Ticks so far.
    pub now: u64,
    /// What passed.
    pub line: Again,
    to_ep: Channel,
    to_stack: Channel,
}

impl<'a> Bed<'a> {
    /// A bed with the same impairments both ways.
    pub fn new(ep: &'a mut dyn Endpoint, settings: &Settings, impair: Impair, seed: u64) -> Self {
        ep.restart(settings);
        Self {
            ep,
            stack: Stack::new(PEER_IP, PEER_MAC, seed),
            now: 0,
            line: Again::default(),
            to_ep: Channel::new(impair, seed ^ 0x1111),
            to_stack: Channel::new(impair, seed ^ 0x2222),
        }
    }

    /// Frames lost or changed, both ways.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.to_ep.hits + self.to_stack.hits
    }

    /// Exchanges frames until none moves, then one tick.
    ///
    /// # Errors
    /// A frame of the endpoint that is not well formed.
    pub fn tick(&mut self) -> Result<(), String> {
        for _ in 0..MAX_ROUNDS {
            if !self.exchange()? {
                break;
            }
        }
        self.now += 1;
        self.ep.advance_ticks(1);
        Ok(())
    }

    /// One exchange; whether anything moved.
    fn exchange(&mut self) -> Result<bool, String> {
        let arrived = self.to_stack.pop(self.now);
        let mut moved = !arrived.is_empty();
        let good = arrived.into_iter().filter(|(_, bad)| !bad).map(|(bytes, _)| bytes).collect();
        for bytes in self.stack.poll(self.now, good) {
            moved = true;
            let control = self.count(&bytes, false)?;
            self.to_ep.push(self.now, &bytes, control);
        }
        for (bytes, bad_fcs) in self.to_ep.pop(self.now) {
            moved = true;
            self.ep.inject(&bytes, bad_fcs);
        }
        self.ep.run_idle();
        for frame in self.ep.frames() {
            moved = true;
            if !frame.poisoned {
                let control = self.count(&frame.bytes, true)?;
                self.to_stack.push(self.now, &frame.bytes, control);
            }
        }
        Ok(moved)
    }

    /// Counts a frame; whether it is one without payload or with SYN, FIN or RST.
    fn count(&mut self, bytes: &[u8], out: bool) -> Result<bool, String> {
        let now = self.now;
        self.line.count(bytes, out).map_err(|e| {
            let from = if out { "the endpoint" } else { "the stack" };
            format!("tick {now}: frame of {from}: {e}: {bytes:02x?}")
        })
    }
}
