//! The file that `spfe send` sends, or standard input.

use crate::error::Failure;
use crate::{output, signal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use spfe::Buf;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;

/// Interval between checks for signals while there is no input.
const CHECK_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The file or standard input.
pub struct Source {
    file: File,
    what: String,
    /// Name without directories; empty for standard input.
    pub name: String,
    /// Length in bytes, if known.
    pub length: Option<u64>,
}

impl Source {
    /// Opens a file; `-` is standard input.
    pub fn open(path: &str) -> Result<Self, Failure> {
        if path == "-" {
            let stdin = io::stdin().as_fd().try_clone_to_owned();
            let what = "standard input".to_owned();
            let file = stdin.map_err(|error| Failure::io(&what, &error))?.into();
            return Ok(Self { file, what, name: String::new(), length: None });
        }
        let what = format!("file '{}'", output::printable(path));
        let failed = |error| Failure::io(&what, &error);
        let file = File::open(path).map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        if meta.is_dir() {
            return Err(Failure::failed(format!("{what}: a directory cannot be sent")));
        }
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let length = meta.is_file().then_some(meta.len());
        Ok(Self { file, what, name, length })
    }

    /// Whether reading would block.
    pub fn would_block(&self) -> bool {
        let mut fds = [PollFd::new(&self.file, PollFlags::IN)];
        self.length.is_none() && poll(&mut fds, Some(&Timespec::default())) == Ok(0)
    }

    /// Waits until there is input. A signal may arrive between a check and a blocking read, which it
    /// then does not interrupt; so this polls, and checks for signals in between.
    fn wait_for_input(&self) -> Result<(), Failure> {
        while !signal::caught() {
            let mut fds = [PollFd::new(&self.file, PollFlags::IN)];
            if self.length.is_some() {
                return Ok(());
            }
            match poll(&mut fds, Some(&CHECK_INTERVAL)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                _ => return Ok(()),
            }
        }
        Err(Failure::interrupted())
    }

    /// Reads up to a packet directly into a registered buffer, behind an address. False at the end of the input.
    pub fn fill(&mut self, buf: &mut Buf, address: usize, packet: usize) -> Result<bool, Failure> {
        buf.set_len(address + packet);
        let mut filled = address;
        while filled < address + packet {
            self.wait_for_input()?;
            match self.file.read(&mut buf[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::io(&self.what, &error)),
            }
        }
        buf.set_len(filled);
        Ok(filled != address)
    }
}
