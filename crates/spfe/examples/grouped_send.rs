//! Groups: many packets, one submission, one completion.
//!
//!     cargo run --release --example grouped_send
//!
//! A group becomes visible to the device as a whole, by the store of its first entry, and completes
//! as a whole. That is what keeps the cost per packet small: completions, doorbells and wake-ups
//! come once a group. Two ways to send one are shown: slots of the queue ([`spfe::PooledTx`]), and
//! buffers of your own ([`spfe::Tx`]).

use spfe::{Deadline, Endpoint, LinkRate, Mode, PoolOptions, Status, Threshold};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const GROUP: u32 = 128;
const GROUPS: u32 = 500;
const PACKETS: u64 = (GROUP * GROUPS) as u64;
/// Bytes of a packet; 1 KB is 1024 bytes.
const BYTES: usize = 1024;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(5))
}

/// Takes the packets in groups as well: one wake-up for up to 128 of them. Returns its sleeps.
fn receive(endpoint: &Endpoint) -> Result<u64> {
    let mut rx = endpoint.port(0)?.vc(0)?.rx_pooled(PoolOptions::new(8 * GROUP, BYTES as u32))?;
    let mut got = 0u64;
    while got < PACKETS {
        rx.wait(&Threshold::count(GROUP), soon())?;
        while let Some(packet) = rx.peek() {
            // Used in place. The slot goes back to the device when it is released.
            if packet.bytes.len() != BYTES || packet.bytes[..8] != got.to_le_bytes() {
                return Err(format!("packet {got} is not what was sent").into());
            }
            rx.release();
            got += 1;
        }
    }
    Ok(rx.stats().sleeps)
}

/// Slots of the queue: fill, stage, submit. Returns {completions, sleeps}.
fn send_slots(endpoint: &Endpoint) -> Result<(u64, u64)> {
    let mut tx = endpoint.port(0)?.vc(0)?.tx_pooled(PoolOptions::new(8 * GROUP, BYTES as u32))?;
    let (mut completions, mut number) = (0, 0u64);
    while completions < u64::from(GROUPS) {
        while number < PACKETS && tx.free() >= GROUP {
            for _ in 0..GROUP {
                let slot = tx.slot().ok_or("a slot is free")?;
                slot[..8].copy_from_slice(&number.to_le_bytes());
                tx.stage(BYTES)?;
                number += 1;
            }
            tx.submit();
        }
        tx.wait(soon())?;
        while let Some(sent) = tx.poll() {
            // One completion for a whole group.
            assert_eq!((sent.status, sent.packets), (Status::Ok, GROUP));
            completions += 1;
        }
    }
    Ok((completions, tx.stats().sleeps))
}

/// Buffers of your own: they move to the queue and come back, in order.
fn send_buffers(endpoint: &Endpoint) -> Result<(u64, u64)> {
    let mut tx = endpoint.port(0)?.vc(0)?.tx()?;
    let memory = endpoint.alloc(8 * GROUP as usize * BYTES)?;
    let mut idle = memory.split(BYTES, 8 * GROUP as usize)?;
    let (mut completions, mut number) = (0, 0u64);
    while completions < u64::from(GROUPS) {
        while number < PACKETS && idle.len() >= GROUP as usize {
            let mut group = idle.split_off(idle.len() - GROUP as usize);
            for buf in &mut group {
                buf[..8].copy_from_slice(&number.to_le_bytes());
                number += 1;
            }
            // Takes as many as there is room for; the queue has 1024 entries, so it takes all.
            tx.send_group(&mut group);
            assert!(group.is_empty());
        }
        tx.wait(soon())?;
        while let Some(sent) = tx.poll() {
            assert_eq!((sent.status, sent.packets), (Status::Ok, GROUP));
            completions += 1;
        }
        idle.extend(std::iter::from_fn(|| tx.take()));
    }
    Ok((completions, tx.stats().sleeps))
}

fn main() -> Result<()> {
    for (name, send) in [("slots", send_slots as fn(&Endpoint) -> _), ("buffers", send_buffers)] {
        let (a, b) = Endpoint::pair(LinkRate::Unlimited, Mode::Inline)?;
        let start = Instant::now();
        let receiver = std::thread::spawn(move || receive(&b));
        let (completions, tx_sleeps) = send(&a)?;
        let rx_sleeps = receiver.join().map_err(|_| "the receiver panicked")??;
        let gbps = (PACKETS * BYTES as u64 * 8) as f64 / start.elapsed().as_nanos() as f64;
        println!(
            "{name}: {PACKETS} packets of 1 KB, {gbps:.1} Gbit/s, {completions} completions, \
             sleeps: {tx_sleeps} sender, {rx_sleeps} receiver"
        );
    }
    Ok(())
}
