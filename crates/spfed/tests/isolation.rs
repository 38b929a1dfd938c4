//! Attacks on the control plane, each with a victim beside the attacker (`common/attack.rs`). The
//! bounds are generous: they tell a victim that waits from one that is served.

mod common;

use common::attack::{ATTACKER, Lingering, PATIENCE, VICTIM, Victim, memory, send_descriptors};
use common::fuse::SlowFile;
use common::{Client, Mortal, config, eventually, place, refused, server, socket_of};
use rustix::fd::{AsFd, OwnedFd};
use rustix::process::{Resource, Rlimit, setrlimit};
use spfe_contract::{MibItem, QueueKind, Status};
use spfe_host::{LinkCommand, Mode};
use spfe_session::{Connection, Hello, Reply, Request, codec, socket};
use spfed::{CLIENTS_MAX, Server, ServerConfig};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ADD_REGION: Request = Request::AddRegion { size: 4096, access: 1 };

fn datagram(request: &Request) -> Vec<u8> {
    codec::encode_request(1, request).unwrap()
}

/// A connection that belongs to the attacker and has not said hello.
fn raw(server: &Server) -> OwnedFd {
    let (ours, theirs) = socket::pair().unwrap();
    server.adopt_for(theirs, ATTACKER).unwrap();
    ours
}

