//! Builds links, nodes and routers from a scenario.

use super::units::{SimulatedRouter, Units};
use super::{Agenda, Simulation};
use crate::foreign::{OpenStream, WantedStream};
use crate::ledger::Ledger;
use crate::link::{Side, SimulatedLink};
use crate::links::LinkSet;
use crate::live::LiveFaults;
use crate::messages::{MessageSource, Relay, Sender, SenderSettings, TimeCodeChannel};
use crate::node::SimulatedNode;
use crate::rdma::{HostileLinks, RdmaUnits, SimulatedQueue, SimulatedRdmaTarget};
use crate::records::Measurements;
use crate::rmap::{RmapUnits, SimulatedInitiator, SimulatedTarget};
use crate::rng;
use crate::router::{Port0, RouterSwitch};
use crate::scenario::link::parts_of_65536;
use crate::scenario::route::RouteFinder;
use crate::scenario::{self, Medium, NodeKind, PortName, Scenario, StartMode, UnitId};
use crate::spacefibre::{self, BufferSizes, SpaceFibreEndConfig};
use crate::spacewire::{self, SpaceWireLink};
use crate::stream::ActiveStream;
use spfe_link::qos;
use std::collections::BTreeMap;
use std::fmt;

/// Why a scenario cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulationError {
    /// The kind and name of the object, such as "link 'a'".
    pub object: String,
    /// Why it cannot be simulated.
    pub reason: String,
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.object, self.reason)
    }
}

impl std::error::Error for SimulationError {}

fn about<T, E: ToString>(
    what: &str,
    name: &str,
    result: Result<T, E>,
) -> Result<T, SimulationError> {
    let error = |error: E| SimulationError {
        object: format!("{what} '{name}'"),
        reason: error.to_string(),
    };
    result.map_err(error)
}

/// Builds all links of a scenario. `open` opens the streams to foreign ends.
pub fn links(
    scenario: &Scenario,
    open: &mut OpenStream<'_>,
) -> Result<Vec<Box<dyn SimulatedLink>>, SimulationError> {
    let of = |(index, link): (usize, &scenario::ScenarioLink)| {
        about("link", &link.name, make_link(scenario, index as u32, link, open))
    };
    scenario.links.iter().enumerate().map(of).collect()
}

fn make_link(
    scenario: &Scenario,
    id: u32,
    link: &scenario::ScenarioLink,
    open: &mut OpenStream<'_>,
) -> Result<Box<dyn SimulatedLink>, String> {
    let seed = rng::stream(scenario.seed, &format!("link {}", link.name)).u64(..);
    match &link.medium {
        Medium::SpaceFibre(settings) => {
            let config = spacefibre_config(scenario, id, link, settings, seed)?;
            let foreign = link.foreign.as_ref().zip(scenario.foreign_side(link));
            let made = match foreign {
                None => spacefibre::new(&config),
                Some((stream, side)) => {
                    let (lanes, rate_bps) = (settings.lanes.into(), link.rate.0);
                    let name = &link.name;
                    let stream = open(&WantedStream { link: name, stream, lanes, rate_bps })?;
                    spacefibre::with_foreign_end(&config, side, stream)
                }
            };
            let mut made = made.map_err(|error| error.to_string())?;
            for side in Side::BOTH {
                for vc in 0..settings.channels {
                    if let Some(parameters) = settings.qos(side, vc) {
                        made.end(side).set_qos(usize::from(vc), parameters);
                    }
                }
            }
            Ok(made)
        }
        Medium::SpaceWire(settings) => {
            let config = spacewire_config(id, link, settings, seed)?;
            let made = SpaceWireLink::new(config).map_err(|error| error.to_string())?;
            Ok(Box::new(made))
        }
    }
}

fn spacewire_config(
    id: u32,
    link: &scenario::ScenarioLink,
    settings: &scenario::SpaceWireSettings,
    seed: u64,
) -> Result<spacewire::SpaceWireConfig, String> {
    let mbps = link.rate.0.div_ceil(1_000_000);
    let mbps = u32::try_from(mbps).map_err(|_| format!("a rate of {mbps} Mbit/s"))?;
    let mut config = spacewire::SpaceWireConfig::new(id, mbps);
    config.delay_ps = link.cable.0;
    config.seed = seed;
    for (end, start) in config.ends.iter_mut().zip(settings.start) {
        end.control.link_start = start == StartMode::Start;
        end.control.auto_start = start == StartMode::Auto;
    }
    Ok(config)
}

fn mask(numbers: &[u8]) -> u32 {
    numbers.iter().fold(0, |mask, number| mask | 1u32.checked_shl((*number).into()).unwrap_or(0))
}

