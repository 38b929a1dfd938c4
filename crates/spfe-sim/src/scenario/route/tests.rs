use super::super::{Addressing, Scenario, UnitId};
use super::{DeadEndCause, Origin, RouteFinder, RoutePlan};
use spfe_link::network::DiscardReason;

/// a - r1 - r2 - b with two links between the routers, c at r1, and a free port at each router.
const TEXT: &str = r#"
    title = "routes"
    node = [{ name = "a" }, { name = "b", logical-address = 60 }, { name = "c" }]
    [[router]]
    name = "r1"
    ports = 5
    entries = [
        { address = 60, ports = [2, 3] },
        { address = 61, ports = [2, 4], mode = "all" },
        { address = 62, ports = [2], delete = true },
        { address = 63, ports = [4], networks = [1] },
        { address = 64, ports = [2, 4], networks = [5] },
        { address = 65, ports = [2, 4], networks = [5], mode = "all" },
        { address = 66, ports = [2] },
    ]
    [[router]]
    name = "r2"
    ports = 4
    entries = [
        { address = 60, ports = [3] },
        { address = 61, ports = [3] },
        { address = 66, ports = [1] },
    ]
    map = [{ port = 3, vc = 5, network = 2 }, { port = 3, vc = 2, network = 5 }]
    [[link]]
    name = "a"
    ends = ["a", "r1:1"]
    [[link]]
    name = "one"
    ends = ["r1:2", "r2:1"]
    [[link]]
    name = "two"
    ends = ["r2:2", "r1:3"]
    [[link]]
    name = "b"
    ends = ["r2:3", "b"]
    [[link]]
    name = "c"
    ends = ["r1:4", "c"]
    spacefibre = { channels = 2 }
"#;

fn scenario() -> Scenario {
    Scenario::parse(TEXT).unwrap()
}

fn origin(routes: &RouteFinder<'_>, vc: u8) -> Origin {
    routes.origin(&"a".parse().unwrap(), vc).unwrap()
}

fn plan(addressing: Addressing, to: &[&str], vc: u8) -> Result<RoutePlan, String> {
    let scenario = scenario();
    let routes = RouteFinder::new(&scenario);
    let to: Vec<_> = to.iter().map(|name| (scenario.unit(name).unwrap(), 1)).collect();
    routes.plan(origin(&routes, vc), &to, &addressing, 60)?.accepted()
}

/// Names of the destinations, and dead ends in words, of packets that node a sends.
fn follow(vc: u8, bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    let scenario = scenario();
    let routes = RouteFinder::new(&scenario);
    let trace = routes.follow(origin(&routes, vc), bytes);
    let name = |unit: UnitId| scenario.name_of(unit).to_owned();
    let destinations = trace.destinations.iter().map(|end| name(end.unit)).collect();
    (destinations, trace.dead_ends.iter().map(|end| end.text(&scenario)).collect())
}

#[test]
fn finds_the_shortest_route() {
    let plan_b = plan(Addressing::Auto, &["b"], 0).unwrap();
    assert_eq!((plan_b.path, plan_b.trace.elements.links), (vec![2, 3], vec![0, 1, 3]));
    let inputs: Vec<_> =
        plan_b.trace.elements.inputs.iter().map(|input| (input.router, input.port)).collect();
    assert_eq!(inputs, [(0, 1), (1, 1)]);
    assert_eq!(plan(Addressing::Auto, &["c"], 1).unwrap().path, [4]);
    assert_eq!(plan(Addressing::Auto, &["r2"], 0).unwrap().path, [2, 0]);
    plan(Addressing::Auto, &["b", "c"], 0).unwrap_err();
    plan(Addressing::Auto, &["c"], 3).expect_err("the link of c has no channel 3");
    plan(Addressing::Auto, &["r2"], 1).expect_err("only network 0 reaches configuration ports");
}

#[test]
fn a_virtual_network_may_use_another_channel_on_each_link() {
    let plan = plan(Addressing::Auto, &["b"], 2).unwrap();
    assert_eq!(plan.trace.destinations[0].vc, 5);
}

#[test]
fn follows_logical_addresses() {
    let group = plan(Addressing::Logical(60), &["b"], 0).unwrap();
    assert_eq!((group.path.len(), group.target, group.trace.adaptive), (0, 60, true));
    assert_eq!(group.trace.elements.links, [0, 1, 2, 3]);
    assert_eq!(group.trace.routes(100).0.len(), 2);
    assert!(group.trace.routes(2).1, "two routes are all");
    assert!(!group.trace.routes(1).1, "one route is not all");
    let multicast = plan(Addressing::Logical(61), &["b", "c"], 0).unwrap();
    assert_eq!((multicast.trace.multicast, multicast.trace.destinations.len()), (true, 2));
    plan(Addressing::Logical(63), &["c"], 1).unwrap();
}

