//! Waiting: look, spin for as long as sleeping would cost, arm, look again, sleep.

use super::Queue;
use crate::wait::{Deadline, Ready, Strategy, Threshold, sharpen_timers, sleep_cost};
use crate::{Error, Result};
use spfe_contract::{Completion, QueueKind, Status};
use spfe_host::clock::VirtualClock;
use spfe_host::{Clock, os};
use spfe_ring::Arm;

/// What a look at the completion ring has found.
enum Look {
    Met(Ready),
    /// It will be met then: nothing has to happen any more.
    At(u64),
    /// Not before something happens, or at the time after the first.
    NotYet {
        first_ns: Option<u64>,
    },
}

/// How far ahead the completion ring has been looked at.
#[derive(Default)]
struct Scan {
    ahead: u32,
    packets: u64,
    bytes: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    met: Option<(u64, Ready)>,
}

impl Scan {
    /// Looks at what has come since the last look. Each completion is looked at once.
    fn look(&mut self, queue: &Queue, goal: &Threshold) -> Look {
        while self.met.is_none() {
            let position = queue.cq.position.wrapping_add(self.ahead);
            // Nothing more can come before the host takes some of what is there.
            if self.ahead != 0 && self.ahead >= queue.most_pending() {
                self.met = Some((self.last_ns, Ready::Threshold));
                break;
            }
            let Some(entry) = queue.cq.peek_at(self.ahead) else {
                if self.ahead != 0 && queue.is_full(position) {
                    self.met = Some((self.last_ns, Ready::Threshold));
                }
                break;
            };
            let at = queue.not_before(entry, position);
            self.ahead += 1;
            self.last_ns = at;
            self.add(queue, entry, at, goal);
        }
        let after = goal.after_first.map(os::ns);
        match self.met {
            Some((0, ready)) => Look::Met(ready),
            Some((at, ready)) => {
                let now = queue.device.backend().clock().now_ns();
                let timed = self.first_ns.zip(after).map(|(first, after)| first + after);
                match timed {
                    _ if at <= now => Look::Met(ready),
                    Some(first) if first <= now => Look::Met(Ready::AfterFirst),
                    Some(first) if first < at => Look::At(first),
                    _ => Look::At(at),
                }
            }
            None => self.not_yet(queue, after),
        }
    }

    fn not_yet(&self, queue: &Queue, after: Option<u64>) -> Look {
        let Some((first, after)) = self.first_ns.zip(after) else {
            return Look::NotYet { first_ns: None };
        };
        if first.saturating_add(after) <= queue.device.backend().clock().now_ns() {
            return Look::Met(Ready::AfterFirst);
        }
        Look::NotYet { first_ns: Some(first) }
    }

    fn add(&mut self, queue: &Queue, entry: [u64; 2], at: u64, goal: &Threshold) {
        let message = queue.place.kind == QueueKind::MessageRx;
        let done = Completion::from_words(entry);
        let (packets, bytes) =
            if message { (1, 8) } else { (u64::from(done.packets), u64::from(done.bytes)) };
        let sends = matches!(queue.place.kind, QueueKind::Tx | QueueKind::MessageTx);
        self.packets += if sends { 1 } else { packets };
        self.bytes += bytes;
        if self.first_ns.is_none() && goal.after_first.is_some() {
            self.first_ns = Some(if at != 0 { at } else { first_seen(queue) });
        }
        let enough = goal.count.is_some_and(|count| self.packets >= u64::from(count))
            || goal.bytes.is_some_and(|want| self.bytes >= want);
        if !message && done.status != Status::Ok.raw() {
            self.met = Some((at, Ready::Attention));
        } else if enough {
            self.met = Some((at, Ready::Threshold));
        }
    }
}

/// How long a sender sleeps at most while the receiver has no room, ns.
const STALL_NS: u64 = 1_000_000;
/// When the first completion not taken was seen first: waiting again does not start its time again.
fn first_seen(queue: &Queue) -> u64 {
    let position = queue.cq.position;
    match queue.first_seen.get() {
        Some((seen, ns)) if seen == position => ns,
        _ => {
            let now = queue.device.backend().clock().now_ns();
            queue.first_seen.set(Some((position, now)));
            now
        }
    }
}

/// Most a sleep is cut short to wake in time, ns.
const GUARD_MOST_NS: u64 = 200_000;
/// Most completions that are looked at to see how long a sender's link stays busy.
const BACKLOG_LOOKS: u32 = 64;
/// Turns of the spin loop between looks at the clock and at rarer matters.
const TURNS: u32 = 64;
/// Times to try again while somebody else holds the engine.
const BUSY_TURNS: u32 = 10_000;