fn spacefibre_config(
    scenario: &Scenario,
    id: u32,
    link: &scenario::ScenarioLink,
    settings: &scenario::SpaceFibreSettings,
    seed: u64,
) -> Result<spacefibre::SpaceFibreConfig, String> {
    let mbps = link.rate.0.div_ceil(1_000_000);
    let mbps = u32::try_from(mbps).map_err(|_| format!("a rate of {mbps} Mbit/s"))?;
    let wide = settings.sending(Side::A).max(settings.sending(Side::B));
    let mut config = spacefibre::SpaceFibreConfig::new(settings.lanes, mbps);
    config.id = id;
    config.max_data_sending = wide;
    config.channels = settings.channels;
    config.delay_ps = link.cable.0;
    config.skew_bits = settings.skew_bits.clone();
    config.scrambled = settings.scramble;
    config.interop = settings.interop.into();
    config.fct_multiplier = settings.fct_multiplier;
    config.segment_multiplier = settings.segment_multiplier;
    let size = |words: Option<u32>| words.map(|words| words as usize);
    config.sizes = BufferSizes {
        output: size(settings.output_words),
        input: size(settings.input_words),
        recovery: size(settings.recovery_words),
    };
    config.qos = qos::QosLimits {
        bandwidth_credit_limit: settings.credit_limit_rows,
        idle_time_limit: settings.idle_limit_rows,
        tie_break: settings.tie_break.into(),
        ..qos::QosLimits::default()
    };
    config.seed = seed;
    for (index, end) in config.ends.iter_mut().enumerate() {
        let ppm = settings.ppm.get(index).copied().unwrap_or(0.0);
        let start = settings.start.get(index).copied().unwrap_or_default();
        let deaf = [&settings.b_to_a_lanes, &settings.a_to_b_lanes];
        let off = |of: usize| deaf.get(of).map_or(0, |lanes| mask(lanes) as u16);
        let unit = link.ends.get(index).and_then(|place| scenario.unit(&place.unit));
        *end = SpaceFibreEndConfig {
            lane_start: start == StartMode::Start,
            auto_start: start != StartMode::Off,
            tx_en: !off(index),
            rx_en: !off(1 - index),
            routing_switch: matches!(unit, Some(UnitId::Router(_))),
            clock_ppb: (ppm * 1000.0).round() as i32,
            continuous_mode: mask(&settings.continuous),
            broadcast_bandwidth: parts_of_65536(settings.broadcast_bandwidth),
        };
    }
    Ok(config)
}

/// Builds the simulation around its links.
pub fn simulation(
    scenario: &Scenario,
    links: Vec<Box<dyn SimulatedLink>>,
) -> Result<Simulation, SimulationError> {
    let seed = scenario.seed;
    let mut ledger = Ledger::new();
    ledger.name_nodes(scenario.nodes.iter().map(|node| &node.name));
    let routes = RouteFinder::new(scenario);
    let mut nodes: Vec<SimulatedNode> =
        (0..scenario.nodes.len()).map(|index| SimulatedNode::new(scenario, index)).collect();
    let mut streams = Vec::new();
    for (index, flow) in scenario.flows.iter().enumerate() {
        let made = about(
            "flow",
            &flow.name,
            ActiveStream::new(scenario, &routes, flow, seed, &mut ledger),
        )?;
        if let Some(UnitId::Node(node)) = scenario.unit(&flow.from.unit)
            && let Some(node) = nodes.get_mut(node)
        {
            node.add_flow(&made, flow.vc, index);
        }
        streams.push(made);
    }
    let mut rmap = RmapUnits::default();
    for (index, node) in scenario.nodes.iter().enumerate() {
        let memory = node.kind == NodeKind::Memory;
        let usual = scenario::TargetSettings {
            bytes: scenario::Size(1 << 20),
            key: 0,
            latency: scenario::Time(0),
        };
        if let Some(target) =
            node.target.or_else(|| (memory && node.rdma.is_none()).then_some(usual))
        {
            let bytes = usize::try_from(target.bytes.0).unwrap_or(usize::MAX);
            if bytes > 1 << 30 {
                return about(
                    "node",
                    &node.name,
                    Err(format!("a target of {bytes} bytes; at most 1 GiB")),
                );
            }
            let unit =
                SimulatedTarget::new(bytes, target.key, node.logical_address, target.latency.0);
            rmap.targets.insert(index as u32, unit);
        }
    }
    for of in &scenario.rmaps {
        let initiator = SimulatedInitiator::new(scenario, &routes, of, seed, &mut ledger);
        rmap.initiators.push(about("rmap", &of.name, initiator)?);
    }
    let rdma = rdma(scenario, &routes)?;
    for (index, node) in scenario.nodes.iter().enumerate() {
        // What a foreign node sends and receives is not accounted for.
        if node.kind == NodeKind::Foreign {
            ledger.hand_over(index as u32);
            nodes[index].hand_over();
        }
    }
    let clock = scenario
        .time_codes
        .as_ref()
        .map(|codes| TimeCodeChannel { channel: codes.channel, b_type: codes.kind });
    let mut routers = Vec::new();
    for (index, router) in scenario.routers.iter().enumerate() {
        let switch = about("router", &router.name, RouterSwitch::new(scenario, index))?;
        let relay = Relay::new(scenario, router, switch.ports(), clock);
        let port0 = Port0::new(router.configuration);
        routers.push(SimulatedRouter { switch, relay, port0, due_ps: 0 });
    }
    let steps = scenario.duration.0.div_ceil(scenario.step_ps()) as usize;
    Ok(Simulation {
        scenario: scenario.clone(),
        records: Measurements::new(links.len(), scenario.events, steps),
        links: LinkSet::new(links, |link| owners(scenario, link)),
        units: Units::new(
            nodes.into_iter().map(Some).collect(),
            routers.into_iter().map(Some).collect(),
            streams.into_iter().map(Some).collect(),
        ),
        rmap,
        rdma,
        senders: senders(scenario)?,
        ledger,
        agenda: Agenda::new(scenario),
        live: LiveFaults::new(scenario.seed),
        open: Default::default(),
        now: 0,
        quantum_ps: scenario.quantum_ps(),
        ended: false,
        shows_words: false,
        threads: Default::default(),
    })
}

