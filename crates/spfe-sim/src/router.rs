//! Routers: the routing switch of [`spfe_link::network`] between ends of links.
//!
//! In each step, words move from input buffers of links to output buffers until none can move. Up
//! to [`BURST`] words of each input are read ahead of the switch.

mod engine;
mod port;
mod registers;

pub use registers::Port0;

use crate::link::Side;
use crate::links::Links;
use crate::reports::{DiscardNote, Reports};
use crate::scenario::{self, PortName, Scenario};
use crate::time::Ps;
use engine::Engine;
use port::{Exchange, LinkSummary, RouterPort};
use spfe_link::network::router::SwitchPortConfig;
use spfe_link::network::{NETWORKS, RoutingTable};
use std::collections::BTreeMap;

/// Words read ahead from an input buffer of a link.
pub const BURST: usize = 64;

/// The packet switch of a router.
pub struct RouterSwitch {
    index: u32,
    engine: Box<dyn Engine>,
    table: Box<RoutingTable<NETWORKS>>,
    ports: Vec<RouterPort>,
    has_timeouts: bool,
    /// Packets discarded at each port when its error register was cleared.
    cleared: Vec<u64>,
    spilled: Vec<DiscardNote>,
    /// Discarded packets by port, virtual channel and reason.
    pub drops: BTreeMap<(u8, u8, &'static str), u64>,
}

impl RouterSwitch {
    /// Builds a router of a scenario.
    pub fn new(scenario: &Scenario, index: usize) -> Result<Self, String> {
        let settings = scenario.routers.get(index).ok_or("no such router")?;
        let name = &settings.name;
        let mut ports = vec![RouterPort::inner()];
        for number in 1..=settings.ports {
            let place = PortName { unit: name.clone(), port: number };
            let found = scenario.link_at(&place);
            let link = found.and_then(|(link, _)| scenario.links.get(link));
            let line = link.map(|link| LinkSummary {
                spacewire: link.is_spacewire(),
                lanes: link.lanes(),
                mbps: (link.rate.0 / 1_000_000) as u32,
            });
            let channels = link.map_or(0, |link| link.channels());
            let mut port = RouterPort::new(found, line, channels.into());
            if let (Some((_, side)), Some(link)) = (found, link) {
                port.begin(link, side);
            }
            ports.push(port);
        }
        let most = ports.iter().map(RouterPort::channels).max().unwrap_or(1);
        let mut engine = engine::new(ports.len(), most)?;
        engine.limit_ports(ports.len());
        for (number, port) in ports.iter().enumerate().skip(1) {
            for vc in 1..port.channels() {
                let network = settings.network_of(number as u8, vc as u8);
                engine.map(number, vc, network).map_err(|error| {
                    format!("{name}:{number}: virtual channel {vc} for virtual network {network:?}: {error:?}")
                })?;
            }
        }
        let ns = |time: Option<scenario::Time>| time.map(|time| time.0 / 1000);
        let (mut has_timeouts, cleared) = (false, vec![0; ports.len()]);
        for port in 0..ports.len() {
            let own = settings.settings.iter().find(|own| usize::from(own.port) == port);
            let of = SwitchPortConfig {
                packet_timeout_ns: ns(own
                    .and_then(|own| own.packet_timeout)
                    .or(settings.packet_timeout)),
                wait_timeout_ns: ns(own.and_then(|own| own.wait_timeout).or(settings.wait_timeout)),
                priority: own.is_some_and(|own| own.priority),
            };
            has_timeouts |= of.packet_timeout_ns.is_some() || of.wait_timeout_ns.is_some();
            engine.set(port, of);
        }
        Ok(Self {
            index: index as u32,
            engine,
            table: table(settings)?,
            ports,
            has_timeouts,
            cleared,
            spilled: Vec::new(),
            drops: BTreeMap::new(),
        })
    }

