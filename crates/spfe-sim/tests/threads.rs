//! Several threads give the results of one, and observers see the same in the same order.

use spfe_link::datalink::LinkBroadcast;
use spfe_link::network::DiscardedPacket;
use spfe_link::spacewire::BroadcastCode;
use spfe_sim::link::{EndEvent, Observer, Side};
use spfe_sim::packet::PacketHeader;
use spfe_sim::scenario::Scenario;
use spfe_sim::simulation::Simulation;
use spfe_sim::time::Ps;
use std::fmt::{Debug, Write};

/// Several threads make at least so many steps of a network that falls into parts.
const SHARED: u64 = 500;

/// Everything but packets and words.
#[derive(Default, PartialEq)]
struct Seen(Vec<String>);

impl Seen {
    fn add(&mut self, what: &str, details: impl Debug) {
        self.0.push(format!("{what} {details:?}"));
    }
}

impl Observer for Seen {
    fn event(&mut self, at: Ps, link: u32, side: Side, event: EndEvent) {
        self.add("event", (at, link, side, event));
    }

    fn handed_in(&mut self, at: Ps, link: u32, side: Side, channel: u8, packet: PacketHeader) {
        self.add("handed in", (at, link, side, channel, packet));
    }

    fn delivered(&mut self, at: Ps, link: u32, side: Side, channel: u8, packet: PacketHeader) {
        self.add("delivered", (at, link, side, channel, packet));
    }

    fn dropped(&mut self, at: Ps, router: u32, dropped: DiscardedPacket) {
        self.add("dropped", (at, router, dropped));
    }

    fn broadcast(&mut self, at: Ps, link: u32, side: Side, sent: bool, message: &LinkBroadcast) {
        self.add("broadcast", (at, link, side, sent, message));
    }

    fn code(&mut self, at: Ps, link: u32, side: Side, sent: bool, code: BroadcastCode) {
        self.add("code", (at, link, side, sent, code));
    }
}

/// Runs a scenario in pieces. Returns the steps of several threads, the results and what was seen.
fn run(text: &str, threads: usize) -> (u64, String, Seen) {
    let scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut simulation = Simulation::new(&scenario).expect("a simulation");
    simulation.set_threads(threads);
    let mut seen = Seen::default();
    for piece in 1..=3 {
        simulation.run(scenario.duration.0 * piece / 3, &mut seen);
    }
    let results = simulation.results();
    assert!(results.conservation.kept, "{:?}", results.conservation);
    (simulation.shared_steps(), serde_json::to_string(&results).expect("text"), seen)
}

/// Compares threads with one thread. Returns the least number of steps that several threads made.
fn compare(name: &str, text: &str, all: &[usize]) -> u64 {
    let (none, results, seen) = run(text, 1);
    assert_eq!(none, 0, "{name}");
    let mut least = u64::MAX;
    for &threads in all {
        let (shared, other, others) = run(text, threads);
        let first = seen.0.iter().zip(&others.0).position(|(one, other)| one != other);
        assert_eq!(
            first.map(|at| (&seen.0[at], &others.0[at])),
            None,
            "{name}, {threads} threads, of {} and {}",
            seen.0.len(),
            others.0.len(),
        );
        assert!(seen == others, "{name}, {threads} threads");
        let at = results.bytes().zip(other.bytes()).position(|(one, other)| one != other);
        let around = |text: &str| {
            let at = at.unwrap_or(text.len());
            text.get(at.saturating_sub(300)..(at + 100).min(text.len())).unwrap_or("").to_owned()
        };
        assert!(results == other, "{name}, {threads}: {}\n{}", around(&results), around(&other));
        least = least.min(shared);
    }
    least
}

