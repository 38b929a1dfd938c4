//! Rate of groups of packets between two ports of one process, for a comparison with the interfaces
//! of other languages (python/bench/grouped_rate.py).
//!
//! `grouped_rate BYTES ROWS MILLISECONDS` prints the rate in byte/s.

use spfe::{Buf, Deadline, Endpoint, Result, Threshold};
use std::time::{Duration, Instant};

/// Sends all packets and receives them into as many buffers. Returns what it was given, to be reused.
fn round(
    tx: &mut spfe::Tx,
    rx: &mut spfe::Rx,
    packets: &mut Vec<Buf>,
    room: &mut Vec<Buf>,
) -> Result<()> {
    let rows = room.len();
    rx.post_all(room);
    tx.send_group(packets);
    while room.len() < rows {
        match rx.poll() {
            Some(received) => room.push(received.buf),
            None => {
                let left = (rows - room.len()) as u32;
                rx.wait(&Threshold::count(left), Deadline::NEVER)?;
            }
        }
    }
    tx.drain(Deadline::NEVER)?;
    while let Some(buf) = tx.take() {
        packets.push(buf);
    }
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let mut number = || words.next().unwrap_or(Ok(1));
    let (bytes, rows, length) = (number()?, number()?, number()?);
    let endpoint = Endpoint::open("virtual:")?;
    let mut tx = endpoint.port(0)?.vc(0)?.tx()?;
    let mut rx = endpoint.port(1)?.vc(0)?.rx()?;
    let mut packets = endpoint.alloc(bytes * rows)?.split(bytes, rows)?;
    let mut room = endpoint.alloc(bytes * rows)?.split(bytes, rows)?;
    packets.iter_mut().for_each(|packet| packet.fill(1));
    let (begin, length) = (Instant::now(), Duration::from_millis(length as u64));
    let mut rounds = 0;
    while begin.elapsed() < length {
        round(&mut tx, &mut rx, &mut packets, &mut room)?;
        rounds += 1;
    }
    println!("{:.0}", (rounds * bytes * rows) as f64 / begin.elapsed().as_secs_f64());
    Ok(())
}
