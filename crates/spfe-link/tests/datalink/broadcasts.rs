//! Broadcast messages that find no room, are sent again, or meet a link reset (50-11C 5.7.5,
//! 5.7.9).

use crate::harness::{Link, control_of, packet, sizes};
use spfe_link::control::ControlWord;
use spfe_link::datalink::{DataLinkConfig, DataLinkParameters, LinkBroadcast};
use spfe_link::word::Word;

fn message(index: u8) -> LinkBroadcast {
    LinkBroadcast { channel: index, data: [index; 8], ..LinkBroadcast::default() }
}

#[test]
fn a_full_queue_drops_and_counts() {
    let mut link = Link::<1, 1>::started(DataLinkConfig::default(), sizes(1), 5);
    link.run(40 * 30);
    let far = |link: &Link<1, 1>| link.ends[1].dl.status();
    for index in 0..20 {
        assert!(link.ends[0].dl.send_broadcast(message(index)));
        link.run(30);
    }
    let kept = std::iter::from_fn(|| link.ends[1].dl.receive_broadcast());
    let kept: Vec<u8> = kept.map(|message| message.channel).collect();
    let first: Vec<u8> = (0..kept.len() as u8).collect();
    assert_eq!(kept, first, "those that were there stay");
    assert!((1..20).contains(&kept.len()), "{kept:?}");
    let status = far(&link);
    assert_eq!(status.received.broadcast_frames, 20, "all are accepted");
    assert_eq!(status.broadcasts_dropped, 20 - kept.len() as u64);
    // Nothing is lost while there is room.
    assert!(link.ends[0].dl.send_broadcast(message(99)));
    link.run(30);
    assert_eq!(link.ends[1].dl.receive_broadcast(), Some(message(99)));
    assert_eq!(far(&link).broadcasts_dropped, 20 - kept.len() as u64);
}

/// Damages the first EBF that end 0 sends.
fn damage_ebf(link: &mut Link<1, 1>) {
    let mut done = false;
    link.fault = Box::new(move |from, _, wire| {
        let Some(words) = wire else { return };
        let ebf = matches!(ControlWord::decode(words[0]), Some(ControlWord::Ebf { .. }));
        if from == 0 && ebf && !std::mem::replace(&mut done, true) {
            words[0] = Word::RXERR;
        }
    });
}

#[test]
fn a_resend_takes_no_credit() {
    let mut link = Link::<1, 1>::started(DataLinkConfig::default(), sizes(1), 5);
    link.run(40 * 10);
    // No more credit from now on.
    let dl = &mut link.ends[0].dl;
    dl.set_parameters(DataLinkParameters { expected_broadcast_bandwidth: 0, ..dl.parameters() });
    let credit = link.ends[0].dl.broadcast_credit();
    assert!(credit > 2);
    damage_ebf(&mut link);
    link.ends[0].log = Some(vec![]);
    assert!(link.ends[0].dl.send_broadcast(message(1)));
    link.run(200);
    let sent = link.ends[0].log.as_ref().unwrap().iter().filter_map(control_of);
    assert_eq!(sent.filter(|word| matches!(word, ControlWord::Ebf { .. })).count(), 2);
    let late = LinkBroadcast { late: true, ..message(1) };
    assert_eq!(link.ends[1].dl.receive_broadcast(), Some(late));
    assert_eq!(link.ends[0].dl.broadcast_credit(), credit - 1);
}

#[test]
fn a_link_reset_keeps_queued_messages() {
    let mut link = Link::<1, 1>::started(DataLinkConfig::default(), sizes(1), 5);
    let credit = link.ends[0].dl.broadcast_credit();
    assert!((2..6).contains(&credit), "{credit}");
    // As many messages are sent as there is credit; their ACKs are lost.
    link.fault = Box::new(|from, _, wire| {
        if from == 1
            && let Some(words) = wire
            && let Some(ControlWord::Ack { .. }) = ControlWord::decode(words[0])
        {
            words[0] = Word::RXERR;
        }
    });
    let credit = credit as u8;
    for index in 0..credit + 2 {
        assert!(link.ends[0].dl.send_broadcast(message(index)));
    }
    link.run(4 * u64::from(credit) + 1);
    link.ends[0].dl.link_reset();
    link.fault = Box::new(|_, _, _| {});
    link.run(300);
    assert!(link.is_initialised());
    let mut came = vec![];
    while let Some(message) = link.ends[1].dl.receive_broadcast() {
        came.push(message);
    }
    let waited: Vec<LinkBroadcast> =
        (credit..credit + 2).map(|index| LinkBroadcast { late: true, ..message(index) }).collect();
    let after = came.iter().position(|message| message.channel >= credit).expect("those that wait");
    assert_eq!(came[after..], waited, "LATE, in order");
    // Messages that were sent but not acknowledged are not sent again: each arrived at most once.
    let before: Vec<u8> = came[..after].iter().map(|message| message.channel).collect();
    assert!(before.windows(2).all(|pair| pair[0] < pair[1]), "{before:?}");
    assert!(before.len() < usize::from(credit), "{before:?} of {credit}");
}

/// Rows of idle frames that a simulation skips count like rows that are sent.
#[test]
fn skipped_rows_bring_credit() {
    let mut runs = Link::<1, 1>::started(DataLinkConfig::default(), sizes(1), 5);
    let mut leaves = Link::<1, 1>::started(DataLinkConfig::default(), sizes(1), 5);
    let seen = |link: &Link<1, 1>| {
        let dl = &link.ends[0].dl;
        (dl.broadcast_credit(), dl.qos().credit(0).map(|rows| rows / 66))
    };
    for rows in [1, 39, 40, 41, 1000, 7000, 40 * 300] {
        runs.run(u64::from(rows) + 66);
        leaves.ends[0].dl.skip_idle_rows(rows);
        leaves.run(66);
        assert_eq!(seen(&leaves).0, seen(&runs).0, "{rows} rows");
        let [a, b] = [&leaves, &runs].map(|link| seen(link).1.unwrap());
        assert!((a - b).abs() <= 1, "{rows} rows: {a} and {b} times 66");
    }
    assert_eq!(seen(&runs).0, 256);
    // In the middle of a frame, any number of rows: all credit is full and stays full.
    leaves.write(0, 0, &packet(1000, 0)[..64]);
    for _ in 0..100 {
        leaves.step();
        leaves.ends[0].dl.skip_idle_rows(u32::MAX);
    }
    assert_eq!(seen(&leaves).0, 256);
    // While nothing is sent, nothing counts.
    let mut down = Link::<1, 1>::new(DataLinkConfig::default(), sizes(1), 5);
    down.ends[0].dl.skip_idle_rows(4000);
    assert_eq!(down.ends[0].dl.broadcast_credit(), 0);
}
