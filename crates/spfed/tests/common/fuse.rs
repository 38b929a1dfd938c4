//! A file whose file system is a thread of the test: it answers what opening the file needs, and
//! nothing else, until it is dropped.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{MountFlags, mount};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

const GETATTR: u32 = 3;
const OPEN: u32 = 14;
const INIT: u32 = 26;
/// Bytes of a request's header: length, operation, number, and who asks.
const REQUEST_HEADER: usize = 40;

/// The file. Closing it, and asking for its size or its file system, waits.
pub struct SlowFile {
    file: Option<OwnedFd>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SlowFile {
    /// `None` if this process may not mount file systems.
    pub fn new(name: &str) -> Option<Self> {
        let at = std::env::temp_dir().join(format!("spfed-fuse-{}-{name}", std::process::id()));
        std::fs::write(&at, "").unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let device = open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let device = Arc::new(device);
        let (server, stopped) = (device.clone(), stop.clone());
        let thread = std::thread::spawn(move || serve(&server, &stopped));
        // The mount is visible in this thread only, and goes with it.
        let opened = std::thread::spawn(move || mounted(&device, at)).join().unwrap();
        if opened.is_none() {
            stop.store(true, Ordering::Release);
            thread.join().unwrap();
            return None;
        }
        Some(Self { file: opened, stop, thread: Some(thread) })
    }
}

impl AsFd for SlowFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_ref().unwrap().as_fd()
    }
}

impl Drop for SlowFile {
    fn drop(&mut self) {
        // Without its server every waiting call on the file fails.
        self.stop.store(true, Ordering::Release);
        let _ = self.thread.take().map(JoinHandle::join);
        self.file = None;
    }
}

fn mounted(device: &OwnedFd, at: PathBuf) -> Option<OwnedFd> {
    // SAFETY: only this thread's namespace and working directory change.
    unsafe { unshare_unsafe(UnshareFlags::FS | UnshareFlags::NEWNS) }.ok()?;
    rustix::mount::mount_change(
        "/",
        rustix::mount::MountPropagationFlags::PRIVATE | rustix::mount::MountPropagationFlags::REC,
    )
    .ok()?;
    let ids = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let options =
        format!("fd={},rootmode=100644,user_id={},group_id={}", device.as_raw_fd(), ids.0, ids.1);
    let options = CString::new(options).unwrap();
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("spfed-test", &at, "fuse", flags, Some(options.as_c_str())).ok()?;
    let file = open(&at, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    let _ = rustix::mount::unmount(&at, rustix::mount::UnmountFlags::DETACH);
    let _ = std::fs::remove_file(&at);
    file.ok()
}

fn serve(device: &OwnedFd, stop: &AtomicBool) {
    let mut request = vec![0u8; 1 << 17];
    let tick = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    while !stop.load(Ordering::Acquire) {
        let _ = poll(&mut [PollFd::new(device, PollFlags::IN)], Some(&tick));
        let flags = rustix::fs::fcntl_getfl(device).unwrap();
        rustix::fs::fcntl_setfl(device, flags | OFlags::NONBLOCK).unwrap();
        let Ok(length) = rustix::io::read(device, &mut request) else { continue };
        if length < REQUEST_HEADER {
            continue;
        }
        let word = |at: usize| u32::from_ne_bytes(request[at..at + 4].try_into().unwrap());
        let body: Vec<u32> = match word(4) {
            // Version 7.31, no abilities, writes of 4096 bytes, times in ns.
            INIT => [7, 31, 0, 0, 0, 4096, 1].into_iter().chain([0; 9]).collect(),
            // A regular file of 4096 bytes; attributes are valid for long.
            GETATTR => {
                let mut words = vec![0u32; 26];
                (words[0], words[4], words[6]) = (3600, 1, 4096);
                (words[19], words[20]) = (0o100_644, 1);
                words
            }
            OPEN => vec![0; 4],
            _ => continue,
        };
        let mut reply = Vec::new();
        reply.extend((16 + 4 * body.len() as u32).to_ne_bytes());
        reply.extend([0; 4]);
        reply.extend(&request[8..16]);
        body.iter().for_each(|word| reply.extend(word.to_ne_bytes()));
        let _ = rustix::io::write(device, &reply);
    }
}
