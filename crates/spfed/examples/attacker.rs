//! A hostile client, or a busy harmless one, for `tests/attacks.rs`.
//!
//! `attacker NAME SOCKET` attaches to endpoints 2 and 3 and goes on until it is killed. The line
//! `ready` says that the attack has begun. [`ATTACKS`] has the names.

use rustix::event::epoll;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::net::sockopt::set_socket_linger;
use spfe::{Endpoint, QueueOptions, Region, Result, Rx, Threshold, Tx};
use spfe_session::{Hello, Request, codec, socket};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

type Attack = fn(&str) -> Result<()>;

/// The attacks by name.
const ATTACKS: [(&str, Attack); 10] = [
    ("spin", |_| spin()),
    ("busy", |socket| saturate(socket, 1, 64, 64 << 10)),
    ("long", |socket| saturate(socket, 1, LONG_BYTES, LONG_BYTES)),
    ("queues", |socket| saturate(socket, 8, 4 << 20, 16 << 20)),
    ("holes", holes),
    ("remove", remove),
    ("memory", memory),
    ("watch", watch),
    ("bell", bell),
    ("linger", linger),
];
/// Bytes of the packets of the attack `long`, and of the memory of some others.
const LONG_BYTES: usize = 256 << 20;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, socket] = &arguments[..] else { panic!("usage: attacker NAME SOCKET") };
    let attack = ATTACKS.iter().find(|(known, _)| known == name);
    attack.unwrap_or_else(|| panic!("unknown attack '{name}'")).1(socket)
}

fn open(socket: &str, endpoint: u32) -> Result<Endpoint> {
    Endpoint::open(&format!("unix:{socket}/{endpoint}"))
}

/// Both ends of a virtual channel, with their memory.
struct Flow {
    tx: Tx,
    rx: Rx,
    packets: Vec<spfe::Buf>,
    _memory: [Region; 2],
}

impl Flow {
    /// A flow for packets of `bytes` bytes out of `total` bytes of memory.
    fn new(ends: &[Endpoint; 2], vc: u32, bytes: usize, total: usize) -> Result<Self> {
        let memory = [ends[0].alloc(total)?, ends[1].alloc(total)?];
        let tx = ends[0].port(0)?.vc(vc)?.tx()?;
        let mut rx = ends[1].port(0)?.vc(vc)?.rx_with(QueueOptions::default().event(true))?;
        let count = (total / bytes).min(64);
        rx.post_all(&mut memory[1].split(bytes, count)?);
        let packets = memory[0].split(bytes, count)?;
        Ok(Self { tx, rx, packets, _memory: memory })
    }

    /// Posts everything that there is room for. Whether anything came back.
    fn pump(&mut self) -> Result<bool> {
        let mut moved = false;
        self.tx.send_group(&mut self.packets);
        while self.tx.poll().is_some() {}
        while let Some(packet) = self.tx.take() {
            self.packets.push(packet);
            moved = true;
        }
        while let Some(got) = self.rx.poll() {
            self.rx.post(got.buf).map_err(|_| ()).expect("its own slot is free");
            moved = true;
        }
        Ok(moved)
    }
}

fn ends(socket: &str) -> Result<[Endpoint; 2]> {
    Ok([open(socket, 2)?, open(socket, 3)?])
}

/// Keeps `vcs` virtual channels full.
fn saturate(socket: &str, vcs: u32, bytes: usize, total: usize) -> Result<()> {
    let ends = ends(socket)?;
    let flows = (0..vcs).map(|vc| Flow::new(&ends, vc, bytes, total));
    let mut flows = flows.collect::<Result<Vec<_>>>()?;
    println!("ready");
    loop {
        for flow in &mut flows {
            flow.pump()?;
        }
    }
}

/// Only keeps a processor busy.
fn spin() -> ! {
    println!("ready");
    loop {
        std::hint::spin_loop();
    }
}

/// The descriptors of this process that are memory of at least `bytes` bytes.
fn memories(bytes: u64) -> Vec<OwnedFd> {
    let all = std::fs::read_dir("/proc/self/fd").expect("procfs");
    let open = all.filter_map(|entry| {
        let path = entry.ok()?.path();
        let target = std::fs::read_link(&path).ok()?;
        let size = path.metadata().ok()?.len();
        let number = path.file_name()?.to_str()?.parse().ok()?;
        // SAFETY: the descriptor was open a moment ago, and nobody else closes any in this process.
        let fd = unsafe { BorrowedFd::borrow_raw(number) };
        let is_memory = target.to_string_lossy().starts_with("/memfd:") && size >= bytes;
        is_memory.then(|| fd.try_clone_to_owned().ok()).flatten()
    });
    open.collect()
}

