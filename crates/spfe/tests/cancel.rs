//! A wait for a packet that is due much later is cancelled at once.

use spfe::{Deadline, Endpoint, LinkRate, Mode, QueueOptions, Strategy, Threshold};

#[test]
fn a_sleep_until_a_packet_is_due_is_cancelled() {
    // At 1 Mbit/s a packet of 1 MiB takes longer than the rest of this test.
    let slow: LinkRate = "1x1M".parse().unwrap();
    for strategy in [Strategy::Block, Strategy::Adaptive, Strategy::Poll] {
        let (a, b) = Endpoint::pair(slow, Mode::Inline).unwrap();
        let queue = QueueOptions::default().strategy(strategy);
        let mut rx = b.port(0).unwrap().vc(0).unwrap().rx_with(queue).unwrap();
        rx.post(b.alloc(1 << 20).unwrap().buf(0..1 << 20).unwrap()).unwrap();
        let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
        tx.send(a.alloc(1 << 20).unwrap().buf(0..1 << 20).unwrap()).unwrap();
        let (canceller, cancelled) = (rx.canceller(), std::sync::mpsc::channel::<()>());
        let waiter = std::thread::spawn(move || {
            for _ in 0..20 {
                let error = rx.wait(&Threshold::ONE, Deadline::NEVER).unwrap_err();
                assert!(error.is_cancelled(), "{error}");
                cancelled.0.send(()).unwrap();
            }
        });
        for _ in 0..20 {
            std::thread::yield_now();
            canceller.cancel();
            // If the wait ends with the packet instead, the waiter panics and closes the channel.
            cancelled.1.recv().expect("the wait was not cancelled");
        }
        waiter.join().unwrap();
    }
}