impl Queue {
    /// Waits for completions. Takes nothing: polling afterwards finds what was waited for.
    pub fn wait(&mut self, goal: &Threshold, deadline: Deadline) -> Result<Ready> {
        let mut scan = Scan::default();
        self.progress();
        let look = scan.look(self, goal);
        if let Look::Met(ready) = self.unless_ended(look, &mut scan, goal)? {
            return Ok(ready);
        }
        if deadline == Deadline::NOW {
            return Err(Error::TimedOut("nothing to report now"));
        }
        match self.device.backend().clock().clone() {
            Clock::Real => self.wait_real(goal, deadline, scan),
            Clock::Virtual(clock) => self.wait_virtual(goal, deadline, scan, &clock),
        }
    }

    /// Moves what this thread is able to move. False if somebody else holds the engine at the
    /// moment: what was posted here may have come too late for them.
    pub fn progress(&mut self) -> bool {
        let Some(runner) = &mut self.runner else { return true };
        if runner.is_owner() {
            return runner.run(u32::MAX).is_some();
        }
        let stalled = runner.is_stalled();
        let ran = !stalled || runner.run(u32::MAX).is_some();
        runner.help();
        ran
    }

    /// Why the wait ends, if so: it was cancelled, or nothing more will come and nothing has come.
    /// What was pending when the queue stopped was completed before, and is reported first.
    fn unless_ended(&self, look: Look, scan: &mut Scan, goal: &Threshold) -> Result<Look> {
        if !matches!(look, Look::Met(_))
            && let Some(cancel) = &self.cancel
        {
            cancel.check()?;
        }
        if matches!(look, Look::NotYet { .. })
            && let Err(error) = self.check()
        {
            return match scan.look(self, goal) {
                Look::NotYet { .. } => Err(error),
                look => Ok(look),
            };
        }
        Ok(look)
    }

    fn wait_real(&mut self, goal: &Threshold, deadline: Deadline, mut scan: Scan) -> Result<Ready> {
        let start = os::now_ns();
        let spin_ns = match self.strategy {
            Strategy::Poll => u64::MAX,
            Strategy::Block => 0,
            Strategy::Adaptive => sleep_cost().spin_ns,
        };
        let mut idle_rounds = 0u32;
        loop {
            let now = os::now_ns();
            let look = scan.look(self, goal);
            if !matches!(look, Look::Met(_)) && deadline.passed(now) {
                return Err(Error::TimedOut("the deadline passed"));
            }
            let (at, first) = match self.unless_ended(look, &mut scan, goal)? {
                Look::Met(ready) => return Ok(ready),
                Look::At(at) => (Some(at), None),
                Look::NotYet { first_ns } => (None, first_ns),
            };
            if let Some(at) = at {
                self.sleep_to(at, deadline, &scan, goal);
            } else if now - start < spin_ns {
                self.spin(&mut scan, goal);
                if now - start > 1_000_000 {
                    std::thread::yield_now();
                }
            } else {
                self.sleep(goal, deadline, &mut scan, first, idle_rounds);
                idle_rounds += 1;
            }
        }
    }

    /// Some turns of looking, without the clock.
    #[inline]
    fn spin(&mut self, scan: &mut Scan, goal: &Threshold) {
        for turn in 0..TURNS {
            if self.cq.peek_at(scan.ahead).is_some() {
                if matches!(scan.look(self, goal), Look::NotYet { .. }) {
                    continue;
                }
                return;
            }
            if turn.is_multiple_of(8) {
                self.progress_stalled();
            }
            std::hint::spin_loop();
        }
        self.progress();
    }

    /// Follows how late sleeps really end: quickly up, slowly down, so that few are later
    /// than the guard. A processor that sleeps longer wakes later, so this is per queue.
    fn learn(&mut self, guard: u64, late: u64) {
        let next = if late > guard { late } else { guard - (guard - late) / 64 };
        self.guard_ns = next.min(GUARD_MOST_NS);
    }

