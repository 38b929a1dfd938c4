//! The receiving end with a packed area: packets lie back to back, one completion publishes a run
//! of them, and nothing is posted again. The least cost for small packets.

use super::case::{Case, Receive};
use super::meter::{Count, Meter, Tally};
use super::receive::Reader;
use super::send::DATA_VC;
use spfe::{
    Deadline, End, Endpoint, PackedOptions, PackedRx, QueueOptions, Record, Result, Threshold,
};
use std::time::Duration;

/// Receives packets until the time is over or the sender says goodbye.
pub struct PackedReceiver {
    rx: PackedRx,
    threshold: Threshold,
    take: Take,
    meter: Meter,
}

/// What is done with each record.
struct Take {
    reader: Reader,
    count: Count,
    /// Bytes of the packet that is not over yet, and the bytes themselves if they are wanted.
    length: usize,
    parts: Vec<u8>,
    goodbye: bool,
}

impl Take {
    #[inline]
    fn record(&mut self, record: Record<'_>) {
        if record.end == End::Eop && self.length == 0 {
            return self.packet(record.bytes.len(), record.bytes);
        }
        self.part(record);
    }

    #[inline]
    fn packet(&mut self, length: usize, bytes: &[u8]) {
        self.count.packets += 1;
        self.count.bytes += length as u64;
        self.count.errors += u64::from(!self.reader.accepts(length, bytes));
    }

    /// A packet longer than a quarter of the area comes in parts.
    fn part(&mut self, record: Record<'_>) {
        self.length += record.bytes.len();
        if self.reader.wants_contents() {
            self.parts.extend_from_slice(record.bytes);
        }
        match record.end {
            End::More => return,
            End::Eep => self.goodbye = true,
            End::Eop => {
                let parts = std::mem::take(&mut self.parts);
                self.packet(self.length, &parts);
            }
        }
        self.parts.clear();
        self.length = 0;
    }
}

impl PackedReceiver {
    /// Opens the receive end.
    pub fn open(endpoint: &Endpoint, case: &Case, meter: Meter) -> Result<Self> {
        // Room for eight packets at least, so that sender and receiver work at the same time.
        let area = case.rx_window.max(8 * (u64::from(case.sizes.max) + 8)).max(65536) as u32;
        let queue = QueueOptions::default().strategy(case.wait.strategy());
        let options = PackedOptions::default().area(area).queue(queue);
        let rx = endpoint.port(0)?.vc(DATA_VC)?.rx_packed(options)?;
        let threshold = match case.receive {
            Receive::Threshold(percent, timeout_us) => {
                rx.fill_threshold(percent).or_after_first(Duration::from_micros(timeout_us))
            }
            Receive::Each | Receive::Batch => Threshold::ONE,
        };
        let take = Take {
            reader: Reader::new(case),
            count: Count::default(),
            length: 0,
            parts: Vec::new(),
            goodbye: false,
        };
        Ok(Self { rx, threshold, take, meter })
    }

    /// Receives until the time is over, or for ever with `patient`, until the sender says goodbye.
    pub fn run(mut self, patient: bool) -> Result<Tally> {
        // The time before the first packet is not ours.
        self.wait(Threshold::ONE)?;
        self.meter.start(&self.take.count);
        while !self.take.goodbye {
            for _ in 0..self.meter.turns() {
                if self.turn()? {
                    break;
                }
            }
            if !self.meter.look(&self.take.count) && !patient {
                break;
            }
        }
        self.meter.finish(&self.take.count);
        Ok(self.meter.tally(&self.take.count))
    }

    /// Takes the runs that are there, or waits; true after the goodbye.
    #[inline]
    fn turn(&mut self) -> Result<bool> {
        let mut idle = true;
        while let Some(run) = self.rx.poll() {
            // The records are read in place; dropping the run gives their bytes back.
            run.records().for_each(|record| self.take.record(record));
            idle = false;
        }
        self.take.count.sleeps = self.rx.stats().sleeps;
        self.take.count.engine_ns = self.rx.engine_ns();
        if idle && !self.take.goodbye {
            self.wait(self.threshold)?;
        }
        Ok(self.take.goodbye)
    }

    fn wait(&mut self, threshold: Threshold) -> Result<()> {
        loop {
            match self.rx.wait(&threshold, self.meter.deadline()) {
                Ok(_) => return Ok(()),
                Err(error) if error.is_timeout() && self.meter.progressed(&self.take.count) => {}
                Err(error) => return Err(error),
            }
            if self.rx.wait(&Threshold::ONE, Deadline::NOW).is_ok() {
                return Ok(());
            }
        }
    }
}