/// Nodes at routers around another router, or around two of them.
fn tree(seed: u64, routers: usize, tops: usize, more: &str) -> String {
    let mut text = format!("title = 'tree'\nduration = '90us'\nseed = {seed}\n");
    let mut add = |line: String| text.write_str(&line).expect("memory");
    for top in 0..tops {
        add(format!("[[router]]\nname = 'top{top}'\nports = {}\n", routers + 1));
    }
    for router in 0..routers {
        add(format!("[[router]]\nname = 'r{router}'\nports = {}\n", 4 + tops));
        for top in 0..tops {
            add(format!(
                "[[link]]\nname = 'up{router}.{top}'\nends = ['r{router}:{}', 'top{top}:{}']\n\
                 rate = '6.25G'\nspacefibre = {{ lanes = 2 }}\n",
                4 + top,
                router + 1
            ));
        }
        for leaf in 0..3 {
            let name = format!("n{router}.{leaf}").replace('.', "x");
            add(format!(
                "[[node]]\nname = '{name}'\n[[link]]\nname = 'l{name}'\n\
                 ends = ['{name}', 'r{router}:{}']\nrate = '3.125G'\nspacefibre = {{ lanes = 1 }}\n",
                leaf + 1
            ));
        }
    }
    for router in 0..routers {
        for leaf in 0..3 {
            add(format!(
                "[[flow]]\nname = 's{router}x{leaf}'\nfrom = 'n{router}x{leaf}'\n\
                 to = ['n{}x{}']\nsize = '{}B'\n",
                (router + 1 + leaf) % routers,
                (leaf + 1) % 3,
                100 + 217 * leaf
            ));
        }
    }
    text + more
}

#[test]
fn trees() {
    for seed in 1..3 {
        assert!(compare("a tree", &tree(seed, 6, 1, ""), &[2, 3]) > SHARED, "one thread");
    }
}

#[test]
fn two_routers_in_the_middle() {
    // They have 24 of 84 ends of lanes.
    assert!(compare("two routers", &tree(4, 6, 2, ""), &[2]) > SHARED, "one thread");
}

#[test]
fn messages_and_time_slots() {
    let more = "[schedule]\nslot = '9us'\nsource = 'n0x0'\nchannel = 5\n\
                [[broadcast]]\nname = 'b'\nfrom = 'n2x1'\nchannel = 7\nperiod = '700ns'\n\
                jitter = '300ns'\n\
                [time-codes]\nmaster = 'n4x2'\nchannel = 1\nperiod = '5us'\n";
    assert!(compare("messages", &tree(5, 6, 1, more), &[2]) > SHARED, "one thread");
}

#[test]
fn commands() {
    let more = "[[node]]\nname = 'm'\ntarget = { bytes = '64KiB' }\n[[link]]\nname = 'lm'\n\
                ends = ['m', 'r0:6']\nrate = '3.125G'\nspacefibre = { lanes = 1 }\n\
                [[rmap]]\nname = 'c'\nfrom = 'n3x0'\nto = 'm'\noperation = 'write'\nsize = 100\n\
                [[rmap]]\nname = 'd'\nfrom = 'n1x1'\nto = 'r4'\noperation = 'read'\n\
                address = 0\nsize = 4\n";
    let text = tree(6, 6, 1, more).replace("ports = 5", "ports = 6");
    assert!(compare("commands", &text, &[2]) > SHARED, "one thread");
}

#[test]
fn faults() {
    let more = "[[fault]]\nwhat = 'bit-errors'\nlink = 'ln1x1'\nrate = 1e-5\nfrom = '20us'\n\
                [[fault]]\nwhat = 'bit-errors'\nlink = 'up4.0'\nrate = 1e-5\nfrom = '21us'\n\
                [[fault]]\nwhat = 'link-reset'\nlink = 'up1.0'\nend = 'a'\nat = '40us'\n\
                [[fault]]\nwhat = 'lane-reset'\nlink = 'ln5x0'\nend = 'b'\nat = '50us'\n\
                [[fault]]\nwhat = 'link-reset'\nlink = 'ln0x2'\nend = 'b'\nat = '60us'\n";
    assert!(compare("faults", &tree(7, 6, 1, more), &[2]) > SHARED, "one thread");
}
