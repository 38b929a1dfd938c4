//! The session protocol: valid requests, and the answers to all others.

mod common;

use common::{Client, config, eventually, place, queue, refused, server, socket_of};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::AsFd;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use spfe_contract::{CONTRACT_VERSION_MAJOR, CONTRACT_VERSION_MINOR, QueueKind, Status};
use spfe_host::{Mode, SharedMemory};
use spfe_plane::network::EVENTS_MAX;
use spfe_session::{Connection, Hello, PROTOCOL, Reply, Request, codec, socket};
use spfed::{Server, ServerConfig};

#[test]
fn a_client_attaches_and_detaches() {
    let server = server(Mode::Thread);
    let mut client = Client::new(&server, 1);
    assert_eq!(client.welcome.attachment.endpoint, 1);
    assert_eq!(client.fds.len(), 1, "thread mode gives out the doorbell only");
    assert_eq!(client.ask(&Request::Ping).unwrap(), Reply::Done);
    let Reply::Clients(clients) = client.ask(&Request::Clients).unwrap() else { panic!() };
    assert_eq!((clients.len(), clients[0].name.as_str()), (1, "test"));
    assert_eq!(client.ask(&Request::Goodbye).unwrap(), Reply::Done);
    assert!(server.network().clients().is_empty());
    assert_eq!(refused(client.ask(&Request::Ping)).0, Status::DeviceGone);
}

#[test]
fn other_versions_are_refused() {
    let server = server(Mode::Thread);
    let mut connection = Connection::over(socket_of(&server)).unwrap();
    let hello = Hello { contract: (99, 0), ..Hello::new(None, "old") };
    let (status, what) = refused(connection.hello(hello));
    assert_eq!(status, Status::BadVersion);
    let ours = format!("contract {CONTRACT_VERSION_MAJOR}.{CONTRACT_VERSION_MINOR}");
    assert!(what.contains(&ours) && what.contains("99.0"), "{what}");

    let raw = socket_of(&server);
    let mut datagram = codec::encode_request(5, &Request::Ping).unwrap();
    datagram[4] = 77;
    socket::send(&raw, &datagram, &[], true).unwrap();
    let reply = socket::receive(&raw).unwrap();
    let (sequence, reply) = codec::decode_reply(&reply.bytes).unwrap();
    let (status, what) = refused(reply);
    assert_eq!((sequence, status), (5, Status::BadVersion));
    let ours = format!("protocol {PROTOCOL}");
    assert!(what.contains(&ours) && what.contains("77"), "{what}");
    assert!(socket::receive(&raw).unwrap().is_end());
}

/// Protocol 8 has no mode auto: its clients could not decode the answer to their `Hello`.
#[test]
fn a_client_from_before_mode_auto_is_told_so() {
    let server = server(Mode::Auto);
    for request in [Request::Hello(Hello::new(None, "old")), Request::Network] {
        let raw = socket_of(&server);
        let mut datagram = codec::encode_request(5, &request).unwrap();
        datagram[4] = 8;
        socket::send(&raw, &datagram, &[], true).unwrap();
        let reply = socket::receive(&raw).unwrap();
        // The error has the form that every version can decode: behind the header.
        let (sequence, reply) = codec::decode_reply(&reply.bytes).unwrap();
        let (status, what) = refused(reply);
        assert_eq!((sequence, status), (5, Status::BadVersion));
        assert!(
            what.contains(&format!("protocol {PROTOCOL}")) && what.contains("speaks 8"),
            "{what}"
        );
    }
}

#[test]
fn malformed_datagrams_end_only_their_connection() {
    let server = server(Mode::Thread);
    let mut good = Client::new(&server, 0);
    let mut ping = codec::encode_request(9, &Request::Ping).unwrap();
    ping.push(1);
    let long = vec![b'x'; spfe_session::DATAGRAM_MAX + 1];
    for datagram in [&b"nonsense"[..], b"SPFS", &ping, &long] {
        let raw = socket_of(&server);
        socket::send(&raw, datagram, &[], true).unwrap();
        let reply = socket::receive(&raw).unwrap();
        let (_, reply) = codec::decode_reply(&reply.bytes).unwrap();
        assert_eq!(refused(reply).0, Status::BadField);
        assert!(socket::receive(&raw).unwrap().is_end());
        good.ask(&Request::Ping).unwrap();
    }
}

