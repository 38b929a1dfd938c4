//! A simulated network between ports: a scenario whose nodes of kind `endpoint` are endpoints that
//! applications open. Other nodes, routers, traffic and faults run as in `spfe sim`.

use crate::capture::LinkEnd;
use crate::exact::Exact;
use crate::exact::fabric::{FOREIGN_WAIT, Fabric, Tee, opener};
use crate::exact::mib::{self, Watch};
use spfe_host::MibEntry;
use spfe_host::topology::{LinkModel, Mode, Peer, PortConfig, Topology};
use spfe_sim::fault::WireFault;
use spfe_sim::link::{NoObserver, Observer, Side, SimulatedEnd};
use spfe_sim::live::{FaultChange, FaultChoice, LiveFault};
use spfe_sim::recorder::LinkDescription;
use spfe_sim::scenario::{NodeKind, PortName, Scenario, ScenarioFault, ScenarioLink, Time};
use spfe_sim::simulation::Simulation;
use spfe_sim::time::{MS, Ps};

/// Time step of the results, which are not used here.
const RESULTS_STEP: Time = Time(1_000 * MS);
/// Number of events kept in the results.
const RESULTS_EVENTS: usize = 0;
/// Word periods after which the next segment of a channel has arrived, as in
/// [`crate::exact::fabric`].
const HOLD_WORDS: u64 = 1_000;

/// The endpoints of a scenario.
struct Endpoints {
    names: Vec<String>,
    topology: Topology,
    /// Port names in the scenario, and the ports of the network.
    places: Vec<(PortName, (u32, u32))>,
}

fn endpoints(scenario: &Scenario, mode: Mode, virtual_time: bool) -> Result<Endpoints, String> {
    let (mut names, mut places) = (Vec::new(), Vec::new());
    let mut topology = Topology { mode, virtual_time, ..Topology::default() };
    for node in scenario.nodes.iter().filter(|node| node.kind == NodeKind::Endpoint) {
        let links = scenario.links.iter().flat_map(|link| {
            link.ends.iter().filter(|end| end.unit == node.name).map(move |end| (end, link))
        });
        let mut links: Vec<_> = links.collect();
        links.sort_by_key(|(end, _)| end.port);
        let endpoint = topology.endpoints.len() as u32;
        let ports = links.iter().map(|(_, link)| port(link)).collect();
        let at = |(number, (end, _)): (usize, &(&PortName, &ScenarioLink))| {
            ((*end).clone(), (endpoint, number as u32))
        };
        places.extend(links.iter().enumerate().map(at));
        topology.endpoints.push(ports);
        names.push(node.name.clone());
    }
    if names.is_empty() {
        return Err("the scenario has no endpoint: give a node kind = \"endpoint\"".to_owned());
    }
    let named = |what: String| {
        let list: Vec<_> =
            names.iter().enumerate().map(|(e, name)| format!("{e} {name}")).collect();
        format!("{what} (endpoints: {})", list.join(", "))
    };
    topology.check().map_err(named)?;
    Ok(Endpoints { names, topology, places })
}

fn port(link: &ScenarioLink) -> PortConfig {
    PortConfig {
        space_wire: link.is_spacewire(),
        vcs: u32::from(link.channels()),
        rate: link.link_rate(),
        model: if link.is_lenient() { LinkModel::Lenient } else { LinkModel::Exact },
        peer: Peer::Network,
    }
}

/// What a network needs to run a scenario.
pub(crate) struct Parts {
    /// Its endpoints and their ports, all on exact links.
    pub topology: Topology,
    /// The scenario, as the ports see it.
    pub exact: Exact,
    /// Names of the endpoints.
    pub names: Vec<String>,
}

/// Prepares a network whose endpoints are the nodes of kind `endpoint` of a scenario.
///
/// # Errors
/// The error in the scenario.
pub(crate) fn parts(scenario: &Scenario, mode: Mode, virtual_time: bool) -> Result<Parts, String> {
    let Endpoints { names, topology, places } = endpoints(scenario, mode, virtual_time)?;
    let fabric = Simulated::new(scenario, &places, virtual_time)?;
    let places: Vec<_> = places.into_iter().map(|(_, at)| at).collect();
    let exact = Exact::new(&topology, Box::new(fabric), &places);
    Ok(Parts { topology, exact, names })
}

/// A simulation as a fabric.
struct Simulated {
    simulation: Simulation,
    wirings: Vec<LinkDescription>,
    faces: Vec<(usize, Side)>,
    watch: Watch,
    step: Ps,
    hold: Ps,
    /// Time waits for foreign ends; otherwise the network stands still until they have sent the
    /// next words.
    lock_step: bool,
}

