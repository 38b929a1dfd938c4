//! Nodes on a backplane: any start order, restart, partitions, links, hostile clients.

mod common;

use common::Fabric;
use spfe_contract::Status;
use spfe_fabric::client::FabricClient;
use spfe_fabric::node::NodeEvent;
use spfe_fabric::topology::NodeNumber;
use spfe_fabric::wire::{
    self, FABRIC_PROTOCOL, FabricChange, FabricReply, FabricRequest, PeerState,
};

fn numbers(count: u8) -> Vec<u8> {
    (1..=count).collect()
}

#[test]
fn twelve_nodes_are_ready_in_any_start_order() {
    let fabric = Fabric::preset("star12-x2");
    let mut order = numbers(12);
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    fastrand::Rng::with_seed(seed).shuffle(&mut order);
    let _nodes: Vec<_> = order.iter().map(|number| fabric.node(*number)).collect();
    let status = fabric.wait_ready(&numbers(12));
    assert_eq!(status.pairs.len(), 66);
    assert!(status.pairs.iter().all(|pair| pair.states == [PeerState::Ready; 2]));
    assert!(status.is_ready());
}

#[test]
fn a_node_returns_and_the_others_keep_their_links() {
    let fabric = Fabric::preset("star6-x4");
    let mut nodes: Vec<_> = [1, 3, 5].iter().map(|number| fabric.node(*number)).collect();
    fabric.wait_ready(&[1, 3, 5]);
    let events = |node: &common::Worker| node.events.lock().unwrap().len();
    let before = events(&nodes[0]);
    for life in 2..5 {
        drop(nodes.pop());
        fabric.wait_ready(&[1, 3]);
        nodes.push(fabric.node(5));
        let status = fabric.wait_ready(&[1, 3, 5]);
        let node = status.nodes.iter().find(|node| node.node.0 == 5).unwrap();
        assert_eq!(node.epoch, life);
    }
    let events = nodes[0].events.lock().unwrap().clone();
    let about = |event: &&NodeEvent| matches!(event, NodeEvent::Peer { peer: NodeNumber(5), .. });
    let others = events[before..].iter().filter(|event| !about(event)).count();
    assert_eq!(others, 0, "only node 5 changed: {events:?}");
}

#[test]
fn only_one_process_runs_a_node() {
    let fabric = Fabric::preset("dist2-x8");
    let _node = fabric.node(1);
    fabric.wait_ready(&[1]);
    let refused = |node, version| {
        let request = FabricRequest::JoinNode { version, node: NodeNumber(node) };
        fabric.client().call(&request, &[]).unwrap_err()
    };
    assert_eq!(refused(1, FABRIC_PROTOCOL).status, Status::Busy);
    let error = refused(2, FABRIC_PROTOCOL);
    assert_eq!(error.status, Status::NotFound);
    assert!(error.what.contains("which has 1, 3"), "{error}");
    assert_eq!(refused(3, 99).status, Status::BadVersion);
}

#[test]
fn a_node_takes_over_from_a_process_that_ends_meanwhile() {
    let fabric = Fabric::preset("dist2-x8");
    // Whoever has joined runs the node, until its connection ends.
    let former = fabric.client();
    let join = FabricRequest::JoinNode { version: FABRIC_PROTOCOL, node: NodeNumber(1) };
    former.call(&join, &[]).unwrap();
    let next = fabric.node(1);
    let told = std::thread::spawn(move || drop(former));
    let status = fabric.wait("the next life", |status| status.nodes[0].epoch == 2);
    assert_eq!(status.nodes[0].state, PeerState::Ready);
    told.join().unwrap();
    drop(next);
}

