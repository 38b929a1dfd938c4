//! The tests over the bridge that need no other programs.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;
use std::time::Duration;

use super::bridge::{Counted, TICK};
use super::echo::echo;
use super::programs::{has, program};
use super::proxy::{Connect, Serve};
use super::service::{self, End, ServiceJob, at};
use super::suite::{Check, Demand, Lab, Part, Plan, Size, any, check};
use super::{OUR_IP, PEER_IP};
use crate::peer::channel::Impair;

/// Port of the service behind the endpoint. The service of Linux has the next port.
const SERVICE: u16 = 20_700;

/// Roles of the endpoint, with the address to which a program connects.
const ROLES: [(&str, Ipv4Addr); 2] = [("server", OUR_IP), ("client", Ipv4Addr::LOCALHOST)];

fn address(role: &str, ip: Ipv4Addr) -> SocketAddrV4 {
    at(ip, SERVICE + u16::from(role == "client"))
}

/// Does the same work in both roles at the same time.
fn both(work: impl Fn(SocketAddrV4) -> Result<(), String> + Sync) -> Result<(), String> {
    std::thread::scope(|scope| {
        let [one, other] = ROLES.map(|(role, ip)| {
            let work = &work;
            scope.spawn(move || work(address(role, ip)))
        });
        let join = |r: std::thread::Result<_>| r.unwrap_or_else(|_| Err("died".to_owned()));
        join(one.join()).and(join(other.join()))
    })
}

/// The function of a part.
type Act = fn(&mut Suite) -> Result<(), String>;

/// Runs these parts. Returns the failures.
///
/// # Errors
/// The lab cannot be set up.
pub fn run(plan: &Plan) -> Result<Vec<String>, String> {
    use Part::{Captures, Cycles, Lines, Network, Sessions, Transfers, Windows};
    if !plan.has(&[Network, Transfers, Sessions, Cycles, Windows, Lines, Captures]) {
        return Ok(Vec::new());
    }
    let to = at(Ipv4Addr::LOCALHOST, SERVICE).into();
    let serve = Serve { port: SERVICE, to, sessions: plan.sessions / 2 };
    // Both ports are on the loopback interface.
    let connect = Connect { local: SERVICE + 1, to: at(PEER_IP, SERVICE + 1) };
    let lab = Lab::start(plan, vec![serve], vec![connect])?;
    service::serve(at(Ipv4Addr::LOCALHOST, SERVICE))?;
    service::serve(at(PEER_IP, SERVICE + 1))?;
    let mut suite = Suite { lab, size: plan.size, each: u32::from(plan.sessions / 2) };
    let parts: [(Part, Act); 7] = [
        (Network, Suite::network),
        (Transfers, Suite::transfers),
        (Sessions, Suite::sessions),
        (Cycles, Suite::cycles),
        (Windows, Suite::windows),
        (Lines, Suite::lines),
        (Captures, Suite::captures),
    ];
    for (_, part) in parts.iter().filter(|(part, _)| plan.has(&[*part])) {
        part(&mut suite)?;
    }
    suite.lab.stop()
}

struct Suite {
    lab: Lab,
    size: Size,
    /// Number of sessions in each role.
    each: u32,
}

impl Suite {
    /// Runs a check without impairments.
    fn plain(
        &mut self,
        check: &Check,
        work: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        self.lab.check(check, Impair::default(), work, any)
    }

    fn network(&mut self) -> Result<(), String> {
        let ip = OUR_IP.to_string();
        self.plain(&check("ARP", "server", 0, Demand::Clean), || {
            program("ping", &["-q", "-c", "1", "-W", "5", &ip])?;
            let table = program("ip", &["neighbour", "show", &ip])?;
            if table.contains("02:00:00:00:00:01") { Ok(()) } else { Err(table) }
        })?;
        for (count, bytes) in [(1000, 56), (200, 1472)] {
            let name = format!("ping, {count} of {bytes} bytes");
            self.plain(&check(name, "server", 0, Demand::Clean), || echo(OUR_IP, count, bytes))?;
        }
        // Send both without waiting, so that two requests are on the line at the same time.
        self.plain(&check("ping, pairs", "server", 0, Demand::Clean), || {
            let said =
                program("ping", &["-q", "-c", "200", "-l", "2", "-i", "0.01", "-W", "5", &ip])?;
            if said.contains(" 0% packet loss") { Ok(()) } else { Err(said) }
        })
    }