    /// The completion is there and will be due: sleep most of the way, spin the rest.
    fn sleep_to(&mut self, at: u64, deadline: Deadline, scan: &Scan, goal: &Threshold) {
        let end = deadline.ns().min(at);
        let least = sleep_cost().overshoot_ns;
        let usual = self.guard_ns.max(least);
        let guard = match self.place.kind {
            // One that wakes late leaves the link idle, unless there is more under way.
            QueueKind::Tx => usual.saturating_sub(self.backlog(scan, at)),
            // One that wakes late finds more, which is what a threshold is for.
            _ if self.strategy == Strategy::Block || goal.count != Some(1) => 0,
            _ => least,
        };
        let now = os::now_ns();
        if self.strategy != Strategy::Poll && now + guard.max(least) < end {
            sharpen_timers();
            self.stats.sleeps += 1;
            let asked = end - guard;
            if !self.sleep_until(asked) {
                return;
            }
            self.learn(usual, os::now_ns().saturating_sub(asked));
        } else {
            // One that was very late once would keep this thread from sleeping for ever.
            self.guard_ns -= self.guard_ns / 1024;
        }
        while os::now_ns() < end && !self.is_cancelled() {
            std::hint::spin_loop();
        }
    }

    /// For how long after `at` the link of a sender stays busy with what was posted after that, ns.
    fn backlog(&self, scan: &Scan, at: u64) -> u64 {
        let more = (scan.ahead..scan.ahead + BACKLOG_LOOKS).map_while(|ahead| {
            let entry = self.cq.peek_at(ahead)?;
            Some(self.not_before(entry, self.cq.position.wrapping_add(ahead)))
        });
        more.max().unwrap_or(0).saturating_sub(at)
    }

    /// Sleeps until a time. False if it is not that late yet: somebody may have cancelled the wait.
    fn sleep_until(&self, at_ns: u64) -> bool {
        if self.cancel.is_none() {
            os::sleep_until(at_ns);
            return true;
        }
        let backend = self.device.backend();
        let seen = backend.seen(self.vector(), self.device_line());
        if self.is_cancelled() {
            return false;
        }
        backend.sleep(self.vector(), self.device_line(), seen, Some(at_ns));
        os::now_ns() >= at_ns
    }

    fn sleep(
        &mut self,
        goal: &Threshold,
        deadline: Deadline,
        scan: &mut Scan,
        first: Option<u64>,
        idle_rounds: u32,
    ) {
        let after = goal.after_first.map(os::ns);
        // Nothing has come in a whole period: sleep until the first one, whose time then counts.
        let deep = after.is_some() && first.is_none() && idle_rounds > 0;
        let until = match (first, after) {
            (Some(first), Some(after)) => Some(first.saturating_add(after)),
            (None, Some(after)) if !deep => Some(os::now_ns().saturating_add(after)),
            _ => None,
        };
        // A sender without room looks again by itself now and then (see `Queue::posted_room`).
        let sender = self.runner.as_ref().filter(|runner| runner.is_owner());
        let stalled = sender.is_some_and(|tx| tx.is_stalled());
        let again = stalled.then(|| os::now_ns() + STALL_NS);
        self.offset_ns = self.device.backend().offset_ns();
        let seen = self.device.backend().seen(self.vector(), self.device_line());
        self.arm(goal, scan.ahead, deep, false);
        let ran = self.progress();
        let until =
            until.into_iter().chain(deadline.time_ns()).chain(again).chain(self.engine_due()).min();
        let waits = matches!(scan.look(self, goal), Look::NotYet { .. });
        if ran && waits && self.check().is_ok() && !self.is_cancelled() {
            sharpen_timers();
            self.stats.sleeps += 1;
            self.device.backend().sleep(self.vector(), self.device_line(), seen, until);
            // What ends a sleep there signals the descriptor too, which nobody has asked for.
            if let Some(event) = &self.event
                && self.device.backend().interrupts()
            {
                event.clear();
            }
        }
        self.host_line().disarm();
    }

    /// Completions after which nothing more can come until the host has taken some.
    fn most_pending(&self) -> u32 {
        match self.place.kind {
            // One for each posted buffer.
            QueueKind::Rx => self.sq.position.wrapping_sub(self.cq.position),
            _ => self.cq.ring.size(),
        }
    }

    /// Whether a packet waits for room while `position` is the next completion to come.
    fn is_full(&self, position: u32) -> bool {
        self.place.kind == QueueKind::RxPacked
            && self.device_line().is_full(position, self.sq.position)
    }

