//! Saves the state of a computation in the memory of a target-only node, and takes it up again.
//!
//! The state goes into one of two places in turn, and a flag of 8 bytes names the complete one. A
//! program that dies while it saves leaves the other place and the flag as they were.
//!
//!     cargo run -p spfe-remote --example checkpoint [DEVICE]

use spfe::Endpoint;
use spfe_remote::engine::{WorkKind, WorkRequest};
use spfe_remote::{RdmaError, RdmaQueue, RdmaQueueOptions};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);
/// Size of the state, and the places of the flag and of the two copies.
const STATE: usize = 64 << 10;
const FLAG: u64 = 0;
const PLACES: [u64; 2] = [4096, 4096 + STATE as u64];

struct Checkpoint {
    queue: RdmaQueue,
    key: u32,
}

impl Checkpoint {
    fn open(device: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let endpoint = Endpoint::open(device)?;
        let mut queue = RdmaQueue::open(&endpoint.port(0)?.vc(0)?, RdmaQueueOptions::default())?;
        let regions = queue.regions(PATIENCE)?;
        let needed = PLACES[1] + STATE as u64;
        let region = regions.iter().find(|region| region.bytes >= needed && region.base == 0);
        let key = region.ok_or(format!("no region has {needed} bytes from address 0"))?.key;
        queue.connect(PATIENCE)?;
        Ok(Self { queue, key })
    }

    /// The number of the last complete checkpoint; 0: there is none.
    fn last(&mut self) -> Result<u64, RdmaError> {
        let flag = self.queue.read(self.key, FLAG, 8, PATIENCE)?;
        Ok(flag.try_into().map_or(0, u64::from_le_bytes))
    }

    /// Requests of a queue are executed in order, so the flag changes when the state is there.
    fn save(&mut self, number: u64, state: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
        let place = PLACES[(number % 2) as usize];
        self.queue.write(self.key, place, state.to_vec(), PATIENCE)?;
        // Another program that saves as well makes this fail instead of overwriting its flag.
        let kind = WorkKind::CompareSwap { compare: number - 1, swap: number };
        let flag = WorkRequest { key: self.key, address: FLAG, ..WorkRequest::new(number, kind) };
        self.queue.post(flag)?;
        self.queue.ring()?;
        self.queue.wait(1, PATIENCE)?;
        let done = self.queue.poll()?.ok_or("the queue has no completion")?;
        done.result?;
        match done.old {
            Some(old) if old == number - 1 => Ok(()),
            old => Err(format!("somebody else has saved checkpoint {old:?}").into()),
        }
    }

    fn load(&mut self, number: u64) -> Result<Vec<u8>, RdmaError> {
        self.queue.read(self.key, PLACES[(number % 2) as usize], STATE, PATIENCE)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = std::env::args().nth(1);
    let mut node = Checkpoint::open(device.as_deref().unwrap_or("virtual:?peer=target:1M"))?;
    let last = node.last()?;
    let mut state = if last == 0 { vec![0; STATE] } else { node.load(last)? };
    println!("begins after checkpoint {last}");
    for number in last + 1..last + 4 {
        // The computation.
        state.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
        node.save(number, &state)?;
    }
    let last = node.last()?;
    if node.load(last)? != state {
        return Err("the checkpoint differs from the state".into());
    }
    println!("checkpoint {last} is complete: {} bytes", state.len());
    Ok(())
}