#[test]
fn hello_comes_first_and_once() {
    let server = server(Mode::Thread);
    let mut connection = Connection::over(socket_of(&server)).unwrap();
    let (status, what) = refused(connection.call(&Request::Ping, &[]));
    assert_eq!((status, what.as_str()), (Status::BadField, "Ping before Hello"));
    let mut client = Client::over(connection, None).unwrap();
    let again = Request::Hello(Hello::new(None, "twice"));
    assert_eq!(refused(client.ask(&again)).0, Status::BadField);
}

#[test]
fn queries_do_not_attach() {
    let path = place("query");
    let config = ServerConfig { once: true, ..config(Mode::Thread) }.listen(&path);
    let mut server = Server::start(config).unwrap();
    let mut connection = Connection::open(&path).unwrap();
    let mut query = |request: &Request| {
        connection.call(request, &[]).map(|(reply, fds)| {
            assert!(fds.is_empty(), "{request:?} gives out memory");
            reply
        })
    };
    let Reply::Network(found) = query(&Request::Network).unwrap() else { panic!() };
    assert_eq!(found.topology, *server.network().topology());
    assert_eq!(query(&Request::Clients).unwrap(), Reply::Clients(Vec::new()));
    let Reply::Port(port) = query(&Request::NetworkPort { endpoint: 1, port: 0 }).unwrap() else {
        panic!()
    };
    assert_eq!(port, server.network().port_info(1, 0).unwrap());
    for (endpoint, port) in [(2, 0), (0, 9), (u32::MAX, u32::MAX)] {
        let (status, what) = refused(query(&Request::NetworkPort { endpoint, port }));
        assert_eq!(status, Status::NotFound, "{what}");
    }
    let key = Request::RemoveRegion { key: 0 };
    assert_eq!(refused(query(&key)).1, "RemoveRegion before Hello");
    drop(connection);
    // With --once the daemon waits for its first client; queries do not count.
    let mut client = Client::over(Connection::open(&path).unwrap(), None).unwrap();
    let Reply::Clients(clients) = client.ask(&Request::Clients).unwrap() else { panic!() };
    assert_eq!(clients.len(), 1);
    drop(client);
    server.wait().unwrap();
}

#[test]
fn endpoints_are_checked_and_the_least_used_is_the_default() {
    let server = server(Mode::Thread);
    let connect = |endpoint| Client::over(Connection::over(socket_of(&server)).unwrap(), endpoint);
    let (status, what) = refused(connect(Some(7)).map(drop));
    assert_eq!(status, Status::NotFound);
    assert!(what.contains("endpoint 7") && what.contains("0 to 1"), "{what}");
    let clients: Vec<_> = (0..3).map(|_| connect(None).unwrap()).collect();
    let at: Vec<_> = clients.iter().map(|c| c.welcome.attachment.endpoint).collect();
    assert_eq!(at, [0, 1, 0]);
}

#[test]
fn an_end_of_a_channel_has_one_owner() {
    let server = server(Mode::Thread);
    let (mut a, mut b) = (Client::new(&server, 0), Client::new(&server, 0));
    let (_memory, key) = a.add_queue(QueueKind::Tx).unwrap();
    assert_eq!(b.tx_owner(), a.id());
    let (status, what) = refused(b.add_queue(QueueKind::Tx));
    assert_eq!(status, Status::Busy);
    assert!(what.contains("port 0 VC 0") && what.contains("(test)"), "{what}");
    assert_eq!(refused(a.ask(&Request::RemoveRegion { key: key.0 })).0, Status::Busy);
    let destroy = Request::DestroyQueue { port: 0, vc: 0, kind: QueueKind::Tx.raw() };
    assert_eq!(refused(b.ask(&destroy)).0, Status::NotFound);
    a.ask(&destroy).unwrap();
    a.ask(&Request::RemoveRegion { key: key.0 }).unwrap();
    b.add_queue(QueueKind::Tx).unwrap();
}

#[test]
fn memory_of_another_client_cannot_hold_a_queue() {
    let server = server(Mode::Thread);
    let (mut a, mut b) = (Client::new(&server, 0), Client::new(&server, 0));
    let (_memory, key) = a.add_queue(QueueKind::Tx).unwrap();
    let stolen = Request::CreateQueue(queue(key, QueueKind::Rx));
    assert_eq!(refused(b.ask(&stolen)).0, Status::BadRegion);
    assert_eq!(refused(b.ask(&Request::RemoveRegion { key: key.0 })).0, Status::BadRegion);
}

