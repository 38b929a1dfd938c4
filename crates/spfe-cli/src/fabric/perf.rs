//! `spfe fabric perf`: rates of links beside those that were published for such links.

use super::up::start_node;
use crate::context::Context;
use crate::error::Failure;
use crate::ip::values::Address;
use crate::output::{rounded, table};
use crate::signal;
use clap::Args;
use serde_json::{Value, json};
use spfe_fabric::backplane::Backplane;
use spfe_fabric::client::FabricClient;
use spfe_fabric::raw::{FabricBuffer, RawNode, RemoteSegment};
use spfe_fabric::status::FabricStatus;
use spfe_fabric::topology::{FabricTopology, LinkWidth, NodeNumber, PcieGeneration, RateLimit};
use spfe_fabric::wire::{FabricChange, FabricRequest, WindowRights};
use spfe_measure::machine_facts;
use spfe_report::fabric::{FabricReport, LinkFigures, TcpFigures};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const ONE: NodeNumber = NodeNumber(1);
const TWO: NodeNumber = NodeNumber(3);
const ADDRESSES: [&str; 2] = ["192.168.20.1", "192.168.20.3"];
/// Bytes of one raw transfer.
const BLOCK: usize = 256 << 10;
/// Transfers to different places.
const BLOCKS: usize = 4;
/// Time that nodes get to become READY.
const START: Duration = Duration::from_secs(10);
/// Times that a node is killed and started again.
const RESTARTS: usize = 5;

const AFTER: &str = "\
Two nodes with one link, each in a network namespace of its own; needs iperf3 and ping. The published \
figures are of boards with hardware bridges; ours are of one machine, with the link's rate as a limit \
that both ends keep. Sockets is TCP under vxrun, IP is TCP over the interface. CPU is processor time \
per GB: of iperf3 and the node process at the end that takes more, as the published one is of one board, \
and of both ends.";

