//! Posts messages at an interval and shows received ones.

use crate::context::{Context, Patience};
use crate::error::{Failure, Kind};
use crate::{output, signal};
use spfe::{Port, Status};
use std::time::{Duration, Instant};

/// Time limit for the device to send posted messages.
const SEND_TIMEOUT: Duration = Duration::from_secs(2);

/// Posts `count` messages (0: until interrupted), one per `interval`, and waits until the device has
/// sent them. If the queue is full, it waits for room.
pub fn repeat(
    port: &Port,
    count: u64,
    interval: Duration,
    mut post: impl FnMut() -> spfe::Result<()>,
) -> Result<(), Failure> {
    let before = port.info()?.messages.sent;
    let mut posted = 0;
    while count == 0 || posted < count {
        if posted != 0 && !signal::sleep(interval) {
            if count == 0 {
                break;
            }
            return Err(Failure::interrupted());
        }
        until_there_is_room(&mut post)?;
        posted += 1;
    }
    // Closing the queue cancels unsent messages, so wait until the device has sent them.
    let end = Instant::now() + SEND_TIMEOUT;
    while port.info()?.messages.sent < before + posted {
        if Instant::now() > end {
            let what = format!("port {}: a message has not been sent for 2 s", port.number());
            return Err(Failure::timed_out(what));
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}

fn until_there_is_room(post: &mut impl FnMut() -> spfe::Result<()>) -> Result<(), Failure> {
    let end = Instant::now() + SEND_TIMEOUT;
    loop {
        match post() {
            Err(error) if error.status() == Some(Status::Busy) && Instant::now() < end => {
                if !signal::sleep(Duration::from_micros(50)) {
                    return Err(Failure::interrupted());
                }
            }
            posted => return Ok(posted?),
        }
    }
}

/// Shows received messages until there are `count` (`None`: until interrupted) or none arrives in time.
pub fn listen<T>(
    patience: &mut Patience,
    count: Option<u64>,
    what: &str,
    mut recv: impl FnMut(spfe::Deadline) -> spfe::Result<T>,
    mut show: impl FnMut(T),
) -> Result<(), Failure> {
    let mut received = 0u64;
    while count.is_none_or(|count| received < count) {
        match patience.wait(what, &mut recv) {
            Ok(message) => show(message),
            Err(failure) if failure.kind == Kind::Interrupted && count.is_none() => return Ok(()),
            Err(failure) => return Err(failure),
        }
        patience.renew();
        received += 1;
    }
    Ok(())
}

/// A time stamp of the device, in seconds.
pub fn stamp(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// Prints how many messages were sent, unless it was a single one.
pub fn summary(sent: u64, what: &str, context: &Context) {
    if sent != 1 {
        context.say(&format!("{} sent", output::plural(sent, what)));
    }
}
