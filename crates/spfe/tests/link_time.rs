//! Link time that one client books on a paced link, and the clients beside and after it.

use spfe::{Deadline, Embedded, Endpoint, Mode, QueueOptions, Rx, Topology, Tx};
use std::sync::Arc;
use std::time::Duration;

/// A packet takes about 110 ms on this link, all of them 3.5 s.
const LINK: &str = "1x100M";
const BYTES: usize = 1 << 20;
const COUNT: usize = 32;
/// Limit of the delay of a short packet on a busy machine. Before, it was that of all packets.
const LIMIT: Duration = Duration::from_millis(1000);

fn network() -> Arc<Embedded> {
    Embedded::new(Topology::pairs(2, LINK.parse().unwrap(), Mode::Thread)).unwrap()
}

fn open(network: &Arc<Embedded>, endpoint: u32) -> Endpoint {
    Endpoint::attach(network, endpoint, "link time").unwrap()
}

fn tx(endpoint: &Endpoint, vc: u32) -> Tx {
    let options = QueueOptions::default().depth(64);
    endpoint.port(0).unwrap().vc(vc).unwrap().tx_with(options).unwrap()
}

fn rx(endpoint: &Endpoint, vc: u32, bytes: usize, count: usize) -> Rx {
    let options = QueueOptions::default().depth(64);
    let mut rx = endpoint.port(0).unwrap().vc(vc).unwrap().rx_with(options).unwrap();
    rx.post_all(&mut endpoint.alloc(bytes * count).unwrap().split(bytes, count).unwrap());
    rx
}

/// A client that sends much more than the link can carry, when its first packet has been booked.
fn greedy(network: &Arc<Embedded>, vc: u32, receiver: &mut Rx) -> (Endpoint, Tx) {
    let client = open(network, 0);
    let mut sender = tx(&client, vc);
    for packet in client.alloc(BYTES * COUNT).unwrap().split(BYTES, COUNT).unwrap() {
        sender.send(packet).unwrap();
    }
    let first = receiver.recv(Deadline::after(Duration::from_secs(20))).unwrap();
    assert_eq!(first.buf.len(), BYTES);
    (client, sender)
}

/// Sends a short packet; returns when it arrives after `since_ns`.
fn delay(sender: &mut Tx, receiver: &mut Rx, from: &Endpoint, since_ns: u64) -> Duration {
    sender.send(from.alloc(64).unwrap().buf(0..64).unwrap()).unwrap();
    loop {
        let got = receiver.recv(Deadline::after(Duration::from_secs(20))).unwrap();
        if got.buf.len() == 64 {
            return Duration::from_nanos(got.time_ns.unwrap().saturating_sub(since_ns));
        }
    }
}

#[test]
fn a_short_packet_beside_a_greedy_sender_is_not_delayed() {
    let network = network();
    let (victim, far) = (open(&network, 0), open(&network, 1));
    let mut flood = rx(&far, 1, BYTES, COUNT);
    let mut receiver = rx(&far, 0, 64, 4);
    let mut sender = tx(&victim, 0);
    let _greedy = greedy(&network, 1, &mut flood);
    let took = delay(&mut sender, &mut receiver, &victim, victim.now_ns());
    assert!(took < LIMIT, "{took:?}");
}

#[test]
fn link_time_does_not_outlive_its_sender() {
    let network = network();
    let far = open(&network, 1);
    let mut receiver = rx(&far, 1, BYTES, COUNT + 1);
    let (client, sender) = greedy(&network, 1, &mut receiver);
    drop(sender);
    drop(client);
    let next = open(&network, 0);
    let mut sender = tx(&next, 1);
    let took = delay(&mut sender, &mut receiver, &next, next.now_ns());
    assert!(took < LIMIT, "{took:?}");
}
