//! Waiting: scan the completion ring, spin, arm, scan again, sleep.

use super::Queue;
use crate::wait::{Deadline, Ready, Strategy, Threshold, sharpen_timers, sleep_cost};
use crate::{Error, Result};
use spfe_contract::{Completion, QueueKind, Status};
use spfe_host::clock::VirtualClock;
use spfe_host::{Clock, os};
use spfe_ring::Arm;
use std::ops::Range;

/// Result of a scan.
enum Outcome {
    Met(Ready),
    /// The completions are there and due at this time, ns.
    At(u64),
    /// More completions are needed, or time since the first packet, which arrived at `first_ns`.
    NotYet {
        first_ns: Option<u64>,
    },
}

/// Progress of a scan of the completions that are not yet taken.
#[derive(Default)]
struct Scan {
    /// Completions scanned.
    ahead: u32,
    packets: u64,
    bytes: u64,
    /// When the first packet arrived, ns.
    first_ns: Option<u64>,
    /// When the last scanned completion is due, ns.
    last_ns: u64,
    /// How the goal was met, and when the completion that met it is due, ns.
    met: Option<(u64, Ready)>,
}

impl Scan {
    /// Scans the completions that arrived since the last call. Each is scanned once.
    fn look(&mut self, queue: &Queue, goal: &Threshold) -> Outcome {
        while self.met.is_none() {
            let position = queue.cq.position.wrapping_add(self.ahead);
            // No more completions can arrive before the host takes some.
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
            Some((0, ready)) => Outcome::Met(ready),
            Some((at, ready)) => {
                let now = queue.device.backend().clock().now_ns();
                let timed =
                    self.first_ns.zip(after).map(|(first, after)| first.saturating_add(after));
                match timed {
                    _ if at <= now => Outcome::Met(ready),
                    Some(first) if first <= now => Outcome::Met(Ready::AfterFirst),
                    Some(first) if first < at => Outcome::At(first),
                    _ => Outcome::At(at),
                }
            }
            None => self.not_yet(queue, after),
        }
    }

    fn not_yet(&self, queue: &Queue, after: Option<u64>) -> Outcome {
        let Some((first, after)) = self.first_ns.zip(after) else {
            return Outcome::NotYet { first_ns: None };
        };
        if first.saturating_add(after) <= queue.device.backend().clock().now_ns() {
            return Outcome::Met(Ready::AfterFirst);
        }
        Outcome::NotYet { first_ns: Some(first) }
    }

