//! Several virtual channels in one epoll loop, beside whatever else a program waits for.
//!
//!     cargo run --release --example epoll_loop
//!
//! A queue opened with [`spfe::QueueOptions::event`] has a descriptor. It becomes readable only when
//! asked to, once for each `request_event`. The rule is: take what is there, ask, look again, sleep.
//! Without the second look a packet that comes between the first look and the asking would be missed;
//! `request_event` does that look and says true if there is something already.

use rustix::event::{Timespec, epoll};
use spfe::{Endpoint, LinkRate, Mode, QueueOptions, Rx, Status, Threshold};
use std::time::Duration;

const VCS: u32 = 4;
const PACKETS: u64 = 2000;
const BYTES: usize = 256;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Sends on every channel, a pause now and then so that the receiver has a reason to sleep.
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

/// Takes everything that is there. `next` is the number of the next packet.
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
        // Take what is there, then ask each queue. One that has something by now is taken again.
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
            return Err("nothing came for 5 s".into());
        }
        waits += 1;
        for event in &events {
            // Reading makes the descriptor unreadable again. The packets are taken above.
            let (rx, _) = &ends[event.data.u64() as usize];
            rustix::io::read(rx.fd()?, &mut [0u8; 8])?;
        }
    }
    sender.join().map_err(|_| "the sender panicked")??;
    println!("{} packets on {VCS} virtual channels, {waits} waits", PACKETS * u64::from(VCS));
    Ok(())
}
