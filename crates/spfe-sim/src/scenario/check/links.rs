//! Checks of links.

use super::{Location, ScenarioChecker};
use crate::link::Side;
use crate::scenario::{
    Medium, NodeKind, PortName, ScenarioLink, SpaceFibreSettings, StartMode, UnitId,
};
use crate::time::US;
use spfe_link::datalink::SEGMENT_WORDS;
use spfe_topology::{LinkField, check_channels};
use std::collections::{HashMap, HashSet};

/// Longest delay of a cable: 20 km.
const LONGEST_CABLE: u64 = 100 * US;
/// Maximum size of a buffer in words.
const MOST_WORDS: u32 = 1 << 16;
/// Maximum skew in bits.
const MOST_SKEW: u32 = 1000;

impl ScenarioChecker<'_> {
    pub(super) fn links(&mut self) {
        let scenario = self.scenario;
        self.amount("link", scenario.links.len());
        let links = scenario.links.iter().enumerate();
        self.names(
            links.map(|(index, link)| (Location::list("link", index), "link", link.name.as_str())),
        );
        let mut taken: HashMap<&PortName, &str> = HashMap::new();
        for (index, link) in scenario.links.iter().enumerate() {
            let at = Location::list("link", index);
            for place in &link.ends {
                self.end(at.key("ends"), link, place);
                if let Some(other) = taken.insert(place, &link.name) {
                    let message = format!(
                        "link '{}': port {place} already has the link '{other}'; give another port",
                        link.name
                    );
                    self.problem(at.key("ends"), message);
                }
            }
            self.link(at, link);
            self.foreign(at, link);
            self.hostile(at, link);
        }
    }

    /// Checks that a stream and a foreign node come together.
    fn foreign(&mut self, at: Location, link: &ScenarioLink) {
        let object = format!("link '{}'", link.name);
        let side = self.scenario.foreign_side(link);
        let other = side.and_then(|side| link.ends.get(side.other() as usize));
        let (stream, problem) = match (&link.foreign, side) {
            (None, None) => return,
            (None, Some(_)) => {
                let what = "leads to a foreign node; give it a stream, foreign = \"unix:PATH\"";
                return self.problem(at, format!("{object} {what}"));
            }
            (Some(stream), None) => {
                (stream, Some("has a stream, but no end at a node of kind \"foreign\""))
            }
            (Some(stream), Some(_)) => (stream, None),
        };
        let at = at.key("foreign");
        let two = other.is_some_and(|place| {
            let of = |node: &&crate::scenario::ScenarioNode| node.name == place.unit;
            let node = self.scenario.nodes.iter().find(of);
            node.is_some_and(|node| node.kind == NodeKind::Foreign)
        });
        let medium = match &link.medium {
            Medium::SpaceWire(_) => Some("is SpaceWire; only SpaceFibre links have foreign ends"),
            Medium::SpaceFibre(link) if link.ppm[0] != link.ppm[1] => {
                Some("has two clocks (ppm); a foreign end has the clock of the other end")
            }
            Medium::SpaceFibre(_) => None,
        };
        let both = two.then_some("has two foreign ends; one must be simulated here");
        for problem in problem.into_iter().chain(medium).chain(both) {
            self.problem(at, format!("{object} {problem}"));
        }
        if let Err(error) = stream.check(link.lanes().into()) {
            self.problem(at, format!("{object}: {error}"));
        }
    }

    fn end(&mut self, at: Location, link: &ScenarioLink, place: &PortName) {
        let scenario = self.scenario;
        let object = format!("link '{}'", link.name);
        match scenario.unit(&place.unit) {
            Some(UnitId::Node(_)) => {}
            Some(UnitId::Router(index)) => {
                let ports = scenario.routers.get(index).map_or(0, |router| router.ports);
                if place.port > ports {
                    let message = format!(
                        "{object}: port {} of router '{}' is above {ports}",
                        place.port, place.unit
                    );
                    self.problem(at, message);
                }
            }
            None => {
                let nodes = scenario.nodes.iter().map(|node| &node.name);
                let known = nodes.chain(scenario.routers.iter().map(|router| &router.name));
                self.unknown(at, &object, "node or router", &place.unit, known);
            }
        }
    }

    fn link(&mut self, at: Location, link: &ScenarioLink) {
        let object = format!("link '{}'", link.name);
        self.limits(at, &object, link);
        let cable = crate::scenario::Time(link.cable.0);
        self.time(at.key("cable"), &object, cable, 0..=LONGEST_CABLE);
        let start = match &link.medium {
            Medium::SpaceFibre(spacefibre) => {
                self.spacefibre(at, &object, spacefibre);
                spacefibre.start
            }
            Medium::SpaceWire(spacewire) => spacewire.start,
        };
        if start == [StartMode::Auto; 2] {
            let message =
                format!("{object}: each end waits for the other; let one of them \"start\"");
            self.problem(at.key("start"), message);
        }
    }

    /// Lanes, rate and virtual channels: the limits of every link that is simulated word by word.
    fn limits(&mut self, at: Location, object: &str, link: &ScenarioLink) {
        let rate = link.rate;
        if !rate.0.is_multiple_of(1_000_000) {
            let message = format!("{object}: rate {rate} is not a whole number of Mbit/s");
            self.problem(at.key("rate"), message);
            return;
        }
        let channels = check_channels(link.is_spacewire(), link.channels().into()).err();
        for problem in link.link_rate().problems().into_iter().chain(channels) {
            let key = match problem.field {
                LinkField::Lanes => "lanes",
                LinkField::Rate => "rate",
                LinkField::Channels => "channels",
            };
            self.problem(at.key(key), format!("{object}: {}", problem.text));
        }
    }

    fn spacefibre(&mut self, at: Location, object: &str, link: &SpaceFibreSettings) {
        if let Some(sending) = link.sending_lanes {
            self.range(at.key("sending-lanes"), object, sending, 1..=link.lanes.max(1));
        }
        self.one_way(at, object, link);
        for ppm in link.ppm {
            self.range(at.key("ppm"), object, ppm, -100.0..=100.0);
        }
        if link.skew_bits.len() > usize::from(link.lanes) {
            let message = format!(
                "{object}: {} values of skew-bits for {} lanes; leave some out",
                link.skew_bits.len(),
                link.lanes
            );
            self.problem(at.key("skew-bits"), message);
        }
        for &bits in &link.skew_bits {
            self.range(at.key("skew-bits"), object, bits, 0..=MOST_SKEW);
        }
        if let Some(fct) = link.fct_multiplier {
            self.range(at.key("fct-multiplier"), object, fct, 1..=8);
        }
        if let Some(segment) = link.segment_multiplier {
            self.range(at.key("segment-multiplier"), object, segment, 1..=link.lanes.clamp(1, 16));
        }
        self.buffers(at, object, link);
        let share = link.broadcast_bandwidth.0;
        self.range(at.key("broadcast-bandwidth"), object, share, 0.0..=1.0);
        self.range(at.key("credit-limit-rows"), object, link.credit_limit_rows, 64..=1 << 24);
        self.channels(at, object, link);
    }

    fn one_way(&mut self, at: Location, object: &str, link: &SpaceFibreSettings) {
        let mut lanes = HashSet::new();
        for &lane in link.a_to_b_lanes.iter().chain(&link.b_to_a_lanes) {
            let at = at.key(if link.a_to_b_lanes.contains(&lane) {
                "a-to-b-lanes"
            } else {
                "b-to-a-lanes"
            });
            if lane >= link.lanes {
                let message =
                    format!("{object}: lane {lane} does not exist: it has {} lanes", link.lanes);
                self.problem(at, message);
            }
            if !lanes.insert(lane) {
                let message = format!("{object}: lane {lane} is named twice; leave one out");
                self.problem(at, message);
            }
        }
        if lanes.len() >= usize::from(link.lanes) && !lanes.is_empty() {
            let message =
                format!("{object}: every lane is unidirectional; at least one must work both ways");
            self.problem(at.key("lanes"), message);
        }
    }

    fn buffers(&mut self, at: Location, object: &str, link: &SpaceFibreSettings) {
        let segment = SEGMENT_WORDS as u32 * u32::from(link.segment_multiplier());
        let fct = SEGMENT_WORDS as u32 * u32::from(link.fct_multiplier());
        for (key, words, least) in [
            ("output-words", link.output_words, segment),
            ("input-words", link.input_words, segment + fct),
            ("recovery-words", link.recovery_words, segment),
        ] {
            if let Some(words) = words
                && !(words.is_power_of_two() && (least..=MOST_WORDS).contains(&words))
            {
                let message = format!(
                    "{object}: {key} {words} is not a power of two from {least} to {MOST_WORDS}"
                );
                self.problem(at.key(key), message);
            }
        }
    }

    /// Checks settings of single virtual channels.
    fn channels(&mut self, at: Location, object: &str, link: &SpaceFibreSettings) {
        let qos = link.qos.iter().map(|qos| ("qos", qos.vc));
        let continuous = link.continuous.iter().map(|vc| ("continuous", *vc));
        for (key, vc) in qos.chain(continuous) {
            if vc >= link.channels {
                let message = format!(
                    "{object}: {key}: virtual channel {vc} does not exist: it has {}",
                    link.channels
                );
                self.problem(at.key(key), message);
            }
        }
        let mut seen = HashSet::new();
        for qos in &link.qos {
            let at = at.key("qos");
            let object = format!("{object}: virtual channel {}", qos.vc);
            let mut twice = |side: &Side| !seen.insert((qos.vc, *side));
            if qos.direction.from().iter().filter(|side| twice(side)).count() > 0 {
                self.problem(
                    at,
                    format!("{object} has two qos entries for one direction; leave one out"),
                );
            }
            if let Some(priority) = qos.priority.filter(|priority| *priority > 15) {
                self.problem(at, format!("{object}: priority {priority} is not in 0 to 15"));
            }
            if let Some(share) = qos.bandwidth.filter(|share| !(0.0..=1.0).contains(&share.0)) {
                self.problem(at, format!("{object}: bandwidth {} is not in 0 to 1", share.0));
            }
        }
    }
}
