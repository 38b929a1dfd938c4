//! Claims of flows by the control plane, in bounded time.

use super::{Error, Result};
use crate::arena::CONTROL;
use crate::view::Runner;
use spfe_contract::Status;
use spfe_host::os;
use spfe_ring::Seat;
use std::time::{Duration, Instant};

/// Longest wait of the control plane for a participant to leave a flow.
const SEAT_TIMEOUT: Duration = Duration::from_secs(2);

/// Repeats an attempt until it succeeds or [`SEAT_TIMEOUT`] has passed.
pub(super) fn patiently<T>(mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + SEAT_TIMEOUT;
    loop {
        if let Some(done) = attempt() {
            return Some(done);
        }
        if Instant::now() > deadline {
            return None;
        }
        std::thread::yield_now();
    }
}

/// The error for a participant that does not leave a seat.
pub(super) fn held(seat: &Seat) -> Error {
    let what = format!(
        "a participant (client {}) has held a flow for {} s; is it stopped?",
        seat.busy().max(seat.claimed()),
        SEAT_TIMEOUT.as_secs()
    );
    Error::new(Status::Busy, what)
}

/// Claims the seat of a flow for the control plane.
///
/// # Errors
/// BUSY if a participant does not leave it.
pub(super) fn claim(runner: &mut Runner) -> Result<()> {
    let seat = &runner.shared().seat;
    let claim = || seat.claim(CONTROL, os::heavy_barrier, 1000).then_some(());
    patiently(claim).ok_or_else(|| held(seat))
}

/// Makes the control plane's runner read the flow's configuration.
///
/// # Errors
/// BUSY if a participant does not leave the seat.
pub(super) fn bind(runner: &mut Runner) -> Result<()> {
    patiently(|| runner.run(0)).map(drop).ok_or_else(|| held(&runner.shared().seat))
}
