//! The initiator: the sending side of a queue pair.
//!
//! Work requests are posted, and nothing is sent before [`RdmaInitiator::ring`]. What was posted with
//! one ring is a group: its last request asks for the acknowledgement that completes all of it.
//! Requests start and complete in order. An error ends the queue pair: the request that failed
//! completes with its cause, all others are flushed, and each completion tells whether the request
//! was executed.
//!
//! Every wait is bounded. A message that brings no progress is repeated after a time-out that
//! doubles, a number of times; a receiver that is not ready is asked again a number of times; a
//! missing announcement of buffers is made up for by trying. [`RdmaInitiator::why`] names what the queue
//! pair waits for.

mod completion;
mod handle;
mod near;
mod options;
mod transmit;
mod waiting;
mod work;

pub use crate::local::{Local, LocalFault, LocalMemory, NoMemory, scatter};
pub use completion::{Execution, WorkCompletion, WorkError};
pub use handle::InitiatorOutcome;
pub use options::{InitiatorCounts, RdmaInitiatorOptions};
pub use waiting::PairWait;
pub use work::{InlineBytes, Pieces, PostError, WorkFlags, WorkKind, WorkRequest};

use fastrand::Rng;
use spfe_proto::sfrp::SfrpStatus;
use std::collections::VecDeque;
use work::{Work, WorkProgress};

/// State of a queue pair, in the terms of verbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairState {
    /// Not connected.
    Reset,
    /// CONNECT was sent.
    Connecting,
    /// Ready to send (RTS).
    Ready,
    /// An operation has failed; everything is flushed until [`RdmaInitiator::connect`].
    Error,
}

/// CONNECT in progress.
#[derive(Clone, Copy, Debug)]
struct Connecting {
    request: u32,
    attempts: u32,
    /// When it is sent again; 0: at once.
    again_ns: u64,
}

/// The sending side of a queue pair.
pub struct RdmaInitiator {
    options: RdmaInitiatorOptions,
    state: PairState,
    connecting: Connecting,
    /// Posted requests that have not completed, in order.
    work: VecDeque<Work>,
    /// Requests at the front of `work` that a ring has released.
    rung: usize,
    /// Number of the message at the front of `work`.
    base: u16,
    /// The request that sends next, and the offset in it.
    cursor: usize,
    offset: u32,
    next_request: u32,
    /// Messages since the last one that asked for an acknowledgement.
    unasked: usize,
    /// Messages that need a receive buffer: started, and allowed in all.
    sends: u32,
    credit: u32,
    /// Since when the queue has waited for credit; 0: it does not.
    starved_ns: u64,
    /// Nothing is sent before; the receiver was not ready or busy.
    pause_ns: u64,
    /// Last sign of progress.
    progress_ns: u64,
    completions: VecDeque<WorkCompletion>,
    /// Why the last CONNECT was refused.
    refusal: Option<SfrpStatus>,
    counts: InitiatorCounts,
    rng: Rng,
}

impl RdmaInitiator {
    /// An initiator that is not connected.
    pub fn new(options: RdmaInitiatorOptions) -> Self {
        Self::with_seed(options, fastrand::u64(..))
    }

    /// The same with a seed for the first numbers of messages and requests, so that a simulation can
    /// be repeated.
    pub fn with_seed(options: RdmaInitiatorOptions, seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        Self {
            options: options.within_limits(),
            state: PairState::Reset,
            connecting: Connecting { request: 0, attempts: 0, again_ns: 0 },
            work: VecDeque::new(),
            rung: 0,
            base: 0,
            cursor: 0,
            offset: 0,
            next_request: rng.u32(..),
            unasked: 0,
            sends: 0,
            credit: 0,
            starved_ns: 0,
            pause_ns: 0,
            progress_ns: 0,
            completions: VecDeque::new(),
            refusal: None,
            counts: InitiatorCounts::default(),
            rng,
        }
    }

    /// Options, with values that were out of range brought into it.
    pub fn options(&self) -> &RdmaInitiatorOptions {
        &self.options
    }

    /// State.
    pub fn state(&self) -> PairState {
        self.state
    }

    /// Counters.
    pub fn counts(&self) -> &InitiatorCounts {
        &self.counts
    }

    /// Number of requests that have not completed.
    pub fn outstanding(&self) -> usize {
        self.work.len()
    }

    /// Starts a new sequence of messages. Requests that have not completed are flushed first.
    pub fn connect(&mut self) {
        self.flush(Execution::Unknown);
        (self.state, self.refusal) = (PairState::Connecting, None);
        self.base = self.rng.u16(..);
        self.connecting = Connecting { request: self.request(), attempts: 0, again_ns: 0 };
        (self.cursor, self.offset, self.unasked) = (0, 0, 0);
        (self.sends, self.credit, self.starved_ns, self.pause_ns) = (0, 0, 0, 0);
    }

