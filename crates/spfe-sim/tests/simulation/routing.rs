//! Groups, multicast, applications at endpoints, and packets longer than all buffers on their
//! route.

use super::{flow, run, simulate, words};
use spfe_link::Word;
use spfe_sim::link::{NoObserver, Side};
use spfe_sim::scenario::{FaultAction, Medium, PacketPace, PacketSize, PortName, Scenario, Time};
use spfe_sim::simulation::Simulation;

/// Two routers with two links between them. A logical address uses either link.
const GROUP: &str = r#"
    title = "group"
    duration = "400us"
    node = [{ name = "a" }, { name = "b" }, { name = "c", logical-address = 80 }]
    [[router]]
    name = "r"
    ports = 4
    packet-timeout = "20us"
    wait-timeout = "50us"
    entries = [{ address = 80, ports = [3, 4] }]
    [[router]]
    name = "s"
    ports = 3
    entries = [{ address = 80, ports = [3] }]
    [[link]]
    name = "a"
    ends = ["a", "r:1"]
    [[link]]
    name = "b"
    ends = ["b", "r:2"]
    [[link]]
    name = "one"
    ends = ["r:3", "s:1"]
    [[link]]
    name = "two"
    ends = ["r:4", "s:2"]
    [[link]]
    name = "c"
    ends = ["s:3", "c"]
    spacefibre = { lanes = 4 }
    [[flow]]
    name = "from-a"
    from = "a"
    to = "c"
    route = 80
    size = 1000
    rate = "1G"
    [[flow]]
    name = "from-b"
    from = "b"
    to = "c"
    route = 80
    size = 1000
    rate = "1G"
"#;

#[test]
fn a_group_continues_on_the_remaining_link() {
    let both = simulate(GROUP);
    assert!(words(&both, "one", 20..100) > 0 && words(&both, "two", 20..100) > 0);
    let cut = "[[fault]]\nwhat = 'cut'\nlink = 'one'\nduration = '150us'\nat = '150us'\n";
    let one = simulate(&format!("{GROUP}\n{cut}"));
    // A step is 4 us: the link is cut in steps 38 to 75.
    assert_eq!(words(&one, "one", 45..74), 0);
    assert!(words(&one, "one", 85..100) > 0, "it is used again");
    // Two streams of 1 Gbit/s: 2 * 31.25 words per us, about 29 packets in total.
    let rate = words(&one, "two", 45..74) as f64 / (29.0 * 4.0 * 62.5);
    assert!((0.95..1.05).contains(&rate), "{rate} of both flows over the other link");
    for name in ["from-a", "from-b"] {
        let of = flow(&one, name);
        // Only packets on the link during the cut are lost, each with a reason.
        let lost = of.truncated.packets + of.dropped.iter().map(|drop| drop.packets).sum::<u64>();
        assert!(lost <= 2, "{of:?}");
        let delivered = of.delivered.packets + of.in_flight.packets + lost;
        assert_eq!(delivered, of.offered.packets);
        let moves = |steps: &[u64]| steps.iter().sum::<u64>() > 0;
        assert!(of.series[45..75].chunks(5).all(moves), "{name}: {:?}", of.series);
    }
}

const MULTICAST: &str = r#"
    title = "multicast"
    duration = "300us"
    node = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]
    [[router]]
    name = "r"
    ports = 4
    entries = [{ address = 100, ports = [2, 3, 4], mode = "all", delete = true }]
    [[link]]
    name = "a"
    ends = ["a", "r:1"]
    [[link]]
    name = "b"
    ends = ["b", "r:2"]
    [[link]]
    name = "c"
    ends = ["c", "r:3"]
    [[link]]
    name = "d"
    ends = ["d", "r:4"]
    [[flow]]
    name = "f"
    from = "a"
    to = ["b", "c", "d"]
    route = 100
    size = { min = 12, max = 900 }
    rate = "1G"
    start = "30us"
    [[flow]]
    name = "g"
    from = "b"
    to = "c"
    vc = 1
    size = 200
    rate = "100M"
    start = "30us"
"#;

#[test]
fn a_multicast_reaches_all_at_the_pace_of_the_slowest() {
    let results = simulate(MULTICAST);
    let f = flow(&results, "f");
    assert!(f.offered.packets > 50, "{f:?}");
    let received: Vec<u64> = results.nodes.iter().map(|node| node.received.packets).collect();
    let g = flow(&results, "g").delivered.packets;
    assert!(g > 5);
    let [a, b, c, d] = received[..] else { panic!("{received:?}") };
    assert_eq!((a, b, c), (0, d, d + g));
    assert_eq!(f.delivered.packets, b + c - g + d);
    // When one destination blocks, the others soon stop, too. Other traffic continues.
    let fault = "[[fault]]\nwhat = 'blocked-receiver'\nnode = 'd'\nvc = 0\nfrom = '100us'\n";
    let results = simulate(&format!("{MULTICAST}\n{fault}"));
    assert_eq!(flow(&results, "f").series[60..].iter().sum::<u64>(), 0);
    assert!(flow(&results, "g").series[60..].iter().sum::<u64>() > 0);
}

