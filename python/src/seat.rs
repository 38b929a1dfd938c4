//! A seat: one thread at a time uses a queue.
//!
//! Others wait for their turn, without the interpreter. Closing ends the wait of the thread inside
//! and takes the queue away from it. A thread that is inside already, and comes again from a signal
//! handler, would wait for itself; it gets BUSY.

use crate::error::{fault, raise, timed_out};
use crate::held::Held;
use crate::time::Until;
use pyo3::prelude::*;
use spfe::{Canceller, Error, Status};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// How often a waiting thread looks for signals.
pub const LOOK: Duration = Duration::from_millis(100);

enum Place<T> {
    Free(Held<Box<T>>),
    Used(ThreadId),
    Closed,
}

struct State<T> {
    place: Place<T>,
    /// A thread is closing it.
    closing: bool,
    /// Number of threads that wait for their turn.
    waiting: usize,
}

/// A queue and its place.
pub struct Seat<T> {
    what: &'static str,
    state: Mutex<State<T>>,
    freed: Condvar,
    /// Ends the wait of the thread inside.
    canceller: Option<Held<Canceller>>,
}

/// The right to use what is in the seat.
struct Inside<'a, T> {
    seat: &'a Seat<T>,
    /// Always there, except while it is dropped.
    value: Option<Held<Box<T>>>,
}

impl<T> Drop for Inside<'_, T> {
    fn drop(&mut self) {
        if let Some(value) = self.value.take() {
            let mut state = self.seat.lock();
            state.place = Place::Free(value);
            // A notification is a system call, even if nobody waits.
            let waiting = state.waiting != 0;
            drop(state);
            if waiting {
                self.seat.freed.notify_all();
            }
        }
    }
}

impl<T> Seat<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send> Seat<T> {
    /// A seat for something that is called `what` in messages.
    pub fn new(what: &'static str, value: T, canceller: Option<Canceller>) -> Self {
        let place = Place::Free(Held::new(Box::new(value)));
        let state = Mutex::new(State { place, closing: false, waiting: 0 });
        Self { what, state, freed: Condvar::new(), canceller: canceller.map(Held::new) }
    }

    /// Lets `body` use the queue, as soon as no other thread does.
    pub fn with<R>(
        &self,
        py: Python<'_>,
        until: Until,
        body: impl FnOnce(&mut T) -> PyResult<R>,
    ) -> PyResult<R> {
        let mut inside = self.enter(py, until, false)?;
        match &mut inside.value {
            Some(value) => body(value),
            None => Err(self.closed()),
        }
    }

    /// Takes the value out, if it is there. `None` while another thread is inside.
    fn take(&self, to_close: bool) -> PyResult<Option<Inside<'_, T>>> {
        let mut state = self.lock();
        let State { place, closing, .. } = &mut *state;
        if *closing && !to_close {
            return Err(self.closed());
        }
        match place {
            Place::Closed => Err(self.closed()),
            Place::Used(thread) if *thread == std::thread::current().id() => {
                let what = format!("{}: this thread is inside it already", self.what);
                Err(fault(Status::Busy, what))
            }
            Place::Used(_) => Ok(None),
            Place::Free(value) => {
                value.check(self.what)?;
                let used = Place::Used(std::thread::current().id());
                let Place::Free(value) = std::mem::replace(place, used) else { return Ok(None) };
                Ok(Some(Inside { seat: self, value: Some(value) }))
            }
        }
    }

    fn enter(&self, py: Python<'_>, until: Until, to_close: bool) -> PyResult<Inside<'_, T>> {
        let end = until.real();
        loop {
            if let Some(inside) = self.take(to_close)? {
                return Ok(inside);
            }
            let left = end.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Err(timed_out(format!("{}: another thread is using it", self.what)));
            }
            py.detach(|| {
                let mut state = self.lock();
                if matches!(state.place, Place::Used(_)) {
                    state.waiting += 1;
                    let waited = self.freed.wait_timeout(state, left.min(LOOK));
                    waited.unwrap_or_else(PoisonError::into_inner).0.waiting -= 1;
                }
            });
            py.check_signals()?;
        }
    }

    /// Ends the wait of the thread inside, or its next one.
    pub fn cancel(&self) -> PyResult<()> {
        if let Some(canceller) = &self.canceller {
            canceller.check(self.what)?;
            canceller.cancel();
        }
        Ok(())
    }

    /// Takes the queue out for good, once no other thread is inside. `None` if it is closed. If
    /// `allow` refuses, it stays open.
    pub fn close(
        &self,
        py: Python<'_>,
        allow: impl FnOnce(&mut T) -> PyResult<()>,
    ) -> PyResult<Option<Held<Box<T>>>> {
        {
            let mut state = self.lock();
            match &state.place {
                Place::Closed => return Ok(None),
                Place::Used(_) if state.closing => return Ok(None),
                _ => state.closing = true,
            }
        }
        let taken = self.leave(py, allow);
        if taken.is_err() {
            self.lock().closing = false;
        }
        taken
    }

    fn leave(
        &self,
        py: Python<'_>,
        allow: impl FnOnce(&mut T) -> PyResult<()>,
    ) -> PyResult<Option<Held<Box<T>>>> {
        if matches!(self.lock().place, Place::Used(_)) {
            self.cancel()?;
        }
        let mut inside = self.enter(py, Until::never(), true)?;
        if let Some(value) = &mut inside.value {
            allow(value)?;
        }
        let value = inside.value.take();
        self.lock().place = Place::Closed;
        self.freed.notify_all();
        Ok(value)
    }

    /// Whether it was closed, or is being closed.
    pub fn is_closed(&self) -> bool {
        let state = self.lock();
        state.closing || matches!(state.place, Place::Closed)
    }

    fn closed(&self) -> PyErr {
        fault(Status::BadField, format!("{}: it is closed", self.what))
    }

    /// The exception for a wait that failed. One that closing ended says so.
    pub fn ended(&self, error: Error) -> PyErr {
        if error.is_cancelled() && self.is_closed() {
            let what = format!("{}: another thread closed it", self.what);
            return fault(Status::Cancelled, what);
        }
        raise(error)
    }
}
