//! Datagrams and descriptors sent to a running server: it answers or closes, and goes on serving.

use arbitrary::{Arbitrary, Result, Unstructured};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::{Shutdown, shutdown};
use spfe_contract::QueueSetup;
use crate::lab::cable;
use spfe_host::{LinkCommand, LinkRate, Mode, QueueRequest, SharedMemory};
use spfe_session::{Hello, Request, codec, socket};
use spfed::{Server, ServerConfig};
use std::sync::LazyLock;
use std::time::Duration;

const DATAGRAMS_MAX: usize = 32;

/// A descriptor that goes with a datagram.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Carried {
    Nothing,
    Memory,
    Event,
    Socket,
    Two,
}

#[derive(Debug)]
enum Datagram {
    Raw(Vec<u8>),
    Sound(Request),
}

fn request(u: &mut Unstructured<'_>) -> Result<Request> {
    let small = |u: &mut Unstructured<'_>| -> Result<u32> {
        Ok(if u.ratio(7, 8)? { u.int_in_range(0..=3)? } else { u.arbitrary()? })
    };
    // Keys of the first regions of an endpoint, of any generation, or any.
    let key = |u: &mut Unstructured<'_>| -> Result<u16> {
        Ok(if u.ratio(7, 8)? { u16::from(u.arbitrary::<u8>()? % 16) << 12 } else { u.arbitrary()? })
    };
    Ok(match u.int_in_range(0..=18u8)? {
        0..=3 => {
            let at = |u: &mut Unstructured<'_>| -> Result<u64> {
                let line = u64::from(u.int_in_range(0..=63u8)?) * 64;
                Ok(u64::from(key(u)?) << 48 | line)
            };
            let (port, vc) = (small(u)?, small(u)?);
            let setup = QueueSetup {
                kind: u.int_in_range(0..=8)?,
                options: small(u)?,
                vector: small(u)?,
                sq_log2: small(u)?.wrapping_add(2),
                cq_log2: small(u)?.wrapping_add(2),
                sq: at(u)?,
                cq: at(u)?,
                stamp: at(u)?,
                lines: at(u)?,
                area: at(u)?,
                area_bytes: 4096,
                filter: u.arbitrary()?,
                domain: 0,
                pair: u.arbitrary()?,
                limits: u64::from(small(u)?),
                path: u.arbitrary()?,
                reply: 0,
            };
            Request::CreateQueue(QueueRequest { port, vc, setup })
        }
        4 | 5 => {
            Request::DestroyQueue { port: small(u)?, vc: small(u)?, kind: u.int_in_range(0..=8)? }
        }
        6..=8 => {
            let size = if u.ratio(3, 4)? { 4096 } else { u.arbitrary()? };
            Request::AddRegion { size, access: u.arbitrary::<u32>()? | 0x101 }
        }
        9 => Request::RemoveRegion { key: key(u)? },
        10 => Request::RegionMemory { endpoint: small(u)?, key: key(u)? },
        11 => Request::AddEvent,
        12 => Request::Event { participant: small(u)?.wrapping_add(3), vector: small(u)? },
        13 => Request::PortInfo { port: small(u)? },
        14 => Request::SetPriority { port: small(u)?, vc: small(u)?, priority: u.arbitrary()? },
        15 => Request::MibItem { port: small(u)?, item: u.arbitrary()?, index: small(u)? },
        16 => {
            let (item, index, value) = (u.arbitrary()?, small(u)?, u.arbitrary()?);
            Request::Link { port: small(u)?, command: LinkCommand::Set { item, index, value } }
        }
        17 => Request::PortMib { port: small(u)?, first: u.arbitrary()? },
        _ => match u.int_in_range(0..=7u8)? {
            0 => Request::Ping,
            1 => Request::Reset,
            2 => Request::Clients,
            3 => Request::Goodbye,
            4 => Request::Network,
            5 => Request::NetworkPort { endpoint: small(u)?, port: small(u)? },
            6 => Request::Pair { endpoint: small(u)?, port: small(u)?, vc: small(u)? },
            _ => Request::Hello(Hello::new(Some(small(u)?), "again")),
        },
    })
}

