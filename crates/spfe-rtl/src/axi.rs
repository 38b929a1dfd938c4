//! The bus of the core: answers its reads and writes from memory of this process.
//!
//! Reads are answered in order, and so are writes, each after a latency. A write is in memory
//! before it is answered, and in the order of the bus.

use crate::memory::BusMemory;
use crate::pins::{Inputs, Outputs};
use spfe_ring::sync::full_fence;
use std::collections::VecDeque;

/// Bytes of a beat.
const BEAT: u64 = 16;
const OKAY: u8 = 0;
const SLVERR: u8 = 2;
/// A burst must not cross this many bytes.
const BURST_BYTES: u64 = 4096;

/// Times of the bus in cycles of the core.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// From the address of a read to its first beat.
    pub read: u64,
    /// From the last beat of a write to its answer.
    pub write: u64,
    /// Most reads, and most writes, that wait for an answer.
    pub outstanding: usize,
}

impl Default for Timing {
    /// About 400 ns, as over PCI Express to memory.
    fn default() -> Self {
        Self { read: 64, write: 64, outstanding: 32 }
    }
}

struct Burst {
    address: u64,
    id: u8,
    /// Beats that are left.
    beats: u32,
    due: u64,
}

struct Answer {
    id: u8,
    response: u8,
    due: u64,
}

/// A beat of read data that the core has not taken yet.
struct Beat {
    data: u128,
    id: u8,
    response: u8,
    last: bool,
}

/// The bus.
#[derive(Default)]
pub struct Axi {
    timing: Timing,
    cycle: u64,
    reads: VecDeque<Burst>,
    beat: Option<Beat>,
    writes: VecDeque<Burst>,
    /// An earlier beat of the first write was refused.
    refused: bool,
    answers: VecDeque<Answer>,
    /// Beats that were refused, because there is no memory.
    pub refusals: u64,
    /// Bytes read and written, for measurements.
    pub bytes: (u64, u64),
}

impl Axi {
    pub fn new(timing: Timing) -> Self {
        Self { timing, ..Self::default() }
    }

    /// Forgets what is under way: the core has been reset.
    pub fn reset(&mut self) {
        let Self { timing, cycle, refusals, bytes, .. } = *self;
        *self = Self { timing, cycle, refusals, bytes, ..Self::default() };
    }

    /// Whether an access is under way.
    pub fn is_busy(&self) -> bool {
        self.beat.is_some()
            || !self.reads.is_empty()
            || !self.writes.is_empty()
            || !self.answers.is_empty()
    }

    /// Sets the inputs of the next cycle.
    pub fn drive(&mut self, memory: &BusMemory, to: &mut Inputs) {
        if self.beat.is_none()
            && let Some(burst) = self.reads.front_mut()
            && burst.due <= self.cycle
        {
            // Between a completion and the look at the line in which the host arms: the host has
            // a fence of its own between its arming and its look at the completions.
            full_fence();
            let data = memory.read(burst.address);
            self.refusals += u64::from(data.is_none());
            self.bytes.0 += BEAT;
            burst.address = (burst.address & !(BEAT - 1)).wrapping_add(BEAT);
            burst.beats -= 1;
            let (id, last) = (burst.id, burst.beats == 0);
            let response = if data.is_some() { OKAY } else { SLVERR };
            self.beat = Some(Beat { data: data.unwrap_or(0), id, response, last });
            if last {
                self.reads.pop_front();
            }
        }
        to.r_valid = self.beat.is_some();
        if let Some(beat) = &self.beat {
            (to.r_data, to.r_id, to.r_resp, to.r_last) =
                (beat.data, beat.id, beat.response, beat.last);
        }
        to.ar_ready = self.reads.len() < self.timing.outstanding;
        to.aw_ready = self.writes.len() + self.answers.len() < self.timing.outstanding;
        to.w_ready = !self.writes.is_empty();
        let answer = self.answers.front().filter(|answer| answer.due <= self.cycle);
        to.b_valid = answer.is_some();
        if let Some(answer) = answer {
            (to.b_id, to.b_resp) = (answer.id, answer.response);
        }
    }

    /// Takes the outputs of the cycle. Whether something happened.
    ///
    /// # Errors
    /// The core breaks a rule of the bus.
    pub fn sample(
        &mut self,
        memory: &BusMemory,
        given: &Inputs,
        from: &Outputs,
    ) -> Result<bool, String> {
        let mut active = false;
        if given.r_valid && from.r_ready {
            self.beat = None;
            active = true;
        }
        if given.b_valid && from.b_ready {
            self.answers.pop_front();
            active = true;
        }
        if from.w_valid && given.w_ready {
            self.take_data(memory, from)?;
            active = true;
        }
        if from.ar_valid && given.ar_ready {
            let due = self.cycle + self.timing.read;
            self.reads.push_back(burst(from.ar_addr, from.ar_id, from.ar_len, due)?);
            active = true;
        }
        if from.aw_valid && given.aw_ready {
            self.writes.push_back(burst(from.aw_addr, from.aw_id, from.aw_len, 0)?);
            active = true;
        }
        self.cycle += 1;
        Ok(active)
    }

