//! Queue contexts, and the reset of all of them.

use crate::backend::{Place, Registers, State};
use rustix::fd::OwnedFd;
use spfe_contract::{
    Command, QueueKind, QueueSetup, Status, capability, event_block as event, queue_block as queue,
};
use spfe_host::{Error, QueueRequest, RegionKey, Result, flush};

impl Registers {
    /// Contexts of a port that a queue can have, in the order in which they are tried.
    fn contexts(&self, request: &QueueRequest) -> Result<std::ops::Range<u32>> {
        let QueueRequest { port: number, vc, .. } = *request;
        let count = self.map.ports.len();
        let port = self.map.ports.get(number as usize).ok_or_else(|| {
            self.not_found(format_args!("port {number}: the device has {count} ports"))
        })?;
        let at = port.first_queue;
        let messages = at + 2 * port.vcs..at + port.queue_count;
        let half = messages.len() as u32 / 2;
        let data = |direction| {
            if vc >= port.vcs {
                let what = format!("{}: port {number} has no VC {vc}", self.uri);
                return Err(Error::device(Status::BadVc, what));
            }
            let at = at + 2 * vc + direction;
            Ok(at..at + 1)
        };
        match request.queue_kind() {
            Some(QueueKind::Tx | QueueKind::Rdma) => data(0),
            Some(QueueKind::Rx | QueueKind::RxPacked | QueueKind::RdmaRx) => data(1),
            Some(QueueKind::MessageTx) => Ok(messages.start..messages.start + half),
            Some(QueueKind::MessageRx) => Ok(messages.start + half..messages.start + 2 * half),
            Some(QueueKind::None) | None => {
                let what = format!("{}: queue kind {}", self.uri, request.kind);
                Err(Error::device(Status::BadField, what))
            }
        }
    }

    pub(crate) fn add_event_of(&self, descriptor: Option<OwnedFd>) -> Result<u32> {
        let event = self.events.add(descriptor)?;
        if let Some(vector) = self.events.vector(event) {
            // QUEUE_ENABLE, which always follows, latches it.
            self.write(self.map.event_at + vector * event::STRIDE + event::ENABLE, 1);
        }
        Ok(event)
    }

    fn drop_event(&self, event: u32) {
        if let Some(vector) = self.events.remove(event) {
            self.write(self.map.event_at + vector * event::STRIDE + event::ENABLE, 0);
        }
    }

    pub(crate) fn enable_queue(&self, request: &QueueRequest) -> Result<()> {
        let done = self.enable_queue_in(&mut self.lock(), request);
        if done.is_err() {
            self.drop_event(request.setup.vector);
        }
        done
    }

    fn enable_queue_in(&self, state: &mut State, request: &QueueRequest) -> Result<()> {
        let (port, vc, event) = (request.port, request.vc, request.setup.vector);
        let name = request.queue_kind().map_or("unknown", QueueKind::name);
        let mut contexts = self.contexts(request)?;
        let taken = |context: &u32| state.queues.values().any(|place| place.context == *context);
        let is_message =
            matches!(request.queue_kind(), Some(QueueKind::MessageTx | QueueKind::MessageRx));
        let Some(context) = contexts.find(|context| !taken(context)) else {
            let uri = &self.uri;
            let (status, what) = if is_message {
                let what = format!("{uri}: port {port} has no free {name} queue");
                (Status::NoResources, what)
            } else {
                let what = format!("{uri}: {name} queue of port {port} VC {vc} is open already");
                (Status::Busy, what)
            };
            return Err(Error::device(status, what));
        };
        let vector = self.events.vector(event).ok_or_else(|| {
            let what = format!("{}: no event {event}", self.uri);
            Error::device(Status::BadField, what)
        })?;
        self.write_context(context, &QueueSetup { vector, domain: 0, ..request.setup });
        let what = format_args!("{name} queue of port {port} VC {vc}");
        self.command(state, Command::QueueEnable, context, what)?;
        let place = Place { context, event, request: *request };
        state.queues.insert((port, vc, request.kind as u8), place);
        self.open_contexts().push(context);
        Ok(())
    }

    fn write_context(&self, context: u32, setup: &QueueSetup) {
        let at = self.map.queue_at + context * queue::STRIDE;
        let words = [
            (queue::KIND, setup.kind),
            (queue::OPTIONS, setup.options),
            (queue::DOMAIN, setup.domain),
            (queue::VECTOR, setup.vector),
            (queue::SQ_LOG2, setup.sq_log2),
            (queue::CQ_LOG2, setup.cq_log2),
            (queue::AREA_BYTES, setup.area_bytes),
            (queue::FILTER, setup.filter),
        ];
        for (offset, value) in words {
            self.write(at + offset, value);
        }
        let pairs = [
            (queue::SQ_LO, setup.sq),
            (queue::CQ_LO, setup.cq),
            (queue::STAMP_LO, setup.stamp),
            (queue::LINES_LO, setup.lines),
            (queue::AREA_LO, setup.area),
        ];
        let ends = [
            (queue::PAIR_LO, setup.pair),
            (queue::LIMITS_LO, setup.limits),
            (queue::PATH_LO, setup.path),
            (queue::REPLY_LO, setup.reply),
        ];
        let ends = if self.map.can(capability::RDMA) { &ends[..] } else { &[] };
        for (offset, value) in pairs.iter().chain(ends) {
            self.write_pair(at + offset, *value);
        }
    }

    pub(crate) fn disable_queue(&self, port: u32, vc: u32, kind: u8) -> Result<()> {
        let mut state = self.lock();
        let name = (port, vc, kind);
        let Some(place) = state.queues.get(&name).copied() else {
            let what = format_args!("no queue of kind {kind} of port {port} VC {vc}");
            return Err(self.not_found(what));
        };
        let what = format_args!("queue {}", place.context);
        self.command_patiently(&mut state, Command::QueueDisable, place.context, what)?;
        state.queues.remove(&name);
        self.open_contexts().retain(|context| *context != place.context);
        self.drop_event(place.event);
        Ok(())
    }

    /// Resets the device: queues stop, their pending submissions complete, regions are revoked.
    pub(crate) fn reset_all(&self) -> Result<()> {
        let mut state = self.lock();
        let state = &mut *state;
        self.command_patiently(state, Command::Reset, 0, format_args!("reset"))?;
        self.open_contexts().clear();
        for place in std::mem::take(&mut state.queues).into_values() {
            if !self.map.can(capability::RESET) {
                let regions = &state.regions;
                flush::complete(&place.request, |key: RegionKey| {
                    let slot = regions.get(key.index())?.as_ref()?;
                    (slot.key == key).then(|| slot.memory.clone())
                });
            }
            self.events.raise_event(place.event);
            self.drop_event(place.event);
        }
        for slot in state.regions.iter_mut().filter_map(Option::take) {
            self.space.unmap(slot.base);
        }
        Ok(())
    }
}
