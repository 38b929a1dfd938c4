use super::{End, Rx};
use crate::{Buf, Endpoint, LinkRate, Mode, QueueOptions, Tx};
use spfe_contract::{Completion, Status};
use std::collections::VecDeque;

const BYTES: usize = 64;

struct Ends {
    tx: Tx,
    rx: Rx,
    out: VecDeque<Buf>,
    /// Number of packets sent.
    sent: u64,
}

/// Queues of 8 entries, with 8 buffers posted.
fn ends() -> Ends {
    let (a, b) = Endpoint::pair(LinkRate::Unlimited, Mode::Inline).unwrap();
    let vc = |end: &Endpoint| end.port(0).unwrap().vc(0).unwrap();
    let depth = QueueOptions::default().depth(8);
    let (tx, mut rx) = (vc(&a).tx_with(depth).unwrap(), vc(&b).rx_with(depth).unwrap());
    rx.post_all(&mut b.alloc(8 * BYTES).unwrap().split(BYTES, 8).unwrap());
    let out = a.alloc(16 * BYTES).unwrap().split(2 * BYTES, 8).unwrap().into();
    Ends { tx, rx, out, sent: 0 }
}

impl Ends {
    /// Sends a packet, each with other bytes.
    fn send(&mut self, length: usize, end: End) {
        let mut buf = self.out.pop_front().unwrap();
        buf.set_len(length);
        buf.fill(self.sent as u8);
        self.sent += 1;
        self.tx.send_ending(buf, end).unwrap();
        while self.tx.poll().is_some() {}
        self.out.extend(self.tx.take());
    }
}

#[test]
fn packets_are_taken_together_in_all_laps() {
    let (mut ends, mut bufs, mut next) = (ends(), Vec::new(), 0);
    for round in 0..500 {
        // All numbers up to a full ring, beginning anywhere in it.
        let count = round * 5 % 9;
        for _ in 0..count {
            ends.send(1 + (ends.sent % 60) as usize, End::Eop);
        }
        assert_eq!(ends.rx.take_all(&mut bufs), count);
        for buf in &bufs {
            assert_eq!(buf[..], vec![next as u8; 1 + (next % 60) as usize]);
            next += 1;
        }
        assert_eq!(ends.rx.post_all(&mut bufs), count);
        assert!(bufs.is_empty());
    }
    assert!(next > 1500 && ends.rx.stats().polls >= next);
}

#[test]
fn what_is_no_whole_packet_is_left_to_poll() {
    let mut ends = ends();
    ends.send(5, End::Eop);
    ends.send(6, End::Eep);
    ends.send(7, End::Eop);
    ends.send(BYTES + 8, End::Eop);
    let mut bufs = Vec::new();
    let lengths = |bufs: &[Buf]| bufs.iter().map(|buf| buf.len()).collect::<Vec<_>>();
    assert_eq!((ends.rx.take_all(&mut bufs), lengths(&bufs)), (1, vec![5]));
    assert_eq!(ends.rx.take_all(&mut bufs), 0);
    let cut = ends.rx.poll().unwrap();
    assert_eq!((cut.buf.len(), cut.end, cut.status), (6, End::Eep, Status::PacketCut));
    assert_eq!((ends.rx.take_all(&mut bufs), lengths(&bufs)), (1, vec![5, 7]));
    let part = ends.rx.poll().unwrap();
    assert_eq!((part.buf.len(), part.end), (BYTES, End::More));
    assert_eq!((ends.rx.take_all(&mut bufs), lengths(&bufs)), (1, vec![5, 7, 8]));
    assert_eq!(ends.rx.take_all(&mut bufs), 0);
}

#[test]
fn a_completion_that_no_buffer_has_breaks_the_queue() {
    let mut ends = ends();
    let mut bufs = Vec::new();
    // A broken device completes more buffers than were posted.
    for position in 0..9 {
        let done = Completion { packets: 1, bytes: 1 << 20, position, ..Completion::default() };
        ends.rx.queue.cq.ring.write(position.into(), done.to_words());
        assert_eq!(ends.rx.take_all(&mut bufs), usize::from(position < 8));
    }
    assert!(bufs.iter().all(|buf| buf.len() == BYTES), "no more than a buffer has");
    assert!(ends.rx.poll().is_none());
    assert!(ends.rx.queue.check().is_err());
}
