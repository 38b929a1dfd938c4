//! Live captures. A thread writes each one to a pipe, because its reader may be slow.

use crate::answer::refuse;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::pipe::{PipeFlags, pipe_with};
use spfe_contract::Status;
use spfe_host::Mode;
use spfe_lab::{Capture, CaptureOptions, Lab};
use spfe_session::{CaptureRequest, Result};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a blocked writer checks whether its client is still connected.
const CHECK_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// A capture that a client started. Dropping it ends the capture.
pub(crate) struct LiveCapture {
    capture: Capture,
    abandoned: Arc<AtomicBool>,
}

impl Drop for LiveCapture {
    fn drop(&mut self) {
        // Unblocks the writer: its client has gone.
        self.abandoned.store(true, Ordering::Release);
    }
}

/// The writing end of a pipe. Blocks while the reader is slow, but not after its client has gone.
struct PipeWriter {
    pipe: OwnedFd,
    abandoned: Arc<AtomicBool>,
}

impl Write for PipeWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::io::write(&self.pipe, bytes) {
                Err(rustix::io::Errno::AGAIN) if self.abandoned.load(Ordering::Acquire) => {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                Err(rustix::io::Errno::AGAIN) => {
                    let mut fds = [PollFd::new(&self.pipe, PollFlags::OUT)];
                    match poll(&mut fds, Some(&CHECK_INTERVAL)) {
                        Ok(_) | Err(rustix::io::Errno::INTR) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                result => return Ok(result?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LiveCapture {
    /// Starts a capture; returns it with the end of the pipe that the client reads from.
    ///
    /// # Errors
    /// BAD_OPCODE if this daemon does not see the packets; NOT_FOUND if a link does not exist.
    pub fn start(lab: &Lab, wanted: &CaptureRequest) -> Result<(Self, OwnedFd)> {
        let topology = lab.network().topology();
        if topology.mode != Mode::Thread && !topology.has_exact() {
            let what = format!(
                "capture: in mode {} the clients move the packets and the daemon does not see them; \
                 use spfed --mode thread, or exact links",
                topology.mode
            );
            return refuse(Status::BadOpcode, what);
        }
        let (reader, pipe) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
        // Only the daemon's end must not block.
        rustix::io::ioctl_fionbio(&pipe, true).map_err(io::Error::from)?;
        let CaptureRequest { links, words, packets } = wanted.clone();
        let options = CaptureOptions { links, words, packets, ..CaptureOptions::default() };
        let abandoned = Arc::new(AtomicBool::new(false));
        let writer = Box::new(PipeWriter { pipe, abandoned: abandoned.clone() });
        let capture = Capture::start(lab, &options, writer)?;
        Ok((Self { capture, abandoned }, reader))
    }

    /// Ends the capture: (records written, records dropped because the reader was too slow).
    pub fn end(&mut self) -> (u64, u64) {
        // The client still reads the rest of the pipe while its connection is open.
        let summary = self.capture.end();
        (summary.records, summary.left_out)
    }
}
