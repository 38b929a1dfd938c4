//! Packets of plain queues over hostile links: what arrives is what the instrument has counted.

use spfe::{Embedded, End, Endpoint, LinkModel, Mode, Topology};
use std::time::Duration;

/// How long the receiver waits until nothing is on its way any more.
const QUIET: Duration = Duration::from_micros(500);

/// Sends packets of 100 bytes with their numbers. Returns the numbers that arrived whole, and how many
/// packets arrived.
fn run(topology: Topology, packets: u32) -> (Vec<u32>, u64) {
    let network = Embedded::new(topology).unwrap();
    let hostile = "drop=0.05,duplicate=0.05,reorder=0.05,delay=0.02,damage=0.05,cut=0.05,time=20us";
    network.set_hostile(Some(hostile.parse().unwrap()));
    let a = Endpoint::attach(&network, 0, "a").unwrap();
    let b = Endpoint::attach(&network, 1, "b").unwrap();
    let mut tx = a.port(0).unwrap().vc(2).unwrap().tx().unwrap();
    let mut rx = b.port(0).unwrap().vc(2).unwrap().rx().unwrap();
    rx.post_all(&mut b.alloc(256 * 64).unwrap().split(256, 64).unwrap());
    let mut bufs = a.alloc(128 * 16).unwrap().split(128, 16).unwrap();
    let (mut whole, mut arrived, mut sent) = (Vec::new(), 0, 0);
    loop {
        while sent < packets
            && let Some(mut buf) = bufs.pop()
        {
            buf.set_len(100);
            buf.fill(sent as u8);
            buf[..4].copy_from_slice(&sent.to_le_bytes());
            tx.send(buf).unwrap();
            sent += 1;
        }
        let quiet = b.deadline_after(QUIET);
        match rx.recv(quiet) {
            Ok(got) => {
                arrived += 1;
                let number = u32::from_le_bytes(got.buf[..4].try_into().unwrap_or_default());
                let is_whole =
                    got.buf.len() == 100 && got.buf[4..].iter().all(|b| *b == number as u8);
                if got.end == End::Eop && is_whole {
                    whole.push(number);
                }
                rx.post(got.buf).unwrap();
            }
            Err(error) => assert!(error.is_timeout(), "{error}"),
        }
        while tx.poll().is_some() {}
        while let Some(buf) = tx.take() {
            bufs.push(buf);
        }
        let counts = network.hostile_counts();
        if counts.packets == u64::from(packets)
            && arrived == u64::from(packets) - counts.dropped + counts.duplicated
        {
            assert!(
                counts.dropped * counts.reordered * counts.damaged * counts.cut > 0,
                "{counts:?}"
            );
            assert!(whole.len() as u64 >= arrived - counts.damaged - counts.cut);
            // Afterwards everything arrives, in order.
            network.set_hostile(None);
            assert!(rx.recv(b.deadline_after(QUIET)).unwrap_err().is_timeout());
            return (whole, arrived);
        }
    }
}

fn pair(model: LinkModel, mode: Mode) -> Topology {
    let topology = Topology::pairs(2, "1x2.5G".parse().unwrap(), mode).with_model(model);
    Topology { virtual_time: mode != Mode::Thread, ..topology }
}

#[test]
fn packet_level_and_exact_links() {
    for model in [LinkModel::Packet, LinkModel::Exact] {
        let (whole, arrived) = run(pair(model, Mode::Inline), 600);
        assert!(arrived > 500 && !whole.is_sorted());
        // The same seed in virtual time: the same run.
        assert!(model == LinkModel::Exact || run(pair(model, Mode::Inline), 600).0 == whole);
    }
}

#[test]
fn with_a_device_thread() {
    let (whole, arrived) = run(pair(LinkModel::Packet, Mode::Thread), 600);
    assert!(arrived > 500 && !whole.is_empty());
}
