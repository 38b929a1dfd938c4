//! Faults that are given to links side by side.

use crate::capture::LinkEnd;
use spfe_sim::fault::{LastingFault, WireFault};
use spfe_sim::link::{EndEvent, Observer, Side};
use spfe_sim::links::LinkSet;
use spfe_sim::live::{self, FaultChange, FaultChoice, LiveFault, LiveFaults};
use spfe_sim::recorder::LinkDescription;
use spfe_sim::scenario::{FaultAction, PortName, Scenario, ScenarioFault};
use spfe_sim::time::Ps;
use std::fmt::Write;

/// The seed of faults at random times.
const SEED: u64 = 1;

/// The faults of links side by side. Ports are nodes of a scenario, each with one port, so that
/// names are looked up and checked as in a scenario.
pub struct LinkFaults {
    plan: Option<Scenario>,
    live: LiveFaults,
}

impl Default for LinkFaults {
    fn default() -> Self {
        Self { plan: None, live: LiveFaults::new(SEED) }
    }
}

/// The links as a scenario.
fn plan(wirings: &[LinkDescription], links: &mut LinkSet) -> Result<Scenario, String> {
    let mut text = "title = 'network'\n".to_owned();
    for name in wirings.iter().flat_map(|wiring| &wiring.ends) {
        let _ = writeln!(text, "[[node]]\nname = '{name}'");
    }
    for (wiring, link) in wirings.iter().zip(links.as_they_are()) {
        let [a, b] = &wiring.ends;
        let (name, mbps) = (&wiring.name, wiring.rate_bps / 1_000_000);
        let _ =
            writeln!(text, "[[link]]\nname = '{name}'\nends = ['{a}', '{b}']\nrate = '{mbps}M'");
        let _ = if wiring.spacewire {
            writeln!(text, "spacewire = {{}}")
        } else {
            let (lanes, channels) = (wiring.lanes, link.end(Side::A).channels());
            writeln!(text, "spacefibre = {{ lanes = {lanes}, channels = {channels} }}")
        };
    }
    Scenario::parse(&text).map_err(|error| error.to_string())
}

impl LinkFaults {
    /// Adds a fault and returns its number.
    pub fn add(
        &mut self,
        wirings: &[LinkDescription],
        links: &mut LinkSet,
        now: Ps,
        fault: ScenarioFault,
    ) -> Result<u32, String> {
        if self.plan.is_none() {
            self.plan = Some(plan(wirings, links)?);
        }
        if let Some(plan) = &self.plan {
            plan.check_fault(&fault)?;
        }
        self.live.add(now, fault)
    }

    /// Ends faults; returns how many of those that waited, repeated or lasted.
    pub fn end(
        &mut self,
        links: &mut LinkSet,
        now: Ps,
        which: &FaultChoice,
        observer: &mut dyn Observer,
    ) -> usize {
        let (count, changes) = self.live.end(which);
        match which {
            FaultChoice::All => links.iter_mut().for_each(|link| live::restore(&mut **link)),
            FaultChoice::Place(name) => {
                let link = self.plan.as_ref().and_then(|plan| plan.link(name));
                if let Some(link) = link.and_then(|link| links.get_mut(link)) {
                    live::restore(&mut **link);
                }
            }
            FaultChoice::Number(_) => {}
        }
        for change in changes {
            self.change(links, now, &change, observer);
        }
        count
    }

    /// Applies the changes that are due. True if there were any.
    pub fn apply(&mut self, links: &mut LinkSet, now: Ps, observer: &mut dyn Observer) -> bool {
        let mut any = false;
        while let Some(change) = self.live.due(now) {
            self.change(links, now, &change, observer);
            any = true;
        }
        any
    }

    fn change(
        &self,
        links: &mut LinkSet,
        now: Ps,
        FaultChange { fault, begins }: &FaultChange,
        observer: &mut dyn Observer,
    ) {
        let Some(plan) = &self.plan else { return };
        match &fault.what {
            FaultAction::Words { link, direction, lane, target, kind } if *begins => {
                let Some(link) = plan.link(link).and_then(|index| links.get_mut(index)) else {
                    return;
                };
                let fault = WireFault { lane: *lane, target: *target, kind: *kind };
                for from in direction.from() {
                    link.inject(now, *from, fault);
                }
            }
            FaultAction::BitErrorRate { link, direction, lane, rate } => {
                let Some(index) = plan.link(link) else { return };
                let Some(link) = links.get_mut(index) else { return };
                for from in direction.from() {
                    let fault = LastingFault::BitErrorRate { lane: *lane, rate: *rate };
                    let event = EndEvent::Lasting { fault, begins: *begins };
                    let rate = if *begins { *rate } else { 0.0 };
                    link.set_bit_error_rate(*from, *lane, rate);
                    observer.event(now, index as u32, *from, event);
                }
            }
            FaultAction::Command { link, end, command } if *begins => {
                if let Some(link) = plan.link(link).and_then(|index| links.get_mut(index)) {
                    link.end(*end).command(*command);
                }
            }
            FaultAction::Block { node, vc } => {
                tell(plan, node, LastingFault::Blocked { channel: *vc }, *begins, now, observer);
            }
            FaultAction::BabblePort { node, vc } => {
                let fault = LastingFault::Babbling { channel: *vc };
                tell(plan, node, fault, *begins, now, observer);
            }
            // There are no flows and no masters of time-codes; the ports apply EEP.
            FaultAction::Babble { .. }
            | FaultAction::TimeCodeLoss { .. }
            | FaultAction::Eep { .. }
            | FaultAction::Words { .. }
            | FaultAction::Command { .. } => {}
        }
        if !begins
            && let FaultAction::Words { link, .. } = &fault.what
            && let Some(link) = plan.link(link).and_then(|link| links.get_mut(link))
        {
            live::undo_on_wires(&mut **link, now, &fault.what);
        }
    }

    /// The faults that wait, repeat or last.
    pub fn list(&self) -> &[LiveFault] {
        self.live.list()
    }

    /// Time of the next change.
    pub fn next_ps(&self) -> Option<Ps> {
        self.live.next_ps()
    }

    /// Takes the changes at the ports of applications.
    pub fn take_port_changes(&mut self) -> Vec<FaultChange> {
        self.live.take_port_changes()
    }

    /// The link and end of a port by its name.
    pub fn end_of(&self, port: &PortName) -> Option<LinkEnd> {
        let (link, side) = self.plan.as_ref()?.link_at(port)?;
        Some(LinkEnd { link: link as u32, side })
    }
}

/// Reports that a fault at a port begins or ends.
fn tell(
    plan: &Scenario,
    node: &PortName,
    fault: LastingFault,
    begins: bool,
    now: Ps,
    observer: &mut dyn Observer,
) {
    if let Some((link, side)) = plan.link_at(node) {
        observer.event(now, link as u32, side, EndEvent::Lasting { fault, begins });
    }
}