    fn take_data(&mut self, memory: &BusMemory, from: &Outputs) -> Result<(), String> {
        let Some(write) = self.writes.front_mut() else { return Ok(()) };
        if from.w_strb != 0 && !memory.write(write.address, from.w_data, from.w_strb) {
            self.refused = true;
            self.refusals += 1;
        }
        self.bytes.1 += u64::from(from.w_strb.count_ones());
        write.address = (write.address & !(BEAT - 1)).wrapping_add(BEAT);
        write.beats -= 1;
        if from.w_last != (write.beats == 0) {
            return Err("a write has another length than its address says".to_owned());
        }
        if from.w_last {
            let response = if self.refused { SLVERR } else { OKAY };
            self.refused = false;
            self.answers.push_back(Answer {
                id: write.id,
                response,
                due: self.cycle + self.timing.write,
            });
            self.writes.pop_front();
        }
        Ok(())
    }
}

fn burst(address: u64, id: u8, len: u8, due: u64) -> Result<Burst, String> {
    let beats = u32::from(len) + 1;
    let first = address & !(BEAT - 1);
    if (first % BURST_BYTES) + u64::from(beats) * BEAT > BURST_BYTES {
        return Err(format!("a burst of {beats} beats at {address:#x} crosses 4 KiB"));
    }
    Ok(Burst { address, id, beats, due })
}

#[cfg(test)]
mod tests {
    use super::*;
    use spfe_host::SharedMemory;
    use std::sync::Arc;

    struct Bench {
        memory: BusMemory,
        axi: Axi,
        base: u64,
    }

    impl Bench {
        fn new() -> Self {
            let memory = BusMemory::default();
            let base = memory.map(&Arc::new(SharedMemory::create("test", 4096).unwrap())).unwrap();
            let timing = Timing { read: 3, write: 2, outstanding: 2 };
            Self { memory, axi: Axi::new(timing), base }
        }

        fn cycle(&mut self, from: &Outputs) -> Result<Inputs, String> {
            let mut given = Inputs::default();
            self.axi.drive(&self.memory, &mut given);
            self.axi.sample(&self.memory, &given, from)?;
            Ok(given)
        }
    }

    #[test]
    fn writes_are_read_back_and_strays_refused() {
        let mut bench = Bench::new();
        let base = bench.base;
        let ready = Outputs { r_ready: true, b_ready: true, ..Outputs::default() };
        // A write of two beats, the second of which has no memory.
        let at = base + 4096 - 16;
        let aw = Outputs { aw_valid: true, aw_addr: at, aw_id: 9, ..ready.clone() };
        assert!(bench.cycle(&aw).unwrap().aw_ready);
        let w =
            Outputs { w_valid: true, w_data: 77, w_strb: u16::MAX, w_last: true, ..ready.clone() };
        assert!(bench.cycle(&w).unwrap().w_ready);
        let aw = Outputs { aw_valid: true, aw_addr: base + 4096, aw_id: 3, ..ready.clone() };
        let mut answers = Vec::new();
        for out in [&aw, &w].into_iter().chain([&ready; 8]) {
            let given = bench.cycle(out).unwrap();
            answers.extend(given.b_valid.then_some((given.b_id, given.b_resp)));
        }
        assert_eq!((answers, bench.axi.refusals), (vec![(9, OKAY), (3, SLVERR)], 1));
        let ar = Outputs { ar_valid: true, ar_addr: at, ar_len: 0, ar_id: 5, ..ready.clone() };
        bench.cycle(&ar).unwrap();
        assert!(bench.axi.is_busy());
        let stalled = Outputs::default();
        let mut beats = Vec::new();
        for cycle in 0..12 {
            // The core takes its time; the beat stays until it is taken.
            let given = bench.cycle(if cycle % 3 == 2 { &ready } else { &stalled }).unwrap();
            let taken = given.r_valid && cycle % 3 == 2;
            beats.extend(taken.then_some((given.r_data, given.r_id, given.r_resp, given.r_last)));
        }
        assert_eq!(beats, [(77, 5, OKAY, true)]);
        assert!(!bench.axi.is_busy());
    }

    #[test]
    fn a_core_that_breaks_the_rules_is_reported() {
        let mut bench = Bench::new();
        let aw = Outputs { aw_valid: true, aw_addr: bench.base, aw_len: 1, ..Outputs::default() };
        bench.cycle(&aw).unwrap();
        let w = Outputs { w_valid: true, w_last: true, ..Outputs::default() };
        assert!(bench.cycle(&w).unwrap_err().contains("length"));
        let ar = Outputs { ar_valid: true, ar_addr: 0xff0, ar_len: 1, ..Outputs::default() };
        assert!(Bench::new().cycle(&ar).unwrap_err().contains("crosses"));
        let ar = Outputs { ar_valid: true, ar_addr: u64::MAX, ..Outputs::default() };
        assert!(Bench::new().cycle(&ar).is_ok(), "it is refused when it is read");
    }

    #[test]
    fn no_more_accesses_are_taken_than_stated() {
        let mut bench = Bench::new();
        let ar = Outputs { ar_valid: true, ar_addr: bench.base, ..Outputs::default() };
        let taken = (0..20).filter(|_| bench.cycle(&ar).unwrap().ar_ready).count();
        assert!((2..=3).contains(&taken), "{taken}: two wait, and one may be on its way");
    }
}
