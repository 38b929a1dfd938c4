//! Services of a process for the engine: time, wake-ups, and which participants are dead.

use super::View;
use spfe_device::queue::Host;
use spfe_device::shared::QueueConfig;
use spfe_host::{Clock, os};
use spfe_ring::AtomicDeviceLine;

/// Number of threads of a host that one wake-up ends the sleep of. A queue has one; a host with
/// thousands would keep the device busy.
const SLEEPERS_MAX: u32 = 4;

/// A view as the engine's [`Host`].
pub struct ViewHost<'a>(pub &'a View);

impl Host for ViewHost<'_> {
    #[inline]
    fn now_ns(&mut self) -> u64 {
        self.0.clock.now_ns()
    }

    #[cold]
    fn wake(&mut self, line: &AtomicDeviceLine, queue: &QueueConfig, event: bool) {
        os::futex_wake(&line.wake_seq, SLEEPERS_MAX);
        if event {
            self.0.signal(queue.owner, queue.vector);
        }
        if let Clock::Virtual(clock) = &self.0.clock {
            clock.poke();
        }
    }

    fn is_dead(&mut self, participant: u32) -> bool {
        self.0.arena.is_dead(participant)
    }
}
