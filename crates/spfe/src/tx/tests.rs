use crate::{Embedded, Endpoint, QueueOptions};
use spfe_contract::{Completion, QueueState};
use spfe_host::topology::{LinkModel, PortConfig};
use spfe_host::{LinkRate, Mode, Peer, Topology};

#[test]
fn a_queue_that_cannot_start_again_gives_back_nothing() {
    let (rate, model) = (LinkRate::Unlimited, LinkModel::Packet);
    let port = PortConfig { space_wire: false, vcs: 1, rate, model, peer: Peer::None };
    let endpoints = vec![vec![port]];
    let topology =
        Topology { endpoints, mode: Mode::Thread, virtual_time: true, ..Topology::default() };
    let network = Embedded::without_device(topology).unwrap();
    let endpoint = Endpoint::attach(&network, 0, "test").unwrap();
    let vc = endpoint.port(0).unwrap().vc(0).unwrap();
    let mut tx = vc.tx_with(QueueOptions::default().depth(4)).unwrap();
    let buf = endpoint.alloc(64).unwrap().buf(0..64).unwrap();
    tx.send(buf).unwrap();
    let done = Completion { packets: 1, bytes: 64, ..Completion::default() };
    tx.queue.cq.ring.write(0, done.to_words());
    assert!(tx.poll().is_some() && tx.take().is_some());
    // A broken device claims that the queue is stopped.
    tx.queue.device_line().set_state(QueueState::Disabled.raw().into(), 0);
    assert!(tx.cancel().is_err());
    assert_eq!((tx.taken, tx.queue.credit.freed), (0, 0), "take would run round all positions");
    tx.queue.device_line().set_state(QueueState::Enabled.raw().into(), 0);
}
