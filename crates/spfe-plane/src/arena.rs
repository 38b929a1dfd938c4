//! The shared memory layout of a network.
//!
//! The block has a header, and for each endpoint its region table and its ports. A port has the flows
//! out of it, the flows into it, link times and message slots. The flows into a port are used only if
//! its far end is an instrument or an exact link. On a packet-level link between two ports, the flow
//! into one port *is* the flow out of the other. A fabric port has the flows to all nodes.

use crate::instrument::rmap::{self, RmapPort};
use crate::instrument::target::{self, TargetPort};
use spfe_device::FlowShared;
use spfe_device::flow::HostileFlow;
use spfe_device::memory::{REGIONS, RegionShared};
use spfe_device::message::MessagePort;
use spfe_device::pace::LinkTime;
use spfe_device::rdma::RdmaChannel;
use spfe_host::SharedMemory;
use spfe_host::topology::hostile::{Hostile, HostileCounts};
use spfe_host::topology::{PortConfig, Topology};
use spfe_ring::sync::{AtomicU32, AtomicU64, Ordering};
use std::collections::HashMap;
use std::io;
use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Number of participant ids: the control plane, the device thread and clients.
pub const PARTICIPANTS: usize = 256;
/// Participant id of the control plane.
pub const CONTROL: u32 = 1;
/// Participant id of the device thread.
pub const DEVICE: u32 = 2;
/// First participant id of a client.
pub const FIRST_CLIENT: u32 = 3;

const MAGIC: u32 = 0x5350_414e;
/// Raise it when a shared structure changes its size, or a field its meaning.
const LAYOUT_VERSION: u32 = 4;

/// Header of the block.
#[repr(C, align(64))]
pub struct ArenaHeader {
    magic: AtomicU32,
    version: AtomicU32,
    /// Virtual time in ns, if the network has a virtual clock.
    pub virtual_ns: AtomicU64,
    /// Incremented when a queue is created or destroyed.
    pub config_epoch: AtomicU32,
    pad: AtomicU32,
    /// Not 0 if the participant with this id has died.
    pub dead: [AtomicU32; PARTICIPANTS],
}

/// The shared memory of a network and its layout.
pub struct Arena {
    memory: SharedMemory,
    topology: Topology,
    ports: Vec<Vec<PortPlace>>,
    regions: Vec<usize>,
    /// RMAP targets of this process; they are not in the block.
    rmap: Vec<Vec<Option<Arc<RmapPort>>>>,
    /// RDMA targets of this process, by endpoint and port.
    targets: HashMap<(u32, u32), Arc<TargetPort>>,
    /// Queue pairs by endpoint, port and virtual channel, in the process that owns the network.
    pairs: Option<OnceLock<Pairs>>,
    hostile: Mutex<HostileFlows>,
}

/// The hostile-network instruments of this process's flows.
#[derive(Default)]
struct HostileFlows {
    now: Option<Hostile>,
    /// By the address of the flow.
    flows: HashMap<usize, Arc<HostileFlow>>,
}

type Pairs = Vec<Vec<Vec<Arc<RdmaChannel>>>>;

struct PortPlace {
    out: usize,
    into: usize,
    vcs: u32,
    times: usize,
    messages: usize,
}

struct Layout {
    size: usize,
}

impl Layout {
    fn take<T>(&mut self, count: usize) -> usize {
        let align = std::mem::align_of::<T>().max(64);
        let at = self.size.next_multiple_of(align);
        self.size = at + size_of::<T>() * count;
        at
    }
}

type Places = (Vec<Vec<PortPlace>>, Vec<usize>, usize);

fn places(topology: &Topology) -> Places {
    let mut layout = Layout { size: size_of::<ArenaHeader>() };
    let mut regions = Vec::new();
    let mut ports = Vec::new();
    for endpoint in &topology.endpoints {
        regions.push(layout.take::<RegionShared>(REGIONS));
        let mut places = Vec::new();
        for port in endpoint {
            let vcs = port.vcs as usize;
            places.push(PortPlace {
                out: layout.take::<FlowShared>(vcs),
                into: layout.take::<FlowShared>(vcs),
                vcs: port.vcs,
                times: layout.take::<LinkTime>(2),
                messages: layout.take::<MessagePort>(1),
            });
        }
        ports.push(places);
    }
    (ports, regions, layout.size)
}