    /// Why the last CONNECT was refused; `None` if it was not, or had no answer.
    pub fn refusal(&self) -> Option<SfrpStatus> {
        self.refusal
    }

    /// Posts a request. Nothing happens before [`RdmaInitiator::ring`].
    ///
    /// # Errors
    /// The queue is full, or the request can never be executed; nothing was posted.
    pub fn post(
        &mut self,
        request: WorkRequest,
        memory: &impl LocalMemory,
    ) -> Result<(), PostError> {
        if self.work.len() >= self.options.depth {
            return Err(PostError::Full { depth: self.options.depth });
        }
        let work = Work::new(request, self.next_request, memory)?;
        self.next_request = self.next_request.wrapping_add(1);
        self.work.push_back(work);
        Ok(())
    }

    /// Releases what was posted, as one group.
    pub fn ring(&mut self) {
        if self.rung == self.work.len() {
            return;
        }
        self.rung = self.work.len();
        if let Some(last) = self.work.back_mut() {
            last.ends_group = true;
        }
        if matches!(self.state, PairState::Error | PairState::Reset) {
            self.flush(Execution::NotExecuted);
        }
    }

    /// The next completion.
    pub fn poll(&mut self) -> Option<WorkCompletion> {
        self.completions.pop_front()
    }

    /// The completions that wait to be polled.
    pub fn completions(&self) -> impl Iterator<Item = &WorkCompletion> {
        self.completions.iter()
    }

    /// Number of completions that wait to be polled.
    pub fn completed(&self) -> usize {
        self.completions.len()
    }

    /// Ends everything at once, as after a reset of the device.
    pub fn abort(&mut self) {
        self.rung = self.work.len();
        self.flush(Execution::Unknown);
        self.state = PairState::Error;
    }

    fn request(&mut self) -> u32 {
        self.next_request = self.next_request.wrapping_add(1);
        self.next_request
    }

    /// Number of a message by its place in `work`.
    fn sequence(&self, index: usize) -> u16 {
        self.base.wrapping_add(index as u16)
    }

    /// Completes what is done at the front.
    fn retire(&mut self) {
        while let Some(work) = self.work.front()
            && work.progress == WorkProgress::Done
        {
            let Some(work) = self.work.pop_front() else { return };
            self.base = self.base.wrapping_add(1);
            self.rung = self.rung.saturating_sub(1);
            if self.cursor == 0 {
                // It was being repeated; the rest of it need not be sent.
                self.offset = 0;
            }
            self.cursor = self.cursor.saturating_sub(1);
            self.counts.completed += 1;
            if work.request.flags.signaled {
                self.completions.push_back(work.completion(Ok(())));
            }
        }
    }

    /// Ends the queue pair because a request failed. What follows it was not executed if
    /// `followers` says so; what precedes it is not known.
    fn fail(&mut self, index: usize, error: WorkError, followers: Execution) {
        self.counts.failed += 1;
        self.flush_range(index, Execution::Unknown, false);
        // The failed request is at the front now.
        if let Some(work) = self.work.pop_front() {
            self.rung = self.rung.saturating_sub(1);
            self.completions.push_back(work.completion(Err(error)));
        }
        self.flush_range(self.work.len(), followers, true);
        (self.rung, self.cursor, self.offset) = (0, 0, 0);
        self.state = PairState::Error;
    }

    /// Flushes the first `count` requests.
    fn flush_range(&mut self, count: usize, sent: Execution, mut flushing: bool) {
        // As in verbs, nothing completes with OK behind an error.
        for work in self.work.drain(..count.min(self.work.len())) {
            self.rung = self.rung.saturating_sub(1);
            self.base = self.base.wrapping_add(1);
            let execution = match work.progress {
                WorkProgress::Done if !flushing => {
                    self.counts.completed += 1;
                    if work.request.flags.signaled {
                        self.completions.push_back(work.completion(Ok(())));
                    }
                    continue;
                }
                WorkProgress::Waiting => Execution::NotExecuted,
                _ => sent,
            };
            flushing = true;
            self.counts.flushed += 1;
            self.completions.push_back(work.completion(Err(WorkError::Flushed(execution))));
        }
    }

    /// Flushes the released requests; what was sent of them has this outcome.
    fn flush(&mut self, sent: Execution) {
        self.flush_range(self.rung, sent, false);
        (self.cursor, self.offset) = (0, 0);
    }
}