    /// Moves words until none can move. True if any did.
    pub fn exchange(&mut self, now: Ps, links: &mut dyn Links, reports: &mut dyn Reports) -> bool {
        let mut any = false;
        loop {
            let mut waits = false;
            for port in &mut self.ports {
                waits |= port.refill(now, links, reports);
            }
            if !waits && !self.has_timeouts && self.engine.is_idle() {
                return any;
            }
            let mut exchange =
                Exchange { ports: &mut self.ports, links, spilled: &mut self.spilled };
            let moved = self.engine.step(now / 1000, &self.table, &mut exchange);
            for port in &mut self.ports {
                port.flush(links);
            }
            for spilled in std::mem::take(&mut self.spilled) {
                self.count(&spilled);
                reports.discarded(now, self.index, spilled);
            }
            if moved == 0 {
                return any;
            }
            any = true;
        }
    }

    /// Counts a packet that the switch has discarded.
    fn count(&mut self, spilled: &DiscardNote) {
        if let DiscardNote::Reported(dropped) = spilled {
            let place = (dropped.port, dropped.vc, crate::ledger::reason_name(dropped.reason));
            *self.drops.entry(place).or_default() += 1;
        }
    }

    /// Sets time-outs and priority of a port.
    fn set(&mut self, port: usize, settings: SwitchPortConfig) {
        self.has_timeouts |=
            settings.packet_timeout_ns.is_some() || settings.wait_timeout_ns.is_some();
        self.engine.set(port, settings);
    }

    /// Packets received and sent, and EEPs received, at ports 1 and up.
    pub fn packets(&self) -> [u64; 3] {
        let of = |port: usize| self.engine.counters(port);
        let counters = (1..self.ports.len()).filter_map(of);
        counters.fold([0; 3], |[received, sent, eeps], of| {
            let eeps = eeps + of.received.eeps;
            [received + of.received.packets, sent + of.sent.packets, eeps]
        })
    }

    /// End of the first time-out.
    pub fn deadline_ps(&self) -> Option<Ps> {
        if self.has_timeouts { self.engine.deadline_ns().map(|ns| (ns + 1) * 1000) } else { None }
    }

    /// Whether it holds no word.
    pub fn is_empty(&self) -> bool {
        self.engine.is_idle() && self.ports.iter().all(RouterPort::is_empty)
    }

    /// Ports with a link: number, link, and the router's end of it.
    pub fn ports(&self) -> impl Iterator<Item = (u8, usize, Side)> {
        let link = |(number, port): (usize, &RouterPort)| {
            port.link.map(|(link, side)| (number as u8, link, side))
        };
        self.ports.iter().enumerate().filter_map(link)
    }

    /// Whether packets have brought words to the configuration port.
    pub fn has_configuration_words(&self) -> bool {
        self.ports.first().is_some_and(|port| port.has_configuration_words())
    }

    /// Takes words that packets brought to the configuration port.
    pub fn take_configuration_words(&mut self) -> Vec<spfe_link::Word> {
        self.ports.first_mut().map(RouterPort::take_configuration_words).unwrap_or_default()
    }

    /// Queues words of packets that the configuration port sends.
    pub fn give_configuration_words(&mut self, words: &[spfe_link::Word]) {
        if let Some(port) = self.ports.first_mut() {
            port.give_configuration_words(words);
        }
    }
}

/// Builds the routing tables, one for each virtual network.
fn table(router: &scenario::ScenarioRouter) -> Result<Box<RoutingTable<NETWORKS>>, String> {
    let mut table = Box::new(RoutingTable::new());
    for network in 0..NETWORKS as u8 {
        table.use_table(network, network).map_err(|error| format!("{error:?}"))?;
    }
    for entry in &router.entries {
        let all: Vec<u8> = (0..NETWORKS as u8).collect();
        for &network in entry.networks.as_ref().unwrap_or(&all) {
            table.set(network, entry.address, Some(entry.forwarding())).map_err(|error| {
                format!("router '{}': entry for address {}: {error:?}", router.name, entry.address)
            })?;
        }
    }
    Ok(table)
}
