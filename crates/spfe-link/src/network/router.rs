//! Wormhole switching (50-11C 5.8, 50-12C 5.6.8): addressing, arbitration, time-outs.
//!
//! Every virtual network is a switch of its own: packets of different virtual networks share
//! nothing.
//!
//! *Arbitration.* Packets with priority go before all others. Among equals, the packet that has
//! waited longer goes first, and inputs take turns for packets of the same step. Since each input
//! has at most one waiting packet, this is round robin among the inputs. A multicast waits until
//! all its ports are free. Once it is first in line, its free ports are reserved, so that later
//! packets cannot starve it.
//!
//! *Deadlock.* A waiting packet holds no output, so unicast packets on a tree always make progress.
//! Crossing multicasts and loops can block each other, as in any wormhole network; the packet
//! time-out ends this.

use super::counters::SwitchPortCounters;
use super::forward::forward;
use super::ports::{DiscardReason, DiscardedPacket, SwitchPorts};
use super::table::{RouteLookup, RoutingEntry};
use super::unit::PacketUnit;
use super::{MAX_PORTS, NETWORKS, bits_of};

const NONE: u16 = u16::MAX;
const UNMAPPED: u8 = u8::MAX;
const FIRST_LOGICAL: u8 = super::table::FIRST;

/// Time-outs and priority of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchPortConfig {
    /// A packet from this port that has not moved for this time is cut; `None`: never.
    pub packet_timeout_ns: Option<u64>,
    /// A packet from this port that has waited for an output for this time is discarded; `None`:
    /// never.
    pub wait_timeout_ns: Option<u64>,
    /// Packets with the path address of this port have priority.
    pub priority: bool,
}

/// Reason why a virtual channel cannot be assigned to a virtual network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VirtualNetworkError {
    /// The port, virtual channel or virtual network does not exist.
    Range,
    /// Virtual channel 0 and virtual network 0 always belong together.
    Fixed,
    /// Another virtual channel of this port has the virtual network.
    Taken,
    /// A packet is in progress.
    Busy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Between packets.
    Idle,
    /// A packet waits for its outputs.
    Waiting,
    /// A packet moves to its outputs.
    Moving,
    /// The rest of a packet is being thrown away.
    Spilling,
}

#[derive(Clone, Copy, Debug)]
struct Input {
    phase: Phase,
    network: u8,
    /// Waiting: the ports that the packet may or must get. Moving: the ports that it has.
    targets: u32,
    multicast: bool,
    /// The address has still to be removed.
    delete: bool,
    /// A unit of the packet has been sent.
    sent: bool,
    /// Time at which the packet began to wait, or last moved.
    since_ns: u64,
    /// Next input in the list of waiting inputs.
    next: u16,
}

impl Input {
    const IDLE: Self = Self {
        phase: Phase::Idle,
        network: 0,
        targets: 0,
        multicast: false,
        delete: false,
        sent: false,
        since_ns: 0,
        next: NONE,
    };
}

/// List of waiting inputs, in order of arrival.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u16,
    last: u16,
}

/// A routing switch with `P` ports, including the configuration port, and `V` virtual channels per
/// port.
#[derive(Clone, Debug)]
pub struct RoutingSwitch<const P: usize, const V: usize> {
    /// Mask of ports that exist: all `P` unless limited.
    exists: u32,
    settings: [SwitchPortConfig; P],
    /// Virtual network of each virtual channel, and the reverse map.
    network_of: [[u8; V]; P],
    vc_of: [[u8; NETWORKS]; P],
    inputs: [[Input; V]; P],
    /// Waiting inputs with priority, and without.
    waiting: [List; 2],
    /// For each virtual network, mask of the ports that a packet has.
    busy: [u32; NETWORKS],
    /// For each virtual network, mask of the ports that only wait for room for an EEP.
    closing: [u32; NETWORKS],
    /// Mask of virtual networks with such ports.
    closing_networks: u64,
    /// Port with which the next step begins.
    turn: usize,
    counters: [SwitchPortCounters; P],
}

