//! Claims of flows by the control plane, in bounded time.
//!
//! An operation that finds a flow or a message port held by a participant gives the lock of the control
//! plane back before it tries again. It can stop anywhere and start from its beginning, so other
//! clients are served while it waits.

use super::{Error, Inner, Network, Result};
use crate::arena::CONTROL;
use crate::view::Runner;
use spfe_contract::Status;
use spfe_host::os;
use std::time::{Duration, Instant};

/// Longest wait of the control plane for a participant to leave a flow.
const SEAT_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest wait inside one attempt, which holds the lock of the control plane.
const ATTEMPT_TIMEOUT: Duration = Duration::from_micros(200);
/// Time between two attempts.
const PAUSE: Duration = Duration::from_micros(500);

/// Why an attempt ended without a result.
pub(super) enum Stop {
    /// A participant holds a seat or lock. The same operation may succeed later.
    Held {
        /// Its id.
        participant: u32,
    },
    /// The operation is refused.
    Refused(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// Result of an attempt.
pub(super) type Attempt<T> = std::result::Result<T, Stop>;

impl Network {
    /// Repeats an operation while participants hold what it needs. It has the lock of the control
    /// plane during each attempt, but not between them. Unmaps what it has revoked, without the lock.
    ///
    /// # Errors
    /// Those of the operation; BUSY if a participant holds a flow for [`SEAT_TIMEOUT`].
    pub(super) fn patiently<T>(
        &self,
        mut attempt: impl FnMut(&mut Inner) -> Attempt<T>,
    ) -> Result<T> {
        let deadline = Instant::now() + SEAT_TIMEOUT;
        loop {
            let mut inner = self.lock();
            let outcome = attempt(&mut inner);
            let revoked = std::mem::take(&mut inner.revoked);
            drop(inner);
            drop(revoked);
            match outcome {
                Ok(done) => return Ok(done),
                Err(Stop::Refused(error)) => return Err(error),
                Err(Stop::Held { participant }) if Instant::now() > deadline => {
                    let what = format!(
                        "a participant (client {participant}) has held a flow for {} s; is it stopped?",
                        SEAT_TIMEOUT.as_secs()
                    );
                    return Err(Error::new(Status::Busy, what));
                }
                Err(Stop::Held { .. }) => std::thread::sleep(PAUSE),
            }
        }
    }
}

/// Repeats a step until it succeeds or [`ATTEMPT_TIMEOUT`] has passed. `holder` is the participant in
/// its way.
pub(super) fn briefly<T>(
    mut step: impl FnMut() -> Option<T>,
    holder: impl FnOnce() -> u32,
) -> Attempt<T> {
    let deadline = Instant::now() + ATTEMPT_TIMEOUT;
    loop {
        if let Some(done) = step() {
            return Ok(done);
        }
        if Instant::now() > deadline {
            return Err(Stop::Held { participant: holder() });
        }
        std::thread::yield_now();
    }
}

/// The participant that holds the seat of a flow.
pub(super) fn holder(runner: &Runner) -> u32 {
    let seat = &runner.shared().seat;
    seat.busy().max(seat.claimed())
}

/// Claims the seat of a flow for the control plane. No copies are under way then.
///
/// # Errors
/// Held if a participant does not leave it.
pub(super) fn claim(runner: &mut Runner) -> Attempt<()> {
    let shared = runner.shared();
    let claim = || shared.seat.claim(CONTROL, os::heavy_barrier, 1000).then_some(());
    briefly(claim, || holder(runner))?;
    // Both ends may be copying packets that are planned already.
    let quiet = briefly(|| runner.quiesce().then_some(()), || shared.board.awaited());
    if quiet.is_err() {
        shared.seat.release();
    }
    quiet
}

/// Makes the control plane's runner read the flow's configuration.
///
/// # Errors
/// Held if a participant does not leave the seat.
pub(super) fn bind(runner: &mut Runner) -> Attempt<()> {
    let deadline = Instant::now() + ATTEMPT_TIMEOUT;
    while runner.run(0).is_none() {
        if Instant::now() > deadline {
            return Err(Stop::Held { participant: holder(runner) });
        }
        std::thread::yield_now();
    }
    Ok(())
}
