//! A TAP device: an Ethernet interface whose other end is a file descriptor.

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

const DRIVER: &str = "/dev/net/tun";
/// Longest frame without FCS: MTU 9000 with a tag.
const LONGEST: usize = 9018;

/// The device; it is gone when this is.
#[derive(Debug)]
pub struct Tap(OwnedFd);

impl Tap {
    /// Makes one in the namespace of this thread.
    ///
    /// # Errors
    /// No driver, no privilege, or the name is in use.
    pub fn open(name: &str) -> Result<Self, String> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(DRIVER, flags, Mode::empty())
            .map_err(|e| format!("{DRIVER}: {e}; the driver is loaded with: modprobe tun"))?;
        // SAFETY: an ifreq is plain data; all zero it has an empty name.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes().take(15)) {
            *place = byte as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: this request reads and writes an ifreq, which `request` is.
        let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
        if done == -1 {
            let error = std::io::Error::last_os_error();
            return Err(format!("TAP device {name}: {error}"));
        }
        Ok(Self(file))
    }

    /// For poll.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// The next frame of the kernel, if there is one.
    ///
    /// # Errors
    /// The device is gone.
    pub fn read(&self) -> Result<Option<Vec<u8>>, String> {
        let mut frame = vec![0; LONGEST];
        match rustix::io::read(&self.0, &mut frame) {
            Ok(length) => {
                frame.truncate(length);
                Ok(Some(frame))
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(format!("TAP device: read: {error}")),
        }
    }

    /// Gives a frame to the kernel.
    ///
    /// # Errors
    /// The device is gone. A frame it does not want, for example one that is too short, is not an error.
    pub fn write(&self, frame: &[u8]) -> Result<(), String> {
        match rustix::io::write(&self.0, frame) {
            Ok(_) | Err(Errno::INVAL) => Ok(()),
            Err(error) => Err(format!("TAP device: write of {} bytes: {error}", frame.len())),
        }
    }
}
