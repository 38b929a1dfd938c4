//! Clients that die, flood the daemon, do not read replies, or are too many.

mod common;

use common::{Client, Mortal, config, eventually, place, refused, server, socket_of, test_client};
use rustix::fd::AsFd;
use spfe_contract::{QueueKind, Status};
use spfe_host::{Mode, SharedMemory};
use spfe_plane::Doorbell;
use spfe_session::{Connection, Hello, Request, codec, socket};
use spfed::{CLIENTS_MAX, Server};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A client process that has both ends of VC 0 of endpoint 0 open.
fn spawn_child(path: &Path) -> Mortal {
    let mut child = test_client("hold", path).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "ready"), "the child process has failed");
    Mortal(child)
}

#[test]
fn the_resources_of_a_killed_client_are_freed() {
    for mode in [Mode::Thread, Mode::Inline, Mode::Coop] {
        let path = place(&format!("kill-{mode}"));
        let server = Server::start(config(mode).listen(&path)).unwrap();
        let mut client = Client::new(&server, 0);
        let child = spawn_child(&path);
        assert_eq!(refused(client.add_queue(QueueKind::Tx)).0, Status::Busy);
        drop(child);
        eventually("both ends are free", || client.tx_owner() == 0);
        let _queues = [QueueKind::Tx, QueueKind::Rx].map(|kind| client.add_queue(kind).unwrap());
        eventually("one client is left", || server.network().clients().len() == 1);
    }
}

#[test]
fn a_client_that_does_not_read_its_replies_is_dropped() {
    let server = server(Mode::Thread);
    let mut good = Client::new(&server, 0);
    let deaf = socket_of(&server);
    let hello = codec::encode_request(1, &Request::Hello(Hello::new(Some(0), "deaf"))).unwrap();
    let ask = codec::encode_request(2, &Request::PortInfo { port: 0 }).unwrap();
    socket::send(&deaf, &hello, &[], true).unwrap();
    // The daemon takes requests while its replies fit into the socket, then it closes it.
    eventually("the client that does not read is dropped", || {
        good.ask(&Request::Ping).unwrap();
        match socket::send(&deaf, &ask, &[], false) {
            Ok(()) => false,
            Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
        }
    });
    eventually("it is forgotten", || server.network().clients().len() == 1);
}

#[test]
fn a_flood_does_not_starve_other_clients() {
    let server = server(Mode::Thread);
    let mut good = Client::new(&server, 0);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut flood = Client::new(&server, 0);
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    flood.ask(&Request::Clients).unwrap();
                }
            });
        }
        for _ in 0..200 {
            good.ask(&Request::Ping).unwrap();
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn too_many_descriptors_are_malformed_and_closed() {
    let server = server(Mode::Thread);
    let memory = SharedMemory::create("t", 4096).unwrap();
    let mut client = Client::new(&server, 0);
    let two = [memory.fd(), memory.fd()];
    let request = Request::AddRegion { size: 4096, access: 1 };
    let (status, what) = refused(client.connection.call(&request, &two));
    assert_eq!(
        (status, what.as_str()),
        (Status::BadField, "AddRegion with 2 descriptors; it takes one")
    );
    let raw = socket_of(&server);
    send_many(raw.as_fd(), &codec::encode_request(1, &request).unwrap(), memory.fd());
    let (_, reply) = codec::decode_reply(&socket::receive(&raw).unwrap().bytes).unwrap();
    assert!(refused(reply).1.contains("descriptors"));
    client.ask(&Request::Ping).unwrap();
}

/// While a hole is being punched, an access to it waits, and with it the device thread.
#[test]
fn a_client_cannot_punch_a_hole_into_memory_of_the_device() {
    use rustix::fs::{FallocateFlags, SealFlags, fallocate, fcntl_add_seals};
    let server = server(Mode::Thread);
    let mut client = Client::new(&server, 0);
    let memory = SharedMemory::create("t", 1 << 20).unwrap();
    client.add_region_once(memory.fd(), 1 << 20).unwrap();
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let punched = fallocate(memory.fd(), flags, 0, 1 << 20);
    assert_eq!(punched, Err(rustix::io::Errno::PERM));
    let (base, remove) = (memory.base().as_ptr(), rustix::mm::Advice::LinuxRemove);
    // SAFETY: our own mapping; its contents may change at any time.
    let removed = unsafe { rustix::mm::madvise(base.cast(), 4096, remove) };
    assert_eq!(removed, Err(rustix::io::Errno::PERM));
    // SAFETY: inside the mapping.
    unsafe { base.write_volatile(7) };
    let (status, what) = refused(client.add_region_once(memory.fd(), 1 << 20));
    assert!(status == Status::BadRegion && what.contains("registered already"), "{what}");
    let closed = SharedMemory::create("t", 4096).unwrap();
    fcntl_add_seals(closed.fd(), SealFlags::SEAL).unwrap();
    let (status, what) = refused(client.add_region_once(closed.fd(), 4096));
    assert!(status == Status::BadRegion && what.contains("F_SEAL_SEAL"), "{what}");
}

/// A futex word that all clients map could be used by one to steal the wake-ups of the others.
#[test]
fn clients_share_no_doorbell() {
    use rustix::mm::{MapFlags, ProtFlags, mmap};
    let server = server(Mode::Thread);
    let doorbells = [0, 1].map(|endpoint| Client::new(&server, endpoint).fds.remove(0));
    for doorbell in &doorbells {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping at an address the kernel chooses.
        let mapped =
            unsafe { mmap(std::ptr::null_mut(), 4096, access, MapFlags::SHARED, doorbell, 0) };
        assert_eq!(mapped.unwrap_err(), rustix::io::Errno::NODEV, "memory of all clients");
    }
    let doorbells = doorbells.map(Doorbell::open);
    doorbells[0].ring();
    assert_eq!(doorbells.map(|doorbell| doorbell.rings()), [1, 0]);
}

fn send_many(socket: rustix::fd::BorrowedFd<'_>, datagram: &[u8], fd: rustix::fd::BorrowedFd<'_>) {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(16))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds = [fd; 16];
    assert!(control.push(SendAncillaryMessage::ScmRights(&fds)));
    let parts = [std::io::IoSlice::new(datagram)];
    sendmsg(socket, &parts, &mut control, SendFlags::empty()).unwrap();
}