#[test]
fn closing_a_socket_that_lingers_delays_nobody() {
    let server = server(Mode::Thread);
    let mut victim = Victim::new(&server);
    let hello = datagram(&Request::Hello(Hello::new(None, "attacker")));
    let mut kept = Vec::new();
    // With requests before and after Hello; and behind a request that ends the connection, so that the
    // socket of the connection is closed with descriptors in it.
    let attacks = [
        (None, datagram(&Request::Ping)),
        (Some(&hello[..]), datagram(&Request::Ping)),
        (Some(&hello[..]), datagram(&ADD_REGION)),
        (Some(&hello[..]), datagram(&Request::AddEvent)),
        (Some(&b"nonsense"[..]), datagram(&Request::Ping)),
    ];
    for (first, request) in attacks {
        // Everything is sent before the daemon sees the connection: it then has the last descriptor.
        let (ours, theirs) = socket::pair().unwrap();
        if let Some(first) = first {
            socket::send(&ours, first, &[], true).unwrap();
        }
        let peers: Vec<_> = (0..4).map(|_| Lingering::new().give(&ours, &request)).collect();
        server.adopt_for(theirs, ATTACKER).unwrap();
        kept.push((ours, peers));
        victim.is_served(&server);
    }
    std::thread::sleep(Duration::from_millis(50));
    victim.is_served(&server);
    // An hour has not passed, and the attackers go all the same.
    kept.iter_mut().for_each(|(ours, _)| *ours = memory(4096).fd().try_clone_to_owned().unwrap());
    eventually("their clients are gone", || server.network().clients().len() == 1);
    let start = Instant::now();
    drop(server);
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_file_system_that_does_not_answer_delays_nobody() {
    let Some(file) = SlowFile::new("slow") else {
        eprintln!("skipped: this user may not mount a file system");
        return;
    };
    let server = server(Mode::Thread);
    let mut victim = Victim::new(&server);
    let attached: Vec<_> = (0..3).map(|_| Client::of(&server, ATTACKER, 0)).collect();
    for (client, request) in attached.iter().zip([Request::Ping, ADD_REGION, Request::AddEvent]) {
        assert!(send_descriptors(client.connection.socket(), &datagram(&request), &[file.as_fd()]));
    }
    assert!(send_descriptors(raw(&server), &datagram(&ADD_REGION), &[file.as_fd()]));
    std::thread::sleep(Duration::from_millis(50));
    victim.is_served(&server);
    let start = Instant::now();
    drop(server);
    assert!(start.elapsed() < Duration::from_secs(10), "it does not wait for its clients' files");
    drop(file);
}

#[test]
fn as_many_descriptors_as_the_kernel_passes_are_refused() {
    let server = server(Mode::Thread);
    let mut victim = Victim::new(&server);
    let shared = memory(4096);
    let many = [shared.fd(); 253];
    for request in [Request::Ping, ADD_REGION, Request::Hello(Hello::new(None, "x"))] {
        let socket = raw(&server);
        assert!(send_descriptors(&socket, &datagram(&request), &many));
        let reply = codec::decode_reply(&socket::receive(&socket).unwrap().bytes).unwrap().1;
        let (status, what) = refused(reply);
        assert_eq!(status, Status::BadField);
        assert!(what.contains("253 descriptors"), "{what}");
        assert!(socket::receive(&socket).unwrap().is_end());
    }
    victim.is_served(&server);
}

#[test]
fn requests_that_take_no_descriptor_get_none() {
    let server = server(Mode::Thread);
    let mut client = Client::of(&server, ATTACKER, 0);
    let shared = memory(4096);
    for request in [Request::Ping, Request::Clients, Request::Network, Request::Reset] {
        let (status, what) = refused(client.ask_with(&request, shared.fd()));
        assert_eq!(status, Status::BadField);
        assert!(what.contains("1 descriptors; it takes none"), "{what}");
    }
    client.ask(&Request::Ping).unwrap();
    let early = raw(&server);
    assert!(send_descriptors(&early, &datagram(&ADD_REGION), &[shared.fd()]));
    let reply = codec::decode_reply(&socket::receive(&early).unwrap().bytes).unwrap().1;
    assert!(refused(reply).1.contains("before Hello"));
}

#[test]
fn silent_connections_keep_no_newcomer_out() {
    let path = place("silent");
    let server = Server::start(config(Mode::Thread).listen(&path)).unwrap();
    let mut silent = Vec::new();
    for _ in 0..200 {
        silent.push(socket::connect(&path).unwrap());
    }
    // A user's own silent connections make room for it, and everyone else's for others.
    let start = Instant::now();
    for user in [None, Some(VICTIM)] {
        let mut client = match user {
            None => Client::over(Connection::open(&path).unwrap(), None).unwrap(),
            Some(user) => Client::of(&server, user, 0),
        };
        client.ask(&Request::Ping).unwrap();
    }
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    let replaced = socket::receive(&silent[0]).unwrap();
    let (_, reply) = codec::decode_reply(&replaced.bytes).unwrap();
    assert!(refused(reply).1.contains("newcomers"));
}

#[test]
fn silent_connections_of_many_users_keep_no_newcomer_out() {
    let server = server(Mode::Thread);
    let silent: Vec<_> = (0..64)
        .map(|number| {
            let (ours, theirs) = socket::pair().unwrap();
            server.adopt_for(theirs, ATTACKER + 10 + number % 4).unwrap();
            ours
        })
        .collect();
    let start = Instant::now();
    Client::of(&server, VICTIM, 0).ask(&Request::Ping).unwrap();
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    drop(silent);
}

#[test]
fn a_connection_that_does_not_attach_is_closed() {
    let config = ServerConfig { hello_timeout: Duration::from_millis(100), ..config(Mode::Thread) };
    let server = Server::start(config).unwrap();
    let mut client = Client::of(&server, VICTIM, 0);
    let silent = socket_of(&server);
    let (_, reply) = codec::decode_reply(&socket::receive(&silent).unwrap().bytes).unwrap();
    let (status, what) = refused(reply);
    assert_eq!(status, Status::DeviceGone);
    assert!(what.contains("not attached in time"), "{what}");
    assert!(socket::receive(&silent).unwrap().is_end());
    client.ask(&Request::Ping).unwrap();
}

#[test]
fn one_user_does_not_get_all_seats() {
    let server = server(Mode::Thread);
    let mut clients = Vec::new();
    let (status, what) = loop {
        match Client::try_of(&server, ATTACKER, 0) {
            Ok(client) => clients.push(client),
            Err(error) => break (error.status(), error.what),
        }
    };
    assert_eq!((clients.len(), status), (48, Status::NoResources));
    assert!(what.contains("48 clients of user") && what.contains("--max-clients"), "{what}");
    assert!(clients.len() < CLIENTS_MAX);
    Victim::new(&server).is_served(&server);
}

#[test]
fn one_user_does_not_get_all_regions_or_memory() {
    let config =
        ServerConfig { max_memory: 1 << 20, max_total_memory: 3 << 19, ..config(Mode::Thread) };
    let server = Server::start(config).unwrap();
    let mut victim = Victim::new(&server);
    let mut clients: Vec<_> = (0..3).map(|_| Client::of(&server, ATTACKER, 1)).collect();
    let shared = memory(4096);
    let mut count = 0;
    let refusals: Vec<_> = clients
        .iter_mut()
        .map(|client| {
            loop {
                match client.add_region(shared.fd(), 4096) {
                    Ok(_) => count += 1,
                    Err(error) => break error,
                }
            }
        })
        .collect();
    assert_eq!(count, 192);
    assert!(refusals.iter().all(|error| error.status() == Status::QuotaExceeded));
    assert!(refusals[0].what.contains("--max-regions"), "{}", refusals[0]);
    victim.is_served(&server);
    clients.clear();
    eventually("the attackers are gone", || server.network().clients().len() == 1);
    // The attackers may have a MiB each user, and all users together 1.5 MiB.
    let large = memory(1 << 20);
    let mut first = Client::of(&server, ATTACKER, 0);
    first.add_region(large.fd(), 1 << 20).unwrap();
    assert!(refused(first.add_region(shared.fd(), 4096)).1.contains("--max-memory"));
    victim.is_served(&server);
    let mut second = Client::of(&server, ATTACKER + 1, 0);
    let (status, what) = refused(second.add_region(large.fd(), 1 << 20));
    assert_eq!(status, Status::NoResources);
    assert!(what.contains("--max-total-memory"), "{what}");
    victim.is_served(&server);
}

#[test]
fn one_user_does_not_get_all_queues_or_events() {
    let config = ServerConfig { max_queues: 2, max_events: 3, ..config(Mode::Thread) };
    let server = Server::start(config).unwrap();
    let mut victim = Victim::new(&server);
    let (mut a, mut b) = (Client::of(&server, ATTACKER, 0), Client::of(&server, ATTACKER, 0));
    let _memory = [a.add_queue(QueueKind::Tx).unwrap(), b.add_queue(QueueKind::Rx).unwrap()];
    let (memory, key) = {
        let memory = memory(4096);
        let key = a.add_region(memory.fd(), 4096).unwrap();
        (memory, key)
    };
    let mut other = common::queue(key, QueueKind::Tx);
    other.vc = 1;
    let (status, what) = refused(a.ask(&Request::CreateQueue(other)));
    assert_eq!(status, Status::QuotaExceeded);
    assert!(what.contains("2 queues") && what.contains("--max-queues"), "{what}");
    let destroy = Request::DestroyQueue { port: 0, vc: 0, kind: QueueKind::Rx.raw() };
    b.ask(&destroy).unwrap();
    a.ask(&Request::CreateQueue(other)).unwrap();
    drop(memory);
    let event = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).unwrap();
    for client in [&mut a, &mut b] {
        client.ask_with(&Request::AddEvent, event.as_fd()).unwrap();
    }
    a.ask_with(&Request::AddEvent, event.as_fd()).unwrap();
    let (status, what) = refused(b.ask_with(&Request::AddEvent, event.as_fd()));
    assert_eq!(status, Status::QuotaExceeded);
    assert!(what.contains("3 events") && what.contains("--max-events"), "{what}");
    victim.0.ask_with(&Request::AddEvent, event.as_fd()).unwrap();
    victim.is_served(&server);
}