impl Simulated {
    fn new(
        scenario: &Scenario,
        places: &[(PortName, (u32, u32))],
        lock_step: bool,
    ) -> Result<Self, String> {
        let mut scenario = scenario.clone();
        scenario.step = Some(RESULTS_STEP);
        scenario.events = RESULTS_EVENTS;
        let simulation = Simulation::with_streams(&scenario, &mut *opener(lock_step));
        let mut simulation = simulation.map_err(|error| error.to_string())?;
        let mut faces = Vec::new();
        for (place, _) in places {
            let face = simulation.attach(place).ok_or_else(|| format!("no link at {place}"))?;
            faces.push(face);
        }
        let word_ps = |link: &ScenarioLink| 40_000_000_000_000 / link.rate.0.max(1);
        let slowest = scenario.links.iter().map(word_ps).max().unwrap_or(1);
        Ok(Self {
            simulation,
            wirings: scenario.links.iter().map(LinkDescription::of).collect(),
            faces,
            watch: Watch::new(scenario.links.len()),
            step: scenario.quantum_ps(),
            hold: HOLD_WORDS * slowest,
            lock_step,
        })
    }
}

impl Fabric for Simulated {
    fn run(&mut self, until: Ps, observer: &mut dyn Observer) {
        let foreign = !self.lock_step && self.simulation.has_foreign_ends();
        let until = if foreign { until.min(self.simulation.ready(FOREIGN_WAIT)) } else { until };
        self.simulation.run(until, &mut Tee { watch: &mut self.watch, observer });
    }

    fn links(&self) -> Vec<LinkDescription> {
        self.wirings.clone()
    }

    fn place(&self, face: usize) -> LinkEnd {
        let (link, side) = self.faces[face];
        LinkEnd { link: link as u32, side }
    }

    fn show_words(&mut self, link: usize, on: bool) {
        self.simulation.show_words_of(link, on);
    }

    fn now(&self) -> Ps {
        self.simulation.now()
    }

    fn face(&mut self, face: usize) -> &mut dyn SimulatedEnd {
        let (link, side) = self.faces[face];
        self.simulation.end(link, side)
    }

    fn look(&mut self, face: usize) -> &dyn SimulatedEnd {
        let (link, side) = self.faces[face];
        self.simulation.look(link, side)
    }

    fn messages(&mut self, face: usize) -> &mut dyn SimulatedEnd {
        let (link, side) = self.faces[face];
        self.simulation.messages(link, side)
    }

    fn is_awake(&self, face: usize) -> bool {
        self.simulation.is_awake(self.faces[face].0)
    }

    fn awake_links(&self, each: &mut dyn FnMut(usize)) {
        self.simulation.awake_links().for_each(each);
    }

    fn quiet_until(&self) -> Option<Ps> {
        let next = self.simulation.next_event().unwrap_or(Ps::MAX);
        self.simulation.is_quiet().then_some(next)
    }

    fn skip_to(&mut self, time: Ps) {
        self.run(time, &mut NoObserver);
    }

    fn step_ps(&self) -> Ps {
        self.step
    }

    fn hold_ps(&self, _: usize) -> Ps {
        self.hold
    }

    fn patience_ps(&mut self) -> Ps {
        // Words may arrive from elsewhere in the network at any time.
        Ps::MAX
    }

    fn mib(&mut self, face: usize) -> Vec<MibEntry> {
        let (link, side) = self.faces[face];
        let mut list = self.watch.entries(link, side);
        list.extend(mib::of_end(self.face(face)));
        for (router, port, vc, reason, packets) in self.simulation.router_drops() {
            let name = format!("{router} port {port}: {reason}");
            list.push(MibEntry::new("router", &name, Some(vc.into()), packets));
        }
        list
    }

    fn inject(&mut self, face: usize, fault: WireFault) -> bool {
        let (link, side) = self.faces[face];
        self.simulation.inject(link, side, fault)
    }

    fn add_fault(&mut self, fault: ScenarioFault) -> Result<u32, String> {
        self.simulation.add_fault(fault)
    }

    fn end_faults(&mut self, which: &FaultChoice, observer: &mut dyn Observer) -> usize {
        self.simulation.end_faults(which, &mut Tee { watch: &mut self.watch, observer })
    }

    fn faults(&self) -> &[LiveFault] {
        self.simulation.live_faults()
    }

    fn next_change(&self) -> Option<Ps> {
        None
    }

    fn apply_faults(&mut self, observer: &mut dyn Observer) -> bool {
        self.simulation.apply_faults(&mut Tee { watch: &mut self.watch, observer })
    }

    fn take_port_changes(&mut self) -> Vec<FaultChange> {
        self.simulation.take_port_changes()
    }

    fn end_of(&self, port: &PortName) -> Option<LinkEnd> {
        let (link, side) = self.simulation.scenario().link_at(port)?;
        Some(LinkEnd { link: link as u32, side })
    }
}
