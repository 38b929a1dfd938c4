//! Checks of topologies.

use spfe_topology::*;

#[test]
fn an_exact_link_joins_two_ports() {
    let rate = "1x6.25G".parse().unwrap();
    let exact = |topology: Topology| topology.with_model(LinkModel::Exact).check();
    exact(Topology::pairs(2, rate, Mode::Inline)).unwrap();
    exact(Topology::looped(rate, Mode::Inline)).unwrap();
    let lenient = Topology::pairs(2, rate, Mode::Inline).with_model(LinkModel::Lenient);
    lenient.check().unwrap();
    let links = lenient.endpoints[0].iter().map(|port| port.link().to_string());
    assert_eq!(links.collect::<Vec<_>>(), ["exact-lenient:1x6.25G", "exact:spw:200M"]);
    let error = exact(Topology::instrument(Peer::Echo, rate, Mode::Inline)).unwrap_err();
    assert!(error.contains("joins two ports"), "{error}");
    let error = exact(Topology::looped(LinkRate::Unlimited, Mode::Inline)).unwrap_err();
    assert!(error.contains("has a rate"), "{error}");
    let fibre = "exact:1x6.25G".parse().unwrap();
    let wrong = Topology::pairs(2, rate, Mode::Inline).with_spacewire(fibre);
    let error = wrong.check().unwrap_err();
    assert!(error.contains("port 1") && error.contains("exact:spw:200M"), "{error}");
    let slow = "spw:100M".parse().unwrap();
    exact(Topology::pairs(2, slow, Mode::Inline)).unwrap();
    let mut topology = Topology::pairs(2, rate, Mode::Inline);
    topology.endpoints[0][0].model = LinkModel::Exact;
    assert!(topology.check().unwrap_err().contains("two ends"));
}

#[test]
fn the_two_ends_of_a_link_must_agree() {
    let mut topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Inline);
    topology.check().unwrap();
    topology.endpoints[1][0].vcs = 4;
    assert!(topology.check().unwrap_err().contains("two ends"));
    Topology::looped(LinkRate::Unlimited, Mode::Inline).check().unwrap();
}

#[test]
fn the_nodes_of_a_fabric_have_the_same_port() {
    let good = Topology::fabric(12, Mode::Thread);
    good.check().unwrap();
    let port = good.endpoints[0][0];
    // Node 3 sends to node 5 on channel 1; node 5 receives on its channel 1 to node 3.
    assert_eq!(port.far_end(2, 0, 2 * 4 + 1), Some((4, 0, 2 * 2 + 1)));
    for endpoint in 0..12 {
        for vc in 0..port.vcs {
            let (far, far_port, far_vc) = port.far_end(endpoint, 0, vc).unwrap();
            assert_eq!(port.far_end(far, far_port, far_vc), Some((endpoint, 0, vc)));
        }
    }
    let wrong = |change: fn(&mut Topology), part: &str| {
        let mut topology = good.clone();
        change(&mut topology);
        let error = topology.check().unwrap_err();
        assert!(error.contains(part), "{error}");
    };
    wrong(|topology| drop(topology.endpoints.pop()), "the same port");
    wrong(|topology| topology.endpoints[7][0].vcs = 22, "the same port");
    wrong(|topology| topology.endpoints[0][0].vcs = 22, "virtual channels to each");
    wrong(|topology| topology.endpoints[7][0].peer = Peer::None, "the same port");
    wrong(|topology| topology.endpoints[0][0].space_wire = true, "virtual channels to each");
    wrong(|topology| topology.endpoints[0][0].peer = Peer::Fabric { nodes: u32::MAX }, "2 to 64");
    wrong(|topology| topology.endpoints.push(topology.endpoints[0].clone()), "the same port");
    Topology::fabric(64, Mode::Thread).check().unwrap();
    assert!(Topology::fabric(65, Mode::Thread).check().unwrap_err().contains("64 allowed"));
    assert!(good.with_ports(Some(2), None, None).is_err());
}

#[test]
fn ports_and_channels_have_the_numbers_that_are_set() {
    let shape = |topology: Topology, fibre, wire, vcs| {
        let topology = topology.with_ports(fibre, wire, vcs)?;
        topology.check()?;
        let kinds = topology.endpoints[0].iter().map(|port| (port.space_wire, port.vcs, port.peer));
        Ok::<_, String>(kinds.collect::<Vec<_>>())
    };
    let rate: LinkRate = "4x7.5G".parse().unwrap();
    let to = |endpoint, port| Peer::Port { endpoint, port };
    let looped = || Topology::looped(rate, Mode::Inline);
    assert_eq!(
        shape(looped(), Some(3), Some(2), Some(16)).unwrap(),
        [
            (false, 16, to(0, 1)),
            (false, 16, to(0, 0)),
            (false, 16, Peer::None),
            (true, 1, to(0, 4)),
            (true, 1, to(0, 3))
        ]
    );
    assert_eq!(shape(looped(), None, None, None).unwrap().len(), 4);
    let pairs = || Topology::pairs(4, rate, Mode::Inline);
    let ports = shape(pairs(), Some(2), Some(0), Some(32)).unwrap();
    assert_eq!(ports, [(false, 32, to(1, 0)), (false, 32, to(1, 1))]);
    let sink = Topology::instrument(Peer::Echo, rate, Mode::Inline);
    assert_eq!(shape(sink.clone(), Some(8), None, None).unwrap().len(), 8);
    for (topology, fibre, wire, vcs, part) in [
        (looped(), Some(9), None, None, "9 ports: 1 to 8 allowed"),
        (looped(), Some(7), None, None, "9 ports"),
        (looped(), Some(0), Some(0), None, "0 ports"),
        (pairs(), None, None, Some(33), "channels 33 is not in 1 to 32"),
        (pairs(), None, None, Some(0), "channels 0"),
        (sink, None, Some(1), None, "no SpaceWire ports"),
    ] {
        let error = shape(topology, fibre, wire, vcs).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_spacewire_rate_makes_spacewire_ports() {
    let rate: LinkRate = "spw:100M".parse().unwrap();
    let sink = Topology::instrument(Peer::Sink { check: false }, rate, Mode::Inline);
    let kinds = |topology: &Topology| {
        topology.endpoints[0].iter().map(|port| (port.space_wire, port.vcs)).collect::<Vec<_>>()
    };
    sink.check().unwrap();
    assert_eq!(kinds(&sink), [(true, 1)]);
    assert_eq!(kinds(&Topology::pairs(2, rate, Mode::Inline)), [(true, 1); 2]);
    let looped = Topology::looped(LinkRate::Unlimited, Mode::Inline);
    assert_eq!(kinds(&looped), [(false, 8), (false, 8), (true, 1), (true, 1)]);
}

#[test]
fn the_sum_of_all_rmap_memories_is_limited() {
    let unit = RmapUnit { bytes: 3 << 30, ..RmapUnit::default() };
    let peer = Peer::Rmap(unit);
    let mut topology = Topology::instrument(peer, LinkRate::Unlimited, Mode::Inline);
    topology.check().unwrap();
    topology.endpoints.push(topology.endpoints[0].clone());
    assert!(topology.check().unwrap_err().contains("4294967296 allowed"));
    topology.endpoints[0][0].peer = Peer::Rmap(RmapUnit { bytes: 0, ..unit });
    assert!(topology.check().unwrap_err().contains("endpoint 0 port 0: RMAP memory"));
}
