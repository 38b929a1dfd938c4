//! Scenario files: every example is valid, and errors name the line and the reason.

use spfe_sim::link::Side;
use spfe_sim::scenario::{
    Addressing, EntryMode, FaultAction, FaultTiming, Medium, PacketPace, PacketSize, PortName,
    Scenario, Time,
};
use std::path::PathBuf;

fn examples() -> Vec<PathBuf> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenarios");
    let entries = std::fs::read_dir(directory).expect("examples/scenarios");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

fn example(name: &str) -> Scenario {
    let path = examples().into_iter().find(|path| path.ends_with(name)).expect(name);
    let text = std::fs::read_to_string(path).expect("readable");
    Scenario::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_example_is_valid() {
    let files = examples();
    assert!(files.len() >= 9, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("readable");
        let scenario =
            Scenario::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(!scenario.description.is_empty(), "{}", file.display());
        assert!(scenario.duration <= Time(10_000_000_000), "{}", file.display());
        assert!(!scenario.flows.is_empty(), "{}", file.display());
    }
}

#[test]
fn keys_of_examples_are_read_correctly() {
    let scenario = example("payload-network.toml");
    assert_eq!((scenario.nodes.len(), scenario.routers.len(), scenario.links.len()), (5, 2, 7));
    let multicast = &scenario.routers[0].entries[1];
    assert_eq!((multicast.mode, multicast.ports.as_slice()), (EntryMode::All, &[3, 4][..]));
    let echoes = &scenario.flows[1];
    assert_eq!(echoes.size, PacketSize::Uniform { min: 512, max: 4096 });
    assert_eq!(echoes.route, Addressing::Logical(96));
    let memory = &scenario.links[scenario.link("memory").expect("a link")];
    let Medium::SpaceFibre(fibre) = &memory.medium else { panic!("SpaceFibre") };
    assert_eq!((fibre.sending(Side::A), fibre.fct_multiplier()), (3, 3));
    let downlink = fibre.qos(Side::A, 3).expect("set");
    assert_eq!((downlink.priority, downlink.expected_bandwidth), (4, 26214));
    assert_eq!(fibre.qos(Side::B, 3), None, "only a-to-b");
    assert_eq!(scenario.quantum_ps(), 51_200, "8 word periods of 6.4 ns");
    let cut = &scenario.faults[0];
    assert_eq!(cut.when, FaultTiming::At(Time(1_000_000_000)));
    assert!(matches!(&cut.what, FaultAction::Words { link, .. } if link == "trunk-2"));

    let scheduled = example("scheduled-traffic.toml");
    let Medium::SpaceFibre(fibre) = &scheduled.links[0].medium else { panic!("SpaceFibre") };
    assert_eq!(fibre.qos(Side::B, 1).map(|qos| qos.time_slots), Some(0xFFFF));
    let period = Time(640_000_000);
    let pace = PacketPace::Period { period, jitter: Time(0), burst: 4 };
    assert_eq!(scheduled.flows[1].pace, pace);
    let bridge = example("spacewire-bridge.toml");
    assert_eq!(bridge.links[0].rate.0, 200_000_000);
    assert!(bridge.links[0].is_spacewire());
}

const GOOD: &str = r#"title = "t"
[[node]]
name = "a"
[[node]]
name = "b"
[[router]]
name = "r"
ports = 3
[[link]]
name = "one"
ends = ["a", "r:1"]
[[link]]
name = "two"
ends = ["b", "r:2"]
spacefibre = { lanes = 2, channels = 4 }
[[flow]]
name = "f"
from = "a"
to = "b"
size = 100
"#;

#[test]
fn a_short_file_is_valid() {
    let scenario = Scenario::parse(GOOD).expect("good");
    assert_eq!(scenario.duration, Time(1_000_000_000));
    assert_eq!(scenario.step_ps(), 10_000_000);
    let place = PortName { unit: "r".into(), port: 2 };
    assert_eq!(scenario.link_at(&place), Some((1, Side::B)));
    assert_eq!(scenario.name_of(scenario.unit("r").expect("r")), "r");
}

/// Each case replaces a piece of the valid file. The error is in this line and contains this text.
const WRONG: &[(&str, &str, usize, &str)] = &[
    ("title = \"t\"", "title = \"\"", 1, "title is empty"),
    ("title = \"t\"", "titel = \"t\"", 1, "unknown field `titel`"),
    ("title = \"t\"", "title = \"t\"\nduration = \"0s\"", 2, "duration 0 ps"),
    ("title = \"t\"", "title = \"t\"\nduration = 1e9", 2, "a time such as \"10us\""),
    ("title = \"t\"", "title = \"t\"\nstep = \"1ps\"", 2, "make it longer"),
    ("name = \"b\"", "name = \"a\"", 5, "node 'a': the name is taken"),
    ("name = \"b\"", "name = \"b c\"", 5, "a name has 1 to 40 letters"),
    (
        "name = \"b\"",
        "name = \"b\"\nlogical-address = 31",
        6,
        "logical address 31 is not in 32 to 254",
    ),
    ("name = \"b\"", "name = \"b\"\nkind = \"memory\"", 4, "memory without a target"),
    ("ports = 3", "ports = 32", 8, "router 'r': ports 32 is not in 1 to 31"),
    ("ports = 3", "ports = 3\nentries = [{address = 40, ports = [3]}]", 9, "port 3 has no link"),
    (
        "ports = 3",
        "ports = 3\nentries = [{address = 40, ports = [4]}]",
        9,
        "port 4 is not in 1 to 3",
    ),
    ("ports = 3", "ports = 3\nentries = [{address = 20, ports = [1]}]", 9, "not a logical address"),
    (
        "ports = 3",
        "ports = 3\nmap = [{port = 1, vc = 0, network = 2}]",
        9,
        "always belong together",
    ),
    (
        "ports = 3",
        "ports = 3\nmap = [{port = 1, vc = 1, network = 2}]",
        9,
        "virtual channels 1 and 2",
    ),
    ("ports = 3", "ports = 3\nmap = [{port = 1, vc = 9}]", 9, "virtual channel 9 does not exist"),
    ("ends = [\"a\", \"r:1\"]", "ends = [\"a\", \"r:4\"]", 11, "port 4 of router 'r' is above 3"),
    (
        "ends = [\"a\", \"r:1\"]",
        "ends = [\"a\", \"r:2\"]",
        14,
        "port r:2 already has the link 'one'",
    ),
    (
        "ends = [\"a\", \"r:1\"]",
        "ends = [\"a\", \"c\"]",
        11,
        "no node or router 'c'; there are: a, b, r",
    ),
    ("ends = [\"a\", \"r:1\"]", "ends = [\"a\", \"r:0\"]", 11, "port of 1 to 31"),
    (
        "ends = [\"a\", \"r:1\"]",
        "ends = [\"a\", \"r:1\"]\nrate = \"6.25\"",
        12,
        "rate '6.25' has no unit: 6.25G",
    ),
    (
        "ends = [\"a\", \"r:1\"]",
        "ends = [\"a\", \"r:1\"]\nspacewire = {}\nspacefibre = {}",
        9,
        "both",
    ),
    ("lanes = 2", "lanes = 17", 15, "lanes 17 is not in 1 to 16"),
    ("lanes = 2", "lanes = 2, sending-lanes = 3", 15, "sending lanes 3 is not in 1 to 2"),
    ("lanes = 2", "lanes = 2, a-to-b-lanes = [0], b-to-a-lanes = [1]", 15, "both ways"),
    ("lanes = 2", "lanes = 2, ppm = [0, 200]", 15, "ppm 200 is not in -100 to 100"),
    (
        "lanes = 2",
        "lanes = 2, input-words = 200",
        15,
        "input-words 200 is not a power of two from 256",
    ),
    (
        "lanes = 2",
        "lanes = 2, qos = [{vc = 4}]",
        15,
        "qos: virtual channel 4 does not exist: it has 4",
    ),
    ("lanes = 2", "lanes = 2, qos = [{vc = 1, slots = \"64\"}]", 15, "time-slots 0 to 63"),
    ("lanes = 2", "lanes = 2, qos = [{vc = 1}, {vc = 1, direction = \"a-to-b\"}]", 15, "two qos"),
    ("lanes = 2", "lanes = 2, start = [\"auto\", \"auto\"]", 15, "waits for the other"),
    ("from = \"a\"", "from = \"r\"", 18, "'r' is a router; name a node"),
    ("from = \"a\"", "from = \"a:2\"", 18, "no link has the port a:2"),
    (
        "from = \"a\"",
        "from = \"a\"\nvc = 8",
        19,
        "virtual channel 8 does not exist: the link at a:1 has 8",
    ),
    ("from = \"a\"", "from = \"a\"\nvc = 5", 20, "no route from a:1 on virtual channel 5 to b:1"),
    ("to = \"b\"", "to = \"a\"", 19, "'a' is named twice"),
    ("size = 100", "size = 11", 20, "size 11 is not in 12 to"),
    ("size = 100", "size = { min = 11, max = 40 }", 20, "size 11 is not in 12 to 40"),
    ("size = 100", "size = { min = 19, max = 14 }", 20, "size 19 is not in 12 to 14"),
    ("size = 100", "size = 100\nrate = \"1G\"\nperiod = \"1us\"", 16, "both rate and period"),
    ("size = 100", "size = 100\njitter = \"1us\"", 16, "without a period"),
    ("size = 100", "size = 100\nroute = [32]", 21, "path addresses 0 to 31"),
    ("size = 100", "size = 100\nroute = 255", 21, "255 is not a route"),
    ("size = 100", "size = 100\nstart = \"2us\"\nstop = \"1us\"", 22, "ends at 1 µs"),
    ("size = 100", "size = 100\n[[fault]]\nwhat = \"cut\"", 21, "\"cut\" has no duration"),
    (
        "size = 100",
        "size = 100\n[[fault]]\nwhat = \"drop\"\nlink = \"one\"",
        21,
        "at, every, random",
    ),
    (
        "size = 100",
        "size = 100\n[[fault]]\nwhat = \"drop\"\nlink = \"one\"\nat = \"0ns\"\nflow = \"f\"",
        21,
        "no use for flow",
    ),
    (
        "size = 100",
        "size = 100\n[[fault]]\nwhat = \"drop\"\nlink = \"six\"\nat = \"0ns\"",
        23,
        "no link 'six'; there are: one, two",
    ),
    (
        "size = 100",
        "size = 100\n[[fault]]\nwhat = \"drop\"\nlink = \"two\"\nlane = 2\nat = \"0ns\"",
        24,
        "lane 2 does not exist",
    ),
    (
        "size = 100",
        "size = 100\n[[fault]]\nwhat = \"drop\"\nlink = \"two\"\nword = \"null\"\nat = \"0ns\"",
        24,
        "link 'two' is SpaceFibre, which does not have this word",
    ),
    (
        "ends = [\"a\", \"r:1\"]",
        "ends = [\"a\", \"r:1\"]\nspacewire = {}\n[[fault]]\nwhat = \"drop\"\nlink = \"one\"\n\
         word = \"ack\"\nat = \"0ns\"",
        16,
        "link 'one' is SpaceWire, which does not have this word",
    ),
    (
        "ends = [\"a\", \"r:1\"]",
        "ends = [\"a\", \"r:1\"]\nspacewire = {}\n[[fault]]\nwhat = \"reorder\"\nlink = \"one\"\n\
         at = \"0ns\"",
        14,
        "link 'one' is SpaceWire, which does not have this fault",
    ),
    (
        "size = 100",
        "size = 100\n[[broadcast]]\nname = \"x\"\nfrom = \"a\"\nchannel = 1\nperiod = \"1us\"\n\
         [time-codes]\nmaster = \"b\"\nperiod = \"1us\"\nchannel = 1",
        29,
        "broadcast channel 1 belongs to 'a'",
    ),
    (
        "size = 100",
        "size = 100\n[[rmap]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\noperation = \"read\"",
        24,
        "node 'b' has no target",
    ),
    (
        "size = 100",
        "size = 100\n[[rdma]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\noperation = \"read\"",
        24,
        "no target of RDMA 'b'; there are: none",
    ),
    (
        "ends = [\"a\", \"r:1\"]",
        "ends = [\"a\", \"r:1\"]\nhostile = \"drop=2\"",
        9,
        "probability 2 is not in 0 to 1",
    ),
    (
        "ends = [\"a\", \"r:1\"]",
        "ends = [\"a\", \"r:1\"]\nhostile = \"drop=0.1\"",
        12,
        "no end of it is a node with RDMA",
    ),
    ("size = 100", "size = 100\n[capture]\nwords = [\"six\"]", 21, "no link 'six'"),
];

#[test]
fn errors_name_line_and_reason() {
    for (old, new, line, words) in WRONG {
        assert!(GOOD.contains(old), "{old}");
        let text = GOOD.replacen(old, new, 1);
        let error = Scenario::parse(&text).expect_err(new);
        let found = error.problems.iter().any(|problem| problem.message.contains(words));
        assert!(found, "{new}: '{words}' is not in: {error}");
        let lines: Vec<_> = error.problems.iter().map(|problem| problem.line).collect();
        assert!(lines.contains(&Some(*line)), "{new}: line {line} is not in {lines:?}: {error}");
    }
}

/// A scenario with RDMA whose node and operations have these keys.
fn rdma(node: &str, operations: &str) -> Result<Scenario, String> {
    let text = format!(
        "title = \"t\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n{node}\n[[link]]\n\
         name = \"l\"\nends = [\"a\", \"b\"]\n[[rdma]]\nname = \"x\"\nfrom = \"a\"\n\
         to = \"b\"\n{operations}"
    );
    Scenario::parse(&text).map_err(|error| error.to_string())
}

#[test]
fn rdma_that_cannot_work_is_refused() {
    let region = "rdma = { region = [{ name = \"m\", size = 4096 }] }";
    let good = rdma(region, "operation = \"write\"\nsize = 512\ngroup = 8").unwrap();
    let of = &good.rdmas[0];
    assert_eq!((of.group, of.outstanding, of.span()), (8, 8, 4096));
    assert_eq!(rdma(region, "operation = \"atomic\"").unwrap().rdmas[0].span(), 8);
    let other = "operation = \"write\"\n[[rdma]]\nname = \"y\"\nfrom = \"a\"\nto = \"b\"\n\
                 operation = \"atomic\"";
    for (node, operations, part) in [
        ("rdma = { protocol = 3 }", "operation = \"send\"", "protocol 0x03: 0xf0 to 0xfe"),
        ("rdma = { protocol = 254 }", "operation = \"send\"", "0xfe is that of flows"),
        ("rdma = { logical_address = 99 }", "operation = \"send\"", "not that of the node, 254"),
        ("target = {}\nrdma = { rmap = {} }", "operation = \"send\"", "two RMAP targets"),
        ("rdma = {}", "operation = \"write\"", "no region ''; there are: none"),
        (region, "operation = \"read\"\nregion = \"n\"", "no region 'n'; there are: m"),
        (region, "operation = \"read\"\nsize = 4097", "region 'm' has 0x0 to 0x1000"),
        (region, "operation = \"read\"\nsize = 0", "size 0 is not in 1 to"),
        (region, "operation = \"atomic\"\nsize = 16", "size 16 is not in 8 to 8"),
        (region, "operation = \"atomic\"\naddress = 4", "0x4 is not a multiple of 8"),
        (region, "operation = \"write\"\ngroup = 4\noutstanding = 2", "group 4 is not in 1 to 2"),
        (region, "operation = \"write\"\nrate = \"1G\"\nperiod = \"1us\"", "both rate and"),
        (region, other, "'x' writes to 0x0 to 0x8, too"),
    ] {
        let error = rdma(node, operations).unwrap_err();
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    let text = GOOD.replace("lanes = 2", "lanes = 0").replace("size = 100", "size = 0");
    let error = Scenario::parse(&text).expect_err("wrong");
    assert!(error.problems.len() >= 2, "{error}");
    assert!(error.problems.is_sorted_by_key(|problem| problem.line), "{error}");
}

#[test]
fn no_text_makes_it_panic() {
    // Cuts out a piece, or changes a character, at every position.
    for at in 0..GOOD.len() {
        let cut = [&GOOD[..at], &GOOD[(at + 7).min(GOOD.len())..]].concat();
        let _ = Scenario::parse(&cut);
        for other in ["9", "\"", "]", "-", "99999999999999999999", "\u{20ac}"] {
            let changed = [&GOOD[..at], other, &GOOD[at + 1..]].concat();
            let _ = Scenario::parse(&changed);
        }
    }
}

#[test]
fn a_foreign_node_and_its_stream_come_together() {
    let file = |link: &str, more: &str| {
        format!(
            "title = \"t\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"core\"\nkind = \"foreign\"\n\
             [[link]]\nname = \"l\"\nends = [\"a\", \"core\"]\n{link}\n{more}"
        )
    };
    let stream = "foreign = \"unix:core.sock,words=16\"";
    let good = Scenario::parse(&file(stream, "")).unwrap();
    let side = good.foreign_side(&good.links[0]);
    assert_eq!(side, Some(spfe_sim::link::Side::B));
    assert_eq!(good.quantum_ps(), 8 * 6400, "less than a message");
    let short = Scenario::parse(&file("foreign = \"unix:core.sock,words=2\"", "")).unwrap();
    assert_eq!(short.quantum_ps(), 2 * 6400, "a message");
    let error = spfe_sim::simulation::Simulation::new(&good).err().unwrap();
    assert!(error.to_string().contains("nothing opens its stream"), "{error}");
    let two = "[[node]]\nname = \"b\"\n[[link]]\nname = \"m\"\nends = [\"a:2\", \"b\"]\n\
               foreign = \"unix:x\"";
    let flow =
        "[[flow]]\nname = \"f\"\nfrom = \"core\"\nto = [\"a\"]\nsize = 64\ncontinuous = true";
    for (text, part) in [
        (file("", ""), "give it a stream"),
        (file("foreign = \"core.sock\"", ""), "no such kind of address"),
        (file("foreign = \"unix:x,words=1024\"\nspacefibre = { lanes = 8 }", ""), "1 to 512"),
        (file(&format!("{stream}\nspacewire = {{}}"), ""), "is SpaceWire"),
        (file(&format!("{stream}\nspacefibre = {{ ppm = [0, 9] }}"), ""), "two clocks"),
        (file(stream, two), "no end at a node of kind"),
        (file(stream, flow), "sends by itself"),
    ] {
        let error = Scenario::parse(&text).unwrap_err().to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
}
