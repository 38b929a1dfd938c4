//! Planned actions of a simulation: faults, time-slots and samples.

use super::Simulation;
use crate::fault::{EndCommand, LastingFault};
use crate::ledger::Cause;
use crate::link::{EndEvent, Observer, Side};
use crate::node::SimulatedNode;
use crate::results::RecordedEventKind;
use crate::rng;
use crate::scenario::{FaultAction, FaultTiming, ScenarioFault, UnitId};
use crate::time::Ps;
use fastrand::Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A planned action. The order of the variants is the order of actions at the same time, behind a
/// sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AgendaAction {
    /// Begins a time-slot everywhere; counted from the start.
    Slot(u64),
    /// Ends a lasting fault.
    End(usize),
    /// Applies a fault.
    Fault(usize),
}

/// State of a fault.
#[derive(Clone, Debug)]
struct AgendaEntry {
    rng: Rng,
    times: u64,
    left: u64,
}

/// Planned actions in the order of time.
#[derive(Debug, Default)]
pub struct Agenda {
    heap: BinaryHeap<Reverse<(Ps, AgendaAction)>>,
    /// When the next time step of the series ends, its number, and the length of a step.
    sample: (Ps, usize, Ps),
    faults: Vec<AgendaEntry>,
}

impl Agenda {
    /// The actions of a scenario.
    pub fn new(scenario: &crate::scenario::Scenario) -> Self {
        let step_ps = scenario.step_ps();
        let mut agenda = Self { sample: (step_ps, 0, step_ps), ..Self::default() };
        if scenario.schedule.as_ref().is_some_and(|schedule| schedule.source.is_none()) {
            agenda.push(0, AgendaAction::Slot(0));
        }
        for (index, fault) in scenario.faults.iter().enumerate() {
            let mut rng = rng::stream(scenario.seed, &format!("fault {index} {}", fault.name));
            let mut left = 1;
            let at = match fault.when {
                FaultTiming::At(at) => at.0,
                FaultTiming::Every { period, random, from, count, .. } => {
                    left = count.unwrap_or(u64::MAX);
                    if random {
                        from.0.saturating_add(rng::interval(&mut rng, period.0))
                    } else {
                        from.0
                    }
                }
                FaultTiming::During { from, until } => {
                    if let Some(until) = until {
                        agenda.push(until.0, AgendaAction::End(index));
                    }
                    from.0
                }
            };
            agenda.faults.push(AgendaEntry { rng, times: 0, left });
            agenda.push(at, AgendaAction::Fault(index));
        }
        agenda
    }

    fn push(&mut self, at: Ps, action: AgendaAction) {
        self.heap.push(Reverse((at, action)));
    }

    /// Time of the next action.
    pub fn next_ps(&self) -> Ps {
        self.next_but_samples_ps().map_or(self.sample.0, |at| at.min(self.sample.0))
    }

    /// Time of the next action that is no sample.
    pub fn next_but_samples_ps(&self) -> Option<Ps> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// Whether a sample is due at a time.
    pub const fn samples_at(&self, now: Ps) -> bool {
        self.sample.0 <= now
    }

    /// Takes the number of the next sample if it is due, and nothing before it.
    pub fn take_sample(&mut self, now: Ps) -> Option<usize> {
        let (at, step, length) = self.sample;
        if at > now || self.next_but_samples_ps().is_some_and(|other| other < at) {
            return None;
        }
        self.sample = (at.saturating_add(length), step + 1, length);
        Some(step)
    }

    fn pop(&mut self, now: Ps) -> Option<(Ps, AgendaAction)> {
        self.next_but_samples_ps().filter(|at| *at <= now)?;
        self.heap.pop().map(|Reverse(next)| next)
    }

    /// How often a fault was applied.
    pub fn times(&self, fault: usize) -> u64 {
        self.faults.get(fault).map_or(0, |state| state.times)
    }
}

impl Simulation {
    /// Performs the actions that are due.
    pub(super) fn act(&mut self, observer: &mut dyn Observer) {
        loop {
            self.sample();
            let Some((at, action)) = self.agenda.pop(self.now) else { return };
            match action {
                AgendaAction::Slot(number) => self.slot(at, number),
                AgendaAction::Fault(index) => self.fault(at, index, observer),
                AgendaAction::End(index) => {
                    let fault = self.scenario.faults.get(index).cloned();
                    fault.into_iter().for_each(|fault| self.last(&fault, false, observer));
                }
            }
        }
    }

    /// Ends the time steps of the series that are over.
    pub(super) fn sample(&mut self) {
        while let Some(step) = self.agenda.take_sample(self.now) {
            self.records.sample(self.links.as_they_are(), step);
        }
    }

    fn slot(&mut self, at: Ps, number: u64) {
        let Some(schedule) = &self.scenario.schedule else { return };
        let slot = (number % u64::from(schedule.slots.clamp(1, 64))) as u8;
        let next = at.saturating_add(schedule.slot.0.max(1));
        for link in self.links.iter_mut() {
            Side::BOTH.into_iter().for_each(|side| link.end(side).schedule(slot));
        }
        self.agenda.push(next, AgendaAction::Slot(number + 1));
    }