#[test]
fn partitions_isolate_and_links_fail_over() {
    let fabric = Fabric::preset("dual6-x4");
    let _nodes: Vec<_> = [1, 3, 5].iter().map(|number| fabric.node(*number)).collect();
    fabric.wait_ready(&[1, 3, 5]);
    let node = NodeNumber(5);
    fabric.change(FabricChange::Partition { node, name: "b".to_owned() }).unwrap();
    let status = fabric.status();
    assert_eq!(status.pairs.len(), 1);
    assert_eq!(status.state_at(NodeNumber(1), node), PeerState::NoLink);
    fabric.change(FabricChange::Partition { node, name: String::new() }).unwrap();
    let status = fabric.wait_ready(&[1, 3, 5]);
    let way = |status: &spfe_fabric::status::FabricStatus| status.pairs[0].path.clone();
    let (first, link) = (way(&status), |up, switch: &str| FabricChange::Link {
        ends: ["1A".to_owned(), switch.to_owned()],
        up,
    });
    let switch = if first.contains("switch1") { "switch1" } else { "switch2" };
    fabric.change(link(false, switch)).unwrap();
    let status = fabric.status();
    assert_ne!(way(&status), first, "the other switch takes over");
    assert_eq!(status.pairs[0].states, [PeerState::Ready; 2], "without a break");
    let other = if switch == "switch1" { "switch2" } else { "switch1" };
    fabric.change(link(false, other)).unwrap();
    assert_eq!(fabric.status().state_at(NodeNumber(1), NodeNumber(3)), PeerState::NoLink);
    fabric.change(link(true, other)).unwrap();
    fabric.wait_ready(&[1, 3, 5]);
    let error = fabric.change(link(true, "nowhere")).unwrap_err();
    assert!(error.what.contains("1A - nowhere"), "{error}");
}

#[test]
fn nodes_come_and_go_while_the_fabric_runs() {
    let fabric = Fabric::preset("dist2-x8");
    let _one = fabric.node(1);
    let _two = fabric.node(3);
    fabric.wait_ready(&[1, 3]);
    let add = |node, like| FabricChange::Add { node: NodeNumber(node), like: NodeNumber(like) };
    fabric.change(add(5, 3)).unwrap();
    let third = fabric.node(5);
    let status = fabric.wait("a third node", |status| status.pairs.len() == 2);
    assert_eq!(status.state_at(NodeNumber(5), NodeNumber(3)), PeerState::NoLink, "no link there");
    assert!(fabric.change(add(3, 1)).unwrap_err().what.contains("node 2A: twice"));
    assert!(fabric.change(add(65, 1)).is_err() && fabric.change(add(7, 8)).is_err());
    fabric.change(FabricChange::Remove { node: NodeNumber(5) }).unwrap();
    fabric.wait_ready(&[1, 3]);
    assert_eq!(fabric.status().nodes.len(), 2);
    drop(third);
}

#[test]
fn hostile_clients_are_answered_and_harm_nobody() {
    let fabric = Fabric::preset("dist2-x8");
    let _nodes = [fabric.node(1), fabric.node(3)];
    fabric.wait_ready(&[1, 3]);
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..50 {
        let socket = spfe_session::socket::connect(&fabric.path).unwrap();
        for _ in 0..random.usize(1..20) {
            let bytes: Vec<u8> = (0..random.usize(1..64)).map(|_| random.u8(..12)).collect();
            // Random bytes can ask for the end of the fabric or the removal of a node, and mean it.
            let request = wire::decode::<FabricRequest>(&bytes);
            if matches!(request, Ok(FabricRequest::Down | FabricRequest::Change(_))) {
                continue;
            }
            let _ = spfe_session::socket::send(&socket, &bytes, &[], false);
        }
    }
    // A client that asks and never reads is disconnected.
    let deaf = spfe_session::socket::connect(&fabric.path).unwrap();
    let ask = wire::encode(&FabricRequest::Map { key: 1 }).unwrap();
    for _ in 0..20_000 {
        if spfe_session::socket::send(&deaf, &ask, &[], false).is_err() {
            std::thread::yield_now();
        }
    }
    let status = fabric.wait_ready(&[1, 3]);
    assert_eq!(status.nodes.iter().map(|node| node.epoch).collect::<Vec<_>>(), [1, 1]);
}

