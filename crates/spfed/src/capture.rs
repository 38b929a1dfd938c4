//! Live captures: a pipe to the reader, which may be slow.

use crate::connection::Connection;
use crate::requests::{Answer, Carry, refuse};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::pipe::{PipeFlags, pipe_with};
use spfe_contract::Status;
use spfe_net::{Capture, CaptureOptions, Mode, Network};
use spfe_session::{CaptureRequest, Reply};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a writer that waits for its reader looks whether it is still wanted.
const BEAT: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// A capture of a connection; it ends with it.
pub(crate) struct Capturing {
    capture: Capture,
    gone: Arc<AtomicBool>,
}

impl Drop for Capturing {
    fn drop(&mut self) {
        // Nobody asks for the rest of it any more.
        self.gone.store(true, Ordering::Release);
    }
}

/// The writing end of a pipe: waits for a slow reader, but not for one that is gone.
struct Pipe {
    pipe: OwnedFd,
    gone: Arc<AtomicBool>,
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::io::write(&self.pipe, bytes) {
                Err(rustix::io::Errno::AGAIN) if self.gone.load(Ordering::Acquire) => {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                Err(rustix::io::Errno::AGAIN) => {
                    let mut fds = [PollFd::new(&self.pipe, PollFlags::OUT)];
                    match poll(&mut fds, Some(&BEAT)) {
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

impl Connection {
    /// Whether it has a capture under way.
    pub fn captures(&self) -> bool {
        self.capture.is_some()
    }

    pub(crate) fn begin_capture(
        &mut self,
        wanted: &CaptureRequest,
        network: &Arc<Network>,
    ) -> Answer {
        let topology = network.topology();
        if !crate::peer::is_own(self.socket()) {
            let what = "a capture shows what all clients send: only the daemon's own user and root \
                        may have one";
            return refuse(Status::AccessDenied, what);
        }
        if topology.mode != Mode::Thread && !topology.has_exact() {
            let what = format!(
                "mode {}: the clients move the packets, and the daemon does not see them; a capture \
                 needs spfed --mode thread, or exact links",
                topology.mode
            );
            return refuse(Status::BadOpcode, what);
        }
        if self.capture.is_some() {
            return refuse(Status::Busy, "a second capture on a connection");
        }
        let (out, pipe) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
        // The reader's end stays as it is: it waits.
        rustix::io::ioctl_fionbio(&pipe, true).map_err(io::Error::from)?;
        let CaptureRequest { links, words, packets } = wanted.clone();
        let options = CaptureOptions { links, words, packets, ..CaptureOptions::default() };
        let gone = Arc::new(AtomicBool::new(false));
        let to = Box::new(Pipe { pipe, gone: gone.clone() });
        let capture = Capture::start(network, &options, to)?;
        self.capture = Some(Capturing { capture, gone });
        Ok((Reply::Capturing, Carry::Pipe(out)))
    }

    pub(crate) fn end_capture(&mut self) -> Answer {
        let Some(capturing) = &mut self.capture else {
            return refuse(Status::BadField, "EndCapture without a capture");
        };
        // The pipe is read to its end while the connection is there.
        let summary = capturing.capture.end();
        let (records, left_out) = (summary.records, summary.left_out);
        Ok((Reply::Captured { records, left_out }, Carry::Nothing))
    }
}