/// Punches holes into the memory that it sends from, which the device then has to fill.
fn holes(socket: &str) -> Result<()> {
    let ends = ends(socket)?;
    let mut flow = Flow::new(&ends, 0, 4096, LONG_BYTES)?;
    let files = memories(LONG_BYTES as u64);
    assert_eq!(files.len(), 2, "the regions of both ends");
    for file in files {
        std::thread::spawn(move || {
            loop {
                let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                // Memory with pages again, so that the next hole takes long.
                let _ = fallocate(&file, flags, 0, LONG_BYTES as u64);
                let _ = fallocate(&file, FallocateFlags::KEEP_SIZE, 0, LONG_BYTES as u64);
            }
        });
    }
    println!("ready");
    loop {
        flow.pump()?;
    }
}

/// Sends long packets, and registers and removes other regions meanwhile.
fn remove(socket: &str) -> Result<()> {
    let path = socket.to_owned();
    std::thread::spawn(move || saturate(&path, 2, LONG_BYTES / 4, LONG_BYTES / 4));
    let endpoint = open(socket, 2)?;
    loop {
        drop(endpoint.alloc(4096)?);
    }
}

/// Registers and removes large memory.
fn memory(socket: &str) -> Result<()> {
    let endpoint = open(socket, 2)?;
    println!("ready");
    loop {
        drop(endpoint.alloc(LONG_BYTES)?);
    }
}

/// Watches its own event 15,000 times, and requests it for every packet.
fn watch(socket: &str) -> Result<()> {
    let ends = ends(socket)?;
    let mut flow = Flow::new(&ends, 0, 64, 64 << 10)?;
    let event = flow.rx.fd()?;
    let copies: Vec<OwnedFd> =
        (0..120).map(|_| event.try_clone_to_owned()).collect::<io::Result<_>>()?;
    let watchers: Vec<OwnedFd> = (0..125)
        .map(|_| epoll::create(epoll::CreateFlags::CLOEXEC))
        .collect::<std::result::Result<_, _>>()
        .map_err(io::Error::from)?;
    for (watcher, copy) in watchers.iter().flat_map(|w| copies.iter().map(move |c| (w, c))) {
        epoll::add(watcher, copy, epoll::EventData::new_u64(0), epoll::EventFlags::IN)
            .map_err(io::Error::from)?;
    }
    println!("ready");
    loop {
        flow.rx.request_event(&Threshold::ONE)?;
        flow.pump()?;
    }
}

/// Rings, empties and fills the doorbell without end.
fn bell(socket: &str) -> Result<()> {
    let ends = ends(socket)?;
    let _flow = Flow::new(&ends, 0, 64, 4096)?;
    let all = std::fs::read_dir("/proc/self/fd").expect("procfs");
    let numbers: Vec<i32> = all
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let target = std::fs::read_link(&path).ok()?;
            let number = path.file_name()?.to_str()?.parse().ok()?;
            (target.as_os_str() == "anon_inode:[eventfd]").then_some(number)
        })
        .collect();
    println!("ready");
    loop {
        for number in &numbers {
            // SAFETY: open until the process ends.
            let fd = unsafe { BorrowedFd::borrow_raw(*number) };
            let _ = rustix::io::write(fd, &1u64.to_ne_bytes());
            let _ = rustix::io::read(fd, &mut [0u8; 8]);
            let _ = rustix::io::write(fd, &(u64::MAX - 1).to_ne_bytes());
        }
    }
}

/// Passes sockets to the daemon whose close waits for 2 s.
fn linger(path: &str) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let mut accepted = Vec::new();
    println!("ready");
    loop {
        let stream = TcpStream::connect(address)?;
        accepted.push(listener.accept()?);
        set_socket_linger(&stream, Some(Duration::from_secs(2))).map_err(io::Error::from)?;
        stream.set_nonblocking(true)?;
        while io::Write::write(&mut &stream, &[0; 4096]).is_ok() {}
        // The copy in the datagram is the last one when the daemon closes it.
        let _ = pass(path, stream.into());
        accepted.drain(..accepted.len().saturating_sub(64));
    }
}

/// Attaches, passes a descriptor that is no eventfd, and waits for the reply.
fn pass(path: &str, fd: OwnedFd) -> io::Result<()> {
    let connection = socket::connect(path.as_ref())?;
    let hello = Request::Hello(Hello::new(Some(2), "linger"));
    for (sequence, request, fd) in [(1, hello, None), (2, Request::AddEvent, Some(fd))] {
        let datagram = codec::encode_request(sequence, &request).map_err(io::Error::other)?;
        let fds = fd.as_ref().map(AsFd::as_fd);
        socket::send(&connection, &datagram, fds.as_slice(), true)?;
        drop(fd);
        socket::receive(&connection)?;
    }
    Ok(())
}
