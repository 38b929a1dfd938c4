//! Faults that are given to exact links while they run.

use super::fabric::Fabric;
use super::{Exact, Progress, State};
use spfe_host::FaultInfo;
use spfe_sim::link::{NoObserver, Observer};
use spfe_sim::live::{FaultChange, FaultChoice};
use spfe_sim::scenario::{FaultAction, PortName, ScenarioFault};
use spfe_sim::time::NS;
use std::sync::atomic::Ordering;

impl Exact {
    /// Adds a fault and returns its number. Its times count from now; what happens at once has
    /// happened when this returns, so that it meets the next packet.
    ///
    /// # Errors
    /// What is wrong with the fault, or there are too many.
    pub fn add_fault(&self, fault: ScenarioFault, clock_ns: u64) -> Result<u32, String> {
        // Idle links are behind the clock: they skip time only when somebody runs them.
        let now_ns = clock_ns.saturating_sub(self.zero_ns.load(Ordering::Relaxed));
        while self.is_still() && self.run(Some(now_ns)) == Progress::Advanced {}
        let mut state = self.lock();
        let number = state.fabric.add_fault(fault)?;
        state.moved_at = state.fabric.now();
        match state.hub.clone().filter(|hub| hub.is_active()) {
            Some(hub) => state.apply_faults(&mut hub.active()),
            None => state.apply_faults(&mut NoObserver),
        }
        Ok(number)
    }

    /// Ends faults; returns how many of those that waited, repeated or lasted.
    pub fn end_faults(&self, which: &FaultChoice) -> usize {
        let mut state = self.lock();
        let State { fabric, hub, .. } = &mut *state;
        let count = match hub.as_ref().filter(|hub| hub.is_active()) {
            Some(hub) => fabric.end_faults(which, &mut hub.active()),
            None => fabric.end_faults(which, &mut NoObserver),
        };
        state.moved_at = state.fabric.now();
        state.apply_at_ports();
        count
    }

    /// The faults that wait, repeat or last.
    pub fn faults(&self) -> Vec<FaultInfo> {
        let state = self.lock();
        let now = state.fabric.now();
        let from_now = |at: u64| at.saturating_sub(now) / NS;
        let info = |of: &spfe_sim::live::LiveFault| FaultInfo {
            number: of.number,
            name: of.fault.name.clone(),
            active: of.is_active,
            times: of.times,
            next_ns: of.next_ps.map(from_now),
            left_ns: of.end_ps.map(from_now),
        };
        state.fabric.faults().iter().map(info).collect()
    }
}

impl State {
    /// Applies changes of faults that are due. They count as events of the links.
    pub(super) fn apply_faults(&mut self, observer: &mut dyn Observer) {
        if self.fabric.apply_faults(observer) {
            self.moved_at = self.fabric.now();
        }
        self.apply_at_ports();
    }

    /// Applies changes of faults at the ports of applications.
    pub(super) fn apply_at_ports(&mut self) {
        for FaultChange { fault, begins } in self.fabric.take_port_changes() {
            let (FaultAction::Block { node, .. }
            | FaultAction::BabblePort { node, .. }
            | FaultAction::Eep { node, .. }) = &fault.what
            else {
                continue;
            };
            let Some(face) = face_at(&*self.fabric, self.faces.len(), node) else { continue };
            self.seen.push(face);
            let face = &mut self.faces[face];
            let mask = |vc: u8| 1u32.checked_shl(vc.into()).unwrap_or(0);
            let set = |bits: u32, mask: u32| if begins { bits | mask } else { bits & !mask };
            match fault.what {
                FaultAction::Block { vc, .. } => {
                    face.blocked = set(face.blocked, vc.map_or(u32::MAX, mask));
                }
                FaultAction::BabblePort { vc, .. } => face.babbles = set(face.babbles, mask(vc)),
                FaultAction::Eep { vc, .. } => {
                    if let Some(out) = face.out.get_mut(usize::from(vc)) {
                        out.end_with_eep();
                    }
                }
                _ => {}
            }
            self.moved_at = self.fabric.now();
        }
    }
}

/// The face of the port with this name.
fn face_at(fabric: &dyn Fabric, faces: usize, name: &PortName) -> Option<usize> {
    let end = fabric.end_of(name)?;
    (0..faces).find(|face| fabric.place(*face) == end)
}
