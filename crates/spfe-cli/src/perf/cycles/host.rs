//! Models of hosts that answer a completion after a number of cycles. They use the queues of the
//! library as any application does, a step in each cycle of the core.

use spfe::{Buf, Error, Rx, Status, Threshold, Tx};
use spfe_rtl::Moment;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// What an end had done when it began something that is measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    /// The cycle.
    pub cycle: u64,
    /// Bytes of its packets so far.
    pub bytes: u64,
    /// Stores to doorbells of its core so far.
    pub doorbells: u64,
    /// Interrupts of its core so far.
    pub interrupts: u64,
}

impl Mark {
    fn now(now: &Moment<'_>, core: usize, bytes: u64) -> Self {
        let counts = now.counts(core);
        let (doorbells, interrupts) = (counts.doorbells, counts.interrupts);
        Self { cycle: now.cycle(), bytes, doorbells, interrupts }
    }
}

/// Sends groups of packets, again and again from the same buffers.
pub struct Sender {
    tx: Tx,
    core: usize,
    free: VecDeque<Buf>,
    group: usize,
    /// Most groups that are submitted and not answered.
    most: usize,
    under_way: usize,
    /// Cycles from a completion in memory to its answer.
    answer: u64,
    /// The host sleeps until its completion comes.
    sleeps: bool,
    /// When to answer, and what for.
    due: VecDeque<(u64, u64)>,
    /// Bytes of answered groups.
    pub bytes: u64,
    pub submitted: u64,
    /// Groups that are still to be submitted.
    pub left: usize,
    /// One for each answer.
    pub marks: Vec<Mark>,
}

/// How a sender works.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    pub group: usize,
    pub most: usize,
    pub answer: u64,
    pub sleeps: bool,
}

impl Sender {
    /// A sender with buffers for all groups under way.
    pub fn new(tx: Tx, core: usize, buffers: Vec<Buf>, how: Sending) -> Self {
        Self {
            tx,
            core,
            free: buffers.into(),
            group: how.group,
            most: how.most,
            under_way: 0,
            answer: how.answer,
            sleeps: how.sleeps,
            due: VecDeque::new(),
            bytes: 0,
            submitted: 0,
            left: usize::MAX,
            marks: Vec::new(),
        }
    }

    /// Whether everything that was submitted has been answered.
    pub fn is_idle(&self) -> bool {
        self.under_way == 0
    }

    /// A step of the host.
    ///
    /// # Errors
    /// A packet was not sent.
    pub fn step(&mut self, now: &Moment<'_>) -> spfe::Result<()> {
        while let Some(sent) = self.tx.poll() {
            check(sent.status, "a packet was not sent")?;
            self.due.push_back((now.cycle() + self.answer, sent.bytes.into()));
        }
        let mut arm = false;
        while let Some((due, bytes)) = self.due.front().copied()
            && due <= now.cycle()
        {
            self.due.pop_front();
            self.under_way -= 1;
            self.bytes += bytes;
            self.marks.push(Mark::now(now, self.core, self.bytes));
            arm = true;
        }
        while let Some(buf) = self.tx.take() {
            self.free.push_back(buf);
        }
        while self.left != 0 && self.under_way < self.most && self.free.len() >= self.group {
            let mut group: Vec<Buf> = self.free.drain(..self.group).collect();
            self.submitted += group.iter().map(|buf| buf.len() as u64).sum::<u64>();
            self.tx.send_group(&mut group);
            self.under_way += 1;
            self.left -= 1;
            arm = true;
        }
        if arm && self.sleeps && self.under_way != 0 {
            self.tx.request_event(&Threshold::ONE)?;
        }
        Ok(())
    }
}

/// How a receiver works.
#[derive(Clone, Copy, Debug)]
pub enum Receiving {
    /// Takes and posts at once whatever is there, as an instrument does.
    AtOnce,
    /// Handles one packet after the other, each for so many cycles.
    Single(u64),
    /// Sleeps until a quarter of the buffers is full or 100 us have passed since the first packet,
    /// and handles all packets so many cycles after the interrupt.
    Threshold(u64),
}

