//! Connects the endpoint and the smoltcp stack by a line in virtual time.

use super::again::LineCounters;
use super::channel::{Channel, Impair};
use super::stack::Stack;
use super::watch::Watch;
use crate::drill::endpoint::{Endpoint, Settings};

/// IP address of the stack.
pub const PEER_IP: [u8; 4] = [10, 0, 0, 2];
/// MAC address of the stack.
pub const PEER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
/// IP address of the endpoint.
pub const OUR_IP: [u8; 4] = [10, 0, 0, 1];

/// Maximum number of exchanges within a tick.
const MAX_ROUNDS: usize = 64;

/// The endpoint, the stack and the line.
pub struct PeerBench<'a> {
    /// The endpoint under test.
    pub ep: &'a mut dyn Endpoint,
    /// The peer.
    pub stack: Stack,
    /// Number of ticks so far.
    pub now: u64,
    /// Counters of the line.
    pub line: LineCounters,
    /// Checks all connections.
    pub watch: Watch,
    to_ep: Channel,
    to_stack: Channel,
}

impl<'a> PeerBench<'a> {
    /// Connects an endpoint to a stack whose longest IP packet has `mtu` bytes, with the same
    /// impairments in both directions.
    pub fn new(
        ep: &'a mut dyn Endpoint,
        settings: &Settings,
        mtu: u16,
        impair: Impair,
        seed: u64,
    ) -> Self {
        ep.restart(settings);
        Self {
            ep,
            stack: Stack::new(PEER_IP, PEER_MAC, mtu, seed),
            now: 0,
            line: LineCounters::default(),
            watch: Watch::new(settings.rto_min),
            to_ep: Channel::new(impair, seed ^ 0x1111),
            to_stack: Channel::new(impair, seed ^ 0x2222),
        }
    }

    /// Number of frames lost or changed in both directions.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.to_ep.hits + self.to_stack.hits
    }

    /// Exchanges frames until there are none left, then ticks once.
    ///
    /// # Errors
    /// The endpoint sent a malformed frame, or one that violates a rule of [`Watch`].
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

    /// Exchanges frames once. Returns whether there were any.
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
            self.watch.incoming(&bytes, bad_fcs);
            self.ep.inject(&bytes, bad_fcs);
        }
        self.ep.run_idle();
        for frame in self.ep.frames() {
            moved = true;
            self.watch.outgoing(self.now, &frame.bytes, frame.poisoned)?;
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
