//! Connects the TAP device and the endpoint by a line, and runs both.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use spfe_tap::TapDevice;

use super::capture::LineCapture;
use super::device;
use super::proxy::{Connect, Proxy, Serve};
use crate::drill::endpoint::{Endpoint, Settings, View};
use crate::peer::again::{DirectionCounters, LineCounters};
use crate::peer::channel::{Channel, Impair};

/// Maximum number of frames that wait for the endpoint. Further frames stay in the kernel.
const QUEUE: usize = 64;
/// Number of frames given to the endpoint before its output is read.
const BATCH: usize = 8;
/// Length of a tick in ms. For each tick the core visits all sessions, so with shorter ticks the
/// simulation would be slower than real time even when idle.
pub const TICK: u64 = 5;
/// Number of ticks that the endpoint may be late before its time stops.
const BEHIND: u64 = 4;
/// Number of frames per tick while more frames wait. The kernel may hold a thousand frames. Without
/// this limit they would take longer through a slow simulation than a time-out.
const PER_TICK: usize = 32;

/// A request to the bridge.
#[derive(Debug)]
pub enum Ask {
    /// Changes the impairments to and from the endpoint. The last value is their seed.
    Impair(Impair, Impair, u64),
    /// Stalls the users of the endpoint, or lets them read again.
    Stall(bool),
    /// Requests the sessions in use.
    Busy(Sender<Busy>),
    /// Requests a counter of the endpoint, as it has grown since the last report.
    Counter(&'static str, Sender<Counted>),
    /// Requests everything counted since the last report. Captures start anew.
    Report(Sender<Report>),
    /// Ends the bridge.
    Stop,
}

/// The sessions in use.
#[derive(Clone, Debug, Default)]
pub struct Busy {
    /// Number of ticks that the endpoint has run.
    pub ticks: u64,
    /// Sessions with their state.
    pub sessions: Vec<(u16, View)>,
}

/// A counter of the endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Number of ticks that the endpoint has run.
    pub ticks: u64,
    /// Increments since the last report, or `None` if the endpoint does not have the counter.
    pub count: Option<u32>,
}

