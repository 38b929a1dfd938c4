//! The end of a simulation, and its results.

use super::Simulation;
use super::units::SimulatedRouter;
use crate::link::Side;
use crate::results::{self, Conservation, PortDropCount, Results};
use std::collections::BTreeMap;

impl Simulation {
    /// Whether the network is empty: every packet has arrived or was discarded.
    pub fn is_drained(&mut self) -> bool {
        self.links.is_drained() && self.units.are_empty()
    }

    /// Measurements so far. Packets in the network count as in flight. If the network is empty,
    /// packets that did not arrive count as lost.
    pub fn results(&mut self) -> Results {
        if !self.ended {
            let drained = self.is_drained();
            self.ledger.finish(self.now, drained);
            self.ended = drained;
        }
        let scenario = &self.scenario;
        let step_ps = scenario.step_ps();
        let steps = self.now.div_ceil(step_ps) as usize;
        let full = self.now / step_ps;
        self.links.wake_all();
        self.records.sample(self.links.as_they_are(), full as usize);
        let (mut events, events_left_out) = self.records.events();
        for event in &mut events {
            let link = event.link.and_then(|link| scenario.links.get(link as usize));
            event.link_name = link.map(|link| link.name.clone());
            let end = link.and_then(|link| link.ends.get(usize::from(event.end)));
            event.end_name = end.map(ToString::to_string);
        }
        let packets = (0..self.ledger.tracks().count()).map(|track| self.ledger.totals(track).sent);
        let packets = packets.sum();
        let violations: Vec<String> =
            self.ledger.violations().iter().map(ToString::to_string).collect();
        let left_out = self.ledger.violation_count() - violations.len() as u64;
        Results {
            version: results::VERSION,
            title: scenario.title.clone(),
            description: scenario.description.clone(),
            scenario: String::new(),
            seed: scenario.seed,
            duration_ps: self.now,
            step_ps,
            words: self.links.words(),
            links: self.link_results(steps),
            flows: self
                .units
                .streams
                .iter()
                .flatten()
                .zip(&self.scenario.flows)
                .map(|(flow, of)| flow.results(&self.scenario, of, &self.ledger, steps))
                .collect(),
            rmaps: self.rmap.initiators.iter().map(|initiator| initiator.results()).collect(),
            rdmas: self.rdma.queues.iter().map(|queue| queue.results()).collect(),
            hostile: self.rdma.hostile.results(&self.scenario),
            broadcasts: self.senders.iter().map(|sender| sender.results()).collect(),
            routers: self.router_results(),
            nodes: self.node_results(),
            faults: self
                .scenario
                .faults
                .iter()
                .enumerate()
                .map(|(index, fault)| results::FaultResults {
                    name: fault.name.clone(),
                    times: self.agenda.times(index),
                })
                .collect(),
            events,
            events_left_out,
            conservation: Conservation {
                kept: self.ledger.violation_count() == 0,
                packets,
                violations,
                left_out,
            },
        }
    }

