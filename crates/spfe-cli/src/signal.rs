//! Signals. The first SIGINT or SIGTERM ends the command in good order, the second at once. SIGUSR1
//! requests a report from commands that support it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static CAUGHT: AtomicBool = AtomicBool::new(false);
static REPORT: AtomicBool = AtomicBool::new(false);

extern "C" fn catch(_: libc::c_int) {
    CAUGHT.store(true, Ordering::Relaxed);
}

extern "C" fn note(_: libc::c_int) {
    REPORT.store(true, Ordering::Relaxed);
}

/// Catches SIGINT and SIGTERM once each, and lets SIGPIPE end the process as usual for a command in a
/// pipeline.
pub fn install() {
    // SAFETY: the handler only stores to an atomic; the structure is zeroed before it is filled in.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = catch as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // Without SA_RESTART a blocked read returns, so that the signal is noticed.
        action.sa_flags = libc::SA_RESETHAND;
        libc::sigaction(libc::SIGINT, &action, std::ptr::null_mut());
        libc::sigaction(libc::SIGTERM, &action, std::ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}

/// Lets SIGUSR1 request a report. It also interrupts sleeps.
pub fn catch_report() {
    // SAFETY: as in `install`.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = note as extern "C" fn(libc::c_int) as libc::sighandler_t;
        libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut());
    }
}

/// Whether SIGUSR1 has arrived since the last call.
pub fn report_wanted() -> bool {
    REPORT.swap(false, Ordering::Relaxed)
}

/// Asks the command to end, as a signal does.
pub fn request_end() {
    CAUGHT.store(true, Ordering::Relaxed);
}

/// Whether SIGINT or SIGTERM has arrived.
pub fn caught() -> bool {
    CAUGHT.load(Ordering::Relaxed)
}

/// Sleeps until the time has passed or a signal arrives. True if the whole time has passed.
pub fn sleep(time: Duration) -> bool {
    const SLICE: Duration = Duration::from_millis(50);
    let end = Instant::now() + time;
    while !caught() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(SLICE));
    }
    false
}