#[test]
fn memory_that_could_fault_is_refused() {
    let server = server(Mode::Thread);
    let mut client = Client::new(&server, 0);
    let unsealed = memfd_create("t", MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&unsealed, 8192).unwrap();
    let (status, what) = refused(client.add_region(&unsealed, 8192));
    assert_eq!(status, Status::BadRegion);
    assert!(what.contains("F_SEAL_SHRINK"), "{what}");
    fcntl_add_seals(&unsealed, SealFlags::SHRINK).unwrap();
    client.add_region(&unsealed, 8192).unwrap();
    for size in [8193, 0, u64::MAX >> 20] {
        let (status, what) = refused(client.add_region(&unsealed, size));
        assert!(matches!(status, Status::BadRegion | Status::QuotaExceeded), "{size}: {what}");
    }
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    let (status, what) = refused(client.add_region(&file, 4096));
    assert_eq!(status, Status::BadRegion);
    assert!(what.contains("not a memfd"), "{what}");
    let pipe = rustix::pipe::pipe().unwrap();
    assert_eq!(refused(client.add_region(&pipe.0, 4096)).0, Status::BadRegion);
    let none = Request::AddRegion { size: 4096, access: 1 };
    assert_eq!(refused(client.ask(&none)).0, Status::BadField);
    client.ask(&Request::Ping).unwrap();
}

fn add_event(client: &mut Client, event: impl AsFd) -> Result<u32, spfe_session::Error> {
    match client.ask_with(&Request::AddEvent, event.as_fd())? {
        Reply::Vector { vector } => Ok(vector),
        reply => panic!("{reply:?}"),
    }
}

#[test]
fn events_are_eventfds_and_limited() {
    let server = server(Mode::Thread);
    let mut client = Client::new(&server, 0);
    let event = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
    let mut vectors = Vec::new();
    for _ in 0..EVENTS_MAX {
        vectors.push(add_event(&mut client, &event).unwrap());
    }
    let (status, what) = refused(add_event(&mut client, &event));
    assert_eq!(status, Status::NoResources);
    assert!(what.contains(&format!("{EVENTS_MAX} events")), "{what}");
    // Destroying a queue frees its vector.
    let memory = SharedMemory::create("t", 4096).unwrap();
    let key = client.add_region(memory.fd(), 4096).unwrap();
    let mut wish = queue(key, QueueKind::Tx);
    wish.setup.vector = vectors[7];
    client.ask(&Request::CreateQueue(wish)).unwrap();
    assert_eq!(refused(add_event(&mut client, &event)).0, Status::NoResources);
    client.ask(&Request::DestroyQueue { port: 0, vc: 0, kind: QueueKind::Tx.raw() }).unwrap();
    let (status, what) = refused(client.ask(&Request::CreateQueue(wish)));
    assert_eq!(status, Status::NotFound);
    assert!(what.contains("is not registered"), "{what}");
    let fresh = add_event(&mut client, &event).unwrap();
    assert!(!vectors.contains(&fresh), "vector {fresh} was somebody else's");
    assert_eq!(refused(add_event(&mut client, &event)).0, Status::NoResources);
    let pipe = rustix::pipe::pipe().unwrap();
    let (status, what) = refused(client.ask_with(&Request::AddEvent, pipe.1.as_fd()));
    assert_eq!(status, Status::BadField, "{what}");
}