#[derive(Debug)]
struct Input {
    shares: bool,
    greets: bool,
    datagrams: Vec<(Datagram, Carried)>,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let (shares, greets) = (u.arbitrary()?, u.ratio(15, 16)?);
        let mut datagrams = Vec::new();
        while !u.is_empty() && datagrams.len() < DATAGRAMS_MAX {
            let raw = !u.ratio(15, 16)?;
            let datagram =
                if raw { Datagram::Raw(u.arbitrary()?) } else { Datagram::Sound(request(u)?) };
            let carried = match &datagram {
                Datagram::Sound(Request::AddRegion { .. }) if u.ratio(7, 8)? => Carried::Memory,
                Datagram::Sound(Request::AddEvent) if u.ratio(7, 8)? => Carried::Event,
                _ if u.ratio(15, 16)? => Carried::Nothing,
                _ => u.arbitrary()?,
            };
            datagrams.push((datagram, carried));
        }
        Ok(Self { shares, greets, datagrams })
    }
}

struct Servers {
    thread: Server,
    inline: Server,
    memory: SharedMemory,
    event: OwnedFd,
    /// Threads of the process while there is no client.
    threads: usize,
}

static SERVERS: LazyLock<Servers> = LazyLock::new(|| {
    let start = |mode| {
        let config = ServerConfig::new(cable(LinkRate::Unlimited, mode, false));
        Server::start(config).expect("a server")
    };
    let (thread, inline) = (start(Mode::Thread), start(Mode::Inline));
    Servers {
        threads: threads(),
        thread,
        inline,
        memory: SharedMemory::create("spfe-fuzz", 4096).expect("memory"),
        event: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).expect("an eventfd"),
    }
});

/// Threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("a list of threads").count()
}

/// Waits until all threads that were started for clients have ended. What belongs to a thread that is
/// just starting or ending would look like a leak.
fn wait_for_threads(wanted: usize) {
    for _ in 0..15_000 {
        if threads() <= wanted {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("{} threads live on without a client, {wanted} expected", threads());
}

/// Sends a datagram and reads its reply; false when the server has closed the connection.
fn ask(ours: &OwnedFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> bool {
    if socket::send(ours, bytes, fds, true).is_err() {
        return false;
    }
    match socket::receive(ours) {
        Ok(reply) if !reply.is_end() => {
            // Whatever it says: it can be read.
            codec::decode_reply(&reply.bytes).map(drop).expect("a reply of the protocol");
            true
        }
        _ => false,
    }
}

fn hello(ours: &OwnedFd, sequence: u32) -> bool {
    let hello = Request::Hello(Hello::new(None, "fuzz"));
    ask(ours, &codec::encode_request(sequence, &hello).expect("a request"), &[])
}

fn connect(server: &Server) -> OwnedFd {
    let (ours, theirs) = socket::pair().expect("two sockets");
    server.adopt(theirs).expect("the server runs");
    ours
}

crate::target!(|input: Input| {
    let Servers { thread, inline, memory, event, threads } = &*SERVERS;
    let server = if input.shares { inline } else { thread };
    let ours = connect(server);
    let mut open = !input.greets || hello(&ours, 1);
    for (sequence, (datagram, carried)) in (2..).zip(&input.datagrams) {
        if !open {
            break;
        }
        let bytes = match datagram {
            Datagram::Raw(bytes) if bytes.is_empty() => continue,
            Datagram::Raw(bytes) => bytes.clone(),
            Datagram::Sound(request) => codec::encode_request(sequence, request).expect("fits"),
        };
        let one: [BorrowedFd<'_>; 1] = match carried {
            Carried::Memory => [memory.fd()],
            Carried::Socket => [ours.as_fd()],
            _ => [event.as_fd()],
        };
        let two = [memory.fd(), event.as_fd()];
        let fds: &[BorrowedFd<'_>] = match carried {
            Carried::Nothing => &[],
            Carried::Two => &two,
            _ => &one,
        };
        open = ask(&ours, &bytes, fds);
    }
    let _ = shutdown(&ours, Shutdown::Write);
    // Until the server has forgotten us: it closes last.
    while socket::receive(&ours).is_ok_and(|rest| !rest.is_end()) {}
    let good = connect(server);
    assert!(hello(&good, 1), "the server does not answer any more");
    drop(good);
    // Signalling of events goes on until our end of a socket is closed, too.
    drop(ours);
    wait_for_threads(*threads);
});
