//! Exact links as the plane sees them.

use super::ends::{LinkIn, LinkOut};
use super::mib::fault;
use super::{At, Exact, Watch};
use spfe_contract::{MibItem, PortState};
use spfe_device::shared::FlowShared;
use spfe_host::mib::{CUT_MAX_NS, MibEntry, MibFault};
use spfe_link::qos;
use spfe_plane::links::{ExactLinks, LinkSink, LinkSource, LinkWatcher};
use spfe_sim::fault::{EndCommand, FaultKind, FaultTarget, WireFault};
use spfe_sim::time::NS;
use std::sync::{Arc, Weak};

impl Exact {
    /// Calls `action` with the face of a port; `None` if the port is not on an exact link.
    fn at_port<T>(
        &self,
        (endpoint, port): (u32, u32),
        action: impl FnOnce(&mut At<'_>) -> T,
    ) -> Option<T> {
        Some(self.at(self.face(endpoint, port)?, action))
    }
}

impl ExactLinks for Exact {
    fn has(&self, endpoint: u32, port: u32) -> bool {
        self.face(endpoint, port).is_some()
    }

    fn sink(self: Arc<Self>, endpoint: u32, port: u32, vc: u32) -> Option<Box<dyn LinkSink>> {
        let face = self.face(endpoint, port)?;
        Some(Box::new(LinkOut::new(&self, face, vc)))
    }

    fn source(
        self: Arc<Self>,
        endpoint: u32,
        port: u32,
        vc: u32,
        shared: &'static FlowShared,
    ) -> Option<Box<dyn LinkSource>> {
        let face = self.face(endpoint, port)?;
        Some(Box::new(LinkIn::new(&self, face, vc, shared)))
    }

    fn state(&self, endpoint: u32, port: u32) -> PortState {
        match self.at_port((endpoint, port), |at| at.end.is_running()) {
            Some(true) => PortState::Up,
            Some(false) => PortState::Starting,
            None => PortState::Down,
        }
    }

    fn watch(&self, endpoint: u32, port: u32, watcher: Weak<dyn LinkWatcher>) {
        let Some(face) = self.face(endpoint, port) else { return };
        let mut state = self.lock();
        let running = state.fabric.face(face).is_running();
        state.watches.push(Watch { face, running, watcher });
    }

    fn set_priority(&self, endpoint: u32, port: u32, vc: u32, priority: u8) {
        self.at_port((endpoint, port), |at| {
            if let Some(qos) = at.end.qos(vc as usize) {
                at.end.set_qos(vc as usize, qos::QosParameters { priority, ..qos });
            }
        });
    }

    fn mib(&self, endpoint: u32, port: u32) -> Vec<MibEntry> {
        let Some(face) = self.face(endpoint, port) else { return Vec::new() };
        let mut state = self.lock();
        let mut list = state.fabric.mib(face);
        let us = state.fabric.now() / (1000 * NS);
        list.push(MibEntry::new("network", "link time (us)", None, us));
        let pace = if state.is_still() { "idle" } else { "busy" };
        list.push(MibEntry::new("network", "links", None, pace));
        list
    }

    fn mib_item(
        &self,
        endpoint: u32,
        port: u32,
        item: MibItem,
        index: u32,
    ) -> Result<u64, MibFault> {
        let read = |at: &mut At<'_>| at.end.mib(item, index as usize).map_err(fault);
        self.at_port((endpoint, port), read).unwrap_or(Err(MibFault::Absent))
    }

    fn set_mib_item(
        &self,
        endpoint: u32,
        port: u32,
        item: MibItem,
        index: u32,
        value: u64,
    ) -> Result<(), MibFault> {
        let set = |at: &mut At<'_>| {
            at.end.set_mib(item, index as usize, value).map_err(fault)?;
            // The link may react by itself, so it is not idle.
            at.moved = true;
            Ok(())
        };
        self.at_port((endpoint, port), set).unwrap_or(Err(MibFault::Absent))
    }

    fn reset(&self, endpoint: u32, port: u32) -> bool {
        let reset = |at: &mut At<'_>| {
            at.moved = true;
            at.end.set_mib(MibItem::LinkReset, 0, 1).is_ok()
                || at.end.command(EndCommand::LinkReset)
        };
        self.at_port((endpoint, port), reset).unwrap_or(false)
    }

    fn cut(
        &self,
        endpoint: u32,
        port: u32,
        lane: Option<u32>,
        duration_ns: u64,
    ) -> Result<(), String> {
        if !(1..=CUT_MAX_NS).contains(&duration_ns) {
            return Err(format!("a cut of {duration_ns} ns; 1 to {CUT_MAX_NS} allowed"));
        }
        let fault = WireFault {
            lane: lane.map(|lane| u8::try_from(lane).unwrap_or(u8::MAX)),
            target: FaultTarget::Any,
            kind: FaultKind::Cut { duration_ps: duration_ns * NS },
        };
        let mut state = self.lock();
        state.moved_at = state.fabric.now();
        let face = self.face(endpoint, port);
        if face.is_some_and(|face| state.fabric.inject(face, fault)) {
            return Ok(());
        }
        Err(format!("lane {}: this link has no such lane", lane.unwrap_or(0)))
    }
}
