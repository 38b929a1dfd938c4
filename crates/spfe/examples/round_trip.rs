//! Measures round trips: by polling, for the lowest latency, or blocking, for the least processor
//! time.
//!
//!     cargo run --release --example round_trip
//!     cargo run --release --example round_trip -- FROM TO poll|spin|block ROUND_TRIPS
//!
//! FROM and TO are devices whose ports 0 are joined, such as `virtual:lab/0?mode=thread` and
//! `virtual:lab/1?mode=thread`, or `unix:/run/spfe.sock/0` and `unix:/run/spfe.sock/1`.
//!
//! Polling makes no system call per packet. Neither does a wait that spins while packets arrive; it
//! yields when nothing has arrived for 2 us. Blocking makes one call to sleep and one before it; the
//! side that wakes the sleeper makes one. `tests/syscalls.bats` checks this: it counts the calls
//! between the first two lines that this program prints.

use spfe::{
    Deadline, Endpoint, PoolOptions, PooledRx, PooledTx, QueueOptions, Strategy, Threshold,
};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const BYTES: usize = 64;

/// One side: it sends and receives on virtual channel 0 of port 0.
struct Side {
    endpoint: Endpoint,
    tx: PooledTx,
    rx: PooledRx,
}

/// Counters of both sides.
struct Count {
    sleeps: u64,
    doorbells: u64,
    wakes: u64,
    yields: u64,
}

/// Wake-ups the device has given to both ends of the channel.
fn wakes(endpoint: &Endpoint) -> Result<u64> {
    let channel = endpoint.port(0)?.info()?.channels[0];
    Ok(channel.tx.wakes + channel.rx.wakes)
}

impl Side {
    fn open(device: &str, strategy: Strategy) -> Result<Self> {
        let endpoint = Endpoint::open(device)?;
        let vc = endpoint.port(0)?.vc(0)?;
        // The strategy applies to `wait` only; `poll` and `peek` never sleep.
        let queue = QueueOptions::default().strategy(strategy);
        let options = PoolOptions::new(16, BYTES as u32).queue(queue);
        let (tx, rx) = (vc.tx_pooled(options)?, vc.rx_pooled(options)?);
        Ok(Self { endpoint, tx, rx })
    }

    fn send(&mut self, number: u64) -> Result<()> {
        // Take the completions of earlier packets, which free their slots.
        while self.tx.poll().is_some() {}
        let slot = self.tx.slot().ok_or("no slot is free")?;
        slot[..8].copy_from_slice(&number.to_le_bytes());
        Ok(self.tx.send(BYTES)?)
    }

    /// Takes the next packet, if there is one.
    fn poll(&mut self) -> Option<u64> {
        let number = *self.rx.peek()?.bytes.first_chunk()?;
        self.rx.release();
        Some(u64::from_le_bytes(number))
    }

    /// Waits until there is a packet, and takes it.
    fn receive(&mut self) -> Result<u64> {
        self.rx.wait(&Threshold::ONE, Deadline::after(Duration::from_secs(10)))?;
        Ok(self.poll().ok_or("the wait ended without a packet")?)
    }
}

/// The counters so far. A daemon's network may be older than this program.
fn count(here: &Side, there: &Side) -> Result<Count> {
    let queues = [here.tx.stats(), here.rx.stats(), there.tx.stats(), there.rx.stats()];
    Ok(Count {
        sleeps: queues.iter().map(|queue| queue.sleeps).sum(),
        doorbells: queues.iter().map(|queue| queue.doorbells).sum(),
        yields: queues.iter().map(|queue| queue.yields).sum(),
        wakes: wakes(&here.endpoint)? + wakes(&there.endpoint)?,
    })
}

/// Both sides in one thread, which never sleeps.
fn poll(here: &mut Side, there: &mut Side, round_trips: u64) -> Result<()> {
    for number in 0..round_trips {
        here.send(number)?;
        let there_got = loop {
            if let Some(number) = there.poll() {
                break number;
            }
            std::hint::spin_loop();
        };
        there.send(there_got)?;
        let back = loop {
            if let Some(number) = here.poll() {
                break number;
            }
            std::hint::spin_loop();
        };
        assert_eq!(back, number, "packets arrived out of order");
    }
    Ok(())
}

/// Both sides in one thread, which spins while it waits.
fn spin(here: &mut Side, there: &mut Side, round_trips: u64) -> Result<()> {
    for number in 0..round_trips {
        here.send(number)?;
        let there_got = there.receive()?;
        there.send(there_got)?;
        assert_eq!(here.receive()?, number, "packets arrived out of order");
    }
    Ok(())
}

/// One thread per side; both sleep while they wait.
fn block(here: &mut Side, there: &mut Side, round_trips: u64) -> Result<()> {
    std::thread::scope(|scope| {
        let echo = scope.spawn(|| -> Result<()> {
            for _ in 0..round_trips {
                let number = there.receive()?;
                there.send(number)?;
            }
            Ok(())
        });
        for number in 0..round_trips {
            here.send(number)?;
            assert_eq!(here.receive()?, number, "packets arrived out of order");
        }
        echo.join().map_err(|_| "the other side panicked")?
    })
}

fn run(from: &str, to: &str, how: &str, round_trips: u64) -> Result<()> {
    let strategy = if how == "spin" { Strategy::Poll } else { Strategy::Block };
    let (mut here, mut there) = (Side::open(from, strategy)?, Side::open(to, strategy)?);
    // The first packets make the engine map memory.
    poll(&mut here, &mut there, 16)?;
    let before = count(&here, &there)?;
    println!("{how}: {round_trips} round trips of {BYTES} bytes");
    let start = Instant::now();
    match how {
        "poll" => poll(&mut here, &mut there, round_trips)?,
        "spin" => spin(&mut here, &mut there, round_trips)?,
        "block" => block(&mut here, &mut there, round_trips)?,
        _ => return Err(format!("'{how}': poll, spin or block").into()),
    }
    println!("round trip: {} ns", start.elapsed().as_nanos() / u128::from(round_trips.max(1)));
    let after = count(&here, &there)?;
    println!("sleeps: {}", after.sleeps - before.sleeps);
    println!("wake-ups: {}", after.wakes - before.wakes);
    println!("doorbells: {}", after.doorbells - before.doorbells);
    println!("yields: {}", after.yields - before.yields);
    Ok(())
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            for how in ["poll", "spin", "block"] {
                run("virtual:lab/0", "virtual:lab/1", how, 10_000)?;
            }
            Ok(())
        }
        [from, to, how, round_trips] => run(from, to, how, round_trips.parse()?),
        _ => Err("usage: round_trip [FROM TO poll|spin|block ROUND_TRIPS]".into()),
    }
}
