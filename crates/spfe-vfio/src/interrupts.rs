//! MSI-X and INTA#: raises event descriptors of the virtual machine for event vectors of the registers.

use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::fd::OwnedFd;
use spfe_plane::registers::EVENTS;
use spfe_plane::{Event, RegisterFile};
use spfe_registers::Interrupts;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// One MSI-X vector.
#[derive(Default)]
struct Vector {
    event: Option<Event>,
    masked: bool,
    pending: bool,
}

/// The line INTA#. Each interrupt masks it until the client unmasks it.
#[derive(Default)]
struct Line {
    event: Option<Event>,
    masked: bool,
    /// An interrupt has masked it.
    sent: bool,
    /// Interrupts are disabled in the configuration.
    off: bool,
}

/// All MSI-X vectors of a device, and its line.
pub(crate) struct Vectors {
    list: Mutex<Vec<Vector>>,
    line: Mutex<Line>,
    /// Whether the client has given the line a descriptor.
    line_used: AtomicBool,
    /// Whether bus mastering is on. An interrupt is a write to the bus.
    master: AtomicBool,
    raised: AtomicU64,
}

impl Default for Vectors {
    fn default() -> Self {
        let list = Mutex::new((0..EVENTS).map(|_| Vector::default()).collect());
        Self {
            list,
            line: Mutex::default(),
            line_used: AtomicBool::new(false),
            master: AtomicBool::new(false),
            raised: AtomicU64::new(0),
        }
    }
}

/// Action of a client on vectors (`VFIO_DEVICE_SET_IRQS`).
pub(crate) enum Action {
    /// Sets descriptors. If there are fewer than vectors, the other vectors lose theirs.
    Descriptors(Vec<OwnedFd>),
    /// Raises the vectors.
    Trigger,
    /// Masks or unmasks the vectors.
    Mask(bool),
}

impl Vectors {
    fn lock(&self) -> MutexGuard<'_, Vec<Vector>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes all descriptors.
    pub fn clear(&self) {
        self.clear_vectors();
        self.clear_line();
    }

    /// Removes the descriptors of MSI-X.
    pub fn clear_vectors(&self) {
        self.lock().fill_with(Vector::default);
    }

    /// Removes the descriptor of the line.
    pub fn clear_line(&self) {
        let mut line = self.line();
        *line = Line { off: line.off, ..Line::default() };
        self.line_used.store(false, Ordering::Release);
    }

    /// Performs an action on the line. The caller raises it if it is high.
    pub fn set_line(&self, action: Action) -> io::Result<()> {
        let mut line = self.line();
        match action {
            Action::Descriptors(files) => {
                let event = files.into_iter().next().map(Event::foreign).transpose()?;
                self.line_used.store(event.is_some(), Ordering::Release);
                *line = Line { event, off: line.off, ..Line::default() };
            }
            Action::Trigger => line.event.iter().for_each(Event::signal),
            Action::Mask(masked) => (line.masked, line.sent) = (masked, false),
        }
        Ok(())
    }

    /// Enables or disables the line in the configuration.
    pub fn set_line_off(&self, off: bool) {
        self.line().off = off;
    }

    /// Whether the client uses the line.
    pub fn uses_line(&self) -> bool {
        self.line_used.load(Ordering::Acquire)
    }

    /// Interrupts if the line is high and nothing keeps it from that.
    pub fn raise_line_if(&self, high: impl FnOnce() -> bool) {
        let mut line = self.line();
        let Line { event: Some(event), masked: false, off: false, .. } = &*line else { return };
        if self.master.load(Ordering::Acquire) && high() {
            self.raised.fetch_add(1, Ordering::Relaxed);
            event.signal();
            (line.masked, line.sent) = (true, true);
        }
    }

    /// Interrupts if the line has become high. Takes back an interrupt that the client has not seen
    /// if the line is low again: seen late, it would be one that nobody needs, or come when nobody
    /// handles it any more.
    pub fn update_line(&self, high: impl Fn() -> bool) {
        self.raise_line_if(&high);
        let mut line = self.line();
        if line.sent && !high() && line.event.as_ref().is_some_and(Event::take_back) {
            (line.masked, line.sent) = (false, false);
        }
    }

