//! Random networks of endpoints and routers, and random address bytes.

use fastrand::Rng;
use std::fmt::Write;

/// Logical addresses of routing tables and packets, from 32 on.
const ADDRESSES: u8 = 7;

/// A random network as the text of a scenario.
pub struct Network {
    pub text: String,
    /// Names of the nodes. Each is an endpoint with port 1.
    pub nodes: Vec<String>,
    /// Virtual channels of each node's link.
    pub channels: Vec<u8>,
    /// Ports of the largest router.
    ports: u8,
}

/// A planned link: its ends and virtual channels; `None` for SpaceWire.
struct Line {
    ends: [String; 2],
    channels: Option<u8>,
}

/// A planned router.
struct Draft {
    ports: u8,
    /// Virtual channels of the link at each port from 1 on; none for a free port.
    channels: Vec<Option<u8>>,
}

impl Draft {
    fn new(rng: &mut Rng) -> Self {
        let ports = rng.u8(4..=7);
        Self { ports, channels: vec![None; usize::from(ports)] }
    }

    fn free(&self) -> Vec<usize> {
        (0..self.channels.len()).filter(|index| self.channels[*index].is_none()).collect()
    }

    /// Takes a random free port. The last one stays free.
    fn take(&mut self, rng: &mut Rng, channels: u8) -> Option<u8> {
        let free = self.free();
        let port = free[rng.usize(..free.len())];
        if free.len() < 2 {
            return None;
        }
        self.channels[port] = Some(channels);
        Some(port as u8 + 1)
    }

    fn linked(&self) -> Vec<u8> {
        (1..=self.ports).filter(|port| self.channels[usize::from(*port) - 1].is_some()).collect()
    }
}

impl Network {
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let mut routers: Vec<Draft> = (0..rng.usize(1..=4)).map(|_| Draft::new(&mut rng)).collect();
        let mut lines = Vec::new();
        // A tree of routers, the nodes, and some more links between routers.
        let count = routers.len();
        for index in 1..count {
            connect(&mut rng, &mut routers, &mut lines, index, None);
        }
        let (mut nodes, mut channels) = (Vec::new(), Vec::new());
        let wanted = rng.usize(3..=5);
        while nodes.len() < 2 || nodes.len() < wanted && rng.u8(..8) != 0 {
            let router = rng.usize(..count);
            let line = line(&mut rng);
            let Some(port) = routers[router].take(&mut rng, line.unwrap_or(1)) else { continue };
            let name = format!("n{}", nodes.len());
            lines.push(Line {
                ends: [format!("{name}:1"), format!("r{router}:{port}")],
                channels: line,
            });
            nodes.push(name);
            channels.push(line.unwrap_or(1));
        }
        for _ in 0..rng.usize(..=count) {
            let index = rng.usize(..count);
            connect(&mut rng, &mut routers, &mut lines, index, Some(count));
        }
        let ports = routers.iter().map(|router| router.ports).max().unwrap_or(1);
        let text = text(&mut rng, &nodes, &routers, &lines);
        Self { text, nodes, channels, ports }
    }

    /// Address bytes of a packet: up to four.
    pub fn address(&self, rng: &mut Rng) -> Vec<u8> {
        let byte = |rng: &mut Rng| match rng.u8(..20) {
            0 => 255,
            1..9 => rng.u8(..=self.ports + 1),
            _ => 32 + rng.u8(..ADDRESSES),
        };
        (0..rng.usize(1..=4)).map(|_| byte(rng)).collect()
    }
}

/// Virtual channels of a link; none for SpaceWire.
fn line(rng: &mut Rng) -> Option<u8> {
    (rng.u8(..6) != 0).then(|| rng.u8(1..=4))
}

/// Connects a router to one before it, or to any below `count`.
fn connect(
    rng: &mut Rng,
    routers: &mut [Draft],
    lines: &mut Vec<Line>,
    index: usize,
    count: Option<usize>,
) {
    let other = rng.usize(..count.unwrap_or(index));
    let channels = line(rng);
    let Some(from) = routers[index].take(rng, channels.unwrap_or(1)) else { return };
    let Some(to) = routers[other].take(rng, channels.unwrap_or(1)) else {
        routers[index].channels[usize::from(from) - 1] = None;
        return;
    };
    lines.push(Line { ends: [format!("r{index}:{from}"), format!("r{other}:{to}")], channels });
}

fn text(rng: &mut Rng, nodes: &[String], routers: &[Draft], lines: &[Line]) -> String {
    let mut text = "title = \"random\"\nduration = \"100ms\"\n".to_owned();
    for name in nodes {
        let _ = writeln!(text, "[[node]]\nname = \"{name}\"\nkind = \"endpoint\"");
    }
    for (index, router) in routers.iter().enumerate() {
        let (entries, map) = (entries(rng, router), map(rng, router));
        let _ = writeln!(
            text,
            "[[router]]\nname = \"r{index}\"\nports = {}\nwait-timeout = \"40us\"\n\
             entries = [{entries}]\nmap = [{map}]",
            router.ports
        );
    }
    for (index, line) in lines.iter().enumerate() {
        let [from, to] = &line.ends;
        let _ = writeln!(text, "[[link]]\nname = \"l{index}\"\nends = [\"{from}\", \"{to}\"]");
        let _ = match line.channels {
            Some(channels) => writeln!(text, "spacefibre = {{ channels = {channels} }}"),
            None => writeln!(text, "spacewire = {{}}"),
        };
    }
    text
}

/// A random routing table: most addresses, some with another entry on virtual network 1.
fn entries(rng: &mut Rng, router: &Draft) -> String {
    let linked = router.linked();
    let mut text = String::new();
    if linked.is_empty() {
        return text;
    }
    for address in 32..32 + ADDRESSES {
        let networks: &[&str] = match rng.u8(..5) {
            0 => &[],
            1 => &["[0, 2, 3, 4, 5]", "[1]"],
            2 => &["[0, 1]"],
            _ => &[""],
        };
        for networks in networks {
            let mut ports = linked.clone();
            rng.shuffle(&mut ports);
            ports.truncate(rng.usize(1..=3));
            let mode = if rng.bool() { "any" } else { "all" };
            let networks = match *networks {
                "" => String::new(),
                list => format!(", networks = {list}"),
            };
            let _ = write!(
                text,
                "{{ address = {address}, ports = {ports:?}, mode = \"{mode}\", delete = {}{networks} }}, ",
                rng.bool()
            );
        }
    }
    text
}

/// Gives some ports other virtual networks than the numbers of their virtual channels, or none.
fn map(rng: &mut Rng, router: &Draft) -> String {
    let mut text = String::new();
    for (index, channels) in router.channels.iter().enumerate() {
        let Some(channels) = channels.filter(|_| rng.bool()) else { continue };
        let mut networks: Vec<u8> = (1..=5).collect();
        rng.shuffle(&mut networks);
        for (vc, network) in (1..channels).zip(networks) {
            let port = index + 1;
            let _ = match rng.u8(..5) {
                0 => write!(text, "{{ port = {port}, vc = {vc} }}, "),
                _ => write!(text, "{{ port = {port}, vc = {vc}, network = {network} }}, "),
            };
        }
    }
    text
}