impl Arena {
    /// Creates the memory of a network. The topology must have been checked.
    ///
    /// # Errors
    /// The system has no memory left, or the file of an RDMA target is wrong.
    pub fn create(topology: Topology) -> io::Result<Self> {
        let (ports, regions, size) = places(&topology);
        let (memory, rmap) = (SharedMemory::create("spfe-arena", size)?, rmap::ports(&topology));
        let targets = target::ports(&topology)?;
        let pairs = Some(OnceLock::new());
        let hostile = Mutex::new(HostileFlows { now: topology.hostile, ..HostileFlows::default() });
        let arena = Self { memory, topology, ports, regions, rmap, targets, pairs, hostile };
        arena.header().version.store(LAYOUT_VERSION, Ordering::Relaxed);
        arena.header().magic.store(MAGIC, Ordering::Release);
        Ok(arena)
    }

    /// Maps the memory of a network that another process owns.
    ///
    /// # Errors
    /// `InvalidData` for a wrong topology or another layout version, `InvalidInput` for memory that
    /// can shrink or is too short.
    pub fn open(memory: rustix::fd::OwnedFd, topology: Topology) -> io::Result<Self> {
        topology.check().map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))?;
        let (ports, regions, size) = places(&topology);
        let (memory, rmap) = (SharedMemory::open(memory, size)?, rmap::ports(&topology));
        let targets = target::ports(&topology)?;
        let (pairs, hostile) = (None, Mutex::default());
        let arena = Self { memory, topology, ports, regions, rmap, targets, pairs, hostile };
        arena.memory.populate(0, size);
        let header = arena.header();
        let version = header.version.load(Ordering::Relaxed);
        if header.magic.load(Ordering::Acquire) != MAGIC || version != LAYOUT_VERSION {
            let what =
                format!("network memory of layout {version}, this build has {LAYOUT_VERSION}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(arena)
    }

    /// The block, to pass to clients.
    pub fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    /// The topology of the network.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    fn at<T>(&self, offset: usize) -> &'static T {
        debug_assert!(offset + size_of::<T>() <= self.memory.size());
        // SAFETY: offsets come from `places`, so they are in the block and aligned. Every type there
        // is valid when all bytes are zero and is shared only through atomics and seats. Holders of a
        // reference keep the arena (`View`, `Runner`, `Network`).
        unsafe { &*self.memory.base().as_ptr().add(offset).cast::<T>() }
    }

    /// The header.
    pub fn header(&self) -> &'static ArenaHeader {
        self.at(0)
    }

    /// The region table of an endpoint.
    pub fn regions(&self, endpoint: u32) -> &'static [RegionShared] {
        let first: &'static RegionShared = self.at(self.regions[endpoint as usize]);
        // SAFETY: `places` reserved REGIONS adjacent entries.
        unsafe { std::slice::from_raw_parts(first, REGIONS) }
    }

    fn place(&self, endpoint: u32, port: u32) -> &PortPlace {
        &self.ports[endpoint as usize][port as usize]
    }

    /// The flow out of a port on a virtual channel.
    pub fn flow_out(&self, endpoint: u32, port: u32, vc: u32) -> &'static FlowShared {
        let place = self.place(endpoint, port);
        debug_assert!(vc < place.vcs);
        self.at(place.out + size_of::<FlowShared>() * vc as usize)
    }

    /// The flow into a port on a virtual channel.
    pub fn flow_into(&self, endpoint: u32, port: u32, vc: u32) -> &'static FlowShared {
        let config = &self.topology.endpoints[endpoint as usize][port as usize];
        match config.far_end(endpoint, port, vc) {
            Some((endpoint, port, vc)) => self.flow_out(endpoint, port, vc),
            None => {
                let place = self.place(endpoint, port);
                debug_assert!(vc < place.vcs);
                self.at(place.into + size_of::<FlowShared>() * vc as usize)
            }
        }
    }

    /// Link time of the direction out of a port, and of the direction into it.
    pub fn times_out(&self, endpoint: u32, port: u32) -> (&'static LinkTime, &'static LinkTime) {
        let own = self.place(endpoint, port).times;
        match self.topology.endpoints[endpoint as usize][port as usize].joined() {
            Some((far, far_port)) => (self.at(own), self.at(self.place(far, far_port).times)),
            None => (self.at(own), self.at(own + size_of::<LinkTime>())),
        }
    }

    /// The message queues of a port.
    pub fn messages(&self, endpoint: u32, port: u32) -> &'static MessagePort {
        self.at(self.place(endpoint, port).messages)
    }

    /// This process's instance of the RMAP target on a port.
    pub fn rmap(&self, endpoint: u32, port: u32) -> Option<&Arc<RmapPort>> {
        self.rmap.get(endpoint as usize)?.get(port as usize)?.as_ref()
    }

    /// The queue pair of a virtual channel, open or not. `None` in a process that does not own the
    /// network.
    pub fn pair(&self, endpoint: u32, port: u32, vc: u32) -> Option<&Arc<RdmaChannel>> {
        let pairs = self.pairs.as_ref()?.get_or_init(|| self.make_pairs());
        pairs.get(endpoint as usize)?.get(port as usize)?.get(vc as usize)
    }

    fn make_pairs(&self) -> Pairs {
        let channel = |endpoint, port, vc| {
            let (out, into) =
                (self.flow_out(endpoint, port, vc), self.flow_into(endpoint, port, vc));
            Arc::new(RdmaChannel::new(out, into))
        };
        let ports = |endpoint: u32, ports: &[PortConfig]| {
            let of = |(port, config): (u32, &PortConfig)| {
                (0..config.vcs).map(|vc| channel(endpoint, port, vc)).collect()
            };
            (0..).zip(ports).map(of).collect()
        };
        (0..).zip(&self.topology.endpoints).map(|(endpoint, list)| ports(endpoint, list)).collect()
    }

    /// This process's instance of the RDMA target on a port.
    pub fn target(&self, endpoint: u32, port: u32) -> Option<&Arc<TargetPort>> {
        self.targets.get(&(endpoint, port))
    }

    fn hostile_flows(&self) -> MutexGuard<'_, HostileFlows> {
        self.hostile.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The hostile-network instrument of a flow, in the process that owns the network.
    pub fn hostile(&self, flow: &'static FlowShared) -> Option<Arc<HostileFlow>> {
        self.pairs.as_ref()?;
        let hostile = &mut *self.hostile_flows();
        let (now, number) = (hostile.now, hostile.flows.len() as u64);
        let place = std::ptr::from_ref(flow) as usize;
        let of_flow = hostile.flows.entry(place).or_insert_with(|| {
            let flow = HostileFlow::new(number);
            flow.set(now);
            Arc::new(flow)
        });
        Some(of_flow.clone())
    }

    /// Makes the links hostile, or ends that. The control plane changes the epochs afterwards.
    pub fn set_hostile(&self, hostile: Option<Hostile>) {
        let flows = &mut *self.hostile_flows();
        flows.now = hostile;
        flows.flows.values().for_each(|flow| flow.set(hostile));
    }

    /// What has happened to packets of all links.
    pub fn hostile_counts(&self) -> HostileCounts {
        let flows = self.hostile_flows();
        let counts = flows.flows.values().map(|flow| flow.counts());
        counts.fold(HostileCounts::default(), HostileCounts::plus)
    }

    /// Marks a participant as dead or alive.
    pub fn mark_dead(&self, id: u32, dead: bool) {
        if let Some(word) = self.header().dead.get(id as usize) {
            word.store(u32::from(dead), Ordering::Release);
        }
    }

    /// Whether a participant has been marked as dead.
    pub fn is_dead(&self, id: u32) -> bool {
        self.header().dead.get(id as usize).is_some_and(|word| word.load(Ordering::Acquire) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_layout_has_another_version() {
        let sizes = [
            size_of::<ArenaHeader>(),
            size_of::<RegionShared>(),
            size_of::<FlowShared>(),
            size_of::<LinkTime>(),
            size_of::<MessagePort>(),
        ];
        assert_eq!((LAYOUT_VERSION, sizes), (4, [1088, 16, 12288, 1216, 2112]));
    }
}
