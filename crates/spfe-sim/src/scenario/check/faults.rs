//! Checks of faults.

use super::{LONGEST_PS, Location, ScenarioChecker};
use crate::fault::{EndCommand, FOREVER, FaultKind, FaultTarget};
use crate::scenario::{FaultAction, FaultTiming, ScenarioFault, ScenarioLink};

/// Maximum length of a burst, and maximum skew, in bits.
const MOST_BITS: u32 = 100_000;

impl<'a> ScenarioChecker<'a> {
    pub(super) fn faults(&mut self) {
        let scenario = self.scenario;
        self.amount("fault", scenario.faults.len());
        for (index, fault) in scenario.faults.iter().enumerate() {
            let at = Location::list("fault", index);
            self.fault(at, fault);
            if fault.is_live_only() {
                let message = format!(
                    "fault '{}': it needs an application at the port; use spfe fault",
                    fault.name
                );
                self.problem(at.key("what"), message);
            }
        }
    }

    pub(super) fn fault(&mut self, at: Location, fault: &ScenarioFault) {
        let object = format!("fault '{}'", fault.name);
        let scenario = self.scenario;
        match &fault.what {
            FaultAction::Words { link, lane, target, kind, .. } => {
                if let Some(link) = self.fault_link(at, &object, link) {
                    self.lane(at, &object, link, *lane);
                    self.kind(at, &object, link, *target, *kind);
                }
            }
            FaultAction::BitErrorRate { link, lane, rate, .. } => {
                if let Some(link) = self.fault_link(at, &object, link) {
                    self.lane(at, &object, link, *lane);
                }
                self.range(at.key("rate"), &object, *rate, 0.0..=0.5);
            }
            FaultAction::Command { link, command, .. } => {
                let Some(link) = self.fault_link(at, &object, link) else { return };
                if let EndCommand::LaneReset(lane) = command {
                    self.lane(at, &object, link, *lane);
                }
            }
            FaultAction::Babble { flow } => {
                if !scenario.flows.iter().any(|known| known.name == *flow) {
                    let known = scenario.flows.iter().map(|flow| &flow.name);
                    self.unknown(at.key("flow"), &object, "flow", flow, known);
                }
            }
            FaultAction::BabblePort { node, vc } | FaultAction::Eep { node, vc } => {
                self.channel(at.key("node"), &object, node, *vc);
            }
            FaultAction::Block { node, vc } => {
                self.channel(at.key("node"), &object, node, vc.unwrap_or(0));
            }
            FaultAction::TimeCodeLoss { node } => {
                let master = scenario.time_codes.as_ref().map(|codes| &codes.master.unit);
                if master != Some(&node.unit) {
                    let message = format!("{object}: '{}' is not the time-code master", node.unit);
                    self.problem(at.key("node"), message);
                }
            }
        }
        self.when(at, &object, &fault.when);
    }

    fn fault_link(&mut self, at: Location, object: &str, name: &str) -> Option<&'a ScenarioLink> {
        let scenario = self.scenario;
        let link = scenario.link(name).and_then(|index| scenario.links.get(index));
        if link.is_none() {
            let known = scenario.links.iter().map(|link| &link.name);
            self.unknown(at.key("link"), object, "link", name, known);
        }
        link
    }

    fn lane(&mut self, at: Location, object: &str, link: &ScenarioLink, lane: Option<u8>) {
        if let Some(lane) = lane.filter(|lane| *lane >= link.lanes()) {
            let message = format!(
                "{object}: lane {lane} does not exist: link '{}' has {}",
                link.name,
                link.lanes()
            );
            self.problem(at.key("lane"), message);
        }
    }

    fn kind(
        &mut self,
        at: Location,
        object: &str,
        link: &ScenarioLink,
        target: FaultTarget,
        kind: FaultKind,
    ) {
        match kind {
            FaultKind::Burst { bits } => self.range(at.key("bits"), object, bits, 1..=MOST_BITS),
            FaultKind::Skew { bits } => {
                self.range(at.key("bits"), object, bits.unsigned_abs(), 1..=MOST_BITS);
            }
            FaultKind::Cut { duration_ps: FOREVER }
            | FaultKind::Stuck { duration_ps: FOREVER, .. } => {}
            FaultKind::Cut { duration_ps } | FaultKind::Stuck { duration_ps, .. } => {
                let duration = crate::scenario::Time(duration_ps);
                self.time(at.key("duration"), object, duration, 1..=LONGEST_PS);
            }
            _ => {}
        }
        let spacewire = link.is_spacewire();
        let no_fault = matches!(
            kind,
            FaultKind::Reorder
                | FaultKind::PolaritySwap
                | FaultKind::Skew { .. }
                | FaultKind::Stuck { .. }
                | FaultKind::Delay { .. }
        );
        let no_word = !if spacewire { target.is_spacewire() } else { target.is_spacefibre() };
        let medium = if spacewire { "SpaceWire" } else { "SpaceFibre" };
        for (key, what, strange) in
            [("what", "fault", spacewire && no_fault), ("word", "word", no_word)]
        {
            if strange {
                let message = format!(
                    "{object}: link '{}' is {medium}, which does not have this {what}; give another",
                    link.name
                );
                self.problem(at.key(key), message);
            }
        }
    }

    fn when(&mut self, at: Location, object: &str, when: &FaultTiming) {
        match *when {
            FaultTiming::At(time) => self.time(at.key("at"), object, time, 0..=LONGEST_PS),
            FaultTiming::Every { period, from, until, random, .. } => {
                self.interval(at.key(if random { "random" } else { "every" }), object, period);
                self.window(at.key("until"), object, from, until);
            }
            FaultTiming::During { from, until } => {
                self.window(at.key("until"), object, from, until)
            }
        }
    }
}
