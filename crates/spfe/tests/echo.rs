//! The echo instrument on a paced link, in virtual time.

use spfe::{Deadline, Endpoint, LinkRate};

/// Sends `count` packets of `bytes`. Returns when each was sent and when it came back, in ns after
/// the first was submitted.
fn times(bytes: usize, count: usize) -> Vec<(u64, u64)> {
    let endpoint = Endpoint::open("virtual:?peer=echo&link=4x7.5G&time=virtual").unwrap();
    let vc = endpoint.port(0).unwrap().vc(0).unwrap();
    let (mut tx, mut rx) = (vc.tx().unwrap(), vc.rx().unwrap());
    rx.post_all(&mut endpoint.alloc(count * bytes).unwrap().split(bytes, count).unwrap());
    let start = endpoint.now_ns();
    for packet in endpoint.alloc(count * bytes).unwrap().split(bytes, count).unwrap() {
        tx.send(packet).unwrap();
    }
    let back: Vec<_> = (0..count)
        .map(|_| {
            let received = rx.recv(Deadline::NEVER).unwrap();
            assert_eq!(received.buf.len(), bytes);
            let now = endpoint.now_ns();
            assert!(received.time_ns.is_none_or(|time| time <= now));
            now - start
        })
        .collect();
    tx.drain(Deadline::NEVER).unwrap();
    let sent = (0..count).map(|n| (n as u64 + 1) * one_way(bytes));
    sent.zip(back).collect()
}

/// Time of a packet on the link one way, ns, at 22.92 Gbit/s, rounded up to whole words.
fn one_way(bytes: usize) -> u64 {
    ((bytes as u64 + 4) & !3) * 8_000 / 22_922
}

#[test]
fn an_echo_takes_the_link_time_of_both_ways() {
    // A short packet alone has a frame of its own; a long one also carries ACKs.
    let timing = "4x7.5G".parse::<LinkRate>().unwrap().timing().unwrap();
    for bytes in [4, 1024, 65536] {
        let (_, back) = times(bytes, 1)[0];
        let there = timing.alone_ps(bytes as u64).max(timing.data_ps(bytes as u64, true)) / 1000;
        assert!(back.abs_diff(2 * there) <= 3 + there / 500, "{bytes}: {back} ns, {there} one way");
    }
}

#[test]
fn echoes_come_at_the_rate_of_the_link() {
    // Both directions are equally busy. Packets come back one link time apart, the first one two
    // link times after it was submitted, and a little slower because of the flow control.
    for (number, (there, back)) in times(16384, 8).into_iter().enumerate() {
        let least = there + one_way(16384);
        assert!(back + 20 >= least, "packet {number} is back after {back} ns, not {least}");
        assert!(back <= least * 104 / 100, "packet {number} is back after {back} ns");
    }
}