    /// Performs an action on `count` vectors from `start` on.
    pub fn set(&self, start: u32, count: u32, action: Action) -> io::Result<()> {
        let mut vectors = self.lock();
        let end = start.checked_add(count).map(|end| end as usize);
        let range = end.and_then(|end| vectors.get_mut(start as usize..end)).ok_or_else(|| {
            let what = format!("{count} vectors from {start} on: the device has {EVENTS}");
            io::Error::new(io::ErrorKind::InvalidInput, what)
        })?;
        match action {
            Action::Descriptors(files) => {
                let mut files = files.into_iter();
                for vector in range {
                    let event = files.next().map(Event::foreign);
                    *vector = Vector { event: event.transpose()?, ..Vector::default() };
                }
            }
            Action::Trigger => range.iter_mut().for_each(Vector::raise),
            Action::Mask(masked) => {
                for vector in range {
                    vector.masked = masked;
                    if !masked && std::mem::take(&mut vector.pending) {
                        vector.raise();
                    }
                }
            }
        }
        Ok(())
    }

    /// Turns bus mastering on or off.
    pub fn set_master(&self, on: bool) {
        self.master.store(on, Ordering::Release);
    }

    /// Number of interrupts raised so far.
    pub fn raised(&self) -> u64 {
        self.raised.load(Ordering::Relaxed)
    }

    /// Raises a vector if bus mastering is on.
    pub fn raise_vector(&self, number: u32) {
        if self.master.load(Ordering::Acquire)
            && let Some(vector) = self.lock().get_mut(number as usize)
        {
            self.raised.fetch_add(1, Ordering::Relaxed);
            vector.raise();
        }
    }

    /// Pending bits, bit n for vector n.
    pub fn pending(&self) -> u64 {
        let bits = self.lock();
        bits.iter().enumerate().fold(0, |all, (at, vector)| all | u64::from(vector.pending) << at)
    }
}

const _: () = assert!(EVENTS <= u64::BITS);

/// Interrupts of a device that raises them itself.
impl Interrupts for Vectors {
    fn raise(&self, vector: u32) {
        self.raise_vector(vector);
    }

    fn raise_line(&self) {
        self.raise_line_if(|| true);
    }

    fn gone(&self) {
        // Its registers read all ones.
    }
}

impl Vector {
    fn raise(&mut self) {
        match &self.event {
            _ if self.masked => self.pending = true,
            Some(event) => event.signal(),
            None => {}
        }
    }
}

/// A thread that waits for events of a register file and raises vectors. It stops when dropped.
pub(crate) struct Raiser {
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

/// Epoll data of the descriptor that tells the thread to stop.
const STOP: u64 = EVENTS as u64;

impl Raiser {
    pub fn start(registers: Arc<RegisterFile>, vectors: Arc<Vectors>) -> io::Result<Self> {
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&set, &stop, epoll::EventData::new_u64(STOP), epoll::EventFlags::IN)?;
        let mut descriptors = Vec::new();
        for vector in 0..EVENTS {
            let descriptor = registers.event_descriptor(vector);
            let descriptor = descriptor.ok_or(io::ErrorKind::OutOfMemory)?;
            let data = epoll::EventData::new_u64(vector.into());
            epoll::add(&set, &descriptor, data, epoll::EventFlags::IN)?;
            descriptors.push(descriptor);
        }
        let run = move || {
            let _descriptors = descriptors;
            run(&set, &registers, &vectors);
        };
        let thread = std::thread::Builder::new().name("spfe-msix".into()).spawn(run)?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Raiser {
    fn drop(&mut self) {
        let _ = rustix::io::write(&self.stop, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(set: &OwnedFd, registers: &RegisterFile, vectors: &Vectors) {
    let mut ready = Vec::with_capacity(EVENTS as usize + 1);
    loop {
        ready.clear();
        let waited = epoll::wait(set, rustix::buffer::spare_capacity(&mut ready), None);
        if waited.is_err_and(|error| error != rustix::io::Errno::INTR) {
            return;
        }
        for event in &ready {
            match event.data.u64() {
                STOP => return,
                vector => {
                    // Consume the event in any case: an interrupt that cannot be raised is lost.
                    if registers.take_event(vector as u32) {
                        vectors.raise_vector(vector as u32);
                        if vectors.uses_line() {
                            vectors.raise_line_if(|| registers.line());
                        }
                    }
                }
            }
        }
    }
}