#[test]
fn only_owners_change_channels_and_only_the_daemons_user_links() {
    let server = server(Mode::Thread);
    let (mut owner, mut other) = (Client::of(&server, VICTIM, 0), Client::of(&server, ATTACKER, 0));
    let mut admin = Client::of(&server, 0, 0);
    let _queue = owner.add_queue(QueueKind::Tx).unwrap();
    let priority = |priority| Request::SetPriority { port: 0, vc: 0, priority };
    let set = |value| {
        let command = LinkCommand::Set { item: MibItem::Priority.raw(), index: 0, value };
        Request::Link { port: 0, command }
    };
    let reset = Request::Link { port: 0, command: LinkCommand::Reset };
    let cut = LinkCommand::Cut { lane: Some(0), duration_ns: 1000 };
    let cut = Request::Link { port: 0, command: cut };
    for request in [priority(15), set(15), reset.clone(), cut.clone()] {
        let (status, what) = refused(other.ask(&request));
        assert_eq!(status, Status::AccessDenied, "{request:?}: {what}");
        assert!(what.contains("port 0") && what.contains("root"), "{what}");
    }
    for request in [priority(3), set(4)] {
        owner.ask(&request).unwrap();
        admin.ask(&request).unwrap();
    }
    for request in [reset, cut] {
        assert_eq!(refused(owner.ask(&request)).0, Status::AccessDenied);
        let (status, what) = refused(admin.ask(&request));
        assert_eq!(status, Status::BadOpcode, "only exact links can: {what}");
    }
    let vc_1 = Request::SetPriority { port: 0, vc: 1, priority: 1 };
    assert_eq!(refused(owner.ask(&vc_1)).0, Status::AccessDenied, "it has not opened VC 1");
}