    fn link_results(&mut self, steps: usize) -> Vec<results::LinkResults> {
        let mut all = Vec::new();
        for (index, (link, of)) in self.links.as_they_are().zip(&self.scenario.links).enumerate() {
            let item_bits = if of.is_spacewire() { N_CHAR_BITS } else { WORD_BITS };
            let words_in = |ps: u64, lanes: u8| {
                of.rate.0 as f64 * f64::from(lanes) * ps as f64 * 1e-12 / item_bits
            };
            let lanes = |side: Side| match &of.medium {
                crate::scenario::Medium::SpaceFibre(link) => link.sending(side),
                crate::scenario::Medium::SpaceWire(_) => 1,
            };
            let counters: [BTreeMap<String, u64>; 2] = Side::BOTH.map(|side| {
                let named = link.end(side).counters().named;
                named.into_iter().map(|(name, count)| (name.to_string(), count)).collect()
            });
            let directions = Side::BOTH.map(|side| {
                let mut channels = self.records.channels(index, side);
                for channel in &mut channels {
                    channel.series.resize(steps, 0);
                }
                let data_words: u64 = channels.iter().map(|channel| channel.words).sum();
                let all = words_in(self.now, lanes(side));
                let used = data_words as f64 - short_markers(&counters[side as usize]);
                let mix = if used > 0.0 { data_words as f64 / used } else { 1.0 };
                results::DirectionResults {
                    capacity_words: words_in(self.scenario.step_ps(), lanes(side)) * mix,
                    channels,
                    data_words,
                    utilisation: if all > 0.0 { used.max(0.0) / all } else { 0.0 },
                }
            });
            let [recovery_after_error, recovery_after_cut] = self.records.recoveries(index);
            all.push(results::LinkResults {
                name: of.name.clone(),
                kind: if of.is_spacewire() { "spacewire" } else { "spacefibre" }.into(),
                ends: [of.ends[0].to_string(), of.ends[1].to_string()],
                lanes: of.lanes().into(),
                rate_bps: of.rate.0,
                words: link.words(),
                directions,
                counters,
                lane_states: self.records.lane_states(index),
                recovery_after_error,
                recovery_after_cut,
            });
        }
        all
    }

    fn router_results(&self) -> Vec<results::RouterResults> {
        let of = |(router, of): (&SimulatedRouter, &crate::scenario::ScenarioRouter)| {
            let drop =
                |((port, vc, reason), packets): (&(u8, u8, &'static str), &u64)| PortDropCount {
                    port: (*port).into(),
                    vc: (*vc).into(),
                    reason: (*reason).to_string(),
                    packets: *packets,
                };
            let mut counters: BTreeMap<String, u64> = BTreeMap::new();
            for (name, count) in router.relay.counters() {
                counters.insert(name.into(), count);
            }
            for (name, count) in router.port0.counters() {
                counters.insert(name.into(), count);
            }
            let [received, sent, eeps] = router.switch.packets();
            counters.insert("packets received".into(), received);
            counters.insert("packets sent".into(), sent);
            counters.insert("EEPs received".into(), eeps);
            results::RouterResults {
                name: of.name.clone(),
                counters,
                drops: router.switch.drops.iter().map(drop).collect(),
            }
        };
        self.units.routers.iter().flatten().zip(&self.scenario.routers).map(of).collect()
    }

    fn node_results(&self) -> Vec<results::NodeResults> {
        let all = self.units.nodes.iter().flatten().zip(&self.scenario.nodes).enumerate();
        all.map(|(index, (node, of))| {
            let [sent, received, truncated] = node.tallies();
            let mut counters = BTreeMap::new();
            if let Some(target) = self.rmap.targets.get(&(index as u32)) {
                for (name, count) in target.counters() {
                    counters.insert(name.to_string(), count);
                }
            }
            if let Some(target) = self.rdma.targets.get(&(index as u32)) {
                counters.extend(target.counters());
            }
            if let Some(count) = self.rdma.discarded.get(&(index as u32)) {
                counters.insert("RDMA packets discarded".to_owned(), *count);
            }
            results::NodeResults { name: of.name.clone(), sent, received, truncated, counters }
        })
        .collect()
    }
}

/// Bits of a word on a lane, and of a data character of SpaceWire.
const WORD_BITS: f64 = 40.0;
const N_CHAR_BITS: f64 = 10.0;

/// What the end markers of a SpaceWire direction are shorter than data characters, in data
/// characters: 4 bits instead of 10. 0 for SpaceFibre.
fn short_markers(counters: &BTreeMap<String, u64>) -> f64 {
    let sent = |name: &str| counters.get(name).copied().unwrap_or(0) as f64;
    (sent("EOPs sent") + sent("EEPs sent")) * (1.0 - 4.0 / N_CHAR_BITS)
}
