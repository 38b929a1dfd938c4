//! Rates of ports. A transfer books its time on the port; the next one waits until the port is free.

use crate::wire::PortRate;
use std::sync::atomic::{AtomicU64, Ordering};

/// Idle time that a port makes up for, ns: what a sleeping process wakes up late.
const SLACK_NS: u64 = 200_000;
/// Later bookings are mistakes: nobody waits longer than this, ns.
const WAIT_MAX_NS: u64 = 1_000_000_000;

/// When a port that is free again at `free` ns takes the next transfer; `now` if at once.
pub fn due_ns(free: u64, now: u64) -> u64 {
    if free > now.saturating_add(WAIT_MAX_NS) { now } else { free.max(now) }
}

/// Books bytes on a port. `free` holds the time at which it is free again.
pub fn book(free: &AtomicU64, now: u64, bytes: u64, bytes_per_s: u64) {
    let time = (u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_s.max(1))) as u64;
    let next = |free: u64| {
        let wrong = free > now.saturating_add(2 * WAIT_MAX_NS);
        let from = if wrong { now } else { free.max(now.saturating_sub(SLACK_NS)) };
        Some(from.saturating_add(time))
    };
    let _ = free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
}

/// The limits of transfers to or from one peer: the node's port, and the slowest link of the path.
#[derive(Debug, Default)]
pub struct PathPace {
    /// The port, if rates are limited.
    pub port: Option<PortRate>,
    path_free: AtomicU64,
}

impl PathPace {
    /// Limits of transfers through this port, or none.
    pub fn new(port: Option<PortRate>) -> Self {
        Self { port, path_free: AtomicU64::new(0) }
    }

    /// When the next transfer may start; `now` if at once. `port_free` is the port's word.
    pub fn due_ns(&self, port_free: &AtomicU64, now: u64) -> u64 {
        if self.port.is_none() {
            return now;
        }
        let port = due_ns(port_free.load(Ordering::Relaxed), now);
        port.max(due_ns(self.path_free.load(Ordering::Relaxed), now))
    }

    /// Books a transfer.
    pub fn book(&self, port_free: &AtomicU64, now: u64, bytes: u64) {
        if let Some(rate) = self.port {
            book(port_free, now, bytes, rate.bytes_per_s);
            book(&self.path_free, now, bytes, rate.path_bytes_per_s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_carries_its_rate() {
        let rate = PortRate { port: 0, bytes_per_s: 1_000_000_000, path_bytes_per_s: 500_000_000 };
        let pace = PathPace::new(Some(rate));
        let (free, mut now, mut sent) = (AtomicU64::new(0), 1_000_000u64, 0u64);
        let start = now;
        while sent < 10_000_000 {
            now = pace.due_ns(&free, now);
            pace.book(&free, now, 65_536);
            sent += 65_536;
        }
        let ns = now - start;
        assert!((19_600_000..=20_200_000).contains(&ns), "20 ms at 500 MB/s: {ns} ns");
    }

    #[test]
    fn a_wrong_booking_stops_nobody() {
        assert_eq!(due_ns(u64::MAX, 5), 5);
        let free = AtomicU64::new(u64::MAX);
        book(&free, 100, 1000, 1_000_000_000);
        assert_eq!(free.load(Ordering::Relaxed), 1100);
        assert_eq!(due_ns(1_000, 5_000), 5_000);
    }
}