/// Receives packets of one size, and compares their bytes.
pub struct Receiver {
    rx: Rx,
    core: usize,
    how: Receiving,
    free: Vec<Buf>,
    handled: Option<Buf>,
    /// When the host does something next.
    due: Option<u64>,
    interrupts: u64,
    threshold: Threshold,
    /// What the sender's buffers hold, one after the other.
    sent: Arc<Vec<u8>>,
    expected: Range<usize>,
    /// Bytes that were taken.
    pub bytes: u64,
    pub marks: Vec<Mark>,
}

impl Receiver {
    /// Posts the buffers; the sender's buffers have `size` bytes each and hold `sent` in turn.
    ///
    /// # Errors
    /// Those of the queue.
    pub fn new(
        mut rx: Rx,
        core: usize,
        mut free: Vec<Buf>,
        how: Receiving,
        (sent, size): (Arc<Vec<u8>>, usize),
    ) -> spfe::Result<Self> {
        rx.post_all(&mut free);
        let threshold = rx.fill_threshold(super::FILL_PERCENT).or_after_first(super::FILL_TIME);
        if let Receiving::Threshold(_) = how {
            rx.request_event(&threshold)?;
        }
        let (due, interrupts, expected) = (None, 0, 0..size);
        let (bytes, marks, handled) = (0, Vec::new(), None);
        Ok(Self {
            rx,
            core,
            how,
            free,
            handled,
            due,
            interrupts,
            threshold,
            sent,
            expected,
            bytes,
            marks,
        })
    }

    /// From now on takes everything at once.
    pub fn hurry(&mut self) {
        self.how = Receiving::AtOnce;
        self.free.extend(self.handled.take());
    }

    fn take(&mut self) -> spfe::Result<Option<Buf>> {
        let Some(received) = self.rx.poll() else { return Ok(None) };
        check(received.status, "a packet was not received")?;
        let packet = &received.buf[..];
        if received.end != spfe::End::Eop || packet != &self.sent[self.expected.clone()] {
            let what = format!(
                "{} bytes came, {:?}: other than the {} bytes that were sent",
                packet.len(),
                received.end,
                self.expected.len()
            );
            return Err(Error::device(Status::BadRing, what));
        }
        self.bytes += packet.len() as u64;
        let size = self.expected.len();
        let next = (self.expected.end + size <= self.sent.len()).then_some(self.expected.end);
        self.expected = next.unwrap_or(0)..next.unwrap_or(0) + size;
        Ok(Some(received.buf))
    }

    fn take_all(&mut self) -> spfe::Result<()> {
        while let Some(buf) = self.take()? {
            self.free.push(buf);
        }
        if !self.free.is_empty() {
            self.rx.post_all(&mut self.free);
        }
        Ok(())
    }

    /// A step of the host.
    ///
    /// # Errors
    /// A packet is not the one that was sent.
    pub fn step(&mut self, now: &Moment<'_>) -> spfe::Result<()> {
        let over = self.due.is_some_and(|due| due <= now.cycle());
        match self.how {
            Receiving::AtOnce => self.take_all()?,
            Receiving::Single(_) if self.due.is_some() && !over => {}
            Receiving::Single(answer) => {
                if let Some(buf) = self.handled.take() {
                    self.rx.post_all(&mut vec![buf]);
                }
                self.handled = self.take()?;
                self.due = self.handled.is_some().then_some(now.cycle() + answer);
                if self.due.is_some() {
                    self.marks.push(Mark::now(now, self.core, self.bytes));
                }
            }
            Receiving::Threshold(answer) => {
                if over {
                    self.take_all()?;
                    self.marks.push(Mark::now(now, self.core, self.bytes));
                    let met = self.rx.request_event(&self.threshold)?;
                    self.due = met.then_some(now.cycle() + answer);
                }
                let interrupts = now.counts(self.core).interrupts;
                if self.due.is_none() && interrupts != self.interrupts {
                    self.due = Some(now.cycle() + answer);
                }
                self.interrupts = interrupts;
            }
        }
        Ok(())
    }

    /// The next packet, if it is in memory.
    ///
    /// # Errors
    /// It is not the one that was sent.
    pub fn look(&mut self) -> spfe::Result<bool> {
        let Some(buf) = self.take()? else { return Ok(false) };
        self.rx.post_all(&mut vec![buf]);
        Ok(true)
    }
}

fn check(status: Status, what: &str) -> spfe::Result<()> {
    match status {
        Status::Ok => Ok(()),
        _ => Err(Error::device(status, format!("{what}: {}", status.doc()))),
    }
}
