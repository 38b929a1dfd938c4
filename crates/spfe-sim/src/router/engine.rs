//! Routing switches of several sizes behind one interface.

use super::port::Exchange;
use spfe_link::network::counters::SwitchPortCounters;
use spfe_link::network::router::{SwitchPortConfig, VirtualNetworkError};
use spfe_link::network::{NETWORKS, RoutingSwitch, RoutingTable};

/// A routing switch of any size.
pub trait Engine: Send {
    fn limit_ports(&mut self, ports: usize);
    fn set(&mut self, port: usize, settings: SwitchPortConfig);
    fn settings(&self, port: usize) -> Option<SwitchPortConfig>;
    fn network(&self, port: usize, vc: usize) -> Option<u8>;
    fn counters(&self, port: usize) -> Option<&SwitchPortCounters>;
    fn map(
        &mut self,
        port: usize,
        vc: usize,
        network: Option<u8>,
    ) -> Result<(), VirtualNetworkError>;
    fn step(
        &mut self,
        now_ns: u64,
        table: &RoutingTable<NETWORKS>,
        ports: &mut Exchange<'_>,
    ) -> usize;
    fn is_idle(&self) -> bool;
    fn deadline_ns(&self) -> Option<u64>;
}

impl<const P: usize, const V: usize> Engine for RoutingSwitch<P, V> {
    fn limit_ports(&mut self, ports: usize) {
        Self::limit_ports(self, ports);
    }

    fn set(&mut self, port: usize, settings: SwitchPortConfig) {
        Self::set(self, port, settings);
    }

    fn settings(&self, port: usize) -> Option<SwitchPortConfig> {
        Self::settings(self, port)
    }

    fn network(&self, port: usize, vc: usize) -> Option<u8> {
        Self::network(self, port, vc)
    }

    fn counters(&self, port: usize) -> Option<&SwitchPortCounters> {
        Self::counters(self, port)
    }

    fn map(
        &mut self,
        port: usize,
        vc: usize,
        network: Option<u8>,
    ) -> Result<(), VirtualNetworkError> {
        Self::map(self, port, vc, network)
    }

    fn step(
        &mut self,
        now_ns: u64,
        table: &RoutingTable<NETWORKS>,
        ports: &mut Exchange<'_>,
    ) -> usize {
        Self::step(self, now_ns, table, ports)
    }

    fn is_idle(&self) -> bool {
        Self::is_idle(self)
    }

    fn deadline_ns(&self) -> Option<u64> {
        Self::deadline_ns(self)
    }
}

/// A switch with at least this many ports, including the configuration port, and virtual channels.
pub fn new(ports: usize, channels: usize) -> Result<Box<dyn Engine>, String> {
    Ok(match (ports, channels) {
        (..=8, ..=8) => Box::new(RoutingSwitch::<8, 8>::new()),
        (..=8, ..=32) => Box::new(RoutingSwitch::<8, 32>::new()),
        (..=16, ..=8) => Box::new(RoutingSwitch::<16, 8>::new()),
        (..=32, ..=8) => Box::new(RoutingSwitch::<32, 8>::new()),
        (..=32, ..=32) => Box::new(RoutingSwitch::<32, 32>::new()),
        _ => return Err(format!("{ports} ports of {channels} virtual channels; at most 32 of 32")),
    })
}
