//! The device thread shares its time by client.

#[path = "raw/mod.rs"]
mod raw;

use raw::{Client, DATA, Queue, SIZE, STAMPS, buffer, data};
use spfe_contract::{QueueKind, queue_options};
use spfe_host::{LinkRate, Mode, Topology};
use spfe_plane::{DeviceThread, Network};

/// Packets of each queue and their length in bytes.
const PACKETS: u32 = SIZE - 1;
const LENGTH: u32 = 64 << 10;

/// A receive queue with time stamps, and its place in the region.
fn stamped(client: &mut Client, vc: u32) -> (Queue, u64) {
    let (mut request, base) = client.request(QueueKind::Rx, vc);
    request.setup.options = queue_options::STAMP;
    client.network.create_queue(client.at, request).unwrap();
    (client.queue_at(base), base)
}

/// The times at which the packets of a queue arrived, ns.
fn times(client: &Client, base: u64) -> Vec<u64> {
    let bytes = client.read(base + STAMPS, 8 * PACKETS as usize);
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn a_client_with_many_queues_gets_no_more_than_one_with_one() {
    let network = Network::new(Topology::pairs(4, LinkRate::Unlimited, Mode::Thread)).unwrap();
    let mut ends = [0, 1, 2, 3].map(|endpoint| Client::new(&network, endpoint));
    let [many, many_rx, one, one_rx] = &mut ends;
    let open = |tx: &mut Client, rx: &mut Client, vc| {
        let (mut sender, (mut receiver, base)) = (tx.queue(QueueKind::Tx, vc), stamped(rx, vc));
        for _ in 0..PACKETS {
            receiver.push(buffer(rx.address(DATA), LENGTH));
            sender.push(data(tx.address(DATA), LENGTH));
        }
        (receiver, base)
    };
    let mut queues: Vec<_> = (0..6).map(|vc| open(many, many_rx, vc)).collect();
    let mut single = open(one, one_rx, 0);
    let _device = DeviceThread::start(&network).unwrap();
    for (queue, _) in queues.iter_mut().chain([&mut single]) {
        (0..PACKETS).for_each(|_| assert_eq!(queue.wait().bytes, LENGTH));
    }
    let end = times(one_rx, single.1).into_iter().max().unwrap();
    let all = queues.iter().flat_map(|(_, base)| times(many_rx, *base));
    let before = all.filter(|time| *time <= end).count();
    // As many as the other client, and twice as many more for a machine that interrupts its turns.
    assert!(before <= 3 * PACKETS as usize, "{before} packets of six queues, {PACKETS} of one");
}
