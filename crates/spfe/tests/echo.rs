//! The echo instrument on a paced link, in virtual time.

use spfe::{Deadline, Endpoint};

/// When `count` packets of `bytes` were sent and had come back, ns after the first was posted.
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

/// Link time of a packet one way, ns: 22.92 Gbit/s, rounded up to whole words.
fn one_way(bytes: usize) -> u64 {
    ((bytes as u64 + 4) & !3) * 8_000 / 22_922
}

#[test]
fn a_packet_comes_back_after_both_ways_of_the_link() {
    for bytes in [4, 1024, 65536] {
        let (there, back) = times(bytes, 1)[0];
        assert!(back.abs_diff(2 * there) <= 2 + there / 500, "{bytes}: {back} ns, {there} one way");
    }
}

#[test]
fn packets_in_a_row_come_back_at_the_rate_of_the_link() {
    // The way back is as busy as the way there: packets follow each other one link time apart,
    // the first one two of them after it was posted. Both ways busy, it is a little slower.
    for (number, (there, back)) in times(16384, 8).into_iter().enumerate() {
        let least = there + one_way(16384);
        assert!(back + 20 >= least, "packet {number} is back after {back} ns, not {least}");
        assert!(back <= least * 104 / 100, "packet {number} is back after {back} ns");
    }
}