/// Measure TCP and raw transfers on limited and unlimited links.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = AFTER)]
pub struct FabricPerfArgs {
    /// Seconds of each measurement.
    #[arg(long, value_name = "S", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=60))]
    seconds: u32,
    /// How long idle nodes poll before they sleep, in microseconds.
    #[arg(long, value_name = "US", default_value_t = 0)]
    spin: u32,
    /// Also write report.html and results.json to this directory.
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

/// A published row: sustained TCP and raw in GB/s, processor seconds per GB of TCP.
struct Published {
    generation: u8,
    lanes: u8,
    tcp: f64,
    raw: f64,
    cpu: f64,
}

/// 10 % and 6 % of four cores at 4.4 and 2.5 GB/s, 8 % and 5 % of two at 1.3 and 0.6 GB/s.
const PUBLISHED: [Published; 4] = [
    Published { generation: 3, lanes: 8, tcp: 4.4, raw: 5.6, cpu: 0.091 },
    Published { generation: 3, lanes: 4, tcp: 2.5, raw: 2.8, cpu: 0.096 },
    Published { generation: 2, lanes: 4, tcp: 1.3, raw: 1.5, cpu: 0.123 },
    Published { generation: 1, lanes: 4, tcp: 0.6, raw: 0.8, cpu: 0.167 },
];

fn both(tcp: TcpFigures) -> f64 {
    tcp.cpu[0] + tcp.cpu[1]
}

fn tcp_document(tcp: TcpFigures) -> Value {
    json!({ "gbytes_s": rounded(tcp.rate), "cpu_s_per_gbyte": tcp.cpu.map(rounded) })
}

/// Two nodes and their backplane.
struct TestBed {
    path: PathBuf,
    _folder: tempfile::TempDir,
    stop: Arc<AtomicBool>,
    backplane: Option<std::thread::JoinHandle<()>>,
    nodes: Vec<Child>,
}

impl TestBed {
    fn start(topology: FabricTopology, spin: u32) -> Result<Self, Failure> {
        let folder =
            tempfile::tempdir().map_err(|error| Failure::io("temporary folder", &error))?;
        let path = folder.path().join("sock");
        let mut backplane = Backplane::open(&path, topology)?;
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            // What fails here ends the nodes, and the measurement with them.
            let _ = backplane.run(|| seen.load(Ordering::Relaxed));
        });
        let mut bed =
            Self { path, _folder: folder, stop, backplane: Some(thread), nodes: Vec::new() };
        for (node, ip) in [ONE, TWO].into_iter().zip(ADDRESSES) {
            let address = ip.parse().ok().map(|ip| Address { ip, prefix: 24 });
            bed.nodes.push(start_node(&bed.path, node, address, spin, false)?);
        }
        bed.wait()?;
        Ok(bed)
    }

    fn wait(&self) -> Result<(), Failure> {
        self.wait_until(Duration::from_millis(10), |status| {
            status.is_ready() && status.nodes.iter().all(|node| !node.addresses.is_empty())
        })
    }

    fn wait_until(
        &self,
        interval: Duration,
        done: impl Fn(&FabricStatus) -> bool,
    ) -> Result<(), Failure> {
        let until = Instant::now() + START;
        let client = FabricClient::connect(&self.path)?;
        loop {
            if done(&client.document(&FabricRequest::Status)?) {
                return Ok(());
            }
            if Instant::now() > until || signal::caught() {
                let what = "nodes are not READY: does this machine allow network namespaces and TAP \
                    devices?";
                return Err(Failure::timed_out(what));
            }
            std::thread::sleep(interval);
        }
    }

    /// Kills the second node and starts it again. Returns the median time from the start of its
    /// process until it is READY, ms.
    fn restart(&mut self, spin: u32) -> Result<f64, Failure> {
        let mut times = Vec::new();
        for _ in 0..RESTARTS {
            if let Some(mut node) = self.nodes.pop() {
                let _ = node.kill();
                let _ = node.wait();
            }
            let interval = Duration::from_millis(1);
            self.wait_until(interval, |status| !status.is_ready())?;
            let address = ADDRESSES[1].parse().ok().map(|ip| Address { ip, prefix: 24 });
            let begin = Instant::now();
            self.nodes.push(start_node(&self.path, TWO, address, spin, false)?);
            self.wait_until(interval, FabricStatus::is_ready)?;
            times.push(begin.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        Ok(times.get(RESTARTS / 2).copied().unwrap_or_default())
    }

    /// A command on a node, under vxrun or not.
    fn on(&self, node: NodeNumber, under_vxrun: bool) -> Result<Command, Failure> {
        let program =
            std::env::current_exe().map_err(|error| Failure::io("path of this program", &error))?;
        let mut command = Command::new(&program);
        command.args(["--quiet", "fabric", "exec", "--socket"]).arg(&self.path);
        command.arg(node.to_string()).stdin(Stdio::null()).stderr(Stdio::null());
        if under_vxrun {
            command.arg(&program).args(["--quiet", "fabric", "run", "--socket"]).arg(&self.path);
        }
        Ok(command)
    }

    /// Processor time of the node processes, s.
    fn node_seconds(&self) -> [f64; 2] {
        let of =
            |index: usize| self.nodes.get(index).map_or(0.0, |node| process_seconds(node.id()));
        [of(0), of(1)]
    }

    /// TCP from node 1 to an address of node `to`.
    fn tcp(
        &self,
        to: NodeNumber,
        address: &str,
        seconds: u32,
        under_vxrun: bool,
    ) -> Result<TcpFigures, Failure> {
        let mut server = self
            .on(to, under_vxrun)?
            .args(["iperf3", "--server", "--one-off"])
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| Failure::io("iperf3", &error))?;
        let before = self.node_seconds();
        let mut outcome = Err(Failure::failed("iperf3: no answer of its server"));
        // The server needs a moment; the client says at once if it is not there.
        for _ in 0..50 {
            std::thread::sleep(Duration::from_millis(40));
            let output = self
                .on(ONE, under_vxrun)?
                .args(["iperf3", "--json", "--client", address])
                .args(["--time", &seconds.to_string(), "--length", "65536"])
                .output()
                .map_err(|error| Failure::io("iperf3", &error))?;
            let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            if let Some(bits) = report["end"]["sum_received"]["bits_per_second"].as_f64() {
                let time = report["end"]["sum_received"]["seconds"].as_f64().unwrap_or(0.0);
                let gigabytes = (bits / 8e9 * time).max(1e-9);
                let load = &report["end"]["cpu_utilization_percent"];
                let nodes = self.node_seconds();
                let cpu = |end: usize, name: &str| {
                    let own = load[name].as_f64().unwrap_or(0.0) / 100.0 * time;
                    (own + nodes[end] - before[end]) / gigabytes
                };
                let cpu = [cpu(0, "host_total"), cpu(1, "remote_total")];
                outcome = Ok(TcpFigures { rate: bits / 8e9, cpu });
                break;
            }
            if signal::caught() {
                outcome = Err(Failure::interrupted());
                break;
            }
        }
        if outcome.is_err() {
            let _ = server.kill();
        }
        let _ = server.wait();
        outcome
    }

    /// Mean round trip of pings, us.
    fn ping(&self) -> Result<f64, Failure> {
        let output = self
            .on(ONE, false)?
            .args(["ping", "-q", "-c", "200", "-i", "0.005", ADDRESSES[1]])
            .output()
            .map_err(|error| Failure::io("ping", &error))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mean = text.lines().find_map(|line| {
            line.strip_prefix("rtt ")?.split_once("= ")?.1.split('/').nth(1)?.parse::<f64>().ok()
        });
        mean.map(|ms| ms * 1000.0).ok_or_else(|| Failure::failed("ping: no round trips"))
    }

    /// GB/s of raw writes from node 1 into memory of node 3, and with `copies_too` of plain copies in
    /// this process. They take turns, so that other load of the machine meets both; a link with a
    /// limit would make up for the time of the copies.
    fn raw(&self, seconds: u32, copies_too: bool) -> Result<(f64, f64), Failure> {
        let owner = RawNode::open(&self.path, TWO)?;
        let mut buffer = FabricBuffer::new(BLOCKS * BLOCK)?;
        let (key, _) = owner.expose(&mut buffer, &[ONE], WindowRights::ReadWrite)?;
        let window = RawNode::open(&self.path, ONE)?.map(key)?;
        let source = vec![0x5a; BLOCKS * BLOCK];
        let mut copies = vec![0; BLOCKS * BLOCK];
        let (start, mut bytes) = (Instant::now(), 0u64);
        let (mut raw, mut plain) = (Duration::ZERO, Duration::ZERO);
        while start.elapsed() < Duration::from_secs(seconds.into()) && !signal::caught() {
            let turn = Instant::now();
            for (block, content) in source.chunks(BLOCK).enumerate() {
                let part = RemoteSegment { offset: (block * BLOCK) as u64, bytes: BLOCK };
                window.put(&[content], &[part])?;
            }
            raw += turn.elapsed();
            bytes += source.len() as u64;
            if !copies_too {
                continue;
            }
            let turn = Instant::now();
            for (to, from) in copies.chunks_mut(BLOCK).zip(source.chunks(BLOCK)) {
                to.copy_from_slice(from);
            }
            plain += turn.elapsed();
            std::hint::black_box(&copies);
        }
        let rate = |time: Duration| bytes as f64 / time.as_secs_f64().max(1e-9) / 1e9;
        Ok((rate(raw), rate(plain)))
    }

    fn change(&self, change: FabricChange) -> Result<(), Failure> {
        let client = FabricClient::connect(&self.path)?;
        client.call(&FabricRequest::Change(change), &[])?;
        Ok(())
    }
}

