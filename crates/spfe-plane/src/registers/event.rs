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
    pub enabled: bool,
}

impl EventVector {
    /// Creates a vector.
    ///
    /// # Errors
    /// NO_RESOURCES if the process has no descriptor left.
    pub fn new() -> Result<Self, Error> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let descriptor = eventfd(0, flags).map_err(std::io::Error::from)?;
        Ok(Self { descriptor, count: 0, carried: 0, enabled: false })
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
        self.count = self.count.wrapping_add(came);
        self.carried = 0;
        true
    }

    /// Number of signals so far. The eventfd stays readable.
    pub fn count(&mut self) -> u64 {
        if self.drain() && rustix::io::write(&self.descriptor, &1u64.to_ne_bytes()).is_ok() {
            self.carried = 1;
        }
        self.count
    }

    /// Takes the signals. Whether an interrupt is due.
    pub fn take(&mut self) -> bool {
        self.drain() && self.enabled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(vector: &EventVector) {
        rustix::io::write(vector.descriptor(), &1u64.to_ne_bytes()).unwrap();
    }

    #[test]
    fn reading_the_count_loses_no_interrupt_and_counts_no_signal_twice() {
        let mut vector = EventVector::new().unwrap();
        vector.enabled = true;
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
        let mut vector = EventVector::new().unwrap();
        signal(&vector);
        assert!(!vector.take());
        assert_eq!(vector.count(), 1);
    }
}