/// A client that joins as node 3 and greets, but then writes what a hostile peer would.
#[test]
fn a_peer_that_breaks_the_ring_loses_its_own_link_only() {
    use spfe_fabric::memory::PairMemory;
    use std::sync::atomic::Ordering;
    let fabric = Fabric::preset("dist3-x8");
    let _nodes = [fabric.node(1), fabric.node(3)];
    fabric.wait_ready(&[1, 3]);
    let hostile: FabricClient = fabric.client();
    let join = FabricRequest::JoinNode { version: FABRIC_PROTOCOL, node: NodeNumber(5) };
    hostile.call(&join, &[]).unwrap();
    let mut memories = Vec::new();
    let mut wires = Vec::new();
    while wires.len() < 2 {
        let (reply, fds) = hostile.receive().unwrap();
        match reply {
            FabricReply::PeerMemory { peer, link, ring } => {
                let mut fds = fds.into_iter();
                let mut open = || PairMemory::open(fds.next().unwrap(), ring as usize).unwrap();
                let (inward, outward) = (open(), open());
                outward.greeting().store(link, Ordering::Release);
                outward.echo().store(link, Ordering::Release);
                memories.push((peer, inward, outward));
            }
            FabricReply::PeerWire { .. } => wires.extend(fds),
            _ => {}
        }
    }
    for wire in &wires {
        rustix::net::send(wire, b"w", rustix::net::SendFlags::DONTWAIT).unwrap();
    }
    let five = NodeNumber(5);
    fabric.wait("greeted", |status| {
        [1, 3].iter().all(|node| status.state_at(NodeNumber(*node), five) == PeerState::Ready)
    });
    let (_, _, outward) = memories.iter().find(|(peer, ..)| peer.0 == 1).unwrap();
    outward.produced().store(u64::MAX, Ordering::Release);
    for wire in &wires {
        rustix::net::send(wire, b"w", rustix::net::SendFlags::DONTWAIT).unwrap();
    }
    let status =
        fabric.wait("ERROR", |status| status.state_at(NodeNumber(1), five) == PeerState::Error);
    assert_eq!(status.state_at(NodeNumber(3), five), PeerState::Ready);
    assert_eq!(status.state_at(NodeNumber(1), NodeNumber(3)), PeerState::Ready);
    let bad = status.traffic.iter().find(|one| one.node.0 == 1 && one.peer == five).unwrap();
    assert_eq!(bad.counters["bad_records"], 1);
}