    fn fault(&mut self, at: Ps, index: usize, observer: &mut dyn Observer) {
        let Some(fault) = self.scenario.faults.get(index).cloned() else { return };
        let Some(state) = self.agenda.faults.get_mut(index) else { return };
        if let FaultTiming::Every { until: Some(until), .. } = fault.when
            && at >= until.0
        {
            return;
        }
        if state.left == 0 {
            return;
        }
        state.left -= 1;
        if let FaultTiming::Every { period, random, .. } = fault.when {
            let gap =
                if random { rng::interval(&mut state.rng, period.0) } else { period.0.max(1) };
            self.agenda.push(at.saturating_add(gap), AgendaAction::Fault(index));
        }
        if self.do_fault(&fault, observer) {
            if let Some(state) = self.agenda.faults.get_mut(index) {
                state.times += 1;
            }
        } else {
            let text =
                format!("fault '{}': this link does not have it; nothing was done", fault.name);
            self.records.note(self.now, RecordedEventKind::Fault, text);
        }
    }

    /// Applies a fault. False if this kind of link does not have it.
    pub(super) fn do_fault(&mut self, fault: &ScenarioFault, observer: &mut dyn Observer) -> bool {
        match &fault.what {
            FaultAction::Words { link, direction, lane, target, kind } => {
                let link = self.scenario.link(link).and_then(|index| self.links.get_mut(index));
                let Some(link) = link else { return false };
                let fault = crate::fault::WireFault { lane: *lane, target: *target, kind: *kind };
                let mut any = false;
                for from in direction.from() {
                    any |= link.inject(self.now, *from, fault);
                }
                any
            }
            FaultAction::Command { link, end, command } => {
                let Some(index) = self.scenario.link(link) else { return false };
                let spacewire = self.scenario.links.get(index).is_some_and(|of| of.is_spacewire());
                // Packets may show its effect before the link reports it.
                match command {
                    _ if spacewire => self.ledger.link_event(Cause::Disconnect(index as u32)),
                    EndCommand::LinkReset | EndCommand::InterfaceReset => {
                        self.ledger.link_event(Cause::LinkReset(index as u32));
                    }
                    _ => {}
                }
                self.links.get_mut(index).is_some_and(|link| link.end(*end).command(*command))
            }
            _ => {
                self.last(fault, true, observer);
                true
            }
        }
    }

    /// Begins or ends a lasting fault.
    pub(super) fn last(&mut self, fault: &ScenarioFault, on: bool, observer: &mut dyn Observer) {
        let mut tell = |(link, side): (usize, Side), fault: LastingFault| {
            let event = EndEvent::Lasting { fault, begins: on };
            observer.event(self.now, link as u32, side, event);
        };
        match &fault.what {
            FaultAction::BitErrorRate { link, direction, lane, rate } => {
                let Some(index) = self.scenario.link(link) else { return };
                let Some(link) = self.links.get_mut(index) else { return };
                for from in direction.from() {
                    link.set_bit_error_rate(*from, *lane, if on { *rate } else { 0.0 });
                    tell((index, *from), LastingFault::BitErrorRate { lane: *lane, rate: *rate });
                }
            }
            FaultAction::Babble { flow } => {
                let index = self.scenario.flows.iter().position(|of| of.name == *flow);
                let streams = &mut self.units.streams;
                if let Some(Some(flow)) = index.and_then(|index| streams.get_mut(index)) {
                    flow.source.babble(self.now, on);
                    self.units.nodes.iter_mut().flatten().for_each(SimulatedNode::wake);
                }
                let of = index.and_then(|index| self.scenario.flows.get(index));
                if let Some((end, of)) =
                    of.and_then(|of| Some((self.scenario.link_at(&of.from)?, of)))
                {
                    tell(end, LastingFault::Babbling { channel: of.vc });
                }
            }
            FaultAction::Block { node, vc } => {
                let channels = vc.map_or(u32::MAX, |vc| 1u32.checked_shl(vc.into()).unwrap_or(0));
                if let Some(UnitId::Node(index)) = self.scenario.unit(&node.unit)
                    && let Some(Some(of)) = self.units.nodes.get_mut(index)
                {
                    of.block(node.port, channels, on);
                }
                if let Some(end) = self.scenario.link_at(node) {
                    tell(end, LastingFault::Blocked { channel: *vc });
                }
            }
            FaultAction::TimeCodeLoss { node } => {
                let masters = self.senders.iter_mut().filter(|sender| sender.is_master(node));
                masters.for_each(|sender| sender.silent = on);
            }
            FaultAction::Words { .. } | FaultAction::Command { .. } => return,
            // The owner of the port applies them.
            FaultAction::BabblePort { .. } | FaultAction::Eep { .. } => {}
        }
        let what = if on { "begins" } else { "ends" };
        let text = format!("{} {what}", fault.name);
        self.records.note(self.now, RecordedEventKind::Fault, text);
    }
}
