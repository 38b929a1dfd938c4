//! Wakes up rarely: when a quarter of the slots is full, or 100 us after the first packet.
//!
//!     cargo run --release --example threshold_receive
//!
//! At the other end of a paced link (four lanes of 7.5 Gbit/s) a generator sends packets of 1 KB
//! without end. Waiting for each packet costs one wake-up per packet. With a threshold the wait
//! ends when enough packets have arrived, or when the time since the first packet is over, so that
//! the last packets before a pause do not wait for ever.

use spfe::{Deadline, Endpoint, PoolOptions, PooledRx, Ready, Threshold};
use std::time::Duration;

/// How long to receive, in ns of device time.
const RUN_NS: u64 = 200_000_000;
const AFTER_FIRST: Duration = Duration::from_micros(100);

/// The counters of a run.
#[derive(Default)]
struct Count {
    packets: u64,
    bytes: u64,
    full: u64,
    late: u64,
}

/// Receives for a while.
fn receive(rx: &mut PooledRx, endpoint: &Endpoint, goal: &Threshold) -> spfe::Result<Count> {
    let mut count = Count::default();
    let end_ns = endpoint.now_ns() + RUN_NS;
    while endpoint.now_ns() < end_ns {
        // Waiting takes no packet; `peek` does.
        match rx.wait(goal, Deadline::after(Duration::from_secs(1)))? {
            Ready::Threshold => count.full += 1,
            Ready::AfterFirst => count.late += 1,
            // For instance a packet that was cut. This link makes no errors.
            Ready::Attention => panic!("a packet did not arrive whole"),
        }
        // Take all packets, at most one per slot, so that the loop ends even when packets arrive as
        // fast as it takes them.
        for _ in 0..rx.slots() {
            let Some(packet) = rx.peek() else { break };
            // The generator numbers its packets: the first 8 bytes, little-endian.
            assert_eq!(packet.bytes[..8], count.packets.to_le_bytes(), "a packet is missing");
            count.bytes += packet.bytes.len() as u64;
            count.packets += 1;
            rx.release();
        }
    }
    Ok(count)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The link delivers about 280 packets of 1 KB in 100 us. So a quarter of 1024 slots fills up
    // first; a quarter of 4096 slots does not.
    for slots in [1024, 4096] {
        let endpoint = Endpoint::open("virtual:?peer=generator:1024&link=4x7.5G")?;
        let mut rx = endpoint.port(0)?.vc(0)?.rx_pooled(PoolOptions::new(slots, 1024))?;

        // The device knows counts and bytes; the library converts the percentage to a count.
        let goal = rx.fill_threshold(25).or_after_first(AFTER_FIRST);
        let start_ns = endpoint.now_ns();
        let count = receive(&mut rx, &endpoint, &goal)?;
        let ns = endpoint.now_ns() - start_ns;

        let sleeps = rx.stats().sleeps;
        let (gbps, each) = ((count.bytes * 8) as f64 / ns as f64, count.packets / sleeps.max(1));
        println!("{slots} slots: {} packets, {gbps:.2} Gbit/s", count.packets);
        println!("  waits ended: {} by the count, {} by the time", count.full, count.late);
        println!("  wake-ups: {sleeps}, packets per wake-up: {each}");
        if count.packets == 0 {
            return Err("nothing was received".into());
        }
    }
    Ok(())
}