/// Builds targets and queue pairs of RDMA.
fn rdma(scenario: &Scenario, routes: &RouteFinder<'_>) -> Result<RdmaUnits, SimulationError> {
    let mut targets = BTreeMap::new();
    for (index, node) in scenario.nodes.iter().enumerate() {
        let Some(file) = &node.rdma else { continue };
        let mut ports = scenario.links.iter().flat_map(|link| &link.ends);
        let Some(port) = ports.find(|port| port.unit == node.name) else { continue };
        let Some((link, side)) = scenario.link_at(port) else { continue };
        let port = ((link, side), scenario.links[link].channels());
        let target = SimulatedRdmaTarget::new(scenario, node, file, port);
        targets.insert(index as u32, about("node", &node.name, target)?);
    }
    let mut queues = Vec::new();
    for (index, rdma) in scenario.rdmas.iter().enumerate() {
        let queue = SimulatedQueue::new(scenario, routes, index, &mut targets);
        queues.push(about("rdma", &rdma.stream.name, queue)?);
    }
    Ok(RdmaUnits {
        targets,
        queues,
        hostile: HostileLinks::new(scenario),
        discarded: BTreeMap::new(),
        spacewire: scenario.links.iter().map(scenario::ScenarioLink::is_spacewire).collect(),
    })
}

/// Numbers of the units at the ends of a link: nodes, and behind them routers.
fn owners(scenario: &Scenario, link: usize) -> [Option<usize>; 2] {
    let number = |unit: UnitId| match unit {
        UnitId::Node(node) => node,
        UnitId::Router(router) => scenario.nodes.len() + router,
    };
    let ends = scenario.links.get(link).map(|link| &link.ends);
    Side::BOTH.map(|side| scenario.unit(&ends?[side as usize].unit).map(number))
}

/// Builds all sources of messages.
fn senders(scenario: &Scenario) -> Result<Vec<Sender>, SimulationError> {
    let place = |name: &str, from: &PortName| {
        let link = scenario.link_at(from).ok_or_else(|| format!("no link at {from}"));
        let link = about("messages of", name, link)?;
        let spacewire = scenario.links.get(link.0).is_some_and(|link| link.is_spacewire());
        Ok((link, spacewire))
    };
    let (nodes, seed) = (scenario.nodes.len(), scenario.seed);
    let mut senders = Vec::new();
    for of in &scenario.broadcasts {
        let (link, spacewire) = place(&of.name, &of.from)?;
        if spacewire {
            let none = Err("SpaceWire has no broadcast messages");
            return about("messages of", &of.name, none);
        }
        let settings = SenderSettings {
            name: &of.name,
            from: &of.from,
            kind: MessageSource::Numbered,
            channel: of.channel,
            b_type: of.kind,
            link,
            spacewire,
            period_ps: of.period.0,
            jitter_ps: of.jitter.0,
            start_ps: of.start.0,
            stop_ps: of.stop.map(|stop| stop.0),
            count: of.count,
        };
        senders.push(Sender::new(&settings, seed, nodes));
    }
    if let Some(of) = &scenario.time_codes {
        let (link, spacewire) = place("time-codes", &of.master)?;
        let settings = SenderSettings {
            name: "time-codes",
            from: &of.master,
            kind: MessageSource::TimeCodes,
            channel: of.channel,
            b_type: of.kind,
            link,
            spacewire,
            period_ps: of.period.0,
            jitter_ps: 0,
            start_ps: of.start.0,
            stop_ps: None,
            count: of.count,
        };
        senders.push(Sender::new(&settings, seed, nodes));
    }
    if let Some((of, source)) =
        scenario.schedule.as_ref().and_then(|of| of.source.as_ref().map(|source| (of, source)))
    {
        let (link, spacewire) = place("schedule", source)?;
        let settings = SenderSettings {
            name: "schedule",
            from: source,
            kind: MessageSource::Slots(of.slots),
            channel: of.channel,
            b_type: of.kind,
            link,
            spacewire,
            period_ps: of.slot.0,
            jitter_ps: 0,
            start_ps: 0,
            stop_ps: None,
            count: None,
        };
        senders.push(Sender::new(&settings, seed, nodes));
    }
    Ok(senders)
}
