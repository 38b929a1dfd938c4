//! Creating and destroying queues of messages, under the locks of both ports of a link.

use super::seats::{Attempt, briefly};
use super::{
    Attachment, Ended, Error, Inner, MessageQueue, Network, Placement, QueueRequest, Result, queues,
};
use crate::arena::CONTROL;
use crate::view::ViewHost;
use spfe_contract::message_filter::{INTERRUPTS, MATCH_CHANNEL, MATCH_TYPE};
use spfe_contract::{MessageKind, QueueState, Status};
use spfe_device::message::{CONTEXTS, MessageGuard, MessagePort};
use spfe_device::shared::QueueConfig;
use spfe_host::topology::Peer;

impl Network {
    /// Checks a filter. Only broadcast messages have channels and types, and only codes of SpaceWire
    /// can be interrupts.
    fn check_filter(&self, at: Attachment, request: QueueRequest) -> Result<()> {
        let port = self.port(at.endpoint, request.port)?;
        let known = match port.carries() {
            MessageKind::Broadcast => MATCH_CHANNEL | MATCH_TYPE | 0xffff,
            MessageKind::TimeCode | MessageKind::Interrupt => INTERRUPTS,
        };
        if request.filter & !known == 0 {
            return Ok(());
        }
        let what = format!(
            "filter {:#x}: port {} speaks {}, allowed are the bits {known:#x}",
            request.filter,
            request.port,
            port.kind().name()
        );
        Err(Error::new(Status::BadField, what))
    }

    pub(super) fn create_message(
        &self,
        inner: &mut Inner,
        at: Attachment,
        request: QueueRequest,
        tx: bool,
        place: Placement,
    ) -> Attempt<()> {
        if !self.port(at.endpoint, request.port)?.has_messages() {
            let what = format!("port {}: a fabric port has no messages", request.port);
            return Err(Error::new(Status::BadOpcode, what).into());
        }
        self.check_filter(at, request)?;
        let mut config = queues::config(&request, at.client, place);
        config.vc = 255;
        let view = self.check_view(at, config)?;
        if !tx && config.sq_log2 != config.cq_log2 {
            let what = format!(
                "message queue of port {}: 2^{} submissions, 2^{} completions: must be equal",
                request.port, config.sq_log2, config.cq_log2
            );
            return Err(Error::new(Status::BadRing, what).into());
        }
        let messages = self.arena.messages(at.endpoint, request.port);
        let slots = if tx { &messages.tx } else { &messages.rx };
        let guards = self.message_locks(at.endpoint, request.port)?;
        let free = |index: &usize| slots.get(*index).is_some_and(|slot| slot.config().kind == 0);
        let index = match place.index {
            Some(wish) => Some(wish).filter(free),
            None => (0..CONTEXTS).find(free),
        };
        let index = index.ok_or_else(|| match place.index {
            Some(wish) => {
                let what =
                    format!("port {}: message slot {wish} of {CONTEXTS} is taken", request.port);
                Error::new(Status::Busy, what)
            }
            None => {
                let what = format!(
                    "port {}: {CONTEXTS} message queues are open, the most there can be",
                    request.port
                );
                Error::new(Status::NoResources, what)
            }
        })?;
        view.device_line().set_state(u32::from(QueueState::Enabled.raw()), 0);
        slots[index].configure(config, messages);
        drop(guards);
        if let Some(client) = inner.clients.get_mut(&at.client) {
            let number = request.vc;
            client.messages.push(MessageQueue { port: request.port, tx, slot: index, number });
        }
        self.changed();
        Ok(())
    }

    /// Locks the messages of a port and of its far port, which sends to it. The order of the
    /// addresses prevents a deadlock with another control operation.
    ///
    /// # Errors
    /// Held if a client does not release a lock.
    pub(super) fn message_locks(
        &self,
        endpoint: u32,
        port: u32,
    ) -> Attempt<Vec<MessageGuard<'static>>> {
        let mut ports = vec![self.arena.messages(endpoint, port)];
        if let Peer::Port { endpoint: far, port: far_port } =
            self.topology().endpoints[endpoint as usize][port as usize].peer
        {
            ports.push(self.arena.messages(far, far_port));
        }
        ports.sort_by_key(|port| std::ptr::from_ref(*port) as usize);
        let lock =
            |port: &'static MessagePort| briefly(|| port.try_lock(CONTROL), || port.holder());
        ports.into_iter().map(lock).collect()
    }

    /// Destroys the message queue with a given number of a client.
    ///
    /// # Errors
    /// NOT_FOUND if the client has no message queue there.
    pub fn destroy_message_at(
        &self,
        at: Attachment,
        port: u32,
        tx: bool,
        slot: usize,
    ) -> Result<()> {
        self.port(at.endpoint, port)?;
        let mine = |queue: &MessageQueue| (queue.port, queue.tx, queue.slot) == (port, tx, slot);
        if self.patiently(|inner| self.destroy_message(inner, at, mine))? {
            return Ok(());
        }
        let what = format!("port {port} message slot {slot} has no such queue of this client");
        Err(Error::new(Status::NotFound, what))
    }

    pub(super) fn destroy_message(
        &self,
        inner: &mut Inner,
        at: Attachment,
        is_meant: impl Fn(&MessageQueue) -> bool,
    ) -> Attempt<bool> {
        let Some(client) = inner.clients.get_mut(&at.client) else { return Ok(false) };
        let Some(found) = client.messages.iter().position(is_meant) else { return Ok(false) };
        let queue = client.messages[found];
        self.free_slot(at.endpoint, queue.port, queue.tx, queue.slot, Ended::Closed)?;
        client.messages.remove(found);
        Ok(true)
    }

    pub(super) fn free_slot(
        &self,
        endpoint: u32,
        port: u32,
        tx: bool,
        index: usize,
        ended: Ended,
    ) -> Attempt<()> {
        let messages = self.arena.messages(endpoint, port);
        let slots = if tx { &messages.tx } else { &messages.rx };
        let _guards = self.message_locks(endpoint, port)?;
        let slot = &slots[index];
        if ended != Ended::Died
            && let Ok(view) = self.view.queue_view(endpoint, slot.config())
        {
            let reset = ended == Ended::Reset;
            let status = if reset { Status::DeviceReset } else { Status::Ok };
            slot.end(&view, tx && reset, status, &mut ViewHost(&self.view));
        }
        let config = slot.config();
        slot.configure(QueueConfig::default(), messages);
        self.leave_event(config.owner, config.vector);
        Ok(())
    }
}