impl<const P: usize, const V: usize> Default for RoutingSwitch<P, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const P: usize, const V: usize> RoutingSwitch<P, V> {
    const CHANNELS: u32 = u32::MAX >> (32 - V);

    /// State after reset: virtual channel 0 is on virtual network 0, the others on none; no
    /// time-outs.
    pub const fn new() -> Self {
        const { assert!(P >= 1 && P <= MAX_PORTS, "1 to 32 ports") };
        const { assert!(V >= 1 && V <= 32, "1 to 32 virtual channels") };
        let mut network_of = [[UNMAPPED; V]; P];
        let mut vc_of = [[UNMAPPED; NETWORKS]; P];
        let mut port = 0;
        while port < P {
            network_of[port][0] = 0;
            vc_of[port][0] = 0;
            port += 1;
        }
        let settings =
            SwitchPortConfig { packet_timeout_ns: None, wait_timeout_ns: None, priority: false };
        Self {
            exists: u32::MAX >> (MAX_PORTS - P),
            settings: [settings; P],
            network_of,
            vc_of,
            inputs: [[Input::IDLE; V]; P],
            waiting: [List { first: NONE, last: NONE }; 2],
            busy: [0; NETWORKS],
            closing: [0; NETWORKS],
            closing_networks: 0,
            turn: 0,
            counters: [SwitchPortCounters::new(); P],
        }
    }

    /// Reduces the switch to its first `ports` ports, including port 0. Packets addressed to other
    /// ports are discarded. The number is clamped to 1 to `P`.
    pub fn limit_ports(&mut self, ports: usize) {
        self.exists = u32::MAX >> (MAX_PORTS - ports.clamp(1, P));
    }

    /// Sets time-outs and priority of a port. Returns false if the port does not exist.
    pub fn set(&mut self, port: usize, settings: SwitchPortConfig) -> bool {
        self.settings.get_mut(port).map(|place| *place = settings).is_some()
    }

    /// Counters of a port, if it exists.
    pub fn counters(&self, port: usize) -> Option<&SwitchPortCounters> {
        self.counters.get(port)
    }

    /// Time-outs and priority of a port, if it exists.
    pub fn settings(&self, port: usize) -> Option<SwitchPortConfig> {
        self.settings.get(port).copied()
    }

    /// Assigns a virtual channel of a port to a virtual network, or to none.
    pub fn map(
        &mut self,
        port: usize,
        vc: usize,
        network: Option<u8>,
    ) -> Result<(), VirtualNetworkError> {
        let in_range = network.is_none_or(|network| usize::from(network) < NETWORKS);
        if port >= P || vc >= V || !in_range {
            return Err(VirtualNetworkError::Range);
        }
        let (before, after) = (self.network_of[port][vc], network.unwrap_or(UNMAPPED));
        if before == after {
            return Ok(());
        }
        if vc == 0 || after == 0 {
            return Err(VirtualNetworkError::Fixed);
        }
        if network.is_some_and(|network| self.vc(port, network).is_some()) {
            return Err(VirtualNetworkError::Taken);
        }
        let under_way = self.inputs[port][vc].phase != Phase::Idle;
        if under_way || before != UNMAPPED && self.uses(port, before) {
            return Err(VirtualNetworkError::Busy);
        }
        if let Some(place) = self.vc_of[port].get_mut(usize::from(before)) {
            *place = UNMAPPED;
        }
        if let Some(place) = self.vc_of[port].get_mut(usize::from(after)) {
            *place = vc as u8;
        }
        self.network_of[port][vc] = after;
        Ok(())
    }

    /// Virtual network of a virtual channel of a port.
    pub fn network(&self, port: usize, vc: usize) -> Option<u8> {
        let network = *self.network_of.get(port)?.get(vc)?;
        (network != UNMAPPED).then_some(network)
    }

    /// Virtual channel of a virtual network on a port.
    pub fn vc(&self, port: usize, network: u8) -> Option<usize> {
        let vc = *self.vc_of.get(port)?.get(usize::from(network))?;
        (vc != UNMAPPED).then_some(usize::from(vc))
    }