#[test]
fn regions_and_bytes_are_limited_for_each_user() {
    let config = ServerConfig { max_memory: 64 << 10, max_regions: 3, ..config(Mode::Thread) };
    let server = Server::start(config).unwrap();
    let (mut client, mut same) = (Client::of(&server, 1000, 0), Client::of(&server, 1000, 0));
    let mut other = Client::of(&server, 1001, 0);
    let memory = SharedMemory::create("t", 40 << 10).unwrap();
    let key = client.add_region(memory.fd(), 40 << 10).unwrap();
    for client in [&mut client, &mut same] {
        let (status, what) = refused(client.add_region(memory.fd(), 40 << 10));
        assert_eq!(status, Status::QuotaExceeded);
        assert!(what.contains("65536") && what.contains("--max-memory"), "{what}");
    }
    other.add_region(memory.fd(), 40 << 10).unwrap();
    client.ask(&Request::RemoveRegion { key: key.0 }).unwrap();
    for _ in 0..3 {
        client.add_region(memory.fd(), 4096).unwrap();
    }
    for client in [&mut client, &mut same] {
        let (status, what) = refused(client.add_region(memory.fd(), 4096));
        assert_eq!(status, Status::QuotaExceeded);
        assert!(what.contains("3 regions") && what.contains("--max-regions"), "{what}");
    }
    other.add_region(memory.fd(), 4096).unwrap();
    client.ask(&Request::Reset).unwrap();
    client.add_region(memory.fd(), 40 << 10).unwrap();
}

#[test]
fn a_large_region_is_registered_without_touching_its_pages() {
    let config =
        ServerConfig { max_memory: 4 << 30, max_total_memory: 4 << 30, ..config(Mode::Thread) };
    let server = Server::start(config).unwrap();
    let mut client = Client::new(&server, 0);
    let large = memfd_create("t", MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&large, 8 << 30).unwrap();
    fcntl_add_seals(&large, SealFlags::SHRINK).unwrap();
    let key = client.add_region(&large, 4 << 30).unwrap();
    let pages = || rustix::fs::fstat(&large).unwrap().st_blocks;
    assert_eq!(pages(), 0);
    client.ask(&Request::Ping).unwrap();
    let (status, what) = refused(client.add_region(&large, 4096));
    assert_eq!(status, Status::QuotaExceeded);
    assert!(what.contains("4294967296 of their 4294967296 bytes"), "{what}");
    client.ask(&Request::RemoveRegion { key: key.0 }).unwrap();
    let (status, what) = refused(client.add_region(&large, 5 << 30));
    assert_eq!(status, Status::QuotaExceeded);
    assert!(what.contains("--max-memory"), "{what}");
    assert_eq!(pages(), 0);
}

#[test]
fn foreign_memory_is_shared_in_one_trust_domain_only() {
    let event = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
    for mode in [Mode::Thread, Mode::Inline] {
        let server = server(mode);
        let (mut a, mut b) = (Client::new(&server, 0), Client::new(&server, 1));
        assert_eq!(a.fds.len(), if mode == Mode::Thread { 1 } else { 2 });
        let memory = SharedMemory::create("t", 4096).unwrap();
        let key = a.add_region(memory.fd(), 4096).unwrap().0;
        let vector = add_event(&mut a, &event).unwrap();
        let region = b.connection.call(&Request::RegionMemory { endpoint: 0, key }, &[]);
        let signal = Request::Event { participant: a.id(), vector };
        let signal = b.connection.call(&signal, &[]);
        if mode == Mode::Thread {
            assert_eq!(refused(region).0, Status::AccessDenied);
            assert_eq!(refused(signal).0, Status::AccessDenied);
            continue;
        }
        let (reply, fds) = region.unwrap();
        assert_eq!((reply, fds.len()), (Reply::Memory { size: 4096 }, 1));
        assert_eq!(signal.unwrap().1.len(), 1);
        let missing = Request::RegionMemory { endpoint: 9, key };
        assert_eq!(refused(b.ask(&missing)).0, Status::BadRegion);
        let mute = Hello { wants: 0, ..Hello::new(None, "mute") };
        let mut connection = Connection::over(socket_of(&server)).unwrap();
        assert!(refused(connection.hello(mute)).1.contains("--mode thread"));
    }
}

#[test]
fn with_once_the_server_ends_with_its_last_client() {
    let path = place("once");
    let config = ServerConfig { once: true, ..config(Mode::Thread) }.listen(&path);
    let mut server = Server::start(config).unwrap();
    let connect = || Client::over(Connection::open(&path).unwrap(), None).unwrap();
    let (a, b) = (connect(), connect());
    drop(a);
    drop(b);
    server.wait().unwrap();
    eventually("socket removed", || !path.exists());
    let (status, what) = refused(Connection::open(&path));
    assert_eq!(status, Status::DeviceGone);
    assert!(what.contains("spfed --listen"), "{what}");
    assert_eq!(refused(server.adopt(socket::pair().unwrap().0)).0, Status::DeviceGone);
}