#[test]
fn only_the_daemons_user_and_root_give_faults() {
    let server = server(Mode::Thread);
    let fault = Request::Fault { fault: "what = 'cut', link = 'a'".into() };
    let end = Request::EndFaults { which: "all".into() };
    let mut other = Client::of(&server, ATTACKER, 0);
    for request in [&fault, &end] {
        let (status, what) = refused(other.ask(request));
        assert_eq!(status, Status::AccessDenied, "{request:?}: {what}");
        assert!(what.starts_with("fault: ") && what.contains("root"), "{what}");
    }
    // Looking is for everybody.
    assert_eq!(other.ask(&Request::Faults).unwrap(), Reply::Faults(Vec::new()));
    let daemons_user = rustix::process::geteuid().as_raw();
    for user in [0, daemons_user] {
        let mut admin = Client::of(&server, user, 0);
        for request in [&fault, &end] {
            let answer = admin.ask(request);
            let denied = matches!(&answer, Err(error) if error.status() == Status::AccessDenied);
            assert!(!denied, "user {user}, {request:?}: {answer:?}");
        }
    }
}

#[test]
fn names_of_clients_do_not_control_terminals() {
    let server = server(Mode::Thread);
    let mut connection = Connection::over(raw(&server)).unwrap();
    let name = Hello::new(Some(0), "\u{1b}[31mred\u{202e}\u{7}\n");
    let (welcome, fds) = connection.hello(name).unwrap();
    let mut named = Client { connection, welcome, fds };
    let mut client = Client::of(&server, VICTIM, 0);
    let Reply::Clients(clients) = client.ask(&Request::Clients).unwrap() else { panic!() };
    assert_eq!(clients[0].name, "\u{fffd}[31mred\u{fffd}\u{fffd}\u{fffd}");
    let _queue = named.add_queue(QueueKind::Tx).unwrap();
    let (status, what) = refused(client.add_queue(QueueKind::Tx));
    assert_eq!(status, Status::Busy);
    assert!(what.contains("[31mred") && !what.contains(char::is_control), "{what:?}");
}

/// A daemon that may have few descriptors.
fn small_daemon(path: &Path, descriptors: u64) -> Mortal {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spfed"));
    command.arg("--listen").arg(path).stderr(Stdio::null());
    let limit = Rlimit { current: Some(descriptors), maximum: Some(descriptors) };
    let limited = move || setrlimit(Resource::Nofile, limit).map_err(std::io::Error::from);
    // SAFETY: only a system call between fork and exec.
    let child = unsafe { command.pre_exec(limited) }.spawn().unwrap();
    eventually("the daemon listens", || path.exists() && socket::connect(path).is_ok());
    Mortal(child)
}

#[test]
fn without_descriptors_requests_fail_with_the_reason() {
    let path = place("few");
    let _daemon = small_daemon(&path, 64);
    let connect = || Client::over(Connection::open(&path).unwrap(), Some(0));
    let (mut victim, mut attacker) = (connect().unwrap(), connect().unwrap());
    let shared = memory(4096);
    let (status, what) = loop {
        if let Err(error) = attacker.add_region(shared.fd(), 4096) {
            break (error.status(), error.what);
        }
    };
    assert_eq!(status, Status::NoResources);
    assert!(what.contains("no descriptor left (limit 64)"), "{what}");
    let (status, what) = refused(victim.add_region(shared.fd(), 4096));
    assert_eq!(
        (status, what.contains("no descriptor left")),
        (Status::NoResources, true),
        "{what}"
    );
    victim.ask(&Request::Ping).unwrap();
    let (status, what) = refused(connect().map(drop));
    assert_eq!(
        (status, what.contains("no descriptor left")),
        (Status::NoResources, true),
        "{what}"
    );
    attacker.ask(&Request::Goodbye).unwrap();
    victim.add_region(shared.fd(), 4096).unwrap();
    eventually("newcomers are served", || connect().is_ok());
}

#[test]
fn sigterm_works_during_an_attack() {
    let path = place("sigterm");
    let mut daemon = small_daemon(&path, 1024);
    let signal = |signal| {
        // SAFETY: the child has not been waited for, so its process id is still valid.
        unsafe { libc::kill(daemon.0.id() as libc::pid_t, signal) };
    };
    // A stopped daemon cannot take the socket before it is closed here.
    signal(libc::SIGSTOP);
    let attacker = socket::connect(&path).unwrap();
    let peer = Lingering::new().give(&attacker, &datagram(&Request::Ping));
    signal(libc::SIGCONT);
    let slow = SlowFile::new("sigterm");
    let client = Client::over(Connection::open(&path).unwrap(), None).unwrap();
    if let Some(slow) = &slow {
        assert!(send_descriptors(
            client.connection.socket(),
            &datagram(&ADD_REGION),
            &[slow.as_fd()]
        ));
    }
    signal(libc::SIGTERM);
    // The kernel keeps a process until its last call returns, so end that of the file.
    eventually("the daemon has removed its socket", || !path.exists());
    drop(slow);
    drop((attacker, peer));
    assert_eq!(daemon.0.wait().unwrap().code(), Some(0));
}
