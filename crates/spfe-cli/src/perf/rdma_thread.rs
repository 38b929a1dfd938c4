//! The thread of the far end of RDMA.

use spfe::Status;
use spfe_remote::RdmaError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Numbers of the queue pairs of both ends.
pub const NEAR: u16 = 5;
pub const FAR: u16 = 7;

/// A thread that runs until it is told to stop.
pub struct Thread {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), RdmaError>>,
}

impl Thread {
    /// Starts a thread on a processor, or on any of those of its creator.
    pub fn start(
        cpu: Option<usize>,
        run: impl FnOnce(&AtomicBool) -> Result<(), RdmaError> + Send + 'static,
    ) -> Result<Self, RdmaError> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::Builder::new().name("perf-far".into()).spawn(move || {
            super::lab::pin(cpu);
            run(&stopped)
        });
        Ok(Self { stop, thread: thread.map_err(spfe::Error::from)? })
    }

    /// Ends the thread.
    pub fn end(self) -> Result<(), RdmaError> {
        self.stop.store(true, Ordering::Relaxed);
        let gone = || spfe::Error::device(Status::PeerGone, "the far thread panicked");
        self.thread.join().map_err(|_| gone())?
    }
}