    fn transfers(&mut self) -> Result<(), String> {
        let n = self.size.large;
        for (role, ip) in ROLES {
            let job = |up, down, seed| ServiceJob { seed, up, down, ..ServiceJob::default() };
            for (name, job) in [
                ("both ways", job(n, n, 1)),
                ("to the server", job(n / 2, 0, 2)),
                ("to the client", job(0, n / 2, 3)),
                ("nothing", job(0, 0, 4)),
            ] {
                let bytes = job.up + job.down;
                let name = format!("transfer, {name}");
                self.plain(&check(name, role, bytes, Demand::Clean), || {
                    service::connect(address(role, ip), &job)
                })?;
            }
        }
        let sizes: &[u32] = if self.size.long { &SEGMENTS } else { &SEGMENTS[..4] };
        for mss in sizes {
            let n = n / 40;
            let job = ServiceJob { seed: 9, up: n, down: n, mss: *mss, ..ServiceJob::default() };
            let name = format!("transfer, segments of {mss} bytes");
            self.plain(&check(name, "server", 2 * n, Demand::Clean), || {
                service::connect(address("server", OUR_IP), &job)
            })?;
        }
        Ok(())
    }

    fn sessions(&mut self) -> Result<(), String> {
        let n = self.size.parallel;
        let each = self.each;
        let job = |number: u32| ServiceJob {
            seed: number.into(),
            up: n + u64::from(number),
            down: n - u64::from(number) * 7 % 1000,
            ..ServiceJob::default()
        };
        let bytes = u64::from(each) * 4 * n;
        let name = format!("{} sessions at a time", each * 2);
        self.plain(&check(name, "both", bytes, Demand::Clean), || {
            // Connections that the endpoint opens come first, because it needs time to open them.
            let jobs = ROLES.iter().rev().flat_map(|(role, ip)| {
                (0..each).map(move |number| (address(role, *ip), job(number)))
            });
            service::connect_together(&jobs.collect::<Vec<_>>())
        })?;
        for (role, ip) in ROLES {
            for (name, end) in
                [("the client", End::ClientAborts), ("the server", End::ServerAborts)]
            {
                let job =
                    ServiceJob { seed: 3, up: 50_000, down: 50_000, end, ..ServiceJob::default() };
                self.lab.check(
                    &check(format!("{name} aborts"), role, 100_000, Demand::Whole),
                    Impair::default(),
                    || service::connect(address(role, ip), &job),
                    |report| match report.broken {
                        1 => Ok(()),
                        other => Err(format!("{other} sessions aborted, expected 1")),
                    },
                )?;
            }
        }
        Ok(())
    }

    fn cycles(&mut self) -> Result<(), String> {
        // A session is free again only some time after the service has seen its end. A connection that
        // finds no free one costs a SYN, so half of them is left for that.
        let threads = (self.each / 2).clamp(1, 16);
        let lines = [
            ("", Impair::default(), Demand::Clean),
            (
                ", each 5th SYN, FIN, ACK lost",
                Impair { control_nth: 5, ..Impair::default() },
                Demand::Whole,
            ),
        ];
        for (text, impair, demand) in lines {
            let cycles = if demand == Demand::Clean {
                self.size.cycles
            } else {
                self.size.cycles.div_ceil(2)
            };
            for (role, ip) in ROLES {
                let job = |number: u32| ServiceJob {
                    seed: number.into(),
                    up: 100,
                    down: 100,
                    end: if number.is_multiple_of(2) { End::ClientFirst } else { End::ServerFirst },
                    ..ServiceJob::default()
                };
                let name = format!("{cycles} openings and closings{text}");
                let bytes = u64::from(cycles) * 200;
                self.lab.check(
                    &check(name, role, bytes, demand),
                    impair,
                    || service::connect_all(address(role, ip), threads, cycles, job),
                    any,
                )?;
            }
        }
        Ok(())
    }

    /// Tests closed windows, with readers that wait.
    fn windows(&mut self) -> Result<(), String> {
        let n = self.size.large / 10;
        let counts = self.lab.counts();
        let job = ServiceJob { seed: 8, down: n, buffer: 8192, ..ServiceJob::default() };
        self.plain(
            &check("the peer does not read before it is probed", "server", n, Demand::Clean),
            || service::connect_late(address("server", OUR_IP), &job, || probed(counts)),
        )?;
        let asks = self.lab.stalls();
        let job = ServiceJob { seed: 8, up: n, ..ServiceJob::default() };
        self.plain(
            &check("the endpoint's users do not read for 2 s", "server", n, Demand::Whole),
            || {
                std::thread::scope(|scope| {
                    let waker = scope.spawn(|| {
                        asks(true)?;
                        std::thread::sleep(Duration::from_secs(2));
                        asks(false)
                    });
                    let done = service::connect(address("server", OUR_IP), &job);
                    waker.join().unwrap_or_else(|_| Err("died".to_owned())).and(done)
                })
            },
        )
    }

