//! The receiving end with posted buffers, and how to be fast at it.
//!
//! * Buffers are posted again many at a time: one publication for all of them. As long as most of
//!   the ring is posted the sender never waits for it.
//! * All that is there is taken before the next wait, so under load there are no waits at all.
//! * With a fill threshold the thread sleeps through a whole batch and is woken once for it.

use super::args::Wait;
use super::case::{Case, Receive};
use super::meter::{Count, Meter, Tally};
use super::send::DATA_VC;
use spfe::{
    Buf, Deadline, End, Endpoint, Lengths, Pattern, QueueOptions, Received, Result, Rx, Threshold,
};
use std::time::Duration;

/// Turns of the processor's pause between two looks, and looks before the first wait.
const PAUSES: u32 = 32;
const LOOKS: u32 = 1000;

/// Verifies what is received: lengths, and contents where they are verified.
pub struct Reader {
    size: usize,
    lengths: Option<Lengths>,
    pattern: Option<Pattern>,
    number: u64,
}

impl Reader {
    /// For the packets of a case, from the first one on.
    pub fn new(case: &Case) -> Self {
        let lengths = (!case.sizes.is_fixed()).then(|| case.sizes.lengths());
        let pattern = case.check.then(|| Pattern::new(case.sizes.max as usize));
        Self { size: case.sizes.max as usize, lengths, pattern, number: 0 }
    }

    /// Whether the bytes themselves are looked at.
    pub fn wants_contents(&self) -> bool {
        self.pattern.is_some()
    }

    /// Whether the next packet is as it was sent; `bytes` may be left out if they are not wanted.
    #[inline]
    pub fn accepts(&mut self, length: usize, bytes: &[u8]) -> bool {
        let expected = match &mut self.lengths {
            Some(lengths) => lengths.next_length() as usize,
            None => self.size,
        };
        let number = self.number;
        self.number += 1;
        length == expected
            && self.pattern.as_ref().is_none_or(|pattern| pattern.matches(number, bytes))
    }
}

/// Receives packets until the time is over or the sender says goodbye.
pub struct Receiver {
    rx: Rx,
    receive: Receive,
    threshold: Threshold,
    /// Handled, and to be posted again together.
    back: Vec<Buf>,
    batch: usize,
    looks: u32,
    reader: Reader,
    count: Count,
    meter: Meter,
    goodbye: bool,
}

impl Receiver {
    /// Opens the receive end and posts the buffers.
    pub fn open(endpoint: &Endpoint, case: &Case, meter: Meter) -> Result<Self> {
        let (size, buffers) = (case.sizes.max as usize, case.rx_buffers());
        let options = QueueOptions::default()
            .depth(buffers.next_power_of_two() as u32)
            .strategy(case.wait.strategy());
        let mut rx = endpoint.port(0)?.vc(DATA_VC)?.rx_with(options)?;
        let mut bufs = endpoint.alloc(size * buffers)?.split(size, buffers)?;
        rx.post_all(&mut bufs);
        let threshold = match case.receive {
            Receive::Threshold(percent, timeout_us) => {
                rx.fill_threshold(percent).or_after_first(Duration::from_micros(timeout_us))
            }
            Receive::Each | Receive::Batch => Threshold::ONE,
        };
        // A quarter: the other three stay posted meanwhile.
        let batch = if case.receive == Receive::Each { 1 } else { (buffers / 4).max(1) };
        Ok(Self {
            rx,
            receive: case.receive,
            threshold,
            back: bufs,
            batch,
            looks: if case.wait == Wait::Poll { LOOKS } else { 0 },
            reader: Reader::new(case),
            count: Count::default(),
            meter,
            goodbye: false,
        })
    }

    /// Receives until the time is over, or for ever with `patient`, until the sender says goodbye.
    pub fn run(mut self, patient: bool) -> Result<Tally> {
        // The time before the first packet is not ours.
        self.wait(&Threshold::ONE)?;
        self.meter.start(&self.count);
        match self.receive {
            Receive::Each => self.repeat(Self::each, patient)?,
            Receive::Batch => self.repeat(Self::batch, patient)?,
            Receive::Threshold(..) => self.repeat(Self::filled, patient)?,
        }
        self.meter.finish(&self.count);
        Ok(self.meter.tally(&self.count))
    }

    #[inline]
    fn repeat(&mut self, operation: impl Fn(&mut Self) -> Result<()>, patient: bool) -> Result<()> {
        while !self.goodbye {
            for _ in 0..self.meter.turns() {
                operation(self)?;
                if self.goodbye {
                    break;
                }
            }
            self.update();
            if !self.meter.look(&self.count) && !patient {
                break;
            }
        }
        Ok(())
    }

    fn update(&mut self) {
        self.count.sleeps = self.rx.stats().sleeps;
        self.count.engine_ns = self.rx.engine_ns();
    }

    /// The next packet, if it comes soon. Polling, a look at an empty place takes its cache line
    /// away from the sender, who is about to write it: so between looks there is a pause, in which
    /// several packets arrive.
    #[inline]
    fn look(&mut self) -> Option<Received> {
        for _ in 0..self.looks {
            let received = self.rx.poll();
            if received.is_some() {
                return received;
            }
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
        }
        self.rx.poll()
    }

    /// One packet: wait for it, handle it, post its buffer again.
    #[inline]
    fn each(&mut self) -> Result<()> {
        let Some(received) = self.rx.poll() else { return self.wait(&Threshold::ONE) };
        if let Some(buf) = self.handle(received) {
            self.rx.post(buf)?;
        }
        Ok(())
    }

    /// One packet; its buffer is posted again with those of others.
    #[inline]
    fn batch(&mut self) -> Result<()> {
        let Some(received) = self.look() else { return self.wait(&Threshold::ONE) };
        if let Some(buf) = self.handle(received) {
            self.back.push(buf);
            if self.back.len() == self.batch {
                self.rx.post_all(&mut self.back);
            }
        }
        Ok(())
    }

    /// Waits for the threshold, handles everything that is there, posts all of it again.
    #[inline]
    fn filled(&mut self) -> Result<()> {
        let threshold = self.threshold;
        self.wait(&threshold)?;
        while let Some(received) = self.rx.poll() {
            if let Some(buf) = self.handle(received) {
                self.back.push(buf);
            }
        }
        self.rx.post_all(&mut self.back);
        Ok(())
    }

    /// Counts and verifies; gives the buffer back unless it was the goodbye.
    #[inline]
    fn handle(&mut self, received: Received) -> Option<Buf> {
        if received.end != End::Eop {
            self.goodbye = true;
            self.update();
            self.meter.finish(&self.count);
            return None;
        }
        self.count.packets += 1;
        self.count.bytes += received.buf.len() as u64;
        self.count.errors += u64::from(!self.reader.accepts(received.buf.len(), &received.buf));
        Some(received.buf)
    }

    #[inline]
    fn wait(&mut self, threshold: &Threshold) -> Result<()> {
        loop {
            match self.rx.wait(threshold, self.meter.deadline()) {
                Ok(_) => return Ok(()),
                Err(error) if error.is_timeout() && self.meter.progressed(&self.count) => {}
                Err(error) => return Err(error),
            }
            if self.rx.wait(&Threshold::ONE, Deadline::NOW).is_ok() {
                return Ok(());
            }
        }
    }
}
