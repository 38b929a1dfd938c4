//! Tests ordinary programs over the endpoint: curl, an HTTP server, iperf3.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::proxy::{Connect, Serve};
use super::service::at;
use super::suite::{Demand, Lab, Part, Plan, any, check};
use super::{OUR_IP, PEER_IP};
use crate::peer::channel::Impair;
use crate::random::Random;

const HTTP: u16 = 8080;
const UPLOAD: u16 = 8081;
const IPERF: u16 = 5201;
/// Streams of iperf3 at a time, each way, in both roles, if there are sessions for them.
const STREAMS: u16 = 8;
/// Size of the transferred files in bytes.
const FILE: u64 = 10_000_000;
/// Maximum time of a program. Only a hang takes this long.
const PROGRAM: Duration = Duration::from_secs(1800);

/// A small HTTP server that stores one upload.
const SINK: &str = "
import http.server, sys
class Sink(http.server.BaseHTTPRequestHandler):
    def do_PUT(self):
        with open(sys.argv[2], 'wb') as file:
            file.write(self.rfile.read(int(self.headers['Content-Length'])))
        self.send_response(201)
        self.send_header('Content-Length', '0')
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Sink).serve_forever()
";

/// Runs the selected programs that are installed. Returns the failures.
///
/// # Errors
/// The lab cannot be set up.
pub fn run(plan: &Plan) -> Result<Vec<String>, String> {
    if !plan.has(&[Part::Curl, Part::Iperf3]) {
        return Ok(Vec::new());
    }
    // iperf3 needs a control connection, and one session is for the upload.
    let active = (plan.sessions / 2).min(2 * STREAMS + 2);
    let passive = plan.sessions - active - 1;
    let serve = |port, sessions| Serve { port, to: at(Ipv4Addr::LOCALHOST, port).into(), sessions };
    let connect = |local| Connect { local, to: at(PEER_IP, local) };
    let serve = vec![serve(UPLOAD, 1), serve(IPERF, passive)];
    let connect = vec![connect(HTTP), connect(IPERF + 1)];
    let mut lab = Lab::start(plan, serve, connect)?;
    if plan.has(&[Part::Curl]) {
        files(&mut lab, &plan.directory.join("www"))?;
    }
    if plan.has(&[Part::Iperf3]) {
        rates(&mut lab, active.min(passive), passive)?;
    }
    lab.stop()
}

fn files(lab: &mut Lab, directory: &Path) -> Result<(), String> {
    if !(has("curl") && has("python3")) {
        println!("ok curl # SKIP curl or python3 is not installed");
        return Ok(());
    }
    let n = FILE;
    fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let (file, got) = (directory.join("file"), directory.join("got"));
    let data = Random::new(77).bytes(n as usize);
    fs::write(&file, &data).map_err(|e| format!("{}: {e}", file.display()))?;
    let sum = Sha256::digest(&data);
    let same = |path: &Path| match fs::read(path) {
        Ok(bytes) if Sha256::digest(&bytes) == sum => Ok(()),
        Ok(bytes) => Err(format!("{} bytes, not those of the file", bytes.len())),
        Err(e) => Err(format!("{}: {e}", path.display())),
    };
    let text = |path: &Path| path.display().to_string();
    let (port, ip) = (HTTP.to_string(), PEER_IP.to_string());
    let all = ["-m", "http.server", "--bind", &ip, "--directory", &text(directory), &port];
    let _server = Background::start("python3", &all, (PEER_IP, HTTP))?;
    let curl = |arguments: &[&str]| {
        program("curl", &[&["-sS", "-f", "-m", "1700"], arguments].concat()).map(|_| ())
    };
    lab.check(
        &check("curl, download", "client", n, Demand::Clean),
        Impair::default(),
        || {
            curl(&["-o", &text(&got), &format!("http://127.0.0.1:{HTTP}/file")])?;
            same(&got)
        },
        any,
    )?;
    // Remove the download, so that it cannot be taken for the upload.
    drop(fs::remove_file(&got));
    let all = ["-c", SINK, &UPLOAD.to_string(), &text(&got)];
    let _sink = Background::start("python3", &all, (Ipv4Addr::LOCALHOST, UPLOAD))?;
    lab.check(
        &check("curl, upload", "server", n, Demand::Clean),
        Impair::default(),
        || {
            curl(&["-T", &text(&file), &format!("http://{OUR_IP}:{UPLOAD}/got")])?;
            same(&got)
        },
        any,
    )
}

