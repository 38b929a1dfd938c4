//! Event vectors: the network signals an eventfd, the host reads a counter that only goes up.

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use spfe_host::ControlError as Error;

/// An event vector.
pub struct EventVector {
    descriptor: OwnedFd,
    count: u64,
    /// Part of the eventfd's value that `count` includes already; it keeps the eventfd readable.
    carried: u64,
    /// The host wants interrupts: register ENABLE, as latched.
    enabled: bool,
    /// The count that the host has seen (capability LEVEL).
    seen: u32,
    /// `count` rises only after the next read of it, as a device without COUNT_FIRST may do.
    late: bool,
    /// Signals that such a count does not include yet.
    behind: u64,
}

impl EventVector {
    /// Creates a vector. `late` makes its count rise late.
    ///
    /// # Errors
    /// NO_RESOURCES if the process has no descriptor left.
    pub fn new(late: bool) -> Result<Self, Error> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let descriptor = eventfd(0, flags).map_err(std::io::Error::from)?;
        Ok(Self { descriptor, count: 0, carried: 0, enabled: false, seen: 0, late, behind: 0 })
    }

    /// The eventfd, readable from a signal until [`EventVector::take`].
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Moves the value of the eventfd into the count. Whether there was any.
    fn drain(&mut self) -> bool {
        let mut value = [0; 8];
        if !matches!(rustix::io::read(&self.descriptor, &mut value), Ok(8)) {
            return false;
        }
        let came = u64::from_ne_bytes(value).saturating_sub(self.carried);
        let sum = if self.late { &mut self.behind } else { &mut self.count };
        *sum = sum.wrapping_add(came);
        self.carried = 0;
        true
    }

    /// Number of signals so far. The eventfd stays readable.
    pub fn count(&mut self) -> u64 {
        if self.drain() && rustix::io::write(&self.descriptor, &1u64.to_ne_bytes()).is_ok() {
            self.carried = 1;
        }
        let shown = self.count;
        self.count = self.count.wrapping_add(std::mem::take(&mut self.behind));
        shown
    }

    /// Takes the signals. Whether an interrupt is due. The count has risen then (COUNT_FIRST).
    pub fn take(&mut self) -> bool {
        self.drain() && self.enabled
    }

    /// Latches register ENABLE. Enabling does not replay what was counted before.
    pub fn enable(&mut self, on: bool) {
        if on && !self.enabled {
            self.seen = self.count() as u32;
        }
        self.enabled = on;
    }

    /// The host has seen the count up to this value.
    pub fn see(&mut self, count: u32) {
        self.seen = count;
    }

    /// Whether the interrupt line of the vector is high.
    pub fn line(&mut self) -> bool {
        self.enabled && self.count() as u32 != self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector() -> EventVector {
        EventVector::new(false).unwrap()
    }

    fn signal(vector: &EventVector) {
        rustix::io::write(vector.descriptor(), &1u64.to_ne_bytes()).unwrap();
    }

    #[test]
    fn reading_the_count_loses_no_interrupt_and_counts_no_signal_twice() {
        let mut vector = vector();
        vector.enable(true);
        assert_eq!(vector.count(), 0);
        assert!(!vector.take());
        signal(&vector);
        signal(&vector);
        assert_eq!((vector.count(), vector.count()), (2, 2));
        signal(&vector);
        assert!(vector.take());
        assert!(!vector.take());
        assert_eq!(vector.count(), 3);
    }

    #[test]
    fn a_disabled_vector_counts_and_does_not_interrupt() {
        let mut vector = vector();
        signal(&vector);
        assert!(!vector.take());
        assert_eq!(vector.count(), 1);
    }

    #[test]
    fn the_line_is_high_while_the_count_differs_from_the_count_seen() {
        let mut vector = vector();
        signal(&vector);
        assert!(!vector.line(), "a disabled vector has no line");
        vector.enable(true);
        assert!(!vector.line(), "enabling replays nothing");
        signal(&vector);
        assert!(vector.line() && vector.line());
        vector.see(2);
        assert!(!vector.line());
        signal(&vector);
        signal(&vector);
        vector.see(3);
        assert!(vector.line(), "an event came after the host had read the count");
        vector.enable(true);
        assert!(vector.line(), "a command leaves the line of an enabled vector as it is");
        vector.enable(false);
        assert!(!vector.line());
        vector.enable(true);
        vector.see(u32::MAX);
        assert!(vector.line(), "a count that is wrong is just a count that differs");
    }

    #[test]
    fn a_count_without_count_first_may_rise_after_its_interrupt() {
        let mut vector = EventVector::new(true).unwrap();
        vector.enable(true);
        signal(&vector);
        assert!(vector.take());
        assert_eq!((vector.count(), vector.count()), (0, 1));
    }
}