    fn add(&mut self, queue: &Queue, entry: [u64; 2], at: u64, goal: &Threshold) {
        let message = queue.place.kind == QueueKind::MessageRx;
        let done = Completion::from_words(entry);
        let (packets, bytes) =
            if message { (1, 8) } else { (u64::from(done.packets), u64::from(done.bytes)) };
        let sends =
            matches!(queue.place.kind, QueueKind::Tx | QueueKind::MessageTx | QueueKind::Rdma);
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

/// Longest sleep of a sender while the receiver has no room, ns.
const STALL_NS: u64 = 1_000_000;

/// When a wait first saw the oldest completion. A second wait does not restart the time.
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

/// Upper limit of [`Queue::guard_ns`].
const GUARD_MAX_NS: u64 = 200_000;
/// Maximum number of completions inspected to see how long a sender's link stays busy.
const BACKLOG_MAX: u32 = 64;
/// Iterations of the spin loop between two readings of the clock: usually, and while others need
/// this core ([`next_turn`]).
const SPINS: [u32; 2] = [64, 8];
/// Spinning time after which a thread lets others have its core, ns.
pub(super) const TURN_NS: u64 = 2_000;
/// The longest such time, ns: after it a thread notices that the other end has come to its core.
const TURN_MAX_NS: u64 = 1_000_000;
/// How long a yield takes that has let the other end run, ns. A shorter one found nobody, and after
/// a longer one it was a thread that has nothing to do with this one.
const SWITCH_NS: Range<u64> = 1_000..100_000;
/// Attempts to run the engine while another thread holds it.
const ENGINE_TRIES: u32 = 10_000;

/// Spinning time up to the next yield, after one that took so long. The other end may need this
/// core: a thread that goes on spinning makes it wait for the scheduler, which takes milliseconds.
/// While it has another core, yields become rare.
fn next_turn(turn_ns: u64, took_ns: u64) -> u64 {
    if SWITCH_NS.contains(&took_ns) { 0 } else { (2 * turn_ns).clamp(TURN_NS, TURN_MAX_NS) }
}

impl Queue {
    /// Waits for completions and leaves them in the ring, to be polled.
    pub fn wait(&mut self, goal: &Threshold, deadline: Deadline) -> Result<Ready> {
        let mut scan = Scan::default();
        self.progress();
        let look = scan.look(self, goal);
        if let Outcome::Met(ready) = self.unless_ended(look, &mut scan, goal)? {
            return Ok(ready);
        }
        if deadline == Deadline::NOW {
            return Err(Error::TimedOut("no completion is ready"));
        }
        match self.device.backend().clock().clone() {
            Clock::Real => self.wait_real(goal, deadline, scan),
            Clock::Virtual(clock) => self.wait_virtual(goal, deadline, scan, &clock),
        }
    }

    /// Runs the engine, where this thread can. False if this thread must not sleep: another thread
    /// holds the engine, and may have missed what was posted here, or it makes copies whose
    /// completions are not published yet.
    pub fn progress(&mut self) -> bool {
        let Some(runner) = &mut self.runner else { return true };
        if runner.is_owner() {
            return runner.run(u32::MAX).is_some() && !runner.is_pending();
        }
        let stalled = runner.is_stalled();
        let ran = !stalled || runner.run(u32::MAX).is_some();
        runner.help();
        ran
    }

    /// Turns an outcome into an error if the wait was cancelled or the queue has stopped. Submissions
    /// that were pending when the queue stopped have completed and are reported first.
    fn unless_ended(&self, look: Outcome, scan: &mut Scan, goal: &Threshold) -> Result<Outcome> {
        if !matches!(look, Outcome::Met(_))
            && let Some(cancel) = &self.cancel
        {
            cancel.check()?;
        }
        if matches!(look, Outcome::NotYet { .. })
            && let Err(error) = self.check()
        {
            return match scan.look(self, goal) {
                Outcome::NotYet { .. } => Err(error),
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
        let mut turn_over = start + self.turn_ns;
        loop {
            let now = os::now_ns();
            let look = scan.look(self, goal);
            if !matches!(look, Outcome::Met(_)) && deadline.passed(now) {
                return Err(Error::TimedOut("the deadline passed"));
            }
            let (at, first) = match self.unless_ended(look, &mut scan, goal)? {
                Outcome::Met(ready) => return Ok(ready),
                Outcome::At(at) => (Some(at), None),
                Outcome::NotYet { first_ns } => (None, first_ns),
            };
            if let Some(at) = at {
                self.sleep_to(at, deadline, &scan, goal);
            } else if now - start < spin_ns {
                let before = scan.ahead;
                self.spin(&mut scan, goal);
                let now = os::now_ns();
                if scan.ahead != before {
                    turn_over = now + self.turn_ns;
                } else if now >= turn_over {
                    std::thread::yield_now();
                    self.stats.yields += 1;
                    let after = os::now_ns();
                    self.turn_ns = next_turn(self.turn_ns, after - now);
                    turn_over = after + self.turn_ns;
                }
            } else {
                self.sleep(goal, deadline, &mut scan, first, idle_rounds);
                idle_rounds += 1;
            }
        }
    }

    /// Polls for a while without reading the clock.
    #[inline]
    fn spin(&mut self, scan: &mut Scan, goal: &Threshold) {
        for turn in 0..SPINS[usize::from(self.turn_ns == 0)] {
            if self.cq.peek_at(scan.ahead).is_some() {
                if matches!(scan.look(self, goal), Outcome::NotYet { .. }) {
                    continue;
                }
                return;
            }
            if turn.is_multiple_of(8) {
                self.help_stalled();
            }
            std::hint::spin_loop();
        }
        self.progress();
    }

    /// Adjusts the guard to how late a sleep ended: up at once, down slowly, so that few sleeps end
    /// later than the guard. A core wakes up later from a longer sleep, so each queue has its own.
    fn learn(&mut self, guard: u64, late: u64) {
        let next = if late > guard { late } else { guard - (guard - late) / 64 };
        self.guard_ns = next.min(GUARD_MAX_NS);
    }

    /// Waits for a completion that is there and will be due: sleeps most of the time, spins the rest.
    fn sleep_to(&mut self, at: u64, deadline: Deadline, scan: &Scan, goal: &Threshold) {
        let end = deadline.ns().min(at);
        let least = sleep_cost().overshoot_ns;
        let usual = self.guard_ns.max(least);
        let guard = match self.place.kind {
            // Sleep for the whole time, late or not.
            _ if self.strategy == Strategy::Block => 0,
            // A late sender leaves its link idle, unless more packets are under way.
            QueueKind::Tx => usual.saturating_sub(self.backlog(scan, at)),
            // A late receiver finds more packets, which is the purpose of a threshold.
            _ if goal.count != Some(1) => 0,
            _ => least,
        };
        let now = os::now_ns();
        // For a time shorter than a sleep takes, spinning costs less.
        if self.strategy != Strategy::Poll && now + guard.max(least) < end {
            sharpen_timers();
            self.stats.sleeps += 1;
            let asked = end - guard;
            if !self.sleep_until(asked) {
                return;
            }
            self.learn(usual, os::now_ns().saturating_sub(asked));
        } else {
            // Shrink the guard: after one very late wake-up this thread would never sleep again.
            self.guard_ns -= self.guard_ns / 1024;
        }
        while os::now_ns() < end && !self.is_cancelled() {
            std::hint::spin_loop();
        }
    }

    /// How long after `at` a sender's link stays busy with packets posted later, ns.
    fn backlog(&self, scan: &Scan, at: u64) -> u64 {
        let more = (scan.ahead..scan.ahead + BACKLOG_MAX).map_while(|ahead| {
            let entry = self.cq.peek_at(ahead)?;
            Some(self.not_before(entry, self.cq.position.wrapping_add(ahead)))
        });
        more.max().unwrap_or(0).saturating_sub(at)
    }

    /// Sleeps until a time. False if it woke up earlier: another thread may have cancelled the wait.
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
        // No packet arrived during a whole period: sleep until one does, then measure from there.
        let deep = after.is_some() && first.is_none() && idle_rounds > 0;
        let until = match (first, after) {
            (Some(first), Some(after)) => Some(first.saturating_add(after)),
            (None, Some(after)) if !deep => Some(os::now_ns().saturating_add(after)),
            _ => None,
        };
        // A stalled sender polls from time to time, because receivers do not always run the engine
        // for it (see `Queue::offer_buffers`).
        let sender = self.runner.as_ref().filter(|runner| runner.is_owner());
        let stalled = sender.is_some_and(|tx| tx.is_stalled());
        let again = stalled.then(|| os::now_ns() + STALL_NS);
        self.offset_ns = self.device.backend().offset_ns();
        let seen = self.device.backend().seen(self.vector(), self.device_line());
        self.arm(goal, scan.ahead, deep, false);
        let ran = self.progress();
        let until =
            until.into_iter().chain(deadline.time_ns()).chain(again).chain(self.engine_due()).min();
        let waits = matches!(scan.look(self, goal), Outcome::NotYet { .. });
        if ran && waits && self.check().is_ok() && !self.is_cancelled() {
            sharpen_timers();
            self.stats.sleeps += 1;
            self.device.backend().sleep(self.vector(), self.device_line(), seen, until);
        }
        self.host_line().disarm();
        // The interrupt, with or without a sleep, has also signalled the descriptor.
        if let Some(event) = &self.event
            && self.device.backend().interrupts()
        {
            event.clear();
        }
    }

    /// Number of completions after which no more can arrive until the host takes some.
    fn most_pending(&self) -> u32 {
        match self.place.kind {
            // Each posted buffer gets one completion.
            QueueKind::Rx | QueueKind::RdmaRx => self.sq.position.wrapping_sub(self.cq.position),
            _ => self.cq.ring.size(),
        }
    }

    /// Whether a packet waits for room in the packed area, `position` being the next completion.
    fn is_full(&self, position: u32) -> bool {
        self.place.kind == QueueKind::RxPacked
            && self.device_line().is_full(position, self.sq.position)
    }

    /// Arms the device to wake this thread when the goal is met. `ahead` completions have been
    /// scanned and must not end the sleep: virtual time would never advance, and in real time the
    /// thread would not sleep at all. `first` asks for the next completion, whatever the goal.
    fn arm(&mut self, goal: &Threshold, ahead: u32, first: bool, event: bool) {
        let position = self.cq.position;
        // A completion of packed receive covers several packets, so counts cannot be compared.
        let exact = self.place.kind != QueueKind::RxPacked;
        let count = match goal.count {
            _ if first => Some(ahead + 1),
            Some(count) if exact => Some(count),
            Some(_) => Some(ahead + 1),
            None => None,
        };
        let count = match self.place.kind {
            // No more completions arrive than there are buffers.
            QueueKind::Rx | QueueKind::RdmaRx => {
                Some(count.unwrap_or(u32::MAX).min(self.most_pending().max(1)))
            }
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
        let timed = self.runner.is_none() && arm.after_first_ns.is_some();
        if timed && self.device_line().needs_doorbell() {
            // A sleeping device must learn about the time condition.
            self.device.backend().ring();
        }
    }

    /// Arms the event descriptor: the device signals it when the goal is met. True if the goal is
    /// already met; then the descriptor stays silent, unless the goal was met during this call.
    pub fn request_event(&mut self, goal: &Threshold) -> Result<bool> {
        self.event()?;
        let Some(event) = self.event.clone() else { return Ok(false) };
        let mut scan = Scan::default();
        event.forget();
        if self.device.backend().interrupts() {
            // Earlier sleeps used the same event and may have left it readable.
            event.clear();
        }
        // Where the sender's thread is the engine, no device keeps time for a sleeping receiver. The
        // first packet signals the descriptor, and the caller asks again.
        let inline = self.device.engine(self.place.port).is_some();
        match scan.look(self, goal) {
            Outcome::Met(_) => {
                // Disarm: a device that looks just now would signal the descriptor.
                self.host_line().disarm();
                return Ok(true);
            }
            Outcome::At(_) => {}
            Outcome::NotYet { .. } => {
                self.arm(goal, scan.ahead, inline && goal.after_first.is_some(), true)
            }
        }
        let mut turns = 0;
        while !self.progress() {
            turns += 1;
            if turns > ENGINE_TRIES {
                // The thread that holds the engine may miss what was posted here: signal, so that
                // the caller asks again.
                event.signal();
                break;
            }
            std::thread::yield_now();
        }
        let due = match scan.look(self, goal) {
            Outcome::Met(_) => {
                self.host_line().disarm();
                return Ok(true);
            }
            Outcome::At(at) => Some(at),
            Outcome::NotYet { first_ns } => first_ns
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
            if let Outcome::NotYet { first_ns } = look {
                let first = goal.after_first.is_some() && first_ns.is_none();
                self.arm(goal, scan.ahead, first, false);
                self.progress();
                look = scan.look(self, goal);
            }
            let until = match self.unless_ended(look, &mut scan, goal)? {
                Outcome::Met(ready) => return Ok(ready),
                Outcome::At(at) => Some(at),
                Outcome::NotYet { first_ns } => {
                    let after = goal.after_first.map(os::ns);
                    first_ns.zip(after).map(|(first, after)| first.saturating_add(after))
                }
            };
            if deadline.passed(self.device.backend().clock().now_ns()) {
                return Err(Error::TimedOut("the deadline passed in virtual time"));
            }
            let until = until.into_iter().chain(deadline.time_ns()).chain(self.engine_due()).min();
            if !clock.wait(ticket, until) {
                return Err(Error::TimedOut(
                    "every participant waits without a deadline, so virtual time cannot advance",
                ));
            }
        }
    }

    /// When the engine in this thread has more to do, ns: the next packet of an instrument.
    fn engine_due(&self) -> Option<u64> {
        self.runner.as_ref().filter(|runner| runner.is_owner())?.due_ns()
    }
}

#[cfg(all(test, feature = "virtual"))]
mod tests;