#[test]
fn the_number_of_clients_is_limited() {
    let server = server(Mode::Thread);
    let user = |number: usize| (number % 2) as u32;
    let mut clients: Vec<_> =
        (0..CLIENTS_MAX).map(|number| Client::of(&server, user(number), 0)).collect();
    let mut late = Connection::over(socket_of(&server)).unwrap();
    let (status, what) = refused(late.hello(Hello::new(None, "late")));
    assert_eq!(status, Status::NoResources);
    assert!(what.contains("64 clients"), "{what}");
    clients.pop();
    eventually("there is room again", || late.hello(Hello::new(None, "late")).is_ok());
}

#[test]
fn a_second_daemon_does_not_take_the_socket() {
    let path = place("second");
    let first = Server::start(config(Mode::Thread).listen(&path)).unwrap();
    let second = Server::start(config(Mode::Thread).listen(&path));
    let (status, what) = refused(second.map(drop));
    assert_eq!(status, Status::Busy);
    assert!(what.contains("running daemon") && what.contains("--listen"), "{what}");
    let mut client = Client::over(Connection::open(&path).unwrap(), None).unwrap();
    client.ask(&Request::Ping).unwrap();
    drop(first);
    assert_eq!(refused(client.ask(&Request::Ping)).0, Status::DeviceGone);
    assert!(!path.exists());
}

#[test]
fn the_exit_codes_are_those_of_spfe() {
    let scenario = place("scenario").with_extension("toml");
    std::fs::write(&scenario, "nonsense = ").unwrap();
    let file = scenario.to_str().unwrap();
    for (words, code, part) in [
        (&["--endpoints", "65"][..], 2, "1 to 64"),
        (&["--mode", "magic"], 2, "magic"),
        (&["--scenario", file], 2, "scenario '"),
        (&["--scenario", "/no/such"], 1, "scenario '/no/such'"),
        (&["--listen", "/no/such/directory"], 5, "/no/such/directory"),
        (&["--help"], 0, "130  interrupted before it was done"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_spfed")).args(words).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {text}");
        assert!(text.contains(part), "{words:?}: {text}");
    }
    std::fs::remove_file(scenario).unwrap();
}

#[test]
fn the_program_starts_refuses_and_stops() {
    let path = place("binary");
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spfed"));
        command.arg("--listen").arg(&path).stderr(Stdio::piped());
        command
    };
    let ready = |child: &mut Child| {
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        line
    };
    let mut first = start().spawn().unwrap();
    let line = ready(&mut first);
    assert!(line.contains("listening on") && line.contains("mode thread"), "{line}");
    let refused = start().output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("running daemon"));
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(path.exists(), "killed: the socket is left behind");
    let mut second = start().spawn().unwrap();
    ready(&mut second);
    Client::over(Connection::open(&path).unwrap(), Some(1)).unwrap();
    // SAFETY: the child has not been waited for, so its process id is still valid.
    unsafe { libc::kill(second.id() as libc::pid_t, libc::SIGTERM) };
    assert_eq!(second.wait().unwrap().code(), Some(0));
    assert!(!path.exists(), "stopped in good order: the socket is removed");
}