    /// Whether no packet waits, moves or is being discarded.
    pub fn is_idle(&self) -> bool {
        self.closing_networks == 0
            && self.inputs.iter().flatten().all(|input| input.phase == Phase::Idle)
    }

    /// Time of the next time-out if nothing moves until then. Call [`RoutingSwitch::step`] at that
    /// time.
    pub fn deadline_ns(&self) -> Option<u64> {
        let of_port = |(inputs, settings): (&[Input; V], &SwitchPortConfig)| {
            let of_input = |input: &Input| {
                let limit_ns = match input.phase {
                    Phase::Waiting => settings.wait_timeout_ns?,
                    Phase::Moving => settings.packet_timeout_ns?,
                    Phase::Idle | Phase::Spilling => return None,
                };
                Some(input.since_ns.saturating_add(limit_ns))
            };
            inputs.iter().filter_map(of_input).min()
        };
        self.inputs.iter().zip(&self.settings).filter_map(of_port).min()
    }

    /// Runs one step, in which each input moves at most [`SwitchPorts::BURST`] units. Returns the
    /// number of units moved or discarded. If it is 0, another step at the same time does nothing
    /// new.
    pub fn step<Q: SwitchPorts>(
        &mut self,
        now_ns: u64,
        routes: &impl RouteLookup,
        ports: &mut Q,
    ) -> usize {
        let mut moved = self.close(ports);
        let first = self.turn;
        self.turn = if first + 1 == P { 0 } else { first + 1 };
        let waiting: [u32; P] = core::array::from_fn(|port| ports.waiting(port) & Self::CHANNELS);
        for port in (first..P).chain(0..first) {
            for vc in bits_of(waiting[port]) {
                if self.inputs[port][vc].phase == Phase::Idle {
                    moved += usize::from(self.begin(now_ns, port, vc, routes, ports));
                }
            }
        }
        let mut running = 0;
        for port in 0..P {
            running |= u32::from(ports.is_running(port)) << port;
        }
        let mut claimed = [0; NETWORKS];
        for list in 0..2 {
            self.grant(now_ns, list, running, &mut claimed, ports);
        }
        for port in (first..P).chain(0..first) {
            let times_out = self.settings[port].packet_timeout_ns.is_some();
            for vc in bits_of(if times_out { Self::CHANNELS } else { waiting[port] }) {
                moved += self.proceed(now_ns, port, vc, ports);
            }
        }
        moved
    }

    /// Moves or discards units of a packet. Returns how many.
    fn proceed<Q: SwitchPorts>(
        &mut self,
        now_ns: u64,
        port: usize,
        vc: usize,
        ports: &mut Q,
    ) -> usize {
        let phase = self.inputs[port][vc].phase;
        let mut moved = 0;
        while moved < Q::BURST && self.inputs[port][vc].phase == phase {
            let more = match phase {
                Phase::Moving => self.advance(now_ns, port, vc, ports),
                Phase::Spilling => self.spill(port, vc, ports),
                Phase::Idle | Phase::Waiting => false,
            };
            if !more {
                break;
            }
            moved += 1;
        }
        moved
    }

    /// Whether a packet of a virtual network moves to a port, or waits for it.
    fn uses(&self, port: usize, network: u8) -> bool {
        let busy = self.busy.get(usize::from(network)).is_some_and(|busy| busy >> port & 1 != 0);
        busy || self.inputs.iter().flatten().any(|input| {
            input.phase == Phase::Waiting
                && input.network == network
                && input.targets >> port & 1 != 0
        })
    }