/// Runs iperf3. `both` is the number of sessions in each role, `passive` that of listening
/// sessions.
fn rates(lab: &mut Lab, both: u16, passive: u16) -> Result<(), String> {
    if !has("iperf3") {
        println!("ok iperf3 # SKIP iperf3 is not installed");
        return Ok(());
    }
    let streams = ((both - 1) / 2).min(STREAMS).to_string();
    let most = (passive - 1).to_string();
    let all: [&[&str]; 6] = [
        &[],
        &["-R"],
        &["--bidir"],
        &["-P", &streams],
        &["-P", &streams, "--bidir"],
        &["-P", &most],
    ];
    let (runs, seconds) = if lab.plan.size.long { (&all[..], "10") } else { (&all[..2], "1") };
    for (role, to, server, port) in [
        ("server", OUR_IP, Ipv4Addr::LOCALHOST, IPERF),
        ("client", Ipv4Addr::LOCALHOST, PEER_IP, IPERF + 1),
    ] {
        let (to, at, port_text) = (to.to_string(), server.to_string(), port.to_string());
        let all = ["-s", "-B", &at, "-p", &port_text];
        let _server = Background::start("iperf3", &all, (server, port))?;
        for more in runs.iter().filter(|more| role == "server" || !more.contains(&&*most)) {
            let name = format!("iperf3 {}", more.join(" "));
            let work = || {
                let common = ["-c", &to, "-p", &port_text, "-t", seconds, "-f", "m"];
                let said = program("iperf3", &[&common[..], more].concat())?;
                let rate = said.lines().rfind(|line| line.contains("receiver"));
                rate.map(|line| println!("# {line}")).ok_or(said.clone())
            };
            // A program that stops early may leave unread data.
            let check = check(name.trim_end(), role, 0, Demand::Whole);
            lab.check(&check, Impair::default(), work, any)?;
        }
    }
    Ok(())
}

pub(super) fn has(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|path| path.join(name).is_file())
}

/// Runs a program to its end and returns its output.
pub(super) fn program(name: &str, arguments: &[&str]) -> Result<String, String> {
    let what = || format!("{name} {}", arguments.join(" "));
    let output = Command::new("timeout")
        .args(["--kill-after=5", &PROGRAM.as_secs().to_string(), name])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{}: {e}", what()))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}: {} {}", what(), output.status, error.trim(), said.trim()))
}

/// A server program that runs until this is dropped.
struct Background(Child);

impl Background {
    /// Starts the program and waits until it listens.
    fn start(name: &str, arguments: &[&str], at: (Ipv4Addr, u16)) -> Result<Self, String> {
        let child = Command::new(name)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("{name}: {e}"))?;
        let background = Self(child);
        let end = Instant::now() + Duration::from_secs(20);
        while !listens(at) {
            if Instant::now() > end {
                return Err(format!("{name} does not listen at {}:{}", at.0, at.1));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(background)
    }
}

/// Whether a program in this namespace listens on a port. Does not connect, because the program
/// would notice it.
fn listens((ip, port): (Ipv4Addr, u16)) -> bool {
    let table = fs::read_to_string("/proc/self/net/tcp").unwrap_or_default();
    let local = format!("{:08X}:{port:04X}", u32::from_ne_bytes(ip.octets()));
    table.lines().any(|line| {
        let mut words = line.split_whitespace().skip(1);
        words.next() == Some(&local) && words.nth(1) == Some("0A")
    })
}

impl Drop for Background {
    fn drop(&mut self) {
        // The program may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