/// Everything counted since the last report.
#[derive(Debug, Default)]
pub struct Report {
    /// Frames from the endpoint.
    pub out: DirectionCounters,
    /// Frames to the endpoint.
    pub inward: DirectionCounters,
    /// Number of frames that the line lost or changed.
    pub hits: u64,
    /// Number of frames that the endpoint sent with an invalid FCS.
    pub spoilt: u64,
    /// Time in ms for which the endpoint's time stopped.
    pub still: u64,
    /// Number of sessions that did not end by a close on both sides.
    pub broken: u64,
    /// Number of malformed frames from the endpoint, and the first one.
    pub malformed: (u64, String),
    /// Increments of the endpoint's counters.
    pub counters: Vec<(&'static str, u32)>,
    /// Captures at the peer's end of the line and at the endpoint's.
    pub captures: [LineCapture; 2],
}

impl Report {
    /// A counter of the endpoint, or `None` if the endpoint does not have it.
    #[must_use]
    pub fn counter(&self, name: &str) -> Option<u32> {
        value(&self.counters, name)
    }
}

/// The value of a counter.
fn value(counters: &[(&'static str, u32)], name: &str) -> Option<u32> {
    counters.iter().find(|(n, _)| *n == name).map(|(_, value)| *value)
}

/// Settings of the endpoint behind the bridge.
#[must_use]
pub fn settings() -> Settings {
    let ms = |time: u16| time / TICK as u16;
    Settings {
        ip: super::OUR_IP,
        mac: [2, 0, 0, 0, 0, 1],
        gateway: super::PEER_IP,
        // Longer than the delay of an acknowledgement by Linux.
        rto_min: ms(300),
        rto_init: ms(1000),
        rto_max: ms(4000),
        delack: ms(40),
        syn_tries: 8,
        data_tries: 12,
        // Short, so that sessions become free soon even when time stops.
        time_wait: ms(10),
        persist_max: ms(1000),
        arp_retry: ms(200),
        arp_tries: 20,
        ..Settings::default()
    }
}

/// Connects the TAP device and the endpoint.
pub struct Bridge {
    ep: Box<dyn Endpoint>,
    tap: TapDevice,
    proxy: Proxy,
    start: Instant,
    /// Number of ticks of real time, including those that the endpoint missed.
    ticked: u64,
    /// Number of ticks that the endpoint has run.
    ticks: u64,
    queue: VecDeque<(Vec<u8>, bool)>,
    /// Number of frames given to the endpoint since the last tick.
    taken: usize,
    to_ep: Channel,
    to_tap: Channel,
    line: LineCounters,
    report: Report,
    before: Vec<(&'static str, u32)>,
}

impl Bridge {
    /// Sets up the endpoint and its listening sessions.
    ///
    /// # Errors
    /// There are too few sessions, or a port is in use.
    pub fn new(
        mut ep: Box<dyn Endpoint>,
        tap: TapDevice,
        serve: &[Serve],
        connect: &[Connect],
    ) -> Result<Self, String> {
        ep.restart(&settings());
        let proxy = Proxy::new(ep.as_mut(), serve, connect)?;
        let before = ep.counters();
        Ok(Self {
            ep,
            tap,
            proxy,
            start: Instant::now(),
            ticked: 0,
            ticks: 0,
            queue: VecDeque::new(),
            taken: 0,
            to_ep: Channel::new(Impair::default(), 0),
            to_tap: Channel::new(Impair::default(), 0),
            line: LineCounters::default(),
            report: Report::default(),
            before,
        })
    }

    /// Runs until it is asked to stop, or all senders of requests are dropped.
    ///
    /// # Errors
    /// The TAP device was removed.
    pub fn run(&mut self, asks: &Receiver<Ask>) -> Result<(), String> {
        loop {
            loop {
                match asks.try_recv() {
                    Ok(Ask::Stop) | Err(TryRecvError::Disconnected) => return Ok(()),
                    Ok(ask) => self.answer(ask),
                    Err(TryRecvError::Empty) => break,
                }
            }
            if !self.turn()? {
                self.wait();
            }
        }
    }

    fn answer(&mut self, ask: Ask) {
        match ask {
            Ask::Impair(to_ep, to_tap, seed) => {
                self.report.hits += self.to_ep.hits + self.to_tap.hits;
                self.to_ep = Channel::new(to_ep, seed ^ 0x1111);
                self.to_tap = Channel::new(to_tap, seed ^ 0x2222);
            }
            Ask::Stall(stalled) => self.proxy.stalled = stalled,
            // The requester may have ended.
            Ask::Busy(sender) => {
                let busy = self.proxy.busy().into_iter();
                let sessions = busy.map(|sid| (sid, self.ep.view(sid))).collect();
                let _ = sender.send(Busy { ticks: self.ticks, sessions });
            }
            Ask::Counter(name, sender) => {
                let now = value(&self.ep.counters(), name);
                let before = value(&self.before, name);
                let count = now.zip(before).map(|(now, before)| now.wrapping_sub(before));
                let _ = sender.send(Counted { ticks: self.ticks, count });
            }
            Ask::Report(sender) => {
                let _ = sender.send(self.report());
            }
            Ask::Stop => {}
        }
    }

    fn report(&mut self) -> Report {
        let mut report = std::mem::take(&mut self.report);
        report.out = std::mem::take(&mut self.line.out);
        report.inward = std::mem::take(&mut self.line.inward);
        report.hits += std::mem::take(&mut self.to_ep.hits) + std::mem::take(&mut self.to_tap.hits);
        report.broken = std::mem::take(&mut self.proxy.broken);
        let now = self.ep.counters();
        let pairs = now.iter().zip(&self.before);
        report.counters =
            pairs.map(|((n, now), (_, then))| (*n, now.wrapping_sub(*then))).collect();
        self.before = now;
        report
    }

    /// Does all pending work. Returns whether there was any.
    fn turn(&mut self) -> Result<bool, String> {
        let now = self.start.elapsed();
        let ms = now.as_millis() as u64;
        let mut moved = self.read_tap(now, ms)?;
        for (bytes, bad_fcs) in self.queue.drain(..self.queue.len().min(BATCH)) {
            self.report.captures[1].add(now, &bytes, false, bad_fcs);
            self.ep.inject(&bytes, bad_fcs);
            self.taken += 1;
            moved = true;
        }
        moved |= self.tick(ms);
        self.ep.run_idle();
        let events = self.ep.events();
        moved |= !events.is_empty();
        for delivery in self.ep.delivered() {
            self.proxy.delivered(&delivery);
            moved = true;
        }
        for event in &events {
            self.proxy.event(self.ep.as_mut(), event);
        }
        if moved {
            self.proxy.moved();
        }
        moved |= self.proxy.work(self.ep.as_mut());
        if self.ep.backlog() != 0 {
            self.ep.run_idle();
        }
        Ok(self.write_tap(now, ms)? || moved)
    }

    fn read_tap(&mut self, now: Duration, ms: u64) -> Result<bool, String> {
        let mut moved = false;
        while self.queue.len() < QUEUE {
            let Some(bytes) = device::receive(&self.tap)? else { break };
            moved = true;
            self.report.captures[0].add(now, &bytes, false, false);
            // Linux may send frames that the parser does not know.
            let control = self.line.count(&bytes, false).unwrap_or(false);
            self.to_ep.push(ms, &bytes, control);
            self.queue.extend(self.to_ep.pop(ms));
        }
        self.queue.extend(self.to_ep.pop(ms));
        Ok(moved)
    }

    fn tick(&mut self, ms: u64) -> bool {
        let now = ms / TICK;
        if now <= self.ticked || (!self.queue.is_empty() && self.taken < PER_TICK) {
            return false;
        }
        self.taken = 0;
        if now - self.ticked > BEHIND {
            self.report.still += (now - 1 - self.ticked) * TICK;
            self.ticked = now - 1;
        }
        self.ticked += 1;
        self.ticks += 1;
        self.ep.advance_ticks(1);
        // A tick alone is no reason not to wait.
        false
    }

    fn write_tap(&mut self, now: Duration, ms: u64) -> Result<bool, String> {
        for frame in self.ep.frames() {
            self.report.captures[1].add(now, &frame.bytes, true, frame.poisoned);
            if frame.poisoned {
                self.report.spoilt += 1;
                continue;
            }
            let control = self.line.count(&frame.bytes, true).unwrap_or_else(|e| {
                let (count, first) = &mut self.report.malformed;
                if *count == 0 {
                    *first = format!("{e}: {:02x?}", frame.bytes);
                }
                *count += 1;
                false
            });
            self.to_tap.push(ms, &frame.bytes, control);
        }
        let frames = self.to_tap.pop(ms);
        for (bytes, bad_fcs) in &frames {
            if !bad_fcs {
                self.report.captures[0].add(now, bytes, true, false);
                device::send(&self.tap, bytes)?;
            }
        }
        Ok(!frames.is_empty())
    }

    /// Waits for input or the next tick.
    fn wait(&self) {
        let mut wants = Vec::new();
        if self.queue.len() < QUEUE {
            wants.push(PollFd::from_borrowed_fd(self.tap.fd(), PollFlags::IN));
        }
        self.proxy.wants(&mut wants);
        let now = self.start.elapsed();
        let next = Duration::from_millis((self.ticked + 1) * TICK);
        let mut left = next.saturating_sub(now);
        // Delayed frames arrive with a resolution of a millisecond.
        if !(self.to_ep.is_empty() && self.to_tap.is_empty()) {
            left = left.min(Duration::from_millis(1));
        }
        let time = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
        // The result does not matter, because the next turn checks everything.
        let _ = poll(&mut wants, Some(&time));
    }
}