impl Drop for TestBed {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.backplane.take() {
            let _ = thread.join();
        }
        for node in &mut self.nodes {
            let _ = node.kill();
            let _ = node.wait();
        }
    }
}

/// Processor time of a process, s.
fn process_seconds(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Behind the name, which is in parentheses, the 12th and 13th field are ticks of 10 ms.
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = rest.split_whitespace().skip(11).take(2);
    ticks.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn link(generation: u8, lanes: u8) -> Result<FabricTopology, Failure> {
    let mut topology = super::topology("dist2-x8")?;
    for link in &mut topology.links {
        link.rate.generation = PcieGeneration::new(generation).map_err(Failure::usage)?;
        link.rate.width = LinkWidth::new(lanes).map_err(Failure::usage)?;
    }
    topology.limit = RateLimit::Pcie;
    Ok(topology)
}

/// Measures and prints.
pub fn run(args: &FabricPerfArgs, context: &Context) -> Result<(), Failure> {
    let seconds = args.seconds;
    super::vxrun::library()?;
    let mut links = Vec::new();
    for published in &PUBLISHED {
        let topology = link(published.generation, published.lanes)?;
        let rate = topology.links.first().map(|link| link.rate);
        let bed = TestBed::start(topology, args.spin)?;
        links.push(LinkFigures {
            name: format!("x{} gen{}", published.lanes, published.generation),
            limit: rate.map_or(0, |rate| rate.bytes_per_s()) as f64 / 1e9,
            sockets: bed.tcp(TWO, ADDRESSES[1], seconds, true)?,
            ip: bed.tcp(TWO, ADDRESSES[1], seconds, false)?,
            raw: bed.raw(seconds, false)?.0,
            published_tcp: published.tcp,
            published_cpu: published.cpu,
            published_raw: published.raw,
        });
        context.say(&format!("gen{} x{}: done", published.generation, published.lanes));
    }
    let mut bed = TestBed::start(link(3, 8)?, args.spin)?;
    bed.change(FabricChange::Rate { limited: false })?;
    let sockets = bed.tcp(TWO, ADDRESSES[1], seconds, true)?;
    let ip = bed.tcp(TWO, ADDRESSES[1], seconds, false)?;
    let loopback = bed.tcp(ONE, "127.0.0.1", seconds, false)?;
    let ((raw, copy), ping) = (bed.raw(seconds, true)?, bed.ping()?);
    let restart = bed.restart(args.spin)?;
    let unlimited = json!({
        "sockets": tcp_document(sockets), "ip": tcp_document(ip),
        "loopback": tcp_document(loopback), "raw_gbytes_s": rounded(raw),
        "memcpy_gbytes_s": rounded(copy), "ping_us": rounded(ping),
        "restart_ms": rounded(restart),
    });
    let documents: Vec<Value> = PUBLISHED.iter().zip(&links).map(document).collect();
    let results = json!({ "links": documents, "unlimited": unlimited, "machine": machine() });
    let rate = |tcp: TcpFigures| format!("{:.2} GB/s", tcp.rate);
    let blocks = format!("in blocks of {} KiB", BLOCK >> 10);
    if let Some(folder) = &args.report {
        let named = |name: &str, value: String, tcp: Option<TcpFigures>| {
            (name.to_owned(), value, tcp.map(both))
        };
        let report = FabricReport {
            facts: head(),
            links: links.clone(),
            unlimited: vec![
                named("sockets", rate(sockets), Some(sockets)),
                named("IP", rate(ip), Some(ip)),
                named("TCP over loopback", rate(loopback), Some(loopback)),
                named("raw", format!("{raw:.2} GB/s, {blocks}"), None),
                named("memcpy", format!("{copy:.2} GB/s, in turns with raw"), None),
                named("ping", format!("{ping:.1} us with {} us of polling", args.spin), None),
                named(
                    "READY after a restart",
                    format!("{restart:.0} ms, median of {RESTARTS}"),
                    None,
                ),
            ],
        };
        write(folder, &report, &results)?;
        context.say(&format!("report written to {}", folder.join("report.html").display()));
    }
    if context.json {
        println!("{results}");
        return Ok(());
    }
    println!("{}", head().join(", "));
    let heads = [
        "LINK",
        "GB/s",
        "PATH",
        "GB/s",
        "OF LINK",
        "PUBLISHED",
        "CPU s/GB OF AN END",
        "PUBLISHED",
        "OF BOTH",
    ];
    print!("{}", table(&heads, 1, &links.iter().flat_map(link_rows).collect::<Vec<_>>()));
    let text = |tcp: TcpFigures| format!("{} ({:.3} CPU s/GB)", rate(tcp), both(tcp));
    println!(
        "\nunlimited, CPU of both ends: sockets {}; IP {}; TCP over loopback in the same namespace {}\n\
         raw {raw:.2} GB/s, memcpy in turns with it {copy:.2} GB/s, {blocks}; ping {ping:.1} us with \
         {} us of polling\n\
         a node that is killed and started again is READY after {restart:.0} ms (median of {RESTARTS})",
        text(sockets),
        text(ip),
        text(loopback),
        args.spin
    );
    Ok(())
}

fn write(folder: &Path, report: &FabricReport, results: &Value) -> Result<(), Failure> {
    let fail = |error| Failure::io(format_args!("report in {}", folder.display()), &error);
    std::fs::create_dir_all(folder).map_err(fail)?;
    let page = spfe_report::fabric::html(report);
    std::fs::write(folder.join("report.html"), page).map_err(fail)?;
    std::fs::write(folder.join("results.json"), format!("{results}\n")).map_err(fail)
}

/// "on", "off", or "unknown" where the system does not say it.
fn switch(files: &[(&str, bool)]) -> &'static str {
    let said = files.iter().find_map(|(path, inverted)| {
        let text = std::fs::read_to_string(path).ok()?;
        match text.trim() {
            "0" => Some(*inverted),
            "1" => Some(!inverted),
            _ => None,
        }
    });
    said.map_or("unknown", |on| if on { "on" } else { "off" })
}

