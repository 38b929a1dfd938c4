//! Receives from several virtual channels in one epoll loop, which can also wait for other things.
//!
//!     cargo run --release --example epoll_loop
//!
//! A queue opened with [`spfe::QueueOptions::event`] has a file descriptor. It becomes readable
//! once for each `request_event`, and not otherwise. The loop takes all packets, requests an event,
//! checks again, and sleeps. Without the second check the program would miss a packet that arrives
//! between the first check and the request; `request_event` does this check and returns true if
//! there is a packet.

use rustix::event::{Timespec, epoll};
use spfe::{Endpoint, LinkRate, Mode, QueueOptions, Rx, Status, Threshold};
use std::time::Duration;

const VCS: u32 = 4;
const PACKETS: u64 = 2000;
const BYTES: usize = 256;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Sends on every channel, with a pause every 100 packets so that the receiver sleeps.
fn send(endpoint: &Endpoint) -> Result<()> {
    let port = endpoint.port(0)?;
    let mut ends = (0..VCS).map(|vc| port.vc(vc)?.tx()).collect::<spfe::Result<Vec<_>>>()?;
    let memory = endpoint.alloc(VCS as usize * BYTES)?;
    let mut bufs = memory.split(BYTES, VCS as usize)?;
    for number in 0..PACKETS {
        for tx in &mut ends {
            let mut packet = bufs.pop().ok_or("a buffer is idle")?;
            packet[..8].copy_from_slice(&number.to_le_bytes());
            tx.send(packet)?;
            tx.drain(spfe::Deadline::after(Duration::from_secs(5)))?;
            bufs.extend(tx.take());
        }
        if number % 100 == 0 {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
    Ok(())
}

/// Takes all packets. `next` is the number of the next packet.
fn take_all(rx: &mut Rx, next: &mut u64) -> Result<()> {
    while let Some(received) = rx.poll() {
        if received.status != Status::Ok || received.buf[..8] != next.to_le_bytes() {
            return Err(format!("packet {next} is not what was sent").into());
        }
        *next += 1;
        rx.post(received.buf)?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let (a, b) = Endpoint::pair(LinkRate::Unlimited, Mode::Inline)?;
    let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let (port, memory) = (b.port(0)?, b.alloc(VCS as usize * 64 * BYTES)?);
    let mut bufs = memory.split(BYTES, VCS as usize * 64)?;
    let mut ends = Vec::new();
    for vc in 0..VCS {
        let mut rx = port.vc(vc)?.rx_with(QueueOptions::default().event(true))?;
        rx.post_all(&mut bufs.split_off(bufs.len() - 64));
        epoll::add(&set, rx.fd()?, epoll::EventData::new_u64(vc.into()), epoll::EventFlags::IN)?;
        ends.push((rx, 0u64));
    }

    let sender = std::thread::spawn(move || send(&a));
    let (mut waits, limit) = (0, Timespec { tv_sec: 5, tv_nsec: 0 });
    let mut events = Vec::with_capacity(VCS as usize);
    while ends.iter().any(|(_, next)| *next < PACKETS) {
        // Take all packets, then request an event from each queue, and take what has arrived since.
        for (rx, next) in &mut ends {
            take_all(rx, next)?;
            while rx.request_event(&Threshold::ONE)? {
                take_all(rx, next)?;
            }
        }
        if ends.iter().all(|(_, next)| *next == PACKETS) {
            break;
        }
        events.clear();
        epoll::wait(&set, rustix::buffer::spare_capacity(&mut events), Some(&limit))?;
        if events.is_empty() {
            return Err("no packet arrived for 5 s".into());
        }
        waits += 1;
        for event in &events {
            // Reading clears the event. The packets are taken at the start of the loop.
            let (rx, _) = &ends[event.data.u64() as usize];
            rustix::io::read(rx.fd()?, &mut [0u8; 8])?;
        }
    }
    sender.join().map_err(|_| "the sender panicked")??;
    println!("{} packets on {VCS} virtual channels, {waits} waits", PACKETS * u64::from(VCS));
    Ok(())
}
