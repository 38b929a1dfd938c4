//! Times of single packets on an idle link.

use super::bench::Bench;
use super::host::{Receiver, Receiving, Sender, Sending};
use crate::error::Failure;
use crate::output;
use serde_json::{Value, json};
use spfe_rtl::{ControlWord, Moment, Program};

/// Sizes of the packets, bytes.
const SIZES: [usize; 5] = [64, 256, 1 << 10, 4 << 10, 64 << 10];
/// Packets of each size, and cycles between them.
const COUNT: usize = 16;
const PAUSE: u64 = 8001;

/// When something happened to a packet, in cycles after the store to the doorbell.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    /// The first frame begins on the lanes.
    first: Option<u64>,
    /// The last frame has ended on the lanes.
    last: u64,
    /// The completions are in memory.
    sent: Option<u64>,
    received: Option<u64>,
}

/// Sends a packet, waits until it has arrived, and pauses.
struct Single {
    sender: Sender,
    receiver: Receiver,
    begun: u64,
    now: Times,
    all: Vec<Times>,
    failure: Option<spfe::Error>,
}

impl Single {
    fn step(&mut self, now: &Moment<'_>) -> spfe::Result<bool> {
        if self.begun == 0 || (self.is_over() && now.cycle() >= self.begun + PAUSE) {
            if self.is_over() {
                self.all.push(std::mem::take(&mut self.now));
            }
            self.sender.left = 1;
            self.begun = now.cycle();
        }
        let before = self.sender.marks.len();
        self.sender.step(now)?;
        let since = now.cycle() - self.begun;
        match now.control(0, 0) {
            Some(ControlWord::Sdf { .. }) if self.now.first.is_none() => {
                self.now.first = Some(since)
            }
            Some(ControlWord::Edf { .. }) => self.now.last = since,
            _ => {}
        }
        if self.sender.marks.len() != before {
            self.now.sent = Some(since);
        }
        if self.receiver.look()? {
            self.now.received = Some(since);
        }
        Ok(self.all.len() < COUNT)
    }

    fn is_over(&self) -> bool {
        self.now.sent.is_some() && self.now.received.is_some()
    }
}

impl Program for Single {
    fn cycle(&mut self, now: &mut Moment<'_>) -> bool {
        self.step(now).unwrap_or_else(|error| {
            self.failure = Some(error);
            false
        })
    }
}

/// Measures packets of all sizes over a cable of so many cycles.
pub fn measure(bench: &Bench, cable: u64) -> Result<Vec<Value>, Failure> {
    SIZES.iter().map(|size| one(bench, *size, cable)).collect()
}

fn one(bench: &Bench, size: usize, cable: u64) -> Result<Value, Failure> {
    let how = Sending { group: 1, most: 1, answer: 0, sleeps: false };
    let mut sender = bench.sender(0, size, how)?;
    sender.left = 0;
    let single = Single {
        sender,
        receiver: bench.receiver(1, size, Receiving::AtOnce, (4 * size, 1))?,
        begun: 0,
        now: Times::default(),
        all: Vec::new(),
        failure: None,
    };
    let single = bench.machine.run(single)?;
    if let Some(error) = single.failure {
        return Err(error.into());
    }
    let mean = |of: &dyn Fn(&Times) -> f64| {
        let sum: f64 = single.all.iter().map(of).sum();
        output::rounded(sum / single.all.len() as f64)
    };
    let when = |time: Option<u64>| time.unwrap_or_default() as f64;
    Ok(json!({
        "size_bytes": size,
        "packets": COUNT,
        "doorbell_to_first_word": mean(&|times| when(times.first)),
        "last_word_to_received": mean(&|times| when(times.received) - (times.last + cable) as f64),
        "last_word_to_sent": mean(&|times| when(times.sent) - times.last as f64),
        "doorbell_to_received": mean(&|times| when(times.received)),
    }))
}

/// The times for people.
pub fn text(times: &[Value]) -> String {
    let rows: Vec<Vec<String>> = times
        .iter()
        .map(|row| {
            let cell = |name: &str| format!("{:.1}", row[name].as_f64().unwrap_or_default());
            vec![
                row["size_bytes"].to_string(),
                cell("doorbell_to_first_word"),
                cell("last_word_to_received"),
                cell("last_word_to_sent"),
                cell("doorbell_to_received"),
            ]
        })
        .collect();
    let head = [
        "BYTES",
        "DOORBELL TO FIRST WORD",
        "LAST WORD TO RECEIVED",
        "LAST WORD TO SENT",
        "DOORBELL TO RECEIVED",
    ];
    output::table(&head, 0, &rows)
}