fn turbo() -> &'static str {
    switch(&[
        ("/sys/devices/system/cpu/intel_pstate/no_turbo", true),
        ("/sys/devices/system/cpu/cpufreq/boost", false),
    ])
}

fn smt() -> &'static str {
    switch(&[("/sys/devices/system/cpu/smt/active", false)])
}

fn machine() -> Value {
    let facts = machine_facts();
    json!({ "cpu": facts.cpu_model, "load": facts.load_average, "turbo": turbo(), "smt": smt() })
}

/// The conditions, without which figures mean nothing.
fn head() -> Vec<String> {
    let facts = machine_facts();
    vec![
        facts.cpu_model,
        format!("{} CPUs", facts.cpus_online),
        format!("turbo {}", turbo()),
        format!("SMT {}", smt()),
        format!("load {:.1}", facts.load_average[0]),
        format!("kernel {}", facts.kernel),
    ]
}

/// The rows of a link: TCP in rings, TCP over the interface, raw writes.
fn link_rows(link: &LinkFigures) -> [Vec<String>; 3] {
    let part = |value: f64| format!("{:.0} %", 100.0 * value / link.limit);
    let row = |path: &str, rate: f64, known: f64, cpu: Option<TcpFigures>| {
        let cpu = |text: &dyn Fn(TcpFigures) -> f64| {
            cpu.map_or("-".into(), |tcp| format!("{:.3}", text(tcp)))
        };
        vec![
            link.name.clone(),
            format!("{:.2}", link.limit),
            path.into(),
            format!("{rate:.2}"),
            part(rate),
            format!("{known:.1} ({})", part(known)),
            cpu(&|tcp| tcp.cpu[0].max(tcp.cpu[1])),
            cpu(&|_| link.published_cpu),
            cpu(&both),
        ]
    };
    [
        row("sockets", link.sockets.rate, link.published_tcp, Some(link.sockets)),
        row("IP", link.ip.rate, link.published_tcp, Some(link.ip)),
        row("raw", link.raw, link.published_raw, None),
    ]
}

fn document((published, link): (&Published, &LinkFigures)) -> Value {
    json!({
        "generation": published.generation,
        "lanes": published.lanes,
        "link_gbytes_s": rounded(link.limit),
        "sockets": tcp_document(link.sockets),
        "ip": tcp_document(link.ip),
        "raw_gbytes_s": rounded(link.raw),
        "published": {
            "tcp_gbytes_s": published.tcp,
            "cpu_s_per_gbyte": published.cpu,
            "raw_gbytes_s": published.raw,
        },
    })
}
