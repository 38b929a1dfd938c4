//! Loops: out of one end and in at the other, both of this process, one thing at a time.
//!
//! A loop measures the time to transmit and to receive together, without a second program that
//! answers. Packets, broadcast messages and time-codes are measured alike.

use super::case::{Case, Message};
use super::latency::{LatencyQueues, Ticks};
use super::meter::{Count, Meter, Tally};
use super::receive::Reader;
use spfe::{
    Broadcast, Deadline, Endpoint, MessageOptions, Pattern, QueueOptions, Result, TimeCode,
};
use spfe_report::LatencyNs;

/// Something that goes out and comes in again.
pub trait Lap {
    /// Prepares the next one. Its time does not count.
    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }
    /// Sends one and waits for it. Returns its bytes, and whether it arrived as it was sent.
    fn run(&mut self, count: &Count, meter: &mut Meter) -> Result<(u64, bool)>;
    /// Sleeps and engine time (ns) so far.
    fn totals(&self) -> (u64, u64);
}

/// Runs laps one after the other until the meter ends the measurement.
pub fn measure(mut lap: impl Lap, mut meter: Meter) -> Result<(Tally, Option<LatencyNs>)> {
    let mut count = Count::default();
    meter.start(&count);
    let mut times = Ticks::start(&meter)?;
    loop {
        for _ in 0..meter.turns() {
            lap.prepare()?;
            let before = Ticks::now();
            let (bytes, good) = lap.run(&count, &mut meter)?;
            times.record(Ticks::now() - before);
            count.packets += 1;
            count.bytes += bytes;
            count.errors += u64::from(!good);
            if meter.is_complete(&count) {
                break;
            }
        }
        (count.sleeps, count.engine_ns) = lap.totals();
        let warming_up = !meter.is_measuring();
        if !meter.look(&count) {
            break;
        }
        if warming_up && meter.is_measuring() {
            times.clear();
        }
    }
    let distribution = times.distribution(&meter, 1.0);
    Ok((meter.tally(&count), distribution))
}

/// A packet.
pub struct PacketLap {
    ends: LatencyQueues,
    size: usize,
    pattern: Option<Pattern>,
    reader: Reader,
    number: u64,
}

impl PacketLap {
    /// Opens the transmit queue of one end and the receive queue of the other.
    pub fn open(near: &Endpoint, far: &Endpoint, case: &Case) -> Result<Self> {
        let size = case.sizes.max as usize;
        Ok(Self {
            ends: LatencyQueues::between(near, far, case)?,
            size,
            pattern: case.check.then(|| Pattern::new(size)),
            reader: Reader::new(case),
            number: 0,
        })
    }
}

impl Lap for PacketLap {
    fn prepare(&mut self) -> Result<()> {
        if let Some(pattern) = &self.pattern {
            pattern.fill(self.number, &mut self.ends.slot()?[..self.size]);
        }
        self.number += 1;
        Ok(())
    }

    #[inline]
    fn run(&mut self, count: &Count, meter: &mut Meter) -> Result<(u64, bool)> {
        self.ends.send(self.size)?;
        let (length, _) = self.ends.next(count, meter)?;
        self.ends.sent(meter)?;
        let good = self.reader.accepts(length, self.ends.packet()?.bytes);
        self.ends.release();
        Ok((length as u64, good))
    }

    fn totals(&self) -> (u64, u64) {
        self.ends.totals()
    }
}

/// Broadcast channel and type of measured messages.
const CHANNEL: u8 = 1;
const KIND: u8 = 0x20;

/// A broadcast message or a time-code.
pub enum MessageLap {
    /// Sender and receiver of broadcast messages.
    Broadcast(Broadcast, Broadcast),
    /// Sender and receiver of time-codes.
    TimeCode(TimeCode, TimeCode),
}

impl MessageLap {
    /// Opens the messages of both ends.
    pub fn open(near: &Endpoint, far: &Endpoint, case: &Case, message: Message) -> Result<Self> {
        let queue = QueueOptions::default().depth(64).strategy(case.wait.strategy());
        let (near, far) = (near.port(message.port())?, far.port(message.port())?);
        Ok(if message.time_code {
            Self::TimeCode(near.time_code_with(queue)?, far.time_code_with(queue)?)
        } else {
            let options = MessageOptions::default().queue(queue);
            Self::Broadcast(near.broadcast_with(options)?, far.broadcast_with(options)?)
        })
    }
}

impl Lap for MessageLap {
    fn run(&mut self, count: &Count, meter: &mut Meter) -> Result<(u64, bool)> {
        let number = count.packets;
        match self {
            Self::Broadcast(out, into) => {
                out.send(CHANNEL, KIND, number.to_le_bytes())?;
                let came = patiently(count, meter, |until| into.recv(until))?;
                Ok((8, came.data == number.to_le_bytes() && came.channel == CHANNEL))
            }
            Self::TimeCode(out, into) => {
                let time = (number % 64) as u8;
                out.send(time, 0)?;
                let came = patiently(count, meter, |until| into.recv(until))?;
                Ok((1, came.time == time))
            }
        }
    }

    fn totals(&self) -> (u64, u64) {
        match self {
            Self::Broadcast(out, into) => (out.stats().sleeps + into.stats().sleeps, 0),
            Self::TimeCode(out, into) => (out.stats().sleeps + into.stats().sleeps, 0),
        }
    }
}

/// Waits with the patience of a meter.
fn patiently<T>(
    count: &Count,
    meter: &mut Meter,
    mut wait: impl FnMut(Deadline) -> Result<T>,
) -> Result<T> {
    loop {
        match wait(meter.deadline()) {
            Err(error) if error.is_timeout() && meter.progressed(count) => {}
            other => return other,
        }
    }
}
