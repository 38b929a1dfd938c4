//! Cleanup after a client has left, died or requested a reset. It takes bounded time.

use super::seats::{Attempt, briefly, holder};
use super::{Attachment, Ended, Inner, Network, Result};
use crate::arena::CONTROL;
use crate::view::Runner;
use spfe_device::memory::RegionKey;
use spfe_device::message::{CONTEXTS, MessageContext};
use spfe_host::os;
use spfe_host::topology::Peer;
use spfe_ring::sync::Ordering;

impl Network {
    /// Detaches a client: destroys its queues, completes what its peers have pending, and revokes its
    /// regions. `died` says that it may have held seats and locks.
    ///
    /// # Errors
    /// BUSY if a flow cannot be stopped because another participant holds it.
    pub fn detach(&self, at: Attachment, died: bool) -> Result<()> {
        let ended = if died { Ended::Died } else { Ended::Closed };
        self.stop_nodes(at);
        self.patiently(|inner| {
            if !inner.clients.contains_key(&at.client) {
                return Ok(());
            }
            if died {
                self.take_over(inner, at)?;
            }
            self.end_queues(inner, at, ended)?;
            self.end_regions(inner, at)?;
            inner.clients.remove(&at.client);
            self.shares().events.remove(&at.client);
            Ok(())
        })
    }

    /// Resets a client: its queues stop, pending submissions complete with DEVICE_RESET, its regions
    /// are revoked.
    ///
    /// # Errors
    /// BUSY if a flow cannot be stopped because another participant holds it.
    pub fn reset(&self, at: Attachment) -> Result<()> {
        self.patiently(|inner| {
            self.end_queues(inner, at, Ended::Reset)?;
            self.end_regions(inner, at)
        })?;
        self.restart_nodes(at);
        Ok(())
    }

    fn end_queues(&self, inner: &mut Inner, at: Attachment, ended: Ended) -> Attempt<()> {
        for (port, vc, out) in self.flows(at.endpoint) {
            let config = self.config(at.endpoint, port, vc, out);
            if config.kind != 0 && config.owner == at.client {
                self.destroy_data(inner, at.endpoint, port, vc, out, ended)?;
            }
        }
        let Some(client) = inner.clients.get_mut(&at.client) else { return Ok(()) };
        while let Some(queue) = client.messages.last().copied() {
            self.free_slot(at.endpoint, queue.port, queue.tx, queue.slot, ended)?;
            client.messages.pop();
        }
        Ok(())
    }

    fn end_regions(&self, inner: &mut Inner, at: Attachment) -> Attempt<()> {
        let keys: Vec<RegionKey> = inner.regions[at.endpoint as usize]
            .iter()
            .filter(|region| region.client == at.client && region.memory.is_some())
            .map(|region| region.key)
            .collect();
        self.revoke(inner, at.endpoint, &keys)
    }

    /// Takes over every lock and seat of a dead participant and repairs what it was changing.
    fn take_over(&self, inner: &mut Inner, at: Attachment) -> Attempt<()> {
        self.arena.mark_dead(at.client, true);
        for endpoint in 0..self.topology().endpoints.len() as u32 {
            for (port, vc, out) in self.flows(endpoint) {
                let shared = if out {
                    self.arena.flow_out(endpoint, port, vc)
                } else {
                    self.arena.flow_into(endpoint, port, vc)
                };
                // SAFETY: configurations are written only under the lock of `inner`.
                let owners =
                    unsafe { [(*shared.tx_config.get()).owner, (*shared.rx_config.get()).owner] };
                if owners.contains(&at.client) {
                    shared.dead.store(at.client, Ordering::Release);
                }
                if [shared.seat.busy(), shared.seat.claimed()].contains(&at.client) {
                    self.recover(self.control(inner, endpoint, port, vc, out))?;
                }
            }
            for port in 0..self.topology().endpoints[endpoint as usize].len() as u32 {
                self.recover_messages(endpoint, port, at.client);
                let (out, into) = self.arena.times_out(endpoint, port);
                out.release_dead(at.client);
                into.release_dead(at.client);
            }
        }
        Ok(())
    }

    /// Takes over the message lock of a port from a dead client and repairs the message queues.
    fn recover_messages(&self, endpoint: u32, port: u32, dead: u32) {
        let near = self.arena.messages(endpoint, port);
        let Some(_guard) = near.take_over(dead, CONTROL) else { return };
        let recover = |endpoint, slots: &[MessageContext; CONTEXTS]| {
            for slot in slots.iter().filter(|slot| slot.config().kind != 0) {
                if let Ok(view) = self.view.queue_view(endpoint, slot.config()) {
                    slot.recover(&view);
                }
            }
        };
        recover(endpoint, &near.tx);
        if let Peer::Port { endpoint: far, port: far_port } =
            self.topology().endpoints[endpoint as usize][port as usize].peer
        {
            recover(far, &self.arena.messages(far, far_port).rx);
        }
    }

    /// Takes over the seat of a flow from a dead participant and repairs the flow.
    fn recover(&self, runner: &mut Runner) -> Attempt<()> {
        let seat = &runner.shared().seat;
        let dead = |id| self.arena.is_dead(id);
        let take_over = || seat.take_over(CONTROL, dead, os::heavy_barrier, 1000);
        let torn = briefly(take_over, || holder(runner))?;
        if torn && runner.rebind() {
            runner.flow_mut().recover();
        }
        seat.release();
        Ok(())
    }
}
