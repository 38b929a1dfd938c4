//! First tests of the data path, in every mode that works in one process.

use spfe::{Deadline, End, Endpoint, LinkRate, Mode, PackedOptions, Status, Threshold};
use std::time::Duration;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(10))
}

const MODES: [Mode; 4] = [Mode::Auto, Mode::Inline, Mode::Coop, Mode::Thread];

#[test]
fn packets_arrive_whole_and_in_order() {
    for mode in MODES {
        let (a, b) = Endpoint::pair(LinkRate::Unlimited, mode).unwrap();
        let mut tx = a.port(0).unwrap().vc(3).unwrap().tx().unwrap();
        let mut rx = b.port(0).unwrap().vc(3).unwrap().rx().unwrap();
        let out = a.alloc(1 << 20).unwrap();
        let into = b.alloc(1 << 20).unwrap();
        rx.post_all(&mut into.split(8192, 64).unwrap());
        let mut bufs = out.split(8192, 64).unwrap();
        let mut sent = 0u32;
        let mut got = 0u32;
        while got < 2000 {
            let mut group = Vec::new();
            while sent < 2000 && group.len() < 16 {
                let Some(mut buf) = bufs.pop() else { break };
                let length = 1 + (sent as usize * 37) % 8192;
                buf.set_len(buf.capacity());
                buf.set_len(length);
                buf.fill(sent as u8);
                buf.set_tag(u64::from(sent));
                sent += 1;
                group.push(buf);
            }
            tx.send_group(&mut group);
            assert!(group.is_empty());
            while rx.wait(&Threshold::ONE, Deadline::NOW).is_ok() {
                let r = rx.poll().unwrap();
                assert_eq!(r.buf.len(), 1 + (got as usize * 37) % 8192, "mode {mode} packet {got}");
                assert!(r.buf.iter().all(|byte| *byte == got as u8));
                assert_eq!((r.end, r.status), (End::Eop, Status::Ok));
                got += 1;
                rx.post(r.buf).unwrap();
            }
            while tx.poll().is_some() {}
            while let Some(buf) = tx.take() {
                bufs.push(buf);
            }
            if bufs.is_empty() {
                tx.wait(soon()).unwrap();
            }
        }
    }
}

#[test]
fn long_packets_come_in_parts() {
    for mode in MODES {
        let (a, b) = Endpoint::pair(LinkRate::Unlimited, mode).unwrap();
        let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
        let mut rx = b.port(0).unwrap().vc(0).unwrap().rx().unwrap();
        let out = a.alloc(300_000).unwrap();
        let mut packet = out.buf(0..300_000).unwrap();
        for (i, byte) in packet.iter_mut().enumerate() {
            *byte = (i / 7) as u8;
        }
        rx.post_all(&mut b.alloc(65536).unwrap().split(4096, 16).unwrap());
        tx.send(packet).unwrap();
        let mut whole = Vec::new();
        loop {
            let part = rx.recv(soon()).unwrap();
            whole.extend_from_slice(&part.buf);
            let more = part.more();
            rx.post(part.buf).unwrap();
            if !more {
                break;
            }
        }
        assert_eq!(whole.len(), 300_000);
        assert!(whole.iter().enumerate().all(|(i, byte)| *byte == (i / 7) as u8));
        tx.drain(soon()).unwrap();
    }
}

#[test]
fn packed_receive_delivers_every_packet() {
    for mode in MODES {
        let (a, b) = Endpoint::pair(LinkRate::Unlimited, mode).unwrap();
        let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
        let vc = b.port(0).unwrap().vc(0).unwrap();
        let mut rx = vc.rx_packed(PackedOptions::default().area(16384)).unwrap();
        let out = a.alloc(1 << 16).unwrap();
        let mut numbers = out.buf(0..1 << 16).unwrap();
        for (i, byte) in numbers.iter_mut().enumerate() {
            *byte = (i / 100) as u8;
        }
        tx.send_burst(numbers, 100, 100, 655).unwrap();
        let mut got = 0;
        while got < 655 {
            if let Err(e) = rx.wait(&Threshold::ONE, Deadline::after(Duration::from_secs(2))) {
                panic!(
                    "mode {mode} got {got}: {e} {:?} {:?} {:?}",
                    rx.stats(),
                    tx.stats(),
                    b.port(0).unwrap().info().unwrap().channels[0]
                );
            }
            while let Some(run) = rx.poll() {
                for record in run.records() {
                    assert_eq!(record.bytes.len(), 100);
                    assert!(record.bytes.iter().all(|byte| *byte == got as u8));
                    got += 1;
                }
            }
        }
        tx.drain(soon()).unwrap();
    }
}

#[test]
fn a_paced_link_keeps_its_rate_in_virtual_time() {
    let network = spfe::Embedded::new(spfe::Topology {
        virtual_time: true,
        ..spfe::Topology::pairs(2, "4x7.5G".parse().unwrap(), Mode::Inline)
    })
    .unwrap();
    let a = Endpoint::attach(&network, 0, "a").unwrap();
    let b = Endpoint::attach(&network, 1, "b").unwrap();
    let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
    let mut rx = b.port(0).unwrap().vc(0).unwrap().rx().unwrap();
    rx.post_all(&mut b.alloc(1 << 20).unwrap().split(1 << 16, 16).unwrap());
    let mut packets = a.alloc(1 << 20).unwrap().split(1 << 16, 16).unwrap();
    let start = a.now_ns();
    tx.send_group(&mut packets);
    assert!(rx.poll().is_none(), "a packet was visible before its time");
    tx.drain(Deadline::NEVER).unwrap();
    let ns = a.now_ns() - start;
    let gbps = (8u64 << 20) as f64 / ns as f64;
    assert!((gbps - 22.92).abs() < 0.02, "{gbps}");
    rx.wait(&Threshold::count(16), Deadline::NEVER).unwrap();
    assert_eq!(std::iter::from_fn(|| rx.poll()).count(), 16);
}
