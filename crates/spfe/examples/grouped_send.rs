//! Sends groups: many packets with one submission and one completion.
//!
//!     cargo run --release --example grouped_send
//!
//! A group is submitted as a whole and completes as a whole: one completion, at most one wake-up.
//! There are two ways to send one: slots of the queue ([`spfe::PooledTx`]) or your own buffers
//! ([`spfe::Tx`]).

use spfe::{Deadline, Endpoint, LinkRate, Mode, PoolOptions, Status, Threshold};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const GROUP: usize = 128;
const GROUPS: usize = 500;
const PACKETS: u64 = (GROUP * GROUPS) as u64;
/// Bytes of a packet (1 KB), and slots or buffers of each end.
const BYTES: u32 = 1024;
const DEPTH: u32 = 1024;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(5))
}

/// Receives the packets, many per wake-up. Returns how often it slept.
fn receive(endpoint: &Endpoint) -> Result<u64> {
    let mut rx = endpoint.port(0)?.vc(0)?.rx_pooled(PoolOptions::new(DEPTH, BYTES))?;
    // The time limit is for the end, when fewer packets are left than the threshold.
    let goal = Threshold::count(GROUP as u32).or_after_first(Duration::from_micros(100));
    let mut got = 0u64;
    while got < PACKETS {
        rx.wait(&goal, soon())?;
        while let Some(packet) = rx.peek() {
            // The packet is read in place. `release` gives the slot back to the device.
            assert_eq!(packet.bytes[..8], got.to_le_bytes(), "packets arrived out of order");
            rx.release();
            got += 1;
        }
    }
    Ok(rx.stats().sleeps)
}

/// Sends from slots of the queue: fill, stage, submit. Returns how often it slept.
fn send_slots(endpoint: &Endpoint) -> Result<u64> {
    let mut tx = endpoint.port(0)?.vc(0)?.tx_pooled(PoolOptions::new(DEPTH, BYTES))?;
    let (mut completions, mut number) = (0, 0u64);
    while completions < GROUPS {
        while number < PACKETS && tx.free() as usize >= GROUP {
            for _ in 0..GROUP {
                let slot = tx.slot().ok_or("no slot is free")?;
                slot[..8].copy_from_slice(&number.to_le_bytes());
                tx.stage(BYTES as usize)?;
                number += 1;
            }
            tx.submit();
        }
        tx.wait(soon())?;
        while let Some(sent) = tx.poll() {
            assert_eq!((sent.status, sent.packets as usize), (Status::Ok, GROUP));
            completions += 1;
        }
    }
    Ok(tx.stats().sleeps)
}

/// Sends from its own buffers: they move to the queue and come back in order.
fn send_buffers(endpoint: &Endpoint) -> Result<u64> {
    let mut tx = endpoint.port(0)?.vc(0)?.tx()?;
    let (count, bytes) = (DEPTH as usize, BYTES as usize);
    let mut idle = endpoint.alloc(count * bytes)?.split(bytes, count)?;
    let (mut completions, mut number) = (0, 0u64);
    while completions < GROUPS {
        while number < PACKETS && idle.len() >= GROUP {
            let mut group = idle.split_off(idle.len() - GROUP);
            for (buf, number) in group.iter_mut().zip(number..) {
                buf[..8].copy_from_slice(&number.to_le_bytes());
            }
            // Sends as many as the queue has room for, here all of them.
            number += tx.send_group(&mut group) as u64;
        }
        tx.wait(soon())?;
        while let Some(sent) = tx.poll() {
            assert_eq!((sent.status, sent.packets as usize), (Status::Ok, GROUP));
            completions += 1;
        }
        idle.extend(std::iter::from_fn(|| tx.take()));
    }
    Ok(tx.stats().sleeps)
}

fn main() -> Result<()> {
    for (name, send) in [("slots", send_slots as fn(&Endpoint) -> _), ("buffers", send_buffers)] {
        let (a, b) = Endpoint::pair(LinkRate::Unlimited, Mode::Inline)?;
        let start = Instant::now();
        let receiver = std::thread::spawn(move || receive(&b));
        let slept = (send(&a)?, receiver.join().map_err(|_| "the receiver panicked")??);
        let gbps = (PACKETS * u64::from(BYTES) * 8) as f64 / start.elapsed().as_nanos() as f64;
        println!("{name}: {PACKETS} packets of 1 KB in {GROUPS} groups, {gbps:.1} Gbit/s");
        println!("  wake-ups: {} of the sender, {} of the receiver", slept.0, slept.1);
    }
    Ok(())
}
