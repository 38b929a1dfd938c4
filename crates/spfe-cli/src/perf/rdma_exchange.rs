//! Writes that two queue pairs exchange. Each end polls the last byte of its own memory, and answers
//! with a write as soon as it has changed.

use super::case::Case;
use super::meter::Meter;
use super::rdma_thread::{FAR, NEAR, Thread};
use spfe::pair::KeyOptions;
use spfe::{Endpoint, QueueOptions};
use spfe_remote::engine::{Local, WorkRequest};
use spfe_remote::{RdmaError, RdmaQueue, RdmaQueueOptions};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// Looks at the memory between checks of the time.
const LOOKS: u32 = 10_000;
/// Time without a write before giving up.
const PATIENCE: Duration = Duration::from_secs(5);

type Result<T> = std::result::Result<T, RdmaError>;

/// A queue pair with the memory that its partner writes.
pub struct Exchange {
    queue: RdmaQueue,
    /// The bytes to write, and the memory that the partner writes.
    source: u32,
    landing: u32,
    /// Key of the partner's memory.
    key: u32,
    bytes: u32,
    /// Last byte of the write under way.
    turn: u8,
}

impl Exchange {
    /// Opens a queue pair with memory for the partner. Returns the key of the memory, too.
    fn open(endpoint: &Endpoint, case: &Case, own: u16, partner: u16) -> Result<(Self, u32)> {
        let wait = QueueOptions::default().strategy(case.wait.strategy());
        let mut options = RdmaQueueOptions { queue: wait, ..RdmaQueueOptions::default() };
        (options.initiator.queue, options.initiator.target_queue) = (own, partner);
        let mut queue = RdmaQueue::open(&case.channel(endpoint)?, options)?;
        // A partner connects to a queue pair with a receive queue.
        queue.open_buffers(&wait)?;
        let bytes = case.sizes.max;
        let landing = queue.register_shared(&vec![0; bytes as usize])?;
        let whole = Local { memory: landing, offset: 0, length: bytes };
        let key = queue.share(whole, &KeyOptions::default(), PATIENCE)?;
        let source = queue.register(vec![0x5a; bytes as usize])?;
        Ok((Self { queue, source, landing, key: 0, bytes, turn: 0 }, key.0))
    }

    /// Opens both ends. The far one answers in a thread of its own, on this processor, until that
    /// is ended.
    pub fn start(
        near: &Endpoint,
        far: &Endpoint,
        far_cpu: Option<usize>,
        case: &Case,
    ) -> Result<(Self, Thread)> {
        let (mut own, own_key) = Self::open(near, case, NEAR, FAR)?;
        let (tell, told) = mpsc::channel();
        let (far, case) = (far.clone(), case.seen_from_far());
        let thread = Thread::start(far_cpu, move |stop| {
            let (mut end, key) = Self::open(&far, &case, FAR, NEAR)?;
            end.key = own_key;
            end.queue.connect(PATIENCE)?;
            let _ = tell.send(key);
            end.answer(stop)
        })?;
        match told.recv_timeout(PATIENCE) {
            Ok(key) => own.key = key,
            Err(_) => {
                thread.end()?;
                let what = "the far end did not open its queue pair in time";
                return Err(spfe::Error::device(spfe::Status::PeerGone, what).into());
            }
        }
        own.queue.connect(PATIENCE)?;
        Ok((own, thread))
    }

    /// Writes and waits for the answer.
    pub fn round(&mut self, meter: &Meter) -> Result<()> {
        self.turn = self.turn.wrapping_add(1);
        self.write()?;
        let mut deadline = None;
        while !self.has_come(self.turn)? {
            // The clock is read only if the answer takes long.
            let now_ns = meter.now_ns();
            let end_ns = *deadline.get_or_insert(now_ns + PATIENCE.as_nanos() as u64);
            if now_ns >= end_ns {
                return Err(RdmaError::TimedOut { why: self.queue.why() });
            }
        }
        self.reap()
    }

    /// Answers each write, until told to stop.
    fn answer(&mut self, stop: &AtomicBool) -> Result<()> {
        while !stop.load(Ordering::Relaxed) {
            let next = self.turn.wrapping_add(1);
            if self.has_come(next)? {
                self.turn = next;
                self.write()?;
                self.reap()?;
            }
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        if let Some(last) = self.queue.memory_mut(self.source).last_mut() {
            *last = self.turn;
        }
        let local = Local { memory: self.source, offset: 0, length: self.bytes };
        self.queue.post(WorkRequest::write(0, local, self.key, 0))?;
        self.queue.ring()
    }

    /// Whether the last byte has this value, after many looks.
    fn has_come(&mut self, turn: u8) -> Result<bool> {
        let mut byte = [0];
        for _ in 0..LOOKS {
            self.queue.load(self.landing, u64::from(self.bytes) - 1, &mut byte)?;
            if byte[0] == turn {
                return Ok(true);
            }
            std::hint::spin_loop();
        }
        Ok(false)
    }

    /// Takes the completion of the write, so that its bytes can change.
    fn reap(&mut self) -> Result<()> {
        loop {
            if let Some(done) = self.queue.poll()? {
                let what = "write of an exchange".to_owned();
                return done.result.map_err(|error| RdmaError::Work { what, error });
            }
            self.queue.wait(1, PATIENCE)?;
        }
    }

    /// Sleeps and engine time (ns) so far.
    pub fn totals(&self) -> (u64, u64) {
        (self.queue.sleeps(), self.queue.engine_ns())
    }
}