#[test]
fn after_a_deleted_address_the_next_byte_decides() {
    let deleted = plan(Addressing::Logical(62), &["b"], 0).unwrap();
    assert_eq!((deleted.path, deleted.target), (vec![62], 60));
    assert_eq!(deleted.trace.elements.links, [0, 1, 3]);
}

#[test]
fn a_group_uses_the_ports_that_carry_the_virtual_network() {
    // Port 4, to c, has virtual channels 0 and 1 only.
    let scenario = scenario();
    let routes = RouteFinder::new(&scenario);
    let group = routes.follow(origin(&routes, 5), &[64, 3, 0]);
    assert_eq!((group.destinations.len(), group.adaptive), (0, false));
    assert_eq!(group.elements.links, [0, 1]);
    let multicast = routes.follow(origin(&routes, 5), &[65, 60]);
    let cause = DeadEndCause::Discarded(DiscardReason::OutputUnmapped);
    assert_eq!(multicast.dead_ends.iter().map(|end| end.cause).collect::<Vec<_>>(), [cause]);
}

#[test]
fn names_every_dead_end() {
    let none = Vec::<String>::new();
    for (vc, bytes, says) in [
        (0, &[99][..], "router 'r1' has no entry for address 99 on virtual network 0"),
        (0, &[255], "router 'r1' has no entry for address 255 on virtual network 0"),
        (0, &[9], "router 'r1' has no port 9"),
        (0, &[2], "router 'r2', port 1: no address byte is left"),
        (0, &[5, 60], "router 'r1', port 5: no link"),
        (
            2,
            &[4],
            "router 'r1': virtual network 2 has no virtual channel at the port for address 4",
        ),
        (
            1,
            &[0, 60],
            "router 'r1': virtual network 1 has no virtual channel at the port for address 0",
        ),
        (0, &[66], "router 'r2', port 1: packets go round in a loop"),
    ] {
        // Router r2 sends address 66 back; r1 sends it to r2 again.
        assert_eq!(follow(vc, bytes), (none.clone(), vec![says.to_owned()]), "{bytes:?}");
    }
    assert_eq!(follow(0, &[2, 3, 1]), (vec!["b".into()], none));
}

#[test]
fn refuses_addresses_that_lead_elsewhere() {
    for (addressing, to, says) in [
        (Addressing::Logical(63), "c", "no entry for address 63"),
        (Addressing::Logical(60), "c", "leads to 'b', which `to` does not name"),
        (Addressing::Logical(61), "b", "leads to 'c', which `to` does not name"),
        (Addressing::Path(vec![4]), "b", "leads to 'c', which `to` does not name"),
        (Addressing::Path(vec![2, 3, 1]), "b", "2 address bytes are left at 'b'"),
    ] {
        let error = plan(addressing, &[to], 0).unwrap_err();
        assert!(error.contains(says), "{error} / {says}");
    }
    let scenario = scenario();
    let error = RouteFinder::new(&scenario).origin(&"a".parse().unwrap(), 9).unwrap_err();
    assert_eq!(error, "virtual channel 9 at a:1: its link has 8");
}

#[test]
fn a_path_may_lead_nowhere() {
    let plan = plan(Addressing::Path(vec![9]), &["b"], 0).unwrap();
    assert_eq!((plan.path, plan.trace.destinations), (vec![9], vec![]));
    let elements = plan.trace.elements;
    assert_eq!((elements.links, elements.inputs.len()), (vec![0], 1));
}

#[test]
fn parallel_groups_do_not_blow_up() {
    // 60 routers in a row, two links between each: 2^59 routes.
    let mut text = String::from("title = \"row\"\nnode = [{ name = \"a\" }, { name = \"b\" }]\n");
    for index in 0..60 {
        text += &format!(
            "[[router]]\nname = \"r{index}\"\nports = 4\n\
             entries = [{{ address = 40, ports = [3, 4] }}]\n"
        );
    }
    let mut ends = vec![("a".to_owned(), "r0:1".to_owned())];
    for index in 0..59 {
        for (from, to) in [(3, 1), (4, 2)] {
            ends.push((format!("r{index}:{from}"), format!("r{}:{to}", index + 1)));
        }
    }
    ends.push(("r59:3".into(), "b:1".into()));
    ends.push(("r59:4".into(), "b:2".into()));
    for (index, (from, to)) in ends.iter().enumerate() {
        text += &format!("[[link]]\nname = \"l{index}\"\nends = [\"{from}\", \"{to}\"]\n");
    }
    let scenario = Scenario::parse(&text).unwrap();
    let routes = RouteFinder::new(&scenario);
    let trace = routes.follow(origin(&routes, 0), &[40]);
    assert_eq!((trace.destinations.len(), trace.dead_ends.len()), (2, 0));
    assert_eq!(trace.elements.links.len(), scenario.links.len());
    let (found, complete) = trace.routes(50);
    assert_eq!((found.len(), complete), (50, false));
    assert!(found.iter().all(|route| route.hops.len() == 60));
}
