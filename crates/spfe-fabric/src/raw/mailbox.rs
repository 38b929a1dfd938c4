//! Doorbells and scratchpads between two nodes. No third node sees them.

use crate::memory::{DOORBELLS, Mailbox, NodePage, PeerCounter, SCRATCHPADS};
use crate::topology::NodeNumber;
use crate::wire::FabricError;
use spfe_contract::Status;
use spfe_host::os::{futex_wait, futex_wake, now_ns};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Doorbells and scratchpads between this node and a peer. A doorbell is a counter: a ring is never
/// lost, and nobody clears it.
#[derive(Debug)]
pub struct RawMailbox {
    page: Arc<NodePage>,
    peer: NodeNumber,
    inward: Mailbox,
    outward: Mailbox,
}

impl RawMailbox {
    pub(super) fn new(
        page: Arc<NodePage>,
        peer: NodeNumber,
        inward: Mailbox,
        outward: Mailbox,
    ) -> Self {
        Self { page, peer, inward, outward }
    }

    /// The peer.
    pub fn peer(&self) -> NodeNumber {
        self.peer
    }

    /// Rings a doorbell of the peer.
    ///
    /// # Errors
    /// OUT_OF_BOUNDS beyond the last one.
    pub fn ring(&self, number: usize) -> Result<(), FabricError> {
        self.check("doorbell", number, DOORBELLS)?;
        // Release pairs with the acquire in `rings`: who sees the ring sees what was before it.
        self.outward.doorbell(number).fetch_add(1, Ordering::Release);
        self.outward.bell().fetch_add(1, Ordering::Release);
        futex_wake(self.outward.bell(), u32::MAX);
        let peer = self.peer.index().unwrap_or(0);
        self.page.counter(peer, PeerCounter::Doorbells).fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// How often the peer has rung a doorbell of this node.
    ///
    /// # Errors
    /// OUT_OF_BOUNDS beyond the last one.
    pub fn rings(&self, number: usize) -> Result<u64, FabricError> {
        self.check("doorbell", number, DOORBELLS)?;
        Ok(self.inward.doorbell(number).load(Ordering::Acquire))
    }

    /// Waits until the peer has rung a doorbell more often than `seen`. Returns the count; `None` when
    /// the time is over.
    ///
    /// # Errors
    /// OUT_OF_BOUNDS beyond the last one.
    pub fn wait(&self, number: usize, seen: u64, time_ns: u64) -> Result<Option<u64>, FabricError> {
        let until = now_ns().saturating_add(time_ns);
        loop {
            // The bell before the doorbell: a ring in between changes the bell, and we do not sleep.
            let bell = self.inward.bell().load(Ordering::Acquire);
            let rings = self.rings(number)?;
            if rings > seen {
                return Ok(Some(rings));
            }
            if now_ns() >= until {
                return Ok(None);
            }
            futex_wait(self.inward.bell(), bell, Some(until));
        }
    }

    /// Writes a scratchpad, which the peer reads.
    ///
    /// # Errors
    /// OUT_OF_BOUNDS beyond the last one.
    pub fn write_scratchpad(&self, number: usize, value: u64) -> Result<(), FabricError> {
        self.check("scratchpad", number, SCRATCHPADS)?;
        self.outward.scratchpad(number).store(value, Ordering::Release);
        Ok(())
    }

    /// Reads a scratchpad, which the peer writes.
    ///
    /// # Errors
    /// OUT_OF_BOUNDS beyond the last one.
    pub fn read_scratchpad(&self, number: usize) -> Result<u64, FabricError> {
        self.check("scratchpad", number, SCRATCHPADS)?;
        Ok(self.inward.scratchpad(number).load(Ordering::Acquire))
    }

    fn check(&self, what: &str, number: usize, count: usize) -> Result<(), FabricError> {
        if number < count {
            return Ok(());
        }
        let what = format!("{what} {number} of node {}: 0 to {}", self.peer, count - 1);
        Err(FabricError::new(Status::OutOfBounds, what))
    }
}
