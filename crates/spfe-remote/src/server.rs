//! Regions of this process for other nodes.

use crate::error::RdmaError;
use spfe::{Canceller, Deadline, End, PoolOptions, PooledRx, PooledTx, Threshold, Vc};
use spfe_proto::PacketEnd;
use spfe_rdma::TargetNode;

/// Size of the slots, bytes: also RMAP replies of 64 KiB fit.
const SLOT: u32 = (64 << 10) + 128;
const SLOTS: u32 = 64;

/// Executes requests of RDMA, and RMAP commands, that arrive on a virtual channel.
pub struct RdmaServer {
    node: TargetNode,
    tx: PooledTx,
    rx: PooledRx,
    packet: Vec<u8>,
    response: Vec<u8>,
    too_long: u64,
}

impl RdmaServer {
    /// Opens the queues of a virtual channel.
    ///
    /// # Errors
    /// BUSY if another client has the virtual channel open.
    pub fn open(vc: &Vc, mut node: TargetNode) -> spfe::Result<Self> {
        // Responses go out where the requests come in.
        node.target.set_vcs(1);
        let pool = PoolOptions::new(SLOTS, SLOT);
        let (tx, rx) = (vc.tx_pooled(pool)?, vc.rx_pooled(pool)?);
        let (packet, response) = (Vec::new(), Vec::new());
        Ok(Self { node, tx, rx, packet, response, too_long: 0 })
    }

    /// The node: regions, queue pairs, counters, notifications.
    pub fn node(&mut self) -> &mut TargetNode {
        &mut self.node
    }

    /// Responses that were longer than a slot and were not sent.
    pub fn too_long(&self) -> u64 {
        self.too_long
    }

    /// A handle with which other threads end waits.
    pub fn canceller(&mut self) -> Canceller {
        self.rx.canceller()
    }

    /// Waits for packets, executes those that are there, and sends responses. Returns the number of
    /// packets executed; 0 after the deadline.
    ///
    /// # Errors
    /// A queue of the endpoint failed, or a canceller ended the wait.
    pub fn serve(&mut self, deadline: Deadline) -> Result<u64, RdmaError> {
        let mut executed = self.receive();
        self.send()?;
        if executed > 0 {
            return Ok(executed);
        }
        // With responses that wait for room, or for a request.
        let waited = match self.node.ready_ns(0) {
            Some(_) => self.tx.wait(deadline),
            None => self.rx.wait(&Threshold::ONE, deadline),
        };
        match waited {
            Err(error) if error.is_timeout() => return Ok(0),
            waited => waited?,
        };
        self.send()?;
        executed = self.receive();
        self.send()?;
        Ok(executed)
    }

    /// Waits until all responses have been taken over by the link.
    ///
    /// # Errors
    /// The deadline has passed, a queue of the endpoint failed, or a canceller ended the wait.
    pub fn flush(&mut self, deadline: Deadline) -> Result<(), RdmaError> {
        loop {
            self.send()?;
            if self.tx.outstanding() == 0 && self.node.ready_ns(0).is_none() {
                return Ok(());
            }
            self.tx.wait(deadline)?;
        }
    }

    fn receive(&mut self) -> u64 {
        let mut executed = 0;
        while !self.node.is_full(0) {
            let (packet, most) = (&mut self.packet, self.node.packet_bytes_max() + 1);
            let taken = self.rx.take(|piece| {
                let room = most.saturating_sub(packet.len()).min(piece.bytes.len());
                packet.extend_from_slice(&piece.bytes[..room]);
                piece.end
            });
            let end = match taken {
                None => break,
                Some(End::More) => continue,
                Some(End::Eop) => PacketEnd::Eop,
                Some(End::Eep) => PacketEnd::Eep,
            };
            let now_ns = self.tx.now_ns();
            executed += u64::from(self.node.handle(&self.packet, end, 0, now_ns));
            self.packet.clear();
        }
        executed
    }

    fn send(&mut self) -> Result<(), RdmaError> {
        while self.tx.poll().is_some() {}
        let mut staged = false;
        while self.tx.slot().is_some() && self.node.respond(0, &mut self.response).is_some() {
            let length = self.response.len();
            let Some(place) = self.tx.slot().and_then(|slot| slot.get_mut(..length)) else {
                self.too_long += 1;
                continue;
            };
            place.copy_from_slice(&self.response);
            self.tx.stage(length)?;
            staged = true;
        }
        if staged {
            self.tx.submit();
        }
        Ok(())
    }
}