    /// Sends the EEPs of cut packets to outputs that have room.
    fn close<Q: SwitchPorts>(&mut self, ports: &mut Q) -> usize {
        let mut closed = 0;
        let mut networks = self.closing_networks;
        while networks != 0 {
            let network = networks.trailing_zeros() as usize;
            networks &= networks - 1;
            for port in bits_of(self.closing[network]) {
                let Some(vc) = self.vc(port, network as u8) else { continue };
                if ports.has_room(port, vc) {
                    ports.put(port, vc, Q::Unit::EEP);
                    self.counters[port].sent.add(Q::Unit::EEP);
                    self.closing[network] &= !(1 << port);
                    self.busy[network] &= !(1 << port);
                    closed += 1;
                }
            }
            if self.closing[network] == 0 {
                self.closing_networks &= !(1 << network);
            }
        }
        closed
    }

    /// Looks for the start of a packet at an input and finds its outputs. Returns true if a unit
    /// was consumed.
    fn begin<Q: SwitchPorts>(
        &mut self,
        now_ns: u64,
        port: usize,
        vc: usize,
        routes: &impl RouteLookup,
        ports: &mut Q,
    ) -> bool {
        let Some(unit) = ports.peek(port, vc) else { return false };
        if unit.is_empty() {
            ports.take(port, vc);
            self.counters[port].received.add(unit);
            return true;
        }
        let network = self.network_of[port][vc];
        let route = match unit.address() {
            _ if network == UNMAPPED => Err(DiscardReason::InputUnmapped),
            None => Err(DiscardReason::Empty),
            Some(address) => self.route(network, address, routes),
        };
        match route {
            Ok(route) => {
                self.inputs[port][vc] = Input {
                    phase: Phase::Waiting,
                    network,
                    targets: route.ports,
                    multicast: route.multicast,
                    delete: route.delete,
                    sent: false,
                    since_ns: now_ns,
                    next: NONE,
                };
                self.append(usize::from(!route.priority), (port * V + vc) as u16);
                false
            }
            Err(reason) => {
                self.report(port, vc, unit.address(), reason, ports);
                self.inputs[port][vc].phase = Phase::Spilling;
                self.spill(port, vc, ports)
            }
        }
    }

    /// Finds the outputs of a packet. A path address takes the priority of its port.
    fn route(
        &self,
        network: u8,
        address: u8,
        routes: &impl RouteLookup,
    ) -> Result<RoutingEntry, DiscardReason> {
        let entry = || routes.entry(network, address);
        let carries = |port: usize| self.vc(port, network).is_some();
        let mut found = forward(address, self.exists, entry, carries)?;
        if address < FIRST_LOGICAL {
            found.priority = self.settings.get(usize::from(address)).is_some_and(|of| of.priority);
        }
        Ok(found)
    }

    fn append(&mut self, list: usize, index: u16) {
        let last = core::mem::replace(&mut self.waiting[list].last, index);
        match self.input(last) {
            Some(input) => input.next = index,
            None => self.waiting[list].first = index,
        }
    }

    fn input(&mut self, index: u16) -> Option<&mut Input> {
        self.inputs.as_flattened_mut().get_mut(usize::from(index))
    }

    /// Walks a list, assigns free ports, and removes inputs that got their ports or timed out.
    fn grant<Q: SwitchPorts>(
        &mut self,
        now_ns: u64,
        list: usize,
        running: u32,
        claimed: &mut [u32; NETWORKS],
        ports: &mut Q,
    ) {
        let mut index = self.waiting[list].first;
        self.waiting[list] = List { first: NONE, last: NONE };
        while let Some(input) = self.input(index).copied() {
            let (port, vc) = (usize::from(index) / V, usize::from(index) % V);
            if let Some(targets) = self.choose(&input, running, claimed) {
                self.busy[usize::from(input.network)] |= targets;
                let moving = Input { phase: Phase::Moving, targets, since_ns: now_ns, ..input };
                self.inputs[port][vc] = moving;
            } else if is_late(now_ns, input.since_ns, self.settings[port].wait_timeout_ns) {
                let none_runs = input.targets & running == 0
                    || input.multicast && input.targets & !running != 0;
                let reason =
                    if none_runs { DiscardReason::NotRunning } else { DiscardReason::Blocked };
                let address = ports.peek(port, vc).and_then(PacketUnit::address);
                self.report(port, vc, address, reason, ports);
                self.inputs[port][vc].phase = Phase::Spilling;
            } else {
                self.inputs[port][vc].next = NONE;
                self.append(list, index);
            }
            index = input.next;
        }
    }

