//! Faults that are given while the simulation runs.

use super::Simulation;
use crate::link::Observer;
use crate::live::{self, FaultChange, FaultChoice, LiveFault};
use crate::scenario::{FaultAction, ScenarioFault};

impl Simulation {
    /// Adds a fault whose times count from now, and returns its number.
    ///
    /// # Errors
    ///
    /// What is wrong with the fault, or there are too many.
    pub fn add_fault(&mut self, fault: ScenarioFault) -> Result<u32, String> {
        self.scenario.check_fault(&fault)?;
        if let FaultAction::BabblePort { node, .. } | FaultAction::Eep { node, .. } = &fault.what
            && !self.is_attached(&node.unit)
        {
            return Err(format!(
                "fault '{}': '{}' is not an endpoint of applications",
                fault.name, node.unit
            ));
        }
        self.live.add(self.now, fault)
    }

    fn is_attached(&self, node: &str) -> bool {
        let index = self.scenario.nodes.iter().position(|of| of.name == node);
        let node = index.and_then(|index| self.units.nodes.get(index)?.as_ref());
        node.is_some_and(|node| node.is_attached())
    }

    /// Ends faults given with [`Simulation::add_fault`], and for a link or all faults also those that
    /// wait for a word. Returns their number.
    pub fn end_faults(&mut self, which: &FaultChoice, observer: &mut dyn Observer) -> usize {
        let (count, changes) = self.live.end(which);
        match which {
            FaultChoice::All => self.links.iter_mut().for_each(|link| live::restore(&mut **link)),
            FaultChoice::Place(name) => {
                let link = self.scenario.link(name).and_then(|link| self.links.get_mut(link));
                if let Some(link) = link {
                    live::restore(&mut **link);
                }
            }
            FaultChoice::Number(_) => {}
        }
        for change in changes {
            self.change(&change, observer);
        }
        count
    }

    /// Packets that routers discarded or cut, by router, port, virtual channel and reason.
    pub fn router_drops(&self) -> impl Iterator<Item = (&str, u8, u8, &'static str, u64)> {
        let routers = self.units.routers.iter().flatten().zip(&self.scenario.routers);
        routers.flat_map(|(router, of)| {
            let drops = router.switch.drops.iter();
            drops.map(|((port, vc, reason), packets)| (&*of.name, *port, *vc, *reason, *packets))
        })
    }

    /// The faults that wait, repeat or last.
    pub fn live_faults(&self) -> &[LiveFault] {
        self.live.list()
    }

    /// Takes the changes of faults at the ports of applications.
    pub fn take_port_changes(&mut self) -> Vec<FaultChange> {
        self.live.take_port_changes()
    }

    /// Applies the changes that are due. True if there were any.
    pub fn apply_faults(&mut self, observer: &mut dyn Observer) -> bool {
        let mut any = false;
        while let Some(change) = self.live.due(self.now) {
            self.change(&change, observer);
            any = true;
        }
        any
    }

    fn change(&mut self, FaultChange { fault, begins }: &FaultChange, observer: &mut dyn Observer) {
        if *begins {
            self.do_fault(fault, observer);
        } else {
            if let FaultAction::Words { link, .. } = &fault.what
                && let Some(link) = self.scenario.link(link).and_then(|of| self.links.get_mut(of))
            {
                live::undo_on_wires(&mut **link, self.now, &fault.what);
            }
            self.last(fault, false, observer);
        }
    }
}
