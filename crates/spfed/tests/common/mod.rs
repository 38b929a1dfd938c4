//! A server, raw clients, and a queue in registered memory.
#![allow(dead_code)]

pub mod attack;
pub mod fuse;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create,
};
use spfe_contract::{QueueKind, QueueSetup, Status, access};
use spfe_device::memory::{Address, RegionKey};
use spfe_host::{LinkRate, Mode, QueueRequest, SharedMemory, Topology};
use spfe_session::{Connection, Error, Hello, Reply, Request, Welcome, socket};
use spfed::{Server, ServerConfig};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Limit of every bounded wait; long enough for a loaded machine.
pub const SOON: Duration = Duration::from_secs(20);

pub fn config(mode: Mode) -> ServerConfig {
    ServerConfig::new(Topology::pairs(2, LinkRate::Unlimited, mode))
}

pub fn server(mode: Mode) -> Server {
    Server::start(config(mode)).unwrap()
}

pub fn place(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("spfed-test-{}-{name}.sock", std::process::id()))
}

/// A connection that has not said hello.
pub fn socket_of(server: &Server) -> OwnedFd {
    let (ours, theirs) = socket::pair().unwrap();
    server.adopt(theirs).unwrap();
    ours
}

pub struct Client {
    pub connection: Connection,
    pub welcome: Welcome,
    pub fds: Vec<OwnedFd>,
}

impl Client {
    pub fn over(mut connection: Connection, endpoint: Option<u32>) -> Result<Self, Error> {
        let (welcome, fds) = connection.hello(Hello::new(endpoint, "test"))?;
        Ok(Self { connection, welcome, fds })
    }

    pub fn new(server: &Server, endpoint: u32) -> Self {
        let connection = Connection::over(socket_of(server)).unwrap();
        Self::over(connection, Some(endpoint)).unwrap()
    }

    /// A client of a user, whoever runs the test.
    pub fn of(server: &Server, user: u32, endpoint: u32) -> Self {
        Self::try_of(server, user, endpoint).unwrap()
    }

    pub fn try_of(server: &Server, user: u32, endpoint: u32) -> Result<Self, Error> {
        let (ours, theirs) = socket::pair().unwrap();
        server.adopt_for(theirs, user).unwrap();
        Self::over(Connection::over(ours)?, Some(endpoint))
    }

    pub fn id(&self) -> u32 {
        self.welcome.attachment.client
    }

    pub fn ask(&mut self, request: &Request) -> Result<Reply, Error> {
        self.connection.call(request, &[]).map(|(reply, _)| reply)
    }

    pub fn ask_with(&mut self, request: &Request, fd: BorrowedFd<'_>) -> Result<Reply, Error> {
        self.connection.call(request, &[fd]).map(|(reply, _)| reply)
    }

    /// Registers memory, or other memory of that size if it has been registered before: a daemon in
    /// mode thread takes it once.
    pub fn add_region(&mut self, fd: impl AsFd, size: u64) -> Result<RegionKey, Error> {
        let taken =
            |fd| fcntl_get_seals(fd).is_ok_and(|seals| seals.contains(SealFlags::FUTURE_WRITE));
        let other = taken(fd.as_fd()).then(|| unused(fstat(&fd).unwrap().st_size as u64));
        let fd = other.as_ref().map_or(fd.as_fd(), AsFd::as_fd);
        self.add_region_once(fd, size)
    }

    pub fn add_region_once(&mut self, fd: impl AsFd, size: u64) -> Result<RegionKey, Error> {
        let access = access::LOCAL_READ | access::LOCAL_WRITE;
        match self.ask_with(&Request::AddRegion { size, access }, fd.as_fd())? {
            Reply::Region { key } => Ok(RegionKey(key)),
            reply => panic!("{reply:?}"),
        }
    }

    /// Creates a queue of 16 entries on port 0 VC 0 in a new region.
    pub fn add_queue(&mut self, kind: QueueKind) -> Result<(SharedMemory, RegionKey), Error> {
        let memory = SharedMemory::create("test-queue", 4096).unwrap();
        let key = self.add_region(memory.fd(), memory.size() as u64)?;
        self.ask(&Request::CreateQueue(queue(key, kind)))?;
        Ok((memory, key))
    }

    /// The client that sends on port 0 VC 0; 0 without one.
    pub fn tx_owner(&mut self) -> u32 {
        match self.ask(&Request::PortInfo { port: 0 }).unwrap() {
            Reply::Port(info) => info.channels[0].sender.unwrap_or(0),
            reply => panic!("{reply:?}"),
        }
    }
}

/// Sealed memory without pages.
fn unused(size: u64) -> OwnedFd {
    let fd = memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&fd, size).unwrap();
    fcntl_add_seals(&fd, SealFlags::SHRINK).unwrap();
    fd
}

/// Lines at 0, submissions at 128, completions at 384, times at 640.
pub fn queue(key: RegionKey, kind: QueueKind) -> QueueRequest {
    let at = |offset| Address::new(key, offset).0;
    let setup = QueueSetup {
        kind: u32::from(kind.raw()),
        sq_log2: 4,
        cq_log2: 4,
        sq: at(128),
        cq: at(384),
        stamp: at(640),
        lines: at(0),
        ..QueueSetup::default()
    };
    QueueRequest { setup, ..QueueRequest::default() }
}

/// The status and message of a request that must be refused.
pub fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> (Status, String) {
    let error = result.unwrap_err();
    (error.status(), error.what)
}

pub fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !done() {
        assert!(Instant::now() < deadline, "{what}: not in {SOON:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The example `test_client`.
pub fn test_client(action: &str, socket: &Path) -> Command {
    let mut command = example("test_client");
    command.arg(action).arg(socket);
    command
}

/// An example of this crate, which `cargo test` builds beside the tests.
pub fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).expect("tests are in PROFILE/deps");
    let program = profile.join("examples").join(name);
    assert!(program.exists(), "build it: cargo build -p spfed --example {name}");
    Command::new(program)
}

/// Whether a thread of this process is in a futex call.
pub fn sleeps_on_futex(thread: rustix::thread::Pid) -> bool {
    let path = format!("/proc/self/task/{}/syscall", thread.as_raw_nonzero());
    // "running", or the number of the system call and its arguments.
    let call = std::fs::read_to_string(path).unwrap_or_default();
    call.split(' ').next().and_then(|number| number.parse().ok()) == Some(libc::SYS_futex)
}

/// A child process that is killed on drop.
pub struct Mortal(pub std::process::Child);

impl Drop for Mortal {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