    /// Returns the ports that a waiting packet gets, if it is its turn.
    fn choose(&self, input: &Input, running: u32, claimed: &mut [u32; NETWORKS]) -> Option<u32> {
        let network = usize::from(input.network);
        let claimed = claimed.get_mut(network)?;
        let free = input.targets & running & !self.busy.get(network)? & !*claimed;
        if !input.multicast {
            return (free != 0).then_some(free & free.wrapping_neg());
        }
        if free == input.targets {
            return Some(free);
        }
        if input.targets & !running == 0 {
            *claimed |= input.targets;
        }
        None
    }

    /// Moves one unit of a packet that has its outputs. Returns true if a unit was consumed.
    fn advance<Q: SwitchPorts>(
        &mut self,
        now_ns: u64,
        port: usize,
        vc: usize,
        ports: &mut Q,
    ) -> bool {
        let input = self.inputs[port][vc];
        let network = usize::from(input.network);
        let unit = ports.peek(port, vc);
        let out = unit.and_then(|unit| match input.delete {
            true => unit.without_address(),
            false => (!unit.is_empty()).then_some(unit),
        });
        let vc_of = &self.vc_of;
        let mut outputs = bits_of(input.targets).map(|to| (to, usize::from(vc_of[to][network])));
        let room = out.is_none() || outputs.all(|(to, vc)| ports.has_room(to, vc));
        if unit.is_none() || !room {
            let late = is_late(now_ns, input.since_ns, self.settings[port].packet_timeout_ns);
            if late {
                self.cut(port, vc, ports);
            }
            return late;
        }
        ports.take(port, vc);
        if let Some(unit) = unit {
            self.counters[port].received.add(unit);
        }
        let kept = &mut self.inputs[port][vc];
        kept.delete = false;
        kept.since_ns = now_ns;
        if let Some(out) = out {
            kept.sent = true;
            for to in bits_of(input.targets) {
                ports.put(to, usize::from(self.vc_of[to][network]), out);
                self.counters[to].sent.add(out);
            }
            if out.is_end() {
                kept.phase = Phase::Idle;
                self.busy[network] &= !input.targets;
            }
        }
        true
    }

    /// Cuts a packet in progress: its outputs get an EEP, and the rest is thrown away.
    fn cut<Q: SwitchPorts>(&mut self, port: usize, vc: usize, ports: &mut Q) {
        let input = self.inputs[port][vc];
        let network = usize::from(input.network);
        self.report(port, vc, None, DiscardReason::Timeout, ports);
        self.inputs[port][vc].phase = Phase::Spilling;
        if input.sent {
            self.closing[network] |= input.targets;
            self.closing_networks |= 1 << network;
        } else {
            self.busy[network] &= !input.targets;
        }
    }

    /// Throws one unit away. Returns true if there was one.
    fn spill<Q: SwitchPorts>(&mut self, port: usize, vc: usize, ports: &mut Q) -> bool {
        let Some(unit) = ports.peek(port, vc) else { return false };
        ports.take(port, vc);
        self.counters[port].received.add(unit);
        self.counters[port].spilled_units += 1;
        if unit.is_end() {
            self.inputs[port][vc].phase = Phase::Idle;
        }
        true
    }

    fn report<Q: SwitchPorts>(
        &mut self,
        port: usize,
        vc: usize,
        address: Option<u8>,
        reason: DiscardReason,
        ports: &mut Q,
    ) {
        self.counters[port].drop(reason);
        let network = Some(self.network_of[port][vc]).filter(|network| *network != UNMAPPED);
        ports.dropped(DiscardedPacket { port: port as u8, vc: vc as u8, network, address, reason });
    }
}

fn is_late(now_ns: u64, since_ns: u64, timeout_ns: Option<u64>) -> bool {
    timeout_ns.is_some_and(|limit_ns| now_ns.saturating_sub(since_ns) >= limit_ns)
}
