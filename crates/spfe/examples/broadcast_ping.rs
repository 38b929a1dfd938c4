//! A broadcast message there and back, and how long that takes.
//!
//!     cargo run --release --example broadcast_ping
//!
//! SpaceFibre broadcast messages (ECSS-E-ST-50-11C) carry eight bytes, a channel and a type. They
//! have rings of their own and never wait behind data. Unlike packets they are not held back for a
//! slow receiver: one that does not keep up loses some, and the next one it gets says so.

use spfe::{Deadline, Endpoint, LinkRate, Mode};
use std::time::Duration;

const ROUNDS: u64 = 1000;
/// Broadcast channels of the two directions, and a type of our own.
const THERE: u8 = 1;
const BACK: u8 = 2;
const PING: u8 = 0x70;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(5))
}

/// The far end: sends back what it gets.
fn answer(endpoint: &Endpoint) -> Result<()> {
    // With a filter the device does not even wake us for other channels and types.
    let mut port = endpoint.port(0)?.broadcast_filtered(Some(THERE), Some(PING))?;
    for _ in 0..ROUNDS {
        let message = port.recv(soon())?;
        port.send(BACK, PING, message.data)?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let (here, there) = Endpoint::pair(LinkRate::Unlimited, Mode::Inline)?;
    let mut port = here.port(0)?.broadcast_filtered(Some(BACK), Some(PING))?;

    // A message sent before the far end listens is gone. So wait until it does, here by sending the
    // first one until it is answered.
    let far = std::thread::spawn(move || answer(&there));
    let mut times_ns = Vec::with_capacity(ROUNDS as usize);
    for round in 0..ROUNDS {
        let start_ns = here.now_ns();
        port.send(THERE, PING, round.to_le_bytes())?;
        let reply = loop {
            match port.recv(Deadline::after(Duration::from_millis(10))) {
                Err(error) if error.is_timeout() && round == 0 && !far.is_finished() => {
                    port.send(THERE, PING, round.to_le_bytes())?;
                }
                reply => break reply?,
            }
        };
        if u64::from_le_bytes(reply.data) != round || reply.lost_before {
            return Err(format!("round {round}: got {reply:?}").into());
        }
        times_ns.push(here.now_ns() - start_ns);
    }
    far.join().map_err(|_| "the far end panicked")??;

    times_ns.sort_unstable();
    let (least, median) = (times_ns[0], times_ns[times_ns.len() / 2]);
    println!("{ROUNDS} messages there and back: {least} ns at least, {median} ns median");
    Ok(())
}