/// Applications at two nodes read and write words. Packets travel through a router and back.
#[test]
fn applications_use_endpoints() {
    let text = r#"
        title = "endpoints"
        duration = "200us"
        node = [{ name = "a", kind = "endpoint" }, { name = "b", kind = "endpoint" }]
        router = [{ name = "r", ports = 2 }]
        link = [{ name = "a", ends = ["a", "r:1"] }, { name = "b", ends = ["r:2", "b"] }]
    "#;
    let scenario = Scenario::parse(text).unwrap();
    let mut simulation = Simulation::new(&scenario).unwrap();
    let place = |unit: &str| PortName { unit: unit.into(), port: 1 };
    assert!(simulation.endpoint(&place("r")).is_none(), "a router has none");
    let [a, b] = [place("a"), place("b")];
    let eop = Word::from_symbols([0xfd, 0xfb, 0xfb, 0xfb], 0xf);
    // A packet with a path address in front, and a length that depends on its number.
    let packet = |port: u8, number: u32| {
        let first = Word::from_symbols([port, 1, 2, 3], 0);
        [vec![first], (0..number % 70).map(Word::data).collect(), vec![eop]].concat()
    };
    let (mut sent, mut came, mut back) = (0, 0, 0);
    let mut words = vec![];
    let mut now = 0;
    while now < scenario.duration.0 {
        now += 1_000_000;
        simulation.run(now, &mut NoObserver);
        let end = simulation.endpoint(&a).unwrap();
        let wanted = packet(2, sent);
        if end.writable(3) >= wanted.len() {
            assert_eq!(end.write(3, &wanted), wanted.len());
            sent += 1;
        }
        let mut buffer = [Word::default(); 256];
        let count = end.read(3, &mut buffer);
        back += buffer[..count].iter().filter(|word| **word == eop).count();
        let end = simulation.endpoint(&b).unwrap();
        let count = end.read(3, &mut buffer);
        words.extend_from_slice(&buffer[..count]);
        while let Some(last) = words.iter().position(|word| *word == eop) {
            let got: Vec<Word> = words.drain(..=last).collect();
            let mut expected = packet(2, came);
            // The router replaced the path address by Fill.
            expected[0] = Word::from_symbols([0xfb, 1, 2, 3], 1);
            assert_eq!(got, expected, "packet {came}");
            came += 1;
            let reply = packet(1, 1);
            assert_eq!(end.write(3, &reply), reply.len());
        }
    }
    assert!(came > 100 && came + 2 >= sent, "{came} of {sent}");
    assert!(back + 4 >= came as usize, "{back} of {came} replies");
    let results = simulation.results();
    assert!(results.conservation.kept, "{:?}", results.conservation);
}

/// Every example network with packets far longer than all buffers, all sources saturated, and
/// without time-outs that could end a deadlock.
#[test]
fn long_packets_do_not_deadlock() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scenarios");
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut looked_at = 0;
    for file in files.filter(|path| path.extension().is_some_and(|is| is == "toml")) {
        let mut scenario = Scenario::parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
        if scenario.routers.is_empty() {
            continue;
        }
        looked_at += 1;
        scenario.duration = Time(3_000_000_000);
        scenario.step = None;
        scenario.faults.retain(|fault| !matches!(fault.what, FaultAction::Block { .. }));
        for router in &mut scenario.routers {
            (router.packet_timeout, router.wait_timeout) = (None, None);
            router.settings.clear();
        }
        for link in &mut scenario.links {
            link.hostile = None;
            if let Medium::SpaceFibre(of) = &mut link.medium {
                let least = 64 * u32::from(of.sending(Side::A).max(of.sending(Side::B)));
                of.output_words = Some(least.next_power_of_two());
                of.input_words = Some((2 * least).next_power_of_two());
                // With a low bandwidth share a channel runs out of credit, and others of the link
                // have precedence.
                of.qos.clear();
            }
        }
        let routers = scenario.routers.clone();
        for flow in &mut scenario.flows {
            let slow = scenario.links.iter().any(|link| link.is_spacewire());
            flow.size = PacketSize::Fixed(if slow { 4 << 10 } else { 64 << 10 });
            flow.pace = PacketPace::Saturate;
            (flow.start, flow.stop, flow.count) = (Time(0), None, None);
        }
        let results = run(&scenario);
        for of in &results.flows {
            let late: u64 = of.series[of.series.len() / 2..].iter().sum();
            assert!(late > 0, "{}: nothing of {} arrives any more", file.display(), of.name);
        }
        let drops: u64 = results.routers.iter().flat_map(|r| &r.drops).map(|d| d.packets).sum();
        assert_eq!(drops, 0, "{}: {:?}", file.display(), routers.len());
    }
    assert!(looked_at >= 2, "{looked_at} networks with routers");
}
