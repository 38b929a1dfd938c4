//! Sends a broadcast message, receives the answer, and measures how long that takes.
//!
//!     cargo run --release --example broadcast_ping
//!
//! SpaceFibre broadcast messages (ECSS-E-ST-50-11C 5.7.5) carry eight bytes, a channel and a type.
//! They have their own rings and never wait behind data. Unlike packets they are not held back for
//! a slow receiver: a receiver that does not keep up loses messages, and the next message it
//! receives has `lost_before` set.

use spfe::{Broadcast, Deadline, Endpoint, LinkRate, Mode};
use std::time::Duration;

const ROUNDS: u64 = 1000;
/// Broadcast channels of the two directions, and a type.
const THERE: u8 = 1;
const BACK: u8 = 2;
const PING: u8 = 0x70;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(5))
}

/// The far end: sends each message back.
fn answer(far: &mut Broadcast) -> spfe::Result<()> {
    for _ in 0..ROUNDS {
        let message = far.recv(soon())?;
        far.send(BACK, PING, message.data)?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let (a, b) = Endpoint::pair(LinkRate::Unlimited, Mode::Inline)?;
    // With a filter the device does not even wake us for other channels and types.
    let mut near = a.port(0)?.broadcast_filtered(Some(BACK), Some(PING))?;
    // Both receivers open before the first message is sent: a message without a receiver is lost.
    let mut far = b.port(0)?.broadcast_filtered(Some(THERE), Some(PING))?;
    let echo = std::thread::spawn(move || answer(&mut far));

    let mut times_ns = Vec::with_capacity(ROUNDS as usize);
    for round in 0..ROUNDS {
        let start_ns = a.now_ns();
        near.send(THERE, PING, round.to_le_bytes())?;
        // Polls for about as long as a sleep and a wake-up cost, then sleeps.
        let reply = near.recv(soon())?;
        times_ns.push(a.now_ns() - start_ns);
        if u64::from_le_bytes(reply.data) != round || reply.lost_before {
            return Err(format!("round {round}: got {reply:?}").into());
        }
    }
    echo.join().map_err(|_| "the far end panicked")??;

    times_ns.sort_unstable();
    let (least, median) = (times_ns[0], times_ns[times_ns.len() / 2]);
    println!("{ROUNDS} messages there and back: {least} ns at least, {median} ns median");
    Ok(())
}