    /// Arms the device for a goal, of which `ahead` completions have been looked at; `first` asks
    /// for the very next completion. One that was looked at must not end the sleep: virtual time
    /// would stand still for ever, and in real time there would be no sleep.
    fn arm(&mut self, goal: &Threshold, ahead: u32, first: bool, event: bool) {
        let position = self.cq.position;
        // Packed receive reports runs of packets, so a count of packets is not one of completions.
        let exact = self.place.kind != QueueKind::RxPacked;
        let count = match goal.count {
            _ if first => Some(ahead + 1),
            Some(count) if exact => Some(count),
            Some(_) => Some(ahead + 1),
            None => None,
        };
        let count = match self.place.kind {
            // Without buffers nothing more comes, whatever is waited for.
            QueueKind::Rx => Some(count.unwrap_or(u32::MAX).min(self.most_pending().max(1))),
            _ => count,
        };
        let arm = Arm {
            count: count.map(|count| position.wrapping_add(count)),
            bytes: goal.bytes.map(|bytes| self.taken_bytes.wrapping_add(bytes)),
            after_first_ns: if event { goal.after_first.map(os::ns) } else { None },
            first_position: position,
            event: event || self.device.backend().interrupts(),
        };
        self.arm_sequence = self.arm_sequence.wrapping_add(2) | 1;
        let backend = self.device.backend();
        self.host_line().arm(self.arm_sequence, &arm, || backend.heavy_barrier());
        if self.runner.is_none() && self.device_line().needs_doorbell() && event {
            // A sleeping device has to take note of the time condition.
            self.device.backend().ring();
        }
    }

    /// Asks for the event descriptor to be signalled when the goal is met. True if it already is:
    /// then nothing will be signalled, unless it was met while this was asking.
    pub fn request_event(&mut self, goal: &Threshold) -> Result<bool> {
        self.event()?;
        let Some(event) = self.event.clone() else { return Ok(false) };
        let mut scan = Scan::default();
        event.forget();
        if self.device.backend().interrupts() {
            // Sleeps were ended by the same event.
            event.clear();
        }
        // With the engine in the sender's hands nobody keeps time for a sleeping receiver: the
        // first packet signals, and the caller asks again.
        let inline = self.device.engine(self.place.port).is_some();
        match scan.look(self, goal) {
            Look::Met(_) => {
                // Never armed for what is there: a device that looks just then would signal it.
                self.host_line().disarm();
                return Ok(true);
            }
            Look::At(_) => {}
            Look::NotYet { .. } => {
                self.arm(goal, scan.ahead, inline && goal.after_first.is_some(), true)
            }
        }
        let mut turns = 0;
        while !self.progress() {
            turns += 1;
            if turns > BUSY_TURNS {
                // Whoever holds the engine may miss what was posted here: the caller asks again.
                event.signal();
                break;
            }
            std::thread::yield_now();
        }
        let due = match scan.look(self, goal) {
            Look::Met(_) => {
                self.host_line().disarm();
                return Ok(true);
            }
            Look::At(at) => Some(at),
            Look::NotYet { first_ns } => first_ns
                .zip(goal.after_first)
                .map(|(first, after)| first.saturating_add(os::ns(after)))
                .into_iter()
                .chain(self.engine_due())
                .min(),
        };
        if let (Some(due), Clock::Real) = (due, self.device.backend().clock()) {
            event.signal_at(due).map_err(|e| Error::io("timer thread", e))?;
        }
        Ok(false)
    }

    fn wait_virtual(
        &mut self,
        goal: &Threshold,
        deadline: Deadline,
        scan: Scan,
        clock: &VirtualClock,
    ) -> Result<Ready> {
        let result = self.wait_armed(goal, deadline, scan, clock);
        self.host_line().disarm();
        result
    }

    fn wait_armed(
        &mut self,
        goal: &Threshold,
        deadline: Deadline,
        mut scan: Scan,
        clock: &VirtualClock,
    ) -> Result<Ready> {
        loop {
            let ticket = clock.ticket();
            self.progress();
            let mut look = scan.look(self, goal);
            if let Look::NotYet { first_ns } = look {
                let first = goal.after_first.is_some() && first_ns.is_none();
                self.arm(goal, scan.ahead, first, false);
                self.progress();
                look = scan.look(self, goal);
            }
            let until = match self.unless_ended(look, &mut scan, goal)? {
                Look::Met(ready) => return Ok(ready),
                Look::At(at) => Some(at),
                Look::NotYet { first_ns } => {
                    first_ns.zip(goal.after_first).map(|(first, after)| first + os::ns(after))
                }
            };
            if deadline.passed(self.device.backend().clock().now_ns()) {
                return Err(Error::TimedOut("the deadline passed in virtual time"));
            }
            let until = until.into_iter().chain(deadline.time_ns()).chain(self.engine_due()).min();
            if !clock.wait(ticket, until) {
                return Err(Error::TimedOut("everybody waits for ever: virtual time stands still"));
            }
        }
    }

    /// When the engine this thread runs could do more (an instrument's next packet).
    fn engine_due(&self) -> Option<u64> {
        self.runner.as_ref().filter(|runner| runner.is_owner())?.due_ns()
    }
}
