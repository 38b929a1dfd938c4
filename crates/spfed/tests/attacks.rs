//! A victim beside hostile clients: its pings and its 64-byte packets take as long as beside a busy
//! client that does no harm.
//!
//! `make isolation` measures for longer and prints the table of docs/operations.md.

mod common;

use common::{Client, Mortal, SOON, place};
use spfe::{Buf, Deadline, Endpoint, Region, Rx, Tx};
use spfe_session::{Connection, Request};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Attacks of the example `attacker`, the number of its busy threads, and what they do.
const ATTACKS: [(&str, usize, &str); 8] = [
    ("linger", 1, "passes sockets whose close waits for 2 s"),
    ("bell", 1, "rings, empties and fills its doorbell"),
    ("long", 1, "sends packets of 256 MiB"),
    ("remove", 2, "registers and removes regions, and sends packets of 64 MiB"),
    ("queues", 1, "keeps 8 queues full of packets of 4 MiB"),
    ("holes", 3, "punches holes of 256 MiB into memory that it sends"),
    ("memory", 1, "registers and removes 256 MiB"),
    ("watch", 1, "watches its event 15,000 times"),
];

/// What an operation may take longer than beside the busy client: the median and the worst. Both are
/// for loaded machines; docs/operations.md has the times of an idle one.
const MEDIAN_MORE: Duration = Duration::from_millis(100);
const WORST_MORE: Duration = Duration::from_secs(1);

/// A daemon process.
struct Daemons {
    _child: Mortal,
    path: PathBuf,
}

impl Daemons {
    fn start(name: &str) -> Self {
        let path = place(&format!("attack-{name}"));
        let mut child = Command::new(env!("CARGO_BIN_EXE_spfed"))
            .args(["--endpoints", "4", "--listen"])
            .arg(&path)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        let mut lines = lines.lines();
        assert!(lines.any(|line| line.unwrap().contains("listening on")));
        // Whatever it says later must not block it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { _child: Mortal(child), path }
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Starts the example `attacker`.
fn attacker(name: &str, path: &Path) -> Mortal {
    let mut child = common::example("attacker")
        .args([name.as_ref(), path.as_os_str()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "ready"), "the attacker has failed");
    Mortal(child)
}

/// A client on endpoints 0 and 1.
struct Victim {
    tx: Tx,
    rx: Rx,
    packet: Option<Buf>,
    control: Client,
    _memory: [Region; 2],
}

impl Victim {
    fn new(path: &Path) -> Self {
        let open = |end| Endpoint::open(&format!("unix:{}/{end}", path.display())).unwrap();
        let ends = [open(0), open(1)];
        let memory = ends.each_ref().map(|end| end.alloc(4096).unwrap());
        let tx = ends[0].port(0).unwrap().vc(0).unwrap().tx().unwrap();
        let mut rx = ends[1].port(0).unwrap().vc(0).unwrap().rx().unwrap();
        rx.post_all(&mut memory[1].split(64, 4).unwrap());
        let packet = Some(memory[0].buf(0..64).unwrap());
        let control = Client::over(Connection::open(path).unwrap(), Some(0)).unwrap();
        Self { tx, rx, packet, control, _memory: memory }
    }

    fn ping(&mut self) {
        self.control.ask(&Request::Ping).unwrap();
    }

    /// Sends a packet, and waits until it has arrived and comes back to the sender.
    fn packet(&mut self) {
        let limit = Deadline::after(SOON);
        self.tx.send(self.packet.take().unwrap()).unwrap();
        let got = self.rx.recv(limit).expect("the packet arrives");
        self.rx.post(got.buf).unwrap();
        self.tx.drain(limit).expect("the packet is completed");
        self.packet = self.tx.take();
    }
}

/// Sorted times of an operation.
struct Times(Vec<Duration>);

impl Times {
    fn median(&self) -> Duration {
        self.0[self.0.len() / 2]
    }
    fn worst(&self) -> Duration {
        self.0[self.0.len() - 1]
    }
}

/// Times of the victim's pings and packets beside these clients.
fn measure(names: &[&str], duration: Duration) -> [Times; 2] {
    let daemon = Daemons::start(&format!("{}-{}", names[0], names.len()));
    let mut victim = Victim::new(&daemon.path);
    let _others: Vec<Mortal> = names.iter().map(|name| attacker(name, &daemon.path)).collect();
    let mut times = [Vec::new(), Vec::new()];
    let end = Instant::now() + duration;
    while Instant::now() < end || times[0].len() < 20 {
        for (operation, times) in [Victim::ping, Victim::packet].iter().zip(&mut times) {
            let start = Instant::now();
            operation(&mut victim);
            times.push(start.elapsed());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    times.map(|mut times| {
        times.sort_unstable();
        Times(times)
    })
}

#[test]
fn no_client_delays_another() {
    // Seconds for each attack: without it, as short and generous as a loaded machine needs it.
    let seconds = std::env::var("ISOLATION_SECONDS").ok().map(|text| text.parse().unwrap());
    let duration = seconds.map_or(Duration::from_millis(400), Duration::from_secs_f64);
    let show = |what: &str, times: &[Times; 2]| {
        if seconds.is_some() {
            let ms = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1e3);
            let [ping, packet] =
                times.each_ref().map(|t| [ms(t.median()), ms(t.worst())].join(" | "));
            println!("| {what} | {ping} | {packet} |");
        }
    };
    let mut late = Vec::new();
    // The same number of busy processes: one sends packets of 64 bytes, the others only compute.
    let harmless = [1, 2, 3].map(|count| {
        let times = measure(&["busy", "spin", "spin"][..count], duration);
        show(&format!("busy and harmless, {count}"), &times);
        times
    });
    for (name, count, what) in ATTACKS {
        let busy = &harmless[count - 1];
        let times = measure(&[name], duration);
        show(&format!("`{name}`: {what}"), &times);
        for (operation, (times, busy)) in ["ping", "packet"].iter().zip(times.iter().zip(busy)) {
            let median = times.median().saturating_sub(busy.median());
            let worst = times.worst().saturating_sub(busy.worst());
            if median > MEDIAN_MORE || worst > WORST_MORE {
                late.push(format!("{name}: {operation} {median:?} longer, worst {worst:?} longer"));
            }
        }
    }
    assert!(late.is_empty(), "{late:#?}");
}
