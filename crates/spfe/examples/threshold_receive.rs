//! Waking up rarely: wait until a quarter of the buffers is full, or 100 us after the first packet.
//!
//!     cargo run --release --example threshold_receive
//!
//! At the other end of a paced link (four lanes of 7.5 Gbit/s) a generator sends packets of 1 KB for
//! ever. Whoever waits for each packet pays for a wake-up each. A threshold lets them gather; the
//! time keeps the last few of a lull from waiting for ever. Whichever comes first ends the wait.

use spfe::{Deadline, Endpoint, PoolOptions, PooledRx, Ready, Threshold};
use std::time::Duration;

/// How long to receive, in ns of device time.
const RUN_NS: u64 = 200_000_000;
const AFTER_FIRST: Duration = Duration::from_micros(100);

/// What a run has counted.
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
        // Takes nothing: the packets are still there to be peeked at.
        match rx.wait(goal, Deadline::after(Duration::from_secs(1)))? {
            Ready::Threshold => count.full += 1,
            Ready::AfterFirst => count.late += 1,
            // A packet that was cut, for instance. The link here makes no errors.
            Ready::Attention => panic!("a packet did not arrive whole"),
        }
        // Take all there are, not only those waited for; one lap at most, so that the loop ends even
        // where packets come as fast as they are taken.
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

        // The device knows counts and bytes; a percentage becomes a count here, on the host.
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