/// A backplane that stops reading and answering, as after SIGSTOP: nodes work on, and say the states
/// of their links once it reads again.
#[test]
fn a_node_does_not_wait_for_a_backplane_that_is_stopped() {
    use rustix::fd::{AsFd, BorrowedFd};
    use rustix::net::sockopt::{Timeout, set_socket_timeout};
    use spfe_fabric::memory::{Directory, NodePage, PairMemory, create};
    use spfe_session::socket;
    use std::time::Duration;
    const LINKS: u64 = 600;
    const RING: u64 = 1 << 18;

    let folder = std::env::temp_dir().join(format!("spfe-fabric-{:016x}", fastrand::u64(..)));
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("sock");
    let listener = socket::new(rustix::net::SocketFlags::empty()).unwrap();
    rustix::net::bind(&listener, &rustix::net::SocketAddrUnix::new(&path).unwrap()).unwrap();
    rustix::net::listen(&listener, 1).unwrap();
    let node = common::node(&path, 1);
    // A test that waits too long fails.
    let accept = || {
        set_socket_timeout(&listener, Timeout::Recv, Some(Duration::from_secs(60))).unwrap();
        let socket = rustix::net::accept(&listener).unwrap();
        set_socket_timeout(&socket, Timeout::Recv, Some(Duration::from_secs(60))).unwrap();
        set_socket_timeout(&socket, Timeout::Send, Some(Duration::from_secs(60))).unwrap();
        let join = socket::receive(&socket).unwrap();
        let join = wire::decode::<FabricRequest>(&join.bytes).unwrap();
        assert!(matches!(join, FabricRequest::JoinNode { node: NodeNumber(1), .. }), "{join:?}");
        socket
    };
    let (peer, highest) = (NodeNumber(3), NodeNumber(3));
    let page = create("page", NodePage::BYTES).unwrap();
    let directory = Directory::create().unwrap();
    let ring = || create("ring", PairMemory::bytes(RING as usize)).unwrap();
    let (inward, outward) = (ring(), ring());
    let send = |socket: &rustix::fd::OwnedFd, reply: &FabricReply, fds: &[BorrowedFd<'_>]| {
        socket::send(socket, &wire::encode(reply).unwrap(), fds, true).unwrap();
    };
    let joined = FabricReply::Joined { epoch: 1, mac: [2, 0, 0, 0, 0, 1], mtu: 1500, highest };
    let link = |socket: &rustix::fd::OwnedFd, link| {
        let memory = [inward.as_fd(), outward.as_fd()];
        send(socket, &FabricReply::PeerMemory { peer, link, ring: RING }, &memory);
    };
    let wait_for = |what: &str, is_there: &dyn Fn(&[NodeEvent]) -> bool| {
        let there = || is_there(&node.events.lock().unwrap());
        for _ in 0..6000 {
            if there() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("never: {what}");
    };
    let changed = |events: &[NodeEvent], wanted| {
        let one =
            |event: &&NodeEvent| matches!(event, NodeEvent::Peer { state, .. } if *state == wanted);
        events.iter().filter(one).count() as u64
    };

    let first = accept();
    send(&first, &joined, &[page.as_fd(), directory.fd()]);
    // Each new link replaces the one before it, and makes the node say its state. Nobody listens.
    (1..=LINKS).for_each(|number| link(&first, number));
    wait_for("the last link", &|events| changed(events, PeerState::Link) == LINKS);
    loop {
        let message = socket::receive(&first).unwrap();
        assert!(!message.is_end(), "the node has left");
        let said = wire::decode::<FabricRequest>(&message.bytes).unwrap();
        if matches!(said, FabricRequest::PeerState { link: LINKS, .. }) {
            break;
        }
    }

    // The next backplane does not answer. The node sees its peer go, nevertheless.
    let (ours, theirs) = socket::pair().unwrap();
    let wire = FabricReply::PeerWire { peer, link: LINKS, addresses: Vec::new(), port: None };
    send(&first, &wire, &[theirs.as_fd()]);
    drop((first, theirs));
    wait_for("the end of the first", &|events| events.contains(&NodeEvent::BackplaneGone));
    let second = accept();
    drop(ours);
    wait_for("the end of the peer", &|events| changed(events, PeerState::Absent) == LINKS);
    send(&second, &joined, &[page.as_fd(), directory.fd()]);
    wait_for("the second", &|events| events.contains(&NodeEvent::Joined { epoch: 1 }));
    drop(node);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_client_of_a_stopped_backplane_gets_an_error() {
    let folder = std::env::temp_dir().join(format!("spfe-fabric-{:016x}", fastrand::u64(..)));
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("sock");
    let listener = spfe_session::socket::new(rustix::net::SocketFlags::empty()).unwrap();
    rustix::net::bind(&listener, &rustix::net::SocketAddrUnix::new(&path).unwrap()).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let client = FabricClient::connect(&path).unwrap();
    let error = client.call(&FabricRequest::Status, &[]).unwrap_err();
    assert_eq!(error.status, Status::Busy);
    assert!(error.what.contains("does not answer"), "{error}");
    // One connection waits, and there is room for no other.
    let error = FabricClient::connect_now(&path).unwrap_err();
    assert_eq!(error.status, Status::Busy);
    std::fs::remove_dir_all(&folder).unwrap();
}