    fn lines(&mut self) -> Result<(), String> {
        let n = self.size.small;
        let each = if self.size.long { 4 } else { 2 };
        for (name, impair) in bad_lines() {
            // Without checksums nobody sees these errors.
            if impair.corrupt_unseen != 0 && !self.lab.plan.sums {
                println!("ok line: {name} (both) # SKIP RX_CHECKSUM of the build is 0");
                continue;
            }
            let bytes = u64::from(each) * 4 * n;
            let few = !name.ends_with("10 %") && !self.size.long;
            let job = |number: u32| ServiceJob {
                seed: number.into(),
                up: n,
                down: n,
                ..ServiceJob::default()
            };
            self.lab.check(
                &check(format!("line: {name}"), "both", bytes, Demand::Whole),
                impair,
                || both(|ip| service::connect_all(ip, each, each, job)),
                // In the short form an impairment at 1 % may not occur at all.
                |report| match impair.is_clean() || report.hits != 0 || few {
                    true => Ok(()),
                    false => Err("the line did not change any frame".to_owned()),
                },
            )?;
        }
        Ok(())
    }

    /// Checks with tshark the captures at both ends of the line.
    fn captures(&mut self) -> Result<(), String> {
        if !has("tshark") {
            println!("ok captures # SKIP tshark is not installed");
            return Ok(());
        }
        let n = 50_000;
        let lines = [
            ("", Impair::default(), Demand::Clean),
            (" with loss", Impair { drop: 30, ..Impair::default() }, Demand::Whole),
        ];
        for (text, impair, demand) in lines {
            let path = self.lab.plan.directory.join("checked.pcapng");
            let name = format!("tshark finds nothing wrong{text}");
            self.lab.check(
                &check(name, "server", 8 * n, demand),
                impair,
                || {
                    let job = |seed| ServiceJob { seed, up: n, down: n, ..ServiceJob::default() };
                    service::connect_all(address("server", OUR_IP), 4, 4, |i| job(i.into()))
                },
                |report| {
                    let [peer, core] = &report.captures;
                    found(peer, &path, ACKS)?;
                    found(core, &path, if demand == Demand::Clean { STRICT } else { SUMS })
                },
            )?;
        }
        Ok(())
    }
}

/// Maximum segment sizes to test. The short form uses the first four.
const SEGMENTS: [u32; 10] = [88, 536, 1459, 1460, 89, 100, 256, 537, 1000, 1448];

/// Number of ticks within which the endpoint must probe a window that closes: longer than its
/// longest time-out, and than the time to fill the window.
const PROBED: u64 = 10_000 / TICK;

/// Waits until the endpoint has probed a closed window. Only its own time counts: on a busy machine
/// it runs slower than real time.
fn probed(counts: impl Fn(&'static str) -> Result<Counted, String>) -> Result<(), String> {
    let mut begin = None;
    loop {
        let Counted { ticks, count } = counts("eng.probe")?;
        let late = ticks - *begin.get_or_insert(ticks) > PROBED;
        // The model in software does not count its probes.
        match (count, late) {
            (Some(0) | None, false) => {}
            (Some(0), true) => {
                return Err(format!("no probe of a closed window within {PROBED} ticks"));
            }
            _ => return Ok(()),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Filter for acknowledgements of data that was not sent.
const ACKS: &str = "tcp.analysis.ack_lost_segment";
/// Filter for wrong checksums of the endpoint.
const SUMS: &str = "eth.src == 02:00:00:00:00:01 && \
    (ip.checksum.status == 0 || tcp.checksum.status == 0 || _ws.malformed)";
/// Filter for any error.
const STRICT: &str = "ip.checksum.status == 0 || tcp.checksum.status == 0 || _ws.malformed || \
    tcp.analysis.ack_lost_segment || tcp.analysis.lost_segment || tcp.analysis.retransmission || \
    tcp.analysis.out_of_order";

/// Lines with each kind of impairment, at a low and a high rate.
fn bad_lines() -> Vec<(String, Impair)> {
    let clean = Impair::default();
    let mut lines = vec![
        ("delay of 20 ms".to_owned(), Impair { delay: 20, ..clean }),
        ("1 MB/s".to_owned(), Impair { rate: 1000, ..clean }),
    ];
    for permille in [10, 100] {
        let mut add =
            |name: &str, impair| lines.push((format!("{name}, {} %", permille / 10), impair));
        add("drop", Impair { drop: permille, ..clean });
        add("bursts of 4", Impair { burst: permille / 4 + 1, burst_len: 4, ..clean });
        add("duplicate", Impair { duplicate: permille, ..clean });
        add("reorder", Impair { reorder: permille, reorder_by: 3, ..clean });
        add("truncate", Impair { truncate: permille, ..clean });
        add("corrupt, FCS wrong", Impair { corrupt: permille, ..clean });
        add("corrupt, FCS good", Impair { corrupt_unseen: permille, ..clean });
    }
    lines
}

fn found(capture: &super::capture::LineCapture, path: &Path, filter: &str) -> Result<(), String> {
    if !capture.is_whole() {
        return Err("the capture is incomplete".to_owned());
    }
    capture.write(path)?;
    let path = path.display().to_string();
    let sums = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"];
    let said = program("tshark", &[&["-n", "-r", &path, "-Y", filter], &sums[..]].concat())?;
    match said.lines().next() {
        None => Ok(()),
        Some(first) => {
            Err(format!("{} frames match {filter}; the first: {first}", said.lines().count()))
        }
    }
}
